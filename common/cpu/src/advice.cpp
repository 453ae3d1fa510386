// advice.cpp - how the hazard build words what it has seen, and what it advises.
//
// What is advised follows from the threads (of a warp, a block, two blocks), from the barrier that they passed last,
// and from the text: between two lines, or behind the second where a loop leads back to the first. A barrier is
// never put where not all threads come.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "hazards.hpp"
#include "structure.hpp"

namespace cudacpu::hazards {

namespace {

using std::string;

struct Line {
    string place, file;  // "sum.cu:12", "sum.cu"
    int number;
};
const Line& line_of(uint64_t site) {
    static auto& known = *new std::map<uint64_t, Line>;
    Line& l = known[site];
    if (!l.place.empty()) return l;
    const char* at = reinterpret_cast<char*>(site & ~0ul >> 16);
    l.place = site >> 48 ? text("%s:%d", at, int(site >> 48)) : source_line(at - 1);
    const size_t colon = l.place.rfind(':');
    if (colon == l.place.npos) return l = {"a line that is not known", "", 0};
    l = {l.place, l.place.substr(0, colon), atoi(l.place.c_str() + colon + 1)};
    // The compiler names a file as it was given, the debug information with its folder.
    if (l.file[0] != '/' && source_text(std::filesystem::absolute(l.file)).size()) {
        l.file = std::filesystem::absolute(l.file);
        l.place = l.file + ":" + std::to_string(l.number);
    }
    return l;
}

bool same_file(const string& a, const string& b) {
    const string &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
    return longer == shorter || longer.ends_with("/" + shorter);
}

string index(uint64_t i, dim3 n) {
    if (n.y == 1 && n.z == 1) return text("%u", unsigned(i));
    return text("(%u,%u,%u)", unsigned(i % n.x), unsigned(i / n.x % n.y), unsigned(i / n.x / n.y));
}
string thread_of(const Party& p) { return index(p.rank, launch->block); }
string block_of(const Party& p) { return index(p.block, launch->grid); }
const char* does(const Party& p) {
    return p.access & atomic ? "does an atomic" : p.access & writes ? "writes" : "reads";
}

// ---- advice ----------------------------------------------------------------------------------------------

struct Advice {
    string before, after;  // "put __syncthreads() after line", ", inside the loop"
    std::set<int> lines{}; // between the two
    string words() const {
        if (lines.empty()) return before;
        string s = before + (lines.size() > 1 ? "lines" : "line");
        for (const int& n : lines)
            s += (&n == &*lines.begin() ? " " : &n == &*lines.rbegin() ? " and " : ", ") + std::to_string(n);
        return s + after;
    }
};

struct Pair {  // the races between two lines
    Line a, b;
    Race race;    // one of them, between the most distant threads
    bool adds, both_write, equal;
    string name;  // of the array
};

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

    using Chain = std::vector<std::pair<const Function*, size_t>>;
    // The place, and the places from which its function is called.
    Chain chain(size_t at) const {
        Chain c;
        for (const Function* g = src.function_at(at); g && c.size() < 5; g = src.function_at(at)) {
            c.emplace_back(g, at);
            size_t call = 0;
            do call = src.word(g->name, call + 1, src.text.size());
            while (call < src.text.size() && (!src.function_at(call) || src.function_at(call) == g));
            if (call >= src.text.size()) break;
            at = call;
        }
        return c;
    }
    size_t in_function(size_t at) const {
        for (const auto& [g, place] : chain(at))
            if (g == f) return place;
        return string::npos;
    }
    size_t first_of(std::initializer_list<const char*> words, size_t from, size_t to) const {
        size_t first = string::npos;
        for (const char* w : words)
            if (const size_t i = src.word(w, from, to); i < to) first = std::min(first, i);
        return first;
    }
    bool has(std::initializer_list<const char*> words, size_t from, size_t to) const {
        return first_of(words, from, to) != string::npos;
    }
    Source::Who who_comes(const Function& g, const std::vector<const Statement*>& path, size_t n, int depth = 0) const {
        Source::Who who = Source::everybody;
        for (size_t i = 0; i < n && i < path.size(); ++i)
            if (path[i]->kind == Statement::branch || path[i]->kind == Statement::loop)
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

    size_t index_of(const Statement* s) const { return size_t(std::find(pa.begin(), pa.end(), s) - pa.begin()); }

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
        for (const Statement& s : pb[n - 1]->parts)
            if (s.end <= pb[n]->begin) path[n] = &s;
        return path;
    }
    std::vector<const Statement*> last_in_turn(size_t n) const {
        auto path = pb;
        path.resize(n + 1);
        path[n] = &path[n - 1]->parts.back();
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
        for (size_t i = 0; i < n; ++i)
            if ((pa[i]->kind == Statement::branch || pa[i]->kind == Statement::loop) && src.who_enters(*f, *pa[i])) {
                const int line = src.line_at(pa[i]->begin);
                if (pa[i]->kind == Statement::branch)
                    return {text("not all threads enter the if of line %d: end it behind line %d, put "
                                 "__syncthreads() there, and begin it again", line, src.line_at(a)), ""};
                return {text("not all threads take all rounds of the loop of line %d: let all take as many, guard "
                             "the work with if, and put __syncthreads() between lines %d and %d", line,
                             src.line_at(a), src.line_at(b)), ""};
            }
        return {text("not all threads call %s: let all call it, and put __syncthreads() between lines "
                     "%d and %d", f->name.c_str(), src.line_at(a), src.line_at(b)), ""};
    }

    bool barrier_between(size_t from, size_t to) const {
        return from < to && (has({"__syncthreads", "__syncthreads_count", "__syncthreads_or", "__syncthreads_and"}, from, to) ||
                             (src.text.find(".sync()", from) < to) || (!far && has({"__syncwarp"}, from, to)));
    }
    Advice barrier() const {
        const bool same = a == b || (common == pa.size() && common == pb.size() && pa.back()->kind == Statement::simple);
        const bool met_inside = around && met != string::npos && around->holds(met);
        const bool met_between = met != string::npos && met > a && met < b;
        // Which statements of the two paths the barrier is put behind: those that part them, or those of the loop.
        const size_t level = common, loop = around ? index_of(around) : 0,
                     turn = around && loop + 1 < pa.size() ? loop + 1 + (pa[loop + 1]->kind == Statement::block) : loop + 1;
        // From the first to the second, and from the second around the loop to the first: where no barrier lies.
        const bool straight = !met_between && !barrier_between(pa.back()->end, b);
        const bool turns = around && !(met_inside && !met_between) && !barrier_between(b, around->end) &&
                           !barrier_between(around->begin, a);
        if (same && (!around || met_inside || !turns)) return same_round();
        auto kind_at = [&](size_t n) -> string {
            const Source::Who who = who_comes(*f, pa, n);
            return who == Source::everybody ? "__syncthreads()" : who == Source::whole_warps && !far ? "__syncwarp()" : "";
        };
        const string within = kind_at(level), at_turn = around ? kind_at(turn) : "";
        if (same || (turns && (!straight || within.empty()))) {
            if (at_turn.empty()) return split(turn);
            return behind(at_turn, same ? pa : last_in_turn(turn), turn);
        }
        if (!around && !straight) {  // the function is called again
            if (within.empty()) return split(level);
            if (!begins_with(*pb[level], "return")) return behind(within, pb, level);
            return {"put " + within + " before ", "", {src.line_at(pa[level]->begin)}};
        }
        if (within.empty()) return split(level);
        Advice forward;
        const Statement& holder = *pa[level - 1];
        const bool in_head = level == pa.size();  // a is the condition of what b stands in
        if (in_head && holder.kind == Statement::loop && holder.parts[0].kind == Statement::block)
            forward = {"put " + within + " after ", ", inside the loop", {src.line_at(holder.parts[0].begin)}};
        else if (in_head || holder.kind == Statement::branch)
            forward = {text("read what line %d compares into a variable first, then ", src.line_at(a)) + within +
                           ", then the " + (holder.kind == Statement::loop ? "loop" : "if"), ""};
        else
            forward = behind(within, before_second(level), level);
        if (!turns || at_turn.empty()) return forward;
        Advice back = behind(at_turn, last_in_turn(turn), turn);
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
    // The line with an atomic or a fence whose scope is the block.
    int scope_line() const {
        for (const Line* l : {&pair.a, &pair.b})
            if (src.line(l->number).find("_block(") != string::npos) return l->number;
        const size_t i = src.word("__threadfence_block", f->body.begin, f->body.end);
        return i < f->body.end ? src.line_at(i) : 0;
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
        return has({"__threadfence", "__threadfence_system"}, from, to) ||
               (far < 2 && has({"__threadfence_block"}, from, to));
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
        const size_t open = src.text.find('(', take);
        size_t lock = open + 1;
        while (strchr("&*( ", src.text[lock])) ++lock;
        size_t end = lock;
        while (isalnum(static_cast<unsigned char>(src.text[end])) || src.text[end] == '_') ++end;
        const string name = src.text.substr(lock, end - lock);
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
    // Loops that do nothing but look.
    void spins(const Statement& s, std::vector<const Statement*>& all) const {
        if (s.kind == Statement::loop && s.parts[0].parts.empty()) {
            const string t = src.text.substr(s.parts[0].begin, s.parts[0].end - s.parts[0].begin);
            if (t == ";" || t == "{}" || t.starts_with("continue") || t.starts_with("__nanosleep")) all.push_back(&s);
        } else if (s.kind == Statement::loop && s.parts[0].parts.size() == 1 && s.parts[0].kind == Statement::block &&
                   src.text.compare(s.parts[0].parts[0].begin, 11, "__nanosleep") == 0) {
            all.push_back(&s);
        }
        for (const Statement& part : s.parts) spins(part, all);
    }
    bool advise_flag(Advice& v) const {
        std::vector<const Statement*> all;
        spins(f->body, all);
        for (const Statement* s : all) {
            const bool itself = (s->head <= a && a < s->head_end) || (s->head <= b && b < s->head_end);
            if (itself) {
                v = {text("a flag needs atomics: in line %d read it by atomicAdd(&flag, 0), in line %d write it by "
                          "atomicExch(&flag, value), behind a __threadfence()", src.line_at(s->head <= b && b < s->head_end ? b : a),
                          src.line_at(s->head <= b && b < s->head_end ? a : b)), ""};
                return true;
            }
            const size_t writer = a_writes ? a : b, reader = a_writes ? b : a;
            if (s->end > reader || s->holds(writer)) continue;
            for (size_t i = s->head; i < s->head_end; ++i) {  // a name that the writer uses behind its write
                if (!isalpha(static_cast<unsigned char>(src.text[i])) || isalnum(static_cast<unsigned char>(src.text[i - 1])) || src.text[i - 1] == '_') continue;
                size_t end = i;
                while (isalnum(static_cast<unsigned char>(src.text[end])) || src.text[end] == '_') ++end;
                const size_t set = src.word(src.text.substr(i, end - i), writer, f->body.end);
                if (set >= f->body.end || s->holds(set) || src.text[end] == '(') continue;
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
        const Chain ca = chain(a), cb = chain(b);
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
            if (const int line = scope_line(); line) {
                v = {"__threadfence_block() and atomics that end in _block order threads of one block only: "
                     "use those without _block in ", "", {line}};
                return true;
            }
        return advise_lock(v) || advise_flag(v);
    }

    Advice advise_atomic(const std::vector<const Statement*>& path) const {
        const Statement& s = *path.back();
        const int line = src.line_at(s.begin);
        string t = s.kind == Statement::simple ? src.text.substr(s.begin, s.end - s.begin) : "", what;
        while (!t.empty() && strchr("; \n\r", t.back())) t.pop_back();
        for (char& c : t) c = c == '\n' || c == '\t' ? ' ' : c;
        size_t sign = string::npos;  // of the assignment
        for (size_t i = 1; i + 1 < t.size() && sign == string::npos; ++i)
            if (t[i] == '=' && t[i + 1] != '=' && !strchr("=!<>", t[i - 1])) sign = i;
        auto trimmed = [](string x) {
            x.erase(0, std::min(x.find_first_not_of(' '), x.size()));
            return x.erase(x.find_last_not_of(' ') + 1);
        };
        auto call = [&](const char* atomic_one, const string& x, const string& value) {
            what = string(atomic_one) + "(" + (x[0] == '*' ? x.substr(1) : "&" + x) + ", " + value + ")";
        };
        if (t.starts_with("++") || t.ends_with("++"))
            call("atomicAdd", trimmed(t.starts_with("++") ? t.substr(2) : t.substr(0, t.size() - 2)), "1");
        else if (t.starts_with("--") || t.ends_with("--"))
            call("atomicAdd", trimmed(t.starts_with("--") ? t.substr(2) : t.substr(0, t.size() - 2)), "-1");
        else if (sign != string::npos) {
            const string value = trimmed(t.substr(sign + 1));
            const char op = t[sign - 1];
            const string x = trimmed(t.substr(0, sign - (strchr("+-|&^*/", op) != nullptr)));
            if (op == '+') call("atomicAdd", x, value);
            else if (op == '-') call("atomicAdd", x, "-(" + value + ")");
            else if (op == '|') call("atomicOr", x, value);
            else if (op == '&') call("atomicAnd", x, value);
            else if (op == '^') call("atomicXor", x, value);
            else if (value.starts_with(x + " + ")) call("atomicAdd", x, value.substr(x.size() + 3));
            else if (value.starts_with(x + " - ")) call("atomicAdd", x, "-(" + value.substr(x.size() + 3) + ")");
            else if (!pair.adds) call("atomicExch", x, value);
            else if (value.ends_with(" + " + x)) call("atomicAdd", x, value.substr(0, value.size() - x.size() - 3));
            for (const string m : {"max", "min"})
                if (value.starts_with(m + "(" + x + ", "))
                    call(m == "max" ? "atomicMax" : "atomicMin", x,
                         value.substr(x.size() + 6, value.size() - x.size() - 7));
            if (x.find(' ') != x.npos && x.find('[') == x.npos) what.clear();  // a declaration
        }
        if (pair.race.bytes < 4)
            return {text("use an atomic in line %d: none has %zu bytes, so make the elements int first", line,
                         pair.race.bytes), ""};
        if (what.empty())
            return {text("use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS", line), ""};
        return {text("use an atomic: in line %d write `", line) + what + "` for `" + t + "`", ""};
    }

    // Blocks cannot wait for each other.
    Advice advise_blocks() const {
        const Party &x = pair.race.before, &y = pair.race.after;
        const int la = src.line_at(a), lb = src.line_at(b);
        if ((x.access ^ y.access) & atomic) {
            const Party& plain = x.access & atomic ? y : x;
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
                const size_t fence = first_of({"__threadfence", "__threadfence_system"}, a, ticket);
                if (fence == string::npos) return {"put __threadfence() after ", "", {src.line_at(first.end - 1)}};
                const auto path = Source::path(*f, fence);
                const bool by_all = who_comes(*f, path, path.size()) == who_comes(*f, pa, pa.size());
                if (!has({"__syncthreads"}, a, ticket))
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
        Advice v;
        if (advise_fences(v)) return v;
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

// ---- reports ---------------------------------------------------------------------------------------------

Advice without_source(const Pair& p) {
    const int far = distance(p.race);
    if (p.adds) return {"use an atomic (atomicAdd, ...), or let one thread write", ""};
    if (far == 2) return {"blocks cannot wait for each other: use an atomic, or a second kernel", ""};
    return {"order the two: put " + string(far ? "__syncthreads()" : "__syncwarp()") + " between them", ""};
}

string head(const string& what, const string& blocks, const Line& at, bool harmless = false) {
    if (!harmless) exit_status = 1;
    return "cudacpu: " + string(harmless ? "note: " : "hazard: ") + what + "\n  in kernel " + kernel_name() + ", " + blocks +
           (at.number ? ", at " + at.place : "");
}

std::set<string> said CUDACPU_LASTING;
struct Noted {
    Mistake what;
    char* address;
    size_t bytes;
    Party who;
};
std::map<std::pair<Mistake, uint64_t>, Noted> noted CUDACPU_LASTING;  // of this launch, the first at each line

void say_mistake(const Noted& m) {
    const Line& at = line_of(m.who.site);
    if (!said.insert(text("%d", int(m.what)) + at.place).second) return;
    string name;
    const string element = name_of(m.address, m.bytes, &name);
    const Region* r = find(m.address);
    string what = "an access to memory that is not the device's", mend = "give the kernel memory from cudaMalloc or cudaMallocManaged";
    if (m.what == Mistake::out_of_bounds) {
        what = "an access out of bounds: " + element + (r ? text(", which has %zu", r->bytes / m.bytes) : "");
        mend = "check the index against the size: if (i < n)";
    } else if (m.what == Mistake::unwritten) {
        what = "a value that nobody has written: " + element;
        mend = is_shared(r) ? "write it first, or check the index; if another thread writes it, put __syncthreads() "
                              "between"
                            : "set the memory first: cudaMemset, cudaMemcpy or a kernel";
    }
    say(head(what, "block " + block_of(m.who), at) +
        listing({{at.place, "thread " + thread_of(m.who) + " " + does(m.who)}}) + wrapped(mend));
}

string remark(const Pair& p, const Line& at) {
    const Party &x = p.race.before, &y = p.race.after;
    const bool blocks = x.block != y.block;
    auto who = [&](const Party& q) { return (blocks ? "block " + block_of(q) + " thread " : "thread ") + thread_of(q); };
    if (line_of(x.site).place != at.place) return who(y) + " " + does(y);
    if (line_of(y.site).place != at.place) return who(x) + " " + does(x);
    if (string(does(x)) != does(y)) return who(x) + " " + does(x) + ", " + who(y) + " " + does(y);
    return (blocks ? who(x) + " and " + who(y) : "threads " + thread_of(x) + " and " + thread_of(y)) + " write";
}

}  // namespace

int distance(const Race& r) {
    return r.before.block != r.after.block ? 2 : r.before.rank / 32 != r.after.rank / 32;
}

void note(Mistake what, char* address, size_t bytes, const Party& who) {
    exit_status = 1;
    noted.try_emplace({what, who.site}, Noted{what, address, bytes, who});
}

void report(const std::vector<Race>& races) {
    std::map<std::pair<string, string>, Pair> pairs;  // by their lines
    std::set<string> racing;
    for (const Race& r : races) {
        if (!r.equal) exit_status = 1;
        Line x = line_of(r.before.site), y = line_of(r.after.site);
        if (std::pair(x.file, x.number) > std::pair(y.file, y.number)) std::swap(x, y);
        racing.insert({x.place, y.place});
        const bool both = r.before.access & r.after.access & writes;
        Pair& p = pairs.try_emplace({x.place, y.place}, Pair{x, y, r, r.adds, both, r.equal, ""}).first->second;
        p.adds |= r.adds, p.both_write |= both, p.equal &= r.equal;
        const auto weight = [](const Race& race) {  // a read beside a write says more than two writes
            return std::pair(distance(race), !(race.before.access & race.after.access & writes));
        };
        if (weight(r) > weight(p.race)) p.race = r;
    }
    for (const auto& [key, m] : noted)
        if (m.what != Mistake::unwritten || !racing.count(line_of(m.who.site).place)) say_mistake(m);
    noted.clear();

    struct Report {
        Pair pair;
        Advice advice;
        std::vector<Remark> remarks;
    };
    std::map<string, Report> reports;  // those of one cause are one
    for (auto& [lines, p] : pairs) {
        name_of(p.race.address, p.race.bytes, &p.name);
        // Who only reads what another has read and written does not add to it.
        auto writes_twice = [&](const Line& l) {
            const auto same = pairs.find({l.place, l.place});
            return same != pairs.end() && same->second.both_write;
        };
        p.adds &= lines.first == lines.second || writes_twice(p.a) || writes_twice(p.b);
        if (!said.insert(string(launch->kernel->name) + p.a.place + p.b.place).second) continue;
        const Source* source = p.a.number && p.a.file == p.b.file ? Source::of(p.a.file) : nullptr;
        Advice advice = without_source(p);
        if (source)
            if (const Scene scene(p, *source); scene.found) advice = scene.advise();
        std::vector<Remark> remarks{{p.a.place, remark(p, p.a)}};
        if (p.a.place != p.b.place) remarks.push_back({p.b.place, remark(p, p.b)});
        const auto [r, is_new] = reports.try_emplace((p.equal ? "=" : "") + p.name + "\n" + advice.before + advice.after, Report{p, advice, {}});
        r->second.advice.lines.merge(advice.lines);
        for (const Remark& m : remarks) {
            auto& all = r->second.remarks;
            if (std::none_of(all.begin(), all.end(), [&](const Remark& o) { return o.place == m.place; })) all.push_back(m);
        }
    }
    for (auto& [key, r] : reports) {
        const Party &x = r.pair.race.before, &y = r.pair.race.after;
        std::sort(r.remarks.begin(), r.remarks.end(), [](const Remark& a, const Remark& b) {
            return std::pair(a.place.size(), a.place) < std::pair(b.place.size(), b.place);
        });
        if (r.remarks.size() > 6) r.remarks.resize(6);
        const bool equal = r.pair.equal;
        say(head((equal ? "race, but of equal values, on " : "race on ") + name_of(r.pair.race.address, r.pair.race.bytes),
                 x.block == y.block ? "block " + block_of(x) : "blocks " + block_of(x) + " and " + block_of(y), r.pair.a,
                 equal) +
            listing(r.remarks) + wrapped(r.advice.words()));
    }
}

}  // namespace cudacpu::hazards
