// tsan_abi.cpp - the remaining functions of ThreadSanitizer's ABI, which code built with `g++
// -fsanitize=thread` links against.
#include <cstdint>

// clang-format off
// std::atomic and its relatives: kernels have none, but the host's must link.
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
CUDACPU_ATOMICS(8, uint8_t) CUDACPU_ATOMICS(16, uint16_t) CUDACPU_ATOMICS(32, uint32_t) CUDACPU_ATOMICS(64, uint64_t)
void __tsan_atomic_signal_fence(int) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}  // extern "C"
