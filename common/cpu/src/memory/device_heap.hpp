// device_heap.hpp - malloc() and new in kernels.
#pragma once
#include "memory/address_space.hpp"

namespace cudacpu {

extern Region heap_region;  // its pages; empty until a kernel allocates memory
struct HeapBlock {          // what a kernel got from malloc() or new
    const char* start;
    size_t bytes;
    bool freed;
    bool contains(const char* p) const { return size_t(p - start) < bytes; }
};
/// The block, in use or freed, that contains the address or is next to it; nullptr: there is none.
const HeapBlock* nearest_heap_block(const char* p);
bool on_heap(const void* p);
void heap_in_use(bool by_device);  // whether it may be touched, in the plain build

}  // namespace cudacpu
