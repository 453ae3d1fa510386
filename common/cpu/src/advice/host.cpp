// host.cpp - one array passed for two parameters, sizes that count elements, and lines of one block.
#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "report/symbolize.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

// step<<<1, 64>>>(a, a): the kernel reads one parameter and writes the other.
Advice one_memory(const Conflict& c) {
    const auto names = listed(launch->kernel->parameters);
    const auto& given = launch->arguments;
    if (c.both_write() || names.size() != given.size()) return {};
    const string lines =
        c.src.line(line_of(c.pair.race.before.site).number) + c.src.line(line_of(c.pair.race.after.site).number);
    const auto uses = [&](size_t i) { return given[i].pointer && has_name(lines, names[i]); };
    const Region* const r = find(c.pair.race.address);
    for (size_t i = 0; i < names.size(); ++i)
        for (size_t k = 0; k < i; ++k)
            if (uses(i) && uses(k) && given[i].pointer == given[k].pointer && r && find(given[i].pointer) == r)
                return {say(same_memory, launch->where.line, names[k], names[i])};
    return {};
}

string count_bytes(const Region& r, size_t element, size_t needed) {
    const size_t all = r.bytes * element;
    if (element == 1 || needed > all || needed + element < all) return "";
    const bool third = r.kind == Kind::dynamic;
    const string where = in_line(source_line(third ? launch->where : r.where));
    return say(counted_elements, third ? say(third_argument, where) : where, r.bytes, needed, element);
}

// The block that holds the statement of a line; nullptr if it is in no function.
static const Statement* block_of(const Line& line) {
    const Source* const src = Source::of(line.file);
    const size_t at = src ? src->spot(line.number, "") : string::npos;
    const Function* const f = at == string::npos ? nullptr : src->function_at(at);
    const Path path = f ? f->path(at) : Path();
    return path.size() > 1 && path[path.size() - 2]->kind == Statement::block ? path[path.size() - 2] : nullptr;
}

bool among_the_same(const Line& line, int other) {
    const Statement* const block = block_of(line);
    return block && block == block_of({line.place, line.file, other});
}

}  // namespace cudacpu::race
