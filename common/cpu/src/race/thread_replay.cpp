// thread_replay.cpp - a fast path of the race detector: replay of the accesses of the previous thread.
//
// A leader is a thread whose accesses are all recorded in coalesced shadow memory (fast_path.cpp). If the next
// thread makes the same accesses, each one element further, the only news is that it was there. So each of its
// accesses is only compared with the leader's step. The accesses of all these threads are recorded when one of them
// deviates, or when anything else happens. Until then shadow memory lacks them, so code that reads it must end the
// replay first.
#include "race/thread_replay.hpp"

#include <utility>

#include "engine/upcalls.hpp"
#include "race/absent_lanes.hpp"
#include "race/access_check.hpp"
#include "race/fast_path.hpp"
#include "race/happens_before.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

Leader leader;
ReplayStep replay_steps[most_replay_steps + 1], nowhere, behind_leader;
ReplayStep* replay_step = &nowhere;
unsigned follower, in_vain, until_leader;

namespace {

struct {
    unsigned done;          // threads that have replayed all steps, before the one that does so now
    unsigned room;          // how many threads can follow before one of them reaches the end of a line
    unsigned first_global;  // index of a step
} replayed;

// Whether the running thread begins as the leader did, and will not be preempted on its way.
[[gnu::always_inline]] inline bool starts_like_leader(const char* address, uint64_t site) {
    const ThreadState& m = thread_states[rank];
    return address == replay_steps[0].next && site == replay_steps[0].site && !m.synchronised &&
           (m.counted != last_barrier || !m.steps) && !(m.block == block_start && m.watched) &&
           until_preempted >= int(leader.steps);
}

void commit_replay(ThreadState& m, unsigned steps) {
    if (m.block != block_start) reset(m);
    m.counted = last_barrier;
    m.steps = steps;
    m.written = replay_steps[steps - 1].written;
    sites_since_meeting[follower] |= replay_steps[steps - 1].sites;
    m.wrote |= m.written;
}

// Whether all accesses of the leader are still recorded in coalesced form.
bool leader_is_replayable() {
    const ThreadState& m = thread_states[leader.rank];
    if (state.any() || warp::drawing || now != leader.time || m.counted != last_barrier || m.steps != leader.steps)
        return false;
    replayed = {0, 32, leader.steps};
    for (unsigned i = leader.steps; i--;) {
        const ReplayStep& f = replay_steps[i];
        const Time others = f.others->time();
        if (f.span->site != f.site || f.span->rest != f.rest ||
            (others >= floor_time && (others != now || (f.others->rest ^ f.rest) >> 32 & 0xff00ffff)))
            return false;
        replayed.room = std::min(replayed.room, f.room);
        if (!f.shared) replayed.first_global = i;
    }
    return replayed.room;
}

void start_replay() {
    until_preempted -= int(leader.steps);
    follower = rank;
    replay_step = replay_steps;
}

__attribute__((noinline)) bool follows_leader(const char* address, uint64_t site) {
    if (rank <= leader.rank) return false;
    replay_step = &nowhere;
    if (rank != leader.rank + 1 || !starts_like_leader(address, site) || !leader_is_replayable()) return false;
    replay_steps[leader.steps].next = nowhere.next;
    in_vain = 0;
    start_replay();
    return true;
}

}  // namespace

ReplayStep* new_replay_step() {
    leader.is_new = thread_states[rank].steps == leader.steps && rank == leader.rank && now == leader.time &&
                    leader.steps < most_replay_steps;
    replay_step = leader.is_new ? &behind_leader : &nowhere;
    return leader.is_new ? &replay_steps[leader.steps++] : nullptr;
}

bool follows(const char* address, uint64_t site) {
    if (replay_step == &behind_leader) return follows_leader(address, site);
    if (replay_step != replay_steps + leader.steps || rank != follower + 1 || replayed.done + 2 > replayed.room ||
        !starts_like_leader(address, site))
        return stop_following(), false;
    if (!running_block.has_ended[follower]) commit_replay(thread_states[follower], leader.steps);
    else sites_since_meeting[follower] |= replay_steps[leader.steps - 1].sites;
    ++replayed.done;
    start_replay();
    return true;
}

void stop_following() {
    const ReplayStep* const last = std::exchange(replay_step, &nowhere);
    if (last == &behind_leader) return;
    const auto steps = unsigned(last - replay_steps);
    for (unsigned i = 0; i < leader.steps; ++i)
        if (const unsigned threads = replayed.done + (i < steps))
            replay_steps[i].span->done |= ((1u << threads) - 1) << (replay_steps[i].element + 1);
    if (steps) commit_replay(thread_states[follower], steps);
    until_preempted += int(leader.steps - steps);
    const bool touched = steps > replayed.first_global;
    if (!touched && (!replayed.done || replayed.first_global == leader.steps)) return;
    this_run->last_rank = touched ? follower : follower - 1;
    this_run->last = this_run->last_of_others = now;
}

}  // namespace cudacpu::race
