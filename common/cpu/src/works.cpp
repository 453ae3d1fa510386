// works.cpp - the race detector's rules for concurrent works: kernels and copies of several streams that no event
// and no wait of the host orders, and the host, which changes the source of a copy that is still queued.
//
// A work is ordered after another if its stream or an event says so, or if the host had waited for the other before
// it queued this one. All other works may run concurrently, although the CPU device runs one after the other.
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <map>

#include "detect.hpp"

namespace cudacpu::hazards {

bool several_streams;

namespace {

using Numbers = std::map<const void*, unsigned long>;  // by stream: the last work that is waited for
struct Work {
    unsigned long number;
    const void* stream;
    Numbers after;
    unsigned long begun_before;  // how many works had run when it was queued, so the host had waited for them
    unsigned long turn = ~0ul;   // its position in the order of execution
    Time start = 0;
    std::string what, line;  // the line of the kernel; for copies, of the calls
    Callers callers;
};
std::map<unsigned long, Work> queued CUDACPU_LASTING;
std::vector<Work> done CUDACPU_LASTING;  // since the queue was last empty
Work running CUDACPU_LASTING;
unsigned long turns;

struct Source {  // a buffer that the host must not change before it is copied
    unsigned long number;
    const char* start;
    size_t pitch, width, height;
    uint64_t sum, before;  // before: when the running callback began
    std::string what;
    Callers callers;
};
std::vector<Source> sources CUDACPU_LASTING, copied CUDACPU_LASTING;  // copied: since the queue was last empty
// What the host has written since the running kernel was queued, unless the host has told the kernel by a flag.
std::vector<std::pair<const char*, const void*>> written_meanwhile CUDACPU_LASTING;

std::string at(const std::string& line) { return line.empty() ? "" : " at " + line; }
std::string line_of(const Record& r) {
    if (r.rank == 0xffff) return "";
    if (r.site >> 48) return source_line(Where{reinterpret_cast<char*>(r.site & ~0ul >> 16), int(r.site >> 48)});
    return source_line(reinterpret_cast<char*>(r.site) - 1);
}

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

size_t element_of(const Region& r) {  // the size that kernels access it with; 1 if none has accessed it
    const Shadow& s = *r.shadow;
    for (size_t i = 0; i <= r.bytes / line_bytes; ++i)
        for (const Span* span : {&s.lines[i].write, &s.lines[i].read})
            if (span->done) return span->bytes() > 8 ? 4 : span->bytes();
    for (size_t i = 0; i < r.bytes / 4; ++i)
        if (s.words.cells[i].write.time) return 4;
    return 1;
}

uint64_t sum_of(const Source& s) {  // 0 if it cannot be read now
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
void watch(const Source& s, bool on) {
    const Region* const r = find(s.start);
    if (!r || r->freed || r->kind != Kind::pinned || s.height > 1) return;
    const char* const end = s.start + s.width;
    const auto up = [](const char* p) { return (uintptr_t(p) + page - 1) / page * page; };
    const uintptr_t from = s.start == r->start ? uintptr_t(r->base) : up(s.start);
    const uintptr_t to = end == r->start + r->bytes ? uintptr_t(r->base + r->pages) : uintptr_t(end) / page * page;
    if (from < to) mprotect(reinterpret_cast<void*>(from), to - from, on ? PROT_READ : PROT_READ | PROT_WRITE);
}

void say_hazard(const std::string& what, const std::vector<Remark>& lines, const std::string& mend) {
    say_once(finding(what) + listing(lines) + wrapped(mend));
}

bool is_callback(const Work& w) { return w.what == "cudaLaunchHostFunc" || w.what == "cudaStreamAddCallback"; }

// A callback runs between the works and may write to the source of another stream's copy.
void compare_sources() {
    for (auto* list : {&sources, &copied})
        for (const Source& s : *list) {
            const auto later = queued.find(s.number);
            const auto earlier =
                std::find_if(done.begin(), done.end(), [&](const Work& w) { return w.number == s.number; });
            const bool ordered = (later != queued.end() && waits_for(later->second, running)) ||
                                 (earlier != done.end() && waits_for(running, *earlier));
            const uint64_t sum = sum_of(s);
            if (ordered || !sum || !s.before || sum == s.before) continue;
            const std::string line = first_line(s.callers);
            say_hazard("a callback changes " + explain(s.start) + ",\nwhich " + s.what + at(line) + " copies",
                       {{line, "is queued"}, {first_line(running.callers), "its function writes"}},
                       "let one wait for the other: cudaEventRecord() and cudaStreamWaitEvent(), or queue both in "
                       "one stream");
        }
}

// Records that the kernel has read a word of the host's: on a GPU the value it gets is then undefined.
void compare_written() {
    static auto& said = *new std::set<std::pair<const void*, std::string>>;
    for (const auto& [address, pc] : std::exchange(written_meanwhile, {})) {
        const Region* const r = region_of(address);
        if (!r || !r->shadow || r->freed) continue;
        Shadow& s = *r->shadow;
        const size_t offset = address - r->start;
        write_out(s, offset / line_bytes);
        const Word word = s.words.at(offset / 4), byte = s.bytes.at(offset);
        for (const Record* read : {&word.cell.read, &word.rare.read, &byte.cell.read, &byte.rare.read})
            if (read->time >= running.start && read->access == reads && read->bytes >> offset % 4 & 1 &&
                said.insert({pc, running.line}).second)
                say_hazard("the host has written " + explain(address) + "\nbefore " + running.what + ", queued" +
                               at(running.line) + ", had read it",
                           {{running.line, "is queued"},
                            {source_line(pc), "the host writes"},
                            {line_of(*read), "the kernel reads"}},
                           "wait for the kernel first: cudaDeviceSynchronize()");
    }
}

}  // namespace

void host_may_tell(const Region* r, const char* address, unsigned kind) {
    if (written_meanwhile.empty() || (r && r->kind == Kind::device)) return;
    const auto is_near = [=](const auto& w) { return uintptr_t(w.first) / page == uintptr_t(address) / page; };
    if (kind & flag || std::any_of(written_meanwhile.begin(), written_meanwhile.end(), is_near))
        written_meanwhile.clear();
}

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
    const auto own = [=](const Source& s) { return s.number == number; };
    std::copy_if(sources.begin(), sources.end(), std::back_inserter(copied), own);
    std::erase_if(sources, own);
    for (auto* list : {&sources, &copied})
        for (Source& s : *list) s.before = several_streams && is_callback(running) ? sum_of(s) : 0;
}
void work_ended() {
    if (is_callback(running)) compare_sources();
    compare_written();
    if (several_streams) done.push_back(std::move(running));
    if (queued.empty()) done.clear(), copied.clear(), several_streams = false;
}

Time launch_beside() {
    running.what = std::string("kernel ") + launch->kernel->name;
    running.line = source_line(launch->where);
    written_meanwhile = written_since(running.number);
    for (const Work& w : done)
        if (!waits_for(running, w)) return w.start;
    return running.start;
}

bool before_this_launch(const Record& r) {
    const Work* const w = work_at(r.time);
    return !w || waits_for(running, *w);
}

void race_of_works(const Record& before, const Record& mine, char* address) {
    static auto& said = *new std::set<std::pair<uint64_t, uint64_t>>;
    const Work* const w = work_at(before.time);
    exit_status = 1;
    if (!w || !said.insert({before.site ^ w->number << 50, mine.site ^ running.number << 50}).second) return;
    std::vector<Remark> lines;
    const auto does = [&](const Work& work, const Record& r) {
        const std::string queue_line = work.line.empty() ? first_line(work.callers) : work.line;
        const std::string verb = r.access & writes ? "writes" : "reads", line = line_of(r);
        lines.push_back({queue_line, line.empty() ? verb : "is queued"});
        lines.push_back({line, verb});
        return work.what + (queue_line.empty() ? " " : ", queued" + at(queue_line) + ", ") + verb + at(line);
    };
    const std::string first = does(*w, before), second = does(running, mine);
    say_hazard("a race between streams on " + explain(address) + "\n" + first + ",\nand " + second +
                   ", and neither waits for the other",
               lines,
               "let one wait: cudaEventRecord() and cudaStreamWaitEvent(), or cudaStreamSynchronize() between");
}

void work_touches(const void* address, size_t bytes, bool write) {
    if (!several_streams) return;
    char* const first = static_cast<char*>(const_cast<void*>(address));
    if (!program.shadow) region_added(program);
    Region* const r = is_global(first) ? &program : find(first);
    if (!r || !r->shadow || r->freed || first < r->start || first + bytes > r->start + r->bytes) return;
    Record mine{0, now, 0xffff, 0, 15, uint8_t(write ? writes : reads)};
    auto apart = [&](const Record& o) {
        return o.bytes & mine.bytes && o.time && o.time < running.start && !before_this_launch(o);
    };
    const size_t from = first - r->start, end = from + bytes;
    auto compare = [&](Word w, size_t at) {
        const Record* other = nullptr;
        for (const Record* o : {&w.rare.other, &w.rare.synced, &w.cell.write})
            if (apart(*o)) other = o;
        for (const Record* o : {&w.cell.read, &w.rare.read})
            if (write && apart(*o)) other = o;
        if (other) race_of_works(*other, mine, r->start + at);
    };
    for (size_t i = from / 4; 4 * i < end; ++i) {
        NotedLine& line = r->shadow->lines[4 * i / line_bytes];
        mine.bytes = ((1u << std::min<size_t>(end - 4 * i, 4)) - (1u << (std::max(from, 4 * i) - 4 * i))) & 15;
        write_out(*r->shadow, 4 * i / line_bytes);
        compare(r->shadow->words.at(i), 4 * i);
        for (size_t b = 4 * i; line.bytes && b < 4 * i + 4; ++b)
            if (b >= from && b < end) compare(r->shadow->bytes.at(b), b);
        Cell& cell = r->shadow->words.cells[i];
        (write ? cell.write : cell.read) = mine;
        line.words_noted();
    }
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
    if (!count) return;
    const bool all = count == width * height;  // otherwise it may be padding, or space that was not needed
    const std::string call = first_line(running.callers);
    static auto& said = *new std::set<std::string>;
    if (!said.insert(call + (all ? "*" : "")).second) return;
    const size_t unit = element_of(*r);
    std::string which = text(unit == 1 ? "byte %zu" : "element %zu", first / unit);
    if (end / unit != first / unit)
        which = text(unit == 1 ? "bytes %zu to %zu" : "elements %zu to %zu", first / unit, end / unit);
    if (count < end + 1 - first) which = text("%zu among ", count / unit) + which;
    say(finding(text("%s gives the host what nobody has written: %s of the %zu allocated at %s:%d",
                     running.what.c_str(), which.c_str(), r->bytes / unit, r->where.file, r->where.line),
                !all) +
        listing({{call, ""}}) +
        wrapped(all ? "let a kernel, cudaMemcpy or cudaMemset write it first"
                    : "if it is no padding, check which elements the kernel writes"));
}

void host_must_keep(const void* start, size_t pitch, size_t width, size_t height) {
    const Region* const r = find(start);
    if (queued.empty() || !r || r->kind < Kind::managed || r->kind > Kind::registered) return;
    Source s{queued.rbegin()->first,
             static_cast<const char*>(start),
             pitch,
             width,
             height,
             0,
             0,
             api_function,
             callers(9)};
    s.sum = sum_of(s);
    watch(s, true);
    sources.push_back(std::move(s));
}

void host_waits(bool begins) {
    for (Source& s : sources) {
        const uint64_t sum = sum_of(s);
        watch(s, !begins);
        if (begins && sum && s.sum && sum != s.sum) {
            const std::string line = first_line(s.callers);
            say_hazard(
                "the host has changed " + explain(s.start) + "\nbefore " + s.what + at(line) + " had copied it",
                {{line, "is queued"}, {source_line(where_touched(s.start, s.width)), "the host writes"}},
                "wait for the copy first: cudaStreamSynchronize(), or an event");
        }
        s.sum = sum;
    }
}

}  // namespace cudacpu::hazards
