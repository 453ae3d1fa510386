// upcalls.hpp - what memory/ calls of the layers above it. It declares the functions, and these layers define them.
#pragma once
#include "engine/build.hpp"
#include "memory/address_space.hpp"

namespace cudacpu {

// ---- api/

unsigned long last_work();  // the number of the work that was queued last
bool work_is_queued(unsigned long number);
extern unsigned long told_not_ready;  // the last work when the host was last told "not ready"
extern const char* api_function;      // the function that last passed the gate

// ---- the race detector

namespace race {
CUDACPU_RACE_UPCALL(region_added(Region&));
CUDACPU_RACE_UPCALL(region_fresh(Region&));                     // a new block: nothing in it is written yet
CUDACPU_RACE_UPCALL(region_kept(Region&, Shadow*& /*notes*/));  // its block is paused
CUDACPU_RACE_UPCALL(region_restored(Region&, Shadow* /*notes*/));
CUDACPU_RACE_UPCALL(region_gone(Region&));
CUDACPU_RACE_UPCALL(heap_given(void* /*start*/, size_t /*bytes*/));  // to a kernel
CUDACPU_RACE_UPCALL(heap_taken(void* /*start*/));
}  // namespace race

}  // namespace cudacpu
