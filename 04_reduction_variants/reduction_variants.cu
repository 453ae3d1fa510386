// 04_reduction_variants - what stands between a first reduction and the memory's speed?
//
// A reduction folds n values into one: their sum, minimum, maximum or product. The two kernels of the tutorial come
// first; each later one differs from its neighbour in a few lines and takes one obstacle away.
//
//   modulo         neighbours first, tid % (2 * stride) == 0     slow: many instructions, since % is dear
//   strided_index  the same pairs, found by multiplying          slow: bank conflicts in shared memory
//   sequential     halves of the tile, tid < stride              slow: half of the threads never add anything
//   first_add      adds two elements while it loads              slow: every step is a barrier for the whole block
//   shuffle        the last 32 values stay inside a warp         slow: one block for so few elements
//   grid_stride    a grid that just fills the GPU loops          slow: 4-byte loads, one in flight
//   coop_groups    grid_stride, written with cooperative groups
//   vectorised     16-byte loads, four in flight                 slow: a second launch for the partial results
//   last_block     the block that finishes last does the rest    slow: store, fence, ticket, load: four trips to L2
//   one_word       value and launch number in one 8-byte store   no fence; 4-byte types only
//   packed         ticket and sum in one 64-bit atomic           one trip to L2; int sums only
//   all_gpus       a share for each GPU, met by ncclAllReduce    where the data outgrow one GPU (needs NCCL)
//
//   04_reduction_variants --op max --type float --n 1000000      one size
//   04_reduction_variants --only sequential --only shuffle       two variants
//   04_reduction_variants --wrong no_barrier                     a classic mistake
//   04_reduction_variants --sweep --csv sizes.csv                all sizes, for a plot
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstring>
#include <limits>
#include <type_traits>

#include "lab.cuh"
#if __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#endif
#ifdef LAB_NCCL
#include <nccl.h>
constexpr bool has_nccl = true;
#else
constexpr bool has_nccl = false;
#endif

namespace cg = cooperative_groups;

constexpr int most_threads = 1024;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;  // in flight before the first is used
constexpr int64_t streamed = 8;  // inputs of up to so many times the L2 are read past it, see fold_share
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");

// ---- the operations --------------------------------------------------------------------------------------------
// Integers add and multiply modulo 2^bits, as the GPU's adders do: any order of operations gives the same result.

template <class T>
using wrap = std::conditional_t<std::is_integral<T>::value, unsigned long long, T>;
template <class T>
constexpr T greatest = std::numeric_limits<T>::max();
template <class T>
constexpr T least = std::numeric_limits<T>::lowest();

struct Sum {
    template <class T> __host__ __device__ static T identity() { return 0; }
    template <class T> __host__ __device__ T operator()(T a, T b) const { return T(wrap<T>(a) + wrap<T>(b)); }
};
struct Product {
    template <class T> __host__ __device__ static T identity() { return 1; }
    template <class T> __host__ __device__ T operator()(T a, T b) const { return T(wrap<T>(a) * wrap<T>(b)); }
};
struct Min {
    template <class T> __host__ __device__ static T identity() { return greatest<T>; }
    template <class T> __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
    template <class T> __host__ __device__ static T identity() { return least<T>; }
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

// ---- the answer, slowly ----------------------------------------------------------------------------------------

/// Folds all of `in` in 64 bits (whole numbers below 2^53 are exact in double), then narrows to T.
template <class T, class Op>
T on_the_cpu(const std::vector<T>& in, Op op) {
    using Wide = std::conditional_t<std::is_integral<T>::value, long long, double>;
    Wide result = Wide(Op::template identity<T>());
    for (T x : in) result = op(result, Wide(x));
    return T(result);
}

// ---- the kernels, slow to fast ---------------------------------------------------------------------------------
// The first five leave one partial result a block in out[blockIdx.x]; main launches them again on those, until one
// is left.

// The tutorial's first. Step 1 folds 0+1, 2+3, ...; step 2 folds 0+2, 4+6, ...: the workers lie ever further apart.
template <class T, class Op>
__global__ void modulo(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + tid;
    tile[tid] = i < n ? in[i] : Op::template identity<T>();
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        if (tid % (2 * stride) == 0) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}

// The workers are the first threads, found without the remainder; but their elements lie 2 * stride words apart, in
// the same few banks.
template <class T, class Op>
__global__ void strided_index(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + tid;
    tile[tid] = i < n ? in[i] : Op::template identity<T>();
    __syncthreads();
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        const int left = 2 * stride * tid;
        if (left < int(blockDim.x)) tile[left] = op(tile[left], tile[left + stride]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}

// The tutorial's second. Neighbouring threads use neighbouring words: no bank conflicts.
template <class T, class Op>
__global__ void sequential(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + tid;
    tile[tid] = i < n ? in[i] : Op::template identity<T>();
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}

// Every thread folds two elements on the way in, so none idles in the first step, and there are half the blocks.
template <class T, class Op>
__global__ void first_add(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x * 2 + tid;
    const T second = i + blockDim.x < n ? in[i + blockDim.x] : Op::template identity<T>();
    tile[tid] = i < n ? op(in[i], second) : Op::template identity<T>();
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}

// A warp's 32 values fold through registers, without shared memory and without a barrier; lane 0 has the result.
// For sums of ints, cooperative groups know one instruction that does it all (redux.sync, from sm_80 on).
template <class T, class Op>
__device__ T fold_warp(T value, Op op) {
    if constexpr (std::is_same<T, int>::value && std::is_same<Op, Sum>::value) {
        return cg::reduce(cg::tiled_partition<warp>(cg::this_thread_block()), value, cg::plus<int>());
    } else {
        for (int offset = warp / 2; offset > 0; offset /= 2)
            value = op(value, __shfl_down_sync(all_lanes, value, offset));
        return value;
    }
}

// One value a warp goes through shared memory, and the first warp folds those; thread 0 has the block's result. Who
// calls it twice puts a barrier between the calls, since both use the same shared memory.
template <class T, class Op>
__device__ T fold_block(T value, Op op) {
    __shared__ T of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    value = fold_warp(value, op);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have left their values
    if (tid < warp) value = fold_warp(tid < warps ? of_warp[tid] : Op::template identity<T>(), op);
    return value;
}

// first_add with one barrier instead of ten.
template <class T, class Op>
__global__ void shuffle(const T* in, T* out, int64_t n, Op op) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x * 2 + threadIdx.x;
    const T second = i + blockDim.x < n ? in[i + blockDim.x] : Op::template identity<T>();
    const T value = fold_block(i < n ? op(in[i], second) : Op::template identity<T>(), op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

// As many blocks as the GPU holds at once, each thread taking every so-many-th element: the fold of the block is
// paid once for hundreds of elements.
template <class T, class Op>
__global__ void grid_stride(const T* in, T* out, int64_t n, Op op) {
    T value = Op::template identity<T>();
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        value = op(value, in[i]);
    value = fold_block(value, op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

// grid_stride again: cooperative groups name the warp and bring the fold along (CUDA C++ Programming Guide).
template <class T, class Op>
__global__ void coop_groups(const T* in, T* out, int64_t n, Op op) {
    __shared__ T of_warp[warp];
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<warp>(block);
    T value = Op::template identity<T>();
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        value = op(value, in[i]);
    value = cg::reduce(tile, value, op);
    if (tile.thread_rank() == 0) of_warp[tile.meta_group_rank()] = value;
    block.sync();
    if (tile.meta_group_rank() != 0) return;
    const bool has_one = tile.thread_rank() < tile.meta_group_size();
    value = cg::reduce(tile, has_one ? of_warp[tile.thread_rank()] : Op::template identity<T>(), op);
    if (tile.thread_rank() == 0) out[blockIdx.x] = value;
}

// 16 bytes of T, loaded by one instruction: int4, float4 or double2.
template <class T>
using Pack =
    std::conditional_t<std::is_same<T, int>::value, int4, std::conditional_t<sizeof(T) == 4, float4, double2>>;
template <class T>
constexpr int pack_size = 16 / sizeof(T);

template <class T, class Op>
__device__ T fold_pack(T value, Pack<T> pack, Op op) {
    value = op(op(value, pack.x), pack.y);
    if constexpr (pack_size<T> == 4) value = op(op(value, pack.z), pack.w);
    return value;
}

// A thread's share of in[0 .. n). The blocks go through tiles of loads * blockDim.x packs; a thread has all its loads
// of a full tile on their way before it uses the first. Streaming loads leave the lines that are in the L2 where they
// are, which pays until the input is so much larger than the L2 that those have to go anyway. The tail of fewer than
// 16 bytes goes to the first threads of the grid.
template <bool streaming, class T, class Op>
__device__ T fold_share(const T* in, int64_t n, Op op) {
    const Pack<T>* packs = reinterpret_cast<const Pack<T>*>(in);
    const int64_t count = n / pack_size<T>, tile = int64_t(loads) * blockDim.x;
    const int tid = threadIdx.x;
    T value = Op::template identity<T>();
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            Pack<T> pack[loads];
#pragma unroll
            for (int k = 0; k < loads; ++k) {
                const Pack<T>* p = packs + first + k * blockDim.x + tid;
                pack[k] = streaming ? __ldcs(p) : *p;
            }
#pragma unroll
            for (int k = 0; k < loads; ++k) value = fold_pack(value, pack[k], op);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x) value = fold_pack(value, packs[i], op);
        }
    }
    const int64_t tail = count * pack_size<T> + int64_t(blockIdx.x) * blockDim.x + tid;
    return tail < n ? op(value, in[tail]) : value;
}

template <bool streaming, class T, class Op>
__global__ void vectorised(const T* in, T* out, int64_t n, Op op) {
    const T value = fold_block(fold_share<streaming>(in, n, op), op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

// One launch: each block leaves its partial result and draws a ticket; who draws the last one finds all partial
// results in memory (CUDA C++ Programming Guide, "Memory Fence Functions") and folds them. The ticket goes back to 0
// for the next launch.
template <bool streaming, class T, class Op>
__global__ void last_block(const T* in, T* partial, T* out, unsigned* tickets, int64_t n, Op op) {
    __shared__ bool last;
    T value = fold_block(fold_share<streaming>(in, n, op), op);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
        __threadfence();  // the partial result is in memory before the ticket is drawn
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last) return;
    value = Op::template identity<T>();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) value = op(value, __ldcg(partial + i));
    value = fold_block(value, op);
    if (threadIdx.x == 0) *out = value, *tickets = 0;
}

// last_block without the fence, which waits until the store has arrived: the partial result and the number of the
// launch travel in one 8-byte store, so whoever sees the number sees the value. The last block reads again what has
// not arrived yet; it waits for no block that has not drawn its ticket.
template <bool streaming, class T, class Op>
__global__ void one_word(const T* in, volatile unsigned long long* slots, T* out, unsigned* tickets,
                         unsigned number, int64_t n, Op op) {
    __shared__ bool last;
    T value = fold_block(fold_share<streaming>(in, n, op), op);
    unsigned bits;
    if (threadIdx.x == 0) {
        memcpy(&bits, &value, sizeof bits);
        slots[blockIdx.x] = static_cast<unsigned long long>(number) << 32 | bits;
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    T total = Op::template identity<T>();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
        unsigned long long slot = slots[i];
        while (slot >> 32 != number) slot = slots[i];
        bits = static_cast<unsigned>(slot);
        memcpy(&value, &bits, sizeof value);
        total = op(total, value);
    }
    total = fold_block(total, op);
    if (threadIdx.x == 0) *out = total, *tickets = 0;
}

// Ticket and sum in one word: the low half counts the blocks, the high half adds their sums modulo 2^32, and nothing
// carries from one into the other. The block whose atomic finds the count at gridDim.x - 1 holds the result.
template <bool streaming>
__global__ void packed(const int* in, unsigned long long* count_and_sum, int* out, int64_t n) {
    const int value = fold_block(fold_share<streaming>(in, n, Sum()), Sum());
    if (threadIdx.x != 0) return;
    const unsigned long long mine = static_cast<unsigned long long>(unsigned(value)) << 32 | 1;
    const unsigned long long before = atomicAdd(count_and_sum, mine);
    if (unsigned(before) != gridDim.x - 1) return;
    *out = int((before + mine) >> 32);
    *count_and_sum = 0;
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// sequential without the barrier in the loop: a thread folds in what its partner has not written yet.
template <class T, class Op>
__global__ void no_barrier(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + tid;
    tile[tid] = i < n ? in[i] : Op::template identity<T>();
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2)
        if (tid < stride) tile[tid] = op(tile[tid], tile[tid + stride]);
    if (tid == 0) out[blockIdx.x] = tile[0];
}

// The last 64 values without barriers, "since a warp runs in step": true before Volta, wrong since. Each step needs
// a __syncwarp() between reading and writing.
template <class T, class Op>
__global__ void warp_in_step(const T* in, T* out, int64_t n, Op op) {
    __shared__ volatile T tile[most_threads + warp];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + tid;
    tile[tid] = i < n ? in[i] : Op::template identity<T>();
    if (tid < warp) tile[blockDim.x + tid] = Op::template identity<T>();
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > warp; stride /= 2) {
        if (tid < stride) tile[tid] = op(T(tile[tid]), T(tile[tid + stride]));
        __syncthreads();
    }
    if (tid >= warp) return;
    for (int stride = blockDim.x > warp ? warp : warp / 2; stride > 0; stride /= 2)
        tile[tid] = op(T(tile[tid]), T(tile[tid + stride]));
    if (tid == 0) out[blockIdx.x] = tile[0];
}

// dropped_tail is the sequential kernel, launched with n / threads blocks instead of the next whole number: the
// elements after the last full block are never read.

// ---- the table of variants -------------------------------------------------------------------------------------

// How a variant gets from n elements to one: the same kernel again and again on its own results; the same with the
// tail forgotten; a grid that fills the GPU, and one block after it; a single launch; a launch on every GPU.
enum class Shape { passes, floored, one_grid, one_launch, every_gpu };

template <class T, class Op>
struct Variant {
    const char* name;
    const char* how;
    Shape shape;
    void (*kernel)(const T*, T*, int64_t, Op);  // the single launches have other arguments, see launch()
    int per_thread;                             // elements that a thread folds while loading, in passes
    int least_threads = lab::whole_warps;
};
template <class T, class Op>
constexpr Variant<T, Op> variants[] = {
    {"modulo", "the tutorial's first: tid % (2 * stride) == 0", Shape::passes, modulo, 1, 2},
    {"strided_index", "the same pairs without divergence, with bank conflicts", Shape::passes, strided_index, 1, 2},
    {"sequential", "the tutorial's second: tid < stride", Shape::passes, sequential, 1, 2},
    {"first_add", "two elements a thread while loading", Shape::passes, first_add, 2, 1},
    {"shuffle", "warp shuffles and one barrier", Shape::passes, shuffle, 2},
    {"grid_stride", "a grid that fills the GPU once, many elements a thread", Shape::one_grid, grid_stride, 0},
    {"coop_groups", "grid_stride with cooperative groups", Shape::one_grid, coop_groups, 0},
    {"vectorised", "16-byte loads, four in flight", Shape::one_grid, vectorised<false>, 0},
    {"last_block", "one launch: the last block folds the partial results", Shape::one_launch, nullptr, 0},
    {"one_word", "last_block without its fence (4-byte types)", Shape::one_launch, nullptr, 0},
    {"packed", "ticket and sum in one 64-bit atomic (int sums)", Shape::one_launch, nullptr, 0},
#ifdef LAB_NCCL
    {"all_gpus", "last_block on every GPU for its share, then ncclAllReduce", Shape::every_gpu, nullptr, 0},
#endif
};
template <class T, class Op>
constexpr Variant<T, Op> twins[] = {
    {"no_barrier", "sequential without the barrier in its loop", Shape::passes, no_barrier, 1, 2},
    {"warp_in_step", "the last 32 values without __syncwarp", Shape::passes, warp_in_step, 1},
    {"dropped_tail", "n / threads blocks: the tail is never read", Shape::floored, sequential, 1, 2},
};

template <class T, class Op>
bool applies(const std::string& name) {
    if (name == "packed") return std::is_same<T, int>::value && std::is_same<Op, Sum>::value;
    return name != "one_word" || sizeof(T) == 4;
}

template <class T>
struct Scratch {  // what the variants need besides the input; room for one partial result a block
    explicit Scratch(int64_t blocks)
        : a(blocks),
          b(blocks),
          slots(blocks),
          tickets(std::vector<unsigned>(1)),
          sums(std::vector<unsigned long long>(1)) {}
    lab::DeviceArray<T> a, b;
    lab::DeviceArray<unsigned long long> slots;
    lab::DeviceArray<unsigned> tickets;
    lab::DeviceArray<unsigned long long> sums;
    unsigned launches = 0;
};

// One launch of as many blocks as the GPU holds, or as there are tiles.
template <bool streaming, class T, class Op>
const T* launch_once(const lab::Sample& sample, const std::string& name, const T* in, int64_t n, Scratch<T>& s,
                     Op op) {
    const int threads = sample.threads();
    const int64_t tile = int64_t(threads) * loads * pack_size<T>;
    const int fill = sample.blocks_to_fill(last_block<streaming, T, Op>, threads);
    const int blocks = sample.blocks() ? fill : int(std::min<int64_t>(fill, std::max<int64_t>(1, (n + tile - 1) / tile)));
    T* out = s.b.get();
    if constexpr (std::is_same<T, int>::value && std::is_same<Op, Sum>::value)
        if (name == "packed") packed<streaming><<<blocks, threads>>>(in, s.sums.get(), out, n);
    if constexpr (sizeof(T) == 4)
        if (name == "one_word")
            one_word<streaming><<<blocks, threads>>>(in, s.slots.get(), out, s.tickets.get(), ++s.launches, n, op);
    if (name == "last_block")
        last_block<streaming><<<blocks, threads>>>(in, s.a.get(), out, s.tickets.get(), n, op);
    return out;
}

// Reduces n elements with one variant; the result lies where the returned pointer points to.
template <class T, class Op>
const T* launch(const lab::Sample& sample, const Variant<T, Op>& v, const T* in, int64_t n, Scratch<T>& s, Op op) {
    const int threads = sample.threads();
    if (v.shape == Shape::one_launch) {
        const bool streaming = n * int64_t(sizeof(T)) <= streamed * sample.properties().l2CacheSize;
        return streaming ? launch_once<true>(sample, v.name, in, n, s, op)
                         : launch_once<false>(sample, v.name, in, n, s, op);
    }
    T *a = s.a.get(), *b = s.b.get();
    if (v.shape == Shape::one_grid) {
        const int blocks = sample.blocks_to_fill(v.kernel, threads);
        v.kernel<<<blocks, threads>>>(in, a, n, op);
        v.kernel<<<1, threads>>>(a, b, blocks, op);
        return b;
    }
    const int64_t tile = int64_t(threads) * v.per_thread;
    for (;; std::swap(a, b)) {
        const int64_t blocks = v.shape == Shape::floored ? std::max<int64_t>(1, n / tile) : (n + tile - 1) / tile;
        v.kernel<<<blocks, threads>>>(in, a, n, op);
        if (blocks == 1) return a;
        in = a;
        n = blocks;
    }
}

// The vendor's library, where there is one: false where there is not.
template <class T, class Op>
bool library(void* temporary, size_t& bytes, const T* in, T* out, int64_t n, Op op) {
#ifdef CUB_VERSION
    if (CUB_VERSION < 300000 && n > std::numeric_limits<int>::max()) return false;  // it may count in ints
    if constexpr (std::is_same<Op, Sum>::value) CHECK(cub::DeviceReduce::Sum(temporary, bytes, in, out, n));
    else if constexpr (std::is_same<Op, Min>::value) CHECK(cub::DeviceReduce::Min(temporary, bytes, in, out, n));
    else if constexpr (std::is_same<Op, Max>::value) CHECK(cub::DeviceReduce::Max(temporary, bytes, in, out, n));
    else CHECK(cub::DeviceReduce::Reduce(temporary, bytes, in, out, n, op, Op::template identity<T>()));
    return true;
#else
    (void)temporary, (void)bytes, (void)in, (void)out, (void)n, (void)op;
    return false;
#endif
}

// ---- the input -------------------------------------------------------------------------------------------------
// Chosen so that every order of operations gives the same result. int: any bits, odd for products (a factor of 2 too
// many and all is 0). float and double: sums of whole numbers -8 .. 8; products of 1 and -1, with 40 twos and 40
// halves among them.
template <class T, class Op>
std::vector<T> make_input(int64_t n, uint64_t seed) {
    constexpr bool product = std::is_same<Op, Product>::value, sum = std::is_same<Op, Sum>::value;
    std::vector<T> in(n);
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = lab::random_bits(seed, i);
        if constexpr (std::is_integral<T>::value) in[i] = T(product ? bits | 1 : bits);
        else if constexpr (product) in[i] = (bits & 1 ? 1 : -1) * T(i < 40 ? 2 : n - i <= 40 ? 0.5 : 1);
        else if constexpr (sum) in[i] = T(int(bits % 17) - 8);
        else in[i] = T(int32_t(bits)) / 1024;
    }
    return in;
}

// ---- all GPUs of the machine -----------------------------------------------------------------------------------
#ifdef LAB_NCCL

#define NCCL_CHECK(call)                                                                                       \
    do {                                                                                                       \
        const ncclResult_t status = (call);                                                                    \
        if (status != ncclSuccess) {                                                                           \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(status));    \
            std::exit(lab::system_error);                                                                      \
        }                                                                                                      \
    } while (0)

template <class T>
constexpr ncclDataType_t nccl_type = std::is_same<T, int>::value ? ncclInt : sizeof(T) == 4 ? ncclFloat : ncclDouble;
constexpr ncclRedOp_t nccl_op(Sum) { return ncclSum; }
constexpr ncclRedOp_t nccl_op(Product) { return ncclProd; }
constexpr ncclRedOp_t nccl_op(Min) { return ncclMin; }
constexpr ncclRedOp_t nccl_op(Max) { return ncclMax; }

template <class T>
struct Share {  // of one GPU; made while that GPU is the current one
    Share(const T* first, int64_t size, int64_t blocks, int l2_bytes)
        : in(size), scratch(blocks), flush(2 * l2_bytes) {
        CHECK(cudaMemcpy(in.get(), first, in.bytes(), cudaMemcpyHostToDevice));
    }
    lab::DeviceArray<T> in;
    Scratch<T> scratch;
    lab::DeviceArray<char> flush;  // writing it drives everything else out of that GPU's L2
};

// Every GPU folds its share, then ncclAllReduce folds their results, and each GPU ends up with the whole: its result
// is left in results[gpu]. The stopwatch is the current GPU's. The others start when it starts, and it is done when
// all have given their part.
template <class T, class Op>
double reduce_on_all_gpus(lab::Sample& sample, const std::vector<T>& in, int64_t most_blocks,
                          std::vector<T>& results, Op op) {
    const int gpus = int(results.size());
    const auto on_each = [&](const auto& work) {
        for (int gpu = 0; gpu < gpus; ++gpu) CHECK(cudaSetDevice(gpu)), work(gpu);
        CHECK(cudaSetDevice(sample.device()));
    };
    std::vector<std::unique_ptr<Share<T>>> shares(gpus);
    on_each([&](int gpu) {
        const int64_t from = sample.n() * gpu / gpus, to = sample.n() * (gpu + 1) / gpus;
        const int l2_bytes = sample.properties().l2CacheSize;
        shares[gpu] = std::make_unique<Share<T>>(&in[from], to - from, most_blocks, l2_bytes);
    });
    std::vector<ncclComm_t> comms(gpus);
    NCCL_CHECK(ncclCommInitAll(comms.data(), gpus, nullptr));
    const auto prepare = [&] {
        on_each([&](int gpu) {
            shares[gpu]->scratch.b.poison();
            shares[gpu]->flush.poison();
            CHECK(cudaDeviceSynchronize());
        });
    };
    lab::Event go;
    const Variant<T, Op> each = {"last_block", "", Shape::one_launch, nullptr, 0};
    const double ms = sample.time(prepare, [&] {
        go.record();
        on_each([&](int gpu) {
            if (gpu != sample.device()) go.hold_back();
            launch(sample, each, shares[gpu]->in.get(), shares[gpu]->in.size(), shares[gpu]->scratch, op);
        });
        NCCL_CHECK(ncclGroupStart());
        for (int gpu = 0; gpu < gpus; ++gpu) {
            T* const result = shares[gpu]->scratch.b.get();
            NCCL_CHECK(ncclAllReduce(result, result, 1, nccl_type<T>, nccl_op(op), comms[gpu], nullptr));
        }
        NCCL_CHECK(ncclGroupEnd());
    });
    on_each([&](int gpu) { results[gpu] = shares[gpu]->scratch.b.download(1)[0]; });
    for (ncclComm_t comm : comms) NCCL_CHECK(ncclCommDestroy(comm));
    return ms;
}
#endif

// ---- run, check, time ------------------------------------------------------------------------------------------

template <class T>
std::string text(T x) {
    return std::is_integral<T>::value ? lab::with_commas(int64_t(x)) : lab::text("%.9g", double(x));
}

template <class T, class Op>
void run(lab::Sample& sample, Op op) {
    for (const auto& v : variants<T, Op>)
        if (!sample.wants_all() && sample.wants(v.name) && !applies<T, Op>(v.name))
            sample.refuse("%s is %s; type --type int --op sum", v.name, v.how);
    const int64_t n = sample.n(), least_blocks = std::max(sample.blocks(), 1 << 16),
                  most_blocks = std::max<int64_t>(n / sample.threads() + 1, least_blocks);
    const int inputs = sample.shows_limit() || (has_nccl && sample.wants("all_gpus")) ? 2 : 1;
    const double of_block = 2 * sizeof(T) + 8;  // its scratch: a, b and slots
    sample.require_memory(inputs * (sizeof(T) + of_block / sample.threads()), inputs * of_block * least_blocks);
    sample.require_blocks();
    const std::vector<T> in = make_input<T, Op>(n, sample.seed());
    const T want = on_the_cpu(in, op);
    const lab::DeviceArray<T> d_in(in);
    Scratch<T> scratch(most_blocks);
    T* const d_out = scratch.b.get();
    const double bytes = double(n) * sizeof(T);
    const auto poison = [&] { scratch.a.poison(), scratch.b.poison(), scratch.slots.poison(); };
    const auto fetch = [](const T* result) {
        T got;
        CHECK(cudaMemcpy(&got, result, sizeof(T), cudaMemcpyDeviceToHost));
        return got;
    };
    const auto row = [&](const char* name, T got, double ms, lab::Kind kind) {
        const std::string wrong = got == want ? "" : "got " + text(got) + ", wanted " + text(want);
        sample.row({name, text(got), ms, bytes, wrong, kind});
    };

    sample.limit_row(lab::Sample::Limit::read, int64_t(bytes));
    size_t room = 0;
    if (sample.wants_all() && library(nullptr, room, d_in.get(), d_out, n, op)) {
        lab::DeviceArray<char> d_room(std::max<int64_t>(room, 1));
        const auto reduce = [&] { library(d_room.get(), room, d_in.get(), d_out, n, op); };
        const double ms = sample.time(poison, reduce);
        row("CUB", fetch(d_out), ms, lab::Kind::library);
    }
    const auto check = [&](const Variant<T, Op>& v) {
#ifdef LAB_NCCL
        if (v.shape == Shape::every_gpu) {
            int gpus = 0;
            CHECK(cudaGetDeviceCount(&gpus));
            std::vector<T> results(gpus);
            const double ms = reduce_on_all_gpus(sample, in, most_blocks, results, op);
            const auto wrong = std::find_if(results.begin(), results.end(), [&](T got) { return !(got == want); });
            row(v.name, wrong == results.end() ? want : *wrong, ms, lab::Kind::variant);
            return sample.say("    all_gpus: %d of them, each with the whole result", gpus);
        }
#endif
        const T* result = nullptr;
        const auto reduce = [&] { result = launch(sample, v, d_in.get(), n, scratch, op); };
        const double ms = sample.time(poison, reduce);
        row(v.name, fetch(result), ms, lab::Kind::variant);
    };
    for (const auto& v : variants<T, Op>)
        if (sample.wants(v.name) && applies<T, Op>(v.name)) check(v);
    for (const auto& v : twins<T, Op>)
        if (sample.wants_twin(v.name)) check(v);
}

// The tutorial's two programs: 512 threads a block, 2048 floats, and answers that one can work out by hand.
void run_known(lab::Sample& sample) {
    std::vector<float> ramp(2048);
    for (int i = 0; i < 2048; ++i) ramp[i] = float(i);
    lab::DeviceArray<float> d_in(ramp), d_out(4);
    for (const bool first : {true, false}) {
        if (!first) d_in.upload(std::vector<float>(2048, 1.0f));
        (first ? modulo<float, Sum> : sequential<float, Sum>)<<<4, 512>>>(d_in.get(), d_out.get(), 2048, Sum());
        CHECK(cudaGetLastError());
        float sum = 0;
        for (float partial : d_out.download()) sum += partial;
        const float want = first ? 2096128 : 2048;
        sample.row({first ? "0 + 1 + ... + 2047" : "2048 ones", text(sum), lab::not_timed, 0,
                    sum == want ? "" : "wanted " + text(want)});
    }
}

template <class Op>
void run_type(lab::Sample& sample, const std::string& type, Op op) {
    if (type == "int") run<int>(sample, op);
    if (type == "float") run<float>(sample, op);
    if (type == "double") run<double>(sample, op);
}

int main(int argc, char** argv) {
    lab::Sample sample("04_reduction_variants", "What stands between a first reduction and the memory's speed?");
    std::string op = "sum", type = "int";
    bool sweep = false;
    sample.defaults(lab::gpu ? 10'000'000 : 100'003, 0, 512, "elements",
                    "blocks of the grids that loop (default: fill the GPU once)");
    sample.option("--op", op, {"sum", "min", "max", "prod"}, "the operation");
    sample.option("--type", type, {"int", "float", "double"}, "the type of the elements");
    sample.option("--sweep", sweep, "all sizes from 2^10 elements to 2^28, or to --n if that is more");
    for (const auto& v : variants<int, Sum>) sample.variant(v.name, v.how, v.least_threads);
    for (const auto& v : twins<int, Sum>) sample.twin(v.name, v.how, v.least_threads);
    sample.start(argc, argv);

    sample.require_time(sample.n());
    std::vector<int64_t> sizes = {sample.n()};
    const int64_t most = std::max<int64_t>(sample.n(), lab::gpu ? 1 << 28 : 1 << 16);
    if (sweep)
        for (sizes = {1 << 10}; 4 * sizes.back() <= most;) sizes.push_back(4 * sizes.back());
    for (const int64_t n : sizes) {
        sample.set_n(n);
        sample.new_table(lab::text("%s of %s %ss (%s)", op.c_str(), lab::with_commas(n).c_str(), type.c_str(),
                                   lab::bytes_text(double(n) * (type == "double" ? 8 : 4)).c_str()));
        if (op == "sum") run_type(sample, type, Sum());
        if (op == "min") run_type(sample, type, Min());
        if (op == "max") run_type(sample, type, Max());
        if (op == "prod") run_type(sample, type, Product());
    }
    if (sample.wants_all()) {
        sample.new_table("the tutorial's own inputs, whose answers are known: 2096128 and 2048");
        run_known(sample);
    }
    return sample.verdict();
}
