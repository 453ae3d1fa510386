// structure.cpp - the statements of the source files that the program contains, and questions about their text.
#include "advice/structure.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"

namespace cudacpu {

namespace {

std::map<std::string, Source*>& all_sources() {
    static auto& all = *new std::map<std::string, Source*>;
    return all;
}
std::string full_name(const std::string& file) {
    std::error_code none;
    return std::filesystem::weakly_canonical(file, none);
}

Statement read_statement(std::istream& in) {
    size_t n[9];
    for (size_t& x : n) in >> x;
    Statement s{Statement::Kind(n[0]), n[1], n[2], n[3], n[4], Who(n[5]), Who(n[6]), n[7] != 0};
    for (size_t i = 0; i < n[8]; ++i) s.parts.push_back(read_statement(in));
    return s;
}

}  // namespace

int statement_tree(const char* file, const char* text, const char* tree) {
    Source*& source = all_sources()[full_name(file)];
    if (source) return 0;
    Source& s = *(source = new Source);
    s.text = s.written = text;
    for (size_t i = 0; i < s.text.size(); ++i)
        if (s.text[i] == '\n') s.starts.push_back(i + 1);
    std::istringstream in(tree);
    size_t count, from, to;
    for (in >> count; count && in >> from >> to; --count)
        std::replace_if(
            s.text.begin() + from, s.text.begin() + to, [](char c) { return c != '\n'; }, ' ');
    std::string name;
    for (in >> count; count && in >> name >> from >> to; --count) {
        Function& f = s.functions.emplace_back(Function{name == "-" ? "" : name, from, to, read_statement(in)});
        for (auto* names : {&f.own, &f.warps}) {
            size_t left;
            for (in >> left; left && in >> name; --left) names->insert(name);
        }
    }
    return 0;
}

const Source* Source::of(const std::string& file) {
    const auto& all = all_sources();
    const auto same = all.find(full_name(file));
    return same == all.end() ? nullptr : same->second;
}

int Source::line_at(size_t at) const {
    return int(std::upper_bound(starts.begin() + 1, starts.end(), at) - starts.begin()) - 1;
}

std::string Source::code_of(const Statement& s) const {
    std::string code = original(s.begin, s.end);
    return code.erase(code.find_last_not_of("; \r\n") + 1);
}

std::string Source::line(int number) const {
    if (number < 1 || size_t(number) + 1 >= starts.size()) return "";
    return text.substr(starts[number], starts[number + 1] - starts[number]);
}

size_t Source::spot(int number, const std::string& name) const {
    if (number < 1 || size_t(number) + 1 >= starts.size()) return text.npos;
    const size_t from = starts[number], to = starts[number + 1];
    const auto used = [&](size_t i) {  // except where it is declared
        const Function* f = function_at(i);
        return f && !has({"__shared__"}, f->path(i).back()->begin, i);
    };
    for (const size_t i : variables(name, from, to))
        if (used(i)) return i;
    for (size_t i = text.find('[', from); i < to; i = text.find('[', i + 1))
        if (used(i)) return i;
    size_t i = to;
    while (i > from && strchr(" \t\n};", text[i - 1])) --i;
    return i > from ? i - 1 : from;
}

const Function* Source::holder_of(const Function& f) const {
    for (const Function& g : functions)
        if (&g != &f && g.body.holds(f.body.begin)) return &g;
    return nullptr;
}

std::string Source::name_at(size_t at) const {
    const bool begins = !isdigit(static_cast<unsigned char>(text[at])) && !(at && in_word(text[at - 1]));
    return begins ? word_at(text, at) : "";
}

std::optional<std::string> Source::definition(const Function& f, const std::string& name) const {
    std::string value;
    size_t first = 0;
    for (const size_t i : variables(name, f.body.begin, f.body.end)) {
        const size_t sign = skip_space(text, i + name.size());
        const char c = text[sign], next = text[sign + 1];
        const bool steps = strchr("+-", c) && next == c, changes = strchr("+-*/%&|^", c) && next == '=';
        const std::string before = text.substr(i - 2, 2);
        const bool in_head = first && std::ranges::any_of(f.path(i), [&](const Statement* loop) {
                                 return loop->kind == Statement::loop && loop->head <= first &&
                                        first < loop->head_end && i < loop->head_end;
                             });
        if (in_head) continue;  // the initialization of a loop
        if (steps || changes || before == "++" || before == "--" || before[1] == '&') return {};
        const bool sets = c == '=' && next != '=';
        if (!sets) continue;
        if (!value.empty()) return {};
        first = i;
        size_t end = sign + 1;
        while (end < f.body.end && !strchr(",;)", text[end]))
            end = strchr("([{", text[end]) ? closed(text, end) : end + 1;
        value = text.substr(sign + 1, end - sign - 1);
    }
    if (!value.empty()) return value;
    const bool given = word(name, f.head, f.body.begin) < f.body.begin;
    if (const Function* holder = given ? nullptr : holder_of(f)) return definition(*holder, name);
    return given ? std::optional<std::string>("") : std::nullopt;
}

std::vector<std::pair<const Function*, size_t>> Source::callers(size_t at) const {
    std::vector<std::pair<const Function*, size_t>> found;
    for (const Function* f = function_at(at); f && found.size() < 5; f = function_at(at)) {
        found.emplace_back(f, at);
        at = text.size();
        for (const size_t call : calls(f->name, 0, text.size()))
            if (const Function* g = function_at(call); g && g != f) at = std::min(at, call);
    }
    return found;
}

unsigned Source::indexed(int number) const {
    const auto declared = [&](const char* as, const char* up_to, const std::string& name, const Function* f) {
        return std::ranges::any_of(words(as, 0, text.size()), [&](size_t i) {
            const size_t end = text.find_first_of(up_to, i);
            return word(name, i, end) < end && (!function_at(i) || function_at(i) == f);
        });
    };
    unsigned found = 0;
    const size_t to = line(number).empty() ? 0 : starts[number + 1];
    for (size_t i = to ? starts[number] : 0; i < to; ++i) {
        const std::string name = name_at(i);
        const Function* f = name.empty() || text[i + name.size()] != '[' ? nullptr : function_at(i);
        if (!f) continue;
        const auto is_declared = [&](size_t d) {
            return text[d + name.size()] == '[' && text[d - 1] == ' ' && in_word(text[d - 2]) &&
                   !has({"return", "else"}, d - 7, d);
        };
        if (strchr(".>", text[i - 1])) found |= of_structs;
        else if (declared("__shared__", ";", name, f)) found |= of_blocks;
        else if (std::ranges::any_of(words(name, f->body.begin, i), is_declared)) found |= of_threads;
        else if (declared("__device__", "(;={", name, nullptr) || declared("__constant__", "(;={", name, nullptr))
            found |= of_program;
    }
    return found;
}

bool stands_in(Where barrier, Around kind) {
    const Source* const source = Source::of(barrier.file);
    const size_t at = source ? source->spot(barrier.line, "__syncthreads") : 0;
    const Function* const f = source ? source->function_at(at) : nullptr;
    const auto wanted = kind == Around::loop ? Statement::loop : Statement::branch;
    return f && std::ranges::any_of(f->path(at), [&](const Statement* s) { return s->kind == wanted; });
}

}  // namespace cudacpu
