// source.cpp - the statements of the source files that the program contains, and questions about their text.
#include "advice/source.hpp"

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
    s.text = text;
    for (size_t i = 0; i < s.text.size(); ++i)
        if (s.text[i] == '\n') s.starts.push_back(i + 1);
    std::istringstream in(tree);
    size_t count, from, to;
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

std::string Source::line(int number) const {
    if (number < 1 || size_t(number) + 1 >= starts.size()) return "";
    return cut(starts[number], starts[number + 1]);
}

std::string Source::code(size_t from, size_t to) const {
    std::string code;
    for (const char c : text.substr(from, to - from))
        if (!isspace(static_cast<unsigned char>(c))) code += c;
        else if (!code.empty() && code.back() != ' ') code += ' ';
    return code.erase(code.find_last_not_of(' ') + 1);
}
std::string Source::code(const Statement& s) const {
    std::string all = code(s.begin, s.end);
    return all.erase(all.find_last_not_of("; ") + 1);
}
std::string Source::condition(const Statement& s) const { return code(s.head + 1, s.head_end - 1); }

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

size_t Source::first_in(int number) const {
    if (number < 1 || size_t(number) + 1 >= starts.size()) return text.npos;
    const size_t from = starts[number], to = starts[number + 1], atomic = text.find("atomic", from);
    const auto begins = [&](size_t i) {
        const Function* const f = strchr(" \t{}", text[i]) ? nullptr : function_at(i);
        return f && f->body.begin < i;
    };
    size_t i = from;
    while (i < to && !begins(i)) ++i;
    return atomic < to && function_at(atomic) ? atomic : i;
}

const Statement* Source::statement_in(int number, const std::string& name) const {
    const size_t at = spot(number, name);
    const Function* const f = at == text.npos ? nullptr : function_at(at);
    return f ? f->path(at).back() : nullptr;
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
        const std::string before = text.substr(i - 2, 2);
        const bool in_head = first && std::ranges::any_of(f.path(i), [&](const Statement* loop) {
                                 return loop->kind == Statement::loop && loop->asks(first) && i < loop->head_end;
                             });
        if (in_head) continue;  // the initialization of a loop
        if ((strchr("+-", c) && next == c) || (strchr("+-*/%&|^", c) && next == '=') || before == "++" ||
            before == "--" || before[1] == '&')
            return {};
        if (c != '=' || next == '=') continue;
        if (!value.empty()) return {};
        first = i;
        size_t end = skip_space(text, sign + 1);
        for (; end < f.body.end && !strchr(",;)", text[end]);)
            end = strchr("([{", text[end]) ? closed(text, end) : end + 1;
        value = cut(skip_space(text, sign + 1), end);
    }
    if (!value.empty()) return value;
    if (word(name, f.head, f.body.begin) < f.body.begin) return "";
    for (const Function& g : functions)  // the function that holds a lambda
        if (&g != &f && g.body.holds(f.body.begin)) return definition(g, name);
    return {};
}

std::string Source::expanded(const Function& f, std::string expression) const {
    for (int depth = 0; depth < 3; ++depth)
        for (size_t i = 0; i < expression.size(); ++i) {
            if (!in_word(expression[i]) || (i && (in_word(expression[i - 1]) || expression[i - 1] == '.')))
                continue;
            const std::string name = word_at(expression, i);
            const bool is_object = expression.substr(i + name.size()).starts_with('.');
            const auto value = is_object ? std::nullopt : definition(f, name);
            if (value && !value->empty())
                expression.replace(i, name.size(), "(" + *value + ")"), i += value->size();
        }
    return expression;
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

size_t Source::place_in(const Function* f, size_t at) const {
    for (const auto& [g, place] : callers(at))
        if (g == f) return place;
    return std::string::npos;
}

std::string Source::object_of(size_t member) const {
    size_t first = member - 1;
    while (first && in_word(text[first - 1])) --first;
    return cut(first, member - 1);
}

bool Source::holds_barrier(const Statement& s) const {
    for (const Statement& body : s.parts)
        for (const Statement& part : body.parts)
            if (part.kind == Statement::simple &&
                (has({"__syncthreads"}, part) || text.find(".sync()", part.begin) < part.end))
                return true;
    return false;
}

bool Source::alone_in_its_lines(const Statement& s) const {
    const size_t before = text.find_last_not_of(" \t", s.begin - 1), after = text.find_first_not_of(" \t\r", s.end);
    return text[before] == '\n' && (after == text.npos || text[after] == '\n');
}

}  // namespace cudacpu
