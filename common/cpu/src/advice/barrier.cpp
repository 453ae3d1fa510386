// barrier.cpp - where a barrier is missing between two lines of one block.
//
// It goes between the two lines, or after the second if a loop leads back to the first. It is never put where some
// threads do not arrive.
#include <algorithm>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "race/race.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

Conflict::Conflict(const Pair& p, const Source& source) : pair(p), src(source), far(distance(p.race)) {
    a = src.spot(p.a.number, p.name), b = src.spot(p.b.number, p.name);
    if (a == string::npos || b == string::npos) return;
    const auto ca = src.callers(a), cb = src.callers(b);
    for (const auto& [g, place] : ca)
        for (const auto& [h, other] : cb)
            if (g == h && !f) f = g, a = place, b = other;
    for (size_t* const at : {&a, &b})  // one function may call the other, as may other functions
        if (const Function* const own = src.function_at(*at), * const g = src.function_at(at == &a ? b : a);
            !f && own && g)
            if (const size_t call = src.word(own->name, g->body.begin, g->body.end); call < g->body.end)
                f = g, *at = call;
    if (!f) return;
    if (a > b) std::swap(a, b);
    // An asynchronous copy is made where its thread waits for it.
    if ((src.line(p.a.number) + src.line(p.b.number)).find("async") != string::npos)
        for (const char* wait : {"__pipeline_wait_prior", "consumer_wait", "pipeline_consumer_wait_prior", "wait"})
            for (const size_t i : src.words(wait, a, b)) a = std::max(a, i);
    const Where m = far ? p.race.block_met : p.race.warp_met;
    if (far < 2 && m.line && Source::of(m.file) == &source)
        met = src.place_in(f, src.spot(m.line, "__syncthreads"));
    pa = f->path(a), pb = f->path(b);
    while (common < pa.size() && common < pb.size() && pa[common] == pb[common]) ++common;
    for (size_t i = 0; i < common; ++i)
        if (pa[i]->kind == Statement::loop) around = pa[i];
}

bool Conflict::unconditional(size_t at) const {
    return std::ranges::all_of(f->path(at), [&](const Statement* s) {
        return s->kind != Statement::branch || s->holds(a) || s->holds(b);
    });
}

bool Conflict::by_warps() const {
    return src.has({"__syncwarp", "tiled_partition", "thread_block_tile", "coalesced_threads"}, f->head,
                   f->body.end);
}

// grid.sync(), by the name that the function has for it.
string Conflict::grid_barrier() const {
    static const std::regex named(R"((\w+) = [\w:]*this_grid\(\))");
    const string body = src.code(f->body);
    std::smatch m;
    return (std::regex_search(body, m, named) ? m.str(1) : "cooperative_groups::this_grid()") + ".sync()";
}

bool Conflict::barrier_between(size_t from, size_t to) const {
    const string grid = far == 2 ? grid_barrier() : "";
    for (const char* name : {"__syncthreads", "__syncthreads_count", "__syncthreads_or", "__syncthreads_and",
                             "arrive_and_wait", "sync", "__syncwarp"})
        for (const size_t i : src.words(name, from, to))
            if (unconditional(i) && (far < 2 ? !(far && by_warps() && strstr("sync __syncwarp", name))
                                             : src.object_of(i) + ".sync()" == grid))
                return true;
    return false;
}

// Between lanes of a warp in code for warps, the other warps have nothing to wait for.
string Conflict::barrier_at(const Path& path, size_t n) const {
    const Who who = src.come(*f, path, n);
    if (who == some || (far && who == whole_warps)) return "";
    return far == 2                                     ? grid_barrier()
           : !far && (who == whole_warps || by_warps()) ? "__syncwarp()"
                                                        : "__syncthreads()";
}

// Elements that a loop without a barrier swaps; no atomic can do that.
bool Conflict::swaps() const {
    if (far == 2 || pair.name.empty() || !goes_round()) return false;
    std::set<string> indices;
    for (const size_t i : src.variables(pair.name, around->begin, around->end)) {
        const size_t open = i + pair.name.size();
        indices.insert(src.text[open] == '[' ? src.code(open + 1, closed(src.text, open) - 1) : "");
    }
    return indices.size() > 1 && std::ranges::none_of(indices, [](const string& index) {  // not from memory
               return index.empty() || index.find('[') != string::npos;
           });
}

bool Conflict::goes_round() const {
    const bool met_inside = around && met != string::npos && unconditional(met) && around->holds(met);
    return around && !(met_inside && !(met > a && met < b)) && !barrier_between(b, around->end) &&
           !barrier_between(around->begin, a);
}

Edit Conflict::replace(const string& code, const Path& path, size_t n) const {
    return write_instead(src, path[n - 1]->kind == Statement::block ? code : "{ " + code + " }", *path[n]);
}

Edit Conflict::put(const string& what, const Path& path, size_t n) const {
    const Statement& s = *path[n];
    if (src.ends_there(s)) return {say(put_before, what), {src.line_at(s.begin)}};
    const size_t next = src.text.find_first_not_of(" \t\r", s.end);
    if (path[n - 1]->kind != Statement::block || (next < src.text.size() && src.text[next] != '\n'))
        return replace(src.code(s.begin, s.end) + " " + what + ";", path, n);
    const bool inside = around && std::ranges::find(path, around) != path.end();
    return {say(inside ? put_after_in_loop : put_after, what), {src.line_at(s.end - 1)}};
}

Edit Conflict::put_before_it(const string& what, const Path& path, size_t n) const {
    const Statement& s = *path[n];
    const size_t before = src.text.find_last_not_of(" \t", s.begin - 1);
    if (src.text[before] == '\n') return {say(put_before, what), {src.line_at(s.begin)}};
    return replace(what + "; " + src.code(s.begin, s.end), path, n);
}

// A path to the statement before the second access, or to the last one of the loop, so that one barrier serves all.
Path Conflict::before_second(size_t n) const {
    Path path(pa.begin(), pa.begin() + ptrdiff_t(n) + 1);
    for (const Statement& s : pb[n - 1]->parts)
        if (s.end <= pb[n]->begin && s.end > a && !(s.begin > a && src.has({"return"}, s))) path[n] = &s;
    return path;
}
// To the last statement beside the second access that uses the array.
Path Conflict::after_last_use(size_t n) const {
    Path path = pb;
    for (const Statement& s : pb[n - 1]->parts)
        if (s.begin > pb[n]->begin && !src.ends_there(s) && src.variable(pair.name, s.begin, s.end) < s.end)
            path[n] = &s;
    return path;
}
Path Conflict::last_in_turn() const {
    if (!around) return {};
    Path path(pa.begin(), std::ranges::find(pa, around) + 1);
    path.push_back(&around->parts[0]);
    if (!path.back()->parts.empty() && path.back()->kind == Statement::block)
        path.push_back(&path.back()->parts.back());
    return path;
}

// Not all threads come there, so a barrier would wait for ever.
Advice Conflict::split(const Path& path, size_t n) const {
    const auto s = std::find_if(path.begin(), path.begin() + ptrdiff_t(std::min(n, path.size())),
                                [&](auto* keeps) { return src.go_round(*f, *keeps) || src.enter(*f, *keeps); });
    return {
        say(not_all_come, src.line_at(a), src.line_at(b), src.line_at(s == path.end() ? f->head : (*s)->begin))};
}

Advice Conflict::ending() const {
    const auto round = last_in_turn();
    const size_t turn = round.size() - 1;
    const string barrier = barrier_at(round, turn);
    if (!same() && common == pb.size() && around->parts[0].kind == Statement::block)  // b ends the loop
        return {"", {{say(put_after_in_loop, barrier), {src.line_at(around->parts[0].begin)}}}};
    Advice v{"", {put(barrier, same() && turn < pa.size() ? pa : round, turn)}};
    v.ends_loop = src.line_at(around->begin);
    return v;
}

Advice Conflict::barrier() const {
    const bool known = met != string::npos && unconditional(met), met_between = known && met > a && met < b;
    // Which statements of the two paths the barrier follows: those where the paths diverge, or those of the loop.
    const auto round = last_in_turn();
    const size_t level = common, turn = round.size() - 1;
    // Whether a barrier is missing from the first to the second, and from the second around the loop to the first.
    const bool straight = !met_between && !barrier_between(pa.back()->end, b), turns = goes_round();
    const string within = barrier_at(pa, level), at_turn = around ? barrier_at(round, turn) : "";
    if (same() && (!turns || at_turn.empty())) {
        if (update(pa).is_tree && !around && !barrier_at(pa, 1).empty())  // the function is called again
            return {"", {put(barrier_at(pa, 1), pa, 1)}};
        return both_write() ? Advice{say(one_thread, pair.a.number)}
                            : Advice{"",
                                     {{say(all_must_read, far ? "__syncthreads()" : "__syncwarp()"),
                                       {src.line_at(pa.back()->begin)}}}};
    }
    if (same() || (turns && (!straight || within.empty()))) {
        Advice v = at_turn.empty() ? split(round, turn) : ending();
        if (!same() && !straight) v.turn = {src.line_at(a), src.line_at(b)};
        return v;
    }
    if (within.empty()) return split(pa, level);
    const bool in_head = level == pa.size();  // a is in the condition of the statement that holds b
    if (!around && !straight && !in_head && level < pb.size()) {  // the function is called again
        if (!src.begins_with(*pb[level], "return")) return {"", {put(within, after_last_use(level), level)}};
        return {"", {{say(put_before, within), {src.line_at(pa[level]->begin)}}}};
    }
    const Statement& holder = *pa[level - 1];
    if (in_head || level == pb.size() || holder.kind == Statement::branch)
        return {say(order, src.line_at(a), src.line_at(b), within)};
    Advice forward{"", {put(within, before_second(level), level)}};
    if (around && pa[level - 1] == &around->parts[0]) forward.in_loop = src.line_at(around->begin);
    if (pa[level]->kind == Statement::loop) forward.after_loop = src.line_at(pa[level]->begin);
    if (turns && !at_turn.empty())
        for (const Edit& e : ending().edits) forward.add(e);
    return forward;
}

// ---- the advice

// Where two arrays take turns, the barrier may also go into a loop around the one that not all threads run.
Advice orders(const Conflict& c) {
    const auto array = [&](size_t at) {
        return c.src.text[at] == '[' ? c.src.object_of(at + 1) : word_at(c.src.text, at);
    };
    Advice v = c.barrier();
    Conflict outer = c;
    const bool turns = c.around && (c.far == 2 || array(c.a) != array(c.b));
    for (auto i = std::ranges::find(c.pa, c.around) - c.pa.begin(); turns && i-- > 0 && !v.only_puts();)
        if (c.pa[size_t(i)]->kind == Statement::loop) {
            outer.around = c.pa[size_t(i)];
            if (const Advice w = outer.barrier(); w.only_puts()) v = w;
        }
    return c.one_atomic() && (!v.only_puts() || (c.same() && !c.goes_round())) ? c.beside_atomics() : v;
}

Advice advise(const Pair& p) {
    static constexpr Rule* rules[] = {one_memory,   parts_overlap,     own_variable,    grid_step, wrong_index,
                                      equal_writes, narrow_scope_rule, plain_flag,      handover,  test_and_set,
                                      old_value,    update_rule,       two_blocks_rule, orders};
    const Source* source = p.a.number ? Source::of(p.a.file) : nullptr;
    if (source && source == Source::of(p.b.file))
        if (const Conflict c(p, *source); c.f)
            for (Rule* rule : rules)
                if (Advice v = rule(c); !v.empty()) {
                    v.lockstep = !c.far && !v.edits.empty() && rule == orders;
                    return v;
                }
    return {say(no_source, distance(p.race) ? "__syncthreads()" : "__syncwarp()")};
}

}  // namespace cudacpu::race
