// canaries.cpp - canaries around each piece of memory, in the pages that hold it: before its first byte, and up to
// 15 bytes after its last.
//
// A write there hits nothing else. It is detected at the next copy, when the memory is freed, or at the end of the
// program. The hazard build and AddressSanitizer detect it at once and name the line.
#include "memory/canaries.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"

namespace cudacpu {

namespace {
constexpr char canary = '\xa5';
constexpr bool has_canaries = !hazard_build && !asan_build;
}  // namespace

void write_canaries(const Region& r) {
    if (!has_canaries) return;
    char* const end = r.start + r.bytes;
    memset(r.base, canary, r.start - r.base);
    memset(end, canary, r.base + r.pages - end);
}

void check_canaries(const Region& r) {
    const auto untouched = [](char c) { return c == canary; };
    const auto check = [&](auto from, auto to) {
        const auto hit = std::find_if_not(from, to, untouched);
        if (hit == to) return;
        report_bug(say({"something wrote beyond its memory: %s", "有写入超出了内存：%s"}, explain(&*hit, 1)),
                   say({"--hazards names the line", "--hazards 会指出那一行"}), source_line(r.where),
                   "out-of-bounds");
        write_canaries(r);
    };
    if (!has_canaries || r.kind > Kind::pinned) return;
    check(std::reverse_iterator(r.start), std::reverse_iterator(r.base));
    check(r.start + r.bytes, r.base + r.pages);
}

}  // namespace cudacpu
