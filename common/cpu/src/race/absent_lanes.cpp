// absent_lanes.cpp - warp operations whose mask names lanes that do not come.
//
// Each lane that the mask names must execute the operation, unless it has ended. CUDA does not state when a lane
// must have ended. Here it may end without work of its own: since it last met the lanes that have arrived, it has
// accessed memory only where one of these has, too. A lane that accesses other memory, or takes part in another
// operation, has left their path while they wait for it.
#include "race/absent_lanes.hpp"

#include <algorithm>

#include "race/thread_replay.hpp"

namespace cudacpu::race {

uint64_t sites_since_meeting[1024];

void forget_sites(uint64_t sites) { std::fill_n(sites_since_meeting, running_block.size, sites); }

unsigned warp_operation_passed(const Rendezvous& operation, unsigned ended) {
    stop_if_following();
    uint64_t* const sites = sites_since_meeting + size_t{32} * operation.warp;
    const unsigned running = running_block.lanes(operation.warp);
    uint64_t of_arrived = 0;
    unsigned diverged = 0;
    for (unsigned i = 0; i < 32; ++i)
        if (operation.arrived >> i & 1) of_arrived |= sites[i];
    for (unsigned i = 0; i < 32; ++i) {
        if (operation.arrived >> i & 1) {
            sites[i] = site_bit(uint64_t(operation.where.line) << 48);
        } else if (!(running >> i & 1)) {  // judged once: the sites of the others are forgotten
            sites[i] = sites[i] & ~of_arrived ? ~uint64_t{0} : 0;
            diverged |= unsigned(sites[i] != 0) << i;
        }
    }
    return diverged & ended;
}

}  // namespace cudacpu::race
