// paths.cpp - finds which threads reach a statement of the source text, which loops wait there, and uses of
// members.
#include <algorithm>
#include <cstring>

#include "advice/structure.hpp"
#include "engine/text.hpp"
#include "race/upcalls.hpp"
#include "report/race_report.hpp"

namespace cudacpu {

void Source::waiting_loops(const Statement& s, Path& found) const {
    if (s.waits) found.push_back(&s);
    for (const Statement& part : s.parts) waiting_loops(part, found);
}

std::pair<size_t, size_t> Source::last_member(size_t at) const {
    for (;;) {
        size_t end = at + word_at(text, at).size();
        while (text[end] == '[') end = closed(text, end);
        const size_t sign = text[end] == '.' ? 1 : text.compare(end, 2, "->") == 0 ? 2 : 0;
        if (!sign) return {at, end};
        at = end + sign;
    }
}

Source::Lock Source::lock_of(const Function& f) const {
    const size_t at = first_of({"atomicCAS", "atomicExch"}, f.body.begin, f.body.end);
    if (at == text.npos) return no_lock;
    for (const Statement* s : f.path(at))
        if (s->kind == Statement::loop) return takes;
    return gives;
}

bool Source::holds_barrier(const Statement& s) const {
    for (const Statement& body : s.parts)
        for (const Statement& part : body.parts)
            if (part.kind == Statement::simple &&
                (has({"__syncthreads"}, part.begin, part.end) || text.find(".sync()", part.begin) < part.end))
                return true;
    return false;
}

bool Source::declares(const Statement& block, size_t to) const {
    for (const Statement& s : block.parts) {  // a declaration begins with two names, or with a type and a star
        if (s.begin >= to) break;
        const size_t next = skip_space(text, s.begin + word_at(text, s.begin).size());
        if (s.kind == Statement::simple && (in_word(text[next]) || strchr("*&:<", text[next]))) return true;
    }
    return false;
}

namespace race {

namespace {
struct Spot {  // of an access in the source text
    int line;
    const Source* source;
    const Function* f = nullptr;
    Path path;  // the statements that contain it
    explicit Spot(const Line& l) : line(l.number), source(l.number ? Source::of(l.file) : nullptr) {
        const size_t at = source ? source->spot(line, "") : std::string::npos;
        f = at == std::string::npos ? nullptr : source->function_at(at);
        if (f) path = f->path(at);
    }
    bool in_head(const Statement& s) const {
        return source->line_at(s.head) <= line && line <= source->line_at(s.head_end - 1);
    }
};
}  // namespace

bool of_waiting_loop(uint64_t site) {
    const Spot spot(line_of(site));
    if (!spot.f) return false;
    const Source& source = *spot.source;
    const Statement& s = *spot.path.back();
    const std::string name =
        source.name_at(source.text.find_first_not_of("*( ", s.begin));  // the name that it writes, if any
    Path loops;
    source.waiting_loops(spot.f->body, loops);
    return std::ranges::any_of(loops, [&](const Statement* loop) {
        return spot.in_head(*loop) || source.word(name, loop->head, loop->head_end) < loop->head_end;
    });
}

bool ends_loop(uint64_t site) {
    const Spot spot(line_of(site));
    const auto asks = std::find_if(spot.path.rbegin(), spot.path.rend(),
                                   [&](const Statement* s) { return s->head_end && spot.in_head(*s); });
    if (asks == spot.path.rend() || (*asks)->kind == Statement::loop) return asks != spot.path.rend();
    const Statement& held = (*asks)->parts[0].bare();
    return (*asks)->parts.size() == 1 && held.kind == Statement::simple &&
           spot.source->has({"return", "break"}, held.begin, held.end) &&
           std::any_of(asks, spot.path.rend(), [](const Statement* s) { return s->kind == Statement::loop; });
}

static unsigned arrays_indexed(const Where& line) {
    const Source* const source = Source::of(line.file);
    return source ? source->indexed(line.line) : 0;
}
bool indexes_only_arrays_of_blocks(const Where& line) { return arrays_indexed(line) == Source::of_blocks; }
bool indexes_only_own_arrays(const Where& line) {
    const unsigned arrays = arrays_indexed(line);
    return arrays && !(arrays & ~(Source::of_threads | Source::of_program));
}

}  // namespace race

}  // namespace cudacpu
