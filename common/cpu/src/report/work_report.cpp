// work_report.cpp - words what the race detector finds between works: kernels, copies and callbacks of several
// streams, and the host beside them.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/early_access.hpp"
#include "race/shadow_memory.hpp"
#include "race/stream_order.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

namespace {

std::string at_line(const std::string& line) { return line.empty() ? "" : " at " + line; }
std::string line_of(const Work& work) { return work.line.empty() ? first_line(work.callers) : work.line; }
std::string line_of(const Epoch& r) {
    if (r.rank == 0xffff) return "";  // a copy
    if (r.site >> 48) return source_line(Where{reinterpret_cast<char*>(r.site & ~0ul >> 16), int(r.site >> 48)});
    return source_line(reinterpret_cast<char*>(r.site) - 1);
}

void report_hazard(const std::string& what, const std::vector<Remark>& lines, const std::string& mend,
                   bool harmless = false) {
    print_report_once(finding("stream-order", what, lines, mend, harmless));
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

}  // namespace

void report(WorkRace kind, const Work& before, const Epoch& its, const Work& after, const Epoch& mine,
            const char* address) {
    constexpr struct {
        const char *what, *end, *mend;
    } words[] = {{"a race between streams on ", ", and neither waits for the other",
                  "let one wait: cudaEventRecord() and cudaStreamWaitEvent(), or cudaStreamSynchronize() between"},
                 {"a race between kernels of one stream on ", ", which may begin before the first has ended",
                  "call cudaGridDependencySynchronize() first, in this thread, or in another one before a barrier "
                  "of both"},
                 {"perhaps a race between kernels of one stream on ",
                  ", which waits for the kernel between them, but that one does not wait for the first",
                  "call cudaGridDependencySynchronize() in the kernel between them"}};
    static auto& said = *new std::set<std::pair<uint64_t, uint64_t>>;
    if (!said.insert({its.site ^ before.number << 50, mine.site ^ after.number << 50}).second) return;
    std::vector<Remark> lines;
    const auto does = [&](const Work& work, const Epoch& r) {
        const std::string queued = line_of(work), verb = r.access & writes ? "writes" : "reads", line = line_of(r);
        lines.push_back({queued, line.empty() ? verb : "is queued"});
        lines.push_back({line, verb});
        return work.what + (queued.empty() ? " " : ", queued" + at_line(queued) + ", ") + verb + at_line(line);
    };
    const auto& [what, end, mend] = words[int(kind)];
    const std::string first = does(before, its), second = does(after, mine);
    report_hazard(what + explain(address) + "\n" + first + ",\nand " + second + end, lines, mend,
                  kind == WorkRace::undecided);
}

void report_changed_source(const CopySource& s, const Work* callback) {
    const std::string line = first_line(s.callers);
    if (callback)
        report_hazard("a callback changes " + explain(s.start) + ",\nwhich " + s.what + at_line(line) + " copies",
                      {{line, "is queued"}, {first_line(callback->callers), "its function writes"}},
                      "let one wait for the other: cudaEventRecord() and cudaStreamWaitEvent(), or queue both in "
                      "one stream");
    else
        report_hazard(
            "the host has changed " + explain(s.start) + "\nbefore " + s.what + at_line(line) + " had copied it",
            {{line, "is queued"}, {source_line(where_touched(s.start, s.width)), "the host writes"}},
            "wait for the copy first: cudaStreamSynchronize(), or an event");
}

void report_late_read(const Work& work, const Epoch& read, const char* address, const void* host_writes) {
    static auto& said = *new std::set<std::pair<const void*, std::string>>;
    if (said.insert({host_writes, work.line}).second)
        report_hazard("the host has written " + explain(address) + "\nbefore " + work.what + ", queued" +
                          at_line(work.line) + ", had read it",
                      {{work.line, "is queued"},
                       {source_line(host_writes), "the host writes"},
                       {line_of(read), "the kernel reads"}},
                      "wait for the kernel first: cudaDeviceSynchronize()");
}

void report_unwritten_copy(const Work& work, const Region& r, size_t first, size_t last, size_t count, bool all) {
    const std::string call = first_line(work.callers);
    static auto& said = *new std::set<std::string>;
    if (!said.insert(call + (all ? "*" : "")).second) return;
    const size_t unit = element_of(r);
    std::string which = text(unit == 1 ? "byte %zu" : "element %zu", first / unit);
    if (last / unit != first / unit)
        which = text(unit == 1 ? "bytes %zu to %zu" : "elements %zu to %zu", first / unit, last / unit);
    if (count < last + 1 - first) which = text("%zu among ", count / unit) + which;
    print_report(finding("unwritten-value",
                         text("%s gives the host what nobody has written: %s of the %zu allocated at %s:%d",
                              work.what.c_str(), which.c_str(), r.bytes / unit, r.where.file, r.where.line),
                         {{call, ""}},
                         all ? "let a kernel, cudaMemcpy or cudaMemset write it first"
                             : "if it is no padding, check which elements the kernel writes",
                         !all));
}

}  // namespace cudacpu::race
