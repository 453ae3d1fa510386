// host.cpp - mistakes in the host's calls: a size that counts elements, one array for two parameters, and the order
// of two lines.
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "memory/address_space.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

namespace {

// The arguments of the call whose parentheses open there, each with its place.
std::vector<std::pair<size_t, string>> arguments(const Source& src, size_t open, size_t end) {
    std::vector<std::pair<size_t, string>> found;
    size_t at = open;
    for (const string& argument : listed(src.cut(open, end))) {
        at = src.text.find(argument, at);
        found.emplace_back(at, src.code(at, at + argument.size()));
        at += argument.size();
    }
    return found;
}

// Whether a size counts elements, as far as its text tells: bytes have a sizeof, or the size of an element as a
// factor.
bool counts(const Source& src, size_t at, const string& size, size_t element) {
    const string n = std::to_string(element);
    const std::regex bytes(R"(sizeof|[bB]ytes|BYTES|<<|\[|\w\(|\b)" + n + " \\*|\\* " + n + "\\b");
    const Function* const f = src.function_at(at);
    return f && !size.empty() && !std::regex_search(src.expanded(*f, size), bytes);
}

// "in line 14 write `n * sizeof(int)` for `n`"; with text before it if the line has that twice.
string in_bytes(const Source& src, size_t at, const string& size, const string& unit) {
    const bool is_sum = size.find(' ') != string::npos && !std::regex_match(size, std::regex(R"([\w. *]+)"));
    const int line = src.line_at(at);
    const size_t start = src.start_of(line);
    size_t from = at;  // so that the line has the text once
    while (from > start && src.line(line).find(src.cut(from, at) + size) != from - start) do
            --from;
        while (from > start && in_word(src.text[from - 1]));
    const string before = src.cut(from, at);
    return say(counts_bytes) +
           write(line, before + (is_sum ? "(" + size + ")" : size) + " * " + unit, before + size).words;
}

}  // namespace

string size_of_memory(const Where& made, size_t element, bool allocation) {
    const Source* const src = Source::of(made.file);
    const size_t begin = src ? src->start_of(made.line) : string::npos,
                 end = src ? src->start_of(made.line + 1) : 0;
    const Function* const f = begin < end ? src->function_at(src->text.find_first_not_of(" \t", begin)) : nullptr;
    if (!f) return "";
    std::vector<string> sizes;  // the edits
    std::set<string> pointers;
    static const std::regex place(R"((?:\(void ?\*\*\) ?)?&(\w[\w.]*))");
    const auto look = [&](const char* name, size_t from, size_t to, size_t n, bool new_ones) {
        for (const size_t call : src->calls(name, from, to)) {
            const size_t open = call + strlen(name);
            const auto given = arguments(*src, open + 1, closed(src->text, open) - 1);
            std::smatch m;
            if (given.size() <= n ||
                !(new_ones ? std::regex_match(given[0].second, m, place) : pointers.count(given[0].second)))
                continue;
            const string pointer = new_ones ? m[1].str() : given[0].second;
            if (new_ones) pointers.insert(pointer);
            const std::regex untyped(R"(\bvoid ?\* ?(\w+, \*)*)" + pointer + R"(\b)");
            const string unit =
                std::regex_search(src->text, untyped) ? std::to_string(element) : "sizeof(*" + pointer + ")";
            if (new_ones == allocation && counts(*src, call, given[n].second, element))
                sizes.push_back(in_bytes(*src, given[n].first, given[n].second, unit));
        }
    };
    for (const char* name : {"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync"}) look(name, begin, end, 1, true);
    if (!allocation)
        for (const char* name : {"cudaMemset", "cudaMemsetAsync", "cudaMemcpy", "cudaMemcpyAsync"})
            look(name, f->body.begin, f->body.end, 2, false);
    return sizes.size() == 1 ? sizes[0] : "";
}

string size_of_launch(const Line& line, const string& name, size_t element, size_t needed) {
    const Source *const src = Source::of(launch->where.file), *const kernel = Source::of(line.file);
    const size_t begin = src ? src->text.find("<<<", src->start_of(launch->where.line)) : string::npos;
    if (begin == string::npos || src->line_at(begin) > launch->where.line + 2 || !kernel) return "";
    const auto given = arguments(*src, begin + 3, src->text.find(">>>", begin));
    // extern __shared__ float tile[];
    const std::regex declared(R"(__shared__ +(?:(?:__align__|alignas) ?\(\w+\) *)?([\w: ]*\w) +)" + name +
                              R"( ?\[)");
    std::smatch m;
    if (given.size() < 3 || needed / element > launch->dynamic_bytes || element == 1 ||
        !counts(*src, begin, given[2].second, element) || !std::regex_search(kernel->text, m, declared))
        return "";
    const string type = m[1];
    const bool is_parameter = std::regex_search(kernel->text, std::regex("(typename|class) " + type + "\\b"));
    return type.find("char") != string::npos
               ? ""
               : in_bytes(*src, given[2].first, given[2].second,
                          is_parameter ? std::to_string(element) : "sizeof(" + type + ")");
}

// step<<<1, 64>>>(a, a): the kernel reads one parameter and writes the other.
Advice one_memory(const Conflict& c) {
    const Accessor& writer = c.pair.race.before.access & writes ? c.pair.race.before : c.pair.race.after;
    const int sets = line_of(writer.site).number;
    const Source* const host = Source::of(launch->where.file);
    const size_t start = host ? host->text.find("<<<", host->start_of(launch->where.line)) : string::npos;
    const auto names = listed(launch->kernel->parameters);
    const auto& given = launch->arguments;
    const Statement* const s = c.src.statement_in(sets, c.pair.name);
    if (!s || c.both_write() || names.size() != given.size()) return {};
    Path path = c.f->path(s->begin);
    const string written = word_at(assignment(c.src.code(innermost(path))).target, 0);
    const auto i = size_t(std::ranges::find(names, written) - names.begin());
    if (i == names.size() || !given[i].pointer) return {};
    for (size_t k = 0; k < names.size(); ++k) {
        const auto reads = [&](int line) { return has_name(c.src.line(line), names[k]); };
        if (k == i || given[k].pointer != given[i].pointer || !(reads(c.line_a) || reads(c.line_b))) continue;
        const Function* const caller = start == string::npos ? nullptr : host->function_at(start);
        const bool again =
            caller && std::ranges::any_of(caller->path(start), [](auto* p) { return p->kind == Statement::loop; });
        return {say(same_memory, launch->where.line, names[k], written) + (again ? say(swap_them) : "")};
    }
    return {};
}

// ---- two lines of the host

// The statements that hold both lines, and the next one around the other line.
static Path to_other(const Line& line, int other) {
    const Source* src = Source::of(line.file);
    const auto path_to = [&](int number) {
        const size_t at = src ? src->spot(number, "") : string::npos;
        const Function* f = at == string::npos ? nullptr : src->function_at(at);
        return f ? f->path(at) : Path();
    };
    Path path = path_to(other);
    const Path beside = path_to(line.number);
    const auto apart = std::ranges::mismatch(path, beside).in1;
    if (apart == path.begin() || apart == path.end()) return {};
    path.erase(apart + 1, path.end());
    return path[path.size() - 2]->kind == Statement::block ? path : Path();
}

bool among_the_same(const Line& line, int other) {
    const Path to = to_other(line, other), from = to_other({line.place, line.file, other}, line.number);
    const Source* src = Source::of(line.file);
    return !to.empty() && !from.empty() && src->line_at(to.back()->begin) == other &&
           src->line_at(from.back()->begin) == line.number;
}

string wait_between(const Line& copy, const Line& change, const string& call) {
    const Source* src = Source::of(copy.file);
    const size_t at = src ? src->text.find(call, src->start_of(copy.number)) : string::npos,
                 open = src ? src->text.find('(', at) : string::npos,
                 end = open == string::npos ? open : closed(src->text, open);
    if (end == string::npos || src->line_at(end) != copy.number || change.file != copy.file) return "";
    const auto given = arguments(*src, open + 1, end - 1);
    const Path path = to_other(copy, change.number);
    if (given.size() < 5 || path.empty()) return "";
    const string wait = "cudaStreamSynchronize(" + given[4].second + ")";
    return Advice{"", {{say(put_before, wait), {src->line_at(path.back()->begin)}}}}.words();
}

}  // namespace cudacpu::race
