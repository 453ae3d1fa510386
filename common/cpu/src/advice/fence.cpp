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

// Whether there is a loop that asks by atomics, or does nothing else.
bool waits_in(const Source& src, const Statement& s) {
    return (s.kind == Statement::loop && (s.waits || src.text.find("atomic", s.begin) < s.end)) ||
           std::ranges::any_of(s.parts, [&](const Statement& part) { return waits_in(src, part); });
}

// Puts it after, or before, the outermost statement around `place` that does not hold the access; or into the part
// with the access of the branch or loop that asks there.
Edit beside(const Conflict& c, const string& what, size_t place, size_t accessed, bool after) {
    const Source& src = c.src;
    for (const auto& [f, at] : src.callers(place)) {
        const size_t access = src.place_in(f, accessed);
        Path path = f->path(at);
        size_t n = std::min<size_t>(1, path.size() - 1);
        while (n + 1 < path.size() && path[n]->holds(access)) ++n;
        if (after && src.begins_with(*path[n], "return") && !path[n]->holds(access)) continue;  // after its call
        for (const Statement& next : path[n - 1]->parts)  // it may go on waiting there
            if (after && next.begin >= path[n]->end && next.end <= access && waits_in(src, next)) path[n] = &next;
        const Statement& s = *path[n];
        if (!n || (what == "__syncthreads()" && c.who_comes(*f, path, n) != everybody)) return {};
        if (!s.holds(access)) return after ? c.put(what, path, n) : c.put_before_it(what, path, n);
        for (const Statement& body : s.parts)
            if (!body.holds(access)) continue;
            else if (body.kind != Statement::block)
                return write_instead(src, "{ " + what + "; " + src.code(body) + "; }", body);
            else
                return {say(put_after, what),
                        {src.line_at(body.end <= s.head ? body.parts.back().end - 1 : body.begin)}};
        return {};
    }
    return {};
}

// `*flag = 1` becomes an atomic after a fence.
Edit release(const Conflict& c, const Statement& s) {
    const string code = c.src.code(s), call = c.atomic(assignment(code), true);
    const Path path = c.src.function_at(s.begin)->path(s.begin);
    const bool has_fence = path.size() > 1 && c.src.has({"__threadfence"}, path[path.size() - 2]->begin, s.begin);
    if (!call.starts_with("atomicExch")) return {};
    return write(c.src.line_at(s.begin), (has_fence ? "" : "__threadfence(); ") + call, code);
}

// The fewer characters and statements are between two places, the nearer they are.
auto nearness(const Function& f, size_t x, size_t y) {
    return std::pair(std::ranges::count_if(f.path(x), [&](const Statement* s) { return s->holds(y); }),
                     -std::abs(ptrdiff_t(x - y)));
}

// All threads must have made the access before one of them sets the word, perhaps in another function.
Edit barrier_between(const Conflict& c, size_t access, size_t set) {
    for (const auto& [f, place] : c.src.callers(access))
        if (c.src.place_in(f, set) != string::npos) return beside(c, "__syncthreads()", place, set, true);
    return {};
}

}  // namespace

Advice handover(const Conflict& c) {
    const Source& src = c.src;
    const auto line = [](uint64_t site) { return line_of(site).number; };
    const int earlier = line(c.pair.race.before.site), later = line(c.pair.race.after.site);
    const size_t x = src.spot(earlier, c.pair.name), y = src.spot(later, c.pair.name);
    for (const HandOver& how : c.pair.race.hand_overs) {
        const size_t wait = src.first_in(line(how.wait)), giver = how.late ? y : x, taker = how.late ? x : y;
        if (Source::of(line_of(how.wait).file) != &src || !src.function_at(wait)) continue;
        const Statement& s = *src.function_at(wait)->path(wait).back();
        const string code = s.kind == Statement::simple ? src.code(s) : "", target = assignment(code).target;
        if (code.starts_with("atomic") || target.find('[') != string::npos || (how.plain && !s.waits) ||
            (c.pair.adds && how.set && !how.exclusive && !s.waits))
            continue;  // nobody waits for it
        const bool locks = s.waits || src.has({"atomicCAS", "atomicExch"}, s);
        if (c.pair.race.before.access & c.pair.race.after.access & writes && how.set && !locks && x == y)
            continue;  // a ticket
        if (how.too_early && s.waits) return {say(set_too_early, line(how.wait), earlier)};
        if (how.looks_once) return {say(look_again, line(how.wait), later)};
        Advice v;
        for (const auto& [missing, site] : how.gaps) {
            const size_t at = src.first_in(line(site));
            const Function* const f = src.function_at(at);
            if (!f) continue;
            const bool after = missing == Gap::fence_after || missing == Gap::barrier_after,
                       takes = how.set ? after
                                       : nearness(*f, at, src.place_in(f, taker)) >
                                             nearness(*f, at, src.place_in(f, giver));
            Edit e;
            if (missing == Gap::fence_before_plain) e = release(c, *f->path(at).back());
            if (!e.words.empty() && how.gaps.size() == 1) return {say(give_back), {e}};
            if (!e.words.empty()) v.add(e);
            else if (missing == Gap::barrier_before) e = barrier_between(c, giver, at);
            else if (missing == Gap::barrier_after) e = beside(c, "__syncthreads()", at, taker, true);
            else if (src.line(line(site)).find("memory_order_relaxed") != string::npos)
                e = write(line(site), after ? "memory_order_acquire" : "memory_order_release",
                          "memory_order_relaxed");
            else e = beside(c, "__threadfence()", at, takes ? taker : giver, after);
            if (!e.words.empty()) v.add(e);
        }
        if (!v.empty()) return v;
    }
    return {};
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
    const string target = assignment(src.code(*sx)).target, name = target.substr(target.find_last_of("*.>") + 1);
    if (c.one_atomic() ? x.access & writes && src.has({"atomicCAS", "atomicExch"}, *sy) : sx == sy && !name.empty())
        for (const char* take : {"atomicCAS", "atomicExch"})
            for (const size_t i : src.words(take, 0, src.text.size()))
                if (const Edit e = release(c, *sx);
                    !e.words.empty() && has_name(src.code(i, closed(src.text, src.text.find('(', i))), name))
                    return {say(give_back), {e}};
    for (const auto& [wait, set] : {std::pair(sx, sy), std::pair(sy, sx)}) {
        const Edit e = wait->waits && !c.one_atomic() ? release(c, *set) : Edit();
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
    return set == la && !c.same() ? Advice{say(second_kernel, la, lb)} : Advice{say(other_array, set)};
}

}  // namespace cudacpu::race
