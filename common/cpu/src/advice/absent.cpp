// absent.cpp - threads that do not come: to a barrier, or to set their element of __shared__ memory.
#include <utility>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

namespace {

// How all threads, or all lanes of a warp, reach a place; "" if the text does not tell why some do not.
string let_come(const Source& src, size_t place, bool warp) {
    for (const auto& [f, at] : src.callers(place))
        for (const Statement* s : f->path(at)) {
            if (const Who who = src.enter(*f, *s); who != everybody && !(warp && who == whole_warps))
                return s->kind == Statement::loop
                           ? say(equal_rounds, src.line_at(s->begin), src.condition(*s))
                           : say(move_out, src.line_at(at), src.line_at(s->begin), src.condition(*s));
            for (const Statement& before : s->parts)
                if (before.end <= at && src.enter(*f, before) == some && src.has({"return"}, before))
                    return say(sent_away, src.line_at(before.begin), src.condition(before));
        }
    return "";
}

const Launch* deadlocked;

const bool advises = [] {
    cudacpu::let_all_come = [](const Rendezvous& e, bool for_ever, string& words) {
        if (for_ever) deadlocked = launch;
        const bool warp = e.kind == Rendezvous::at_warp;
        const Source* src = Source::of(e.where.file);
        const size_t at = src ? src->spot(e.where.line, string(e.what, strcspn(e.what, "("))) : string::npos;
        const Function* f = at == string::npos ? nullptr : src->function_at(at);
        if (!f) return;
        if (warp && src->has({"__popc", "__ffs"}, f->body)) return void(words = say(present_lanes));
        if (const string better = let_come(*src, at, warp); !better.empty())
            words = warp ? words + (in_chinese() ? "；" : "; ") + better : better;
    };
    return true;
}();

}  // namespace

bool follows_from_deadlock() { return std::exchange(deadlocked, nullptr) == launch; }

// ---- elements of __shared__ memory that nobody sets

string set_first(const Line& line, const Region& r, const Unset& unset, size_t element, size_t first, size_t last) {
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    const size_t read = src ? src->spot(line.number, r.name) : string::npos;
    const Function* f = read == string::npos ? nullptr : src->function_at(read);
    if (!f) return "";
    std::set<int> lines;  // that set others
    bool sums = false;
    for (const size_t at : src->variables(r.name, f->body.begin, f->body.end)) {
        const Statement& s = *f->path(at).back();
        const Assignment set = assignment(src->code(s));
        const bool adds = (s.begin == at && !set.sign.empty()) || src->begins_with(s, "atomicAdd");
        sums |= adds;
        if (!adds && s.begin == at && !set.target.empty()) lines.insert(src->line_at(at));
    }
    if (lines.empty() && sums) return say(set_before_sum, r.where.line, r.bytes / element);
    const Line setter = unset.setter ? line_of(unset.setter) : line;
    if (lines.empty() && setter.file == line.file && setter.number != line.number) lines.insert(setter.number);
    if (lines.empty()) return "";
    std::vector<string> parts;
    const auto place = [&](size_t i) {
        const size_t n = r.columns;
        return n ? text("`%s[%zu][%zu]`", r.name, i / n, i % n) : text("%zu", i);
    };
    const auto add = [&](size_t from, size_t to) {
        parts.push_back(from == to ? say(one_element, place(from)) : say(elements_to, place(from), place(to)));
    };
    const size_t first_set = unset.first_set / element, last_set = unset.last_set / element;
    if (first < first_set) add(first, std::min(last, first_set - 1));
    if (last > last_set) add(std::max(first, last_set + 1), last);
    if (parts.empty()) add(first, last);
    const string which = parts[0] + (parts.size() > 1 ? say(and_also, parts[1]) : "");
    return Advice{"", {{say(set_or_index, which), lines}}}.words();
}

}  // namespace cudacpu::race
