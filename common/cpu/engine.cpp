// engine.cpp - fibers, blocks, barriers, warps, launches, and the reports about what goes wrong in them.
#include "internal.hpp"

#include <link.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <charconv>
#include <chrono>
#include <cstdarg>
#include <deque>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <vector>

using namespace boost::context::detail;

extern "C" const ElfW(Ehdr) __ehdr_start;  // from the linker: where the program begins
extern "C" void __assert(const char* expression, const char* file, int line) noexcept;

// The program sees these as constants of the running thread.
uint3 cudacpu_thread asm("cudacpu_threadIdx"), cudacpu_block asm("cudacpu_blockIdx");
dim3 cudacpu_block_size asm("cudacpu_blockDim"), cudacpu_grid_size asm("cudacpu_gridDim");
extern const int warpSize = 32;

namespace cudacpu {

unsigned rank, lane;
unsigned long block_serial = 1;
const Launch* launch;
uint64_t block_number;
int exit_status;
size_t limit_of_all = 48 << 10;
Kernel** probe;

namespace {

#ifdef CUDACPU_ASAN
constexpr bool asan = true;
#else
constexpr bool asan = false;
#endif
constexpr size_t page = 4096, stack_bytes = 256 << 10;

struct Fiber {
    fcontext_t context;
    const void* bottom;  // of the stack; below it lies a page that cannot be touched
    size_t size;
    void* fake_stack;  // AddressSanitizer's
};
struct Thread {
    uint3 index;
    Fiber* fiber;  // nullptr: it has not begun
    Exchange* at;  // what it waits for; nullptr: nothing
    Where where;
};

Fiber host, *current = &host;  // host: the program's own stack
std::deque<Fiber> fibers;      // all that were ever made: blocks take them one after the other
std::vector<Fiber*> spare;
Thread threads[1024], *self;            // self: nullptr while the host runs
unsigned n, n_ended, next;              // threads of the block; the one that was picked last
unsigned running[32];                   // of each warp: the lanes that have not ended
std::vector<Exchange*> open[33];        // what threads wait for: in each warp, and at [32] in the whole block
std::vector<SharedObject*> everywhere;  // shared memory outside of functions
size_t shared_bytes;                    // of the block, so far
std::vector<Launch> configured;         // a launch among the arguments of another is fine
cudaError_t outcome;                    // of the block
enum { forward, reverse, seeded } order;
uint64_t random_state;
unsigned long progress;  // the watchdog looks whether it moves
unsigned atomics_in_a_row;
char signal_stack[256 << 10];

// ---- reports ---------------------------------------------------------------------------------------------

std::string report(const std::string& what, const std::string& mend, const std::string& line) {
    std::string s = "cudacpu: " + what;
    if (launch) s += text("\n  in kernel %s, %s", launch->kernel->name, thread_name().c_str());
    if (!line.empty()) s += (launch ? ", at " : "\n  at ") + line;
    if (launch) {
        const dim3 g = launch->grid, b = launch->block;
        s += text("\n  launched at %s:%d as <<<(%u,%u,%u), (%u,%u,%u)>>>", launch->where.file, launch->where.line,
                  g.x, g.y, g.z, b.x, b.y, b.z);
    }
    return s + (mend.empty() ? "" : "\n  " + mend);
}

bool same(Where a, Where b) { return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file)); }

// "threads 0-127 wait in __syncthreads() at sum.cu:18\n  threads 128-255 have ended"
std::string who_waits_where() {
    auto position = [](unsigned i) -> std::string {
        const Thread& t = threads[i];
        if (t.at) return text("wait in %s at %s:%d", t.at->what, t.where.file, t.where.line);
        return running[i / 32] >> i % 32 & 1 ? "run" : "have ended";
    };
    std::string all;
    for (unsigned first = 0, i = 1, lines = 0; i <= n; ++i) {
        const std::string where = position(first);
        if (i < n && position(i) == where) continue;
        if (++lines > 6) return all + "\n  ...";
        all += text("\n  threads %u-%u %s", first, i - 1, where.c_str());
        first = i;
    }
    return all;
}

// ---- fibers ----------------------------------------------------------------------------------------------

void fiber_main(transfer_t);

void prepare(Fiber& f) {  // to begin at the beginning
    ASAN_UNPOISON_MEMORY_REGION(f.bottom, f.size);
    f.context = make_fcontext((char*)f.bottom + f.size, f.size, fiber_main);
    spare.push_back(&f);
}

Fiber* take_fiber() {
    if (spare.empty()) {
        const auto stack = boost::context::protected_fixedsize_stack(stack_bytes).allocate();
        // Tops at different offsets do not contend for the same lines of the cache.
        const size_t size = stack_bytes - fibers.size() % 61 * 64;
        prepare(fibers.emplace_back(Fiber{nullptr, static_cast<char*>(stack.sp) - stack_bytes, size, nullptr}));
    }
    Fiber* f = spare.back();
    spare.pop_back();
    return f;
}

void arrive(transfer_t t) {  // the first thing that a fiber does when it goes on
    auto* from = static_cast<Fiber*>(t.data);
    from->context = t.fctx;
    if constexpr (asan) __sanitizer_finish_switch_fiber(current->fake_stack, &from->bottom, &from->size);
}

void resume(Thread* t) {  // nullptr: the host
    self = t;
    if (t) {
        if (!t->fiber) t->fiber = take_fiber();
        cudacpu_thread = t->index;
        rank = unsigned(t - threads);
        lane = rank % 32;
    }
    Fiber *from = current, *to = t ? t->fiber : &host;
    if (to == from) return;
    current = to;
    if constexpr (asan) __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
    arrive(jump_fcontext(to->context, from));
}

}  // namespace

void fault(cudaError_t error, const std::string& what, const std::string& mend, const Where* where,
           const void* pc) {
    say(report(what, mend, where ? source_line(*where) : source_line(pc)));
    if (!self) _exit(3);
    outcome = error;
    if (hazard_build) exit_status = 1;
    resume(nullptr);  // for good: the block is abandoned
    __builtin_unreachable();
}

namespace {

// ---- one block -------------------------------------------------------------------------------------------

void passed(const Exchange& e, unsigned warp) {
    if (e.kind == Exchange::at_warp && !strcmp(e.what, "__syncwarp()")) hazards::lanes_met(32 * warp, e.arrived);
    if (e.kind != Exchange::at_barrier) return;
    hazards::barrier_passed();
    static Where warned{};
    if (!n_ended || same(warned, e.where)) return;
    warned = e.where;
    if (hazard_build) exit_status = 1;
    say(report("warning: a barrier that threads of the block never reach, as they have ended",
               "GPUs since Volta go on without them. Let all threads reach it; guard the work with if, not return" +
                   who_waits_where(),
               source_line(e.where)));
}

// Lets those go on for whom all have come that they wait for. Lanes that ask who is active wait until nobody
// else can run: so many are active together as can be.
bool release(bool nobody_can_run) {
    bool any = false;
    for (unsigned warp = 0; warp < 33; ++warp)
        std::erase_if(open[warp], [&](Exchange* e) {
            e->complete = e->kind == Exchange::at_barrier ? e->count + n_ended == n
                          : e->kind == Exchange::at_warp  ? !(e->mask & running[warp] & ~e->arrived)
                                                          : nobody_can_run;
            if (e->complete) any = true, passed(*e, warp);
            return e->complete;
        });
    progress += any;
    return any;
}

Thread* pick() {  // the thread that goes on now; nullptr: all have ended
    do {
        if (order == seeded || hazard_build) next = random_number() % n;
        for (unsigned i = 0; i < n; ++i) {
            next = order == reverse ? (next ? next : n) - 1 : next + 1 < n ? next + 1 : 0;
            const Thread& t = threads[next];
            if (running[next / 32] >> next % 32 & 1 && (!t.at || t.at->complete)) return &threads[next];
        }
        if (n_ended == n) return nullptr;
    } while (release(false) || release(true));
    self = std::find_if(threads, threads + n, [](const Thread& t) { return t.at; });
    cudacpu_thread = self->index;
    const size_t barriers = open[32].size();
    fault(cudaErrorLaunchFailure,
          barriers > 1   ? "divergent barrier: the threads of the block wait at different ones"
          : barriers > 0 ? "deadlock: the threads of a block wait for each other"
                         : "deadlock: a warp operation waits for a lane that does not come",
          "every thread of the block must reach the same barrier: move it out of the branch;\n  "
          "every lane in the mask must call the operation, with the same mask" +
              who_waits_where(),
          &self->where);
}

void fiber_main(transfer_t from) {
    arrive(from);
    for (;;) {
        launch->body.run(launch->body.closure);
        running[rank / 32] &= ~(1u << lane);
        ++n_ended, ++progress;
        Thread* t = pick();
        if (t && !t->fiber) t->fiber = current;  // it has not begun: no switch, it begins right here
        else spare.push_back(current);
        resume(t);
    }
}

cudaError_t run(const Launch& l) {
    launch = &l;
    cudacpu_grid_size = l.grid, cudacpu_block_size = l.block;
    n = l.block.x * l.block.y * l.block.z;
    for (unsigned i = 0; i < n; ++i)
        threads[i].index = {i % l.block.x, i / l.block.x % l.block.y, i / l.block.x / l.block.y};
    hazards::launch_begins();
    const uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z;
    uint64_t first = 0, step = order == forward;  // block i is (first + i * step) % blocks
    if (order == reverse) first = step = blocks - 1;
    while (order == seeded && std::gcd(step, blocks) != 1) first = random_number(), step = random_number();
    outcome = cudaSuccess;
    for (uint64_t i = 0; i < blocks && outcome == cudaSuccess; ++i) {
        const uint64_t b = block_number = (first + i * step) % blocks, row = b / l.grid.x;
        cudacpu_block = {unsigned(b % l.grid.x), unsigned(row % l.grid.y), unsigned(row / l.grid.y)};
        ++block_serial, ++progress;
        n_ended = 0;
        shared_bytes = l.dynamic_bytes;
        for (SharedObject* s : everywhere) fresh(*s);
        for (unsigned t = 0; t < n; ++t) {
            threads[t].fiber = nullptr, threads[t].at = nullptr;
            running[t / 32] = (2u << t % 32) - 1;
        }
        next = order == reverse ? 0 : n - 1;  // pick() goes on from there
        hazards::block_begins();
        resume(pick());
    }
    if (outcome != cudaSuccess) {  // the block was abandoned: its fibers are dropped where they stand
        spare.clear();
        for (Fiber& f : fibers) prepare(f);
        for (auto& list : open) list.clear();
    }
    hazards::launch_ends();
    launch = nullptr;
    return outcome;
}

}  // namespace

// ---- what kernels call -----------------------------------------------------------------------------------

bool in_kernel() { return self; }
unsigned threads_in_block() { return n; }
bool on_own_stack(const void* p) { return size_t(p) - size_t(current->bottom) < current->size; }

Exchange* meet(Exchange::Kind kind, const char* what, unsigned mask, const void* value, size_t bytes, Where where) {
    if (!self)
        fault(cudaErrorNotSupported, std::string(what) + " is for kernels", "the host cannot call it", &where);
    if (kind == Exchange::at_warp && !(mask >> lane & 1))
        fault(cudaErrorLaunchFailure, text("%s: lane %u is not in its own mask 0x%08x", what, lane, mask),
              "a lane may only take part in an operation whose mask names it", &where);
    auto& list = open[kind == Exchange::at_barrier ? 32 : rank / 32];
    auto found = std::find_if(list.begin(), list.end(), [&](const Exchange* e) {
        return e->kind == kind &&
               (kind == Exchange::at_warp ? e->mask == mask && !strcmp(e->what, what) : same(e->where, where));
    });
    if (found == list.end()) {
        found = list.insert(found, new Exchange{kind, what, mask, where});
        memset((*found)->value, 0xff, sizeof(*found)->value);  // not 0: so that a missing lane shows in a sum
    }
    Exchange* e = *found;
    ++e->count;
    e->arrived |= 1u << lane;
    memcpy(e->value[lane], value, bytes);
    if (kind == Exchange::at_barrier) e->votes += *static_cast<const int*>(value);
    self->at = e, self->where = where;
    atomics_in_a_row = 0;
    resume(pick());
    self->at = nullptr;
    return e;
}

void leave(Exchange* e) {
    if (!--e->count) delete e;
}

int barrier(const char* what, int vote, Where where) {
    return Lanes(what, 0, vote, where, Exchange::at_barrier).votes();
}

unsigned active_lanes(Where where) {
    return Lanes("__activemask()", 0, 0, where, Exchange::at_activemask).present();
}

void preempt() { resume(pick()); }

void give_way() {
    if (!self) return;
    atomics_in_a_row = 0;
    release(false);
    preempt();
}

void about_to_do_atomic(void* address, unsigned bytes, bool compare, Where where) {
    if (!self) return;
    if (++atomics_in_a_row > 1000) give_way();  // a thread that spins on an atomic waits for another one
    hazards::at_atomic(address, bytes, compare, where);
}

void fence() { hazards::at_fence(); }

void trap(const char* what, Where where) {
    fault(cudaErrorLaunchFailure, std::string(what) + " was called", "it ends the kernel: see what led there",
          &where);
}

long long clock_ticks() {  // nanoseconds, and no two alike
    static long long last;
    const long long now = std::chrono::steady_clock::now().time_since_epoch().count();
    return last = std::max(now, last + 1);
}

unsigned long long special_register(const char* name) {
    const unsigned bit = 1u << lane;
    // clang-format off
    const std::pair<std::string_view, unsigned long long> registers[] = {
        {"laneid", lane}, {"warpid", rank / 32}, {"nwarpid", 64}, {"smid", block_number % sm_count}, {"nsmid", sm_count},
        {"clock", unsigned(clock_ticks())}, {"clock64", clock_ticks()},
        {"globaltimer", std::chrono::system_clock::now().time_since_epoch().count()},
        {"lanemask_lt", bit - 1}, {"lanemask_le", bit | (bit - 1)}, {"lanemask_eq", bit},
        {"lanemask_ge", -bit}, {"lanemask_gt", -bit ^ bit}};
    // clang-format on
    for (const auto& [known, value] : registers)
        if (known == name) return value;
    return 0;  // the translator lets no other through
}

// ---- shared memory ---------------------------------------------------------------------------------------

namespace {
Region* place(size_t bytes, size_t alignment, Kind kind, Where where) {
    Region r{nullptr, bytes, kind, nullptr, 0, where};
    r.start = map_before_guard(bytes, alignment, &r.base, &r.pages);
    if (!r.start) fault(cudaErrorMemoryAllocation, "no memory is left", "end other programs, or use less", &where);
    return add_region(r);
}
}  // namespace

char* fresh(SharedObject& s) {
    if (!launch) fault(cudaErrorNotSupported, "__shared__ memory is for kernels", "the host has none", &s.where);
    Kernel& k = *launch->kernel;
    shared_bytes += s.bytes;
    k.static_bytes = std::max(k.static_bytes, shared_bytes - launch->dynamic_bytes);
    const size_t limit = std::max(limit_of_all, k.dynamic_limit);
    if (shared_bytes > limit)
        fault(cudaErrorInvalidValue,
              text("%zu bytes of shared memory with %s, the limit is %zu", shared_bytes, s.name, limit),
              "use less, or raise the limit for the dynamic part with cudaFuncSetAttribute", &s.where);
    if (!s.address) s.address = place(s.bytes, s.alignment, Kind::shared, s.where)->start;
    s.serial = block_serial;
    hazards::region_fresh(*find(s.address));
    return static_cast<char*>(memset(s.address, 0xff, s.bytes));  // not 0: on a GPU it holds anything
}

char* at_namespace_scope(SharedObject& s) {
    everywhere.push_back(&s);
    return s.address = place(s.bytes, s.alignment, Kind::shared, s.where)->start;
}

void* dynamic_arena(size_t alignment, bool fixed_start) {
    static Region& arena = *place(228 << 10, page, Kind::dynamic, {"", 0});
    static unsigned long serial;
    // One `extern __shared__` outside of functions needs an address that never changes; then the end of the
    // memory lies before an inaccessible page only when the size is a whole number of pages.
    static bool fixed;
    fixed |= fixed_start;
    if (!launch || serial == block_serial) return arena.start;
    serial = block_serial;
    alignment = std::max<size_t>(alignment, 16);
    char* end = arena.base + arena.pages;
    hazards::region_gone(arena);
    arena.bytes = launch->dynamic_bytes;
    arena.start = fixed ? arena.base : end - (arena.bytes + alignment - 1) / alignment * alignment;
    if (fixed) {
        char* after = arena.base + (arena.bytes + page - 1) / page * page;
        mprotect(arena.base, arena.pages, PROT_READ | PROT_WRITE);
        mprotect(after, end - after, PROT_NONE);
    }
    add_region(arena);
    return memset(arena.start, 0xff, arena.bytes);
}

// ---- launches --------------------------------------------------------------------------------------------

void configure(dim3 grid, dim3 block, size_t dynamic_bytes, CUstream_st* stream, Where where) {
    if (self)
        fault(cudaErrorNotSupported, "a kernel is launched from a kernel (dynamic parallelism)",
              "the CPU device cannot do that: launch it from the host", &where);
    configured.push_back({grid, block, dynamic_bytes, stream, where});
}

void enqueue_kernel(Kernel& kernel, const Body& body, std::initializer_list<const void*> arguments) {
    if (probe) return void(*probe = &kernel);
    if (configured.empty())
        fault(cudaErrorInvalidConfiguration, text("kernel %s is called like a function", kernel.name),
              text("write %s<<<blocks, threads>>>(...)", kernel.name), nullptr);
    Launch l = configured.back();
    configured.pop_back();
    l.kernel = &kernel, l.body = body;
    std::istringstream names(kernel.parameters);
    std::string name, refused;
    for (const void* const& p : arguments) {
        std::getline(names, name, ',');
        if (!refused.empty() || !p || find(p) || is_global(p)) continue;
        unsigned char resident;  // a number that is no address at all is found out when it is used
        if (mincore((void*)(uintptr_t(p) & ~(page - 1)), 1, &resident)) continue;
        refused = report(text("kernel %s is given a pointer to host memory, as argument %td (%s)", kernel.name,
                              &p - arguments.begin() + 1, name.c_str()),
                         "give it memory from cudaMalloc or cudaMallocManaged, and copy with cudaMemcpy",
                         source_line(l.where));
    }
    if (gate("a kernel launch") != cudaSuccess) return;
    const dim3 g = l.grid, b = l.block;
    const uint64_t in_block = uint64_t(b.x) * b.y * b.z;
    if (!in_block || in_block > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64 || !g.x || !g.y || !g.z ||
        g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return void(failed(cudaErrorInvalidConfiguration));
    if ((kernel.max_threads && in_block > kernel.max_threads) ||
        l.dynamic_bytes > std::max(limit_of_all, kernel.dynamic_limit))
        return void(failed(cudaErrorInvalidValue));
    auto work = [l, refused] {
        if (refused.empty()) return run(l);
        say(refused);
        return cudaErrorIllegalAddress;
    };
    enqueue(l.stream, work, true);
}

// ---- what reports say ------------------------------------------------------------------------------------

std::string text(const char* format, ...) {
    char buffer[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

void say(const std::string& message) {
    std::string s = message + "\n";
    std::error_code none;
    const std::string folder = std::filesystem::current_path(none).string() + "/";
    for (size_t i = 0; (i = s.find(folder, i)) != s.npos;)  // files below the working folder are named from there
        if (i && !isspace(s[i - 1])) ++i;
        else s.erase(i, folder.size());
    fflush(stdout);
    fputs(s.c_str(), stderr);
}

std::string thread_name() {
    const uint3 b = cudacpu_block, t = cudacpu_thread;
    return text("block (%u,%u,%u), thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z);
}

std::string source_line(Where where) { return text("%s:%d", where.file, where.line); }

std::string source_line(const void* pc) {
    if (!is_global(pc)) return "";
    uintptr_t address = uintptr_t(pc);
    if (__ehdr_start.e_type == ET_DYN) address -= uintptr_t(&__ehdr_start);
    FILE* pipe = popen(text("addr2line -i -e /proc/%d/exe %#lx 2>/dev/null", getpid(), address).c_str(), "r");
    if (!pipe) return "";
    std::string found;
    char line[4096];
    while (fgets(line, sizeof line, pipe)) {  // innermost first; the program's own line is wanted
        std::string s(line, strcspn(line, "\n"));
        s.resize(std::min(s.size(), s.find(" (")));
        if (found.empty() && s[0] != '?' && s.back() != '?' && !s.starts_with("/usr/") &&
            !s.starts_with(CUDACPU_FOLDER "/"))
            found = s;
    }
    pclose(pipe);
    return found;
}

unsigned random_number() {  // Knuth's generator for MMIX: its upper bits are good
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return unsigned(random_state >> 32);
}

// ---- signals ---------------------------------------------------------------------------------------------

namespace {

#if defined(__x86_64__)
#define CUDACPU_PC gregs[REG_RIP]
#elif defined(__aarch64__)
#define CUDACPU_PC pc
#endif

// A fault of a kernel is left by a jump to the host's stack, which SA_NODEFER allows.
void on_signal(int signal, siginfo_t* info, void* context) {
    ASAN_UNPOISON_MEMORY_REGION(signal_stack, sizeof signal_stack);  // of frames that such a jump has left
    const void* pc = reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.CUDACPU_PC);
    if (signal == SIGVTALRM) {  // each second of processor time
        static unsigned long last;
        static int idle;
        idle = self && last == progress ? idle + 1 : 0;
        last = progress;
        if (idle < (hazard_build ? 60 : 10)) return;
        fault(cudaErrorLaunchTimeout, "the kernel does not come to an end: this thread spins",
              "blocks run one after another here, and a thread gives way only at a barrier, a warp operation or "
              "an atomic:\n  waiting for another block never ends, and waiting for another thread needs atomics",
              nullptr, pc);
    }
    const char* address = static_cast<char*>(info->si_addr);
    const Region* r = find(address);
    const std::string about = explain(address);
    const bool outside = r && !r->freed && (address < r->start || address >= r->start + r->bytes);
    const char* mend =
        !r ? "no memory of the device is there: check the pointer, and the index against the size: if (i < n)"
        : r->freed ? "free memory only after its last use"
        : outside  ? "check the index against the size: if (i < n)"
                   : "copy it with cudaMemcpy, or use cudaMallocManaged";
    if (self && signal == SIGFPE)
        fault(cudaErrorLaunchFailure, "integer division by zero",
              "check the divisor: a GPU goes on with an undefined result", nullptr, pc);
    if (self && size_t(address) - size_t(current->bottom) + page < page + 256)
        fault(cudaErrorIllegalAddress, "stack overflow",
              "each thread has 256 KB here: use smaller arrays, or a loop instead of recursion", nullptr, pc);
    if (self)
        fault(cudaErrorIllegalAddress, text("illegal memory access at %p", info->si_addr) + (r ? ": " + about : ""),
              mend, nullptr, pc);
    if (r && r->kind == Kind::managed && !r->freed && !outside && work_is_queued()) {
        say(report("warning: the host touches managed memory while a kernel may still use it: " + about,
                   "wait for the kernel first: cudaDeviceSynchronize()", source_line(pc)));
        return managed_in_use(false);
    }
    const char* touched = outside ? "the host touched memory out of bounds: " : "the host touched device memory: ";
    if (r) fault(cudaErrorIllegalAddress, touched + about, mend, nullptr, pc);
    struct sigaction standard {};  // a fault of the program's own: as if we were not here
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
}

const struct Start {
    Start() {
        if (const char* s = getenv("LAB_ORDER"); s && *s) {
            const std::string_view word = s;
            const auto [end, error] = std::from_chars(s, s + word.size(), random_state);
            order = word == "forward" ? forward : word == "reverse" ? reverse : seeded;
            if (order == seeded && (*end || error != std::errc()))
                say(text("cudacpu: LAB_ORDER=%s: say forward, reverse or a number", s)), _exit(2);
        }
        const stack_t alternative{signal_stack, 0, sizeof signal_stack};
        sigaltstack(&alternative, nullptr);
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
        action.sa_sigaction = on_signal;
        for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM}) sigaction(s, &action, nullptr);
        const itimerval second{{1, 0}, {1, 0}};
        setitimer(ITIMER_VIRTUAL, &second, nullptr);
    }
} start;

}  // namespace
}  // namespace cudacpu

// ---- functions of the C library, and AddressSanitizer's, that do something else in a kernel --------------

using namespace cudacpu;

extern "C" {

clock_t clock() noexcept {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return in_kernel() ? clock_ticks() : t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / 1000;
}

void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) noexcept {
    if (!in_kernel()) __assert(expression, file, int(line));
    std::string name = function;
    if (name.starts_with("auto ")) name.erase(0, 5);  // "k(int)::<lambda()>" by g++, by clang as below
    for (const char* closure : {"::<lambda()", "::(anonymous class)", "::(lambda at "})
        if (const size_t i = name.find(closure); i != name.npos) name = "void " + name.substr(0, i);
    const uint3 b = cudacpu_block, t = cudacpu_thread;
    fault(cudaErrorAssert,
          text("%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file, line, name.c_str(),
               b.x, b.y, b.z, t.x, t.y, t.z, expression),
          "", nullptr);
}

const char* __asan_default_options() { return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=0"; }

void __asan_on_error() {
    if constexpr (asan)
        if (in_kernel()) say(report("AddressSanitizer: " + explain(__asan_get_report_address()), "", ""));
}

}  // extern "C"
