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

// Puts it after, or before, the outermost statement around `place` that does not hold the access; or into the part
// with the access of the branch or loop that asks there.
Edit beside(const Conflict& c, const string& what, size_t place, size_t access, bool after) {
    const Source& src = c.src;
    const Function& f = *src.function_at(place);
    const Path path = f.path(place);
    size_t n = std::min<size_t>(1, path.size() - 1);
    while (n + 1 < path.size() && path[n]->holds(access)) ++n;
    const Statement& s = *path[n];
    if (!n || (what == "__syncthreads()" && c.who_comes(f, path, n) != everybody)) return {};
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

// `*flag = 1` becomes an atomic after a fence.
Edit release(const Conflict& c, const Statement& s) {
    const string code = c.src.code(s), call = c.atomic(assignment(code), true);
    const Path path = c.src.function_at(s.begin)->path(s.begin);
    const bool has_fence = path.size() > 1 && c.src.has({"__threadfence"}, path[path.size() - 2]->begin, s.begin);
    if (!call.starts_with("atomicExch")) return {};
    return write(c.src.line_at(s.begin), (has_fence ? "" : "__threadfence(); ") + call, code);
}

// How many statements hold both.
size_t near(const Function& f, size_t x, size_t y) {
    return size_t(std::ranges::count_if(f.path(x), [&](const Statement* s) { return s->holds(y); }));
}

}  // namespace

Advice handover(const Conflict& c) {
    const Source& src = c.src;
    const auto line = [](uint64_t site) { return line_of(site).number; };
    const int earlier = line(c.pair.race.before.site), later = line(c.pair.race.after.site);
    const size_t x = src.spot(earlier, c.pair.name), y = src.spot(later, c.pair.name);
    for (const HandOver& how : c.pair.race.hand_overs) {
        const size_t wait = src.first_in(line(how.wait));
        if (Source::of(line_of(how.wait).file) != &src || !src.function_at(wait)) continue;
        const Statement& s = *src.function_at(wait)->path(wait).back();
        const string code = s.kind == Statement::simple ? src.code(s) : "", target = assignment(code).target;
        if (code.starts_with("atomic") || target.find('[') != string::npos) continue;  // nobody waits for it
        if (how.too_early && s.waits) return {say(set_too_early, line(how.wait), earlier)};
        if (how.looks_once) return {say(look_again, line(how.wait), later)};
        Advice v;
        for (const auto& [missing, site] : how.gaps) {
            const size_t at = src.first_in(line(site));
            if (!src.function_at(at)) continue;
            const bool after = missing == Gap::fence_after || missing == Gap::barrier_after;
            size_t access =
                string::npos;  // in the same function, the nearer one if both sides read and write the word
            for (const bool taker : {false, true})
                for (const auto& [g, place] : src.callers(taker != how.late ? y : x))
                    if (g == src.function_at(at) &&
                        (how.set ? taker == after : near(*g, at, place) > near(*g, at, access)))
                        access = place;
            Edit e;
            if (missing == Gap::fence_before_plain) e = release(c, *src.function_at(at)->path(at).back());
            if (!e.words.empty()) return {say(give_back), {e}};
            if (missing == Gap::barrier_before && access != string::npos)
                e = beside(c, "__syncthreads()", access, at, true);
            else if (missing == Gap::barrier_before) e = beside(c, "__syncthreads()", at, access, false);
            else if (missing == Gap::barrier_after) e = beside(c, "__syncthreads()", at, access, true);
            else if (src.line(line(site)).find("memory_order_relaxed") != string::npos)
                e = write(line(site), after ? "memory_order_acquire" : "memory_order_release",
                          "memory_order_relaxed");
            else e = beside(c, "__threadfence()", at, access, after);
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
    if (c.both_write()) {
        const Edit e = number_of_block(c);
        return e.words.empty() ? Advice{say(two_blocks, la)} : Advice{"", {e}};
    }
    const Accessor& writer = c.pair.race.before.access & writes ? c.pair.race.before : c.pair.race.after;
    const int set = line_of(writer.site).number;
    return set == la && !c.same() ? Advice{say(second_kernel, la, lb)} : Advice{say(other_array, set)};
}

}  // namespace cudacpu::race
