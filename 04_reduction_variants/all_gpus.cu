// 04_all_gpus - what do more GPUs buy, and how do they meet?
//
// reduction_variants.cu ends where one GPU reads as fast as its memory can. More GPUs have more memories: each takes
// its share of the ints. But then each holds a sum, and these must meet, which takes time of its own. (Sums of ints
// only: the sample before this one has the other operations and types.)
//
//   one_gpu      last_block for all elements, on the current GPU   slow: one memory
//   host_adds    last_block on every GPU; the host adds the sums   slow: the host waits for each GPU and its copy
//   all_reduce   last_block on every GPU, then one ncclAllReduce   every GPU has the sum (built where NCCL is found)
//
//   04_all_gpus --n 1073741824                         a size that is worth it
//   04_all_gpus --only host_adds                       one variant
//   04_all_gpus --wrong forgotten_gpu                  a classic mistake
//
//   nvcc -std=c++17 -arch=native -Icommon 04_reduction_variants/all_gpus.cu common/lab.cpp common/write_file.cpp -o all_gpus
// With NCCL: -DLAB_NCCL and -lnccl besides.
#include <numeric>

#include "lab.cuh"
#ifdef LAB_NCCL
#include <nccl.h>

#define NCCL_CHECK(call)                                                                                    \
    do {                                                                                                    \
        const ncclResult_t status = (call);                                                                 \
        if (status != ncclSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(status)); \
            std::exit(lab::system_error);                                                                   \
        }                                                                                                   \
    } while (0)
#endif

constexpr int most_threads = 1024;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;         // in flight before the first is used
constexpr int64_t streamed = 8;  // shares of up to so many times the L2 are read past it
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");

// ---- the answer, slowly ----------------------------------------------------------------------------------------

/// Modulo 2^32, as the GPU adds: any order gives the same sum.
int on_the_cpu(const std::vector<int>& in) { return int(std::accumulate(in.begin(), in.end(), 0u)); }

// ---- what each GPU does ----------------------------------------------------------------------------------------

// What lies on one GPU; made and freed while that GPU is the current one.
struct Share {
    Share(const lab::Sample& sample, const int* host, int64_t size, int64_t blocks)
        : in(std::vector<int>(host, host + size)), partial(blocks), l2(2 * sample.properties().l2CacheSize) {}
    lab::DeviceArray<int> in, partial, sum{1};
    lab::DeviceArray<unsigned> tickets{std::vector<unsigned>(1)};
    lab::DeviceArray<char> l2;  // writing it drives everything else out of that GPU's L2
};

__device__ int fold_warp(int value) {
    for (int offset = warp / 2; offset > 0; offset /= 2) value += __shfl_down_sync(all_lanes, value, offset);
    return value;  // in lane 0
}

__device__ int fold_block(int value) {
    __shared__ int of_warp[warp];
    const int tid = threadIdx.x;
    const int warps = blockDim.x / warp;
    value = fold_warp(value);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have left their values
    if (tid < warp) value = fold_warp(tid < warps ? of_warp[tid] : 0);
    return value;  // in thread 0
}

// A thread's share of in[0 .. n): tiles of 16-byte loads, all of a tile on their way before the first is used.
template <bool streaming>
__device__ int fold_share(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t count = n / 4;
    const int64_t tile = int64_t(loads) * blockDim.x;
    const int tid = threadIdx.x;
    int value = 0;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        int4 pack[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) {
            const int64_t i = first + k * blockDim.x + tid;
            pack[k] = int4{0, 0, 0, 0};
            if (i < count) pack[k] = streaming ? __ldcs(packs + i) : packs[i];
        }
#pragma unroll
        for (int k = 0; k < loads; ++k) value += pack[k].x + pack[k].y + pack[k].z + pack[k].w;
    }
    const int64_t tail = count * 4 + int64_t(blockIdx.x) * blockDim.x + tid;
    return tail < n ? value + in[tail] : value;
}

// The block that draws the last ticket finds all partial sums in memory, and adds them.
template <bool streaming>
__global__ void last_block(const int* in, int* partial, int* sum, unsigned* tickets, int64_t n) {
    __shared__ bool last;
    int value = fold_block(fold_share<streaming>(in, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
        __threadfence();  // the partial sum is in memory before the ticket is drawn
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last) return;
    value = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) value += __ldcg(partial + i);
    value = fold_block(value);
    if (threadIdx.x != 0) return;
    *sum = value;
    *tickets = 0;
}
