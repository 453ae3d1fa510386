// footsteps.cpp - the hazard build: threads that do as the one before them did, each beside it.
//
// Where a thread's accesses are all noted with those of its neighbours (quick.cpp), and the next thread makes the
// same ones, an element further each, nothing new is to be noted but that it was there. So it follows in the
// footsteps of the first: each access is only compared with what is expected. What they all did is noted when one
// steps aside, or when anything else happens: until then the notes lack it, so that whoever looks at them stops the
// following first.
#include "detect.hpp"

namespace cudacpu::hazards {

Lead lead;
Footstep footsteps[most_footsteps + 1], nowhere, behind_lead;
Footstep* footstep = &nowhere;
unsigned follower, in_vain, until_lead;

namespace {

struct {
    unsigned done;                       // threads that have followed to the end, before the one that now does
    unsigned room;                       // how many can, before one of them comes to the end of a line
    unsigned first_write, first_global;  // which footstep that is
} row;

// Does the running thread begin as the lead did, and will it not be stopped on its way?
[[gnu::always_inline]] inline bool begins_alike(const char* address, uint64_t site) {
    const Mind& m = minds[rank];
    return address == footsteps[0].next && site == footsteps[0].site && !m.synchronised &&
           (m.counted != last_barrier || !m.steps) && !(m.block == block_start && m.lock) &&
           until_preempted >= int(lead.steps);
}

void has_done(Mind& m, unsigned steps) {
    if (m.block != block_start) reset(m);
    m.counted = last_barrier;
    m.steps = steps;
    m.polled_at = 0;
    m.wrote |= steps > row.first_write;
}

// All that the lead did is noted with its neighbours still?
bool can_be_followed() {
    const Mind& m = minds[lead.rank];
    if (state.any() || steps::drawing || now != lead.time ||
        (!lead.passed && (m.counted != last_barrier || m.steps != lead.steps)))
        return false;
    row = {0, 32, lead.steps, lead.steps};
    for (unsigned i = lead.steps; i--;) {
        const Footstep& f = footsteps[i];
        const Time others = f.others->time();
        if (f.span->site != f.site || f.span->rest != f.rest ||
            (others >= floor_time && (others != now || (f.others->rest ^ f.rest) >> 32 & 0xff00ffff)))
            return false;
        row.room = std::min(row.room, f.room);
        if (f.write) row.first_write = i;
        if (!f.shared) row.first_global = i;
    }
    return row.room;
}

void set_out() {
    until_preempted -= int(lead.steps);
    follower = rank;
    footstep = footsteps;
}

__attribute__((noinline)) bool follows_lead(const char* address, uint64_t site) {
    if (rank <= lead.rank) return false;
    footstep = &nowhere;
    if (rank != lead.rank + 1 || !begins_alike(address, site) || !can_be_followed()) return false;
    footsteps[lead.steps].next = nowhere.next;
    in_vain = 0;
    set_out();
    return true;
}

// The running thread cannot follow to the end, as another will have its turn. Who comes behind it may.
__attribute__((noinline)) bool lets_pass() {
    if (footstep != footsteps + lead.steps || rank != follower + 1 || now != lead.time)
        return stop_following(), false;
    const unsigned threads = row.done + 2;
    stop_following();
    for (unsigned i = 0; i < lead.steps; ++i) {
        Footstep& f = footsteps[i];
        if (f.room <= threads) return false;
        f.next += f.span->bytes();
        f.element += threads;
        f.room -= threads;
    }
    lead.rank = rank;
    lead.is_new = false;
    lead.passed = true;
    footstep = &behind_lead;
    return false;
}

}  // namespace

Footstep* new_footstep() {
    lead.is_new =
        minds[rank].steps == lead.steps && rank == lead.rank && now == lead.time && lead.steps < most_footsteps;
    footstep = lead.is_new ? &behind_lead : &nowhere;
    return lead.is_new ? &footsteps[lead.steps++] : nullptr;
}

bool follows(const char* address, uint64_t site) {
    if (footstep == &behind_lead) return follows_lead(address, site);
    if (footstep != footsteps + lead.steps || rank != follower + 1 || row.done + 2 > row.room ||
        !begins_alike(address, site))
        return lets_pass();
    if (!running_block.has_ended[follower]) has_done(minds[follower], lead.steps);
    ++row.done;
    set_out();
    return true;
}

void stop_following() {
    const Footstep* const last = std::exchange(footstep, &nowhere);
    if (last == &behind_lead) return;
    const auto steps = unsigned(last - footsteps);
    for (unsigned i = 0; i < lead.steps; ++i)
        if (const unsigned threads = row.done + (i < steps))
            footsteps[i].span->done |= ((1u << threads) - 1) << (footsteps[i].element + 1);
    if (steps) has_done(minds[follower], steps);
    until_preempted += int(lead.steps - steps);
    const bool touched = steps > row.first_global;
    if (!touched && (!row.done || row.first_global == lead.steps)) return;
    this_run->last_rank = touched ? follower : follower - 1;
    this_run->last = this_run->last_of_others = now;
}

}  // namespace cudacpu::hazards
