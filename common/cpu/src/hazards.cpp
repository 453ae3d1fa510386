// hazards.cpp - the hazard build: what the compiler calls before each access of the program.
//
// `g++ -fsanitize=thread` inserts the calls; ThreadSanitizer itself is not linked, the functions are here.
// Before an access the thread may be stopped and another one run, so that a missing atomic loses updates. Then the
// access is compared with what is noted about those bytes: who wrote and read them last. Two accesses of different
// threads, one of them a write, are a race if nothing orders them.
//
// One clock counts launches, blocks, barriers and fences. An access at time t comes before what a thread does now
// if
//   - it is the thread's own, or an earlier launch's
//   - their block has passed a barrier since t
//   - both are lanes of one warp, and __syncwarp() since t leads from one to the other (a shuffle orders nothing)
//   - a thread that fenced after t has since done an atomic, or written a volatile flag, where this thread has done
//     an atomic, or read the flag, after it
// The last rule takes in what other threads did before the fence. So a race may stay hidden behind somebody else's
// fence, but none is invented.
#include "hazards.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

extern "C" char __executable_start, _end;  // from the linker: the program and its variables

namespace cudacpu::hazards {

using Time = uint32_t;

struct Record {     // one access
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    Time time;      // 0: there was none
    uint16_t rank;
    uint8_t step, bytes : 4, access : 4;  // step: how many accesses its thread has done since the last barrier
};
struct Shadow {  // of four bytes; two readers, so that one is not the writer itself
    Record write, read[2];
};

namespace {

// What a thread knows: all accesses before these times of each lane of its warp, of other blocks, and of its own
// block; then the time of its last fence, and how many accesses it has done since the last barrier.
enum { of_others = 32, of_block, fenced, steps };
using Notes = std::array<Time, 36>;
std::vector<Notes> notes;
Time now, launch_start, block_start, last_barrier;
std::vector<std::pair<Time, uint64_t>> blocks;                     // when each began
std::unordered_map<const void*, std::pair<Time, Time>> handed_on;  // by atomics: of others, and of their own block
Region program{&__executable_start, size_t(&_end - &__executable_start), Kind::registered,
               &__executable_start, size_t(&_end - &__executable_start), {"", 0}};
bool busy;  // The linker may have taken the program's instrumented copy of a std::map for this one.

std::map<std::pair<uint64_t, uint64_t>, Race> races;  // of this launch, by the sites
struct SeenFlag {
    const char* address;
    unsigned writes;  // how many of it there had been
};
std::vector<SeenFlag> seen;  // by each thread of the block: the flag that it has read, and not yet written
std::unordered_map<const void*, unsigned> flag_writes;
Race same_value;  // two writes: it is a race only if the second changes the value
unsigned char value_before[16];
// Lines that read what a CAS is then done on. Their races with atomics are none, as the CAS sees whether the value
// still holds. A thread that goes without the CAS has decided on an old value.
std::set<uint64_t> before_cas;

void raise(Time& t, Time to) { t = std::max(t, to); }

bool ordered(const Record& r) {  // does r come before what the running thread does now?
    const Notes& me = notes[rank];
    if (r.time < block_start) return r.time < me[of_others];
    return r.rank == rank || r.time < std::max(last_barrier, me[of_block]) ||
           (r.rank / 32 == rank / 32 && r.time < me[r.rank % 32]);
}

uint64_t block_of(const Record& r) {
    return std::upper_bound(blocks.begin(), blocks.end(), std::pair(r.time, ~0ul))[-1].second;
}
Party party(const Record& r) { return {r.site, block_of(r), r.rank, r.step, r.access}; }

void note(const Race& race) {  // of all races between two sites the one between the most distant threads
    Race& noted = races.try_emplace(std::minmax(race.before.site, race.after.site), race).first->second;
    const bool adds = noted.adds || race.adds;
    if (distance(race) > distance(noted)) noted = race;
    noted.adds = adds;
}

void settle() {  // the write of the last call has been done
    if (same_value.bytes && memcmp(same_value.address, value_before, same_value.bytes) != 0) note(same_value);
    same_value.bytes = 0;
}

// ---- one access ------------------------------------------------------------------------------------------

void compare(Shadow& cell, char* address, size_t bytes, const Record& mine, bool late) {
    auto check = [&](const Record& r) {
        const bool synchronised = r.access & (atomic | flag) && mine.access & (atomic | flag);
        if (!(r.bytes & mine.bytes) || ordered(r)) return;
        const bool loses = late && (r.access & (writes | flag)) == (writes | flag);
        if (synchronised && !loses) return;
        const Record &writer = r.access & writes ? r : mine, &other = r.access & writes ? mine : r;
        Race race{party(r), party(mine), address, bytes, loses};
        for (const Record& own : cell.read) race.adds |= own.rank == writer.rank && own.site == other.site;
        if ((r.access | mine.access) & atomic || !(other.access & writes) || bytes > sizeof value_before)
            return note(race);
        memcpy(value_before, address, bytes);
        same_value = race;
    };
    check(cell.write);
    if (!(mine.access & writes)) return void(cell.read[!ordered(cell.read[0])] = mine);
    for (const Record& r : cell.read) {
        check(r);
        if (mine.access & compares && r.rank == rank && r.time >= block_start) before_cas.insert(r.site);
    }
    cell.write = mine;
}

// Volatile accesses do not race, as they may be a flag. But who reads a value, and writes after another thread has
// written, loses that write. An atomic reads and writes at once.
bool writes_late(const char* address, const Record& mine) {
    unsigned& all = flag_writes[address];
    SeenFlag& mine_seen = seen[rank];
    const bool flag_write = (mine.access & (writes | flag)) == (writes | flag);
    const bool late = flag_write && mine_seen.address == address && mine_seen.writes != all;
    all += flag_write;
    mine_seen = {flag_write ? nullptr : address, all};
    return late;
}

size_t cells(const Region& r) { return r.bytes / 4 + 1; }
uint8_t* written(const Region& r) { return reinterpret_cast<uint8_t*>(r.shadow + cells(r)); }  // a flag a byte

void check(char* address, size_t bytes, unsigned kind, uint64_t site) {
    Notes& me = notes[rank];
    // The compiler calls for both sides of a struct's copy before it copies: a read does not yet settle the write.
    if (kind & writes || rank != same_value.after.rank) settle();
    const char* arguments = static_cast<char*>(launch->body.closure);  // the kernel's own copy of them
    if (address >= arguments && address < arguments + launch->body.bytes) return;
    Record mine{site, now, uint16_t(rank), uint8_t(std::min(me[steps]++, 255u)), 0, uint8_t(kind & 15)};
    auto wrong = [&](Mistake what) { note(what, address, bytes, party(mine)); };
    const Region* r = find(address);
    if (!r && is_global(address)) r = &program;
    if (!r) return wrong(Mistake::foreign);
    if (r->freed || address >= r->base + r->pages || !r->shadow) return;  // it will be reported as a fault
    const size_t first = address - r->start, last = first + bytes;
    if (address < r->start || last > r->bytes) return wrong(Mistake::out_of_bounds);
    if (is_shared(r)) mine.access &= 15 - flag;  // there, volatile orders nothing
    if (!(kind & writes && !(kind & atomic)) && (r->kind == Kind::device || is_shared(r)) &&
        memchr(written(*r) + first, 0, bytes))
        wrong(Mistake::unwritten);
    memset(written(*r) + first, 1, bytes);
    const bool late = mine.access & (flag | atomic) && writes_late(address, mine);
    for (size_t i = first; i < last; i = (i / 4 + 1) * 4) {
        mine.bytes = ((1u << std::min<size_t>(last - i / 4 * 4, 4)) - (1u << i % 4)) & 15;
        compare(r->shadow[i / 4], address, bytes, mine, late);
    }
    if (!(mine.access & (atomic | flag))) return;
    auto& [others, own] = handed_on[address];
    raise(me[of_others], others);
    raise(me[own < block_start ? of_others : of_block], own);
    if (kind & writes && me[fenced]) others = me[of_others], own = std::max(me[of_block], me[fenced]);
}

void access(const volatile void* where, size_t bytes, unsigned kind, uint64_t site) {
    char* address = static_cast<char*>(const_cast<void*>(where));
    if (!in_kernel() || busy || on_own_stack(address)) return;
    if (!(kind & atomic) && random_number() % (kind & flag ? 4 : 16) == 0) preempt();
    busy = true;
    check(address, bytes, kind, site);
    busy = false;
}

void share_notes(size_t first, unsigned lanes, size_t count) {  // each learns what the others know
    Notes all{};
    ++now;
    const size_t last = std::min(first + count, notes.size());
    for (size_t i = first; i < last; ++i) {
        if (!(lanes >> i % 32 & 1)) continue;
        notes[i][i % 32] = now;
        for (size_t j = 0; j < steps; ++j) raise(all[j], notes[i][j]);
    }
    for (size_t i = first; i < last; ++i)
        if (lanes >> i % 32 & 1) notes[i] = all;
}

}  // namespace

// ---- what the engine tells -------------------------------------------------------------------------------

void launch_begins() {
    if (!program.shadow) region_added(program);
    launch_start = ++now;
    blocks.clear();
    handed_on.clear();
    flag_writes.clear();
}
void block_begins() {
    settle();
    block_start = last_barrier = ++now;
    blocks.emplace_back(now, block_number);
    notes.assign(running_block.size, {});
    seen.assign(running_block.size, {});
    for (Notes& n : notes) n[of_others] = launch_start;
}
void launch_ends() {
    settle();
    std::vector<Race> all;
    for (const auto& [sites, race] : races) {
        const bool any_atomic = (race.before.access | race.after.access) & atomic;
        if (!any_atomic || !(before_cas.count(race.before.site) || before_cas.count(race.after.site)))
            all.push_back(race);
    }
    report(all);
    races.clear();
}
void barrier_passed() {
    share_notes(0, ~0u, notes.size());
    last_barrier = now;
}
void lanes_met(unsigned first, unsigned lanes) { share_notes(first, lanes, 32); }
void at_fence() {
    if (in_kernel()) notes[rank][fenced] = ++now;
}
void at_atomic(void* address, unsigned bytes, bool compare, Where where) {
    access(address, bytes, writes | atomic | (compare ? compares : 0),
           reinterpret_cast<uint64_t>(where.file) | uint64_t(where.line) << 48);
}

void region_added(Region& r) {
    r.shadow = static_cast<Shadow*>(calloc(cells(r), sizeof(Shadow) + 4));  // costs only the pages that are used
    if (!r.shadow) say("cudacpu: no memory for the notes about so much memory"), _exit(3);
}
void region_fresh(Region& r) {
    if (!in_kernel()) settle();
    memset(r.shadow, 0, cells(r) * (sizeof(Shadow) + 4));
}
void bytes_written(Region& r, size_t offset, size_t bytes) {
    if (r.shadow) memset(written(r) + offset, 1, bytes);
}
void region_gone(Region& r) { free(std::exchange(r.shadow, nullptr)); }

}  // namespace cudacpu::hazards

// ---- what the compiler calls -----------------------------------------------------------------------------

using namespace cudacpu::hazards;

// clang-format off
#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
#define CUDACPU_HOOK(name, bytes, kind) void __tsan_##name(void* p) { access(p, bytes, kind, CUDACPU_SITE); }
#define CUDACPU_HOOKS(bytes) \
    CUDACPU_HOOK(read##bytes, bytes, reads)         CUDACPU_HOOK(write##bytes, bytes, writes) \
    CUDACPU_HOOK(volatile_read##bytes, bytes, flag) CUDACPU_HOOK(volatile_write##bytes, bytes, flag | writes) \
    CUDACPU_HOOK(unaligned_read##bytes, bytes, reads) CUDACPU_HOOK(unaligned_write##bytes, bytes, writes) \
    CUDACPU_HOOK(unaligned_volatile_read##bytes, bytes, flag) \
    CUDACPU_HOOK(unaligned_volatile_write##bytes, bytes, flag | writes)

extern "C" {
CUDACPU_HOOKS(1) CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8) CUDACPU_HOOKS(16)
void __tsan_read_range(void* p, size_t n) { access(p, n, reads, CUDACPU_SITE); }
void __tsan_write_range(void* p, size_t n) { access(p, n, writes, CUDACPU_SITE); }
// clang calls these instead of the last two.
void* __tsan_memset(void* p, int value, size_t n) { return access(p, n, writes, CUDACPU_SITE), memset(p, value, n); }
void* __tsan_memcpy(void* to, const void* from, size_t n) {
    return access(from, n, reads, CUDACPU_SITE), access(to, n, writes, CUDACPU_SITE), memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
    return access(from, n, reads, CUDACPU_SITE), access(to, n, writes, CUDACPU_SITE), memmove(to, from, n);
}
void __tsan_vptr_read(void** p) { access(p, 8, reads, CUDACPU_SITE); }
void __tsan_vptr_update(void** p, void*) { access(p, 8, writes, CUDACPU_SITE); }
void __tsan_atomic_thread_fence(int) { cudacpu::fence(); }
}  // extern "C"
