// structure.cpp - parses the source text for the advice: functions, their statements and their variables.
//
// It is not a compiler. Text that it cannot follow, such as macros that hide braces, becomes one long statement.
#include "advice/structure.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>

#include "advice/structure.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"

namespace cudacpu {

namespace {

void blank(std::string& s, size_t from, size_t to) {
    for (; from < to && from < s.size(); ++from)
        if (s[from] != '\n') s[from] = ' ';
}

using Lines = std::set<int>;
// By file: the lines that the preprocessor leaves out in every unit that includes the file.
std::map<std::string, std::optional<Lines>>& all_left_out() {
    static auto& all = *new std::map<std::string, std::optional<Lines>>;
    return all;
}
std::string full_name(const std::string& file) {
    std::error_code none;
    return std::filesystem::weakly_canonical(file, none);
}

// Comments and directives become white space in both texts, literals only in the first.
void strip(std::string& s, std::string& with_literals) {
    bool fresh = true;  // only white space so far in this line
    const auto drop = [&](size_t from, size_t to) { blank(s, from, to), blank(with_literals, from, to); };
    for (size_t i = 0; i < s.size(); ++i) {
        const size_t from = i;
        const char c = s[i];
        if (c == '#' && fresh) {
            while (i < s.size() && (s[i] != '\n' || s[i - 1] == '\\')) ++i;
            drop(from, i);
        } else if (s.compare(i, 2, "//") == 0) {
            drop(from, i = std::min(s.find('\n', i), s.size()));
        } else if (s.compare(i, 2, "/*") == 0) {
            const size_t end = s.find("*/", i + 2);
            i = end == s.npos ? s.size() : end + 1;
            drop(from, i + 1);
        } else if (c == '"' || (c == '\'' && !(i && isalnum(static_cast<unsigned char>(s[i - 1]))))) {
            for (++i; i < s.size() && s[i] != c && s[i] != '\n'; ++i) i += s[i] == '\\';
            blank(s, from + 1, i);
        }
        if (i < s.size()) fresh = s[i] == '\n' || (fresh && isspace(static_cast<unsigned char>(s[i])));
    }
}

// Splits "(int i, int n)" at its commas.
std::vector<std::string> listed(const std::string& list) {
    std::vector<std::string> parts;
    for (size_t from = 1, end; from < list.size(); from = end + 1) {
        from = skip_space(list, from);
        for (end = from; end < list.size() - 1 && list[end] != ',';)
            end = strchr("([{", list[end]) ? closed(list, end) : end + 1;
        parts.push_back(list.substr(from, end - from));
    }
    return parts;
}

bool in_capitals(const std::string& name) {
    return std::ranges::none_of(name, [](unsigned char c) { return islower(c); }) && !name.starts_with("__");
}

}  // namespace

size_t skip_space(const std::string& s, size_t at) {
    while (at < s.size() && isspace(static_cast<unsigned char>(s[at]))) ++at;
    return at;
}

std::string word_at(const std::string& s, size_t at) {
    size_t end = at;
    while (end < s.size() && in_word(s[end])) ++end;
    return s.substr(at, end - at);
}

size_t closed(const std::string& s, size_t at) {
    int depth = 0;
    for (; at < s.size(); ++at) {
        depth += strchr("([{", s[at]) ? 1 : strchr(")]}", s[at]) ? -1 : 0;
        if (!depth) return at + 1;
    }
    return s.size();
}

int left_out(const char* file, const char* lines) {
    Lines out;
    for (int first, last, read; sscanf(lines, "%d-%d%n", &first, &last, &read) == 2; lines += read)
        for (; first <= last; ++first) out.insert(first);
    std::optional<Lines>& known = all_left_out()[full_name(file)];
    if (!known) known = out;
    else std::erase_if(*known, [&](int line) { return !out.count(line); });
    return 0;
}

Source::Source(const std::vector<std::string>& lines, const std::set<int>& left_out)
    : starts{0, 0} {  // line numbers begin at 1
    for (const std::string& l : lines) {
        written += l + "\n";
        starts.push_back(written.size());
    }
    for (const int line : left_out)
        if (size_t(line) <= lines.size()) blank(written, starts[line], starts[line + 1]);
    text = written;
    strip(text, written);
    read_functions();
    for (auto f = all.rbegin(); f != all.rend(); ++f) read_variables(*f);  // a lambda precedes its holder
}

const Source* Source::of(const std::string& file) {
    static auto& known = *new std::map<std::string, Source*>;
    const auto [s, is_new] = known.try_emplace(file, nullptr);
    if (!is_new) return s->second;
    const std::vector<std::string>& lines = source_text(file);
    const std::optional<Lines>& out = all_left_out()[full_name(file)];
    return s->second = lines.empty() ? nullptr : new Source(lines, out.value_or(Lines()));
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

size_t Source::word(const std::string& name, size_t from, size_t to) const {
    if (name.empty()) return text.npos;
    for (size_t i = text.find(name, from); i < to; i = text.find(name, i + 1))
        if (!(i && in_word(text[i - 1])) && !in_word(text[i + name.size()])) return i;
    return text.npos;
}

size_t Source::variable(const std::string& name, size_t from, size_t to) const {
    size_t i = word(name, from, to);
    while (i < to && i && (text[i - 1] == '.' || text.compare(i - 2, 2, "->") == 0)) i = word(name, i + 1, to);
    return i;
}

std::vector<size_t> Source::words(const std::string& name, size_t from, size_t to) const {
    std::vector<size_t> found;
    while ((from = word(name, from, to)) < to) found.push_back(from++);
    return found;
}
std::vector<size_t> Source::variables(const std::string& name, size_t from, size_t to) const {
    std::vector<size_t> found;
    while ((from = variable(name, from, to)) < to) found.push_back(from++);
    return found;
}

std::vector<size_t> Source::calls(const std::string& name, size_t from, size_t to) const {
    std::vector<size_t> found = words(name, from, to);
    std::erase_if(found, [&](size_t i) {
        const size_t end = i + name.size(), open = text[end] == '<' ? text.find(">(", end) : end;  // sum<int>(x)
        return (open == end && text[end] != '(') || text.find_first_of(";{}", end) < open;
    });
    return found;
}

size_t Source::spot(int number, const std::string& name) const {
    if (number < 1 || size_t(number) + 1 >= starts.size()) return text.npos;
    const size_t from = starts[number], to = starts[number + 1];
    const auto used = [&](size_t i) {  // except where it is declared
        const Function* f = function_at(i);
        return f && !has({"__shared__"}, path(*f, i).back()->begin, i);
    };
    for (const size_t i : variables(name, from, to))
        if (used(i)) return i;
    for (size_t i = text.find('[', from); i < to; i = text.find('[', i + 1))
        if (used(i)) return i;
    size_t i = to;
    while (i > from && strchr(" \t\n};", text[i - 1])) --i;
    return i > from ? i - 1 : from;
}

Statement Source::statement(size_t& at) const {
    at = skip_space(text, at);
    Statement s{Statement::simple, at, at, 0, 0, {}};
    const std::string first = word_at(text, at);
    auto add = [&] {
        s.parts.push_back(statement(at));
        s.end = at;
    };
    const size_t given = skip_space(text, at + first.size());  // EACH(i, n) {, a macro that hides a loop
    const size_t held = !first.empty() && text[given] == '(' ? skip_space(text, closed(text, given)) : text.size();
    const bool hidden = held < text.size() && (text[held] == '{' || (in_word(text[held]) && in_capitals(first)));
    auto parentheses = [&] {
        s.head = text.find('(', at);
        if (s.head == text.npos) s.head = text.size();
        at = s.head_end = s.end = closed(text, s.head);
    };
    if (at < text.size() && text[at] == '{') {
        s.kind = Statement::block;
        const size_t end = closed(text, at);
        for (++at; (at = skip_space(text, at)) < end - 1;) s.parts.push_back(statement(at));
        at = s.end = end;
    } else if (first == "if" || first == "for" || first == "while" || first == "switch" || hidden) {
        s.kind = first == "if" || first == "switch" ? Statement::branch : Statement::loop;
        parentheses();
        add();
        const size_t next = skip_space(text, at);
        if (first == "if" && word_at(text, next) == "else") at = next + 4, add();
    } else if (first == "do") {
        s.kind = Statement::loop;
        at += 2;
        add();
        parentheses();
        at = s.end = std::min(text.find(';', at), text.size() - 1) + 1;
    } else {
        for (; at < text.size() && text[at] != ';' && text[at] != '}';)
            at = strchr("([{", text[at]) ? closed(text, at) : at + 1;
        at = s.end = at < text.size() && text[at] == ';' ? at + 1 : std::max(at, s.begin + 1);
    }
    return s;
}

// A brace after a parameter list opens a function. The parser also looks inside namespaces and classes.
void Source::read_functions() {
    for (size_t at = 0, begin = 0; at < text.size(); ++at) {
        if (text[at] == ';' || text[at] == '}') begin = at + 1;
        if (text[at] == '(') at = closed(text, at) - 1;
        if (at >= text.size() || text[at] != '{') continue;
        const std::string head = text.substr(begin, at - begin);
        size_t open = head.npos;  // the last parentheses after a name are the parameters
        std::string name;
        for (size_t i = 0; i < head.size(); ++i) {
            if (head[i] == ':' && i && head[i - 1] == ')') break;  // a constructor's initializers
            if (head[i] != '(') continue;
            size_t end = i, first;
            while (end && isspace(static_cast<unsigned char>(head[end - 1]))) --end;
            for (first = end; first && in_word(head[first - 1]);) --first;
            const std::string before = head.substr(first, end - first);
            const bool is_operator = head.find("operator") < first && before.empty();  // operator+=(
            if (is_operator || (!before.empty() && before.compare(0, 2, "__") != 0)) {
                open = i, name = is_operator ? "operator" : before;
                if (is_operator) break;
            }
            i = closed(head, i) - 1;
        }
        if (open == head.npos) {
            if (head.find('=') == head.npos) begin = at + 1;  // a namespace or a class
            else at = closed(text, at) - 1, begin = at + 1;
            continue;
        }
        const std::string parameters = head.substr(open, closed(head, open) - open);
        const size_t body = at;
        Function f{name, parameters, statement(at), {}, {}};
        // The body of a lambda for a kernel does not belong to the host function that holds it.
        for (const size_t i : words("__device__", body, at)) {
            const size_t given = text.find('(', i), opened = text.find('{', given);
            size_t before = text.find_last_not_of(" \n", i - 1);
            if (text.compare(before - 7, 8, "__host__") == 0) before = text.find_last_not_of(" \n", before - 8);
            if (text[before] != ']' || opened >= at) continue;
            size_t inside = opened;
            all.push_back({"", text.substr(given, closed(text, given) - given), statement(inside), {}, {}});
        }
        // auto fold = [&](int d) {...}, which is called by its name
        for (size_t i = text.find("= [", body); i < at; i = text.find("= [", i + 1)) {
            size_t end = text.find_last_not_of(' ', i - 1) + 1, first = end;
            while (in_word(text[first - 1])) --first;
            const size_t given = skip_space(text, closed(text, i + 2));
            size_t inside = text[given] == '(' ? skip_space(text, closed(text, given)) : at;
            if (inside >= at || text[inside] != '{' || first == end) continue;
            const std::string list = text.substr(given, closed(text, given) - given);
            all.push_back({text.substr(first, end - first), list, statement(inside), {}, {}});
        }
        all.push_back(std::move(f));
        begin = at--;
    }
}

// A value computed from the thread's index, or returned by an atomic or a shuffle, differs from thread to thread.
void Source::read_variables(Function& f) const {
    f.own = {"threadIdx", "thread_rank", "laneid", "clock", "clock64"};
    if (const Function* holder = holder_of(f)) f.own.insert(holder->own.begin(), holder->own.end());
    const std::vector<std::string> names = listed(f.parameters);
    for (const size_t call : calls(f.name, 0, text.size())) {  // with the caller's own thread number
        const Function* g = function_at(call);
        const size_t open = text.find('(', call);
        if (!g || g == &f) continue;
        const std::vector<std::string> given = listed(text.substr(open, closed(text, open) - open));
        for (size_t i = 0; i < std::min(given.size(), names.size()); ++i)
            if (g->own.count(given[i]) || given[i] == "threadIdx.x")
                f.own.insert(names[i].substr(names[i].find_last_of(" *&") + 1));
    }
    std::set<std::string> shared;
    for (size_t i = 0; i < f.parameters.size(); ++i) {
        if (i && in_word(f.parameters[i - 1])) continue;
        const std::string name = word_at(f.parameters, i);
        for (const char* part : {"tid", "lane", "thread", "idx", "rank"})
            if (name.find(part) != name.npos) f.own.insert(name);
    }
    const auto [body, from, to] = std::tuple(text.substr(0, f.body.end), f.body.begin, f.body.end);
    for (const size_t i : words("__shared__", from, to))
        for (size_t j = i; j < text.find(';', i); ++j)
            if (in_word(text[j]) && !in_word(text[j - 1])) shared.insert(word_at(text, j));
    for (int round = 0; round < 3; ++round)
        for (size_t i = from; i < to; ++i) {  // name = expression, up to a comma or the end
            if (body[i] != '=' || body[i + 1] == '=' || strchr("=!<>", body[i - 1])) continue;
            size_t end = i - 1, first;
            while (end > from && strchr(" \t\n+-*/%&|^", body[end])) --end;
            for (first = ++end; first > from && in_word(body[first - 1]);) --first;
            const std::string name = body.substr(first, end - first);
            size_t stop = i + 1;
            while (stop < to && !strchr(",;", body[stop]) && body[stop] != ')')
                stop = strchr("([{", body[stop]) ? closed(body, stop) : stop + 1;
            bool differs = false, by_warp = false;
            for (size_t j = i; j < stop; ++j) {
                if (!in_word(body[j]) || in_word(body[j - 1])) continue;
                const std::string w = word_at(body, j);
                differs |= f.own.count(w) || w.starts_with("atomic") || w.starts_with("__shfl");
                by_warp |= f.warps.count(w);
            }
            const std::string value = body.substr(i, stop - i);
            for (const char* whole : {"/ 32", "/32", ">> 5", ">>5", "/ warpSize"})
                if (differs && value.find(whole) != value.npos && value.find('[') == value.npos)
                    differs = false, by_warp = true;
            if (name.empty() || isdigit(static_cast<unsigned char>(name[0])) || shared.count(name)) continue;
            if (differs) f.own.insert(name);
            else if (by_warp) f.warps.insert(name);
        }
}

const Function* Source::holder_of(const Function& f) const {
    for (const Function& g : all)
        if (&g != &f && g.body.holds(f.body.begin)) return &g;
    return nullptr;
}

const Function* Source::function_at(size_t at) const {
    for (const Function& f : all)
        if (f.body.holds(at)) return &f;
    return nullptr;
}

std::vector<const Statement*> Source::path(const Function& f, size_t at) {
    std::vector<const Statement*> result{&f.body};
    for (bool deeper = true; deeper;) {
        deeper = false;
        for (const Statement& part : result.back()->parts)
            if (part.holds(at)) {
                result.push_back(&part);
                deeper = true;
                break;
            }
    }
    return result;
}

size_t Source::first_of(std::initializer_list<const char*> words, size_t from, size_t to) const {
    size_t first = text.npos;
    for (const char* w : words)
        if (const size_t i = word(w, from, to); i < to) first = std::min(first, i);
    return first;
}

std::string Source::name_at(size_t at) const {
    const bool begins = !isdigit(static_cast<unsigned char>(text[at])) && !(at && in_word(text[at - 1]));
    return begins ? word_at(text, at) : "";
}

size_t Source::head(const Function& f) const {
    return std::min(text.rfind(f.parameters, f.body.begin), f.body.begin);
}

std::optional<std::string> Source::definition(const Function& f, const std::string& name) const {
    std::string value;
    size_t first = 0;
    for (const size_t i : variables(name, f.body.begin, f.body.end)) {
        const size_t sign = skip_space(text, i + name.size());
        const char c = text[sign], next = text[sign + 1];
        const bool steps = strchr("+-", c) && next == c, changes = strchr("+-*/%&|^", c) && next == '=';
        const std::string before = text.substr(i - 2, 2);
        const bool in_head = first && std::ranges::any_of(path(f, i), [&](const Statement* loop) {
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
    const bool given = word(name, head(f), f.body.begin) < f.body.begin;
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

}  // namespace cudacpu
