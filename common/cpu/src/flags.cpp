// flags.cpp - the race detector's rules for spin flags, seqlocks and critical sections.
//
// Two unordered volatile accesses are a race if the value changes, unless the word is a flag. A word is a flag if a
// thread polls it, if the writer executes a fence between its earlier writes and this one, or if all writers store
// the same value and readers look again. Blocks run one after the other, so most readers find the flag already set.
// The detector may therefore show a thread the previous value, as a GPU may. A thread that waits looks again; a
// thread that does not has used the word as data.
//
// The last thread to enter a critical section is ordered after all earlier ones. So in the order that happened to
// run, the first or the last section may lack a fence without harm. Accesses under a lock are therefore compared in
// both orders.
#include <map>
#include <unordered_map>

#include "advice.hpp"
#include "detect.hpp"

namespace cudacpu::hazards {

namespace {

struct Flag {
    unsigned writes = 0;
    bool published = false, polled = false, looked_again = false, unequal = false;
    bool fenced = false, begins = false;  // written after a fence; by a thread that had written nothing before
    uint64_t before = 0, value = 0;       // of the last write
};
std::unordered_map<const char*, Flag> flags CUDACPU_LASTING;
std::set<uint64_t> waiting_sites CUDACPU_LASTING;
std::map<std::pair<uint64_t, uint64_t>, std::vector<VolatilePair>> pairs CUDACPU_LASTING;  // by their two sites
std::unordered_map<uint64_t, unsigned> shown_old CUDACPU_LASTING;  // number of times, by site
struct Shown {
    char* address;
    size_t bytes;
    uint64_t value;
} shown;  // the previous value, shown in place of the current one

struct Touched {  // an access under a lock
    const char* lock;
    Record record;
    uint32_t run;
    bool of_block;  // the lock or the data is in shared memory, so no other block can access it
    unsigned entered,
        left;  // whether a fence separates it from the acquisition or the release of the lock; 2: a fence of device
               // scope
};
// If two sections have no conflicting accesses, either could have come first, so the lock does not order what
// follows them. A thread therefore acquires what a section released only when it touches, under the same lock, what
// that section touched. This holds only for sections in which the thread is alone: it makes plain accesses and
// synchronizes with no other.
struct Past {
    std::vector<std::pair<const char*, bool>> touched;  // true: it was written
    Gift gift;
};
using Pasts = std::vector<std::shared_ptr<const Past>>;
struct Section {
    unsigned entered = 0;
    std::vector<std::pair<const char*, Touched>> touched;
    bool alone = true;
    Pasts pasts;  // earlier sections of this lock whose releases it has not acquired
};
std::map<unsigned, Section> sections CUDACPU_LASTING;                             // by thread of the running block
std::map<uint64_t, std::map<unsigned, Section>> paused_sections CUDACPU_LASTING;  // by block
std::unordered_map<const char*, std::vector<Touched>> touched_before CUDACPU_LASTING;

// A thread's volatile and atomic accesses, to recognize words that a version number guards (a seqlock).
struct Step {
    const char* address;
    bool read, written;
    Time barrier, fenced[2];  // the last barrier, and the last fence of each scope
};
using Steps = std::vector<Step>;
constexpr size_t most_steps = 512, most_threads = 256;
std::unordered_map<uint64_t, Steps> steps_of CUDACPU_LASTING;  // by block and rank
uint64_t thread_of(uint64_t block, unsigned rank) { return block << 10 | rank; }

// Finds the two accesses to the version that enclose step i; -1: there are none.
std::pair<ptrdiff_t, ptrdiff_t> around(const Steps& all, ptrdiff_t i, const char* version, bool Step::*does) {
    const auto is = [&](ptrdiff_t k) {
        return all[k].address == version && all[k].*does && all[k].barrier == all[i].barrier;
    };
    ptrdiff_t before = i - 1, after = i + 1;
    while (before >= 0 && !is(before)) --before;
    while (after < ptrdiff_t(all.size()) && !is(after)) ++after;
    return {before, after < ptrdiff_t(all.size()) ? after : -1};
}

// A seqlock: the version is written before and after several words, and read before and after them, with a fence in
// between each time. If one of these is missing, a reader may get a mix of old and new words.
enum class Version { none, intact, torn };
Version version_of(const Race& race) {
    const bool before_writes = race.before.access & writes;
    const Party &writer = before_writes ? race.before : race.after,
                &reader = before_writes ? race.after : race.before;
    const Steps &written = steps_of[thread_of(writer.block, writer.rank)],
                &read = steps_of[thread_of(reader.block, reader.rank)];
    const Scope scope = writer.block == reader.block ? in_block : in_device;
    const auto parted = [&](const Steps& all, ptrdiff_t a, ptrdiff_t b) {
        return all[a].fenced[scope] != all[b].fenced[scope];
    };
    Version found = Version::none;
    std::set<const char*> tried{race.address};
    for (const Step& version : read) {
        if (!tried.insert(version.address).second) continue;
        bool torn = false, encloses = false, several = false, looks = false, looks_again = false;
        bool in_rounds = false, twice = true;  // twice: written twice in each round
        for (ptrdiff_t i = 1; i < ptrdiff_t(written.size()); ++i) {
            const auto [before, after] = around(written, i, version.address, &Step::written);
            if (written[i].address != race.address || !written[i].written || before < 0 || after < 0) continue;
            ptrdiff_t previous = i - 1;
            while (!written[previous].written) --previous;
            encloses = true;
            if (const auto next = around(written, i, race.address, &Step::written).second; next >= 0) {
                const auto again = around(written, after, version.address, &Step::written).second;
                in_rounds = true;
                twice &= again >= 0 && again < next;
            }
            several |= parted(written, before, i) && !parted(written, previous, i);  // otherwise it may be a flag
            torn |= !parted(written, before, i) || !parted(written, i, after);
        }
        for (ptrdiff_t i = 0; i < ptrdiff_t(read.size()); ++i) {
            const auto [before, after] = around(read, i, version.address, &Step::read);
            if (read[i].address != race.address || !read[i].read || before < 0) continue;
            looks = true;
            looks_again |= after >= 0;  // a reader that found an odd version need not look again
            torn |= !parted(read, before, i) || (after >= 0 && !parted(read, i, after));
        }
        torn |= !looks_again && read.size() < most_steps;
        if (encloses && looks && !torn) return Version::intact;
        if (several && looks && in_rounds && twice) found = Version::torn;
    }
    return found;
}

std::unordered_map<const char*, Pasts> past_sections CUDACPU_LASTING;  // by lock

void take_pasts(Mind& m, Section& s) {
    for (const auto& p : std::exchange(s.pasts, {})) take_gift(m, p->gift, s.entered);
}
void meets_others(unsigned thread, Section& s) {
    s.alone = false;
    take_pasts(minds[thread], s);
}

void close_section(const char* lock, Section& s) {
    for (auto& [address, t] : s.touched) {
        auto& others = touched_before[address];
        for (const Touched& o : others) {
            const bool same_block = o.run == t.run;
            const unsigned needed = same_block ? 1 : 2;
            if (o.lock != lock || (!same_block && t.of_block) ||
                (same_block && (o.record.rank == t.record.rank || o.record.time < last_barrier)) ||
                !((o.record.access | t.record.access) & writes) || (o.record.access | t.record.access) & atomic)
                continue;
            if (std::min({o.entered, o.left, t.entered, t.left}) < needed)
                note({party(o.record), party(t.record), const_cast<char*>(address), 4, false});
        }
        if (others.size() < 8) others.push_back(t);
    }
}

}  // namespace

void flag_read(char* address, size_t bytes, uint64_t site, const Record& write, bool unordered) {
    // `while (wants[other] && *turn == other)` polls two words alternately.
    const bool in_turn =
        int64_t(me->polled_at) > 0 && me->more->polled_before == site && me->more->seen_before == address;
    const bool in_place = me->more->polled >= last_barrier;  // otherwise it may look once per iteration
    me->more->polled = now;
    if (in_place && (in_turn || (me->polled_at == site && me->seen == address)))
        waiting_sites.insert(site), flags[address].polled = true;
    me->more->polled_before = me->polled_at;
    me->more->seen_before = me->seen;
    const auto f = flags.find(address);
    const unsigned all = f == flags.end() ? 0 : f->second.writes;
    if (me->seen == address && f != flags.end()) f->second.looked_again = true;
    const bool news = me->seen != address || me->seen_writes != all;
    me->seen = address;
    me->seen_writes = all;
    me->polled_at = site;
    if (!all || !news || !unordered || bytes > 8 || f->second.published || !(write.access & flag) ||
        waiting_sites.count(site) || ++shown_old[site] > 16)
        return;
    show(address, bytes);
    memcpy(address, &f->second.before, bytes);
    --me->seen_writes;
}

void note_step(const char* address, unsigned kind) {
    const uint64_t thread = thread_of(block_number, rank);
    const auto known = steps_of.find(thread);
    if (known == steps_of.end() && steps_of.size() == most_threads) return;
    Steps& all = known == steps_of.end() ? steps_of[thread] : known->second;
    if (all.empty() && me->last_atomic >= last_barrier)  // earlier releases do not exist, so it had no fence
        all.push_back({me->more->quick_atomic, true, true, last_barrier, {}});
    const auto fenced = [](Scope s) { return me->synchronised ? me->more->fence[s].time : 0; };
    if (all.size() < most_steps)
        all.push_back({address,
                       !(kind & writes) || kind & atomic,
                       bool(kind & writes),
                       last_barrier,
                       {fenced(in_block), fenced(in_device)}});
}

void show(char* address, size_t bytes) {
    restore_flag();
    shown = {address, bytes, value_at(address, bytes)};
    state.something_shown = true;
}

void restore_flag() {
    if (!state.something_shown) return;
    memcpy(shown.address, &shown.value, shown.bytes);
    state.something_shown = false;
}

bool flag_written(char* address, size_t bytes) {
    Flag& f = flags[address];
    const bool late = me->seen == address && me->seen_writes != f.writes;
    ++f.writes;
    f.before = value_at(address, bytes);
    f.published = me->publishes;
    f.fenced |= f.published;
    f.begins |= !me->wrote;
    me->seen = nullptr;
    return late;
}

void flag_settled(const char* address, size_t bytes) {
    Flag& f = flags[address];
    const uint64_t value = value_at(address, bytes);
    f.unequal |= f.writes > 1 && value != f.value;
    f.value = value;
}

bool published(const char* address) { return flags[address].published; }

void flags_race(const VolatilePair& pair) {
    auto& all = pairs[std::minmax(pair.race.before.site, pair.race.after.site)];
    if (all.size() < 64) all.push_back(pair);
}

void flags_of_launch(bool begins) {
    if (!begins)
        for (const auto& [sites, all] : pairs)
            for (const auto& [race, shared, fenced] : all) {
                const Party& reader = race.before.access & writes ? race.after : race.before;
                const Flag& f = flags[race.address];
                const bool waited_for = f.polled || waiting_sites.count(reader.site) ||
                                        of_waiting_loop(race.before.site) || of_waiting_loop(race.after.site);
                const bool is_flag = fenced || (f.fenced && f.begins) || waited_for;
                const Version version = version_of(race);
                const bool looks_again = f.looked_again || ends_loop(reader.site);
                if (version == Version::torn ||
                    (version == Version::none && !is_flag && !(looks_again && !f.unequal && !shared)))
                    note(race);
            }
    flags.clear();
    pairs.clear();
    waiting_sites.clear();
    shown_old.clear();
    sections.clear();
    paused_sections.clear();
    touched_before.clear();
    past_sections.clear();
    steps_of.clear();
}

void lock_changed(Mind& m, const char* address, bool taken, bool given_back) {
    const unsigned thread = unsigned(&m - minds);
    if (given_back) close_section(address, sections[thread]);
    if (taken && m.lock) meets_others(thread, sections[thread]);
    if (taken || given_back) sections[thread] = {};
    if (taken)
        if (const auto p = past_sections.find(address); p != past_sections.end())
            sections[thread].pasts = p->second;
    m.lock = taken ? address : given_back ? nullptr : m.lock;
    m.records = m.lock;
}

void enter_section(const char* address, size_t bytes, unsigned kind) {
    Section& s = sections[rank];
    if (kind & (atomic | flag)) meets_others(rank, s);
    const auto conflicts = [&](const auto& p) {
        for (const auto& [word, written] : p->touched)
            if (word < address + bytes && address < word + 4 && (written || kind & writes))
                return take_gift(*me, p->gift, s.entered), true;
        return false;
    };
    std::erase_if(s.pasts, conflicts);
}

bool section_gives(Mind& m, const char* lock, const Gift& gift) {
    Section& s = sections[unsigned(&m - minds)];
    if (!s.alone || !m.records) return false;
    const auto past = std::make_shared<Past>();
    for (const auto& [address, t] : s.touched) past->touched.emplace_back(address, t.record.access & writes);
    past->gift = gift;
    Pasts& all = past_sections[lock];
    if (all.size() == 16) return false;
    all.push_back(past);
    return true;
}

void take_sections(Mind& m, const char* address) {
    if (const auto all = past_sections.find(address); all != past_sections.end())
        for (const auto& p : all->second) take_gift(m, p->gift, 0);
}

bool sections_hand_on() { return !past_sections.empty(); }

void in_section(const char* address, const Record& mine, bool shared) {
    Section& s = sections[rank];
    me->records = s.touched.size() < 64;  // otherwise it is not a lock, or its data have been seen often enough
    if (me->records)
        s.touched.push_back({address, {me->lock, mine, run, shared || is_shared(find(me->lock)), s.entered, 0}});
}

void sections_fenced(unsigned thread, Scope scope) {
    const auto s = sections.find(thread);
    if (s == sections.end()) return;
    const unsigned level = scope == in_device ? 2 : 1;
    s->second.entered = std::max(s->second.entered, level);
    for (auto& [address, t] : s->second.touched) t.left = std::max(t.left, level);
}

void section_meets(unsigned thread) {
    if (const auto s = sections.find(thread); s != sections.end()) meets_others(thread, s->second);
}

void sections_pause(uint64_t block) { paused_sections[block] = std::exchange(sections, {}); }
void sections_go_on(uint64_t block) { sections = std::move(paused_sections[block]); }
void sections_at_grid_barrier() { touched_before.clear(); }  // later threads are ordered after all earlier ones

void sections_at_barrier() {
    for (auto& [thread, s] : sections) {
        s.entered = 2;
        meets_others(thread, s);
        for (auto& [address, t] : s.touched) t.left = std::max(t.left, 1u);
    }
}

}  // namespace cudacpu::hazards
