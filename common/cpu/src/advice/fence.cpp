// fence.cpp - threads that hand data to each other by a lock, a flag, a ticket or a version, and what two blocks
// need.
#include <algorithm>
#include <cstring>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

namespace {

// Whether one is in an `if` and the other in its `else`.
bool concurrent(const Source& src, size_t x, size_t y) {
    const auto px = src.function_at(x)->path(x), py = src.function_at(x)->path(y);
    const auto [i, j] = std::ranges::mismatch(px, py);
    return i != px.begin() && i[-1]->kind == Statement::branch && i != px.end() && j != py.end();
}

const Statement& outermost(const Source& src, size_t at, size_t not_this) {  // contains one place and not the other
    const auto path = src.function_at(at)->path(at);
    const auto s = std::ranges::find_if(path, [&](const Statement* p) { return !p->holds(not_this); });
    return s == path.end() ? *path.back() : **s;
}

// The statements that may acquire something: a loop that only polls, a condition with an atomic, a statement that
// keeps an atomic's result for a later condition, and calls of functions that poll.
void acquiring(const Source& src, const Statement& s, Path& found, int depth = 0) {
    const size_t from = s.head ? s.head : s.begin, end = s.head ? s.head_end : s.end,
                 at = src.text.find("atomic", from);
    bool acquires = s.waits || (at < end && (s.head || src.text[src.text.find_last_not_of(" (", at - 1)] == '='));
    for (const Function& g : src.functions)
        if (!acquires && depth < 3 && s.kind == Statement::simple && !src.calls(g.name, from, end).empty()) {
            Path inside;
            acquiring(src, g.body, inside, depth + 1);
            acquires = std::ranges::any_of(inside, [](auto* loop) { return loop->kind == Statement::loop; });
        }
    if (s.kind != Statement::block && acquires) found.push_back(&s);
    for (const Statement& part : s.parts) acquiring(src, part, found, depth);
}

// The names of variables there, and in the functions that are called there.
std::vector<string> names_in(const Source& src, size_t from, size_t to, int depth = 0) {
    std::vector<string> names;
    for (size_t i = from; i < to; ++i) {
        const string name = src.name_at(i);
        if (!name.empty() && src.text[i + name.size()] != '(') names.push_back(name);
        for (const Function& g : src.functions)
            if (g.name == name && !name.empty() && src.text[i + name.size()] == '(' && !depth)
                std::ranges::copy(names_in(src, g.body.begin, g.body.end, 1), std::back_inserter(names));
    }
    return names;
}

// Where a function uses a name after a place, itself or in a function that it calls.
size_t next_use(const Source& src, const string& name, size_t from) {
    const Function& in = *src.function_at(from);
    size_t first = src.word(name, from, in.body.end);
    for (const Function& g : src.functions)
        if (&g != &in && src.has({name.c_str()}, g.body))
            for (const size_t call : src.calls(g.name, from, in.body.end)) first = std::min(first, call);
    return first;
}

bool fenced(const Conflict& c, size_t from, size_t to) {
    for (const char* name : {"__threadfence", "__threadfence_system", "__threadfence_block"})
        for (const size_t i : c.src.words(name, from, to))
            if ((c.far < 2 || !strstr(name, "block")) && !concurrent(c.src, i, to)) return true;
    return false;
}

// Whether a function that is called there has a fence after its first statement, or before its last one.
bool fenced_inside(const Conflict& c, size_t from, size_t to, bool after) {
    return std::ranges::any_of(c.src.functions, [&](const Function& g) {
        const auto& all = g.body.parts;
        return !all.empty() && !c.src.calls(g.name, from, to).empty() &&
               (after ? fenced(c, all.front().end, g.body.end) : fenced(c, g.body.begin, all.back().begin));
    });
}

// The line after which a fence precedes what is released at `give`, on the way from `at`.
int line_before(const Source& src, size_t give, size_t at) {
    const Statement *next = &outermost(src, give, at), *last = &outermost(src, at, give);
    for (const Statement* s : src.function_at(give)->path(give))
        for (const Statement& part : s->parts)
            if (part.begin > last->begin && part.end <= next->begin) last = &part;
    return src.line_at(last->end - 1);
}

// A reader repeats until a version is the same before and after it has read, and the writer steps the version
// before and after it writes. Each of the four needs a fence between it and the data.
Advice seqlock(const Source& src, size_t x, size_t y) {
    std::set<int> lines;
    // Whether the statements around the place use the name twice; adds the lines where a fence is missing.
    const auto add_unfenced = [&](const string& name, size_t at, size_t other, bool writes) {
        const Path path = src.function_at(at)->path(at);
        const auto loop =
            std::find_if(path.rbegin(), path.rend(), [](auto* s) { return s->kind == Statement::loop; });
        if (path.size() < 2 || (!writes && (loop == path.rend() || (*loop)->holds(other)))) return false;
        const auto& all =
            path.back()->asks(at) && loop == path.rbegin() ? (*loop)->parts[0].parts : path[path.size() - 2]->parts;
        std::vector<size_t> uses;
        for (size_t n = 0; n < all.size(); ++n) {
            const string code = src.code(all[n]);
            if (has_name(writes && !code.starts_with("atomic") ? assignment(code).target : code, name))
                uses.push_back(n);
        }
        if (!writes && src.has({name.c_str()}, (*loop)->head, (*loop)->head_end)) uses.push_back(all.size());
        if (uses.size() != 2 || uses[1] < uses[0] + 2) return false;
        for (const auto& [inside, line] : {std::pair(uses[0] + 1, uses[0]), std::pair(uses[1] - 1, uses[1] - 1)})
            if (!src.has({"__threadfence", "__threadfence_system"}, all[inside]))
                lines.insert(src.line_at(all[line].end - 1));
        return true;
    };
    for (const auto& [reader, writer] : {std::pair(x, y), std::pair(y, x)}) {
        const Function& g = *src.function_at(writer);
        for (const string& name : names_in(src, g.body.begin, g.body.end, 1)) {
            lines.clear();
            if (!g.own.contains(name) && add_unfenced(name, writer, reader, true) &&
                add_unfenced(name, reader, writer, false) && !lines.empty())
                return {"", {{say(put_after, "__threadfence()"), lines}}};
        }
    }
    return {};
}

// A thread that acquires needs a fence between that and the data, and one that releases a fence between the data
// and that. What is acquired and released is a word that both statements name.
// line_x, line_y: of the two accesses, which x and y make or call.
Advice handed(const Conflict& c, size_t x, size_t y, int line_x, int line_y) {
    const Source& src = c.src;
    Path all;
    acquiring(src, src.function_at(x)->body, all);
    if (src.function_at(x) != src.function_at(y)) acquiring(src, src.function_at(y)->body, all);
    if (const Statement* s = c.waited(); s && !c.one_atomic()) {  // a macro or a function hides it
        const size_t at = c.in_function(s->begin);
        for (const Statement* t : {s, at == string::npos ? s : c.f->path(at).back()})
            if (src.code(*t).find("atomic") == string::npos) all.push_back(t);
    }
    std::set<int> lines, joins;
    const auto only_reads = [&](size_t at) {
        const Accessor &p = c.pair.race.before, &q = c.pair.race.after;
        const bool first = race::line_of(p.site).number == (at == x ? line_x : line_y);
        const string target = assignment(src.code(*src.function_at(at)->path(at).back())).target;
        return line_x != line_y && !((first ? p : q).access & writes) && !c.pair.both_write &&
               (c.pair.name.empty() || !has_name(target, c.pair.name));
    };
    for (const auto& [writer, reader] : {std::pair(x, y), std::pair(y, x)}) {
        if (only_reads(writer)) continue;
        const Function &gives = *src.function_at(writer), &takes = *src.function_at(reader);
        const Statement* taken = nullptr;  // the last one before the reader
        size_t given = 0;
        for (const Statement* s : all) {
            const size_t from = s->head ? s->head : s->begin, end = s->head && !s->waits ? s->head_end : s->end;
            if (!takes.body.holds(s->begin) || end > reader || (taken && taken->begin > s->begin) ||
                s->asks(writer) || concurrent(src, s->begin, reader))
                continue;
            for (const string& name : names_in(src, from, s->head ? s->head_end : s->end)) {
                if (takes.own.contains(name) || has_name(src.code(*gives.path(writer).back()), name)) continue;
                size_t set = next_use(src, name, writer);
                while (set < gives.body.end && concurrent(src, writer, set)) set = next_use(src, name, set + 1);
                if (set >= gives.body.end || (c.far < 2 && set >= from && set < end)) continue;
                taken = s, given = set;
                break;
            }
        }
        if (!taken) continue;
        const size_t end = taken->holds(reader) || taken->kind == Statement::branch ? taken->head_end : taken->end;
        const bool joined = c.far == 2 && src.has({"__syncthreads"}, end, reader);
        if (!joined && !fenced(c, end, reader) && !fenced_inside(c, taken->begin, end, true))
            lines.insert(!taken->holds(reader)
                             ? src.line_at(outermost(src, taken->begin, reader).end - 1)
                             : src.line_at(taken->parts[0].kind == Statement::block ? taken->parts[0].begin
                                                                                    : taken->head_end));
        if (!fenced(c, writer, given) && !fenced_inside(c, given, given + 1, false))
            lines.insert(line_before(src, given, writer));
        const Statement& ticket = outermost(src, given, writer);  // one thread draws it for its block
        const Path to = gives.path(ticket.begin - 1);
        if (joined && taken->begin <= given && given < end && ticket.begin > writer &&
            !src.has({"__syncthreads"}, writer, given) && c.who_comes(gives, to, to.size()) == everybody)
            joins.insert(src.line_at(ticket.begin));
    }
    Advice v;
    if (!lines.empty()) v.edits.push_back({say(put_after, "__threadfence()"), lines});
    if (!joins.empty()) v.edits.push_back({say(put_before, "__syncthreads()"), joins});
    return v;
}

}  // namespace

const Statement* Conflict::waited() const {
    const Line& l = line_of(pair.race.waited);
    return pair.race.waited && Source::of(l.file) == &src ? src.statement_in(l.number, "") : nullptr;
}

// The two accesses may be in functions of their own.
Advice handover(const Conflict& c) {
    const int line_a = c.pair.a.number, line_b = c.pair.b.number;
    const size_t x = c.src.spot(line_a, c.pair.name), y = c.src.spot(line_b, c.pair.name);
    Advice v = seqlock(c.src, x, y);
    if (v.empty()) v = handed(c, c.a, c.b, c.line_a, c.line_b);
    if (v.empty() && c.src.function_at(x) != c.src.function_at(y)) v = handed(c, x, y, line_a, line_b);
    const Statement* const waited = c.waited();
    if (v.empty() && c.pair.race.lacks_fence && waited && waited->parts.empty() != waited->waits)  // the run tells
        return {"", {{say(put_after, "__threadfence()"), {c.src.line_at(waited->end - 1)}}}};
    return v;
}

Advice narrow_scope_rule(const Conflict& c) {
    static const std::regex narrow(R"(\b((__threadfence|atomic\w+)_block)\()");  // but not fold_block()
    Advice v{say(narrow_scope)};
    for (int line = 1; c.far == 2 && line < c.src.line_at(c.src.text.size()); ++line) {
        const string code = c.src.line(line);
        const Function* g = c.src.function_at(c.src.spot(line, ""));
        std::smatch m;
        if (std::regex_search(code, m, narrow) && (g == c.f || line == c.pair.a.number || line == c.pair.b.number ||
                                                   (g && (g->body.holds(c.src.spot(c.pair.a.number, "")) ||
                                                          g->body.holds(c.src.spot(c.pair.b.number, ""))))))
            v.edits.push_back(write(line, m[2], m[1]));
    }
    const Accessor &x = c.pair.race.before, &y = c.pair.race.after;
    if (v.edits.empty() && c.far == 2 && x.access & y.access & race::atomic && (x.access | y.access) & race::narrow)
        return {say(narrow_atomic, c.src.line_at(c.a))};
    return v.edits.empty() ? Advice() : v;
}

// The lock or the flag itself: `*flag = 1` becomes an atomic after a fence.
Advice plain_flag(const Conflict& c) {
    const Source& src = c.src;
    const Accessor &x = c.plain(), &y = &x == &c.pair.race.before ? c.pair.race.after : c.pair.race.before;
    const Statement *sx = src.statement_in(line_of(x.site).number, c.pair.name),
                    *sy = src.statement_in(line_of(y.site).number, c.pair.name);
    if (!sx || !sy) return {};
    const auto release = [&](const Statement& s) -> Edit {
        const string code = src.code(s), call = c.atomic(assignment(code), true);
        const Path path = src.function_at(s.begin)->path(s.begin);
        const bool has_fence = path.size() > 1 && fenced(c, path[path.size() - 2]->begin, s.begin);
        if (!call.starts_with("atomicExch")) return {};
        return write(src.line_at(s.begin), (has_fence ? "" : "__threadfence(); ") + call, code);
    };
    const string target = assignment(src.code(*sx)).target, name = target.substr(target.find_last_of("*.>") + 1);
    if (c.one_atomic() ? x.access & writes && src.has({"atomicCAS", "atomicExch"}, *sy) : sx == sy && !name.empty())
        for (const char* take : {"atomicCAS", "atomicExch"})
            for (const size_t i : src.words(take, 0, src.text.size()))
                if (const Edit e = release(*sx);
                    !e.words.empty() && has_name(src.code(i, closed(src.text, src.text.find('(', i))), name))
                    return {say(give_back), {e}};
    for (const auto& [wait, set] : {std::pair(sx, sy), std::pair(sy, sx)}) {
        const Edit e = wait->waits && !c.one_atomic() ? release(*set) : Edit();
        if (e.words.empty()) continue;
        const string head = src.condition(*wait), lock = assignment(src.code(*set)).target,
                     word = has_name(head, lock) ? lock : c.pair.name;
        const size_t cast = head.find("*(volatile"), end = head.find(word, cast);
        const string old = end < head.size() ? head.substr(cast, end + word.size() - cast) : word;
        return {say(flag_by_atomics), {write(src.line_at(wait->head), c.atomic({word, "+", "0"}, false), old), e}};
    }
    return {};
}

// ---- two blocks, which cannot wait for each other

Advice two_blocks_rule(const Conflict& c) {
    const int la = c.src.line_at(c.a), lb = c.src.line_at(c.b);
    if (c.far < 2) return {};
    if (c.one_atomic()) return {say(beside_atomics, line_of(c.plain().site).number)};
    if (launch->cooperative) return {say(whole_grid, la, lb)};
    if (c.both_write()) return {say(two_blocks, la)};
    const Accessor& writer = c.pair.race.before.access & writes ? c.pair.race.before : c.pair.race.after;
    const int set = line_of(writer.site).number;
    const size_t reader = c.src.spot((set == c.pair.a.number ? c.pair.b : c.pair.a).number, c.pair.name);
    Path waiting;
    if (const Function* f = c.src.function_at(reader)) acquiring(c.src, f->body, waiting);
    for (const Statement* s : waiting)
        if (s->waits && s->end <= reader) return {say(set_too_early, c.src.line_at(s->begin), set)};
    return set == la && !c.same() ? Advice{say(second_kernel, la, lb)} : Advice{say(other_array, set)};
}

}  // namespace cudacpu::race
