// shadow_memory.cpp - the race detector's shadow memory: allocates it for each region.
#include "race/shadow_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <utility>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "memory/address_space.hpp"
#include "race/fast_path.hpp"
#include "race/thread_replay.hpp"

namespace cudacpu::race {

namespace {

std::multimap<const char*, Shadow*> spare_notes CUDACPU_LASTING;  // for shared memory, by its pages

void* pages_for(size_t bytes) {  // costs only the pages that are used
    void* const p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) print_report("cudacpu: no memory for the notes about so much memory"), _exit(3);
    return p;
}

template <class F> void each_part(Region& r, F f) {
    Shadow& s = *r.shadow;
    const size_t n = (r.kind == Kind::dynamic ? r.pages : r.bytes) / 4 + 2;
    f(s.words.cells, n);
    f(s.words.sync, n);
    f(s.bytes.cells, 4 * n);
    f(s.bytes.sync, 4 * n);
    f(s.lines, n * 4 / line_bytes + 2);
    f(s.short_lines, n * 4 / short_line_bytes + 8);
    f(s.written, 4 * n);
}

}  // namespace

void region_added(Region& r) {
    forget_regions();
    const auto spare = spare_notes.find(r.base);
    if (!r.shadow && spare != spare_notes.end()) r.shadow = spare->second, spare_notes.erase(spare);
    if (!r.shadow) {
        r.shadow = new Shadow{};
        each_part(r, [](auto*& part, size_t count) {
            part = static_cast<std::decay_t<decltype(part)>>(pages_for(count * sizeof *part));
        });
        if (const size_t bytes = r.bytes / line_bytes * sizeof(ShadowLine); bytes >= 2 << 20)
            madvise(r.shadow->lines, bytes, MADV_HUGEPAGE);  // if part of it is accessed, all of it is
        r.shadow->all_written = r.kind != Kind::device && !is_shared(&r);
    } else {
        memset(r.shadow->written, 0, r.bytes);
    }
    r.shadow->since = ++now;
}
void region_fresh(Region& r) {  // records of another block are older, so they are no race
    stop_if_following();
    if (!r.shadow) return region_added(r);
    memset(r.shadow->written, 0, r.bytes);
    r.shadow->since = ++now;
}
void region_kept(Region& r, Shadow*& notes) {
    forget_regions();
    notes = std::exchange(r.shadow, nullptr);
}
void region_restored(Region& r, Shadow* notes) {
    forget_regions();
    if (r.shadow) spare_notes.emplace(r.base, r.shadow);
    r.shadow = notes;
}
void forget_accesses(Region& r, size_t offset, size_t bytes) {
    Shadow& s = *r.shadow;
    memset(s.written + offset, 0, bytes);
    for (size_t i = offset / 4 * 4; i < offset + bytes; i += 4) {
        if (!s.lines[i / line_bytes].noted()) continue;  // it has no pages yet
        s.words.cells[i / 4] = {}, s.words.sync[i / 4] = {};
        for (size_t b = i; s.lines[i / line_bytes].bytes && b < i + 4; ++b)
            s.bytes.cells[b] = {}, s.bytes.sync[b] = {};
    }
}
void bytes_written(Region& r, size_t offset, size_t bytes) {
    if (!r.shadow) return;
    memset(r.shadow->written + offset, 1, bytes);
    if (!offset && bytes == r.bytes) r.shadow->all_written = true, forget_regions();
}
void region_gone(Region& r) {
    forget_regions();
    if (!r.shadow) return;
    each_part(r, [](auto* part, size_t count) { munmap(part, count * sizeof *part); });
    delete std::exchange(r.shadow, nullptr);
}

}  // namespace cudacpu::race
