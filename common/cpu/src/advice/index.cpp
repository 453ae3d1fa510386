// index.cpp - the text of a subscript: whether two threads use the same element, whether it stays in bounds, and
// variables that should not be __shared__.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
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
}  // namespace

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
        if (word == "warpSize") return 32;
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
        for (const char* cast : {"(int)", "(unsigned)", "(unsigned int)", "(size_t)"})
            if (skip(cast)) return unary();
        if (skip("(")) {
            const long x = binary(0);
            return skip(")") ? x : unknown();
        }
        return at < s.size() && in_word(s[at]) ? name() : unknown();
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

// The expression with its variables replaced by what they are computed from; no value if that is unknown, or comes
// from memory.
std::optional<string> Conflict::computed(string expression) const {
    for (int depth = 0; depth < 3; ++depth)
        for (size_t i = 0; i < expression.size(); ++i) {
            if (!in_word(expression[i]) || (i && (in_word(expression[i - 1]) || expression[i - 1] == '.')))
                continue;
            const string name = word_at(expression, i);
            if (name == "threadIdx" || expression.compare(i + name.size(), 13, ".thread_rank(") == 0 ||
                (!f->own.count(name) && !f->warps.count(name)))
                continue;
            const auto value = src.definition(*f, name);
            if (!value || value->empty()) return {};
            expression.replace(i, name.size(), "(" + *value + ")");
        }
    return expression.find('[') == string::npos ? std::optional(expression) : std::nullopt;
}

static string index_at(const Source& src, size_t place, const string& name) {  // of name[...]; "" if it is none
    const size_t open = place + name.size();
    return name.empty() || src.text[open] != '[' ? "" : src.code(open + 1, closed(src.text, open) - 1);
}

// ---- races of elements

Advice equal_writes(const Conflict& c) {
    if (!c.pair.equal) return {};
    string indices;
    for (size_t i = c.a + c.pair.name.size(); !c.pair.name.empty() && c.src.text[i] == '[';
         i = closed(c.src.text, i))
        indices += c.src.code(i + 1, closed(c.src.text, i) - 1) + " ";
    const auto index = c.a == c.b ? c.computed(indices) : std::nullopt;
    if (!index || index->find("threadIdx") == string::npos) return {say(equal_values)};
    const bool no_block = c.far == 2 && index->find("blockIdx") == string::npos;
    return {say(equal_elements, c.src.line_at(c.a),
                in_chinese() ? (c.far == 2 ? "线程块" : "线程") : (c.far == 2 ? "blocks" : "threads"),
                !no_block      ? ""
                : in_chinese() ? "（是否应含有 blockIdx.x？）"
                               : " (should it hold blockIdx.x?)")};
}

Advice mixed_rows_of_race(const Conflict& c) {
    const string index = c.a == c.b && c.pair.both_write ? index_at(c.src, c.a, c.pair.name) : "";
    const string words = index.empty() ? "" : mixed_rows(c.src, *c.f, c.a, index);
    return words.empty() ? Advice() : Advice{words};
}

// for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] += x[i];
Advice stride_rule(const Conflict& c) {
    const string index = c.a == c.b && c.far == 2 ? index_at(c.src, c.a, c.pair.name) : "", i = word_at(index, 0);
    const auto depends_on = [&](const string& expression, const char* word) {
        string all = expression;
        for (int depth = 0; depth < 3; ++depth)
            for (size_t at = 0; at < all.size(); ++at)
                if (in_word(all[at]) && !(at && in_word(all[at - 1])))
                    if (const auto value = c.src.definition(*c.f, word_at(all, at)); value && !value->empty())
                        all.replace(at, word_at(all, at).size(), *value), at += value->size();
        return has_name(all, word);
    };
    static const std::regex counts(R"((.*); (\w+)( [^;]*); (\2 \+= (.*)))");
    for (const Statement* s : c.pa) {
        const string head = s->kind == Statement::loop && !i.empty() ? c.src.condition(*s) : "";
        std::smatch m;
        if (std::regex_match(head, m, counts) && m[2] == i && !depends_on(m[5], "gridDim") &&
            depends_on(m[1], "blockIdx") && !depends_on(m[3], "blockIdx"))
            return {say(stride), {write(c.src.line_at(s->head), i + " += blockDim.x * gridDim.x", m[4])}};
    }
    return {};
}

// For a subscript that uses the number in a tile or a warp only: what must be added so that each tile has its own
// part.
// "" if the subscript uses no thread number; no value if it uses the number in the block.
static std::optional<string> part_of(const Conflict& c, const string& index) {
    static const std::regex number(R"(threadIdx(\.x\)? *([%&]) *(\w+))?)"), rank(R"((\w+)\.thread_rank\(\))");
    const auto known = c.computed(index);
    if (!known) return {};
    string part;
    for (std::sregex_iterator i(known->begin(), known->end(), number), none; i != none; ++i) {
        string size = (*i)[3];
        if (!(*i)[1].matched || ((*i)[2] == "&" && !atoi(size.c_str()))) return {};
        if ((*i)[2] == "&") size = std::to_string(atoi(size.c_str()) + 1);
        part = "threadIdx.x / " + size + " * " + size;
    }
    for (std::sregex_iterator i(known->begin(), known->end(), rank), none; i != none; ++i) {
        if (!c.is_tile((*i)[1])) return {};
        part = "threadIdx.x - " + (*i)[1].str() + ".thread_rank()";
    }
    return part;
}

// Tiles or warps whose threads index an array of the block by their number in the tile.
Advice tiles_rule(const Conflict& c) {
    const Accessor &x = c.pair.race.before, &y = c.pair.race.after;
    if (c.far == 2 || x.rank == y.rank || (x.access | y.access) & atomic || launch->block.y * launch->block.z > 1)
        return {};
    string part;
    for (const size_t at : {c.a, c.b}) {
        const std::optional<string> own = part_of(c, index_at(c.src, at, c.pair.name));
        if (!own || own->empty()) return {};
        part = *own;
    }
    const string size = part.substr(part.rfind(' ') + 1);
    const unsigned lanes = size == "warpSize" ? 32 : unsigned(atoi(size.c_str()));
    if (lanes && x.rank / lanes == y.rank / lanes) return {};  // in the same tile
    for (const Statement* s : c.a_writes ? c.pa : c.pb)
        if (s->kind == Statement::branch && !part_of(c, c.src.condition(*s))) return {};
    if (c.pair.adds && c.a == c.b && c.update(c.pa).others.empty()) return {};  // all threads add to it
    return {"", {{say(tiles, part), {c.src.line_at(c.a), c.src.line_at(c.b)}}}};
}

// ---- a __shared__ variable that each thread sets and uses as if it were its own

static bool each_has_its_own(const Conflict& c, const string& name, const Statement& declaration,
                             const std::set<string>& others) {
    const Source& src = c.src;
    const auto scope = c.f->path(declaration.begin);
    const auto all = src.variables(name, declaration.end, scope[scope.size() - 2]->end);
    if (all.empty() || std::ranges::any_of(all, [&](size_t i) { return src.text[i - 1] == '&'; })) return false;
    const size_t first = all.front(), last = all.back();
    const auto path = c.f->path(first);
    const Statement& sets = *path.back();  // or a loop with a counter that all threads share
    if (sets.kind == Statement::loop && src.text.find_first_not_of(" (", sets.head) == first && sets.holds(last))
        return true;
    const string code = src.code(sets);
    if (c.barrier_between(first, last) || !code.starts_with(name + " = ") || !path[path.size() - 2]->holds(last))
        return false;
    const auto differs = [&](const Statement& s) {
        const auto is_in = [&](const string& own) { return src.has({own.c_str()}, s); };
        return std::ranges::any_of(c.f->own, is_in) || std::ranges::any_of(others, is_in);
    };
    if (differs(sets)) return true;
    for (const size_t i : src.variables(name, first + 1, last))  // the thread's own sum
        for (const Statement* s : c.f->path(i))
            if (s->kind == Statement::loop && !s->holds(first)) return differs(*c.f->path(last).back());
    return false;
}

Advice own_variable(const Conflict& c) {
    static const std::regex form(R"(__shared__ ((?:\w+ )+)(\w+(?:, \w+)*))");
    for (const size_t i : c.src.words("__shared__", c.f->body.begin, c.a)) {
        const Statement& d = *c.f->path(i).back();
        const string code = c.src.code(d);
        std::smatch m;
        if (!std::regex_match(code, m, form)) continue;
        const std::vector<string> names = listed(m[2]);
        std::set<string> mine;
        for (size_t round = 0; round < names.size(); ++round)  // a name may be computed from another
            for (const string& name : names)
                if (each_has_its_own(c, name, d, mine)) mine.insert(name);
        if (!mine.count(c.pair.name)) continue;
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

// ---- out of bounds

namespace {

// A guard such as `i < n`: threads that fail it return, or do not enter the guarded statement.
struct Bound {
    int line;
    string name, limit, code;
    bool sends_away, itself, of_loop;  // sends_away: threads that fail it return; itself: `i <= n`
    string instead(const string& what) const {
        return Advice{"", {write(line, what + (sends_away ? " >= " : " < ") + limit, code)}}.words();
    }
};

// The names in a subscript; compared: the last line that compares one of them.
std::vector<Bound> bounds_of(const Source& src, const Function& f, size_t at, const string& index, int& compared) {
    static const std::regex compares(R"(\b(\w+) (<=|<|>=|>) (\w[\w. ]*?)(?= *(\)|;|&&|\|\||$)))");
    std::vector<Bound> found;
    const auto look = [&](const Statement& s, bool sends_away) {
        const string head = src.cut(s.head, s.head_end);
        if (head.find_first_of("<>") == string::npos) return;
        for (size_t i = s.head; i < s.head_end; ++i)
            if (const string name = src.name_at(i); !name.empty() && has_name(index, name))
                compared = src.line_at(s.head);
        for (std::sregex_iterator c(head.begin(), head.end(), compares), none; c != none; ++c) {
            const string name = (*c)[1], sign = (*c)[2], limit = (*c)[3];
            if (has_name(index, name) && (sign[0] == '>') == sends_away &&
                head.find("= -" + limit) == string::npos)  // from -R to R
                found.push_back({src.line_at(s.head + size_t(c->position())), name, limit, c->str(), sends_away,
                                 sign == "<=" || sign == ">", s.kind == Statement::loop});
        }
    };
    for (const Statement* s : f.path(at)) {
        look(*s, false);
        for (const Statement& before : s->parts)
            if (before.end <= at && src.has({"return", "break", "continue"}, before)) look(before, true);
    }
    return found;
}

// The advice if `i <= n` lets through the element n, which does not exist; "" if that is not the mistake.
string too_far(const std::vector<Bound>& bounds, const string& index) {
    for (const Bound& b : bounds)
        if (b.itself && std::regex_match(index, std::regex("(.*\\+ )?" + b.name + "( \\* \\w+)?( \\+.*)?")) &&
            !std::regex_search(index, std::regex("-|\\+ *\\d")))  // another summand goes out of bounds
            return b.instead(b.name);
    return "";
}

// The guard that `in[i + 1]` or `in[i - 1]` needs, where the code tests `i < n`.
string shifted(const std::vector<Bound>& bounds, const string& index, bool below) {
    static const std::regex form(R"((\w+) ([+-]) (\d+))");
    std::smatch m;
    if (!std::regex_match(index, m, form)) return "";
    for (const Bound& b : bounds) {
        if (m[1] != b.name || b.itself || (m[2] == "-") != below) continue;
        if (!below) return b.instead(index);
        if (!b.of_loop)
            return b.instead(b.name + (b.sends_away ? " < " : " >= ") + m[3].str() +
                             (b.sends_away ? " || " : " && ") + b.name);
    }
    return "";
}

// The statement with the guard `if (i < n)`, where n is the only whole number that the function gets, else the
// size.
string guarded(const Source& src, const Function& f, size_t at, const string& index, size_t has) {
    static const std::regex number(R"((?:const )?(?:int|unsigned|unsigned int|size_t|long) (\w+))"),
        sets(R"([^ (]+ [-+*/]?= .*)");
    const Statement& s = *f.path(at).back();
    const string code = src.code(s);
    if (!has || index != word_at(index, 0) || !std::regex_match(code, sets) ||
        src.line_at(s.begin) != src.line_at(s.end - 1))
        return "";
    std::vector<string> numbers;
    for (const string& parameter : listed(src.code(f.head + 1, f.head_end - 1)))
        if (std::smatch m; std::regex_match(parameter, m, number)) numbers.push_back(m[1]);
    const string limit = numbers.size() == 1 ? numbers[0] : std::to_string(has);
    return Advice{say(against_size),
                  {write(src.line_at(s.begin), "if (" + index + " < " + limit + ") " + code, code)}}
        .words();
}

}  // namespace

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

string check_index(const Line& line, const string& name, long element, long last, size_t has, bool shared) {
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    const size_t first = src ? src->spot(line.number, name) : string::npos;
    const Function* f = first == string::npos ? nullptr : src->function_at(first);
    std::map<string, string> others;  // accesses that do not use the thread's own number, with their subscripts
    string index, less;
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
        const bool own =
            src->text[end] != '[' && value(0) == 0L && value(1) == 1L && value(7) == 7L && names.empty();
        whole &= !strchr("[.", src->text[end]) && src->text.compare(end, 2, "->");
        while (src->text[end] == '[') end = closed(src->text, end);
        if (!own) others[src->code(i, end)] = index;
        const string all = src->code(open + 1, end - 1);
        bounds = bounds_of(*src, *f, open, all, compared);
        if (!has || element != long(has)) continue;
        if (less.empty()) less = too_far(bounds, all);
        for (const Bound& b : bounds)
            if (all == b.limit + " - " + b.name)
                less = Advice{"",
                              {write(line.number, name + "[" + b.limit + " - 1 - " + b.name + "]",
                                     name + "[" + all + "]")}}
                           .words();
    }
    if (!index.empty() && others.empty() && !compared && !shared) return guarded(*src, *f, first, index, has);
    if (index.empty()) return "";
    if (!less.empty()) return say(one_too_far, has, has - 1) + less;
    const auto adds = [](const auto& o) { return o.second.find('-') == string::npos; };
    if (element < 0 && !std::ranges::all_of(others, adds)) std::erase_if(others, adds);
    if (others.size() == 1) index = others.begin()->second;
    if (string all = mixed_rows(*src, *f, first, index); !all.empty()) return all;
    const string ask = whole && others.size() == 1 && !shared ? shifted(bounds, index, element < 0) : "";
    if (index.find_first_of("?&|^=<>") != string::npos) index = "(" + index + ")";
    const string guard = whole && has && others.size() < 2
                             ? ": if (" + index + (element < 0 ? " >= 0" : " < " + std::to_string(has)) + ")"
                             : "",
                 more = element < 0 ? ""
                        : last > 0  ? say(larger_by, last + 1)
                                    : say(larger);
    if (others.empty()) return compared ? say(grows, compared) + guard + more : say(for_each_thread) + guard;
    string all;
    size_t left = others.size();
    for (const auto& other : others)
        all += "`" + other.first + "`" + (--left > 1 ? ", " : !left ? "" : in_chinese() ? " 和 " : " and ");
    return (compared ? say(compared_there, compared) : say(check_first)) +
           (others.size() > 1 ? say(are_they_meant, all) : say(is_it_meant, all)) +
           (!ask.empty() ? ask : (others.size() == 1 ? say(guard_it) : "") + guard + more);
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
        if (!std::regex_search(line, m, sets)) continue;
        const string name = m[1];
        const size_t at = src->spot(pair.a.number, name);
        if (name != cause.name && src->name_at(at) == name && src->text[at - 1] == '[') return true;
    }
    return false;
}

}  // namespace cudacpu::race
