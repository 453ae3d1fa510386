// lockstep.cpp - lockstep execution and reconvergence: the lanes of a warp advance together, and what they do
// together is one operation.
//
// The compiler inserts a call before each access (-fsanitize=thread) and at the beginning of each basic block
// (-fsanitize-coverage=trace-pc). A lane stops there. When all lanes of its warp have stopped, wait or
// have ended, the lanes furthest behind resume: first those in the innermost function, then those with the lowest
// block number, which cudacpu has put into the code. So lanes that diverge at a branch reconverge where it ends,
// and lanes that have executed a loop's body wait for the others before the next iteration. (After S.
// Collange, "Stack-less SIMT reconvergence at low cost", 2011, which uses code addresses.) Spinning lanes let the
// others resume.
#include "warp/lockstep.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"
#include "memory/address_space.hpp"
#include "warp/memory_counters.hpp"
#include "warp/trace_recorder.hpp"

unsigned cudacpu_round;  // set by rounds.hpp

namespace cudacpu::warp {

LanePosition lane_positions[1024];

namespace {

Rendezvous held;  // the rendezvous of stopped lanes, which is never complete
struct Warp {
    unsigned stopped, together;  // masks of lanes; together: those that resumed last
    unsigned alive;              // when last checked
    struct {                     // the last operation that may spin
        uint64_t site, value;
        const volatile void* address;
        unsigned mask, times;
    } spin;
} warps[32];
uint64_t branches[1024];  // the block that each thread is in, with the line of the branch that ends it
constexpr uint64_t with_line = 1ul << 63;
bool leave_warp;

constexpr unsigned patience = 100;

bool runs_before(const LanePosition& a, const LanePosition& b) {
    if (a.depth != b.depth) return a.depth > b.depth;
    if (a.block != b.block) return a.block < b.block;
    return a.pc != b.pc ? a.pc < b.pc : a.site < b.site;
}
bool same_place(const LanePosition& a, const LanePosition& b) {
    return a.depth == b.depth && a.pc == b.pc && a.site == b.site;
}

bool in_library;  // the library is running: templates that it shares with the program call the hooks, too

void record_instruction(const WarpInstruction& o) {
    in_library = true;
    if constexpr (counters_build) count_instruction(o);
    if (drawing) draw(o);
    in_library = false;
}

bool spins(Warp& w, const WarpInstruction& o) {
    const LanePosition& s = o.first();
    if (!s.may_spin) {
        if (s.kind != path && w.spin.mask & o.mask) w.spin.times = 0;
        return false;
    }
    const uint64_t value = value_at(s.address, s.bytes);
    const bool again = w.spin.site == o.site && w.spin.address == s.address && w.spin.value == value;
    w.spin = {o.site, value, s.address, o.mask, again ? w.spin.times + 1 : 0};
    return w.spin.times > patience;
}

// The lanes that resumed together have stopped again. Detects whether they have diverged.
void note_divergence(unsigned number) {
    Warp& w = warps[number];
    const Thread* const threads = running_block.threads + size_t{32} * number;
    const unsigned ended = w.together & ~running_block.lanes(number);
    const unsigned first = w.together ? std::countr_zero(w.together) : 0;
    bool apart = ended && ended != w.together;
    for_lanes(w.together & ~ended, [&](unsigned l) {
        const bool both_stopped = threads[l].at == &held && threads[first].at == &held;
        apart |= both_stopped ? !same_place(lane_positions[32 * number + l], lane_positions[32 * number + first])
                              : threads[l].at != threads[first].at;
    });
    if (apart && branches[32 * number + first])
        record_instruction({diverges, branches[32 * number + first], number, w.together});
    w.together = 0;
    if (const unsigned gone = w.alive & ~running_block.lanes(number); gone)
        record_instruction({leaves, 0, number, gone}), w.alive &= ~gone;
}

void resume_lanes(unsigned number) {
    Warp& w = warps[number];
    const LanePosition* next = nullptr;
    const bool relieve = w.spin.times > patience && (w.stopped & ~w.spin.mask);
    for_lanes(relieve ? w.stopped & ~w.spin.mask : w.stopped, [&](unsigned l) {
        const LanePosition& s = lane_positions[32 * number + l];
        if (!next || runs_before(s, *next)) next = &s;
    });
    WarpInstruction o{next->kind, next->site, number, 0};
    for_lanes(w.stopped,
              [&](unsigned l) { o.mask |= unsigned(same_place(lane_positions[32 * number + l], *next)) << l; });
    if (o.kind != path) record_instruction(o);
    else if constexpr (counters_build) count_waiting(number, next->round);
    leave_warp = spins(w, o) && !(w.stopped & ~o.mask);
    w.stopped &= ~o.mask;
    w.together = o.mask;
    for_lanes(o.mask, [&](unsigned l) { running_block.threads[32 * number + l].at = nullptr; });
}

// The block that a thread is in, for each function from the kernel on. It tells whether the thread reaches a loop's
// first block from outside or from inside the loop.
struct CallPath {
    static constexpr unsigned most = 16;
    unsigned count;
    struct {
        size_t depth;
        unsigned block;
    } functions[most];
} call_paths[1024];

[[maybe_unused]] unsigned block_on_call_path(CallPath& w, size_t depth, unsigned block, unsigned end) {
    while (w.count && w.functions[w.count - 1].depth > depth) --w.count;
    if (w.count == CallPath::most) return block;
    if (!w.count || w.functions[w.count - 1].depth < depth) w.functions[w.count++] = {depth, 0};
    const unsigned last = std::exchange(w.functions[w.count - 1].block, block);
    return end && last >= block && last < end ? end : block;
}

struct Kept {  // of a paused block
    Warp warps[32];
    std::vector<LanePosition> lane_positions;
    std::vector<uint64_t> branches;
    std::vector<CallPath> call_paths;
    std::shared_ptr<void> drawing;
};
std::map<uint64_t, Kept> kept CUDACPU_LASTING;  // by block

}  // namespace

void stop_lane(const Access& access, const Code& code) {
    if (in_library) return;
    Thread* const me = self;
    const unsigned number = rank;
    lane_positions[number] = {
        access, code, size_t(current_fiber->bottom) + current_fiber->size - size_t(code.frame), cudacpu_round};
    warps[number / 32].stopped |= 1u << lane();
    me->at = &held;
    me->where = {"", 0};
    preempt();
    cudacpu_round = lane_positions[number].round;
    if (drawing && access.kind != path) note_before(number);
}

namespace {

Thread* next_lane_of_warp() {
    if (!self || !in_lockstep()) return nullptr;
    const unsigned number = rank / 32;
    if (drawing) note_after(rank);
    for (;;) {
        for (unsigned i = 1; i <= 32; ++i) {
            Thread& t = running_block.threads[32 * number + (rank + i) % 32];
            if (running_block.lanes(number) >> (rank + i) % 32 & 1 && (!t.at || t.at->complete)) return &t;
        }
        note_divergence(number);
        if (!warps[number].stopped || std::exchange(leave_warp, false)) return nullptr;
        resume_lanes(number);
    }
}

bool resume_lanes_of_any_warp() {
    static unsigned last;
    for (unsigned i = 0; i < 32; ++i)
        if (warps[++last % 32].stopped) return resume_lanes(last % 32), true;
    return false;
}

void rendezvous_passed(const Rendezvous& e, unsigned warp) {
    if (!in_lockstep()) return;
    const std::string_view what = e.what;
    const bool shuffles = what.find("shfl") != what.npos, waits = what == "__syncwarp()";
    const Kind of_warp = shuffles ? shuffle : waits ? syncwarp : vote;
    const Kind kind = e.kind == Rendezvous::at_barrier ? barrier : of_warp;
    const uint64_t site = reinterpret_cast<uint64_t>(e.where.file) | uint64_t(e.where.line) << 48;
    if (drawing && kind == barrier) draw_barrier();
    for (unsigned w = warp % 32; w < 32 && 32 * w < running_block.size; ++w) {
        unsigned mask = 0;
        for_lanes(running_block.lanes(w),
                  [&](unsigned l) { mask |= unsigned(running_block.threads[32 * w + l].at == &e) << l; });
        if (mask) record_instruction({kind, site, w, mask, e.what});
        warps[w].together |= mask;
        if (warp < 32) break;
    }
}

void launch_begins() {
    if constexpr (counters_build) count_launch();
    draw_launch();
}
void block_ends() {
    for (unsigned w = 0; w < 32 && counters_build; ++w) count_waiting(w);
}
void block_begins() {
    draw_block();
    for (unsigned w = 0; w < 32; ++w) {
        const unsigned threads = running_block.size - std::min(running_block.size, 32 * w);
        const unsigned lanes = threads < 32 ? (1u << threads) - 1 : ~0u;
        warps[w] = {0, lanes, lanes, {}};
    }
    leave_warp = false;
    for (unsigned i = 0; counters_build && i < running_block.size; ++i) call_paths[i].count = 0;
}

void at_atomic(void* address, unsigned bytes, unsigned, Where where, const void*) {
    if (!in_lockstep()) return;
    stop_lane({atomic, address, bytes, bytes, true},
              {reinterpret_cast<uint64_t>(where.file) | uint64_t(where.line) << 48,
               uintptr_t(__builtin_return_address(0)), __builtin_frame_address(0)});
}

void block_pauses() {
    Kept& k = kept[block_number];
    k.drawing = keep_drawing();
    if (!in_lockstep()) return;
    const unsigned n = running_block.size;
    std::copy(std::begin(warps), std::end(warps), k.warps);
    k.lane_positions.assign(lane_positions, lane_positions + n);
    k.branches.assign(branches, branches + n);
    k.call_paths.assign(call_paths, call_paths + n);
}
void block_goes_on() {
    const Kept k = std::move(kept.extract(block_number).mapped());
    resume_drawing(k.drawing);
    std::copy(k.lane_positions.begin(), k.lane_positions.end(), lane_positions);
    std::copy(k.branches.begin(), k.branches.end(), branches);
    std::copy(k.call_paths.begin(), k.call_paths.end(), call_paths);
    if (!k.lane_positions.empty()) std::copy(std::begin(k.warps), std::end(k.warps), warps);
    leave_warp = false;
}

}  // namespace

std::map<uint64_t, std::string> source_places(const std::set<uint64_t>& sites) {
    std::vector<const void*> codes;
    for (const uint64_t site : sites)
        if (!(site >> 48) || site & with_line) codes.push_back(reinterpret_cast<char*>(site << 16 >> 16) - 1);
    const auto lines = source_lines(codes);
    std::map<uint64_t, std::string> all;
    size_t code = 0;
    for (const uint64_t site : sites) {
        const int line = int(site >> 48 & 0x7fff);
        std::string place = line && !(site & with_line) ? reinterpret_cast<char*>(site << 16 >> 16) : lines[code++];
        if (site & with_line) place.resize(std::min(place.size(), place.rfind(':')));
        if (line && !place.empty()) place.append(":").append(std::to_string(line));
        // The compiler names a file as it was given, the debug information with its folder.
        if (!place.empty() && place[0] != '/') place = std::filesystem::absolute(place);
        all[site] = place;
    }
    return all;
}

void stop_before_access(const Access& access, const Code& code) {
    if (!self || !runs_works || on_own_stack(const_cast<const void*>(access.address))) return;
    const auto is = [&](const auto& variable) {
        return size_t(access.address) - size_t(&variable) < sizeof variable;
    };
    if (is(blockDim) || is(gridDim) || is(threadIdx) || is(blockIdx) || is(rank) || is(warpSize)) return;
    if (access.may_spin && ++waits_in_a_row > 1000) give_way();
    stop_lane(access, code);
}

void stop_at_access(const void* p, size_t bytes, bool is_write, bool is_volatile, uint64_t site,
                    const void* frame) {
    if (!place_of(p).region && !is_global(p)) return;  // the library's own access, in a shared template
    stop_before_access({is_write ? store : load, p, bytes, std::min<size_t>(bytes, 16), is_volatile},
                       {site, site, frame});
}

namespace {

const struct Observer {
    Observer() {
        next_lane = next_lane_of_warp;
        resume_any_lanes = resume_lanes_of_any_warp;
        lockstep_observer.launch_begins = launch_begins;
        lockstep_observer.block_begins = block_begins;
        lockstep_observer.block_ends = block_ends;
        lockstep_observer.block_pauses = block_pauses;
        lockstep_observer.block_goes_on = block_goes_on;
        lockstep_observer.rendezvous_passed = rendezvous_passed;
        lockstep_observer.at_atomic = at_atomic;
        lockstep_observer.launch_stops = stopped;
    }
} observer CUDACPU_LASTING;

}  // namespace

}  // namespace cudacpu::warp

const cudacpu::Constant* cudacpu::Constant::last;
void cudacpu::took(const void* value, unsigned bytes, int from) {
    if (warp::drawing) warp::note_taken(rank, value, bytes, from);
}

#ifdef CUDACPU_COUNTERS
namespace cudacpu::warp {

// How many bytes of a struct are loaded at once, as far as its size and address tell.
static size_t piece_of(const volatile void* address, size_t bytes) {
    size_t piece = std::min<size_t>(bytes & -bytes, 16);
    while (uintptr_t(address) % piece) piece /= 2;
    return piece;
}

// clang-format off
#define CUDACPU_CODE(block, base, place) \
    {uint64_t(__builtin_return_address(0)), uintptr_t(__builtin_return_address(0)), __builtin_frame_address(0), block, base, place}
#define CUDACPU_HOOK(name, kind, bytes, piece, may_spin) \
    void __tsan_##name##bytes(void* p, size_t, unsigned block, unsigned base, unsigned place) { \
        stop_before_access({kind, p, bytes, piece, may_spin}, CUDACPU_CODE(block, base, place)); \
    }
#define CUDACPU_HOOKS(bytes) \
    CUDACPU_HOOK(read, load, bytes, bytes, false)           CUDACPU_HOOK(write, store, bytes, bytes, false) \
    CUDACPU_HOOK(volatile_read, load, bytes, bytes, true)   CUDACPU_HOOK(volatile_write, store, bytes, bytes, false) \
    CUDACPU_HOOK(unaligned_read, load, bytes, std::min<size_t>(4, bytes / 2), false) \
    CUDACPU_HOOK(unaligned_write, store, bytes, std::min<size_t>(4, bytes / 2), false) \
    CUDACPU_HOOK(unaligned_volatile_read, load, bytes, std::min<size_t>(4, bytes / 2), true) \
    CUDACPU_HOOK(unaligned_volatile_write, store, bytes, std::min<size_t>(4, bytes / 2), false)
extern "C" {
CUDACPU_HOOK(read, load, 1, 1, false)    CUDACPU_HOOK(write, store, 1, 1, false)
CUDACPU_HOOK(volatile_read, load, 1, 1, true)    CUDACPU_HOOK(volatile_write, store, 1, 1, false)
CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8) CUDACPU_HOOKS(16)
void __tsan_read_range(void* p, size_t n, unsigned block) { stop_before_access({load, p, n, piece_of(p, n)}, CUDACPU_CODE(block, 0, 0)); }
void __tsan_write_range(void* p, size_t n, unsigned block) { stop_before_access({store, p, n, piece_of(p, n)}, CUDACPU_CODE(block, 0, 0)); }
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(5); }
// `end`: the number of the loop's end if a loop begins here, else 0; `line`: of the branch that ends the block, or
// 0.
void __sanitizer_cov_trace_pc(uint64_t, uint64_t, unsigned block, unsigned end, unsigned line) {
    if (!self || !runs_works || in_library) return;
    const uint64_t pc = uint64_t(__builtin_return_address(0));
    const size_t depth = size_t(current_fiber->bottom) + current_fiber->size - size_t(__builtin_frame_address(0));
    stop_lane({path}, {0, pc, __builtin_frame_address(0), block_on_call_path(call_paths[rank], depth, block, end)});
    branches[rank] = line ? pc | uint64_t(line) << 48 | with_line : 0;
}
}  // extern "C"
}  // namespace cudacpu::warp
#endif
