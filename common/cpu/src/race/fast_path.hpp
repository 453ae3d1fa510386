// fast_path.hpp - fast path for most accesses: coalesced shadow memory.
#pragma once
#include "race/happens_before.hpp"

namespace cudacpu::race {

extern int until_preempted;
void forget_regions();  // clears the cache of regions
/// The region that the line of the program accessed last; nullptr: the address is not in it.
Region* cached_region(const char* address, uint64_t site);
Region* region_of(char* address, uint64_t site);
void write_out(Shadow& shadow, size_t line);          // expands the record of the whole line into its cells
uint64_t last_writer(Shadow& shadow, size_t offset);  // the site; 0: no kernel has written this byte
/// Calls f(cell, offset of its word, bytes of the word, own) for each cell of these bytes. own: an access to the
/// bytes is recorded there; else the cell has accesses of other sizes, which are left out if all are before `from`.
template <class F> void each_cell(Shadow& s, size_t first, size_t end, Time from, F f) {
    for (size_t i = first, next; i < end; i = next) {
        next = std::min(end, (i / 4 + 1) * 4);
        const auto mask = uint8_t((1u << (next - i / 4 * 4)) - (1u << i % 4));
        ShadowLine& line = s.lines[i / line_bytes];
        if (i == first || i % line_bytes == 0) write_out(s, i / line_bytes);
        f(s.words.at(i / 4), i / 4 * 4, mask, mask == 15);
        for (size_t b = i; (line.bytes >= from || mask != 15) && b < next; ++b)
            f(s.bytes.at(b), i / 4 * 4, mask, mask != 15);
        if (mask == 15) line.words_noted();
        else line.read_twice = 0, line.bytes = s.short_lines[i / short_line_bytes].bytes = now;
    }
}
[[gnu::always_inline]] inline void record_global_access() {
    Run& b = *this_run;
    if (b.last_rank != rank) b.last_of_others = b.last, b.last_rank = rank;
    b.last = now;
}

}  // namespace cudacpu::race
