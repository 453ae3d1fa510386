// perturb.cpp - scheduling perturbation in the race detector: preempts a thread before an access, so that another
// thread or block runs.
#include "race/perturb.hpp"

#include <algorithm>

#include "engine/schedule.hpp"
#include "engine/scheduler.hpp"
#include "memory/address_space.hpp"
#include "race/fast_path.hpp"
#include "race/happens_before.hpp"
#include "race/stream_order.hpp"

namespace cudacpu::race {

bool yields_next;

namespace {

// Blocks that use atomics on global memory may wait for each other, so a block is preempted a few times.
bool blocks_meet;
// Threads are preempted mainly before atomics and volatile accesses, except in launches that execute very many.
unsigned long synchronised;
constexpr unsigned long many_synchronised = 1 << 18;
// A block is preempted mainly when a thread releases what it has written, or has just given something back. The
// interval grows with the number of preemptions, because some must last long.
unsigned block_preemptions;
unsigned preemptions;  // of a launch; the more, the rarer, because each costs hundreds of accesses
// A block is preempted before its release here. Others that check only once must not always come too early.
const char* releasing_at;
unsigned preempted_here;  // how many other blocks were preempted at this address

void let_others_run(unsigned one_in) {
    yields_next = false;
    if (blocks_meet && blocks_paused < 8 &&
        random_number() % (one_in << std::min(block_preemptions / 16, 24u)) == 0)
        ++block_preemptions, preempt_block();
    else preempt();
}

}  // namespace

void preempt_now() {
    until_preempted = int(random_number() % (128u << std::min(preemptions++ / 2048, 5u)));
    let_others_run(4);
}

void perturb(const Region* r, const char* address, unsigned kind) {
    const bool meets = kind & (atomic | flag), writes_sync = meets && kind & writes,
               releases = writes_sync && me->wrote;
    const bool next = releases ? !me->publishes : writes_sync && kind & (flag | exchanges);
    if (yields_next) {
        let_others_run(2);
    } else if (releases && random_number() % 2) {
        releasing_at = is_shared(r) ? nullptr : address;
        let_others_run(2);
        releasing_at = nullptr;
    } else if (address == releasing_at && random_number() % (4u << std::min(preempted_here / 64, 24u)) < 3) {
        ++preempted_here;
        preempt_block();
    } else if ((until_preempted -= meets && ++synchronised <= many_synchronised ? 8 : 1) < 0) {
        preempt_now();
    }
    yields_next = next;
    if (meets && !is_shared(r)) blocks_meet = true, picks_in_turn = 4, host_may_tell(r, address, kind);
}

void perturb_launch_begins() {
    blocks_meet = yields_next = false;
    releasing_at = nullptr;
    picks_in_turn = 16;
    block_preemptions = preemptions = preempted_here = 0;
    synchronised = 0;
}

}  // namespace cudacpu::race
