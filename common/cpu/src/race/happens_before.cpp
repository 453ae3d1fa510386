// happens_before.cpp - happens-before for the race detector: which accesses precede what the running thread does
// now.
//
// One clock counts launches, blocks, barriers and fences; its value is the epoch of an access. An access of epoch t
// happens before the current operation if
//   - the same thread made it, or an earlier launch did that this launch waits for
//   - its block has passed a barrier since t
//   - both are lanes of one warp, and __syncwarp() since t leads from one to the other (shuffles order nothing)
//   - its thread, or one ordered after it, released it: a fence after t, then an atomic or a volatile write; and
//     this thread acquired it: an atomic on that word or a read of it, then a fence or a barrier
//
// Fences and atomics of block scope order threads of the same block only. Each word has vector clocks of its own,
// so a fence that is unrelated to the word hides no race.
#include "race/happens_before.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/upcalls.hpp"
#include "race/absent_lanes.hpp"
#include "race/access_check.hpp"
#include "race/critical_sections.hpp"
#include "race/hand_over.hpp"
#include "race/race.hpp"
#include "race/shadow_memory.hpp"
#include "race/stream_order.hpp"
#include "race/thread_replay.hpp"

namespace cudacpu::race {

Time now, floor_time, launch_start, kernel_start, primary_start, block_start, interval_start, last_barrier;
uint32_t run;
std::vector<Run> runs CUDACPU_LASTING;
static ThreadState first_states[1024] CUDACPU_LASTING;
ThreadState* thread_states = first_states;
Run* this_run;
ThreadState* me;

namespace {

constexpr unsigned whole_block = 1024;  // used in place of a rank
uint64_t key(uint64_t run, unsigned rank) { return run << 11 | rank; }

using Words = std::unordered_map<const void*, Release>;  // releases by the word they were made through
Words releases CUDACPU_LASTING;                          // in global memory
struct BlockState {                                      // what the threads of a block have in common
    ClockRef clock;                                      // known to all since the last barrier
    ClockRef publishes[2];  // by scope: known at fences before the last barrier, so any thread may release it
    bool synchronised;      // some thread has executed a fence or acquired something since the last barrier
    Words shared_words;     // releases in its shared memory
    // While it is paused, these variables:
    uint32_t run;
    Time block_start, last_barrier;
    ThreadState* thread_states;
};
BlockState this_block CUDACPU_LASTING;
std::map<uint64_t, BlockState> paused CUDACPU_LASTING;  // by block number
Time grid_barrier;
// Of a kernel that need not wait for its primary: the first block of this kernel; what a thread knows after
// cudaGridDependencySynchronize(); whether a thread has called that.
uint32_t first_run;
ClockRef after_primary CUDACPU_LASTING;
bool has_waited;
struct Interval {  // an interval of the clock, which belongs to one block
    Time start;
    uint32_t run;
};
std::vector<Interval> intervals CUDACPU_LASTING;
std::vector<ThreadState*> spare_states CUDACPU_LASTING;

void begin_interval() {
    interval_start = ++now;
    intervals.push_back({now, run});
    this_run = &runs[run];
}

bool covers(const VectorClock& a, const VectorClock& b) {
    if (b.prefix > a.prefix) return false;
    auto i = a.entries.begin();
    for (const auto& e : b.entries) {
        if (e.who >> 11 < a.prefix) continue;
        while (i != a.entries.end() && i->who < e.who) ++i;
        if (i == a.entries.end() || i->who != e.who || i->time < e.time) return false;
    }
    return true;
}

ClockRef join(std::vector<ClockRef> clocks) {
    std::erase(clocks, nullptr);
    if (clocks.size() < 2) return clocks.empty() ? nullptr : clocks[0];
    const auto all = std::make_shared<VectorClock>();
    auto& e = all->entries;
    for (const ClockRef& c : clocks) {
        all->prefix = std::max(all->prefix, c->prefix);
        const ptrdiff_t before = ptrdiff_t(e.size());
        e.insert(e.end(), c->entries.begin(), c->entries.end());
        std::inplace_merge(e.begin(), e.begin() + before, e.end(), [](const auto& a, const auto& b) {
            return a.who != b.who ? a.who < b.who : a.time > b.time;
        });
    }
    e.erase(std::unique(e.begin(), e.end(), [](const auto& a, const auto& b) { return a.who == b.who; }), e.end());
    std::erase_if(e, [&](const auto& a) { return a.who >> 11 < all->prefix; });
    return all;
}
ClockRef join(const ClockRef& a, const ClockRef& b) {
    if (!b || a == b) return a;
    if (!a || covers(*b, *a)) return b;
    if (covers(*a, *b)) return a;
    return join(std::vector{a, b});
}

Time time_of(const VectorClock& c, uint64_t who) {
    const auto i = std::lower_bound(c.entries.begin(), c.entries.end(), who,
                                    [](const VectorClock::Entry& e, uint64_t w) { return e.who < w; });
    return i != c.entries.end() && i->who == who ? i->time : 0;
}

// Replaces the entries of blocks whose accesses are all known by a prefix, so a vector clock stays short however
// many blocks there are.
void compact(VectorClock& c) {
    for (; c.prefix < run; ++c.prefix) {
        const Run& r = runs[c.prefix];
        const Time all = time_of(c, key(c.prefix, whole_block));
        const Time of_last = std::max(all, time_of(c, key(c.prefix, r.last_rank)));
        if (!r.ended || (r.last && r.last >= of_last) || (r.last_of_others && r.last_of_others >= all)) break;
    }
    std::erase_if(c.entries, [&](const VectorClock::Entry& e) { return e.who >> 11 < c.prefix; });
}

const ClockRef& current_clock() { return me->sync->clock ? me->sync->clock : this_block.clock; }

// All that the running thread knows, as one clock.
ClockRef knowledge() {
    const auto own = std::make_shared<VectorClock>();
    auto& e = own->entries;
    for (unsigned i = 0; me->has_lanes && i < 32; ++i)
        if (me->sync->lanes[i] > last_barrier && i != rank % 32)
            e.push_back({key(run, rank / 32 * 32 + i), me->sync->lanes[i]});
    e.push_back({key(run, rank), now});
    if (last_barrier > block_start) e.push_back({key(run, whole_block), last_barrier});
    std::sort(e.begin(), e.end(), [](const auto& a, const auto& b) { return a.who < b.who; });
    const auto all = std::make_shared<VectorClock>(*join(current_clock(), own));
    compact(*all);
    return all;
}

void synchronises(ThreadState& m) { m.synchronised = this_block.synchronised = true; }

void join(ThreadState& m, const ClockRef& news) {
    if (!news) return;
    synchronises(m);
    m.sync->clock = join(m.sync->clock ? m.sync->clock : this_block.clock, news);
}

ClockRef acquire_all(ThreadState& m) {  // a barrier is also a fence
    ClockRef all = join(join(m.sync->clock, m.sync->pending[in_block]), m.sync->pending[in_device]);
    m.sync->pending[in_block] = m.sync->pending[in_device] = nullptr;
    return all;
}

}  // namespace

Time VectorClock::of(uint32_t r, unsigned thread) const {
    if (r < prefix) return ~0u;
    return std::max(time_of(*this, key(r, thread)), time_of(*this, key(r, whole_block)));
}

void reset_sync(ThreadState& m) {
    m.synchronised = false;
    m.sync->clock = nullptr;
    for (Scope s : {in_block, in_device})
        m.sync->fenced[s] = 0, m.sync->pending[s] = m.sync->publishes[s] = nullptr;
}

bool happens_before_by_clock(const Epoch& r) {
    const ClockRef& known = current_clock();
    return known && r.time < known->of(run, r.rank);
}

bool lacks_fence(const Epoch& r) {
    return me->synchronised && std::ranges::any_of(me->sync->pending, [&](const ClockRef& released) {
               return released && r.time < released->of(run_at(r.time), r.rank);
           });
}

uint32_t run_at(Time t) {  // there are many intervals only if blocks wait for each other
    const auto next = std::upper_bound(intervals.begin(), intervals.end(), t,
                                       [](Time a, const Interval& p) { return a < p.start; });
    return next == intervals.begin() ? 0 : next[-1].run;
}

bool happens_before_elsewhere(const Epoch& r) {
    if (r.time < launch_start) return before_this_launch(r);
    if (r.time < grid_barrier) return true;
    const ClockRef& known = current_clock();
    return known && r.time < known->of(run_at(r.time), r.rank);
}

ThreadState* state_of(const Epoch& r) {
    const uint32_t its_run = run_at(r.time);
    if (its_run == run) return &thread_states[r.rank];
    const auto p = paused.find(runs[its_run].block);
    return its_run < first_run || p == paused.end() ? nullptr : &p->second.thread_states[r.rank];
}

uint64_t block_of(const Epoch& r) { return runs.empty() ? 0 : runs[run_at(r.time)].block; }
Accessor accessor(const Epoch& r) {  // an atomic counts as a write, even if it stored nothing this time
    return {r.site, block_of(r), r.rank, r.step, uint8_t(r.access | (r.access & atomic ? writes : 0))};
}

void acquire(const char* address, unsigned access, bool shared, unsigned fenced) {
    const Words& words = shared ? this_block.shared_words : releases;
    if (const auto w = words.find(address); w != words.end())
        acquire(*me, {w->second.block, access & narrow ? nullptr : w->second.device, w->second.run, 0}, fenced);
}

void acquire(ThreadState& m, const Release& released, unsigned fenced) {
    const auto join_later = [&](Scope s, const ClockRef& from) {
        ClockRef& to = m.sync->pending[s];
        if (fenced > unsigned(s)) return join(m, from);
        if (!from || to == from) return;
        to = join(to, from);
        synchronises(m);
    };
    if (released.run == run) join_later(in_block, released.block);
    join_later(in_device, released.device);
}

static bool no_fence() { return !me->synchronised && !this_block.publishes[in_block]; }

bool nothing_was_released() {
    return releases.empty() && this_block.shared_words.empty() && !sections_have_released();
}
bool no_synchronization() { return nothing_was_released() && no_fence(); }

Release current_release(unsigned access) {
    if (no_fence()) return {nullptr, nullptr, run, rank};
    const auto of = [](Scope s) { return join(me->sync->publishes[s], this_block.publishes[s]); };
    return {of(in_block), access & narrow ? nullptr : of(in_device), run, rank};
}

void release(const char* address, unsigned access, bool shared, const Release& released) {
    Words& words = shared ? this_block.shared_words : releases;
    const bool is_empty = !released.block && !released.device;
    if (is_empty && (words.empty() || (access & (atomic | stores)) == atomic)) return;
    Release& word = words[address];
    const bool same_block = word.run == released.run;
    // Earlier releases stay valid if the access also reads, or if the same thread made them by an operation.
    const bool both = access & atomic && (!(access & stores) || (same_block && word.rank == released.rank));
    if (!both || !same_block) word.block = nullptr;
    if (!both) word.device = nullptr;
    if (!is_empty) word.run = released.run, word.rank = released.rank;
    word.block = join(word.block, released.block);
    word.device = join(word.device, released.device);
}

void forget_releases(const char* start, size_t bytes) {
    for (const char* p = start; p < start + bytes && !releases.empty(); ++p) releases.erase(p);
}

void clocks_launch_begins() {
    const bool secondary = is_secondary();
    primary_start = std::exchange(kernel_start, ++now);
    in_vain = until_leader = 0;
    grid_barrier = 0;
    if (secondary) {
        const auto end = std::make_shared<VectorClock>();
        if (has_waited) end->prefix = uint32_t(runs.size());
        for (uint32_t r = first_run; !has_waited && r < runs.size(); ++r)
            end->entries.push_back({key(r, whole_block), now});
        after_primary = end;
        floor_time = std::min(floor_time, launch_beside());
    } else {
        launch_start = now;
        floor_time = std::min(launch_start, launch_beside());
        after_primary = nullptr;
        runs.clear();
        intervals.clear();
        releases.clear();
    }
    first_run = uint32_t(runs.size());
    has_waited = !secondary;
    // A failed launch may have left some entries, and the next launch may have larger blocks.
    for (auto& [number, p] : paused) spare_states.push_back(p.thread_states);
    spare_states.push_back(std::exchange(thread_states, first_states));
    for (ThreadState* m : spare_states)
        if (m != first_states) delete[] m;
    paused.clear();
    spare_states.clear();
}

void block_begins() {
    run = uint32_t(runs.size());
    runs.push_back({block_number});
    begin_interval();
    block_start = last_barrier = now;
    this_block = {};
    forget_sites(0);
}

void clocks_block_pauses() {
    this_block.run = run, this_block.block_start = block_start, this_block.last_barrier = last_barrier;
    this_block.thread_states = thread_states;
    paused[block_number] = std::move(this_block);
    if (spare_states.empty()) spare_states.push_back(new ThreadState[running_block.size]);
    thread_states = spare_states.back();
    spare_states.pop_back();
}
void clocks_block_goes_on() {
    spare_states.push_back(thread_states);
    this_block = std::move(paused.extract(block_number).mapped());
    run = this_block.run, block_start = this_block.block_start, last_barrier = this_block.last_barrier;
    thread_states = this_block.thread_states;
    begin_interval();
}

void grid_barrier_passed() {
    complete_pending();
    grid_barrier = ++now;
    if (floor_time >= launch_start) floor_time = now;
    sections_at_grid_barrier();
}

void barrier_passed() {
    complete_pending();
    if (std::exchange(this_block.synchronised, false)) {
        std::vector<ClockRef> clocks{this_block.clock},
            published[2]{{this_block.publishes[in_block]}, {this_block.publishes[in_device]}};
        for (ThreadState* m = thread_states; m < thread_states + running_block.size; ++m) {
            if (m->block != block_start || !m->synchronised) continue;
            clocks.push_back(acquire_all(*m));
            m->sync->clock = nullptr;
            for (Scope s : {in_block, in_device})
                if (m->sync->fenced[s] >= last_barrier) published[s].push_back(m->sync->publishes[s]);
        }
        this_block.clock = join(clocks);
        for (Scope s : {in_block, in_device}) this_block.publishes[s] = join(published[s]);
    }
    last_barrier = ++now;
    note_meeting(all_warps);
    forget_sites(0);
    sections_at_barrier();
}

void lanes_met(unsigned first, unsigned lanes) {
    stop_if_following();
    ++now;
    note_meeting(first / 32);
    Time all[32] = {};
    ClockRef known, fenced[2];  // fenced: any of these lanes may release it
    const unsigned end = std::min(first + 32, running_block.size);
    for (unsigned i = first; i < end; ++i) {
        if (!(lanes >> i % 32 & 1)) continue;
        section_meets(i);
        ThreadState& m = thread_state(i);
        if (m.synchronised) {
            known = join(known, acquire_all(m));
            for (Scope s : {in_block, in_device}) fenced[s] = join(fenced[s], m.sync->publishes[s]);
        }
        for (unsigned j = 0; m.has_lanes && j < 32; ++j) all[j] = std::max(all[j], m.sync->lanes[j]);
    }
    for (unsigned i = 0; i < 32; ++i)
        if (lanes >> i & 1) all[i] = now;
    for (unsigned i = first; i < end; ++i) {
        if (!(lanes >> i % 32 & 1)) continue;
        ThreadState& m = thread_states[i];
        memcpy(m.sync->lanes, all, sizeof all);
        m.has_lanes = true;
        m.steps = m.written = m.updated = 0;
        join(m, known);
        for (Scope s : {in_block, in_device})
            if (fenced[s]) m.sync->publishes[s] = fenced[s], m.synchronised = true;
    }
}

void grid_dependency_met() {
    if (!self || !after_primary) return;
    complete_pending();
    has_waited = true;
    join(thread_state(rank), after_primary);
}

bool waits_for_primary() {
    const ClockRef& known = current_clock();
    return known && known->of(first_run - 1, 0);
}

void at_fence(bool block_only, Fence kind, const void* word) {
    if (!self) return;
    complete_pending();
    me = &thread_state(rank);
    SyncState& s = *me->sync;
    synchronises(*me);
    ++now;
    const auto* const at = static_cast<const char*>(word);
    if (kind == Fence::of_acquire) acquire(at, block_only ? narrow : 0, is_shared(find(at)), block_only ? 1 : 2);
    if (kind == Fence::of_release) s.in_release = true, std::ranges::copy(s.publishes, s.published_before);
    for (Scope scope : {in_block, in_device}) {
        if (scope == in_device && block_only) break;
        if (kind == Fence::full) join(*me, std::exchange(s.pending[scope], nullptr));
        s.fenced[scope] = now;
    }
    me->written = 0;
    sections_fenced(rank, block_only ? in_block : in_device);
    if (kind == Fence::of_acquire) return;
    s.publishes[in_block] = knowledge();
    if (!block_only) s.publishes[in_device] = s.publishes[in_block];
    me->publishes = me->wrote || me->released || last_barrier > me->last_atomic;
}

void release_operation_done() {
    if (std::exchange(me->sync->in_release, false))
        std::ranges::copy(me->sync->published_before, me->sync->publishes);
}

}  // namespace cudacpu::race
