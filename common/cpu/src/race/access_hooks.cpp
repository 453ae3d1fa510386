// access_hooks.cpp - the race detector's instrumentation entry points: what the compiler calls before each access
// of the program. The most frequent ones are in fast_path.cpp.
//
// `g++ -fsanitize=thread` inserts the calls. The functions here replace ThreadSanitizer, which is not linked.
#include "race/access_hooks.hpp"

#include <cstring>

#include "api/upcalls.hpp"
#include "engine/upcalls.hpp"
#include "race/access_check.hpp"
#include "race/fast_path.hpp"

using namespace cudacpu::race;

namespace {
void range(const void* p, size_t bytes, unsigned kind, uint64_t site, const void* frame) {
    if (!bytes) return;
    if (__builtin_expect(cudacpu::warp::drawing, 0))
        cudacpu::warp::stop_at_access(p, bytes, kind & writes, kind & flag, site, frame);
    access(p, bytes, kind, site);
}
}  // namespace

// clang-format off
#define CUDACPU_DRAW(p, bytes, kind) \
    if (__builtin_expect(cudacpu::warp::drawing, 0)) \
        cudacpu::warp::stop_at_access(p, bytes, (kind) & writes, (kind) & flag, CUDACPU_SITE, __builtin_frame_address(0))
#define CUDACPU_HOOK(name, bytes, kind) void __tsan_##name(void* p) { CUDACPU_DRAW(p, bytes, kind); access(p, bytes, kind, CUDACPU_SITE); }
#define CUDACPU_HOOKS(bytes) \
    CUDACPU_HOOK(volatile_read##bytes, bytes, flag) CUDACPU_HOOK(volatile_write##bytes, bytes, flag | writes) \
    CUDACPU_HOOK(unaligned_read##bytes, bytes, reads) CUDACPU_HOOK(unaligned_write##bytes, bytes, writes) \
    CUDACPU_HOOK(unaligned_volatile_read##bytes, bytes, flag) \
    CUDACPU_HOOK(unaligned_volatile_write##bytes, bytes, flag | writes)

extern "C" {
CUDACPU_HOOKS(1) CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8) CUDACPU_HOOKS(16)
void __tsan_read_range(void* p, size_t n) { range(p, n, reads, CUDACPU_SITE, __builtin_frame_address(0)); }
void __tsan_write_range(void* p, size_t n) { range(p, n, writes, CUDACPU_SITE, __builtin_frame_address(0)); }
// The program's own memset() and the like; see cuda_runtime.h. clang also calls these instead of the last two.
void* __tsan_memset(void* p, int c, size_t n) {
    range(p, n, writes, CUDACPU_SITE, __builtin_frame_address(0));
    return memset(p, c, n);
}
void* __tsan_memcpy(void* to, const void* from, size_t n) {
    range(from, n, reads, CUDACPU_SITE, __builtin_frame_address(0));
    range(to, n, writes, CUDACPU_SITE, __builtin_frame_address(0));
    return memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
    range(from, n, reads, CUDACPU_SITE, __builtin_frame_address(0));
    range(to, n, writes, CUDACPU_SITE, __builtin_frame_address(0));
    return memmove(to, from, n);
}
void __tsan_vptr_read(void** p) { access(p, 8, reads, CUDACPU_SITE); }
void __tsan_vptr_update(void** p, void*) { access(p, 8, writes, CUDACPU_SITE); }
void __tsan_atomic_thread_fence(int) { cudacpu::in_kernel() ? cudacpu::fence() : __atomic_thread_fence(5); }
}  // extern "C"
