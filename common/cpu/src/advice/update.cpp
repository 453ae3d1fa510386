// update.cpp - statements that change a value in place. The advice is a single atomic or, if a thread reads an
// element that another thread writes there, that all must have read before one writes.
#include <algorithm>
#include <cstring>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

// ---- the text of a statement

namespace {

// What can be assigned to: *sum, (*count), s->left, bins[at[i] % 8].n
const string lvalue =
    R"(((?:\*+|\(\*)?[A-Za-z_][\w:]*(?:(?:\.|->)\w+|\)|\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\])*))";

std::regex whole_name(const string& name) {
    return std::regex("(^|[^\\w])" + std::regex_replace(name, std::regex(R"([^\w ])"), R"(\$&)") +
                      (in_word(name.back()) ? "(?!\\w)" : ""));
}

}  // namespace

const Statement& innermost(Path& path) {
    while (path.back()->kind != Statement::simple && path.back()->parts.size() == 1)
        path.push_back(&path.back()->parts[0]);
    return *path.back();
}

bool has_name(const string& s, const string& name) {
    return name.empty() || std::regex_search(s, whole_name(name));
}

Assignment assignment(const string& code) {
    static const std::regex step("(\\+\\+|--)" + lvalue + "|" + lvalue + "(\\+\\+|--)"),
        sets("(?:(?:[\\w:<>]+[ *&]+)+(?=\\w+ =))?" + lvalue + R"( *([-+*/%&|^]|<<|>>)?= *([^=].*))"),
        extreme(R"((?:std::)?f?(max|min)f?\((.+)\))"), question(R"(\(?(.+?) ([<>])=? (.+?)\)? \? (.+) : (.+))");
    std::smatch m;
    if (listed(code).size() > 1) return {};  // ++a, ++b
    if (std::regex_match(code, m, step))
        return {m[2].str() + m[3].str(), "+", m[1].str() + m[4].str() == "++" ? "1" : "-1"};
    if (!std::regex_match(code, m, sets)) return {};
    const string x = m[1], sign = m[2], value = m[3];
    if (!sign.empty()) return {x, sign, value};
    if (value.starts_with(x + " ") && value.size() > x.size() + 3 && value[x.size() + 2] == ' ')
        if (const string s = value.substr(x.size() + 1, 1), rest = value.substr(x.size() + 3);
            rest.find_first_of(s == "+" ? "<>?|&^=" : "<>?|&^=+-") == string::npos)
            return {x, s, rest};
    if (std::regex_match(value, m, extreme))
        if (const auto of = listed(m[2]); of.size() == 2 && (of[0] == x || of[1] == x))
            return {x, m[1], of[of[0] == x]};
    if (std::regex_match(value, m, question) && (m[1] == x || m[3] == x)) {
        const bool first = m[4] == m[1] && m[5] == m[3], second = m[4] == m[3] && m[5] == m[1];
        if (first || second) return {x, (m[2] == "<") == first ? "min" : "max", m[1] == x ? m[3] : m[1]};
    }
    return {x, "", value};
}

Edit write(int line, const string& code, const string& old) { return {say(write_for, line, code, old)}; }
Edit write_instead(const Source& src, const string& code, const Statement& s) {
    const int first = src.line_at(s.begin), last = src.line_at(s.end - 1);
    if (first == last) return write(first, code, src.code(s.begin, s.end));
    return {say(write_for_lines, code, first, last)};
}
Edit drop(const Source& src, const Statement& s) {
    const int first = src.line_at(s.begin), last = src.line_at(s.end - 1);
    return {first == last ? say(drop_line, first) : say(drop_lines, first, last)};
}

// ---- a single atomic

string Conflict::atomic(const Assignment& s, bool exchange) const {
    static const std::pair<const char*, const char*> names[] = {{"+", "Add"},   {"-", "Add"}, {"|", "Or"},
                                                                {"&", "And"},   {"^", "Xor"}, {"max", "Max"},
                                                                {"min", "Min"}, {"", "Exch"}};
    static const std::regex qualifier(R"(\b(__shared__|__device__|extern|static|const|volatile)\b|^ +| +$)"),
        no_type(R"(.*[-=+.|^%/!?[\]].*| *(return)?)"),
        long_type(R"((unsigned )?long( int)?|long long|.*(64_t|size_t)|ptrdiff_t)");
    const auto* name = std::ranges::find_if(names, [&](const auto& n) { return n.first == s.sign; });
    const string &x = s.target, pointer = x.starts_with("(*") ? x.substr(2, x.size() - 3)
                                          : x[0] == '*'       ? x.substr(1)
                                                              : "&" + x;
    if (x.empty() || name == std::end(names) || (s.sign.empty() && !exchange)) return "";
    // The type of &s->count[i] stands where the name count is declared, in the function or outside.
    const size_t end = std::min(pointer.find('['), pointer.size()), dot = pointer.find_last_of(".>", end),
                 from = dot == string::npos ? pointer.find_first_not_of("&*( ") : dot + 1;
    string declared, type;
    for (const size_t start : {f->head, size_t(0)})
        if (const size_t at = src.word(pointer.substr(from, end - from), start, f->body.end);
            at != string::npos && type.empty()) {
            declared = src.code(src.text.find_last_of(",(;{}", at) + 1, at);
            if (!std::regex_match(declared, no_type))
                type = std::regex_replace(declared.substr(0, declared.find_first_of("*&")), qualifier, "");
        }
    type = std::regex_replace(type, std::regex("^ +| +$"), "");
    const bool is_long = std::regex_match(type, long_type), adds = s.sign == "+" || s.sign == "-";
    if (((type == "float" || type == "double") && !adds && !s.sign.empty()) || (is_long && s.sign.starts_with("m")))
        return "";
    return string("atomic") + name->second + "(" +
           (is_long                          ? "(unsigned long long*)"
            : has_name(declared, "volatile") ? "(" + type + "*)"
                                             : "") +
           pointer + ", " + (s.sign == "-" ? "-(" + s.value + ")" : s.value) + ")";
}

// `pos = *n;`, and then `*n += 1;`: the atomic returns the old value.
Advice Conflict::take_old_value() const {
    const Statement& change = *pb.back();
    const string word = assignment(src.code(change)).target;
    if (pb.size() < 2 || word.empty() || !has_name(word, pair.name) || !src.alone_in_its_lines(change)) return {};
    for (const Statement& s : pb[pb.size() - 2]->parts) {
        const string reads = src.code(s);  // int pos = *n, or list[*n] = x
        const Assignment old = assignment(reads);
        const size_t at = reads.find(word), end = at + word.size();
        string sum = src.code(change);
        if (const string own = " = " + old.target + " + "; sum.find(own) != string::npos)
            sum.replace(sum.find(own), own.size(), " += ");  // *n = pos + 1
        const Assignment next = assignment(sum);
        const string call = atomic(next, old.value == word);
        if (s.kind == Statement::simple && s.end <= change.begin && (a >= change.begin || s.holds(a)) &&
            !old.target.empty() && old.sign.empty() && !has_name(next.value, pair.name) && !call.empty() &&
            at != string::npos && !in_word(reads[end]) &&
            (reads + src.code(s.end, change.begin) + next.value).find(word, end) == string::npos &&
            old.target.substr(0, old.target.rfind('[')) != word.substr(0, word.rfind('[')) &&
            !(std::ranges::all_of(old.target, in_word) && has_name(next.value, old.target)) &&
            !barrier_between(s.end, change.begin))
            return {say(by_old_value),
                    {write(src.line_at(s.begin), reads.substr(0, at) + call + reads.substr(end), reads),
                     drop(src, change)}};
    }
    return {};
}

Advice Conflict::an_atomic(const Path& path) const {
    static const std::regex steps("(\\+\\+|--)" + lvalue + "|" + lvalue + "(\\+\\+|--)");
    const Statement& s = *path.back();
    const int line = src.line_at(s.begin);
    const string code = s.kind == Statement::simple ? src.code(s) : src.condition(s);
    if (const Assignment change = assignment(code); !change.sign.empty() && has_name(change.value, change.target))
        return {say(far == 2 ? two_blocks : one_thread, line)};  // x += x * rate
    if (pair.race.bytes >= 4 && (!pair.adds || pair.a.number == pair.b.number)) {
        const string call = atomic(s.kind == Statement::simple ? assignment(code) : Assignment(), !pair.adds);
        if (!call.empty()) return {say(use_atomic), {write(line, call, code)}};
        for (std::sregex_iterator m(code.begin(), code.end(), steps), none; m != none; ++m) {  // list[(*n)++] = x
            const string x = (*m)[2].str() + (*m)[3].str(), sign = (*m)[1].str() + (*m)[4].str(),
                         old = atomic({x, "+", sign == "++" ? "1" : "-1"}, false);
            if (!pair.name.empty() && has_name(x, pair.name) && !old.empty())
                return {say(use_atomic),
                        {write(line, (*m)[4].matched ? old : "(" + old + " " + sign[0] + " 1)", m->str())}};
        }
    }
    return {say(some_atomic, line)};
}

Advice old_value(const Conflict& c) { return c.one_atomic() ? Advice() : c.take_old_value(); }
Advice update_rule(const Conflict& c) {
    return !c.pair.adds || c.one_atomic() ? Advice() : c.swaps() ? c.barrier() : c.an_atomic(c.pa);
}

// `if (taken[i] == 0) { taken[i] = 1; ...`: "if (atomicCAS(&taken[i], 0, 1) == 0) {", if what is set does not
// depend on what was there. asks: the last part of the condition.
static Advice claim(const Conflict& c, const Statement& branch, const Statement& set, const string& asks) {
    static const std::regex equals(R"((.+) == ([\w:-]+)|!(.+))"), compares(R"((.+?) ?[<>!]=? ?[\w:-]+)");
    const Assignment sets = assignment(c.src.code(set));
    const string &x = sets.target, &value = sets.value;
    const string exchange = c.atomic({x, "", value}, true);
    const Statement& body = branch.parts[0];
    if (branch.parts.size() > 1 || body.kind != Statement::block || &body.parts[0] != &set || exchange.empty() ||
        c.pair.race.bytes < 4 || c.atomic({x, "^", "0"}, false).empty() || has_name(asks, value) ||
        has_name(value, x))
        return {};
    const auto swaps = [&](const string& old) {  // atomicExch(&x, value) becomes atomicCAS(&x, old, value) == old
        const size_t end = exchange.rfind(", " + value);
        return "atomicCAS" + exchange.substr(10, end - 10) + ", " + old + exchange.substr(end) + " == " + old;
    };
    const int line = c.src.line_at(branch.head);
    const Advice v{say(use_atomic), {drop(c.src, set)}};
    std::smatch m;
    if (std::regex_match(asks, m, equals) && (m[1] == x || m[3] == x))
        return {v.reason, {write(line, swaps(m[3].matched ? "0" : m[2].str()), asks), v.edits[0]}};
    const Path path = c.f->path(branch.begin);
    if (!std::regex_match(asks, m, compares) || m[1] != x || asks != c.src.condition(branch) ||
        has_name(c.src.code(c.f->body), "seen") || path[path.size() - 2]->kind != Statement::block)
        return {};
    const string claims =
        "const auto seen = " + x + "; if (seen" + asks.substr(x.size()) + " && " + swaps("seen") + ")";
    return {v.reason, {write(line, claims, c.src.code(branch.begin, branch.head_end)), v.edits[0]}};
}

// `if (i < n && x > *best) *best = x;`: "if (i < n) atomicMax(best, x);".
Advice test_and_set(const Conflict& c) {
    Path path = c.pb;
    const Statement& set = innermost(path);
    const auto inner =
        std::ranges::find_if(path.rbegin(), path.rend(), [](auto* s) { return s->kind == Statement::branch; });
    const Assignment s = set.kind == Statement::simple ? assignment(c.src.code(set)) : Assignment();
    if (inner == path.rend() || !(*inner)->holds(c.a) || !s.sign.empty() || !has_name(s.target, c.pair.name))
        return {};
    const Statement& branch = **inner;
    string guard = c.src.condition(branch), asks = guard;
    if (!has_name(guard, s.target) ||
        (c.far < 2 && c.src.variables(c.pair.name, branch.head, branch.end).size() > 2))
        return {};
    const size_t last = guard.rfind(" && ");  // the last operand is the question
    if (last != string::npos) asks = guard.substr(last + 4);
    guard = last == string::npos ? "" : "if (" + guard.substr(0, last) + ") ";
    const Assignment best = assignment(s.target + " = " + asks + " ? " + s.value + " : " + s.target);
    const string call = best.sign.empty() || guard.find("||") != string::npos || branch.parts.size() > 1
                            ? ""
                            : c.atomic(best, false);
    if (!call.empty() && &branch.parts[0].bare() == &set && !has_name(guard, c.pair.name) &&
        !has_name(s.value, c.pair.name))
        return {say(use_atomic), {write_instead(c.src, guard + call + ";", branch)}};
    if (const Advice v = claim(c, branch, set, asks); !v.empty()) return v;
    return {say(ask_by_atomic, c.src.line_at(branch.head), c.src.line_at(set.begin))};
}

// ---- elements that are computed from others

Update Conflict::update(Path path) const {
    Update u;
    const Statement& set = innermost(path);
    const string target = set.kind == Statement::simple ? assignment(src.code(set)).target : "",
                 base = src.name_at(set.begin);
    if (base.empty() || !target.starts_with(base + "[")) return u;
    u.whole = &set;
    string conditions, own;
    for (size_t i = path.size() - 1; i-- > 1;)
        if (path[i]->kind == Statement::branch) conditions += src.condition(*path[i]) + "; ";
    for (size_t i = path.size() - 1; i-- > 1 && path[i]->parts.size() == 1;)
        if (src.variable(base, path[i]->head, path[i]->head_end) < path[i]->head_end) u.whole = path[i];
    for (const size_t i : src.variables(base, u.whole->begin, u.whole->end)) {
        if (src.text[i + base.size()] != '[') return {};
        const string index = src.code(i + base.size() + 1, closed(src.text, i + base.size()) - 1);
        if (i == set.begin) own = index;
        else if (!target.starts_with(base + "[" + index + "]")) u.others.push_back(index);
    }
    // if (i < d) s[i] += s[i + d], or if (i % (2 * d) == 0), or i = 2 * d * threadIdx.x
    conditions += src.definition(*f, own).value_or("");
    u.is_tree = !u.others.empty() && std::ranges::all_of(u.others, [&](const string& other) {
        const string d = other.starts_with(own + " + ") ? other.substr(own.size() + 3) : "";
        return !d.empty() &&
               std::ranges::any_of(std::initializer_list<string>{own + " < " + d, "2 * " + d, d + " * 2"},
                                   [&](const string& s) { return conditions.find(s) != string::npos; });
    });
    u.is_near =
        !u.is_tree && own.find_first_of("/%[") == string::npos &&
        std::ranges::any_of(u.others, [&](const string& x) { return has_name(x, own) || has_name(own, x); });
    return u;
}

Advice Conflict::all_read_first(const Statement& s) const {
    return {"", {{say(all_must_read, far ? "__syncthreads()" : "__syncwarp()"), {src.line_at(s.begin)}}}};
}

// A scan, `if (t >= d) s[t] += s[t - d];` in a loop over d: all read, and then write.
static Advice read_and_write(const Conflict& c, const Update& u) {
    static const std::regex scans(R"((\w+) >= (\w+))");
    const auto level =
        std::find_if(c.pb.rbegin(), c.pb.rend(), [](auto* s) { return s->kind == Statement::branch; });
    if (!c.around || !c.far || level == c.pb.rend() || (*level)->parts[0].bare().begin != u.whole->begin ||
        (*level)->parts.size() > 1 || has_name(c.src.code(c.f->body), "read"))
        return {};
    const auto n = size_t(c.pb.rend() - level) - 1;
    if (c.who_comes(*c.f, c.pb, n) != everybody) return {};
    Path path = c.pb;
    const auto& [x, sign, value] = assignment(c.src.code(innermost(path)));
    const string condition = c.src.condition(**level), head = c.src.cut(c.around->head, c.around->head_end);
    std::smatch m;
    if (!std::regex_match(condition, m, scans) || !x.ends_with("[" + m[1].str() + "]") || !has_name(head, m[2]) ||
        std::ranges::any_of(u.others, [&](auto& other) { return other != m[1].str() + " - " + m[2].str(); }))
        return {};
    const string code = "const auto read = " + condition + " ? " + value + " : 0; __syncthreads(); if (" +
                        condition + ") " + x + " " + sign + "= read;" + (c.goes_round() ? " __syncthreads();" : "");
    return {"", {c.replace(code, c.pb, n)}};
}

// An atomic does not help a thread that reads another element of the array that it writes.
Advice in_place(const Conflict& c) {
    const Update u = c.update(c.pb);
    const bool unrelated = !u.is_tree && !u.is_near;  // such as indices that come from memory
    if (u.others.empty() || !u.whole->holds(c.a) || !u.whole->holds(c.b) || c.both_write() ||
        (unrelated && (c.pair.both_write || c.goes_round())))
        return {};
    const int line = c.src.line_at(u.whole->begin);
    if (c.far == 2 && u.is_tree)
        return {launch->cooperative ? say(whole_grid, c.src.line_at(c.a), c.src.line_at(c.b))
                                    : say(rounds_of_grid, line)};
    if (c.far == 2) return {say(other_array, line)};
    if (u.is_tree) return c.barrier();
    const Advice v = read_and_write(c, u);
    return v.empty() ? c.all_read_first(*u.whole) : v;
}

}  // namespace cudacpu::race
