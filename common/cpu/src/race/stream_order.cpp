// stream_order.cpp - the race detector's rules for concurrent works: kernels and copies of several streams that no
// event and no wait of the host orders.
//
// A work is ordered after another if its stream or an event says so, or if the host had waited for the other before
// it queued this one. All other works may run concurrently, although the CPU device runs one after the other.
#include "race/stream_order.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "race/access_check.hpp"
#include "race/fast_path.hpp"
#include "race/in_flight_buffers.hpp"
#include "race/shadow_memory.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

bool several_streams;

std::map<unsigned long, Work> queued_works CUDACPU_LASTING;
std::vector<Work> done_works CUDACPU_LASTING;
Work running_work CUDACPU_LASTING;

namespace {

unsigned long turns, last_run;  // last_run: the work that ran before

void comes_after(Work& later, const Work& earlier) {
    const auto note = [&](const void* stream, unsigned long number) {
        unsigned long& newest = later.after[stream];
        newest = std::max(newest, number);
    };
    for (const auto& [stream, number] : earlier.after) note(stream, number);
    note(earlier.stream, earlier.number);
}

const Work* work_at(Time t) {
    for (auto w = done_works.rbegin(); w != done_works.rend(); ++w)
        if (w->start <= t) return &*w;
    return nullptr;
}

bool is_callback(const Work& w) { return w.what == "cudaLaunchHostFunc" || w.what == "cudaStreamAddCallback"; }

}  // namespace

bool waits_for(const Work& later, const Work& earlier) {
    const auto i = later.after.find(earlier.stream);
    return earlier.turn < later.begun_before || earlier.stream == later.stream ||
           (i != later.after.end() && i->second >= earlier.number);
}

void work_queued(unsigned long number, const void* stream, const std::set<unsigned long>& after, const char* what) {
    Work w{number, stream, {}, turns, ~0ul, 0, what, "", callers(9)};
    for (unsigned long a : after) {
        const auto i = queued_works.find(a);
        if (i == queued_works.end()) continue;
        comes_after(w, i->second);
        several_streams |= i->second.stream != stream;
    }
    if (!queued_works.empty() && queued_works.rbegin()->second.stream != stream) several_streams = true;
    queued_works[number] = std::move(w);
}

void work_is_secondary(unsigned long primary) {
    queued_works.rbegin()->second.primary = primary;
    several_streams = true;
}

void work_waits(unsigned long number, unsigned long event) {
    const auto w = queued_works.find(number), e = queued_works.find(event);
    if (w != queued_works.end() && e != queued_works.end()) comes_after(w->second, e->second);
}

void work_begins(unsigned long number) {
    const auto w = queued_works.find(number);
    if (w == queued_works.end()) return;
    running_work = std::move(w->second);
    queued_works.erase(w);
    running_work.turn = turns++;
    running_work.start = ++now;
    if (several_streams && is_callback(running_work)) callback_runs(true);
}
void work_ended() {
    if (several_streams && is_callback(running_work)) callback_runs(false);
    compare_host_writes();
    last_run = running_work.number;
    if (several_streams) done_works.push_back(std::move(running_work));
    if (queued_works.empty()) done_works.clear(), several_streams = false;
}

Time launch_beside() {
    running_work.what = say({"kernel %s", "核函数 %s"}, launch->kernel->name);
    // cudaLaunchKernelEx() knows its own line only.
    const bool by_header = strstr(launch->where.file, "cpu/include/");
    running_work.line = by_header ? first_line(running_work.callers) : source_line(launch->where);
    host_writes_begin(running_work.number);
    for (const Work& w : done_works)
        if (!waits_for(running_work, w)) return w.start;
    return running_work.start;
}

bool is_secondary() { return running_work.primary && running_work.primary == last_run; }

bool before_this_launch(const Epoch& r) {
    const Work* const w = work_at(r.time);
    return !w || waits_for(running_work, *w);
}

void race_of_works(WorkRace kind, const Epoch& before, const Epoch& mine, const char* address) {
    const Work* const w = work_at(before.time);
    if (kind != WorkRace::undecided) exit_status = 1;
    if (w) report(kind, *w, before, running_work, mine, address);
}

void work_touches(const void* address, size_t bytes, bool write) {
    if (!several_streams) return;
    char* const first = static_cast<char*>(const_cast<void*>(address));
    Region *const variables = program_region(first), *const r = variables ? variables : find(first);
    if (!r || !r->shadow || r->freed || first < r->start || first + bytes > r->start + r->bytes) return;
    Epoch mine{0, now, 0xffff, 0, 15, uint8_t(write ? writes : reads)};
    auto concurrent = [&](const Epoch& o) {
        return o.bytes & mine.bytes && o.time && o.time < running_work.start && !before_this_launch(o);
    };
    each_cell(*r->shadow, size_t(first - r->start), size_t(first - r->start) + bytes, 1,
              [&](const Word& w, size_t word, uint8_t mask, bool own) {
                  mine.bytes = mask & 15;
                  const Epoch* other = nullptr;
                  for (const Epoch* o : {&w.sync.other, &w.sync.synced, &w.cell.write})
                      if (concurrent(*o)) other = o;
                  for (const Epoch* o : {&w.cell.read, &w.sync.read})
                      if (write && concurrent(*o)) other = o;
                  if (other) race_of_works(WorkRace::between_streams, *other, mine, r->start + word);
                  if (own) (write ? w.cell.write : w.cell.read) = mine;
              });
}

}  // namespace cudacpu::race
