"""cudacpu-gdb.py - gdb's commands for programs of the CPU device, in the words of cuda-gdb.

Build a program with `cudacpu -g -O0`, then run `gdb -x cudacpu-gdb.py ./program`. README.md has an example.

    break KERNEL [if CONDITION]     stops each thread at the kernel's first line
    delete 1                        breakpoint 1 stops at each error that the CPU device finds
    print threadIdx                 also in conditions; and blockIdx, blockDim, gridDim
    info cuda threads               the threads of the running block, and what each does
    cuda thread 17                  selects a thread of the block: (17), (1,2) or (1,2,3) in parentheses
    backtrace                       of the selected thread; the CPU device's own functions are left out

A selected thread stays selected until the program resumes. It can be any thread that has begun and has not ended.
"""
import itertools
import os
import re

import gdb
from gdb.FrameDecorator import FrameDecorator
from gdb.unwinder import Unwinder, register_unwinder

FOLDERS = tuple(os.path.dirname(os.path.realpath(__file__)) + part for part in ("/include/", "/src/"))
PARAMETERS = r"\((?:[^()]|\([^()]*\))*\)"
BODY = re.compile(
    r"(?P<outer>(?P<kernel>[^{}]*?(?P<given>%s))::\{lambda\(\)#1\}::operator\(\)\(\)(?: const)?)"
    r"(?:::\{lambda(?P<own>%s)#1\}::operator\(\)%s(?: const)?)?$" % (PARAMETERS, PARAMETERS, PARAMETERS))


def kernel_of(function):
    """The kernel whose body a function is, such as "reverse(int*, int)"; None: it is not a kernel's body.

    A body is a lambda. In the hazard build, it is another lambda in it, whose parameters have the kernel's types, or
    are references to them.
    """
    body = BODY.match(function)
    if not body or (body["own"] and (body["own"].replace("&", "") != body["given"].replace("&", "")
                                     or first_line(function) != first_line(body["outer"]))):
        return None
    return body["kernel"]


def start_of(function):
    return int(gdb.parse_and_eval("(long)&'%s'" % function))


def first_line(function):
    return gdb.find_pc_line(start_of(function)).line


def point(index):
    """The coordinates of a uint3."""
    return tuple(int(index[axis]) for axis in "xyz")


def name_of(kernel):
    """A kernel's name without its parameters."""
    return re.split(r"\((?!anonymous)", kernel)[0]


def words(coordinates):
    return "(%d,%d,%d)" % coordinates


class FrameId:
    """What identifies a frame for gdb: its stack address, and where its function begins."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


# ---- threads -------------------------------------------------------------------------------------------------


class CudaThread:
    """A thread of the running block: the engine's struct Thread (include/cudacpu/engine.hpp)."""

    def __init__(self, thread):
        self.data = thread
        self.rank = int(thread["rank"])
        self.index = point(thread["index"])
        self.stack = int(thread["stack"])

    def state(self):
        if block()["has_ended"][self.rank]:
            return "has ended"
        if self.data["at"]:
            where = self.data["where"]
            file = os.path.basename(where["file"].string())
            return "waits in %s at %s:%d" % (self.data["at"]["what"].string(), file, where["line"])
        if self.stack:
            return "is ready"
        return "runs" if self.data.address == running() else "has not begun"


def running():
    """A pointer to the running thread; null while the host runs, or without the program's debug information."""
    try:
        return gdb.parse_and_eval("*(cudacpu::Thread**)&cudacpu::self")
    except gdb.error:
        return None


def block():
    """The running block. The casts give the types, which the library's debug information lacks."""
    return gdb.parse_and_eval("*(cudacpu::BlockOfThreads*)&cudacpu::running_block")


def check_that_kernel_runs():
    if not running():
        raise gdb.GdbError("No kernel is running, or the program was built without -g.")


def threads():
    check_that_kernel_runs()
    return [CudaThread(block()["threads"][i]) for i in range(block()["size"])]


# ---- the selected thread -------------------------------------------------------------------------------------


def frames(frame):
    """A frame and its callers, to the outermost one."""
    while frame:
        yield frame
        frame = frame.older()


class SelectedThread(Unwinder):
    """Makes the frames of a waiting thread the callers of the innermost frame.

    No register changes, so the program resumes where it stopped. The innermost frame keeps its identity, so the
    commands that step work as usual.
    """

    def __init__(self):
        super().__init__("cudacpu")
        self.thread = None
        register_unwinder(None, self, True)

    def select(self, thread):
        """Selects a thread of the block; None: whatever runs now."""
        self.thread = None
        gdb.invalidate_cached_frames()
        if thread and thread.stack:
            frame = next(f for f in frames(gdb.newest_frame()) if f.type() != gdb.INLINE_FRAME)
            function = frame.function()
            start = function.value().address if function else frame.pc()
            self.innermost = FrameId(frame.older().read_register("rsp"), gdb.Value(int(start)))
            self.thread = thread
            gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if not self.thread or pending.level():
            return None
        # switch_stacks() of engine.hpp has pushed rbp, rbx and the place where the thread resumes, below a red zone
        # of 128 bytes.
        word = gdb.lookup_type("unsigned long")
        saved = gdb.Value(self.thread.stack).cast(word.pointer())
        caller = pending.create_unwind_info(self.innermost)
        caller.add_saved_register("rip", saved[0])
        caller.add_saved_register("rbx", saved[1])
        caller.add_saved_register("rbp", saved[2])
        caller.add_saved_register("rsp", gdb.Value(self.thread.stack + 3 * 8 + 128).cast(word))
        return caller


selected = SelectedThread()


def current():
    """The selected thread, else the running one; None while the host runs."""
    return selected.thread or (CudaThread(running().dereference()) if running() else None)


class ThreadIndex(gdb.Function):
    """threadIdx of the selected thread."""

    def __init__(self):
        super().__init__("cudacpu_threadIdx")

    def invoke(self):
        check_that_kernel_runs()
        if selected.thread:
            return selected.thread.data["index"]
        return gdb.parse_and_eval("*(uint3*)&cudacpu_threadIdx")


ThreadIndex()
gdb.execute("macro define threadIdx $cudacpu_threadIdx()")
for name in ("blockIdx", "blockDim", "gridDim"):
    gdb.execute("macro define %s (*(uint3*)&cudacpu_%s)" % (name, name))


# ---- frames --------------------------------------------------------------------------------------------------


def body_of(frame):
    """The kernel whose body a frame executes; None: it is another function's."""
    if frame.type() == gdb.INLINE_FRAME:
        return None
    function = gdb.execute("info symbol %d" % frame.pc(), to_string=True).splitlines()[-1]
    return kernel_of(re.split(r" \+ \d+ in | in section ", function)[0])


def is_shown(frame):
    """Whether a frame is the program's, not the CPU device's or, in front of a selected thread, another one's."""
    table = frame.find_sal().symtab
    ours = not table or os.path.realpath(table.fullname()).startswith(FOLDERS)
    return not ours and not (selected.thread and frame.level() == 0)


class KernelFrame(FrameDecorator):
    """A frame of a kernel's body, with the kernel's name and parameters."""

    def __init__(self, frame, kernel):
        super().__init__(frame)
        self.kernel = kernel

    def function(self):
        return name_of(self.kernel)

    def frame_args(self):
        frame = self.inferior_frame()
        block = gdb.block_for_pc(gdb.decode_line("'%s'" % self.kernel)[1][0].pc)
        while not block.function:
            block = block.superblock
        return [Argument(s.name, frame.read_var(s.name)) for s in block if s.is_argument]


class Argument:
    def __init__(self, name, value):
        self.name, self.given = name, value

    def symbol(self):
        return self.name

    def value(self):
        return self.given


class FrameFilter:
    """Leaves out what the CPU device calls or is called by, if a kernel runs."""

    name, priority, enabled = "cudacpu", 100, True

    def __init__(self):
        gdb.frame_filters[self.name] = self

    def filter(self, decorators):
        if not running():
            yield from decorators
            return
        for decorator in decorators:
            frame = decorator.inferior_frame()
            if not is_shown(frame):
                continue
            kernel = body_of(frame)
            yield KernelFrame(decorator, kernel) if kernel else decorator
            if kernel:
                return


FrameFilter()


# ---- commands ------------------------------------------------------------------------------------------------


def say_selected():
    kernel = next(filter(None, map(body_of, frames(gdb.newest_frame()))), None)
    name = "kernel %s, " % name_of(kernel) if kernel else ""
    block = words(point(gdb.parse_and_eval("blockIdx")))
    print("[%sblock %s, thread %s]" % (name, block, words(current().index)))


def select_shown_frame():
    """Selects and prints the innermost frame of the program."""
    innermost = next(filter(is_shown, frames(gdb.newest_frame())), gdb.newest_frame())
    gdb.execute("frame %d" % innermost.level())


class Cuda(gdb.Command):
    """Commands for the threads of a kernel."""

    def __init__(self):
        super().__init__("cuda", gdb.COMMAND_STACK, prefix=True)


class SelectThread(gdb.Command):
    """Select a thread of the running block: cuda thread 17, cuda thread (1,2), cuda thread (1,2,3).

    Without an argument, print which one is selected.
    """

    def __init__(self):
        super().__init__("cuda thread", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        everyone = threads()
        if argument:
            index = tuple(int(i) for i in re.findall(r"\d+", argument))
            index += (0,) * (3 - len(index))
            thread = next((t for t in everyone if t.index == index), None)
            if not thread:
                raise gdb.GdbError("The block has no thread %s." % words(index))
            if not thread.stack and thread.state() != "runs":
                raise gdb.GdbError("Thread %s %s." % (words(index), thread.state()))
            selected.select(thread)
        say_selected()
        select_shown_frame()


class InfoCuda(gdb.Command):
    """The threads of a kernel."""

    def __init__(self):
        super().__init__("info cuda", gdb.COMMAND_STATUS, prefix=True)


class InfoThreads(gdb.Command):
    """List the threads of the running block, and what each does; an asterisk marks the selected thread."""

    def __init__(self):
        super().__init__("info cuda threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        everyone = threads()
        chosen = current().rank
        number = words(point(gdb.parse_and_eval("blockIdx")))
        print("  %-12s %-12s %-12s %5s" % ("BlockIdx", "ThreadIdx", "To ThreadIdx", "Count"))
        for (is_chosen, state), run in itertools.groupby(everyone, lambda t: (t.rank == chosen, t.state())):
            run = list(run)
            row = (number, words(run[0].index), words(run[-1].index), len(run), state)
            print("* "[not is_chosen] + " %-12s %-12s %-12s %5d  %s" % row)


class Break(gdb.Command):
    """Set a breakpoint, as gdb's command does: break [LOCATION] [thread NUMBER] [if CONDITION].

    The location of a kernel is the first line of its body.
    """

    def __init__(self, name, temporary):
        super().__init__(name, gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_LOCATION)
        self.temporary = temporary

    def invoke(self, argument, from_tty):
        location, number, condition = re.match(
            r"\s*(.*?)(?:\s*\bthread\s+(\d+))?(?:\s*\bif\b\s*(.*))?\s*$", argument).groups()
        for place in bodies(location) or [location or "*$pc"]:
            point = gdb.Breakpoint(place, temporary=self.temporary)
            point.thread = int(number) if number else None
            point.condition = condition


def bodies(kernel):
    """What gdb calls the bodies of the kernels of this name; of a template, one for each instance."""
    if not re.fullmatch(r"[\w:]+(<.*>)?", kernel):
        return []
    found = {}
    for end in "(<":
        names = gdb.execute("complete break '%s%s" % (kernel, end), to_string=True)
        for name in re.findall(r"^break '(.+)'$", names, re.M):
            found[kernel_of(name)] = max(found.get(kernel_of(name), ""), name, key=len)
    found.pop(None, None)
    return [past_prologue(name) for name in found.values()]


def past_prologue(function):
    """Where a function has stored its parameters: where the second entry of the line table begins."""
    start = start_of(function)
    return "*'%s'+%d" % (function, gdb.find_pc_line(start).last + 1 - start)


Cuda()
SelectThread()
InfoCuda()
InfoThreads()
Break("break", False)
Break("tbreak", True)


# ---- events --------------------------------------------------------------------------------------------------


def text_at(address):
    return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()


def access_at(address):
    """Words an access: struct Accessor of src/race/race.hpp, which has the site, the block and the thread."""
    word = gdb.Value(address).cast(gdb.lookup_type("unsigned long").pointer())
    site = int(word[0])
    line = gdb.find_pc_line(site - 1)
    file, number = (text_at(site % 2**48), site >> 48) if site >> 48 else (str(line.symtab), line.line)
    return "thread %d of block %d at %s:%d" % (int(word[2]) % 2**32, word[1], os.path.basename(file), number)


def say_hazard(frame):
    """Words the arguments of cudacpu_hazard_found() (src/engine/reporting.hpp)."""
    what, address, *accesses = (int(frame.read_register(name)) % 2**64 for name in ("rdi", "rsi", "rdx", "rcx"))
    if what:
        text = " and ".join(access_at(a) for a in accesses if a)
        print("cudacpu: hazard: %s at %#x: %s" % (text_at(what), address, text))


def on_stop(event):
    frame = gdb.newest_frame()
    found = frame.name() == "cudacpu_hazard_found"
    if found:
        say_hazard(frame)
    if running():
        selected.select(current())  # the thread that a report is about may not be the one that runs
        say_selected()
        if found:
            select_shown_frame()


def on_resume(event):
    selected.thread = None


gdb.events.stop.connect(on_stop)
gdb.events.cont.connect(on_resume)

# Memory becomes accessible when a kernel first touches it. cudacpu_hazard_found() is called if that is an error.
gdb.execute("handle SIGSEGV nostop noprint pass", to_string=True)
gdb.execute("set print inferior-events off")  # of addr2line, which finds the lines of a report
gdb.execute("set print thread-events off")
gdb.Breakpoint("cudacpu_hazard_found")
