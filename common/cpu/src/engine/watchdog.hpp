// watchdog.hpp - livelock detection.
#pragma once
#include <signal.h>

#include "cuda_runtime.h"

namespace cudacpu {

extern volatile sig_atomic_t sample_requested;
extern int patience;                            // in seconds of processor time
extern volatile sig_atomic_t seconds_in_block;  // processor time of the block that is running
extern const void* last_access;                 // by a thread that may spin: where the compiler inserted the call
extern Where last_atomic;                       // of such a thread, if the compiler's call is in a header
/// At an atomic or volatile read, if sample_requested is set.
void take_sample(const void* pc, const void* address, unsigned bytes);
void tick_each(int milliseconds);             // sets the interval of SIGVTALRM, in processor time
bool is_spinning(const ucontext_t& context);  // called at each tick

}  // namespace cudacpu
