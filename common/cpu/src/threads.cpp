// threads.cpp - the threads of one block, and which of them runs.
//
// A thread runs until it waits or ends. The fiber of one that ends takes up the next that has not begun, so that
// threads that never wait cost no switch.
#include "internal.hpp"

uint3 cudacpu_thread asm("cudacpu_threadIdx");  // the program sees it as a constant of the running thread
extern const int warpSize = 32;

namespace cudacpu {

unsigned rank, lane;
BlockOfThreads running_block;
Thread* self;
unsigned long progress;
unsigned atomics_in_a_row;

namespace {

unsigned picked_last;

Fiber* make_self(Thread* t) {  // nullptr: the host
    self = t;
    if (!t) return &host_fiber;
    if (!t->fiber) t->fiber = take_fiber();
    cudacpu_thread = t->index;
    rank = unsigned(t - running_block.threads);
    lane = rank % 32;
    return t->fiber;
}

[[noreturn]] void report_deadlock() {
    Thread* const end = running_block.threads + running_block.size;
    self = std::find_if(running_block.threads, end, [](const Thread& t) { return t.at; });
    cudacpu_thread = self->index;
    const size_t barriers = open_exchanges[32].size();
    fault(cudaErrorLaunchFailure,
          barriers > 1   ? "divergent barrier: the threads of the block wait at different ones"
          : barriers > 0 ? "deadlock: the threads of a block wait for each other"
                         : "deadlock: a warp operation waits for a lane that does not come",
          "every thread of the block must reach the same barrier: move it out of the branch;\n  "
          "every lane in the mask must call the operation, with the same mask" +
              who_waits_where(),
          &self->where);
}

Thread* pick() {  // the thread that goes on now; nullptr: all have ended
    const unsigned n = running_block.size;
    unsigned next = picked_last;
    do {
        if (order == Order::seeded || hazard_build) next = random_number() % n;
        for (unsigned i = 0; i < n; ++i) {
            next = order == Order::reverse ? (next ? next : n) - 1 : next + 1 < n ? next + 1 : 0;
            Thread& t = running_block.threads[next];
            if (running_block.has_ended(next) || (t.at && !t.at->complete)) continue;
            picked_last = next;
            return &t;
        }
        if (running_block.ended == n) return nullptr;
    } while (complete_exchanges(false) || complete_exchanges(true));
    report_deadlock();
}

}  // namespace

bool in_kernel() { return self; }

Fiber* next_fiber() { return make_self(pick()); }

void set_block_size(dim3 size) {
    running_block.size = size.x * size.y * size.z;
    for (unsigned i = 0; i < running_block.size; ++i)
        running_block.threads[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
}

void run_block() {
    const unsigned n = running_block.size;
    running_block.ended = 0;
    for (unsigned t = 0; t < n; ++t) {
        running_block.threads[t].fiber = nullptr;
        running_block.threads[t].at = nullptr;
        running_block.lanes[t / 32] = (2u << t % 32) - 1;
    }
    picked_last = order == Order::reverse ? 0 : n - 1;  // pick() goes on from there
    switch_to(next_fiber());
}

void leave_block() {
    switch_to(make_self(nullptr));
    __builtin_unreachable();
}

void run_threads() {
    for (;;) {
        launch->body.run(launch->body.closure);
        running_block.lanes[rank / 32] &= ~(1u << lane);
        ++running_block.ended;
        ++progress;
        Thread* t = pick();
        if (t && !t->fiber) t->fiber = current_fiber;  // it has not begun: no switch, it begins right here
        else free_fiber(current_fiber);
        switch_to(make_self(t));
    }
}

void preempt() { switch_to(next_fiber()); }

void give_way() {
    if (!self) return;
    atomics_in_a_row = 0;
    complete_exchanges(false);
    preempt();
}

}  // namespace cudacpu
