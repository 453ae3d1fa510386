// volatile.cpp - the plain build, for files that say `volatile`: what the compiler calls before each access. The
// other hooks do nothing; with them an object of the hazard build links as a plain program.
//
// Who reads a volatile word again and again waits for another thread: that one gets its turn. And code for warps
// that ran in step (`s[i] += s[i + 16]; s[i] += s[i + 8];` on volatile shared memory, without __syncwarp()) is
// found: a thread writes what another lane of its warp has read already, and that lane has gone on to write its own
// element.
#include "internal.hpp"

#include <set>
#include <unordered_map>

namespace cudacpu {

namespace {

struct Reads {  // of a word of shared memory, by the last two threads that read it
    unsigned last, before;
    unsigned long time;
};
struct Wrote {
    const Region* region;
    const void* address;
    unsigned long time, block;
};
std::unordered_map<const void*, Reads> all_reads CUDACPU_LASTING;
Wrote wrote[1024];  // by each thread, last
unsigned long block;

const Region* shared_region(const void* p) {
    static const Region* last;
    if (last && p >= last->start && p < last->start + last->bytes) return last;
    const Region* r = find(p);
    return r && (r->kind == Kind::shared || r->kind == Kind::dynamic) ? last = r : nullptr;
}

void access(const void* address, unsigned bytes, bool writes, const void* pc) {
    if (!in_kernel()) return;
    last_access = pc;
    if (look_asked) look(pc, address, bytes);
    if (!writes && ++waits_in_a_row > 1000) give_way();
    const Region* const r = shared_region(address);
    if (!r) return;
    if (block != block_serial) block = block_serial, all_reads.clear();
    const unsigned long time = syncs[rank / 32];
    Reads& reads = all_reads.try_emplace(address, Reads{rank, rank, time}).first->second;
    if (reads.time != time) reads = {rank, rank, time};
    if (!writes) {
        if (reads.last != rank) reads.before = std::exchange(reads.last, rank);
        return;
    }
    wrote[rank] = {r, address, time, block};
    const unsigned reader = reads.last != rank ? reads.last : reads.before;
    const Wrote& its = wrote[reader];
    static auto& known = *new std::set<const void*>;
    if (reader == rank || reader / 32 != rank / 32 || its.region != r || its.address == address ||
        its.time != time || its.block != block || !known.insert(pc).second)
        return;
    bug(text("lane %u writes what lane %u of its warp has read already, as if a warp ran in step: ", lane(),
             reader % 32) +
            explain(address),
        "since Volta it does not, whatever is volatile: put __syncwarp() between the steps", source_line(pc));
}

}  // namespace

int left_out(const char*, const char*) { return 0; }

}  // namespace cudacpu

// clang-format off
#define CUDACPU_CALLER __builtin_return_address(0)
#define CUDACPU_HOOKS(bytes) \
    void __tsan_read##bytes(void*) {}             void __tsan_write##bytes(void*) {} \
    void __tsan_unaligned_read##bytes(void*) {}   void __tsan_unaligned_write##bytes(void*) {} \
    void __tsan_volatile_read##bytes(void* p) { cudacpu::access(p, bytes, false, CUDACPU_CALLER); } \
    void __tsan_volatile_write##bytes(void* p) { cudacpu::access(p, bytes, true, CUDACPU_CALLER); } \
    void __tsan_unaligned_volatile_read##bytes(void* p) { cudacpu::access(p, bytes, false, CUDACPU_CALLER); } \
    void __tsan_unaligned_volatile_write##bytes(void* p) { cudacpu::access(p, bytes, true, CUDACPU_CALLER); }
extern "C" {
CUDACPU_HOOKS(1) CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8) CUDACPU_HOOKS(16)
void __tsan_read_range(void*, size_t) {}
void __tsan_write_range(void*, size_t) {}
void* __tsan_memset(void* p, int value, size_t n) { return memset(p, value, n); }
void* __tsan_memcpy(void* to, const void* from, size_t n) { return memcpy(to, from, n); }
void* __tsan_memmove(void* to, const void* from, size_t n) { return memmove(to, from, n); }
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(5); }
void __ubsan_handle_out_of_bounds(void*, uintptr_t) {}
void __ubsan_handle_shift_out_of_bounds(void*, uintptr_t, uintptr_t) {}
void __ubsan_handle_float_cast_overflow(void*, uintptr_t) {}
}  // extern "C"
