// warp_synchronous.cpp - the plain build's hooks, for files that use `volatile`: spin detection and
// warp-synchronous code. The other hooks do nothing; they let an object of the hazard build link as a plain
// program.
//
// A thread that polls a volatile word waits for another thread, which therefore gets its turn. The hooks also find
// code for warps that ran in lockstep (`s[i] += s[i + 16]; s[i] += s[i + 8];` on volatile memory, without
// __syncwarp()). In such code a thread writes what another lane of its warp has already read, and that lane has
// gone on to write its own element. Lanes that wait for each other's flags do the same, but have seen what the
// other lane wrote. In global memory any thread may pass on what it has found. There each lane must have its own
// element of one row, and must have written it both before that read and after it.

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/build.hpp"
#include "engine/rendezvous.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "engine/watchdog.hpp"
#include "memory/address_space.hpp"
#include "race/access_hooks.hpp"

namespace cudacpu {

namespace {

struct Seen {
    unsigned rank;
    unsigned long at;  // accesses are numbered
};
struct Reads {  // the last two threads that read a word
    Seen last, before;
    unsigned long time;
};
struct Lane {  // of each thread: its last write and its last read
    const Region* region;
    const char* address;
    unsigned long time, first, last;  // first and last: its writes of this word since its warp synchronized
    const char* seen;
    unsigned long seen_at;
} lanes[1024];
std::unordered_map<const void*, Reads> all_reads CUDACPU_LASTING;
const Region* region;
unsigned long block, accesses;

const Region* region_of(const char* p) {
    static const Region globals{};
    if (is_global(p)) return &globals;
    if (region && p >= region->start && p < region->start + region->bytes) return region;
    const Region* r = find(p);
    return r && (is_shared(r) || r->kind == Kind::device || r->kind == Kind::managed) ? region = r : nullptr;
}

void access(const void* p, unsigned bytes, bool writes, const void* pc) {
    if (!in_kernel()) return;
    const char* const address = static_cast<const char*>(p);
    last_access = pc;
    if (sample_requested) take_sample(pc, address, bytes);
    if (!writes && ++waits_in_a_row > 1000) give_way();
    if (std::exchange(block, block_serial) != block_serial)
        region = nullptr, all_reads.clear(), std::fill_n(lanes, running_block.size, Lane{});
    const Region* const r = region_of(address);
    if (!r) return;
    const unsigned long time = syncs[rank / 32], now = ++accesses;
    const Seen me = {rank, now};
    Reads& reads = all_reads.try_emplace(address, Reads{me, me, time}).first->second;
    if (reads.time != time) reads = {me, me, time};
    Lane& mine = lanes[rank];
    if (!writes) {
        if (reads.last.rank != rank) reads.before = std::exchange(reads.last, me);
        mine.seen = address, mine.seen_at = now;
        return;
    }
    const bool again = mine.address == address && mine.time == time;
    mine = {r, address, time, again ? mine.first : now, now, mine.seen, mine.seen_at};
    const Seen reader = reads.last.rank != rank ? reads.last : reads.before;
    const Lane& its = lanes[reader.rank];
    if (reader.rank == rank || reader.rank / 32 != rank / 32 || its.region != r || its.address == address ||
        its.time != time)
        return;
    const bool in_a_row = address - its.address == (long(rank) - long(reader.rank)) * long(bytes);
    const bool answered = mine.seen == its.address && mine.seen_at > its.last;
    const bool meant = is_shared(r) ? its.last < reader.at || (answered && again)
                                    : answered || !in_a_row || reader.at < its.first || its.last < reader.at;
    static auto& known = *new std::set<const void*>;
    if (meant || !known.insert(pc).second) return;
    report_bug(say({"lane %u writes what lane %u of its warp has read already, as if a warp ran in step: %s",
                    "通道 %u 写入同一线程束的通道 %u 已读取的内存，好像线程束同步执行：%s"},
                   lane(), reader.rank % 32, explain(address)),
               say({"since Volta it does not, whatever is volatile: put __syncwarp() between the steps",
                    "从 Volta 起并非如此，与 volatile 无关：在各步之间加上 __syncwarp()"}),
               source_line(pc), "warp-synchronous");
}

}  // namespace

namespace race {

static void on_access(const void* p, size_t bytes, unsigned kind, uint64_t site, const void*) {
    if (kind & flag) access(p, unsigned(bytes), kind & writes, reinterpret_cast<void*>(site));
}

// clang-format off
#define CUDACPU_NO_HOOKS(bytes) void __tsan_read##bytes(void*) {} void __tsan_write##bytes(void*) {}
extern "C" {
CUDACPU_ACCESS_HOOKS
CUDACPU_NO_HOOKS(1) CUDACPU_NO_HOOKS(2) CUDACPU_NO_HOOKS(4) CUDACPU_NO_HOOKS(8) CUDACPU_NO_HOOKS(16)
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(5); }
void __ubsan_handle_out_of_bounds(void*, uintptr_t) {}
}  // extern "C"

}  // namespace race

}  // namespace cudacpu
