// race_report.cpp - words the findings of the race detector: each cause once, with its lines.
#include "report/race_report.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/async_copies.hpp"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "engine/watchdog.hpp"
#include "memory/address_space.hpp"
#include "race/bounds.hpp"
#include "race/fast_path.hpp"
#include "race/race.hpp"
#include "race/upcalls.hpp"
#include "report/crash.hpp"
#include "report/symbolize.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

using std::string;

const Line& line_of(uint64_t site) {
    static auto& known = *new std::map<uint64_t, Line>;
    Line& l = known[site];
    if (!l.place.empty()) return l;
    const char* at = reinterpret_cast<char*>(site & ~0ul >> 16);
    l.place = site >> 48 ? text("%s:%d", at, int(site >> 48)) : source_line(at - 1);
    const size_t colon = l.place.rfind(':');
    if (colon == l.place.npos) return l = {"a line that is not known", "", 0};
    l = {l.place, l.place.substr(0, colon), atoi(l.place.c_str() + colon + 1)};
    // The compiler names a file as it was given, the debug information with its folder.
    if (l.file[0] != '/' && !source_text(std::filesystem::absolute(l.file)).empty()) {
        l.file = std::filesystem::absolute(l.file);
        l.place = l.file + ":" + std::to_string(l.number);
    }
    return l;
}

namespace {

string what_happened(const string& what, bool harmless) { return (harmless ? "note: " : "hazard: ") + what; }

uint64_t site_of(Where w) { return uint64_t(w.file) | uint64_t(w.line) << 48; }

string index(uint64_t i, dim3 n) {
    if (n.y == 1 && n.z == 1) return text("%u", unsigned(i));
    if (n.z == 1) return text("(%u,%u)", unsigned(i % n.x), unsigned(i / n.x));
    return text("(%u,%u,%u)", unsigned(i % n.x), unsigned(i / n.x % n.y), unsigned(i / n.x / n.y));
}
// ---- what the reports say

constexpr Sentence in_kernel{"in kernel %s, %s", "核函数 %s，%s"}, on_line{"at %s", "位于 %s"},
    one_block{"block %s", "线程块 %s"}, of_two_blocks{"blocks %s and %s", "线程块 %s 和 %s"},
    race_on{"race on %s", "数据竞争：%s"},
    equal_race{"race, but of equal values, on %s", "数据竞争（写入的值相同）：%s"},
    does_atomic{"does an atomic", "执行原子操作"}, thread_does{"thread %s %s", "线程 %s %s"},
    block_thread_does{"block %s thread %s %s", "线程块 %s 线程 %s %s"},
    two_threads_write{"threads %s and %s write", "线程 %s 和 %s 写入"},
    both_write{"%s and %s write", "%s 和 %s 写入"},
    no_lockstep{"the lanes of a warp do not run in lockstep: ", "线程束的各个通道并不同步执行："},
    mend_first{"mend the barrier first: this may follow from it", "先改正同步点：这可能是由它引起的"},
    foreign_access{"an access to memory that is not the device's", "访问了不属于设备的内存"},
    foreign_mend{
        "give the kernel memory from cudaMalloc or cudaMallocManaged; copying a struct copies its pointers only: "
        "let them point to such memory first",
        "传给核函数的内存要来自 cudaMalloc 或 "
        "cudaMallocManaged；复制结构体只复制其中的指针：先让它们指向这样的内存"},
    past_heap_access{"an access out of bounds: %s from malloc() or new in a kernel",
                     "越界访问：%s，内存来自核函数中的 malloc() 或 new"},
    past_heap_mend{"check the index against the size that was asked for: if (i < n)",
                   "把下标与申请的大小相比较：if (i < n)"},
    freed_access{"an access to memory that was freed: %s from malloc() or new in a kernel",
                 "访问了已释放的内存：%s，内存来自核函数中的 malloc() 或 new"},
    freed_mend{"free it after its last use", "在最后一次使用之后再释放"},
    others_access{"an access to a variable of another thread", "访问了另一个线程的变量"},
    others_mend{"a thread can reach its own variables only: hand the value on in __shared__ memory or by a shuffle",
                "线程只能访问自己的变量：通过 __shared__ 内存或 shuffle 传递这个值"},
    bounds_access{"an access out of bounds: %s%s", "越界访问：%s%s"},
    has_elements{", which has %zu", "，它有 %zu 个元素"},
    has_rows{", which has %zu rows of %zu", "，它有 %zu 行，每行 %zu 个元素"},
    has_bytes{", which has %zu of its %zu bytes", "，它只有 %zu 字节，需要 %zu 字节"},
    one_more{"; or the array needs one element more, see %s:%d and what calls it",
             "；或者数组还需要一个元素，见 %s:%d 以及调用它的地方"},
    bytes_needed{"; the accesses need %zu", "；这些访问需要 %zu 字节"},
    unwritten_read{"a value that nobody has written: %s", "读取了从未写入的值：%s"},
    under_way_read{"a value that an asynchronous copy has not brought yet: %s", "读取了异步复制尚未送达的值：%s"},
    under_way_write{"a write to the destination of an asynchronous copy that has not ended, which may be lost: %s",
                    "异步复制尚未结束就写入了它的目的地，写入的值可能丢失：%s"},
    write_after_copy{
        "write it after the copy: the thread that copies calls __pipeline_wait_prior(0) first, and if another "
        "thread writes it, __syncthreads() follows",
        "在复制之后再写入：复制的线程先调用 __pipeline_wait_prior(0)；如果是另一个线程写入，之后还要 "
        "__syncthreads()"},
    wait_for_copy{
        "wait first: each thread that copies calls __pipeline_wait_prior(0) after __pipeline_commit(), which waits "
        "for its own copies only; so put __syncthreads() after that wait, before this line",
        "先等待：每个复制的线程在 __pipeline_commit() 之后调用 __pipeline_wait_prior(0)，它只等待自己的复制；"
        "所以在这次等待之后、这一行之前加上 __syncthreads()"},
    wait_is_short{
        "the wait in %1$s leaves %2$zu batches unfinished, and may leave at most %3$zu: lower its number by %4$zu",
        "%1$s的等待允许 %2$zu 批未完成，而最多只能允许 %3$zu 批：把它的参数减去 %4$zu"},
    set_memory{"%zu of the %zu elements are not written, the first is number %zu: ",
               "其 %2$zu 个元素中有 %1$zu 个没有写入，第一个的编号是 %3$zu："},
    copied_later{"%s in %s writes it after this launch: move that before %s",
                 "%2$s的 %1$s 在这次启动之后才写入：把它移到%3$s之前"},
    copied_in_part{"%s in %s wrote %zu of the %zu bytes: ", "%2$s的 %1$s 只写入了其 %4$zu 字节中的 %3$zu 字节："},
    number_of_bytes{"the size counts bytes, multiply it by %zu", "大小以字节计，要乘以 %zu"},
    size_of_pointer{"8 is the size of a pointer: pass the number of elements times %zu",
                    "8 是指针的大小，要用元素个数乘以 %zu"},
    copy_the_others{"let it, or a kernel, write the others before this launch, or do not read them",
                    "让它或一个核函数在这次启动之前写入其他元素，或者不要读取它们"},
    set_at_first{"let cudaMemset set them first, to 0 for a sum", "先用 cudaMemset 设置它们，求和则设为 0"},
    set_by_anyone{"let cudaMemcpy or a kernel write them first: what comes after this launch is too late",
                  "先由 cudaMemcpy 或核函数写入：在这次启动之后再写就太晚了"},
    set_there{" in %s", "（%s）"},
    set_by_neighbours{
        "others are written%s: let the same copy or kernel also write these (check its number of threads, its size "
        "and its index), or do not read them",
        "其他元素已写入%s：让同一次复制或同一个核函数也写入这些元素（检查线程数、大小和下标），或者不要读取它们"},
    two_write{
        "check the index: two threads write this element, and nobody writes another one that is read (see above)",
        "检查下标：两个线程写这个元素，而另一个被读取的元素没有线程写（见上）"},
    trace{"notice: to see these accesses, run it with %s", "notice: 加上 %s 再运行，可以看到这些访问"},
    set_heap{"write it first: malloc() and new set nothing", "先写入：malloc() 和 new 不会设置任何值"},
    write_first{"write it first, or check the index; if another thread writes it, put __syncthreads() between",
                "先写入，或者检查下标；如果由另一个线程写入，在两者之间加上 __syncthreads()"};

string thread_of(const Accessor& p) { return index(p.rank, launch->block); }
string block_of(const Accessor& p) { return index(p.block, launch->grid); }
string verb(const Accessor& p) {
    return say(p.access & atomic ? does_atomic : p.access & writes ? writes_it : reads_it);
}

Report in_kernel_report(const string& kind, const string& what, const string& blocks, const Line& at,
                        const std::vector<Remark>& lines, const string& mend, bool harmless = false) {
    const string who = say(in_kernel, kernel_name(), blocks);
    const string head =
        at.number ? on_a_line(who + (in_chinese() ? "，" : ","), say(on_line, at.place)) : "\n  " + who;
    Report report = finding(kind, what, lines, mend, harmless, head);
    report.finding.message += ", " + who;
    return report;
}

std::set<string> reported CUDACPU_LASTING;
bool told_of_trace;
std::vector<std::pair<Line, Report>> missed_barriers CUDACPU_LASTING;
std::set<unsigned long> told_regions CUDACPU_LASTING;
// Unwritten values, until it is known whether a work of another stream writes them: then the race explains them.
std::vector<std::pair<const Region*, Report>> early_reads CUDACPU_LASTING;
struct Noted {
    Mistake what;
    char *address, *last;
    size_t bytes;
    Accessor who;
    std::optional<LateCopy> late{};  // that is read: the wait must leave as many batches as is least
    char* first = address;           // first and last: of all accesses there
    Unset unset{};                   // when the line first read a value that was not written
};
std::map<std::pair<Mistake, uint64_t>, Noted> noted CUDACPU_LASTING;  // of this launch; the first one at each line

// With the first and the last address of its memory in all lines.
Noted all_of(Noted m) {
    for (const auto& [key, other] : noted)
        if (other.what == m.what && find(other.address) == find(m.address))
            m.first = std::min(m.first, other.first), m.last = std::max(m.last, other.last);
    return m;
}

// The parts of a report: its kind, what happened, and how to mend it.
struct Words {
    string kind, what, mend;
    bool one_cause = false;  // it mends all lines that use the array
};

// tile[2][3] for element 19 of a two-dimensional array.
string in_rows(string what, const Noted& m, const Region* r) {
    if (!r || !r->columns || r->bytes % (r->columns * m.bytes)) return what;
    const size_t number = size_t(m.address - r->start) / m.bytes;
    const string flat = text("element %zu of %s", number, r->name);
    if (const size_t at = what.find(flat); at != string::npos)
        what.replace(at, flat.size(), text("%s[%zu][%zu]", r->name, number / r->columns, number % r->columns));
    return what;
}

Words out_of_bounds(const Noted& m, const Element& e, const Region* r) {
    const bool dynamic = r && r->kind == Kind::dynamic, shared = is_shared(r), small = r && r->bytes < m.bytes;
    const size_t needed = r ? size_t(all_of(m).last + m.bytes - r->start) : 0;
    const string what = in_rows(e.words, m, r),
                 size = !r                ? ""
                        : small           ? say(has_bytes, r->bytes, m.bytes)
                        : what != e.words ? say(has_rows, r->bytes / m.bytes / r->columns, r->columns)
                                          : say(has_elements, r->bytes / e.bytes);
    Words w{"out-of-bounds", say(bounds_access, in_words(what), size), ""};
    const Line& line = line_of(m.who.site);
    if (r && (dynamic || !shared)) w.mend = count_bytes(*r, e.bytes, needed);
    if (w.mend.empty() && dynamic) w.mend = past_the_end(r) + say(bytes_needed, needed);
    w.one_cause = !w.mend.empty();
    if (w.one_cause) return w;
    w.mend = check_index(line, e.name, r ? r->where : Where{},
                         shared ? e.number + (m.last - m.address) / ptrdiff_t(e.bytes) : 0, w.one_cause);
    if (w.mend.empty()) w.mend = past_the_end(r);
    if (r && (e.name.empty() || w.mend.find('`') == string::npos) && !shared && needed == r->bytes + e.bytes)
        w.mend += say(one_more, r->where.file, r->where.line);
    return w;
}

Words under_way(const Noted& m, const Element& e) {
    const bool lost = m.who.access & writes;
    const string what = say(lost ? under_way_write : under_way_read, in_words(e.words));
    if (!m.late || !m.late->waited.line)
        return {"unwritten-value", what, say(lost ? write_after_copy : wait_for_copy)};
    const auto& [waited, left, needed] = *m.late;
    return {"unwritten-value", what, say(wait_is_short, in_line(source_line(waited)), left, needed, left - needed)};
}

// Says how elements of global memory get written before they are read.
string set_unwritten(const Region& r, const Noted& m, size_t element) {
    const Unset& unset = m.unset;
    const size_t missing = (unset.bytes + element - 1) / element, written = r.bytes - unset.bytes;
    const string which = say(set_memory, missing, r.bytes / element, unset.first / element);
    if (const Work* const next = next_copy_to(m.address))
        return which + say(copied_later, next->what, in_lines(next->callers), in_line(source_line(launch->where)));
    const PartialCopy& c = r.shadow->copied;
    const bool counts = c.bytes * element == r.bytes;
    if (counts || (written && c.bytes == written))
        return which + say(copied_in_part, c.what, in_lines(c.callers), c.bytes, r.bytes) +
               (counts                     ? say(number_of_bytes, element)
                : c.bytes == sizeof(void*) ? say(size_of_pointer, element)
                                           : say(copy_the_others));
    if (m.who.access & atomic) return which + say(set_at_first);
    if (!written) return which + say(set_by_anyone);
    return which + say(set_by_neighbours, unset.setter ? say(set_there, in_line(line_of(unset.setter).place)) : "");
}

Words unwritten(const Noted& m, const Element& e, const Region* r) {
    Words w{"unwritten-value", say(unwritten_read, in_words(in_rows(e.words, m, r))), say(set_heap)};
    if (!r) return w;
    const Noted all = all_of(m);
    w.mend = is_shared(r) ? set_first(line_of(m.who.site), *r, m.unset, e.bytes,
                                      size_t(all.first - r->start) / e.bytes, size_t(all.last - r->start) / e.bytes)
                          : set_unwritten(*r, m, e.bytes);
    w.one_cause = !w.mend.empty();
    if (w.mend.empty()) w.mend = say(write_first);
    return w;
}

Words words_of(const Noted& m, const Element& e, const Region* r) {
    switch (m.what) {
        case Mistake::foreign: return {"host-memory", say(foreign_access), say(foreign_mend)};
        case Mistake::past_heap:
            return {"out-of-bounds", say(past_heap_access, place_in_heap(m.address)), say(past_heap_mend)};
        case Mistake::freed:
            return {"use-after-free", say(freed_access, place_in_heap(m.address)), say(freed_mend)};
        case Mistake::others_stack: return {"variable-of-another-thread", say(others_access), say(others_mend)};
        case Mistake::out_of_bounds: return out_of_bounds(m, e, r);
        case Mistake::under_way: return under_way(m, e);
        case Mistake::unwritten: return unwritten(m, e, r);
    }
    return {};
}

void say_mistake(const Noted& m) {
    const Line& at = line_of(m.who.site);
    if (!reported.insert(text("%d", int(m.what)) + at.place).second) return;
    const Element e = element_at(m.address, m.bytes);
    const Region* r = find(m.address);
    const auto [kind, what, mend, one_cause] = words_of(m, e, r);
    if (one_cause && !reported.insert(launch->kernel->name + mend).second) return;
    const Report report =
        in_kernel_report(kind, what, say(one_block, block_of(m.who)), at,
                         {{at.place, say(thread_does, thread_of(m.who), verb(m.who)), e.name}}, mend);
    if (r) told_regions.insert(r->number);
    if (m.what == Mistake::unwritten && several_streams) early_reads.emplace_back(r, report);
    else print_report(report);
}

[[maybe_unused]] const bool keeps_missed_barriers = [] {
    cudacpu::report_missed_barrier = [](const cudacpu::Report& note, Where barrier) {
        missed_barriers.emplace_back(line_of(site_of(barrier)), note);
    };
    return true;
}();

string remark(const Pair& p, const Line& at) {
    const Accessor &x = p.race.before, &y = p.race.after;
    const auto does = [&](const Accessor& q, const string& verb) {
        const string words = x.block == y.block ? say(thread_does, thread_of(q), verb)
                                                : say(block_thread_does, block_of(q), thread_of(q), verb);
        return words.substr(0, words.find_last_not_of(' ') + 1);
    };
    if (line_of(x.site).place != at.place) return does(y, verb(y));
    if (line_of(y.site).place != at.place) return does(x, verb(x));
    if (verb(x) != verb(y)) return does(x, verb(x)) + (in_chinese() ? "，" : ", ") + does(y, verb(y));
    return x.block == y.block ? say(two_threads_write, thread_of(x), thread_of(y))
                              : say(both_write, does(x, ""), does(y, ""));
}

void add_remark(std::vector<Remark>& all, const Remark& m) {
    if (std::none_of(all.begin(), all.end(), [&](const Remark& o) { return o.place == m.place; })) all.push_back(m);
}

}  // namespace

bool is_told(const Region& r) { return told_regions.count(r.number); }

void explain_early_reads(const char* address) {
    const Region* const r = find(address);
    std::erase_if(early_reads, [&](const auto& e) { return e.first == r; });
}
void report_early_reads() {
    for (const auto& [region, report] : std::exchange(early_reads, {})) print_report(report);
}

string Advice::words() const {
    string all = reason;
    for (const Edit& e : edits) {
        string lines;
        for (const int& n : e.lines)
            lines += (&n == &*e.lines.begin()    ? ""
                      : in_chinese()             ? "、"
                      : &n == &*e.lines.rbegin() ? " and "
                                                 : ", ") +
                     std::to_string(n);
        lines = in_chinese() ? "第 " + lines + " 行" : (e.lines.size() > 1 ? "lines " : "line ") + lines;
        string edit = e.words;
        if (const size_t at = edit.find('\1'); at != string::npos) edit.replace(at, 1, lines);
        all += (&e == &edits[0] ? "" : in_chinese() ? "，并" : ", and ") + edit;
    }
    return all;
}

string Advice::key() const {
    string all = reason;
    for (const Edit& e : edits) all += "\n" + e.words;
    return all;
}

void Advice::merge(const Advice& other) {
    if (key() != other.key()) reason = say(no_lockstep);
    for (const Edit& e : other.edits) add(e);
}

bool Advice::serves(const Advice& other) const {
    const int first = other.turn.first, second = other.turn.second;
    return in_loop && in_loop == other.ends_loop && first &&
           std::ranges::any_of(edits[0].lines, [&](int line) { return line < first || line > second; });
}

void Advice::add(const Edit& edit) {
    const auto same = std::ranges::find_if(edits, [&](const Edit& e) { return e.words == edit.words; });
    if (same == edits.end()) edits.push_back(edit);
    else same->lines.insert(edit.lines.begin(), edit.lines.end());
}

Report finding(const string& kind, const string& what, const std::vector<Remark>& lines, const string& mend,
               bool harmless, const string& head) {
    if (!harmless) exit_status = 1;
    const string message = what_happened(what, harmless), first = opening(message) + head, last = wrapped(mend);
    const size_t taken = 1 + std::ranges::count(first + last, '\n');  // of twelve lines
    return {first + listing(lines, mend, 12 - std::min<size_t>(taken, 10)) + last, {kind, message, lines, mend}};
}

void note(Mistake what, char* address, size_t bytes, const Accessor& who) {
    exit_status = 1;
    const auto [known, is_new] = noted.try_emplace({what, who.site}, Noted{what, address, address, bytes, who});
    Noted& n = known->second;
    n.first = std::min(n.first, address), n.last = std::max(n.last, address);
    if (const auto late = what == Mistake::under_way ? copy_under_way(address) : std::nullopt)
        if (is_new || late->needed < n.late->needed) n.late = late;
    const Region* const r = is_new && what == Mistake::unwritten ? find(address) : nullptr;
    if (r) {
        const std::string_view written(reinterpret_cast<char*>(r->shadow->written), r->bytes);
        const size_t set = written.find('\1');
        n.unset = {r->bytes - size_t(std::ranges::count(written, '\1')), written.find_first_not_of('\1'), set,
                   written.rfind('\1'), set < r->bytes ? last_writer(*r->shadow, set) : 0};
    }
    const char* const words[] = {"access to memory that is not the device's",
                                 "access out of bounds",
                                 "access to memory that was freed",
                                 "access to a variable of another thread",
                                 "access out of bounds",
                                 "read of a value that nobody has written",
                                 "read of a value that an asynchronous copy has not brought yet"};
    cudacpu_hazard_found(words[int(what)], address, nullptr, &who);
}

void report(const std::vector<Race>& races) {
    std::map<std::tuple<string, string, const void*>, Pair> pairs;  // by their lines and the memory
    for (const Race& r : races) {
        if (!r.equal) exit_status = 1;
        Line x = line_of(r.before.site), y = line_of(r.after.site);
        if (std::pair(x.file, x.number) > std::pair(y.file, y.number)) std::swap(x, y);
        const bool both = r.before.access & r.after.access & writes;
        Pair& p = pairs.try_emplace({x.place, y.place, find(r.address)}, Pair{x, y, r, r.adds, both, r.equal, ""})
                      .first->second;
        p.adds |= r.adds, p.both_write |= both, p.equal &= r.equal;
        const auto weight = [](const Race& race) {  // a read and a write say more than two writes
            return std::pair(distance(race), !(race.before.access & race.after.access & writes));
        };
        if (weight(r) > weight(p.race)) p.race = r;
    }
    struct Report {
        Pair pair;
        Advice advice;
        std::vector<Remark> remarks;
    };
    std::map<string, Report> reports;  // findings with one cause are one report
    std::set<const void*> left_out;  // findings that another report covers; that report must not be left out itself
    for (auto& [key, p] : pairs) p.name = element_at(p.race.address, p.race.bytes).name;
    for (auto& [key, p] : pairs) {
        const bool one_line = p.a.place == p.b.place;
        // A thread that only reads what another has read and written does not add to it.
        auto writes_twice = [&, &key = key](const Line& l) {
            const auto same = pairs.find({l.place, l.place, std::get<2>(key)});
            return same != pairs.end() && same->second.both_write;
        };
        p.adds &= one_line || writes_twice(p.a) || writes_twice(p.b);
    }
    // A thread that reads a word too early finds it unset, except if all racing lines only change the value that
    // they find.
    std::set<string> changes, set_late;
    for (const auto& [key, p] : pairs)
        if (p.adds && (p.a.place == p.b.place || !p.both_write)) changes.insert({p.a.place, p.b.place});
    for (const Race& r : races)
        for (const Accessor* p : {&r.before, &r.after})
            if (p->access & writes && (p->access & exchanges || !(p->access & atomic)) &&
                !changes.count(line_of(p->site).place))
                set_late.insert({line_of(r.before.site).place, line_of(r.after.site).place});
    const auto from_race = [&](auto follows) {
        return std::ranges::any_of(pairs, [&](const auto& p) { return !p.second.equal && follows(p.second); });
    };
    if (outcome == cudaErrorIllegalAddress)  // the last access is reported as that
        noted.erase({Mistake::foreign, uint64_t(last_access)});
    std::set<const Region*> unset,
        outside;                       // shared arrays with an element that nobody sets; memory passed its end
    std::set<const void*> read_early;  // destinations of asynchronous copies that a wait did not end
    for (const auto& [key, m] : noted)
        if (m.late && m.late->waited.line && !(m.who.access & writes)) read_early.insert(find(m.address));
    for (const auto& [key, m] : noted) {
        if (m.what == Mistake::under_way && m.who.access & writes && read_early.count(find(m.address))) continue;
        if (m.what == Mistake::unwritten && set_late.count(line_of(m.who.site).place)) continue;
        if (m.what == Mistake::unwritten && is_shared(find(m.address))) unset.insert(find(m.address));
        else if (m.what != Mistake::unwritten && from_race([&, &m = m](const Pair& p) {
                     return follows_from(line_of(m.who.site), element_at(m.address, m.bytes).name, p, false);
                 }))
            continue;
        if (m.what == Mistake::out_of_bounds) outside.insert(find(m.address));
        say_mistake(m);
    }
    noted.clear();

    for (auto& [key, p] : pairs)  // a copy that ends too late
        if (read_early.count(std::get<2>(key))) left_out.insert(&p);
    // A pair that follows from another one is left out, except if the two follow from each other.
    const auto leave_out = [&](auto follows) {
        for (auto& [key, p] : pairs)
            if (std::any_of(pairs.begin(), pairs.end(), [&, &p = p](const auto& other) {
                    const Pair& q = other.second;
                    return &q != &p && !left_out.count(&q) && (p.equal || !q.equal) && follows(p, q);
                }))
                left_out.insert(&p);
    };
    leave_out([](const Pair& p, const Pair& q) {
        const bool one_atomic = (q.race.before.access ^ q.race.after.access) & atomic;
        return p.a.place == p.b.place && p.both_write && (q.adds || one_atomic) && q.name == p.name &&
               q.a.place != q.b.place && (q.a.place == p.a.place || q.b.place == p.a.place) &&
               !(distance(p.race) == 2 && distance(q.race) < 2);
    });
    leave_out([](const Pair& p, const Pair& q) {
        return (q.adds ? p.a.place == p.b.place : distance(p.race) == 2 && distance(q.race) < 2) &&
               (follows_from(p.a, p.name, q, true) || follows_from(p.b, p.name, q, true));
    });
    leave_out([](const Pair& p, const Pair& q) {
        return p.a.place == p.b.place && !p.adds && q.a.place != q.b.place && follows_from(p.a, p.name, q, false);
    });
    const bool deadlocked = follows_from_deadlock();
    std::vector<std::pair<Pair, Advice>> advised;
    for (auto& [key, p] : pairs) {
        if (left_out.count(&p) || outside.count(find(p.race.address))) continue;
        if (!reported.insert(launch->kernel->name + p.a.place + p.b.place + p.name).second) continue;
        advised.emplace_back(p, deadlocked ? Advice{say(mend_first)}
                                : p.both_write && !p.adds && unset.count(find(p.race.address))
                                    ? Advice{say(two_write)}
                                    : advise(p));
    }
    for (const auto& [p, own] : advised) {
        const auto serves = [&, &p = p, &own = own](const auto& other) {
            return other.first.a.file == p.a.file && other.second.serves(own);
        };
        const auto other = std::ranges::find_if(advised, serves);
        const Advice& advice = other == advised.end() ? own : other->second;
        std::vector<Remark> remarks{{p.a.place, remark(p, p.a), p.name}};
        if (p.a.place != p.b.place) remarks.push_back({p.b.place, remark(p, p.b), p.name});
        const auto [r, is_new] =
            reports.try_emplace((p.equal ? "=" : "") + p.name + "\n" + advice.key(), Report{p, advice, {}});
        r->second.advice.merge(advice);
        for (const Remark& m : remarks) add_remark(r->second.remarks, m);
    }
    // One edit mends both, or a warp's lanes are expected to run in lockstep.
    const auto one_cause = [](const Report& r, const Report& o) {
        return r.pair.equal == o.pair.equal && !r.advice.edits.empty() &&
               (r.advice.words() == o.advice.words() ||
                (r.advice.lockstep && o.advice.lockstep && r.pair.name == o.pair.name));
    };
    for (auto r = reports.begin(); r != reports.end(); ++r)
        for (auto o = std::next(r); o != reports.end();) {
            if (!one_cause(r->second, o->second)) {
                ++o;
                continue;
            }
            r->second.advice.merge(o->second.advice);
            for (const Remark& m : o->second.remarks) add_remark(r->second.remarks, m);
            o = reports.erase(o);
        }
    for (auto& [key, r] : reports) {
        const bool mended = std::any_of(reports.begin(), reports.end(), [&, &r = r](const auto& other) {
            const Report& o = other.second;
            return !left_out.count(&o) && r.advice.after_loop && o.advice.ends_loop == r.advice.after_loop &&
                   o.pair.name == r.pair.name;
        });
        if (mended) left_out.insert(&r);
        if (mended) continue;
        const Accessor &x = r.pair.race.before, &y = r.pair.race.after;
        std::sort(r.remarks.begin(), r.remarks.end(), [](const Remark& a, const Remark& b) {
            return std::pair(a.place.size(), a.place) < std::pair(b.place.size(), b.place);
        });
        if (r.remarks.size() > 6) r.remarks.resize(6);
        const bool equal = r.pair.equal;
        if (const Region* const region = find(r.pair.race.address)) told_regions.insert(region->number);
        print_report(in_kernel_report(
            equal ? "equal-writes" : "race",
            say(equal ? equal_race : race_on, in_words(element_at(r.pair.race.address, r.pair.race.bytes).words)),
            x.block == y.block ? say(one_block, block_of(x)) : say(of_two_blocks, block_of(x), block_of(y)),
            r.pair.a, r.remarks, r.advice.words(), equal));
        if (!equal && !std::exchange(told_of_trace, true))
            print_report(
                opening(say(trace, text("--trace race.html --trace-kernel %s --trace-block %lu --trace-warp %u",
                                        launch->kernel->name, y.block, y.rank / 32))));
    }
    for (const auto& [line, note] : std::exchange(missed_barriers, {}))
        if (!from_race([&, &line = line](const Pair& p) { return follows_from(line, "", p, true); }))
            print_report(note);
}

}  // namespace cudacpu::race
