// observer.hpp - what the engine tells the layers above it.
#pragma once
#include <string>

#include "cuda_runtime.h"
#include "engine/reporting.hpp"

namespace cudacpu {

// Function pointers that a layer above sets before the program's first kernel; by default each does nothing.
struct LaunchObserver {
    void (*launch_begins)() = [] {};
    void (*launch_ends)() = [] {};
    void (*block_begins)() = [] {};
    void (*block_ends)() = [] {};
    void (*block_pauses)() = [] {};
    void (*block_goes_on)() = [] {};
    // All threads have arrived; warp 32: the whole block's.
    void (*rendezvous_passed)(const Rendezvous&, unsigned warp) = [](const Rendezvous&, unsigned) {};
    // A warp operation is complete. Returns those of its ended lanes that took another path before they ended.
    unsigned (*warp_operation_passed)(const Rendezvous&, unsigned ended) = [](const Rendezvous&, unsigned) {
        return 0u;
    };
    // At __syncwarp() and at a barrier of the block, after rendezvous_passed.
    void (*lanes_met)(unsigned first_thread, unsigned lanes) = [](unsigned, unsigned) {};
    void (*barrier_passed)() = [] {};
    void (*grid_barrier_passed)() = [] {};
    void (*at_atomic)(void* address, unsigned bytes, unsigned kind, Where where,
                      const void* expected) = [](void*, unsigned, unsigned, Where, const void*) {};
    void (*at_fence)(bool block_only, Fence kind, const void* word) = [](bool, Fence, const void*) {};
    void (*grid_dependency_met)() = [] {};  // cudaGridDependencySynchronize()
    // An asynchronous copy: its destination has no value until it ends. pc: where the program has begun it.
    void (*copy_starts)(void* to, unsigned bytes) = [](void*, unsigned) {};
    void (*copy_ends)(void* to, unsigned bytes, const void* pc) = [](void*, unsigned, const void*) {};
    void (*at_switch)() = [] {};                                 // between two threads, except in the plain build
    void (*launch_stops)(const char* why) = [](const char*) {};  // the running kernel does not finish
};
extern LaunchObserver race_observer, lockstep_observer;

// Set if the lanes of a warp advance together.
extern Thread* (*next_lane)();      // the lane that resumes now; nullptr: any thread may
extern bool (*resume_any_lanes)();  // whether some stopped lanes resume

// Prints the note on a barrier that ended threads miss; in the hazard build when the launch ends, except if it
// follows from a race.
extern void (*report_missed_barrier)(const Report& note, Where barrier);
// The advice if not all threads reach a barrier, or not all lanes a warp operation: each puts it in more precise
// words if the source text allows. Set in the hazard build.
extern void (*let_all_come)(const Rendezvous& e, bool for_ever, std::string& words);

}  // namespace cudacpu
