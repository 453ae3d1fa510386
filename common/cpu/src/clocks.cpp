// clocks.cpp - the hazard build: which accesses come before what the running thread does now.
//
// One clock counts launches, blocks, barriers and fences. An access at time t comes before what a thread does now
// if
//   - it is the thread's own, or of an earlier launch that this one waits for
//   - their block has passed a barrier since t
//   - both are lanes of one warp, and __syncwarp() since t leads from one to the other (a shuffle orders nothing)
//   - its thread, or one that knew of it, has had a fence after t and then done an atomic, or written a volatile
//   word,
//     where this thread has done an atomic, or read the word, and then had a fence or a barrier
// Fences and atomics of a block's scope lead to threads of the same block only. Each word has clocks of its own, so
// that no race is hidden by a fence that has nothing to do with it.
#include <algorithm>
#include <unordered_map>

#include "detect.hpp"

namespace cudacpu::hazards {

Time now, floor_time, launch_start, block_start, last_barrier;
Known block_known CUDACPU_LASTING;
uint32_t run;
std::vector<Run> runs CUDACPU_LASTING;
Mind minds[1024] CUDACPU_LASTING;
Run* this_run;
Mind* me;

namespace {

constexpr unsigned whole = 1024;  // in place of a rank
uint64_t key(uint64_t run, unsigned rank) { return run << 11 | rank; }

struct Word {  // what atomics and volatile writes have handed on here
    Known block, device;
    uint32_t run;  // of the block whose scope it is
};
std::unordered_map<const void*, Word> words CUDACPU_LASTING;
std::vector<unsigned> knowers CUDACPU_LASTING;  // threads with clocks of their own since the last barrier
std::vector<unsigned> fencers CUDACPU_LASTING;  // threads that had a fence since then
Known block_fenced[2] CUDACPU_LASTING;  // what fences before the last barrier covered: a thread may hand it on for
                                        // all

bool covers(const Clock& a, const Clock& b) {
    if (b.prefix > a.prefix) return false;
    auto i = a.entries.begin();
    for (const auto& e : b.entries) {
        if (e.who >> 11 < a.prefix) continue;
        while (i != a.entries.end() && i->who < e.who) ++i;
        if (i == a.entries.end() || i->who != e.who || i->time < e.time) return false;
    }
    return true;
}

Known join(const Known& a, const Known& b) {
    if (!b || a == b) return a;
    if (!a || covers(*b, *a)) return b;
    if (covers(*a, *b)) return a;
    const auto all = std::make_shared<Clock>();
    all->prefix = std::max(a->prefix, b->prefix);
    auto add = [&](const Clock::Entry& e) {
        if (e.who >> 11 < all->prefix) return;
        if (all->entries.empty() || all->entries.back().who != e.who) all->entries.push_back(e);
        else all->entries.back().time = std::max(all->entries.back().time, e.time);
    };
    auto i = a->entries.begin(), j = b->entries.begin();
    while (i != a->entries.end() || j != b->entries.end())
        add(j == b->entries.end() || (i != a->entries.end() && i->who < j->who) ? *i++ : *j++);
    return all;
}

Time time_of(const Clock& c, uint64_t who) {
    const auto i = std::lower_bound(c.entries.begin(), c.entries.end(), who,
                                    [](const Clock::Entry& e, uint64_t w) { return e.who < w; });
    return i != c.entries.end() && i->who == who ? i->time : 0;
}

// Blocks of which all is known need no entries: so a clock stays short, however many blocks there are.
void compact(Clock& c) {
    for (; c.prefix < run; ++c.prefix) {
        const Run& r = runs[c.prefix];
        const Time all = time_of(c, key(c.prefix, whole));
        const Time of_last = std::max(all, time_of(c, key(c.prefix, r.last_rank)));
        if ((r.last && r.last >= of_last) || (r.last_of_others && r.last_of_others >= all)) break;
    }
    const auto known = [&](const Clock::Entry& e) { return e.who >> 11 < c.prefix; };
    c.entries.erase(std::remove_if(c.entries.begin(), c.entries.end(), known), c.entries.end());
}

const Known& made(Fence& f, unsigned thread) {
    if (f.made || !f.time) return f.made;
    std::vector<Clock::Entry> own;
    if (f.barrier > block_start) own.push_back({key(run, whole), f.barrier});
    for (unsigned i = 0; f.has_lanes && i < 32; ++i)
        if (f.lanes[i] > f.barrier && i != thread % 32) own.push_back({key(run, thread / 32 * 32 + i), f.lanes[i]});
    own.push_back({key(run, thread), f.time});
    std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.who < b.who; });
    const auto mine = std::make_shared<Clock>();
    mine->entries = std::move(own);
    const auto all = std::make_shared<Clock>(*join(f.known, mine));
    compact(*all);
    return f.made = all;
}

const Known& known_now() { return me->known ? me->known : block_known; }

void learn(Mind& m, const Known& news) {
    if (!news) return;
    m.synchronised = true;
    if (!m.knows) m.knows = true, knowers.push_back(unsigned(&m - minds));
    m.known = join(m.known ? m.known : block_known, news);
}

void gather_fences() {
    for (int s : {in_block, in_device}) {
        const auto all = std::make_shared<Clock>();
        for (unsigned i : fencers)
            if (const Known& k = made(minds[i].fence[s], i)) {
                all->prefix = std::max(all->prefix, k->prefix);
                all->entries.insert(all->entries.end(), k->entries.begin(), k->entries.end());
            }
        auto& e = all->entries;
        std::sort(e.begin(), e.end(),
                  [](const auto& a, const auto& b) { return a.who != b.who ? a.who < b.who : a.time > b.time; });
        e.erase(std::unique(e.begin(), e.end(), [](const auto& a, const auto& b) { return a.who == b.who; }),
                e.end());
        if (all->prefix || !e.empty()) block_fenced[s] = join(block_fenced[s], all);
    }
    fencers.clear();
}

Known take_all(Mind& m) {  // a barrier is a fence, too
    Known all = join(join(m.known, m.pending[in_block]), m.pending[in_device]);
    m.pending[in_block] = m.pending[in_device] = nullptr;
    return all;
}

}  // namespace

Time Clock::of(uint32_t r, unsigned thread) const {
    if (r < prefix) return ~0u;
    return std::max(time_of(*this, key(r, thread)), time_of(*this, key(r, whole)));
}

void reset(Mind& m) {
    m.block = m.counted = block_start;
    m.steps = m.seen_writes = 0;
    m.has_lanes = m.knows = m.records = m.wrote = m.publishes = false;
    m.polled_at = 0;
    m.seen = m.lock = nullptr;
    m.last_atomic = 0;
    if (!m.synchronised) return;
    m.synchronised = false;
    m.known = m.pending[in_block] = m.pending[in_device] = nullptr;
    m.fence[in_block] = m.fence[in_device] = {};
}

bool ordered_by_fences(const Record& r) {
    const Known& known = known_now();
    return known && r.time < known->of(run, r.rank);
}

bool ordered_elsewhere(const Record& r) {
    if (r.time < launch_start) return before_this_launch(r);
    const Known& known = known_now();
    if (!known) return false;
    const auto of =
        std::upper_bound(runs.begin(), runs.end(), r.time, [](Time t, const Run& b) { return t < b.start; });
    return r.time < known->of(uint32_t(of - runs.begin() - 1), r.rank);
}

uint64_t block_of(const Record& r) {
    const auto of =
        std::upper_bound(runs.begin(), runs.end(), r.time, [](Time t, const Run& b) { return t < b.start; });
    return of == runs.begin() ? 0 : of[-1].block;
}
Party party(const Record& r) { return {r.site, block_of(r), r.rank, r.step, r.access}; }

void take(const char* address, unsigned access) {
    if (words.empty()) return;
    const auto w = words.find(address);
    if (w == words.end()) return;
    auto learn_later = [](Known& to, const Known& from) {
        if (!from || to == from) return;
        to = join(to, from);
        me->synchronised = true;
        if (!me->knows) me->knows = true, knowers.push_back(rank);
    };
    if (w->second.run == run) learn_later(me->pending[in_block], w->second.block);
    if (!(access & narrow)) learn_later(me->pending[in_device], w->second.device);
}

Gift gift(unsigned access) {
    const auto of = [](Scope s) { return join(made(me->fence[s], rank), block_fenced[s]); };
    return {of(in_block), access & narrow ? nullptr : of(in_device)};
}

void give(const char* address, unsigned access, const Gift& gift) {
    const bool both = access & atomic;  // it reads, too: what others have handed on stays
    if (!gift.block && !gift.device && (both || words.empty())) return;
    Word& word = words[address];
    if (!both || word.run != run) word.block = nullptr;
    if (!both) word.device = nullptr;
    word.run = run;
    word.block = join(word.block, gift.block);
    word.device = join(word.device, gift.device);
}

void clocks_launch_begins() {
    launch_start = ++now;
    floor_time = std::min(launch_start, launch_beside());
    runs.clear();
    words.clear();
}

void clocks_block_begins() {
    run = uint32_t(runs.size());
    block_start = last_barrier = ++now;
    runs.push_back({now, block_number});
    block_known = block_fenced[in_block] = block_fenced[in_device] = nullptr;
    knowers.clear();
    fencers.clear();
    this_run = &runs.back();
}

void barrier_passed() {
    settle_all();
    last_barrier = ++now;
    sections_at_barrier();
    if (!fencers.empty()) gather_fences();
    if (knowers.empty()) return;
    Known all = block_known;
    for (unsigned i : knowers) {
        all = join(all, take_all(minds[i]));
        minds[i].known = nullptr;
        minds[i].knows = false;
    }
    knowers.clear();
    block_known = all;
}

void lanes_met(unsigned first, unsigned lanes) {
    ++now;
    Time all[32] = {};
    Known known;
    const unsigned last = std::min(first + 32, running_block.size);
    for (unsigned i = first; i < last; ++i) {
        if (!(lanes >> i % 32 & 1)) continue;
        Mind& m = mind(i);
        if (m.knows) known = join(known, take_all(m));
        for (unsigned j = 0; m.has_lanes && j < 32; ++j) all[j] = std::max(all[j], m.lanes[j]);
    }
    for (unsigned i = 0; i < 32; ++i)
        if (lanes >> i & 1) all[i] = now;
    for (unsigned i = first; i < last; ++i) {
        if (!(lanes >> i % 32 & 1)) continue;
        Mind& m = minds[i];
        memcpy(m.lanes, all, sizeof all);
        m.has_lanes = true;
        m.steps = 0;
        learn(m, known);
    }
}

void at_fence(bool block_only) {
    if (!self) return;
    settle_all();
    me = &mind(rank);
    if (me->fence[in_block].time < last_barrier) fencers.push_back(rank);
    Known& known = me->known;
    learn(*me, me->pending[in_block]);
    me->pending[in_block] = nullptr;
    if (!block_only) learn(*me, std::exchange(me->pending[in_device], nullptr));
    me->synchronised = true;
    Fence& f = me->fence[in_block];
    f.time = ++now;
    f.barrier = last_barrier;
    f.has_lanes = me->has_lanes;
    if (f.has_lanes) memcpy(f.lanes, me->lanes, sizeof f.lanes);
    f.known = known ? known : block_known;
    f.made = nullptr;
    if (!block_only) me->fence[in_device] = f;
    me->publishes = me->wrote || last_barrier > me->last_atomic;
    sections_fenced(rank, block_only ? in_block : in_device);
}

}  // namespace cudacpu::hazards
