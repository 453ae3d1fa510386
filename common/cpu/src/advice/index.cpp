// index.cpp - the text of a subscript: whether two threads use the same element, whether it stays in bounds, and
// variables that should not be __shared__.
#include <algorithm>
#include <array>
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
    {"||", 0, [](long x, long y) -> long { return x || y; }},
    {"&&", 1, [](long x, long y) -> long { return x && y; }},
    {"==", 5, [](long x, long y) -> long { return x == y; }},
    {"!=", 5, [](long x, long y) -> long { return x != y; }},
    {"<=", 6, [](long x, long y) -> long { return x <= y; }},
    {">=", 6, [](long x, long y) -> long { return x >= y; }},
    {"<<", 7, [](long x, long y) -> long { return y < 0 || y > 31 ? 0 : x * (1L << y); }},
    {">>", 7, [](long x, long y) -> long { return y < 0 || y > 31 ? 0 : x >> y; }},
    {"<", 6, [](long x, long y) -> long { return x < y; }},
    {">", 6, [](long x, long y) -> long { return x > y; }},
    {"|", 2, [](long x, long y) -> long { return x | y; }},
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

// ---- bounds

namespace {

// A guard such as `i < n`: threads that fail it return, or do not enter the guarded statement.
struct Bound {
    int line;
    string name, limit, code;
    bool sends_away, itself;  // sends_away: threads that fail it return; itself: `i <= n`
    string instead(const string& what, const char* sign = " < ") const {
        return Advice{"", {write(line, what + (sends_away ? " >= " : sign) + limit, code)}}.words();
    }
};

// compared: the last line that compares a name in the subscript.
std::vector<Bound> bounds_of(const Source& src, const Function& f, size_t at, const string& index, int& compared) {
    static const std::regex compares(R"(\b(\w+) (<=|<|>=|>) (\w[\w. ]*?)(?= *(\)|;|&&|\|\||$)))");
    std::vector<Bound> found;
    const auto look = [&](const Statement& s, bool sends_away) {
        const string head = src.cut(s.head, s.head_end);
        for (size_t i = s.head; i < s.head_end && head.find_first_of("<>") != string::npos; ++i)
            if (const string name = src.name_at(i); !name.empty() && has_name(index, name))
                compared = src.line_at(s.head);
        for (std::sregex_iterator c(head.begin(), head.end(), compares), none; c != none; ++c) {
            const string name = (*c)[1], sign = (*c)[2], limit = (*c)[3];
            if (has_name(index, name) && (sign[0] == '>') == sends_away &&
                head.find("= -" + limit) == string::npos)  // from -R to R
                found.push_back({src.line_at(s.head + size_t(c->position())), name, limit, c->str(), sends_away,
                                 sign == "<=" || sign == ">"});
        }
    };
    for (const Statement* s : f.path(at)) {
        look(*s, false);
        for (const Statement& before : s->parts)
            if (before.end <= at && src.has({"return", "break", "continue"}, before)) look(before, true);
    }
    return found;
}

// The remark if writer and reader assume different row lengths in `y * width + x`; "" if they agree.
string mixed_rows(const Source& src, const Function& f, size_t at, string index) {
    static const std::regex form(R"((\w+) \* (\w+) \+ (\w+))");
    if (const auto value = src.definition(f, index); value && !value->empty()) index = *value;
    std::smatch m;
    if (!std::regex_match(index, m, form)) return "";
    const string row = m[1], length = m[2], column = m[3];
    string limit;
    int line = 0, rows_line = 0;
    for (const Bound& b : bounds_of(src, f, at, index, line)) {
        if (b.name == row && b.limit == length) rows_line = b.line;
        if (b.name == column) limit = b.limit;
    }
    if (!rows_line || limit.empty() || limit == length) return "";
    return say(rows, index, length, rows_line, row, column, limit);
}

// The only whole number that the function gets, if it does not use it, else the size.
string limit_of(const Source& src, const Function& f, size_t has) {
    static const std::regex number(R"((?:const )?(?:int|unsigned|unsigned int|size_t|long) (\w+))");
    std::vector<string> numbers;
    for (const string& parameter : listed(src.code(f.head + 1, f.head_end - 1)))
        if (std::smatch m; std::regex_match(parameter, m, number)) numbers.push_back(m[1]);
    const bool unused = numbers.size() == 1 && src.word(numbers[0], f.body.begin, f.body.end) >= f.body.end;
    return unused ? numbers[0] : std::to_string(has);
}

}  // namespace

string check_index(const Line& line, string name, long element, long last, size_t has, bool shared) {
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    size_t first = src ? src->spot(line.number, name) : string::npos;
    const Function* f = first == string::npos ? nullptr : src->function_at(first);
    if (f && src->line(line.number).find(name) == string::npos) {  // a pointer to that memory: row[x]
        size_t from = first;
        while (from && in_word(src->text[from - 1])) --from;
        name = word_at(src->text, from), first = from, has = 0;
    }
    std::map<string, string> others;  // accesses that do not use the thread's own number, with their subscripts
    string index, found;
    bool whole = true;  // whole elements of a one-dimensional array
    int compared = 0;
    std::vector<Bound> bounds;
    for (const size_t i : f ? src->variables(name, first, src->text.find('\n', first)) : std::vector<size_t>()) {
        const size_t open = i + name.size();
        if (src->text[open] != '[') return "";
        size_t end = closed(src->text, open);
        index = src->code(open + 1, end - 1);
        std::map<string, long> names;  // the thread's number in its block or in the grid?
        const auto value = [&](long thread) { return Evaluator(*src, *f, index, thread, names).value(); };
        const bool own = src->text[end] != '[' && value(0) == 0L && value(1) == 1L && names.empty();
        whole &= !strchr("[.", src->text[end]) && src->text.compare(end, 2, "->");
        while (src->text[end] == '[') end = closed(src->text, end);
        if (!own) others[src->code(i, end)] = index;
        const string all = src->code(open + 1, end - 1);
        bounds = bounds_of(*src, *f, open, all, compared);
        for (const Bound& b : bounds) {
            if (!has || element != long(has)) break;
            if (b.itself && std::regex_match(all, std::regex("(.*\\+ )?" + b.name + "( \\* \\w+)?( \\+.*)?")) &&
                !std::regex_search(all, std::regex("-|\\+ *\\d")))  // another summand goes out of bounds
                found = b.instead(b.name);
            if (all == b.limit + " - " + b.name)
                found = write(line.number, name + "[" + b.limit + " - 1 - " + b.name + "]", name + "[" + all + "]")
                            .words;
        }
    }
    if (index.empty()) return "";
    if (!found.empty()) return say(one_too_far, has, has - 1) + found;
    const auto adds = [](const auto& o) { return o.second.find('-') == string::npos; };
    if (element < 0 && !std::ranges::all_of(others, adds)) std::erase_if(others, adds);
    if (others.size() == 1) index = others.begin()->second;
    if (string all = mixed_rows(*src, *f, first, index); !all.empty()) return all;
    const Statement& s = *f->path(first).back();
    const string code = src->code(s), pointer = src->definition(*f, name).value_or("");
    const string target = assignment(code).target;
    const bool updates = target.starts_with(name + "[") && !others.empty() && !others.count(target);
    for (const size_t i :
         src->words("__shared__", f->body.begin, shared && last > 0 && whole && !updates ? first : 0)) {
        const string declared = src->code(*f->path(i).back());
        const size_t size = declared.find(name + "[") + name.size() + 1;
        if (size <= name.size()) continue;
        const string larger =
            declared.substr(0, size) + std::to_string(last + 1) + declared.substr(declared.find(']', size));
        return say(enlarge) + write(src->line_at(i), larger, declared).words;
    }
    // Threads after the last element have no work if each element belongs to the thread of its number.
    const bool for_all = std::ranges::none_of(
        f->path(first), [](const Statement* p) { return p->kind == Statement::branch && p->enters == some; });
    if (others.empty() && !compared && whole && for_all && has && element >= long(has) && pointer.empty() &&
        has + launch->block.x > size_t{launch->grid.x} * launch->block.x && s.kind == Statement::simple &&
        src->line_at(s.begin) == src->line_at(s.end - 1) && !src->ends_there(s) && !src->declares(s))
        return say(against_size) +
               write(line.number, "if (" + index + " < " + limit_of(*src, *f, has) + ") " + code, code).words;
    for (const Bound& b : bounds) {  // x = in[i] + in[i + d], where the code tests i < n
        const string own = name + "[" + b.name + "]", second = name + "[" + index + "]", sum = own + " + " + second;
        const bool by_variable =
            index.starts_with(b.name + " + ") && !strchr("0123456789", index[b.name.size() + 3]);
        if (by_variable && code.ends_with(" = " + sum) && assignment(code).target.find('[') == string::npos)
            return say(summand) +
                   write(line.number, own + " + (" + index + " < " + b.limit + " ? " + second + " : 0)", sum).words;
    }
    string all;
    for (const auto& [used, subscript] :
         others.empty() ? std::map<string, string>{{name + "[" + index + "]", ""}} : others)
        all += (all.empty() ? "`" : in_chinese() ? "、`" : " and `") + used + "`";
    if (const auto value = src->definition(*f, index); value && !value->empty()) index = *value;
    return (compared ? say(compared_there, all, compared) : say(check_first, all)) + say(either_or) +
           (pointer.empty()
                ? ""
                : say(pointer_is, src->line_at(src->variable(name, f->body.begin, first)), name, pointer)) +
           (std::regex_search(index, std::regex(R"([a-z)] \* (?!blockDim)[a-z])")) ? say(row_length) : "");
}

// ---- races of elements

Advice equal_writes(const Conflict& c) {
    return c.pair.equal ? Advice{say(equal_values, c.src.line_at(c.a))} : Advice();
}

// Two blocks, or two rows, that write the same elements.
Advice wrong_index(const Conflict& c) {
    const size_t open = c.a + c.pair.name.size();
    if (c.a != c.b || c.pair.name.empty() || c.src.text[open] != '[') return {};
    const string index = c.src.code(open + 1, closed(c.src.text, open) - 1), i = word_at(index, 0);
    if (const string words = c.pair.both_write ? mixed_rows(c.src, *c.f, c.a, index) : ""; !words.empty())
        return {words};
    static const std::regex counts(R"(.*; *(\w+)( [^;]*); (\1 \+= ([^;]*)))");
    static const std::regex starts(R"(.*\bblockIdx\.([xyz]) \* blockDim\.\1\b.*)");
    for (const Statement* s :
         c.pa) {  // for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        const string head = s->kind == Statement::loop ? c.src.condition(*s) : "";
        std::smatch m, axis;
        if (c.far < 2 || !std::regex_match(head, m, counts) || !has_name(index, m[1])) continue;
        const string step = c.computed(m[4]).value_or("gridDim"), counter = m[1];
        const Statement& set = *c.f->path(c.src.variable(counter, c.f->body.begin, c.f->body.end)).back();
        const string start = set.head ? c.src.condition(set) : c.src.code(set);
        if (!has_name(step, "gridDim") && std::regex_match(start, axis, starts) &&
            !has_name(c.computed(m[2]).value_or(""), "blockIdx"))
            return {say(stride),
                    {write(c.src.line_at(s->head),
                           counter + " += blockDim." + axis[1].str() + " * gridDim." + axis[1].str(), m[3])}};
    }
    const auto computed = c.computed(index);
    // Several threads change one element on purpose if its number comes from data or a division, or lacks a number
    // of the thread that the value has. Otherwise no atomic helps.
    static const std::regex word(R"(\w+(\.[xyz])?)");
    const auto numbers = [&](const string& code) {  // the variables of a thread or block
        std::set<string> found;
        for (std::sregex_iterator m(code.begin(), code.end(), word), none; m != none; ++m)
            if (const string name = m->str();
                name.find("Idx.") != string::npos || c.f->own.count(name) ||
                c.src.definition(*c.f, name).value_or("").find("Idx.") != string::npos)
                found.insert(name);
        return found;
    };
    const Assignment change = assignment(c.src.code(*c.pa.back()));
    if (c.pair.adds && !c.one_atomic() && computed && computed->find_first_of("/%>&?") == string::npos &&
        change.target == c.pair.name + "[" + index + "]" && c.update(c.pb).others.empty() &&
        !numbers(index).empty() && std::ranges::includes(numbers(index), numbers(change.value)))
        return {say(own_element, c.src.line_at(c.a), *computed)};
    // int i = threadIdx.x; out[i] = 0, by several blocks
    if (c.far < 2 || !c.pair.both_write || c.pair.adds || !computed || !has_name(*computed, "threadIdx.x") ||
        has_name(*computed, "blockIdx"))
        return {};
    const Region* r = find(c.pair.race.address);
    const size_t blocks = launch->grid.x, elements = r ? r->bytes / c.pair.race.bytes : 0,
                 used = blocks * launch->block.x;
    if (elements > used || elements + launch->block.x <= used || c.src.has({"__shared__"}, c.f->body) ||
        c.pair.adds)
        return {say(two_blocks, c.src.line_at(c.a))};
    const Path first = c.f->path(c.src.variable(i, c.f->body.begin, c.f->body.end));
    for (const Statement* s : {first.back(), c.pa.back()}) {
        string code = c.src.code(*s);
        const string written = code;
        for (const string x : {"= threadIdx.x", "[threadIdx.x]"})
            for (size_t at = 0; (at = code.find(x, at)) != code.npos; at += 30)
                code.insert(code.find('t', at), "blockIdx.x * blockDim.x + ");
        if (code != written && s->kind == Statement::simple)
            return {say(block_missing), {write(c.src.line_at(s->begin), code, written)}};
    }
    return {say(two_blocks, c.src.line_at(c.a))};
}

// Tiles or warps whose threads index an array of the block by their number in the tile.
Advice tiles_rule(const Conflict& c) {
    static const std::regex number(R"(threadIdx\.x\)? *([%&]) *(\d+)|(\w+)\.thread_rank\(\))");
    const Accessor &x = c.pair.race.before, &y = c.pair.race.after;
    string part;
    for (const size_t at : {c.a, c.b}) {
        const size_t open = at + c.pair.name.size();
        const auto index =
            c.src.text[open] == '[' ? c.computed(c.src.code(open + 1, closed(c.src.text, open) - 1)) : std::nullopt;
        std::smatch m;
        const auto partial = [](const Statement* s) {
            return s->kind == Statement::branch && s->enters != everybody;
        };
        if (c.far == 2 || c.pair.adds || !index || std::ranges::any_of(c.f->path(at), partial) ||
            !std::regex_search(*index, m, number))
            return {};
        const int lanes = atoi(m[2].str().c_str()) + (m[1] == "&");
        if (m[3].matched ? !c.is_tile(m[3]) : x.rank / unsigned(lanes) == y.rank / unsigned(lanes)) return {};
        part = m[3].matched ? "threadIdx.x - " + m[3].str() + ".thread_rank()"
                            : "threadIdx.x / " + std::to_string(lanes) + " * " + std::to_string(lanes);
    }
    return {"", {{say(tiles, part), {c.src.line_at(c.a), c.src.line_at(c.b)}}}};
}

// ---- a __shared__ variable that each thread sets and uses as if it were its own

static bool each_has_its_own(const Conflict& c, const string& name, const Statement& declaration,
                             const std::set<string>& own) {
    const auto scope = c.f->path(declaration.begin);
    const auto all = c.src.variables(name, declaration.end, scope[scope.size() - 2]->end);
    if (all.empty() || std::ranges::any_of(all, [&](size_t i) { return c.src.text[i - 1] == '&'; })) return false;
    const auto path = c.f->path(all.front());
    const Statement& first = *path.back();
    if (first.kind == Statement::loop) return first.asks(all.front()) && first.holds(all.back());  // its counter
    if (c.barrier_between(all.front(), all.back()) || assignment(c.src.code(first)).target != name ||
        !path[path.size() - 2]->holds(all.back()))
        return false;
    return std::ranges::any_of(all, [&](size_t i) {
        const string code = c.src.code(*c.f->path(i).back());
        return assignment(code).target == name &&
               std::ranges::any_of(own, [&](const string& x) { return x != name && has_name(code, x); });
    });
}

Advice own_variable(const Conflict& c) {
    static const std::regex form(R"(__shared__ ((?:\w+ )+)(\w+(?:, \w+)*))");
    for (const size_t i : c.src.words("__shared__", c.f->body.begin, c.a)) {
        const Statement& d = *c.f->path(i).back();
        const string code = c.src.code(d);
        std::smatch m;
        if (!std::regex_match(code, m, form)) continue;
        const std::vector<string> names = listed(m[2]);
        std::set<string> mine = c.f->own;
        for (size_t round = 0; round < names.size(); ++round)  // a name may be computed from another
            for (const string& name : names)
                if (each_has_its_own(c, name, d, mine)) mine.insert(name);
        if (!mine.count(c.pair.name) || c.f->own.count(c.pair.name)) continue;
        string own, shared;
        for (const string& name : names) {
            string& list = mine.count(name) ? own : shared;
            list += (list.empty() ? "" : ", ") + name;
        }
        if (!shared.empty()) shared = " __shared__ " + m[1].str() + shared + ";";
        return {say(own_variable_words), {write(c.src.line_at(i), m[1].str() + own + ";" + shared, code + ";")}};
    }
    return {};
}

// ---- one race that follows from another

bool follows_from(const Pair& pair, const Pair& cause) {
    const Source* src = Source::of(pair.b.file);
    if (!src || src != Source::of(cause.b.file)) return false;
    const auto decides = [&](const Statement& s) {
        return s.head_end && std::ranges::any_of(std::array{cause.a.number, cause.b.number}, [&](int line) {
                   return src->line_at(s.head) <= line && line <= src->line_at(s.head_end - 1);
               });
    };
    for (const Line* l : {&pair.a, &pair.b}) {
        const size_t at = src->spot(l->number, pair.name);
        const Function* f = at == string::npos ? nullptr : src->function_at(at);
        for (const Statement* s : f ? f->path(at) : Path())
            if (decides(*s) || std::ranges::any_of(s->parts, [&](const Statement& before) {  // if (...) return;
                    return before.end <= at && decides(before) && src->has({"return"}, before);
                }))
                return true;
    }
    return false;
}

bool index_from(const Pair& pair, const Pair& cause) {
    const Source* src = Source::of(pair.b.file);
    const string code = src ? src->line(pair.a.number) : "";
    const size_t open = code.find('[');
    if (open == code.npos || pair.a.place != pair.b.place || pair.b.file != cause.b.file) return false;
    const string index = code.substr(open + 1, closed(code, open) - open - 2);
    if (!cause.name.empty() && cause.name != pair.name && has_name(index, cause.name)) return true;
    static const std::regex sets(R"((\w+) *=)");
    for (const Line* c : {&cause.a, &cause.b}) {
        std::smatch m;
        const string line = src->line(c->number);
        if (std::regex_search(line, m, sets) && m[1] != cause.name && has_name(index, m[1])) return true;
    }
    return false;
}

}  // namespace cudacpu::race
