// fences.cpp - advice that uses a fence: locks, flags, and scopes that are too narrow.
#include <algorithm>
#include <regex>

#include "advice/scene.hpp"
#include "advice/structure.hpp"
#include "engine/text.hpp"
#include "report/race_report.hpp"

namespace cudacpu::race {

using std::string;

std::set<int> Scene::narrow_lines() const {
    static const std::regex narrow(R"(\b(__threadfence|atomic\w+)_block\()");  // but not fold_block()
    std::set<int> lines;
    for (const Line* l : {&pair.a, &pair.b})
        if (std::regex_search(src.line(l->number), narrow)) lines.insert(l->number);
    const char* const body = src.text.data() + f->body.begin;
    for (std::cregex_iterator i(body, src.text.data() + f->body.end, narrow), none; i != none; ++i)
        lines.insert(src.line_at(f->body.begin + i->position()));
    return lines;
}

size_t Scene::else_behind(size_t take, size_t at) const {
    const Statement* branch = nullptr;
    for (const Statement* s : f->path(at)) {
        if (branch && s->kind == Statement::block) return s->begin;
        if (s->kind == Statement::branch && s->parts[0].holds(take) && !s->parts[0].holds(at)) branch = s;
    }
    return string::npos;
}

int Scene::line_behind(size_t take, size_t at) const {
    if (const size_t other = else_behind(take, at); other != string::npos) return src.line_at(other);
    const Statement& s = outermost(take, at);
    if (!s.holds(at) && s.begin <= take && take < s.end) return src.line_at(s.end - 1);
    const Statement& holder = *f->path(take).back();
    const bool braces = !holder.parts.empty() && holder.parts[0].kind == Statement::block;
    return src.line_at(braces ? holder.parts[0].begin : holder.head_end);
}

bool Scene::fenced(size_t from, size_t to) const {
    return src.has({"__threadfence", "__threadfence_system"}, from, to) ||
           (far < 2 && src.has({"__threadfence_block"}, from, to));
}

Advice Scene::fences(bool behind_take, int take, bool before_give, int give) const {
    Advice v{"put __threadfence() after ", "", {}};
    if (behind_take) v.lines.insert(take);
    if (before_give) v.lines.insert(give);
    return v;
}

size_t Scene::taken_at(size_t atomic) const {
    const auto path = f->path(atomic);
    if (is_head(path, atomic)) return atomic;
    for (const Statement* s : path)
        if (s->kind == Statement::loop && s->end <= a) return atomic;
    size_t end = src.text.find_last_not_of("= ", atomic - 1) + 1, first = end;  // int was = atomicCAS(lock, 0, 1);
    while (first && in_word(src.text[first - 1])) --first;
    const string result = src.text.substr(first, end - first);
    for (const Statement* s : pa)
        if (const size_t i = src.word(result, s->head, s->head_end); s->begin > atomic && i < s->head_end) return i;
    return string::npos;
}

// The atomic that replaces the plain write at `give`. "" for a volatile word: atomics do not accept it, and it
// needs none.
string Scene::give_back(size_t give, bool behind_fence) const {
    const Function& g = *src.function_at(give);
    const Statement& s = *g.path(give).back();
    const string plain = src.code_of(s);
    const string call = as_atomic(plain, true);
    const string lock = src.name_at(src.text.find_first_not_of("* ", s.begin));
    const size_t given = src.word(lock, g.head, g.body.begin);
    const size_t declared = given < g.body.begin ? given : src.word(lock, 0, src.text.size());
    if (!call.starts_with("atomicExch") || declared == string::npos ||
        src.has({"volatile"}, src.text.find_last_of(";{}(,", declared), declared))
        return "";
    return text("give the lock back by an atomic%s: in line %d write `%s%s` for `%s`",
                behind_fence ? "" : ", behind a fence", src.line_at(give), behind_fence ? "" : "__threadfence(); ",
                call.c_str(), plain.c_str());
}

// The statement that takes the lock: a loop that waits for it, an `if`, or a plain call.
size_t Scene::waited(size_t take, size_t at) const {
    const Statement& s = *f->path(take).back();
    return s.kind == Statement::branch || s.holds(at) ? s.head_end : s.end;
}

// Whether one is in an `if` and the other in its `else`.
static bool concurrent(const Function& f, size_t x, size_t y) {
    const auto px = f.path(x), py = f.path(y);
    const auto [i, j] = std::ranges::mismatch(px, py);
    return i != px.begin() && i[-1]->kind == Statement::branch && i != px.end() && j != py.end();
}

// For two accesses under different acquisitions of a lock: each needs its own fences.
Advice Scene::fences_of_both(const string& lock) const {
    Advice v{"put __threadfence() after ", "", {}};
    for (const size_t at : {a, b}) {
        size_t take = string::npos;
        for (const char* w : {"atomicCAS", "atomicExch"})
            for (const size_t i : src.words(w, f->body.begin, at))
                if (first_argument(i) == lock && is_head(f->path(i), i) && (take == string::npos || i > take))
                    take = i;
        const size_t give = src.word(lock, at, f->body.end);
        if (take == string::npos || give >= f->body.end || concurrent(*f, at, give)) return {};
        const size_t taken = waited(take, at);
        if (src.word(lock, taken, at) < at) return {};  // released before
        if (!fenced(taken, at)) v.lines.insert(line_behind(take, at));
        if (!fenced(at, give)) v.lines.insert(src.line_at(outermost(at, give).end - 1));
    }
    return v;
}

string Scene::first_argument(size_t call) const {
    size_t at = src.text.find('(', call) + 1;
    while (strchr("&*( ", src.text[at])) ++at;
    const size_t cast = src.text.find(')', at);  // (int*)lock
    if (cast < src.text.find(',', at) && isalpha(src.text[cast + 1])) at = cast + 1;
    return src.name_at(src.last_member(at).first);
}

bool Scene::sets(const Statement& s) const {
    const string code = src.code_of(s);
    return s.kind == Statement::simple &&
           (code.starts_with("*(volatile") || as_atomic(code, true).starts_with("atomicExch"));
}

size_t Scene::frees(const Function& g) const {
    for (const Statement& s : g.body.parts) {
        if (!sets(s)) continue;
        const auto callers = src.callers(s.begin);
        if (callers.size() < 2) continue;
        const auto [caller, place] = callers[1];
        const auto arguments = [&](size_t call) {
            const size_t open = src.text.find('(', call);
            return src.text.substr(open, closed(src.text, open) - open);
        };
        for (const Function& t : src.functions)
            for (const size_t call : src.calls(t.name, caller->body.begin, place))
                if (src.lock_of(t) == Source::takes && arguments(call) == arguments(place)) return s.begin;
    }
    return string::npos;
}

bool Scene::advise_lock(Advice& v) const {
    for (const Line* l : {&pair.a, &pair.b}) {  // the lock itself
        const size_t at = src.spot(l->number, pair.name);
        const Function* g = at == string::npos ? nullptr : src.function_at(at);
        const size_t write = g ? frees(*g) : string::npos;
        if (write == string::npos || src.line_at(write) != l->number) continue;
        const string back = give_back(write, fenced(g->body.begin, write));
        if (!back.empty()) v = {back, ""};
        return !back.empty();
    }
    size_t cas = string::npos, take = string::npos, give = string::npos, frees_at = string::npos;
    const Function *taker = nullptr, *giver = nullptr;  // functions of the program that acquire and release a lock
    for (const char* w : {"atomicCAS", "atomicExch", "atomicCAS_block", "atomicExch_block"})
        for (const size_t i : src.words(w, f->body.begin, a))
            if (const size_t at = taken_at(i); at != string::npos && (cas == string::npos || i > cas))
                cas = i, take = at;
    for (const Function& g : src.functions) {
        const auto kind = &g == f ? Source::no_lock : src.lock_of(g);
        const auto before = src.calls(g.name, f->body.begin, a), behind = src.calls(g.name, b, f->body.end);
        const bool called = &g != f && !behind.empty();
        const size_t plain = called && kind == Source::no_lock ? frees(g) : string::npos;
        if (kind == Source::takes && !before.empty() && take == string::npos) take = before[0], taker = &g;
        if (called && (kind == Source::gives || plain != string::npos))
            give = behind[0], giver = &g, frees_at = plain;
    }
    if (take == string::npos) return false;
    if (!taker) giver = nullptr;
    const bool taken = fenced(waited(take, a), a) || (taker && fenced(taker->body.begin, taker->body.end));
    const int behind = line_behind(take, a);
    string lock;
    if (!giver) {
        lock = first_argument(taker ? take : cas);
        give = frees_at = src.word(lock, b, f->body.end);
        if (src.word(lock, a, b) < b) {
            const Advice both = fences_of_both(lock);
            if (!both.lines.empty()) v = both;
            return !both.lines.empty();
        }
        if (give >= f->body.end) return false;
    }
    const size_t begin = giver ? giver->body.begin : b;
    if (const string back = frees_at == string::npos ? "" : give_back(frees_at, fenced(begin, frees_at));
        !back.empty()) {
        v = {back + (taken || pair.name == lock ? "" : text(", and put __threadfence() after line %d", behind)),
             ""};
        return true;
    }
    const size_t last = frees_at == string::npos && giver ? giver->body.end : frees_at;
    const bool freed = fenced(b, give) || (giver && fenced(giver->body.begin, last));
    if (taken && freed) return false;
    v = fences(!taken, behind, !freed, src.line_at(outermost(b, give).end - 1));
    return true;
}

bool Scene::advise_flag(Advice& v) const {
    Path all;
    src.waiting_loops(f->body, all);
    for (const Statement* s : all) {
        for (const auto& [look, set] : {std::pair(a, b), std::pair(b, a)})
            if (s->head <= look && look < s->head_end) {
                v = {text("a flag needs atomics: in line %d read it by atomicAdd(&flag, 0), in line %d write "
                          "it by "
                          "atomicExch(&flag, value), behind a __threadfence()",
                          src.line_at(look), src.line_at(set)),
                     ""};
                return true;
            }
        const size_t writer = a_writes ? a : b, reader = a_writes ? b : a;
        if (s->end > reader || s->holds(writer) || concurrent(*f, s->begin, reader)) continue;
        for (size_t i = s->head; i < s->head_end; ++i) {  // a name that the writer uses after its write
            const string name = src.name_at(i);
            size_t set = src.word(name, writer, f->body.end);
            while (set < f->body.end && concurrent(*f, writer, set)) set = src.word(name, set + 1, f->body.end);
            if (name.empty() || set >= f->body.end || s->holds(set) || src.text[i + name.size()] == '(' ||
                f->own.contains(name))
                continue;
            const size_t other = else_behind(writer, reader);
            const bool behind = fenced(other == string::npos ? s->end : other, reader),
                       before = fenced(writer, set);
            if (behind && before) continue;
            v = fences(!behind, src.line_at(s->end - 1), !before, src.line_at(outermost(writer, set).end - 1));
            return true;
        }
    }
    return false;
}

bool Scene::advise_fences(Advice& v) const {
    if (far == 2)
        if (const std::set<int> lines = narrow_lines(); !lines.empty()) {
            v = {
                "__threadfence_block() and atomics that end in _block order threads of one block only: "
                "use those without _block in ",
                "", lines};
            return true;
        }
    return advise_lock(v) || advise_flag(v);
}

}  // namespace cudacpu::race
