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

// Keeps the threads that `away` sends away, up to a barrier that follows `last` or, if it is a barrier, stands
// there.
Advice let_stay(const Source& src, const Function& f, const Statement& away, const Statement& last) {
    const string leaves = src.condition(away), stays = negated(leaves), call = src.code(last);
    const bool is_barrier = call.starts_with("__sync");
    const Path path = f.path(away.begin);
    const Statement& holder = *path[path.size() - 2];
    const size_t to = is_barrier ? last.begin : last.end;
    Statement between = holder;  // variables declared there are not visible after the brace
    std::erase_if(between.parts, [&](const Statement& s) { return s.begin < away.end; });
    if (std::ranges::none_of(holder.parts, [&](const Statement& s) { return s.begin == last.begin; }) ||
        !only_returns(src, away) || !src.alone_in_its_lines(last) || src.has({"return"}, away.end, to) ||
        src.words("__syncthreads", away.end, f.body.end).size() > size_t(is_barrier) || src.declares(between, to) ||
        changes(src, leaves, away.end, to))
        return {say(sent_away, src.line_at(away.begin), stays)};
    const string end = "} " + (is_barrier ? call : "__syncthreads()") + "; if (" + leaves + ") return;";
    const int line = src.line_at(last.end - 1);
    return {say(sent_away_edit, src.line_at(away.begin)),
            {write_instead(src, "if (" + stays + ") {", away),
             is_barrier ? write(line, end, call + ";") : Edit{say(write_after, line, end)}}};
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

// Keeps all threads where a branch ends some or admits only some. The extra threads use a value that does not
// change the sum: "drop line 5, and in line 6 write `int v = i < n ? in[i] : 0` for `int v = in[i]`". No edits if
// more depends on the branch.
std::vector<Edit> take_nothing(const Source& src, const Function& f, const Statement& branch,
                               const Statement& set) {
    const bool away = only_returns(src, branch);
    const string asks = src.condition(branch), code = src.code(set);
    const size_t sign = code.find(" = "), open = branch.parts[0].begin + 1;
    if (branch.parts.size() > 1 || sign == string::npos ||
        !(away ? src.alone_in_its_lines(branch)
               : branch.parts[0].kind == Statement::block && src.line_at(open) == src.line_at(branch.begin)))
        return {};
    for (const string& own : f.own)
        if (own != "threadIdx" && has_name(asks, own) &&
            (src.word(own, set.end, f.body.end) < f.body.end ||
             src.word(own, branch.head_end, set.begin) < set.begin))
            return {};
    return {
        away ? drop(src, branch) : write(src.line_at(open), "{", src.code(branch.begin, open)),
        write(src.line_at(set.begin),
              code.substr(0, sign) + " = " + (away ? negated(asks) : asks) + " ? " + code.substr(sign + 3) + " : 0",
              code)};
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
    static const std::regex sums(R"(.*\+=.*\(\w+, (\w+),.*)");
    const string sum = src->code(*path.back());
    std::smatch m;
    if (!branch || !std::regex_match(sum, m, sums)) return;
    for (const Statement* block : path)
        for (const Statement& s : block->parts)
            if (s.begin >= branch->parts[0].begin && s.end <= at &&
                src->code(s).find(" " + m[1].str() + " = ") != string::npos)
                if (const auto edits = take_nothing(*src, *f, *branch, s); !edits.empty())
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
        if (const Statement* away = sends_away(src, path)) return let_stay(src, *f, *away, *path.back());
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
    const Statement& last = outermost(a, b);
    Advice all = around ? Advice() : let_stay(src, *f, *away, last);
    if (!all.edits.empty()) return all;
    Advice guarded = v;
    guarded.reason = say(let_come, src.line_at(away->begin), negated(src.condition(*away)));
    return guarded;
}

// ---- elements of __shared__ memory that nobody sets

string set_first(const Line& line, const string& name, size_t has) {
    const Source* source = line.number ? Source::of(line.file) : nullptr;
    const size_t read = source ? source->spot(line.number, name) : string::npos;
    const Function* f = read == string::npos ? nullptr : source->function_at(read);
    if (!f || name.empty()) return "";
    const Source& src = *source;
    const Statement* declared = nullptr;
    for (const size_t i : src.words("__shared__", f->body.begin, read))
        if (const Statement& d = *f->path(i).back(); src.word(name, d.begin, d.end) < d.end) declared = &d;
    if (!declared) return "";
    const Statement* set = nullptr;  // the statement that sets it
    int sets = 0, updates = 0;
    const bool is_array = src.text.find('[', declared->begin) < declared->end;
    for (const size_t i : src.variables(name, declared->end, f->body.end)) {
        const Statement& s = *f->path(i).back();
        const string code = src.code(s);
        const Assignment x = s.kind == Statement::simple ? assignment(code) : Assignment();
        const bool is_target = s.begin == i || code.starts_with("++");
        if (is_target && x.sign.empty() && !x.target.empty()) ++sets, set = &s;
        else if (is_target || code.starts_with("atomicAdd(&" + name) || code.starts_with("atomicAdd(" + name))
            ++updates;
        else if (src.text[i - 1] == '&' || (is_array && src.text[i + name.size()] != '[')) return "";  // passed on
    }
    const dim3 block = launch->block;
    const size_t all = size_t{block.x} * block.y * block.z;
    if (!sets && updates && src.alone_in_its_lines(*declared) && (!is_array || all == block.x)) {
        const string first = all == block.x ? "threadIdx.x" : "threadIdx.x + threadIdx.y + threadIdx.z",
                     whose = is_array ? "for (int i = threadIdx.x; i < " + std::to_string(has) +
                                            "; i += blockDim.x) " + name + "[i]"
                                      : "if (" + first + " == 0) " + name;
        return say(set_first_edit) +
               say(write_after, src.line_at(declared->end - 1), whose + " = 0; __syncthreads();");
    }
    if (sets != 1 || updates > 1) return "";
    const Path path = f->path(set->begin);
    const bool sums = src.code(*f->path(read).back()).find("+=") != string::npos;
    const string target = assignment(src.code(*set)).target;
    if (const Statement* away = sends_away(src, path)) {
        const auto edits = sums && has >= all ? take_nothing(src, *f, *away, *set) : std::vector<Edit>();
        return say(sent_before, src.line_at(away->begin)) +
               (edits.empty() ? say(sent_by_hand, src.line_at(set->begin), negated(src.condition(*away)))
                              : Advice{"", edits}.words());
    }
    for (const Statement* s : path) {
        if (s->kind == Statement::loop) return "";
        if (s->kind != Statement::branch || s->enters != some) continue;
        if (sums && has >= all && s->parts.size() == 1 && &s->parts[0].bare() == set && src.alone_in_its_lines(*s))
            return say(not_all_set) + say(write_after, src.line_at(s->end - 1), "else " + target + " = 0;");
        return say(others_set, src.line_at(s->begin), src.line_at(set->begin));
    }
    return "";
}

}  // namespace cudacpu::race
