// hand_over.cpp - a log of the volatile and atomic accesses of each thread. It tells how a thread hands data to
// another, and which fence or barrier is missing there.
//
// In a seqlock the version is written before and after several words, and read before and after them, with a fence
// in between each time. If one of these is missing, a reader may get a mix of old and new words.
#include "race/hand_over.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "race/happens_before.hpp"

namespace cudacpu::race {

namespace {

struct Step {  // a volatile or atomic access of a thread
    const char* address;
    uint64_t thread, order;  // order: of all steps
    Epoch access;
    unsigned number;  // of the steps of its thread
    bool read, written;
    Time barrier, fenced[2];  // the last barrier, and the last fence of each scope
    bool polls_like(const Step& o) const {
        return thread == o.thread && address == o.address && access.site == o.access.site && !written &&
               barrier == o.barrier && fenced[in_block] == o.fenced[in_block];
    }
};
using Steps = std::vector<Step>;
constexpr size_t most_steps = 1 << 16, most_of_thread = 512, most_meetings = 1024, most_searched = 1 << 24;
Steps log CUDACPU_LASTING;
uint64_t steps_taken = 2, steps_searched;
// By block, and the number of a warp or all_warps.
std::unordered_map<uint64_t, std::vector<Time>> meetings CUDACPU_LASTING;
uint64_t thread_of(uint64_t number, unsigned rank) { return number << 10 | rank; }

Steps steps_of(const Accessor& who) {
    Steps all;
    std::ranges::copy_if(log, std::back_inserter(all),
                         [&](const Step& s) { return s.thread == thread_of(who.block, who.rank); });
    return all;
}

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
    const Steps written, read;
    Scope scope;
    bool parted(const Steps& all, size_t a, size_t b) const { return all[a].fenced[scope] != all[b].fenced[scope]; }
};
Logs logs_of(const Race& race) {
    const bool before_writes = race.before.access & writes;
    const Accessor &writer = before_writes ? race.before : race.after,
                   &reader = before_writes ? race.after : race.before;
    return {steps_of(writer), steps_of(reader), writer.block == reader.block ? in_block : in_device};
}

}  // namespace

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

Version version_of(Race& race) {
    const Logs logs = logs_of(race);
    const Steps &written = logs.written, &read = logs.read;
    const auto parted = [&](const Steps& all, ptrdiff_t a, ptrdiff_t b) { return logs.parted(all, a, b); };
    Version found = Version::none;
    std::set<const char*> tried{race.address};
    for (const Step& version : read) {
        if (!tried.insert(version.address).second) continue;
        bool torn = false, encloses = false, several = false, looks = false, looks_again = false;
        bool in_rounds = false, twice = true;  // twice: written twice in each round
        HandOver seqlock{.word = version.address, .wait = version.access.site};
        const auto lacks_fence = [&](const Steps& all, ptrdiff_t i, ptrdiff_t other) {
            if (parted(all, i, other)) return false;
            seqlock.gaps.insert({other < i ? Gap::fence_after : Gap::fence_before, all[other].access.site});
            return true;
        };
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
            torn |= lacks_fence(written, i, before) | lacks_fence(written, i, after);
        }
        for (ptrdiff_t i = 0; i < ptrdiff_t(read.size()); ++i) {
            const auto [before, after] = around(read, i, version.address, &Step::read);
            if (read[i].address != race.address || !read[i].read || before < 0) continue;
            looks = true;
            looks_again |= after >= 0;  // a reader that found an odd version need not look again
            torn |= lacks_fence(read, i, before) | (after >= 0 && lacks_fence(read, i, after));
        }
        seqlock.looks_once = !looks_again && read.size() < most_of_thread;
        torn |= seqlock.looks_once;
        if (encloses && looks && !torn) return Version::intact;
        if (!encloses || !looks || !in_rounds || !twice) continue;
        race.hand_overs = {seqlock};
        if (several) found = Version::torn;
    }
    return found;
}

void note_step(const char* address, unsigned kind, const Epoch& mine) {
    const auto fenced = [](Scope s) { return me->synchronised ? me->sync->fenced[s] : 0; };
    Step step{address,
              thread_of(block_number, rank),
              steps_taken += 2,
              mine,
              1,
              !(kind & writes) || bool(kind & atomic),
              bool(mine.access & writes),
              last_barrier,
              {fenced(in_block), fenced(in_device)}};
    Step* const previous = me->sync->last_step < log.size() ? &log[me->sync->last_step] : nullptr;
    if (previous && previous->thread == step.thread) {
        const bool polls = step.polls_like(*previous);
        if (polls) previous->order = step.order, previous->access = mine;
        if (polls || previous->number == most_of_thread) return;
        step.number = previous->number + 1;
    }
    if (log.size() == most_steps) return;
    me->sync->last_step = log.size();
    log.push_back(step);
}

void note_plain_steps(const char* address, const Epoch& write, const Epoch& mine) {
    if (log.size() + 2 > most_steps) return;
    log.push_back({address, thread_of(block_of(write), write.rank), steps_taken - 1, write, 1, false, true, 0, {}});
    if (mine.access == reads)
        log.push_back({address, thread_of(block_number, rank), steps_taken += 2, mine, 1, true, false, 0, {}});
}

void note_meeting(unsigned warp) {
    const uint64_t key = block_number << 6 | warp;
    const auto known = meetings.find(key);
    if (known == meetings.end() && meetings.size() == most_meetings) return;
    std::vector<Time>& all = known == meetings.end() ? meetings[key] : known->second;
    if (all.size() < most_meetings) all.push_back(now);
}

void forget_steps() {
    log.clear();
    meetings.clear();
    steps_searched = 0;
}

namespace {

struct Side {  // one of two accesses to common data
    Epoch access;
    uint64_t block, thread;
    explicit Side(const Epoch& e) : access(e), block(race::block_of(e)), thread(thread_of(block, e.rank)) {}
    // The first barrier after one time, up to the other, that this thread and that of the step have passed; 0: none
    Time meeting(const Step& s, Time from, Time to) const {
        Time first = 0;
        for (const unsigned warp : {all_warps, access.rank / 32u}) {
            const auto known = meetings.find(block << 6 | warp);
            if (known == meetings.end() || (warp < all_warps && s.thread / 32 != thread / 32)) continue;
            const auto next = std::ranges::upper_bound(known->second, from);
            if (next != known->second.end() && *next <= to && (!first || *next < first)) first = *next;
        }
        return first;
    }
    Time meeting_before(const Step& s) const { return meeting(s, access.time, s.access.time); }
    Time meeting_after(const Step& s) const { return meeting(s, s.access.time, access.time); }
    bool follows(const Step& s) const {  // of its thread
        const Epoch& e = s.access;
        return thread == thread_of(block_number, rank) || e.time < access.time ||
               (e.time == access.time && e.step <= access.step && e.step < 255);
    }
};

// Follows the news of the giver's access from word to word: what its block sets afterwards, what threads that read
// it set then, and what the taker's block reads before its own access. late: the running thread is the giver.
void add_hand_overs(std::multimap<std::pair<int, uint64_t>, HandOver>& found, const std::vector<const Step*>& steps,
                    const Side& giver, const Side& taker, const char* address, bool late) {
    const Scope scope = giver.block == taker.block ? in_block : in_device;
    const uint64_t mates = scope == in_device ? 1024 : 32;  // other threads of the block, or of the warp
    enum Quality { unknown, too_early, unjoined, joined, own };
    struct News {
        Quality is_set = unknown;
        const Step* set = nullptr;
    };
    struct Read {
        Quality is_read = unknown;
        const Step* step = nullptr;
        News news{};
    };
    std::map<const char*, News> words;
    std::map<uint64_t, News> informed;  // threads
    std::map<const char*, Read> reads;
    uint64_t last_read = 0;
    for (const Step* const step : steps) {
        const Step& s = *step;
        if (s.address == address) continue;
        const bool by_giver = s.thread == giver.thread, by_taker = s.thread == taker.thread;
        if (by_taker && s.read && s.access.access && taker.follows(s)) last_read = s.order;
        const auto heard = s.read ? words.find(s.address) : words.end();
        if (heard != words.end() && heard->second.is_set) {
            News& knows = informed[s.thread];
            if (heard->second.is_set > knows.is_set) knows = heard->second;
            const bool mate = s.thread / mates == taker.thread / mates && s.access.time <= taker.access.time;
            const Quality q = by_taker ? own : taker.meeting_after(s) ? joined : unjoined;
            Read& r = reads[s.address];
            if ((by_taker ? taker.follows(s) : mate) && q >= r.is_read) r = {q, step, heard->second};
        }
        if (!s.written) continue;
        News news = informed.contains(s.thread) ? informed[s.thread] : News();
        if (by_giver) news = {giver.follows(s) ? too_early : own, step};
        else if (s.thread / mates == giver.thread / mates)
            news = {giver.meeting_after(s) ? too_early : giver.meeting_before(s) ? joined : unjoined, step};
        News& word = words[s.address];
        if (news.is_set && (!word.is_set || (word.is_set == too_early && news.is_set > unjoined) ||
                            (news.is_set == own && word.is_set != own)))
            word = news;
    }
    for (const auto& [word, r] : reads) {
        const Quality is_set = r.news.is_set;
        const bool by_mates = is_set == unjoined || r.is_read == unjoined;
        if (!r.is_read || (late && is_set > unjoined) || (by_mates && scope == in_block)) continue;
        const Step &set = *r.news.set, &read = *r.step;
        HandOver how{.word = word,
                     .wait = read.access.site,
                     .set = set.access.site,
                     .late = late,
                     .exclusive = is_set == own && set.access.step < 255 && read.order == last_read,
                     .plain = read.access.access == race::reads,
                     .too_early = is_set == too_early};
        for (const Step* s : {&set, &read})
            if (scope == in_device && s->access.access & narrow) how.narrow = s->access.site;
        const bool set_fenced = late || is_set == too_early || lacks_fence(giver.access) ||
                                set.fenced[scope] > (is_set == own      ? giver.access.time
                                                     : is_set == joined ? giver.meeting_before(set)
                                                                        : set.barrier);
        const bool read_fenced =
            late || taker.meeting_after(read) || (me->synchronised && me->sync->fenced[scope] > read.access.time);
        if (is_set == unjoined) how.gaps.insert({Gap::barrier_before, how.set});
        if (!set_fenced) how.gaps.insert({Gap::before(set.access.access), how.set});
        if (r.is_read == unjoined) how.gaps.insert({Gap::barrier_after, how.wait});
        else if (!read_fenced) how.gaps.insert({Gap::fence_after, how.wait});
        const int rank = how.too_early ? 3 : is_set == own ? 0 : late ? 1 : 2;
        found.emplace(std::pair(rank, ~r.step->order), how);
    }
}

}  // namespace

std::vector<HandOver> hand_overs(const Epoch& earlier, const Epoch& mine, const char* address) {
    if ((steps_searched += log.size()) > most_searched) return {};
    std::multimap<std::pair<int, uint64_t>, HandOver> found;
    const Side first(earlier), second(mine);
    std::vector<const Step*> steps;
    for (const Step& s : log) steps.push_back(&s);
    std::ranges::sort(steps, {}, [](const Step* s) { return s->order; });
    if (!(mine.access & earlier.access & writes)) add_hand_overs(found, steps, second, first, address, true);
    add_hand_overs(found, steps, first, second, address, false);
    std::vector<HandOver> all;
    for (const auto& [order, how] : found) all.push_back(how);
    return all;
}

}  // namespace cudacpu::race
