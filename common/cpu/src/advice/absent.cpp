// absent.cpp - threads that do not come: to a barrier, to a shuffle, or to set their element of __shared__ memory.
#include <algorithm>
#include <regex>
#include <utility>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/upcalls.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

static string negated(const string& condition) {
    static const std::regex compares(R"(([^&|!<>=?]+) (>=|<=|>|<|==|!=) ([^&|<>=?]+))");
    static const char* const opposite[][2] = {{">=", "<"}, {"<", ">="},  {"<=", ">"},
                                              {">", "<="}, {"==", "!="}, {"!=", "=="}};
    std::smatch m;
    if (std::regex_match(condition, m, compares))
        for (const auto& [sign, other] : opposite)
            if (m[2] == sign) return m[1].str() + " " + other + " " + m[3].str();
    return "!(" + condition + ")";
}

namespace {

/// The `if (i >= n) return;` before the end of a path, which keeps some threads from it; null if there is none.
const Statement* sends_away(const Source& src, const Path& path) {
    for (const Statement* s : path)
        for (const Statement& before : s->parts)
            if (before.end <= path.back()->begin && before.kind == Statement::branch && before.parts.size() == 1 &&
                src.has({"return"}, before) && before.enters == some)
                return &before;
    return nullptr;
}

bool only_returns(const Source& src, const Statement& s) { return src.code(s.parts[0].bare()) == "return"; }

// Whether the text assigns to a variable that the condition names.
bool changes(const Source& src, const string& condition, size_t from, size_t to) {
    static const std::regex sets(R"((?:\+\+|--)(\w+)|(\w+) *(?:=[^=]|[-+*/%&|^]=|\+\+|--))");
    const string code = src.cut(from, to);
    for (std::sregex_iterator i(code.begin(), code.end(), sets), none; i != none; ++i)
        if (has_name(condition, (*i)[1].str() + (*i)[2].str())) return true;
    return false;
}

// Keeps the threads that a branch sends away or does not admit, and guards each statement that uses what its
// condition tests. A value is 0 for the extra threads, which does not change a sum. No edits if that is not enough.
std::vector<Edit> guard_uses(const Source& src, const Function& f, const Statement& branch) {
    const bool away = only_returns(src, branch);
    const string asks = away ? negated(src.condition(branch)) : src.condition(branch);
    const size_t open = branch.parts[0].begin + 1, from = away ? branch.end : open,
                 to = away ? f.body.end : branch.end;
    const auto tested = [&](const string& code) {
        return std::ranges::any_of(f.own,
                                   [&](const string& own) { return has_name(asks, own) && has_name(code, own); });
    };
    std::vector<Edit> edits{away ? drop(src, branch) : write(src.line_at(open), "{", src.code(branch.begin, open))};
    bool possible = branch.parts.size() == 1 && (away ? src.alone_in_its_lines(branch)
                                                      : branch.parts[0].kind == Statement::block &&
                                                            src.line_at(open) == src.line_at(branch.begin));
    const auto visit = [&](const auto& self, const Statement& s) -> void {
        if (s.end > from && s.begin < to && s.head >= from)
            possible &= !tested(src.condition(s)) || s.kind == Statement::branch;
        for (const Statement& part : s.parts) self(self, part);
        const string code = src.code(s);
        if (s.kind != Statement::simple || s.begin < from || s.end > to || !tested(code)) return;
        const size_t value = code.find(" = ") + 3;
        const bool chooses = value > 3 && assignment(code).sign.empty() && !tested(code.substr(0, value));
        possible &=
            src.line_at(s.begin) == src.line_at(s.end - 1) && !src.ends_there(s) && (chooses || !src.declares(s));
        edits.push_back(write(src.line_at(s.begin),
                              chooses ? code.substr(0, value) + asks + " ? " + code.substr(value) + " : 0"
                                      : "if (" + asks + ") " + code,
                              code));
    };
    visit(visit, f.body);
    return possible && edits.size() < 5 ? edits : std::vector<Edit>();
}

Advice let_stay(const Source& src, const Function& f, const Statement& away) {
    const auto edits = guard_uses(src, f, away);
    const int line = src.line_at(away.begin);
    return edits.empty() ? Advice{say(sent_away, line, negated(src.condition(away)))}
                         : Advice{say(sent_away_edit, line), edits};
}

// A barrier in a branch that not all threads enter; the branch is the n-th statement of the barrier's path.
Advice out_of_branch(const Source& src, const Path& path, size_t n) {
    const Statement &branch = *path[n], &barrier = *path.back(), &held = branch.parts[0];
    const string call = src.code(barrier), condition = src.condition(branch);
    const int line = src.line_at(barrier.begin);
    if (&held.bare() == &barrier && branch.parts.size() == 1)
        return {say(move_out), {write_instead(src, call + ";", branch)}};
    bool first = true, last = true;  // in its branch
    for (size_t i = n + 1; i + 1 < path.size(); ++i) {
        if (path[i]->kind == Statement::loop) first = last = false;
        if (path[i]->kind == Statement::block)
            first &= path[i + 1] == &path[i]->parts.front(), last &= path[i + 1] == &path[i]->parts.back();
    }
    const size_t all = src.words("__syncthreads", branch.begin, branch.end).size();
    if (all == 1 && (first || last) && src.alone_in_its_lines(barrier) && path[path.size() - 2]->parts.size() > 1 &&
        src.alone_in_its_lines(branch))
        return {say(move_out),
                {drop(src, barrier),
                 {say(last ? put_after : put_before, call), {src.line_at(last ? branch.end - 1 : branch.begin)}}}};
    const Statement* other = branch.parts.size() > 1 ? &branch.parts[1] : nullptr;  // else { __syncthreads(); }
    const bool only_barrier = other && src.code(other->bare()) == call && src.alone_in_its_lines(other->bare());
    if (path.size() != n + 3 || !held.holds(barrier.begin) || !src.begins_with(branch, "if") ||
        (other && !only_barrier) || all > 1u + only_barrier || src.declares(held, barrier.begin) ||
        src.has({"return", "break", "continue"}, branch.begin, barrier.begin) ||
        changes(src, condition, held.begin, barrier.begin))
        return {say(move_out) + say(move_by_hand, src.line_at(branch.begin), line, call)};
    Advice v{say(move_out), {write(line, "} " + call + "; if (" + condition + ") {", call + ";")}};
    if (other) v.edits.push_back(drop(src, other->bare()));
    return v;
}

// for (int k = threadIdx.x; k < n; k += blockDim.x), where some threads skip the last iteration.
Advice as_many_rounds(const Source& src, const Statement& loop) {
    static const std::regex counts(
        R"((?:[\w:]+ )*(\w+) = (?:[\w.* ]+ \+ )?(\w+(?:\.x)?); (\1 < ([^;&|<>]+)); \1 \+= [^;]+)");
    std::smatch m;
    const string head = src.condition(loop);
    const int line = src.line_at(loop.begin);
    if (!std::regex_match(head, m, counts)) return {say(rounds_by_hand, line)};
    return {say(rounds_edit, line, m[1].str() + " - " + m[2].str() + " < " + m[4].str(), m[3].str(), m[3].str())};
}

const Launch* deadlocked;

void advise_on_barrier(Where where, bool for_ever, string& words) {
    if (for_ever) deadlocked = launch;
    const Source* src = Source::of(where.file);
    const size_t at = src ? src->spot(where.line, "__syncthreads") : string::npos;
    if (at == string::npos || !src->function_at(at)) return;
    if (const Advice better = let_all_come(*src, at); !better.empty()) words = better.words();
}

void advise_on_lanes(Where where, const char* what, string& words) {
    const Source* src = Source::of(where.file);
    const size_t at = src ? src->spot(where.line, string(what, strcspn(what, "("))) : string::npos;
    const Function* f = at == string::npos ? nullptr : src->function_at(at);
    if (!f) return;
    const Path path = f->path(at);
    const Statement* branch = sends_away(*src, path);
    for (const Statement* s : path)
        if (!branch && s->kind == Statement::branch && s->enters == some) branch = s;
    if (!branch || src->code(*path.back()).find("+=") == string::npos) return;
    if (const auto edits = guard_uses(*src, *f, *branch); !edits.empty())
        words = Advice{say(lanes_come), edits}.words();
}

const bool advises = [] {
    cudacpu::let_all_come = advise_on_barrier;
    cudacpu::let_lanes_come = advise_on_lanes;
    return true;
}();

}  // namespace

bool follows_from_deadlock() { return std::exchange(deadlocked, nullptr) == launch; }

Advice let_all_come(const Source& src, size_t barrier) {
    for (const auto& [f, at] : src.callers(barrier)) {
        const Path path = f->path(at);
        if (const Statement* away = sends_away(src, path)) return let_stay(src, *f, *away);
        for (size_t n = 1; n < path.size(); ++n) {
            const Statement& s = *path[n];
            if (s.enters == everybody) continue;
            if (s.kind == Statement::loop) return as_many_rounds(src, s);
            const Function* own = src.function_at(barrier);
            return f == own ? out_of_branch(src, path, n)
                            : Advice{say(call_for_all, src.line_at(s.begin), own->name)};
        }
    }
    return {};
}

// A barrier after `if (i >= n) return;`: makes all threads reach it.
Advice Conflict::stay(const Advice& v) const {
    const Statement* away = sends_away(src, pa);
    if (far == 2 || !away || !v.only_puts() || v.edits[0].lines.empty() ||
        v.edits[0].words.find("__syncthreads()") == string::npos)
        return v;
    Advice all = let_stay(src, *f, *away);
    if (all.edits.empty()) all.reason += in_chinese() ? "，然后" : ", then ";
    for (const Edit& e : v.edits) all.add(e);
    return all;
}

// ---- elements of __shared__ memory that nobody sets

string set_first(const Line& line, const string& name, size_t has) {
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    const size_t read = src ? src->spot(line.number, name) : string::npos;
    const Function* f = read == string::npos ? nullptr : src->function_at(read);
    if (!f) return "";
    for (const size_t i : src->words("__shared__", f->body.begin, read)) {
        const Statement& d = *f->path(i).back();
        if (name.empty() || src->word(name, d.begin, d.end) >= d.end) continue;
        // 0 is right for a sum if each element that is set at all is set under a condition such as `i < n`.
        static const std::regex bound(R"(\w+ < (\w+))");
        bool sums = false, index = false;  // index: it may be wrong
        std::set<int> lines;
        for (const size_t at : src->variables(name, d.end, f->body.end)) {
            const Path path = f->path(at);
            const string code = src->code(*path.back());
            const Assignment set = assignment(code);
            const bool adds = set.sign == "+" || code.starts_with("atomicAdd(");
            sums |= adds;
            if (adds || path.back()->begin != at) continue;
            const Statement& around = *path[path.size() - 2];
            const string own = set.target.substr(std::min(name.size(), set.target.size())),
                         asks = around.kind == Statement::branch ? src->condition(around) : "";
            std::smatch m;
            index |=
                !set.sign.empty() || !std::regex_match(asks, m, bound) || src->definition(*f, m[1]) != "" ||
                (own != "[threadIdx.x]" && src->definition(*f, own.substr(1, own.size() - 2)) != "threadIdx.x");
            lines.insert(src->line_at(at));
        }
        if (!sums || index) return lines.empty() ? "" : Advice{"", {{say(set_or_index), lines}}}.words();
        const dim3 block = launch->block;
        const string first = block.y * block.z == 1 ? "threadIdx.x" : "threadIdx.x + threadIdx.y + threadIdx.z",
                     starts = src->text.find('[', d.begin) > d.end ? "if (" + first + " == 0) " + name
                              : block.y * block.z == 1 ? "for (int i = threadIdx.x; i < " + std::to_string(has) +
                                                             "; i += blockDim.x) " + name + "[i]"
                                                       : "";
        if (!starts.empty() && src->alone_in_its_lines(d))
            return say(set_first_edit) +
                   say(write_after, src->line_at(d.end - 1), starts + " = 0; __syncthreads();");
    }
    return "";
}

}  // namespace cudacpu::race
