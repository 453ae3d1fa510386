// internal.hpp - declarations that the parts of the CPU device share, and that programs do not see.
//
// It has one section for each source file. Declarations for programs and CUDA's headers are in
// ../include/cudacpu/engine.hpp and ../include/cuda_runtime_api.h.
#pragma once
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cuda_runtime.h"

namespace cudacpu {

#ifdef CUDACPU_HAZARDS
constexpr bool hazard_build = true;
#define CUDACPU_HAZARD_HOOK(declaration) void declaration
#else
constexpr bool hazard_build = false;
#define CUDACPU_HAZARD_HOOK(declaration) \
    inline void declaration {}
#endif
#ifdef CUDACPU_COUNTERS
constexpr bool counters_build = true;
#else
constexpr bool counters_build = false;
#endif
#if defined(CUDACPU_HAZARDS) || defined(CUDACPU_COUNTERS)
#define CUDACPU_RECORD_HOOK(declaration, result) declaration
#else
#define CUDACPU_RECORD_HOOK(declaration, result) \
    inline declaration { return result; }
#endif
#ifdef CUDACPU_ASAN
constexpr bool asan_build = true;
#else
constexpr bool asan_build = false;
#endif
#if defined(CUDACPU_HAZARDS) || defined(CUDACPU_COUNTERS) || defined(CUDACPU_ASAN)
constexpr bool plain_build = false;
#else
constexpr bool plain_build = true;
#endif
constexpr size_t page = 4096;
inline uint64_t value_at(const volatile void* address, size_t bytes) {  // the first eight bytes
    uint64_t value = 0;
    memcpy(&value, const_cast<const void*>(address), std::min(bytes, sizeof value));
    return value;
}
inline uint64_t mix(uint64_t mixed, uint64_t word) {
    mixed = (mixed ^ word) * 0x9e3779b97f4a7c15;
    return mixed ^ mixed >> 29;
}
// threadIdx, blockIdx and similar variables: between __start_cudacpu_builtin and __stop_cudacpu_builtin.
#define CUDACPU_BUILTIN __attribute__((section("cudacpu_builtin")))
// Outlives the program's own objects, because kernels may run at its very end.
#define CUDACPU_LASTING __attribute__((init_priority(101)))
constexpr size_t guard = hazard_build ? 1 << 20 : page;  // inaccessible memory after each region
constexpr size_t guard_before = hazard_build ? 64 << 10 : 0;

// ---- diagnostics.cpp: diagnostics ----------------------------------------------------------------------------

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
void print_report(const std::string& message);       // on stderr, after flushing stdout
void print_report_once(const std::string& message);  // at most once in the whole program
extern bool has_reported;                            // whether anything was printed
std::string source_line(const void* pc);             // "sum.cu:12", from the debug information
std::string source_line(Where where);
std::vector<std::string> source_lines(const std::vector<const void*>& pcs);
std::string from_here(std::string files);  // file names relative to the working folder, for files below it
std::string thread_name();                 // "block (0,0,0), thread (5,0,0)"
std::string who_waits_where();             // one line for each run of threads
/// The lines of a file as compiled, or as found from the working folder; empty if it is missing.
const std::vector<std::string>& source_text(const std::string& file);
std::string wrapped(const std::string& words);  // broken to the terminal's width; `code` is kept together
std::string opening(const std::string& words);  // the first lines of a report: "cudacpu: " and the words, broken to
                                                // the terminal's width
/// Reports a wrong call of the API, with its line and how to mend it.
void report_misuse(const std::string& words, const std::string& mend = "");
using Callers = std::vector<void*>;
Callers callers(int frames);                     // the callers of this function, the innermost first
std::string first_line(const Callers& callers);  // the first line of the program's own code; "" if there is none
struct Remark {
    std::string place, words;  // "sum.cu:12", "thread 3 reads"
    std::string name = {};     // the part that must stay visible if the line is too long
};
/// Each line as in its file, with the words beside or below it; unknown lines are left out.
std::string listing(const std::vector<Remark>& remarks);
/// "byte 400 of the 400 bytes that ... allocated", or "".
std::string explain(const void* address, size_t bytes = 4);
/// "element 19 of cache (sum.cu:8)", with the running kernel's name for it.
std::string name_of(const void* address, size_t bytes, std::string* name = nullptr);
std::pair<std::string, uintptr_t> symbol(const void* address);
std::string kernel_name();  // with template arguments
/// "\n  before at place", on two lines if one would be too wide.
std::string on_a_line(const std::string& before, const std::string& place);
/// What happened, in which thread of which launch, at which line, and how to mend it.
std::string compose_report(const std::string& what, const std::string& mend, const std::string& line);
/// While one exists, the hooks treat the running code as the library's, although a thread of a kernel called it. It
/// is needed for clang, where the program's copy of a shared template calls the hooks. (g++ gives the library its
/// own copy: -fno-weak.)
class Aside {
    Thread* const asks = std::exchange(self, nullptr);

public:
    ~Aside() { self = asks; }
};

// ---- crash.cpp: crash handling in kernels and on the host -----------------------------------------------

/// Reports an error at a line and how to mend it; then the kernel, or the program, ends with the error.
[[noreturn]] void fault(cudaError_t error, const std::string& what, const std::string& mend, const Where* where,
                        const void* pc = nullptr);
extern const void* last_access;  // by a thread that may spin: where the compiler inserted the call
extern Where last_atomic;        // of such a thread, if the compiler's call is in a header
extern int exit_status;          // for a program that would otherwise end with 0
/// Reports, once for each line, a bug after which the kernel or the program can continue. The exit status shows it.
void report_bug(const std::string& what, const std::string& mend, const std::string& line);
/// For an object that the host copies to the device.
void note_virtual_functions(const void* object, size_t bytes);
// ---- watchdog.cpp: livelock detection ----------------------------------------------------------------------

extern volatile sig_atomic_t sample_requested;
extern int patience;                            // in seconds of processor time
extern volatile sig_atomic_t seconds_in_block;  // processor time of the block that is running
void take_sample(const void* pc, const void* address,
                 unsigned bytes);             // at an atomic or volatile read, if sample_requested is set
void tick_each(int milliseconds);             // sets the interval of SIGVTALRM, in processor time
bool is_spinning(const ucontext_t& context);  // called at each tick

void prepare_thread();  // for a thread of the program that may run kernels

// ---- schedule.cpp: the schedule of threads and blocks --------------------------------------------------------

enum class Order { forward, reverse, seeded };
extern Order order;
unsigned random_number();

// ---- fiber.cpp: stacks that take turns ------------------------------------------------------------------

struct Fiber {
    void* context;       // where it resumes, or begins when it takes another thread
    const void* bottom;  // of the stack; the page below it is inaccessible
    size_t size;
    void* fake_stack;  // AddressSanitizer's
};
extern Fiber host_fiber;                   // the program's own stack
constexpr size_t local_bytes = 512 << 10;  // of a thread, as on a GPU
constexpr size_t stack_bytes = local_bytes + (64 << 10);
void free_fiber(Fiber* fiber);
void abandon_fibers();  // resets all fibers to their beginning
/// Resumes a thread, or the host (nullptr). `from` receives the place where the caller resumes.
void switch_to(Thread* thread, void** from);
bool on_own_stack(const void* address);
bool on_a_stack(const void* address);       // the stack of any thread
bool below_own_stack(const void* address);  // where a stack overflow ends

// ---- scheduler.cpp: the threads of one block, and which of them runs ---------------------------------------

void set_block_size(dim3 size);
bool run_block(bool from_the_start);     // until all threads have ended, or leave_block(). false: it is paused
extern bool blocks_wait;                 // other blocks are ready to begin or to resume
extern unsigned long blocks_at_barrier;  // of the grid
extern unsigned long blocks_under_way;   // ~0 while others can be begun
extern unsigned long blocks_paused;
[[noreturn]] void leave_block();  // for good: its threads are abandoned where they are
[[noreturn]] void run_threads();  // the main loop of a fiber
extern unsigned picks_in_turn;    // hazard build: every so many picks, a thread is picked at random
extern bool idle_threads[1024];   // they wait for something that was incomplete when last checked
bool preempt();                   // runs another thread of the block, if one is ready
void preempt_block();             // runs another block, if one is ready

// ---- rendezvous.cpp: rendezvous ---------------------------------------------------------------------------

extern std::vector<Rendezvous*> open_rendezvous[33];  // of each warp, and at [32] of the whole block
extern unsigned long syncs[33];                       // of each warp: how often its threads have synchronized
extern Where last_met[33];  // the last barrier or __syncwarp() of each warp; at [32] the block's last barrier
/// Resumes the threads of each rendezvous at which all its threads have arrived. Lanes in __activemask() wait until
/// no thread can run, so that as many as possible are active together.
bool complete_rendezvous(bool nobody_can_run);

namespace race {
struct Shadow;
}

// ---- device_heap.cpp: malloc() and new in kernels ---------------------------------------------------------------

bool on_heap(const void* p);  // in the plain build
void heap_in_use(bool by_device);

// ---- shared_memory.cpp: __shared__ memory -----------------------------------------------------------------------

void begin_shared_memory(size_t dynamic_bytes);  // of the next block
struct SharedMemory {                            // of a paused block
    unsigned long serial;
    size_t bytes;
    std::vector<SharedObject*> objects;
    char* dynamic;  // nullptr: it has used none
    std::string contents;
    std::vector<race::Shadow*> notes;  // shadow memory of each of these
};
SharedMemory keep_shared_memory();
void restore_shared_memory(const SharedMemory& kept);

// ---- launch.cpp: from <<<...>>> to the blocks ------------------------------------------------------------

struct Launch {
    dim3 grid, block;
    size_t dynamic_bytes;
    CUstream_st* stream;
    Where where;
    bool cooperative;
    Kernel* kernel = nullptr;
    Body body{};
    std::shared_ptr<void> owner{};         // of the body's closure
    std::vector<const void*> arguments{};  // the pointers among the arguments, nullptr for the others
};
extern const Launch* launch;  // the running launch
cudaError_t run_launch(const Launch& l);
extern uint64_t block_number;
extern cudaError_t outcome;  // of the block

// ---- address_space.cpp: the address space: memory that the device, or the host, may touch
// ------------------------

struct Region {  // memory that the device may use
    char* start;
    size_t bytes;
    Kind kind;
    char* base;    // the pages that hold it ...
    size_t pages;  // ... in bytes, without the inaccessible page that follows
    Where where;
    bool freed = false;
    race::Shadow* shadow = nullptr;  // shadow memory of the hazard build
    const char* name = "";           // of a __shared__ variable
    size_t columns = 0;              // of a two-dimensional __shared__ array
    unsigned long number = 0;        // allocations are numbered from 1
};
inline bool is_shared(const Region* r) { return r && (r->kind == Kind::shared || r->kind == Kind::dynamic); }
const char* past_the_end(const Region* r);  // how to mend an access past its end
Region* find(const void* address);          // the region, or the region before the inaccessible page
char* map_before_guard(size_t bytes, size_t alignment, char** base, size_t* pages);
Region* add_region(const Region& region);
void device_takes_over(bool device);      // whether device memory may be touched
bool opened_late(const void* address);    // the device touched memory that is opened on demand
void managed_in_use(bool by_device);      // whether the host may touch managed memory
void await_kernel(const void* argument);  // of the last work: the host must wait before it touches pinned memory
/// The host touches memory that the device may still use. That is permitted, but too early if one of the queued
/// works changes the memory. Without a pc it is an atomic, which is never too early. false: there is no such
/// memory.
bool touched_early(const void* address, bool writes, const void* pc, unsigned bytes);
extern std::atomic<unsigned long> early_touches;
void shut_again();  // the page just touched, if parts of it must stay closed
const void* where_touched(const void* start, size_t bytes);  // by a write that came too early; nullptr if unknown
/// The addresses where the host has written, since this work was queued, to memory that the device may also use;
/// with the code.
std::vector<std::pair<const char*, const void*>> written_since(unsigned long work);
void note_touches();  // before works run
/// Checks the touches before this work, for which the host waits or asks: it may have read data that are not ready.
void compare_touches(unsigned long work, bool waits, bool asks);
bool is_global(const void* address);              // a variable of the program
const Region* used_by_both(const void* address);  // memory that both the host and the device may use; or nullptr
bool device_has_memory();                         // whether device memory is open, and works run
bool device_has_managed_memory();                 // whether a kernel is queued, so that managed memory is closed
cudaError_t await_copy(const void* to, size_t bytes);  // the host must not touch pinned memory before the last work
bool is_awaited(const char* address);
void protect_awaited_pages(bool closed);
void check_all_canaries();
void report_leaks();

// ---- canaries.cpp: canaries -------------------------------------------------------------------------------

void write_canaries(const Region& r);  // the memory around it in its pages
void check_canaries(const Region& r);

// ---- stream_queue.cpp: errors, streams and events -------------------------------------------------------------

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work, bool is_kernel = false);
extern std::atomic<unsigned long> api_calls;
extern std::atomic<bool> works_run;  // a call of the API is not permitted, because a callback makes it
extern bool kernel_ran;
struct UnfinishedWork {
    size_t kernels = 0, functions = 0;  // functions: of the host
};
UnfinishedWork unfinished_work();
extern const char* api_function;  // the function that last passed the gate
unsigned long last_work();
bool work_is_queued(unsigned long number);
extern unsigned long told_not_ready;            // the last work when the host was last told "not ready"
extern constinit thread_local bool runs_works;  // whether this thread of the program runs works
extern pthread_t runner;                        // the thread that last did

// ---- fault_injection.cpp: fault injection
// -------------------------------------------------------------------------

cudaError_t injected_failure(const char* function, unsigned long call);  // LAB_FAIL=K: the error of the K-th call
const std::string* injected_flip();  // LAB_FLIP=COPY:WHAT: WHAT if this copy to the host is number COPY, else null
/// Changes bit WHAT of a copy (counted from its end if negative), or all of it ("ones"), or swaps its first and
/// last four bytes ("swap").
void corrupt(const std::string& what, char* to, size_t bytes, const void* from);

// ---- access_check.cpp, only in the hazard build ---------------------------------------------------------------

namespace race {
CUDACPU_HAZARD_HOOK(launch_begins());
CUDACPU_HAZARD_HOOK(launch_ends());
CUDACPU_HAZARD_HOOK(block_begins());
CUDACPU_HAZARD_HOOK(block_pauses());
CUDACPU_HAZARD_HOOK(block_goes_on());
CUDACPU_HAZARD_HOOK(block_ends());
CUDACPU_HAZARD_HOOK(grid_barrier_passed());
CUDACPU_HAZARD_HOOK(barrier_passed());
/// The advice if not all threads reach a barrier, in more precise words if the source text allows.
CUDACPU_HAZARD_HOOK(let_all_come(Where, bool /*for_ever*/, std::string& /*words*/));
CUDACPU_HAZARD_HOOK(let_lanes_come(Where, const char* /*what*/, std::string& /*words*/));
CUDACPU_HAZARD_HOOK(lanes_met(unsigned /*first_thread*/, unsigned /*lanes*/));
CUDACPU_HAZARD_HOOK(at_atomic(void* /*address*/, unsigned /*bytes*/, unsigned /*kind*/, Where,
                              const void* /*expected*/));
CUDACPU_HAZARD_HOOK(at_fence(bool /*block_only*/));
CUDACPU_HAZARD_HOOK(region_added(Region&));
CUDACPU_HAZARD_HOOK(region_fresh(Region&));                     // a new block: nothing in it is written yet
CUDACPU_HAZARD_HOOK(region_kept(Region&, Shadow*& /*notes*/));  // its block is paused
CUDACPU_HAZARD_HOOK(region_restored(Region&, Shadow* /*notes*/));
CUDACPU_HAZARD_HOOK(bytes_written(Region&, size_t /*offset*/, size_t /*bytes*/));
CUDACPU_HAZARD_HOOK(region_gone(Region&));
CUDACPU_HAZARD_HOOK(heap_given(void* /*start*/, size_t /*bytes*/));  // to a kernel
CUDACPU_HAZARD_HOOK(heap_taken(void* /*start*/));
CUDACPU_HAZARD_HOOK(work_queued(unsigned long /*number*/, const void* /*stream*/,
                                const std::set<unsigned long>& /*after*/, const char* /*what*/));
CUDACPU_HAZARD_HOOK(work_waits(unsigned long /*number*/, unsigned long /*event*/));
CUDACPU_HAZARD_HOOK(work_begins(unsigned long /*number*/));
CUDACPU_HAZARD_HOOK(work_ended());
CUDACPU_HAZARD_HOOK(work_touches(const void* /*address*/, size_t /*bytes*/, bool /*write*/));  // a copy
/// A copy to the host begins: checks that all of it has been written.
CUDACPU_HAZARD_HOOK(host_gets(const void* /*from*/, size_t /*pitch*/, size_t /*width*/, size_t /*height*/));
CUDACPU_HAZARD_HOOK(host_must_keep(const void* /*start*/, size_t /*pitch*/, size_t /*width*/, size_t /*height*/));
CUDACPU_HAZARD_HOOK(host_waits(bool /*begins*/));  // works may run; they have run
}  // namespace race

// ---- lockstep.cpp and runtime_options.cpp, in the counters' and the hazard build
// ------------------------------------

namespace warp {
extern bool drawing;  // a block, or a part of it
inline bool in_lockstep() { return counters_build || (hazard_build && drawing); }
CUDACPU_RECORD_HOOK(void launch_begins(), void());
CUDACPU_RECORD_HOOK(void block_begins(), void());
CUDACPU_RECORD_HOOK(void block_ends(), void());
CUDACPU_RECORD_HOOK(void block_pauses(), void());
CUDACPU_RECORD_HOOK(void block_goes_on(), void());
CUDACPU_RECORD_HOOK(Thread* next_lane(), nullptr);    // the lane that resumes now; nullptr: any thread may
CUDACPU_RECORD_HOOK(bool resume_any_lanes(), false);  // some stopped lanes resume
CUDACPU_RECORD_HOOK(void rendezvous_passed(const Rendezvous&, unsigned /*warp*/), void());
CUDACPU_RECORD_HOOK(void at_atomic(void* /*address*/, unsigned /*bytes*/, Where), void());
CUDACPU_RECORD_HOOK(int write_files(), 0);         // at the end of the program; returns the exit status
CUDACPU_RECORD_HOOK(void end_if_asked(), void());  // by a signal, between two steps of a kernel
CUDACPU_RECORD_HOOK(void stopped(const char* /*why*/), void());  // the running kernel does not finish
}  // namespace warp

}  // namespace cudacpu
