// update.cpp - statements that change a value in place. The advice is a single atomic or, if a thread reads an
// element that another thread writes there, two halves with a barrier between them.
#include <algorithm>
#include <regex>
#include <utility>

#include "advice/conflict.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

// ---- the text of a statement

namespace {

// What can be assigned to: *sum, (*count), s->left, bins[at[i] % 8].n
const string lvalue =
    R"(((?:\*+|\(\*)?[A-Za-z_][\w:]*(?:(?:\.|->)\w+|\)|\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\])*))";

string pointer_to(const string& x) {
    const bool held = x.starts_with("(*") && x.back() == ')';  // (*count)++
    return held ? x.substr(2, x.size() - 3) : x[0] == '*' ? x.substr(1) : "&" + x;
}

std::regex whole_name(const string& name) {
    return std::regex("(^|[^\\w])" + std::regex_replace(name, std::regex(R"([^\w ])"), R"(\$&)") +
                      (in_word(name.back()) ? "(?!\\w)" : ""));
}
void replace_name(string& s, const string& name, const string& by) {
    s = std::regex_replace(s, whole_name(name), "$1" + by);
}

std::vector<string> operands(const string& condition) {  // of &&
    std::vector<string> parts;
    for (size_t at = 0, next; at < condition.size(); at = next + 4) {
        next = std::min(condition.find(" && ", at), condition.size());
        parts.push_back(condition.substr(at, next - at));
    }
    return parts;
}
string all_of(const std::vector<string>& conditions) {  // "if (a && b) "; "" if there are none
    string all;
    for (const string& s : conditions)
        all += (all.empty() ? "if (" : " && ") + (s.find("||") == string::npos ? s : "(" + s + ")");
    return all.empty() ? "" : all + ") ";
}

}  // namespace

bool has_name(const string& s, const string& name) { return std::regex_search(s, whole_name(name)); }

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
    const auto is_term = [](const string& s, bool sum) {
        return s.find_first_of(sum ? "<>?|&^=" : "<>?|&^=+-") > s.size();
    };
    if (!sign.empty()) return {x, sign, value};
    if (value.starts_with(x + " ") && value.size() > x.size() + 3 && value[x.size() + 2] == ' ')
        if (const string s = value.substr(x.size() + 1, 1), rest = value.substr(x.size() + 3);
            is_term(rest, s == "+"))
            return {x, s, rest};
    if (value.ends_with(" + " + x) && is_term(value, true))
        return {x, "+", value.substr(0, value.size() - x.size() - 3)};
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

string Conflict::type_of(const string& array, bool* is_volatile) const {
    static const std::regex other(
        R"(\b(__shared__|__device__|__restrict__|extern|static|const|volatile)\b|^ +| +$)");
    for (const size_t start : {f->head, size_t(0)}) {  // in the function, then outside
        const size_t at = src.word(array, start, f->body.end);
        if (at == string::npos) continue;
        string type = src.code(src.text.find_last_of(",(;{}", at) + 1, at);
        if (type.find_first_of("=+-[].|^%/!?") != string::npos) continue;
        if (is_volatile) *is_volatile = has_name(type, "volatile");
        type = std::regex_replace(type.substr(0, type.find_first_of("*&")), other, "");
        type = std::regex_replace(type, std::regex("^ +| +$"), "");
        if (!type.empty() && type != "return") return type;
    }
    return "";
}

// The type of the value that a pointer such as `&s->count[i]` points to, by the name count.
string Conflict::type_at(const string& pointer, bool* is_volatile) const {
    const size_t end = std::min(pointer.find('['), pointer.size()), dot = pointer.find_last_of(".>", end);
    const size_t from = dot == string::npos ? pointer.find_first_not_of("&*( ") : dot + 1;
    return type_of(pointer.substr(from, end - from), is_volatile);
}

string Conflict::atomic(const Assignment& s, bool exchange) const {
    static const std::pair<const char*, const char*> names[] = {{"+", "Add"},   {"-", "Add"}, {"|", "Or"},
                                                                {"&", "And"},   {"^", "Xor"}, {"max", "Max"},
                                                                {"min", "Min"}, {"", "Exch"}};
    const auto* name = std::ranges::find_if(names, [&](const auto& n) { return n.first == s.sign; });
    if (s.target.empty() || name == std::end(names) || (s.sign.empty() && !exchange)) return "";
    static const std::regex long_type(R"(long|long int|(std::)?int64_t|ptrdiff_t)"),
        unsigned_type(R"(unsigned long|(std::)?size_t|(std::)?uint64_t)");
    bool is_volatile = false;
    const string pointer = pointer_to(s.target), type = type_at(pointer, &is_volatile);
    const bool compares = s.sign.starts_with("m"), is_long = std::regex_match(type, long_type);
    if ((type == "float" || type == "double") && strcmp(name->second, "Add") != 0 && !s.sign.empty()) return "";
    const bool to_unsigned =
        std::regex_match(type, unsigned_type) || (!compares && (is_long || type == "long long"));
    return string("atomic") + name->second + "(" +
           (to_unsigned           ? string("(unsigned long long*)")
            : compares && is_long ? "(long long*)"
            : is_volatile         ? "(" + type + "*)"
                                  : "") +
           pointer + ", " + (s.sign == "-" ? "-(" + s.value + ")" : s.value) + ")";
}

// The loop around atomicCAS that does what the assignment does; "" for other types.
string Conflict::cas_loop(const Assignment& s) const {
    struct Form {
        const char *type, *word, *to, *from, *cast;
    };
    static const Form forms[] = {{"float", "int", "__float_as_int", "__int_as_float(old)", "(int*)"},
                                 {"double", "unsigned long long", "__double_as_longlong",
                                  "__longlong_as_double(old)", "(unsigned long long*)"},
                                 {"int", "int", "", "old", ""},
                                 {"unsigned", "unsigned", "", "old", ""},
                                 {"unsigned int", "unsigned", "", "old", ""}};
    const string type = s.target.empty() ? "" : type_at(pointer_to(s.target)), &x = s.target;
    const auto* as = std::ranges::find_if(forms, [&](const Form& form) { return form.type == type; });
    string value = s.sign == "max"   ? s.value + " > " + x + " ? " + s.value + " : " + x
                   : s.sign == "min" ? s.value + " < " + x + " ? " + s.value + " : " + x
                   : s.sign.empty()  ? s.value
                                     : x + " " + s.sign + " (" + s.value + ")";
    if (as == std::end(forms) || !has_name(value, x)) return "";
    replace_name(value, x, as->from);
    const string to = as->to;
    return string("{ ") + as->word + " seen = " + to + "(" + x + "), old; do { old = seen; seen = atomicCAS(" +
           as->cast + pointer_to(x) + ", old, " + to + "(" + value + ")); } while (seen != old); }";
}

// The expression that steps the racing variable, such as `++left[i]`, and the atomic that returns the same value.
std::pair<string, string> Conflict::step_in(const string& code) const {
    static const std::regex steps("(\\+\\+|--)" + lvalue + "|" + lvalue + "(\\+\\+|--)");
    for (const bool named : {true, false})  // else any variable that is not the function's own
        for (std::sregex_iterator m(code.begin(), code.end(), steps), none; m != none; ++m) {
            const string x = (*m)[2].str() + (*m)[3].str(), before = (*m)[1], after = (*m)[4];
            if (named ? pair.name.empty() || !has_name(x, pair.name)
                      : src.has({x.c_str()}, f->body.begin, std::min(a, b)))
                continue;
            const bool up = before + after == "++";
            const string call = atomic({x, "+", up ? "1" : "-1"}, false);
            return {m->str(), before.empty() ? call : "(" + call + (up ? " + 1)" : " - 1)")};
        }
    return {};
}

// `pos = *n;`, and then `*n += 1;`: the atomic returns the old value.
Advice Conflict::take_old_value() const {
    const Statement& change = *pb.back();
    const string changes = src.code(change);
    if (pb.size() < 2 || pb[pb.size() - 2]->kind != Statement::block || !src.alone_in_its_lines(change)) return {};
    for (const Statement& s : pb[pb.size() - 2]->parts) {
        const string reads = src.code(s);  // int pos = *n, or list[*n] = x
        const Assignment old = assignment(reads);
        if (s.kind != Statement::simple || s.end > change.begin || old.target.empty() || !old.sign.empty() ||
            (a < change.begin && !s.holds(a)) || barrier_between(s.end, change.begin))
            continue;
        string sum = changes;
        if (const string own = " = " + old.target + " + "; sum.find(own) != string::npos)
            sum.replace(sum.find(own), own.size(), " += ");  // *n = pos + 1
        const Assignment next = assignment(sum);
        const string call = changes.starts_with("atomicAdd(") ? changes : atomic(next, old.value == next.target),
                     word = call == changes ? "*" + listed(call.substr(10))[0] : next.target;
        const size_t at = reads.find(word), end = at + word.size();
        if (call.empty() || !has_name(word, pair.name) || at == string::npos ||
            reads.find(word, end) != string::npos || in_word(reads[end]) ||
            old.target.substr(0, old.target.rfind('[')) == next.target.substr(0, next.target.rfind('[')) ||
            (std::ranges::all_of(old.target, in_word) && has_name(next.value, old.target)) ||
            src.code(s.end, change.begin).find(word) != string::npos || has_name(next.value, word))
            continue;
        return {say(old_value),
                {write(src.line_at(s.begin), reads.substr(0, at) + call + reads.substr(end), reads),
                 drop(src, change)}};
    }
    return {};
}

Advice Conflict::read_atomically(int line) const {
    if (const Advice old = take_old_value(); src.line_at(a) == line && !old.empty()) return old;
    return {say(read_by_atomic, line)};
}

Advice Conflict::an_atomic(const Path& path) const {
    const Statement* s = path.back();
    const int line = src.line_at(s->begin);
    while (s->kind != Statement::simple && s->parts.size() == 1 && src.line_at(s->parts[0].begin) == line &&
           src.variable(pair.name, s->head, s->head_end) >= s->head_end)
        s = &s->parts[0];
    if (pair.adds)
        if (const Advice old = take_old_value(); !old.empty()) return old;
    if (pair.adds && pair.a.number != pair.b.number) return {say(some_atomic, line)};
    if (pair.race.bytes < 4) return {say(too_small, line, pair.race.bytes)};
    const string code = s->kind == Statement::simple ? src.code(*s) : src.condition(*s);
    const Assignment set = s->kind == Statement::simple ? assignment(code) : Assignment();
    if (const string call = atomic(set, !pair.adds); !call.empty())
        return {say(use_atomic), {write(line, call, code)}};
    if (const string loop = pair.adds ? cas_loop(set) : ""; !loop.empty())
        return {say(use_loop), {write(line, loop, code)}};
    if (const auto [step, by] = step_in(code); !step.empty()) return {say(use_atomic), {write(line, by, step)}};
    return {say(some_atomic, line)};
}

Advice old_value_rule(const Conflict& c) { return c.one_atomic() ? Advice() : c.take_old_value(); }
Advice update_rule(const Conflict& c) {
    return !c.pair.adds || c.one_atomic() ? Advice() : c.swaps() ? c.barrier() : c.an_atomic(c.pa);
}

// `if (i < n && x > *best) *best = x;`: "if (i < n) atomicMax(best, x);". `if (*first < 0) *first = i;`: atomicCAS.
Advice test_and_set(const Conflict& c) {
    Path path = c.pb;
    while (path.back()->kind != Statement::simple && path.back()->parts.size() == 1)
        path.push_back(&path.back()->parts[0]);
    const Statement& set = *path.back();
    const auto inner =
        std::find_if(path.rbegin(), path.rend(), [&](auto* s) { return s->kind == Statement::branch; });
    const Assignment s = set.kind == Statement::simple ? assignment(c.src.code(set)) : Assignment();
    if (inner == path.rend() || (*inner)->parts.size() != 1 || !(*inner)->holds(c.a) || !s.sign.empty() ||
        !has_name(s.target, c.pair.name) || c.src.has({"||"}, **inner))
        return {};
    const Statement& branch = **inner;
    const bool alone = &branch.parts[0].bare() == &set;
    const std::vector<string> parts = operands(c.src.condition(branch));
    for (size_t i = 0; i < parts.size(); ++i) {
        const string& asks = parts[i];
        const Assignment best = assignment(s.target + " = " + asks + " ? " + s.value + " : " + s.target);
        auto others = parts;
        others.erase(others.begin() + ptrdiff_t(i));
        if (best.sign == "max" || best.sign == "min") {
            const Update u = c.update(c.pb);
            if (!alone && u.others.empty())
                return {say(one_word, c.src.line_at(branch.parts[0].begin), c.src.line_at(branch.end - 1),
                            c.src.line_at(branch.head), best.sign == "max" ? "atomicMax" : "atomicMin")};
            if (!alone || (c.far < 2 && !u.others.empty() && u.meets != Meeting::unknown)) return {};
            string call = c.atomic(best, false), loop = call.empty() ? c.cas_loop(best) : "";
            for (const string& other : u.others)
                replace_name(call, other, "atomicAdd(&" + other + ", 0)");  // others change it
            if (call.empty() && (loop.empty() || !u.others.empty())) return {};
            return {say(call.empty() ? use_loop : use_atomic),
                    {write_instead(c.src, all_of(others) + (call.empty() ? loop : call + ";"), branch)}};
        }
        const bool unset = asks == "!" + s.target;
        if (c.src.line_at(c.a) != c.src.line_at(branch.head) || (!unset && !asks.starts_with(s.target + " == ")))
            continue;
        const string before = unset ? "0" : asks.substr(s.target.size() + 4),
                     cas = "atomicCAS(" + pointer_to(s.target) + ", " + before + ", " + s.value + ")";
        if (alone) return {say(use_atomic), {write_instead(c.src, all_of(others) + cas + ";", branch)}};
        if (!c.src.alone_in_its_lines(set)) return {};
        others.push_back(cas + " == " + before);  // other conditions come first
        string all = all_of(others);
        return {say(use_atomic),
                {write(c.src.line_at(branch.head), all.substr(0, all.size() - 1),
                       "if (" + c.src.condition(branch) + ")"),
                 drop(c.src, set)}};
    }
    return {};
}

// ---- two halves

Update Conflict::update(Path path) const {
    Update u;
    while (path.back()->kind != Statement::simple && path.back()->parts.size() == 1)
        path.push_back(&path.back()->parts[0]);
    const Statement& set = *path.back();
    const string target = set.kind == Statement::simple ? assignment(src.code(set)).target : "",
                 base = src.name_at(set.begin);
    if (base.empty() || !target.starts_with(base + "[")) return u;
    size_t level = path.size() - 1;
    for (size_t i = level; i-- > 1 && path[i]->parts.size() == 1;)
        if (path[i]->kind == Statement::branch &&
            src.variable(base, path[i]->head, path[i]->head_end) < path[i]->head_end)
            level = i;
    const auto index = [&](const string& x) {
        return x.substr(base.size() + 1, x.find_last_of(']') - base.size() - 1);
    };
    for (size_t i : src.variables(base, path[level]->begin, path[level]->end)) {
        const size_t from = i;
        if (src.text[i += base.size()] != '[' || src.text[from - 1] == '&') return {};
        while (src.text[i] == '[') i = closed(src.text, i);
        while (src.text[i] == '.') i += 1 + src.name_at(i + 1).size();
        const string element = src.code(from, i);
        const size_t next = skip_space(src.text, i);
        if (src.text[next] == '=' && src.text[next + 1] != '=' && from != set.begin) return {};  // s[i] = s[j] = 0
        if (element != target && std::ranges::find(u.others, element) == u.others.end())
            u.others.push_back(element), u.indices.push_back(index(element));
    }
    for (size_t i = 1; i + 1 < path.size(); ++i)
        if (path[i]->kind == Statement::branch && &path[i]->parts[0] == path[i + 1])
            for (const string& part : operands(src.condition(*path[i])))
                if (!has_name(part, base)) {
                    u.conditions.push_back(part);
                    if (i >= level) u.guards.push_back(part);
                }
    u.path = path, u.level = level, u.base = base, u.index = index(target);
    if (!u.others.empty()) u.meets = meeting(src, *f, u.index, u.indices, u.conditions);
    return u;
}

// All threads read first, and write after a barrier.
Advice Conflict::all_read_first(const Update& u) const {
    std::vector<string> others = u.others, guards = u.guards;
    const Assignment set = assignment(src.code(*u.path.back()));
    if (set.value.find('?') != string::npos) others = {set.value};  // including its guard
    const Advice by_hand{say(all_must_read, src.line_at(u.path.back()->begin)) + say(read_where_all_come)};
    size_t n = u.level;
    string barrier = barrier_at(u.path, n);
    for (; barrier.empty() && n > 1; barrier = barrier_at(u.path, n)) {
        const Statement& outer = *u.path[--n];
        if (outer.kind == Statement::loop || outer.parts.size() != 1) return by_hand;
        if (outer.kind == Statement::branch) guards.insert(guards.begin(), src.condition(outer));
    }
    const string type = guards.empty() ? "const auto" : others[0].back() == ']' ? type_of(u.base) : "";
    if (barrier.empty() || type.empty()) return by_hand;
    string names, read, write_back = src.code(u.path[u.level]->begin, u.path[u.level]->end);
    const string asked = all_of(guards);
    for (size_t i = 0; i < others.size(); ++i) {
        const string name = i ? "read_" + std::to_string(i + 1) : "read", &other = others[i];
        names += (i ? ", " : type + " ") + name + (asked.empty() ? " = " + other : "{}");
        read += (i ? " " : "") + name + " = " + other + ";";
        replace_name(write_back, other, name);
    }
    if (others.size() > 1) read = "{ " + read + " }";
    const string code = "{ " + names + ";` " + (asked.empty() ? "" : "`" + asked + read + "` ") + "`" + barrier +
                        ";` `" + asked + write_back + (goes_round() ? "` `" + barrier + "; }" : " }");
    return {say(all_must_read, src.line_at(u.path.back()->begin)), {write_instead(src, code, *u.path[n])}};
}

// An atomic does not help a thread that reads another element of the array that it writes.
Advice in_place(const Conflict& c) {
    const Update u = c.update(c.pb);
    const bool turns = c.goes_round();
    if (u.others.empty() || !u.path[u.level]->holds(c.a) || !u.path[u.level]->holds(c.b) ||
        u.meets == Meeting::of_writers || (u.meets == Meeting::unknown && (turns || c.pair.both_write)))
        return {};
    if (u.meets == Meeting::none) return turns && c.far < 2 && c.all_come_round() ? c.ending() : Advice();
    for (auto conditions = u.conditions; string & condition : conditions) {  // if (t <= d) s[t] += s[t + d];
        const size_t less = condition.find(" <= "), at = c.src.text.find(condition, u.path[1]->begin);
        const string wrong = condition;
        if (less == string::npos || at > c.b) continue;
        condition.erase(less + 2, 1);
        if (meeting(c.src, *c.f, u.index, u.indices, conditions) == Meeting::none)
            return {say(smaller), {write(c.src.line_at(at), condition, wrong)}};
    }
    if (c.far == 2) return {say(other_array, c.src.line_at(u.path.back()->begin))};
    return c.all_read_first(u);
}

// `x = s[i]; s[i] = s[j]; s[j] = x;` by both threads of a pair.
Advice exchanged_twice(const Conflict& c) {
    const std::vector<Statement>& parts = c.pa.size() > 2 ? c.pa[c.pa.size() - 2]->parts : c.f->body.parts;
    for (size_t i = 0; i + 2 < parts.size(); ++i) {
        const auto held = assignment(c.src.code(parts[i])), first = assignment(c.src.code(parts[i + 1])),
                   second = assignment(c.src.code(parts[i + 2]));
        const string array = c.pair.name + "[";
        if (c.a < parts[i].begin || c.b >= parts[i + 2].end || held.target != second.value ||
            first.target != held.value || second.target != first.value || !first.target.starts_with(array) ||
            !second.target.starts_with(array))
            continue;
        const auto index = [&](const string& x) { return x.substr(array.size(), x.size() - array.size() - 1); };
        const string x = index(first.target), y = index(second.target), one = x + " < " + y;
        std::vector<string> conditions;
        for (size_t n = 1; n + 1 < c.pa.size(); ++n)
            if (c.pa[n]->kind == Statement::branch && &c.pa[n]->parts[0] == c.pa[n + 1])
                for (const string& part : operands(c.src.condition(*c.pa[n]))) conditions.push_back(part);
        if (meeting(c.src, *c.f, y, {x}, conditions) == Meeting::of_readers &&
            meeting(c.src, *c.f, y, {x}, {one}) == Meeting::none)
            return {
                say(exchange_once),
                {{say(write_for_lines, "if (" + one + ") { " + c.src.code(parts[i].begin, parts[i + 2].end) + " }",
                      c.src.line_at(parts[i].begin), c.src.line_at(parts[i + 2].end - 1))}}};
    }
    return {};
}

}  // namespace cudacpu::race
