// advice.cpp - words what the race detector has found, and advises how to mend it.
//
// The advice follows from the two threads (same warp, same block or two blocks), from the last barrier that they
// passed, and from the text. A barrier goes between the two lines, or after the second if a loop leads back to the
// first. It is never put where some threads do not arrive.
#include <algorithm>
#include <array>
#include <regex>

#include "advice/scene.hpp"
#include "advice/structure.hpp"
#include "engine/launch.hpp"
#include "engine/text.hpp"
#include "race/race.hpp"
#include "report/race_report.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

using std::string;

namespace {

bool same_file(const string& a, const string& b) {
    const string &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
    return longer == shorter || longer.ends_with("/" + shorter);
}

}  // namespace

size_t Scene::in_function(size_t at) const {
    for (const auto& [g, place] : src.callers(at))
        if (g == f) return place;
    return string::npos;
}

Who Scene::who_comes(const Function& g, const Path& path, size_t n, int depth) const {
    Who who = everybody;
    for (size_t i = 0; i < n && i < path.size(); ++i)
        if ((path[i]->kind == Statement::branch || path[i]->kind == Statement::loop) &&
            !src.holds_barrier(*path[i])) {
            who = std::max(who, path[i]->enters);
            if (path[i]->kind == Statement::loop) who = std::max(who, path[i]->leaves);
        }
    for (const size_t call : src.calls(g.name, 0, depth < 3 ? src.text.size() : 0))
        if (const Function* h = src.function_at(call); h && h != &g) {
            const auto p = h->path(call);
            who = std::max(who, who_comes(*h, p, p.size(), depth + 1));
        }
    return who;
}

string Scene::text_of(const Statement& s) const {
    string t = src.original(s.begin, s.end);
    for (char& c : t) c = c == '\n' || c == '\t' ? ' ' : c;
    return t.size() > 50 ? "..." + t.substr(t.size() - 47) : t;
}

Advice Scene::behind(const string& what, const Path& path, size_t n) const {
    const Statement &s = *path[n], &parent = *path[n - 1];
    const string in = around ? ", inside the loop" : "";
    const size_t line_end = std::min(src.text.find('\n', s.end - 1), src.text.size());
    const string rest = src.text.substr(s.end, line_end - s.end);
    const int line = src.line_at(s.end - 1);
    if (begins_with(s, "return") || begins_with(s, "break") || begins_with(s, "continue"))
        return {"put " + what + " before ", in, {src.line_at(s.begin)}};
    if (rest.find_first_not_of(" \t\r") != rest.npos)
        return {text("in line %d put ", line) + what + " after `" + text_of(s) + "`" + in, ""};
    if (parent.kind == Statement::loop || parent.kind == Statement::branch)
        return {text("give the %s of line %d braces, and put ", parent.kind == Statement::loop ? "loop" : "branch",
                     src.line_at(parent.begin)) +
                    what + " after ",
                ", inside them",
                {line}};
    return {"put " + what + " after ", in, {line}};
}

Path Scene::before_second(size_t n) const {
    auto path = pa;
    const Statement& holder = n < pb.size() ? *pb[n - 1] : pa[n]->parts.empty() ? *pa[n - 1] : *pa[n];
    for (const Statement& s : holder.parts)
        if (n >= pb.size()) path.resize(n + 1), path.push_back(&s);
        else if (s.end <= pb[n]->begin && !(s.begin > a && src.has({"return"}, s.begin, s.end))) path[n] = &s;
        else if (s.begin > a) break;
    return path;
}

Path Scene::last_in_turn() const {
    if (!around) return {};
    Path path(pa.begin(), std::find(pa.begin(), pa.end(), around) + 1);
    path.push_back(&around->parts[0]);
    if (!path.back()->parts.empty() && path.back()->kind == Statement::block)
        path.push_back(&path.back()->parts.back());
    return path;
}

Advice Scene::same_round() const {
    const Accessor &x = pair.race.before, &y = pair.race.after;
    const string put = far ? "__syncthreads()" : "__syncwarp()";
    // Either the thread's number alone decides which thread writes, or the data do.
    const bool by_number = std::ranges::all_of(pa, [&](const Statement* s) {
        return s->kind != Statement::branch || computed(text_between(s->head, s->head_end));
    });
    if (x.access & y.access & writes)
        return {
            text("check the index of line %d: two threads write one element; if that is meant, ", pair.a.number) +
                (by_number
                     ? "let one of them write: if (threadIdx.x == 0)"
                     : "let an atomic decide who writes: atomicCAS() who comes first, atomicMax() or atomicMin() "
                       "who has the most or the least, with both values in one 64-bit word"),
            ""};
    return {text("check the index of line %d: in this one statement a thread reads what another "
                 "writes, and a barrier has no place between; if that is meant, first read into a variable, "
                 "then ",
                 pair.a.number) +
                put + ", then write",
            ""};
}

Advice Scene::split(size_t n) const {
    const string both = text("between lines %d and %d", src.line_at(a), src.line_at(b));
    for (size_t i = 0; i < n; ++i) {
        const Statement& s = *pa[i];
        const bool is_loop = s.kind == Statement::loop;
        if ((s.kind != Statement::branch && !is_loop) || !(s.enters || (is_loop && s.leaves))) continue;
        const int line = src.line_at(s.begin);
        if (is_loop)
            return {text("not all threads take all rounds of the loop of line %d: let all take as many, guard the "
                         "work with if, and put __syncthreads() ",
                         line) +
                        both,
                    ""};
        if (n == i + 2 && n < pa.size() && n < pb.size() && s.parts.size() == 1 &&
            !src.declares(*pa[i + 1], pb[n]->begin))
            return {text("not all threads enter the if of line %d: after line %d write `} __syncthreads(); if ",
                         line, src.line_at(before_second(n)[n]->end - 1)) +
                        src.original(s.head, s.head_end) + " {`",
                    ""};
        return {
            text("not all threads enter the if of line %d: end it after line %d, put __syncthreads() there, and "
                 "begin it again; what both halves use is declared before",
                 line, src.line_at(pa[std::min(n, pa.size() - 1)]->end - 1)),
            ""};
    }
    return {text("not all threads call %s: let all call it, and put __syncthreads() ", f->name.c_str()) + both, ""};
}

bool Scene::unconditional(size_t at) const {
    return std::ranges::all_of(f->path(at), [&](const Statement* s) {
        return s->kind != Statement::branch || s->holds(a) || s->holds(b);
    });
}

bool Scene::barrier_between(size_t from, size_t to) const {
    for (const char* w :
         {"__syncthreads", "__syncthreads_count", "__syncthreads_or", "__syncthreads_and", "sync", "__syncwarp"})
        for (const size_t i : src.words(w, from, to))
            if (unconditional(i) && (w[0] == 's' ? parts_block(i) : w[6] == 't' || !far)) return true;
    return false;
}

bool Scene::is_tile(const string& group) const {
    const size_t declared = src.word(group, f->head, f->body.end);
    if (declared >= f->body.end) return false;
    const size_t from = src.text.find_last_of(";{(,", declared),
                 to = declared < f->body.begin ? declared : src.text.find(';', declared);
    const auto makes_tiles = [&](size_t begin, size_t end) {
        return src.has({"tiled_partition", "thread_block_tile", "coalesced_threads", "coalesced_group",
                        "labeled_partition", "binary_partition"},
                       begin, end);
    };
    if (makes_tiles(from, to)) return true;
    if (src.has({"thread_block", "this_thread_block", "grid_group", "this_grid"}, from, to)) return false;
    const auto callers = src.callers(f->body.begin);  // with its calls
    return callers.size() < 2 ? makes_tiles(0, src.text.size())
                              : std::any_of(callers.begin() + 1, callers.end(), [&](const auto& caller) {
                                    const Statement& body = caller.first->body;
                                    return makes_tiles(body.begin, body.end);
                                });
}

// Is the expression before `.sync()` true for these two threads?
bool Scene::parts_block(size_t sync) const {
    size_t first = sync - 1;
    while (first && in_word(src.text[first - 1])) --first;
    const string group = src.text.substr(first, sync - 1 - first);
    return far == 2 ? grid_sync().starts_with(group + ".") : !far || !is_tile(group);
}

string Scene::grid_sync() const {
    static const std::regex grid(
        R"(([\w:]*this_grid\(\)\.)sync|\bgrid_group[ &]+(\w+)|(\w+) *= *[\w:]*this_grid\()");
    const string function = src.text.substr(f->head, f->body.end - f->head);
    std::smatch m;
    if (far < 2 || !launch->cooperative || !std::regex_search(function, m, grid)) return "";
    return m[1].matched ? m[1].str() + "sync()" : m[2].str() + m[3].str() + ".sync()";
}

string Scene::barrier_at(const Path& path, size_t n) const {
    const Who who = who_comes(*f, path, n);
    if (far == 2) return who == everybody ? grid_sync() : "";
    return who == everybody ? "__syncthreads()" : who == whole_warps && !far ? "__syncwarp()" : "";
}

bool Scene::goes_round() const {
    const bool met_inside = around && met != string::npos && unconditional(met) && around->holds(met);
    return around && !(met_inside && !(met > a && met < b)) && !barrier_between(b, around->end) &&
           !barrier_between(around->begin, a);
}

bool Scene::called_again() const {
    int calls = 0;
    for (const size_t call : src.calls(f->name, 0, src.text.size()))
        if (const Function* g = src.function_at(call); g && g != f) {
            const auto path = g->path(call);
            const bool turns = std::ranges::any_of(path, [](auto* s) { return s->kind == Statement::loop; });
            calls += turns ? 2 : 1;
        }
    return calls > 1;
}

Advice Scene::ending() const {
    const auto round = last_in_turn();
    const bool same = common == pa.size() && common == pb.size();
    const size_t turn = round.size() - 1;
    const string put = barrier_at(round, turn);
    if (!same && common == pb.size() && around->parts[0].kind == Statement::block)  // b ends the loop
        return {"put " + put + " after ", ", inside the loop", {src.line_at(around->parts[0].begin)}};
    Advice v = behind(put, same && turn < pa.size() ? pa : round, turn);
    v.ends_loop = src.line_at(around->begin);
    return v;
}

Advice Scene::barrier() const {
    const bool same = common == pa.size() && common == pb.size();  // the same statement or the same condition
    const bool known = met != string::npos && unconditional(met);
    const bool met_inside = around && known && around->holds(met), met_between = known && met > a && met < b;
    // Which statements of the two paths the barrier follows: those where the paths diverge, or those of the loop.
    const auto round = last_in_turn();
    const size_t level = common, turn = round.size() - 1;
    // Whether a barrier is missing from the first to the second, and from the second around the loop to the first.
    const bool straight = !met_between && !barrier_between(pa.back()->end, b);
    const bool turns = goes_round();
    if (same && !around && called_again() && pa.size() > 1)
        if (const string put = barrier_at(pa, 1); !put.empty() && update(pa).meets == Meeting::none)
            return behind(put, pa, 1);
    if (same && (!around || met_inside || !turns)) return same_round();
    if (!far && !around && met_between && line_of(pair.race.before.site).number == src.line_at(a))
        return {
            text("the mask of line %d leaves out one of the two lanes: put __syncwarp() after ", src.line_at(met)),
            "",
            {src.line_at(met)}};
    const string within = barrier_at(pa, level), at_turn = around ? barrier_at(round, turn) : "";
    if (same || (turns && (!straight || within.empty()))) {
        if (at_turn.empty()) return same && a_writes && pair.both_write ? same_round() : split(turn);
        return ending();
    }
    const bool in_head = level == pa.size();  // a is in the condition of the statement that holds b
    if (!around && !straight && !in_head && level < pb.size()) {  // the function is called again
        if (within.empty()) return split(level);
        if (!begins_with(*pb[level], "return")) return behind(within, pb, level);
        return {"put " + within + " before ", "", {src.line_at(pa[level]->begin)}};
    }
    if (within.empty()) return split(level);
    Advice forward;
    const Statement& holder = *pa[level - 1];
    if (in_head && holder.kind == Statement::loop && holder.parts[0].kind == Statement::block)
        forward = {"put " + within + " after ", ", inside the loop", {src.line_at(holder.parts[0].begin)}};
    else if (level == pb.size()) {  // b is in the condition after the statement that holds a
        const auto path = before_second(level);
        forward = behind(within, path, path.size() - 1);
    } else if (in_head || holder.kind == Statement::branch)
        forward = {text("read what line %d compares into a variable first, then ", src.line_at(a)) + within +
                       ", then the " + (holder.kind == Statement::loop ? "loop" : "if"),
                   ""};
    else forward = behind(within, before_second(level), level);
    if (!in_head && pa[level]->kind == Statement::loop) forward.after_loop = src.line_at(pa[level]->begin);
    if (!turns || at_turn.empty()) return forward;
    Advice back = ending();
    if (forward.before == back.before && forward.after == back.after) {
        forward.lines.merge(back.lines);
        return forward;
    }
    return {forward.words() + ", and " + back.words(), ""};
}

const Statement& Scene::outermost(size_t at, size_t not_this) const {
    const auto path = f->path(at);
    for (const Statement* s : path)
        if (!s->holds(not_this)) return *s;
    return *path.back();
}

Scene::Scene(const Pair& p, const Source& source) : pair(p), src(source), far(distance(p.race)) {
    a = src.spot(p.a.number, p.name), b = src.spot(p.b.number, p.name);
    if (a == string::npos || b == string::npos) return;
    const auto ca = src.callers(a), cb = src.callers(b);
    const auto launched = [&](size_t at) {
        return src.text.substr(at, src.text.find_first_of("(;", at) - at).find("<<<") != string::npos;
    };
    for (const auto& [g, place] : ca)
        for (const auto& [h, other] : cb)
            if (g == h && !f && !launched(place)) f = g, a = place, b = other;
    for (size_t* const at : {&a, &b})  // one function may call the other, as may other functions
        if (const Function* const own = src.function_at(*at), * const g = src.function_at(at == &a ? b : a);
            !f && own && g)
            if (const size_t call = src.word(own->name, g->body.begin, g->body.end); call < g->body.end)
                f = g, *at = call;
    if (!f) return;
    auto writes_at = [&](const Line& l) {
        return (line_of(p.race.before.site).place == l.place && p.race.before.access & writes) ||
               (line_of(p.race.after.site).place == l.place && p.race.after.access & writes);
    };
    a_writes = writes_at(a > b ? p.b : p.a);
    if (a > b) std::swap(a, b);
    const Where m = far ? p.race.block_met : p.race.warp_met;
    if (m.line && same_file(m.file, p.a.file) && (far < 2 || src.line(m.line).find(".sync") != string::npos))
        met = in_function(src.spot(m.line, "__syncthreads"));
    pa = f->path(a), pb = f->path(b);
    if (a == b && !p.name.empty()) {  // two statements in one line
        const size_t other = src.word(p.name, pa.back()->end, src.text.find('\n', a));
        const auto po = other == string::npos ? pa : f->path(other);
        if (other < src.text.find('\n', a) && po.size() == pa.size() && po[po.size() - 2] == pa[pa.size() - 2] &&
            who_comes(*f, pa, pa.size() - 1) == everybody)
            b = other, pb = po;
    }
    while (common < pa.size() && common < pb.size() && pa[common] == pb[common]) ++common;
    for (size_t i = 0; i < common; ++i)
        if (pa[i]->kind == Statement::loop) around = pa[i];
    found = true;
}

Advice Scene::advise() const {
    Advice v{"", ""};
    if (advise_own(v) || advise_missed(v)) return v;
    const size_t open = a + pair.name.size();
    if (a == b && pair.both_write && src.text[open] == '[')
        if (const string rows = mixed_rows(src, *f, a, text_between(open + 1, closed(src.text, open) - 1));
            !rows.empty())
            return {rows, ""};
    if (pair.equal) return equal_values();
    if (advise_fences(v) || advise_parts(v) || advise_exchange(v) || advise_in_place(v)) return v;
    bool both = false;
    const string instead = extremum(both);
    if (both) return {instead, ""};
    if (advise_first(v)) return v;
    const bool one_atomic = (pair.race.before.access ^ pair.race.after.access) & atomic;
    if (far == 2 && advise_stride(v)) return v;
    if (const string old = one_atomic ? "" : old_value(); old.find("atomicAdd") != string::npos) return {old, ""};
    if (pair.adds && !one_atomic) return advise_atomic(pa);
    if (far == 2 && (one_atomic || grid_sync().empty())) return advise_blocks();
    v = stay(barrier());
    if (!instead.empty() && v.before.starts_with("put")) return {v.words() + ", and " + instead, ""};
    if (!one_atomic || v.before.starts_with("put")) return v;
    const Accessor& plain = pair.race.before.access & atomic ? pair.race.after : pair.race.before;
    const int line = line_of(plain.site).number;
    if (plain.access & writes) return advise_atomic(src.line_at(a) == line ? pa : pb);
    return read_by_atomic(line);
}

namespace {

Advice without_source(const Pair& p) {
    const int far = distance(p.race);
    if (p.adds) return {"use an atomic (atomicAdd, ...), or let one thread write", ""};
    if (far == 2) return {"blocks cannot wait for each other: use an atomic, or a second kernel", ""};
    return {"order the two: put " + string(far ? "__syncthreads()" : "__syncwarp()") + " between them", ""};
}

}  // namespace

string Advice::words() const {
    if (lines.empty()) return before;
    string s = before + (lines.size() > 1 ? "lines" : "line");
    for (const int& n : lines)
        s += (&n == &*lines.begin() ? " " : &n == &*lines.rbegin() ? " and " : ", ") + std::to_string(n);
    return s + after;
}

Advice advise(const Pair& p) {
    const Source* source = p.a.number && p.a.file == p.b.file ? Source::of(p.a.file) : nullptr;
    if (source)
        if (const Scene scene(p, *source); scene.found) return scene.typed(scene.advise());
    return without_source(p);
}

bool follows_from(const Pair& pair, const Pair& cause) {
    const Source* source = Source::of(pair.b.file);
    if (!source || pair.b.file != cause.b.file) return false;
    const auto decides = [&](const Statement& s) {
        return s.head_end && std::ranges::any_of(std::array{cause.a.number, cause.b.number}, [&](int line) {
                   return source->line_at(s.head) <= line && line <= source->line_at(s.head_end - 1);
               });
    };
    for (const Line* l : {&pair.a, &pair.b}) {
        const size_t at = source->spot(l->number, pair.name);
        const Function* f = at == string::npos ? nullptr : source->function_at(at);
        if (!f) continue;
        for (const Statement* s : f->path(at)) {
            if (decides(*s)) return true;
            for (const Statement& before : s->parts)  // if (...) return;
                if (before.end <= at && decides(before) && source->has({"return"}, before.begin, before.end))
                    return true;
        }
    }
    return false;
}

bool index_from(const Pair& pair, const Pair& cause) {
    const Source* source = Source::of(pair.b.file);
    const string code = source ? source->line(pair.a.number) : "";
    const size_t open = code.find('[');
    if (open == code.npos || pair.a.place != pair.b.place || pair.b.file != cause.b.file) return false;
    const string index = code.substr(open + 1, closed(code, open) - open - 2);
    if (!cause.name.empty() && cause.name != pair.name &&
        std::regex_search(index, std::regex("\\b" + cause.name + "\\b")))
        return true;
    for (const Line* c : {&cause.a, &cause.b}) {
        const string sets = source->line(c->number);
        size_t end = std::min(sets.find('='), sets.size()), first;
        while (end && sets[end - 1] == ' ') --end;
        for (first = end; first && in_word(sets[first - 1]);) --first;
        const string name = sets.substr(first, end - first);
        const size_t at = source->spot(pair.a.number, name);
        if (!name.empty() && name != cause.name && source->name_at(at) == name && source->text[at - 1] == '[')
            return true;
    }
    return false;
}

}  // namespace cudacpu::race
