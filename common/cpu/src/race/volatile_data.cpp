// volatile_data.cpp - the race detector's rules for words that threads share by volatile accesses: flags and data.
//
// Two unordered volatile accesses are reported if the value changes, unless the word is a flag. A word is a flag if
// a thread polls it, or if the writer executes a fence between its earlier writes and this one. It is also a flag
// if all writers store the same value with nothing unfenced before it, and no reader stores right away what it
// found too early. Most readers find the flag already set, because blocks run one after the other. The detector may
// therefore show a thread the previous value, as a GPU may. A thread that waits looks again; a thread that does not
// has used the word as data.
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
#include "race/hand_over.hpp"
#include "race/happens_before.hpp"
#include "race/race.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

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
    std::set<const char*> versions;
    std::vector<Race> found;
    for (auto& [sites, all] : pairs)
        for (auto& [race, published, flag] : all) {
            const Accessor& reader = race.before.access & writes ? race.after : race.before;
            const bool is_flag = flag->polled || waiting_sites.count(reader.site) ||
                                 ((published || flag->is_flag()) && !handed_over_unfenced(race));
            const Version version = version_of(race);
            if (version != Version::torn && (version == Version::intact || is_flag)) continue;
            if (!race.hand_overs.empty() && !race.hand_overs[0].set) versions.insert(race.hand_overs[0].word);
            found.push_back(race);
        }
    for (const Race& race : found)  // a version is right if its fences are
        if (!versions.contains(race.address)) note(race);
}

void forget_volatile_data() {
    flags.clear();
    pairs.clear();
    equal_updates.clear();
    waiting_sites.clear();
    shown_old.clear();
}

}  // namespace cudacpu::race
