// thread_replay.hpp - fast path: replay of the previous thread's accesses.
#pragma once
#include <algorithm>

#include "race/shadow_memory.hpp"

namespace cudacpu::race {

constexpr unsigned most_replay_steps = 64;
struct ReplayStep {                                            // a replay step: one access of the leader
    char* next = reinterpret_cast<char*>(uintptr_t{1} << 63);  // the address that the next thread must access
    uint64_t site;
    ptrdiff_t flags;         // from an address to its written flags; 0: all is written
    Span *span, *others;     // others: the span of the writes, if this is a read
    uint64_t rest;           // rest of the span
    uint64_t sites;          // sites_since_meeting of the leader so far
    unsigned element, room;  // element: index in the line; room: elements after it
    bool shared;
    uint8_t written;  // the number of the last write so far; 0: none
};
struct Leader {  // the leader: the thread that began last, if others may replay its accesses
    Time time = 0;
    unsigned rank, steps = 0;
    bool is_new = false;  // so far all of its accesses can be replayed
};
extern Leader leader;
extern ReplayStep replay_steps[most_replay_steps + 1], nowhere, behind_leader;
extern ReplayStep* replay_step;  // the running thread's next step; nowhere: no thread leads or follows
extern unsigned follower;
extern unsigned in_vain, until_leader;  // leaders since one was followed; threads that begin before the next leader
inline void begin_leader() {            // at the running thread's first access since the barrier
    leader.is_new = !until_leader;
    if (until_leader) return void(--until_leader);
    leader = {now, rank, 0, true};
    until_leader = std::min(in_vain * in_vain, 256u);
    ++in_vain;
}
/// Adds a step for the running thread, which has not counted this access yet. Returns nullptr if it cannot be
/// replayed.
ReplayStep* new_replay_step();
/// Whether this access is the first of a thread that follows. If not, the replay ends.
bool follows(const char* address, uint64_t site);
void stop_following();
[[gnu::always_inline]] inline void stop_if_following() {
    if (replay_step != &nowhere) stop_following();
}

}  // namespace cudacpu::race
