// detect.hpp - declarations that the parts of the race detector share.
//
//   access_check.cpp   the check of one access: is it in bounds, and does it race with the last accesses to those
//   bytes? perturb.cpp     scheduling perturbation: preempts a thread before an access fast_path.cpp     fast path
//   for most accesses: coalesced shadow memory thread_replay.cpp fast path: replay of the previous thread's
//   accesses happens_before.cpp    happens-before spin_flags.cpp     spin flags, seqlocks and critical sections
//   stream_order.cpp     concurrent kernels and copies of several streams, and the host
//   shadow_memory.cpp   shadow memory of a region, also while its block is paused
//   access_hooks.cpp     functions that the compiler's instrumentation calls
#pragma once
#include <map>

#include "race/hazards.hpp"

namespace cudacpu::race {

using Time = uint32_t;  // the epoch: one clock, advanced by launches, blocks, barriers and fences
extern Time now;

struct Epoch {      // one access
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    Time time;      // 0: no access
    uint16_t rank;
    uint8_t step, bytes : 4, access : 4;  // step: number of accesses of its thread since the last barrier
};
// Fields that most accesses need are kept apart from the rest, so that little memory is read.
struct ShadowCell {  // a shadow cell: the last plain write and the last read
    Epoch write, read;
};
struct SyncCell {  // a shadow cell for synchronization: the last atomic or volatile access, the last atomic of
                   // another
                   // thread, and another reader
    Epoch synced, other, read;
};
struct Word {
    ShadowCell& cell;
    SyncCell& sync;
    Time &sync_since, &reads_since;
};
struct Plane {  // a cell for each four bytes, or for each byte
    ShadowCell* cells;
    SyncCell* sync;
    Time sync_since,
        reads_since;  // when a SyncCell cell of this memory was last recorded, and when another reader was
    Word at(size_t i) { return {cells[i], sync[i], sync_since, reads_since}; }
};
// Accesses of adjacent threads to adjacent elements, usually by one warp at one line of the program.
struct Span {
    uint64_t site, rest;  // rest: time, rank of the thread at the first element, step, bytes of an element
    uint32_t done;        // one bit per element
    Time time() const { return Time(rest); }
    unsigned bytes() const { return unsigned(rest >> 56); }
};
constexpr size_t line_bytes = 128, short_line_bytes = 32;  // short: for elements of less than a word
struct alignas(64) ShadowLine {
    Span write, read;
    Time noted, words, bytes;  // when an access was last recorded by itself, as words and as bytes
    uint32_t read_twice;       // bit mask: words that two readers of different warps or blocks had read then
    void words_noted() { noted = words = now, read_twice = 0; }
};
struct Shadow {          // of a region
    Plane words, bytes;  // an access of less than a word is recorded for each of its bytes
    ShadowLine *lines, *short_lines;
    Time since;        // of shared memory: when its block began to use it
    uint8_t* written;  // one flag per byte
    bool all_written;
};

// ---- happens_before.cpp
// ------------------------------------------------------------------------------------------

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

struct Fence {  // what its thread knew at the fence
    Time time = 0, barrier = 0, lanes[32];
    bool has_lanes = false;
    ClockRef clock, cached;  // cached: the same as one clock, built on demand
};
enum Scope { in_block, in_device };
struct SyncState {            // synchronization state that few threads need
    uint64_t unlocked;        // the lock's value before it was taken
    const char* fast_atomic;  // the last one that record_atomic() recorded
    const char* atomic_at;    // its last atomic while other blocks are paused, and the value found there
    uint64_t atomic_found;
    uint64_t polled_before;  // polled_at and seen of the previous access
    const char* seen_before;
    Time polled;           // when it last read a flag
    Time lanes[32];        // known of each lane of its warp by __syncwarp(), up to this time
    ClockRef clock;        // acquired by fences
    ClockRef pending[2];   // read by atomics and flags; to be acquired by the next fence of that scope
    Fence fence[2];        // the last fence of at least that scope
    ClockRef of_lanes[2];  // covered by fences of its warp's lanes before the last __syncwarp()
};
struct alignas(64) ThreadState {  // state of a thread of the running block, one cache line
    Time block = 0;               // when its block began; in another block the following fields are invalid
    Time counted;                 // the barrier since which steps are counted
    unsigned steps;
    bool has_lanes, has_clock, synchronised;  // synchronised: `clock`, `pending` and `fence` are in use
    bool wrote, publishes;                    // wrote: since its last atomic; publishes: a fence followed the write
    bool records;                             // it records what it touches under the lock
    Time last_atomic;
    uint64_t polled_at;  // the site where its last access read a flag; ~site: a plain read (fast_path.cpp does not
                         // always record it)
    const char* seen;    // the flag that it has read and not yet written
    const char* lock;    // the lock that it holds
    unsigned seen_writes;  // the number of writes to the flag when it read it
    std::unique_ptr<SyncState> sync = std::make_unique<SyncState>();
};
extern Time floor_time, launch_start, block_start, last_barrier;
extern Time part_start;  // when the running block began or was last resumed
extern ClockRef block_clock;
extern uint32_t run;  // the running block's number in the order in which blocks begin
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

void forget_all(ThreadState& m);  // clears what it knows of other threads
[[gnu::always_inline]] inline void reset(ThreadState& m) {
    m.block = m.counted = block_start;
    m.steps = m.seen_writes = 0;
    m.has_lanes = m.has_clock = m.records = m.wrote = m.publishes = false;
    m.polled_at = 0;
    m.seen = m.lock = nullptr;
    m.last_atomic = 0;
    if (m.synchronised) forget_all(m);
}
inline ThreadState& thread_state(unsigned thread) {
    ThreadState& m = thread_states[thread];
    if (m.block != block_start) reset(m);
    return m;
}
inline void count_steps(ThreadState& m) {  // since the last barrier
    if (m.counted != last_barrier) m.counted = last_barrier, m.steps = 0;
}
uint32_t run_at(Time t);  // the block that ran at that time
inline bool same_block(const Epoch& r) {
    return r.time >= part_start || (r.time >= block_start && run_at(r.time) == run);
}
bool happens_before_elsewhere(const Epoch& r);
bool happens_before_by_clock(const Epoch& r);
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
    uint32_t run;  // the block that released it
};
void acquire(const char* address, unsigned access);
Release current_release(unsigned access);
/// Fenced: whether a fence followed the acquisition; 2: a fence of device scope.
void acquire(ThreadState& m, const Release& released, unsigned fenced);
bool nothing_was_released();  // no thread of the launch has released anything
bool no_synchronization();    // the running thread neither releases nor acquires anything
void forget_words(const char* start, size_t bytes);
void release(const char* address, unsigned access, const Release& released);
void clocks_launch_begins();
void clocks_block_pauses();
void clocks_block_goes_on();
uint64_t block_of(const Epoch& r);
Accessor accessor(const Epoch& r);

// ---- access_check.cpp -----------------------------------------------------------------------------------------

extern struct alignas(4) State {  // usually none is set, which one comparison tells
    bool busy;             // The linker may have chosen the program's instrumented copy of a std::map for this one.
    bool pending;          // the last access must be checked after it is done
    bool something_shown;  // a thread was shown an old value, which must be restored
    bool index_too_large;  // the compiler found that the index of the next access is too large
    uint32_t any() const { return std::bit_cast<uint32_t>(*this); }
} state;
extern Region program;    // the program's variables
void complete_pending();  // checks the last access, which is now done
/// The same before a plain access. Returns false if the slow path is needed.
bool none_pending(bool write);
void heap_changed(const char* start, size_t bytes);  // the memory is new, or free
/// Tells the value that a CAS expects.
void access(const volatile void* where, size_t bytes, unsigned kind, uint64_t site, const void* expected = nullptr);
void note(const Race& race);  // to be reported when the launch ends
inline int size_of_distance(const Epoch& a, const Epoch& b) {
    return !same_block(a) || !same_block(b) ? 2 : a.rank / 32 != b.rank / 32;
}

// ---- perturb.cpp -------------------------------------------------------------------------------------------

extern bool yields_next;  // by the last atomic or volatile access: others may run before the next one
void preempt_now();       // lets another thread run
void perturb(const Region* r, const char* address, unsigned kind);  // before an access: may preempt the thread
void perturb_launch_begins();

// ---- fast_path.cpp -------------------------------------------------------------------------------------------

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

// ---- thread_replay.cpp ---------------------------------------------------------------------------------------

constexpr unsigned most_replay_steps = 64;
struct ReplayStep {                                            // a replay step: one access of the leader
    char* next = reinterpret_cast<char*>(uintptr_t{1} << 63);  // the address that the next thread must access
    uint64_t site;
    ptrdiff_t flags;         // from an address to its written flags; 0: all is written
    Span *span, *others;     // others: the span of the writes, if this is a read
    uint64_t rest;           // rest of the span
    unsigned element, room;  // element: index in the line; room: elements after it
    bool write, shared;
};
struct Leader {  // the leader: the thread that began last, if others may replay its accesses
    Time time = 0;
    unsigned rank, steps = 0;
    bool is_new = false;  // so far all of its accesses can be replayed
    bool passed = false;  // it has not made them itself: later threads replay the previous leader
};
extern Leader leader;
extern ReplayStep replay_steps[most_replay_steps + 1], nowhere, behind_leader;
extern ReplayStep* replay_step;  // the running thread's next step; nowhere: no thread leads or follows
extern unsigned follower;
extern unsigned in_vain, until_leader;  // leaders since one was followed; threads that begin before the next leader
inline void begin_leader() {            // at the running thread's first access since the barrier
    if (replay_step == &behind_leader && leader.passed) return;
    leader.is_new = !until_leader;
    if (until_leader) return void(--until_leader);
    leader = {now, rank, 0, true, false};
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

// ---- spin_flags.cpp -------------------------------------------------------------------------------------------

struct VolatilePair {  // two unordered volatile accesses
    Race race;
    bool shared, published;  // published: the writer executed a fence between its earlier writes and this one
};
void flag_read(char* address, size_t bytes, uint64_t site, const Epoch& write, bool unordered);
bool flag_written(char* address, size_t bytes);  // has it changed since its thread read it?
void flag_settled(const char* address, size_t bytes);
void flags_race(const VolatilePair& pair);
void report_flag_races();
void forget_flags();
bool published(const char* address);
void note_step(const char* address, unsigned kind);  // a volatile or atomic access of the running thread
enum class SeqlockVersion { none, intact, torn };
SeqlockVersion seqlock_version(const Race& race);
void forget_seqlocks();
void show_old_value(char* address, size_t bytes);  // the current value will be restored after the access
void restore_shown_value();                        // restores the value after a thread was shown an old one

void lock_changed(ThreadState& m, const char* address, bool taken, bool given_back);
void in_section(const char* address, const Epoch& mine, bool shared);  // an access under a lock
/// An access under a lock to other data: acquires what earlier sections of the lock released for it.
void enter_section(const char* address, size_t bytes, unsigned kind);
bool section_releases(ThreadState& m, const char* lock,
                      const Release& released);  // only to sections with conflicting accesses
void acquire_sections(ThreadState& m,
                      const char* lock);  // a thread that does not take the lock acquires everything
bool sections_have_released();            // whether any section has released anything
void section_meets(unsigned thread);      // it synchronizes with others, which may do part of its work
void sections_fenced(unsigned thread, Scope scope);
void sections_at_barrier();
void forget_sections();
void sections_pause(uint64_t block);
void sections_go_on(uint64_t block);
void sections_at_grid_barrier();

// ---- bounds.cpp ------------------------------------------------------------------------------------------

bool on_device_heap(const char* address);  // from `new` or malloc() in a kernel
/// Reports an access that is neither in a region nor on the heap.
Mistake stranger(const char* address);
/// An access to the thread's own stack whose index the compiler found too large.
void past_local_array(char* address, size_t bytes, bool write);
/// Lets an access out of bounds continue on spare pages: reads give 0, writes are lost.
void open_red_zone(const Region& r, char* address, size_t bytes, bool reading);
void close_red_zones();

// ---- stream_order.cpp ------------------------------------------------------------------------------------

struct Work {
    unsigned long number;
    const void* stream;
    std::map<const void*, unsigned long> after;  // by stream: the last work that it waits for
    unsigned long begun_before;  // how many works had run when it was queued, so the host had waited for them
    unsigned long turn = ~0ul;   // its position in the order of execution
    Time start = 0;
    std::string what, line;  // the line of the kernel; for copies, of the calls
    Callers callers;
};
const Work& running_work();
unsigned long last_queued();                      // 0: none is queued
bool ordered_with_running(unsigned long number);  // whether the running work and this one wait for each other
std::string at_line(const std::string& line);     // " at sum.cu:12", or ""
std::string epoch_line(const Epoch& r);           // "sum.cu:12" of an access
void report_hazard(const std::string& what, const std::vector<Remark>& lines, const std::string& mend);
extern bool several_streams;              // the queue holds works of several streams
bool before_this_launch(const Epoch& r);  // of an earlier work: does this one wait for it?
void race_of_works(const Epoch& before, const Epoch& mine, char* address);
Time launch_beside();  // A launch begins: returns when the first work began that it does not wait for.

// ---- in_flight_buffers.cpp -------------------------------------------------------------------------------

void buffers_work_begins(unsigned long number, bool callback_beside_streams);
void buffers_work_ended(bool callback);
void buffers_queue_is_empty();
void buffers_launch_begins(unsigned long work);
/// An atomic or volatile access of a kernel: the host may have written earlier than the data that the kernel reads
/// next.
void host_may_tell(const Region* r, const char* address, unsigned kind);

// ---- access_hooks.cpp -------------------------------------------------------------------------------------------

#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
void draw(const void* p, size_t bytes, unsigned kind, uint64_t site, const void* frame);

}  // namespace cudacpu::race
