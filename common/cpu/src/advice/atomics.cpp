// atomics.cpp - advice that uses an atomic, or a second kernel because blocks cannot wait for each other; and
// advice for variables that should not be __shared__.
#include <algorithm>
#include <regex>
#include <tuple>

#include "advice/scene.hpp"
#include "advice/structure.hpp"
#include "engine/text.hpp"
#include "race/race.hpp"
#include "report/race_report.hpp"

namespace cudacpu::race {

using std::string;

bool Scene::each_has_its_own(const string& name, const Statement& declaration,
                             const std::set<string>& others) const {
    const auto scope = f->path(declaration.begin);
    const auto all = src.variables(name, declaration.end, scope[scope.size() - 2]->end);
    if (all.empty() || std::ranges::any_of(all, [&](size_t i) { return src.text[i - 1] == '&'; })) return false;
    const size_t first = all.front(), last = all.back();
    const auto path = f->path(first);
    const Statement& loop = *path.back();  // with a counter that all threads share
    if (loop.kind == Statement::loop && src.text.find_first_not_of(" (", loop.head) == first && loop.holds(last))
        return true;
    if (barrier_between(first, last)) return false;
    const Statement &sets = *path.back(), &uses = *f->path(last).back();
    const string code = src.text.substr(sets.begin, sets.end - sets.begin);
    const size_t sign = code.find_first_not_of(' ', name.size());
    if (sets.begin != first || !path[path.size() - 2]->holds(last) || code[sign] != '=' || code[sign + 1] == '=')
        return false;
    const auto differs = [&](const Statement& s) {
        const auto is_in = [&](const string& own) { return src.word(own, s.begin, s.end) < s.end; };
        return std::ranges::any_of(f->own, is_in) || std::ranges::any_of(others, is_in);
    };
    if (differs(sets)) return true;
    for (const size_t i : src.variables(name, first + 1, last))  // the thread's own sum
        for (const Statement* s : f->path(i))
            if (s->kind == Statement::loop && !s->holds(first)) return differs(uses);
    return false;
}

bool Scene::advise_own(Advice& v) const {
    for (const size_t i : src.words("__shared__", f->body.begin, a)) {
        const Statement& d = *f->path(i).back();
        std::vector<string> names;
        string type;
        bool plain = d.kind == Statement::simple && d.begin == i;
        size_t at = i + strlen("__shared__");
        for (size_t next; plain && at < d.end; at = next + 1) {  // the names between the commas
            next = std::min(src.text.find(',', at), d.end - 1);
            const size_t stop = src.text.find_last_not_of(' ', next - 1) + 1;
            const size_t start = src.text.find_last_of(" *", stop - 1) + 1;
            const string name = src.name_at(start);
            plain = !name.empty() && start + name.size() == stop;
            if (type.empty()) type = src.text.substr(at + 1, start - at - 1);
            names.push_back(name);
        }
        if (!plain || type.find('*') != string::npos) continue;
        std::set<string> mine;
        for (size_t round = 0; round < names.size(); ++round)  // a name may be computed from another
            for (const string& name : names)
                if (each_has_its_own(name, d, mine)) mine.insert(name);
        if (!mine.count(pair.name)) continue;
        string own, shared;
        for (const string& name : names) {
            string& list = mine.count(name) ? own : shared;
            list += (list.empty() ? "" : ", ") + name;
        }
        string others;
        if (!shared.empty()) others.append(" __shared__ ").append(type).append(shared).append(";");
        v = {
            text(
                "__shared__ makes it one variable for all threads, but each puts a value of its own there: in line "
                "%d write `%s%s;%s` for `%s`",
                src.line_at(i), type.c_str(), own.c_str(), others.c_str(), src.original(d.begin, d.end).c_str()),
            ""};
        return true;
    }
    return false;
}

Advice Scene::advise_atomic(const Path& path) const {
    const Statement* inner = path.back();
    const int line = src.line_at(inner->begin);
    while (inner->kind != Statement::simple && inner->parts.size() == 1 &&
           src.line_at(inner->parts[0].begin) == line &&
           src.variable(pair.name, inner->head, inner->head_end) >= inner->head_end)
        inner = &inner->parts[0];
    const Statement& s = *inner;
    const size_t named = src.variable(pair.name, s.begin, s.end);
    const bool by_index = far == 2 && pair.race.before.rank == pair.race.after.rank && !pair.name.empty() &&
                          (named >= s.end || src.text[named + pair.name.size()] == '[');
    Advice index{"check the index of ",
                 ": two blocks use one element (should it hold blockIdx.x?); if that is meant, use an atomic, "
                 "or a loop around atomicCAS",
                 {pair.a.number, pair.b.number}};
    const size_t kernel = src.text.find_last_of(";}", f->head) + 1;
    const bool no_block = src.has({"__global__"}, kernel, f->body.begin) &&
                          !src.has({"blockIdx", "block_rank", "this_grid"}, f->body.begin, f->body.end);
    if (pair.adds && by_index && (pair.a.number != pair.b.number || no_block)) return index;
    if (trades()) return barrier();
    if (const string old = old_value(); pair.adds && !old.empty()) return {old, ""};
    if (pair.adds && pair.a.number != pair.b.number)
        return {"use one atomic instead of what ",
                " do: atomicMax, atomicAdd, ... or a loop around atomicCAS",
                {pair.a.number, pair.b.number}};
    if (pair.race.bytes < 4)
        return {text("use an atomic in line %d: none has %zu bytes, so make the elements int first", line,
                     pair.race.bytes),
                ""};
    const string t = s.kind == Statement::simple ? src.code_of(s) : "";
    const string call = as_atomic(t, !pair.adds);
    const string type = call.starts_with("atomicAdd") || call.starts_with("atomicExch") ? "" : type_changed(call);
    if (type == "float" || type == "double")
        return {text("use an atomic in line %d: a loop around atomicCAS, as no atomic does this with %s", line,
                     type.c_str()),
                ""};
    if (call.empty()) {
        const size_t end = s.kind == Statement::simple ? s.end : s.head_end;
        auto [step, atomic] = src.step_at(pair.name, s.kind == Statement::simple ? s.begin : s.head, end);
        if (step.empty() && pair.adds && named >= s.end) std::tie(step, atomic) = src.step_at("", s.begin, end);
        if (!step.empty())
            return {text("use an atomic: in line %d write `", line) + atomic + "` for `" + step + "`", ""};
        if (by_index) return index;
        return {text("use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS", line), ""};
    }
    return {text("use an atomic: in line %d write `", line) + call + "` for `" + t + "`", ""};
}

// The memory that an atomic changes: "&s->count" is count.
static string changed(const string& pointer) {
    const size_t end = std::min(pointer.find('['), pointer.size()), dot = pointer.find_last_of(".>", end);
    const size_t from = dot == string::npos ? pointer.find_first_not_of("&*( ") : dot + 1;
    return pointer.substr(from, end - from);
}

string Scene::type_changed(const string& call) const {
    const size_t open = call.find('('), comma = call.find(',');
    return comma == string::npos ? "" : type_of(changed(call.substr(open + 1, comma - open - 1)));
}

Advice Scene::typed(Advice v) const {
    static const std::regex call(R"(atomic(Add|Exch|CAS|Max|Min|And|Or|Xor)\((&?[^,()]+), )");
    static const std::set<string> plain{"long", "long int", "int64_t", "std::int64_t", "ptrdiff_t"},
        unsigned_ones{"unsigned long", "size_t", "std::size_t", "uint64_t", "std::uint64_t"};
    string typed;
    std::sregex_iterator i(v.before.begin(), v.before.end(), call), none;
    size_t at = 0;
    for (; i != none; ++i) {
        const string name = (*i)[1], pointer = (*i)[2], type = type_of(changed(pointer));
        const bool compares = name[0] == 'M', as_signed = compares && plain.count(type),
                   as_unsigned =
                       unsigned_ones.count(type) || (!compares && (plain.count(type) || type == "long long"));
        if (!as_signed && !as_unsigned) continue;
        const size_t to = size_t(i->position(2));
        typed += v.before.substr(at, to - at) + (as_signed ? "(long long*)" : "(unsigned long long*)");
        at = to;
    }
    v.before = typed + v.before.substr(at);
    return v;
}

bool Scene::trades() const {
    if (far == 2 || pair.name.empty() || !goes_round()) return false;
    std::set<string> indices;
    const size_t end = src.text.find('\n', b);
    for (const size_t i : src.variables(pair.name, src.text.rfind('\n', a), end)) {
        const size_t open = i + pair.name.size();
        if (src.text[open] != '[') return false;
        const string index = text_between(open + 1, closed(src.text, open) - 1);
        if (index.find('[') != string::npos) return false;  // its value comes from memory
        indices.insert(index);
    }
    return indices.size() > 1;
}

bool Scene::second_fills_line() const {
    const Statement& s = *pb.back();
    return text_between(src.text.rfind('\n', s.begin), src.text.find('\n', b)) == src.code_of(s) + ";";
}

// A thread that reads a word and then adds to it by an atomic gets a unique value only from the atomic's result.
string Scene::old_value() const {
    const Statement& change = *pb.back();
    const string adds = src.code_of(change);
    if (pb.size() < 2 || pb[pb.size() - 2]->kind != Statement::block || !second_fills_line()) return "";
    for (const Statement& s : pb[pb.size() - 2]->parts) {
        const string reads = src.code_of(s);  // int pos = *n, or list[*n] = x
        if (s.kind != Statement::simple || s.end > change.begin || (a < change.begin && !s.holds(a)) ||
            barrier_between(s.end, change.begin))
            continue;
        const size_t sign = std::min(reads.rfind(" = "), reads.size());
        const string own = reads.substr(0, sign).substr(reads.find_last_of(" *", sign - 1) + 1);
        const size_t sum = adds.find(" = " + own + " + ");  // *n = pos + 1
        string call = sum == string::npos ? adds : adds.substr(0, sum) + " += " + adds.substr(sum + own.size() + 6);
        if (!call.starts_with("atomic")) call = as_atomic(call, true);
        const size_t open = call.find('(') + 1, comma = std::min(call.find(", "), call.size());
        const string pointer = call.substr(open, comma - open), value = call.substr(comma),
                     word = pointer[0] == '&' ? pointer.substr(1) : "*" + pointer;
        const size_t at = reads.find(word), end = at + word.size();
        if (comma == call.size() || !at || at == string::npos || reads.find(word, end) != string::npos ||
            src.original(s.end, change.begin).find(word) != string::npos)
            continue;
        const char before = reads[reads.find_last_not_of(' ', at - 1)];
        const bool named = !in_word(before) && !strchr(word[0] == '*' ? ")]" : ".>", before) &&
                           !in_word(reads[end]) && (end == reads.size() || !strchr("[.-(", reads[end])),
                   whole = at == sign + 3 && end == reads.size();
        const auto has = [](const string& code, const string& name) {
            return std::regex_search(code, std::regex("\\b" + name + "\\b"));
        };
        if (!named || pair.name.empty() || !has(word, pair.name) ||
            (std::ranges::all_of(own, in_word) && has(value, own)) ||
            (call.starts_with("atomicExch") && (!whole || has(value, pair.name))))
            continue;
        return text("take the old value from the atomic: in line %d write `%s` for `%s`, and drop line %d",
                    src.line_at(s.begin), (reads.substr(0, at) + call + reads.substr(end)).c_str(), reads.c_str(),
                    src.line_at(b));
    }
    return "";
}

Advice Scene::read_by_atomic(int line) const {
    if (const string old = old_value(); src.line_at(a) == line && !old.empty()) return {old, ""};
    return {text("read it by an atomic in line %d: atomicAdd(&x, 0); others go on changing it, and its last "
                 "value is for the next kernel or the host to read",
                 line),
            ""};
}

size_t Scene::first_atomic(size_t from, size_t to) const {
    for (size_t i = src.text.find("atomic", from); i < to; i = src.text.find("atomic", i + 1))
        if (src.text.find('(', i) < src.text.find_first_of(" ;", i)) return i;
    return string::npos;
}

Advice Scene::advise_blocks() const {
    const Accessor &x = pair.race.before, &y = pair.race.after;
    const int la = src.line_at(a), lb = src.line_at(b);
    const bool both_write = x.access & y.access & writes;
    const size_t ticket = a_writes && a != b ? first_atomic(a, b) : string::npos;
    if ((x.access ^ y.access) & atomic) {
        // Data that are set in a branch and published after a fence are used by the threads that find them
        // published.
        if (ticket != string::npos && fenced(a, ticket) && else_behind(ticket, b) != string::npos)
            for (size_t i = first_atomic(f->body.begin, a); i < a; i = first_atomic(i + 1, a))
                if (first_argument(i) == first_argument(ticket))
                    return {"put __threadfence() after ", "", {line_behind(ticket, b)}};
        const Accessor& plain = x.access & atomic ? y : x;
        const bool exchanged = src.has({"atomicCAS", "atomicExch"}, pa.back()->begin, a) ||
                               std::ranges::any_of(src.functions, [&](const Function& g) {
                                   return g.name == src.name_at(a) && src.lock_of(g) == Source::takes;
                               });
        if (plain.access & writes && exchanged && line_of(plain.site).number == lb)
            if (const string back = give_back(b, fenced(a, b)); !back.empty()) return {back, ""};
        if (src.word("atomicCAS", pa.back()->begin, pa.back()->end) < pa.back()->end)
            return {text("atomicCAS in line %d does nothing if the word has changed since it was read: repeat it "
                         "until it returns what was read",
                         la),
                    ""};
        if (plain.access & writes)
            return {text("set it before the launch (cudaMemset), not in line %d: no barrier spans the blocks",
                         line_of(plain.site).number),
                    ""};
        return read_by_atomic(line_of(plain.site).number);
    }
    const auto dropped = [&] { return src.text.compare(f->path(ticket).back()->begin, 6, "atomic") == 0; };
    if (ticket != string::npos && !(both_write && dropped())) {  // whose result tells which thread comes last
        const Statement& first = outermost(a, ticket);
        const size_t fence = src.first_of({"__threadfence", "__threadfence_system"}, a, ticket);
        if (fence == string::npos) return {"put __threadfence() after ", "", {src.line_at(first.end - 1)}};
        const auto path = f->path(fence), drawn = f->path(ticket);
        const bool by_all = who_comes(*f, path, path.size()) == who_comes(*f, pa, pa.size());
        // In a branch that not all threads enter, the writing thread also draws the ticket, so a barrier is neither
        // needed nor possible.
        const auto both = std::ranges::mismatch(pa, drawn).in1 - pa.begin();
        const bool alone = who_comes(*f, pa, both) != everybody;
        if (!alone && !src.has({"__syncthreads"}, a, ticket))
            return {by_all ? "put __syncthreads() before " : "put __syncthreads() after ",
                    "",
                    {by_all ? src.line_at(outermost(ticket, a).begin) : src.line_at(first.end - 1)}};
        return {"put __threadfence() after ", "", {line_behind(ticket, b)}};
    }
    if (both_write)
        return {text("check the index of line %d: two blocks write one element (should it hold blockIdx.x?); "
                     "if that is meant, let one block write, or use an atomic",
                     la),
                ""};
    const bool in_place = pa.back() == pb.back();
    if (a_writes && a != b && !in_place)
        return {text("blocks cannot wait for each other: end the kernel behind line %d, and do line %d "
                     "in a second kernel",
                     la, lb),
                ""};
    return {text("blocks cannot wait for each other: let line %d write into another array%s", a_writes ? la : lb,
                 in_place ? "" : ", or move it into a second kernel"),
            ""};
}

}  // namespace cudacpu::race
