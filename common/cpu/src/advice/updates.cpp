// updates.cpp - advice for statements that change an element in place. The advice is a single atomic or, if a
// thread reads an element that another thread writes there, two halves with a barrier between them.
#include <algorithm>
#include <utility>

#include "advice/scene.hpp"
#include "advice/structure.hpp"
#include "engine/text.hpp"
#include "report/race_report.hpp"

namespace cudacpu {

using std::string;

namespace {

string trimmed(string x) {
    x.erase(0, std::min(x.find_first_not_of(" \n\t"), x.size()));
    return x.erase(x.find_last_not_of(" \n\t") + 1);
}
string packed(string s) {
    std::erase_if(s, [](unsigned char c) { return isspace(c); });
    return s;
}
size_t sign_of_assignment(const string& t) {
    for (size_t i = 1; i + 1 < t.size(); ++i)
        if (t[i] == '=' && t[i + 1] != '=' && !strchr("=!<>", t[i - 1])) return i;
    return t.npos;
}
string assigned(const string& t, size_t sign) {
    return trimmed(t.substr(0, sign - (strchr("+-|&^*/%", t[sign - 1]) != nullptr)));
}
// Finds where a text contains a name, or a name that begins with this prefix.
size_t find_name(const string& s, const string& name, size_t from = 0) {
    size_t i = s.find(name, from);
    while (i != s.npos && ((i && in_word(s[i - 1])) || (in_word(name.back()) && in_word(s[i + name.size()]))))
        i = s.find(name, i + 1);
    return i;
}
void replace_all(string& s, const string& name, const string& by) {
    for (size_t i = find_name(s, name); i != s.npos; i = find_name(s, name, i + by.size()))
        s.replace(i, name.size(), by);
}
std::vector<string> parts_of(const string& condition) {  // the operands of &&
    std::vector<string> parts;
    for (size_t at = 0, next; at < condition.size(); at = next + 2) {
        next = std::min(condition.find("&&", at), condition.size());
        parts.push_back(trimmed(condition.substr(at, next - at)));
    }
    return parts;
}

}  // namespace

string as_atomic(const string& t, bool exchange) {
    for (size_t i = 0; i < t.size(); i = strchr("([{", t[i]) ? closed(t, i) : i + 1)
        if (t[i] == ',') return "";  // ++a, ++b
    const size_t sign = sign_of_assignment(t);
    auto call = [&](const char* name, const string& x, const string& value) {
        const bool held = x.starts_with("(*") && closed(x, 0) == x.size();  // (*count)++
        const string pointer = held ? x.substr(2, x.size() - 3) : x[0] == '*' ? x.substr(1) : "&" + x;
        return string(name) + "(" + pointer + ", " + value + ")";
    };
    if (sign == t.npos && t.find('[') <= t.find(' '))  // it is not part of an expression
        for (const char* step : {"++", "--"}) {
            const char* by = *step == '+' ? "1" : "-1";
            if (t.starts_with(step)) return call("atomicAdd", trimmed(t.substr(2)), by);
            if (t.ends_with(step)) return call("atomicAdd", trimmed(t.substr(0, t.size() - 2)), by);
        }
    if (sign == t.npos) return "";
    const char op = t[sign - 1];
    const string x = assigned(t, sign), value = trimmed(t.substr(sign + 1));
    if (x.find(' ') != x.npos && x.find('[') == x.npos) return "";  // a declaration
    switch (op) {
        case '+': return call("atomicAdd", x, value);
        case '-': return call("atomicAdd", x, "-(" + value + ")");
        case '|': return call("atomicOr", x, value);
        case '&': return call("atomicAnd", x, value);
        case '^': return call("atomicXor", x, value);
        case '*':
        case '/':
        case '%': return "";
        default: break;
    }
    if (value.starts_with(x + " + ")) return call("atomicAdd", x, value.substr(x.size() + 3));
    if (value.starts_with(x + " - ")) return call("atomicAdd", x, "-(" + value.substr(x.size() + 3) + ")");
    if (value.ends_with(" + " + x)) return call("atomicAdd", x, value.substr(0, value.size() - x.size() - 3));
    for (const string name : {"max", "min", "fmaxf", "fminf"}) {
        const char* const atomic = name.find("max") != string::npos ? "atomicMax" : "atomicMin";
        const size_t open = name.size() + 1, rest = value.size() - std::min(value.size(), open + x.size() + 3);
        if (value.starts_with(text("%s(%s, ", name.c_str(), x.c_str())))
            return call(atomic, x, value.substr(open + x.size() + 2, rest));
        if (value.starts_with(name + "(") && value.ends_with(", " + x + ")"))
            return call(atomic, x, value.substr(open, rest));
    }
    // x = v < x ? v : x
    const size_t asks = value.find('?'), colon = value.find(" : "),
                 less = std::min(value.find_first_of("<>"), asks);
    if (colon != value.npos && less < asks && asks < colon) {
        const size_t behind = less + 1 + (value[less + 1] == '=');
        const auto part = [&](size_t from, size_t to) { return trimmed(value.substr(from, to - from)); };
        const size_t first = value[0] == '(' && closed(value, 0) <= asks;
        const string left = part(first, less),
                     right = part(behind, value.find_last_not_of(first ? " )" : " ", asks - 1) + 1),
                     yes = part(asks + 1, colon), no = part(colon + 3, value.size()),
                     other = left == x ? right : left;
        if ((left == x || right == x) && (yes == x ? no : yes) == other && (yes == x || no == x))
            return call((value[less] == '<') == (left == yes) ? "atomicMin" : "atomicMax", x, other);
    }
    return exchange ? call("atomicExch", x, value) : "";
}

std::pair<string, string> Source::step_at(const string& name, size_t from, size_t to) const {
    const Function* f = name.empty() ? function_at(from) : nullptr;
    for (size_t i = from; f && i < to; ++i) {  // a member: items[top++], s->items[s->top++]
        const string word = name_at(i);
        const bool member = !word.empty() && (text[i - 1] == '.' || text[i - 1] == '>');
        if (word.empty() || text.compare(i + word.size(), 2, "++") ||
            (!member && this->word(word, f->head, from) < from))
            continue;
        size_t first = i;
        while (first > from && (in_word(text[first - 1]) || strchr(".->", text[first - 1]))) --first;
        const string x = original(first, i + word.size());
        return {x + "++", "atomicAdd(&" + x + ", 1)"};
    }
    for (const size_t i : variables(name, from, to)) {
        const size_t end = last_member(i).second;
        for (const bool up : {true, false}) {
            const string x = original(i, end), step = up ? "++" : "--",
                         call = "atomicAdd(&" + x + (up ? ", 1)" : ", -1)");
            if (i > 1 && !text.compare(i - 2, 2, step)) return {step + x, "(" + call + (up ? " + 1)" : " - 1)")};
            if (text.compare(end, 2, step) == 0) return {x + step, call};
            if (text.compare(i - 2, 2, "(*") == 0 && text[end] == ')' && text.compare(end + 1, 2, step) == 0)
                return {string("(*").append(x).append(")").append(step),
                        string("atomicAdd(").append(x).append(up ? ", 1)" : ", -1)")};
        }
    }
    return {};
}

namespace race {

// The atomic form of `if (i < n && x > *best) *best = x`, "if (i < n) atomicMax(best, x)"; "" if there is no such
// form.
static string as_extremum(const string& condition, const string& set) {
    const string exchange = as_atomic(set, true), name = "atomicExch";
    if (!exchange.starts_with(name) || condition.find("||") != string::npos) return "";
    const string all = packed(set), target = all.substr(0, all.find('=')), value = all.substr(target.size() + 1);
    string rest, atomic;
    for (const string& part : parts_of(condition)) {
        const string asks = packed(part);
        const auto joined = [](string a, const char* sign, const string& b) { return a.append(sign).append(b); };
        const auto is = [&](const string& less, const string& more) {
            return asks == joined(less, "<", more) || asks == joined(less, "<=", more) ||
                   asks == joined(more, ">", less) || asks == joined(more, ">=", less);
        };
        if (is(target, value)) atomic = "atomicMax";
        else if (is(value, target)) atomic = "atomicMin";
        else rest += (rest.empty() ? "" : " && ") + part;
    }
    if (atomic.empty()) return "";
    return (rest.empty() ? "" : "if (" + rest + ") ") + atomic + exchange.substr(name.size());
}

string Scene::text_between(size_t begin, size_t end) const {
    string line;
    for (const char c : src.original(begin, end))
        if (!isspace(static_cast<unsigned char>(c))) line += c;
        else if (!line.empty() && line.back() != ' ') line += ' ';
    return trimmed(line);
}

string Scene::type_of(const string& array) const {
    for (const size_t start : {f->head, size_t(0)}) {  // in the function, then outside
        const size_t at = src.word(array, start, f->body.end);
        string declares = text_between(src.text.find_last_of(",(;{}", at) + 1, at);
        if (declares.find_first_of("=+-[].|^%/!?") != string::npos) continue;
        for (const char* word :
             {"__shared__", "__device__", "__restrict__", "extern", "static", "const", "volatile"})
            if (const size_t i = find_name(declares, word); i != string::npos) declares.erase(i, strlen(word));
        string type = trimmed(declares.substr(0, declares.find_first_of("*&")));
        if (!type.empty() && type != "return") return type;
    }
    return "";
}

Update Scene::update(Path path) const {
    Update u;
    while (path.back()->kind != Statement::simple && path.back()->parts.size() == 1)
        path.push_back(&path.back()->parts[0]);
    const Statement& set = *path.back();
    const string code = set.kind == Statement::simple ? src.text.substr(set.begin, set.end - set.begin) : "";
    const size_t sign = sign_of_assignment(code);
    const string target = sign == string::npos ? "" : assigned(code, sign), base = src.name_at(set.begin);
    if (base.empty() || target.size() <= base.size() || target[base.size()] != '[') return u;
    const auto asks = [&](const Statement& s) { return src.variable(base, s.head, s.head_end) < s.head_end; };
    size_t level = path.size() - 1;
    for (size_t i = level; i-- > 1;) {
        if (path[i]->parts.size() != 1) break;
        if (path[i]->kind == Statement::branch && asks(*path[i])) level = i;
    }
    const Statement& whole = *path[level];
    const auto index = [&](const string& element) {
        return element.substr(base.size() + 1, element.find_last_of(']') - base.size() - 1);
    };
    const auto end_of = [&](size_t element) {
        size_t end = element + base.size();
        while (src.text[end] == '[') end = closed(src.text, end);
        while (src.text[end] == '.') end += 1 + src.name_at(end + 1).size();
        return end;
    };
    if (packed(text_between(set.begin, end_of(set.begin))) != packed(target)) return u;
    for (size_t i = src.variable(base, whole.begin, whole.end), end; i < whole.end;
         i = src.variable(base, end, whole.end)) {
        if (src.text[i + base.size()] != '[') return u;
        const string element = text_between(i, end = end_of(i));
        const size_t next = src.text.find_first_not_of(" \n\t", end);
        const bool set_too = src.text[next] == '=' && src.text[next + 1] != '=';  // s[i] = s[j] = 0
        if (src.text[i - 1] == '&' || (set_too && i != set.begin)) return {};
        if (packed(element) != packed(target) && std::ranges::find(u.others, element) == u.others.end())
            u.others.push_back(element);
    }
    for (const string& other : u.others) u.indices.push_back(index(other));
    for (size_t i = 1; i + 1 < path.size(); ++i)
        if (path[i]->kind == Statement::branch && &path[i]->parts[0] == path[i + 1])
            for (const string& part : parts_of(text_between(path[i]->head + 1, path[i]->head_end - 1)))
                if (find_name(part, base) == string::npos) {
                    u.conditions.push_back(part);
                    if (i >= level) u.guards.push_back(part);
                }
    u.path = path, u.level = level, u.base = base;
    if (!u.others.empty()) u.meets = meeting(src, *f, u.target = index(target), u.indices, u.conditions);
    return u;
}

string Scene::extremum(bool& both) const {
    const size_t declared = src.word(pair.name, f->head, f->body.end);
    if (src.has({"float", "double"}, src.text.find_last_of(",(;{", declared), declared))
        return "";  // atomicMax() does not accept this type
    for (const auto& path : {pa, pb}) {
        const auto inner = std::find_if(path.rbegin(), path.rend(),
                                        [](const Statement* s) { return s->kind == Statement::branch; });
        if (inner == path.rend() || (*inner)->parts.size() != 1) continue;
        const Statement &branch = **inner, &held = branch.parts[0];
        const bool in_block = held.kind == Statement::block && !held.parts.empty();
        const Statement& set =
            in_block ? *std::ranges::find_if(held.parts.begin(), held.parts.end() - 1,
                                             [&](const Statement& s) { return s.holds(a) || s.holds(b); })
                     : held;
        if (set.kind != Statement::simple || src.word(pair.name, set.begin, set.end) >= set.end) continue;
        const string code = src.code_of(set),
                     target = assigned(code, std::min(sign_of_assignment(code), code.size()));
        if (std::ranges::all_of(target, in_word) && target != pair.name)
            continue;  // a local variable of the thread
        string call = as_extremum(src.original(branch.head + 1, branch.head_end - 1), code);
        const Update u = update(path);
        if (call.empty() || (far < 2 && u.reads_others() && u.meets != Meeting::unknown)) continue;
        for (const string& other : u.others)  // other threads change it
            replace_all(call, other, "atomicAdd(&" + other + ", 0)");
        both = branch.holds(a) && branch.holds(b);
        if (in_block && held.parts.size() > 1)
            return both ? text(
                              "what lines %d to %d set belongs together: put it into one 64-bit word, the upper "
                              "half what line %d compares, and take its %s, or hold a lock",
                              src.line_at(held.parts[0].begin), src.line_at(held.parts.back().end - 1),
                              src.line_at(branch.head), call.substr(call.find("atomic"), 9).append("()").c_str())
                        : "";
        const int first = src.line_at(branch.begin), last = src.line_at(branch.end - 1);
        if (first != last)
            return text("use an atomic: write `%s;` for the if of lines %d to %d", call.c_str(), first, last);
        return text("use an atomic: in line %d write `%s;` for `%s`", first, call.c_str(),
                    src.original(branch.begin, branch.end).c_str());
    }
    return "";
}

bool Scene::advise_first(Advice& v) const {
    const auto inner = std::find_if(pb.rbegin(), pb.rend(), [&](const Statement* s) { return s->holds(a); });
    if (inner == pb.rend() || (*inner)->kind != Statement::branch || a >= (*inner)->head_end) return false;
    const Statement& branch = **inner;
    const string set = src.code_of(*pb.back()), exchange = as_atomic(set, true), name = "atomicExch(";
    if (!exchange.starts_with(name)) return false;
    const string target = packed(assigned(set, sign_of_assignment(set)));
    const int first = src.line_at(branch.begin), sets = src.line_at(pb.back()->begin),
              last = src.line_at(branch.end - 1);
    const string head = text_between(branch.head + 1, branch.head_end - 1);
    if (head.find("||") != string::npos) return false;
    for (const string& part : parts_of(head)) {
        const string asks = packed(part), asked = head.substr(head.find(part)),  // other conditions come first
            rest = asked == part ? "" : trimmed(asked.substr(asked.find("&&", part.size()) + 2)) + " && ";
        const bool unset = asks == "!" + target, equals = asks.starts_with(target + "==");
        if (!unset && !equals && !asks.starts_with(target + "<") && !asks.starts_with(target + ">")) continue;
        const string comma = exchange.substr(name.size(), exchange.find(", ") + 2 - name.size()),
                     before = unset ? "0" : asks.substr(target.size() + 2),
                     cas = text("atomicCAS(%s%s, %s", comma.c_str(), before.c_str(),
                                exchange.substr(name.size() + comma.size()).c_str());
        if (!unset && !equals)
            v = {text("who comes first is to set it: use atomicCAS(%snew) instead of lines %d and %d, with what it "
                      "holds at first as old",
                      (comma + "old, ").c_str(), src.line_at(a), sets),
                 ""};
        else if (&branch.parts[0] == pb.back() && branch.parts.size() == 1 && first == last && asks == packed(head))
            v = {text("use an atomic: in line %d write `%s` for `%s`", first, cas.c_str(),
                      src.code_of(branch).c_str()),
                 ""};
        else if (second_fills_line())
            v = {text("use an atomic: in line %d write `%s == %s` for `%s`, and %s line %d", src.line_at(a),
                      (rest + cas).c_str(), before.c_str(), asked.c_str(),
                      branch.parts[0].kind == Statement::block ? "drop" : "leave only the `;` of", sets),
                 ""};
        else return false;
        return true;
    }
    return false;
}

Advice Scene::part(const Update& u, const string& check) const {
    const string first = check + ", all must have read before one writes: ";
    std::vector<string> others = u.others;
    if (const string code = src.code_of(*u.path.back()); code.find('?') != string::npos)  // including its guard
        others = {trimmed(code.substr(sign_of_assignment(code) + 1))};
    std::vector<string> guards = u.guards;
    size_t n = u.level;
    string barrier = barrier_at(u.path, n);
    for (; barrier.empty() && n > 1; barrier = barrier_at(u.path, n)) {
        const Statement& outer = *u.path[--n];
        if (outer.kind == Statement::loop)
            return {first + text("not all threads take all rounds of the loop of line %d, so let it write into "
                                 "another array",
                                 src.line_at(outer.begin)),
                    ""};
        if (outer.parts.size() != 1) break;
        if (outer.kind == Statement::branch)
            guards.insert(guards.begin(), text_between(outer.head + 1, outer.head_end - 1));
    }
    const Statement& s = *u.path[n];
    const string type = guards.empty() ? "const auto" : others[0].back() == ']' ? type_of(u.base) : "";
    if (barrier.empty() || type.empty()) {
        const Statement* branch = nullptr;  // the outermost branch that not all threads enter
        for (size_t i = n; i > 1; --i)
            if (u.path[i]->kind == Statement::branch) branch = u.path[i];
        return {
            first +
                (branch
                     ? text("read into a variable, end the if of line %d, put __syncthreads() there, and begin "
                            "the if again to write",
                            src.line_at(branch->begin))
                     : string("read into a variable, put __syncthreads() behind that where all threads come, and "
                              "write then")),
            ""};
    }
    string asked, names, read, write = text_between(u.path[u.level]->begin, u.path[u.level]->end);
    for (string g : guards) {
        if (g.find("||") != string::npos) g.insert(0, "(").append(")");
        asked.append(asked.empty() ? "if (" : " && ").append(g);
    }
    if (!asked.empty()) asked += ") ";
    for (size_t i = 0; i < others.size(); ++i) {
        const string name = i ? text("read_%zu", i + 1) : "read", &other = others[i];
        names += (i ? ", " : type + " ").append(name) + (asked.empty() ? " = " + other : "{}");
        read.append(i ? " " : "").append(name).append(" = ").append(other).append(";");
        replace_all(write, other, name);
    }
    if (others.size() > 1) read = "{ " + read + " }";
    const string turn = goes_round() ? "` `" + barrier + "; }`" : " }`",
                 code = "write `{ " + names + ";` " + (asked.empty() ? "" : "`" + asked + read + "` ") + "`" +
                        barrier + ";` `" + asked + write + turn + " for ";
    const int from = src.line_at(s.begin), to = src.line_at(s.end - 1);
    const char* what = s.kind == Statement::branch ? "the if of " : "";
    if (from != to) return {first + code + text("%slines %d to %d", what, from, to), ""};
    return {first + text("in line %d ", from) + code + "`" + src.original(s.begin, s.end) + "`", ""};
}

bool Scene::advise_in_place(Advice& v) const {
    const Update u = update(pb);
    if (!u.reads_others() || !u.path[u.level]->holds(a) || !u.path[u.level]->holds(b)) return false;
    const int line = src.line_at(u.path.back()->begin);
    const bool turns = goes_round();
    if (u.meets == Meeting::of_writers || (u.meets == Meeting::unknown && (turns || pair.both_write))) return false;
    for (const Statement* branch : u.path)  // if (t <= d) s[t] += s[t + d];
        for (auto conditions = u.conditions; string & c : conditions) {
            const size_t less = c.find(" <= "), at = src.text.find(c, branch->head);
            if (less == string::npos || at >= branch->head_end || u.meets != Meeting::of_readers) continue;
            const string wrong = std::exchange(c, c.substr(0, less) + " < " + c.substr(less + 4));
            if (meeting(src, *f, u.target, u.indices, conditions) != Meeting::none) {
                c = wrong;
                continue;
            }
            v = {text("a thread reads what another writes there: in line %d write `%s` for `%s`", src.line_at(at),
                      c.c_str(), wrong.c_str()),
                 ""};
            return true;
        }
    if (u.meets == Meeting::none) {
        const auto round = last_in_turn();
        if (!turns || far == 2 || barrier_at(round, round.size() - 1).empty()) return false;
        v = ending();
        return true;
    }
    // out[i] = out[i - 1] + in[i]
    const string code = packed(src.code_of(*u.path.back())), target = code.substr(0, code.find('=')),
                 other = packed(u.others[0]);
    const bool needs_new = target.back() == ']' && code.find(target, target.size()) == string::npos &&
                           code.size() > target.size() + 1 + other.size();
    if (far == 2) v = {text("blocks cannot wait for each other: let line %d write into another array", line), ""};
    else
        v = part(
            u,
            text("check the index of line %d: in this one statement a thread reads what another writes; %s", line,
                 needs_new
                     ? "if it needs what that one writes, take a scan, in rounds; if it needs what stood there"
                     : "if that is meant"));
    return true;
}

bool Scene::advise_exchange(Advice& v) const {
    const std::vector<Statement>& parts = pa[pa.size() - 2]->parts;
    for (size_t i = 0; pa.size() > 2 && i + 2 < parts.size(); ++i) {
        if (a < parts[i].begin || b >= parts[i + 2].end) continue;
        string to[3], from[3], all;
        for (size_t k = 0; k < 3; ++k) {
            const string code = src.code_of(parts[i + k]);
            const size_t sign = std::min(sign_of_assignment(code), code.size());
            to[k] = assigned(code, sign), from[k] = trimmed(code.substr(std::min(sign + 1, code.size())));
            all += code + "; ";
        }
        const string held = to[0].substr(to[0].find_last_of(" *") + 1), before = pair.name + "[";
        if (held != from[2] || to[1] != from[0] || to[2] != from[1] || !to[1].starts_with(before) ||
            !to[2].starts_with(before))
            continue;
        const auto index = [&](const string& x) { return x.substr(before.size(), x.size() - before.size() - 1); };
        const string x = index(to[1]), y = index(to[2]), one = text("%s < %s", x.c_str(), y.c_str());
        std::vector<string> conditions;
        for (size_t n = 1; n + 1 < pa.size(); ++n)
            if (pa[n]->kind == Statement::branch && &pa[n]->parts[0] == pa[n + 1])
                for (const string& part : parts_of(text_between(pa[n]->head + 1, pa[n]->head_end - 1)))
                    conditions.push_back(part);
        if (meeting(src, *f, y, {x}, conditions) != Meeting::of_readers) continue;
        conditions.push_back(one);
        if (meeting(src, *f, y, {x}, conditions) != Meeting::none) continue;
        v = {text("two threads exchange the same elements, and each undoes what the other does; let one of them do "
                  "it: write "
                  "`if (%s) { %s}` for lines %d to %d",
                  one.c_str(), all.c_str(), src.line_at(parts[i].begin), src.line_at(parts[i + 2].end - 1)),
             ""};
        return true;
    }
    return false;
}

}  // namespace race
}  // namespace cudacpu
