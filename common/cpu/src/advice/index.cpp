// index.cpp - indices that are wrong: two threads share an element, or an access is out of bounds.
#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "memory/address_space.hpp"
#include "race/race.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

// ---- the value of an expression for one thread of a block

namespace {
constexpr long threads = 64;
struct Operator {
    const char* sign;
    int level;
    long (*apply)(long, long);
};
constexpr Operator operators[] = {
    // two-character operators first
    {"&&", 1, [](long x, long y) -> long { return x && y; }},
    {"==", 5, [](long x, long y) -> long { return x == y; }},
    {"!=", 5, [](long x, long y) -> long { return x != y; }},
    {"<=", 6, [](long x, long y) -> long { return x <= y; }},
    {">=", 6, [](long x, long y) -> long { return x >= y; }},
    {"<<", 7, [](long x, long y) -> long { return y < 0 || y > 31 ? 0 : x * (1L << y); }},
    {">>", 7, [](long x, long y) -> long { return y < 0 || y > 31 ? 0 : x >> y; }},
    {"<", 6, [](long x, long y) -> long { return x < y; }},
    {">", 6, [](long x, long y) -> long { return x > y; }},
    {"^", 3, [](long x, long y) -> long { return x ^ y; }},
    {"&", 4, [](long x, long y) -> long { return x & y; }},
    {"+", 8, [](long x, long y) -> long { return x + y; }},
    {"-", 8, [](long x, long y) -> long { return x - y; }},
    {"*", 9, [](long x, long y) -> long { return x * y; }},
    {"/", 9, [](long x, long y) -> long { return y ? x / y : 0; }},
    {"%", 9, [](long x, long y) -> long { return y ? x % y : 0; }}};

class Evaluator {
    const Source& src;
    const Function& f;
    const string& s;
    const long thread;
    std::map<string, long>& others;  // strides and sizes, equal in all threads
    const int depth;
    size_t at = 0;
    bool known = true;

    long unknown() { return known = false; }
    bool skip(const char* sign) {
        at = skip_space(s, at);
        const bool here = s.compare(at, strlen(sign), sign) == 0;
        if (here) at += strlen(sign);
        return here;
    }
    long name() {
        const string word = word_at(s, at);
        at += word.size();
        if (isdigit(static_cast<unsigned char>(word[0]))) return strtol(word.c_str(), nullptr, 0);
        for (const auto& [builtin, value] :
             {std::pair("threadIdx", thread), {"blockIdx", 0L}, {"blockDim", threads}})
            if (word == builtin) return skip(".x") ? value : unknown();
        if (skip(".thread_rank()")) return thread;
        if (skip("(") || skip("[") || skip(".") || skip("->")) return unknown();
        if (!f.own.count(word) && !f.warps.count(word)) return others.try_emplace(word, 1).first->second;
        const std::optional<string> value = src.definition(f, word);
        if (!value || (!value->empty() && !depth)) return unknown();
        if (value->empty()) return thread;
        const std::optional<long> x = Evaluator(src, f, *value, thread, others, depth - 1).value();
        return x ? *x : unknown();
    }
    long unary() {
        if (skip("-")) return -unary();
        if (skip("!")) return !unary();
        for (const char* cast : {"(int)", "(unsigned)", "(size_t)"})
            if (skip(cast)) return unary();
        if (!skip("(")) return at < s.size() && in_word(s[at]) ? name() : unknown();
        const long x = binary(0);
        return skip(")") ? x : unknown();
    }
    long binary(int level) {
        for (long x = unary();;) {
            const size_t before = at;
            const auto* o = std::ranges::find_if(operators, [&](const Operator& op) { return skip(op.sign); });
            if (o == std::end(operators) || !known) return x;
            if (o->level < level) return at = before, x;
            x = o->apply(x, binary(o->level + 1));
        }
    }

public:
    Evaluator(const Source& source, const Function& function, const string& expression, long number,
              std::map<string, long>& names, int levels = 3)
        : src(source), f(function), s(expression), thread(number), others(names), depth(levels) {}
    std::optional<long> value() {
        const long x = binary(0);
        at = skip_space(s, at);
        return known && at == s.size() ? std::optional(x) : std::nullopt;
    }
};
}  // namespace

Meeting meeting(const Source& src, const Function& f, const string& written, const std::vector<string>& read,
                const std::vector<string>& conditions) {
    std::map<string, long> others;
    const auto value = [&](const string& s, long thread) { return Evaluator(src, f, s, thread, others).value(); };
    for (const string& s : conditions) value(s, 0);  // registers all names
    for (const string& s : read)
        if (!value(s, 0)) return Meeting::unknown;
    if (!value(written, 0) || others.size() > 3) return Meeting::unknown;
    Meeting found = Meeting::none;
    for (bool more = true; more;) {
        std::map<long, long> writers;  // by element
        std::vector<long> in;
        for (long t = 0; t < threads; ++t)
            if (std::ranges::all_of(conditions, [&](const string& s) { return value(s, t).value_or(1); }))
                in.push_back(t);
        for (const long t : in)
            if (!writers.try_emplace(*value(written, t), t).second) return Meeting::of_writers;
        for (const string& s : read)
            for (const long t : in)
                if (const auto w = writers.find(*value(s, t)); w != writers.end() && w->second != t)
                    found = Meeting::of_readers;
        more = false;  // the next values of the other variables: 1, 2, 4, ... 32 each
        for (auto& [name, x] : others) {
            more = (x *= 2) <= 32;
            if (more) break;
            x = 1;
        }
    }
    return found;
}

// ---- bounds

// What decides whether threads come here: the branches and loops around it, and each `if (...) return` before it.
static Path deciding(const Source& src, const Function& f, size_t at) {
    Path found;
    for (const Statement* s : f.path(at)) {
        if (s->head_end) found.push_back(s);
        for (const Statement& before : s->parts)
            if (before.head_end && before.end <= at && src.has({"return", "break", "continue"}, before))
                found.push_back(&before);
    }
    return found;
}

// The remark on an index such as `y * width + x`; "" for others.
static string about_rows(const string& index) {
    return std::regex_search(index, std::regex(R"([a-z)] \* (?!blockDim|gridDim)[a-z])")) ? say(row_length) : "";
}

string check_index(const Line& line, string name, long element, long last, size_t has, bool shared) {
    static const std::regex inclusive(R"(\b(\w+) (<=|>) (\w[\w. ]*?)(?= *(\)|;|&&|\|\||$)))");
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    size_t first = src ? src->spot(line.number, name) : string::npos;
    const Function* f = first == string::npos ? nullptr : src->function_at(first);
    if (f && src->line(line.number).find(name) == string::npos) {  // a pointer to that memory: row[x]
        while (first && in_word(src->text[first - 1])) --first;
        name = word_at(src->text, first), has = 0;
    }
    string all, depends;
    int compared = 0;  // the last line that compares what the index depends on
    for (const size_t i : f ? src->variables(name, first, src->text.find('\n', first)) : std::vector<size_t>()) {
        size_t end = i + name.size();
        if (src->text[end] != '[') return "";
        const string index = src->code(end + 1, closed(src->text, end) - 1);
        while (src->text[end] == '[') end = closed(src->text, end);
        const string used = "`" + src->code(i, end) + "`";
        if (all.find(used) == string::npos) all += (all.empty() ? "" : in_chinese() ? "、" : " and ") + used;
        depends = index + " " + src->definition(*f, index).value_or("");
        for (const Statement* s : deciding(*src, *f, i)) {
            const string head = src->cut(s->head, s->head_end);
            for (size_t at = s->head; at < s->head_end && head.find_first_of("<>") != string::npos; ++at)
                if (const string asks = src->name_at(at); !asks.empty() && has_name(depends, asks))
                    compared = src->line_at(s->head);
            std::smatch m;  // `i <= n` lets i be n
            if (has && element == long(has) && std::regex_search(head, m, inclusive) &&
                (m[2] == "<=") == s->holds(i) &&
                (index == m[1] || index.ends_with(" * " + m[3].str() + " + " + m[1].str())))
                return say(one_too_far, has, has - 1) +
                       write(src->line_at(s->head + size_t(m.position())),
                             m[1].str() + (s->holds(i) ? " < " : " >= ") + m[3].str(), m.str())
                           .words;
        }
    }
    if (all.empty()) return "";
    const dim3 grid = launch->grid, block = launch->block;
    const string pointer = src->definition(*f, name).value_or("");
    return (compared ? say(compared_there, all, compared) : say(check_first, all)) + say(either_or) +
           (shared && last > 0 ? say(up_to, last) : "") +
           (compared ? "" : say(not_compared, size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z)) +
           (pointer.empty()
                ? ""
                : say(pointer_is, src->line_at(src->variable(name, f->body.begin, first)), name, pointer)) +
           about_rows(depends);
}

// ---- races of elements

Advice equal_writes(const Conflict& c) {
    return c.pair.equal ? Advice{say(equal_values, c.src.line_at(c.a))} : Advice();
}

// The variables in an expression; without all, those of a thread or a block.
static std::set<string> variables(const Conflict& c, const string& code, bool all = false) {
    static const std::regex word(R"([A-Za-z_]\w*(\.[xyz])?)");
    std::set<string> found;
    for (std::sregex_iterator m(code.begin(), code.end(), word), none; m != none; ++m)
        if (const string name = m->str(); all || name.find("Idx.") != string::npos || c.f->own.count(name) ||
                                          c.src.definition(*c.f, name).value_or("").find("Idx.") != string::npos)
            found.insert(name);
    return found;
}

// Two threads have the same number for an element of their own. Several threads change one element on purpose if
// its number comes from data or a division, or lacks a number of the thread that the value has: an atomic is right
// then. If the number is another one in each round of a loop, a barrier may be missing.
Advice wrong_index(const Conflict& c) {
    const size_t open = c.a + c.pair.name.size();
    if (c.a != c.b || c.pair.name.empty() || c.src.text[open] != '[') return {};
    const auto index = c.computed(c.src.code(open + 1, closed(c.src.text, open) - 1));
    const Assignment change = assignment(c.src.code(*c.pa.back()));
    const auto used = variables(c, change.target);
    if (!index || used.empty() || !change.target.starts_with(c.pair.name + "[")) return {};
    std::set<int> lines{c.src.line_at(c.a)};  // also those that set its variables or use a block's array
    bool varies = false;
    for (const string& name : variables(c, change.target, true))
        for (const size_t at : c.src.variables(name, c.f->body.begin, c.f->body.end)) {
            const Statement& s = *c.f->path(at).back();
            const bool sets = assignment(c.src.code(s)).target == name || (s.kind == Statement::loop && s.asks(at));
            if (sets || (c.far < 2 && name == c.pair.name)) lines.insert(c.src.line_at(at));
            varies |= sets && c.around && c.around->holds(at);
        }
    const bool own = c.pair.adds ? !c.one_atomic() && index->find_first_of("/%>&?") == string::npos &&
                                       c.update(c.pb).others.empty() &&
                                       std::ranges::includes(used, variables(c, change.value))
                     : c.far == 2 ? c.pair.both_write && c.grid_sync().empty()
                                  : c.pair.both_write && !c.pair.equal && c.around && !varies;
    const string rows = about_rows(*index);
    if (!own) return {};
    return {"", {{say(c.far == 2 && rows.empty() ? index_of_blocks : own_element, *index) + rows, lines}}};
}

// A __shared__ variable that each thread sets first, and then uses as if it were its own.
Advice own_variable(const Conflict& c) {
    const Region* r = find(c.pair.race.address);
    const auto uses = c.src.variables(c.pair.name, c.f->body.begin, c.f->body.end);  // the first one declares it
    if (!r || r->bytes != c.pair.race.bytes || uses.size() < 2) return {};
    const Path path = c.f->path(uses[1]);
    const Statement& first = *path.back();
    const bool declared = c.src.has({"__shared__"}, *c.f->path(uses[0]).back());
    const bool counts = first.kind == Statement::loop && first.asks(uses[1]);
    if (!declared || (!counts && assignment(c.src.code(first)).target != c.pair.name) ||
        !path[path.size() - 1 - !counts]->holds(uses.back()) || c.barrier_between(uses[1], uses.back()) ||
        std::ranges::any_of(uses, [&](size_t i) { return c.src.text[i - 1] == '&'; }))
        return {};
    return {say(own_variable_words, c.src.line_at(uses[0]), c.pair.name)};
}

// ---- one race that follows from another

// The other race is of a variable, or its lines set one, that decides which element is used here, or whether it is.
bool follows_from(const Pair& pair, const Pair& cause) {
    const Source* src = Source::of(pair.b.file);
    if (!src || src != Source::of(cause.b.file) || cause.name.empty()) return false;
    const auto depends = [&](const Line& line, const string& name) {
        const size_t at = src->spot(line.number, pair.name), open = src->text.find('[', at);
        const Function* f = at == string::npos ? nullptr : src->function_at(at);
        const auto asks = [&](const Statement* s) { return has_name(src->condition(*s), name); };
        return f &&
               ((src->line_at(open) == line.number && has_name(src->cut(open, closed(src->text, open)), name)) ||
                std::ranges::any_of(deciding(*src, *f, at), asks));
    };
    std::set<string> names;
    if (cause.name != pair.name) names.insert(cause.name);
    for (const Line* line : {&cause.a, &cause.b}) {
        const size_t at = src->spot(line->number, cause.name);
        const Function* f = at == string::npos ? nullptr : src->function_at(at);
        const string target = f ? assignment(src->code(*f->path(at).back())).target : "";
        if (!target.empty() && std::ranges::all_of(target, in_word)) names.insert(target);
    }
    return std::ranges::any_of(names,
                               [&](const string& name) { return depends(pair.a, name) || depends(pair.b, name); });
}

}  // namespace cudacpu::race
