// access_hooks.cpp - the hooks of the hazard build, except the most frequent ones, which are in fast_path.cpp.
#include "race/access_hooks.hpp"

#include "api/upcalls.hpp"
#include "engine/upcalls.hpp"
#include "race/access_check.hpp"

using namespace cudacpu::race;

namespace {
void on_access(const void* p, size_t bytes, unsigned kind, uint64_t site, const void* frame) {
    if (!bytes) return;
    if (__builtin_expect(cudacpu::warp::drawing, 0))
        cudacpu::warp::stop_at_access(p, bytes, kind & writes, kind & flag, site, frame);
    access(p, bytes, kind, site);
}
}  // namespace

extern "C" {
CUDACPU_ACCESS_HOOKS
void __tsan_vptr_read(void** p) { access(p, 8, reads, CUDACPU_SITE); }
void __tsan_vptr_update(void** p, void*) { access(p, 8, writes, CUDACPU_SITE); }
void __tsan_atomic_thread_fence(int) { cudacpu::in_kernel() ? cudacpu::fence() : __atomic_thread_fence(5); }
}  // extern "C"
