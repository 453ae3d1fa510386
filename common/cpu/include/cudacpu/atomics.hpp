// atomics.hpp - cuda::atomic, cuda::atomic_ref and fences with a scope, of CUDA's C++ library.
//
// A release is a fence before a relaxed operation that publishes through that operation only, and an acquire is a
// fence after it that acquires from its word only. A load is a volatile read, a store an exchange.
#pragma once
#include <atomic>

#include "../cuda_runtime.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

}  // namespace cuda

namespace cudacpu::atomics {

using cuda::memory_order;
using cuda::thread_scope;

constexpr bool releases(memory_order order) {
    return order == memory_order::release || order == memory_order::acq_rel || order == memory_order::seq_cst;
}
constexpr bool acquires(memory_order order) {
    return order != memory_order::relaxed && order != memory_order::release;
}
CUDACPU_INLINE void fence_if(bool wanted, thread_scope scope, Fence kind, const void* word = nullptr) {
    if (!wanted || scope == cuda::thread_scope_thread) return;
    if (in_kernel()) fence(scope == cuda::thread_scope_block, kind, word);
    else __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
CUDACPU_INLINE void before_change(memory_order order, thread_scope scope) {
    fence_if(releases(order), scope, order == memory_order::seq_cst ? Fence::full : Fence::of_release);
}
template <size_t bytes> struct Word;  // an integer of this size that may alias any type
template <> struct Word<1> { using type [[gnu::may_alias]] = uint8_t; };
template <> struct Word<2> { using type [[gnu::may_alias]] = uint16_t; };
template <> struct Word<4> { using type [[gnu::may_alias]] = uint32_t; };
template <> struct Word<8> { using type [[gnu::may_alias]] = uint64_t; };

/// An operand, and the line of the operator that it belongs to.
template <class T> struct Operand {
    T value;
    Where where;
    Operand(T v, CUDACPU_HERE) : value(v), where(where) {}
};

// On the host another thread may change the word, also while the CPU device runs a kernel.
template <class T, class F>
CUDACPU_QUIET T modify(T* p, unsigned kind, thread_scope scope, Where where, F f, const T* expected = nullptr) {
    if (in_kernel()) {
        if (scope == cuda::thread_scope_block) kind |= at_block_scope;
        return cudacpu::atomic(p, where, kind, f, expected);
    }
    T old, changed;
    __atomic_load(p, &old, __ATOMIC_SEQ_CST);
    do changed = f(old);
    while (!__atomic_compare_exchange(p, &old, &changed, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return old;
}

/// The operations of an atomic; Self::place() returns the address of its word.
template <class Self, class T, thread_scope scope> class Operations {
    static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) & (sizeof(T) - 1)) == 0 && sizeof(T) <= 8,
                  "an atomic of the CPU device has 1, 2, 4 or 8 bytes, and can be copied bit by bit");
    static constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
    using Difference = std::conditional_t<std::is_pointer_v<T>, ptrdiff_t, T>;
    T* place() const { return static_cast<const Self*>(this)->place(); }
    template <class F> T change(unsigned kind, memory_order order, Where where, F f) const {
        before_change(order, scope);
        const T old = modify(place(), kind, scope, where, f);
        fence_if(acquires(order), scope, Fence::of_acquire, place());
        return old;
    }

public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;
    bool is_lock_free() const { return true; }

    __forceinline__ T load(memory_order order = memory_order::seq_cst) const {
        using Bits = typename Word<sizeof(T)>::type;
        fence_if(order == memory_order::seq_cst, scope, Fence::full);
#ifndef CUDACPU_INSTRUMENTED  // a thread that polls gives way; elsewhere the hook sees to it
        if (in_kernel() && ++waits_in_a_row > 1000) give_way();
#endif
        const Bits bits = *reinterpret_cast<const volatile Bits*>(place());
        fence_if(acquires(order), scope, Fence::of_acquire, place());
        return __builtin_bit_cast(T, bits);
    }
    void store(T value, memory_order order = memory_order::seq_cst, CUDACPU_HERE) const {
        change(at_exchanges | at_stores, order, where, [=](T) CUDACPU_QUIET { return value; });
    }
    T exchange(T value, memory_order order = memory_order::seq_cst, CUDACPU_HERE) const {
        return change(at_exchanges, order, where, [=](T) CUDACPU_QUIET { return value; });
    }
    bool compare_exchange_strong(T& expected, T value, memory_order success, memory_order failure,
                                 CUDACPU_HERE) const {
        const T wanted = expected;
        before_change(success, scope);
        const T old = modify(
            place(), at_compares, scope, where,
            [=](T now) CUDACPU_QUIET { return __builtin_memcmp(&now, &wanted, sizeof now) ? now : value; },
            &wanted);
        const bool done = !__builtin_memcmp(&old, &wanted, sizeof old);
        fence_if(acquires(done ? success : failure), scope, Fence::of_acquire, place());
        if (!done) expected = old;
        return done;
    }
    bool compare_exchange_strong(T& expected, T value, memory_order order = memory_order::seq_cst,
                                 CUDACPU_HERE) const {
        return compare_exchange_strong(expected, value, order, order, where);
    }
    bool compare_exchange_weak(T& expected, T value, memory_order success, memory_order failure,
                               CUDACPU_HERE) const {
        return compare_exchange_strong(expected, value, success, failure, where);
    }
    bool compare_exchange_weak(T& expected, T value, memory_order order = memory_order::seq_cst,
                               CUDACPU_HERE) const {
        return compare_exchange_strong(expected, value, order, order, where);
    }

    // clang-format off
#define CUDACPU_FETCH(name, Other, condition, expression) \
    T fetch_##name(Other x, memory_order order = memory_order::seq_cst, CUDACPU_HERE) const requires(condition) { \
        return change(0, order, where, [=](T old) CUDACPU_QUIET -> T { return expression; }); \
    }
    CUDACPU_FETCH(add, Difference, is_number, cudacpu::sum(old, x))
    CUDACPU_FETCH(sub, Difference, std::is_integral_v<T> && is_number, T(cudacpu::ull(old) - cudacpu::ull(x)))
    CUDACPU_FETCH(sub, Difference, std::is_floating_point_v<T>, old - x)
    CUDACPU_FETCH(add, Difference, std::is_pointer_v<T>, old + x)
    CUDACPU_FETCH(sub, Difference, std::is_pointer_v<T>, old - x)
    CUDACPU_FETCH(and, T, std::is_integral_v<T>, old & x)
    CUDACPU_FETCH(or, T, std::is_integral_v<T>, old | x)
    CUDACPU_FETCH(xor, T, std::is_integral_v<T>, old ^ x)
    CUDACPU_FETCH(min, T, is_number, x < old ? x : old)
    CUDACPU_FETCH(max, T, is_number, old < x ? x : old)
#undef CUDACPU_FETCH
    __forceinline__ operator T() const { return load(); }
#define CUDACPU_ASSIGN(op, name, Other) \
    T operator op##=(Operand<Other> x) const { \
        return T(fetch_##name(x.value, memory_order::seq_cst, x.where) op x.value); \
    }
    CUDACPU_ASSIGN(+, add, Difference) CUDACPU_ASSIGN(-, sub, Difference)
    CUDACPU_ASSIGN(&, and, T)          CUDACPU_ASSIGN(|, or, T)          CUDACPU_ASSIGN(^, xor, T)
#undef CUDACPU_ASSIGN
    T operator++() const { return fetch_add(1) + 1; }
    T operator--() const { return fetch_sub(1) - 1; }
    T operator++(int) const { return fetch_add(1); }
    T operator--(int) const { return fetch_sub(1); }
    // clang-format on

    /// Waits until the value is another one than `old`.
    __forceinline__ void wait(T old, memory_order order = memory_order::seq_cst) const {
        while (true) {
            const T now = load(order);
            if (__builtin_memcmp(&now, &old, sizeof old)) return;
            if (in_kernel()) give_way();
        }
    }
    void notify_one() const {}
    void notify_all() const {}
};

}  // namespace cudacpu::atomics

namespace cuda {

template <class T, thread_scope scope = thread_scope_system> class alignas(sizeof(T)) atomic
    : public cudacpu::atomics::Operations<atomic<T, scope>, T, scope> {
    T value;

public:
    atomic() = default;
    constexpr atomic(T initial) : value(initial) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    T operator=(T x) {
        this->store(x);
        return x;
    }
    T* place() const { return const_cast<T*>(__builtin_addressof(value)); }
};
template <class T, thread_scope scope = thread_scope_system> class atomic_ref
    : public cudacpu::atomics::Operations<atomic_ref<T, scope>, T, scope> {
    T* address;

public:
    static constexpr size_t required_alignment = sizeof(T);
    explicit atomic_ref(T& object) : address(__builtin_addressof(object)) {}
    atomic_ref(const atomic_ref&) = default;
    atomic_ref& operator=(const atomic_ref&) = delete;
    T operator=(T x) const {
        this->store(x);
        return x;
    }
    T* place() const { return address; }
};
inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
    cudacpu::atomics::fence_if(order != memory_order::relaxed, scope, cudacpu::Fence::full);
}

namespace std {
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
template <class T> using atomic = cuda::atomic<T>;
template <class T> using atomic_ref = cuda::atomic_ref<T>;
inline void atomic_thread_fence(memory_order order) { cuda::atomic_thread_fence(order); }
}  // namespace std

}  // namespace cuda
