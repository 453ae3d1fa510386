// indices.cpp - analyses the text of a subscript: whether two threads use the same element, and whether tiles share
// it.
#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "advice/scene.hpp"
#include "advice/structure.hpp"
#include "engine/launch.hpp"
#include "engine/text.hpp"
#include "race/race.hpp"
#include "report/race_report.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

using std::string;

namespace {

// The value of an expression for one thread of a block with these dimensions.
constexpr long threads = 64;
class Reader {
    const Source& src;
    const Function& f;
    const string& s;
    const long thread;
    std::map<string, long>& others;  // strides and sizes, equal in all threads
    const int depth;
    size_t at = 0;
    bool known = true;

    long unknown() {
        known = false;
        return 0;
    }
    bool skip(const char* sign) {
        while (at < s.size() && isspace(static_cast<unsigned char>(s[at]))) ++at;
        const bool here = s.compare(at, strlen(sign), sign) == 0;
        if (here) at += strlen(sign);
        return here;
    }
    long name() {
        const size_t from = at;
        while (at < s.size() && in_word(s[at])) ++at;
        const string word = s.substr(from, at - from);
        if (isdigit(static_cast<unsigned char>(word[0]))) return strtol(word.c_str(), nullptr, 0);
        if (word == "warpSize") return 32;
        for (const auto& [builtin, value] :
             {std::pair("threadIdx", thread), {"blockIdx", 0L}, {"blockDim", threads}})
            if (word == builtin) return skip(".x") ? value : unknown();
        if (skip(".thread_rank()")) return thread;
        if (skip("(") || skip("[") || skip(".") || skip("->")) return unknown();
        if (!f.own.count(word) && !f.warps.count(word)) return others.try_emplace(word, 1).first->second;
        const std::optional<string> value = src.definition(f, word);
        if (!value) return unknown();
        if (value->empty()) return thread;
        const std::optional<long> v =
            depth ? Reader(src, f, *value, thread, others, depth - 1).value() : std::nullopt;
        return v ? *v : unknown();
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
        struct Operator {
            const char* sign;
            int level;
            long (*apply)(long, long);
        };
        static constexpr Operator operators[] = {
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
        long x = unary();
        for (;;) {
            const size_t before = at;
            const auto* o = std::ranges::find_if(operators, [&](const Operator& op) { return skip(op.sign); });
            if (o == std::end(operators) || !known) return x;
            if (o->level < level) {
                at = before;
                return x;
            }
            x = o->apply(x, binary(o->level + 1));
        }
    }

public:
    Reader(const Source& source, const Function& function, const string& expression, long number,
           std::map<string, long>& names, int levels = 3)
        : src(source), f(function), s(expression), thread(number), others(names), depth(levels) {}
    std::optional<long> value() {
        const long x = binary(0);
        skip("");
        return known && at == s.size() ? std::optional(x) : std::nullopt;
    }
};

// The thread's number in its block or in the grid.
bool is_own_number(const Source& src, const Function& f, const string& expression) {
    std::map<string, long> others;
    for (const long thread : {0L, 1L, 7L})
        if (Reader(src, f, expression, thread, others).value() != thread) return false;
    return others.empty();
}

// A guard such as `i < n`: threads that fail it return, or do not enter the guarded statement.
struct Bound {
    int line;
    string name, limit, code;
    bool sends_away, itself, of_loop;  // sends_away: threads that fail it return; itself: `i <= n`
    string write(const string& what) const {
        return text("in line %d write `%s%s%s` for `%s`", line, what.c_str(), sends_away ? " >= " : " < ",
                    limit.c_str(), code.c_str());
    }
};

// The names in a subscript; compared: the last line that compares one of them.
std::vector<Bound> bounds_of(const Source& src, const Function& f, size_t at, const string& index, int& compared) {
    static const std::regex compares(R"(\b(\w+) (<=|<|>=|>) (\w[\w. ]*?)(?= *(\)|;|&&|\|\|)))"),
        any(R"([A-Za-z_]\w*)");
    std::set<string> names;
    std::sregex_iterator i(index.begin(), index.end(), any), none;
    for (; i != none; ++i) names.insert(i->str());
    std::vector<Bound> found;
    const auto look = [&](const Statement& s, bool sends_away) {
        const string head = src.text.substr(s.head, s.head_end - s.head);
        if (head.find_first_of("<>") == string::npos) return;
        for (const string& name : names)
            if (src.word(name, s.head, s.head_end) < s.head_end) compared = src.line_at(s.head);
        for (std::sregex_iterator c(head.begin(), head.end(), compares); c != none; ++c) {
            const string name = (*c)[1], sign = (*c)[2], limit = (*c)[3];
            if (names.count(name) && (sign[0] == '>') == sends_away &&
                head.find("= -" + limit) == string::npos)  // from -R to R
                found.push_back({src.line_at(s.head + size_t(c->position())), name, limit, c->str(), sends_away,
                                 sign == "<=" || sign == ">", s.kind == Statement::loop});
        }
    };
    for (const Statement* s : f.path(at)) {
        look(*s, false);
        for (const Statement& before : s->parts)
            if (before.end <= at && src.has({"return", "break", "continue"}, before.begin, before.end))
                look(before, true);
    }
    return found;
}

// The advice if `i <= n` lets through the element n, which does not exist; "" if that is not the mistake.
string one_too_far(const std::vector<Bound>& bounds, const string& index) {
    for (const Bound& b : bounds)
        if (b.itself && std::regex_match(index, std::regex("(.*\\+ )?" + b.name + "( \\* \\w+)?( \\+.*)?")) &&
            !std::regex_search(index, std::regex("-|\\+ *\\d")))  // another summand goes out of bounds
            return b.write(b.name);
    return "";
}

// The guard that `in[i + 1]` or `in[i - 1]` needs, where the code tests `i < n`.
string shifted(const std::vector<Bound>& bounds, const string& index, bool below) {
    static const std::regex form(R"((\w+) ([+-]) (\d+))");
    std::smatch m;
    if (!std::regex_match(index, m, form)) return "";
    for (const Bound& b : bounds) {
        if (m[1] != b.name || b.itself || (m[2] == "-") != below) continue;
        if (!below) return b.write(index);
        const string least =
            b.name + (b.sends_away ? " < " : " >= ") + m[3].str() + (b.sends_away ? " || " : " && ");
        if (!b.of_loop) return b.write(least + b.name);
    }
    return "";
}

}  // namespace

string mixed_rows(const Source& src, const Function& f, size_t at, string index) {
    static const std::regex form(R"((\w+) \* (\w+) \+ (\w+))");
    if (const auto value = src.definition(f, index); value && !value->empty())
        index = value->substr(std::min(value->find_first_not_of(' '), value->size()));
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
    return text(
        "rows of `%s` have %s elements, but line %d lets %s go up to %s, not %s: write `%s * %s + %s`, or "
        "swap %s and %s in one of the two",
        index.c_str(), length.c_str(), rows_line, row.c_str(), length.c_str(), column.c_str(), row.c_str(),
        limit.c_str(), column.c_str(), row.c_str(), column.c_str());
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
    const size_t line_end = f ? src->text.find('\n', first) : 0;
    for (size_t i = f ? src->variable(name, first, line_end) : 0, end; i < line_end;
         i = src->variable(name, end, line_end)) {
        const size_t open = i + name.size();
        if (src->text[open] != '[') return "";
        end = closed(src->text, open);
        index = src->original(open + 1, end - 1);
        const bool own = src->text[end] != '[' && is_own_number(*src, *f, index);
        whole &= !strchr("[.", src->text[end]) && src->text.compare(end, 2, "->");
        while (src->text[end] == '[') end = closed(src->text, end);
        if (!own) others[src->original(i, end)] = index;
        const string all = src->original(open + 1, end - 1);
        bounds = bounds_of(*src, *f, open, all, compared);
        if (less.empty() && has && element == long(has)) less = one_too_far(bounds, all);
        for (const Bound& b : bounds)
            if (has && element == long(has) && all == b.limit + " - " + b.name)
                less = text("in line %d write `%s[%s - 1 - %s]` for `%s[%s]`", line.number, name.c_str(),
                            b.limit.c_str(), b.name.c_str(), name.c_str(), all.c_str());
    }
    if (index.empty() || (others.empty() && !compared && !shared)) return "";
    if (!less.empty()) return text("%zu elements end with number %zu: ", has, has - 1) + less;
    if (element < 0 &&
        std::ranges::any_of(others, [](const auto& o) { return o.second.find('-') != string::npos; }))
        std::erase_if(others, [](const auto& o) { return o.second.find('-') == string::npos; });
    if (others.size() == 1) index = others.begin()->second;
    if (string rows = mixed_rows(*src, *f, first, index); !rows.empty()) return rows;
    string ask = whole && others.size() == 1 && !shared ? shifted(bounds, index, element < 0) : "";
    if (index.find_first_of("?&|^=<>") != string::npos) index.insert(0, "(").append(")");
    const string sign = element < 0 ? ">= 0" : text("< %zu", has),
                 larger = element < 0 ? ""
                          : last > 0  ? text(", or give the array %ld elements", last + 1)
                                      : ", or make the array larger",
                 guard = whole && has && others.size() < 2 ? ": if (" + index + " " + sign + ")" : "";
    if (others.empty())
        return compared ? text("check the index: line %d lets it grow beyond the size", compared) + guard + larger
                        : "let it have an element for each thread, or check the index against the size" + guard;
    string all;
    size_t left = others.size();
    for (const auto& other : others) all += "`" + other.first + (--left > 1 ? "`, " : left ? "` and " : "`");
    const string what =
        compared ? text("check the index, and what line %d compares: ", compared) : "check the index first: ";
    if (!ask.empty()) return what + "is " + all + " the element that is meant? If it is, " + ask;
    return what +
           (others.size() == 1 ? "is " + all + " the element that is meant? If it is, guard it"
                               : "are " + all + " the elements that are meant? If they are, guard them") +
           guard + larger;
}

Meeting meeting(const Source& src, const Function& f, const string& written, const std::vector<string>& read,
                const std::vector<string>& conditions) {
    std::map<string, long> others;
    const auto value = [&](const string& s, long thread) { return Reader(src, f, s, thread, others).value(); };
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

std::optional<string> Scene::computed(string expression) const {
    for (int depth = 0; depth < 3; ++depth)
        for (size_t i = 0; i < expression.size(); ++i) {
            if (!in_word(expression[i]) || (i && (in_word(expression[i - 1]) || expression[i - 1] == '.')))
                continue;
            size_t end = i;
            while (end < expression.size() && in_word(expression[end])) ++end;
            const string name = expression.substr(i, end - i);
            if (name == "threadIdx" || expression.compare(end, 13, ".thread_rank(") == 0) continue;
            if (!f->own.count(name) && !f->warps.count(name)) continue;
            const auto value = src.definition(*f, name);
            if (!value || value->empty()) return {};
            expression.replace(i, name.size(), "(" + *value + ")");
        }
    if (expression.find('[') != string::npos) return {};
    return expression;
}

// For a subscript that uses the number in a tile or a warp only: what must be added so that each tile has its own
// part. "" if the subscript uses no thread number; no value if it uses the number in the block.
std::optional<string> Scene::part_of(const string& index) const {
    const auto known = computed(index);
    if (!known) return {};
    const string& expression = *known;
    string part;
    const string number = "threadIdx.x", rank = ".thread_rank()";
    for (size_t i = expression.find("threadIdx"); i != string::npos; i = expression.find("threadIdx", i + 1)) {
        const size_t sign = expression.find_first_not_of(" )", i + number.size());
        if (expression.compare(i, number.size(), number) || sign == string::npos || !strchr("%&", expression[sign]))
            return {};
        const size_t first = std::min(expression.find_first_not_of(' ', sign + 1), expression.size());
        string size = expression.substr(first, expression.find_first_of(" )*+-", first) - first);
        if (expression[sign] == '&' && !atoi(size.c_str())) return {};
        if (expression[sign] == '&') size = std::to_string(atoi(size.c_str()) + 1);
        part = text("threadIdx.x / %s * %s", size.c_str(), size.c_str());
    }
    for (size_t i = expression.find(rank); i != string::npos; i = expression.find(rank, i + 1)) {
        size_t first = i;
        while (first && in_word(expression[first - 1])) --first;
        const string group = expression.substr(first, i - first);
        if (!is_tile(group)) return {};
        part = text("threadIdx.x - %s.thread_rank()", group.c_str());
    }
    return part;
}

bool Scene::depends_on(const string& expression, const char* word, int depth) const {
    for (size_t i = 0, end; i < expression.size(); i = end + 1) {
        for (end = i; end < expression.size() && in_word(expression[end]);) ++end;
        const string name = expression.substr(i, end - i);
        if (name == word) return true;
        const auto value = name.empty() || !depth ? std::nullopt : src.definition(*f, name);
        if (value && depends_on(*value, word, depth - 1)) return true;
    }
    return false;
}

Advice Scene::equal_values() const {
    string indices;
    const size_t open = a + pair.name.size();
    for (size_t i = open, end; !pair.name.empty() && src.text[i] == '['; i = end) {
        end = closed(src.text, i);
        indices += src.text.substr(i + 1, end - i - 2) + " ";
    }
    const auto index = a == b ? computed(indices) : std::nullopt;
    if (!index || index->find("threadIdx") == string::npos)
        return {"nothing goes wrong while all write the same value; if one may write another, let one thread write",
                ""};
    const bool no_block = far == 2 && index->find("blockIdx") == string::npos;
    return {
        text("check the index of line %d: two %s write one element%s; if that is meant, nothing goes wrong while "
             "all write the same value",
             src.line_at(a), far == 2 ? "blocks" : "threads", no_block ? " (should it hold blockIdx.x?)" : ""),
        ""};
}

// for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] += x[i];
bool Scene::advise_stride(Advice& v) const {
    const size_t open = src.text.find('[', a);
    if (a != b || pair.name.empty() || open != a + pair.name.size()) return false;
    const string i = src.name_at(open + 1);
    for (const Statement* s : pa) {
        if (s->kind != Statement::loop || i.empty()) continue;
        const size_t first = src.text.find(';', s->head), second = src.text.find(';', first + 1);
        if (second >= s->head_end) continue;
        const string step = text_between(second + 1, s->head_end - 1), ends = text_between(first + 1, second);
        if (!step.starts_with(i + " += ") || depends_on(step.substr(i.size()), "gridDim") ||
            !depends_on(text_between(s->head + 1, first), "blockIdx") || !ends.starts_with(i) ||
            depends_on(ends.substr(i.size()), "blockIdx"))
            continue;
        v = {text("two blocks take one element, as the loop goes on by less than the grid has threads: in line %d "
                  "write `%s += blockDim.x * gridDim.x` for `%s`",
                  src.line_at(second), i.c_str(), step.c_str()),
             ""};
        return true;
    }
    return false;
}

bool Scene::advise_parts(Advice& v) const {
    const Accessor &x = pair.race.before, &y = pair.race.after;
    if (far == 2 || x.rank == y.rank || (x.access | y.access) & atomic || launch->block.y * launch->block.z > 1)
        return false;
    string part;
    for (const size_t place : {a, b}) {
        const size_t open = src.text.find('[', place);
        const size_t end = open == string::npos ? open : closed(src.text, open);
        if (end == string::npos || open > place + pair.name.size()) return false;
        const std::optional<string> own = part_of(src.text.substr(open + 1, end - open - 2));
        if (!own || own->empty()) return false;
        part = *own;
    }
    const string size = part.substr(part.rfind(' ') + 1);
    const unsigned lanes = size == "warpSize" ? 32 : unsigned(atoi(size.c_str()));
    if (lanes && x.rank / lanes == y.rank / lanes) return false;  // in the same tile
    const auto& path = a_writes ? pa : pb;
    for (const Statement* s : path)
        if (s->kind == Statement::branch && !part_of(src.text.substr(s->head, s->head_end - s->head))) return false;
    if (pair.adds && a == b && !update(pa).reads_others()) return false;  // all threads add to it
    v = {"tiles of one block use the same elements, but each needs some of its own: add " + part +
             " to the index in ",
         ", and let the array have an element for each thread of the block",
         {src.line_at(a), src.line_at(b)}};
    return true;
}

}  // namespace cudacpu::race
