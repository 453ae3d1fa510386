// observer.hpp - what the stream queue and copies tell the race detector.
#pragma once
#include <set>

#include "memory/address_space.hpp"

namespace cudacpu {

// Function pointers that the race detector sets before the program's first call; by default each does nothing.
// Works are numbered in the order in which they are queued.
struct WorkObserver {
    void (*queued)(unsigned long number, const void* stream, const std::set<unsigned long>& after,
                   const char* what) = [](unsigned long, const void*, const std::set<unsigned long>&, const char*) {
    };
    /// The work that was queued last need not wait for the kernel `primary` (programmatic dependent launch).
    void (*is_secondary)(unsigned long primary) = [](unsigned long) {};
    void (*waits)(unsigned long number, unsigned long event) = [](unsigned long, unsigned long) {};
    void (*begins)(unsigned long number) = [](unsigned long) {};
    void (*ended)() = [] {};
    void (*touches)(const void* address, size_t bytes, bool write) = [](const void*, size_t, bool) {};  // a copy
    void (*bytes_written)(Region&, size_t offset, size_t bytes) = [](Region&, size_t, size_t) {};       // by a copy
    /// The target of a copy that is queued.
    void (*will_write)(const void* target, size_t bytes) = [](const void*, size_t) {};
    /// A copy to the host begins: checks that all of it has been written.
    void (*host_gets)(const void* from, size_t pitch, size_t width, size_t height) = [](const void*, size_t, size_t,
                                                                                        size_t) {};
    /// The source of a copy that is queued.
    void (*host_must_keep)(const void* start, size_t pitch, size_t width, size_t height) = [](const void*, size_t,
                                                                                              size_t, size_t) {};
    void (*host_waits)(bool begins) = [](bool) {};  // works may run; they have run
};
extern WorkObserver work_observer;

}  // namespace cudacpu
