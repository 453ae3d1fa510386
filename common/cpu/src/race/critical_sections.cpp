// critical_sections.cpp - the race detector's rules for critical sections.
//
// The last thread to enter a critical section is ordered after all earlier ones. So in the order that happened to
// run, the first or the last section may lack a fence without harm. Accesses under a lock are therefore compared in
// both orders.
#include "race/critical_sections.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "memory/address_space.hpp"
#include "race/access_check.hpp"
#include "race/happens_before.hpp"
#include "race/shadow_memory.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

namespace {

struct Touched {  // an access under a lock
    const char* lock;
    Epoch record;
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
struct PastSection {
    std::vector<std::pair<const char*, bool>> touched;  // true: it was written
    Release released;
};
using PastSections = std::vector<std::shared_ptr<const PastSection>>;
struct Section {
    unsigned entered = 0;
    std::vector<std::pair<const char*, Touched>> touched{};
    bool alone = true;
    PastSections pasts{};  // earlier sections of this lock whose releases it has not acquired
};
std::map<std::pair<uint32_t, unsigned>, Section> sections CUDACPU_LASTING;  // by run and thread
std::unordered_map<const char*, std::vector<Touched>> touched_before CUDACPU_LASTING;
std::unordered_map<const char*, PastSections> past_sections CUDACPU_LASTING;  // by lock

void acquire_pasts(ThreadState& m, Section& s) {
    for (const auto& p : std::exchange(s.pasts, {})) acquire(m, p->released, s.entered);
}
void stops_being_alone(unsigned thread, Section& s) {
    s.alone = false;
    acquire_pasts(thread_states[thread], s);
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
                note({accessor(o.record), accessor(t.record), const_cast<char*>(address), 4, false});
        }
        if (others.size() < 8) others.push_back(t);
    }
}

}  // namespace

void lock_changed(ThreadState& m, const char* address, bool taken, bool given_back) {
    const unsigned thread = unsigned(&m - thread_states);
    if (given_back) close_section(address, sections[{run, thread}]);
    if (taken && m.lock) stops_being_alone(thread, sections[{run, thread}]);
    if (given_back) sections.erase({run, thread});
    if (taken) {
        const auto p = past_sections.find(address);
        sections[{run, thread}] = {.pasts = p != past_sections.end() ? p->second : PastSections{}};
    }
    m.lock = taken ? address : given_back ? nullptr : m.lock;
    m.records = m.watched = m.lock;
}

void enter_section(const char* address, size_t bytes, unsigned kind) {
    Section& s = sections[{run, rank}];
    if (kind & (atomic | flag)) stops_being_alone(rank, s);
    const auto conflicts = [&](const auto& p) {
        for (const auto& [word, written] : p->touched)
            if (word < address + bytes && address < word + 4 && (written || kind & writes))
                return acquire(*me, p->released, s.entered), true;
        return false;
    };
    std::erase_if(s.pasts, conflicts);
}

bool section_releases(ThreadState& m, const char* lock, const Release& released) {
    Section& s = sections[{run, unsigned(&m - thread_states)}];
    if (!s.alone || !m.records) return false;
    const auto past = std::make_shared<PastSection>();
    for (const auto& [address, t] : s.touched) past->touched.emplace_back(address, t.record.access & writes);
    past->released = released;
    PastSections& all = past_sections[lock];
    if (all.size() == 16) return false;
    all.push_back(past);
    return true;
}

void acquire_sections(ThreadState& m, const char* address) {
    if (const auto all = past_sections.find(address); all != past_sections.end())
        for (const auto& p : all->second) acquire(m, p->released, 0);
}

bool sections_have_released() { return !past_sections.empty(); }

void in_section(const char* address, const Epoch& mine, bool shared) {
    Section& s = sections[{run, rank}];
    me->records = s.touched.size() < 64;  // otherwise it is not a lock, or its data have been seen often enough
    if (me->records)
        s.touched.push_back({address, {me->lock, mine, run, shared || is_shared(find(me->lock)), s.entered, 0}});
}

void sections_fenced(unsigned thread, Scope scope) {
    const auto s = sections.find({run, thread});
    if (s == sections.end()) return;
    const unsigned level = scope == in_device ? 2 : 1;
    s->second.entered = std::max(s->second.entered, level);
    for (auto& [address, t] : s->second.touched) t.left = std::max(t.left, level);
}

void section_meets(unsigned thread) {
    if (const auto s = sections.find({run, thread}); s != sections.end()) stops_being_alone(thread, s->second);
}

void sections_at_grid_barrier() { touched_before.clear(); }  // later threads are ordered after all earlier ones

void sections_at_barrier() {
    for (auto i = sections.lower_bound({run, 0}); i != sections.end() && i->first.first == run; ++i) {
        Section& s = i->second;
        s.entered = 2;
        stops_being_alone(i->first.second, s);
        for (auto& [address, t] : s.touched) t.left = std::max(t.left, 1u);
    }
}

void forget_sections() {
    sections.clear();
    touched_before.clear();
    past_sections.clear();
}

}  // namespace cudacpu::race
