// access_check.cpp - the race detector (hazard build): the check of one access, made before the program does it.
//
// The detector may preempt the thread first, so that a missing atomic really loses updates. Then it compares the
// access with the shadow cells of those bytes, which hold their last writes and reads. Two accesses of different
// threads, at least one of them a write, are a race if happens-before (happens_before.cpp) does not order them. The
// order in which they happened to run does not matter. Two writes of the same value are reported as a note, because
// they change no result.
#include "race/access_check.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "api/observer.hpp"
#include "api/upcalls.hpp"
#include "engine/async_copies.hpp"
#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"
#include "engine/watchdog.hpp"
#include "memory/address_space.hpp"
#include "memory/observer.hpp"
#include "race/absent_lanes.hpp"
#include "race/bounds.hpp"
#include "race/critical_sections.hpp"
#include "race/fast_path.hpp"
#include "race/hand_over.hpp"
#include "race/happens_before.hpp"
#include "race/optimistic_reads.hpp"
#include "race/perturb.hpp"
#include "race/race.hpp"
#include "race/shadow_memory.hpp"
#include "race/volatile_data.hpp"
#include "race/stream_order.hpp"
#include "race/thread_replay.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

State state;
void (*observe_access)(const char*, size_t, unsigned);

Region* program_region(const void* address) {
    static auto& known = *new std::map<const Module*, Region>;
    const Module* const m = module_of(address);
    if (!m) return nullptr;
    char* const start = const_cast<char*>(m->start);
    const auto bytes = size_t(m->end - m->start);
    const auto [region, is_new] =
        known.try_emplace(m, Region{start, bytes, Kind::registered, start, bytes, {"", 0}});
    if (is_new) region_added(region->second);
    return &region->second;
}

namespace {

constexpr unsigned counts = atomic | writes;  // most atomics are such: of device scope, and no exchange
unsigned synced_beside_paused;

std::map<std::pair<uint64_t, uint64_t>, Race> races CUDACPU_LASTING;  // of this launch; key: the two sites

struct Access {
    char* address;
    size_t bytes;
    unsigned kind;
    Epoch mine;
    Time from = floor_time;            // accesses before this time cannot race with this one
    bool shared = false;               // in shared memory
    bool late = false;                 // a volatile write whose thread had read an older value
    bool compares_read = false;        // a CAS that compares what its thread has read
    bool race = false, flags = false;  // two_writes is a race if the value changes; flags: both are volatile
    bool writes_flag() const { return (kind & (writes | flag)) == (writes | flag); }
    bool may_lock(const ThreadState& m) const {
        return kind & (compares | exchanges) || (m.lock == address && kind & writes);
    }
};

struct Last : Access {  // the last access, if it must be checked after it is done
    Race two_writes;
    ThreadState* thread;
    Release released;
    unsigned char before[256];  // the value before the access
};
Last last CUDACPU_LASTING;

// ---- races -----------------------------------------------------------------------------------------------

bool is_known(const Epoch& a, const Epoch& b, bool adds) {  // most races are seen many times
    const auto known = races.find(std::minmax(a.site, b.site));
    if (known == races.end() || known->second.equal || (adds && !known->second.adds)) return false;
    const int far = !same_block(a) || !same_block(b) ? 2 : a.rank / 32 != b.rank / 32;
    return far <= distance(known->second);
}

void complete_access() {
    state.pending = false;
    const uint64_t before = value_at(last.before, last.bytes), value = value_at(last.address, last.bytes);
    const bool same = !memcmp(last.before, last.address, last.bytes);
    ThreadState& m = *last.thread;
    if (last.race) {
        last.two_writes.equal = same;
        if (same && last.late && m.sync->polled >= last_barrier) equal_update_lost(last.two_writes);
        else if (same || !last.flags) note(last.two_writes);
        else flags_race(last.two_writes, false);
    }
    if (last.writes_flag()) flag_settled(last.address, last.bytes);
    const bool holds = m.lock == last.address, gives_back = holds && !same && value == m.sync->unlocked;
    const bool tries = last.kind & compares || (last.kind & exchanges && !(last.kind & stores) && !before);
    const bool takes = !holds && tries && !same;
    const bool kept =
        gives_back && lock_given_back(m, last.address, last.mine, last.kind & atomic ? last.released : Release{});
    // An atomic that leaves the value unchanged, such as atomicAdd(p, 0), releases nothing.
    if (last.kind & atomic && !same && !kept) release(last.address, last.kind, last.shared, last.released);
    if (!last.may_lock(m) || holds) return;
    if (takes) m.sync->unlocked = before, lock_taken(m, last.address, last.mine.site);
    else acquire_sections(m, last.address);
}

// The compiler calls both hooks of a struct copy before it copies, so a read does not settle the write.
void complete_before(bool write) {
    if (state.pending && (write || rank != last.mine.rank || last.kind & atomic || last.may_lock(*last.thread)))
        complete_access();
}

// Whether the thread of this atomic or volatile access may be waiting for another block; if so, paused blocks
// resume.
bool may_wait(const Region* r, const char* address, size_t bytes, unsigned kind) {
    if (kind & flag || !no_synchronization() || !r || address < r->start || address + bytes > r->start + r->bytes)
        return true;
    const uint64_t value = value_at(address, bytes);  // is it the same as at the last poll?
    const bool same = std::exchange(me->sync->atomic_at, address) == address;
    return std::exchange(me->sync->atomic_found, value) == value && same;
}

warp::Part trace_part(const Accessor& p) { return {p.block, p.rank, p.site}; }

void check_afterwards(const Access& a) {
    static_cast<Access&>(last) = a;
    last.bytes = std::min(a.bytes, sizeof last.before);
    last.thread = me;
    memcpy(last.before, a.address, last.bytes);
    state.pending = true;
}

__attribute__((noinline)) void report_conflict(const Word& w, const Epoch& r, Access& a, const char* word) {
    const Epoch& mine = a.mine;
    const bool synchronise = r.access & (atomic | flag) && mine.access & (atomic | flag);
    bool flags = (r.access & mine.access & flag) && !((r.access | mine.access) & atomic);
    const bool too_narrow = (r.access | mine.access) & narrow && !same_block(r);
    if (r.time < kernel_start && synchronise && !too_narrow) return;
    if (r.time < launch_start) return race_of_works(WorkRace::between_streams, r, mine, a.address);
    if (r.time < kernel_start) {
        const bool undecided = r.time < primary_start && waits_for_primary();
        return race_of_works(undecided ? WorkRace::undecided : WorkRace::after_primary, r, mine, a.address);
    }
    const bool loses = a.late && (r.access & (writes | flag)) == (writes | flag);
    if (synchronise && !loses && !flags && !too_narrow) return;
    const Epoch &writer = r.access & writes ? r : mine, &other = r.access & writes ? mine : r;
    bool adds = loses;
    for (const Epoch* own : {&w.cell.read, &w.sync.read})
        adds |= own->rank == writer.rank && own->site == other.site;
    if (warp::drawing) warp::draw_conflict(trace_part(accessor(r)), trace_part(accessor(mine)), a.address, a.bytes);
    if (other.access == reads && writer.access & atomic && !too_narrow &&
        is_optimistic(other, word, {accessor(r), accessor(mine), a.address, a.bytes, adds}))
        return;
    if (is_known(r, mine, adds)) return;
    if (r.access == writes && mine.access != writes) note_plain_steps(a.address, r, mine);
    Race race{accessor(r), accessor(mine), a.address, a.bytes, adds};
    race.hand_overs = hand_overs(r, mine, a.address);
    flags &= !loses;
    if (!((r.access | mine.access) & atomic) && other.access & writes && a.bytes <= sizeof last.before)
        a.race = true, a.flags = flags, last.two_writes = race;
    else if (flags) flags_race(race, &writer == &mine ? me->publishes : published(a.address));
    else note(race);
}

// Whether nothing orders the two, which have common bytes. Atomics of device scope need no order among themselves.
[[gnu::always_inline]] inline bool concurrent(const Epoch& r, const Access& a) {
    return r.bytes & a.mine.bytes && r.time && !(r.access == counts && a.mine.access == counts) &&
           !happens_before(r, a.from);
}

void record_read(const Word& w, const Access& a) {  // of unordered readers, two plain ones are the most useful
    Epoch *const both[] = {&w.cell.read, &w.sync.read}, *to = nullptr;
    for (Epoch* r : both)
        if (!to && (!r->time || (r->rank == a.mine.rank && r->access == a.mine.access && same_block(*r)))) to = r;
    for (Epoch* r : both)
        if (!to && happens_before(*r, a.from)) to = r;
    for (Epoch* r : both)
        if (!to && r->access > a.mine.access) to = r;
    if (!to && a.mine.access <= w.sync.read.access) to = &w.sync.read;
    if (to) *to = a.mine;
    if (to == &w.sync.read) w.reads_since = now;
}

bool by_this_thread(const Epoch& r) { return r.rank == rank && same_block(r); }

// The thread that drew the last ticket may reset the word to 0, because all others have drawn theirs and are
// done. The last ticket is this thread's own atomic, or one that a barrier has ordered before it, with a fence
// since.
bool has_ticket(const Word& w, const Access& a) {
    const Epoch& r = w.sync.synced;
    if (!(r.access & atomic)) return false;
    const Time fence = std::max(last_barrier, me->synchronised ? me->sync->fenced[in_device] : 0);
    const bool own = a.mine.access & writes && by_this_thread(r) && !same_block(w.sync.other);
    return own || (happens_before(r, a.from) && fence > r.time);
}

void compare_with_cell(const Word& w, Access& a, const char* word) {
    for (const Epoch* r : {&w.cell.write, &w.sync.synced})
        if (concurrent(*r, a)) report_conflict(w, *r, a, word);
    if (concurrent(w.sync.other, a) && !has_ticket(w, a)) report_conflict(w, w.sync.other, a, word);
    if (!(a.kind & writes)) return;
    const auto when = [](const Epoch& r) { return std::pair(r.time, r.step); };
    for (Epoch* r : {&w.cell.read, &w.sync.read}) {
        if (a.compares_read && by_this_thread(*r) && r->access == reads &&
            !(by_this_thread(w.sync.synced) && when(w.sync.synced) > when(*r))) {
            if (r->bytes == a.mine.bytes) cas_compares(word, r->site);
            *r = {};
        }
        if (a.mine.access & writes && concurrent(*r, a)) report_conflict(w, *r, a, word);
    }
}

void record_access(const Word& w, const Access& a) {
    if (!(a.mine.access & writes)) return record_read(w, a);
    if (!(a.mine.access & (atomic | flag))) return void(w.cell.write = a.mine);
    if (w.sync.synced.access & atomic && !by_this_thread(w.sync.synced)) w.sync.other = w.sync.synced;
    w.sync.synced = a.mine;
    w.sync_since = now;
}

// ---- one access ------------------------------------------------------------------------------------------

void check_written(const Region& r, const Access& a, size_t first) {
    uint8_t* const flags = r.shadow->written + first;
    // An exchange may ignore the old value.
    const bool reads_value = !(a.kind & writes) || (a.kind & atomic && !(a.kind & exchanges));
    if (reads_value && memchr(flags, 0, a.bytes)) {
        write_out(*r.shadow, first / line_bytes);
        const bool under_way = copy_under_way(a.address).has_value();
        if (!under_way || !concurrent(r.shadow->words.at(first / 4).cell.write, a))  // otherwise it is a race
            note(under_way ? Mistake::under_way : Mistake::unwritten, a.address, a.bytes, accessor(a.mine));
        if (under_way) return;
    }
    if (reads_value) std::replace(flags, flags + a.bytes, 0, 2);  // it is reported once
    else memset(flags, 1, a.bytes);
}

void after_own_atomic(const char* address) {
    me->polled_at = 0;
    me->sync->atomic_word = address;
    me->updated = uint8_t(me->steps);
    me->released = me->publishes || (me->released && !me->wrote);
    me->wrote = me->publishes = false;
    me->last_atomic = now;
    release_operation_done();
}

void check_access(Region* r, char* address, size_t bytes, unsigned kind, uint64_t site, const void* expected) {
    restore_shown_value();
    complete_before(kind & writes);
    count_steps(*me);
    if (kind & writes && !(kind & atomic) && me->fresh) flag_value_stored();
    me->fresh -= me->fresh && kind == reads;
    if (kind & (writes | atomic)) me->fresh = 0;
    Access a{address, bytes, kind, {site, now, uint16_t(rank), uint8_t(me->steps), 0, uint8_t(kind & 15)}};
    me->steps += me->steps < 255;
    add_site(rank, site);
    if (!r) {
        const char* arguments = static_cast<char*>(launch->body.closure);  // the kernel's own copy of its arguments
        if (address >= arguments && address < arguments + launch->body.bytes) return;
        r = region_of(address, site);
        if (!r) {
            const Mistake what = stranger(address);
            // The C library keeps its bookkeeping there, which must stay unchanged.
            if ((what == Mistake::past_heap || what == Mistake::freed) && kind & writes && bytes <= 8)
                show_old_value(address, bytes);
            return note(what, address, bytes, accessor(a.mine));
        }
        if (r->freed || !r->shadow) return;  // it is reported as a fault
    }
    Shadow& s = *r->shadow;
    const size_t first = address - r->start, end = first + bytes;
    if (address < r->start || end > r->bytes) {
        note(Mistake::out_of_bounds, address, bytes, accessor(a.mine));
        return open_red_zone(*r, address, bytes, !(kind & writes));
    }
    // A CAS that fails only reads, so it changes nothing that others read there.
    const bool fails = expected && memcmp(address, expected, bytes) != 0;
    if (fails && !(kind & narrow)) a.mine.access &= uint8_t(15 ^ writes);
    if (expected) a.compares_read = cas_begins(address, bytes, expected, a.mine) || !fails;
    else if (me->optimistic && kind & writes) optimistic_thread_writes();
    else if (me->optimistic) optimistic_thread_reads(address, bytes, site);
    a.shared = is_shared(r);
    if (a.shared) a.from = s.since;
    if (!s.all_written) check_written(*r, a, first);
    if (!a.shared && !(kind & atomic)) record_global_access();
    if (me->lock && address != me->lock) access_in_section(address, bytes, a.mine, a.shared);
    const bool only_counts = kind == counts && !me->watched && no_synchronization();
    if (kind & (atomic | flag) || me->lock == address) note_step(address, kind, a.mine);
    if (a.writes_flag()) a.late = flag_written(address, bytes, a.shared);
    each_cell(s, first, end, a.from, [&](const Word& w, size_t word, uint8_t mask, bool own) {
        a.mine.bytes = mask & 15;
        compare_with_cell(w, a, r->start + word);
        if (own) record_access(w, a);
    });
    if (only_counts) {  // there is nothing to release or to acquire
        after_own_atomic(address);
    } else if (a.writes_flag() || kind & atomic || me->lock == address) {
        me->polled_at = 0;
        if (!(kind & stores)) acquire(address, kind & atomic ? kind : 0, a.shared);
        if (!a.may_lock(*me)) acquire_sections(*me, address);
        const Release released = current_release(kind);
        if (kind & atomic) last.released = released, after_own_atomic(address);
        else release(address, kind, a.shared, released);
        if (kind & (atomic | writes)) check_afterwards(a);
    } else if (kind & flag) {
        const Epoch& w = (bytes < 4 || first % 4 ? s.bytes.at(first) : s.words.at(first / 4)).sync.synced;
        acquire(address, 0, a.shared);
        acquire_sections(*me, address);
        flag_read(address, bytes, site, w, concurrent(w, a));
    } else {
        if (a.race) check_afterwards(a);
        me->polled_at = 0;
        if (me->optimistic && kind == reads) show_value_before_cas(address, bytes, site);
        if (kind == writes) me->written = uint8_t(me->steps);
    }
    me->watched = me->fresh || me->lock || (me->optimistic && !me->sync->reads.empty());
    if (kind & writes && !(kind & atomic)) me->wrote = true;
}

}  // namespace

void complete_pending() {
    stop_if_following();
    restore_shown_value();
    if (state.pending) complete_access();
}

bool none_pending(bool write) {
    if (yields_next || state.busy || state.something_shown || state.index_too_large || state.observed) return false;
    complete_before(write);
    return !state.pending;
}

void note(const Race& race) {  // of all races between two sites, keeps the one between the most distant threads
    if (warp::drawing)
        warp::draw_conflict(trace_part(race.before), trace_part(race.after), race.address, race.bytes);
    if (warp::drawing_launch)
        warp::draw_race(trace_part(race.before), trace_part(race.after),
                        race.equal ? "race, but of equal values, on " : "race on ",
                        element_at(race.address, race.bytes).words);
    Race& noted = races.try_emplace(std::minmax(race.before.site, race.after.site), race).first->second;
    const bool adds = noted.adds || race.adds, equal = noted.equal && race.equal;
    const auto gaps = [](const Race& r) { return r.hand_overs.empty() ? 0 : r.hand_overs[0].gaps.size(); };
    const auto hand_overs = gaps(race) > gaps(noted) ? race.hand_overs : noted.hand_overs;
    if (distance(race) > distance(noted) || (noted.equal && !equal)) noted = race;
    noted.hand_overs = hand_overs;
    noted.adds = adds;
    noted.equal = equal;
    if (!race.equal) cudacpu_hazard_found("race", race.address, &race.before, &race.after);
}

void access(const volatile void* where, size_t bytes, unsigned kind, uint64_t site, const void* expected) {
    if (!self || !runs_works || state.busy) return;
    stop_if_following();
    char* address = static_cast<char*>(const_cast<void*>(where));
    Region* r = cached_region(address, site);
    if (!r && on_own_stack(address))
        return state.index_too_large ? past_local_array(address, bytes, kind & writes) : void();
    state.index_too_large = false;
    me = &thread_state(rank);
    perturb(r, address, kind);
    // A thread that polls a volatile word waits for another thread, perhaps of another block. The warp votes in
    // between, such as __any_sync(), are not progress.
    if ((kind & (flag | writes)) == flag && ++waits_in_a_row > 100) give_way();
    if (kind & (atomic | flag) && blocks_paused && may_wait(r, address, bytes, kind) &&
        ++synced_beside_paused > 1000) {
        synced_beside_paused = 0;
        preempt_block();
    }
    stop_if_following();  // the other threads, which have had their turn
    state.busy = true;
    if (!(kind & atomic)) last_access = reinterpret_cast<void*>(site);
    if (sample_requested && r && !(kind & atomic)) take_sample(last_access, address, unsigned(bytes));
    if (kind & writes && !(kind & atomic)) ++progress;  // a spinning thread only reads
    me = &thread_state(rank);
    if (observe_access) observe_access(address, bytes, kind);
    check_access(r, address, bytes, kind, site, expected);
    state.busy = false;
}

// ---- calls from the engine -------------------------------------------------------------------------------

namespace {

void launch_begins() {
    for (const Module* m = Module::last; m; m = m->before) program_region(m->start);  // it advances the clock
    clocks_launch_begins();
    perturb_launch_begins();
    optimistic_reads_launch_begins();
}
void block_pauses() {
    complete_pending();
    clocks_block_pauses();
}
void block_goes_on() {
    clocks_block_goes_on();
    forget_sites(~uint64_t{0});
}
void block_ends() {
    complete_pending();
    report_optimistic_reads();
    this_run->ended = true;
}
void launch_ends() {
    complete_pending();
    report_flag_races();
    forget_volatile_data();
    forget_steps();
    forget_sections();
    std::vector<Race> all;
    all.reserve(races.size());
    for (const auto& [sites, race] : races) all.push_back(race);
    report(all);
    races.clear();
    state.busy = false;
    close_red_zones();
}
void copy_starts(void* to, unsigned bytes) {
    complete_pending();
    stop_if_following();
    Region* const r = find(to);
    if (r && r->shadow && !r->shadow->all_written)
        memset(r->shadow->written + (static_cast<char*>(to) - r->start), 0, bytes);
}
void copy_ends(void* to, unsigned bytes, const void* pc) {
    Region* const r = find(to);
    char* const p = static_cast<char*>(to);
    if (r && r->shadow && !r->shadow->all_written && memchr(r->shadow->written + (p - r->start), 1, bytes))
        note(Mistake::under_way, p, bytes, {uint64_t(pc), block_number, rank, 0, writes});
    access(to, bytes, writes, uint64_t(pc));
}
void at_atomic(void* address, unsigned bytes, unsigned kind, Where where, const void* expected) {
    const uint64_t site = reinterpret_cast<uint64_t>(where.file) | uint64_t(where.line) << 48;
    access(address, bytes, writes | atomic | kind, site, expected);
}

const struct Observers {
    Observers() {
        race_observer.launch_begins = launch_begins;
        race_observer.launch_ends = launch_ends;
        race_observer.block_begins = block_begins;
        race_observer.block_ends = block_ends;
        race_observer.block_pauses = block_pauses;
        race_observer.block_goes_on = block_goes_on;
        race_observer.warp_operation_passed = warp_operation_passed;
        race_observer.lanes_met = lanes_met;
        race_observer.barrier_passed = barrier_passed;
        race_observer.grid_barrier_passed = grid_barrier_passed;
        race_observer.copy_starts = copy_starts;
        race_observer.copy_ends = copy_ends;
        race_observer.at_atomic = at_atomic;
        race_observer.at_fence = at_fence;
        race_observer.grid_dependency_met = grid_dependency_met;
        region_observer = {region_added, region_fresh, region_kept, region_restored,
                           region_gone,  heap_given,   heap_taken};
        work_observer = {work_queued, work_is_secondary, work_waits, work_begins,    work_ended, work_touches,
                         work_writes, work_will_write,   host_gets,  host_must_keep, host_waits};
    }
} observers CUDACPU_LASTING;

}  // namespace

}  // namespace cudacpu::race
