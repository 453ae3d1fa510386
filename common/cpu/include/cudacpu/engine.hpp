// engine.hpp - the interface between the translated program, the headers and the engine.
//
// A CUDA thread is a fiber. One OS thread runs the fibers of one block until all have ended, then the next block. A
// fiber runs until it waits (at a barrier or in a warp operation) or ends; README.md explains the design.
#pragma once
#if __cplusplus < 202002L
#pragma GCC system_header  // no warnings about newer C++
#endif
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#ifndef __clang__
#include <source_location>
#endif
#include <type_traits>
#include <typeinfo>

#include "../vector_types.h"

// The hazard build instruments every access of the program. Functions in headers that belong to the engine must be
// excluded, or the detector would report the engine itself. They run at every switch, so they are fast even in a
// program that is built without optimization.
#define CUDACPU_QUIET __attribute__((no_sanitize("thread")))
#ifdef CUDACPU_COUNTED
#undef CUDACPU_QUIET
#ifdef __clang__
#define CUDACPU_QUIET __attribute__((no_sanitize("thread", "coverage")))
#else
#define CUDACPU_QUIET __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif
#endif
#if defined CUDACPU_INSTRUMENTED && !defined __clang__
#define CUDACPU_INLINE CUDACPU_QUIET __attribute__((optimize("O2"))) inline
#elif defined CUDACPU_INSTRUMENTED
#define CUDACPU_INLINE CUDACPU_QUIET inline
#else
#define CUDACPU_INLINE __attribute__((always_inline)) inline
#endif
#ifdef CUDACPU_INSTRUMENTED
#define CUDACPU_PER_THREAD __attribute__((noinline))  // for the compiler threadIdx is a constant
#else
#define CUDACPU_PER_THREAD inline
#endif
#define CUDACPU_HERE ::cudacpu::Where where = ::cudacpu::Where::here()

enum cudaError : int;
struct CUstream_st;

namespace cudacpu {

// The largest size of a memory page that the processor has.
#if defined(__x86_64__)
constexpr size_t largest_page = 4 << 10;
#else
constexpr size_t largest_page = 64 << 10;
#endif

#ifdef __clang__
#define CUDACPU_COLUMN __builtin_COLUMN()
#elif __cplusplus >= 202002L
#define CUDACPU_COLUMN std::source_location::current().column()
#else
#define CUDACPU_COLUMN 0
#endif
struct Where {  // like std::source_location, which clang 14 lacks
    const char* file;
    int line, column = 0;  // of the translated text: distinguishes two barriers in one line
    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                int column = CUDACPU_COLUMN) {
        return {file, line, column};
    }
    CUDACPU_INLINE bool operator==(Where other) const {
        return line == other.line && column == other.column && (file == other.file || !strcmp(file, other.file));
    }
};

// ---- threads: waiting and ending are inline, because a call returns slowly after a switch of stacks ----------

struct Rendezvous;
struct Fiber;
struct alignas(64) Thread {  // one cache line
    uint3 index;
    unsigned rank;
    void* stack;     // where it resumes; nullptr: it is running, has not begun, or has ended
    Fiber* fiber;    // the fiber that it waited on; nullptr: it has never waited
    Rendezvous* at;  // what it waits for; nullptr: nothing
    Where where;
};
struct BlockOfThreads {
    unsigned size, width;      // the number of threads, and of threads in a row
    unsigned begun;            // how many have begun, if they begin in order; else more than there are
    bool has_ended[1024];      // including the threads that the last warp lacks
    Thread threads[1024 + 1];  // after the last one comes a sentinel that never resumes
    unsigned ended() const;
    unsigned lanes(unsigned warp) const;  // lanes that have not ended
};
extern BlockOfThreads running_block;
extern Thread* self;  // nullptr while the host runs
extern Fiber* current_fiber;
extern unsigned rank;            // of the running thread, in its block
extern unsigned long progress;   // the watchdog checks whether it changes
extern unsigned waits_in_a_row;  // of a thread that may spin: atomics and volatile reads
extern bool in_turn;             // threads resume in the order of their numbers, and none is preempted
extern bool begin_in_turn;       // threads begin in the order of their numbers, when one ends without waiting

#if defined(__x86_64__)
#define CUDACPU_SWITCH
// Registers that only some processors have, and that the compiler uses only with the option for it (-march=native).
#ifdef __AVX512F__
#define CUDACPU_AVX512                                                                                            \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
        "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define CUDACPU_AVX512
#endif
#ifdef __APX_F__
#define CUDACPU_APX \
    , "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"
#else
#define CUDACPU_APX
#endif
// Leaves this stack and resumes the other one. The compiler saves the registers that it still needs, except two
// that a function may need for its frame.
CUDACPU_INLINE void switch_stacks(void** from, void* to) {
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\tpushq %%rbp\n\tpushq %%rbx\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\t"
        "movq %%rsp, (%%rdi)\n\tmovq %%rsi, %%rsp\n\tpopq %%rax\n\tjmpq *%%rax\n"
        "1:\tpopq %%rbx\n\tpopq %%rbp\n\tleaq 128(%%rsp), %%rsp"
        : "+D"(from), "+S"(to)
        :
        : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
          "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
          "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory",
          "cc" CUDACPU_AVX512 CUDACPU_APX);
}
#elif defined(__aarch64__)
#define CUDACPU_SWITCH
#ifdef __ARM_FEATURE_SVE
#define CUDACPU_SVE \
    , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15"
#else
#define CUDACPU_SVE
#endif
// As above. `hint 36` (bti j) marks where the branch may go, if the compiler protects branches.
CUDACPU_INLINE void switch_stacks(void** from, void* to) {
    register void** saved asm("x0") = from;
    register void* resumed asm("x1") = to;
    asm volatile(
        "adr x16, 1f\n\tstp x16, x19, [sp, -32]!\n\tstp x29, x30, [sp, 16]\n\tmov x2, sp\n\tstr x2, [x0]\n\t"
        "mov sp, x1\n\tldp x29, x30, [sp, 16]\n\tldp x16, x19, [sp], 32\n\tbr x16\n1:\thint 36"
        : "+r"(saved), "+r"(resumed)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
          "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "v0", "v1", "v2", "v3", "v4", "v5",
          "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
          "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc" CUDACPU_SVE);
}
#else
void switch_stacks(void** from, void* to);
#endif

}  // namespace cudacpu
extern uint3 cudacpu_thread asm("cudacpu_threadIdx");  // for the program a constant of the running thread
namespace cudacpu {

CUDACPU_INLINE unsigned lane() { return rank % 32; }
CUDACPU_INLINE void become(Thread* t) {
    self = t;
    cudacpu_thread = t->index;
    rank = t->rank;
}
bool begins_out_of_turn(unsigned thread);
/// The running thread, the one before `next`, has ended. Returns true if `next` has not begun: then it begins on
/// the same stack. `row`: the first thread of its row. Threads that never wait do not touch their cache lines, and
/// none waits for a store of the previous one.
CUDACPU_INLINE bool next_begins_here(Thread* next, unsigned number, unsigned& row) {
    running_block.has_ended[number - 1] = true;
    if (running_block.begun == number) running_block.begun = number + 1;
    else if (!begins_out_of_turn(number)) return false;
    if (number - row != running_block.width) {
        cudacpu_thread.x = number - row;
    } else {
        if (number == running_block.size) return false;
        row = number;
        cudacpu_thread = next->index;
    }
    self = next;
    rank = number;
    asm volatile("" ::: "memory");  // accesses of one thread are not mixed with those of the next
    return true;
}

// ---- launches: `k<<<grid, block>>>(a, b)` becomes `(configure(grid, block), k(a, b), launched())` --------

struct Kernel {
    const char* name;
    const char* parameters;           // parameter names, separated by commas
    unsigned max_threads;             // from __launch_bounds__
    bool names_vectors;               // types such as float4, whose members nvcc loads together
    size_t dynamic_limit = 48 << 10;  // cudaFuncSetAttribute raises it
    size_t static_bytes = 0;          // the most that its threads have used so far
};
struct Body {  // a kernel with its arguments
    void* closure;
    size_t bytes;
    void (*run)(const void* closure);
};
/// Records the launch configuration of the kernel that is called next. early: it may begin before the kernel ahead
/// of it in the stream has ended (programmatic dependent launch).
void configure(dim3 grid, dim3 block, size_t dynamic_bytes = 0, CUstream_st* stream = nullptr, CUDACPU_HERE,
               bool cooperative = false, bool early = false);
/// Called after the kernel; reports if no kernel was called. Waits for the kernel if launches_block, or the
/// environment variable CUDA_LAUNCH_BLOCKING is 1.
void launched();
extern bool launches_block;
struct Argument {         // of a kernel
    const void* pointer;  // nullptr: it is no pointer
    size_t bytes;         // of an element; 0: unknown
};
/// Checks the launch and queues it. The queue takes over the closure, which comes from `new`.
void enqueue_kernel(Kernel& kernel, const Body& body, std::initializer_list<Argument> arguments);
/// What the compiler driver records of a line of the program's source: facts about the arrays that the line indexes
/// (`a[i]`, where a is an array and not a pointer), and about its __syncthreads().
struct SourceLine {
    enum Fact : unsigned {
        indexes_member = 1,  // of a struct
        indexes_shared = 2,  // in __shared__ memory
        indexes_local = 4,   // of a function
        indexes_global = 8,  // a __device__, __constant__ or __managed__ variable
        indexes_row = 16,    // of a matrix: a[i][j]
        barrier_in_branch = 32,
        barrier_in_loop = 64,
        adds_index = 128,  // each + in the line calculates an index
        subtracts_index = 256,
        multiplies_index = 512,
    };
    int number;
    unsigned facts;
};
/// The lines with facts of one file of the program, sorted by their numbers. The translated program has one object
/// for each file and unit; the constructor adds it to the list that begins with `last`.
struct SourceFile {
    const char* name;  // with its whole path
    const SourceLine* lines;
    size_t count;
    const SourceFile* before;
    SourceFile(const char* name, const SourceLine* lines, size_t count);
    static const SourceFile* last;
};
/// The format of reports if LAB_REPORT is not set: what LAB_REPORT would be set to.
int report_as(const char* format);
/// The executable, or a shared library with kernels. Each unit of the program registers the one that it is linked
/// into.
struct Module {
    const char *start, *zeros, *end;  // zeros: the variables from here on begin as 0
    const Module* before;
    Module(const char* start, const char* zeros, const char* end);
    static const Module* last;
};
const Module* module_of(const void* address);  // nullptr: it is not the program's
/// From the linker: where this module begins, where its variables begin as 0, and where it ends.
extern "C" __attribute__((visibility("hidden"))) char __ehdr_start, __bss_start, _end;
[[maybe_unused]] static const Module this_module(&__ehdr_start, &__bss_start, &_end);
/// Records the statements of a source file (advice/source.hpp).
int statement_tree(const char* file, const char* text, const char* tree);
extern Kernel** probe;  // if not null, a called kernel stores its Kernel here and does not run
/// What a kernel declares in its body, found before it has run: a closure's type names the types within it.
void foresee_shared(Kernel& kernel, const char* closure);
bool note_shared(const char* type, size_t bytes);
#ifdef __GXX_RTTI
template <class S> inline const bool noted_shared = note_shared(typeid(S).name(), sizeof(S));
#endif

/// In the hazard build pointers and floating-point numbers are parameters of each thread: the compiler calls no
/// hook before it reads one. Integers are references. Of an integer parameter g++ would see that a word already has
/// its value, and leave out a store.
template <class T> using own = std::conditional_t<std::is_pointer<T>() || std::is_floating_point<T>(), T, T&>;
// As on a GPU, each thread has the arguments' bytes: no constructor copies them, and no destructor runs.
template <class F> CUDACPU_QUIET CUDACPU_PER_THREAD void run_thread(const void* closure) {
    alignas(F) char mine[sizeof(F)];
    (__builtin_memcpy)(mine, closure, sizeof mine);
    (*reinterpret_cast<F*>(mine))();
}
template <class F> CUDACPU_QUIET void run_threads_in(const void* closure) {
    Thread* thread = self;
    unsigned number = rank, row = number - cudacpu_thread.x;
    do run_thread<F>(closure);
    while (next_begins_here(++thread, ++number, row));
}
template <class T> Argument argument(const T&) { return {}; }
template <class T> constexpr size_t size_of(...) { return 0; }  // of an incomplete type
template <class T, size_t Bytes = sizeof(T)> constexpr size_t size_of(int) { return Bytes; }
template <class T> Argument argument(T* pointer) { return {(const void*)pointer, size_of<T>(0)}; }
/// The object that a reference parameter refers to; nullptr if it has no data to read.
template <class T> const void* referred(T& object) {
    if (std::is_empty<std::remove_cv_t<T>>()) return nullptr;
    return (const void*)__builtin_addressof(object);
}
/// The body of every kernel is a call of this function; the closure holds the arguments by value. A program has
/// many kernels, so this template is as small as possible.
template <class F, class... Arguments> void enter_kernel(Kernel& kernel, F* closure, const Arguments&... a) {
    static_assert((sizeof(Arguments) + ... + 0) <= 32764,
                  "a kernel takes at most 32764 bytes of arguments: give it a pointer");
#ifdef __GXX_RTTI
    if (probe) foresee_shared(kernel, typeid(F).name());
#endif
    enqueue_kernel(kernel, {closure, sizeof(F), run_threads_in<F>}, {argument(a)...});
}

// ---- shared memory: each object has its own pages and ends at an inaccessible page -----------------------

struct SharedObject {
    size_t bytes, alignment;
    const char* name;
    Where where = Where::here();
    char* address = nullptr;
    unsigned long serial = 0;  // of the block that last used it
    size_t columns = 0;        // of a two-dimensional array
};
struct Constant {  // a __constant__ variable, in the counters' build
    const void* start;
    size_t bytes;
    const Constant* before = last;
    Constant(const void* at, size_t size) : start(at), bytes(size) { last = this; }
    static const Constant* last;
};
struct HostVariable {  // a host variable whose address is passed to a kernel somewhere
    const void* start;
    size_t bytes;
    const HostVariable* before = last;
    HostVariable(const void* at, size_t size) : start(at), bytes(size) { last = this; }
    static const HostVariable* last;
};
struct HostsCopy {        // of a __device__ variable that host functions name: the host has its own copy
    char *start, *other;  // other: the host's while the device runs, else the device's
    size_t bytes;
    bool address_asked = false;  // by cudaGetSymbolAddress(), which returns the device's copy
    HostsCopy* before;
    HostsCopy(void* variable, size_t size);
    static HostsCopy* last;
};
HostsCopy* hosts_copy(const void* address);
struct DeviceVariable {   // or a __constant__ or __managed__ one
    char *start, *first;  // first: its initial value, if that is not 0
    size_t bytes;
    const DeviceVariable* before;
    DeviceVariable(void* variable, size_t size);
    static const DeviceVariable* last;
};
void begin_anew();  // resets the device's variables after cudaDeviceReset()
extern unsigned long block_serial;
char* fresh(SharedObject& object);  // filled with garbage, for the block that now runs
char* at_namespace_scope(SharedObject& object);
void* dynamic_arena(const char* name, size_t alignment, bool fixed_start);

void constructed(const SharedObject& object);  // records that its constructor has run
/// Whether a constructor does anything: nvcc leaves it out for a variable in shared memory, and warns.
template <class S> bool is_constructed() {
    alignas(S) static char bytes[sizeof(S)], before[sizeof(S)];
    memset(bytes, 0x5a, sizeof bytes);
    memset(before, 0x5a, sizeof before);
    asm volatile("" ::: "memory");
    ::new (static_cast<void*>(bytes)) S;
    asm volatile("" ::: "memory");
    return memcmp(bytes, before, sizeof bytes) != 0;
}

template <class S, class Member> CUDACPU_QUIET S& shared(SharedObject& object) {  // S has no other member
    static_assert(sizeof(S) <= 48 << 10, "more than 48 KB of static shared memory: CUDA refuses it");
#ifdef __GXX_RTTI
    static_cast<void>(&noted_shared<S>);
#endif
#ifndef CUDACPU_INSTRUMENTED  // instrumented builds detect reads of values that nobody has written
    // nvcc also leaves out the initializers of an aggregate's members, but without a warning.
    if constexpr (!std::is_trivially_default_constructible<S>() && std::is_default_constructible<S>() &&
                  !__is_aggregate(std::remove_all_extents_t<Member>))
        if (!object.address && is_constructed<S>()) constructed(object);
#endif
    if constexpr (std::rank<Member>() == 2) object.columns = std::extent<Member, 1>();
    return *reinterpret_cast<S*>(object.serial == block_serial ? object.address : fresh(object));
}
template <class S> S& shared_at_namespace_scope(SharedObject& object) {
    return *reinterpret_cast<S*>(at_namespace_scope(object));
}
template <class T> T* dynamic_shared(const char* name) {
    return static_cast<T*>(dynamic_arena(name, alignof(T), false));
}
template <class T> auto dynamic_at_namespace_scope(const char* name) -> T (&)[] {
    return *static_cast<T(*)[]>(dynamic_arena(name, alignof(T), true));
}

// ---- rendezvous ------------------------------------------------------------------------------------------

struct Rendezvous {  // a rendezvous: threads that wait for each other, and the values that they show each other
    enum Kind { at_barrier, at_warp, at_activemask } kind;
    const char* what;
    unsigned mask, warp;
    Where where;                  // of the first thread that arrived
    unsigned count;               // threads that have arrived and have not left
    unsigned arrived;             // lanes, as a mask
    int votes;                    // the sum of the votes
    bool complete;                // all threads have arrived
    unsigned char value[32][32];  // of each lane that has arrived
};
/// Joins or opens the rendezvous. await() returns when all threads have arrived; then each must leave().
Rendezvous* join(Rendezvous::Kind kind, const char* what, unsigned mask, Where where);
void await_slowly(Rendezvous* rendezvous, Where where);
void close(Rendezvous* rendezvous);
extern Rendezvous* last_joined;  // nullptr: it is complete

CUDACPU_INLINE Rendezvous* join_quickly(Rendezvous::Kind kind, const char* what, unsigned mask, Where where) {
    Rendezvous* const e = last_joined;
    const bool same = e && e->kind == kind && e->what == what && e->mask == mask &&
                      (kind == Rendezvous::at_warp      ? e->warp == rank / 32 && mask >> lane() & 1
                       : kind == Rendezvous::at_barrier ? e->where == where
                                                        : false);
    return same ? e : join(kind, what, mask, where);
}
CUDACPU_INLINE void await(Rendezvous* e, Where where) {
    Thread* const me = self;
    Thread* const next = me + 1;
    ++e->count;
    if (!in_turn || !next->stack || (next->at && !next->at->complete)) return await_slowly(e, where);
    me->at = e;
    me->where = where;
    me->fiber = current_fiber;
    current_fiber = next->fiber;
    waits_in_a_row = 0;
    __builtin_prefetch(next[1].stack);
    become(next);
    switch_stacks(&me->stack, next->stack);
    me->at = nullptr;
    me->stack = nullptr;
}
CUDACPU_INLINE void leave(Rendezvous* e) {
    if (!--e->count) close(e);
}
CUDACPU_INLINE int barrier(const char* what, int vote, Where where) {  // returns the sum of the votes
    Rendezvous* const e = join_quickly(Rendezvous::at_barrier, what, 0, where);
    e->votes += vote;
    await(e, where);
    const int votes = e->votes;
    leave(e);
    return votes;
}
void grid_barrier(Where where);  // a barrier of all blocks
unsigned active_lanes(Where where);
void lane_is_absent(Rendezvous* rendezvous, int lane);
void took(const void* value, unsigned bytes, int from);  // the value that a lane has received from a warp operation

class Lanes {  // one warp operation, from one lane's point of view
    Rendezvous* rendezvous;

public:
    template <class T> CUDACPU_INLINE Lanes(const char* what, unsigned mask, const T& value, Where where,
                                            Rendezvous::Kind kind = Rendezvous::at_warp)
        : rendezvous(join_quickly(kind, what, mask, where)) {
        static_assert(sizeof(T) <= 32 && std::is_trivially_copyable<T>(), "");
        rendezvous->arrived |= 1u << lane();
        (__builtin_memcpy)(rendezvous->value[lane()], &value, sizeof(T));
        await(rendezvous, where);
    }
    CUDACPU_QUIET ~Lanes() { leave(rendezvous); }
    CUDACPU_QUIET unsigned present() const { return rendezvous->arrived; }
    template <class T> CUDACPU_QUIET T get(int from) const {
        T value;
        if (!(rendezvous->arrived >> from & 1)) lane_is_absent(rendezvous, from);
        (__builtin_memcpy)(&value, rendezvous->value[from], sizeof(T));
        return value;
    }
};

struct DeviceHeap {};
constexpr DeviceHeap device_heap;  // the argument of a kernel's `new`, which selects the device heap
bool in_kernel();
template <class... T> int printed(const char* format, T... values) {
    const int characters = __builtin_printf(format, values...);
    return in_kernel() ? int(sizeof...(T)) : characters;
}
enum class Space { global, shared, local };  // global: neither shared nor on a thread's stack
Space space_of(const void* p);
// Kinds of atomics. at_stores: it does not use the old value, so it ends a release sequence.
enum : unsigned { at_block_scope = 8, at_compares = 16, at_exchanges = 32, at_stores = 64 };
// May let others run. A CAS passes the value that it compares with.
void about_to_do_atomic(void* address, unsigned bytes, unsigned kind, Where where, const void* expected);
/// A fence, or what a release operation (before it) or an acquire operation on a word (after it) does beyond a
/// relaxed one.
enum class Fence { full, of_release, of_acquire };
void fence(bool block_only = false, Fence kind = Fence::full, const void* word = nullptr);
void grid_dependency_wait();  // the earlier kernels of the stream have already ended
void give_way();
long long clock_ticks();
unsigned long long special_register(const char* name);
[[noreturn]] void trap(const char* what, Where where);

}  // namespace cudacpu
void* operator new(size_t bytes, cudacpu::DeviceHeap) noexcept;
void* operator new[](size_t bytes, cudacpu::DeviceHeap) noexcept;
