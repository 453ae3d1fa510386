// index.cpp - indices that are wrong: two threads share an element, or an access is out of bounds.
#include <algorithm>
#include <regex>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "memory/address_space.hpp"
#include "race/race.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

// ---- bounds

// What decides whether threads come here: the branches and loops around it, and each `if (...) return` before it,
// or in the same loop.
static Path deciding(const Source& src, const Function& f, size_t at) {
    Path found;
    bool in_loop = false;
    for (const Statement* s : f.path(at)) {
        if (s->head_end) found.push_back(s);
        in_loop |= s->kind == Statement::loop;
        for (const Statement& before : s->parts)
            if (before.head_end && (in_loop ? !before.holds(at) : before.end <= at) &&
                src.has({"return", "break", "continue"}, before))
                found.push_back(&before);
    }
    return found;
}

// The remark on an index such as `y * width + x`; "" for others.
static string about_rows(const string& index) {
    static const std::regex rows(R"([a-z)] \* (?!blockDim|gridDim|blockIdx)[a-z]|\b[A-Z]\w*\()");  // or a macro
    return std::regex_search(index, rows) ? say(row_length) : "";
}

// float* row = p + y * pitch, where pitch comes from cudaMallocPitch()
static string about_pitch(const Source& src, int line, const string& type, const string& value) {
    static const std::regex steps(R"((\w+) \+ (.*[pP]itch.*))"), in_elements(R"([pP]itch\w* */|[pP]itch.*sizeof)");
    std::smatch m;
    if (!src.has({"cudaMallocPitch", "cudaMalloc3D"}, 0, src.text.size()) || !type.ends_with("*") ||
        !std::regex_match(value, m, steps) || std::regex_search(value, in_elements))
        return "";
    return say(counts_bytes) +
           write(line, "(" + type + ")((char*)" + m[1].str() + " + " + m[2].str() + ")", value).words;
}

string check_index(const Line& line, string name, long element, long last, size_t has, bool shared) {
    static const std::regex inclusive(R"(\b(\w+) (<=|>) (\w[\w. ]*?)(?= *(\)|;|&&|\|\||$)))");
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    size_t first = src ? src->spot(line.number, name) : string::npos;
    const Function* f = first == string::npos ? nullptr : src->function_at(first);
    if (f && src->variable(name, src->start_of(line.number), src->start_of(line.number + 1)) ==
                 string::npos) {  // a pointer to that memory: row[x]
        while (first && in_word(src->text[first - 1])) --first;
        name = word_at(src->text, first), has = 0;
    }
    static const std::regex vector(R"(\b(u?(?:int|short|long|longlong)|float|double)([234]) ?\*)");
    const string pointer = f ? src->definition(*f, name).value_or("") : "";
    std::smatch m;
    if (const string code = pointer + " " + (f ? src->line(line.number) : ""); std::regex_search(code, m, vector))
        return say(whole_vectors, m[1].str() + m[2].str(), std::stoi(m[2]), std::stoi(m[2]) - 1);
    string all, depends;
    int compared = 0;  // the last line that compares what the index depends on
    for (const size_t i : f ? src->variables(name, first, src->text.find('\n', first)) : std::vector<size_t>()) {
        size_t end = i + name.size();
        if (src->text[end] != '[') return "";
        const string index = src->code(end + 1, closed(src->text, end) - 1);
        while (src->text[end] == '[') end = closed(src->text, end);
        const string used = "`" + src->code(i, end) + "`";
        if (all.find(used) == string::npos) all += (all.empty() ? "" : in_chinese() ? "、" : " and ") + used;
        depends = index + " " + src->definition(*f, index).value_or("");
        for (const Statement* s : deciding(*src, *f, i)) {
            const string head = src->cut(s->head, s->head_end);
            for (size_t at = s->head; at < s->head_end && head.find_first_of("<>") != string::npos; ++at)
                if (const string asks = src->name_at(at); !asks.empty() && has_name(depends, asks))
                    compared = src->line_at(s->head);
            if (has && element == long(has) && std::regex_search(head, m, inclusive) &&
                (m[2] == "<=") == s->holds(i) &&
                (index == m[1] || index.ends_with(" * " + m[3].str() + " + " + m[1].str())))
                return say(one_too_far, has, has - 1) +
                       write(src->line_at(s->head + size_t(m.position())),
                             m[1].str() + (s->holds(i) ? " < " : " >= ") + m[3].str(), m.str())
                           .words;
        }
    }
    if (all.empty()) return "";
    const dim3 grid = launch->grid, block = launch->block;
    const size_t at = pointer.empty() ? string::npos : src->variable(name, f->body.begin, first);
    const int defined = at == string::npos ? 0 : src->line_at(at);
    if (defined)
        if (const string pitch =
                about_pitch(*src, defined, src->code(src->text.find_last_of(";{}", at) + 1, at), pointer);
            !pitch.empty())
            return pitch;
    return (compared ? say(compared_there, all, compared) : say(check_first, all)) + say(either_or) +
           (shared && last > 0 ? say(up_to, last) : "") +
           (compared ? string()
                     : say(not_compared, size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z)) +
           (pointer.empty() ? "" : say(pointer_is, defined, name, pointer)) + about_rows(depends);
}

// ---- races of elements

Advice equal_writes(const Conflict& c) {
    return c.pair.equal ? Advice{say(equal_values, c.src.line_at(c.a))} : Advice();
}

// The variables in an expression; without all, those of a thread or a block.
static std::set<string> variables(const Conflict& c, const string& code, bool all = false) {
    static const std::regex word(R"([A-Za-z_]\w*(\.[xyz])?)");
    std::set<string> found;
    for (std::sregex_iterator m(code.begin(), code.end(), word), none; m != none; ++m)
        if (const string name = m->str(); all || name.find("Idx.") != string::npos || c.src.share(*c.f, name) != everybody ||
                                          c.src.definition(*c.f, name).value_or("").find("Idx.") != string::npos)
            found.insert(name);
    return found;
}

static string without_brackets(const string& code) { return std::regex_replace(code, std::regex("[() ]"), ""); }

// for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x): the blocks use the same elements,
// because the step is not the grid's.
Advice grid_step(const Conflict& c) {
    static const std::regex steps(R"((\w+) \+= (\w[\w.]*)(?![\w.]| [*/]))");
    if (c.far < 2) return {};
    for (const auto& [g, place] : c.src.callers(c.a)) {
        const string used = c.src.code(*g->path(place).back()), uses = used + " " + c.src.expanded(*g, used);
        for (const Statement* loop : g->path(place)) {
            const string code = loop->kind == Statement::loop ? c.src.code(*loop) : "";
            for (std::sregex_iterator m(code.begin(), code.end(), steps), none; m != none; ++m) {
                const string i = (*m)[1], step = (*m)[2], before = c.src.code(g->body.begin, loop->head_end);
                std::smatch set, number;
                string limit = c.src.condition(*loop);
                if (c.src.begins_with(*loop, "for")) limit.erase(0, limit.find(';'));
                if (!has_name(uses, i) || !std::regex_search(before, set, std::regex("\\b" + i + R"( = ([^;,]+))")))
                    continue;
                const string start = without_brackets(c.src.expanded(*g, set[1])),
                             width = without_brackets(c.src.expanded(*g, step));
                if (!std::regex_search(start, number,
                                       std::regex(R"(blockIdx\.([xyz])\*([\w.]+)|([\w.]+)\*blockIdx\.([xyz]))")) ||
                    (number[1].matched ? number[2] : number[3]) != width || has_name(limit, "blockIdx"))
                    continue;
                // The definition of the step changes if nothing else uses it.
                const string axis = number[1].matched ? number[1] : number[4], all = " * gridDim." + axis;
                const auto places = c.src.variables(step, g->body.begin, g->body.end);
                const auto value = c.src.definition(*g, step);
                const bool own = places.size() == 2 && value && width.find_first_of("+-?") == string::npos;
                const size_t at = own ? places[0] : c.src.word(i, loop->begin + size_t(m->position()), loop->end);
                const string old = own ? step + " = " + *value : m->str();
                return {say(step_of_grid), {write(c.src.line_at(at), old + all, old)}};
            }
        }
    }
    return {};
}

// The place where a caller passes the element, if the line itself names it otherwise.
static Conflict where_named(const Conflict& c) {
    for (const auto& [g, at] : c.src.callers(c.a)) {
        const Statement& s = *g->path(at).back();
        const size_t use = c.src.variable(c.pair.name, s.begin, s.end);
        if (c.far < 2 || c.a != c.b || c.pair.name.empty() || g == c.f || use >= s.end) continue;
        Conflict d = c;
        d.f = g, d.a = d.b = use, d.pa = d.pb = g->path(use);
        return d;
    }
    return c;
}

// One thread of each block writes into an array that has an element for each block.
Edit number_of_block(const Conflict& c) {
    static const std::regex first(R"(^(!\(?threadIdx\.x\)?|\(?threadIdx\.x\)? == 0u?|threadIdx\.x < 1)$)"),
        element(R"(\*?(\w+)|(\w+)\[(0|threadIdx\.x|\w+)\])");
    const Region* const r = find(c.pair.race.address);
    Path path = c.pa;
    const string target = assignment(c.src.code(innermost(path))).target;
    std::smatch m;
    const bool one = c.pair.race.before.rank == c.pair.race.after.rank && c.a == c.b &&
                     std::ranges::any_of(c.pa, [&](const Statement* s) {
                         return s->kind == Statement::branch && s->parts.size() == 1 &&
                                std::regex_search(c.src.expanded(*c.f, c.src.condition(*s)), first);
                     });
    if (!one || !r || launch->grid.y * launch->grid.z > 1 || !std::regex_match(target, m, element) ||
        (m[1].matched ? m[1] : m[2]) != c.pair.name ||
        r->bytes != launch->grid.x * element_at(c.pair.race.address, c.pair.race.bytes).bytes)
        return {};
    return write(c.src.line_at(c.a), c.pair.name + "[blockIdx.x]", target);
}

// `out[threadIdx.x] = x`, in several blocks: the number in the grid, or that of the block if one of its threads
// writes.
static Advice number_in_grid(const Conflict& c, const string& element, const string& index) {
    const Region* const r = find(c.pair.race.address);
    const dim3 grid = launch->grid, block = launch->block;
    if (!r || c.a != c.b || index.find("blockIdx") != string::npos) return {};
    const size_t has = r->bytes / element_at(c.pair.race.address, c.pair.race.bytes).bytes;
    const int line = c.src.line_at(c.a);
    if (const Edit e = number_of_block(c); !e.words.empty()) return {"", {e}};
    const bool few = std::ranges::any_of(c.pa, [&](const Statement* s) {
        return s->kind == Statement::branch && c.src.condition(*s).find("==") != string::npos;
    });
    if (few || c.src.has({"__shared__"}, c.f->body) || element.find('[') == string::npos) return {};
    size_t least = 1;  // elements of such a grid
    Advice v;
    for (const auto& [axis, blocks, threads] :
         {std::tuple('x', grid.x, block.x), std::tuple('y', grid.y, block.y), std::tuple('z', grid.z, block.z)}) {
        least *= (blocks - 1) * size_t{threads} + 1;
        if (blocks == 1) continue;
        const string own = string("threadIdx.") + axis,
                     all = string("blockIdx.") + axis + " * blockDim." + axis + " + " + own;
        Edit e;
        for (const string& name : variables(c, element, true)) {
            if (c.src.definition(*c.f, name) != own) continue;
            const size_t at = c.src.variables(name, c.f->body.begin, c.f->body.end)[0];
            if (c.src.line(c.src.line_at(at)).find(name + " = " + own) != string::npos &&
                !std::regex_search(c.src.code(c.f->body), std::regex("\\b" + name + " == ")))
                e = write(c.src.line_at(at), name + " = " + all, name + " = " + own);
        }
        const Statement& s = *c.pa.back();
        const string whole = c.src.code(s);
        string code = has_name(whole, "blockIdx") ? element : whole;  // else all indices lack it
        const string old = code;
        if (e.words.empty() && has_name(element, own) && s.kind == Statement::simple &&
            c.src.line_at(s.end) == line) {
            for (size_t at = code.find(own); at != string::npos; at = code.find(own, at + all.size() + 2))
                code.replace(at, own.size(),
                             code[at - 1] == '[' && code[at + own.size()] == ']' ? all : "(" + all + ")");
            e = write(line, code, old);
        }
        if (e.words.empty()) return {};
        v.add(e);
    }
    return has < least ? Advice() : v;
}

// Two threads have the same number for an element of their own. Several threads change one element on purpose if
// its number comes from data or a division, or lacks a number of the thread that the value has: an atomic is right
// then. If the number is another one in each round of a loop, a barrier may be missing.
Advice wrong_index(const Conflict& racing) {
    const Conflict c = where_named(racing);
    const size_t open = c.a + c.pair.name.size();
    if (c.pair.name.empty() || c.src.text[open] != '[') return {};
    const string subscript = c.src.code(open + 1, closed(c.src.text, open) - 1),
                 element = c.pair.name + "[" + subscript + "]";
    const auto index = c.computed(subscript);
    Path path = c.pa;
    Assignment change = assignment(c.src.code(innermost(path)));  // also of if (x[i] < 0) x[i] = 0;
    if (c.f != racing.f) {
        change = {element, "", c.src.code(*c.pa.back())};
        change.value.replace(change.value.find(element), element.size(), "");
    }
    const bool one_place = c.a == c.b;
    const string target = one_place ? change.target : element;
    const auto used = variables(c, target);
    if (!index || used.empty() || !target.starts_with(c.pair.name + "[") ||
        c.src.code(c.b, c.b + element.size()) != element)
        return {};
    // Also the lines that set its variables or use a block's array.
    std::set<int> lines{c.src.line_at(c.a), c.src.line_at(c.b)};
    bool varies = false;
    for (const string& name : variables(c, target, true))
        for (const size_t at : c.src.variables(name, c.f->body.begin, c.f->body.end)) {
            const Statement& s = *c.f->path(at).back();
            const bool sets = assignment(c.src.code(s)).target == name || (s.kind == Statement::loop && s.asks(at));
            if (sets || (c.far < 2 && name == c.pair.name)) lines.insert(c.src.line_at(at));
            varies |= sets && c.around && c.around->holds(at);
        }
    // In two lines: a thread's own element, whose number does not come from memory.
    if (!one_place && (c.far < 2 || c.one_atomic() || launch->cooperative)) return {};
    string rows = about_rows(*index);
    for (const auto& [axis, blocks] :
         {std::pair("x", launch->grid.x), {"y", launch->grid.y}, {"z", launch->grid.z}})
        if (c.far == 2 && launch->grid.y * launch->grid.z > 1 && blocks > 1 &&
            index->find(string("blockIdx.") + axis) == string::npos)
            rows = say(lacks_block, axis);
    if (!one_place) return {"", {{say(rows.empty() ? index_of_blocks : own_element, subscript) + rows, lines}}};
    const bool of_block = std::ranges::any_of(variables(c, change.value, true), [&](const string& name) {
        const size_t at = c.src.variable(name, c.f->body.begin, c.f->body.end);
        return at != string::npos && c.src.has({"__shared__"}, *c.f->path(at).back());
    });
    const bool own = c.pair.adds
                         ? !(c.far == 2 && of_block) && !c.one_atomic() &&
                               index->find_first_of("/%>&?") == string::npos && !c.update(c.pb).reads_others &&
                               std::ranges::includes(used, variables(c, change.value))
                     : c.far == 2 ? c.pair.both_write && !launch->cooperative
                                  : c.pair.both_write && !c.pair.equal && c.around && !varies;
    if (!own) return {};
    if (const Advice v = c.far == 2 ? number_in_grid(c, element, *index) : Advice(); !v.empty()) return v;
    return {"", {{say(c.far == 2 && rows.empty() ? index_of_blocks : own_element, *index) + rows, lines}}};
}

// A __shared__ variable that each thread sets first, and then uses as if it were its own.
Advice own_variable(const Conflict& c) {
    const Region* r = find(c.pair.race.address);
    const auto uses = c.src.variables(c.pair.name, c.f->body.begin, c.f->body.end);  // the first one declares it
    if (!r || r->bytes != c.pair.race.bytes || uses.size() < 2) return {};
    const Path path = c.f->path(uses[1]);
    const Statement& first = *path.back();
    const bool declared = c.src.has({"__shared__"}, *c.f->path(uses[0]).back());
    const bool counts = first.kind == Statement::loop && first.asks(uses[1]);
    if (!declared || (!counts && assignment(c.src.code(first)).target != c.pair.name) ||
        !path[path.size() - 1 - !counts]->holds(uses.back()) || c.barrier_between(uses[1], uses.back()) ||
        std::ranges::any_of(uses, [&](size_t i) { return c.src.text[i - 1] == '&'; }))
        return {};
    return {say(own_variable_words, c.src.line_at(uses[0]), c.pair.name)};
}

// ---- what follows from a race

// The variables that its lines set, and those of the function that are computed from these or from the memory.
static std::set<string> changed_by(const Source& src, const Pair& race, const Function& f, bool also_memory) {
    std::set<string> names;
    const auto add_target = [&](const Statement* s) {
        const string target = s ? assignment(src.code(*s)).target : "";
        return !target.empty() && std::ranges::all_of(target, in_word) && names.insert(target).second;
    };
    for (const Line* line : {&race.a, &race.b}) add_target(src.statement_in(line->number, race.name));
    if (!also_memory) return names;
    names.insert(race.name);
    const auto add_users = [&](const string& name) {
        return std::ranges::count_if(src.variables(name, f.body.begin, f.body.end),
                                     [&](size_t i) { return add_target(f.path(i).back()); });
    };
    while (std::ranges::any_of(std::set(names), add_users)) {}
    return names;
}

static bool follows_from(const Line& line, const string& name, const Pair& cause, bool by_index, bool by_branch,
                         bool own_memory) {
    const Source* src = Source::of(line.file);
    const size_t at = src ? src->spot(line.number, name) : string::npos;
    const Function* f = at == string::npos ? nullptr : src->function_at(at);
    if (!f || src != Source::of(cause.b.file) || cause.name.empty()) return false;
    std::set<string> names = changed_by(*src, cause, *f, own_memory);
    if (cause.name != name) names.insert(cause.name);
    const size_t open = src->text.find('[', at);
    const string index = src->line_at(open) == line.number ? src->cut(open, closed(src->text, open)) : "";
    const Path conditions = by_branch ? deciding(*src, *f, at) : Path();
    return std::ranges::any_of(names, [&](const string& n) {
        return (by_index && has_name(index, n)) ||
               std::ranges::any_of(conditions, [&](const Statement* s) { return has_name(src->condition(*s), n); });
    });
}
bool index_follows_from(const Line& line, const string& name, const Pair& cause) {
    return follows_from(line, name, cause, true, false, true);
}
bool end_follows_from(const Line& barrier, const Pair& cause) {
    return follows_from(barrier, "", cause, false, true, true);
}
bool follows_from(const Pair& pair, const Pair& cause) {
    return follows_from(pair.a, pair.name, cause, true, true, false) ||
           follows_from(pair.b, pair.name, cause, true, true, false);
}

}  // namespace cudacpu::race
