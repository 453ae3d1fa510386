// missed.cpp - advice for threads that do not reach a barrier, or the statement that would set an element which
// others read.
#include <algorithm>
#include <regex>
#include <utility>

#include "advice/scene.hpp"
#include "advice/structure.hpp"
#include "engine/launch.hpp"
#include "engine/text.hpp"
#include "engine/build.hpp"
#include "engine/observer.hpp"
#include "report/race_report.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

using std::string;

namespace {

string in_parentheses(const Source& src, const Statement& s) {
    return std::regex_replace(src.original(s.head + 1, s.head_end - 1), std::regex("\\s+"), " ");
}

string negated(const string& condition) {
    static const std::regex compares(R"(([^&|!<>=?]+) (>=|<=|>|<|==|!=) ([^&|<>=?]+))");
    static const std::pair<const char*, const char*> signs[] = {{">=", "<"}, {"<=", ">"}, {"==", "!="}};
    std::smatch m;
    if (!std::regex_match(condition, m, compares)) return "!(" + condition + ")";
    for (const auto& [sign, other] : signs)
        for (const auto& [x, y] : {std::pair(sign, other), std::pair(other, sign)})
            if (m[2] == x) return m[1].str() + " " + y + " " + m[3].str();
    return condition;
}

// The `if (i >= n) return;` before that place, which keeps some threads from reaching it; null if there is none.
const Statement* sends_away(const Source& src, const Path& path) {
    for (const Statement* s : path)
        for (const Statement& before : s->parts)
            if (before.end <= path.back()->begin && before.kind == Statement::branch && before.parts.size() == 1 &&
                src.has({"return"}, before.begin, before.end) && before.enters == some)
                return &before;
    return nullptr;
}

bool only_returns(const Source& src, const Statement& s) { return src.code_of(s.parts[0].bare()) == "return"; }

bool alone_in_its_lines(const Source& src, const Statement& s) {
    const size_t before = src.text.find_last_not_of(" \t", s.begin - 1),
                 behind = src.text.find_first_not_of(" \t\r", s.end);
    return src.text[before] == '\n' && (behind == string::npos || src.text[behind] == '\n');
}

// "in line 5 write `if (i < n) {` for `if (i >= n) return;`"
string write_for(const Source& src, const string& code, const Statement& s) {
    const int first = src.line_at(s.begin), last = src.line_at(s.end - 1);
    if (first == last)
        return text("in line %d write `%s` for `", first, code.c_str()) + src.original(s.begin, s.end) + "`";
    return text("write `%s` for the if of lines %d to %d", code.c_str(), first, last);
}
string drop(const Source& src, const Statement& s) {
    const int first = src.line_at(s.begin), last = src.line_at(s.end - 1);
    return first == last ? text("drop line %d", first) : text("drop lines %d to %d", first, last);
}

// Whether a statement between the two assigns to a variable of this text.
bool sets_one_of(const Source& src, const string& names, size_t from, size_t to) {
    static const std::regex any(R"([A-Za-z_]\w*)");
    const string code = src.text.substr(from, to - from);
    for (std::sregex_iterator i(names.begin(), names.end(), any), none; i != none; ++i)
        if (std::regex_search(code, std::regex("(\\+\\+|--)" + i->str() + "\\b|\\b" + i->str() +
                                               R"( *(=[^=]|[-+*/%&|^]=|\+\+|--))")))
            return true;
    return false;
}

// A barrier in a branch that not all threads enter; the branch is the n-th statement of the barrier's path.
string out_of_branch(const Source& src, const Path& path, size_t n) {
    const Statement &branch = *path[n], &barrier = *path.back();
    const string call = src.code_of(barrier), move = "move it out of the branch: ";
    const int line = src.line_at(barrier.begin);
    bool first = true, last = true;
    for (size_t i = n + 1; i + 1 < path.size(); ++i) {
        if (path[i]->kind == Statement::loop) first = last = false;
        if (path[i]->kind == Statement::block)
            first &= path[i + 1] == &path[i]->parts.front(), last &= path[i + 1] == &path[i]->parts.back();
    }
    const size_t all = src.words("__syncthreads", branch.begin, branch.end).size();
    const bool alone = alone_in_its_lines(src, barrier) && path[path.size() - 2]->parts.size() > 1 && all == 1;
    if (alone && last && alone_in_its_lines(src, branch))
        return move +
               text("drop line %d, and put %s after line %d", line, call.c_str(), src.line_at(branch.end - 1));
    if (alone && first && alone_in_its_lines(src, branch))
        return move +
               text("drop line %d, and put %s before line %d", line, call.c_str(), src.line_at(branch.begin));
    const string condition = in_parentheses(src, branch);
    const Statement* other = branch.parts.size() > 1 ? &branch.parts[1] : nullptr;  // else { __syncthreads(); }
    const bool only_barrier = other && other->kind == Statement::block && other->parts.size() == 1 &&
                              src.code_of(other->parts[0]) == call && alone_in_its_lines(src, other->parts[0]);
    if (path.size() == n + 3 && branch.parts[0].holds(barrier.begin) && word_at(src.text, branch.begin) == "if" &&
        (!other || only_barrier) && all == (only_barrier ? 2 : 1) && !src.declares(*path[n + 1], barrier.begin) &&
        !src.has({"return", "break", "continue"}, branch.begin, barrier.begin) &&
        !sets_one_of(src, condition, path[n + 1]->begin, barrier.begin))
        return move +
               text("in line %d write `} %s; if (%s) {` for `%s;`", line, call.c_str(), condition.c_str(),
                    call.c_str()) +
               (other ? ", and " + drop(src, other->parts[0]) : "");
    return move +
           text(
               "end the if of line %d before line %d, put %s there, and begin it again; what both halves use is "
               "declared before",
               src.line_at(branch.begin), line, call.c_str());
}

// for (int k = threadIdx.x; k < n; k += blockDim.x), where some threads skip the last iteration.
string as_many_rounds(const Source& src, const Statement& loop) {
    static const std::regex counts(
        R"((?:[\w:]+ )*(\w+) = (?:[\w.* ]+ \+ )?(\w+(?:\.x)?); \1 < ([^;&|<>]+); \1 \+= [^;]+)");
    std::smatch m;
    const string head = in_parentheses(src, loop), all = "let all take as many rounds of the loop";
    if (!std::regex_match(head, m, counts))
        return all + text(" of line %d, and guard the work in it with if", src.line_at(loop.begin));
    const string i = m[1], n = m[3];
    return all +
           text(
               ": in line %d write `%s - %s < %s` for `%s < %s`, and guard the work between its barriers with "
               "if (%s < %s)",
               src.line_at(loop.begin), i.c_str(), m[2].str().c_str(), n.c_str(), i.c_str(), n.c_str(), i.c_str(),
               n.c_str());
}

const Launch* deadlocked;

}  // namespace

bool follows_from_deadlock() { return std::exchange(deadlocked, nullptr) == launch; }

string let_all_come(const Source& src, size_t barrier) {
    for (const auto& [f, at] : src.callers(barrier)) {
        const Path path = f->path(at);
        const bool here = f == src.function_at(barrier);
        if (const Statement* away = sends_away(src, path))
            return text("line %d sends threads away: let them stay, and guard with if (%s) what needs an element",
                        src.line_at(away->begin), negated(in_parentheses(src, *away)).c_str());
        for (size_t n = 1; n < path.size(); ++n) {
            const Statement& s = *path[n];
            if (s.kind == Statement::branch && s.enters != everybody)
                return here ? out_of_branch(src, path, n)
                            : text("not all threads enter the if of line %d: let all call %s", src.line_at(s.begin),
                                   src.function_at(barrier)->name.c_str());
            if (s.kind == Statement::loop && s.enters != everybody) return as_many_rounds(src, s);
        }
    }
    return "";
}

static void advise_on_barrier(Where where, bool for_ever, string& words) {
    if (for_ever) deadlocked = launch;
    const Source* src = Source::of(where.file);
    const size_t at = src ? src->spot(where.line, "__syncthreads") : string::npos;
    const string better = at == string::npos || !src->function_at(at) ? "" : let_all_come(*src, at);
    if (!better.empty()) words = better;
}

bool Scene::advise_missed(Advice& v) const {
    for (const size_t i : far == 1 ? src.words("__syncthreads", a, b) : std::vector<size_t>())
        for (const Statement* s : f->path(i))
            if (s->kind == Statement::branch && s->holds(a) != s->holds(b) && s->enters == some) {
                v = {text("not all threads reach the barrier of line %d: ", src.line_at(i)) + let_all_come(src, i),
                     ""};
                return true;
            }
    return false;
}

// A barrier after `if (i >= n) return;`: makes all threads reach it.
Advice Scene::stay(const Advice& v) const {
    const Statement* away = sends_away(src, pa);
    const string call = "__syncthreads()";
    if (far == 2 || !away || !v.before.starts_with("put " + call) || v.lines.empty()) return v;
    const string leaves = in_parentheses(src, *away), stays = negated(leaves);
    const Path path = f->path(away->begin);
    const Statement& holder = *path[path.size() - 2];
    const auto last = std::ranges::find_if(holder.parts, [&](const Statement& s) { return s.holds(a); });
    if (last != holder.parts.end() && !last->holds(b) && v.after.empty() && only_returns(src, *away) &&
        alone_in_its_lines(src, *last) && !src.has({"return"}, away->end, last->end) &&
        !src.has({"__syncthreads"}, away->end, f->body.end) && !sets_one_of(src, leaves, away->end, last->end)) {
        Statement between = holder;  // variables declared there are not visible after the brace
        std::erase_if(between.parts, [&](const Statement& s) { return s.begin < away->end; });
        if (!src.declares(between, last->end))
            return {text("line %d sends threads away that a barrier needs: ", src.line_at(away->begin)) +
                        write_for(src, "if (" + stays + ") {", *away) +
                        text(", and after line %d write `} %s; if (%s) return;`", src.line_at(last->end - 1),
                             call.c_str(), leaves.c_str()),
                    ""};
    }
    Advice guarded = v;
    guarded.before = text(
                         "let all threads come: line %d sends some away; guard with if (%s) what needs an element "
                         "instead, then ",
                         src.line_at(away->begin), stays.c_str()) +
                     v.before;
    return guarded;
}

// Keeps all threads where a branch ends some or admits only some. The extra threads use a value that does not
// change the sum: "drop line 5, and in line 6 write `int v = i < n ? in[i] : 0` for `int v = in[i]`". "" if more
// depends on the branch.
static string take_nothing(const Source& src, const Function& f, const Statement& branch, const Statement& set) {
    const bool away = only_returns(src, branch);
    const string asks = in_parentheses(src, branch), code = src.code_of(set);
    const size_t sign = code.find(" = "), open = branch.parts[0].begin + 1;
    if (branch.parts.size() > 1 || sign == string::npos ||
        !(away ? alone_in_its_lines(src, branch)
               : branch.parts[0].kind == Statement::block && src.line_at(open) == src.line_at(branch.begin)))
        return "";
    for (const string& own : f.own)
        if (src.word(own, branch.head, branch.head_end) < branch.head_end && own != "threadIdx" &&
            (src.word(own, set.end, f.body.end) < f.body.end ||
             src.word(own, branch.head_end, set.begin) < set.begin))
            return "";
    return (away ? drop(src, branch)
                 : text("in line %d write `{` for `", src.line_at(open)) + src.original(branch.begin, open) + "`") +
           text(", and in line %d write `%s = %s ? %s : 0` for `%s`", src.line_at(set.begin),
                code.substr(0, sign).c_str(), (away ? negated(asks) : asks).c_str(), code.substr(sign + 3).c_str(),
                code.c_str());
}

static void advise_on_lanes(Where where, const char* what, string& words) {
    const Source* src = Source::of(where.file);
    const size_t at = src ? src->spot(where.line, string(what, strcspn(what, "("))) : string::npos;
    const Function* f = at == string::npos ? nullptr : src->function_at(at);
    if (!f) return;
    const Path path = f->path(at);
    const Statement* branch = sends_away(*src, path);
    for (const Statement* s : path)
        if (!branch && s->kind == Statement::branch && s->enters == some) branch = s;
    const size_t comma = src->text.find(", ", at);
    if (!branch || src->text.substr(path.back()->begin, at - path.back()->begin).find("+=") == string::npos) return;
    const string value = src->name_at(std::min(comma, src->text.size() - 3) + 2);
    for (const Statement* block : path)
        for (const Statement& s : block->parts) {
            const string code = src->code_of(s);
            if (s.begin < branch->parts[0].begin || s.end > at || code.find(' ' + value + " = ") == string::npos)
                continue;
            const string better = take_nothing(*src, *f, *branch, s);
            if (!better.empty()) words = "let all lanes come here: " + better;
            return;
        }
}

// Of an element that belongs to one thread: threadIdx.x and threadIdx.y.
static std::set<string> own_indices(const Source& src, const Function& f, const string& element) {
    std::set<string> own;
    for (size_t open = element.find('['); open < element.size(); open = element.find('[', closed(element, open))) {
        string index = element.substr(open + 1, closed(element, open) - open - 2);
        const auto value = index == word_at(index, 0) ? src.definition(f, index) : std::nullopt;
        if (value && !value->empty()) index = value->substr(std::min(value->find_first_not_of(' '), value->size()));
        if ((index != "threadIdx.x" && index != "threadIdx.y") || !own.insert(index).second) return {};
    }
    return own;
}

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
        size_t end = i + name.size();
        while (src.text[end] == '[') end = closed(src.text, end);
        end = skip_space(src.text, end);
        const Statement& s = *f->path(i).back();
        const string next = src.text.substr(end, 2), code = src.code_of(s);
        if (next[0] == '=' && next[1] != '=') ++sets, set = &s;
        else if (next == "+=" || next == "++" || next == "-=" || code.starts_with("++") ||
                 code.starts_with("atomicAdd(&" + name) || code.starts_with("atomicAdd(" + name))
            ++updates;
        else if (src.text[i - 1] == '&' || (is_array && src.text[i + name.size()] != '[')) return "";  // passed on
    }
    const dim3 block = launch->block;
    const size_t all = size_t{block.x} * block.y * block.z;
    const int at = src.line_at(declared->end - 1);
    if (!sets && updates && alone_in_its_lines(src, *declared)) {
        const string code = src.code_of(*declared);
        static const std::regex form(R"(__shared__ [\w ]+ \w+(?:\[([^\],]+)\])?)");
        const bool one_row = all == block.x;
        std::smatch m;
        if (!std::regex_match(code, m, form) || (m[1].matched && !one_row)) return "";
        const string first = one_row ? "threadIdx.x" : "threadIdx.x + threadIdx.y + threadIdx.z",
                     whose = m[1].matched ? "for (int i = threadIdx.x; i < " + m[1].str() + "; i += blockDim.x) " +
                                                name + "[i]"
                                          : "if (" + first + " == 0) " + name;
        return text("set it first: after line %d write `%s = 0; __syncthreads();`", at, whose.c_str());
    }
    if (sets != 1 || updates > 1 || !set || set->kind != Statement::simple) return "";
    const Path path = f->path(set->begin);
    const string code = src.code_of(*set), nothing = "a value that changes nothing (0 in a sum)";
    const Statement& reads = *f->path(read).back();
    const bool sums = src.original(reads.begin, reads.end).find("+=") != string::npos;
    if (code.find(" = ") == string::npos || !code.starts_with(name + "[")) return "";
    const string target = code.substr(0, code.find(" = "));
    if (const Statement* away = sends_away(src, path)) {
        const Path there = f->path(away->begin);
        const bool beside = path[path.size() - 2] == there[there.size() - 2];
        const string stay =
            sums && beside && has >= all && only_returns(src, *away) ? take_nothing(src, *f, *away, *set) : "";
        return text("line %d sends threads away before they set theirs", src.line_at(away->begin)) +
               (stay.empty()
                    ? text(" in line %d: let them stay and set it to %s, and guard with if (%s) what else "
                           "needs an element",
                           src.line_at(set->begin), nothing.c_str(), negated(in_parentheses(src, *away)).c_str())
                    : ": " + stay);
    }
    for (size_t i = path.size(); i-- > 1;) {
        const Statement& s = *path[i];
        if (s.kind == Statement::loop) return "";
        if (s.kind != Statement::branch || s.enters != some) continue;
        const bool only = s.parts.size() == 1 && (&s.parts[0] == set || s.parts[0].parts.size() == 1) &&
                          alone_in_its_lines(src, s);
        const std::set<string> own = own_indices(src, *f, target);
        if (only && sums && has >= all && own.size() == (block.y > 1 ? 2 : 1) && block.z == 1)
            return text("not all threads set theirs: after line %d write `else %s = 0;`", src.line_at(s.end - 1),
                        target.c_str());
        return text(
            "line %d lets not all threads set theirs in line %d: let the others set it to %s, or check the index",
            src.line_at(s.begin), src.line_at(set->begin), nothing.c_str());
    }
    return "";
}

static const struct BarrierAdvice {
    BarrierAdvice() { cudacpu::let_all_come = advise_on_barrier, cudacpu::let_lanes_come = advise_on_lanes; }
} barrier_advice CUDACPU_LASTING;

}  // namespace cudacpu::race
