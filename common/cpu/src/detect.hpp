// detect.hpp - what the parts of the hazard build that find something know of each other.
//
//   hazards.cpp   one access: is it in bounds, and does it race with the last ones to the same bytes?
//   turns.cpp     when a thread is stopped before an access, and others go on
//   quick.cpp     the accesses that need no such look, which are most of them
//   footsteps.cpp threads that do as the one before them did
//   clocks.cpp    which accesses come before what the running thread does now
//   flags.cpp     volatile words that threads wait for, and locks
//   works.cpp     what runs beside each other: kernels and copies of several streams, and the host
//   shadows.cpp   what is noted about a region, while its block pauses, too
//   hooks.cpp     what the compiler calls
#pragma once
#include "hazards.hpp"

namespace cudacpu::hazards {

using Time = uint32_t;  // of one clock: launches, blocks, barriers and fences move it on
extern Time now;

struct Record {     // one access
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    Time time;      // 0: there was none
    uint16_t rank;
    uint8_t step, bytes : 4, access : 4;  // step: how many accesses its thread has done since the last barrier
};
// What most accesses need lies apart, so that little has to be fetched from memory.
struct Cell {  // the last plain write, and the last read
    Record write, read;
};
struct Rare {  // the last access that was atomic or volatile, the last atomic of another thread, and another reader
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
    Time rare_since, reads_since;  // when one of the rare ones was last noted in this memory; and another reader
    Word at(size_t i) { return {cells[i], rare[i], rare_since, reads_since}; }
};
// Accesses to elements that lie side by side, by threads that do: most often a warp's at one line of the program.
struct Span {
    uint64_t site, rest;  // rest: time, rank of the thread at the first element, step, bytes of an element
    uint32_t done;        // a bit for each element
    Time time() const { return Time(rest); }
    unsigned bytes() const { return unsigned(rest >> 56); }
};
constexpr size_t line_bytes = 128, short_line_bytes = 32;  // short: of elements of less than a word
struct alignas(64) NotedLine {
    Span write, read;
    Time noted, words, bytes;  // when something was last noted one by one, and of that words and bytes
    uint32_t read_twice;       // words of which two readers were noted then, of two warps or blocks
    void words_noted() { noted = words = now, read_twice = 0; }
};
struct Shadow {          // of a region
    Plane words, bytes;  // an access of less than a word is noted for each of its bytes
    NotedLine *lines, *short_lines;
    Time since;        // of shared memory: when its block began to use it
    uint8_t* written;  // a flag a byte
    bool all_written;
};

// ---- clocks.cpp ------------------------------------------------------------------------------------------

// What a thread knows of others: all that they did before a time. An entry is for a thread, or for a whole block.
struct Clock {
    struct Entry {
        uint64_t who;
        Time time;
    };
    uint32_t prefix = 0;         // all that the first blocks of the launch have done
    std::vector<Entry> entries;  // sorted
    Time of(uint32_t run, unsigned rank) const;
};
using Known = std::shared_ptr<const Clock>;

struct Fence {  // what its thread knew
    Time time = 0, barrier = 0, lanes[32];
    bool has_lanes = false;
    Known known, made;  // made: all of it as one clock, once it is asked for
};
enum Scope { in_block, in_device };
struct More {                  // of a thread, what few need
    uint64_t unlocked;         // what the lock held before
    const char* quick_atomic;  // its last one that note_atomic() took
    const char* atomic_at;     // its last atomic beside blocks that pause, and what it found there
    uint64_t atomic_found;
    uint64_t polled_before;  // as polled_at and seen, of the access before that one
    const char* seen_before;
    Time polled;        // when it read a flag last
    Time lanes[32];     // before these times of its warp's lanes, by __syncwarp()
    Known known;        // by fences
    Known pending[2];   // read by atomics and flags, and a fence of that scope is still to come
    Fence fence[2];     // the last one of at least that scope
    Known of_lanes[2];  // what fences of its warp's lanes covered before the last __syncwarp()
};
struct alignas(64) Mind {  // of a thread of the running block: one line of the cache
    Time block = 0;        // when its block began: if another one runs, all that follows is void
    Time counted;          // the barrier since which steps are counted
    unsigned steps;
    bool has_lanes, knows, synchronised;  // synchronised: `known`, `pending` and `fence` are in use
    bool wrote, publishes;                // since its last atomic; and then there was a fence
    bool records;                         // what it touches under the lock
    Time last_atomic;
    uint64_t polled_at;    // its last access was a read of a flag here; ~: a plain one (quick.cpp: not always said)
    const char* seen;      // the flag that it has read and not yet written
    const char* lock;      // that it holds
    unsigned seen_writes;  // how many writes of the flag there had been
    std::unique_ptr<More> more = std::make_unique<More>();
};
extern Time floor_time, launch_start, block_start, last_barrier;
extern Time part_start;  // when the running block began, or last went on
extern Known block_known;
extern uint32_t run;  // which block of the launch this is, in the order in which they begin
struct Run {
    uint64_t block;
    bool ended = false;
    // Accesses to global memory, but atomics: by the last thread, and before it by others.
    Time last = 0, last_of_others = 0;
    unsigned last_rank = 0;
};
extern std::vector<Run> runs;
extern Run* this_run;
extern Mind* minds;  // of the threads of the running block
extern Mind* me;     // of the running thread, once mind() was called

void forget_all(Mind& m);  // what it knew of others
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
uint32_t run_at(Time t);  // which block ran then
inline bool same_block(const Record& r) {
    return r.time >= part_start || (r.time >= block_start && run_at(r.time) == run);
}
bool ordered_elsewhere(const Record& r);
bool ordered_by_fences(const Record& r);
/// Does r come before what the running thread does now? Shared memory is new in each block: nothing came before it.
inline bool ordered(const Record& r, Time from) {
    if (r.time < from) return true;
    if (!same_block(r)) return ordered_elsewhere(r);
    return r.rank == rank || r.time < last_barrier ||
           (me->has_lanes && r.rank / 32 == rank / 32 && r.time < me->more->lanes[r.rank % 32]) ||
           ordered_by_fences(r);
}
struct Gift {  // what an atomic or a volatile write hands on
    Known block, device;
    uint32_t run;  // of the block that gives it
};
void take(const char* address, unsigned access);
Gift gift(unsigned access);
/// Fenced: since it came, 2 by a fence of the device.
void take_gift(Mind& m, const Gift& gift, unsigned fenced);
bool nothing_was_handed_on();  // by any thread of the launch
bool nothing_is_handed_on();   // by the running thread, nor to it
void forget_words(const char* start, size_t bytes);
void give(const char* address, unsigned access, const Gift& gift);
void clocks_launch_begins();
void clocks_block_pauses();
void clocks_block_goes_on();
uint64_t block_of(const Record& r);
Party party(const Record& r);

// ---- hazards.cpp -----------------------------------------------------------------------------------------

extern struct alignas(4) State {  // most often there is none of these, which is asked at once
    bool busy;             // The linker may have taken the program's instrumented copy of a std::map for this one.
    bool unsettled;        // the last access has still to be looked at, once it is done
    bool something_shown;  // to a thread, in place of what stands there
    bool index_too_large;  // the compiler has found that of the next access so
    uint32_t any() const { return std::bit_cast<uint32_t>(*this); }
} state;
extern Region program;  // its variables
void settle_all();      // the last access has been done
/// The same before a plain access. False: more than that is to be looked at.
bool settled(bool write);
void heap_changed(const char* start, size_t bytes);  // from now on it is new, or nobody's
/// A CAS says what it expects there.
void access(const volatile void* where, size_t bytes, unsigned kind, uint64_t site, const void* expected = nullptr);
void note(const Race& race);  // it will be reported when the launch ends
inline int size_of_distance(const Record& a, const Record& b) {
    return !same_block(a) || !same_block(b) ? 2 : a.rank / 32 != b.rank / 32;
}

// ---- turns.cpp -------------------------------------------------------------------------------------------

extern bool handed_on;  // by the last atomic or volatile access, or given back: others may run before the next one
void give_turn();       // another thread may run
void take_turns(const Region* r, const char* address, unsigned kind);  // before an access
void turns_of_launch();

// ---- quick.cpp -------------------------------------------------------------------------------------------

extern int until_preempted;
void forget_pages();                       // which region each belongs to
Region* region_near(const char* address);  // nullptr: it is not known yet
Region* region_of(const char* address);
void write_out(Shadow& shadow, size_t line);  // what is noted for the line as a whole
/// Notes an access to a struct. False: more than that is to be looked at.
bool note_range(void* p, size_t bytes, bool write, uint64_t site);
/// Notes an atomic on a word that only atomics change now. False: more than that is to be looked at.
bool note_atomic(Region& r, size_t first, size_t bytes, const Record& mine);
[[gnu::always_inline]] inline void touched_globally() {
    Run& b = *this_run;
    if (b.last_rank != rank) b.last_of_others = b.last, b.last_rank = rank;
    b.last = now;
}

// ---- footsteps.cpp ---------------------------------------------------------------------------------------

constexpr unsigned most_footsteps = 64;
struct Footstep {                                              // an access of the thread that leads
    char* next = reinterpret_cast<char*>(uintptr_t{1} << 63);  // where the next thread's is
    uint64_t site;
    ptrdiff_t flags;         // from an address to the flags that tell what is written; 0: all is
    Span *span, *others;     // that of the writes, if this is a read
    uint64_t rest;           // the span's
    unsigned element, room;  // in the line; and how many lie behind it
    bool write, shared;
};
struct Lead {  // the thread that was the last to begin, if others may follow it
    Time time = 0;
    unsigned rank, steps = 0;
    bool is_new = false;  // all that it has done can be followed, as far as it is known
    bool passed = false;  // it has not done it yet: who comes behind follows the one before
};
extern Lead lead;
extern Footstep footsteps[most_footsteps + 1], nowhere, behind_lead;
extern Footstep* footstep;  // the next one of the running thread; nowhere: nobody leads or follows
extern unsigned follower;
extern unsigned in_vain, until_lead;  // leads since somebody followed one; how many threads begin before the next
inline void begin_lead() {            // the running thread does its first access since the barrier
    if (footstep == &behind_lead && lead.passed) return;
    lead.is_new = !until_lead;
    if (until_lead) return void(--until_lead);
    lead = {now, rank, 0, true, false};
    until_lead = std::min(in_vain * in_vain, 256u);
    ++in_vain;
}
/// Where the running thread, which has not counted this step yet, leaves it. nullptr: nobody can follow.
Footstep* new_footstep();
/// Is this access the first of a thread that follows? If not, nobody follows any more.
bool follows(const char* address, uint64_t site);
void stop_following();
[[gnu::always_inline]] inline void stop_if_following() {
    if (footstep != &nowhere) stop_following();
}

// ---- flags.cpp -------------------------------------------------------------------------------------------

struct VolatilePair {  // two volatile accesses that nothing orders
    Race race;
    bool shared, published;  // published: the writer had a fence between what it wrote before and this write
};
void flag_read(char* address, size_t bytes, uint64_t site, const Record& write, bool unordered);
bool flag_written(char* address, size_t bytes);  // has it changed since its thread read it?
void flag_settled(const char* address, size_t bytes);
void flags_race(const VolatilePair& pair);
bool published(const char* address);
void note_step(const char* address, unsigned kind);  // of the running thread, volatile or atomic
void show(char* address, size_t bytes);              // what is there now will stand there again after the access
void restore_flag();                                 // what a thread has read is again what stands there

void lock_changed(Mind& m, const char* address, bool taken, bool given_back);
void in_section(const char* address, const Record& mine, bool shared);  // an access under a lock
/// An access under a lock to something else: what earlier sections of the lock hand on to it is taken.
void enter_section(const char* address, size_t bytes, unsigned kind);
bool section_gives(Mind& m, const char* lock, const Gift& gift);  // to those in conflict with it alone
void take_sections(Mind& m, const char* lock);                    // who does not take the lock knows all
bool sections_hand_on();                                          // anything at all
void section_meets(unsigned thread);                              // others, who may do a part of its work
void sections_fenced(unsigned thread, Scope scope);
void sections_at_barrier();
void flags_of_launch(bool begins);
void sections_pause(uint64_t block);
void sections_go_on(uint64_t block);
void sections_at_grid_barrier();

// ---- redzone.cpp ------------------------------------------------------------------------------------------

bool on_device_heap(const char* address);  // from `new` or malloc() in a kernel
/// What an access does wrong there, if that is neither in a region nor on the heap.
Mistake stranger(const char* address);
/// An access to the own stack: the compiler has found its index too large.
void past_local_array(char* address, size_t bytes, bool write);
/// Lets an access out of bounds go to pages that hold nothing: what is read is 0, what is written is lost.
void open_red_zone(const Region& r, char* address, size_t bytes, bool reading);
void close_red_zones();

// ---- works.cpp -------------------------------------------------------------------------------------------

extern bool several_streams;               // have works in the queue
bool before_this_launch(const Record& r);  // of an earlier work: does this one wait for it?
void race_of_works(const Record& before, const Record& mine, char* address);
Time launch_beside();  // a launch begins: when did the first work begin that it does not wait for?
/// An atomic or volatile access of a kernel: the host may have written before what it reads behind it.
void host_may_tell(const Region* r, const char* address, unsigned kind);

// ---- hooks.cpp -------------------------------------------------------------------------------------------

#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
void draw(const void* p, size_t bytes, unsigned kind, uint64_t site, const void* frame);

}  // namespace cudacpu::hazards
