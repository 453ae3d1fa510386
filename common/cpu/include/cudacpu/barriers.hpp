// barriers.hpp - cuda::barrier, and the asynchronous copies that it waits for, of CUDA's C++ library.
#pragma once
#include "../cooperative_groups/memcpy_async.h"
#include "atomics.hpp"

namespace cudacpu {
struct NoCompletion {
    void operator()() const {}
};
}  // namespace cudacpu

namespace cuda {

/// A barrier for as many arrivals as it was initialised with. `completion` runs once in each phase, before threads
/// go on.
template <thread_scope scope, class Completion = cudacpu::NoCompletion> class barrier {
    // The phase in the upper half, and in the lower half how many arrivals it misses. The hazard build would take a
    // word that is changed by CAS for a lock.
    atomic<uint64_t, scope> state;
    atomic<unsigned, scope> expected;
    [[no_unique_address]] Completion completion;
    __forceinline__ unsigned phase(memory_order order) const { return unsigned(state.load(order) >> 32); }

public:
    using arrival_token = unsigned;  // the phase
    barrier() = default;
    constexpr barrier(ptrdiff_t arrivals, Completion f = {})
        : state(uint64_t(arrivals)), expected(unsigned(arrivals)), completion(f) {}
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    static constexpr ptrdiff_t max() { return (1 << 20) - 1; }
    friend void init(barrier* b, ptrdiff_t arrivals, Completion f = {}) { ::new (b) barrier(arrivals, f); }

    [[nodiscard]] arrival_token arrive(ptrdiff_t arrivals = 1, CUDACPU_HERE) {
        const uint64_t old = state.fetch_sub(uint64_t(arrivals), memory_order::release, where);
        if (unsigned(old) == arrivals) {
            if constexpr (!::std::is_same_v<Completion, cudacpu::NoCompletion>)
                atomic_thread_fence(memory_order::acquire, scope);
            completion();
            const unsigned next = expected.load(memory_order::relaxed);
            state.fetch_add((uint64_t{1} << 32) + next, memory_order::release, where);
        }
        return unsigned(old >> 32);
    }
    __forceinline__ bool try_wait(arrival_token arrived) const {
        if (phase(memory_order::acquire) != arrived) return true;
        if (cudacpu::in_kernel()) cudacpu::give_way();
        return false;
    }
    __forceinline__ void wait(arrival_token arrived) const {
        while (!try_wait(arrived)) {}
    }
    __forceinline__ bool try_wait_parity(bool parity) const {
        if (phase(memory_order::acquire) % 2 != parity) return true;
        if (cudacpu::in_kernel()) cudacpu::give_way();
        return false;
    }
    __forceinline__ void wait_parity(bool parity) const {
        while (!try_wait_parity(parity)) {}
    }
    __forceinline__ void arrive_and_wait(CUDACPU_HERE) { wait(arrive(1, where)); }
    void arrive_and_drop(CUDACPU_HERE) {
        expected.fetch_sub(1, memory_order::relaxed, where);
        (void)arrive(1, where);
    }
};

template <size_t alignment> struct aligned_size_t {
    size_t value;
    constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    constexpr operator size_t() const { return value; }
};

/// Copies `bytes` bytes at once; other threads see them after the barrier.
template <class Bytes, thread_scope scope, class Completion>
__forceinline__ void memcpy_async(void* to, const void* from, Bytes bytes, barrier<scope, Completion>&) {
    for (size_t i = 0; i < size_t(bytes); ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
}
template <class Group, class T, class Bytes, thread_scope scope, class Completion>
__forceinline__ void memcpy_async(const Group& group, T* to, const T* from, Bytes bytes,
                                  barrier<scope, Completion>&) {
    for (size_t i = group.thread_rank(); i < size_t(bytes) / sizeof(T); i += group.size()) to[i] = from[i];
}

namespace std {
template <class Completion = cudacpu::NoCompletion> using barrier = cuda::barrier<thread_scope_system, Completion>;
}

}  // namespace cuda
