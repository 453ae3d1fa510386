// update.cpp - statements that change a value in place. The advice is a single atomic, which also returns the old
// value or tests it; or, if a thread reads an element that another thread writes there, to read first.
#include <algorithm>
#include <map>
#include <regex>

#include "advice/conflict.hpp"
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

// ---- a single atomic

string Conflict::atomic(const Assignment& s, bool exchange) const {
    static const std::map<string, string> names{{"+", "Add"}, {"-", "Add"},   {"|", "Or"},    {"&", "And"},
                                                {"^", "Xor"}, {"max", "Max"}, {"min", "Min"}, {"", "Exch"}};
    static const std::regex no_type(R"(.*[-=+.|^%/!?[\]].*| *(return)?)"), real("\\b(float|double)\\b"),
        long_type(R"(\b(long|\w+64_t|size_t|ptrdiff_t)\b)"),
        qualifier("\\b(__shared__|__device__|static|const|volatile)\\b ?| +$");
    const auto name = names.find(s.sign);
    const string& x = s.target;
    if (x.empty() || name == names.end() || (s.sign.empty() && !exchange)) return "";
    const string pointer = x.starts_with("(*") ? x.substr(2, x.size() - 3) : x[0] == '*' ? x.substr(1) : "&" + x;
    // The type of &s->count[i] stands where the name count is declared, in the function or outside.
    const size_t end = std::min(pointer.find('['), pointer.size()), dot = pointer.find_last_of(".>", end),
                 from = dot == string::npos ? pointer.find_first_not_of("&*( ") : dot + 1;
    string declared;
    for (const size_t start : {f->head, size_t(0)})
        if (const size_t at = src.word(pointer.substr(from, end - from), start, f->body.end);
            at != string::npos && std::regex_match(declared, no_type))
            declared = src.code(src.text.find_last_of(",(;{}", at) + 1, at);
    const bool is_long = std::regex_search(declared, long_type), adds = s.sign == "+" || s.sign == "-";
    const string type = std::regex_replace(declared.substr(0, declared.find_first_of("*&")), qualifier, ""),
                 cast = is_long                          ? "(unsigned long long*)"
                        : has_name(declared, "volatile") ? "(" + type + "*)"
                                                         : "";
    if ((is_long && s.sign.starts_with("m")) || (std::regex_search(declared, real) && !adds && !s.sign.empty()))
        return "";
    return "atomic" + name->second + "(" + cast + pointer + ", " +
           (s.sign == "-" ? "-(" + s.value + ")" : s.value) + ")";
}

Advice Conflict::an_atomic(const Statement& s) const {
    static const std::regex step("(\\+\\+|--)" + lvalue + "|" + lvalue + "(\\+\\+|--)");  // list[(*n)++] = x
    const int line = src.line_at(s.begin);
    const string code = s.kind == Statement::simple ? src.code(s) : src.condition(s);
    const Assignment change = assignment(code);
    if (!change.sign.empty() && has_name(change.value, change.target))  // x += x * rate
        return {say(far == 2 ? two_blocks : one_thread, line)};
    string call = atomic(change, !pair.adds), old = code;
    std::smatch m;
    if (call.empty() && !pair.name.empty() && std::regex_search(code, m, step)) {
        const string x = m[2].str() + m[3].str(), sign = m[1].str() + m[4].str();
        call = has_name(x, pair.name) ? atomic({x, "+", sign == "++" ? "1" : "-1"}, false) : "", old = m.str();
        if (!call.empty() && m[1].matched) call = "(" + call + " " + sign[0] + " 1)";
    }
    if (call.empty() || pair.race.bytes < 4) return {say(some_atomic, line)};
    return {say(use_atomic), {write(line, call, old)}};
}

Advice Conflict::beside_atomics() const {
    const int line = line_of(plain().site).number;
    const Statement& s = *src.statement_in(line, pair.name);
    const Assignment change = assignment(src.code(s));
    if (!change.sign.empty() && has_name(change.target, pair.name)) return an_atomic(s);
    return {say(no_atomic, line)};
}

// `pos = *n;`, and then `*n += 1;` or `*n = pos + 1`.
Advice old_value(const Conflict& c) {
    const Statement& set = *c.pb.back();
    const auto [x, sign, value] = assignment(c.src.code(set));
    if (c.pb.size() < 2 || c.one_atomic() || x.empty() || !has_name(x, c.pair.name) ||
        has_name(value, c.pair.name.empty() ? x : c.pair.name))
        return {};
    for (const Statement& s : c.pb[c.pb.size() - 2]->parts) {
        const string code = c.src.code(s);
        const Assignment old = assignment(code);
        if (!old.target.empty() && s.kind == Statement::simple && s.end <= set.begin &&
            (c.a >= set.begin || s.holds(c.a)) && has_name(code, x) && (!sign.empty() || old.value == x) &&
            !c.barrier_between(s.end, set.begin))
            return {say(by_old_value, c.src.line_at(s.begin), c.src.line_at(set.begin))};
    }
    return {};
}

Advice update_rule(const Conflict& c) {
    if (!c.pair.adds || c.one_atomic() || c.update(c.pa).reads_others) return {};
    return c.swaps() ? c.barrier() : c.an_atomic(*c.pa.back());
}

// `if (i < n && x > *best) *best = x;`: "if (i < n) atomicMax(best, x);".
Advice test_and_set(const Conflict& c) {
    Path path = c.pb;
    const Statement& set = innermost(path);
    const auto inner =
        std::ranges::find_if(path.rbegin(), path.rend(), [](auto* s) { return s->kind == Statement::branch; });
    const Assignment s = set.kind == Statement::simple ? assignment(c.src.code(set)) : Assignment();
    if (inner == path.rend() || !s.sign.empty() || !has_name(s.target, c.pair.name) || c.update(c.pb).is_near)
        return {};
    const Statement& branch = **inner;
    const string guard = c.src.condition(branch), array = word_at(s.target, s.target.find_first_not_of("(*"));
    const bool by_atomic = guard.find("atomic") != string::npos && has_name(guard, array);  // atomicAdd(&x, 0) == 0
    if (!by_atomic && (!branch.holds(c.a) || !has_name(guard, s.target) ||
                       (c.far < 2 && c.src.variables(c.pair.name, branch.head, branch.end).size() > 2)))
        return {};
    const size_t last = guard.rfind(" && ");  // the last operand is the question
    const string asks = last == string::npos ? guard : guard.substr(last + 4),
                 before = last == string::npos ? "" : "if (" + guard.substr(0, last) + ") ";
    const Assignment best = assignment(s.target + " = " + asks + " ? " + s.value + " : " + s.target);
    const string call = best.sign.empty() ? "" : c.atomic(best, false);
    if (!call.empty() && before.find("||") == string::npos && branch.parts.size() == 1 &&
        &branch.parts[0].bare() == &set && !has_name(before + s.value, c.pair.name))
        return {say(use_atomic), {write_instead(c.src, before + call + ";", branch)}};
    const int la = c.src.line_at(branch.head), lb = c.src.line_at(set.begin);
    const bool swaps = best.sign.empty() && c.pair.race.bytes == 4 && !has_name(s.value, s.target) &&
                       !c.atomic({s.target, "|", s.value}, false).empty();
    return {swaps ? say(ask_by_cas, la, lb, s.target, s.value) : say(ask_by_atomic, la, lb)};
}

// ---- elements that are computed from others

Update Conflict::update(Path path) const {
    // if (i < d) s[i] += s[i + d], or if (i % (2 * d) == 0), or i = 2 * d * threadIdx.x
    static const std::regex tree(
        R"(([\w.]+) < ([^;]+)\b.*\1 \+ \2\]|(\b2 \* (\w+)|(\b\w+) \* 2)\b.* \+ (\4|\5)\])");
    const Statement& set = innermost(path);
    const string code = src.code(set), base = word_at(src.text, set.begin);
    if (set.kind != Statement::simple || base.empty() || !assignment(code).target.starts_with(base + "["))
        return {};
    const auto index = [&](size_t i) { return src.code(i + base.size(), closed(src.text, i + base.size())); };
    const auto uses = src.variables(base, set.begin, set.end);
    const string own = index(set.begin), at = own.substr(1, own.size() - 2);
    if (std::ranges::all_of(uses, [&](size_t i) { return index(i) == own; })) return {};
    string conditions = src.definition(*f, at).value_or("") + "; ";
    for (const Statement* s : path)
        if (s->kind == Statement::branch) conditions += src.condition(*s) + "; ";
    Update u{true, std::regex_search(conditions + code, tree)};
    u.is_near = !u.is_tree &&
                std::ranges::any_of(uses, [&](size_t i) { return index(i) != own && has_name(index(i), at); });
    return u;
}

}  // namespace cudacpu::race
