// absent.cpp - threads that do not come: to a barrier, or to set their element of __shared__ memory.
#include <regex>
#include <utility>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"
#include "engine/upcalls.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

namespace {

// The sentence about the `if (i >= n) return;` that keeps some threads from the end of a path; "" if there is none.
string sent_away_before(const Source& src, const Path& path) {
    for (const Statement* s : path)
        for (const Statement& before : s->parts)
            if (before.end <= path.back()->begin && before.kind == Statement::branch &&
                src.enter(*src.function_at(before.begin), before) == some && src.has({"return"}, before))
                return say(sent_away, src.line_at(before.begin), src.condition(before));
    return "";
}

// The edit that takes a barrier, or the call of a shuffle, out of the branch around it; "" if there is none,
// because the rest of the branch depends on it or the other way round.
string moved_out(const Source& src, const Path& path, const Statement& branch, bool warp) {
    static const std::regex declares(R"((?:[\w:<>]+[ *&]+)+(\w+)(?:\[.*)? ?(?:=|;).*)");
    const Statement &s = *path.back(), &body = branch.parts[0];
    const auto level = std::ranges::find(path, &branch);
    if (level[-1]->kind != Statement::block || body.kind != Statement::block || path.end() - level != 3 ||
        level[1] != &body)
        return "";
    const int line = src.line_at(s.begin), first = src.line_at(branch.begin);
    const string code = src.code(s.begin, s.end), head = src.code(branch.begin, branch.head_end);
    if (const size_t call = code.find("__shfl"); warp)
        return call == string::npos || code.find('[') != string::npos || &body.parts[0] != &s
                   ? ""
                   : Advice{"", {write(first, code + " " + head, head), drop(src, s)}}.words();
    std::smatch m;
    for (const Statement& before : body.parts)
        if (const string text = src.code(before.begin, before.end); before.end <= s.begin &&
                                                                    std::regex_match(text, m, declares) &&
                                                                    src.variable(m[1], s.end, body.end) < body.end)
            return "";
    return branch.parts.size() > 1 ? "" : write(line, "} " + code + " " + head + " {", code).words;
}

// Where lanes are counted, a mask of all lanes is replaced by that of the lanes that are there; "" if it is none.
string of_present_lanes(const Source& src, const Function& f, size_t call) {
    static const std::regex all(R"(0x[fF]{8}[uU]?|~0[uU]?|-1)");
    const size_t open = src.text.find('(', call);
    const string mask = src.code(open + 1, src.text.find_first_of(",)", open)),
                 value = src.definition(f, mask).value_or(mask);
    if (!std::regex_match(value, all) || !src.has({"__popc", "__ffs"}, f.body)) return "";
    return write(src.line_at(src.text.find(value, value == mask ? open : f.body.begin)), "__activemask()", value)
        .words;
}

bool keeps_away(const Source& src, const Statement& s, bool warp) {
    const Who who = src.enter(*src.function_at(s.begin), s);
    return who != everybody && !(warp && who == whole_warps);
}

// The exact text that mends it, if there is one.
string edit_for(const Source& src, size_t place, bool warp) {
    const Function& f = *src.function_at(place);
    const string mask = warp ? of_present_lanes(src, f, place) : "";
    const Path path = f.path(place);
    const auto branch = std::ranges::find_if(path, [&](const Statement* s) { return keeps_away(src, *s, warp); });
    if (!mask.empty() || branch == path.end() || (*branch)->kind != Statement::branch) return mask;
    return sent_away_before(src, path).empty() ? moved_out(src, path, **branch, warp) : "";
}

// How all threads, or all lanes of a warp, reach a place; "" if the text does not tell why some do not.
string let_come(const Source& src, size_t place, bool warp) {
    const Function* own = src.function_at(place);
    for (const auto& [f, at] : src.callers(place)) {
        const Path path = f->path(at);
        if (const string away = sent_away_before(src, path); !away.empty()) return away;
        for (const Statement* s : path) {
            const int line = src.line_at(s->begin);
            if (!keeps_away(src, *s, warp)) continue;
            if (s->kind == Statement::loop) return say(equal_rounds, line, src.condition(*s));
            return f == own ? say(move_out, line, src.condition(*s), src.code(*path.back()))
                            : say(call_for_all, line, own->name);
        }
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
        if (at == string::npos || !src->function_at(at)) return;
        if (const string edit = edit_for(*src, at, warp); !edit.empty()) return void(words = edit);
        if (const string better = let_come(*src, at, warp); !better.empty())
            words = warp ? words + (in_chinese() ? "；" : "; ") + better : better;
    };
    return true;
}();

}  // namespace

bool follows_from_deadlock() { return std::exchange(deadlocked, nullptr) == launch; }

// A barrier after `if (i >= n) return;`: all threads must reach it.
Advice Conflict::stay(const Advice& v) const {
    const string away = far < 2 && v.only_puts() && v.edits[0].words.find("__syncthreads()") != string::npos
                            ? sent_away_before(src, pa)
                            : "";
    return away.empty() ? v : Advice{away + (in_chinese() ? "，并" : ", and "), v.edits};
}

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
    const auto add = [&](size_t from, size_t to) {
        parts.push_back(from == to ? say(one_element, from) : say(elements_to, from, to));
    };
    const size_t first_set = unset.first_set / element, last_set = unset.last_set / element;
    if (first < first_set) add(first, std::min(last, first_set - 1));
    if (last > last_set) add(std::max(first, last_set + 1), last);
    if (parts.empty()) add(first, last);
    const string which = parts[0] + (parts.size() > 1 ? say(and_also, parts[1]) : "");
    return Advice{"", {{say(set_or_index, which), lines}}}.words();
}

}  // namespace cudacpu::race
