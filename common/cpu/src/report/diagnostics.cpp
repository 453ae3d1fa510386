// diagnostics.cpp - words each report: what happened, in which thread, at which line, who waits where.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/launch.hpp"
#include "engine/rendezvous.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/device_heap.hpp"
#include "report/formats.hpp"
#include "report/symbolize.hpp"

extern "C" __attribute__((noinline)) void cudacpu_hazard_found(const char*, const void*, const void*, const void*) {
    asm volatile("");
}

namespace cudacpu {

namespace {

constexpr size_t columns = 80;

bool colours() {  // the same rule as for stdout in lab.cpp
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (isatty(2) || getenv("CLICOLOR_FORCE")) && !(none && *none) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

/// Does the path of a line, such as /a b/sum.cu:12, which begins in this word, continue after the blank at i?
bool path_goes_on(const std::string& word, const std::string& text, size_t i) {
    const auto has_line = [](const std::string& s) {
        for (size_t k = s.find(':'); k != s.npos; k = s.find(':', k + 1))
            if (k + 1 < s.size() && isdigit(static_cast<unsigned char>(s[k + 1]))) return true;
        return false;
    };
    const size_t slash = word.find('/');
    return slash <= (word[0] == '(') && word.size() > slash + 1 && !has_line(word) &&
           has_line(text.substr(i, text.find('\n', i) - i));
}

}  // namespace

std::string from_here(std::string s) {
    std::error_code none;
    const std::string folder = std::filesystem::current_path(none).string() + "/";
    for (size_t i = 0; (i = s.find(folder, i)) != s.npos;)
        if (i && !isspace(s[i - 1]) && s[i - 1] != '(') ++i;
        else s.erase(i, folder.size());
    return s;
}

bool has_reported;

void print_report(const std::string& message) {
    has_reported = true;
    std::string s = from_here(message) + "\n";
    if (colours() && s.starts_with("cudacpu: ")) {  // the first line: red, or yellow for a note
        const bool mild = s.starts_with("cudacpu: not") || s.starts_with("cudacpu: warning");
        s.insert(std::min(s.find('\n'), s.size()), "\033[0m");
        s.insert(0, mild ? "\033[1;33m" : "\033[1;31m");
    }
    fflush(stdout);
    fputs(s.c_str(), stderr);
}

void print_report(const Report& report) {
    if (reports_are_text()) print_report(report.text);
    has_reported = true;
    record(report.finding);
}

void print_report_once(const Report& report) {
    static auto& said = *new std::set<std::string>;
    if (said.insert(report.text).second) print_report(report);
}

// The columns of a terminal that a text takes: a character of three bytes or more, such as a Chinese one, takes
// two.
static size_t width_of(const std::string& s) {
    size_t columns_used = 0;
    for (const char c : s) columns_used += (c & 0xc0) != 0x80 ? 1 + ((c & 0xe0) == 0xe0) : 0;
    return columns_used;
}

std::string wrapped(const std::string& words) {
    std::string s, word;
    size_t column = columns;                            // starts a new line
    bool inside = false, quoted = false, blank = true;  // quoted: code that fits into a line
    const auto flush = [&] {
        const size_t between = column == columns || !blank ? 0 : 1;
        const bool fits = column + between + width_of(word) <= columns && column < columns;
        if (!word.empty())
            s += (!fits     ? "\n  "
                  : between ? " "
                            : "") +
                 word,
                column = (fits ? column + between : 2) + width_of(word);
        word.clear();
    };
    const std::string text = from_here(words) + " ";
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '`')
            inside = !inside, quoted = inside && width_of(text.substr(i, text.find('`', i + 1) - i)) < columns - 6;
        if ((c != ' ' && c != '\n') || quoted || (c == ' ' && path_goes_on(word, text, i))) {
            // A line may also end before a Chinese character, except a closing mark.
            const bool breaks = (c & 0xf0) == 0xe0 && !quoted && width_of(word) > 1 && !word.ends_with("（") &&
                                text.compare(i, 3, "，") && text.compare(i, 3, "。") && text.compare(i, 3, "：") &&
                                text.compare(i, 3, "；") && text.compare(i, 3, "）") && text.compare(i, 3, "、");
            if (breaks) flush(), blank = false;
            word += c;
            continue;
        }
        flush();
        blank = true;
        if (c == '\n') column = columns;
    }
    return s;
}

std::string opening(const std::string& words) { return wrapped("cudacpu: " + words).substr(3); }

void report_misuse(const std::string& words, const std::string& mend) {
    const std::string line = first_line(callers(32));
    print_report({opening(words + (line.empty() ? "" : say({"\nat %s", "\n位于 %s"}, line))) +
                      listing({{line, ""}}, mend) + wrapped(mend),
                  {"misuse", words, {{line, ""}}, mend}});
}

namespace {

std::string list(const std::vector<Remark>& remarks, bool words_beside_code) {
    std::string s, file_before;
    for (const auto& [place, words, name] : remarks) {
        if (place.empty()) continue;
        const size_t colon = place.rfind(':');
        if (colon == place.npos) {
            s.append("\n    ").append(place).append(": ").append(words);
            continue;
        }
        const std::string file = place.substr(0, colon), number = place.substr(colon + 1);
        const auto& lines = source_text(file);
        const size_t n = strtoul(number.c_str(), nullptr, 10);
        std::string code = n && n <= lines.size() ? lines[n - 1] : "";
        for (size_t tab; (tab = code.find('\t')) != code.npos;) code.replace(tab, 1, "    ");
        code.erase(0, std::min(code.find_first_not_of(' '), code.size()));
        code.erase(code.find_last_not_of(" \r") + 1);
        if (!file_before.empty() && file != file_before) s += "\n  " + file;
        file_before = file;
        if (words.empty() && code.find_first_not_of("{};") == code.npos) continue;
        const std::string before = text("\n  %5s |  ", number.c_str());
        const size_t width = columns + 1 - before.size();
        // A line that is too long loses its comment first.
        if (code.size() + 6 + width_of(words) > width)
            code.erase(code.find_last_not_of(' ', std::min(code.find("//"), code.size()) - 1) + 1);
        const size_t used = name.empty() ? code.npos : code.rfind(name);
        const bool beside = words_beside_code && !words.empty() && width_of(words) + 26 < width;
        const size_t room = beside ? width - 6 - width_of(words) : width;
        if (code.size() > room)
            code = used == code.npos || used + name.size() < room - 3
                       ? code.substr(0, room - 3) + "..."
                       : "..." + code.substr(std::min(used, code.size() - room + 3), room - 3);
        s += before + (code.empty() ? words : code);
        if (code.empty() || words.empty()) continue;
        if (code.size() + 6 + width_of(words) <= width) s += "      " + words;
        else s += "\n        |  " + words;
    }
    return s;
}

}  // namespace

std::string listing(std::vector<Remark> remarks, const std::string& mend, size_t at_most) {
    static const std::regex named(R"((?:lines? |第 )(\d+(?:(?:, | and | to |、| 到 )\d+)*))"), digits("\\d+");
    const auto height = [](const std::string& s) { return size_t(std::ranges::count(s, '\n')); };
    std::string file = remarks.empty() ? "" : remarks[0].place.substr(0, remarks[0].place.rfind(':') + 1);
    const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    if (launch && name(file) != name(launch->where.file) + ":") file.clear();  // lines of which file?
    std::vector<std::string> numbers;
    for (std::sregex_iterator m(mend.begin(), mend.end(), named), none; m != none && !file.empty(); ++m) {
        const std::string list = m->str(1);
        for (std::sregex_iterator n(list.begin(), list.end(), digits); n != none; ++n) numbers.push_back(n->str());
    }
    for (const std::string& number : numbers) {
        auto more = remarks;
        more.push_back({file + number, ""});
        if (std::ranges::any_of(remarks, [&](const Remark& r) { return r.place == more.back().place; })) continue;
        std::ranges::stable_sort(more, {}, [](const Remark& r) { return std::pair(r.place.size(), r.place); });
        if (height(list(more, false)) <= at_most) remarks = more;
    }
    std::string s = list(remarks, false);
    if (height(s) <= at_most) return s;
    s = list(remarks, true);
    size_t end = 0;
    for (size_t line = 0; line <= at_most && end != s.npos; ++line) end = s.find('\n', end + (line > 0));
    return s.substr(0, end);
}

Element element_at(const void* address, size_t bytes_accessed) {
    Element e;
    e.bytes = bytes_accessed;
    const char* at = static_cast<const char*>(address);
    const Region* r = find(address);
    std::string made;
    if (!r && is_global(address)) {
        const auto [variable, begin] = symbol(address);
        e.name = variable.substr(variable.rfind("::") == variable.npos ? 0 : variable.rfind("::") + 2);
        e.start = reinterpret_cast<char*>(begin);
    } else if (r) {
        e.start = r->start, e.name = r->name;
        if (r->where.line) made = text(" (%s:%d)", r->where.file, r->where.line);
        if (r->kind == Kind::dynamic && e.name.empty()) e.name = "the dynamic shared memory";
        std::string all = launch ? launch->kernel->parameters : "";
        if (launch && !is_shared(r))
            for (const Argument& a : launch->arguments) {  // of several in one allocation, the last before it
                const std::string parameter = all.substr(0, all.find(','));
                all.erase(0, parameter.size() + 1);
                const char* q = static_cast<const char*>(a.pointer);
                if (!q || find(q) != r || !(e.name.empty() || (q <= at && q > e.start))) continue;
                e.start = q, e.name = parameter;
                e.bytes = a.bytes > 1 ? a.bytes : bytes_accessed;  // bytes often hold something else
            }
    }
    e.number = e.start ? (at - e.start) / ptrdiff_t(e.bytes) : 0;
    e.words = (e.start && !e.name.empty() ? text("element %ld of ", e.number) + e.name
               : made.empty()             ? text("address %p, from new or malloc() in a kernel", address)
                                          : text("element %ld of the memory", e.number)) +
              made;
    return e;
}

std::string in_words(const std::string& name) {
    static const std::regex form(R"(element (-?\d+) of (?:the memory )?(.*))");
    return in_chinese() ? std::regex_replace(name, form, "$2 的元素 $1") : name;
}

std::string explain(const void* address, size_t bytes) {
    const Region* r = find(address);
    if (on_heap(address))
        return say({"memory that a kernel has got from malloc() or new", "核函数用 malloc() 或 new 得到的内存"});
    if (!r) return is_global(address) ? in_words(element_at(address, bytes).words) : "";
    const long offset = static_cast<const char*>(address) - r->start;
    if (r->kind == Kind::dynamic)
        return say({"byte %ld of the %zu bytes of dynamic shared memory that the launch gave",
                    "启动时给出的动态共享内存的字节 %ld（共 %zu 字节）"},
                   offset, r->bytes);
    const Sentence kinds[] = {{"allocated by cudaMalloc", "由 cudaMalloc 分配的内存"},
                              {"allocated by cudaMallocManaged", "由 cudaMallocManaged 分配的内存"},
                              {"of pinned host memory", "的锁页主机内存"},
                              {"of registered host memory", "的已注册主机内存"},
                              {"of the __shared__ variable", "的 __shared__ 变量"}};
    return say({"byte %ld of the %zu bytes %s at %s:%d%s", "在 %4$s:%5$d %3$s的字节 %1$ld（共 %2$zu 字节%6$s）"},
               offset, r->bytes, say(kinds[int(r->kind)]), r->where.file, r->where.line,
               r->freed ? say({", freed since", "，已释放"}) : "");
}

// "threads 0-127: waiting in __syncthreads() at sum.cu:18\n  threads 128-255: ended"
std::string who_waits_where() {
    auto position = [](unsigned i) -> std::string {
        const Thread& t = running_block.threads[i];
        if (!t.at) return running_block.has_ended[i] ? say({"ended", "已结束"}) : say({"running", "正在运行"});
        unsigned in_line = 0, number = 1;  // of the barriers where threads wait
        for (const Rendezvous* e : open_rendezvous[32])
            if (e->where.line == t.where.line) ++in_line, number += e->where.column < t.where.column;
        return say({"waiting in %s at %s:%d", "在 %2$s:%3$d 的 %1$s 中等待"}, t.at->what, t.where.file,
                   t.where.line) +
               (in_line > 1 ? say({", number %u there", "（该行的第 %u 个）"}, number) : "");
    };
    std::vector<std::pair<std::string, std::vector<std::string>>> places;  // each with the runs of its threads
    for (unsigned first = 0, i = 1; i <= running_block.size; ++i) {
        const std::string where = position(first);
        if (i < running_block.size && position(i) == where) continue;
        auto known = std::ranges::find(places, where, &decltype(places)::value_type::first);
        if (known == places.end()) known = places.insert(known, {where, {}});
        known->second.push_back(i - first > 1 ? text("%u-%u", first, i - 1) : text("%u", first));
        first = i;
    }
    std::string all;
    for (size_t k = 0; k < std::min<size_t>(places.size(), 3); ++k) {
        const auto& [where, runs] = places[k];
        std::string threads;
        for (size_t i = 0; i < std::min<size_t>(runs.size(), 4); ++i) threads += (i ? ", " : "") + runs[i];
        const char* const plural = threads.find_first_not_of("0123456789") == threads.npos ? "" : "s";
        all += say({"\n  thread%3$s %1$s: %2$s", "\n  线程 %1$s：%2$s"}, threads + (runs.size() > 4 ? ", ..." : ""),
                   where, plural);
    }
    return all + (places.size() > 3 ? "\n  ..." : "");
}

std::string on_a_line(const std::string& before, const std::string& place) {
    const std::string first = from_here(before), last = from_here(place);
    const char* const blank = first.ends_with("，") || first.ends_with("：") ? "" : " ";
    return "\n  " + first + (2 + width_of(first) + strlen(blank) + width_of(last) <= columns ? blank : "\n  ") +
           last;
}

namespace {

/// While one exists, the hooks treat the running code as the library's, although a thread of a kernel called it. It
/// is needed for clang, where the program's copy of a shared template calls the hooks. (g++ gives the library its
/// own copy: -fno-weak.)
class Aside {
    Thread* const asks = std::exchange(self, nullptr);

public:
    ~Aside() { self = asks; }
};

std::string thread_name() {
    const uint3 b = blockIdx, t = threadIdx;
    return say(
        {"in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", "核函数 %s，线程块 (%u,%u,%u)，线程 (%u,%u,%u)"},
        launch->kernel->name, b.x, b.y, b.z, t.x, t.y, t.z);
}

}  // namespace

Report compose_report(const std::string& what, const std::string& mend, const std::string& line,
                      const std::string& kind) {
    const Aside aside;
    std::string s = opening(what), who;
    if (launch) {
        who = thread_name();
        s += line.empty() ? "\n  " + who : on_a_line(who + say({",", "，"}), say({"at %s", "位于 %s"}, line));
        const dim3 g = launch->grid, b = launch->block;
        std::string shape = text("<<<(%u,%u,%u), (%u,%u,%u)", g.x, g.y, g.z, b.x, b.y, b.z);
        if (launch->dynamic_bytes) shape += text(", %zu", launch->dynamic_bytes);
        s += on_a_line(say({"launched at %s:%d as", "在 %s:%d 启动："}, launch->where.file, launch->where.line),
                       shape + ">>>");
    } else if (!line.empty()) {
        s += "\n  " + say({"at %s", "位于 %s"}, line);
    }
    const std::string last = wrapped(mend);
    const auto taken = size_t(std::ranges::count(s + last, '\n'));
    return {s + listing({{line, ""}}, mend, taken < 10 ? 11 - taken : 1) + last,
            {kind, what + (who.empty() ? "" : ", " + who), {{line, ""}}, mend}};
}

}  // namespace cudacpu
