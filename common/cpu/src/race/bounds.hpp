// bounds.hpp - bounds checking in the hazard build.
#pragma once
#include <string>

#include "memory/address_space.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

void heap_given(void* start, size_t bytes);
void heap_taken(void* start);
/// Reports an access that is neither in a region nor on the heap.
Mistake stranger(const char* address);
/// An access to the thread's own stack whose index the compiler found too large.
void past_local_array(char* address, size_t bytes, bool write);
/// Lets an access out of bounds continue on spare pages: reads give 0, writes are lost.
void open_red_zone(const Region& r, char* address, size_t bytes, bool reading);
void close_red_zones();
/// Which byte of a kernel's allocation from malloc() or new this is, and its size: "byte 64 of the 64 bytes".
std::string place_in_heap(const char* address);

}  // namespace cudacpu::race
