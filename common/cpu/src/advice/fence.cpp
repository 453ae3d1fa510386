// fence.cpp - threads that hand data to each other by a lock, a flag, a ticket or a version, and what two blocks
// need.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

namespace {

// Whether there is a loop that asks by atomics, or does nothing else.
bool waits_in(const Source& src, const Statement& s) {
    return (s.kind == Statement::loop && (src.only_waits(s) || src.text.find("atomic", s.begin) < s.end)) ||
           std::ranges::any_of(s.parts, [&](const Statement& part) { return waits_in(src, part); });
}

// Puts `what` after, or before, the outermost statement around `place` that does not hold the access; or into the
// part with the access of the branch or loop that asks there. A barrier goes into the function that has both
// places.
Edit beside(const Conflict& c, const string& what, size_t place, size_t accessed, bool after) {
    const Source& src = c.src;
    const bool barrier = what == "__syncthreads()";
    for (const auto& [f, at] : src.callers(place)) {
        const size_t access = src.place_in(f, accessed);
        Path path = f->path(at);
        if (path.size() < 2) return {};
        size_t n = 1;
        while (n + 1 < path.size() && path[n]->holds(access)) ++n;
        const bool returned = after && src.begins_with(*path[n], "return") && !path[n]->holds(access);
        if (returned || (barrier && access == string::npos)) continue;  // after its call
        for (const Statement& next : path[n - 1]->parts)                // it may go on waiting there
            if (after && next.begin >= path[n]->end && next.end <= access && waits_in(src, next)) path[n] = &next;
        const Statement& s = *path[n];
        if (barrier && src.come(*f, path, n) != everybody) return {};
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
    for (const HandOver& how : c.pair.race.hand_overs) {
        const int giver = how.late ? later : earlier, taker = how.late ? earlier : later;
        const size_t wait = src.first_in(line(how.wait));
        if (Source::of(line_of(how.wait).file) != &src || !src.function_at(wait)) continue;
        const Statement& s = *src.function_at(wait)->path(wait).back();
        const string code = s.kind == Statement::simple ? src.code(s) : "", target = assignment(code).target;
        if (code.starts_with("atomic") || target.find('[') != string::npos || (how.plain && !src.only_waits(s)) ||
            (c.pair.adds && how.set && !how.exclusive && !src.only_waits(s)))
            continue;  // nobody waits for it
        const bool locks = src.only_waits(s) || src.has({"atomicCAS", "atomicExch"}, s);
        if (c.pair.race.before.access & c.pair.race.after.access & writes && how.set && !locks && earlier == later)
            continue;  // a ticket
        if (how.too_early && (src.only_waits(s) || line(how.set) == earlier))
            return {say(set_too_early, line(how.wait), earlier, line(how.set))};
        if (how.looks_once) return {say(look_again, line(how.wait), later)};
        Advice v;
        for (const auto& [missing, site] : how.gaps) {
            const size_t at = src.first_in(line(site));
            if (!src.function_at(at)) continue;
            const bool after = missing == Gap::fence_after || missing == Gap::barrier_after,
                       takes = how.set ? after : std::abs(line(site) - taker) < std::abs(line(site) - giver);
            const size_t access = src.spot(takes ? taker : giver, c.pair.name);
            Edit e;
            if (missing == Gap::fence_before_plain) e = {say(set_by_atomic), {line(site)}};
            else if (missing == Gap::barrier_before) e = beside(c, "__syncthreads()", access, at, true);
            else if (missing == Gap::barrier_after) e = beside(c, "__syncthreads()", at, access, true);
            else e = beside(c, "__threadfence()", at, access, after);
            if (!e.words.empty()) v.add(e);
        }
        if (!v.empty()) return v;
    }
    return {};
}

Advice narrow_scope_rule(const Conflict& c) {
    std::set<int> lines;
    for (const Accessor* p : {&c.pair.race.before, &c.pair.race.after})
        if (p->access & race::narrow) lines.insert(line_of(p->site).number);
    for (const HandOver& how : c.pair.race.hand_overs)
        if (how.narrow) lines.insert(line_of(how.narrow).number);
    for (const char* name : {"__threadfence_block", "atomicCAS_block", "atomicExch_block"})
        for (const size_t i : c.src.words(name, c.f->body.begin, c.f->body.end)) lines.insert(c.src.line_at(i));
    return c.far < 2 || lines.empty() ? Advice() : Advice{"", {{say(narrow_scope), lines}}};
}

// The lock or the flag itself, which is set or asked by a plain access.
Advice plain_flag(const Conflict& c) {
    Advice v;
    bool waits = false, locks = false;
    for (const Accessor* p : {&c.pair.race.before, &c.pair.race.after}) {
        const int line = line_of(p->site).number;
        const Statement* const s = c.src.statement_in(line, c.pair.name);
        if (!s) return {};
        if (p->access & race::atomic) locks |= c.far == 2 && c.src.has({"atomicCAS", "atomicExch"}, *s);
        else if (p->access & writes) v.add({say(set_by_atomic), {line}});
        else if (c.src.only_waits(*s)) v.add({say(wait_by_atomic), {line}}), waits = true;
    }
    return waits || locks ? v : Advice();
}

// ---- two blocks, which cannot wait for each other

Advice two_blocks_rule(const Conflict& c) {
    const int la = c.src.line_at(c.a), lb = c.src.line_at(c.b);
    if (c.far < 2) return {};
    if (c.one_atomic()) return c.beside_atomics();
    if (launch->cooperative) return orders(c);
    if (c.both_write()) return {say(two_blocks, la)};
    const Accessor& writer = c.pair.race.before.access & writes ? c.pair.race.before : c.pair.race.after;
    const int set = line_of(writer.site).number;
    if (set == la && !c.same()) return {say(second_kernel, la, lb)};
    return {say(other_array, set)};
}

}  // namespace cudacpu::race
