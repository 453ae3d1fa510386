// footsteps.cpp - a fast path of the race detector: replay of the accesses of the previous thread.
//
// A leader is a thread whose accesses are all recorded in coalesced shadow memory (quick.cpp). If the next thread
// makes the same accesses, each one element further, the only news is that it was there. So each of its accesses is
// only compared with the leader's step. The accesses of all these threads are recorded when one of them deviates,
// or when anything else happens. Until then shadow memory lacks them, so code that reads it must end the replay
// first.
#include "detect.hpp"

namespace cudacpu::hazards {

Lead lead;
Footstep footsteps[most_footsteps + 1], nowhere, behind_lead;
Footstep* footstep = &nowhere;
unsigned follower, in_vain, until_lead;

namespace {

struct {
    unsigned done;                       // threads that have replayed all steps, before the one that does so now
    unsigned room;                       // how many threads can follow before one of them reaches the end of a line
    unsigned first_write, first_global;  // indices of steps
} row;

// Whether the running thread begins as the leader did, and will not be preempted on its way.
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

// Whether all accesses of the leader are still recorded in coalesced form.
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

// The running thread cannot replay all steps, because it will be preempted. The threads after it may.
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
