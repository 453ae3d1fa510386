// critical_sections.cpp - the race detector's rules for critical sections.
//
// The last thread to enter a critical section is ordered after all earlier ones. So in the order that happened to
// run, the first or the last section may lack a fence without harm. Accesses under a lock are therefore compared in
// both orders.
//
// If two sections have no conflicting accesses, either could have come first, so the lock does not order what
// follows them. A thread therefore acquires what a section released only when it accesses, under the same lock,
// data of that section. This holds only for sections in which the thread is alone: it makes weak accesses and
// synchronizes with no other.
#include "race/critical_sections.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "memory/address_space.hpp"
#include "race/access_check.hpp"
#include "race/happens_before.hpp"
#include "race/shadow_memory.hpp"

namespace cudacpu::race {

namespace {

struct Touched {  // an access under a lock
    Epoch record;
    bool of_block;  // the lock or the data is in shared memory, so no other block can access it
    // Whether a fence separates it from the acquisition or the release of the lock; 2: a fence of device scope.
    unsigned entered, left;
};
struct Section {
    uint64_t taken = 0;  // the site
    Gap given_back{};    // if there is no fence before it
    unsigned entered = 0;
    std::multimap<const char*, Touched> touched{};  // by word
    bool alone = true;
    uint32_t acquired = 0;  // bit mask: past sections of the lock
    uint32_t its_run = run;
    Release released{};
};
constexpr size_t most_touched = 64, most_sections = 32;
std::map<std::pair<uint32_t, unsigned>, Section> sections CUDACPU_LASTING;            // by run and thread
std::unordered_map<const char*, std::vector<Section>> past_sections CUDACPU_LASTING;  // by lock

unsigned number_of(const ThreadState& m) { return unsigned(&m - thread_states); }

const std::vector<Section>& past_of(const char* lock) {
    static const auto& none = *new std::vector<Section>;
    const auto past = past_sections.find(lock);
    return past == past_sections.end() ? none : past->second;
}

void stops_being_alone(ThreadState& m, Section& s) {
    if (std::exchange(s.alone, false)) acquire_sections(m, m.lock, s.entered);
}

// Two accesses to one word under one lock: could either come first without a fence?
void compare(const char* word, const Section& s, const Touched& t, const Section& past, const Touched& o) {
    const bool same_block = past.its_run == s.its_run;
    if ((same_block ? o.record.rank == t.record.rank || o.record.time < last_barrier : t.of_block) ||
        !((o.record.access | t.record.access) & writes) || (o.record.access | t.record.access) & atomic)
        return;
    const unsigned needed = same_block ? 1 : 2;
    HandOver lock{.wait = s.taken};
    for (const auto& [section, touched] : {std::pair(&s, &t), std::pair(&past, &o)}) {
        if (touched->entered < needed) lock.gaps.insert({Gap::fence_after, section->taken});
        if (touched->left < needed) lock.gaps.insert(section->given_back);
    }
    if (lock.gaps.empty()) return;
    Race race{accessor(o.record), accessor(t.record), const_cast<char*>(word), 4, false};
    race.hand_overs = {lock};
    note(race);
}

}  // namespace

void lock_taken(ThreadState& m, const char* lock, uint64_t site) {
    Section& s = sections[{run, number_of(m)}];
    if (m.lock) stops_being_alone(m, s);
    s = {.taken = site};
    m.lock = lock;
    m.watched = true;
}

bool lock_given_back(ThreadState& m, const char* lock, const Epoch& mine, const Release& released) {
    Section s = std::move(sections.extract({run, number_of(m)}).mapped());
    s.given_back = {Gap::before(mine.access), mine.site};
    std::vector<Section>& past = past_sections[lock];
    for (const auto& [word, t] : s.touched)
        for (const Section& p : past)
            for (auto [o, end] = p.touched.equal_range(word); o != end; ++o) compare(word, s, t, p, o->second);
    const bool is_kept = past.size() < most_sections, is_alone = s.alone && s.touched.size() < most_touched;
    if (is_alone) s.released = released;
    if (is_kept) past.push_back(std::move(s));
    m.lock = nullptr;
    m.watched = false;
    return is_kept && is_alone;
}

void access_in_section(const char* address, size_t bytes, const Epoch& mine, bool shared) {
    Section& s = sections[{run, rank}];
    if (mine.access & (atomic | flag)) stops_being_alone(*me, s);
    const std::vector<Section>& past = past_of(me->lock);
    for (size_t i = 0; s.alone && i < past.size(); ++i) {
        const auto from = past[i].touched.upper_bound(address - 4),
                   to = past[i].touched.lower_bound(address + bytes);
        const bool conflict =
            std::any_of(from, to, [&](const auto& o) { return (o.second.record.access | mine.access) & writes; });
        if (!conflict || s.acquired >> i & 1) continue;
        s.acquired |= 1u << i;
        acquire(*me, past[i].released, s.entered);
    }
    const bool of_block = shared || is_shared(find(me->lock));
    // After more accesses than this it is not a lock, or its data have been seen often enough.
    for (const char* w = address - uintptr_t(address) % 4; w < address + bytes; w += 4)
        if (s.touched.size() < most_touched) s.touched.insert({w, {mine, of_block, s.entered, 0}});
}

void acquire_sections(ThreadState& m, const char* lock, unsigned fenced) {
    for (const Section& p : past_of(lock)) acquire(m, p.released, fenced);
}

bool sections_have_released() { return !past_sections.empty(); }

void sections_fenced(unsigned thread, Scope scope) {
    const auto s = sections.find({run, thread});
    if (s == sections.end()) return;
    const unsigned level = scope == in_device ? 2 : 1;
    s->second.entered = std::max(s->second.entered, level);
    for (auto& [word, t] : s->second.touched) t.left = std::max(t.left, level);
}

void section_meets(unsigned thread) {
    if (const auto s = sections.find({run, thread}); s != sections.end())
        stops_being_alone(thread_states[thread], s->second);
}

void sections_at_barrier() {
    for (auto i = sections.lower_bound({run, 0}); i != sections.end() && i->first.first == run; ++i) {
        Section& s = i->second;
        s.entered = 2;
        stops_being_alone(thread_states[i->first.second], s);
        for (auto& [word, t] : s.touched) t.left = std::max(t.left, 1u);
    }
}

void sections_at_grid_barrier() { past_sections.clear(); }  // later threads are ordered after all earlier ones

void forget_sections() {
    sections.clear();
    past_sections.clear();
}

}  // namespace cudacpu::race
