// crash.cpp - crash handling in kernels and on the host: signals, asserts and AddressSanitizer.
#include "report/crash.hpp"

#include <cxxabi.h>
#include <signal.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "api/errors.hpp"
#include "api/stream_queue.hpp"
#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "engine/watchdog.hpp"
#include "memory/address_space.hpp"
#include "memory/device_heap.hpp"
#include "memory/early_access.hpp"
#include "memory/upcalls.hpp"
#include "report/symbolize.hpp"

// By the C++ ABI, the type information of classes with no, one or several bases begins with these tables.
extern "C" const char _ZTVN10__cxxabiv117__class_type_infoE[], _ZTVN10__cxxabiv120__si_class_type_infoE[],
    _ZTVN10__cxxabiv121__vmi_class_type_infoE[];
extern "C" void* __libc_stack_end;
extern "C" void __assert(const char* expression, const char* file, int line) noexcept;

namespace cudacpu {

int exit_status;

void fault(cudaError_t error, const std::string& what, const std::string& mend, const Where* where,
           const void* pc) {
    print_report(compose_report(what, mend, where ? source_line(*where) : source_line(pc), describe(error, true)));
    cudacpu_hazard_found();
    if (!in_kernel()) write_output_files(), end_reports(), _exit(3);
    lockstep_observer.launch_stops(what.c_str());
    outcome = error;
    if (hazard_build && error != cudaErrorAssert) exit_status = 1;  // an assert may be expected
    leave_block();
}

void report_bug(const std::string& what, const std::string& mend, const std::string& line,
                const std::string& kind) {
    static auto& known = *new std::set<std::string>;
    exit_status = 1;
    if (!known.insert(kind + line).second) return;
    print_report(compose_report(what, mend, line, kind));
    cudacpu_hazard_found();
}

// The type information of a class comes before the table of an object's functions.
void note_virtual_functions(const void* object, size_t bytes) {
    struct Class {
        const char *table, *name;
    };
    const Class* const* table = nullptr;
    if (bytes >= sizeof table) memcpy(&table, object, sizeof table);
    if (!is_global(table) || !is_global(table - 1) || uintptr_t(table) % sizeof table) return;
    const Class* const c = table[-1];
    if (!is_global(c) || uintptr_t(c) % sizeof table) return;
    for (const char* of_a_class : {_ZTVN10__cxxabiv117__class_type_infoE, _ZTVN10__cxxabiv120__si_class_type_infoE,
                                   _ZTVN10__cxxabiv121__vmi_class_type_infoE})
        if (c->table == of_a_class + 16) {
            const std::unique_ptr<char, void (*)(void*)> name(
                abi::__cxa_demangle(c->name, nullptr, nullptr, nullptr), free);
            report_misuse(
                say({"notice: %s: class %s has virtual functions, and the host has made this object",
                     "notice: %s：类 %s 有虚函数，而这个对象是主机创建的"},
                    api_function, name ? name.get() : c->name),
                say({"a kernel of a GPU cannot call them, as their addresses are the host's: let a kernel make "
                     "the object, with new",
                     "GPU 的核函数不能调用这些虚函数，因为地址是主机的：让核函数用 new 创建这个对象"}));
        }
}

namespace {

constexpr size_t signal_stack_bytes = 256 << 10;
// The program's first thread keeps its signal stack: kernels may run, and signals arrive, after its objects are
// destroyed.
struct SignalStack {
    char* bytes = nullptr;
    ~SignalStack() {
        if (gettid() != getpid()) delete[] bytes;
    }
};
thread_local SignalStack signal_stack;

#if defined(__x86_64__)
const void* pc_of(const mcontext_t& machine) { return reinterpret_cast<void*>(machine.gregs[REG_RIP]); }
uintptr_t sp_of(const mcontext_t& machine) { return machine.gregs[REG_RSP]; }
bool writes(const mcontext_t& machine) { return machine.gregs[REG_ERR] & 2; }
bool is_atomic(const unsigned char* code) {  // it has a lock prefix, or is an xchg
    for (; *code == 0xf0 || *code == 0x66 || (*code & 0xf0) == 0x40; ++code)
        if (*code == 0xf0) return true;
    return *code == 0x86 || *code == 0x87;
}
// The minimum number of bytes that the instruction accesses: of a vector, the first bytes.
unsigned width_of(const unsigned char* code) {
    bool small = false, scalar = false, wide = false;  // its prefixes
    for (;; ++code) {
        if (*code == 0x66) small = true;
        else if (*code == 0xf2) scalar = true;
        else if ((*code & 0xf0) == 0x40) wide = *code & 8;
        else if (*code != 0xf3) break;
    }
    if (*code == 0xc4 || *code == 0xc5) return (code[*code == 0xc4 ? 2 : 1] & 3) == 3 ? 8 : 4;  // AVX
    if (*code != 0x0f) return wide ? 8 : small ? 2 : *code & 1 ? 4 : 1;
    if ((code[1] & 0xf6) == 0xb6) return code[1] & 1 ? 2 : 1;  // movzx, movsx
    const unsigned kind = code[1] >> 3;                        // doubles: moves, comparisons and arithmetic
    const bool doubles = small && (kind == 0x2 || kind == 0x5 || kind == 0xa || kind == 0xb || code[1] == 0xd6);
    return wide || scalar || doubles ? 8 : 4;
}
// Executes only the next instruction, then raises SIGTRAP.
constexpr long trap_flag = 0x100;
void begin_step(mcontext_t& machine) { machine.gregs[REG_EFL] |= trap_flag; }
void end_step(mcontext_t& machine) { machine.gregs[REG_EFL] &= ~trap_flag; }
#elif defined(__aarch64__)
// A program cannot single-step, so a copy of the instruction is executed, followed by a breakpoint.
thread_local uint32_t* copy;
thread_local uint64_t copied_from;
const void* pc_of(const mcontext_t& machine) {
    return reinterpret_cast<void*>(copy && machine.pc == uintptr_t(copy) ? copied_from : machine.pc);
}
uintptr_t sp_of(const mcontext_t& machine) { return machine.sp; }
uint32_t instruction_at(const void* code) { return *static_cast<const uint32_t*>(code); }
// Whether the access is a write, by Linux's record of the fault. QEMU makes none; then the instruction decides:
// loads have bit 22, or bit 23 if they extend the sign.
bool writes(const mcontext_t& machine) {
    auto* record = reinterpret_cast<const _aarch64_ctx*>(machine.__reserved);
    while (record->magic && record->magic != ESR_MAGIC)
        record = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const char*>(record) + record->size);
    if (record->magic) return reinterpret_cast<const esr_context*>(record)->esr >> 6 & 1;
    const uint32_t code = instruction_at(pc_of(machine));
    return !(code >> 22 & 1) && (code & 0x3e800000) != 0x38800000;
}
bool is_atomic(const unsigned char* code) {  // exclusive, acquire or release; or one of ARMv8.1's
    return (instruction_at(code) & 0x3f000000) == 0x08000000 || (instruction_at(code) & 0x3b200c00) == 0x38200000;
}
unsigned width_of(const unsigned char* code) {  // at most 8
    const uint32_t op = instruction_at(code), size = op >> 30;
    const bool vector = op >> 26 & 1;
    if ((op & 0x3a000000) == 0x28000000) return size > !vector ? 8 : 4;  // a pair
    if ((op & 0x3a000000) == 0x38000000) return vector && op >> 23 & 1 ? 8 : 1 << size;
    return 4;
}
void begin_step(mcontext_t& machine) {
    if (!copy) {
        constexpr int executable = PROT_READ | PROT_WRITE | PROT_EXEC;
        void* const p = mmap(nullptr, page, executable, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return;  // only the first access to each page is recorded
        copy = static_cast<uint32_t*>(p);
    }
    copied_from = uintptr_t(pc_of(machine));
    copy[0] = instruction_at(pc_of(machine));
    copy[1] = 0xd4200000;  // brk #0
    __builtin___clear_cache(reinterpret_cast<char*>(copy), reinterpret_cast<char*>(copy + 2));
    machine.pc = uintptr_t(copy);
}
void end_step(mcontext_t& machine) {
    if (copy && machine.pc == uintptr_t(copy + 1)) machine.pc = copied_from + 4;
    else signal(SIGTRAP, SIG_DFL);  // a breakpoint of the program's own ends it
}
#endif

// Whether the program was started by a debugger, which would take the signal of a single step for its own.
bool has_debugger() {
    static const bool traced = [] {
        std::ifstream status("/proc/self/status");
        for (std::string word; status >> word;)
            if (word == "TracerPid:") return status >> word && word != "0";
        return false;
    }();
    return traced;
}

}  // namespace

std::string past_the_end(const Region* r) {
    if (r && r->kind == Kind::dynamic)
        return say({"let the launch at %s:%d give enough bytes of shared memory, <<<blocks, threads, bytes>>>, or "
                    "check the index",
                    "让 %s:%d 的启动给出足够的共享内存字节数，<<<线程块数, 线程数, 字节数>>>，或者检查下标"},
                   launch->where.file, launch->where.line);
    if (r && r->kind == Kind::shared)
        return say({"check the index against the array's length, or make the array longer",
                    "把下标与数组长度相比较，或者加长数组"});
    return say({"check the index against the size: if (i < n)", "把下标与大小相比较：if (i < n)"});
}

namespace {

// Describes an address so far past a region's start that it comes from an unsigned index below 0; "" if it is not
// such an address.
std::string below_zero(const char* address) {
    for (const size_t bytes : {1, 2, 4, 8, 16}) {
        const char* const meant = address - (bytes << 32);
        const Region* r = find(meant);
        if (!r || r->freed || meant >= r->start || (r->start - meant) % bytes) continue;
        return say({": element -%zu, or %zu as an unsigned number, before %s",
                    "：%3$s之前的元素 -%1$zu，看作无符号数是 %2$zu"},
                   (r->start - meant) / bytes, (size_t{1} << 32) - (r->start - meant) / bytes, explain(r->start));
    }
    return "";
}

// Whether the pointer is null, or was not set in fresh memory, which holds 0xff bytes; or is close to such a value.
bool near_null(const void* address) { return uintptr_t(address) + (1 << 20) < 2 << 20; }

std::string advice(const void* address, const Region* r, bool outside, bool below) {
    if (below)
        return say(
            {"an unsigned index that goes below 0 begins anew at 2^32: compare before you subtract, or "
             "take an int: int(threadIdx.x) - 1",
             "无符号下标小于 0 时会回绕到 2^32：先比较再相减，或者用 int：int(threadIdx.x) - 1"});
    if (near_null(address))
        return say({"that is no pointer: it is null, or nobody has set it (fresh memory holds 0xff bytes here)",
                    "这不是有效的指针：它是空指针，或者没有设置过（这里新分配的内存全是 0xff）"});
    if (!r)
        return say(
            {"no memory of the device is there: check the pointer, and the index against the size: if (i < n)",
             "那里没有设备内存：检查指针，并把下标与大小相比较：if (i < n)"});
    if (r->freed)
        return say({"%s frees it: free memory only after its last use; if a destructor does so, pass the object by "
                    "reference",
                    "%s释放了它：在最后一次使用之后再释放内存；如果由析构函数释放，就按引用传递对象"},
                   in_lines(r->freed_by));
    if (!outside)
        return say({"copy it with cudaMemcpy, or use cudaMallocManaged",
                    "用 cudaMemcpy 复制，或者使用 cudaMallocManaged"});
    return past_the_end(r);
}

void divided_by_zero(const Where* where, const void* pc) {
    if (in_kernel())
        fault(cudaErrorLaunchFailure, say({"integer division by zero", "整数除以零"}),
              say({"check the divisor: a GPU goes on with an undefined result",
                   "检查除数：GPU 会继续运行，结果没有定义"}),
              where, pc);
    alarm(3);
    report_misuse(say({"integer division by zero in the host's code", "主机代码中整数除以零"}),
                  say({"check the divisor", "检查除数"}));
    cudacpu_hazard_found();
    signal(SIGFPE, SIG_DFL);  // the next one ends the program, as without the CPU device
}

// In a function of a library, such as memcpy(): where the program calls it.
const void* of_program(const void* pc) {
    if (is_global(pc)) return pc;
    const Callers all = callers(24);
    const auto caller = std::find_if(std::ranges::find(all, pc), all.end(), is_global);
    return caller == all.end() ? pc : static_cast<char*>(*caller) - 1;
}

// The handler leaves a kernel's fault by a jump to the host's stack, which SA_NODEFER permits.
void on_signal(int signal, siginfo_t* info, void* context) {
    ASAN_UNPOISON_MEMORY_REGION(signal_stack.bytes, signal_stack_bytes);  // of frames that such a jump has left
    auto& thread = *static_cast<ucontext_t*>(context);
    auto& machine = thread.uc_mcontext;
    if (signal == SIGTRAP) return close_touched_page(), end_step(machine);
    if (signal == SIGQUIT) {  // the user wants to know where the program hangs
        alarm(3);             // in case the report needs a lock that is held here
        report_misuse(say({"notice: ended while it was here", "notice: 结束时程序在这里"}));
        return void(raise(SIGTERM));
    }
    const void* pc = pc_of(machine);
    const bool in_kernel = cudacpu::in_kernel();
    if (signal == SIGVTALRM) {  // of processor time
        if (self && !in_kernel) return void(pthread_kill(runner, SIGVTALRM));
        if (!is_spinning(thread)) return;
        if (last_access && source_line(pc).empty()) pc = last_access;
        const bool in_atomic = last_atomic.line && source_line(pc).empty();
        fault(
            cudaErrorLaunchTimeout,
            say({"the kernel does not come to an end: this thread spins", "核函数不结束：这个线程在空转"}),
            say({"check what ends the loop; a thread gives way only at a barrier, a warp operation, an atomic or a "
                 "volatile read, and not all blocks of a large grid are under way at the same time",
                 "检查循环怎样结束；线程只在同步点、线程束操作、原子操作或 volatile 读取处让出，而且大网格的线程块"
                 "并不全都同时运行"}),
            in_atomic ? &last_atomic : nullptr, pc);
    }
    if (signal == SIGFPE) return divided_by_zero(nullptr, pc);
    const char* address = static_cast<char*>(info->si_addr);
    if (signal == SIGSEGV && runs_works && open_on_demand(address)) return;
    const Region* r = find(address);
    const std::string below = r ? "" : below_zero(address), about = r ? explain(address) : "";
    const bool outside = r && !r->freed && (address < r->start || address >= r->start + r->bytes);
    if (in_kernel && below_own_stack(address))
        fault(
            cudaErrorIllegalAddress, say({"stack overflow", "栈溢出"}),
            say({"the local variables of a thread have %zu KB: use smaller arrays, or a loop instead of recursion",
                 "线程的局部变量有 %zu KB：用小一些的数组，或者用循环代替递归"},
                local_bytes >> 10),
            nullptr, pc);
    const std::string mend = advice(address, r, outside, !below.empty());
    if (in_kernel)
        fault(cudaErrorIllegalAddress,
              say({"illegal memory access at %p", "非法内存访问：%p"}, info->si_addr) +
                  (r ? say({": ", "："}) + about : below),
              mend, nullptr, pc);
    const bool together = is_atomic(static_cast<const unsigned char*>(pc));  // concurrent with the kernel
    if (touched_early(address, writes(machine), together ? nullptr : of_program(pc),
                      width_of(static_cast<const unsigned char*>(pc)))) {
        if (!together && !has_debugger()) begin_step(machine);
        return;
    }
    const std::string touched = outside ? say({"the host touched memory out of bounds: ", "主机越界访问了内存："})
                                        : say({"the host touched device memory: ", "主机访问了设备内存："});
    if (r) fault(cudaErrorIllegalAddress, touched + about, mend, nullptr, pc);
    if (on_heap(address))
        fault(cudaErrorIllegalAddress, touched + explain(address),
              say({"let a kernel copy it into memory of cudaMalloc", "让核函数把它复制到 cudaMalloc 的内存中"}),
              nullptr, pc);
    struct sigaction standard {};  // a fault of the program's own ends it, as without the CPU device
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    alarm(3);
    const uintptr_t top = gettid() == getpid() ? uintptr_t(__libc_stack_end) : 0, sp = sp_of(machine),
                    at = uintptr_t(address);
    if (at < top && at + page >= sp)
        report_misuse(
            say({"the host's stack is full", "主机的栈已满"}),
            say({"large arrays of this function do not fit there: use std::vector or malloc; or a recursion does "
                 "not end",
                 "这个函数的大数组放不下：用 std::vector 或 malloc；或者递归没有结束"}));
    else
        report_misuse(say({"the host's code touched %p, where no memory is", "主机代码访问了 %p，那里没有内存"},
                          info->si_addr),
                      say({"check the pointer, and the index against the size", "检查指针，并把下标与大小相比较"}));
    cudacpu_hazard_found();
}

// Runs before the program's own constructors, because they may use the device.
const struct SignalHandlers {
    SignalHandlers() {
        prepare_thread();
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
        action.sa_sigaction = on_signal;
        for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGVTALRM, SIGQUIT}) sigaction(s, &action, nullptr);
        tick_each(1000);
    }
} signal_handlers CUDACPU_LASTING;

}  // namespace

void prepare_thread() {
    if (signal_stack.bytes) return;
    signal_stack.bytes = new char[signal_stack_bytes];
    const stack_t alternative{signal_stack.bytes, 0, signal_stack_bytes};
    sigaltstack(&alternative, nullptr);
}

}  // namespace cudacpu

// ---- functions of the C library and of the sanitizers --------------------------------------------------

using namespace cudacpu;

extern "C" {

void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) noexcept {
    if (!in_kernel()) __assert(expression, file, int(line));
    std::string name = function;
    if (name.starts_with("auto ")) name.erase(0, 5);  // "k(int)::<lambda()>" by g++, by clang as below
    for (const char* closure : {"::<lambda()", "::(anonymous class)", "::(lambda at "})
        if (const size_t i = name.find(closure); i != name.npos) name = "void " + name.substr(0, i);
    const uint3 b = blockIdx, t = threadIdx;
    fault(cudaErrorAssert,
          text("%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file, line, name.c_str(),
               b.x, b.y, b.z, t.x, t.y, t.z, expression),
          "", nullptr);
}

const char* __asan_default_options() { return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=0"; }

#ifdef CUDACPU_ASAN
void __ubsan_on_report() { exit_status = 1; }
#else
// The compiler calls these in place of an access at an address that is not aligned for its type, and at the end of
// a function that has to return a value but does not.
struct UbsanMismatch {
    Where where;
    const char* type;  // follows two 16-bit numbers
    unsigned char log_of_alignment, kind;
};
void __ubsan_handle_type_mismatch_v1(const UbsanMismatch* m, const void* address) {
    const bool of_header = strstr(m->where.file, "cpu/include/");  // of the CPU device: report the caller
    const unsigned alignment = 1u << m->log_of_alignment;
    if (in_kernel() && uintptr_t(address) % alignment && !near_null(address))
        fault(cudaErrorMisalignedAddress,
              say({"misaligned address: %p is no multiple of %u, which %s needs",
                   "地址没有对齐：%p 不是 %u 的倍数，而 %s 需要"},
                  address, alignment, m->type + 4) +
                  (find(address) ? say({": ", "："}) + explain(address) : ""),
              say({"a GPU also stops there: let each row length and offset be a multiple of %u bytes, or "
                   "access the values one by one",
                   "GPU 也会在那里停止：让每一行（的长度）和每个偏移量都是 %u 字节的倍数，或者逐个访问这些值"},
                  alignment),
              of_header ? nullptr : &m->where, __builtin_return_address(0));
}
// Before a division by zero, or of the least integer by -1. x86-64 traps both; on arm64 the former gives 0.
void __ubsan_handle_divrem_overflow(const Where* where, uintptr_t, uintptr_t by) {
    if (by) return;
    divided_by_zero(where, nullptr);
    raise(SIGFPE);
}
void __ubsan_handle_missing_return(const Where* where) {
    fault(cudaErrorLaunchFailure,
          say({"a function that has to return a value ended without a return",
               "应该有返回值的函数没有 return 就结束了"}),
          say({"end each of its branches with a return", "让每个分支都以 return 结束"}), where);
}
#endif

void __asan_on_error() {
    if constexpr (asan_build)
        if (in_kernel())
            print_report(compose_report("AddressSanitizer: " + explain(__asan_get_report_address()), "", "",
                                        "out-of-bounds"));
}

}  // extern "C"
