// fences.cpp - advice where no barrier helps: locks, flags, scopes, atomics, what blocks do to each other, and
// variables that should not be __shared__.
#include <algorithm>
#include <regex>
#include <tuple>

#include "scene.hpp"

namespace cudacpu::hazards {

using std::string;

size_t Scene::first_atomic(size_t from, size_t to) const {
    for (size_t i = src.text.find("atomic", from); i < to; i = src.text.find("atomic", i + 1))
        if (src.text.find('(', i) < src.text.find_first_of(" ;", i)) return i;
    return string::npos;
}

std::set<int> Scene::narrow_lines() const {
    static const std::regex narrow(R"(\b(__threadfence|atomic\w+)_block\()");  // and no fold_block()
    std::set<int> lines;
    for (const Line* l : {&pair.a, &pair.b})
        if (std::regex_search(src.line(l->number), narrow)) lines.insert(l->number);
    const char* const body = src.text.data() + f->body.begin;
    for (std::cregex_iterator i(body, src.text.data() + f->body.end, narrow), none; i != none; ++i)
        lines.insert(src.line_at(f->body.begin + i->position()));
    return lines;
}

size_t Scene::else_behind(size_t take, size_t at) const {
    const Statement* branch = nullptr;
    for (const Statement* s : Source::path(*f, at)) {
        if (branch && s->kind == Statement::block) return s->begin;
        if (s->kind == Statement::branch && s->parts[0].holds(take) && !s->parts[0].holds(at)) branch = s;
    }
    return string::npos;
}

int Scene::line_behind(size_t take, size_t at) const {
    if (const size_t other = else_behind(take, at); other != string::npos) return src.line_at(other);
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

size_t Scene::taken_at(size_t atomic) const {
    const auto path = Source::path(*f, atomic);
    if (is_head(path, atomic)) return atomic;
    for (const Statement* s : path)
        if (s->kind == Statement::loop && s->end <= a) return atomic;
    size_t end = src.text.find_last_not_of("= ", atomic - 1) + 1, first = end;  // int was = atomicCAS(lock, 0, 1);
    while (first && in_word(src.text[first - 1])) --first;
    const string result = src.text.substr(first, end - first);
    for (const Statement* s : pa)
        if (const size_t i = src.word(result, s->head, s->head_end); s->begin > atomic && i < s->head_end) return i;
    return string::npos;
}

// In place of the plain write at `give`; "" for a volatile word, which no atomic takes, and which needs none.
string Scene::give_back(size_t give, bool behind_fence) const {
    const Function& g = *src.function_at(give);
    const Statement& s = *Source::path(g, give).back();
    const string plain = src.code_of(s);
    const string call = as_atomic(plain, true);
    const string lock = src.name_at(src.text.find_first_not_of("* ", s.begin));
    const size_t given = src.word(lock, src.head(g), g.body.begin);
    const size_t declared = given < g.body.begin ? given : src.word(lock, 0, src.text.size());
    if (!call.starts_with("atomicExch") || declared == string::npos ||
        src.has({"volatile"}, src.text.find_last_of(";{}(,", declared), declared))
        return "";
    return text("give the lock back by an atomic%s: in line %d write `%s%s` for `%s`",
                behind_fence ? "" : ", behind a fence", src.line_at(give), behind_fence ? "" : "__threadfence(); ",
                call.c_str(), plain.c_str());
}

// Behind what takes the lock: the loop that waits for it, an `if`, or a plain call.
size_t Scene::waited(size_t take, size_t at) const {
    const Statement& s = *Source::path(*f, take).back();
    return s.kind == Statement::branch || s.holds(at) ? s.head_end : s.end;
}

// Whether one is in an `if` and the other in its `else`.
static bool apart(const Function& f, size_t x, size_t y) {
    const auto px = Source::path(f, x), py = Source::path(f, y);
    const auto [i, j] = std::ranges::mismatch(px, py);
    return i != px.begin() && i[-1]->kind == Statement::branch && i != px.end() && j != py.end();
}

// Two accesses that each have the lock of their own time: each needs its fences.
Advice Scene::fences_of_both(const string& lock) const {
    Advice v{"put __threadfence() after ", "", {}};
    for (const size_t at : {a, b}) {
        size_t take = string::npos;
        for (const char* w : {"atomicCAS", "atomicExch"})
            for (size_t i = src.word(w, f->body.begin, at); i < at; i = src.word(w, i + 1, at))
                if (first_argument(i) == lock && is_head(Source::path(*f, i), i) &&
                    (take == string::npos || i > take))
                    take = i;
        const size_t give = src.word(lock, at, f->body.end);
        if (take == string::npos || give >= f->body.end || apart(*f, at, give)) return {};
        const size_t taken = waited(take, at);
        if (src.word(lock, taken, at) < at) return {};  // given back before
        if (!fenced(taken, at)) v.lines.insert(line_behind(take, at));
        if (!fenced(at, give)) v.lines.insert(src.line_at(outermost(at, give).end - 1));
    }
    return v;
}

size_t Scene::called_at(const Function& g, size_t from, size_t to) const {
    size_t at = src.word(g.name, from, to);
    while (at < to && src.text[at + g.name.size()] != '(') at = src.word(g.name, at + 1, to);
    return at;
}

string Scene::first_argument(size_t call) const {
    size_t at = src.text.find('(', call) + 1;
    while (strchr("&*( ", src.text[at])) ++at;
    const size_t cast = src.text.find(')', at);  // (int*)lock
    return src.name_at(cast < src.text.find(',', at) && isalpha(src.text[cast + 1]) ? cast + 1 : at);
}

bool Scene::sets(const Statement& s) const {
    const string code = src.code_of(s);
    return s.kind == Statement::simple &&
           (code.starts_with("*(volatile") || as_atomic(code, true).starts_with("atomicExch"));
}

size_t Scene::frees(const Function& g) const {
    for (const Statement& s : g.body.parts) {
        if (!sets(s)) continue;
        const auto callers = src.callers(s.begin);
        if (callers.size() < 2) continue;
        const auto [caller, place] = callers[1];
        const auto arguments = [&](size_t call) {
            const size_t open = src.text.find('(', call);
            return src.text.substr(open, closed(src.text, open) - open);
        };
        for (const Function& t : src.functions())
            if (const size_t call = called_at(t, caller->body.begin, place);
                call < place && src.lock_of(t) == Source::takes && arguments(call) == arguments(place))
                return s.begin;
    }
    return string::npos;
}

bool Scene::advise_lock(Advice& v) const {
    for (const Line* l : {&pair.a, &pair.b}) {  // the lock itself
        const size_t at = src.spot(l->number, pair.name);
        const Function* g = at == string::npos ? nullptr : src.function_at(at);
        const size_t write = g ? frees(*g) : string::npos;
        if (write == string::npos || src.line_at(write) != l->number) continue;
        const string back = give_back(write, fenced(g->body.begin, write));
        if (!back.empty()) v = {back, ""};
        return !back.empty();
    }
    size_t cas = string::npos, take = string::npos, give = string::npos, frees_at = string::npos;
    const Function *taker = nullptr, *giver = nullptr;  // functions of the program that take and give a lock
    for (const char* w : {"atomicCAS", "atomicExch", "atomicCAS_block", "atomicExch_block"})
        for (size_t i = src.word(w, f->body.begin, a); i < a; i = src.word(w, i + 1, a))
            if (const size_t at = taken_at(i); at != string::npos && (cas == string::npos || i > cas))
                cas = i, take = at;
    for (const Function& g : src.functions()) {
        const auto kind = &g == f ? Source::no_lock : src.lock_of(g);
        const size_t before = called_at(g, f->body.begin, a), behind = called_at(g, b, f->body.end);
        const bool called = &g != f && behind < f->body.end;
        const size_t plain = called && kind == Source::no_lock ? frees(g) : string::npos;
        if (kind == Source::takes && before < a && take == string::npos) take = before, taker = &g;
        if (called && (kind == Source::gives || plain != string::npos)) give = behind, giver = &g, frees_at = plain;
    }
    if (take == string::npos) return false;
    if (!taker) giver = nullptr;
    const bool taken = fenced(waited(take, a), a) || (taker && fenced(taker->body.begin, taker->body.end));
    const int behind = line_behind(take, a);
    string lock;
    if (!giver) {
        lock = first_argument(taker ? take : cas);
        give = frees_at = src.word(lock, b, f->body.end);
        if (src.word(lock, a, b) < b) {
            const Advice both = fences_of_both(lock);
            if (!both.lines.empty()) v = both;
            return !both.lines.empty();
        }
        if (give >= f->body.end) return false;
    }
    const size_t begin = giver ? giver->body.begin : b;
    if (const string back = frees_at == string::npos ? "" : give_back(frees_at, fenced(begin, frees_at));
        !back.empty()) {
        v = {back + (taken || pair.name == lock ? "" : text(", and put __threadfence() after line %d", behind)),
             ""};
        return true;
    }
    const size_t last = frees_at == string::npos && giver ? giver->body.end : frees_at;
    const bool freed = fenced(b, give) || (giver && fenced(giver->body.begin, last));
    if (taken && freed) return false;
    v = fences(!taken, behind, !freed, src.line_at(outermost(b, give).end - 1));
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
        if (s->end > reader || s->holds(writer) || apart(*f, s->begin, reader)) continue;
        for (size_t i = s->head; i < s->head_end; ++i) {  // a name that the writer uses behind its write
            const string name = src.name_at(i);
            size_t set = src.word(name, writer, f->body.end);
            while (set < f->body.end && apart(*f, writer, set)) set = src.word(name, set + 1, f->body.end);
            if (name.empty() || set >= f->body.end || s->holds(set) || src.text[i + name.size()] == '(' ||
                f->own.contains(name))
                continue;
            const size_t other = else_behind(writer, reader);
            const bool behind = fenced(other == string::npos ? s->end : other, reader),
                       before = fenced(writer, set);
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
    if (first >= end) return false;
    const auto path = Source::path(*f, first);
    const Statement& loop = *path.back();  // that all threads count with it
    if (loop.kind == Statement::loop && src.text.find_first_not_of(" (", loop.head) == first && loop.holds(last))
        return true;
    if (barrier_between(first, last)) return false;
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

Advice Scene::advise_atomic(const std::vector<const Statement*>& path) const {
    const Statement* inner = path.back();
    const int line = src.line_at(inner->begin);
    while (inner->kind != Statement::simple && inner->parts.size() == 1 &&
           src.line_at(inner->parts[0].begin) == line &&
           src.variable(pair.name, inner->head, inner->head_end) >= inner->head_end)
        inner = &inner->parts[0];
    const Statement& s = *inner;
    const size_t named = src.variable(pair.name, s.begin, s.end);
    const bool by_index = far == 2 && pair.race.before.rank == pair.race.after.rank && !pair.name.empty() &&
                          (named >= s.end || src.text[named + pair.name.size()] == '[');
    Advice index{"check the index of ",
                 ": two blocks use one element (should it hold blockIdx.x?); if that is meant, use an atomic, "
                 "or a loop around atomicCAS",
                 {pair.a.number, pair.b.number}};
    const size_t kernel = src.text.find_last_of(";}", src.head(*f)) + 1;
    const bool no_block = src.has({"__global__"}, kernel, f->body.begin) &&
                          !src.has({"blockIdx", "block_rank", "this_grid"}, f->body.begin, f->body.end);
    if (pair.adds && by_index && (pair.a.number != pair.b.number || no_block)) return index;
    if (trades()) return barrier();
    if (const string old = old_value(); pair.adds && !old.empty()) return {old, ""};
    if (pair.adds && pair.a.number != pair.b.number)
        return {"use one atomic instead of what ",
                " do: atomicMax, atomicAdd, ... or a loop around atomicCAS",
                {pair.a.number, pair.b.number}};
    if (pair.race.bytes < 4)
        return {text("use an atomic in line %d: none has %zu bytes, so make the elements int first", line,
                     pair.race.bytes),
                ""};
    const string t = s.kind == Statement::simple ? src.code_of(s) : "";
    const string call = as_atomic(t, !pair.adds);
    if (call.empty()) {
        const size_t end = s.kind == Statement::simple ? s.end : s.head_end;
        auto [step, atomic] = src.step_at(pair.name, s.kind == Statement::simple ? s.begin : s.head, end);
        if (step.empty() && pair.adds && named >= s.end) std::tie(step, atomic) = src.step_at("", s.begin, end);
        if (!step.empty())
            return {text("use an atomic: in line %d write `", line) + atomic + "` for `" + step + "`", ""};
        if (by_index) return index;
        return {text("use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS", line), ""};
    }
    return {text("use an atomic: in line %d write `", line) + call + "` for `" + t + "`", ""};
}

bool Scene::trades() const {
    if (far == 2 || pair.name.empty() || !goes_round()) return false;
    std::set<string> indices;
    const size_t end = src.text.find('\n', b);
    for (size_t i = src.variable(pair.name, src.text.rfind('\n', a), end); i < end;
         i = src.variable(pair.name, i + 1, end)) {
        const size_t open = i + pair.name.size();
        if (src.text[open] != '[') return false;
        const string index = text_between(open + 1, closed(src.text, open) - 1);
        if (index.find('[') != string::npos) return false;  // it comes from memory
        indices.insert(index);
    }
    return indices.size() > 1;
}

// Who reads a word and then adds to it by an atomic gets what nobody else gets by the atomic alone.
string Scene::old_value() const {
    const bool in_turn = pa.size() > 1 && pb.size() > 1 && pa[pa.size() - 2] == pb[pb.size() - 2];
    const string reads = src.code_of(*pa.back());  // int pos = *n
    string adds = src.code_of(*pb.back());
    const int read_at = src.line_at(a), add_at = src.line_at(b);
    const size_t sign = reads.rfind(" = ");
    if (!in_turn || sign == string::npos || src.line_at(pb.back()->begin) == read_at ||
        text_between(src.text.rfind('\n', pb.back()->begin), src.text.find('\n', b)) != adds + ";")
        return "";
    const string before = reads.substr(0, sign + 3), word = reads.substr(sign + 3),
                 own = reads.substr(0, sign).substr(reads.find_last_of(" *", sign - 1) + 1);
    if (const string sum = word + " = " + own + " + "; adds.starts_with(sum))  // *n = pos + 1
        adds = word + " += " + adds.substr(sum.size());
    if (!adds.starts_with("atomic")) adds = as_atomic(adds, false);
    if (adds.find("(" + (word[0] == '*' ? word.substr(1) : "&" + word) + ",") == string::npos) return "";
    return text("take the old value from the atomic: in line %d write `%s%s` for `%s`, and drop line %d", read_at,
                before.c_str(), adds.c_str(), reads.c_str(), add_at);
}

Advice Scene::read_by_atomic(int line) const {
    if (const string old = old_value(); src.line_at(a) == line && !old.empty()) return {old, ""};
    return {text("read it by an atomic in line %d: atomicAdd(&x, 0); others go on changing it, and its last "
                 "value is for the next kernel or the host to read",
                 line),
            ""};
}

Advice Scene::advise_blocks() const {
    const Party &x = pair.race.before, &y = pair.race.after;
    const int la = src.line_at(a), lb = src.line_at(b);
    const bool both_write = x.access & y.access & writes;
    const size_t ticket = a_writes && a != b ? first_atomic(a, b) : string::npos;
    if ((x.access ^ y.access) & atomic) {
        // What is set in one branch, and published behind a fence, those use who find it published.
        if (ticket != string::npos && fenced(a, ticket) && else_behind(ticket, b) != string::npos)
            for (size_t i = first_atomic(f->body.begin, a); i < a; i = first_atomic(i + 1, a))
                if (first_argument(i) == first_argument(ticket))
                    return {"put __threadfence() after ", "", {line_behind(ticket, b)}};
        const Party& plain = x.access & atomic ? y : x;
        const bool exchanged = src.has({"atomicCAS", "atomicExch"}, pa.back()->begin, a) ||
                               std::ranges::any_of(src.functions(), [&](const Function& g) {
                                   return g.name == src.name_at(a) && src.lock_of(g) == Source::takes;
                               });
        if (plain.access & writes && exchanged && line_of(plain.site).number == lb)
            if (const string back = give_back(b, fenced(a, b)); !back.empty()) return {back, ""};
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
    const auto dropped = [&] { return src.text.compare(Source::path(*f, ticket).back()->begin, 6, "atomic") == 0; };
    if (ticket != string::npos && !(both_write && dropped())) {  // whose result tells who comes last
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
    if (both_write)
        return {text("check the index of line %d: two blocks write one element (should it hold blockIdx.x?); "
                     "if that is meant, let one block write, or use an atomic",
                     la),
                ""};
    if (a_writes && a != b)
        return {text("blocks cannot wait for each other: end the kernel behind line %d, and do line %d "
                     "in a second kernel",
                     la, lb),
                ""};
    return {text("blocks cannot wait for each other: let line %d write into another array, or move it "
                 "into a second kernel",
                 a_writes ? la : lb),
            ""};
}

}  // namespace cudacpu::hazards
