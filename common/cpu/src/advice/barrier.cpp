// barrier.cpp - where a barrier is missing between two lines of one block.
//
// It goes between the two lines, or after the second if a loop leads back to the first. It is never put where some
// threads do not arrive.
#include <algorithm>
#include <optional>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "race/race.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

namespace {

bool same_file(const string& a, const string& b) {
    const string &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
    return longer == shorter || longer.ends_with("/" + shorter);
}

}  // namespace

Conflict::Conflict(const Pair& p, const Source& source) : pair(p), src(source), far(distance(p.race)) {
    a = src.spot(p.a.number, p.name), b = src.spot(p.b.number, p.name);
    if (a == string::npos || b == string::npos) return;
    const auto launched = [&](size_t at) {
        return src.cut(at, src.text.find_first_of("(;", at)).find("<<<") != string::npos;
    };
    const auto ca = src.callers(a), cb = src.callers(b);
    for (const auto& [g, place] : ca)
        for (const auto& [h, other] : cb)
            if (g == h && !f && !launched(place)) f = g, a = place, b = other;
    for (size_t* const at : {&a, &b})  // one function may call the other, as may other functions
        if (const Function* const own = src.function_at(*at), * const g = src.function_at(at == &a ? b : a);
            !f && own && g)
            if (const size_t call = src.word(own->name, g->body.begin, g->body.end); call < g->body.end)
                f = g, *at = call;
    if (!f) return;
    const Line& first = a > b ? p.b : p.a;
    for (const Accessor* x : {&p.race.before, &p.race.after})
        a_writes |= line_of(x->site).place == first.place && x->access & writes;
    if (a > b) std::swap(a, b);
    const Where m = far ? p.race.block_met : p.race.warp_met;
    if (m.line && same_file(m.file, p.a.file) && (far < 2 || src.line(m.line).find(".sync") != string::npos))
        met = in_function(src.spot(m.line, "__syncthreads"));
    pa = f->path(a), pb = f->path(b);
    if (a == b && !p.name.empty()) {  // two statements in one line
        const size_t end = src.text.find('\n', a), other = src.word(p.name, pa.back()->end, end);
        const auto po = other < end ? f->path(other) : pa;
        if (other < end && po.size() == pa.size() && po[po.size() - 2] == pa[pa.size() - 2] &&
            all_come(pa, pa.size() - 1))
            b = other, pb = po;
    }
    while (common < pa.size() && common < pb.size() && pa[common] == pb[common]) ++common;
    for (size_t i = 0; i < common; ++i)
        if (pa[i]->kind == Statement::loop) around = pa[i];
}

size_t Conflict::in_function(size_t at) const {
    for (const auto& [g, place] : src.callers(at))
        if (g == f) return place;
    return string::npos;
}

Who Conflict::who_comes(const Function& g, const Path& path, size_t n, int depth) const {
    Who who = everybody;
    for (size_t i = 0; i < std::min(n, path.size()); ++i)
        if (!src.holds_barrier(*path[i])) who = std::max({who, path[i]->enters, path[i]->leaves});
    for (const size_t call : src.calls(g.name, 0, depth < 3 ? src.text.size() : 0))
        if (const Function* h = src.function_at(call); h && h != &g) {
            const auto p = h->path(call);
            who = std::max(who, who_comes(*h, p, p.size(), depth + 1));
        }
    return who;
}

bool Conflict::unconditional(size_t at) const {
    return std::ranges::all_of(f->path(at), [&](const Statement* s) {
        return s->kind != Statement::branch || s->holds(a) || s->holds(b);
    });
}

bool Conflict::is_tile(const string& group) const {
    const size_t declared = src.word(group, f->head, f->body.end);
    if (declared >= f->body.end) return false;
    const bool parameter = declared < f->body.begin;
    const auto makes = [&](std::initializer_list<const char*> names, const Function& g) {
        const size_t from = &g == f ? src.text.find_last_of(";{(,", declared) : g.body.begin;
        return src.has(names, from, &g != f ? g.body.end : parameter ? declared : src.text.find(';', declared));
    };
    return std::ranges::any_of(src.callers(f->body.begin), [&](const auto& caller) {
        return (caller.first == f || (parameter && !makes({"thread_block", "grid_group"}, *f))) &&
               makes({"tiled_partition", "thread_block_tile", "coalesced_threads", "coalesced_group",
                      "labeled_partition", "binary_partition"},
                     *caller.first);
    });
}

string Conflict::grid_sync() const {
    static const std::regex grid(
        R"(([\w:]*this_grid\(\)\.)sync|\bgrid_group[ &]+(\w+)|(\w+) *= *[\w:]*this_grid\()");
    const string function = src.cut(f->head, f->body.end);
    std::smatch m;
    if (far < 2 || !launch->cooperative || !std::regex_search(function, m, grid)) return "";
    return m[1].matched ? m[1].str() + "sync()" : m[2].str() + m[3].str() + ".sync()";
}

bool Conflict::barrier_between(size_t from, size_t to) const {
    const auto orders = [&](const string& name, size_t i) {
        if (name != "sync") return name == "__syncwarp" ? !far : true;
        size_t first = i - 1;  // of the group
        while (first && in_word(src.text[first - 1])) --first;
        const string group = src.cut(first, i - 1);
        return far == 2 ? grid_sync().starts_with(group + ".") : !far || !is_tile(group);
    };
    for (const char* name :
         {"__syncthreads", "__syncthreads_count", "__syncthreads_or", "__syncthreads_and", "sync", "__syncwarp"})
        for (const size_t i : src.words(name, from, to))
            if (unconditional(i) && orders(name, i)) return true;
    return false;
}

string Conflict::barrier_at(const Path& path, size_t n) const {
    const Who who = who_comes(*f, path, n);
    if (far == 2) return who == everybody ? grid_sync() : "";
    return who == everybody ? "__syncthreads()" : who == whole_warps && !far ? "__syncwarp()" : "";
}

bool Conflict::all_come_round() const {
    const Path round = last_in_turn();
    return !barrier_at(round, round.size() - 1).empty();
}

// Elements that a loop without a barrier swaps; no atomic can do that.
bool Conflict::swaps() const {
    if (far == 2 || pair.name.empty() || !goes_round()) return false;
    std::set<string> indices;
    for (const size_t i : src.variables(pair.name, around->begin, around->end)) {
        const size_t open = i + pair.name.size();
        if (src.text[open] != '[') return false;
        const string index = src.code(open + 1, closed(src.text, open) - 1);
        if (index.find('[') != string::npos) return false;  // its value comes from memory
        indices.insert(index);
    }
    return indices.size() > 1;
}

// The expression with its variables replaced by what they are computed from; no value if that is unknown, or comes
// from memory.
std::optional<string> Conflict::computed(string expression) const {
    for (int depth = 0; depth < 3; ++depth)
        for (size_t i = 0; i < expression.size(); ++i) {
            if (!in_word(expression[i]) || (i && (in_word(expression[i - 1]) || expression[i - 1] == '.')))
                continue;
            const string name = word_at(expression, i);
            const bool is_object = expression.substr(i + name.size()).starts_with('.');
            const auto value = is_object ? std::nullopt : src.definition(*f, name);
            if (value && !value->empty())
                expression.replace(i, name.size(), "(" + *value + ")"), i += value->size();
        }
    return expression.find('[') == string::npos ? std::optional(expression) : std::nullopt;
}

bool Conflict::goes_round() const {
    const bool met_inside = around && met != string::npos && unconditional(met) && around->holds(met);
    return around && !(met_inside && !(met > a && met < b)) && !barrier_between(b, around->end) &&
           !barrier_between(around->begin, a);
}

Edit Conflict::put(const string& what, const Path& path, size_t n) const {
    const Statement &s = *path[n], &parent = *path[n - 1];
    const int line = src.line_at(s.end - 1);
    if (src.ends_there(s)) return {say(put_before, what), {src.line_at(s.begin)}};
    const string rest = src.cut(s.end, std::min(src.text.find('\n', s.end - 1), src.text.size()));
    string last = src.code(s.begin, s.end);
    if (last.size() > 50) last = "..." + last.substr(last.size() - 47);
    if (rest.find_first_not_of(" \t\r") != rest.npos) return {say(put_within, what, line, last)};
    const bool in_loop = parent.kind == Statement::loop;
    if (in_loop || parent.kind == Statement::branch)
        return {say(put_in_braces, what, src.line_at(parent.begin),
                    in_chinese() ? (in_loop ? "循环" : "分支") : (in_loop ? "loop" : "branch")),
                {line}};
    return {say(around ? put_after_in_loop : put_after, what), {line}};
}

// A path to the statement before the second access, or to the last one of the loop, so that one barrier serves all.
Path Conflict::before_second(size_t n) const {
    auto path = pa;
    const Statement& holder = n < pb.size() ? *pb[n - 1] : pa[n]->parts.empty() ? *pa[n - 1] : *pa[n];
    for (const Statement& s : holder.parts)
        if (n >= pb.size()) path.resize(n + 1), path.push_back(&s);
        else if (s.end <= pb[n]->begin && !(s.begin > a && src.has({"return"}, s))) path[n] = &s;
        else if (s.begin > a) break;
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

Advice Conflict::same_round() const {  // two threads in one statement
    if (both_write()) return {say(one_thread, pair.a.number)};
    return {say(all_must_read, pair.a.number) + say(read_where_all_come)};
}

// Not all threads come here, so a barrier would wait for ever.
Advice Conflict::split(size_t n) const {
    for (size_t i = 0; i < n; ++i) {
        const Statement& s = *pa[i];
        if (s.enters == everybody && s.leaves == everybody) continue;
        const int line = src.line_at(s.begin);
        if (s.kind == Statement::loop) return {say(rounds, line, src.line_at(a), src.line_at(b))};
        if (n == i + 2 && n < pa.size() && n < pb.size() && s.parts.size() == 1 &&
            !src.declares(*pa[i + 1], pb[n]->begin))
            return {say(split_if, line),
                    {{say(write_after, src.line_at(before_second(n)[n]->end - 1),
                          "} __syncthreads(); if (" + src.condition(s) + ") {")}}};
        return {say(split_if, line) + say(split_by_hand, src.line_at(pa[std::min(n, pa.size() - 1)]->end - 1))};
    }
    return {say(split_call, f->name, src.line_at(a), src.line_at(b))};
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
    const bool known = met != string::npos && unconditional(met), met_between = known && met > a && met < b,
               met_inside = around && known && around->holds(met);
    // Which statements of the two paths the barrier follows: those where the paths diverge, or those of the loop.
    const auto round = last_in_turn();
    const size_t level = common, turn = round.size() - 1;
    // Whether a barrier is missing from the first to the second, and from the second around the loop to the first.
    const bool straight = !met_between && !barrier_between(pa.back()->end, b), turns = goes_round();
    if (same() && !around && update(pa).meets == Meeting::none)  // the function is called again
        if (const string first = barrier_at(pa, 1); !first.empty()) return {"", {put(first, pa, 1)}};
    if (same() && (!around || met_inside || !turns)) return same_round();
    if (!far && !around && met_between && line_of(pair.race.before.site).number == src.line_at(a))
        return {say(mask, src.line_at(met)), {{say(put_after, "__syncwarp()"), {src.line_at(met)}}}};
    const string within = barrier_at(pa, level), at_turn = around ? barrier_at(round, turn) : "";
    if (same() || (turns && (!straight || within.empty()))) {
        if (at_turn.empty()) return same() && a_writes && pair.both_write ? same_round() : split(turn);
        return ending();
    }
    if (within.empty()) return split(level);
    const bool in_head = level == pa.size();  // a is in the condition of the statement that holds b
    if (!around && !straight && !in_head && level < pb.size()) {  // the function is called again
        if (!src.begins_with(*pb[level], "return")) return {"", {put(within, pb, level)}};
        return {"", {{say(put_before, within), {src.line_at(pa[level]->begin)}}}};
    }
    Advice forward;
    const Statement& holder = *pa[level - 1];
    if (in_head && holder.kind == Statement::loop && holder.parts[0].kind == Statement::block)
        forward.edits = {{say(put_after_in_loop, within), {src.line_at(holder.parts[0].begin)}}};
    else if (level == pb.size()) {  // b is in the condition after the statement that holds a
        const auto path = before_second(level);
        forward.edits = {put(within, path, path.size() - 1)};
    } else if (in_head || holder.kind == Statement::branch) forward.reason = say(order, within);
    else forward.edits = {put(within, before_second(level), level)};
    if (!in_head && pa[level]->kind == Statement::loop) forward.after_loop = src.line_at(pa[level]->begin);
    if (turns && !at_turn.empty()) {
        if (!forward.reason.empty()) forward.reason += in_chinese() ? "；" : ", and ";
        for (const Edit& e : ending().edits) forward.add(e);
        forward.ends_loop = 0;
    }
    return forward;
}

const Statement& Conflict::outermost(size_t at, size_t not_this) const {
    const auto path = src.function_at(at)->path(at);
    for (const Statement* s : path)
        if (!s->holds(not_this)) return *s;
    return *path.back();
}

// ---- the advice

static Advice orders(const Conflict& c) {
    const Advice v = c.stay(c.barrier());
    if (!c.one_atomic() || v.only_puts()) return v;
    const int line = line_of(c.plain().site).number;
    return c.plain().access & writes ? c.an_atomic(c.src.line_at(c.a) == line ? c.pa : c.pb)
                                     : c.read_atomically(line);
}

Advice advise(const Pair& p) {
    static constexpr Rule* rules[] = {
        own_variable,    wrong_index, equal_writes, narrow_scope_rule, plain_flag,  seqlock_rule,    handover,
        exchanged_twice, in_place,    test_and_set, old_value_rule,    update_rule, two_blocks_rule, orders};
    const Source* source = p.a.number ? Source::of(p.a.file) : nullptr;
    if (source && source == Source::of(p.b.file))
        if (const Conflict c(p, *source); c.f)
            for (Rule* rule : rules)
                if (Advice v = rule(c); !v.empty()) {
                    v.lockstep = !c.far && !v.edits.empty() && (rule == in_place || rule == orders);
                    return v;
                }
    const int far = distance(p.race);
    if (p.adds) return {say(no_source_atomic)};
    if (far == 2) return {say(no_source_blocks)};
    return {say(order, far ? "__syncthreads()" : "__syncwarp()")};
}

}  // namespace cudacpu::race
