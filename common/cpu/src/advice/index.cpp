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

namespace {

// The variables of a text, and members such as threadIdx.x.
std::set<string> names_in(const string& code) {
    static const std::regex name(R"(\b[A-Za-z_]\w*(\.[xyz]\b)?)");
    std::set<string> found;
    for (std::sregex_iterator m(code.begin(), code.end(), name), none; m != none; ++m) found.insert(m->str());
    return found;
}

bool shares(const std::set<string>& names, const string& code) {
    return std::ranges::any_of(names, [&](const string& name) { return has_name(code, name); });
}

// What decides whether threads come here: the branches and loops around it, and each `if (...) return` before it,
// or in the same loop.
Path deciding(const Source& src, const Function& f, size_t at) {
    Path found;
    bool in_loop = false;
    for (const Statement* s : f.path(at)) {
        if (s->head_end) found.push_back(s);
        in_loop |= s->kind == Statement::loop;
        for (const Statement& before : s->parts)
            if (before.head_end && (in_loop || before.begin < at) &&
                src.has({"return", "break", "continue"}, before))
                found.push_back(&before);
    }
    return found;
}

// The remark on an index such as `y * width + x`, or by a macro; "" for others.
string about_rows(const string& index) {
    static const std::regex rows(R"([a-z)] \* (?!blockDim|gridDim|blockIdx)[a-z]|\b[A-Z]\w*\()");
    return std::regex_search(index, rows) ? say(row_length) : "";
}

}  // namespace

// ---- bounds

// float4 number i exists if i < n / 4: where the kernel, or what launches it, rounds their number up, and else what
// is wrong.
static string about_vectors(const Source& src, const Function& f, const string& type, int width) {
    const string k = std::to_string(width), below = std::to_string(width - 1);
    const std::regex rounded_up("\\(?(\\w+) \\+ " + below + "\\)? ?(/ ?" + k + "|>> " + (width == 4 ? "2" : "1") +
                                ")");
    const size_t launched =
        Source::of(launch->where.file) == &src ? src.start_of(launch->where.line) : string::npos;
    std::smatch m;
    for (const Function* g : {&f, launched == string::npos ? nullptr : src.function_at(launched)})
        for (int line = g ? src.line_at(g->body.begin) : 0; g && line <= src.line_at(g->body.end - 1); ++line)
            if (const string code = src.line(line); std::regex_search(code, m, rounded_up))
                return say(whole_vectors, type, width, width - 1) +
                       say(rounds_up, line, m.str(), m.str(1) + " / " + k);
    return say(whole_vectors, type, width, width - 1) + say(round_down, width - 1);
}

string check_index(const Line& line, string name, const Where& made, long last, bool& one_cause) {
    static const std::regex vector(R"(\b(u?(?:int|short|long|longlong)|float|double)([234]) ?\*)"),
        bytes("\\bchar ?\\*"), compares("[<>]|!=");
    const Source *src = line.number ? Source::of(line.file) : nullptr, *host = Source::of(made.file);
    const size_t first = src ? src->spot(line.number, name) : string::npos;
    const Function* f = first == string::npos ? nullptr : src->function_at(first);
    if (!f) return "";
    const string code = src->line(line.number), memory = name;
    const size_t end = src->start_of(line.number) + code.size();
    if (src->variable(name, end - code.size(), end) >= end)  // a pointer to that memory: row[x]
        name = src->text[first] == '[' ? src->object_of(first + 1) : "";
    const string pointer = src->definition(*f, name).value_or("");
    if (name != memory && (pointer.empty() || !has_name(pointer, memory))) name = "";
    std::smatch m;
    if (const string all = pointer + " " + code; std::regex_search(all, m, vector))
        return one_cause = true, about_vectors(*src, *f, m[1].str() + m[2].str(), std::stoi(m[2]));
    if (host && host->line(made.line).find("cudaMallocPitch") != string::npos &&
        !std::regex_search(pointer.empty() ? src->code(f->body) : pointer, bytes))
        return one_cause = true, say(pitch_counts_bytes);
    string which, depends = name.empty() ? src->code(*f->path(first).back()) : "", compared, asked;
    for (const size_t i : src->variables(name, end - code.size(), end)) {
        size_t close = i + name.size();
        if (src->text[close] != '[') return "";
        const string index = src->code(close + 1, closed(src->text, close) - 1);
        while (src->text[close] == '[') close = closed(src->text, close);
        const string used = "`" + src->code(i, close) + "`";
        if (which.find(used) == string::npos) which += (which.empty() ? "" : in_chinese() ? "、" : " and ") + used;
        depends += index + " " + src->definition(*f, index).value_or("") + " ";
    }
    for (const Statement* s : deciding(*src, *f, first)) {
        const string asks = src->condition(*s);
        if (std::regex_search(asks, compares) && shares(names_in(asks), depends))
            compared = say(compared_there, src->line_at(s->head), asks) +
                       (asks.find("<=") != string::npos ? say(or_less) : ""),
            asked += asks + " ";
    }
    const dim3 grid = launch->grid, block = launch->block;
    if (compared.empty() && !last)
        compared = say(not_compared, size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z);
    for (const string& n :
         asked.empty() || last ? std::set<string>() : names_in(depends))  // z of x < width && y < height
        if (!has_name(asked, n) && src->definition(*f, n).value_or("").find("Idx.") != string::npos)
            compared = say(one_not_compared, src->line_at(src->variable(n, f->body.begin, first)), n);
    return (last ? say(longer, last) : "") +
           say(check_first, which.empty()  ? say(this_line)
                            : in_chinese() ? " " + which + " "
                                           : which) +
           compared + (last ? "" : say(either_or)) +
           (pointer.find(" + ") != string::npos
                ? say(pointer_is, src->line_at(src->variable(name, f->body.begin, first)), pointer)
                : "") +
           (which.empty() ? "" : about_rows(depends));
}

// ---- races of elements

Advice equal_writes(const Conflict& c) {
    return c.pair.equal ? Advice{say(equal_values, c.src.line_at(c.a))} : Advice();
}

// A thread of two blocks comes to one element in different rounds of a loop that goes on by the threads of a block,
// or that a macro hides.
Advice grid_step(const Conflict& c) {
    static const std::regex steps(R"(\w+ \+= ([^;]+?)(?=;|\) |\)?$))");
    const Accessor &x = c.pair.race.before, &y = c.pair.race.after;
    const string index = word_at(c.src.text, c.a + c.pair.name.size() + 1);
    if (c.far < 2 || x.rank != y.rank || x.step == y.step) return {};
    for (const auto& [g, place] : c.src.callers(c.a))
        for (const Statement* s : g->path(place)) {
            const string code = s->kind == Statement::loop ? c.src.code(*s) : "", kind = word_at(code, 0);
            std::smatch m;
            string step = std::regex_search(code, m, steps) ? c.src.expanded(*g, m[1]) : "";
            for (const Function& h : c.src.functions)
                if (!h.name.empty() && has_name(step, h.name)) step += c.src.code(h.body);
            const bool hidden = !code.empty() && kind != "for" && kind != "while" && kind != "do" &&
                                !index.empty() && has_name(c.src.condition(*s), index);
            if (hidden) return {say(hidden_step, c.src.line_at(s->begin))};
            if (has_name(step, "blockDim") && !has_name(step, "gridDim"))
                return {say(step_of_grid, c.src.line_at(s->begin), m.str())};
        }
    return {};
}

// Returns what the function computes a variable from, and adds its line; "" if there is no such expression.
static string add_definition(std::set<int>& lines, const Conflict& c, const string& name) {
    const string value = c.src.definition(*c.f, name).value_or("");
    if (const auto uses = c.uses(name); !value.empty() && !uses.empty()) lines.insert(c.src.line_at(uses[0]));
    return value;
}

// Two threads have the same number for an element of their own. Several threads change one element on purpose if
// its number comes from data or a division, or lacks a number of the thread that the value has: an atomic is right
// then. If the number is another one in each round of a loop, a barrier may be missing.
Advice wrong_index(const Conflict& c) {
    const size_t open = c.a + c.pair.name.size();
    if (c.pair.name.empty() || c.src.text[open] != '[') return {};
    const string subscript = c.src.code(open + 1, closed(c.src.text, open) - 1),
                 element = c.pair.name + "[" + subscript + "]";
    const string index = c.src.expanded(*c.f, subscript);
    Path path = c.pa;
    const Assignment change = assignment(c.src.code(innermost(path)));  // also of if (x[i] < 0) x[i] = 0;
    const auto of_thread = [&](const string& code) {
        auto names = names_in(c.src.expanded(*c.f, code));
        std::erase_if(names,
                      [&](auto& n) { return n.find("Idx.") == string::npos && c.src.share(*c.f, n) == everybody; });
        return names;
    };
    const auto used = of_thread(subscript);
    const bool from_memory = std::ranges::any_of(names_in(subscript + " " + index), [&](const string& n) {
        return c.src.definition(*c.f, n).value_or("").find('[') != string::npos;  // also by a member: pixel.colour
    });
    if (index.find('[') != string::npos || from_memory || used.empty() ||
        c.src.code(c.b, c.b + element.size()) != element || (c.a == c.b && !change.target.starts_with(element)))
        return {};
    std::set<int> lines{c.src.line_at(c.a), c.src.line_at(c.b)};  // and those that set its variables
    for (const string& name : names_in(subscript + " " + index)) add_definition(lines, c, name);
    if (c.far < 2)
        for (const size_t at : c.uses(c.pair.name)) lines.insert(c.src.line_at(at));
    const Accessor &x = c.pair.race.before, &y = c.pair.race.after;
    const bool sums = (c.far == 2 && c.src.has({"__shared__"}, c.f->body)) || c.one_atomic() ||
                      index.find_first_of("/%>&?") != string::npos || c.update(c.pb).reads_others ||
                      !std::ranges::includes(used, of_thread(change.value));
    if (c.a == c.b && c.pair.adds ? sums
        : c.far == 2              ? c.one_atomic() || launch->cooperative || (c.a == c.b && !c.pair.both_write)
                     : c.a != c.b || !c.pair.both_write || c.pair.equal || !c.around || x.step != y.step)
        return {};
    for (const auto& [axis, blocks] :
         {std::pair("x", launch->grid.x), {"y", launch->grid.y}, {"z", launch->grid.z}})
        if (c.far == 2 && x.rank == y.rank && x.step == y.step && blocks > 1 &&
            index.find(string("blockIdx.") + axis) == string::npos)
            return {"", {{say(lacks_block, index, axis), lines}}};
    return {"", {{say(own_element, index) + about_rows(index), lines}}};
}

// A __shared__ variable that each thread sets first, and then uses as if it were its own.
Advice own_variable(const Conflict& c) {
    const Region* r = find(c.pair.race.address);
    const auto uses = c.uses(c.pair.name);  // the first one declares it
    if (!r || r->bytes != c.pair.race.bytes || uses.size() < 2) return {};
    const Path path = c.f->path(uses[1]);
    const Statement& first = *path.back();
    const bool counts = first.kind == Statement::loop && first.asks(uses[1]),
               own = c.src.has({"__shared__"}, *c.f->path(uses[0]).back()) &&
                     (counts || assignment(c.src.code(first)).target == c.pair.name) &&
                     path[path.size() - 1 - !counts]->holds(uses.back()) &&
                     !c.barrier_between(uses[1], uses.back());
    return own ? Advice{say(own_variable_words, c.src.line_at(uses[0]), c.pair.name)} : Advice();
}

// Two parts of one array, each with a pointer of its own.
Advice parts_overlap(const Conflict& c) {
    const string one = c.src.object_of(c.a + 1), other = c.src.object_of(c.b + 1), &array = c.pair.name;
    std::set<int> lines;
    const auto is_part = [&](const string& name) { return has_name(add_definition(lines, c, name), array); };
    return one == other || array.empty() || !is_part(one) || !is_part(other)
               ? Advice()
               : Advice{"", {{say(parts_share, one, other), lines}}};
}

// ---- what follows from a race

bool follows_from(const Line& line, const string& name, const Pair& cause, bool by_branch) {
    const Source* src = Source::of(line.file);
    const size_t at = src ? src->spot(line.number, name) : string::npos;
    const Function* f = at == string::npos ? nullptr : src->function_at(at);
    if (!f || src != Source::of(cause.b.file)) return false;
    std::set<string> names{cause.name};
    for (const Line* l : {&cause.a, &cause.b})
        if (const Statement* s = src->statement_in(l->number, cause.name))
            names.insert(assignment(src->code(*s)).target);
    names.erase("");
    if (by_branch) names.erase(name);
    const auto decides = [&](const string& code) { return shares(names, code + " " + src->expanded(*f, code)); };
    const size_t open = src->text.find('[', at);
    if (src->line_at(open) == line.number && decides(src->cut(open, closed(src->text, open)))) return true;
    return by_branch && std::ranges::any_of(deciding(*src, *f, at),
                                            [&](const Statement* s) { return decides(src->condition(*s)); });
}

}  // namespace cudacpu::race
