// source.cpp - the statements of the source files that the program contains, and questions about their text.
#include "advice/source.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
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
    size_t n[6];
    for (size_t& x : n) in >> x;
    Statement s{Statement::Kind(n[0]), n[1], n[2], n[3], n[4]};
    for (size_t i = 0; i < n[5]; ++i) s.parts.push_back(read_statement(in));
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
    for (in >> count; count && in >> name >> from >> to; --count)
        s.functions.push_back({name == "-" ? "" : name, from, to, read_statement(in)});
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
    std::string code;  // no regular expression: it would recur for each character of a blanked comment
    for (const char c : text.substr(from, to - from))
        if (!isspace(static_cast<unsigned char>(c))) code += c;
        else if (!code.empty() && code.back() != ' ') code += ' ';
    return code.erase(code.find_last_not_of(' ') + 1);
}

std::string Source::code(const Statement& s) const {
    const std::string all = code(s.begin, s.end);
    return all.substr(0, all.find_last_not_of("; ") + 1);
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

// ---- names

size_t Source::word(const std::string& name, size_t from, size_t to, bool members) const {
    if (name.empty()) return text.npos;
    const std::string_view part(text.data(), std::min(text.size(), std::min(to, text.size()) + name.size() - 1));
    for (size_t i = part.find(name, from); i < to; i = part.find(name, i + 1))
        if (!(i && in_word(text[i - 1])) && !in_word(text[i + name.size()]) &&
            (members || i < 2 || (text[i - 1] != '.' && cut(i - 2, i) != "->")))
            return i;
    return text.npos;
}

std::vector<size_t> Source::words(const std::string& name, size_t from, size_t to, bool members) const {
    std::vector<size_t> found;
    while ((from = word(name, from, to, members)) < to) found.push_back(from++);
    return found;
}

std::vector<size_t> Source::calls(const std::string& name, size_t from, size_t to) const {
    std::vector<size_t> found = words(name, from, to);
    std::erase_if(found, [&](size_t i) {
        const size_t end = i + name.size(), open = text[end] == '<' ? text.find(">(", end) : end;  // sum<int>(x)
        return (open == end && text[end] != '(') || text.find_first_of(";{}", end) < open ||
               cut(end, open).find("<<<") != text.npos;
    });
    return found;
}

bool Source::has(std::initializer_list<const char*> names, size_t from, size_t to) const {
    return std::ranges::any_of(names, [&](const char* name) { return word(name, from, to) < to; });
}

std::string Source::object_of(size_t member) const {
    size_t first = member - 1;
    while (first && in_word(text[first - 1])) --first;
    return cut(first, member - 1);
}

// ---- values

// The values that a function gives a variable: "4" for `x = 4`, and also for `x += 4` and `x <<= 4`; "" for x++ and
// &x, whose value is not known.
std::vector<Value> Source::values(const Function& f, const std::string& name) const {
    std::vector<Value> found;
    for (const size_t i : variables(name, f.body.begin, f.body.end)) {
        if (has({"__shared__"}, f.path(i).back()->begin, i)) return {};
        size_t sign = skip_space(text, i + name.size());
        const std::string before = cut(i - 2, i), after = cut(sign, sign + 2);
        if (before == "++" || before == "--" || before[1] == '&' || after == "++" || after == "--")
            found.push_back({&f, i, ""});
        const bool changes = strchr("+-*/%&|^<>", after[0]);
        if (changes) sign += after == "<<" || after == ">>" ? 2 : 1;
        if (text[sign] != '=' || text[sign + 1] == '=' || after == "<=" || after == ">=") continue;
        size_t end = sign + 1;
        while (!strchr(",;)", text[end])) end = strchr("([{", text[end]) ? closed(text, end) : end + 1;
        found.push_back({&f, i, cut(skip_space(text, sign + 1), end), !changes});
    }
    return found;
}

// The argument that a caller passes for a parameter; none if the function has no such parameter or caller.
std::vector<Value> Source::given(const Function& f, const std::string& name) const {
    const auto names = listed(cut(f.head + 1, f.head_end - 1));
    const auto n =
        size_t(std::ranges::find_if(names, [&](auto& own) { return own.ends_with(name); }) - names.begin());
    const auto all = callers(f.body.begin);
    if (n == names.size() || all.size() < 2) return {};
    const size_t open = text.find('(', all[1].second);
    const auto values = listed(cut(open + 1, closed(text, open) - 1));
    return n < values.size() ? std::vector<Value>{{all[1].first, open, values[n]}} : std::vector<Value>();
}

std::optional<std::string> Source::definition(const Function& f, const std::string& name) const {
    auto all = values(f, name);
    if (all.empty() && word(name, f.head, f.body.begin) < f.body.begin) return "";
    for (const Function& g : functions)  // the function that holds a lambda
        if (all.empty() && &g != &f && g.body.holds(f.body.begin)) return definition(g, name);
    const auto in_its_head = [&](const Statement* loop) {
        return loop->asks(all[0].place) && loop->asks(all[1].place);
    };
    while (all.size() > 1 && std::ranges::any_of(f.path(all[0].place), in_its_head)) all.erase(all.begin() + 1);
    return all.size() == 1 && all[0].sets ? std::optional(all[0].code) : std::nullopt;
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

// ---- functions and statements

const Function* Source::function_at(size_t at) const {
    const auto f = std::ranges::find_if(functions, [&](const Function& g) { return g.body.holds(at); });
    return f == functions.end() ? nullptr : &*f;
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
    return text.npos;
}

bool Source::only_waits(const Statement& s) const {
    const std::string body = s.kind == Statement::loop ? code(s.parts[0].bare()) : "-";
    return body.empty() || body == "{ }" || body == "{}" || body == "continue" || body.starts_with("__nanosleep");
}

// ---- threads

// All threads reach a branch or loop that has a barrier.
bool Source::holds_barrier(const Statement& s) const {
    for (const Statement& body : s.parts)
        for (const Statement& part : body.parts)
            if (part.kind == Statement::simple &&
                (has({"__syncthreads"}, part) || text.find(".sync()", part.begin) < part.end))
                return true;
    return false;
}

// A value differs from thread to thread if it depends on the thread's index, or if an atomic or a shuffle returns
// it. threadIdx.x < 32 and threadIdx.x / 32 == 0 are the same for all lanes of a warp.
Who Source::share(const Function& f, const std::string& expression, int depth) const {
    static const std::regex word(R"(\b([A-Za-z_]\w*)(?=(?:\.\w+)*\s*([<>=/]*)\s*(\w*)))"),
        own(R"(threadIdx|thread_rank|laneid|clock(64)?|atomic\w+|__shfl\w*)"),
        by_32(R"(/ ?(32|warpSize)\b|>> ?5\b)");
    Who all = everybody;
    for (std::sregex_iterator m(expression.begin(), expression.end(), word), none; m != none; ++m) {
        const std::string name = (*m)[1], sign = (*m)[2], number = (*m)[3];
        Who who = std::regex_match(name, own) ? some : everybody;
        if (who == everybody && depth < 4)
            for (const auto& from : {values(f, name), given(f, name)})
                for (const Value& v : from) who = std::max(who, share(*v.f, v.code, depth + 1));
        const int n = number == "warpSize" ? 32 : atoi(number.c_str());
        const bool by_warps = n && n % 32 == 0 && (sign == "<" || sign == ">=" || sign == "/");
        all = std::max(all, who == some && by_warps ? whole_warps : who);
    }
    const bool same_in_warp = expression.find('[') == text.npos && std::regex_search(expression, by_32);
    return all == some && same_in_warp ? whole_warps : all;
}

Who Source::enter(const Function& f, const Statement& s) const {
    if (!s.head_end) return everybody;
    const std::string kind = word_at(text, s.begin);
    const bool hidden =
        s.kind == Statement::loop && kind != "for" && kind != "while" && kind != "do";  // by a macro
    return hidden ? some : share(f, condition(s));
}

Who Source::go_round(const Function& f, const Statement& s) const {
    Who who = s.kind == Statement::loop ? enter(f, s) : everybody;
    for (const Statement& part : s.parts) {
        if (part.kind == Statement::branch && has({"break", "continue"}, part)) who = std::max(who, enter(f, part));
        if (part.kind != Statement::loop) who = std::max(who, go_round(f, part));
    }
    return who;
}

Who Source::come(const Function& f, const Path& path, size_t n) const {
    Who who = everybody;
    for (auto [g, at] : callers(f.body.begin)) {
        const Path to =
            g == &f ? Path(path.begin(), path.begin() + ptrdiff_t(std::min(n, path.size()))) : g->path(at);
        for (const Statement* s : to)
            if (s->head_end && !holds_barrier(*s))
                who = std::max(who, s->kind == Statement::loop ? go_round(*g, *s) : enter(*g, *s));
    }
    return who;
}

}  // namespace cudacpu
