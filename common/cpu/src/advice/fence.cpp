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
// with the access of the branch or loop that asks there. A barrier goes into the function that has both places.
Edit beside(const Conflict& c, const string& what, size_t place, size_t accessed, bool after) {
    const Source& src = c.src;
    const bool barrier = what == "__syncthreads()";
    for (const auto& [f, at] : src.callers(place)) {
        const size_t access = src.place_in(f, accessed);
        Path path = f->path(at);
        if (path.size() < 2) return {};
        size_t n = 1;
        while (n + 1 < path.size() && path[n]->holds(access)) ++n;
        if ((barrier && access == string::npos) ||
            (after && src.begins_with(*path[n], "return") && !path[n]->holds(access)))
            continue;                                     // after its call
        for (const Statement& next : path[n - 1]->parts)  // it may go on waiting there
            if (after && next.begin >= path[n]->end && next.end <= access && waits_in(src, next)) path[n] = &next;
        const Statement& s = *path[n];
        if (barrier && c.who_comes(*f, path, n) != everybody) return {};
        if (!s.holds(access)) return after ? c.put(what, path, n) : c.put_before_it(what, path, n);
        for (const Statement& body : s.parts)
            if (body.holds(access) && body.kind == Statement::block)
                return {say(put_after, what),
                        {src.line_at(body.end <= s.head ? body.parts.back().end - 1 : body.begin)}};
        return {};
    }
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
            // The fewer statements and characters are between two places, the nearer they are.
            const auto nearness = [&](size_t access) {
                const size_t place = src.place_in(f, access);
                return std::pair(
                    std::ranges::count_if(f->path(at), [&](const Statement* t) { return t->holds(place); }),
                    -std::abs(ptrdiff_t(at - place)));
            };
            const bool after = missing == Gap::fence_after || missing == Gap::barrier_after,
                       takes = how.set ? after : nearness(taker) > nearness(giver);
            Edit e;
            if (missing == Gap::fence_before_plain) e = {say(set_by_atomic), {line(site)}};
            else if (missing == Gap::barrier_before) e = beside(c, "__syncthreads()", giver, at, true);
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
    const Accessor &x = c.pair.race.before, &y = c.pair.race.after;
    if (c.far < 2) return {};
    Advice v{say(narrow_scope)};
    for (const Function* g :
         {c.f, c.src.function_at(c.src.first_in(c.line_a)), c.src.function_at(c.src.first_in(c.line_b))}) {
        const string body = g ? c.src.cut(g->body.begin, g->body.end) : "";
        for (std::sregex_iterator m(body.begin(), body.end(), narrow), none; m != none; ++m)
            v.add(write(c.src.line_at(g->body.begin + size_t(m->position())), (*m)[2], (*m)[1]));
    }
    if (!v.edits.empty()) return v;
    return (x.access | y.access) & race::narrow ? Advice{"", {{say(narrow_atomic), {c.line_a, c.line_b}}}}
                                                : Advice();
}

// The lock or the flag itself, which is set or asked by a plain access.
Advice plain_flag(const Conflict& c) {
    Advice v;
    bool waits = false, locks = false;
    for (const Accessor* p : {&c.pair.race.before, &c.pair.race.after}) {
        const int line = line_of(p->site).number;
        const Statement* const s = c.src.statement_in(line, c.pair.name);
        if (!s) return {};
        if (p->access & race::atomic) locks |= c.src.has({"atomicCAS", "atomicExch"}, *s);
        else if (p->access & writes) v.add({say(set_by_atomic), {line}});
        else if (s->waits) v.add({say(wait_by_atomic), {line}}), waits = true;
    }
    return waits || locks ? v : Advice();
}

// ---- two blocks, which cannot wait for each other

Advice two_blocks_rule(const Conflict& c) {
    const int la = c.src.line_at(c.a), lb = c.src.line_at(c.b);
    if (c.far < 2) return {};
    if (c.one_atomic()) return c.beside_atomics();
    if (launch->cooperative) return {say(whole_grid, la, lb)};
    if (c.both_write()) {
        const Edit e = number_of_block(c);
        return e.words.empty() ? Advice{say(two_blocks, la)} : Advice{"", {e}};
    }
    const Accessor& writer = c.pair.race.before.access & writes ? c.pair.race.before : c.pair.race.after;
    const int set = line_of(writer.site).number;
    return set == la && !c.same() ? Advice{say(second_kernel, la, lb)} : Advice{say(other_array, set)};
}

}  // namespace cudacpu::race
