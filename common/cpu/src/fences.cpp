// fences.cpp - advice where no barrier helps: locks, flags, scopes, atomics, what blocks do to each other, and
// variables that should not be __shared__.
#include <algorithm>

#include "scene.hpp"

namespace cudacpu::hazards {

using std::string;

size_t Scene::first_atomic(size_t from, size_t to) const {
    for (size_t i = src.text.find("atomic", from); i < to; i = src.text.find("atomic", i + 1))
        if (src.text.find('(', i) < src.text.find_first_of(" ;", i)) return i;
    return string::npos;
}

std::set<int> Scene::narrow_lines() const {
    std::set<int> lines;
    for (const Line* l : {&pair.a, &pair.b})
        if (src.line(l->number).find("_block(") != string::npos) lines.insert(l->number);
    for (size_t i = src.text.find("_block(", f->body.begin); i < f->body.end; i = src.text.find("_block(", i + 1))
        lines.insert(src.line_at(i));
    return lines;
}

int Scene::line_behind(size_t take, size_t at) const {
    const Statement& s = outermost(take, at);
    if (!s.holds(at) && s.begin <= take && take < s.end) return src.line_at(s.end - 1);
    const Statement& holder = *Source::path(*f, take).back();
    const bool braces = !holder.parts.empty() && holder.parts[0].kind == Statement::block;
    return src.line_at(braces ? holder.parts[0].begin : holder.head_end);
}

bool Scene::fenced(size_t from, size_t to) const {
    return src.has({"__threadfence", "__threadfence_system"}, from, to) ||
           (far < 2 && src.has({"__threadfence_block"}, from, to));
}

Advice Scene::fences(bool behind_take, int take, bool before_give, int give) const {
    Advice v{"put __threadfence() after ", "", {}};
    if (behind_take) v.lines.insert(take);
    if (before_give) v.lines.insert(give);
    return v;
}

bool Scene::advise_lock(Advice& v) const {
    size_t take = string::npos, give = string::npos;
    const Function *taker = nullptr, *giver = nullptr;  // functions of the program that take and give a lock
    for (const char* w : {"atomicCAS", "atomicExch", "atomicCAS_block", "atomicExch_block"})
        for (size_t i = src.word(w, f->body.begin, a); i < a; i = src.word(w, i + 1, a)) {
            const auto path = Source::path(*f, i);
            bool spins = is_head(path, i);
            for (const Statement* s : path) spins |= s->kind == Statement::loop && s->end <= a;
            if (spins && (take == string::npos || i > take)) take = i;
        }
    for (const Function& g : src.functions()) {
        const auto kind = &g == f ? Source::no_lock : src.lock_of(g);
        const size_t before = src.word(g.name, f->body.begin, a), behind = src.word(g.name, b, f->body.end);
        if (kind == Source::takes && before < a && take == string::npos) take = before, taker = &g;
        if (kind == Source::gives && behind < f->body.end) give = behind, giver = &g;
    }
    if (take == string::npos || (taker && !giver)) return false;
    if (!taker) {
        size_t lock = src.text.find('(', take) + 1;
        while (strchr("&*( ", src.text[lock])) ++lock;
        const string name = src.name_at(lock);
        give = src.word(name, b, f->body.end), giver = nullptr;
        if (give >= f->body.end || src.word(name, a, b) < b) return false;
        if (src.text.compare(Source::path(*f, give).back()->begin, 6, "atomic") != 0) {
            v = {text("give the lock back by an atomic, behind a fence: write __threadfence(); "
                      "atomicExch(&%s, 0) in line %d",
                      name.c_str(), src.line_at(give)),
                 ""};
            return true;
        }
    }
    const bool taken = fenced(take, a) || (taker && fenced(taker->body.begin, taker->body.end)),
               freed = fenced(b, give) || (giver && fenced(giver->body.begin, giver->body.end));
    if (taken && freed) return false;
    v = fences(!taken, line_behind(take, a), !freed, src.line_at(outermost(b, give).end - 1));
    return true;
}

bool Scene::advise_flag(Advice& v) const {
    std::vector<const Statement*> all;
    src.waiting_loops(f->body, all);
    for (const Statement* s : all) {
        for (const auto& [look, set] : {std::pair(a, b), std::pair(b, a)})
            if (s->head <= look && look < s->head_end) {
                v = {text("a flag needs atomics: in line %d read it by atomicAdd(&flag, 0), in line %d write "
                          "it by "
                          "atomicExch(&flag, value), behind a __threadfence()",
                          src.line_at(look), src.line_at(set)),
                     ""};
                return true;
            }
        const size_t writer = a_writes ? a : b, reader = a_writes ? b : a;
        if (s->end > reader || s->holds(writer)) continue;
        for (size_t i = s->head; i < s->head_end; ++i) {  // a name that the writer uses behind its write
            const string name = src.name_at(i);
            const size_t set = src.word(name, writer, f->body.end);
            if (name.empty() || set >= f->body.end || s->holds(set) || src.text[i + name.size()] == '(') continue;
            const bool behind = fenced(s->end, reader), before = fenced(writer, set);
            if (behind && before) continue;
            v = fences(!behind, src.line_at(s->end - 1), !before, src.line_at(outermost(writer, set).end - 1));
            return true;
        }
    }
    return false;
}

bool Scene::advise_fences(Advice& v) const {
    if (far == 2)
        if (const std::set<int> lines = narrow_lines(); !lines.empty()) {
            v = {
                "__threadfence_block() and atomics that end in _block order threads of one block only: "
                "use those without _block in ",
                "", lines};
            return true;
        }
    return advise_lock(v) || advise_flag(v);
}

bool Scene::each_has_its_own(const string& name, const Statement& declaration,
                             const std::set<string>& others) const {
    const auto scope = Source::path(*f, declaration.begin);
    const size_t end = scope[scope.size() - 2]->end, first = src.variable(name, declaration.end, end);
    size_t last = first;
    for (size_t i = first; i < end; i = src.variable(name, i + 1, end)) {
        if (src.text[i - 1] == '&') return false;
        last = i;
    }
    if (first >= end || barrier_between(first, last)) return false;
    const auto path = Source::path(*f, first);
    const Statement &sets = *path.back(), &uses = *Source::path(*f, last).back();
    const string code = src.text.substr(sets.begin, sets.end - sets.begin);
    const size_t sign = code.find_first_not_of(' ', name.size());
    if (sets.begin != first || !path[path.size() - 2]->holds(last) || code[sign] != '=' || code[sign + 1] == '=')
        return false;
    const auto differs = [&](const Statement& s) {
        const auto is_in = [&](const string& own) { return src.word(own, s.begin, s.end) < s.end; };
        return std::ranges::any_of(f->own, is_in) || std::ranges::any_of(others, is_in);
    };
    if (differs(sets)) return true;
    for (size_t i = src.variable(name, first + 1, last); i < last;
         i = src.variable(name, i + 1, last))  // its own sum
        for (const Statement* s : Source::path(*f, i))
            if (s->kind == Statement::loop && !s->holds(first)) return differs(uses);
    return false;
}

bool Scene::advise_own(Advice& v) const {
    for (size_t i = src.word("__shared__", f->body.begin, a); i < a; i = src.word("__shared__", i + 1, a)) {
        const Statement& d = *Source::path(*f, i).back();
        std::vector<string> names;
        string type;
        bool plain = d.kind == Statement::simple && d.begin == i;
        size_t at = i + strlen("__shared__");
        for (size_t next; plain && at < d.end; at = next + 1) {  // the names between the commas
            next = std::min(src.text.find(',', at), d.end - 1);
            const size_t stop = src.text.find_last_not_of(' ', next - 1) + 1;
            const size_t start = src.text.find_last_of(" *", stop - 1) + 1;
            const string name = src.name_at(start);
            plain = !name.empty() && start + name.size() == stop;
            if (type.empty()) type = src.text.substr(at + 1, start - at - 1);
            names.push_back(name);
        }
        if (!plain || type.find('*') != string::npos) continue;
        std::set<string> mine;
        for (size_t round = 0; round < names.size(); ++round)  // one may be computed from another
            for (const string& name : names)
                if (each_has_its_own(name, d, mine)) mine.insert(name);
        if (!mine.count(pair.name)) continue;
        string own, shared;
        for (const string& name : names) {
            string& list = mine.count(name) ? own : shared;
            list += (list.empty() ? "" : ", ") + name;
        }
        string others;
        if (!shared.empty()) others.append(" __shared__ ").append(type).append(shared).append(";");
        v = {
            text(
                "__shared__ makes it one variable for all threads, but each puts a value of its own there: in line "
                "%d write `%s%s;%s` for `%s`",
                src.line_at(i), type.c_str(), own.c_str(), others.c_str(), src.original(d.begin, d.end).c_str()),
            ""};
        return true;
    }
    return false;
}

// What `if (i < n && x > *best) *best = x` is as one atomic: "if (i < n) atomicMax(best, x)"; "" if it is none.
static string as_extremum(const string& condition, const string& set) {
    const string exchange = as_atomic(set, true), name = "atomicExch";
    const auto packed = [](string s) {
        std::erase_if(s, [](unsigned char c) { return isspace(c); });
        return s;
    };
    if (!exchange.starts_with(name) || condition.find("||") != string::npos) return "";
    const string all = packed(set), target = all.substr(0, all.find('=')), value = all.substr(target.size() + 1);
    string rest, atomic;
    for (size_t at = 0, next; at < condition.size(); at = next + 2) {
        next = std::min(condition.find("&&", at), condition.size());
        const size_t first = std::min(condition.find_first_not_of(" \n\t", at), next);
        const string part = condition.substr(first, condition.find_last_not_of(" \n\t", next - 1) + 1 - first);
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

string Scene::extremum(bool& both) const {
    const size_t head = std::min(src.text.rfind(f->parameters, f->body.begin), f->body.begin);
    const size_t declared = src.word(pair.name, head, f->body.end);
    if (src.has({"float", "double"}, src.text.find_last_of(",(;{", declared), declared))
        return "";  // there is no atomicMax() for them
    for (const auto& path : {pa, pb}) {
        const auto inner = std::find_if(path.rbegin(), path.rend(),
                                        [](const Statement* s) { return s->kind == Statement::branch; });
        if (inner == path.rend() || (*inner)->parts.size() != 1) continue;
        const Statement &branch = **inner, &held = branch.parts[0];
        const Statement& set = held.kind == Statement::block && held.parts.size() == 1 ? held.parts[0] : held;
        if (set.kind != Statement::simple || src.word(pair.name, set.begin, set.end) >= set.end) continue;
        const size_t end = src.text.find_last_not_of("; \n", set.end - 1) + 1;
        const string call =
            as_extremum(src.original(branch.head + 1, branch.head_end - 1), src.original(set.begin, end));
        if (call.empty()) continue;
        both = branch.holds(a) && branch.holds(b);
        const int first = src.line_at(branch.begin), last = src.line_at(branch.end - 1);
        if (first != last)
            return text("use an atomic: write `%s;` for the if of lines %d to %d", call.c_str(), first, last);
        return text("use an atomic: in line %d write `%s;` for `%s`", first, call.c_str(),
                    src.original(branch.begin, branch.end).c_str());
    }
    return "";
}

Advice Scene::advise_atomic(const std::vector<const Statement*>& path) const {
    const Statement& s = *path.back();
    const int line = src.line_at(s.begin);
    if (pair.adds && pair.a.number != pair.b.number)
        return {"use one atomic instead of what ",
                " do: atomicMax, atomicAdd, ... or a loop around atomicCAS",
                {pair.a.number, pair.b.number}};
    if (pair.race.bytes < 4)
        return {text("use an atomic in line %d: none has %zu bytes, so make the elements int first", line,
                     pair.race.bytes),
                ""};
    string t = s.kind == Statement::simple ? src.text.substr(s.begin, s.end - s.begin) : "";
    while (!t.empty() && strchr("; \n\r", t.back())) t.pop_back();
    const string call = as_atomic(t, !pair.adds);
    if (call.empty())
        return {text("use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS", line), ""};
    return {text("use an atomic: in line %d write `", line) + call + "` for `" + t + "`", ""};
}

// Who reads a word and then adds to it by an atomic gets what nobody else gets by the atomic alone.
Advice Scene::read_by_atomic(int line) const {
    const auto statement = [&](const std::vector<const Statement*>& path) {
        string t = src.original(path.back()->begin, path.back()->end);
        while (!t.empty() && strchr("; \n\r", t.back())) t.pop_back();
        return t;
    };
    const bool in_turn = pa.size() > 1 && pb.size() > 1 && pa[pa.size() - 2] == pb[pb.size() - 2];
    const string reads = statement(pa), adds = statement(pb);
    if (in_turn && src.line_at(a) == line && adds.starts_with("atomic"))
        for (const char* star : {"*", ""})
            if (const string read = star + pair.name; reads.ends_with("= " + read)) {
                const string target = reads.substr(0, reads.size() - read.size());
                return {
                    text("take the old value from the atomic: in line %d write `%s%s` for `%s`, and drop line %d",
                         line, target.c_str(), adds.c_str(), reads.c_str(), src.line_at(b)),
                    ""};
            }
    return {text("read it by an atomic in line %d: atomicAdd(&x, 0); others go on changing it, and its last "
                 "value is for the next kernel or the host to read",
                 line),
            ""};
}

Advice Scene::advise_blocks() const {
    const Party &x = pair.race.before, &y = pair.race.after;
    const int la = src.line_at(a), lb = src.line_at(b);
    if ((x.access ^ y.access) & atomic) {
        const Party& plain = x.access & atomic ? y : x;
        if (src.word("atomicCAS", pa.back()->begin, pa.back()->end) < pa.back()->end)
            return {text("atomicCAS in line %d does nothing if the word has changed since it was read: repeat it "
                         "until it returns what was read",
                         la),
                    ""};
        if (plain.access & writes)
            return {text("set it before the launch (cudaMemset), not in line %d: no barrier spans the blocks",
                         line_of(plain.site).number),
                    ""};
        return read_by_atomic(line_of(plain.site).number);
    }
    if (x.access & y.access & writes)
        return {text("check the index of line %d: two blocks write one element (should it hold blockIdx.x?); "
                     "if that is meant, let one block write, or use an atomic",
                     la),
                ""};
    if (a_writes && a != b) {
        const size_t ticket = first_atomic(a, b);
        if (ticket != string::npos) {
            const Statement& first = outermost(a, ticket);
            const size_t fence = src.first_of({"__threadfence", "__threadfence_system"}, a, ticket);
            if (fence == string::npos) return {"put __threadfence() after ", "", {src.line_at(first.end - 1)}};
            const auto path = Source::path(*f, fence), drawn = Source::path(*f, ticket);
            const bool by_all = who_comes(*f, path, path.size()) == who_comes(*f, pa, pa.size());
            // Within a branch that not all take who has written draws the ticket, too: no barrier is needed or
            // possible.
            const auto both = std::ranges::mismatch(pa, drawn).in1 - pa.begin();
            const bool alone = who_comes(*f, pa, both) != Source::everybody;
            if (!alone && !src.has({"__syncthreads"}, a, ticket))
                return {by_all ? "put __syncthreads() before " : "put __syncthreads() after ",
                        "",
                        {by_all ? src.line_at(outermost(ticket, a).begin) : src.line_at(first.end - 1)}};
            return {"put __threadfence() after ", "", {line_behind(ticket, b)}};
        }
        return {text("blocks cannot wait for each other: end the kernel behind line %d, and do line %d "
                     "in a second kernel",
                     la, lb),
                ""};
    }
    return {text("blocks cannot wait for each other: let line %d write into another array, or move it "
                 "into a second kernel",
                 a_writes ? la : lb),
            ""};
}

}  // namespace cudacpu::hazards
