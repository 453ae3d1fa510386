// verdicts.cpp - what race/ asks about the lines of its findings.
#include <algorithm>
#include <cstring>

#include "advice/source.hpp"
#include "race/upcalls.hpp"
#include "report/race_report.hpp"

namespace cudacpu::race {

enum Array { of_structs = 1, of_blocks = 2, of_threads = 4, of_program = 8 };  // bit mask

// Which of these the line indexes as arrays, not pointers.
static unsigned arrays_indexed(const Where& where) {
    const Source* const source = Source::of(where.file);
    if (!source) return 0;
    const Source& src = *source;
    const auto declared = [&](const char* as, const char* up_to, const std::string& name, const Function* f) {
        return std::ranges::any_of(src.words(as, 0, src.text.size()), [&](size_t i) {
            const size_t end = src.text.find_first_of(up_to, i);
            return src.word(name, i, end) < end && (!src.function_at(i) || src.function_at(i) == f);
        });
    };
    unsigned found = 0;
    const size_t at = src.spot(where.line, ""), end = src.text.find('\n', at);
    for (size_t i = at == src.text.npos ? end : src.text.rfind('\n', at); i < end; ++i) {
        const std::string name = src.name_at(i);
        const Function* f = name.empty() || src.text[i + name.size()] != '[' ? nullptr : src.function_at(i);
        if (!f) continue;
        const auto is_declared = [&](size_t d) {
            return src.text[d + name.size()] == '[' && src.text[d - 1] == ' ' && in_word(src.text[d - 2]) &&
                   !src.has({"return", "else"}, d - 7, d);
        };
        if (strchr(".>", src.text[i - 1])) found |= of_structs;
        else if (declared("__shared__", ";", name, f)) found |= of_blocks;
        else if (std::ranges::any_of(src.words(name, f->body.begin, i), is_declared)) found |= of_threads;
        else if (declared("__device__", "(;={", name, nullptr) || declared("__constant__", "(;={", name, nullptr))
            found |= of_program;
    }
    return found;
}
bool indexes_only_arrays_of_blocks(const Where& line) { return arrays_indexed(line) == of_blocks; }
bool indexes_only_own_arrays(const Where& line) {
    const unsigned arrays = arrays_indexed(line);
    return arrays && !(arrays & ~(of_threads | of_program));
}

}  // namespace cudacpu::race
