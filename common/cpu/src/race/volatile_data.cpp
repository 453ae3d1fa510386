// volatile_data.cpp - the race detector's rules for words that threads share by volatile accesses: flags, words
// that a version guards (a seqlock), and data.
//
// Two unordered volatile accesses are reported if the value changes, unless the word is a flag. A word is a flag if
// a thread polls it, or if the writer executes a fence between its earlier writes and this one. It is also a flag
// if all writers store the same value with nothing unfenced before it, and no reader stores right away what it
// found too early. Most readers find the flag already set, because blocks run one after the other. The detector may
// therefore show a thread the previous value, as a GPU may. A thread that waits looks again; a thread that does not
// has used the word as data.
//
// In a seqlock the version is written before and after several words, and read before and after them, with a fence
// in between each time. If one of these is missing, a reader may get a mix of old and new words. A log of each
// thread's accesses tells.
#include "race/volatile_data.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/text.hpp"
#include "race/access_check.hpp"
#include "race/happens_before.hpp"
#include "race/race.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

// ---- versions

namespace {

// Whether a version guards the word of a race, and whether a reader may get a mix of old and new words.
enum class Version { none, intact, torn };
struct Step {  // a volatile or atomic access of a thread
    const char* address;
    bool read, written;
    Time barrier, fenced[2];  // the last barrier, and the last fence of each scope
};
using Steps = std::vector<Step>;
constexpr size_t most_steps = 512, most_threads = 256;
std::unordered_map<uint64_t, Steps> steps_of CUDACPU_LASTING;  // by block and rank
uint64_t thread_of(uint64_t number, unsigned rank) { return number << 10 | rank; }

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

struct Logs {  // of the two threads of a race
    const Steps &written, &read;
    Scope scope;
    bool parted(const Steps& all, size_t a, size_t b) const { return all[a].fenced[scope] != all[b].fenced[scope]; }
};
Logs logs_of(const Race& race) {
    const bool before_writes = race.before.access & writes;
    const Accessor &writer = before_writes ? race.before : race.after,
                   &reader = before_writes ? race.after : race.before;
    return {steps_of[thread_of(writer.block, writer.rank)], steps_of[thread_of(reader.block, reader.rank)],
            writer.block == reader.block ? in_block : in_device};
}

// Whether another word hands the word of the race over, but the writer forgot the fence: it writes the other one
// afterwards, with no fence in between, and the reader reads that first and executes a fence in between.
bool handed_over_unfenced(const Race& race) {
    const Logs logs = logs_of(race);
    std::map<const char*, bool> fenced;  // by the other word
    for (size_t i = 0; i < logs.written.size(); ++i) {
        if (!logs.written[i].written || logs.written[i].address != race.address) continue;
        for (size_t j = i + 1; j < logs.written.size(); ++j)
            if (const Step& other = logs.written[j]; other.written)
                fenced.try_emplace(other.address, true).first->second &= logs.parted(logs.written, i, j);
    }
    const auto reads_word = [&](const Step& s) { return s.read && s.address == race.address; };
    const auto first = size_t(std::ranges::find_if(logs.read, reads_word) - logs.read.begin());
    for (size_t i = 0; i < first && first < logs.read.size(); ++i)
        if (const auto other = fenced.find(logs.read[i].address); other != fenced.end() && logs.read[i].read)
            if (!other->second && logs.parted(logs.read, i, first)) return true;
    return false;
}

Version version_of(const Race& race) {
    const Logs logs = logs_of(race);
    const Steps &written = logs.written, &read = logs.read;
    const auto parted = [&](const Steps& all, ptrdiff_t a, ptrdiff_t b) { return logs.parted(all, a, b); };
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
            const auto fenced_since = [&](ptrdiff_t k) {
                return written[k].fenced[in_block] != written[i].fenced[in_block];
            };
            several |= fenced_since(before) && !fenced_since(previous);  // otherwise it may be a flag
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

}  // namespace

void note_step(const char* address, unsigned kind) {
    const uint64_t thread = thread_of(block_number, rank);
    const auto known = steps_of.find(thread);
    if (known == steps_of.end() && steps_of.size() == most_threads) return;
    Steps& all = known == steps_of.end() ? steps_of[thread] : known->second;
    if (all.empty() && me->last_atomic >= last_barrier)  // earlier releases do not exist, so it had no fence
        all.push_back({me->sync->atomic_word, true, true, last_barrier, {}});
    const auto fenced = [](Scope s) { return me->synchronised ? me->sync->fenced[s] : 0; };
    if (all.size() < most_steps)
        all.push_back({address,
                       !(kind & writes) || kind & atomic,
                       bool(kind & writes),
                       last_barrier,
                       {fenced(in_block), fenced(in_device)}});
}

// ---- flags

namespace {

struct Flag {
    unsigned writes = 0;
    bool published = false, polled = false, looked_again = false, equal = true, written = false;
    bool fenced = false, begins = false;  // written after a fence; by a thread that had written nothing before
    bool all_published = true;
    bool unfenced = false;           // written by a thread that had written other data without a fence since
    unsigned stored = ~0u;           // the fewest writes that a reader had seen who then stored at once
    uint64_t before = 0, value = 0;  // of the last write
    Time time = 0;
    bool is_flag() const {
        return polled || all_published || (fenced && begins) ||
               (equal && !unfenced && (looked_again || stored >= writes));
    }
};
// A word of shared memory begins a new life at each barrier.
std::unordered_map<const char*, std::shared_ptr<Flag>> flags CUDACPU_LASTING;
struct VolatilePair {  // two unordered volatile accesses
    Race race;
    bool published;
    std::shared_ptr<const Flag> flag;
};
std::set<uint64_t> waiting_sites CUDACPU_LASTING;
std::map<std::pair<uint64_t, uint64_t>, std::vector<VolatilePair>> pairs CUDACPU_LASTING;  // by their two sites
std::map<std::pair<uint64_t, uint64_t>, std::pair<Race, std::shared_ptr<const Flag>>> equal_updates CUDACPU_LASTING;
std::unordered_map<uint64_t, unsigned> shown_old CUDACPU_LASTING;  // number of times, by site
struct Shown {
    char* address;
    size_t bytes;
    uint64_t value;
} shown;  // the previous value, shown in place of the current one

Flag& flag_at(const char* address) {
    auto& f = flags[address];
    if (!f) f = std::make_shared<Flag>();
    return *f;
}

}  // namespace

void flag_read(char* address, size_t bytes, uint64_t site, const Epoch& write, bool unordered) {
    const bool in_place = me->sync->polled >= last_barrier;  // otherwise it may look once per iteration
    me->sync->polled = now;
    if (in_place && me->polled_at == site && me->seen == address)
        waiting_sites.insert(site), flag_at(address).polled = true;
    me->sync->polled_before = me->polled_at;
    me->sync->seen_before = me->seen;
    me->sync->seen_writes_before = me->seen_writes;
    const auto f = flags.find(address);
    const unsigned all = f == flags.end() ? 0 : f->second->writes;
    if (me->seen == address && f != flags.end()) f->second->looked_again = true;
    const bool news = me->seen != address || me->seen_writes != all;
    me->seen = address;
    me->seen_writes = all;
    me->polled_at = site;
    note_wait(site);
    me->fresh = 4;
    if (!all || !news || !unordered || bytes > 8 || f->second->published || !(write.access & flag) ||
        waiting_sites.count(site) || shown_old[site]++ % 2 || shown_old[site] > 32)
        return;
    show_old_value(address, bytes);
    memcpy(address, &f->second->before, bytes);
    --me->seen_writes;
}

void show_old_value(char* address, size_t bytes) {
    restore_shown_value();
    shown = {address, bytes, value_at(address, bytes)};
    state.something_shown = true;
}

void restore_shown_value() {
    if (!state.something_shown) return;
    memcpy(shown.address, &shown.value, shown.bytes);
    state.something_shown = false;
}

bool flag_written(char* address, size_t bytes, bool shared) {
    if (const auto old = flags.find(address); shared && old != flags.end() && old->second->time < last_barrier) {
        const unsigned all = old->second->writes;
        old->second = std::make_shared<Flag>();
        old->second->writes = all;
    }
    Flag& f = flag_at(address);
    f.time = now;
    const bool late = me->seen == address && me->seen_writes != f.writes;
    ++f.writes;
    f.before = value_at(address, bytes);
    f.published = me->publishes;
    f.fenced |= f.published;
    f.begins |= !me->wrote;
    f.all_published &= f.published;
    f.unfenced |= me->written;
    me->seen = nullptr;
    return late;
}

void flag_settled(const char* address, size_t bytes) {
    Flag& f = flag_at(address);
    const uint64_t value = value_at(address, bytes);
    f.equal &= !f.written || value == f.value;
    f.written = true;
    f.value = value;
}

void flag_value_stored() {
    const auto store = [](const char* address, unsigned seen_writes) {
        Flag& f = flag_at(address);
        f.stored = std::min(f.stored, seen_writes);
    };
    store(me->seen, me->seen_writes);
    if (me->sync->polled_before) store(me->sync->seen_before, me->sync->seen_writes_before);
}

bool published(const char* address) { return flag_at(address).published; }

void flags_race(const Race& race, bool published) {
    auto& all = pairs[std::minmax(race.before.site, race.after.site)];
    flag_at(race.address);
    if (all.size() < 64) all.push_back({race, published, flags[race.address]});
}

void equal_update_lost(const Race& race) {
    flag_at(race.address);
    equal_updates.try_emplace(std::minmax(race.before.site, race.after.site), race, flags[race.address]);
}

void report_flag_races() {
    for (auto& [sites, update] : equal_updates) update.first.equal = update.second->equal, note(update.first);
    for (const auto& [sites, all] : pairs)
        for (const auto& [race, published, flag] : all) {
            const Accessor& reader = race.before.access & writes ? race.after : race.before;
            const bool is_flag = flag->polled || waiting_sites.count(reader.site) ||
                                 ((published || flag->is_flag()) && !handed_over_unfenced(race));
            const Version version = version_of(race);
            if (version == Version::torn || (version == Version::none && !is_flag)) note(race);
        }
}

void forget_volatile_data() {
    steps_of.clear();
    flags.clear();
    pairs.clear();
    equal_updates.clear();
    waiting_sites.clear();
    shown_old.clear();
}

}  // namespace cudacpu::race
