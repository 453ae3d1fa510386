// detect.hpp - declarations that the parts of the race detector share.
//
//   hazards.cpp   the check of one access: is it in bounds, and does it race with the last accesses to those bytes?
//   turns.cpp     scheduling perturbation: preempts a thread before an access
//   quick.cpp     fast path for most accesses: coalesced shadow memory
//   footsteps.cpp fast path: replay of the previous thread's accesses
//   clocks.cpp    happens-before
//   flags.cpp     spin flags, seqlocks and critical sections
//   works.cpp     concurrent kernels and copies of several streams, and the host
//   shadows.cpp   shadow memory of a region, also while its block is paused
//   hooks.cpp     functions that the compiler's instrumentation calls
#pragma once
#include "hazards.hpp"

namespace cudacpu::hazards {

using Time = uint32_t;  // the epoch: one clock, advanced by launches, blocks, barriers and fences
extern Time now;

struct Record {     // one access
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    Time time;      // 0: no access
    uint16_t rank;
    uint8_t step, bytes : 4, access : 4;  // step: number of accesses of its thread since the last barrier
};
// Fields that most accesses need are kept apart from the rest, so that little memory is read.
struct Cell {  // a shadow cell: the last plain write and the last read
    Record write, read;
};
struct Rare {  // a shadow cell for synchronization: the last atomic or volatile access, the last atomic of another
               // thread, and another reader
    Record synced, other, read;
};
struct Word {
    Cell& cell;
    Rare& rare;
    Time &rare_since, &reads_since;
};
struct Plane {  // a cell for each four bytes, or for each byte
    Cell* cells;
    Rare* rare;
    Time rare_since, reads_since;  // when a Rare cell of this memory was last recorded, and when another reader was
    Word at(size_t i) { return {cells[i], rare[i], rare_since, reads_since}; }
};
// Accesses of adjacent threads to adjacent elements, usually by one warp at one line of the program.
struct Span {
    uint64_t site, rest;  // rest: time, rank of the thread at the first element, step, bytes of an element
    uint32_t done;        // one bit per element
    Time time() const { return Time(rest); }
    unsigned bytes() const { return unsigned(rest >> 56); }
};
constexpr size_t line_bytes = 128, short_line_bytes = 32;  // short: for elements of less than a word
struct alignas(64) NotedLine {
    Span write, read;
    Time noted, words, bytes;  // when an access was last recorded by itself, as words and as bytes
    uint32_t read_twice;       // bit mask: words that two readers of different warps or blocks had read then
    void words_noted() { noted = words = now, read_twice = 0; }
};
struct Shadow {          // of a region
    Plane words, bytes;  // an access of less than a word is recorded for each of its bytes
    NotedLine *lines, *short_lines;
    Time since;        // of shared memory: when its block began to use it
    uint8_t* written;  // one flag per byte
    bool all_written;
};

// ---- clocks.cpp ------------------------------------------------------------------------------------------

// A vector clock: what a thread knows of others, as a time before which everything is known. An entry is for a
// thread or for a whole block.
struct Clock {
    struct Entry {
        uint64_t who;
        Time time;
    };
    uint32_t prefix = 0;         // all accesses of the first blocks of the launch are known
    std::vector<Entry> entries;  // sorted
    Time of(uint32_t run, unsigned rank) const;
};
using Known = std::shared_ptr<const Clock>;

struct Fence {  // what its thread knew at the fence
    Time time = 0, barrier = 0, lanes[32];
    bool has_lanes = false;
    Known known, made;  // made: the same as one clock, built on demand
};
enum Scope { in_block, in_device };
struct More {                  // synchronization state that few threads need
    uint64_t unlocked;         // the lock's value before it was taken
    const char* quick_atomic;  // the last one that note_atomic() recorded
    const char* atomic_at;     // its last atomic while other blocks are paused, and the value found there
    uint64_t atomic_found;
    uint64_t polled_before;  // polled_at and seen of the previous access
    const char* seen_before;
    Time polled;        // when it last read a flag
    Time lanes[32];     // known of each lane of its warp by __syncwarp(), up to this time
    Known known;        // acquired by fences
    Known pending[2];   // read by atomics and flags; to be acquired by the next fence of that scope
    Fence fence[2];     // the last fence of at least that scope
    Known of_lanes[2];  // covered by fences of its warp's lanes before the last __syncwarp()
};
struct alignas(64) Mind {  // state of a thread of the running block, one cache line
    Time block = 0;        // when its block began; in another block the following fields are invalid
    Time counted;          // the barrier since which steps are counted
    unsigned steps;
    bool has_lanes, knows, synchronised;  // synchronised: `known`, `pending` and `fence` are in use
    bool wrote, publishes;                // wrote: since its last atomic; publishes: a fence followed the write
    bool records;                         // it records what it touches under the lock
    Time last_atomic;
    uint64_t polled_at;    // the site where its last access read a flag; ~site: a plain read (quick.cpp does not
                           // always record it)
    const char* seen;      // the flag that it has read and not yet written
    const char* lock;      // the lock that it holds
    unsigned seen_writes;  // the number of writes to the flag when it read it
    std::unique_ptr<More> more = std::make_unique<More>();
};
extern Time floor_time, launch_start, block_start, last_barrier;
extern Time part_start;  // when the running block began or was last resumed
extern Known block_known;
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
extern Mind* minds;  // of the threads of the running block
extern Mind* me;     // of the running thread, after mind() was called

void forget_all(Mind& m);  // clears what it knows of other threads
[[gnu::always_inline]] inline void reset(Mind& m) {
    m.block = m.counted = block_start;
    m.steps = m.seen_writes = 0;
    m.has_lanes = m.knows = m.records = m.wrote = m.publishes = false;
    m.polled_at = 0;
    m.seen = m.lock = nullptr;
    m.last_atomic = 0;
    if (m.synchronised) forget_all(m);
}
inline Mind& mind(unsigned thread) {
    Mind& m = minds[thread];
    if (m.block != block_start) reset(m);
    return m;
}
inline void count_steps(Mind& m) {  // since the last barrier
    if (m.counted != last_barrier) m.counted = last_barrier, m.steps = 0;
}
uint32_t run_at(Time t);  // the block that ran at that time
inline bool same_block(const Record& r) {
    return r.time >= part_start || (r.time >= block_start && run_at(r.time) == run);
}
bool ordered_elsewhere(const Record& r);
bool ordered_by_fences(const Record& r);
/// Whether r happens before what the running thread does now. Shared memory is new in each block, so nothing
/// precedes it.
inline bool ordered(const Record& r, Time from) {
    if (r.time < from) return true;
    if (!same_block(r)) return ordered_elsewhere(r);
    return r.rank == rank || r.time < last_barrier ||
           (me->has_lanes && r.rank / 32 == rank / 32 && r.time < me->more->lanes[r.rank % 32]) ||
           ordered_by_fences(r);
}
struct Gift {  // what an atomic or a volatile write releases
    Known block, device;
    uint32_t run;  // the block that released it
};
void take(const char* address, unsigned access);
Gift gift(unsigned access);
/// Fenced: whether a fence followed the acquisition; 2: a fence of device scope.
void take_gift(Mind& m, const Gift& gift, unsigned fenced);
bool nothing_was_handed_on();  // no thread of the launch has released anything
bool nothing_is_handed_on();   // the running thread neither releases nor acquires anything
void forget_words(const char* start, size_t bytes);
void give(const char* address, unsigned access, const Gift& gift);
void clocks_launch_begins();
void clocks_block_pauses();
void clocks_block_goes_on();
uint64_t block_of(const Record& r);
Party party(const Record& r);

// ---- hazards.cpp -----------------------------------------------------------------------------------------

extern struct alignas(4) State {  // usually none is set, which one comparison tells
    bool busy;             // The linker may have chosen the program's instrumented copy of a std::map for this one.
    bool unsettled;        // the last access must be checked after it is done
    bool something_shown;  // a thread was shown an old value, which must be restored
    bool index_too_large;  // the compiler found that the index of the next access is too large
    uint32_t any() const { return std::bit_cast<uint32_t>(*this); }
} state;
extern Region program;  // the program's variables
void settle_all();      // checks the last access, which is now done
/// The same before a plain access. Returns false if the slow path is needed.
bool settled(bool write);
void heap_changed(const char* start, size_t bytes);  // the memory is new, or free
/// Tells the value that a CAS expects.
void access(const volatile void* where, size_t bytes, unsigned kind, uint64_t site, const void* expected = nullptr);
void note(const Race& race);  // to be reported when the launch ends
inline int size_of_distance(const Record& a, const Record& b) {
    return !same_block(a) || !same_block(b) ? 2 : a.rank / 32 != b.rank / 32;
}

// ---- turns.cpp -------------------------------------------------------------------------------------------

extern bool handed_on;  // by the last atomic or volatile access: others may run before the next one
void give_turn();       // lets another thread run
void take_turns(const Region* r, const char* address, unsigned kind);  // before an access: may preempt the thread
void turns_of_launch();

// ---- quick.cpp -------------------------------------------------------------------------------------------

extern int until_preempted;
void forget_pages();                       // clears the cache of regions by page
Region* region_near(const char* address);  // nullptr: not cached
Region* region_of(const char* address);
void write_out(Shadow& shadow, size_t line);  // expands the record of the whole line into its cells
/// Records an access to a struct. Returns false if the slow path is needed.
bool note_range(void* p, size_t bytes, bool write, uint64_t site);
/// Records an atomic on a word that only atomics change now. Returns false if the slow path is needed.
bool note_atomic(Region& r, size_t first, size_t bytes, const Record& mine);
[[gnu::always_inline]] inline void touched_globally() {
    Run& b = *this_run;
    if (b.last_rank != rank) b.last_of_others = b.last, b.last_rank = rank;
    b.last = now;
}

// ---- footsteps.cpp ---------------------------------------------------------------------------------------

constexpr unsigned most_footsteps = 64;
struct Footstep {                                              // a replay step: one access of the leader
    char* next = reinterpret_cast<char*>(uintptr_t{1} << 63);  // the address that the next thread must access
    uint64_t site;
    ptrdiff_t flags;         // from an address to its written flags; 0: all is written
    Span *span, *others;     // others: the span of the writes, if this is a read
    uint64_t rest;           // rest of the span
    unsigned element, room;  // element: index in the line; room: elements after it
    bool write, shared;
};
struct Lead {  // the leader: the thread that began last, if others may replay its accesses
    Time time = 0;
    unsigned rank, steps = 0;
    bool is_new = false;  // so far all of its accesses can be replayed
    bool passed = false;  // it has not made them itself: later threads replay the previous leader
};
extern Lead lead;
extern Footstep footsteps[most_footsteps + 1], nowhere, behind_lead;
extern Footstep* footstep;  // the running thread's next step; nowhere: no thread leads or follows
extern unsigned follower;
extern unsigned in_vain, until_lead;  // leaders since one was followed; threads that begin before the next leader
inline void begin_lead() {            // at the running thread's first access since the barrier
    if (footstep == &behind_lead && lead.passed) return;
    lead.is_new = !until_lead;
    if (until_lead) return void(--until_lead);
    lead = {now, rank, 0, true, false};
    until_lead = std::min(in_vain * in_vain, 256u);
    ++in_vain;
}
/// Adds a step for the running thread, which has not counted this access yet. Returns nullptr if it cannot be
/// replayed.
Footstep* new_footstep();
/// Whether this access is the first of a thread that follows. If not, the replay ends.
bool follows(const char* address, uint64_t site);
void stop_following();
[[gnu::always_inline]] inline void stop_if_following() {
    if (footstep != &nowhere) stop_following();
}

// ---- flags.cpp -------------------------------------------------------------------------------------------

struct VolatilePair {  // two unordered volatile accesses
    Race race;
    bool shared, published;  // published: the writer executed a fence between its earlier writes and this one
};
void flag_read(char* address, size_t bytes, uint64_t site, const Record& write, bool unordered);
bool flag_written(char* address, size_t bytes);  // has it changed since its thread read it?
void flag_settled(const char* address, size_t bytes);
void flags_race(const VolatilePair& pair);
bool published(const char* address);
void note_step(const char* address, unsigned kind);  // a volatile or atomic access of the running thread
void show(char* address, size_t bytes);              // the current value will be restored after the access
void restore_flag();                                 // restores the value after a thread was shown an old one

void lock_changed(Mind& m, const char* address, bool taken, bool given_back);
void in_section(const char* address, const Record& mine, bool shared);  // an access under a lock
/// An access under a lock to other data: acquires what earlier sections of the lock released for it.
void enter_section(const char* address, size_t bytes, unsigned kind);
bool section_gives(Mind& m, const char* lock, const Gift& gift);  // only to sections with conflicting accesses
void take_sections(Mind& m, const char* lock);  // a thread that does not take the lock acquires everything
bool sections_hand_on();                        // whether any section has released anything
void section_meets(unsigned thread);            // it synchronizes with others, which may do part of its work
void sections_fenced(unsigned thread, Scope scope);
void sections_at_barrier();
void flags_of_launch(bool begins);
void sections_pause(uint64_t block);
void sections_go_on(uint64_t block);
void sections_at_grid_barrier();

// ---- redzone.cpp ------------------------------------------------------------------------------------------

bool on_device_heap(const char* address);  // from `new` or malloc() in a kernel
/// Reports an access that is neither in a region nor on the heap.
Mistake stranger(const char* address);
/// An access to the thread's own stack whose index the compiler found too large.
void past_local_array(char* address, size_t bytes, bool write);
/// Lets an access out of bounds continue on spare pages: reads give 0, writes are lost.
void open_red_zone(const Region& r, char* address, size_t bytes, bool reading);
void close_red_zones();

// ---- works.cpp -------------------------------------------------------------------------------------------

extern bool several_streams;               // the queue holds works of several streams
bool before_this_launch(const Record& r);  // of an earlier work: does this one wait for it?
void race_of_works(const Record& before, const Record& mine, char* address);
Time launch_beside();  // A launch begins: returns when the first work began that it does not wait for.
/// An atomic or volatile access of a kernel: the host may have written earlier than the data that the kernel reads
/// next.
void host_may_tell(const Region* r, const char* address, unsigned kind);

// ---- hooks.cpp -------------------------------------------------------------------------------------------

#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
void draw(const void* p, size_t bytes, unsigned kind, uint64_t site, const void* frame);

}  // namespace cudacpu::hazards
