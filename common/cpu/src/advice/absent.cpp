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
            if (before.end <= path.back()->begin && before.kind == Statement::branch && before.enters == some &&
                src.has({"return"}, before))
                return say(sent_away, src.line_at(before.begin), src.condition(before));
    return "";
}

// How all threads, or all lanes of a warp, reach a place; "" if the text does not tell why some do not.
string let_come(const Source& src, size_t place, bool warp) {
    const Function* own = src.function_at(place);
    for (const auto& [f, at] : src.callers(place)) {
        const Path path = f->path(at);
        if (const string away = sent_away_before(src, path); !away.empty()) return away;
        for (const Statement* s : path) {
            const int line = src.line_at(s->begin);
            if (s->enters == everybody || (warp && s->enters == whole_warps)) continue;
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
        const string better = at == string::npos || !src->function_at(at) ? "" : let_come(*src, at, warp);
        if (!better.empty()) words = warp ? words + (in_chinese() ? "；" : "; ") + better : better;
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

// ---- asynchronous copies

// A number of batches is replaced; from a name, the difference is subtracted.
string wait_for_more(const Line& line, size_t left, size_t needed) {
    static const std::regex call(R"((\w*wait_prior)([(<])([^()<>,;]+)([)>]))"),
        name(R"(([A-Za-z_]\w*)(?: - (\d+))?)");
    const Source* src = Source::of(line.file);
    const string code = src ? src->line(line.number) : "";
    std::smatch m;
    if (!std::regex_search(code, m, call)) return "";
    const string old = m[3];
    std::smatch n;
    const string fewer = needed && std::regex_match(old, n, name)
                             ? text("%s - %zu", n.str(1).c_str(), left - needed + size_t(atoi(n.str(2).c_str())))
                             : std::to_string(needed);
    return write(line.number, m[1].str() + m[2].str() + fewer + m[4].str(), m.str()).words;
}

// ---- elements of __shared__ memory that nobody sets

string set_first(const Line& line, const string& name, size_t has) {
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    const size_t read = src ? src->spot(line.number, name) : string::npos;
    const Function* f = read == string::npos ? nullptr : src->function_at(read);
    const size_t declared = f ? src->variable(name, f->body.begin, f->body.end) : string::npos;
    if (declared == string::npos || !src->has({"__shared__"}, *f->path(declared).back())) return "";
    std::set<int> lines;  // where other elements are set
    bool sums = false;
    for (const size_t at : src->variables(name, declared + 1, f->body.end)) {
        const Statement& s = *f->path(at).back();
        const string code = src->code(s);
        const bool adds = !assignment(code).sign.empty() || code.starts_with("atomic");
        sums |= adds;
        if (!adds && s.begin == at && !assignment(code).target.empty()) lines.insert(src->line_at(at));
    }
    if (!lines.empty()) return Advice{"", {{say(set_or_index), lines}}}.words();
    return sums ? say(set_before_sum, src->line_at(declared), has) : "";
}

}  // namespace cudacpu::race
