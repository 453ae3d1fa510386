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

#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/upcalls.hpp"
#include "race/access_check.hpp"
#include "race/fast_path.hpp"
#include "race/in_flight_buffers.hpp"
#include "race/shadow_memory.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

bool several_streams;

namespace {

std::map<unsigned long, Work> queued CUDACPU_LASTING;
std::vector<Work> done CUDACPU_LASTING;  // since the queue was last empty
Work running CUDACPU_LASTING;
unsigned long turns, last_run;  // last_run: the work that ran before

void comes_after(Work& later, const Work& earlier) {
    const auto note = [&](const void* stream, unsigned long number) {
        unsigned long& newest = later.after[stream];
        newest = std::max(newest, number);
    };
    for (const auto& [stream, number] : earlier.after) note(stream, number);
    note(earlier.stream, earlier.number);
}

bool waits_for(const Work& later, const Work& earlier) {
    const auto i = later.after.find(earlier.stream);
    return earlier.turn < later.begun_before || earlier.stream == later.stream ||
           (i != later.after.end() && i->second >= earlier.number);
}

const Work* work_at(Time t) {
    for (auto w = done.rbegin(); w != done.rend(); ++w)
        if (w->start <= t) return &*w;
    return nullptr;
}

bool is_callback(const Work& w) { return w.what == "cudaLaunchHostFunc" || w.what == "cudaStreamAddCallback"; }

}  // namespace

void work_queued(unsigned long number, const void* stream, const std::set<unsigned long>& after, const char* what) {
    Work w{number, stream, {}, turns, ~0ul, 0, what, "", callers(9)};
    for (unsigned long a : after) {
        const auto i = queued.find(a);
        if (i == queued.end()) continue;
        comes_after(w, i->second);
        several_streams |= i->second.stream != stream;
    }
    if (!queued.empty() && queued.rbegin()->second.stream != stream) several_streams = true;
    queued[number] = std::move(w);
}

void work_is_secondary(unsigned long primary) {
    queued.rbegin()->second.primary = primary;
    several_streams = true;
}

void work_waits(unsigned long number, unsigned long event) {
    const auto w = queued.find(number), e = queued.find(event);
    if (w != queued.end() && e != queued.end()) comes_after(w->second, e->second);
}

void work_begins(unsigned long number) {
    const auto w = queued.find(number);
    if (w == queued.end()) return;
    running = std::move(w->second);
    queued.erase(w);
    running.turn = turns++;
    running.start = ++now;
    buffers_work_begins(number, several_streams && is_callback(running));
}
void work_ended() {
    buffers_work_ended(is_callback(running));
    last_run = running.number;
    if (several_streams) done.push_back(std::move(running));
    if (queued.empty()) done.clear(), buffers_queue_is_empty(), report_early_reads(), several_streams = false;
}

Time launch_beside() {
    running.what = say({"kernel %s", "核函数 %s"}, launch->kernel->name);
    // cudaLaunchKernelEx() knows its own line only.
    const bool by_header = strstr(launch->where.file, "cpu/include/");
    running.line = by_header ? first_line(running.callers) : source_line(launch->where);
    buffers_launch_begins(running.number);
    for (const Work& w : done)
        if (!waits_for(running, w)) return w.start;
    return running.start;
}

const Work& running_work() { return running; }
bool is_secondary() { return running.primary && running.primary == last_run; }
unsigned long last_queued() { return queued.empty() ? 0 : queued.rbegin()->first; }
bool ordered_with_running(unsigned long number) {
    const auto later = queued.find(number);
    const auto earlier = std::find_if(done.begin(), done.end(), [&](const Work& w) { return w.number == number; });
    return (later != queued.end() && waits_for(later->second, running)) ||
           (earlier != done.end() && waits_for(running, *earlier));
}

bool before_this_launch(const Epoch& r) {
    const Work* const w = work_at(r.time);
    return !w || waits_for(running, *w);
}

void race_of_works(WorkRace kind, const Epoch& before, const Epoch& mine, const char* address) {
    const Work* const w = work_at(before.time);
    if (kind != WorkRace::undecided) exit_status = 1;
    if (w) explain_early_reads(address), report(kind, *w, before, running, mine, address);
}

void work_touches(const void* address, size_t bytes, bool write) {
    if (!several_streams) return;
    char* const first = static_cast<char*>(const_cast<void*>(address));
    Region *const variables = program_region(first), *const r = variables ? variables : find(first);
    if (!r || !r->shadow || r->freed || first < r->start || first + bytes > r->start + r->bytes) return;
    Epoch mine{0, now, 0xffff, 0, 15, uint8_t(write ? writes : reads)};
    auto concurrent = [&](const Epoch& o) {
        return o.bytes & mine.bytes && o.time && o.time < running.start && !before_this_launch(o);
    };
    each_cell(*r->shadow, size_t(first - r->start), size_t(first - r->start) + bytes,
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
