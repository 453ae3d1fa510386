// 04_reduction_variants - what stands between a first reduction and the memory's speed?
//
// A reduction folds n values into one: their sum, minimum, maximum or product. First the tutorial's two kernels, as
// they are; then a ladder, in which each rung differs from its neighbour in a few lines and removes one obstacle:
//
//   modulo         neighbours first, tid % (2 * stride) == 0     slow: the remainder takes most of its instructions
//   strided_index  the same pairs, found by multiplying          slow: bank conflicts in shared memory
//   sequential     halves of the tile, tid < stride              slow: half of the threads never add anything
//   first_add      adds two elements while it loads              slow: every step is a barrier for the whole block
//   shuffle        the last 32 values stay inside a warp         slow: one block for so few elements
//   grid_stride    a grid that just fills the GPU loops          slow: 4 bytes a load
//   vectorised     16-byte loads, four in flight                 slow: a second launch for the partial results
//   last_block     the block that finishes last does the rest    slow: store, fence, ticket, load: four trips to L2
//   atomic_add     every block adds its sum to one word          nobody waits; sums only, in any order
//
//   04_reduction_variants --op max --type float --n 1000000      one size
//   04_reduction_variants --wrong no_barrier                     a classic mistake
//   04_reduction_variants --sweep --csv sizes.csv                all sizes, for a plot
//   nvcc -std=c++17 -arch=native -Icommon 04_reduction_variants/reduction_variants.cu common/lab.cpp common/write_file.cpp -o reduction_variants
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <functional>
#include <limits>
#include <numeric>
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

namespace cg = cooperative_groups;
constexpr int tutorial_n = 2048, tutorial_threads = 512;
constexpr int tutorial_blocks = (tutorial_n + tutorial_threads - 1) / tutorial_threads;  // rounded up
constexpr int most_threads = 1024;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;  // in flight before the first is used
static_assert(tutorial_n == tutorial_blocks * tutorial_threads, "the tutorial's kernels do not guard the end");
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");

// What a launch needs.
template <class T> struct Job {
    const lab::Sample& sample;
    int threads;
    const T* in;
    int64_t n;
    T *out, *here, *there;  // the result; partial results, one a block: a pass reads the one and writes the other
    unsigned* tickets;      // of last_block, 0 between launches
    T* sums;                // of atomic_add: two words that take turns
    unsigned number;        // of this launch

    T* sum(unsigned launch) const { return sums + launch % 2; }
    template <class Kernel> int fill_or_fewer(Kernel kernel) const {  // no more than there are tiles of wide loads
        const int64_t tile = int64_t(threads) * loads * 16 / sizeof(T);
        const int fill = sample.blocks_to_fill(kernel, threads);
        return sample.blocks() ? fill : int(std::min<int64_t>(fill, (n + tile - 1) / tile));
    }
};

// ---- the answer, slowly ----------------------------------------------------------------------------------------

/// Folds in 64 bits, then narrows: integers modulo 2^64, whole numbers below 2^53 exactly in double.
template <class T> T on_the_cpu(const std::vector<T>& in, const std::string& op) {
    using Wide = std::conditional_t<std::is_integral_v<T>, unsigned long long, double>;
    if (op == "min") return *std::min_element(in.begin(), in.end());
    if (op == "max") return *std::max_element(in.begin(), in.end());
    if (op == "sum") return T(std::accumulate(in.begin(), in.end(), Wide(0)));
    return T(std::accumulate(in.begin(), in.end(), Wide(1), std::multiplies<Wide>()));
}

// ---- the tutorial's kernels ------------------------------------------------------------------------------------
// Both leave one partial sum a block, which the host adds up. Nothing guards the end, as n is a multiple of 512.

// The first. Step 1 adds 0+1, 2+3, ...; step 2 adds 0+2, 4+6, ...: the workers lie ever further apart.
__global__ void tutorial_modulo(const float* in, float* sums) {
    __shared__ float tile[tutorial_threads];  // each block has its own
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int tid = threadIdx.x;
    tile[tid] = in[i];
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        if (tid % (2 * stride) == 0) tile[tid] += tile[tid + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) sums[blockIdx.x] = tile[0];
}

// The second. The first half of the tile takes the second half, then the first quarter the second, and so on: the
// workers are always the first threads, and neighbours use neighbouring words.
__global__ void tutorial_halves(const float* in, float* sums) {
    __shared__ float tile[tutorial_threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int tid = threadIdx.x;
    tile[tid] = in[i];
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] += tile[tid + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) sums[blockIdx.x] = tile[0];
}

// ---- the tutorial's whole program ------------------------------------------------------------------------------

// Both of its programs: the first on 0 .. 2047, the second on 2048 ones. Differs: every CUDA call is checked.
bool whole_program() {
    float in[tutorial_n], sums[tutorial_blocks];
    float *d_in, *d_sums;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_sums, sizeof sums));

    std::iota(in, in + tutorial_n, 0.0f);
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    tutorial_modulo<<<tutorial_blocks, tutorial_threads>>>(d_in, d_sums);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    CHECK(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost));
    // Differs: the tutorial adds the partial sums up in an int, which drops fractions.
    const double first = std::accumulate(sums, sums + tutorial_blocks, 0.0);
    const double want_first = std::accumulate(in, in + tutorial_n, 0.0);
    std::printf("0 + 1 + ... + 2047: %.0f on the device, %.0f on the CPU\n", first, want_first);

    std::fill(in, in + tutorial_n, 1.0f);
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    tutorial_halves<<<tutorial_blocks, tutorial_threads>>>(d_in, d_sums);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost));
    const double second = std::accumulate(sums, sums + tutorial_blocks, 0.0);
    const double want_second = std::accumulate(in, in + tutorial_n, 0.0);
    std::printf("2048 ones: %.0f on the device, %.0f on the CPU\n", second, want_second);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_sums));
    return first == want_first && second == want_second;
}

// ---- the rungs, slow to fast -----------------------------------------------------------------------------------
// From here on for any n, for int, float and double, and for four operations. Integers add and multiply modulo
// 2^bits, as the GPU's adders do. The identity of an operation is what changes no result.

template <class T> using Wrap = std::conditional_t<std::is_integral_v<T>, unsigned long long, T>;
#define OPERATION(Name, start, result)                                      \
    template <class T> struct Name {                                        \
        static constexpr T identity = start;                                \
        __host__ __device__ T operator()(T a, T b) const { return result; } \
    };
OPERATION(Sum, 0, T(Wrap<T>(a) + Wrap<T>(b)))
OPERATION(Product, 1, T(Wrap<T>(a) * Wrap<T>(b)))
OPERATION(Min, std::numeric_limits<T>::max(), b < a ? b : a)
OPERATION(Max, std::numeric_limits<T>::lowest(), a < b ? b : a)
template <class T, class Op> constexpr bool is_int_sum = std::is_same_v<T, int> && std::is_same_v<Op, Sum<int>>;

// Element i; past the end, where the last block's threads may be, the identity.
template <class T, class Op> __device__ T load(const T* in, int64_t i, int64_t n, Op) {
    return i < n ? in[i] : T(Op::identity);
}

// The first five leave one partial result a block, and go on with those until one is left.
template <class T, class Op>
void in_passes(const Job<T>& job, void (*kernel)(const T*, T*, int64_t, Op), int per_thread = 1) {
    const int64_t tile = int64_t(per_thread) * job.threads;
    Job<T> pass = job;
    for (int64_t blocks = 0; blocks != 1; pass.n = blocks) {
        blocks = (pass.n + tile - 1) / tile;  // the last tile may be part of one
        kernel<<<int(blocks), job.threads>>>(pass.in, blocks == 1 ? job.out : pass.here, pass.n, Op());
        pass.in = pass.here;
        std::swap(pass.here, pass.there);
    }
}

// tutorial_modulo with a guarded end.
template <class T, class Op> __global__ void modulo(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, int64_t(blockIdx.x) * blockDim.x + tid, n, op);
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        if (tid % (2 * stride) == 0) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
template <class T, class Op> void launch_modulo(const Job<T>& job) { in_passes(job, modulo<T, Op>); }

// The workers are the first threads, found without the remainder, which is 23 of modulo's 34 instructions a step. But
// their words lie 2 * stride apart, in the same few banks. (No kernel here branches in its step: nvcc makes the `if` a
// condition on each instruction, and all warps run all steps.)
template <class T, class Op> __global__ void strided_index(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, int64_t(blockIdx.x) * blockDim.x + tid, n, op);
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        const int left = 2 * stride * tid;
        if (left < int(blockDim.x)) tile[left] = op(tile[left], tile[left + stride]);
        __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
template <class T, class Op> void launch_strided_index(const Job<T>& job) { in_passes(job, strided_index<T, Op>); }

// tutorial_halves with a guarded end. Neighbouring threads use neighbouring words: no bank conflicts.
template <class T, class Op> __global__ void sequential(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, int64_t(blockIdx.x) * blockDim.x + tid, n, op);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
template <class T, class Op> void launch_sequential(const Job<T>& job) { in_passes(job, sequential<T, Op>); }

// Every thread folds two elements on the way in, so none idles in the first step, and there are half the blocks.
template <class T, class Op> __global__ void first_add(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x * 2 + tid;
    tile[tid] = op(load(in, i, n, op), load(in, i + blockDim.x, n, op));
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
template <class T, class Op> void launch_first_add(const Job<T>& job) { in_passes(job, first_add<T, Op>, 2); }

// A warp's 32 values fold through registers, without shared memory and without a barrier; lane 0 has the result.
// For sums of ints, cooperative groups know one instruction that does it all (redux.sync, from sm_80 on).
template <class T, class Op> __device__ T fold_warp(T value, Op op) {
    if constexpr (is_int_sum<T, Op>) {
        return cg::reduce(cg::tiled_partition<warp>(cg::this_thread_block()), value, cg::plus<int>());
    } else {
        for (int offset = warp / 2; offset > 0; offset /= 2)
            value = op(value, __shfl_down_sync(all_lanes, value, offset));
        return value;
    }
}

// One value a warp goes through shared memory, and the first warp folds those; thread 0 has the block's result.
// Between two calls there must be a barrier, since both use the same shared memory.
template <class T, class Op> __device__ T fold_block(T value, Op op) {
    __shared__ T of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    value = fold_warp(value, op);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have left their values
    if (tid < warp) value = fold_warp(tid < warps ? of_warp[tid] : T(Op::identity), op);
    return value;
}

// first_add with one barrier instead of ten.
template <class T, class Op> __global__ void shuffle(const T* in, T* out, int64_t n, Op op) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x * 2 + threadIdx.x;
    const T value = fold_block(op(load(in, i, n, op), load(in, i + blockDim.x, n, op)), op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}
template <class T, class Op> void launch_shuffle(const Job<T>& job) { in_passes(job, shuffle<T, Op>, 2); }

// As many blocks as the GPU holds at once, then one block for their partial results. Each thread takes every
// so-many-th element: the fold of the block is paid once for hundreds of them.
// (nvcc 13.0 unrolls the loop: for sm_90 it loads 16 elements at a time, then 8, 4 and 1.)
template <class T, class Op> __global__ void grid_stride(const T* in, T* out, int64_t n, Op op) {
    T value = Op::identity;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        value = op(value, in[i]);
    value = fold_block(value, op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}
template <class T, class Op> void launch_grid_stride(const Job<T>& job) {
    const int blocks = job.sample.blocks_to_fill(grid_stride<T, Op>, job.threads);
    grid_stride<<<blocks, job.threads>>>(job.in, job.here, job.n, Op());
    grid_stride<<<1, job.threads>>>(job.here, job.out, blocks, Op());
}

// 16 bytes of T, loaded by one instruction: int4, float4 or double2.
template <class T>
using Pack = std::conditional_t<std::is_same_v<T, int>, int4, std::conditional_t<sizeof(T) == 4, float4, double2>>;
template <class T> constexpr int pack_size = 16 / sizeof(T);

template <class T, class Op> __device__ T fold_pack(T value, Pack<T> pack, Op op) {
    value = op(op(value, pack.x), pack.y);
    if constexpr (pack_size<T> == 4) value = op(op(value, pack.z), pack.w);
    return value;
}

// A thread's share of in[0 .. n). The blocks go through tiles of loads * blockDim.x packs; a thread has all its loads
// of a full tile on their way before it uses the first. The tail of fewer than 16 bytes goes to the first threads of
// the grid.
template <class T, class Op> __device__ T fold_share(const T* in, int64_t n, Op op) {
    const Pack<T>* packs = reinterpret_cast<const Pack<T>*>(in);
    const int64_t count = n / pack_size<T>, tile = int64_t(loads) * blockDim.x;
    const int tid = threadIdx.x;
    T value = Op::identity;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            Pack<T> pack[loads];
#pragma unroll
            for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * blockDim.x + tid];
#pragma unroll
            for (int k = 0; k < loads; ++k) value = fold_pack(value, pack[k], op);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x) value = fold_pack(value, packs[i], op);
        }
    }
    const int64_t tail = count * pack_size<T> + int64_t(blockIdx.x) * blockDim.x + tid;
    return tail < n ? op(value, in[tail]) : value;
}

template <class T, class Op> __global__ void vectorised(const T* in, T* out, int64_t n, Op op) {
    const T value = fold_block(fold_share(in, n, op), op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}
template <class T, class Op> void launch_vectorised(const Job<T>& job) {
    const int blocks = job.sample.blocks_to_fill(vectorised<T, Op>, job.threads);
    vectorised<<<blocks, job.threads>>>(job.in, job.here, job.n, Op());
    vectorised<<<1, job.threads>>>(job.here, job.out, blocks, Op());
}

// One launch: each block leaves its partial result and draws a ticket; who draws the last one finds all partial
// results in memory and folds them (CUDA C++ Programming Guide, "Memory Fence Functions").
template <class T, class Op>
__global__ void last_block(const T* in, T* partial, T* out, unsigned* tickets, int64_t n, Op op) {
    __shared__ bool last;
    T value = fold_block(fold_share(in, n, op), op);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
        __threadfence();  // the partial result is in memory before the ticket is drawn
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last) return;
    value = Op::identity;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) value = op(value, __ldcg(partial + i));
    value = fold_block(value, op);
    if (threadIdx.x != 0) return;
    *out = value;
    *tickets = 0;
}
template <class T, class Op> void launch_last_block(const Job<T>& job) {
    const int blocks = job.fill_or_fewer(last_block<T, Op>);
    last_block<<<blocks, job.threads>>>(job.in, job.here, job.out, job.tickets, job.n, Op());
}

// No fence, no ticket, and no block that waits for what its atomic finds: the end of the kernel is where all meet. As
// nobody can clear the word before the first block adds to it, two words take turns, and a launch clears the next one's.
template <class T> __global__ void atomic_add(const T* in, T* sum, T* next, int64_t n) {
    const T value = fold_block(fold_share(in, n, Sum<T>()), Sum<T>());
    if (threadIdx.x != 0) return;
    atomicAdd(sum, value);
    if (blockIdx.x == 0) *next = 0;
}
template <class T, class Op> void launch_atomic_add(const Job<T>& job) {
    if constexpr (std::is_same_v<Op, Sum<T>>) {
        const int blocks = job.fill_or_fewer(atomic_add<T>);
        atomic_add<<<blocks, job.threads>>>(job.in, job.sum(job.number), job.sum(job.number + 1), job.n);
    }
}

// For a few thousand elements one block is enough: no partial results, no ticket, and little code, which must come from
// memory, too. It has no more warps than there are packs for.
template <class T, class Op> __global__ void one_block(const T* in, T* out, int64_t n, Op op) {
    const int64_t count = n / pack_size<T>, tail = count * pack_size<T> + threadIdx.x;
    T value = tail < n ? in[tail] : T(Op::identity);
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        value = fold_pack(value, reinterpret_cast<const Pack<T>*>(in)[i], op);
    value = fold_block(value, op);
    if (threadIdx.x == 0) *out = value;
}
template <class T, class Op> void launch_one_block(const Job<T>& job) {
    const int64_t warps = (job.n / pack_size<T> + warp - 1) / warp;
    const int threads = warp * int(std::clamp<int64_t>(warps, 1, most_threads / warp));
    one_block<<<1, threads>>>(job.in, job.out, job.n, Op());
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// All for sums of ints. First sequential, with barriers for its longest strides only.
template <int from> __global__ void too_few_barriers(const int* in, int* out, int64_t n, Sum<int> op) {
    __shared__ volatile int tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, int64_t(blockIdx.x) * blockDim.x + tid, n, op);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = tile[tid] + tile[tid + stride];
        if (stride > from) __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
// No barrier in the loop at all: a thread adds what its partner has not written yet.
void launch_no_barrier(const Job<int>& job) { in_passes(job, too_few_barriers<most_threads>); }
// None for the last 64 values, "since a warp runs in step": true before Volta, wrong since. A __syncwarp() must part
// reading from writing.
void launch_warp_in_step(const Job<int>& job) { in_passes(job, too_few_barriers<warp>); }

// The right kernel with n / threads blocks: the elements after the last full tile are never read.
void launch_dropped_tail(const Job<int>& job) {
    Job<int> rest = job;
    rest.n = std::max<int64_t>(1, job.n / job.threads);
    rest.in = job.there;
    sequential<<<int(rest.n), job.threads>>>(job.in, job.there, job.n, Sum<int>());
    launch_sequential<int, Sum<int>>(rest);
}

// ---- the table -------------------------------------------------------------------------------------------------

template <class T> struct Variant {
    const char* name;
    const char* how;
    void (*launch)(const Job<T>&);
    int least_threads = 1;
    bool applies = true;  // to this operation
    bool in_order = true;  // or else the last digits of a float may differ from run to run
};
template <class T, class Op> constexpr Variant<T> variants[] = {
    {"modulo", "tutorial_modulo with a guarded end", launch_modulo<T, Op>, 2},
    {"strided_index", "the same pairs without the remainder, with bank conflicts", launch_strided_index<T, Op>, 2},
    {"sequential", "tutorial_halves with a guarded end", launch_sequential<T, Op>, 2},
    {"first_add", "two elements a thread while loading", launch_first_add<T, Op>},
    {"shuffle", "warp shuffles and one barrier", launch_shuffle<T, Op>, warp},
    {"grid_stride", "a grid that fills the GPU once, many elements a thread", launch_grid_stride<T, Op>, warp},
    {"vectorised", "16-byte loads, four in flight", launch_vectorised<T, Op>, warp},
    {"last_block", "one launch: the last block folds the partial results", launch_last_block<T, Op>, warp},
    {"atomic_add", "every block adds to one word (sums)", launch_atomic_add<T, Op>, warp, std::is_same_v<Op, Sum<T>>, false},
    {"one_block", "one block, for some thousand elements", launch_one_block<T, Op>},
};
constexpr Variant<int> twins[] = {
    {"no_barrier", "sequential without the barrier in its loop", launch_no_barrier, 2},
    {"warp_in_step", "the last 64 values without __syncwarp", launch_warp_in_step, 2},
    {"dropped_tail", "n / threads blocks: the tail is never read", launch_dropped_tail, 2},
};

// ---- run, check, time ------------------------------------------------------------------------------------------

// Chosen so that every order of operations gives the same result. int: any bits, odd for products (a factor of 2 too
// many and all is 0). float and double: sums of whole numbers -8 .. 8; products of 1 and -1, 40 twos and 40 halves.
template <class T> std::vector<T> make_input(int64_t n, uint64_t seed, const std::string& op) {
    std::vector<T> in(n);
    const bool product = op == "prod", sum = op == "sum";
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = lab::random_bits(seed, i);
        if (std::is_integral_v<T>) in[i] = T(product ? bits | 1 : bits);
        else if (product && i < 40) in[i] = bits & 1 ? 2 : -2;
        else if (product) in[i] = T(bits & 1 ? 1 : -1) / (n - i <= 40 ? 2 : 1);
        else in[i] = sum ? T(int(bits % 17) - 8) : T(int32_t(bits)) / 1024;
    }
    return in;
}

// NVIDIA's library, in its two modes: in a fixed order, which gives the same bits in every run, or sums in any order, by one
// kernel whose blocks add to one word; it fetches its own room. (NVIDIA's notes name CCCL 3.1 for the second mode; it is
// used here from CUB 3.2 on.) If `room` is null, the first returns the bytes that it needs, and the second returns 1.
// Either returns 0 if this CUB lacks it, and the second also for what is not a sum.
template <class T, class Op>
size_t library([[maybe_unused]] const Job<T>& job, [[maybe_unused]] bool in_order, [[maybe_unused]] void* room,
               size_t bytes) {
#ifdef CUB_VERSION
    constexpr bool sum = std::is_same_v<Op, Sum<T>>;
    if (!in_order) {
#if CUB_VERSION >= 300200
        if constexpr (!sum) return 0;
        else if (!room) {  // the pool that it asks for room keeps what it has, and need not fetch it again
            cudaMemPool_t pool;
            uint64_t all = UINT64_MAX;
            CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
            CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
        } else {
            const auto any_order = cuda::execution::require(cuda::execution::determinism::not_guaranteed);
            CHECK(cub::DeviceReduce::Sum(job.in, job.out, job.n, any_order));
        }
        return 1;
#else
        return 0;
#endif
    }
    if (CUB_VERSION < 300000 && job.n > std::numeric_limits<int>::max()) return 0;  // it may count in ints
    if constexpr (sum) CHECK(cub::DeviceReduce::Sum(room, bytes, job.in, job.out, job.n));
    else if constexpr (std::is_same_v<Op, Min<T>>) CHECK(cub::DeviceReduce::Min(room, bytes, job.in, job.out, job.n));
    else if constexpr (std::is_same_v<Op, Max<T>>) CHECK(cub::DeviceReduce::Max(room, bytes, job.in, job.out, job.n));
    else CHECK(cub::DeviceReduce::Reduce(room, bytes, job.in, job.out, job.n, Op(), T(Op::identity)));
#endif
    return bytes;
}
std::string cub_version([[maybe_unused]] bool in_order) {
#ifdef CUB_VERSION
    return lab::library_version(CUB_VERSION) + (in_order ? " run_to_run" : " not_guaranteed");
#endif
    return "";
}

template <class T>
void run_rows(lab::Sample& sample, const std::vector<T>& in, T want, const std::vector<Variant<T>>& rows,
              size_t (*library)(const Job<T>&, bool, void*, size_t)) {
    const int64_t blocks = std::max<int64_t>(sample.n() / sample.threads() + 1, std::max(sample.blocks(), 1 << 16));
    const lab::DeviceArray<T> d_in(in);
    lab::DeviceArray<T> out(1), here(blocks), there(blocks);
    const lab::DeviceArray<unsigned> tickets(std::vector<unsigned>(1));
    const lab::DeviceArray<T> sums(std::vector<T>(2));
    Job<T> job = {sample,     sample.threads(), d_in.get(),    d_in.size(), out.get(),
                  here.get(), there.get(),      tickets.get(), sums.get(),  0};
    const auto prepare = [&] {
        for (lab::DeviceArray<T>* array : {&out, &here, &there}) array->poison();
    };
    const auto check = [&](const char* name, lab::Time ms, T got, lab::Kind kind, bool same_bits, const std::string& version) {
        const std::string text = std::is_integral_v<T> ? lab::with_commas(int64_t(got)) : lab::text("%.9g", double(got));
        sample.row({name, text, ms, double(d_in.bytes()), got == want ? "" : lab::wanted(got, want), kind,
                    {same_bits ? "yes" : "no"}, version});
    };
    sample.columns({"same bits"});  // in every run on the same grid, whatever the data
    if (library) sample.limit_row(lab::Sample::Limit::read, d_in.bytes());
    for (const bool in_order : {true, false}) {
        const size_t bytes = library ? library(job, in_order, nullptr, 0) : 0;
        if (bytes == 0) continue;
        const lab::DeviceArray<char> room(bytes);
        const lab::Time ms = sample.time(prepare, [&] { library(job, in_order, room.get(), bytes); });
        check(in_order ? "CUB" : "CUB any order", ms, out.download()[0], lab::Kind::library,
              in_order || std::is_integral_v<T>, cub_version(in_order));
    }
    for (const Variant<T>& v : rows) {
        const lab::Time ms = sample.time(prepare, [&] {
            ++job.number;
            v.launch(job);
        });
        T got;
        CHECK(cudaMemcpy(&got, v.in_order ? job.out : job.sum(job.number), sizeof got, cudaMemcpyDeviceToHost));
        check(v.name, ms, got, lab::Kind::variant, v.in_order || std::is_integral_v<T>, "");
    }
}

template <class T>
void run(lab::Sample& sample, const std::string& op, const std::string& type, const std::vector<int64_t>& sizes,
         const std::vector<Variant<T>>& all, size_t (*library)(const Job<T>&, bool, void*, size_t)) {
    std::vector<Variant<T>> rows;
    for (const Variant<T>& v : all) {
        if (!v.applies && sample.wants(v.name) && !sample.wants_all())
            sample.refuse("%s is %s; type --type int --op sum", v.name, v.how);
        if (v.applies && sample.wants(v.name)) rows.push_back(v);
    }
    for (const Variant<int>& v : twins) {
        if (!sample.wants_twin(v.name)) continue;
        if (type != "int" || op != "sum") sample.refuse("%s sums ints; type --type int --op sum", v.name);
        if constexpr (std::is_same_v<T, int>) rows.push_back(v);
    }
    sample.set_n(sizes.back());
    const double of_block = 2 * sizeof(T) + 8;  // here, there and slots
    sample.require_memory((sample.shows_limit() ? 2 : 1) * double(sizeof(T)) + of_block / sample.threads(),
                          of_block * std::max(sample.blocks(), 1 << 16));
    sample.require_blocks();
    if (sample.wants("whole_program")) sample.program(whole_program);
    for (const int64_t n : rows.empty() ? std::vector<int64_t>() : sizes) {
        sample.set_n(n);
        sample.new_table(lab::text("%s of %s %ss (%s)", op.c_str(), lab::with_commas(n).c_str(), type.c_str(),
                                   lab::bytes_text(double(n) * sizeof(T)).c_str()));
        const std::vector<T> in = make_input<T>(n, sample.seed(), op);
        run_rows<T>(sample, in, on_the_cpu(in, op), rows, sample.wants_all() ? library : nullptr);
    }
}

template <class T>
void run_type(lab::Sample& sample, const std::string& op, const std::string& type, const std::vector<int64_t>& sizes) {
    const auto run_op = [&](const auto& all, auto library) {
        run<T>(sample, op, type, sizes, {std::begin(all), std::end(all)}, library);
    };
    if (op == "sum") run_op(variants<T, Sum<T>>, library<T, Sum<T>>);
    if (op == "min") run_op(variants<T, Min<T>>, library<T, Min<T>>);
    if (op == "max") run_op(variants<T, Max<T>>, library<T, Max<T>>);
    if (op == "prod") run_op(variants<T, Product<T>>, library<T, Product<T>>);
}

int main(int argc, char** argv) {
    lab::Sample sample("04_reduction_variants", "What stands between a first reduction and the memory's speed?");
    std::string op = "sum", type = "int";
    bool sweep = false;
    sample.defaults(lab::gpu ? 10'000'000 : 100'003, 0, 512, "elements",
                    "blocks of the grids that loop (default: fill the GPU once)");
    sample.option("--op", op, {"sum", "min", "max", "prod"}, "the operation: sum, min, max or prod");
    sample.option("--type", type, {"int", "float", "double"}, "the type of the elements: int, float or double");
    sample.option("--sweep", sweep, "all sizes from 2^10 elements to 2^28, or to --n if that is more");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants<int, Sum<int>>);
    sample.twins(twins);
    sample.start(argc, argv);

    std::vector<int64_t> sizes = {sample.n()};
    const int64_t most = std::max<int64_t>(sample.n(), lab::gpu ? 1 << 28 : 1 << 16);
    if (sweep)
        for (sizes = {1 << 10}; 4 * sizes.back() <= most;) sizes.push_back(4 * sizes.back());
    if (type == "int") run_type<int>(sample, op, type, sizes);
    if (type == "float") run_type<float>(sample, op, type, sizes);
    if (type == "double") run_type<double>(sample, op, type, sizes);
    return sample.verdict();
}
