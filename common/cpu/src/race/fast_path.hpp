// fast_path.hpp - fast path for most accesses: coalesced shadow memory.
#pragma once
#include "race/happens_before.hpp"

namespace cudacpu::race {

extern int until_preempted;
void forget_pages();                         // clears the cache of regions by page
Region* cached_region(const char* address);  // nullptr: not cached
Region* region_of(const char* address);
void write_out(Shadow& shadow, size_t line);  // expands the record of the whole line into its cells
/// Records an access to a struct. Returns false if the slow path is needed.
bool record_range(void* p, size_t bytes, bool write, uint64_t site);
/// Records an atomic on a word that only atomics change now. Returns false if the slow path is needed.
bool record_atomic(Region& r, size_t first, size_t bytes, const Epoch& mine);
[[gnu::always_inline]] inline void record_global_access() {
    Run& b = *this_run;
    if (b.last_rank != rank) b.last_of_others = b.last, b.last_rank = rank;
    b.last = now;
}

}  // namespace cudacpu::race
