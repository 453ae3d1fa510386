// cub_block.hpp - CUB's collectives of a warp and of a block. They use shuffles, shared memory and barriers where
// CUB's own do, so that the hazard build finds temporary storage that is used again without a barrier.
#pragma once
#include "../cuda/functional"
#include "../cuda_runtime.h"

namespace cub {

struct NullType {};
struct Sum {
    template <class T> T operator()(const T& a, const T& b) const { return a + b; }
};
struct Min {
    template <class T> T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct Max {
    template <class T> T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class K, class V> struct KeyValuePair {
    K key;
    V value;
};
struct ArgMin {  // of equal values the one with the lower key
    template <class P> P operator()(const P& a, const P& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMax {
    template <class P> P operator()(const P& a, const P& b) const {
        return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
inline unsigned LaneId() { return cudacpu::lane(); }

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

namespace detail {

using cudacpu::Where;

CUDACPU_QUIET inline int thread() { return int(cudacpu::rank); }  // in its block

template <class T, int count> struct Storage {  // memory for objects whose constructors do not run
    alignas(T) char bytes[count * sizeof(T)];
    T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

struct Lanes {  // neighbouring lanes of a warp
    int first, size;
    int rank() const { return int(cudacpu::lane()) - first; }
    /// Returns the value of the lane `distance` further, if that is one of these; otherwise the lane's own.
    template <class T> CUDACPU_QUIET T shifted(T value, int distance, Where where) const {
        const int source = rank() + distance, lane = first + (source < 0 || source >= size ? rank() : source);
        struct Part {
            char bytes[sizeof(T) < 32 ? sizeof(T) : 32];
        };
        char* const all = reinterpret_cast<char*>(__builtin_addressof(value));
        for (size_t i = 0; i < sizeof(T); i += sizeof(Part)) {
            const size_t n = sizeof(T) - i < sizeof(Part) ? sizeof(T) - i : sizeof(Part);
            Part part{};
            (__builtin_memcpy)(&part, all + i, n);
            const cudacpu::Lanes lanes("__shfl_*_sync() of CUB", ~0u >> (32 - size) << first, part, where);
            part = lanes.get<Part>(lane);
            (__builtin_memcpy)(all + i, &part, n);
        }
        cudacpu::took(all, sizeof(T), lane);
        return value;
    }
    /// Reduces the values of the first `valid` lanes; rank 0 gets the result.
    template <class T, class Op> __forceinline__ T reduce(T value, Op op, int valid, Where where) const {
        for (int step = 1; step < size; step *= 2) {
            const T other = shifted(value, step, where);
            if (rank() + step < valid) value = op(value, other);
        }
        return value;
    }
    template <class T, class Op> __forceinline__ T inclusive_scan(T value, Op op, Where where) const {
        for (int step = 1; step < size; step *= 2) {
            const T other = shifted(value, -step, where);
            if (rank() >= step) value = op(other, value);
        }
        return value;
    }
};
template <int size> Lanes logical_warp() {
    static_assert(size > 0 && size <= 32, "a logical warp has 1 to 32 threads");
    const int first = int(cudacpu::lane()) / size * size;
    return {first, min(size, 32 - first)};
}
/// The lanes of the thread's warp, in a block of this many threads.
template <int threads> CUDACPU_QUIET Lanes warp_of(Where where) {
    if (cudacpu::running_block.size != threads)
        cudacpu::trap("a collective of CUB for another number of threads than the block has", where);
    const int rest = threads - thread() / 32 * 32;
    return {0, rest < 32 ? rest : 32};
}

}  // namespace detail

// ---- a warp ----------------------------------------------------------------------------------------------

template <class T, int threads = 32, int = 0> struct WarpReduce {
    struct TempStorage {};
    explicit WarpReduce(TempStorage&) {}
    template <class Op> T Reduce(T value, Op op, int valid, CUDACPU_HERE) {
        return detail::logical_warp<threads>().reduce(value, op, valid, where);
    }
    template <class Op> T Reduce(T value, Op op, CUDACPU_HERE) { return Reduce(value, op, threads, where); }
    T Sum(T value, int valid, CUDACPU_HERE) { return Reduce(value, cub::Sum(), valid, where); }
    T Sum(T value, CUDACPU_HERE) { return Reduce(value, cub::Sum(), threads, where); }
};

template <class T, int threads = 32, int = 0> struct WarpScan {
    struct TempStorage {};
    explicit WarpScan(TempStorage&) {}
    template <class Op> void InclusiveScan(T in, T& out, Op op, T& total, CUDACPU_HERE) {
        const auto lanes = detail::logical_warp<threads>();
        out = lanes.inclusive_scan(in, op, where);
        total = lanes.shifted(out, threads - 1 - lanes.rank(), where);
    }
    template <class Op> void InclusiveScan(T in, T& out, Op op, CUDACPU_HERE) {
        out = detail::logical_warp<threads>().inclusive_scan(in, op, where);
    }
    template <class Op> void ExclusiveScan(T in, T& out, T initial, Op op, T& total, CUDACPU_HERE) {
        InclusiveScan(in, out, op, total, where);
        const auto lanes = detail::logical_warp<threads>();
        const T before = lanes.shifted(out, -1, where);
        out = lanes.rank() ? op(initial, before) : initial;
    }
    template <class Op> void ExclusiveScan(T in, T& out, T initial, Op op, CUDACPU_HERE) {
        T total;
        ExclusiveScan(in, out, initial, op, total, where);
    }
    template <class Op> void ExclusiveScan(T in, T& out, Op op, CUDACPU_HERE) {  // undefined in the first lane
        const auto lanes = detail::logical_warp<threads>();
        out = lanes.shifted(lanes.inclusive_scan(in, op, where), -1, where);
    }
    void InclusiveSum(T in, T& out, T& total, CUDACPU_HERE) { InclusiveScan(in, out, cub::Sum(), total, where); }
    void InclusiveSum(T in, T& out, CUDACPU_HERE) { InclusiveScan(in, out, cub::Sum(), where); }
    void ExclusiveSum(T in, T& out, T& total, CUDACPU_HERE) {
        ExclusiveScan(in, out, T(), cub::Sum(), total, where);
    }
    void ExclusiveSum(T in, T& out, CUDACPU_HERE) { ExclusiveScan(in, out, T(), cub::Sum(), where); }
    T Broadcast(T value, unsigned source, CUDACPU_HERE) {
        const auto lanes = detail::logical_warp<threads>();
        return lanes.shifted(value, int(source) - lanes.rank(), where);
    }
};

// ---- a block: reductions and scans -----------------------------------------------------------------------

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;

public:
    using TempStorage = detail::Storage<T, warps>;
    explicit BlockReduce(TempStorage& storage) : aggregates(storage) {}
    /// Returns the result to the first thread. `valid`: how many threads have a value.
    template <class Op> __forceinline__ T Reduce(T value, Op op, int valid, CUDACPU_HERE) {
        const auto lanes = detail::warp_of<threads>(where);
        const int warp = detail::thread() / 32;
        value = lanes.reduce(value, op, min(valid - warp * 32, lanes.size), where);
        if (lanes.rank() == 0) aggregates[warp] = value;
        __syncthreads(where);
        if (detail::thread() == 0)
            for (int w = 1; w < warps && w * 32 < valid; ++w) value = op(value, aggregates[w]);
        return value;
    }
    template <class Op> __forceinline__ T Reduce(T value, Op op, CUDACPU_HERE) {
        return Reduce(value, op, threads, where);
    }
    template <int items, class Op> __forceinline__ T Reduce(T (&values)[items], Op op, CUDACPU_HERE) {
        T value = values[0];
        for (int i = 1; i < items; ++i) value = op(value, values[i]);
        return Reduce(value, op, threads, where);
    }
    __forceinline__ T Sum(T value, int valid, CUDACPU_HERE) { return Reduce(value, cub::Sum(), valid, where); }
    __forceinline__ T Sum(T value, CUDACPU_HERE) { return Reduce(value, cub::Sum(), threads, where); }
    template <int items> __forceinline__ T Sum(T (&values)[items], CUDACPU_HERE) {
        return Reduce(values, cub::Sum(), where);
    }

private:
    TempStorage& aggregates;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;

public:
    using TempStorage = detail::Storage<T, warps + 1>;  // of each warp, and the prefix of the block
    explicit BlockScan(TempStorage& s) : storage(s) {}

    // `tail` of the following is a T&, which gets the total of the block, or a function: the first warp calls it
    // with the total, and what it returns to the first thread precedes all values.
    // clang-format off
#define CUDACPU_SCANS(name, exclusive) \
    template <class In, class Op> __forceinline__ void name##Scan(const In& in, In& out, Op op, CUDACPU_HERE) { \
        T total; \
        scan<exclusive>(in, out, op, nullptr, total, where); \
    } \
    template <class In, class Op, class Tail> \
    __forceinline__ void name##Scan(const In& in, In& out, Op op, Tail& tail, CUDACPU_HERE) { \
        scan<exclusive>(in, out, op, nullptr, tail, where); \
    } \
    template <class In, class Op> \
    __forceinline__ void name##Scan(const In& in, In& out, T initial, Op op, CUDACPU_HERE) { \
        T total; \
        scan<exclusive>(in, out, op, &initial, total, where); \
    } \
    template <class In, class Op> \
    __forceinline__ void name##Scan(const In& in, In& out, T initial, Op op, T& total, CUDACPU_HERE) { \
        scan<exclusive>(in, out, op, &initial, total, where); \
    } \
    template <class In> __forceinline__ void name##Sum(const In& in, In& out, CUDACPU_HERE) { \
        T total; \
        name##Sum(in, out, total, where); \
    } \
    template <class In, class Tail> \
    __forceinline__ void name##Sum(const In& in, In& out, Tail& tail, CUDACPU_HERE) { \
        const T zero{}; \
        scan<exclusive>(in, out, cub::Sum(), exclusive ? &zero : nullptr, tail, where); \
    }
    CUDACPU_SCANS(Inclusive, false) CUDACPU_SCANS(Exclusive, true)
#undef CUDACPU_SCANS
        // clang-format on

        private : TempStorage& storage;

    template <bool exclusive, class Op, class Tail>
    __forceinline__ void scan(const T& in, T& out, Op op, const T* initial, Tail& tail, cudacpu::Where where) {
        const T one_in[1] = {in};
        T one_out[1];
        scan<exclusive>(one_in, one_out, op, initial, tail, where);
        out = one_out[0];
    }
    template <bool exclusive, int items, class Op, class Tail>
    __forceinline__ void scan(const T (&in)[items], T (&out)[items], Op op, const T* initial, Tail& tail,
                              cudacpu::Where where) {
        T mine = in[0];
        for (int i = 1; i < items; ++i) mine = op(mine, in[i]);
        const auto lanes = detail::warp_of<threads>(where);
        const int warp = detail::thread() / 32;
        const T inclusive = lanes.inclusive_scan(mine, op, where);
        T before = lanes.shifted(inclusive, -1, where);  // what precedes the thread; nothing if !any
        bool any = lanes.rank() > 0;
        if (lanes.rank() == lanes.size - 1) storage[warp] = inclusive;
        __syncthreads(where);
        T total = storage[0];
        for (int w = 1; w < warps; ++w) {
            if (w == warp) before = any ? op(total, before) : total, any = true;
            total = op(total, storage[w]);
        }
        if constexpr (std::is_same_v<Tail, T>) {
            tail = total;
        } else {
            if (warp == 0) {
                const T first = tail(total);
                if (detail::thread() == 0) storage[warps] = first;
            }
            __syncthreads(where);
            initial = &storage[warps];
        }
        if (initial) before = any ? op(*initial, before) : *initial, any = true;
        for (int i = 0; i < items; ++i) {
            const T here = in[i];
            if (exclusive && any) out[i] = before;
            before = any ? op(before, here) : here, any = true;
            if (!exclusive) out[i] = before;
        }
    }
};

// ---- a block: loads, stores, exchanges -------------------------------------------------------------------

namespace detail {
// The place of item i of this thread: blocked, striped over the block, or striped over the warp.
enum Layout { blocked, striped, warp_striped };
template <int threads, int items> int place(Layout layout, int i) {
    const int t = detail::thread();
    return layout == blocked   ? t * items + i
           : layout == striped ? i * threads + t
                               : t / 32 * 32 * items + i * min(32, threads - t / 32 * 32) + t % 32;
}
template <class Algorithm> constexpr Layout layout_of(Algorithm a) {
    return Layout(a == Algorithm(1) || a == Algorithm(3) ? striped : a >= Algorithm(4) ? warp_striped : blocked);
}
}  // namespace detail

template <class T, int X, int items, bool = false, int Y = 1, int Z = 1, int = 0> class BlockExchange {
    static constexpr int threads = X * Y * Z;

public:
    using TempStorage = detail::Storage<T, threads * items>;
    explicit BlockExchange(TempStorage& s) : storage(s) {}
    // clang-format off
#define CUDACPU_EXCHANGE(name, from, to) \
    template <class Out> __forceinline__ void name(const T (&in)[items], Out (&out)[items], CUDACPU_HERE) { \
        const auto place = [](int i) { return detail::place<threads, items>(detail::from, i); }; \
        exchange(in, out, place, detail::to, where); \
    } \
    __forceinline__ void name(T (&both)[items], CUDACPU_HERE) { name(both, both, where); }
    CUDACPU_EXCHANGE(StripedToBlocked, striped, blocked)
    CUDACPU_EXCHANGE(BlockedToStriped, blocked, striped)
    CUDACPU_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
    CUDACPU_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)
#undef CUDACPU_EXCHANGE
#define CUDACPU_SCATTER(name, to) \
    template <class Out, class Rank> \
    __forceinline__ void name(const T (&in)[items], Out (&out)[items], const Rank (&ranks)[items], CUDACPU_HERE) { \
        exchange(in, out, [&](int i) { return int(ranks[i]); }, detail::to, where); \
    } \
    template <class Rank> __forceinline__ void name(T (&both)[items], const Rank (&ranks)[items], CUDACPU_HERE) { \
        name(both, both, ranks, where); \
    }
    CUDACPU_SCATTER(ScatterToBlocked, blocked) CUDACPU_SCATTER(ScatterToStriped, striped)
#undef CUDACPU_SCATTER
        // clang-format on

        private : TempStorage& storage;
    template <class Out, class To> __forceinline__ void exchange(const T (&in)[items], Out (&out)[items], To to,
                                                                 detail::Layout layout, cudacpu::Where where) {
        (void)detail::warp_of<threads>(where);
        for (int i = 0; i < items; ++i) storage[to(i)] = in[i];
        __syncthreads(where);
        for (int i = 0; i < items; ++i) out[i] = storage[detail::place<threads, items>(layout, i)];
    }
};

template <class T, int X, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int = 0>
class BlockLoad {
    static constexpr int threads = X * Y * Z;
    static constexpr bool exchanges = algorithm >= BLOCK_LOAD_TRANSPOSE;
    using Exchange = BlockExchange<T, X, items, false, Y, Z>;

public:
    using TempStorage = typename Exchange::TempStorage;
    explicit BlockLoad(TempStorage& s) : storage(s) {}
    /// Loads the items of the tile at `from`; `valid`: how many there are. Others keep their value.
    template <class In> __forceinline__ void Load(In from, T (&to)[items], int valid, CUDACPU_HERE) {
        for (int i = 0; i < items; ++i)
            if (const int p = detail::place<threads, items>(detail::layout_of(algorithm), i); p < valid)
                to[i] = from[p];
        if (algorithm == BLOCK_LOAD_TRANSPOSE) Exchange(storage).StripedToBlocked(to, where);
        else if (exchanges) Exchange(storage).WarpStripedToBlocked(to, where);
    }
    template <class In> __forceinline__ void Load(In from, T (&to)[items], CUDACPU_HERE) {
        Load(from, to, threads * items, where);
    }
    template <class In, class Default>
    __forceinline__ void Load(In from, T (&to)[items], int valid, Default other, CUDACPU_HERE) {
        for (T& t : to) t = T(other);
        Load(from, to, valid, where);
    }

private:
    TempStorage& storage;
};

template <class T, int X, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int = 0>
class BlockStore {
    static constexpr int threads = X * Y * Z;
    static constexpr bool exchanges = algorithm >= BLOCK_STORE_TRANSPOSE;
    using Exchange = BlockExchange<T, X, items, false, Y, Z>;

public:
    using TempStorage = typename Exchange::TempStorage;
    explicit BlockStore(TempStorage& s) : storage(s) {}
    template <class Out> __forceinline__ void Store(Out to, T (&from)[items], int valid, CUDACPU_HERE) {
        if (algorithm == BLOCK_STORE_TRANSPOSE) Exchange(storage).BlockedToStriped(from, where);
        else if (exchanges) Exchange(storage).BlockedToWarpStriped(from, where);
        for (int i = 0; i < items; ++i)
            if (const int p = detail::place<threads, items>(detail::layout_of(algorithm), i); p < valid)
                to[p] = from[i];
    }
    template <class Out> __forceinline__ void Store(Out to, T (&from)[items], CUDACPU_HERE) {
        Store(to, from, threads * items, where);
    }

private:
    TempStorage& storage;
};

// ---- a block: sorting and histograms ---------------------------------------------------------------------

namespace detail {
/// The bits of a key, such that the order of unsigned numbers is the keys' order.
template <class K> auto ordered_bits(K key) {
    using Bits = std::conditional_t<
        sizeof(K) == 8, uint64_t,
        std::conditional_t<sizeof(K) == 4, uint32_t, std::conditional_t<sizeof(K) == 2, uint16_t, uint8_t>>>;
    const Bits bits = __builtin_bit_cast(Bits, key), sign = Bits(Bits(1) << (8 * sizeof(K) - 1));
    if constexpr (std::is_integral_v<K>) return std::is_signed_v<K> ? Bits(bits ^ sign) : bits;
    else return bits == sign ? sign : bits & sign ? Bits(~bits) : Bits(bits | sign);  // -0 is equal to 0
}
}  // namespace detail

template <class K, int X, int items, class V = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort {
    using Scan = BlockScan<int, X, BLOCK_SCAN_RAKING, Y, Z>;
    using Keys = BlockExchange<K, X, items, false, Y, Z>;
    using Values = BlockExchange<V, X, items, false, Y, Z>;

public:
    struct TempStorage {
        typename Scan::TempStorage scan;
        typename Keys::TempStorage keys;
        typename Values::TempStorage values;
    };
    explicit BlockRadixSort(TempStorage& s) : storage(s) {}
    // clang-format off
#define CUDACPU_SORT(name, descending, striped) \
    __forceinline__ void name(K (&keys)[items], int first = 0, int end = 8 * sizeof(K), CUDACPU_HERE) { \
        NullType none[items]; \
        sort<descending, striped>(keys, none, first, end, where); \
    } \
    template <class Value> requires std::is_same_v<Value, V> \
    __forceinline__ void name(K (&keys)[items], Value (&values)[items], int first = 0, int end = 8 * sizeof(K), \
                              CUDACPU_HERE) { \
        sort<descending, striped>(keys, values, first, end, where); \
    }
    CUDACPU_SORT(Sort, false, false)                 CUDACPU_SORT(SortDescending, true, false)
    CUDACPU_SORT(SortBlockedToStriped, false, true)  CUDACPU_SORT(SortDescendingBlockedToStriped, true, true)
#undef CUDACPU_SORT
        // clang-format on

        private : TempStorage& storage;
    // Sorts by one bit after the other: keys without the bit come first, in their order.
    template <bool descending, bool striped, class Value>
    __forceinline__ void sort(K (&keys)[items], Value (&values)[items], int first, int end, cudacpu::Where where) {
        for (int bit = first; bit < end; ++bit) {
            int zeros[items], ranks[items], all;
            for (int i = 0; i < items; ++i)
                zeros[i] = ((detail::ordered_bits(keys[i]) >> bit & 1) != 0) == descending;
            Scan(storage.scan).ExclusiveSum(zeros, ranks, all, where);
            for (int i = 0; i < items; ++i)
                if (!zeros[i]) ranks[i] = all + detail::thread() * items + i - ranks[i];
            Keys(storage.keys).ScatterToBlocked(keys, ranks, where);
            if constexpr (!std::is_same_v<Value, NullType>)
                Values(storage.values).ScatterToBlocked(values, ranks, where);
            __syncthreads(where);
        }
        if constexpr (striped) {
            Keys(storage.keys).BlockedToStriped(keys, where);
            if constexpr (!std::is_same_v<Value, NullType>) Values(storage.values).BlockedToStriped(values, where);
        }
    }
};

template <class T, int X, int items, int bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1,
          int = 0>
struct BlockHistogram {
    struct TempStorage {};
    explicit BlockHistogram(TempStorage&) {}
    template <class Counter> __forceinline__ void InitHistogram(Counter (&histogram)[bins]) {
        for (int i = detail::thread(); i < bins; i += X * Y * Z) histogram[i] = 0;
    }
    template <class Counter>
    __forceinline__ void Composite(T (&values)[items], Counter (&histogram)[bins], CUDACPU_HERE) {
        for (const T& value : values) atomicAdd(&histogram[int(value)], Counter(1), where);
    }
    template <class Counter>
    __forceinline__ void Histogram(T (&values)[items], Counter (&histogram)[bins], CUDACPU_HERE) {
        InitHistogram(histogram);
        __syncthreads(where);
        Composite(values, histogram, where);
    }
};

}  // namespace cub
