// engine.cpp - fibers, blocks, barriers, warps, and the reports about what goes wrong in them.
#include <cstdarg>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "internal.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
extern "C" const char* __asan_default_options() {
    return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=0";
}
extern "C" void __asan_on_error() {
    if (!cudacpu::in_kernel()) return;
    const std::string about = cudacpu::explain(__asan_get_report_address());
    cudacpu::say("cudacpu: in kernel " + std::string(cudacpu::launch->kernel->name) + ", " +
                 cudacpu::thread_name() + (about.empty() ? "" : "\n  " + about));
}
#endif

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

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

namespace {

constexpr size_t stack_bytes = 256 << 10, page = 4096;

// ---- fibers ----------------------------------------------------------------------------------------------

struct Thread;
struct Fiber {
    fcontext_t context = nullptr;
    char* bottom = nullptr;  // of the stack; below it lies a page that cannot be touched
    char* top = nullptr;
    void* fake_stack = nullptr;  // AddressSanitizer's
};
enum State : unsigned char { ready, at_barrier, at_warp, at_activemask, ended };
struct Thread {
    uint3 index;
    unsigned rank;
    State state;
    int vote;
    unsigned mask;
    const char* what;  // the operation that it waits in ...
    Where where;       // ... and the line
    Fiber* fiber;
};

Fiber host;  // the program's own stack
Fiber* current = &host;
Thread* self;              // nullptr: the host runs
std::deque<Fiber> fibers;  // all that were ever made: blocks take them one after the other
std::vector<Fiber*> spare;
cudaError_t outcome;  // of the block that now runs

void fiber_main(transfer_t);

void prepare(Fiber& f) {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(f.bottom, f.top - f.bottom);
#endif
    f.context = make_fcontext(f.top, f.top - f.bottom, fiber_main);
    spare.push_back(&f);
}

Fiber* take_fiber() {
    if (spare.empty()) {
        void* p = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) say("cudacpu: no memory for the stacks of the threads"), _exit(3);
        mprotect(p, page, PROT_NONE);
        Fiber& f = fibers.emplace_back();
        f.bottom = static_cast<char*>(p) + page;
        // Tops at different offsets do not contend for the same lines of the cache.
        f.top = f.bottom + stack_bytes - fibers.size() % 61 * 64;
        prepare(f);
    }
    Fiber* f = spare.back();
    spare.pop_back();
    return f;
}

void arrive(transfer_t from) {  // the first thing that a fiber does when it goes on
    *static_cast<fcontext_t*>(from.data) = from.fctx;
#ifdef __SANITIZE_ADDRESS__
    const void* bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(current->fake_stack, &bottom, &size);
    if (!host.bottom)
        host.bottom = static_cast<char*>(const_cast<void*>(bottom)), host.top = host.bottom + size;
#endif
}

void switch_to(Fiber* to) {
    Fiber* from = current;
    current = to;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->top - to->bottom);
#endif
    arrive(jump_fcontext(to->context, &from->context));
}

void become(Thread* t) {
    self = t;
    if (!t) return;
    cudacpu_thread = t->index;
    rank = t->rank;
    lane = t->rank % 32;
}

// ---- one block -------------------------------------------------------------------------------------------

struct Warp {
    unsigned ended, lanes;
    std::vector<Exchange*> open;  // operations that still wait for a lane
};
std::vector<Thread> threads;
std::vector<Warp> warps;
std::vector<Exchange*> spare_exchanges;
unsigned n, n_ended, n_at_barrier, n_at_activemask;
Thread* ring[1024];  // the threads that are ready, first come, first served
unsigned ring_head, ring_count;
constexpr unsigned ring_mask = 1023;
unsigned long progress;  // the watchdog looks whether it moves
unsigned atomics_in_a_row;
enum { forward, reverse, seeded } order_mode;
std::vector<unsigned> order;
std::vector<SharedObject*> shared_everywhere;
size_t shared_bytes;

void push(Thread* t) {
    t->state = ready;
    ring[(ring_head + ring_count++) & ring_mask] = t;
}

template <class Int>
void shuffle(std::vector<Int>& v) {
    for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[random_number() % i]);
}

void push_waiting(State state, unsigned first, unsigned count, unsigned lanes = ~0u) {
    auto release = [&](unsigned i) {
        Thread& t = threads[i];
        if (t.state == state && (count == n || lanes >> (i - first) & 1)) push(&t);
    };
    if (order_mode == seeded && count == n) {
        shuffle(order);
        for (unsigned i : order) release(i);
    } else if (order_mode == reverse) {
        for (unsigned i = first + count; i-- > first;) release(i);
    } else {
        for (unsigned i = first; i < first + count; ++i) release(i);
    }
}

std::string position(const Thread& t) {
    if (t.state == ended) return "have ended";
    if (t.state == ready) return "run";
    return text("wait in %s at %s:%d", t.what, t.where.file, t.where.line);
}

// "threads 0-127 wait in __syncthreads() at sum.cu:18\n  threads 128-255 have ended"
std::string who_waits_where() {
    std::string all;
    int lines = 0;
    for (unsigned first = 0, i = 1; i <= n; ++i) {
        const std::string where = position(threads[first]);
        if (i < n && position(threads[i]) == where) continue;
        if (++lines > 6) return all + "\n  ...";
        all += text("\n  threads %u-%u %s", first, i - 1, where.c_str());
        first = i;
    }
    return all;
}

bool same(const Where& a, const Where& b) {
    return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

void pass_barrier() {
    const Thread* first = nullptr;
    int votes = 0;
    for (Thread& t : threads) {
        if (t.state != at_barrier) continue;
        if (first && !same(first->where, t.where))
            fault(cudaErrorLaunchFailure,
                  "divergent barrier: the threads of the block wait at different ones",
                  "every thread of the block must reach the same barrier: move it out of the branch" +
                      who_waits_where(),
                  &t.where);
        first = &t;
        votes += t.vote;
    }
    static const char* warned_file;
    static int warned_line;
    if (n_ended && (warned_file != first->where.file || warned_line != first->where.line)) {
        warned_file = first->where.file, warned_line = first->where.line;
        say("cudacpu: warning: a barrier that threads of the block never reach, as they have ended\n  in "
            "kernel " +
            std::string(launch->kernel->name) + ", " + thread_name() + who_waits_where() +
            "\n  GPUs since Volta go on without them. Let all threads reach the barrier, and guard the work"
            " with if instead of return.");
        if (hazard_build) exit_status = 1;
    }
    for (Thread& t : threads)
        if (t.state == at_barrier) t.vote = votes;
    n_at_barrier = 0;
    ++progress;
    hazards::barrier_passed();
    push_waiting(at_barrier, 0, n);
}

void complete(Warp& warp, unsigned first, size_t i) {
    Exchange* e = warp.open[i];
    warp.open.erase(warp.open.begin() + i);
    e->unread = e->arrived;
    ++progress;
    if (!strcmp(e->what, "__syncwarp()")) hazards::lanes_met(first, e->arrived);
    push_waiting(at_warp, first, std::min(32u, n - first), e->arrived);
}

bool is_complete(const Warp& warp, const Exchange& e) {
    return !(e.mask & warp.lanes & ~warp.ended & ~e.arrived);
}

void thread_ends() {
    self->state = ended;
    ++n_ended;
    ++progress;
    Warp& warp = warps[rank / 32];
    warp.ended |= 1u << lane;
    for (size_t i = 0; i < warp.open.size();)
        if (is_complete(warp, *warp.open[i]))
            complete(warp, rank & ~31u, i);
        else
            ++i;
    if (n_at_barrier && n_at_barrier + n_ended == n) pass_barrier();
}

// Nobody can go on. Lanes that ask who is active have waited for this moment: so many run together as can.
bool form_active_groups() {
    if (!n_at_activemask) return false;
    n_at_activemask = 0;
    for (unsigned first = 0; first < n; first += 32) {
        const unsigned last = std::min(n, first + 32);
        for (unsigned i = first; i < last; ++i) {
            if (threads[i].state != at_activemask || threads[i].mask) continue;
            unsigned together = 0;
            for (unsigned j = i; j < last; ++j)
                if (threads[j].state == at_activemask && !threads[j].mask &&
                    same(threads[i].where, threads[j].where))
                    together |= 1u << (j - first);
            for (unsigned j = i; j < last; ++j)
                if (together >> (j - first) & 1) threads[j].mask = together;
        }
    }
    push_waiting(at_activemask, 0, n);
    return true;
}

Thread* pick() {  // the thread that goes on now; nullptr: all have ended
    if (!ring_count && !form_active_groups()) {
        if (n_ended == n) return nullptr;
        const Thread* stuck = nullptr;
        bool at_a_barrier = false;
        for (const Thread& t : threads)
            if (t.state == at_barrier || t.state == at_warp) {
                at_a_barrier |= t.state == at_barrier;
                if (!stuck || t.state == at_warp) stuck = &t;
            }
        fault(cudaErrorLaunchFailure,
              at_a_barrier ? "deadlock: the threads of a block wait for each other"
                           : "deadlock: a warp operation waits for a lane that does not come",
              "every lane named in the mask must call the operation, with the same mask, and every thread of "
              "the "
              "block must reach the same barrier" +
                  who_waits_where(),
              &stuck->where);
    }
    if (order_mode == seeded || hazard_build)
        std::swap(ring[ring_head & ring_mask], ring[(ring_head + random_number() % ring_count) & ring_mask]);
    Thread* t = ring[ring_head++ & ring_mask];
    --ring_count;
    return t;
}

void resume(Thread* t) {
    if (!t->fiber) t->fiber = take_fiber();
    become(t);
    switch_to(t->fiber);
}

void fiber_main(transfer_t from) {
    arrive(from);
    for (;;) {
        launch->body.run(launch->body.closure);
        thread_ends();
        Thread* next = pick();
        if (next && !next->fiber) {  // it has not begun: no switch, it begins right here
            next->fiber = current;
            become(next);
            continue;
        }
        spare.push_back(current);
        if (next)
            resume(next);
        else
            become(nullptr), switch_to(&host);
    }
}

void wait(State state, const char* what, Where where) {
    Thread* me = self;
    me->state = state;
    me->what = what;
    me->where = where;
    atomics_in_a_row = 0;
    Thread* next = pick();
    if (next != me) resume(next);
}

void need_kernel(const char* what, Where where) {
    if (self) return;
    say(text("cudacpu: %s:%d: %s is for kernels: the host cannot call it", where.file, where.line, what));
    _exit(3);
}

void run_block() {
    ++block_serial;
    shared_bytes = launch->dynamic_bytes;
    for (SharedObject* s : shared_everywhere) fresh(*s, s->name, s->where);
    n_ended = n_at_barrier = n_at_activemask = ring_head = ring_count = 0;
    for (size_t i = 0; i < warps.size(); ++i) warps[i].ended = 0;
    hazards::block_begins();
    for (Thread& t : threads) t.state = at_barrier, t.fiber = nullptr;
    outcome = cudaSuccess;
    push_waiting(at_barrier, 0, n);
    resume(pick());
    if (outcome == cudaSuccess) return;
    // The block was abandoned: its fibers are dropped where they stand.
    become(nullptr);
    spare.clear();
    for (Fiber& f : fibers) prepare(f);
    for (Warp& w : warps) w.open.clear();
}

[[noreturn]] void leave_block() {  // of a fiber that never goes on
    Fiber dropped;
    current = &host;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(nullptr, host.bottom, host.top - host.bottom);
#endif
    jump_fcontext(host.context, &dropped.context);
    __builtin_unreachable();
}

}  // namespace

cudaError_t run(const Launch& l) {
    launch = &l;
    if (!l.refused.empty()) {
        say(l.refused);
        launch = nullptr;
        return cudaErrorIllegalAddress;
    }
    cudacpu_grid_size = l.grid;
    cudacpu_block_size = l.block;
    n = l.block.x * l.block.y * l.block.z;
    threads.resize(n);
    order.resize(n);
    warps.resize((n + 31) / 32);
    for (unsigned i = 0; i < n; ++i) {
        threads[i].index = {i % l.block.x, i / l.block.x % l.block.y, i / l.block.x / l.block.y};
        threads[i].rank = order[i] = i;
        warps[i / 32].lanes = i % 32 == 31 ? ~0u : (2u << i % 32) - 1;
    }
    hazards::launch_begins();
    const uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z;
    std::vector<uint64_t> block_order;
    if (order_mode == seeded) {
        block_order.resize(blocks);
        for (uint64_t i = 0; i < blocks; ++i) block_order[i] = i;
        shuffle(block_order);
    }
    outcome = cudaSuccess;
    for (uint64_t i = 0; i < blocks && outcome == cudaSuccess; ++i) {
        block_number = order_mode == seeded ? block_order[i] : order_mode == reverse ? blocks - 1 - i : i;
        const uint64_t b = block_number;
        cudacpu_block = {unsigned(b % l.grid.x), unsigned(b / l.grid.x % l.grid.y),
                         unsigned(b / l.grid.x / l.grid.y)};
        run_block();
    }
    hazards::launch_ends();
    launch = nullptr;
    return outcome;
}

// ---- what kernels call -----------------------------------------------------------------------------------

bool in_kernel() { return self; }
unsigned threads_in_block() { return n; }
bool on_own_stack(const void* p) { return p >= current->bottom && p < current->top; }

int barrier(const char* what, int vote, Where where) {
    need_kernel(what, where);
    Thread* me = self;
    me->vote = vote;
    me->state = at_barrier;
    me->what = what;
    me->where = where;
    if (++n_at_barrier + n_ended == n) pass_barrier();
    if (me->state != ready || ring_count) {
        atomics_in_a_row = 0;
        Thread* next = pick();
        if (next != me) resume(next);
    }
    return me->vote;
}

Exchange* meet(const char* what, unsigned mask, const void* value, size_t bytes, Where where) {
    need_kernel(what, where);
    if (!(mask >> lane & 1))
        fault(cudaErrorLaunchFailure, text("%s: lane %u is not in its own mask 0x%08x", what, lane, mask),
              "a lane may only take part in an operation whose mask names it", &where);
    Thread* me = self;
    Warp& warp = warps[rank / 32];
    size_t i = 0;
    while (i < warp.open.size() && (warp.open[i]->mask != mask || strcmp(warp.open[i]->what, what))) ++i;
    if (i == warp.open.size()) {
        if (spare_exchanges.empty()) spare_exchanges.push_back(new Exchange);
        Exchange* e = spare_exchanges.back();
        spare_exchanges.pop_back();
        e->mask = mask, e->arrived = 0, e->what = what, e->where = where;
        warp.open.push_back(e);
    }
    Exchange* e = warp.open[i];
    memcpy(e->value[lane], value, bytes);
    e->arrived |= 1u << lane;
    me->state = at_warp;
    me->what = what;
    me->where = where;
    if (is_complete(warp, *e)) complete(warp, rank & ~31u, i);
    atomics_in_a_row = 0;
    Thread* next = pick();
    if (next != me) resume(next);
    return e;
}

void leave(Exchange* e) {
    if (!(e->unread &= ~(1u << lane))) spare_exchanges.push_back(e);
}

unsigned active_lanes(Where where) {
    need_kernel("__activemask()", where);
    Thread* me = self;
    me->mask = 0;
    ++n_at_activemask;
    wait(at_activemask, "__activemask()", where);
    return me->mask;
}

void preempt() {
    if (!ring_count) return;
    Thread* me = self;
    push(me);
    Thread* next = pick();
    if (next != me) resume(next);
}

void give_way() {
    atomics_in_a_row = 0;
    preempt();
}

void about_to_do_atomic(void* address, unsigned bytes, bool compare, Where where) {
    if (!self) return;
    // A thread that spins on an atomic waits for another one: let it run.
    if (++atomics_in_a_row > 1000) give_way();
    hazards::at_atomic(address, bytes, compare, where);
}

void fence() { hazards::at_fence(); }

void trap(const char* what, Where where) {
    need_kernel(what, where);
    fault(cudaErrorLaunchFailure, text("%s was called", what), "", &where);
}

long long clock_ticks() {  // nanoseconds, and no two alike
    static long long last;
    const long long now = std::chrono::steady_clock::now().time_since_epoch().count();
    return last = now > last ? now : last + 1;
}

unsigned long long special_register(const char* name) {
    const std::string r = name;
    if (r == "laneid") return lane;
    if (r == "warpid") return rank / 32;
    if (r == "nwarpid") return 64;
    if (r == "smid") return block_number % sm_count;
    if (r == "nsmid") return sm_count;
    if (r == "clock") return unsigned(clock_ticks());
    if (r == "clock64") return clock_ticks();
    if (r == "globaltimer") return std::chrono::system_clock::now().time_since_epoch().count();
    const unsigned below = (1u << lane) - 1, mine = 1u << lane;
    if (r == "lanemask_lt") return below;
    if (r == "lanemask_le") return below | mine;
    if (r == "lanemask_eq") return mine;
    if (r == "lanemask_ge") return ~below;
    return ~below & ~mine;  // lanemask_gt: the translator lets no other through
}

// ---- shared memory ---------------------------------------------------------------------------------------

namespace {
void use_shared(size_t bytes, const char* name, Where where) {
    shared_bytes += bytes;
    Kernel& k = *launch->kernel;
    k.static_bytes = std::max(k.static_bytes, shared_bytes - launch->dynamic_bytes);
    if (shared_bytes > std::max(limit_of_all, k.dynamic_limit))
        fault(cudaErrorInvalidValue,
              text("%zu bytes of shared memory with %s, the limit is 49152", shared_bytes, name),
              "use less, or raise the limit for the dynamic part with cudaFuncSetAttribute", &where);
}
void place(SharedObject& s, const char* name, Where where) {
    if (s.address) return;
    s.name = name;
    s.where = where;
    Region r{nullptr, s.bytes, Kind::shared, nullptr, 0, s.where};
    r.start = s.address = map_before_guard(s.bytes, s.alignment, &r.base, &r.pages);
    add_region(r);
}
}  // namespace

char* fresh(SharedObject& s, const char* name, Where where) {
    if (!launch) need_kernel("__shared__ memory", where);
    place(s, name, where);
    s.serial = block_serial;
    use_shared(s.bytes, s.name, s.where);
    hazards::region_fresh(*find(s.address));
    return static_cast<char*>(memset(s.address, 0xff, s.bytes));  // not 0: on a GPU it holds anything
}

char* at_namespace_scope(SharedObject& s, const char* name, Where where) {
    place(s, name, where);
    shared_everywhere.push_back(&s);
    return s.address;
}

void* dynamic_arena(size_t alignment, bool fixed_start) {
    static Region* arena;
    static bool fixed;
    static unsigned long serial;
    if (!arena) {
        Region r{nullptr, shared_most, Kind::dynamic, nullptr, 0, {"", 0}};
        r.start = map_before_guard(shared_most, 256, &r.base, &r.pages);
        arena = add_region(r);
    }
    // One `extern __shared__` outside of functions needs an address that never changes; then the end of the
    // memory lies before an inaccessible page only when the size is a whole number of pages.
    fixed |= fixed_start;
    if (!launch) return arena->base;
    if (serial == block_serial) return arena->start;
    serial = block_serial;
    const size_t bytes = launch->dynamic_bytes, rounded = (bytes + 15) / 16 * 16;
    char* end = arena->base + arena->pages;
    arena->bytes = bytes;
    arena->start = fixed ? arena->base : end - (rounded + alignment - 1) / alignment * alignment;
    if (fixed) {
        mprotect(arena->base, arena->pages, PROT_READ | PROT_WRITE);
        char* after = arena->base + (bytes + page - 1) / page * page;
        if (after < end) mprotect(after, end - after, PROT_NONE);
    }
    hazards::region_gone(*arena), hazards::region_added(*arena);
    return memset(arena->start, 0xff, bytes);
}

// ---- launches --------------------------------------------------------------------------------------------

Kernel** probe;
namespace {
struct Configuration {
    dim3 grid, block;
    size_t dynamic_bytes;
    CUstream_st* stream;
    Where where;
    std::string refused;
};
std::vector<Configuration> configurations;  // a launch among the arguments of another is fine
}  // namespace

void configure(dim3 grid, dim3 block, size_t dynamic_bytes, CUstream_st* stream, Where where) {
    if (self)
        fault(cudaErrorNotSupported, "a kernel is launched from a kernel (dynamic parallelism)",
              "the CPU device cannot do that: launch it from the host", &where);
    configurations.push_back({grid, block, dynamic_bytes, stream, where, ""});
}

bool begin_launch(Kernel& kernel) {
    if (probe) {
        *probe = &kernel;
        return false;
    }
    if (!configurations.empty()) return true;
    say(text("cudacpu: kernel %s is called like a function: write %s<<<blocks, threads>>>(...)", kernel.name,
             kernel.name));
    _exit(3);
}

void check_argument(int number, const void* pointer) {
    Configuration& c = configurations.back();
    if (!pointer || find(pointer) || is_global(pointer) || !c.refused.empty()) return;
    unsigned char resident;  // a number that is no address at all is found out when it is used
    void* first = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(pointer) & ~(page - 1));
    if (mincore(first, 1, &resident) == 0) c.refused = std::to_string(number);
}

void finish_launch(Kernel& kernel, Body body) {
    Configuration c = configurations.back();
    configurations.pop_back();
    if (!c.refused.empty()) {
        std::string name = kernel.parameters;
        for (int i = std::stoi(c.refused); i > 0; --i)
            name.erase(0, std::min(name.size(), name.find(',') + 1));
        name.resize(std::min(name.size(), name.find(',')));
        c.refused = text(
            "cudacpu: kernel %s is given a pointer to host memory, as argument %d (%s)\n  launched at "
            "%s:%d\n  give it memory from cudaMalloc or cudaMallocManaged, and copy with cudaMemcpy",
            kernel.name, std::stoi(c.refused) + 1, name.c_str(), c.where.file, c.where.line);
    }
    std::shared_ptr<Body> kept(new Body(body), [](Body* b) { b->destroy(b->closure), delete b; });
    if (gate("kernel launch") != cudaSuccess) return;
    const dim3 g = c.grid, b = c.block;
    const uint64_t in_block = uint64_t(b.x) * b.y * b.z;
    if (!in_block || in_block > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64 || !g.x || !g.y || !g.z ||
        g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return void(failed(cudaErrorInvalidConfiguration));
    if (kernel.max_threads && in_block > kernel.max_threads) return void(failed(cudaErrorInvalidValue));
    if (c.dynamic_bytes > std::max(limit_of_all, kernel.dynamic_limit))
        return void(failed(cudaErrorInvalidValue));
    enqueue(
        c.stream,
        [=, &kernel] {
            return run({&kernel, *kept, g, b, c.dynamic_bytes, c.stream, c.where, c.refused});
        },
        true);
}

// ---- reports ---------------------------------------------------------------------------------------------

std::string text(const char* format, ...) {
    char buffer[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

void say(const std::string& message) {
    fflush(stdout);
    fprintf(stderr, "%s\n", message.c_str());
}

std::string thread_name() {
    std::string s = text("block (%u,%u,%u)", cudacpu_block.x, cudacpu_block.y, cudacpu_block.z);
    if (self) s += text(", thread (%u,%u,%u)", cudacpu_thread.x, cudacpu_thread.y, cudacpu_thread.z);
    return s;
}

std::string source_line(const void* pc) {
    Dl_info info;
    if (!pc || !dladdr(pc, &info)) return "";
    ElfW(Ehdr)* header = static_cast<ElfW(Ehdr)*>(info.dli_fbase);
    uintptr_t address = reinterpret_cast<uintptr_t>(pc);
    if (header->e_type == ET_DYN) address -= reinterpret_cast<uintptr_t>(header);
    char exe[4096] = {};
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return "";
    FILE* pipe = popen(text("addr2line -i -e '%s' %#lx 2>/dev/null", exe, address).c_str(), "r");
    if (!pipe) return "";
    std::string found;
    char line[4096];
    while (fgets(line, sizeof line, pipe)) {  // innermost first; the program's own line is wanted
        std::string s(line, strcspn(line, "\n"));
        s.resize(std::min(s.size(), s.find(" (")));
        if (found.empty() && s[0] != '?' && s.find("/usr/") != 0 && s.find(CUDACPU_FOLDER) != 0) found = s;
    }
    pclose(pipe);
    if (found.size() > 2 && found.substr(found.size() - 2) == ":?") found.clear();
    char folder[4096];
    if (getcwd(folder, sizeof folder) && found.find(std::string(folder) + "/") == 0)
        found.erase(0, strlen(folder) + 1);
    return found;
}

namespace {
void report(const std::string& what, const std::string& mend, const std::string& line) {
    std::string s = "cudacpu: " + what + "\n  in kernel " + launch->kernel->name + ", " + thread_name();
    if (!line.empty()) s += ", at " + line;
    const dim3 g = launch->grid, b = launch->block;
    s += text("\n  launched at %s:%d as <<<(%u,%u,%u), (%u,%u,%u)>>>", launch->where.file, launch->where.line,
              g.x, g.y, g.z, b.x, b.y, b.z);
    if (!mend.empty()) s += "\n  " + mend;
    say(s);
}
}  // namespace

void fault(cudaError_t error, const std::string& what, const std::string& mend, const Where* where,
           const void* pc) {
    report(what, mend, where ? text("%s:%d", where->file, where->line) : source_line(pc));
    outcome = error;
    leave_block();
}

unsigned random_number() {  // splitmix64
    static uint64_t state = [] {
        const char* s = getenv("LAB_ORDER");
        return s ? strtoull(s, nullptr, 10) : 0;
    }();
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) >> 32;
}

namespace {

#if defined(__x86_64__)
#define CUDACPU_PC(c) (c)->uc_mcontext.gregs[REG_RIP]
#define CUDACPU_SP(c) (c)->uc_mcontext.gregs[REG_RSP]
#elif defined(__aarch64__)
#define CUDACPU_PC(c) (c)->uc_mcontext.pc
#define CUDACPU_SP(c) (c)->uc_mcontext.sp
#endif

void leave_handler(void* context) {  // let the thread go on in leave_block(), on a stack that is whole
    alignas(16) static char stack[64 << 10];
    auto* c = static_cast<ucontext_t*>(context);
    CUDACPU_PC(c) = reinterpret_cast<uintptr_t>(&leave_block);
    CUDACPU_SP(c) = reinterpret_cast<uintptr_t>(stack + sizeof stack - 8);
}

void on_signal(int signal, siginfo_t* info, void* context) {
    const char* address = static_cast<char*>(info->si_addr);
    const void* pc = reinterpret_cast<void*>(CUDACPU_PC(static_cast<ucontext_t*>(context)));
    if (signal == SIGVTALRM) {  // each second of processor time
        static unsigned long last;
        static int idle;
        if (!self || last != progress) idle = 0;
        last = progress;
        if (!self || ++idle < (hazard_build ? 60 : 10)) return;
        idle = 0;
        report("the kernel does not come to an end: this thread spins",
               "blocks run one after another here, and a "
               "thread gives way only at a barrier, a warp operation or an atomic:\n  waiting for another "
               "block never "
               "ends, and waiting for another thread needs atomics",
               source_line(pc));
        outcome = cudaErrorLaunchTimeout;
        return leave_handler(context);
    }
    const std::string about = explain(address);
    if (self && signal == SIGFPE) {
        report("integer division by zero", "a GPU goes on with an undefined result", source_line(pc));
        outcome = cudaErrorLaunchFailure;
        return leave_handler(context);
    }
    if (self) {
        const bool overflow = address >= current->bottom - page && address < current->bottom + 256;
        if (overflow)
            report("stack overflow", "each thread has 256 KB here", source_line(pc));
        else
            report(text("illegal memory access at %p", static_cast<const void*>(address)) +
                       (about.empty() ? "" : ": " + about),
                   "", source_line(pc));
        outcome = cudaErrorIllegalAddress;
        return leave_handler(context);
    }
    const Region* r = find(address);
    if (r && r->kind == Kind::managed && !r->freed && work_is_queued()) {
        say("cudacpu: warning: the host touches managed memory while a kernel may still use it\n  " + about +
            ", at " + source_line(pc) + "\n  wait for the kernel first: cudaDeviceSynchronize()");
        return managed_in_use(false);
    }
    if (r) {
        say("cudacpu: the host touched device memory: " + about + ", at " + source_line(pc) +
            (r->freed ? "" : "\n  copy it with cudaMemcpy, or use cudaMallocManaged"));
        _exit(3);
    }
    struct sigaction standard {};  // a fault of the program's own: as if we were not here
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
}

const struct Start {
    Start() {
        if (const char* s = getenv("LAB_ORDER"); s && *s) {
            order_mode = *s == 'f' ? forward : *s == 'r' ? reverse : seeded;
            if (order_mode == seeded && (*s < '0' || *s > '9'))
                say(text("cudacpu: LAB_ORDER=%s: say forward, reverse or a number", s)), _exit(2);
        }
        static char stack[256 << 10];
        const stack_t alternative{stack, 0, sizeof stack};
        sigaltstack(&alternative, nullptr);
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        action.sa_sigaction = on_signal;
        for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM}) sigaction(s, &action, nullptr);
        const itimerval second{{1, 0}, {1, 0}};
        setitimer(ITIMER_VIRTUAL, &second, nullptr);
    }
} start;

}  // namespace
}  // namespace cudacpu

// ---- functions of the C library that do something else in a kernel ---------------------------------------

extern "C" {

clock_t clock() noexcept {
    if (cudacpu::in_kernel()) return cudacpu::clock_ticks();
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) noexcept {
    using namespace cudacpu;
    std::string name = function;
    if (size_t i = name.find("::<lambda()"); i != std::string::npos)
        name.erase(i, name.find('>', i) + 1 - i), name = "void " + name;
    if (!in_kernel()) {
        say(text("%s: %s:%u: %s: Assertion `%s' failed.", program_invocation_short_name, file, line, function,
                 expression));
        abort();
    }
    say(text("%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file, line,
             name.c_str(), cudacpu_block.x, cudacpu_block.y, cudacpu_block.z, cudacpu_thread.x,
             cudacpu_thread.y, cudacpu_thread.z, expression));
    outcome = cudaErrorAssert;
    leave_block();
}

}  // extern "C"
