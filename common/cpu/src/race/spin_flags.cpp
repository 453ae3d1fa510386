// spin_flags.cpp - the race detector's rules for spin flags.
//
// Two unordered volatile accesses are a race if the value changes, unless the word is a flag. A word is a flag if a
// thread polls it, if the writer executes a fence between its earlier writes and this one, or if all writers store
// the same value and readers look again. Blocks run one after the other, so most readers find the flag already set.
// The detector may therefore show a thread the previous value, as a GPU may. A thread that waits looks again; a
// thread that does not has used the word as data.
#include "race/spin_flags.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/text.hpp"
#include "race/access_check.hpp"
#include "race/happens_before.hpp"
#include "race/race.hpp"
#include "race/seqlock.hpp"
#include "race/shadow_memory.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

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

}  // namespace

void flag_read(char* address, size_t bytes, uint64_t site, const Epoch& write, bool unordered) {
    // `while (wants[other] && *turn == other)` polls two words alternately.
    const bool in_turn =
        int64_t(me->polled_at) > 0 && me->sync->polled_before == site && me->sync->seen_before == address;
    const bool in_place = me->sync->polled >= last_barrier;  // otherwise it may look once per iteration
    me->sync->polled = now;
    if (in_place && (in_turn || (me->polled_at == site && me->seen == address)))
        waiting_sites.insert(site), flags[address].polled = true;
    me->sync->polled_before = me->polled_at;
    me->sync->seen_before = me->seen;
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
    show_old_value(address, bytes);
    memcpy(address, &f->second.before, bytes);
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

void report_flag_races() {
    for (const auto& [sites, all] : pairs)
        for (const auto& [race, shared, fenced] : all) {
            const Accessor& reader = race.before.access & writes ? race.after : race.before;
            const Flag& f = flags[race.address];
            const bool waited_for = f.polled || waiting_sites.count(reader.site) ||
                                    of_waiting_loop(race.before.site) || of_waiting_loop(race.after.site);
            const bool is_flag = fenced || (f.fenced && f.begins) || waited_for;
            const SeqlockVersion version = seqlock_version(race);
            const bool looks_again = f.looked_again || ends_loop(reader.site);
            if (version == SeqlockVersion::torn ||
                (version == SeqlockVersion::none && !is_flag && !(looks_again && !f.unequal && !shared)))
                note(race);
        }
}

void forget_flags() {
    flags.clear();
    pairs.clear();
    waiting_sites.clear();
    shown_old.clear();
}

}  // namespace cudacpu::race
