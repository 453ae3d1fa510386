// scheduler.cpp - the scheduler of one block: which of its threads runs.
//
// A thread runs until it waits or ends. The fiber of a thread that ends takes the next thread that has not begun,
// so threads that never wait cost no context switch.
#include "engine/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"
#include "engine/reporting.hpp"
#include "engine/schedule.hpp"
#include "engine/source_lines.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"

CUDACPU_BUILTIN uint3 cudacpu_thread;
extern const int warpSize = 32;

namespace cudacpu {

CUDACPU_BUILTIN unsigned rank;
BlockOfThreads running_block;
Thread* self;
Fiber* current_fiber = &host_fiber;
unsigned long progress;
unsigned waits_in_a_row;
bool in_turn, begin_in_turn, blocks_wait;
unsigned long blocks_at_barrier, blocks_under_way, blocks_paused;
unsigned picks_in_turn = 16;  // a power of two
bool idle_threads[1024];
constinit thread_local bool runs_works;

namespace {

bool block_pauses;    // the block is paused until others have run
bool threads_waited;  // in this block or the last one, so their state must be cleared

// Names the first lane that a warp operation's mask includes and that has not arrived.
std::string missing_lane() {
    for (unsigned warp = 0; warp < 32; ++warp)
        for (const Rendezvous* e : open_rendezvous[warp])
            if (const unsigned missing = e->mask & ~e->arrived; e->kind == Rendezvous::at_warp && missing)
                return say({"deadlock: lane %d is named in the mask of %s and does not arrive",
                            "死锁：%2$s 的掩码包含通道 %1$d，但该通道不来"},
                           __builtin_ctz(missing), e->what);
    return say({"deadlock: the threads of a block wait for each other", "死锁：线程块的线程互相等待"});
}

[[noreturn]] void report_deadlock() {
    Thread* const end = running_block.threads + running_block.size;
    become(std::find_if(running_block.threads, end, [](const Thread& t) { return t.at; }));
    const size_t barriers = open_rendezvous[32].size();
    std::string what = missing_lane(),
                mend = say({"every lane in the mask must call the operation, with the same mask",
                            "掩码中的所有通道都要调用这个操作，而且掩码相同"});
    bool in_branch = false, in_loop = false;
    for (const Rendezvous* e : open_rendezvous[32]) {
        const unsigned facts = facts_of(e->where);
        in_branch |= (facts & SourceLine::barrier_in_branch) != 0;
        in_loop |= (facts & SourceLine::barrier_in_loop) != 0;
    }
    std::string together;
    if (in_branch || !in_loop) together = say({"move it out of the branch", "把它移到分支之外"});
    if (in_branch && in_loop) together += say({", and ", "，并且"});
    if (in_loop)
        together += say({"let all take as many rounds of the loop, and guard the work in it with if",
                         "让所有线程执行同样多轮循环，用 if 保护循环中的工作"});
    for (const Rendezvous* e : open_rendezvous[32]) {
        const std::string before = together;
        let_all_come(*e, true, together);
        if (together != before) break;
    }
    together = say(
        {"every thread of the block must reach the same barrier: %s", "线程块的所有线程都要到达同一个同步点：%s"},
        together);
    if (barriers == 1) {
        mend = together + say({"; ", "；"}) + mend;
    } else if (barriers > 1) {
        what = say({"divergent barrier: the threads of the block wait at different ones",
                    "同步点分歧：线程块的线程在不同的同步点等待"});
        mend = together;
    }
    fault(cudaErrorLaunchFailure, what, who_waits_where() + "\n" + mend, &self->where);
}

uint64_t eight_of(const bool* flags) {
    uint64_t eight;
    memcpy(&eight, flags, sizeof eight);
    return eight;
}

Thread* first_runnable(unsigned first, unsigned end) {  // the first of these threads that can run; nullptr: none
    constexpr uint64_t ones = 0x0101010101010101;
    for (unsigned t = first; t < end; ++t) {
        const unsigned eight = t / 8 * 8;
        const uint64_t rest =
            ~(eight_of(running_block.has_ended + eight) | eight_of(idle_threads + eight)) & (ones << t % 8 * 8);
        if (!rest) {
            t = eight + 7;
            continue;
        }
        t = eight + unsigned(std::countr_zero(rest)) / 8;
        Thread& thread = running_block.threads[t];
        if (t < end && (!thread.at || thread.at->complete)) return &thread;
    }
    return nullptr;
}

Thread* pick_thread() {  // the next thread to run; nullptr: all have ended
    if constexpr (!plain_build) lockstep_observer.at_switch();
    if (warp::in_lockstep())
        if (Thread* const t = next_lane()) return t;
    static unsigned picks;
    const unsigned n = running_block.size;
    unsigned next = self ? self->rank : order == Order::reverse ? 0 : n - 1;
    const bool at_random = order == Order::seeded || (hazard_build && (++picks & (picks_in_turn - 1)) == 0);
    if (order == Order::forward && next + 1 < n && !at_random) {  // usually the next one
        Thread& t = running_block.threads[next + 1];
        if (!running_block.has_ended[next + 1] && (!t.at || t.at->complete)) return &t;
    }
    if (in_turn) {  // usually no thread can run now, so no search is needed
        const unsigned ended = running_block.ended();
        if (ended == n) return nullptr;
        if (last_joined && last_joined->kind == Rendezvous::at_barrier && last_joined->count + ended == n)
            complete_rendezvous(false);
    }
    do {
        if (at_random) next = random_number() % n;
        for (unsigned i = 0; i < n && order == Order::reverse; ++i) {
            next = (next ? next : n) - 1;
            if (Thread* const t = first_runnable(next, next + 1)) return t;
        }
        if (order != Order::reverse) {
            if (Thread* const t = first_runnable(next + 1, n)) return t;
            if (Thread* const t = first_runnable(0, next + 1)) return t;
        }
        if (running_block.ended() == n) return nullptr;
    } while (complete_rendezvous(false) || resume_any_lanes() || complete_rendezvous(true));
    report_deadlock();
}

}  // namespace

unsigned BlockOfThreads::ended() const {
    unsigned all = 0;
    for (unsigned t = 0; t < size; t += 8)
        all += unsigned(eight_of(has_ended + t) * 0x0101010101010101 >> 56);  // sum of the eight bytes
    return all - (-size % 8);
}

unsigned BlockOfThreads::lanes(unsigned warp) const {
    unsigned ended = 0;
    for (unsigned i = 0; i < 32; i += 8)
        ended |= unsigned(eight_of(has_ended + size_t{32} * warp + i) * 0x0102040810204080 >> 56) << i;
    return ~ended;
}

bool begins_out_of_turn(unsigned thread) {
    return begin_in_turn && !in_turn && thread < running_block.size && !running_block.threads[thread].fiber &&
           !running_block.has_ended[thread];
}

bool in_kernel() { return self && runs_works; }

void set_block_size(dim3 size) {
    in_turn = order == Order::forward && plain_build;
    const unsigned n = running_block.size = size.x * size.y * size.z;
    for (unsigned i = 0; i < n; ++i)
        running_block.threads[i] = {
            {i % size.x, i / size.x % size.y, i / size.x / size.y}, i, nullptr, nullptr, nullptr, {}};
    std::fill(running_block.has_ended + n, std::end(running_block.has_ended), true);
    running_block.width = size.x;
    running_block.threads[n].stack = nullptr;
}

bool run_block(bool from_the_start) {
    const unsigned n = running_block.size;
    block_pauses = false;
    memset(idle_threads, false, n);
    begin_in_turn = in_turn || (hazard_build && order == Order::forward && !warp::in_lockstep());
    if (!from_the_start) {
        threads_waited = true;  // in this block, whatever ran in the meantime
        switch_to(pick_thread(), &host_fiber.context);
        return !block_pauses;
    }
    running_block.begun = in_turn ? 0 : 1u << 31;
    memset(running_block.has_ended, false, n);
    for (unsigned t = 0; t < n && threads_waited; ++t) {
        running_block.threads[t].stack = nullptr;
        running_block.threads[t].fiber = nullptr;
        running_block.threads[t].at = nullptr;
    }
    threads_waited = false;
    switch_to(pick_thread(), &host_fiber.context);
    return !block_pauses;
}

void leave_block() {
    threads_waited = true;
    switch_to(nullptr, &self->stack);
    __builtin_unreachable();
}

void run_threads() {
    for (;;) {
        launch->body.run(launch->body.closure);
        Fiber* const mine = current_fiber;
        Thread* const t = pick_thread();
        if (t && !t->fiber) {  // it has not begun: it starts here, without a context switch
            ++running_block.begun;
            become(t);
            continue;
        }
        free_fiber(mine);
        switch_to(t, &mine->context);
    }
}

static void switch_from_self(Thread* t) {
    Thread* const me = self;
    me->fiber = current_fiber;
    threads_waited = true;
    switch_to(t, &me->stack);
    me->stack = nullptr;
}

static void pause_block() {
    block_pauses = true;
    switch_from_self(nullptr);
}

bool preempt() {
    Thread* const t = pick_thread();
    return t != self && (switch_from_self(t), true);
}

void preempt_block() {
    if (blocks_wait) pause_block();
}

void give_way() {
    if (!self) return;
    static unsigned long seen;
    static unsigned turns;  // since then
    waits_in_a_row = 0;
    complete_rendezvous(false);
    const bool alone = !preempt();
    if (!blocks_wait) return;
    const unsigned long now = 1024 * progress + running_block.ended();
    turns = std::exchange(seen, now) == now ? turns + 1 : 0;
    if (!alone && turns < 2 * running_block.size) return;
    turns = 0;
    pause_block();
}

void grid_barrier(Where where) {
    if (!launch->cooperative)
        fault(
            cudaErrorLaunchFailure,
            say({"grid.sync() in a kernel that is launched by <<<>>>", "核函数由 <<<>>> 启动，却调用 grid.sync()"}),
            say({"launch it with cudaLaunchCooperativeKernel: else a GPU has no barrier for the grid",
                 "用 cudaLaunchCooperativeKernel 启动它：否则 GPU 没有整个网格的同步点"}),
            &where);
    barrier("grid.sync()", 0, where);
    static unsigned long passed;
    if (!rank) {
        const unsigned long before = passed;
        const bool last = ++blocks_at_barrier == 1ul * gridDim.x * gridDim.y * gridDim.z;
        if (last) blocks_at_barrier = 0, ++passed, ++progress, race_observer.grid_barrier_passed();
        while (passed == before) {
            if (blocks_at_barrier == blocks_under_way)
                fault(cudaErrorLaunchFailure,
                      say({"grid.sync() waits for blocks that do not come", "grid.sync() 等待的线程块不来"}),
                      say({"all threads of the grid must reach it, and all blocks be resident: launch it with "
                           "cudaLaunchCooperativeKernel",
                           "网格的所有线程都要到达它，所有线程块都要驻留：用 cudaLaunchCooperativeKernel 启动"}),
                      &where);
            pause_block();
        }
    }
    barrier("grid.sync()", 0, where);
}

}  // namespace cudacpu
