// paths.cpp - finds which threads reach a statement of the source text, which loops wait there, and uses of
// members.
#include <algorithm>
#include <cstring>

#include "advice/structure.hpp"
#include "engine/text.hpp"
#include "race/upcalls.hpp"
#include "report/race_report.hpp"

namespace cudacpu {

void Source::waiting_loops(const Statement& s, std::vector<const Statement*>& found) const {
    if (s.kind == Statement::loop) {
        const Statement& body = s.parts[0].bare();
        const std::string t = text.substr(body.begin, body.end - body.begin);
        const bool nothing = t == ";" || (body.kind == Statement::block && body.parts.empty());
        if (nothing || t.starts_with("continue") || t.starts_with("__nanosleep")) found.push_back(&s);
    }
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
    for (const Statement* s : path(f, at))
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

Source::Who Source::who_enters(const Function& f, const Statement& s) const {
    const std::string head = text.substr(s.head, s.head_end - s.head);
    const std::string kind = word_at(text, s.begin);
    Who who = s.kind == Statement::branch || kind == "for" || kind == "while" || kind == "do" ? everybody : some;
    for (size_t i = 0; i < head.size(); ++i) {
        if (!in_word(head[i]) || (i && in_word(head[i - 1]))) continue;
        const std::string w = word_at(head, i);
        if (f.warps.count(w)) who = std::max(who, whole_warps);
        if (!f.own.count(w)) continue;
        size_t j = i + w.size();  // threadIdx.x < 32, threadIdx.x / 32 == 0
        while (j < head.size() && (in_word(head[j]) || head[j] == '.')) ++j;
        j = skip_space(head, j);
        size_t k = j;
        while (k < head.size() && strchr("<>=/", head[k])) ++k;
        const std::string sign = head.substr(j, k - j), number = word_at(head, skip_space(head, k));
        const int value = number == "warpSize" ? 32 : atoi(number.c_str());
        const bool warps = value && value % 32 == 0 && (sign == "<" || sign == ">=" || sign == "/");
        who = std::max(who, warps ? whole_warps : some);
    }
    return who;
}

Source::Who Source::who_leaves(const Function& f, const Statement& loop) const {
    Who who = everybody;
    for (const Statement& s : loop.parts) {
        if (s.kind == Statement::loop) continue;
        const bool leaves = has({"break", "continue"}, s.begin, s.end);
        if (s.kind == Statement::branch && leaves) who = std::max(who, who_enters(f, s));
        who = std::max(who, who_leaves(f, s));
    }
    return who;
}

namespace race {

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
