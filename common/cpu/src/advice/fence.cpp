// fence.cpp - threads that hand data to each other by a lock, a flag, a ticket or a version, and what two blocks
// need.
#include <algorithm>
#include <cstring>
#include <regex>

#include "advice/conflict.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

namespace {

// Whether one is in an `if` and the other in its `else`.
bool concurrent(const Source& src, size_t x, size_t y) {
    const auto px = src.function_at(x)->path(x), py = src.function_at(x)->path(y);
    const auto [i, j] = std::ranges::mismatch(px, py);
    return i != px.begin() && i[-1]->kind == Statement::branch && i != px.end() && j != py.end();
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
std::vector<string> names_in(const Source& src, size_t from, size_t to) {
    std::vector<string> names;
    for (size_t i = from; i < to; ++i) {
        const string name = src.name_at(i);
        if (name.empty()) continue;
        if (src.text[i + name.size()] != '(') names.push_back(name);
        else
            for (const Function& g : src.functions)
                for (size_t j = g.body.begin; g.name == name && j < g.body.end; ++j)
                    if (const string inner = src.name_at(j); !inner.empty() && src.text[j + inner.size()] != '(')
                        names.push_back(inner);
    }
    return names;
}

}  // namespace

bool Conflict::fenced(size_t from, size_t to) const {
    for (const char* name : {"__threadfence", "__threadfence_system", "__threadfence_block"})
        for (const size_t i : src.words(name, from, to))
            if ((far < 2 || !strstr(name, "block")) && !concurrent(src, i, to)) return true;
    return false;
}

// Whether a function that is called there has a fence after its first statement, or before its last one.
bool Conflict::fenced_inside(size_t from, size_t to, bool after) const {
    return std::ranges::any_of(src.functions, [&](const Function& g) {
        const auto& all = g.body.parts;
        return !all.empty() && !src.calls(g.name, from, to).empty() &&
               (after ? fenced(all.front().end, g.body.end) : fenced(g.body.begin, all.back().begin));
    });
}

// Where the function uses a name, itself or in a function that it calls.
size_t Conflict::next_use(const string& name, size_t from) const {
    const Function& in = *src.function_at(from);
    size_t first = src.word(name, from, in.body.end);
    for (const Function& g : src.functions)
        if (&g != &in && src.has({name.c_str()}, g.body))
            for (const size_t call : src.calls(g.name, from, in.body.end)) first = std::min(first, call);
    return first;
}

// The line after which a fence follows what is acquired in the statement, on the way to `at`.
int Conflict::line_after(const Statement& s, size_t at) const {
    const Statement& whole = outermost(s.begin, at);
    if (!s.holds(at)) return src.line_at(whole.end - 1);
    return src.line_at(s.parts[0].kind == Statement::block ? s.parts[0].begin : s.head_end);
}

// The line after which a fence precedes what is released at `give`, on the way from `at`.
int Conflict::line_before(size_t give, size_t at) const {
    const Statement *next = &outermost(give, at), *last = &outermost(at, give);
    for (const Statement* s : src.function_at(give)->path(give))
        for (const Statement& part : s->parts)
            if (part.begin > last->begin && part.end <= next->begin) last = &part;
    return src.line_at(last->end - 1);
}

Advice narrow_scope_rule(const Conflict& c) {
    static const std::regex narrow(R"(\b((__threadfence|atomic\w+)_block)\()");  // but not fold_block()
    std::set<int> lines{c.pair.a.number, c.pair.b.number};
    for (const Function* f : {c.f, c.src.function_at(c.src.spot(c.pair.a.number, "")),
                              c.src.function_at(c.src.spot(c.pair.b.number, ""))})
        for (int line = f ? c.src.line_at(f->body.begin) : 1; f && line <= c.src.line_at(f->body.end - 1); ++line)
            lines.insert(line);
    Advice v{say(narrow_scope)};
    for (const int line : lines) {
        const string code = c.src.line(line);
        std::smatch m;
        if (c.far == 2 && std::regex_search(code, m, narrow)) v.edits.push_back(write(line, m[2], m[1]));
    }
    return v.edits.empty() ? Advice() : v;
}

// ---- a lock, a flag, a ticket

// A thread that acquires needs a fence between that and the data, and one that releases a fence between the data
// and that. What is acquired and released is a word that both statements name.
static Advice handed(const Conflict& c, size_t x, size_t y) {
    const Source& src = c.src;
    Path all;
    acquiring(src, src.function_at(x)->body, all);
    if (src.function_at(x) != src.function_at(y)) acquiring(src, src.function_at(y)->body, all);
    const Line& l = line_of(c.pair.race.waited);
    if (c.pair.race.waited && Source::of(l.file) == &src && !c.one_atomic())  // a macro hides it
        if (const size_t at = c.in_function(src.spot(l.number, "")); at != string::npos)
            if (const Statement& s = *c.f->path(at).back(); src.code(s).find("atomic") == string::npos)
                all.push_back(&s);
    std::set<int> lines, joins;
    for (const auto& [writer, reader] : {std::pair(x, y), std::pair(y, x)}) {
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
                size_t set = c.next_use(name, writer);
                while (set < gives.body.end && concurrent(src, writer, set)) set = c.next_use(name, set + 1);
                if (set >= gives.body.end || (c.far < 2 && set >= from && set < end)) continue;
                taken = s, given = set;
                break;
            }
        }
        if (!taken) continue;
        const size_t end = taken->holds(reader) || taken->kind == Statement::branch ? taken->head_end : taken->end;
        const bool joined = c.far == 2 && src.has({"__syncthreads"}, end, reader);
        if (!joined && !c.fenced(end, reader) && !c.fenced_inside(taken->begin, end, true))
            lines.insert(c.line_after(*taken, reader));
        if (!c.fenced(writer, given) && !c.fenced_inside(given, given + 1, false))
            lines.insert(c.line_before(given, writer));
        const Path path = gives.path(given);  // one thread draws a ticket for all
        const bool drawn = &gives == c.f && taken->begin <= given && given < end && joined &&
                           !src.has({"__syncthreads"}, writer, given);
        const auto both = size_t(std::ranges::mismatch(gives.path(writer), path).in2 - path.begin());
        if (drawn && both < path.size() && c.all_come(path, both) && !c.all_come(path, path.size()) &&
            path[both]->begin > writer)
            joins.insert(src.line_at(path[both]->begin));
    }
    Advice v;
    if (!lines.empty()) v.edits.push_back({say(put_after, "__threadfence()"), lines});
    if (!joins.empty()) v.edits.push_back({say(put_before, "__syncthreads()"), joins});
    return v;
}

// The two accesses may be in functions of their own.
Advice handover(const Conflict& c) {
    const size_t x = c.src.spot(c.pair.a.number, c.pair.name), y = c.src.spot(c.pair.b.number, c.pair.name);
    const Advice v = handed(c, c.a, c.b);
    return v.empty() && c.src.function_at(x) != c.src.function_at(y) ? handed(c, x, y) : v;
}

// The lock or the flag itself.
Advice plain_flag(const Conflict& c) {
    const Accessor &x = c.plain(), &y = &x == &c.pair.race.before ? c.pair.race.after : c.pair.race.before;
    const auto statement_at = [&](const Accessor& p) -> const Statement* {
        const size_t at = c.src.spot(line_of(p.site).number, c.pair.name);
        const Function* g = at == string::npos ? nullptr : c.src.function_at(at);
        return g ? g->path(at).back() : nullptr;
    };
    const Statement *sx = statement_at(x), *sy = statement_at(y);
    if (!sx || !sy) return {};
    const auto release = [&](const Statement& s) -> Edit {
        const string code = c.src.code(s), call = c.atomic(assignment(code), true);
        const Function& g = *c.src.function_at(s.begin);
        const Path path = g.path(s.begin);
        const bool fenced = path.size() > 1 && c.fenced(path[path.size() - 2]->begin, s.begin);
        return call.starts_with("atomicExch")
                   ? write(c.src.line_at(s.begin), (fenced ? "" : "__threadfence(); ") + call, code)
                   : Edit();
    };
    if (c.one_atomic()) {
        if (!(x.access & writes) || !c.src.has({"atomicCAS", "atomicExch"}, *sy)) return {};
        const Edit e = release(*sx);
        return e.words.empty() ? Advice() : Advice{say(give_back), {e}};
    }
    const string target = assignment(c.src.code(*sx)).target, name = target.substr(target.find_last_of("*.>") + 1);
    for (const char* take : {"atomicCAS", "atomicExch"})
        for (const size_t i : c.src.words(take, 0, sx == sy && !name.empty() ? c.src.text.size() : 0))
            if (const Edit e = has_name(c.src.code(i, closed(c.src.text, c.src.text.find('(', i))), name)
                                   ? release(*sx)
                                   : Edit();
                !e.words.empty())
                return {say(give_back), {e}};
    for (const auto& [wait, set] : {std::pair(sx, sy), std::pair(sy, sx)}) {
        const Edit e = wait->waits ? release(*set) : Edit();
        if (e.words.empty()) continue;
        const string head = c.src.condition(*wait), lock = assignment(c.src.code(*set)).target;
        const string word = has_name(head, lock) ? lock : c.pair.name;
        const size_t cast = head.find("*(volatile"), end = head.find(word, cast);
        const string old = end < head.size() ? head.substr(cast, end + word.size() - cast) : word;
        return {say(flag_by_atomics),
                {write(c.src.line_at(wait->head), c.atomic({word, "+", "0"}, false), old), e}};
    }
    return {};
}

// ---- a seqlock

// A reader repeats until a version number is the same before and after it has read. The writer steps the version
// before and after it writes. Each of the four needs a fence between it and the data.
Advice seqlock_rule(const Conflict& c) {
    const Source& src = c.src;
    const size_t x = src.spot(c.pair.a.number, c.pair.name), y = src.spot(c.pair.b.number, c.pair.name);
    std::set<int> lines;
    // Whether the statements around the place use the name twice; the lines where a fence is missing between the
    // two.
    const auto add_unfenced = [&](const string& name, size_t at, size_t other, bool writes) {
        const Path path = src.function_at(at)->path(at);
        const auto loop =
            std::find_if(path.rbegin(), path.rend(), [](auto* s) { return s->kind == Statement::loop; });
        if (path.size() < 2 || (!writes && (loop == path.rend() || (*loop)->holds(other)))) return false;
        const std::vector<Statement>& all =
            path.back()->asks(at) && loop == path.rbegin() ? (*loop)->parts[0].parts : path[path.size() - 2]->parts;
        std::vector<size_t> uses;
        for (size_t n = 0; n < all.size(); ++n)
            if (const string code = src.code(all[n]); writes
                                                          ? has_name(assignment(code).target, name) ||
                                                                (code.starts_with("atomic") && has_name(code, name))
                                                          : has_name(code, name))
                uses.push_back(n);
        if (!writes && src.word(name, (*loop)->head, (*loop)->head_end) < (*loop)->head_end)
            uses.push_back(all.size());
        if (uses.size() != 2 || uses[1] < uses[0] + 2) return false;
        for (const auto& [inside, line] : {std::pair(uses[0] + 1, uses[0]), std::pair(uses[1] - 1, uses[1] - 1)})
            if (!src.has({"__threadfence", "__threadfence_system"}, all[inside]))
                lines.insert(src.line_at(all[line].end - 1));
        return true;
    };
    for (const auto& [reader, writer] : {std::pair(x, y), std::pair(y, x)}) {
        const Function& g = *src.function_at(writer);
        for (const string& name : names_in(src, g.body.begin, g.body.end)) {
            lines.clear();
            if (!g.own.contains(name) && add_unfenced(name, writer, reader, true) &&
                add_unfenced(name, reader, writer, false) && !lines.empty())
                return {"", {{say(put_after, "__threadfence()"), lines}}};
        }
    }
    return {};
}

// ---- two blocks, which cannot wait for each other

Advice two_blocks_rule(const Conflict& c) {
    const int la = c.src.line_at(c.a), lb = c.src.line_at(c.b), plain = line_of(c.plain().site).number;
    if (c.far < 2 || (!c.one_atomic() && !c.grid_sync().empty())) return {};
    if (c.one_atomic())
        return c.plain().access & writes ? Advice{say(set_before, plain)} : c.read_atomically(plain);
    if (c.both_write()) return {say(two_blocks, la)};
    if (c.pa.back() == c.pb.back()) return {say(other_array, c.a_writes ? la : lb)};
    return c.a_writes && c.a != c.b ? Advice{say(second_kernel, la, lb)} : Advice{say(other_array, lb)};
}

}  // namespace cudacpu::race
