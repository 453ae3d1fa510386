// upcalls.hpp - what the engine calls of the layers above it. It declares the functions, and these layers define
// them.
#pragma once
#include <memory>
#include <string>

#include "cuda_runtime.h"
#include "engine/build.hpp"

namespace cudacpu {

// ---- memory/shared_memory.cpp

void begin_shared_memory(size_t dynamic_bytes);  // of the next block
std::shared_ptr<void> keep_shared_memory();      // of a paused block
void restore_shared_memory(const std::shared_ptr<void>& kept);

// ---- the race detector

namespace race {
CUDACPU_RACE_UPCALL(launch_begins());
CUDACPU_RACE_UPCALL(launch_ends());
CUDACPU_RACE_UPCALL(block_begins());
CUDACPU_RACE_UPCALL(block_pauses());
CUDACPU_RACE_UPCALL(block_goes_on());
CUDACPU_RACE_UPCALL(block_ends());
CUDACPU_RACE_UPCALL(grid_barrier_passed());
CUDACPU_RACE_UPCALL(barrier_passed());
CUDACPU_RACE_UPCALL(lanes_met(unsigned /*first_thread*/, unsigned /*lanes*/));
CUDACPU_RACE_UPCALL(at_atomic(void* /*address*/, unsigned /*bytes*/, unsigned /*kind*/, Where,
                              const void* /*expected*/));
CUDACPU_RACE_UPCALL(at_fence(bool /*block_only*/));
}  // namespace race

// ---- warps in lockstep

namespace warp {
extern bool drawing;  // a block, or a part of it
inline bool in_lockstep() { return counters_build || (hazard_build && drawing); }
CUDACPU_WARP_UPCALL(void launch_begins(), void());
CUDACPU_WARP_UPCALL(void block_begins(), void());
CUDACPU_WARP_UPCALL(void block_ends(), void());
CUDACPU_WARP_UPCALL(void block_pauses(), void());
CUDACPU_WARP_UPCALL(void block_goes_on(), void());
CUDACPU_WARP_UPCALL(Thread* next_lane(), nullptr);    // the lane that resumes now; nullptr: any thread may
CUDACPU_WARP_UPCALL(bool resume_any_lanes(), false);  // some stopped lanes resume
CUDACPU_WARP_UPCALL(void rendezvous_passed(const Rendezvous&, unsigned /*warp*/), void());
CUDACPU_WARP_UPCALL(void at_atomic(void* /*address*/, unsigned /*bytes*/, Where), void());
CUDACPU_WARP_UPCALL(void end_if_asked(), void());  // by a signal, between two steps of a kernel
}  // namespace warp

// ---- advice

enum class Around { branch, loop };
bool stands_in(Where barrier, Around kind);  // whether the source text has it in a branch, or in a loop
namespace race {
/// The advice if not all threads reach a barrier, in more precise words if the source text allows.
CUDACPU_RACE_UPCALL(let_all_come(Where, bool /*for_ever*/, std::string& /*words*/));
CUDACPU_RACE_UPCALL(let_lanes_come(Where, const char* /*what*/, std::string& /*words*/));
}  // namespace race

}  // namespace cudacpu
