// stream_order.cpp - the race detector's rules for concurrent works, which are kernels, copies and callbacks, and
// for the host beside them.
//
// A work is ordered after another if its stream or an event says so, or if the host had waited for the other before
// it queued this one. All other works may run concurrently, although the CPU device runs one after the other. The
// host must neither change the source of a queued copy nor write what a queued kernel reads, and it copies memory
// that somebody has written.
#include "race/stream_order.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

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
#include "memory/early_access.hpp"
#include "race/access_check.hpp"
#include "race/fast_path.hpp"
#include "race/shadow_memory.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

bool several_streams;

namespace {

std::map<unsigned long, Work> queued CUDACPU_LASTING;
std::vector<Work> done CUDACPU_LASTING;  // since the queue was last empty
Work running CUDACPU_LASTING;
unsigned long turns, last_run;  // last_run: the work that ran before
// What the host has written since the running kernel was queued, unless the host has told the kernel by a flag.
std::vector<std::pair<const char*, const void*>> written_meanwhile CUDACPU_LASTING;

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

// ---- buffers that queued works use

uint64_t sum_of(const CopySource& s) {  // 0 if it cannot be read now
    uint64_t sum = 1;
    static char buffer[64 << 10];
    for (size_t y = 0; y < s.height; ++y)
        for (size_t x = 0, n; x < s.width; x += n) {
            n = std::min(sizeof buffer, s.width - x);
            iovec from{const_cast<char*>(s.start) + y * s.pitch + x, n}, to{buffer, n};
            if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != ssize_t(n)) return 0;
            memset(buffer + n, 0, std::min<size_t>(7, sizeof buffer - n));
            for (size_t i = 0; i < n; i += 8) sum = mix(sum, value_at(buffer + i, 8));
        }
    return sum ? sum : 1;
}

// A host write to pages that hold nothing else causes a fault, which touched_early() records, so its line is known.
void watch(const CopySource& s, bool on) {
    const Region* const r = find(s.start);
    if (!r || r->freed || r->kind != Kind::pinned || s.height > 1) return;
    const char* const end = s.start + s.width;
    const auto up = [](const char* p) { return (uintptr_t(p) + page - 1) / page * page; };
    const uintptr_t from = s.start == r->start ? uintptr_t(r->base) : up(s.start);
    const uintptr_t to = end == r->start + r->bytes ? uintptr_t(r->base + r->pages) : uintptr_t(end) / page * page;
    if (from < to) mprotect(reinterpret_cast<void*>(from), to - from, on ? PROT_READ : PROT_READ | PROT_WRITE);
}

bool has_changed(CopySource& s) {  // since it was last looked at
    const uint64_t before = std::exchange(s.sum, sum_of(s));
    return before && s.sum && before != s.sum;
}

template <class F> void each_work(F f) {  // except the running one
    for (auto& [number, work] : queued) f(work);
    for (Work& work : done) f(work);
}
template <class F> void each_source(F f) {
    each_work([&](Work& work) {
        for (CopySource& s : work.sources) f(work, s);
    });
}

// A callback runs between the works and may write to the source of another stream's copy.
void callback_runs(bool begins) {
    each_source([=](const Work& work, CopySource& s) {
        if (has_changed(s) && !begins && !waits_for(work, running) && !waits_for(running, work))
            report_changed_source(work, s, &running);
    });
}

// On a GPU the value that the kernel has read is then undefined.
void compare_host_writes() {
    for (const auto& [address, pc] : std::exchange(written_meanwhile, {})) {
        const Region* const r = region_of(const_cast<char*>(address), 0);
        if (!r || !r->shadow || r->freed) continue;
        Shadow& s = *r->shadow;
        const size_t offset = address - r->start;
        write_out(s, offset / line_bytes);
        const Word word = s.words.at(offset / 4), byte = s.bytes.at(offset);
        for (const Epoch* read : {&word.cell.read, &word.sync.read, &byte.cell.read, &byte.sync.read})
            if (read->time >= running.start && read->access == reads && read->bytes >> offset % 4 & 1)
                report_late_read(running, *read, address, pc);
    }
}

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
    if (w != queued.end()) w->second.event = event;
    if (w != queued.end() && e != queued.end()) comes_after(w->second, e->second);
}

EventUse event_between(const Work& recorded, const Work& waiting) {
    EventUse best;
    const auto is_better = [&](const Work& wait) {
        const bool late = wait.number > waiting.number;
        if (!best.wait || late != (best.wait->number > waiting.number)) return !best.wait || !late;
        return late == (wait.number < best.wait->number);
    };
    each_work([&](const Work& wait) {
        if (!wait.event || wait.stream != waiting.stream || !is_better(wait)) return;
        each_work([&](const Work& record) {
            if (record.number == wait.event && record.stream == recorded.stream) best = {&record, &wait};
        });
    });
    return best;
}

void work_begins(unsigned long number) {
    const auto w = queued.find(number);
    if (w == queued.end()) return;
    running = std::move(w->second);
    queued.erase(w);
    running.turn = turns++;
    running.start = ++now;
    if (several_streams && is_callback(running)) callback_runs(true);
}
void work_ended() {
    if (several_streams && is_callback(running)) callback_runs(false);
    compare_host_writes();
    last_run = running.number;
    if (several_streams) done.push_back(std::move(running));
    if (queued.empty()) done.clear(), report_unordered_works(), report_early_reads(), several_streams = false;
}

Time launch_beside() {
    running.what = say({"kernel %s", "核函数 %s"}, launch->kernel->name);
    // cudaLaunchKernelEx() knows its own line only.
    const bool by_header = strstr(launch->where.file, "cpu/include/");
    running.line = by_header ? first_line(running.callers) : source_line(launch->where);
    written_meanwhile = written_since(running.number);
    for (const Work& w : done)
        if (!waits_for(running, w)) return w.start;
    return running.start;
}

bool is_secondary() { return running.primary && running.primary == last_run; }

bool before_this_launch(const Epoch& r) {
    const Work* const w = work_at(r.time);
    return !w || waits_for(running, *w);
}

void race_of_works(WorkRace kind, const Epoch& before, const Epoch& mine, const char* address) {
    const Work* const w = work_at(before.time);
    if (kind != WorkRace::undecided) exit_status = 1;
    if (w) explain_early_reads(address), report(kind, *w, before, running, mine, address);
}

void work_writes(Region& r, size_t offset, size_t bytes) {
    if (r.shadow && bytes < r.bytes) {
        PartialCopy& c = r.shadow->copied;
        const size_t before = c.work == running.number ? c.bytes : 0;  // in other rows
        c = {running.number, running.what, running.callers, before + bytes};
    }
    bytes_written(r, offset, bytes);
}

void work_will_write(const void* target, size_t bytes) {
    if (queued.empty()) return;
    queued.rbegin()->second.target = static_cast<const char*>(target);
    queued.rbegin()->second.target_bytes = bytes;
}

const Work* next_copy_to(const char* address) {
    for (const auto& [number, work] : queued)
        if (size_t(address - work.target) < work.target_bytes) return &work;
    return nullptr;
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
    each_cell(*r->shadow, size_t(first - r->start), size_t(first - r->start) + bytes, 1,
              [&](const Word& w, size_t word, uint8_t mask, bool own) {
                  mine.bytes = mask & 15;
                  const Epoch* other = nullptr;
                  for (const Epoch* o : {&w.sync.other, &w.sync.synced, &w.cell.write, &w.cell.read, &w.sync.read})
                      if ((write || o->access & writes) && concurrent(*o)) other = o;
                  if (other) race_of_works(WorkRace::between_streams, *other, mine, r->start + word);
                  if (own) (write ? w.cell.write : w.cell.read) = mine;
              });
}

// ---- the host beside queued works

void host_may_tell(const Region* r, const char* address, unsigned kind) {
    if (written_meanwhile.empty() || (r && r->kind == Kind::device)) return;
    const auto is_near = [=](const auto& w) { return uintptr_t(w.first) / page == uintptr_t(address) / page; };
    if (kind & flag || std::any_of(written_meanwhile.begin(), written_meanwhile.end(), is_near))
        written_meanwhile.clear();
}

void host_gets(const void* from, size_t pitch, size_t width, size_t height) {
    const Region* const r = find(from);
    if (!r || !r->shadow || r->freed || r->shadow->all_written) return;
    const size_t start = static_cast<const char*>(from) - r->start;
    size_t first = 0, end = 0, count = 0;
    for (size_t y = 0; y < height; ++y) {
        const uint8_t *const begin = r->shadow->written + start + y * pitch, *at = begin;
        for (; (at = static_cast<const uint8_t*>(memchr(at, 0, begin + width - at))); ++at) {
            end = size_t(at - r->shadow->written);
            if (!count++) first = end;
        }
    }
    // If some bytes are written, the others may be padding, or space that was not needed.
    if (count) report_unwritten_copy(running, *r, first, end, count, count == width * height);
}

void host_must_keep(const void* start, size_t pitch, size_t width, size_t height) {
    const Region* const r = find(start);
    if (queued.empty() || !r || r->kind < Kind::managed || r->kind > Kind::registered) return;
    CopySource s{static_cast<const char*>(start), pitch, width, height, 0};
    s.sum = sum_of(s);
    watch(s, true);
    queued.rbegin()->second.sources.push_back(s);
}

void host_waits(bool begins) {
    each_source([=](const Work& work, CopySource& s) {
        if (work.has_begun()) return;
        watch(s, !begins);
        if (has_changed(s) && begins) report_changed_source(work, s, nullptr);
    });
}

}  // namespace cudacpu::race
