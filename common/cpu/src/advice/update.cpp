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

string trimmed(string x) {
    x.erase(0, std::min(x.find_first_not_of(' '), x.size()));
    return x.erase(x.find_last_not_of(' ') + 1);
}
string packed(string s) {
    std::erase(s, ' ');
    return s;
}
string quoted(const string& name) { return std::regex_replace(name, std::regex(R"([^\w ])"), R"(\$&)"); }

// "x = y": x and y.
std::pair<string, string> assignment(const string& code) {
    static const std::regex form(lvalue + R"( *= *([^=].*))"), declares(R"((?:[\w:<>]+[ *&]+)+(\w+) = (.*))");
    std::smatch m;
    if (std::regex_match(code, m, form) || std::regex_match(code, m, declares)) return {m[1], m[2]};
    return {};
}

string pointer_to(const string& x) {
    const bool held = x.starts_with("(*") && x.back() == ')';  // (*count)++
    return held ? x.substr(2, x.size() - 3) : x[0] == '*' ? x.substr(1) : "&" + x;
}
string call_of(const string& name, const string& x, const string& value) {
    return "atomic" + name + "(" + pointer_to(x) + ", " + value + ")";
}

}  // namespace

std::vector<string> operands(const string& condition) {
    std::vector<string> parts;
    for (size_t at = 0, next; at < condition.size(); at = next + 2) {
        next = std::min(condition.find("&&", at), condition.size());
        parts.push_back(trimmed(condition.substr(at, next - at)));
    }
    return parts;
}

static std::regex whole_name(const string& name) {
    return std::regex("(^|[^\\w])" + quoted(name) + (in_word(name.back()) ? "(?!\\w)" : ""));
}
bool has_name(const string& s, const string& name) { return std::regex_search(s, whole_name(name)); }
void replace_name(string& s, const string& name, const string& by) {
    s = std::regex_replace(s, whole_name(name), "$1" + by);
}

// The loop around atomicCAS that does `x = value`, where the value is computed from x; "" for other types.
static string cas_loop(const string& x, string value, const string& type) {
    struct Form {
        const char *type, *word, *to, *from, *cast;
    };
    static const Form forms[] = {{"float", "int", "__float_as_int", "__int_as_float(old)", "(int*)"},
                                 {"double", "unsigned long long", "__double_as_longlong",
                                  "__longlong_as_double(old)", "(unsigned long long*)"},
                                 {"int", "int", "", "old", ""},
                                 {"unsigned", "unsigned", "", "old", ""},
                                 {"unsigned int", "unsigned", "", "old", ""}};
    const auto* f = std::ranges::find_if(forms, [&](const Form& form) { return form.type == type; });
    if (f == std::end(forms) || !has_name(value, x)) return "";
    replace_name(value, x, f->from);
    const string to = f->to;
    return string("{ ") + f->word + " seen = " + to + "(" + x + "), old; do { old = seen; seen = atomicCAS(" +
           f->cast + pointer_to(x) + ", old, " + to + "(" + value + ")); } while (seen != old); }";
}

string as_atomic(const string& code, bool exchange) {
    struct Form {
        std::regex form;
        const char *by, *value;
    };
    static const auto forms = [] {
        std::vector<Form> all;
        struct Words {
            const char *form, *atomic, *value;
        };
        for (const auto& [form, by, value] : std::initializer_list<Words>{
                 {R"(\+\+@)", "Add", "1"},
                 {R"(@\+\+)", "Add", "1"},
                 {R"(--@)", "Add", "-1"},
                 {R"(@--)", "Add", "-1"},
                 {R"(@ *\+= *(.+))", "Add", "$2"},
                 {R"(@ *-= *(.+))", "Add", "-($2)"},
                 {R"(@ *\|= *(.+))", "Or", "$2"},
                 {R"(@ *&= *(.+))", "And", "$2"},
                 {R"(@ *\^= *(.+))", "Xor", "$2"},
                 {R"(@ = \1 \+ (.+))", "Add", "$2"},
                 {R"(@ = \1 - (.+))", "Add", "-($2)"},
                 {R"(@ = (.+) \+ \1)", "Add", "$2"},
                 {R"(@ = (?:std::)?f?maxf?\((?:\1, (.+)|(.+), \1)\))", "Max", "$2$3"},
                 {R"(@ = (?:std::)?f?minf?\((?:\1, (.+)|(.+), \1)\))", "Min", "$2$3"},
                 {R"(@ = \(?(?:(.+) <=? \1\)? \? \2 : \1|\1 >=? (.+)\)? \? \3 : \1))", "Min", "$2$3"},
                 {R"(@ = \(?(?:(.+) >=? \1\)? \? \1 : \2|\1 <=? (.+)\)? \? \1 : \3))", "Min", "$2$3"},
                 {R"(@ = \(?(?:(.+) >=? \1\)? \? \2 : \1|\1 <=? (.+)\)? \? \3 : \1))", "Max", "$2$3"},
                 {R"(@ = \(?(?:(.+) <=? \1\)? \? \1 : \2|\1 >=? (.+)\)? \? \1 : \3))", "Max", "$2$3"}})
            all.push_back({std::regex(std::regex_replace(form, std::regex("@"), lvalue)), by, value});
        return all;
    }();
    std::smatch m;
    if (listed(code).size() > 1) return "";  // ++a, ++b
    for (const Form& f : forms)
        if (std::regex_match(code, m, f.form)) return call_of(f.by, m[1], m.format(f.value));
    const auto [x, value] = assignment(code);
    const bool scales = std::regex_search(code, std::regex(R"(^[^=]*[*/%]=)"));
    return exchange && !x.empty() && !scales && code.starts_with(x) ? call_of("Exch", x, value) : "";
}

Edit write(int line, const string& code, const string& old) { return {say(write_for, line, code, old)}; }
Edit write_instead(const Source& src, const string& code, const Statement& s) {
    const int first = src.line_at(s.begin), last = src.line_at(s.end - 1);
    if (first == last) return write(first, code, src.code(s.begin, s.end));
    return {say(s.kind == Statement::branch ? write_for_if : write_for_lines, code, first, last)};
}
Edit drop(const Source& src, const Statement& s) {
    const int first = src.line_at(s.begin), last = src.line_at(s.end - 1);
    return {first == last ? say(drop_line, first) : say(drop_lines, first, last)};
}

// ---- types

string Conflict::type_of(const string& array) const {
    static const std::regex other(R"(\b(__shared__|__device__|__restrict__|extern|static|const|volatile)\b)");
    for (const size_t start : {f->head, size_t(0)}) {  // in the function, then outside
        const size_t at = src.word(array, start, f->body.end);
        if (at == string::npos) continue;
        const string declares = src.code(src.text.find_last_of(",(;{}", at) + 1, at);
        if (declares.find_first_of("=+-[].|^%/!?") != string::npos) continue;
        const string type =
            trimmed(std::regex_replace(declares.substr(0, declares.find_first_of("*&")), other, ""));
        if (!type.empty() && type != "return") return type;
    }
    return "";
}

// The memory that an atomic changes: "&s->count" is count.
static string changed(const string& pointer) {
    const size_t end = std::min(pointer.find('['), pointer.size()), dot = pointer.find_last_of(".>", end);
    const size_t from = dot == string::npos ? pointer.find_first_not_of("&*( ") : dot + 1;
    return pointer.substr(from, end - from);
}

string Conflict::cast(const string& code) const {
    static const std::regex call(R"(atomic(Add|Exch|CAS|Max|Min|And|Or|Xor)\((&?[^,()]+), )"),
        long_type(R"((long|long int|(std::)?int64_t|ptrdiff_t))"),
        unsigned_type(R"((unsigned long|(std::)?size_t|(std::)?uint64_t))");
    string all;
    size_t at = 0;
    for (std::sregex_iterator i(code.begin(), code.end(), call), none; i != none; ++i) {
        const string type = type_of(changed((*i)[2]));
        const bool compares = (*i)[1].str()[0] == 'M', is_long = std::regex_match(type, long_type),
                   is_unsigned =
                       std::regex_match(type, unsigned_type) || (!compares && (is_long || type == "long long"));
        if (!is_unsigned && !(compares && is_long)) continue;
        const size_t to = size_t(i->position(2));
        all += code.substr(at, to - at) + (is_unsigned ? "(unsigned long long*)" : "(long long*)");
        at = to;
    }
    return all + code.substr(at);
}

// ---- a single atomic

// The expression that steps a variable, such as `++left[i]`, and the atomic that returns the same value; "" if
// there is none. Without a name: a member.
std::pair<string, string> Conflict::step_at(const string& name, size_t from, size_t to) const {
    static const std::regex steps(R"(((?:\w+(?:\[\w+\])?(?:\.|->))*(\w+))\+\+)");
    const string code = src.code(from, to);
    for (std::sregex_iterator m(code.begin(), code.end(), steps), none; m != none && name.empty(); ++m)
        if ((*m)[1] != (*m)[2] || src.word((*m)[1], f->head, from) >= from)
            return {m->str(), "atomicAdd(&" + (*m)[1].str() + ", 1)"};
    for (const size_t i : src.variables(name, from, to)) {
        const size_t end = src.last_member(i).second;
        const string x = src.code(i, end);
        for (const auto& [sign, by] : {std::pair("++", " + 1"), {"--", " - 1"}}) {
            const string one = by[1] == '+' ? "1" : "-1";
            if (i > 1 && !src.text.compare(i - 2, 2, sign))
                return {sign + x, "(atomicAdd(&" + x + ", " + one + ")" + by + ")"};
            if (!src.text.compare(end, 2, sign)) return {x + sign, "atomicAdd(&" + x + ", " + one + ")"};
            const bool held = !src.text.compare(i - 2, 2, "(*") && src.text[end] == ')';
            if (held && !src.text.compare(end + 1, 2, sign))
                return {"(*" + x + ")" + sign, "atomicAdd(" + x + ", " + one + ")"};
            if (held && !src.text.compare(i - 4, 2, sign))
                return {string(sign) + "(*" + x + ")", "(atomicAdd(" + x + ", " + one + ")" + by + ")"};
        }
    }
    return {};
}

// Elements swapped in a loop without a barrier; no atomic can do that.
static bool trades(const Conflict& c) {
    if (c.far == 2 || c.pair.name.empty() || !c.goes_round()) return false;
    std::set<string> indices;
    for (const size_t i : c.src.variables(c.pair.name, c.src.text.rfind('\n', c.a), c.src.text.find('\n', c.b))) {
        const size_t open = i + c.pair.name.size();
        if (c.src.text[open] != '[') return false;
        const string index = c.src.code(open + 1, closed(c.src.text, open) - 1);
        if (index.find('[') != string::npos) return false;  // its value comes from memory
        indices.insert(index);
    }
    return indices.size() > 1;
}

static bool second_fills_line(const Conflict& c) {
    const Statement& s = *c.pb.back();
    return c.src.code(c.src.text.rfind('\n', s.begin) + 1, c.src.text.find('\n', c.b)) == c.src.code(s) + ";";
}

// `pos = *n;`, and then `*n += 1;`: the atomic returns the old value.
static Advice take_old_value(const Conflict& c) {
    const Statement& change = *c.pb.back();
    const string adds = c.src.code(change);
    if (c.pb.size() < 2 || c.pb[c.pb.size() - 2]->kind != Statement::block || !second_fills_line(c)) return {};
    for (const Statement& s : c.pb[c.pb.size() - 2]->parts) {
        const string reads = c.src.code(s);  // int pos = *n, or list[*n] = x
        if (s.kind != Statement::simple || s.end > change.begin || (c.a < change.begin && !s.holds(c.a)) ||
            c.barrier_between(s.end, change.begin))
            continue;
        const size_t sign = std::min(reads.rfind(" = "), reads.size());
        const string own = reads.substr(0, sign).substr(reads.find_last_of(" *", sign - 1) + 1);
        const string sum = std::regex_replace(adds, std::regex(" = " + quoted(own) + " \\+ "),
                                              " += "),  // *n = pos + 1
            call = adds.starts_with("atomic") ? adds : as_atomic(sum, true);
        const size_t open = call.find('(') + 1, comma = std::min(call.find(", "), call.size());
        const string pointer = call.substr(open, comma - open),
                     word = pointer[0] == '&' ? pointer.substr(1) : "*" + pointer, value = call.substr(comma);
        const size_t at = reads.find(word), end = at + word.size();
        if (comma == call.size() || !at || at == string::npos || reads.find(word, end) != string::npos ||
            c.src.code(s.end, change.begin).find(word) != string::npos)
            continue;
        const char before = reads[reads.find_last_not_of(' ', at - 1)];
        const bool named = !in_word(before) && !strchr(word[0] == '*' ? ")]" : ".>", before) &&
                           !in_word(reads[end]) && (end == reads.size() || !strchr("[.-(", reads[end])),
                   whole = at == sign + 3 && end == reads.size();
        if (!named || c.pair.name.empty() || !has_name(word, c.pair.name) ||
            (std::ranges::all_of(own, in_word) && has_name(value, own)) ||
            (call.starts_with("atomicExch") && (!whole || has_name(value, c.pair.name))))
            continue;
        return {say(old_value),
                {write(c.src.line_at(s.begin), reads.substr(0, at) + call + reads.substr(end), reads),
                 {say(drop_line, c.src.line_at(c.b))}}};
    }
    return {};
}

Advice old_value_rule(const Conflict& c) {
    const Advice v = c.one_atomic() ? Advice() : take_old_value(c);
    return v.words().find("atomicAdd") != string::npos ? v : Advice();
}

Advice Conflict::read_atomically(int line) const {
    if (const Advice old = take_old_value(*this); src.line_at(a) == line && !old.empty()) return old;
    return {say(read_by_atomic, line)};
}

Advice Conflict::an_atomic(const Path& path) const {
    const Statement* inner = path.back();
    const int line = src.line_at(inner->begin);
    while (inner->kind != Statement::simple && inner->parts.size() == 1 &&
           src.line_at(inner->parts[0].begin) == line &&
           src.variable(pair.name, inner->head, inner->head_end) >= inner->head_end)
        inner = &inner->parts[0];
    const Statement& s = *inner;
    const bool simple = s.kind == Statement::simple;
    const size_t named = src.variable(pair.name, s.begin, s.end);
    const bool by_index = far == 2 && pair.race.before.rank == pair.race.after.rank && !pair.name.empty() &&
                          (named >= s.end || src.text[named + pair.name.size()] == '[');
    const Advice index{"", {{say(two_blocks_use), {pair.a.number, pair.b.number}}}};
    const size_t kernel = src.text.find_last_of(";}", f->head) + 1;
    const bool no_block = src.has({"__global__"}, kernel, f->body.begin) &&
                          !src.has({"blockIdx", "block_rank", "this_grid"}, f->body);
    if (pair.adds && by_index && (pair.a.number != pair.b.number || no_block)) return index;
    if (trades(*this)) return barrier();
    if (pair.adds)
        if (const Advice old = take_old_value(*this); !old.empty()) return old;
    if (pair.adds && pair.a.number != pair.b.number) return {say(some_atomic, line)};
    if (pair.race.bytes < 4) return {say(too_small, line, pair.race.bytes)};
    const string code = simple ? src.code(s) : "", call = as_atomic(code, !pair.adds);
    const string by_operator =
        std::regex_replace(code, std::regex("^" + lvalue + " ([-+*/%&|^])= (.+)$"), "$1 = $1 $2 ($3)");
    const auto [x, value] = assignment(by_operator);
    const string type = x.empty() ? "" : type_of(changed(pointer_to(x)));
    const bool has_none = type == "float" || type == "double";  // but atomicAdd() and atomicExch()
    if (!call.empty() && (!has_none || call.starts_with("atomicAdd") || call.starts_with("atomicExch")))
        return {say(use_atomic), {write(line, call, code)}};
    if (const string loop = pair.adds && code.starts_with(x) ? cas_loop(x, value, type) : ""; !loop.empty())
        return {say(use_loop), {write(line, loop, code)}};
    if (!call.empty()) return {say(some_atomic, line)};
    const size_t end = simple ? s.end : s.head_end;
    auto [step, by] = step_at(pair.name, simple ? s.begin : s.head, end);
    if (step.empty() && pair.adds && named >= s.end) std::tie(step, by) = step_at("", s.begin, end);
    if (!step.empty()) return {say(use_atomic), {write(line, by, step)}};
    return by_index ? index : Advice{say(some_atomic, line)};
}

Advice update_rule(const Conflict& c) { return c.pair.adds && !c.one_atomic() ? c.an_atomic(c.pa) : Advice(); }

// The atomic form of `if (i < n && x > *best) *best = x`, "if (i < n) atomicMax(best, x)"; "" if there is none.
static string as_extremum(const string& condition, const string& set) {
    const string exchange = as_atomic(set, true), name = "atomicExch";
    if (!exchange.starts_with(name) || condition.find("||") != string::npos) return "";
    const auto [x, y] = assignment(set);
    const string target = packed(x), value = packed(y);
    string rest, atomic;
    for (const string& part : operands(condition)) {
        const auto is = [&](const string& less, const string& more) {
            const string asks = packed(part);
            return asks == less + "<" + more || asks == less + "<=" + more || asks == more + ">" + less ||
                   asks == more + ">=" + less;
        };
        if (is(target, value)) atomic = "atomicMax";
        else if (is(value, target)) atomic = "atomicMin";
        else rest += (rest.empty() ? "" : " && ") + part;
    }
    return atomic.empty() ? "" : (rest.empty() ? "" : "if (" + rest + ") ") + atomic + exchange.substr(name.size());
}

Advice Conflict::extremum(bool& both) const {
    const string type = type_of(pair.name);
    for (const auto& path : {pa, pb}) {
        const auto inner = std::find_if(path.rbegin(), path.rend(),
                                        [](const Statement* s) { return s->kind == Statement::branch; });
        if (inner == path.rend() || (*inner)->parts.size() != 1) continue;
        const Statement &branch = **inner, &held = branch.parts[0];
        const bool in_block = held.kind == Statement::block && !held.parts.empty();
        const auto last = held.parts.end() - in_block;
        const Statement& set =
            in_block ? *std::find_if(held.parts.begin(), last, [&](auto& s) { return s.holds(a) || s.holds(b); })
                     : held;
        if (set.kind != Statement::simple || src.word(pair.name, set.begin, set.end) >= set.end) continue;
        const string code = src.code(set), target = assignment(code).first;
        if (std::ranges::all_of(target, in_word) && target != pair.name) continue;  // a variable of the thread
        string call = as_extremum(src.condition(branch), code);
        const Update u = update(path);
        if (call.empty() || (far < 2 && !u.others.empty() && u.meets != Meeting::unknown)) continue;
        for (const string& other : u.others)
            replace_name(call, other, "atomicAdd(&" + other + ", 0)");  // others change it
        both = branch.holds(a) && branch.holds(b);
        const bool alone = !in_block || held.parts.size() == 1;
        if (type == "float" || type == "double") {  // no atomicMax() of them
            const size_t at = call.find("atomic");
            const string sign = call.compare(at, 9, "atomicMax") ? " < " : " > ", value = assignment(code).second;
            const string loop = cas_loop(target, value + sign + target + " ? " + value + " : " + target, type);
            if (!alone || loop.empty() || !u.others.empty()) return {};
            call = call.substr(0, at) + loop;
        }
        const bool loops = call.back() == '}';
        if (alone)
            return {say(loops ? use_loop : use_atomic), {write_instead(src, call + (loops ? "" : ";"), branch)}};
        if (!both) return {};
        return {say(one_word, src.line_at(held.parts[0].begin), src.line_at(held.parts.back().end - 1),
                    src.line_at(branch.head), call.substr(call.find("atomic"), 9))};
    }
    return {};
}

Advice extremum_rule(const Conflict& c) {
    bool both = false;
    const Advice v = c.extremum(both);
    return both ? v : Advice();
}

// `if (*first < 0) *first = i;`: the first thread sets it.
Advice first_one(const Conflict& c) {
    const auto inner = std::find_if(c.pb.rbegin(), c.pb.rend(), [&](const Statement* s) { return s->holds(c.a); });
    if (inner == c.pb.rend() || (*inner)->kind != Statement::branch || c.a >= (*inner)->head_end) return {};
    const Statement &branch = **inner, &set = *c.pb.back();
    const string exchange = as_atomic(c.src.code(set), true), name = "atomicExch(", head = c.src.condition(branch);
    if (!exchange.starts_with(name) || head.find("||") != string::npos) return {};
    const string target = packed(assignment(c.src.code(set)).first);
    const size_t comma = exchange.find(", ") + 2;
    const string pointer = exchange.substr(name.size(), comma - name.size());
    const int first = c.src.line_at(branch.begin), sets = c.src.line_at(set.begin);
    for (const string& part : operands(head)) {
        const string asks = packed(part), asked = head.substr(head.find(part)),  // other conditions come first
            rest = asked == part ? "" : trimmed(asked.substr(asked.find("&&", part.size()) + 2)) + " && ";
        const bool unset = asks == "!" + target;
        if (!unset && !asks.starts_with(target + "==")) continue;
        const string before = unset ? "0" : asks.substr(target.size() + 2),
                     cas = "atomicCAS(" + pointer + before + ", " + exchange.substr(comma);
        if (&branch.parts[0] == &set && branch.parts.size() == 1 && first == c.src.line_at(branch.end - 1) &&
            part == head)
            return {say(use_atomic), {write(first, cas, c.src.code(branch))}};
        if (!second_fills_line(c) || branch.parts[0].kind != Statement::block) return {};
        return {say(use_atomic),
                {write(c.src.line_at(c.a), rest + cas + " == " + before, asked), {say(drop_line, sets)}}};
    }
    return {};
}

// ---- two halves

Update Conflict::update(Path path) const {
    Update u;
    while (path.back()->kind != Statement::simple && path.back()->parts.size() == 1)
        path.push_back(&path.back()->parts[0]);
    const Statement& set = *path.back();
    static const std::regex sets(lvalue + R"( *(?:[-+*/%&|^]|<<|>>)?= *[^=].*)");
    const string code = set.kind == Statement::simple ? src.code(set) : "";
    std::smatch m;
    const string base = src.name_at(set.begin);
    if (base.empty() || !std::regex_match(code, m, sets) || !m[1].str().starts_with(base + "[")) return u;
    const string target = m[1];
    size_t level = path.size() - 1;
    for (size_t i = level; i-- > 1 && path[i]->parts.size() == 1;)
        if (path[i]->kind == Statement::branch &&
            src.variable(base, path[i]->head, path[i]->head_end) < path[i]->head_end)
            level = i;
    const Statement& whole = *path[level];
    const auto index = [&](const string& x) {
        return x.substr(base.size() + 1, x.find_last_of(']') - base.size() - 1);
    };
    for (size_t i : src.variables(base, whole.begin, whole.end)) {
        const size_t from = i;
        if (src.text[i += base.size()] != '[') return u;
        while (src.text[i] == '[') i = closed(src.text, i);
        while (src.text[i] == '.') i += 1 + src.name_at(i + 1).size();
        const string element = src.code(from, i);
        const size_t next = skip_space(src.text, i);
        const bool set_too = src.text[next] == '=' && src.text[next + 1] != '=';  // s[i] = s[j] = 0
        if (src.text[from - 1] == '&' || (set_too && from != set.begin)) return {};
        if (packed(element) != packed(target) && std::ranges::find(u.others, element) == u.others.end())
            u.others.push_back(element), u.indices.push_back(index(element));
    }
    for (size_t i = 1; i + 1 < path.size(); ++i)
        if (path[i]->kind == Statement::branch && &path[i]->parts[0] == path[i + 1])
            for (const string& part : operands(src.condition(*path[i])))
                if (!has_name(part, base)) {
                    u.conditions.push_back(part);
                    if (i >= level) u.guards.push_back(part);
                }
    u.path = path, u.level = level, u.base = base;
    if (!u.others.empty()) u.meets = meeting(src, *f, u.target = index(target), u.indices, u.conditions);
    return u;
}

// All threads read first, and write after a barrier.
Advice Conflict::all_read_first(const Update& u, const string& check) const {
    std::vector<string> others = u.others, guards = u.guards;
    if (const string code = src.code(*u.path.back()); code.find('?') != string::npos)  // including its guard
        others = {code.substr(code.find("= ") + 2)};
    size_t n = u.level;
    string barrier = barrier_at(u.path, n);
    for (; barrier.empty() && n > 1; barrier = barrier_at(u.path, n)) {
        const Statement& outer = *u.path[--n];
        if (outer.kind == Statement::loop) return {check + say(read_rounds, src.line_at(outer.begin))};
        if (outer.parts.size() != 1) break;
        if (outer.kind == Statement::branch) guards.insert(guards.begin(), src.condition(outer));
    }
    const Statement& s = *u.path[n];
    const string type = guards.empty() ? "const auto" : others[0].back() == ']' ? type_of(u.base) : "";
    if (barrier.empty() || type.empty()) return {check + say(read_where_all_come, "__syncthreads()")};
    string asked, names, read, write_back = src.code(u.path[u.level]->begin, u.path[u.level]->end);
    for (const string& g : guards)
        asked += (asked.empty() ? "if (" : " && ") + (g.find("||") == string::npos ? g : "(" + g + ")");
    if (!asked.empty()) asked += ") ";
    for (size_t i = 0; i < others.size(); ++i) {
        const string name = i ? "read_" + std::to_string(i + 1) : "read", &other = others[i];
        names += (i ? ", " : type + " ") + name + (asked.empty() ? " = " + other : "{}");
        read += (i ? " " : "") + name + " = " + other + ";";
        replace_name(write_back, other, name);
    }
    if (others.size() > 1) read = "{ " + read + " }";
    const string code = "{ " + names + ";` " + (asked.empty() ? "" : "`" + asked + read + "` ") + "`" + barrier +
                        ";` `" + asked + write_back + (goes_round() ? "` `" + barrier + "; }" : " }");
    return {check, {write_instead(src, code, s)}};
}

// An atomic does not help a thread that reads another element of the array that it writes.
Advice in_place(const Conflict& c) {
    const Source& src = c.src;
    const Update u = c.update(c.pb);
    if (u.others.empty() || !u.path[u.level]->holds(c.a) || !u.path[u.level]->holds(c.b)) return {};
    const int line = src.line_at(u.path.back()->begin);
    const bool turns = c.goes_round();
    if (u.meets == Meeting::of_writers || (u.meets == Meeting::unknown && (turns || c.pair.both_write))) return {};
    if (u.meets == Meeting::none) {
        const auto round = c.last_in_turn();
        return turns && c.far < 2 && !c.barrier_at(round, round.size() - 1).empty() ? c.ending() : Advice();
    }
    for (auto conditions = u.conditions; string & condition : conditions) {  // if (t <= d) s[t] += s[t + d];
        const size_t less = condition.find(" <= ");
        if (less == string::npos || u.meets != Meeting::of_readers) continue;
        const string wrong =
            std::exchange(condition, condition.substr(0, less) + " < " + condition.substr(less + 4));
        const size_t at = src.text.find(wrong, u.path[1]->begin);
        if (at < c.b && meeting(src, *c.f, u.target, u.indices, conditions) == Meeting::none)
            return {say(smaller), {write(src.line_at(at), condition, wrong)}};
        condition = wrong;
    }
    if (c.far == 2) return {say(other_array, line)};
    const auto [target, value] = assignment(src.code(*u.path.back()));  // out[i] = out[i - 1] + in[i]
    const bool needs_new =
        target.ends_with("]") && !has_name(value, target) && packed(value) != packed(u.others[0]);
    return c.all_read_first(u, say(needs_new ? scan : all_must_read, line));
}

// `x = s[i]; s[i] = s[j]; s[j] = x;` by both threads of a pair.
Advice exchange_rule(const Conflict& c) {
    const std::vector<Statement>& parts = c.pa[c.pa.size() - 2]->parts;
    for (size_t i = 0; c.pa.size() > 2 && i + 2 < parts.size(); ++i) {
        if (c.a < parts[i].begin || c.b >= parts[i + 2].end) continue;
        const auto held = assignment(c.src.code(parts[i])), first = assignment(c.src.code(parts[i + 1])),
                   second = assignment(c.src.code(parts[i + 2]));
        const string before = c.pair.name + "[";
        if (held.first != second.second || first.first != held.second || second.first != first.second ||
            !first.first.starts_with(before) || !second.first.starts_with(before))
            continue;
        const auto index = [&](const string& x) { return x.substr(before.size(), x.size() - before.size() - 1); };
        const string x = index(first.first), y = index(second.first), one = x + " < " + y;
        std::vector<string> conditions;
        for (size_t n = 1; n + 1 < c.pa.size(); ++n)
            if (c.pa[n]->kind == Statement::branch && &c.pa[n]->parts[0] == c.pa[n + 1])
                for (const string& part : operands(c.src.condition(*c.pa[n]))) conditions.push_back(part);
        const bool meets = meeting(c.src, *c.f, y, {x}, conditions) == Meeting::of_readers;
        conditions.push_back(one);
        if (!meets || meeting(c.src, *c.f, y, {x}, conditions) != Meeting::none) continue;
        return {say(exchange_once),
                {{say(write_for_lines, "if (" + one + ") { " + c.src.code(parts[i].begin, parts[i + 2].end) + " }",
                      c.src.line_at(parts[i].begin), c.src.line_at(parts[i + 2].end - 1))}}};
    }
    return {};
}

}  // namespace cudacpu::race
