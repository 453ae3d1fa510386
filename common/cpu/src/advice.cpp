// advice.cpp - how the hazard build words what it has seen, and what it advises.
//
// What is advised follows from the threads (of a warp, a block, two blocks), from the barrier that they passed last,
// and from the text: between two lines, or behind the second where a loop leads back to the first. A barrier is
// never put where not all threads come.
#include "advice.hpp"

#include <algorithm>

#include "structure.hpp"

namespace cudacpu::hazards {

namespace {

using std::string;

bool same_file(const string& a, const string& b) {
    const string &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
    return longer == shorter || longer.ends_with("/" + shorter);
}

// One race in the text: where its lines stand in one function.
class Scene {
    const Pair& pair;
    const Source& src;
    const int far;
    const Function* f = nullptr;
    size_t a, b, met = string::npos;          // a comes before b
    std::vector<const Statement*> pa, pb;
    size_t common = 0;                        // how many statements hold both
    const Statement* around = nullptr;        // the innermost loop that holds both

    size_t in_function(size_t at) const {
        for (const auto& [g, place] : src.callers(at))
            if (g == f) return place;
        return string::npos;
    }
    Source::Who who_comes(const Function& g, const std::vector<const Statement*>& path, size_t n, int depth = 0) const {
        Source::Who who = Source::everybody;
        for (size_t i = 0; i < n && i < path.size(); ++i)
            if ((path[i]->kind == Statement::branch || path[i]->kind == Statement::loop) && !src.holds_barrier(*path[i]))
                who = std::max(who, src.who_enters(g, *path[i]));
        for (size_t call = src.word(g.name, 0, src.text.size()); depth < 3 && call < src.text.size();
             call = src.word(g.name, call + 1, src.text.size()))
            if (const Function* h = src.function_at(call); h && h != &g) {
                const auto p = Source::path(*h, call);
                who = std::max(who, who_comes(*h, p, p.size(), depth + 1));
            }
        return who;
    }
    string text_of(const Statement& s) const {
        string t = src.original(s.begin, s.end);
        for (char& c : t) c = c == '\n' || c == '\t' ? ' ' : c;
        return t.size() > 50 ? "..." + t.substr(t.size() - 47) : t;
    }
    bool begins_with(const Statement& s, const char* word) const { return src.word(word, s.begin, s.end) == s.begin; }

    // What is put behind a statement, the n-th of its path: behind which line that is.
    Advice behind(const string& what, const std::vector<const Statement*>& path, size_t n) const {
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
                         src.line_at(parent.begin)) + what + " after ", ", inside them", {line}};
        return {"put " + what + " after ", in, {line}};
    }

    // A path to the statement before the second, or to the last of the loop: so that one barrier serves all.
    std::vector<const Statement*> before_second(size_t n) const {
        auto path = pa;
        const Statement& holder = n < pb.size() ? *pb[n - 1] : pa[n]->parts.empty() ? *pa[n - 1] : *pa[n];
        for (const Statement& s : holder.parts)
            if (n >= pb.size()) path.resize(n + 1), path.push_back(&s);
            else if (s.end <= pb[n]->begin) path[n] = &s;
        return path;
    }
    std::vector<const Statement*> last_in_turn() const {
        if (!around) return {};
        std::vector<const Statement*> path(pa.begin(), std::find(pa.begin(), pa.end(), around) + 1);
        path.push_back(&around->parts[0]);
        if (!path.back()->parts.empty() && path.back()->kind == Statement::block) path.push_back(&path.back()->parts.back());
        return path;
    }

    Advice same_round() const {
        const Party &x = pair.race.before, &y = pair.race.after;
        const string put = far ? "__syncthreads()" : "__syncwarp()";
        if (x.access & y.access & writes)
            return {text("check the index of line %d: two threads write one element; if that is meant, "
                         "let one of them write: if (threadIdx.x == 0)", pair.a.number), ""};
        return {text("check the index of line %d: one thread reads what another writes in the same step, "
                     "and no barrier can come between; if that is meant, first read into a variable, "
                     "then ", pair.a.number) + put + ", then write", ""};
    }

    // Not all threads come here: a barrier would wait for ever.
    Advice split(size_t n) const {
        const string both = text("between lines %d and %d", src.line_at(a), src.line_at(b));
        for (size_t i = 0; i < n; ++i) {
            const Statement& s = *pa[i];
            if ((s.kind != Statement::branch && s.kind != Statement::loop) || !src.who_enters(*f, s)) continue;
            const int line = src.line_at(s.begin);
            if (s.kind == Statement::loop)
                return {text("not all threads take all rounds of the loop of line %d: let all take as many, guard the "
                             "work with if, and put __syncthreads() ", line) + both, ""};
            if (n == i + 2 && n < pa.size() && n < pb.size() && s.parts.size() == 1 && !src.declares(*pa[i + 1], pb[n]->begin))
                return {text("not all threads enter the if of line %d: after line %d write `} __syncthreads(); if ", line,
                             src.line_at(before_second(n)[n]->end - 1)) + src.original(s.head, s.head_end) + " {`", ""};
            return {text("not all threads enter the if of line %d: end it after line %d, put __syncthreads() there, and "
                         "begin it again; what both halves use is declared before", line,
                         src.line_at(pa[std::min(n, pa.size() - 1)]->end - 1)), ""};
        }
        return {text("not all threads call %s: let all call it, and put __syncthreads() ", f->name.c_str()) + both, ""};
    }

    // Does who comes to the two lines come there, too?
    bool unconditional(size_t at) const {
        for (const Statement* s : Source::path(*f, at))
            if (s->kind == Statement::branch && !s->holds(a) && !s->holds(b)) return false;
        return true;
    }
    bool barrier_between(size_t from, size_t to) const {
        for (const char* w : {"__syncthreads", "__syncthreads_count", "__syncthreads_or", "__syncthreads_and", "sync",
                              "__syncwarp"})
            for (size_t i = src.word(w, from, to); i < to; i = src.word(w, i + 1, to))
                if (unconditional(i) && (w[0] == 's' || w[6] == 't' || !far)) return true;
        return false;
    }
    Advice barrier() const {
        const bool same = a == b || (common == pa.size() && common == pb.size() && pa.back()->kind == Statement::simple);
        const bool known = met != string::npos && unconditional(met);
        const bool met_inside = around && known && around->holds(met), met_between = known && met > a && met < b;
        // Which statements of the two paths the barrier is put behind: those that part them, or those of the loop.
        const auto round = last_in_turn();
        const size_t level = common, turn = round.size() - 1;
        // From the first to the second, and from the second around the loop to the first: where no barrier lies.
        const bool straight = !met_between && !barrier_between(pa.back()->end, b);
        const bool turns = around && !(met_inside && !met_between) && !barrier_between(b, around->end) &&
                           !barrier_between(around->begin, a);
        if (same && (!around || met_inside || !turns)) return same_round();
        auto kind_at = [&](const std::vector<const Statement*>& path, size_t n) -> string {
            const Source::Who who = who_comes(*f, path, n);
            return who == Source::everybody ? "__syncthreads()" : who == Source::whole_warps && !far ? "__syncwarp()" : "";
        };
        const string within = kind_at(pa, level), at_turn = around ? kind_at(round, turn) : "";
        auto ending = [&] {
            if (!same && level == pb.size() && around->parts[0].kind == Statement::block)  // b decides on the next round
                return Advice{"put " + at_turn + " after ", ", inside the loop", {src.line_at(around->parts[0].begin)}};
            Advice v = behind(at_turn, same && turn < pa.size() ? pa : round, turn);
            v.ends_loop = src.line_at(around->begin);
            return v;
        };
        if (same || (turns && (!straight || within.empty()))) {
            if (at_turn.empty()) return split(turn);
            return ending();
        }
        const bool in_head = level == pa.size();  // a is the condition of what b stands in
        if (!around && !straight && !in_head) {  // the function is called again
            if (within.empty()) return split(level);
            if (!begins_with(*pb[level], "return")) return behind(within, pb, level);
            return {"put " + within + " before ", "", {src.line_at(pa[level]->begin)}};
        }
        if (within.empty()) return split(level);
        Advice forward;
        const Statement& holder = *pa[level - 1];
        if (in_head && holder.kind == Statement::loop && holder.parts[0].kind == Statement::block)
            forward = {"put " + within + " after ", ", inside the loop", {src.line_at(holder.parts[0].begin)}};
        else if (level == pb.size()) {  // b is the condition behind what a stands in
            const auto path = before_second(level);
            forward = behind(within, path, path.size() - 1);
        } else if (in_head || holder.kind == Statement::branch)
            forward = {text("read what line %d compares into a variable first, then ", src.line_at(a)) + within +
                           ", then the " + (holder.kind == Statement::loop ? "loop" : "if"), ""};
        else
            forward = behind(within, before_second(level), level);
        if (!in_head && pa[level]->kind == Statement::loop) forward.after_loop = src.line_at(pa[level]->begin);
        if (!turns || at_turn.empty()) return forward;
        Advice back = ending();
        if (forward.before == back.before && forward.after == back.after) {
            forward.lines.merge(back.lines);
            return forward;
        }
        return {forward.words() + ", and " + back.words(), ""};
    }

    size_t first_atomic(size_t from, size_t to) const {
        for (size_t i = src.text.find("atomic", from); i < to; i = src.text.find("atomic", i + 1))
            if (src.text.find('(', i) < src.text.find_first_of(" ;", i)) return i;
        return string::npos;
    }
    // The outermost statement that holds one place and not the other.
    const Statement& outermost(size_t at, size_t not_this) const {
        const auto path = Source::path(*f, at);
        for (const Statement* s : path)
            if (!s->holds(not_this)) return *s;
        return *path.back();
    }
    // The lines with an atomic or a fence whose scope is the block.
    std::set<int> narrow_lines() const {
        std::set<int> lines;
        for (const Line* l : {&pair.a, &pair.b})
            if (src.line(l->number).find("_block(") != string::npos) lines.insert(l->number);
        for (size_t i = src.text.find("_block(", f->body.begin); i < f->body.end; i = src.text.find("_block(", i + 1))
            lines.insert(src.line_at(i));
        return lines;
    }
    static bool is_head(const std::vector<const Statement*>& path, size_t at) {
        const Statement& s = *path.back();
        return s.kind != Statement::simple && s.head <= at && at < s.head_end;
    }
    // Behind which line a fence comes after who takes a lock: behind the statement, or into what it guards.
    int line_behind(size_t take, size_t at) const {
        const Statement& s = outermost(take, at);
        if (!s.holds(at) && s.begin <= take && take < s.end) return src.line_at(s.end - 1);
        const auto path = Source::path(*f, take);
        return src.line_at(path.back()->head_end);
    }
    bool fenced(size_t from, size_t to) const {
        return src.has({"__threadfence", "__threadfence_system"}, from, to) ||
               (far < 2 && src.has({"__threadfence_block"}, from, to));
    }
    Advice fences(bool behind_take, int take, bool before_give, int give) const {
        Advice v{"put __threadfence() after ", "", {}};
        if (behind_take) v.lines.insert(take);
        if (before_give) v.lines.insert(give);
        return v;
    }
    bool advise_lock(Advice& v) const {
        size_t take = string::npos;
        for (const char* w : {"atomicCAS", "atomicExch", "atomicCAS_block", "atomicExch_block"})
            for (size_t i = src.word(w, f->body.begin, a); i < a; i = src.word(w, i + 1, a)) {
                const auto path = Source::path(*f, i);
                bool spins = is_head(path, i);
                for (const Statement* s : path) spins |= s->kind == Statement::loop && s->end <= a;
                if (spins && (take == string::npos || i > take)) take = i;
            }
        if (take == string::npos) return false;
        size_t lock = src.text.find('(', take) + 1;
        while (strchr("&*( ", src.text[lock])) ++lock;
        const string name = src.name_at(lock);
        const size_t give = src.word(name, b, f->body.end);
        if (give >= f->body.end || src.word(name, a, b) < b) return false;
        const auto given = Source::path(*f, give);
        if (src.text.compare(given.back()->begin, 6, "atomic") != 0) {
            v = {text("give the lock back by an atomic, behind a fence: write __threadfence(); "
                      "atomicExch(&%s, 0) in line %d", name.c_str(), src.line_at(give)), ""};
            return true;
        }
        const bool taken = fenced(take, a), freed = fenced(b, give);
        if (taken && freed) return false;
        const Statement& last = outermost(b, give);
        v = fences(!taken, line_behind(take, a), !freed, src.line_at(last.end - 1));
        return true;
    }
    bool advise_flag(Advice& v) const {
        std::vector<const Statement*> all;
        src.waiting_loops(f->body, all);
        for (const Statement* s : all) {
            for (const auto& [look, set] : {std::pair(a, b), std::pair(b, a)})
                if (s->head <= look && look < s->head_end) {
                    v = {text("a flag needs atomics: in line %d read it by atomicAdd(&flag, 0), in line %d write it by "
                              "atomicExch(&flag, value), behind a __threadfence()", src.line_at(look), src.line_at(set)), ""};
                    return true;
                }
            const size_t writer = a_writes ? a : b, reader = a_writes ? b : a;
            if (s->end > reader || s->holds(writer)) continue;
            for (size_t i = s->head; i < s->head_end; ++i) {  // a name that the writer uses behind its write
                const string name = src.name_at(i);
                const size_t set = src.word(name, writer, f->body.end);
                if (name.empty() || set >= f->body.end || s->holds(set) || src.text[i + name.size()] == '(') continue;
                const bool behind = fenced(s->end, reader), before = fenced(writer, set);
                if (behind && before) continue;
                v = fences(!behind, src.line_at(s->end - 1), !before, src.line_at(outermost(writer, set).end - 1));
                return true;
            }
        }
        return false;
    }

    bool a_writes = false;

public:
    bool found = false;

    Scene(const Pair& p, const Source& source) : pair(p), src(source), far(distance(p.race)) {
        a = src.spot(p.a.number, p.name), b = src.spot(p.b.number, p.name);
        if (a == string::npos || b == string::npos) return;
        const auto ca = src.callers(a), cb = src.callers(b);
        for (const auto& [g, place] : ca)
            for (const auto& [h, other] : cb)
                if (g == h && !f) f = g, a = place, b = other;
        if (!f) return;
        auto writes_at = [&](const Line& l) {
            return (line_of(p.race.before.site).place == l.place && p.race.before.access & writes) ||
                   (line_of(p.race.after.site).place == l.place && p.race.after.access & writes);
        };
        a_writes = writes_at(a > b ? p.b : p.a);
        if (a > b) std::swap(a, b);
        const Where m = far ? p.race.block_met : p.race.warp_met;
        if (m.line && same_file(m.file, p.a.file)) met = in_function(src.spot(m.line, "__syncthreads"));
        pa = Source::path(*f, a), pb = Source::path(*f, b);
        if (a == b && !p.name.empty()) {  // two statements of one line
            const size_t other = src.word(p.name, pa.back()->end, src.text.find('\n', a));
            const auto po = other == string::npos ? pa : Source::path(*f, other);
            if (other < src.text.find('\n', a) && po.size() == pa.size() && po[po.size() - 2] == pa[pa.size() - 2] &&
                who_comes(*f, pa, pa.size() - 1) == Source::everybody)
                b = other, pb = po;
        }
        while (common < pa.size() && common < pb.size() && pa[common] == pb[common]) ++common;
        for (size_t i = 0; i < common; ++i)
            if (pa[i]->kind == Statement::loop) around = pa[i];
        found = true;
    }

    // Who takes a lock, or waits for a flag, needs a fence behind that; who gives it back or sets it, one before it.
    bool advise_fences(Advice& v) const {
        if (far == 2)
            if (const std::set<int> lines = narrow_lines(); !lines.empty()) {
                v = {"__threadfence_block() and atomics that end in _block order threads of one block only: "
                     "use those without _block in ", "", lines};
                return true;
            }
        return advise_lock(v) || advise_flag(v);
    }

    Advice advise_atomic(const std::vector<const Statement*>& path) const {
        const Statement& s = *path.back();
        const int line = src.line_at(s.begin);
        if (pair.adds && pair.a.number != pair.b.number)
            return {"use one atomic instead of what ", " do: atomicMax, atomicAdd, ... or a loop around atomicCAS",
                    {pair.a.number, pair.b.number}};
        if (pair.race.bytes < 4)
            return {text("use an atomic in line %d: none has %zu bytes, so make the elements int first", line,
                         pair.race.bytes), ""};
        string t = s.kind == Statement::simple ? src.text.substr(s.begin, s.end - s.begin) : "";
        while (!t.empty() && strchr("; \n\r", t.back())) t.pop_back();
        const string call = as_atomic(t, !pair.adds);
        if (call.empty())
            return {text("use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS", line), ""};
        return {text("use an atomic: in line %d write `", line) + call + "` for `" + t + "`", ""};
    }

    // Blocks cannot wait for each other.
    Advice advise_blocks() const {
        const Party &x = pair.race.before, &y = pair.race.after;
        const int la = src.line_at(a), lb = src.line_at(b);
        if ((x.access ^ y.access) & atomic) {
            const Party& plain = x.access & atomic ? y : x;
            if (src.word("atomicCAS", pa.back()->begin, pa.back()->end) < pa.back()->end)
                return {text("atomicCAS in line %d does nothing if the word has changed since it was read: repeat it "
                             "until it returns what was read", la), ""};
            if (plain.access & writes)
                return {text("set it before the launch (cudaMemset), not in line %d: no barrier spans the blocks",
                             line_of(plain.site).number), ""};
            return {text("read it by an atomic in line %d: atomicAdd(&x, 0); its last value is known only "
                         "to the next kernel, or to the host", line_of(plain.site).number), ""};
        }
        if (x.access & y.access & writes)
            return {text("check the index of line %d: two blocks write one element (should it hold blockIdx.x?); "
                         "if that is meant, let one block write, or use an atomic", la), ""};
        if (a_writes && a != b) {
            const size_t ticket = first_atomic(a, b);
            if (ticket != string::npos) {
                const Statement& first = outermost(a, ticket);
                const size_t fence = src.first_of({"__threadfence", "__threadfence_system"}, a, ticket);
                if (fence == string::npos) return {"put __threadfence() after ", "", {src.line_at(first.end - 1)}};
                const auto path = Source::path(*f, fence);
                const bool by_all = who_comes(*f, path, path.size()) == who_comes(*f, pa, pa.size());
                if (!src.has({"__syncthreads"}, a, ticket))
                    return {by_all ? "put __syncthreads() before " : "put __syncthreads() after ", "",
                            {by_all ? src.line_at(outermost(ticket, a).begin) : src.line_at(first.end - 1)}};
                const Statement& second = outermost(ticket, b);
                return {"put __threadfence() after ", "", {src.line_at(second.end - 1)}};
            }
            return {text("blocks cannot wait for each other: end the kernel behind line %d, and do line %d "
                         "in a second kernel", la, lb), ""};
        }
        return {text("blocks cannot wait for each other: let line %d write into another array, or move it "
                     "into a second kernel", a_writes ? la : lb), ""};
    }

    Advice advise() const {
        Advice v{"harmless while all write one value: let one thread write, if that may change", ""};
        if (pair.equal || advise_fences(v)) return v;
        const bool one_atomic = (pair.race.before.access ^ pair.race.after.access) & atomic;
        if (pair.adds && !one_atomic) return advise_atomic(pa);
        if (far == 2) return advise_blocks();
        v = barrier();
        if (!one_atomic || v.before.starts_with("put")) return v;
        const Party& plain = pair.race.before.access & atomic ? pair.race.after : pair.race.before;
        const int line = line_of(plain.site).number;
        if (plain.access & writes) return advise_atomic(src.line_at(a) == line ? pa : pb);
        return {text("read it by an atomic, too: in line %d by `atomicAdd(&%s, 0)`", line, pair.name.c_str()), ""};
    }
};

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
        if (const Scene scene(p, *source); scene.found) return scene.advise();
    return without_source(p);
}

bool follows_from(const Pair& pair, const Pair& cause) {
    const Source* source = Source::of(pair.b.file);
    if (!source || pair.b.file != cause.b.file) return false;
    for (const Line* l : {&pair.a, &pair.b}) {
        const size_t at = source->spot(l->number, pair.name);
        const Function* f = at == string::npos ? nullptr : source->function_at(at);
        if (!f) continue;
        for (const Statement* s : Source::path(*f, at))
            for (const Line* c : {&cause.a, &cause.b})
                if (s->head_end && source->line_at(s->head) <= c->number && c->number <= source->line_at(s->head_end - 1))
                    return true;
    }
    return false;
}

}  // namespace cudacpu::hazards
