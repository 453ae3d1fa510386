// observer.hpp - what memory/ tells the race detector.
#pragma once
#include "memory/address_space.hpp"

namespace cudacpu {

// Function pointers that the race detector sets before the program's first call; by default each does nothing.
struct RegionObserver {
    void (*added)(Region&) = [](Region&) {};
    void (*fresh)(Region&) = [](Region&) {};  // a new block: nothing in it is written yet
    void (*kept)(Region&, race::Shadow*& notes) = [](Region&, race::Shadow*&) {};  // its block is paused
    void (*restored)(Region&, race::Shadow* notes) = [](Region&, race::Shadow*) {};
    void (*gone)(Region&) = [](Region&) {};
    void (*heap_given)(void* start, size_t bytes) = [](void*, size_t) {};  // to a kernel, by malloc() or new
    void (*heap_taken)(void* start) = [](void*) {};
};
extern RegionObserver region_observer;

}  // namespace cudacpu
