// seqlock.cpp - recognizes words that a version number guards (a seqlock), from a log of each thread's accesses.
#include "race/seqlock.hpp"

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "race/happens_before.hpp"
#include "race/race.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

namespace {

// A thread's volatile and atomic accesses, to recognize words that a version number guards (a seqlock).
struct Step {
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

}  // namespace

// A seqlock: the version is written before and after several words, and read before and after them, with a fence in
// between each time. If one of these is missing, a reader may get a mix of old and new words.
SeqlockVersion seqlock_version(const Race& race) {
    const bool before_writes = race.before.access & writes;
    const Accessor &writer = before_writes ? race.before : race.after,
                   &reader = before_writes ? race.after : race.before;
    const Steps &written = steps_of[thread_of(writer.block, writer.rank)],
                &read = steps_of[thread_of(reader.block, reader.rank)];
    const Scope scope = writer.block == reader.block ? in_block : in_device;
    const auto parted = [&](const Steps& all, ptrdiff_t a, ptrdiff_t b) {
        return all[a].fenced[scope] != all[b].fenced[scope];
    };
    SeqlockVersion found = SeqlockVersion::none;
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
        if (encloses && looks && !torn) return SeqlockVersion::intact;
        if (several && looks && in_rounds && twice) found = SeqlockVersion::torn;
    }
    return found;
}

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

void forget_seqlocks() { steps_of.clear(); }

}  // namespace cudacpu::race
