// optimistic_reads.cpp - a leniency of the race detector: weak reads of a word that other threads change by
// atomics.
//
//     int old = *p, assumed;
//     do { assumed = old; old = atomicCAS(p, assumed, next(assumed)); } while (old != assumed);
//
// A stale value makes the CAS fail. So the read is accepted if the thread's own CAS compares the value that it
// read, or has done so before for this line and word. It is also accepted if the thread writes nothing afterwards,
// because then it has found nothing to do; but only where others change the word by CAS. The CAS checks the
// thread's last read of the word. An earlier read, such as a guard in front of the loop, is not accepted if no CAS
// ever follows that line.
//
// A thread that reads after others' CAS operations is shown the value that the word had before them, as on a GPU. A
// thread that compares what it reads copes with that, and proves what it does.
#include "race/optimistic_reads.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/build.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "race/access_check.hpp"
#include "race/volatile_data.hpp"

namespace cudacpu::race {

namespace {

struct FirstCas {  // of this launch, on a word
    Epoch epoch;
    uint32_t before;
};
std::unordered_map<const char*, FirstCas> first_cas CUDACPU_LASTING;  // by word of four bytes
std::unordered_set<uint64_t> checked_sites CUDACPU_LASTING;           // reads whose value a CAS has compared
bool any;                                                             // threads of running or paused blocks

uint32_t bits_of(unsigned bytes) {
    return (bytes & 1) * 0xffu | (bytes >> 1 & 1) * 0xff00u | (bytes >> 2 & 1) * 0xff0000u |
           (bytes >> 3 & 1) * 0xff000000u;
}
unsigned bytes_in(const char* word, const char* address, size_t bytes) {  // a bit for each byte of the word
    unsigned found = 0;
    for (int i = 0; i < 4; ++i) found |= unsigned(word + i >= address && word + i < address + bytes) << i;
    return found;
}
uint32_t word_at(const char* word) { return uint32_t(value_at(word, 4)); }

bool is_checked(const ThreadState& m, const char* word, uint64_t site) {
    const auto& all = m.sync->checked;
    return std::find(all.begin(), all.end(), std::pair(word, site)) != all.end();
}
void check(const char* word, uint64_t site) {
    checked_sites.insert(site);
    auto& all = me->sync->checked;
    if (is_checked(*me, word, site)) return;
    if (all.size() == 16) all.erase(all.begin());
    all.emplace_back(word, site);
    me->optimistic = true;
}

}  // namespace

bool is_optimistic(const Epoch& r, const char* word, const Race& race) {
    ThreadState* const m = state_of(r);
    if (!m) return first_cas.count(word);
    if (is_checked(*m, word, r.site)) return true;
    auto& reads = m->sync->reads;
    auto read = std::find_if(reads.begin(), reads.end(), [&](const OptimisticRead& o) {
        return o.word == word && o.site == r.site && o.bytes == r.bytes;
    });
    if (read == reads.end()) {
        const bool updated_other = m->sync->atomic_word < word || m->sync->atomic_word >= word + 4;
        const bool wrote = r.time >= last_barrier && m->counted == last_barrier &&
                           (m->written > r.step + 1 || (updated_other && m->updated > r.step + 1));
        read = reads.insert(read, {word, r.bytes, word_at(word), r.site, wrote, false, false, {}});
        any = m->optimistic = m->watched = true;
    }
    if (read->races.size() < 4) read->races.push_back(race);
    return true;
}

void show_value_before_cas(char* address, size_t bytes, uint64_t site) {
    if (bytes % 4 || bytes > 8) return;
    uint64_t shown = 0;
    for (size_t i = 0; i < bytes; i += 4) {
        const auto first = first_cas.find(address + i);
        const auto read =
            std::find_if(me->sync->reads.begin(), me->sync->reads.end(),
                         [&](const OptimisticRead& o) { return o.word == address + i && o.site == site; });
        if (read == me->sync->reads.end() || std::exchange(read->shown, true) || first == first_cas.end() ||
            happens_before(first->second.epoch, floor_time))
            return;
        read->value = first->second.before;
        shown |= uint64_t(first->second.before) << 8 * i;
    }
    show_old_value(address, bytes);
    memcpy(address, &shown, bytes);
}

bool cas_begins(const char* address, size_t bytes, const void* expected, const Epoch& mine) {
    bool any_compared = false;
    for (size_t i = 0; i < bytes; i = (i + 4) / 4 * 4) {
        const size_t offset = uintptr_t(address + i) % 4, size = std::min(bytes - i, 4 - offset);
        const char* const word = address + i - offset;
        const unsigned covered = ((1u << size) - 1) << offset;
        const uint32_t value = uint32_t(value_at(static_cast<const char*>(expected) + i, size) << 8 * offset);
        first_cas.try_emplace(word, FirstCas{mine, word_at(word)});
        std::erase_if(me->sync->reads, [&](const OptimisticRead& o) {
            const bool compared = o.word == word && !o.superseded && o.bytes & covered &&
                                  !((o.value ^ value) & bits_of(o.bytes & covered));
            if (compared) check(word, o.site);
            any_compared |= compared;
            return compared;
        });
    }
    for (OptimisticRead& o : me->sync->reads) o.used |= o.word + 4 <= address || o.word >= address + bytes;
    return any_compared;
}

void cas_compares(const char* word, uint64_t site) {
    for (const OptimisticRead& o : me->sync->reads)
        if (o.word == word) return;  // it has read another value
    check(word, site);
}

void optimistic_thread_writes() {
    for (OptimisticRead& o : me->sync->reads) o.used = true;
}
void optimistic_thread_reads(const char* address, size_t bytes, uint64_t site) {
    for (OptimisticRead& o : me->sync->reads)
        if (o.word < address + bytes && address < o.word + 4) {
            if (o.site == site) o.value = word_at(o.word);
            else if (o.bytes & bytes_in(o.word, address, bytes)) o.superseded = true;
        }
}

void report_optimistic_reads() {
    if (!any) return;
    for (unsigned i = 0; i < running_block.size; ++i) {
        ThreadState& m = thread_states[i];
        if (m.block != block_start || !m.optimistic) continue;
        for (const OptimisticRead& o : m.sync->reads)
            if (o.used || (o.superseded && !checked_sites.count(o.site)) || !first_cas.count(o.word))
                for (const Race& race : o.races) note(race);
        forget_optimistic_reads(m);
    }
}

void forget_optimistic_reads(ThreadState& m) {
    m.sync->reads.clear();
    m.sync->checked.clear();
    m.optimistic = false;
}

void optimistic_reads_launch_begins() {
    first_cas.clear();
    checked_sites.clear();
    any = false;
}

}  // namespace cudacpu::race
