// quick.cpp - the race detector's fast path: plain accesses within one word whose order is easily seen. They are
// recorded here; all other accesses go to access() (hazards.cpp).
//
// The lanes of a warp usually access adjacent elements. One record then describes 128 bytes: the thread of each
// element follows from the thread of the first one. Where accesses are mixed, the record is expanded into the
// shadow cells of each word, which are valid from then on.
#include "detect.hpp"
#include "record.hpp"

extern "C" char __start_cudacpu_builtin, __stop_cudacpu_builtin;  // from the linker

namespace cudacpu::hazards {

int until_preempted = 7;

namespace {

// Not an address, so that nullptr matches no empty entry.
constexpr uintptr_t no_page = ~uintptr_t{0};
char* const no_address = reinterpret_cast<char*>(uintptr_t{1} << 63);

struct Near {  // the region of a page
    uintptr_t page = no_page;
    Region* region;
    bool shared;
} near[256];

struct alignas(64) Recent {  // the memory that a line of the program accessed last
    char* start = no_address;
    size_t bytes = 0;
    Shadow* shadow;
    uint8_t* written;  // nullptr: all bytes are written
    bool shared;
    Time from() const { return shared ? shadow->since : floor_time; }
} recent[256];
// The upper bits of the address distinguish two arrays that the same line accesses.
Recent& recent_at(const char* address, uint64_t site) {
    return recent[(site ^ uintptr_t(address) >> 20) % std::size(recent)];
}

// Expands a span into the shadow cells from `first` on. `cells`: the number of cells of an element.
void write_out(Span& span, Plane& plane, size_t first, size_t cells, bool write) {
    for (uint32_t done = span.done; done; done &= done - 1) {
        const unsigned i = unsigned(std::countr_zero(done));
        const size_t begin = first + i * cells;
        Record r{span.site, span.time(), uint16_t((span.rest >> 32) + i), uint8_t(span.rest >> 48), 15, write};
        if (span.bytes() < 4) r.bytes = ((1u << cells) - 1) << begin % 4 & 15;
        for (size_t c = begin; c < begin + cells; ++c) (write ? plane.cells[c].write : plane.cells[c].read) = r;
    }
    span = {};
}

// Records an access to element `i` of a line in the record of the whole line. Returns false if that is not
// possible.
template <bool Write> [[gnu::always_inline]] inline bool note_in_line(NotedLine& line, unsigned i, uint64_t site,
                                                                      uint64_t rest, Time from, bool shared) {
    if (line.noted >= from) return false;
    Span &mine = Write ? line.write : line.read, &other = Write ? line.read : line.write;
    const Time part = shared ? from : part_start;
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
    if (mine.time() && (several_streams || mine.time() >= from) && !(shared && before_barrier(mine))) return false;
    mine = {site, rest, 1u << i};
    return true;
}

// Records the access in each shadow cell. Returns false if the slow path is needed. Bytes: the size of the access,
// 0 for a struct.
template <unsigned Bytes, bool Write>
[[gnu::always_inline]] inline bool note_each(const Recent& q, size_t first, size_t bytes, uint64_t site) {
    constexpr bool small = Bytes && Bytes < 4;
    Shadow& shadow = *q.shadow;
    const Mind& m = minds[rank];
    const Time from = q.from(), part = q.shared ? 0 : part_start;
    const size_t unit = small ? 1 : 4, begin = first / unit, number = (Bytes ? Bytes : bytes) / unit;
    const size_t begin_line = first / line_bytes,
                 lines = Bytes ? 1 : (first + bytes - 1) / line_bytes - begin_line + 1;
    for (size_t l = begin_line; l < begin_line + lines; ++l) {
        const NotedLine& line = shadow.lines[l];
        if (line.write.done | line.read.done | line.bytes) write_out(shadow, l);
        if ((small ? line.words : line.bytes) >= from) return false;
    }
    Plane& plane = small ? shadow.bytes : shadow.words;
    const bool synced = plane.rare_since >= from, others_read = Write && plane.reads_since >= from;
    const auto apart = [&](const Record& o) {
        return o.time >= from && (o.time < part || (o.rank != rank && o.time >= last_barrier));
    };
    __builtin_prefetch(plane.cells + begin + 32, 1);  // the next threads usually access the cells that follow
    for (size_t i = begin; i < begin + number; ++i)
        if (const Rare& rare = plane.rare[i];
            apart(plane.cells[i].write) || (Write && apart(plane.cells[i].read)) ||
            (several_streams && apart(plane.cells[i].read) && apart(rare.read)) ||
            (synced && (apart(rare.synced) || apart(rare.other))) || (others_read && apart(rare.read)))
            return false;
    // In two words, because a load of what was stored in smaller parts stalls the processor.
    const uint64_t mask = small ? ((1u << Bytes) - 1) << first % 4 : 15;
    const uint64_t words[] = {
        site, now | uint64_t(rank) << 32 | uint64_t(m.steps) << 48 | mask << 56 | uint64_t(Write) << 60};
    for (size_t l = begin_line; l < begin_line + lines; ++l)
        if (NotedLine& line = shadow.lines[l]; small) line.noted = line.bytes = now, line.read_twice = 0;
        else if (Write || line.words != now) line.words_noted();
    for (size_t i = begin; i < begin + number; ++i) {
        Record* to = Write ? &plane.cells[i].write : &plane.cells[i].read;
        if (!Write && apart(*to) && !to->access) {
            const bool far = to->time < part || (to->rank ^ rank) >= 32;
            if (!small && far && !synced && nothing_was_handed_on())
                shadow.lines[i * 4 / line_bytes].read_twice |= 1u << i % 32;
            to = &plane.rare[i].read;
            plane.reads_since = now;
        }
        memcpy(static_cast<void*>(to), words, sizeof words);
    }
    if (small) shadow.short_lines[first / short_line_bytes].noted = now;
    return true;
}

// read_at: the site of the read if another thread's record may stand for it; else 0.
template <bool Write>
[[gnu::always_inline]] inline void noted(const Recent& q, size_t first, size_t bytes, uint64_t read_at = 0) {
    Mind& m = minds[rank];
    m.steps += m.steps < 255;
    m.polled_at = Write || !read_at ? 0 : ~read_at;
    if (!q.shared) touched_globally();
    if (!Write) return;
    if (q.written) memset(q.written + first, 1, bytes);
    m.wrote = true;
}

[[gnu::always_inline]] inline bool all_written(const uint8_t* flags, size_t bytes) {
    for (; bytes >= 4; bytes -= 4, flags += 4)
        if (uint32_t four; memcpy(&four, flags, 4), four != 0x01010101) return false;
    return !bytes || (flags[0] && flags[bytes - 1]);
}

// Returns whether the memory has shadow cells, is in bounds and written, and is accessed without a lock. `unit`:
// the alignment.
template <bool Write>
[[gnu::always_inline]] inline bool is_plain(const Recent& q, const char* address, size_t bytes, size_t unit) {
    const size_t first = address - q.start;
    return first + (bytes - 1) < q.bytes && (bytes == unit || first < q.bytes) && first % unit == 0 &&
           !minds[rank].lock && (Write || !q.written || all_written(q.written + first, bytes));
}

const Recent& recent_again(char* address, uint64_t site) {
    Recent& q = recent_at(address, site);
    if (minds[rank].counted != last_barrier) begin_lead();
    count_steps(mind(rank));
    if (!region_near(address)) region_of(address);
    if (const Near& n = near[uintptr_t(address) / page % std::size(near)]; n.page == uintptr_t(address) / page) {
        Shadow& s = *n.region->shadow;
        q = {n.region->start, n.region->bytes, &s, s.all_written ? nullptr : s.written, n.shared};
    }
    return q;
}

template <unsigned Bytes, bool Write> struct Quick {
    static constexpr unsigned kind = Write ? writes : reads;
    static constexpr size_t width = Bytes < 4 ? short_line_bytes : line_bytes;
    // These are tail calls: none returns into the fast path, which therefore needs no stack.
    static __attribute__((noinline)) void otherwise(char* address, uint64_t site) {
        access(address, Bytes, kind, site);
    }
    static __attribute__((noinline)) void after_a_turn(char* address, uint64_t site) {
        give_turn();
        stop_if_following();
        if (state.unsettled || state.something_shown) otherwise(address, site);
        else elsewhere(address, site);
    }
    static __attribute__((noinline)) void elsewhere(char* address, uint64_t site) {
        if (is_plain<Write>(recent_again(address, site), address, Bytes, Bytes)) note(address, site);
        else otherwise(address, site);
    }
    [[gnu::always_inline]] static NotedLine& line_of(const Recent& q, size_t first) {
        return (Bytes < 4 ? q.shadow->short_lines : q.shadow->lines)[first / width];
    }
    [[gnu::always_inline]] static uint64_t rest_of(unsigned i) {
        return now | uint64_t(uint16_t(rank - i)) << 32 | uint64_t(minds[rank].steps) << 48 | uint64_t(Bytes) << 56;
    }
    static __attribute__((noinline)) void leave_footstep(char* address, uint64_t site) {
        const Recent& q = recent_at(address, site);
        const size_t first = address - q.start;
        if (Footstep* const f = new_footstep()) {
            const unsigned i = unsigned(first % width / Bytes);
            NotedLine& line = line_of(q, first);
            f->next = address + Bytes;
            f->site = site;
            f->flags = q.written ? reinterpret_cast<char*>(q.written) - q.start : 0;
            f->span = Write ? &line.write : &line.read;
            f->others = Write ? &line.read : &line.write;
            f->rest = rest_of(i);
            f->element = i;
            f->room = unsigned(std::min(width / Bytes - i, (q.bytes - first) / Bytes) - 1);
            f->write = Write;
            f->shared = q.shared;
        }
        noted<Write>(q, first, Bytes);
    }
    /// Extends the record of the other lanes that have just executed the same line on adjacent elements.
    [[gnu::always_inline]] static void again(char* address, uint64_t site) {
        const Recent& q = recent_at(address, site);
        Mind& m = minds[rank];
        if (m.counted != last_barrier) {
            if (m.synchronised) return elsewhere(address, site);
            if (m.block != block_start) reset(m);
            count_steps(m);
            begin_lead();
        }
        if (!is_plain<Write>(q, address, Bytes, Bytes)) return elsewhere(address, site);
        const size_t first = address - q.start;
        const unsigned i = unsigned(first % width / Bytes);
        const uint64_t rest = rest_of(i);
        NotedLine& line = line_of(q, first);
        if constexpr (!Write && Bytes >= 4)
            if (constexpr uint32_t all = (1u << Bytes / 4) - 1;
                line.words == now && (line.read_twice >> first % line_bytes / 4 & all) == all)
                return noted<Write>(q, first, Bytes, site);
        Span &mine = Write ? line.write : line.read, &other = Write ? line.read : line.write;
        const bool none = other.time() < floor_time,
                   same_threads = other.time() == now && !((other.rest ^ rest) >> 32 & 0xff00ffff);
        if (mine.site != site || mine.rest != rest || !(none || same_threads)) return note(address, site);
        mine.done |= 1u << i;
        if (lead.is_new) return leave_footstep(address, site);
        noted<Write>(q, first, Bytes);
    }
    static __attribute__((noinline)) void note(char* address, uint64_t site) {
        const Recent& q = recent_at(address, site);
        const size_t first = address - q.start;
        const unsigned i = unsigned(first % width / Bytes);
        NotedLine& line = q.shadow->lines[first / line_bytes];
        const Time from = q.from();
        const bool words = Bytes < 4 && std::max({line.words, line.write.time(), line.read.time()}) >= from;
        if (!words && note_in_line<Write>(line_of(q, first), i, site, rest_of(i), from, q.shared)) {
            if (Bytes < 4) line.noted = line.bytes = now;
            if (lead.is_new) return leave_footstep(address, site);
        } else if (!note_each<Bytes, Write>(q, first, Bytes, site)) {
            return otherwise(address, site);
        }
        noted<Write>(q, first, Bytes, site);
    }
};

}  // namespace

void forget_pages() {
    stop_if_following();
    for (Near& n : near) n.page = no_page;
    for (Recent& q : recent) q.start = no_address, q.bytes = 0;
}

Region* region_near(const char* address) {
    const uintptr_t number = uintptr_t(address) / page;
    const auto& n = near[number % std::size(near)];
    return n.page == number ? n.region : nullptr;
}
Region* region_of(const char* address) {
    Region* r = find(address);
    if (!r && is_global(address)) r = &program;
    const uintptr_t number = uintptr_t(address) / page;
    if (r && r->shadow && !r->freed && address >= r->base && address < r->base + r->pages)
        near[number % std::size(near)] = {number, r, is_shared(r)};
    return r;
}

bool note_atomic(Region& r, size_t first, size_t bytes, const Record& mine) {
    Shadow& shadow = *r.shadow;
    const Time from = is_shared(&r) ? shadow.since : floor_time;
    NotedLine& line = shadow.lines[first / line_bytes];
    if (bytes < 4 || first % bytes || first + bytes > r.bytes || line.bytes >= from ||
        !(shadow.all_written ||
          std::all_of(shadow.written + first, shadow.written + first + bytes, std::identity())))
        return false;
    const auto apart = [&](const Record& o) { return o.time >= from && !ordered(o, from); };
    const auto of_its_kind = [&](const Record& o) { return o.access == (atomic | writes) || !apart(o); };
    write_out(shadow, first / line_bytes);
    for (size_t i = first / 4; i < (first + bytes) / 4; ++i) {
        const Word w = shadow.words.at(i);
        if (apart(w.cell.write) || apart(w.cell.read) || apart(w.rare.read) || !of_its_kind(w.rare.synced) ||
            !of_its_kind(w.rare.other))
            return false;
    }
    for (size_t i = first / 4; i < (first + bytes) / 4; ++i) {
        Rare& rare = shadow.words.rare[i];
        const bool own = rare.synced.rank == rank && same_block(rare.synced);
        if (rare.synced.access & atomic && !own) rare.other = rare.synced;
        rare.synced = mine;
        rare.synced.bytes = 15;
    }
    line.words_noted();
    shadow.words.rare_since = now;
    return true;
}

void write_out(Shadow& shadow, size_t number) {
    NotedLine& line = shadow.lines[number];
    const auto both = [](NotedLine& l, Plane& plane, size_t first, size_t unit) {
        const Time last = std::max(l.write.time(), l.read.time());
        if (l.write.done) write_out(l.write, plane, first, l.write.bytes() / unit, true);
        if (l.read.done) write_out(l.read, plane, first, l.read.bytes() / unit, false);
        l.noted = std::max(l.noted, last);
        return last;
    };
    if (line.write.done || line.read.done)
        line.read_twice = 0,
        line.words = std::max(line.words, both(line, shadow.words, number * line_bytes / 4, 4));
    if (!line.bytes) return;
    for (size_t at = number * line_bytes; at < (number + 1) * line_bytes; at += short_line_bytes)
        both(shadow.short_lines[at / short_line_bytes], shadow.bytes, at, 1);
}

template <bool Write> bool note_range(char* address, size_t bytes, uint64_t site) {
    if (steps::drawing || (state.any() && !settled(Write)) || until_preempted < 1 || bytes % 4) return false;
    const Recent* q = &recent_at(address, site);
    if (mind(rank).counted != last_barrier || !is_plain<Write>(*q, address, bytes, 4)) {
        q = &recent_again(address, site);
        if (!is_plain<Write>(*q, address, bytes, 4)) return false;
    }
    const size_t first = address - q->start;
    if (!note_each<0, Write>(*q, first, bytes, site)) return false;
    --until_preempted;
    noted<Write>(*q, first, bytes, site);
    return true;
}
bool note_range(void* p, size_t bytes, bool write, uint64_t site) {
    if (!self || !runs_works || (on_own_stack(p) && !state.index_too_large)) return true;
    stop_if_following();
    char* const address = static_cast<char*>(p);
    return write ? note_range<true>(address, bytes, site) : note_range<false>(address, bytes, site);
}

template <unsigned Bytes, bool Write> __attribute__((noinline)) void drawn_access(void* p, uint64_t site) {
    draw(p, Bytes, Write ? writes : reads, site, __builtin_frame_address(0));
    access(p, Bytes, Write ? writes : reads, site);
}
template <unsigned Bytes, bool Write> __attribute__((noinline)) void unsettled_access(void* p, uint64_t site) {
    if (steps::drawing) return drawn_access<Bytes, Write>(p, site);
    if (!settled(Write)) return Quick<Bytes, Write>::otherwise(static_cast<char*>(p), site);
    if (--until_preempted < 0) Quick<Bytes, Write>::after_a_turn(static_cast<char*>(p), site);
    else Quick<Bytes, Write>::elsewhere(static_cast<char*>(p), site);
}
// Replay: returns whether the running thread makes the access that the leader's steps predict.
template <unsigned Bytes, bool Write> [[gnu::always_inline]] inline bool followed(char* address, uint64_t site) {
    Footstep* const f = footstep;
    if (address != f->next || site != f->site || rank != follower) return false;
    if (f->flags) {
        auto* const flags = reinterpret_cast<uint8_t*>(address + f->flags);
        if (Write) memset(flags, 1, Bytes);
        else if (!all_written(flags, Bytes)) return false;
    }
    f->next = address + Bytes;
    footstep = f + 1;
    return true;
}
template <unsigned Bytes, bool Write> __attribute__((noinline)) void near_access(char* address, uint64_t site) {
    if (__builtin_expect(steps::drawing | state.any(), 0)) return unsettled_access<Bytes, Write>(address, site);
    if (--until_preempted < 0) return Quick<Bytes, Write>::after_a_turn(address, site);
    Quick<Bytes, Write>::again(address, site);
}
template <unsigned Bytes, bool Write> __attribute__((noinline)) void beside_lead(char* address, uint64_t site) {
    if (follows(address, site)) {
        if (followed<Bytes, Write>(address, site)) return;
        stop_following();  // it reads a byte that is not written
    }
    near_access<Bytes, Write>(address, site);
}
template <unsigned Bytes, bool Write> __attribute__((noinline)) void far_access(void* p, uint64_t site) {
    if (!self || !runs_works) return;  // another thread of the program may be running kernels
    if (footstep != &nowhere) return beside_lead<Bytes, Write>(static_cast<char*>(p), site);
    near_access<Bytes, Write>(static_cast<char*>(p), site);
}
// Only what most calls need: most are for the thread's own stack, or for blockDim.
template <unsigned Bytes, bool Write> inline void quick_access(void* p, uint64_t site) {
    char* const address = static_cast<char*>(p);
    if (followed<Bytes, Write>(address, site)) return;
    if (size_t(p) - size_t(current_fiber->bottom) >= stack_bytes) {
        const size_t builtins = size_t(&__stop_cudacpu_builtin) - size_t(&__start_cudacpu_builtin);
        if (size_t(p) - size_t(&__start_cudacpu_builtin) >= builtins) far_access<Bytes, Write>(p, site);
        return;
    }
    if (state.index_too_large) past_local_array(address, Bytes, Write);
}

}  // namespace cudacpu::hazards

using namespace cudacpu::hazards;
// clang-format off
#define CUDACPU_QUICK(bytes) \
    void __tsan_read##bytes(void* p) { quick_access<bytes, false>(p, CUDACPU_SITE); } \
    void __tsan_write##bytes(void* p) { quick_access<bytes, true>(p, CUDACPU_SITE); }
extern "C" {
CUDACPU_QUICK(1) CUDACPU_QUICK(2) CUDACPU_QUICK(4) CUDACPU_QUICK(8) CUDACPU_QUICK(16)
}
