// absent_lanes.hpp - warp operations whose mask names lanes that do not come.
#pragma once
#include <cstdint>

#include "engine/rendezvous.hpp"

namespace cudacpu::race {

// Of each thread of the running block: where it has accessed memory since its lanes last met, as a Bloom filter.
extern uint64_t sites_since_meeting[1024];
// Two accesses within 512 bytes of code have different bits. Of an atomic, the upper bits of the site are its line.
inline uint64_t site_bit(uint64_t site) { return uint64_t{1} << (site / 8 + (site >> 48)) % 64; }
inline void add_site(unsigned thread, uint64_t site) { sites_since_meeting[thread] |= site_bit(site); }
/// All threads of the block have met, or what they have accessed is not known (~0).
void forget_sites(uint64_t sites);
/// Returns those of the ended lanes that took another path than the lanes that have arrived.
unsigned warp_operation_passed(const Rendezvous& operation, unsigned ended);

}  // namespace cudacpu::race
