// cub_device.hpp - CUB's algorithms for arrays in device memory: each is a kernel of one thread, in the given
// stream.
#pragma once
#include "cub_block.hpp"

namespace cub {

namespace detail {
/// Without temporary storage: says how much is needed. Otherwise queues the kernel `f`.
template <class F, class... Pointers> cudaError_t queue(void* storage, size_t& bytes, size_t wanted,
                                                        const char* name, cudaStream_t stream, Where where, F f,
                                                        const Pointers&... pointers) {
    if (!storage) return bytes = wanted, cudaSuccess;
    if (bytes < wanted) return cudaErrorInvalidValue;
    static cudacpu::Kernel kernel{name, "d_in,d_out,d_other", 1024, false};
    cudacpu::configure(1, 1, 0, stream, where);
    cudacpu::enter_kernel(kernel, new F(f), pointers...);
    cudacpu::launched();
    return cudaPeekAtLastError();
}
template <class In> using Element = std::remove_cvref_t<decltype(std::declval<In>()[0])>;
}  // namespace detail

struct DeviceReduce {
    template <class In, class Out, class N, class Op, class T>
    static cudaError_t Reduce(void* storage, size_t& bytes, In in, Out out, N n, Op op, T initial,
                              cudaStream_t stream = nullptr, CUDACPU_HERE) {
        const auto f = [=]() mutable {
            T value = initial;
            for (N i = 0; i < n; ++i) value = op(value, T(in[i]));
            *out = value;
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceReduce::Reduce", stream, where, f, in, out);
    }
    // clang-format off
#define CUDACPU_REDUCE_BY(name, op, initial) \
    template <class In, class Out, class N> \
    static cudaError_t name(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = nullptr, \
                            CUDACPU_HERE) { \
        using T = detail::Element<In>; \
        return Reduce(storage, bytes, in, out, n, op, T(initial), stream, where); \
    }
    CUDACPU_REDUCE_BY(Sum, cub::Sum(), 0)
    CUDACPU_REDUCE_BY(Min, cub::Min(), std::numeric_limits<T>::max())
    CUDACPU_REDUCE_BY(Max, cub::Max(), std::numeric_limits<T>::lowest())
#undef CUDACPU_REDUCE_BY
#define CUDACPU_FIND(name, op, initial) \
    template <class In, class Out> \
    static cudaError_t name(void* storage, size_t& bytes, In in, Out out, int n, cudaStream_t stream = nullptr, \
                            CUDACPU_HERE) { \
        using T = detail::Element<In>; \
        const auto f = [=]() mutable { \
            KeyValuePair<int, T> best{1, initial}; \
            for (int i = 0; i < n; ++i) best = i ? op()(best, {i, in[i]}) : KeyValuePair<int, T>{0, in[0]}; \
            *out = best; \
        }; \
        return detail::queue(storage, bytes, 1, "cub::DeviceReduce::" #name, stream, where, f, in, out); \
    }
    CUDACPU_FIND(ArgMin, cub::ArgMin, std::numeric_limits<T>::max())
    CUDACPU_FIND(ArgMax, cub::ArgMax, std::numeric_limits<T>::lowest())
#undef CUDACPU_FIND
    // clang-format on
};

struct DeviceScan {
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t ExclusiveScan(void* storage, size_t& bytes, In in, Out out, Op op, T initial, N n,
                                     cudaStream_t stream = nullptr, CUDACPU_HERE) {
        const auto f = [=]() mutable {
            T before = initial;
            for (N i = 0; i < n; ++i) {
                const T here = in[i];
                out[i] = before;
                before = op(before, here);
            }
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceScan::ExclusiveScan", stream, where, f, in, out);
    }
    template <class In, class Out, class Op, class N>
    static cudaError_t InclusiveScan(void* storage, size_t& bytes, In in, Out out, Op op, N n,
                                     cudaStream_t stream = nullptr, CUDACPU_HERE) {
        using T = detail::Element<In>;
        const auto f = [=]() mutable {
            T value{};
            for (N i = 0; i < n; ++i) out[i] = value = i ? T(op(value, in[i])) : T(in[i]);
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceScan::InclusiveScan", stream, where, f, in, out);
    }
    template <class In, class Out, class N>
    static cudaError_t ExclusiveSum(void* storage, size_t& bytes, In in, Out out, N n,
                                    cudaStream_t stream = nullptr, CUDACPU_HERE) {
        return ExclusiveScan(storage, bytes, in, out, cub::Sum(), detail::Element<In>{}, n, stream, where);
    }
    template <class In, class Out, class N>
    static cudaError_t InclusiveSum(void* storage, size_t& bytes, In in, Out out, N n,
                                    cudaStream_t stream = nullptr, CUDACPU_HERE) {
        return InclusiveScan(storage, bytes, in, out, cub::Sum(), n, stream, where);
    }
};

struct DeviceSelect {
    template <class In, class Out, class Count, class N, class Op>
    static cudaError_t If(void* storage, size_t& bytes, In in, Out out, Count count, N n, Op op,
                          cudaStream_t stream = nullptr, CUDACPU_HERE) {
        const auto f = [=]() mutable {
            N kept = 0;
            for (N i = 0; i < n; ++i)
                if (const auto here = in[i]; op(here)) out[kept++] = here;
            *count = kept;
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceSelect::If", stream, where, f, in, out, count);
    }
    template <class In, class Flags, class Out, class Count, class N>
    static cudaError_t Flagged(void* storage, size_t& bytes, In in, Flags flags, Out out, Count count, N n,
                               cudaStream_t stream = nullptr, CUDACPU_HERE) {
        const auto f = [=]() mutable {
            N kept = 0;
            for (N i = 0; i < n; ++i)
                if (flags[i]) out[kept++] = in[i];
            *count = kept;
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceSelect::Flagged", stream, where, f, in, out, count);
    }
    template <class In, class Out, class Count, class N>
    static cudaError_t Unique(void* storage, size_t& bytes, In in, Out out, Count count, N n,
                              cudaStream_t stream = nullptr, CUDACPU_HERE) {
        const auto f = [=]() mutable {
            N kept = 0;
            for (N i = 0; i < n; ++i)
                if (i == 0 || !(in[i] == in[i - 1])) out[kept++] = in[i];
            *count = kept;
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceSelect::Unique", stream, where, f, in, out, count);
    }
};

struct DeviceHistogram {
    template <class In, class Counter, class Level, class N>
    static cudaError_t HistogramEven(void* storage, size_t& bytes, In in, Counter* histogram, int levels,
                                     Level lower, Level upper, N n, cudaStream_t stream = nullptr, CUDACPU_HERE) {
        const auto f = [=]() mutable {
            for (int b = 0; b < levels - 1; ++b) histogram[b] = 0;
            for (N i = 0; i < n; ++i)
                if (const Level x = Level(in[i]); x >= lower && x < upper)
                    ++histogram[int((x - lower) / ((upper - lower) / Level(levels - 1)))];
        };
        return detail::queue(storage, bytes, 1, "cub::DeviceHistogram::HistogramEven", stream, where, f, in,
                             histogram);
    }
};

template <class T> struct DoubleBuffer {
    T* d_buffers[2]{};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() const { return d_buffers[selector]; }
    T* Alternate() const { return d_buffers[selector ^ 1]; }
};

class DeviceRadixSort {
    // One pass for each 8 bits. The passes alternate between the output and the temporary storage, so that the last
    // one fills the output.
    template <bool descending, class K, class V>
    static cudaError_t sort(void* storage, size_t& bytes, const K* keys, K* keys_out, const V* values,
                            V* values_out, size_t n, int first, int end, cudaStream_t stream,
                            cudacpu::Where where) {
        const bool pairs = values_out;
        const size_t key_bytes = (n * sizeof(K) + 15) / 16 * 16;
        const auto f = [=] {
            const int passes = max((end - first + 7) / 8, 1);
            const K* from = keys;
            const V* from_values = values;
            for (int pass = 0; pass < passes; ++pass) {
                const bool to_out = (passes - pass) % 2;
                K* const to = to_out ? keys_out : static_cast<K*>(storage);
                V* const to_values =
                    to_out ? values_out : reinterpret_cast<V*>(static_cast<char*>(storage) + key_bytes);
                const int shift = first + 8 * pass, bits = min(8, end - shift);
                const auto digit = [=](K key) {
                    const unsigned d = unsigned(detail::ordered_bits(key) >> shift) & ((1u << bits) - 1);
                    return descending ? 255 - d : d;
                };
                size_t next[257] = {};
                for (size_t i = 0; i < n; ++i) ++next[digit(from[i]) + 1];
                for (int d = 0; d < 256; ++d) next[d + 1] += next[d];
                for (size_t i = 0; i < n; ++i) {
                    const size_t place = next[digit(from[i])]++;
                    to[place] = from[i];
                    if (pairs) to_values[place] = from_values[i];
                }
                from = to, from_values = to_values;
            }
        };
        const size_t wanted = key_bytes + pairs * n * sizeof(V) + 1;
        return detail::queue(storage, bytes, wanted, "cub::DeviceRadixSort", stream, where, f, keys, keys_out,
                             values_out);
    }

public:
    // clang-format off
#define CUDACPU_SORT(Keys, Pairs, descending) \
    template <class K, class N> \
    static cudaError_t Keys(void* storage, size_t& bytes, const K* in, K* out, N n, int first = 0, \
                            int end = 8 * sizeof(K), cudaStream_t stream = nullptr, CUDACPU_HERE) { \
        char* const none = nullptr; \
        return sort<descending, K, char>(storage, bytes, in, out, none, none, n, first, end, stream, where); \
    } \
    template <class K, class V, class N> \
    static cudaError_t Pairs(void* storage, size_t& bytes, const K* in, K* out, const V* values, V* values_out, \
                             N n, int first = 0, int end = 8 * sizeof(K), cudaStream_t stream = nullptr, \
                             CUDACPU_HERE) { \
        return sort<descending>(storage, bytes, in, out, values, values_out, n, first, end, stream, where); \
    } \
    template <class K, class N> \
    static cudaError_t Keys(void* storage, size_t& bytes, DoubleBuffer<K>& keys, N n, int first = 0, \
                            int end = 8 * sizeof(K), cudaStream_t stream = nullptr, CUDACPU_HERE) { \
        K *const from = keys.Current(), *const to = keys.Alternate(); \
        keys.selector ^= storage != nullptr; \
        return Keys(storage, bytes, from, to, n, first, end, stream, where); \
    } \
    template <class K, class V, class N> \
    static cudaError_t Pairs(void* storage, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values, \
                             N n, int first = 0, int end = 8 * sizeof(K), cudaStream_t stream = nullptr, \
                             CUDACPU_HERE) { \
        K *const from = keys.Current(), *const to = keys.Alternate(); \
        V *const values_from = values.Current(), *const values_to = values.Alternate(); \
        keys.selector ^= storage != nullptr, values.selector ^= storage != nullptr; \
        return Pairs(storage, bytes, from, to, values_from, values_to, n, first, end, stream, where); \
    }
    CUDACPU_SORT(SortKeys, SortPairs, false) CUDACPU_SORT(SortKeysDescending, SortPairsDescending, true)
#undef CUDACPU_SORT
    // clang-format on
};

/// Allocates by cudaMalloc(), and keeps nothing.
struct CachingDeviceAllocator {
    explicit CachingDeviceAllocator(bool = false, bool = false) {}
    template <class T> cudaError_t DeviceAllocate(T** p, size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(p, bytes);
    }
    cudaError_t DeviceFree(void* p) { return cudaFree(p); }
};

// ---- iterators that need no memory -----------------------------------------------------------------------

template <class T, class Offset = ptrdiff_t> struct CountingInputIterator {
    T first;
    explicit CountingInputIterator(T from) : first(from) {}
    T operator[](Offset i) const { return T(first + T(i)); }
    T operator*() const { return first; }
    CountingInputIterator operator+(Offset i) const { return CountingInputIterator((*this)[i]); }
};
template <class T, class Offset = ptrdiff_t> struct ConstantInputIterator {
    T value;
    explicit ConstantInputIterator(T v) : value(v) {}
    T operator[](Offset) const { return value; }
    T operator*() const { return value; }
    ConstantInputIterator operator+(Offset) const { return *this; }
};
template <class T, class F, class In, class Offset = ptrdiff_t> struct TransformInputIterator {
    In in;
    F f;
    TransformInputIterator(In from, F function) : in(from), f(function) {}
    T operator[](Offset i) const { return T(f(in[i])); }
    T operator*() const { return (*this)[0]; }
    TransformInputIterator operator+(Offset i) const { return {in + i, f}; }
};

}  // namespace cub
