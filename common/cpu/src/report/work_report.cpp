// work_report.cpp - words what the race detector finds between works: kernels, copies and callbacks of several
// streams, and the host beside them.
#include <algorithm>
#include <cstdlib>
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
#include "report/race_report.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

namespace {

constexpr Sentence event_between_lines{
    "let line %2$d wait for line %1$d: cudaEventRecord() after line %1$d and cudaStreamWaitEvent() before line "
    "%2$d; or put cudaDeviceSynchronize() before line %2$d, which also blocks the host",
    "让第 %2$d 行等待第 %1$d 行：在第 %1$d 行之后调用 cudaEventRecord()，在第 %2$d 行之前调用 "
    "cudaStreamWaitEvent()；或者在第 %2$d 行之前加上 cudaDeviceSynchronize()，它也使主机等待"};
constexpr Sentence move_record{
    "line %1$d records the event before line %2$d queues its work: move line %1$d after line %2$d",
    "第 %1$d 行记录事件时，第 %2$d 行还没有把工作加入队列：把第 %1$d 行移到第 %2$d 行之后"};
constexpr Sentence move_both{
    "lines %1$d and %2$d record the event and wait for it before line %3$d queues its work: move both, in this "
    "order, after line %3$d",
    "第 %1$d 行和第 %2$d 行记录并等待事件时，第 %3$d 行还没有把工作加入队列：把这两行依次移到第 %3$d 行之后"};
constexpr Sentence move_wait{
    "line %1$d waits for the event only after line %2$d queues its work: move line %1$d before line %2$d",
    "第 %1$d 行等待事件时，第 %2$d 行已经把工作加入队列：把第 %1$d 行移到第 %2$d 行之前"};
constexpr Sentence frees_it{"frees", "释放"}, is_queued{"is queued", "加入队列"},
    host_writes_it{"the host writes", "主机写入"};

std::string line_of(const Work& work) { return work.line.empty() ? first_line(work.callers) : work.line; }
std::string line_of(const Epoch& r) {
    if (r.rank == 0xffff) return "";  // a copy
    if (r.site >> 48) return source_line(Where{reinterpret_cast<char*>(r.site & ~0ul >> 16), int(r.site >> 48)});
    return source_line(reinterpret_cast<char*>(r.site) - 1);
}

Line line_at(const std::string& place) {
    const size_t colon = std::min(place.rfind(':'), place.size());
    return {place, place.substr(0, colon), colon < place.size() ? atoi(place.c_str() + colon + 1) : 0};
}

// How the later work comes to wait for the earlier one, whose lines are in one file.
std::string order_works(const Work& early, const Work& late) {
    const Line from = line_at(line_of(early)), to = line_at(line_of(late));
    if (from.file != to.file || !from.number || from.number == to.number) return "";
    const auto line = [&](const Work* w) {  // 0 if it is not among the same statements
        const Line at = w ? line_at(line_of(*w)) : Line{};
        return at.file == from.file && among_the_same(from, at.number) ? at.number : 0;
    };
    const auto [record, wait] = event_between(early, late);
    const int r = line(record), w = line(wait), first = from.number, second = to.number;
    if (r && w && r < first && w < second && record->number < early.number && wait->number < late.number)
        return w > first ? say(move_record, r, first) : say(move_both, r, w, first);
    if (r > first && w > second && line(&late) && record->number > early.number && wait->number > late.number)
        return say(move_wait, w, second);
    return say(event_between_lines, first, second);
}

void report_hazard(const std::string& what, const std::vector<Remark>& lines, const std::string& mend,
                   bool harmless = false) {
    print_report_once(finding("stream-order", what, lines, mend, harmless));
}

// Races between streams, until all works have ended: an order of two works also orders those around them.
struct Unordered {
    const void *early_stream, *late_stream;
    unsigned long early, late;
    Report report;
};
std::vector<Unordered> unordered CUDACPU_LASTING;

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
    static constexpr struct {
        Sentence what, works, mend;
    } words[] = {
        {{"a race between streams on %s", "流之间的数据竞争：%s"},
         {"%s %s, and %s %s, and neither waits for the other", "%s%s，%s%s，两者互不等待"},
         {"let one wait: cudaEventRecord() and cudaStreamWaitEvent(), or cudaStreamSynchronize() between",
          "让其中一个等待：cudaEventRecord() 和 cudaStreamWaitEvent()，或者在两者之间加上 "
          "cudaStreamSynchronize()"}},
        {{"a race between kernels of one stream on %s", "同一个流的核函数之间的数据竞争：%s"},
         {"%s %s, and %s %s, which may begin before the first has ended",
          "%s%s，%s%s，而且可能在前一个结束之前就开始"},
         {"call cudaGridDependencySynchronize() first, in this thread, or in another one before a barrier "
          "of both",
          "先调用 cudaGridDependencySynchronize()：由这个线程调用，或者由另一个线程在两者的同步点之前调用"}},
        {{"perhaps a race between kernels of one stream on %s", "同一个流的核函数之间可能有数据竞争：%s"},
         {"%s %s, and %s %s, which waits for the kernel between them, but that one does not wait for the first",
          "%s%s，%s%s，后者等待中间的核函数，但中间的核函数不等待前者"},
         {"call cudaGridDependencySynchronize() in the kernel between them",
          "在中间的核函数中调用 cudaGridDependencySynchronize()"}}};
    static auto& said = *new std::set<std::pair<uint64_t, uint64_t>>;
    if (!said.insert({its.site ^ before.number << 50, mine.site ^ after.number << 50}).second) return;
    std::vector<Remark> lines;
    const auto does = [&](const Work& work, const Epoch& r) {
        const std::string line = line_of(r), verb = say(work.what == "cudaFreeAsync" ? frees_it
                                                        : r.access & writes          ? writes_it
                                                                                     : reads_it);
        lines.push_back({line_of(work), line.empty() ? verb : say(is_queued)});
        lines.push_back({line, verb});
        return verb;
    };
    const auto& [what, works, mend] = words[int(kind)];
    const std::string first = does(before, its), second = does(after, mine);
    const auto& [early, late] = std::minmax(before, after, [](auto& x, auto& y) { return x.number < y.number; });
    const std::string edit = kind == WorkRace::between_streams ? order_works(early, late) : "";
    const Report report = finding(
        "stream-order", say(what, explain(address)) + "\n" + say(works, before.what, first, after.what, second),
        lines, edit.empty() ? say(mend) : edit, kind == WorkRace::undecided);
    if (edit.empty()) print_report_once(report);
    else unordered.push_back({early.stream, late.stream, early.number, late.number, report});
}

void report_unordered_works() {
    static auto& told = *new std::set<std::string>;
    for (const Unordered& u : unordered) {
        const bool settled = std::ranges::any_of(unordered, [&](const Unordered& o) {
            return o.early_stream == u.early_stream && o.late_stream == u.late_stream && o.early >= u.early &&
                   o.late <= u.late && (o.early != u.early || o.late != u.late);
        });
        if (!settled && told.insert(u.report.finding.advice).second) print_report(u.report);
    }
    unordered.clear();
}

void report_changed_source(const Work& copy, const CopySource& s, const Work* callback) {
    const std::string line = line_of(copy), writer = source_line(where_touched(s.start, s.width));
    if (callback)
        report_hazard(
            say({"a callback changes %s,\nwhich %s copies", "回调函数修改 %s，\n而 %s 要复制它"}, explain(s.start),
                copy.what),
            {{line, say(is_queued)}, {first_line(callback->callers), say({"its function writes", "它的函数写入"})}},
            say({"let one wait for the other: cudaEventRecord() and cudaStreamWaitEvent(), or queue both in "
                 "one stream",
                 "让一个等待另一个：cudaEventRecord() 和 cudaStreamWaitEvent()，或者把两者放入同一个流"}));
    else
        report_hazard(
            say({"the host has changed %s\nbefore %s had copied it", "主机修改了 %s，\n而 %s 还没有复制它"},
                explain(s.start), copy.what),
            {{line, say(is_queued)}, {writer, say(host_writes_it)}},
            writer.empty() ? say({"wait for the copy first: cudaStreamSynchronize(), or an event",
                                  "先等待复制完成：cudaStreamSynchronize() 或事件"})
                           : say({"put cudaStreamSynchronize(), with the stream of line %d, before line %d",
                                  "在第 %2$d 行之前加上 cudaStreamSynchronize()，参数是第 %1$d 行的流"},
                                 line_at(line).number, line_at(writer).number));
}

void report_late_read(const Work& work, const Epoch& read, const char* address, const void* host_writes) {
    static auto& said = *new std::set<std::pair<const void*, std::string>>;
    if (said.insert({host_writes, work.line}).second)
        report_hazard(say({"the host has written %s\nbefore %s had read it", "主机写入了 %s，\n而 %s 还没有读取它"},
                          explain(address), work.what),
                      {{work.line, say(is_queued)},
                       {source_line(host_writes), say(host_writes_it)},
                       {line_of(read), say({"the kernel reads", "核函数读取"})}},
                      say({"wait for the kernel first: cudaDeviceSynchronize()",
                           "先等待核函数完成：cudaDeviceSynchronize()"}));
}

void report_unwritten_copy(const Work& work, const Region& r, size_t first, size_t last, size_t count, bool all) {
    const std::string call = first_line(work.callers);
    static auto& said = *new std::set<std::string>;
    if ((!all && is_told(r)) || !said.insert(call + (all ? "*" : "")).second) return;
    const size_t unit = element_of(r);
    std::string which =
        say(unit == 1 ? Sentence{"byte %zu", "字节 %zu"} : Sentence{"element %zu", "元素 %zu"}, first / unit);
    if (last / unit != first / unit)
        which = say(unit == 1 ? Sentence{"bytes %zu to %zu", "字节 %zu 到 %zu"}
                              : Sentence{"elements %zu to %zu", "元素 %zu 到 %zu"},
                    first / unit, last / unit);
    if (count < last + 1 - first) which = say({"%zu among %s", "%2$s 中的 %1$zu 个"}, count / unit, which);
    print_report(finding("unwritten-value",
                         say({"%s gives the host what nobody has written: %s of the %zu allocated at %s:%d",
                              "%s 把从未写入的值交给主机：%s，内存有 %zu 个，在 %s:%d 分配"},
                             work.what, which, r.bytes / unit, r.where.file, r.where.line),
                         {{call, ""}},
                         all ? say({"let a kernel, cudaMemcpy or cudaMemset write it first",
                                    "先由核函数、cudaMemcpy 或 cudaMemset 写入"})
                             : say({"if it is no padding, check which elements the kernel writes",
                                    "如果不是填充字节，检查核函数写入哪些元素"}),
                         !all));
}

}  // namespace cudacpu::race
