// in_flight_buffers.cpp - the host and buffers that queued work still uses: a source that the host changes before
// it is copied, a word that the host writes before a kernel has read it, and a copy of memory that nobody has
// written.
#include "race/in_flight_buffers.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/early_access.hpp"
#include "race/fast_path.hpp"
#include "race/shadow_memory.hpp"
#include "race/stream_order.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

namespace {

// What the host has written since the running kernel was queued, unless the host has told the kernel by a flag.
std::vector<std::pair<const char*, const void*>> written_meanwhile CUDACPU_LASTING;

uint64_t sum_of(const CopySource& s) {  // 0 if it cannot be read now
    uint64_t sum = 1;
    static char buffer[64 << 10];
    for (size_t y = 0; y < s.height; ++y)
        for (size_t x = 0, n; x < s.width; x += n) {
            n = std::min(sizeof buffer, s.width - x);
            iovec from{const_cast<char*>(s.start) + y * s.pitch + x, n}, to{buffer, n};
            if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != ssize_t(n)) return 0;
            memset(buffer + n, 0, std::min<size_t>(7, sizeof buffer - n));
            for (size_t i = 0; i < n; i += 8) sum = mix(sum, value_at(buffer + i, 8));
        }
    return sum ? sum : 1;
}

// A host write to pages that hold nothing else causes a fault, which touched_early() records, so its line is known.
void watch(const CopySource& s, bool on) {
    const Region* const r = find(s.start);
    if (!r || r->freed || r->kind != Kind::pinned || s.height > 1) return;
    const char* const end = s.start + s.width;
    const auto up = [](const char* p) { return (uintptr_t(p) + page - 1) / page * page; };
    const uintptr_t from = s.start == r->start ? uintptr_t(r->base) : up(s.start);
    const uintptr_t to = end == r->start + r->bytes ? uintptr_t(r->base + r->pages) : uintptr_t(end) / page * page;
    if (from < to) mprotect(reinterpret_cast<void*>(from), to - from, on ? PROT_READ : PROT_READ | PROT_WRITE);
}

bool has_changed(CopySource& s) {  // since it was last looked at
    const uint64_t before = std::exchange(s.sum, sum_of(s));
    return before && s.sum && before != s.sum;
}

template <class F> void each_source(F f) {
    for (auto& [number, work] : queued_works)
        for (CopySource& s : work.sources) f(work, s);
    for (Work& work : done_works)
        for (CopySource& s : work.sources) f(work, s);
}

}  // namespace

// On a GPU the value that the kernel has read is then undefined.
void compare_host_writes() {
    for (const auto& [address, pc] : std::exchange(written_meanwhile, {})) {
        const Region* const r = region_of(const_cast<char*>(address), 0);
        if (!r || !r->shadow || r->freed) continue;
        Shadow& s = *r->shadow;
        const size_t offset = address - r->start;
        write_out(s, offset / line_bytes);
        const Word word = s.words.at(offset / 4), byte = s.bytes.at(offset);
        for (const Epoch* read : {&word.cell.read, &word.sync.read, &byte.cell.read, &byte.sync.read})
            if (read->time >= running_work.start && read->access == reads && read->bytes >> offset % 4 & 1)
                report_late_read(running_work, *read, address, pc);
    }
}

void host_may_tell(const Region* r, const char* address, unsigned kind) {
    if (written_meanwhile.empty() || (r && r->kind == Kind::device)) return;
    const auto is_near = [=](const auto& w) { return uintptr_t(w.first) / page == uintptr_t(address) / page; };
    if (kind & flag || std::any_of(written_meanwhile.begin(), written_meanwhile.end(), is_near))
        written_meanwhile.clear();
}

void host_writes_begin(unsigned long kernel) { written_meanwhile = written_since(kernel); }

void host_gets(const void* from, size_t pitch, size_t width, size_t height) {
    const Region* const r = find(from);
    if (!r || !r->shadow || r->freed || r->shadow->all_written) return;
    const size_t start = static_cast<const char*>(from) - r->start;
    size_t first = 0, end = 0, count = 0;
    for (size_t y = 0; y < height; ++y) {
        const uint8_t *const begin = r->shadow->written + start + y * pitch, *at = begin;
        for (; (at = static_cast<const uint8_t*>(memchr(at, 0, begin + width - at))); ++at) {
            end = size_t(at - r->shadow->written);
            if (!count++) first = end;
        }
    }
    // If some bytes are written, the others may be padding, or space that was not needed.
    if (count) report_unwritten_copy(running_work, *r, first, end, count, count == width * height);
}

void host_must_keep(const void* start, size_t pitch, size_t width, size_t height) {
    const Region* const r = find(start);
    if (queued_works.empty() || !r || r->kind < Kind::managed || r->kind > Kind::registered) return;
    CopySource s{static_cast<const char*>(start), pitch, width, height, 0};
    s.sum = sum_of(s);
    watch(s, true);
    queued_works.rbegin()->second.sources.push_back(s);
}

void host_waits(bool begins) {
    each_source([=](const Work& work, CopySource& s) {
        if (work.has_begun()) return;
        watch(s, !begins);
        if (has_changed(s) && begins) report_changed_source(work, s, nullptr);
    });
}

// A callback runs between the works and may write to the source of another stream's copy.
void callback_runs(bool begins) {
    each_source([=](const Work& work, CopySource& s) {
        if (has_changed(s) && !begins && !waits_for(work, running_work) && !waits_for(running_work, work))
            report_changed_source(work, s, &running_work);
    });
}

}  // namespace cudacpu::race
