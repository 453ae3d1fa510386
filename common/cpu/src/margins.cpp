// margins.cpp - canaries around each piece of memory, in the pages that hold it: before its first byte, and up to
// 15 bytes after its last.
//
// A write there hits nothing else. It is detected at the next copy, when the memory is freed, or at the end of the
// program. The hazard build and AddressSanitizer detect it at once and name the line.
#include <iterator>

#include "internal.hpp"

namespace cudacpu {

namespace {
constexpr char in_margins = '\xa5';
constexpr bool has_margins = !hazard_build && !asan_build;
}  // namespace

void mark_margins(const Region& r) {
    if (!has_margins) return;
    char* const end = r.start + r.bytes;
    memset(r.base, in_margins, r.start - r.base);
    memset(end, in_margins, r.base + r.pages - end);
}

void check_margins(const Region& r) {
    const auto untouched = [](char c) { return c == in_margins; };
    const auto check = [&](auto from, auto to) {
        const auto hit = std::find_if_not(from, to, untouched);
        if (hit == to) return;
        bug("something wrote beyond its memory: " + explain(&*hit, 1), "--hazards names the line",
            source_line(r.where));
        mark_margins(r);
    };
    if (!has_margins || r.kind > Kind::pinned) return;
    check(std::reverse_iterator(r.start), std::reverse_iterator(r.base));
    check(r.start + r.bytes, r.base + r.pages);
}

}  // namespace cudacpu
