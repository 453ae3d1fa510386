// absent.cpp - threads that do not reach a barrier, a warp operation, or the statement that would set an element
// which others read.
#include <algorithm>
#include <regex>
#include <utility>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/upcalls.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

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

const Statement* sends_away(const Source& src, const Path& path) {
    for (const Statement* s : path)
        for (const Statement& before : s->parts)
            if (before.end <= path.back()->begin && before.kind == Statement::branch && before.parts.size() == 1 &&
                src.has({"return"}, before) && before.enters == some)
                return &before;
    return nullptr;
}

bool only_returns(const Source& src, const Statement& s) { return src.code(s.parts[0].bare()) == "return"; }

namespace {

// Whether a statement between the two assigns to a variable of this text.
bool sets_one_of(const Source& src, const string& names, size_t from, size_t to) {
    static const std::regex any(R"([A-Za-z_]\w*)");
    const string code = src.cut(from, to);
    for (std::sregex_iterator i(names.begin(), names.end(), any), none; i != none; ++i)
        if (std::regex_search(code, std::regex("(\\+\\+|--)" + i->str() + "\\b|\\b" + i->str() +
                                               R"( *(=[^=]|[-+*/%&|^]=|\+\+|--))")))
            return true;
    return false;
}

// A barrier in a branch that not all threads enter; the branch is the n-th statement of the barrier's path.
Advice out_of_branch(const Source& src, const Path& path, size_t n) {
    const Statement &branch = *path[n], &barrier = *path.back();
    const string call = src.code(barrier);
    const int line = src.line_at(barrier.begin);
    bool first = true, last = true;
    for (size_t i = n + 1; i + 1 < path.size(); ++i) {
        if (path[i]->kind == Statement::loop) first = last = false;
        if (path[i]->kind == Statement::block)
            first &= path[i + 1] == &path[i]->parts.front(), last &= path[i + 1] == &path[i]->parts.back();
    }
    const size_t all = src.words("__syncthreads", branch.begin, branch.end).size();
    if (src.alone_in_its_lines(barrier) && path[path.size() - 2]->parts.size() > 1 && all == 1 && (first || last) &&
        src.alone_in_its_lines(branch))
        return {say(move_out),
                {drop(src, barrier),
                 {say(last ? put_after : put_before, call), {src.line_at(last ? branch.end - 1 : branch.begin)}}}};
    const string condition = src.condition(branch);
    const Statement* other = branch.parts.size() > 1 ? &branch.parts[1] : nullptr;  // else { __syncthreads(); }
    const bool only_barrier = other && other->kind == Statement::block && src.code(other->bare()) == call &&
                              src.alone_in_its_lines(other->parts[0]);
    if (path.size() != n + 3 || !branch.parts[0].holds(barrier.begin) || !src.begins_with(branch, "if") ||
        (other && !only_barrier) || all != (only_barrier ? 2 : 1) || src.declares(*path[n + 1], barrier.begin) ||
        src.has({"return", "break", "continue"}, branch.begin, barrier.begin) ||
        sets_one_of(src, condition, path[n + 1]->begin, barrier.begin))
        return {say(move_out) + say(move_by_hand, src.line_at(branch.begin), line, call)};
    Advice v{say(move_out), {write(line, "} " + call + "; if (" + condition + ") {", call + ";")}};
    if (other) v.edits.push_back(drop(src, other->parts[0]));
    return v;
}

// for (int k = threadIdx.x; k < n; k += blockDim.x), where some threads skip the last iteration.
Advice as_many_rounds(const Source& src, const Statement& loop) {
    static const std::regex counts(
        R"((?:[\w:]+ )*(\w+) = (?:[\w.* ]+ \+ )?(\w+(?:\.x)?); \1 < ([^;&|<>]+); \1 \+= [^;]+)");
    std::smatch m;
    const string head = src.condition(loop);
    const int line = src.line_at(loop.begin);
    if (!std::regex_match(head, m, counts)) return {say(rounds_by_hand, line)};
    const string asks = m[1].str() + " < " + m[3].str();
    return {say(rounds_edit, line, m[1].str() + " - " + m[2].str() + " < " + m[3].str(), asks, asks)};
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
        if (own != "threadIdx" && src.word(own, branch.head, branch.head_end) < branch.head_end &&
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
        for (const Statement& s : block->parts) {
            if (s.begin < branch->parts[0].begin || s.end > at ||
                src->code(s).find(" " + m[1].str() + " = ") == string::npos)
                continue;
            const Advice better{say(lanes_come), take_nothing(*src, *f, *branch, s)};
            if (!better.edits.empty()) words = better.words();
            return;
        }
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
        if (const Statement* away = sends_away(src, path))
            return {say(sent_away, src.line_at(away->begin), negated(src.condition(*away)))};
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
    const string call = "__syncthreads()";
    if (far == 2 || !away || !v.only_puts() || v.edits[0].words.find(call) == string::npos ||
        v.edits[0].lines.empty())
        return v;
    const string leaves = src.condition(*away), stays = negated(leaves);
    const Path path = f->path(away->begin);
    const Statement& holder = *path[path.size() - 2];
    const auto last = std::ranges::find_if(holder.parts, [&](const Statement& s) { return s.holds(a); });
    if (last != holder.parts.end() && !last->holds(b) && !around && only_returns(src, *away) &&
        src.alone_in_its_lines(*last) && !src.has({"return"}, away->end, last->end) &&
        !src.has({"__syncthreads"}, away->end, f->body.end) && !sets_one_of(src, leaves, away->end, last->end)) {
        Statement between = holder;  // variables declared there are not visible after the brace
        std::erase_if(between.parts, [&](const Statement& s) { return s.begin < away->end; });
        if (!src.declares(between, last->end))
            return {
                say(sent_away_edit, src.line_at(away->begin)),
                {write_instead(src, "if (" + stays + ") {", *away),
                 {say(write_after, src.line_at(last->end - 1), "} " + call + "; if (" + leaves + ") return;")}}};
    }
    Advice guarded = v;
    guarded.reason = say(let_come, src.line_at(away->begin), stays);
    return guarded;
}

// ---- elements of __shared__ memory that nobody sets

// Of an element that belongs to one thread: threadIdx.x and threadIdx.y.
static std::set<string> own_indices(const Source& src, const Function& f, const string& element) {
    std::set<string> own;
    for (size_t open = element.find('['); open < element.size(); open = element.find('[', closed(element, open))) {
        string index = element.substr(open + 1, closed(element, open) - open - 2);
        const auto value = index == word_at(index, 0) ? src.definition(f, index) : std::nullopt;
        if (value && !value->empty()) index = *value;
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
        const Statement& s = *f->path(i).back();
        const string next = src.text.substr(skip_space(src.text, end), 2), code = src.code(s);
        if (next[0] == '=' && next[1] != '=') ++sets, set = &s;
        else if (next == "+=" || next == "++" || next == "-=" || code.starts_with("++") ||
                 code.starts_with("atomicAdd(&" + name) || code.starts_with("atomicAdd(" + name))
            ++updates;
        else if (src.text[i - 1] == '&' || (is_array && src.text[i + name.size()] != '[')) return "";  // passed on
    }
    const dim3 block = launch->block;
    const size_t all = size_t{block.x} * block.y * block.z;
    if (!sets && updates && src.alone_in_its_lines(*declared)) {
        static const std::regex form(R"(__shared__ [\w ]+ \w+(?:\[([^\],]+)\])?)");
        const string code = src.code(*declared);
        std::smatch m;
        if (!std::regex_match(code, m, form) || (m[1].matched && all != block.x)) return "";
        const string first = all == block.x ? "threadIdx.x" : "threadIdx.x + threadIdx.y + threadIdx.z",
                     whose = m[1].matched ? "for (int i = threadIdx.x; i < " + m[1].str() + "; i += blockDim.x) " +
                                                name + "[i]"
                                          : "if (" + first + " == 0) " + name;
        return say(set_first_edit) +
               say(write_after, src.line_at(declared->end - 1), whose + " = 0; __syncthreads();");
    }
    if (sets != 1 || updates > 1 || set->kind != Statement::simple) return "";
    const Path path = f->path(set->begin);
    const string code = src.code(*set);
    const bool sums = src.code(*f->path(read).back()).find("+=") != string::npos;
    if (code.find(" = ") == string::npos || !code.starts_with(name + "[")) return "";
    const string target = code.substr(0, code.find(" = "));
    if (const Statement* away = sends_away(src, path)) {
        const Path there = f->path(away->begin);
        Advice v{say(sent_before, src.line_at(away->begin)) + (in_chinese() ? "：" : ": ")};
        if (sums && path[path.size() - 2] == there[there.size() - 2] && has >= all && only_returns(src, *away))
            v.edits = take_nothing(src, *f, *away, *set);
        if (!v.edits.empty()) return v.words();
        return say(sent_before, src.line_at(away->begin)) +
               say(sent_by_hand, src.line_at(set->begin), negated(src.condition(*away)));
    }
    for (size_t i = path.size(); i-- > 1;) {
        const Statement& s = *path[i];
        if (s.kind == Statement::loop) return "";
        if (s.kind != Statement::branch || s.enters != some) continue;
        const bool only = s.parts.size() == 1 && &s.parts[0].bare() == set && src.alone_in_its_lines(s);
        if (only && sums && has >= all && own_indices(src, *f, target).size() == (block.y > 1 ? 2 : 1) &&
            block.z == 1)
            return say(not_all_set) + say(write_after, src.line_at(s.end - 1), "else " + target + " = 0;");
        return say(others_set, src.line_at(s.begin), src.line_at(set->begin));
    }
    return "";
}

}  // namespace cudacpu::race
