// scheduler.hpp - the threads of one block, and which of them runs.
#pragma once
#include "cuda_runtime.h"

namespace cudacpu {

extern constinit thread_local bool runs_works;  // whether this thread of the program runs kernels and other works
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

}  // namespace cudacpu
