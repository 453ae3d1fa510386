// fence.cpp - threads that hand data to each other by a lock, a flag or a ticket, and what two blocks need.
#include <algorithm>
#include <regex>

#include "advice/conflict.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

namespace {

enum Lock { no_lock, takes, gives };
Lock lock_of(const Source& src, const Function& f) {  // waits for an atomic, or only executes one
    const size_t at = src.first_of({"atomicCAS", "atomicExch"}, f.body.begin, f.body.end);
    if (at == string::npos) return no_lock;
    return std::ranges::any_of(f.path(at), [](auto* s) { return s->kind == Statement::loop; }) ? takes : gives;
}

void waiting_loops(const Statement& s, Path& found) {  // loops that only poll
    if (s.waits) found.push_back(&s);
    for (const Statement& part : s.parts) waiting_loops(part, found);
}

// Whether one is in an `if` and the other in its `else`.
bool concurrent(const Function& f, size_t x, size_t y) {
    const auto px = f.path(x), py = f.path(y);
    const auto [i, j] = std::ranges::mismatch(px, py);
    return i != px.begin() && i[-1]->kind == Statement::branch && i != px.end() && j != py.end();
}

string arguments(const Source& src, size_t call) {
    const size_t open = src.text.find('(', call);
    return src.cut(open, closed(src.text, open));
}

// Where a function releases, by a plain write, the lock that another has acquired, if it is called with the same
// arguments; npos if nowhere.
size_t frees(const Source& src, const Function& g) {
    for (const Statement& s : g.body.parts) {
        const string code = src.code(s);
        if (s.kind != Statement::simple ||
            !(code.starts_with("*(volatile") || as_atomic(code, true).starts_with("atomicExch")))
            continue;
        const auto callers = src.callers(s.begin);
        if (callers.size() < 2) continue;
        const auto [caller, place] = callers[1];
        for (const Function& t : src.functions)
            for (const size_t call : src.calls(t.name, caller->body.begin, place))
                if (lock_of(src, t) == takes && arguments(src, call) == arguments(src, place)) return s.begin;
    }
    return string::npos;
}

}  // namespace

bool Conflict::fenced(size_t from, size_t to) const {
    return src.has({"__threadfence", "__threadfence_system"}, from, to) ||
           (far < 2 && src.has({"__threadfence_block"}, from, to));
}

size_t Conflict::first_atomic(size_t from, size_t to) const {
    for (size_t i = src.text.find("atomic", from); i < to; i = src.text.find("atomic", i + 1))
        if (src.text.find('(', i) < src.text.find_first_of(" ;", i)) return i;
    return string::npos;
}

string Conflict::first_argument(size_t call) const {
    size_t at = src.text.find('(', call) + 1;
    while (strchr("&*( ", src.text[at])) ++at;
    const size_t cast = src.text.find(')', at);  // (int*)lock
    if (cast < src.text.find(',', at) && isalpha(src.text[cast + 1])) at = cast + 1;
    return src.name_at(src.last_member(at).first);
}

size_t Conflict::else_behind(size_t take, size_t at) const {
    const Statement* branch = nullptr;
    for (const Statement* s : f->path(at)) {
        if (branch && s->kind == Statement::block) return s->begin;
        if (s->kind == Statement::branch && s->parts[0].holds(take) && !s->parts[0].holds(at)) branch = s;
    }
    return string::npos;
}

int Conflict::line_behind(size_t take, size_t at) const {
    if (const size_t other = else_behind(take, at); other != string::npos) return src.line_at(other);
    const Statement& s = outermost(take, at);
    if (!s.holds(at) && s.holds(take)) return src.line_at(s.end - 1);
    const Statement& holder = *f->path(take).back();
    const bool braces = !holder.parts.empty() && holder.parts[0].kind == Statement::block;
    return src.line_at(braces ? holder.parts[0].begin : holder.head_end);
}

int Conflict::line_before(size_t give, size_t at) const {
    const Statement *next = &outermost(give, at), *last = &outermost(at, give);
    for (const Statement* s : f->path(give))
        for (const Statement& part : s->parts)
            if (part.begin > last->begin && part.end <= next->begin) last = &part;
    return src.line_at(last->end - 1);
}

Advice Conflict::fences(bool behind_take, int take, bool before_give, int give) const {
    Advice v{"", {{say(put_after, "__threadfence()")}}};
    if (behind_take) v.edits[0].lines.insert(take);
    if (before_give) v.edits[0].lines.insert(give);
    return v;
}

// The atomic that replaces the plain write at `give`. None for a volatile word: atomics do not accept it, and it
// needs none.
Advice Conflict::give_back(size_t give, bool behind_fence) const {
    const Function& g = *src.function_at(give);
    const Statement& s = *g.path(give).back();
    const string plain_write = src.code(s), call = as_atomic(plain_write, true);
    const string name = src.name_at(src.text.find_first_not_of("* ", s.begin));
    const size_t given = src.word(name, g.head, g.body.begin);
    const size_t declared = given < g.body.begin ? given : src.word(name, 0, src.text.size());
    if (!call.starts_with("atomicExch") || declared == string::npos ||
        src.has({"volatile"}, src.text.find_last_of(";{}(,", declared), declared))
        return {};
    return {say(behind_fence ? cudacpu::race::give_back : give_back_fenced),
            {write(src.line_at(give), (behind_fence ? "" : "__threadfence(); ") + call, plain_write)}};
}

Advice narrow_scope_rule(const Conflict& c) {
    static const std::regex narrow(R"(\b(__threadfence|atomic\w+)_block\()");  // but not fold_block()
    std::set<int> lines;
    const auto look = [&](int line) {
        if (std::regex_search(c.src.line(line), narrow)) lines.insert(line);
    };
    look(c.pair.a.number), look(c.pair.b.number);
    for (int line = c.src.line_at(c.f->body.begin); line <= c.src.line_at(c.f->body.end - 1); ++line) look(line);
    return c.far < 2 || lines.empty() ? Advice() : Advice{"", {{say(narrow_scope), lines}}};
}

// ---- a lock

// The acquisition of a lock, a place in the text: an atomic in a loop or a condition, or a call of a function that
// waits for one.
static size_t taken_at(const Conflict& c, size_t call) {
    const auto path = c.f->path(call);
    if (path.back()->asks(call)) return call;
    for (const Statement* s : path)
        if (s->kind == Statement::loop && s->end <= c.a) return call;
    size_t end = c.src.text.find_last_not_of("= ", call - 1) + 1, first = end;  // int was = atomicCAS(lock, 0, 1);
    while (first && in_word(c.src.text[first - 1])) --first;
    for (const Statement* s : c.pa)  // where its result is tested
        if (const size_t i = c.src.word(c.src.cut(first, end), s->head, s->head_end);
            s->begin > call && i < s->head_end)
            return i;
    return string::npos;
}

// Where the data are accessed after the lock is taken: after the loop that waits for it, the `if`, or the call.
static size_t waited(const Conflict& c, size_t take, size_t at) {
    const Statement& s = *c.f->path(take).back();
    return s.kind == Statement::branch || s.holds(at) ? s.head_end : s.end;
}

// For two accesses under different acquisitions of a lock: each needs its own fences.
static Advice fences_of_both(const Conflict& c, const string& name) {
    Advice v = c.fences(false, 0, false, 0);
    for (const size_t at : {c.a, c.b}) {
        size_t take = 0;
        for (const char* w : {"atomicCAS", "atomicExch"})
            for (const size_t i : c.src.words(w, c.f->body.begin, at))
                if (c.first_argument(i) == name && c.f->path(i).back()->asks(i)) take = std::max(take, i);
        const size_t give = c.src.word(name, at, c.f->body.end);
        if (!take || give >= c.f->body.end || concurrent(*c.f, at, give)) return {};
        const size_t taken = waited(c, take, at);
        if (c.src.word(name, taken, at) < at) return {};  // released before
        if (!c.fenced(taken, at)) v.edits[0].lines.insert(c.line_behind(take, at));
        if (!c.fenced(at, give)) v.edits[0].lines.insert(c.line_before(give, at));
    }
    return v.edits[0].lines.empty() ? Advice() : v;
}

// An acquisition of a lock needs a fence after it, and its release needs a fence before it.
Advice lock(const Conflict& c) {
    const Source& src = c.src;
    const Function& f = *c.f;
    for (const Line* l : {&c.pair.a, &c.pair.b}) {  // the lock itself
        const size_t at = src.spot(l->number, c.pair.name);
        const Function* g = at == string::npos ? nullptr : src.function_at(at);
        if (const size_t free = g ? frees(src, *g) : string::npos;
            free != string::npos && src.line_at(free) == l->number)
            return c.give_back(free, c.fenced(g->body.begin, free));
    }
    size_t cas = 0, take = string::npos, give = string::npos, free = string::npos;
    const Function *taker = nullptr, *giver = nullptr;  // functions of the program that acquire and release a lock
    for (const char* w : {"atomicCAS", "atomicExch", "atomicCAS_block", "atomicExch_block"})
        for (const size_t i : src.words(w, f.body.begin, c.a))
            if (const size_t at = taken_at(c, i); at != string::npos && i > cas) cas = i, take = at;
    for (const Function& g : src.functions) {
        if (&g == &f) continue;
        const Lock kind = lock_of(src, g);
        const auto before = src.calls(g.name, f.body.begin, c.a), after = src.calls(g.name, c.b, f.body.end);
        if (kind == takes && !before.empty() && take == string::npos) take = before[0], taker = &g;
        const size_t plain = after.empty() || kind != no_lock ? string::npos : frees(src, g);
        if (!after.empty() && (kind == gives || plain != string::npos)) give = after[0], giver = &g, free = plain;
    }
    if (take == string::npos) return {};
    if (!taker) giver = nullptr;
    const bool taken =
        c.fenced(waited(c, take, c.a), c.a) || (taker && c.fenced(taker->body.begin, taker->body.end));
    const int after_take = c.line_behind(take, c.a);
    string name;
    if (!giver) {
        name = c.first_argument(taker ? take : cas);
        give = free = src.word(name, c.b, f.body.end);
        if (src.word(name, c.a, c.b) < c.b) return fences_of_both(c, name);
        if (give >= f.body.end) return {};
    }
    const size_t begin = giver ? giver->body.begin : c.b;
    if (Advice back = free == string::npos ? Advice() : c.give_back(free, c.fenced(begin, free)); !back.empty()) {
        if (!taken && c.pair.name != name) back.add({say(put_after, "__threadfence()"), {after_take}});
        return back;
    }
    const bool freed = c.fenced(c.b, give) ||
                       (giver && c.fenced(giver->body.begin, free == string::npos ? giver->body.end : free));
    if (taken && freed) return {};
    return c.fences(!taken, after_take, !freed, c.line_before(give, c.b));
}

// ---- a flag

// Waiting for a flag needs a fence after it, and setting the flag a fence before it. A wait is a loop that only
// polls, or the line where the reader last did an atomic or read a volatile word, as in a macro or a function that
// hides the loop.
Advice flag_rule(const Conflict& c) {
    const Source& src = c.src;
    const size_t writer = c.a_writes ? c.a : c.b, reader = c.a_writes ? c.b : c.a;
    Path all;
    waiting_loops(c.f->body, all);
    for (const Statement* s : all)
        for (const auto& [look, set] : {std::pair(c.a, c.b), std::pair(c.b, c.a)})
            if (s->asks(look)) return {say(flag_by_atomics, src.line_at(look), src.line_at(set))};
    if (const Line& l = line_of(c.pair.race.waited); c.pair.race.waited && Source::of(l.file) == &src)
        if (const size_t at = c.in_function(src.spot(l.number, "")); at != string::npos && !c.one_atomic())
            all.push_back(c.f->path(at).back());
    for (const Statement* s : all) {
        if (s->end > reader || s->holds(writer) || concurrent(*c.f, s->begin, reader)) continue;
        for (size_t i = s->begin; i < (s->head_end ? s->head_end : s->end);
             ++i) {  // that the writer uses after its write
            const string name = src.name_at(i);
            size_t set = src.word(name, writer, c.f->body.end);
            while (set < c.f->body.end && concurrent(*c.f, writer, set))
                set = src.word(name, set + 1, c.f->body.end);
            if (name.empty() || set >= c.f->body.end || s->holds(set) || src.text[i + name.size()] == '(' ||
                c.f->own.contains(name) || has_name(src.code(*c.f->path(writer).back()), name))
                continue;
            const size_t other = c.else_behind(writer, reader);
            const bool after = c.fenced(other == string::npos ? s->end : other, reader),
                       before = c.fenced(writer, set);
            if (after && before) continue;
            const size_t waits_until = s->waits || other == string::npos ? s->end - 1 : other;
            return c.fences(!after, src.line_at(waits_until), !before, c.line_before(set, writer));
        }
    }
    return {};
}

// ---- a seqlock

// A reader repeats until a version number is the same before and after it has read. The writer steps the version
// before and after it writes. Each of the four needs a fence between it and the data.
Advice seqlock_rule(const Conflict& c) {
    const Source& src = c.src;
    const auto ends_without_fence = [&](const std::vector<Statement>& all, size_t from, size_t to) {
        const auto fence = [&](size_t i) { return src.has({"__threadfence", "__threadfence_system"}, all[i]); };
        std::set<int> lines;
        if (from + 1 < to && !fence(from + 1)) lines.insert(src.line_at(all[from].end - 1));
        if (from + 1 < to && !fence(to - 1)) lines.insert(src.line_at(all[to - 1].end - 1));
        return lines;
    };
    for (const auto& [reader, writer] : {std::pair(c.a, c.b), std::pair(c.b, c.a)})
        for (const Statement* loop : c.f->path(reader)) {
            if (loop->kind != Statement::loop || loop->holds(writer) || loop->head < loop->parts[0].begin) continue;
            const auto uses = [&](const string& name, const std::vector<Statement>& all) {
                std::vector<size_t> found;
                for (size_t i = 0; i < all.size(); ++i)
                    if (src.variable(name, all[i].begin, all[i].end) < all[i].end) found.push_back(i);
                return found;
            };
            const Path path = c.f->path(writer);
            const std::vector<Statement>&body = loop->parts[0].parts, &steps = path[path.size() - 2]->parts;
            for (size_t i = loop->head; i < loop->head_end; ++i) {
                const string version = src.name_at(i);
                const auto read = uses(version, body), stepped = uses(version, steps);
                if (version.empty() || read.size() != 1 || stepped.size() != 2) continue;
                std::set<int> lines = ends_without_fence(body, read[0], body.size());
                lines.merge(ends_without_fence(steps, stepped[0], stepped[1]));
                if (!lines.empty()) return {"", {{say(put_after, "__threadfence()"), lines}}};
            }
        }
    return {};
}

// ---- two blocks, which cannot wait for each other

Advice two_blocks_rule(const Conflict& c) {
    const Source& src = c.src;
    const size_t a = c.a, b = c.b;
    const int la = src.line_at(a), lb = src.line_at(b);
    const size_t ticket = c.a_writes && a != b ? c.first_atomic(a, b) : string::npos;
    if (c.one_atomic()) {
        // Data that are set in a branch and published after a fence are used by the threads that find them
        // published.
        if (ticket != string::npos && c.fenced(a, ticket) && c.else_behind(ticket, b) != string::npos)
            for (size_t i = c.first_atomic(c.f->body.begin, a); i < a; i = c.first_atomic(i + 1, a))
                if (c.first_argument(i) == c.first_argument(ticket))
                    return c.fences(true, c.line_behind(ticket, b), false, 0);
        const int line = line_of(c.plain().site).number;
        const bool plain_writes = c.plain().access & writes,
                   exchanged = src.has({"atomicCAS", "atomicExch"}, c.pa.back()->begin, a) ||
                               std::ranges::any_of(src.functions, [&](const Function&g) {
                                   return g.name == src.name_at(a) && lock_of(src, g) == takes;
                               });
        if (plain_writes && exchanged && line == lb)
            if (const Advice back = c.give_back(b, c.fenced(a, b)); !back.empty()) return back;
        return plain_writes ? Advice{say(set_before, line)} : c.read_atomically(line);
    }
    const auto dropped = [&] { return src.text.compare(c.f->path(ticket).back()->begin, 6, "atomic") == 0; };
    if (ticket != string::npos && !(c.both_write() && dropped())) {  // whose result tells which thread comes last
        const Statement& first = c.outermost(a, ticket);
        const size_t fence = src.first_of({"__threadfence", "__threadfence_system"}, a, ticket);
        if (fence == string::npos)
            return c.fences(true, src.line_at(first.end - 1),
                            !src.has({"__syncthreads"}, ticket, b) && !c.fenced(ticket, b),
                            c.line_behind(ticket, b));
        const auto path = c.f->path(fence), drawn = c.f->path(ticket);
        const bool by_all = c.who_comes(*c.f, path, path.size()) == c.who_comes(*c.f, c.pa, c.pa.size());
        // In a branch that not all threads enter, the writing thread also draws the ticket, so a barrier is neither
        // needed nor possible.
        const auto both = std::ranges::mismatch(c.pa, drawn).in1 - c.pa.begin();
        if (!c.all_come(c.pa, both) || src.has({"__syncthreads"}, a, ticket))
            return c.fences(true, c.line_behind(ticket, b), false, 0);
        const int line = by_all ? src.line_at(c.outermost(ticket, a).begin) : src.line_at(first.end - 1);
        return {"", {{say(by_all ? put_before : put_after, "__syncthreads()"), {line}}}};
    }
    if (c.both_write()) return {say(two_blocks, la)};
    if (c.pa.back() == c.pb.back()) return {say(other_array, c.a_writes ? la : lb)};
    return c.a_writes && a != b ? Advice{say(second_kernel, la, lb)} : Advice{say(other_array_or_kernel, lb)};
}

}  // namespace cudacpu::race
