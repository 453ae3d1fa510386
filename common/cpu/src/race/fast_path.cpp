// fast_path.cpp - the race detector's fast path: plain accesses within one word whose order is easily seen. They
// are recorded here; all other accesses go to access() (access_check.cpp).
//
// The lanes of a warp usually access adjacent elements. One record then describes 128 bytes: the thread of each
// element follows from the thread of the first one. Where accesses are mixed, the record is expanded into the
// shadow cells of each word, which are valid from then on.
#include "race/fast_path.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/scheduler.hpp"
#include "engine/upcalls.hpp"
#include "memory/address_space.hpp"
#include "memory/device_heap.hpp"
#include "race/absent_lanes.hpp"
#include "race/access_check.hpp"
#include "race/access_hooks.hpp"
#include "race/bounds.hpp"
#include "race/happens_before.hpp"
#include "race/perturb.hpp"
#include "race/shadow_memory.hpp"
#include "race/stream_order.hpp"
#include "race/thread_replay.hpp"

extern "C" char __start_cudacpu_builtin, __stop_cudacpu_builtin;  // from the linker

namespace cudacpu::race {

int until_preempted = 7;

namespace {

// Not an address, so that nullptr matches no empty entry.
char* const no_address = reinterpret_cast<char*>(uintptr_t{1} << 63);

struct alignas(64) CachedSite {  // the memory that a line of the program accessed last
    char* start = no_address;
    size_t bytes = 0;
    Region* region;
    Shadow* shadow;
    uint8_t* written;  // nullptr: all bytes are written
    bool shared;
    Time from() const { return shared ? shadow->since : floor_time; }
} site_cache[256];
// The upper bits of the address distinguish two arrays that the same line accesses.
CachedSite& cached_site(const char* address, uint64_t site) {
    return site_cache[(site ^ uintptr_t(address) >> 20) % std::size(site_cache)];
}

[[gnu::always_inline]] inline bool all_written(const uint8_t* flags, size_t bytes) {
    for (; bytes >= 4; bytes -= 4, flags += 4)
        if (uint32_t four; memcpy(&four, flags, 4), four != 0x01010101) return false;
    return !bytes || (flags[0] && flags[bytes - 1]);
}

__attribute__((noinline)) void refill_site(char* address, uint64_t site) {
    if (thread_states[rank].counted != last_barrier) begin_leader();
    count_steps(thread_state(rank));
    if (!cached_region(address, site)) region_of(address, site);
}

template <unsigned Bytes, bool Write> struct FastPath {
    static constexpr bool small = Bytes < 4;
    static constexpr size_t width = small ? short_line_bytes : line_bytes;
    // Records an access to element `i` of a line in the record of the whole line. Returns false if that is not
    // possible.
    [[gnu::always_inline]] static bool record_in_span(ShadowLine& line, unsigned i, uint64_t site, uint64_t rest,
                                                      Time from, bool shared) {
        if (line.noted() >= from) return false;
        Span &mine = Write ? line.write : line.read, &other = Write ? line.read : line.write;
        const Time part = shared ? from : interval_start;
        const auto before_barrier = [&](const Span& s) { return s.time() >= part && s.time() < last_barrier; };
        if (other.time() >= from) {
            if (other.bytes() != rest >> 56 || other.time() < part) return false;
            const bool same_threads = uint16_t((other.rest ^ rest) >> 32) == 0;
            if (!same_threads && other.done >> i & 1 && !before_barrier(other)) return false;
        }
        if (mine.site == site && mine.rest == rest) {
            mine.done |= 1u << i;
            return true;
        }
        // The previous record must not be lost unless no later access can race with it.
        if (mine.time() && (several_streams || mine.time() >= from) && !(shared && before_barrier(mine)))
            return false;
        mine = {site, rest, 1u << i};
        return true;
    }

    // Records the access in each shadow cell. Returns false if the slow path is needed.
    [[gnu::always_inline]] static bool record_in_cells(const CachedSite& q, size_t first, uint64_t site) {
        constexpr size_t unit = small ? 1 : 4;
        Shadow& shadow = *q.shadow;
        ShadowLine& line = shadow.lines[first / line_bytes];
        const ThreadState& m = thread_states[rank];
        const Time from = q.from(), part = q.shared ? 0 : interval_start;
        const size_t begin = first / unit, end = begin + Bytes / unit;
        if (line.has_spans() || line.bytes) write_out(shadow, first / line_bytes);
        if ((small ? line.words : line.bytes) >= from) return false;
        Plane& plane = small ? shadow.bytes : shadow.words;
        const bool synced = plane.sync_since >= from, others_read = Write && plane.reads_since >= from;
        const auto concurrent = [&](const Epoch& o) {
            return o.time >= from && (o.time < part || (o.rank != rank && o.time >= last_barrier));
        };
        __builtin_prefetch(plane.cells + begin + 32, 1);  // the next threads usually access the cells that follow
        for (size_t i = begin; i < end; ++i)
            if (const SyncCell& sync = plane.sync[i];
                concurrent(plane.cells[i].write) || (Write && concurrent(plane.cells[i].read)) ||
                (several_streams && concurrent(plane.cells[i].read) && concurrent(sync.read)) ||
                (synced && (concurrent(sync.synced) || concurrent(sync.other))) ||
                (others_read && concurrent(sync.read)))
                return false;
        // In two words, because a load of what was stored in smaller parts stalls the processor.
        const uint64_t mask = small ? ((1u << Bytes) - 1) << first % 4 : 15;
        const uint64_t words[] = {
            site, now | uint64_t(rank) << 32 | uint64_t(m.steps) << 48 | mask << 56 | uint64_t(Write) << 60};
        if (small) line.bytes = shadow.short_lines[first / short_line_bytes].bytes = now, line.read_twice = 0;
        else if (Write || line.words != now) line.words_noted();
        for (size_t i = begin; i < end; ++i) {
            Epoch* to = Write ? &plane.cells[i].write : &plane.cells[i].read;
            if (!Write && concurrent(*to) && !to->access) {
                const bool far = to->time < part || (to->rank ^ rank) >= 32;
                if (!small && far && !synced && nothing_was_released()) line.read_twice |= 1u << i % 32;
                to = &plane.sync[i].read;
                plane.reads_since = now;
            }
            memcpy(static_cast<void*>(to), words, sizeof words);
        }
        return true;
    }
    [[gnu::always_inline]] static void recorded(const CachedSite& q, size_t first, uint64_t site) {
        ThreadState& m = thread_states[rank];
        m.steps += m.steps < 255;
        add_site(rank, site);
        if (!q.shared) record_global_access();
        if (!Write) return;
        if (q.written) memset(q.written + first, 1, Bytes);
        m.wrote = true;
        m.written = uint8_t(m.steps);
    }
    // Returns whether the memory has shadow cells, is in bounds and written, and is of no interest beyond that.
    [[gnu::always_inline]] static bool is_plain(const CachedSite& q, const char* address) {
        const size_t first = address - q.start;
        return first + (Bytes - 1) < q.bytes && first % Bytes == 0 && !thread_states[rank].watched &&
               (Write || !q.written || all_written(q.written + first, Bytes));
    }
    // Where the line of the program accesses memory, if the access is plain; nullptr: the slow path is needed.
    [[gnu::always_inline]] static const CachedSite* plain_site(char* address, uint64_t site) {
        const CachedSite& q = cached_site(address, site);
        if (thread_states[rank].counted == last_barrier && is_plain(q, address)) return &q;
        refill_site(address, site);
        return is_plain(q, address) ? &q : nullptr;
    }
    [[gnu::always_inline]] static ShadowLine& line_of(const CachedSite& q, size_t first) {
        return (small ? q.shadow->short_lines : q.shadow->lines)[first / width];
    }
    [[gnu::always_inline]] static uint64_t rest_of(unsigned i) {
        return now | uint64_t(uint16_t(rank - i)) << 32 | uint64_t(thread_states[rank].steps) << 48 |
               uint64_t(Bytes) << 56;
    }
    static __attribute__((noinline)) void record_replay_step(char* address, uint64_t site) {
        const CachedSite& q = cached_site(address, site);
        const size_t first = address - q.start;
        if (ReplayStep* const f = new_replay_step()) {
            const unsigned i = unsigned(first % width / Bytes);
            ShadowLine& line = line_of(q, first);
            f->next = address + Bytes;
            f->site = site;
            f->flags = q.written ? reinterpret_cast<char*>(q.written) - q.start : 0;
            f->span = Write ? &line.write : &line.read;
            f->others = Write ? &line.read : &line.write;
            f->rest = rest_of(i);
            f->element = i;
            f->room = unsigned(std::min(width / Bytes - i, (q.bytes - first) / Bytes) - 1);
            f->shared = q.shared;
            f->sites = sites_since_meeting[rank] | site_bit(site);
            f->written = uint8_t(Write ? leader.steps : leader.steps > 1 ? f[-1].written : 0);
        }
        recorded(q, first, site);
    }
    static __attribute__((noinline)) void slow_path(char* address, uint64_t site) {
        access(address, Bytes, Write ? writes : reads, site);
    }
    static __attribute__((noinline)) void record(char* address, uint64_t site) {
        const CachedSite* const q = plain_site(address, site);
        if (!q) return slow_path(address, site);
        const size_t first = address - q->start;
        const unsigned i = unsigned(first % width / Bytes);
        ShadowLine& line = q->shadow->lines[first / line_bytes];
        constexpr uint32_t all = (1u << Bytes / 4) - 1;
        if (!Write && !small && line.words == now && (line.read_twice >> first % line_bytes / 4 & all) == all)
            return recorded(*q, first, site);
        const Time from = q->from();
        const bool words = small && std::max({line.words, line.write.time(), line.read.time()}) >= from;
        if (!words && record_in_span(line_of(*q, first), i, site, rest_of(i), from, q->shared)) {
            if (small) line.bytes = now;
            if (leader.is_new) return record_replay_step(address, site);
        } else if (!record_in_cells(*q, first, site)) {
            return slow_path(address, site);
        }
        recorded(*q, first, site);
    }
    // Replay: returns whether the running thread makes the access that the leader's steps predict.
    [[gnu::always_inline]] static bool followed(char* address, uint64_t site) {
        ReplayStep* const f = replay_step;
        if (address != f->next || site != f->site || rank != follower) return false;
        if (f->flags) {
            auto* const flags = reinterpret_cast<uint8_t*>(address + f->flags);
            if (Write) memset(flags, 1, Bytes);
            else if (!all_written(flags, Bytes)) return false;
        }
        f->next = address + Bytes;
        replay_step = f + 1;
        return true;
    }
    static __attribute__((noinline)) void unusual_access(char* address, uint64_t site) {
        if (replay_step != &nowhere && follows(address, site)) {
            if (followed(address, site)) return;
            stop_following();  // it reads a byte that is not written
        }
        if (warp::drawing) warp::stop_at_access(address, Bytes, Write, false, site, __builtin_frame_address(0));
        if (warp::drawing || (state.any() && !none_pending(Write))) return slow_path(address, site);
        if (--until_preempted < 0) {
            preempt_now();
            stop_if_following();
            if (state.pending || state.something_shown) return slow_path(address, site);
        }
        record(address, site);
    }
    // These are tail calls: none returns into the fast path, which therefore needs no stack.
    static __attribute__((noinline)) void access_beyond_stack(char* address, uint64_t site) {
        if (!self || !runs_works) return;  // another thread of the program may be running kernels
        if (replay_step != &nowhere || warp::drawing || state.any() || until_preempted <= 0)
            return unusual_access(address, site);
        --until_preempted;
        record(address, site);
    }
};

// Only what most calls need: most are for the thread's own stack, or for blockDim.
template <unsigned Bytes, bool Write> inline void fast_access(void* p, uint64_t site) {
    char* const address = static_cast<char*>(p);
    if (FastPath<Bytes, Write>::followed(address, site)) return;
    if (size_t(p) - size_t(current_fiber->bottom) >= stack_bytes) {
        const size_t builtins = size_t(&__stop_cudacpu_builtin) - size_t(&__start_cudacpu_builtin);
        if (size_t(p) - size_t(&__start_cudacpu_builtin) >= builtins)
            FastPath<Bytes, Write>::access_beyond_stack(address, site);
        return;
    }
    if (state.index_too_large) past_local_array(address, Bytes, Write);
}

// Expands the spans of a line into shadow cells from `first` on. Returns the time of the newest.
Time expand(ShadowLine& line, Plane& plane, size_t first, size_t unit) {
    const Time last = std::max(line.write.time(), line.read.time());
    for (Span* const span : {&line.write, &line.read}) {
        const bool write = span == &line.write;
        const size_t cells = span->bytes() / unit;  // of an element
        for (uint32_t done = span->done; done; done &= done - 1) {
            const unsigned i = unsigned(std::countr_zero(done));
            const size_t begin = first + i * cells;
            Epoch r{span->site, span->time(), uint16_t((span->rest >> 32) + i), uint8_t(span->rest >> 48),
                    15,         write};
            if (span->bytes() < 4) r.bytes = ((1u << cells) - 1) << begin % 4 & 15;
            for (size_t c = begin; c < begin + cells; ++c) (write ? plane.cells[c].write : plane.cells[c].read) = r;
        }
        *span = {};
    }
    return last;
}

}  // namespace

void forget_regions() {
    stop_if_following();
    for (CachedSite& q : site_cache) q.start = no_address, q.bytes = 0;
}

Region* cached_region(const char* address, uint64_t site) {
    const CachedSite& q = cached_site(address, site);
    return size_t(address - q.start) < q.bytes ? q.region : nullptr;
}
Region* region_of(char* address, uint64_t site) {
    Region* r = find(address);
    if (!r && on_heap(address)) {
        const HeapBlock* const block = nearest_heap_block(address);
        return block && !block->freed && block->contains(address) ? &heap_region : nullptr;
    }
    if (!r) r = program_region(address);
    if (Shadow* const s = r && !r->freed ? r->shadow : nullptr)
        cached_site(address, site) = {r->start,    r->bytes, r, s, s->all_written ? nullptr : s->written,
                                      is_shared(r)};
    return r;
}

void write_out(Shadow& shadow, size_t number) {
    ShadowLine& line = shadow.lines[number];
    if (line.has_spans())
        line.read_twice = 0,
        line.words = std::max(line.words, expand(line, shadow.words, number * line_bytes / 4, 4));
    if (!line.bytes) return;
    for (size_t at = number * line_bytes; at < (number + 1) * line_bytes; at += short_line_bytes)
        if (ShadowLine& part = shadow.short_lines[at / short_line_bytes]; part.has_spans())
            part.bytes = std::max(part.bytes, expand(part, shadow.bytes, at, 1));
}

uint64_t last_writer(Shadow& shadow, size_t offset) {
    write_out(shadow, offset / line_bytes);
    const Word word = shadow.words.at(offset / 4), byte = shadow.bytes.at(offset);
    for (const Epoch* e : {&word.cell.write, &byte.cell.write, &word.sync.synced})
        if (e->site) return e->site;
    return 0;
}

}  // namespace cudacpu::race

using namespace cudacpu::race;
// clang-format off
#define CUDACPU_FAST(bytes) \
    void __tsan_read##bytes(void* p) { fast_access<bytes, false>(p, CUDACPU_SITE); } \
    void __tsan_write##bytes(void* p) { fast_access<bytes, true>(p, CUDACPU_SITE); }
extern "C" {
CUDACPU_FAST(1) CUDACPU_FAST(2) CUDACPU_FAST(4) CUDACPU_FAST(8) CUDACPU_FAST(16)
}
