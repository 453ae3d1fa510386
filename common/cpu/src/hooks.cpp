// hooks.cpp - the hazard build: what the compiler calls before each access of the program.
//
// `g++ -fsanitize=thread` inserts the calls; ThreadSanitizer itself is not linked, the functions are here.
#include "detect.hpp"

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

// std::atomic and its kind: kernels have none, the host's must link.
#define CUDACPU_RMW(bits, T, name, f) T __tsan_atomic##bits##_##name(T* p, T v, int) { return f(p, v, 5); }
#define CUDACPU_COMPARE(bits, T, name) int __tsan_atomic##bits##_compare_exchange_##name(T* p, T* old, T v, int, int) { \
        return __atomic_compare_exchange_n(p, old, v, false, 5, 5); }
#define CUDACPU_ATOMICS(bits, T) \
    T __tsan_atomic##bits##_load(const T* p, int) { return __atomic_load_n(p, 5); } \
    void __tsan_atomic##bits##_store(T* p, T v, int) { __atomic_store_n(p, v, 5); } \
    CUDACPU_COMPARE(bits, T, strong)                              CUDACPU_COMPARE(bits, T, weak) \
    CUDACPU_RMW(bits, T, exchange, __atomic_exchange_n)       CUDACPU_RMW(bits, T, fetch_xor, __atomic_fetch_xor) \
    CUDACPU_RMW(bits, T, fetch_add, __atomic_fetch_add)       CUDACPU_RMW(bits, T, fetch_sub, __atomic_fetch_sub) \
    CUDACPU_RMW(bits, T, fetch_and, __atomic_fetch_and)       CUDACPU_RMW(bits, T, fetch_or, __atomic_fetch_or)

extern "C" {
CUDACPU_HOOKS(1) CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8) CUDACPU_HOOKS(16)
CUDACPU_ATOMICS(8, uint8_t) CUDACPU_ATOMICS(16, uint16_t) CUDACPU_ATOMICS(32, uint32_t) CUDACPU_ATOMICS(64, uint64_t)
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
void __tsan_atomic_signal_fence(int) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}  // extern "C"
