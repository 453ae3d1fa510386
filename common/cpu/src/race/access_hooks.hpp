// access_hooks.hpp - the instrumentation entry points: what the compiler calls before each access of the program.
//
// `g++ -fsanitize=thread` inserts the calls. The functions here replace ThreadSanitizer, which is not linked.
#pragma once
#include <cstring>

#include "race/race.hpp"

// clang-format off
#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
#define CUDACPU_ON_ACCESS(p, bytes, kind) on_access(p, bytes, kind, CUDACPU_SITE, __builtin_frame_address(0))
#define CUDACPU_HOOK(name, bytes, kind) void __tsan_##name(void* p) { CUDACPU_ON_ACCESS(p, bytes, kind); }
#define CUDACPU_HOOKS(bytes) \
    CUDACPU_HOOK(volatile_read##bytes, bytes, flag) CUDACPU_HOOK(volatile_write##bytes, bytes, flag | writes) \
    CUDACPU_HOOK(unaligned_read##bytes, bytes, reads) CUDACPU_HOOK(unaligned_write##bytes, bytes, writes) \
    CUDACPU_HOOK(unaligned_volatile_read##bytes, bytes, flag) \
    CUDACPU_HOOK(unaligned_volatile_write##bytes, bytes, flag | writes)
// Defines the hooks of volatile and unaligned accesses, of structs, and of the program's own memset() and the like
// (cuda_runtime.h), which clang also calls for structs. Each calls on_access().
#define CUDACPU_ACCESS_HOOKS \
    CUDACPU_HOOKS(1) CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8) CUDACPU_HOOKS(16) \
    void __tsan_read_range(void* p, size_t n) { CUDACPU_ON_ACCESS(p, n, reads); } \
    void __tsan_write_range(void* p, size_t n) { CUDACPU_ON_ACCESS(p, n, writes); } \
    void* __tsan_memset(void* p, int c, size_t n) { return CUDACPU_ON_ACCESS(p, n, writes), memset(p, c, n); } \
    void* __tsan_memcpy(void* to, const void* from, size_t n) { \
        return CUDACPU_ON_ACCESS(from, n, reads), CUDACPU_ON_ACCESS(to, n, writes), memcpy(to, from, n); \
    } \
    void* __tsan_memmove(void* to, const void* from, size_t n) { \
        return CUDACPU_ON_ACCESS(from, n, reads), CUDACPU_ON_ACCESS(to, n, writes), memmove(to, from, n); \
    }
