// happens_before.hpp - which accesses precede what the running thread does now.
#pragma once
#include <memory>
#include <vector>

#include "race/race.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

// A vector clock: what a thread knows of others, as a time before which everything is known. An entry is for a
// thread or for a whole block.
struct VectorClock {
    struct Entry {
        uint64_t who;
        Time time;
    };
    uint32_t prefix = 0;         // all accesses of the first blocks of the launch are known
    std::vector<Entry> entries;  // sorted
    Time of(uint32_t run, unsigned rank) const;
};
using ClockRef = std::shared_ptr<const VectorClock>;

enum Scope { in_block, in_device };
struct OptimisticRead {  // a weak read of a word that atomics of other threads change
    const char* word;    // aligned to four bytes
    unsigned bytes;      // bit mask
    uint32_t value;
    uint64_t site;
    bool used;        // its thread has written since
    bool superseded;  // its thread has read the word elsewhere since
    bool shown;       // its thread was shown the value before the first CAS, if there is one
    std::vector<Race> races;
};
struct SyncState {            // synchronization state that few threads need
    uint64_t unlocked;        // the lock's value before it was taken
    const char* atomic_word;  // of its last atomic
    const char* atomic_at;    // its last atomic while other blocks are paused, and the value found there
    uint64_t atomic_found;
    uint64_t polled_before;  // polled_at and seen of the previous access
    const char* seen_before;
    unsigned seen_writes_before;
    Time polled;            // when it last read a flag
    size_t last_step = 0;   // its last one in the log of hand_over.cpp, if that is its own
    Time lanes[32];         // known of each lane of its warp by __syncwarp(), up to this time
    ClockRef clock;         // acquired by fences
    ClockRef pending[2];    // read by atomics and flags; to be acquired by the next fence of that scope
    Time fenced[2];         // its last fence of at least that scope
    ClockRef publishes[2];  // by scope: known at that fence, or at a fence of a lane before their last __syncwarp()
    ClockRef published_before[2];       // `publishes` before its release operation
    bool in_release = false;            // it is about to do that
    std::vector<OptimisticRead> reads;  // weak reads beside atomics, which its CAS may still check
    std::vector<std::pair<const char*, uint64_t>> checked;  // words and sites: its CAS has compared such a read
};
struct alignas(64) ThreadState {  // state of a thread of the running block, one cache line
    Time block = 0;               // when its block began; in another block the following fields are invalid
    Time counted;                 // the barrier since which steps are counted
    unsigned steps;
    bool has_lanes, synchronised;  // synchronised: `clock`, `pending` and `publishes` are in use
    bool wrote, publishes;         // wrote: since its last atomic; publishes: a fence followed the write
    bool released;                 // its last atomic published what it had written
    bool watched;     // its next access takes the slow path: it holds a lock, or what it has read is of interest
    uint8_t written;  // the number of its last plain write since its last barrier or fence; 0: none
    Time last_atomic;
    uint64_t polled_at;    // the site where its last access read a flag; 0: its last access did something else
    const char* seen;      // the flag that it has read and not yet written
    const char* lock;      // the lock that it holds
    unsigned seen_writes;  // the number of writes to the flag when it read it
    bool optimistic;       // `reads` or `checked` is in use
    uint8_t updated;       // the number of its last atomic since its last barrier; 0: none
    uint8_t fresh;         // a write after so few further reads may store the flag's value that was read last
    std::unique_ptr<SyncState> sync = std::make_unique<SyncState>();
};
extern Time floor_time, block_start, last_barrier;
extern Time launch_start;  // of the first of several kernels of which each need not wait for the one before it
extern Time kernel_start;  // of the running kernel
extern Time primary_start;
extern Time interval_start;  // when the running block began or was last resumed
extern uint32_t run;         // the running block's number in the order in which blocks begin
struct Run {
    uint64_t block;
    bool ended = false;
    // Accesses to global memory except atomics: the last one, and the last one of another thread.
    Time last = 0, last_of_others = 0;
    unsigned last_rank = 0;
};
extern std::vector<Run> runs;
extern Run* this_run;
extern ThreadState* thread_states;  // of the threads of the running block
extern ThreadState* me;             // of the running thread, after thread_state() was called

void reset_sync(ThreadState& m);  // clears what it knows of other threads
void forget_optimistic_reads(ThreadState& m);
[[gnu::always_inline]] inline void reset(ThreadState& m) {
    m.block = m.counted = block_start;
    m.steps = m.seen_writes = 0;
    m.has_lanes = m.wrote = m.publishes = m.released = m.watched = false;
    m.polled_at = m.written = m.updated = m.fresh = 0;
    m.seen = m.lock = nullptr;
    m.last_atomic = 0;
    if (m.synchronised) reset_sync(m);
    if (m.optimistic) forget_optimistic_reads(m);
}
inline ThreadState& thread_state(unsigned thread) {
    ThreadState& m = thread_states[thread];
    if (m.block != block_start) reset(m);
    return m;
}
inline void count_steps(ThreadState& m) {  // since the last barrier
    if (m.counted != last_barrier) m.counted = last_barrier, m.steps = m.written = m.updated = 0;
}
uint32_t run_at(Time t);  // the block that ran at that time
inline bool same_block(const Epoch& r) {
    return r.time >= interval_start || (r.time >= block_start && run_at(r.time) == run);
}
bool happens_before_elsewhere(const Epoch& r);
bool happens_before_by_clock(const Epoch& r);
bool lacks_fence(const Epoch& r);  // the running thread has read a release of r, without a fence since
/// Whether r happens before what the running thread does now. Shared memory is new in each block, so nothing
/// precedes it.
inline bool happens_before(const Epoch& r, Time from) {
    if (r.time < from) return true;
    if (!same_block(r)) return happens_before_elsewhere(r);
    return r.rank == rank || r.time < last_barrier ||
           (me->has_lanes && r.rank / 32 == rank / 32 && r.time < me->sync->lanes[r.rank % 32]) ||
           happens_before_by_clock(r);
}
struct Release {  // what an atomic or a volatile write releases
    ClockRef block, device;
    uint32_t run;   // the block that released it
    unsigned rank;  // and its thread
};
/// Shared: in shared memory. Fenced: whether a fence followed the acquisition; 2: a fence of device scope.
void acquire(const char* address, unsigned access, bool shared, unsigned fenced = 0);
Release current_release(unsigned access);
void acquire(ThreadState& m, const Release& released, unsigned fenced);
bool nothing_was_released();  // no thread of the launch has released anything
bool no_synchronization();    // the running thread neither releases nor acquires anything
void forget_releases(const char* start, size_t bytes);
void release(const char* address, unsigned access, bool shared, const Release& released);
void block_begins();
void grid_barrier_passed();
void barrier_passed();
void lanes_met(unsigned first, unsigned lanes);
void at_fence(bool block_only, Fence kind, const void* word);
void release_operation_done();  // the running thread has made its access
void clocks_launch_begins();
void grid_dependency_met();
bool waits_for_primary();  // whether the running thread is ordered after the primary of its kernel
void clocks_block_pauses();
void clocks_block_goes_on();
ThreadState* state_of(const Epoch& r);  // of the thread that made it; nullptr: its block has ended
uint64_t block_of(const Epoch& r);
Accessor accessor(const Epoch& r);

}  // namespace cudacpu::race
