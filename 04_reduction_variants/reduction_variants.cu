// 04_reduction_variants - what stands between a first reduction and the memory's speed?
//
// A reduction makes one value of n values; here it adds ints. First the tutorial's two kernels, as
// they are. Then a ladder: each rung differs from the one before in one idea, and removes one
// obstacle. `make diff 04 modulo masked` shows what changes from one rung to the next.
//   modulo         neighbours first, tid % (2 * stride) == 0    slow: the remainder
//   masked         the same threads, chosen by a mask           slow: all warps run every step
//   strided_index  the same pairs, added by the first threads   slow: bank conflicts
//   sequential     halves of the tile, tid < stride             slow: half of the threads never add
//   first_add      each thread adds two elements as it loads    slow: a barrier after every step
//   shuffle        a warp's 32 values stay in its registers     slow: thousands of small blocks
//   grid_stride    a grid that fills the GPU once loops         slow: 4 bytes a load
//   vectorised     16-byte loads, four in flight                slow: a second launch
//   last_block     the block that finishes last adds the rest   slow: store, fence, ticket, load
//   atomic_add     every block adds its sum to one word         no block waits for another
//   one_block      a single block                               for up to some thousand elements
// any_type.cu goes on: other types, and minimum, maximum and product. all_gpus.cu: more GPUs.
// back_to_back.cu: many sums in a row.
//
//   04_reduction_variants --only modulo --only masked --n 1000000    two rungs, another size
//   04_reduction_variants --wrong no_barrier                         a classic mistake
//   04_reduction_variants --sweep --csv sizes.csv                    all sizes, for a plot
//   nvcc -std=c++17 -arch=native -Icommon 04_reduction_variants/reduction_variants.cu
//       common/lab.cpp common/write_file.cpp -o reduction_variants
#include <numeric>
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int tutorial_n = 2048, tutorial_threads = 512;
constexpr int tutorial_blocks = tutorial_n / tutorial_threads;
constexpr int most_threads = 1024;  // of a block
constexpr int warp = 32;            // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
constexpr int pack_size = sizeof(int4) / sizeof(int);  // ints that one load brings
constexpr int loads = 4;                               // in flight before the first is used
static_assert(tutorial_n % tutorial_threads == 0, "the tutorial's kernels do not guard the end");
static_assert(most_threads <= warp * warp, "one warp must be able to add the sums of all warps");

// ---- CPU reference ------------------------------------------------------------------------------

// The sum modulo 2^32, as on the GPU. C++ defines it for unsigned; an int must not overflow.
int cpu_reference(const std::vector<int>& in) {
    unsigned sum = 0;
    for (const int x : in) sum += x;
    return int(sum);
}

// ---- the tutorial's kernels ---------------------------------------------------------------------

// Both leave one partial sum a block, which the host adds up. Nothing guards the end, because n is
// a multiple of 512. The first: step 1 adds 0+1, 2+3, ...; step 2 adds 0+2, 4+6, ..., and so on.
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

// The second: adds the second half of the tile to the first half, then the second quarter to the
// first quarter, and so on. The first threads add, and neighbours use neighbouring words.
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

// ---- the tutorial's whole program ---------------------------------------------------------------

// Both of its programs: the first on 0 .. 2047, the second on 2048 ones. Not in the tutorial: every
// CUDA call is checked.
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
    // The tutorial adds the partial sums up in an int, which drops fractions.
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

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Job {  // what a launch needs
    const lab::Sample& sample;
    int64_t n;
    const int* in;
    int want;               // the CPU's result
    int64_t partial_size;   // of each of the two arrays of partial sums,
    int* partial[2];        // which take turns: a launch reads the one and writes the other
    unsigned* tickets;      // of last_block, 0 between launches
    int* sums;              // atomic_add's two results
    int* result = nullptr;  // where this launch leaves the sum
    int current = 0;        // which of atomic_add's results is next

    int threads() const { return sample.threads(); }
    // As many blocks as fill the GPU, but at most one for each tile of wide loads; or --blocks.
    template <class Kernel>
    int grid_size_for(Kernel kernel) const {
        const int64_t tile = int64_t(threads()) * loads * pack_size;
        const int full = sample.blocks_to_fill(kernel, threads());
        return sample.blocks() ? full : int(std::min<int64_t>(full, (n + tile - 1) / tile));
    }
};

// The kernels from here on take any n. They add ints as unsigned (see cpu_reference).

// The number of this thread in the grid. It has 64 bits, because n may pass 2^31.
__device__ int64_t global_index() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// Element i, or 0 past the end: the last block may have more threads than elements.
__device__ int load(const int* in, int64_t i, int64_t n) { return i < n ? in[i] : 0; }

// A kernel that leaves one sum a block is launched again on these sums, until one is left:
// 10,000,000 -> 19,532 -> 39 -> 1. A block takes `per_block` elements, the last one what is left.
void reduce_until_one(Job& job, void (*kernel)(const int* in, int* out, int64_t n),
                      int64_t per_block) {
    const int* in = job.in;
    int64_t n = job.n;
    int* out = job.partial[0];
    int* other = job.partial[1];
    do {
        const int64_t blocks = (n + per_block - 1) / per_block;  // rounded up
        kernel<<<int(blocks), job.threads()>>>(in, out, n);
        job.result = out;
        in = out;
        n = blocks;
        std::swap(out, other);
    } while (n > 1);
}

// tutorial_modulo with a guarded end.
__global__ void modulo(const int* in, int* out, int64_t n) {
    __shared__ unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, global_index(), n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        if (tid % (2 * stride) == 0) tile[tid] += tile[tid + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_modulo(Job& job) { reduce_until_one(job, modulo, job.threads()); }

// The same threads, without the operator %, for which a GPU has no instruction: 2 * stride is a
// power of two, so the low bits of tid are the remainder. (nvcc 13.0 compiles masked to 64
// instructions for sm_90, and modulo to 88. None of these kernels branches in its step: the `if`
// becomes a condition on each instruction, and all warps run all steps.)
__global__ void masked(const int* in, int* out, int64_t n) {
    __shared__ unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, global_index(), n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        if ((tid & (2 * stride - 1)) == 0) tile[tid] += tile[tid + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_masked(Job& job) { reduce_until_one(job, masked, job.threads()); }

// The same pairs, but the first threads add them, and fewer and fewer warps have a lane that adds.
// Their words are 2 * stride apart, in the same few banks: shared memory serves lanes with the same
// bank one after the other.
__global__ void strided_index(const int* in, int* out, int64_t n) {
    __shared__ unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, global_index(), n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = 1; stride < int(blockDim.x); stride *= 2) {
        const int left = 2 * stride * tid;
        if (left < int(blockDim.x)) tile[left] += tile[left + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_strided_index(Job& job) { reduce_until_one(job, strided_index, job.threads()); }

// tutorial_halves with a guarded end. The first threads add, and neighbours use neighbouring words:
// no bank conflicts.
__global__ void sequential(const int* in, int* out, int64_t n) {
    __shared__ unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, global_index(), n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] += tile[tid + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_sequential(Job& job) { reduce_until_one(job, sequential, job.threads()); }

// Every thread adds two elements as it loads them. No thread idles in the first step, and half as
// many blocks are launched.
__global__ void first_add(const int* in, int* out, int64_t n) {
    __shared__ unsigned tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x * 2 + tid;
    tile[tid] = unsigned(load(in, i, n)) + load(in, i + blockDim.x, n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] += tile[tid + stride];
        __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_first_add(Job& job) { reduce_until_one(job, first_add, 2 * job.threads()); }

// The sum over a warp's lanes, in lane 0. The values travel through registers, without shared
// memory and without a barrier. In each step a lane adds the value of the lane `offset` above it.
// For integers one instruction does it all from compute capability 8.0 on.
__device__ unsigned reduce_warp(unsigned sum) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, sum);
#else
    for (int offset = warp / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
#endif
}

// The sum over a block's threads, in thread 0: one value a warp goes through shared memory, and the
// first warp adds those. Two calls need a barrier between them, because they use the same memory.
__device__ unsigned reduce_block(unsigned sum) {
    __shared__ unsigned of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    sum = reduce_warp(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have stored their sums
    if (tid < warp) sum = reduce_warp(tid < warps ? of_warp[tid] : 0);
    return sum;
}

// One barrier instead of ten.
__global__ void shuffle(const int* in, int* out, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x * 2 + threadIdx.x;
    const unsigned sum = reduce_block(unsigned(load(in, i, n)) + load(in, i + blockDim.x, n));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
void launch_shuffle(Job& job) { reduce_until_one(job, shuffle, 2 * job.threads()); }

// The sum of this thread's share: neighbouring threads read neighbouring ints, then the whole grid
// moves on. (nvcc 13.0 unrolls the loop: for sm_90 it loads 16 elements at a time, then 8, 4
// and 1.)
__device__ unsigned strided_sum(const int* in, int64_t n) {
    const int64_t first = global_index(), step = int64_t(gridDim.x) * blockDim.x;
    unsigned sum = 0;
    for (int64_t i = first; i < n; i += step) sum += in[i];
    return sum;
}

// As many blocks as the GPU holds at once, then one block for their sums. Each block calls
// reduce_block only once, however many elements it adds.
__global__ void grid_stride(const int* in, int* out, int64_t n) {
    const unsigned sum = reduce_block(strided_sum(in, n));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
void launch_grid_stride(Job& job) {
    const int blocks = job.sample.blocks_to_fill(grid_stride, job.threads());
    job.result = job.partial[1];
    grid_stride<<<blocks, job.threads()>>>(job.in, job.partial[0], job.n);
    grid_stride<<<1, job.threads()>>>(job.partial[0], job.result, blocks);
}

__device__ unsigned add_pack(unsigned sum, int4 pack) {
    return sum + pack.x + pack.y + pack.z + pack.w;
}

// The sum of this thread's share, by 16-byte loads. The blocks go through tiles of loads *
// blockDim.x packs; all loads of a full tile are in flight before the first value is used. The
// first threads of the grid add the last n % 4 ints.
__device__ unsigned wide_sum(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t count = n / pack_size, tile = int64_t(loads) * blockDim.x;
    const int tid = threadIdx.x;
    unsigned sum = 0;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            int4 pack[loads];
#pragma unroll
            for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * blockDim.x + tid];
#pragma unroll
            for (int k = 0; k < loads; ++k) sum = add_pack(sum, pack[k]);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x) sum = add_pack(sum, packs[i]);
        }
    }
    const int64_t tail = count * pack_size + global_index();
    return tail < n ? sum + in[tail] : sum;
}

// 16-byte loads instead of 4-byte ones.
__global__ void vectorised(const int* in, int* out, int64_t n) {
    const unsigned sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
void launch_vectorised(Job& job) {
    const int blocks = job.sample.blocks_to_fill(vectorised, job.threads());
    job.result = job.partial[1];
    vectorised<<<blocks, job.threads()>>>(job.in, job.partial[0], job.n);
    vectorised<<<1, job.threads()>>>(job.partial[0], job.result, blocks);
}

// One launch: each block stores its sum and draws a ticket. The block that draws the last one finds
// all sums in memory, and adds them (CUDA C++ Programming Guide, "Memory Fence Functions"). Both
// sides need a fence. NVIDIA's threadFenceReduction sample has only the first one, and works
// because no L1 cache has old copies of the sums. CUDA's memory model also requires the second one.
__global__ void last_block(const int* in, int* partial, int* result, unsigned* tickets, int64_t n) {
    __shared__ bool is_last;
    unsigned sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // release: the sum is in memory before the ticket is drawn
        is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();  // acquire: the last block reads what the other blocks stored
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!is_last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
    sum = reduce_block(sum);
    if (threadIdx.x != 0) return;
    *result = sum;
    *tickets = 0;  // for the next launch
}
void launch_last_block(Job& job) {
    const int blocks = job.grid_size_for(last_block);
    job.result = job.partial[1];
    last_block<<<blocks, job.threads()>>>(job.in, job.partial[0], job.result, job.tickets, job.n);
}

// No fence and no ticket: no block uses what its atomic returns, and at the end of the kernel the
// sum is complete. A block cannot clear its word, because other blocks may already have added to
// it. So two words take turns, and each launch clears the word of the next one.
__global__ void atomic_add(const int* in, int* result, int* next, int64_t n) {
    const unsigned sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x != 0) return;
    atomicAdd(result, sum);
    if (blockIdx.x == 0) *next = 0;
}
void launch_atomic_add(Job& job) {
    const int blocks = job.grid_size_for(atomic_add);
    job.result = job.sums + job.current;
    job.current = 1 - job.current;
    atomic_add<<<blocks, job.threads()>>>(job.in, job.result, job.sums + job.current, job.n);
}

// For a few thousand elements one block is enough: no partial sums, no atomic, and few instructions
// to fetch from memory. It has no more warps than there are packs for.
__global__ void one_block(const int* in, int* result, int64_t n) {
    const int64_t count = n / pack_size, tail = count * pack_size + threadIdx.x;
    unsigned sum = tail < n ? in[tail] : 0;
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        sum = add_pack(sum, reinterpret_cast<const int4*>(in)[i]);
    sum = reduce_block(sum);
    if (threadIdx.x == 0) *result = sum;
}
void launch_one_block(Job& job) {
    const int64_t warps = (job.n / pack_size + warp - 1) / warp;
    const int threads = warp * int(std::clamp<int64_t>(warps, 1, most_threads / warp));
    job.result = job.partial[0];
    one_block<<<1, threads>>>(job.in, job.result, job.n);
}

// NVIDIA's library, in its two modes: adding in a fixed order, or in any order by one kernel whose
// blocks add to one word. The second one allocates its memory from the device's pool. (NVIDIA's
// notes name CCCL 3.1 for it; it is used here from CUB 3.2 on.)
#ifdef CUB_VERSION
void launch_cub(Job& job) {
    size_t bytes = job.partial_size * sizeof(int);  // of partial[1], where it works
    job.result = job.partial[0];
    CHECK(cub::DeviceReduce::Sum(job.partial[1], bytes, job.in, job.result, job.n));
}
#if CUB_VERSION >= 300200
void launch_cub_any_order(Job& job) {
    const auto any = cuda::execution::require(cuda::execution::determinism::not_guaranteed);
    job.result = job.partial[0];
    CHECK(cub::DeviceReduce::Sum(job.in, job.result, job.n, any));
}
#endif
#endif

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// sequential without the barrier in its loop: a thread adds what its partner has not written yet.
// (The tile is volatile, so that the compiler keeps no sum in a register.)
__global__ void no_barrier(const int* in, int* out, int64_t n) {
    __shared__ volatile unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, global_index(), n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = tile[tid] + tile[tid + stride];
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_no_barrier(Job& job) { reduce_until_one(job, no_barrier, job.threads()); }

// No barrier for the last 64 values, "because a warp runs in lockstep": true before Volta, wrong
// since. A __syncwarp() must separate reading from writing.
__global__ void warp_in_step(const int* in, int* out, int64_t n) {
    __shared__ volatile unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = load(in, global_index(), n);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = tile[tid] + tile[tid + stride];
        if (stride > warp) __syncthreads();  // this step's sums are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
void launch_warp_in_step(Job& job) { reduce_until_one(job, warp_in_step, job.threads()); }

// The right kernel with n / threads blocks, not rounded up: no thread reads the elements after the
// last full tile.
void launch_dropped_tail(Job& job) {
    const int blocks = int(std::max<int64_t>(1, job.n / job.threads()));
    sequential<<<blocks, job.threads()>>>(job.in, job.partial[1], job.n);
    Job rest = job;
    rest.in = job.partial[1];
    rest.n = blocks;
    launch_sequential(rest);
    job.result = rest.result;
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"modulo", "tutorial_modulo with a guarded end", launch_modulo, 2},
    {"masked", "the same threads, chosen by a mask", launch_masked, 2},
    {"strided_index", "the same pairs, added by the first threads", launch_strided_index, 2},
    {"sequential", "tutorial_halves with a guarded end", launch_sequential, 2},
    {"first_add", "two elements a thread while loading", launch_first_add},
    {"shuffle", "warp shuffles and one barrier", launch_shuffle, warp},
    {"grid_stride", "a grid that fills the GPU once and loops", launch_grid_stride, warp},
    {"vectorised", "16-byte loads, four in flight", launch_vectorised, warp},
    {"last_block", "one launch: the last block adds the partial sums", launch_last_block, warp},
    {"atomic_add", "every block adds to one word", launch_atomic_add, warp},
    {"one_block", "one block, for some thousand elements", launch_one_block},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_barrier", "sequential without the barrier in its loop", launch_no_barrier, 2},
    {"warp_in_step", "the last 64 values without __syncwarp", launch_warp_in_step, 2},
    {"dropped_tail", "n / threads blocks: the tail is never read", launch_dropped_tail, 2},
};

void prepare(Job& job) {
    for (int* array : job.partial)
        CHECK(cudaMemsetAsync(array, lab::poison_byte, job.partial_size * sizeof *array));
}

void check(Job& job, lab::Row& row) {
    int got = 0;
    CHECK(cudaMemcpy(&got, job.result, sizeof got, cudaMemcpyDeviceToHost));
    row.result = lab::with_commas(got);
    row.bytes = double(job.n) * sizeof(int);
    row.wrong = got == job.want ? "" : lab::wanted(got, job.want);
}

#ifdef CUB_VERSION
void library_rows(lab::Sample& sample, Job& job) {
    const std::string version = lab::library_version(CUB_VERSION);
    const bool counts_in_ints = CUB_VERSION < 300000;
    if (!counts_in_ints || job.n <= std::numeric_limits<int>::max())
        sample.library_row("CUB", version + " run_to_run", job, launch_cub, prepare, check);
#if CUB_VERSION >= 300200
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;  // the pool keeps what it has, and need not fetch it again
    CHECK(cudaDeviceGetDefaultMemPool(&pool, sample.device()));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    sample.library_row("CUB any order", version + " not_guaranteed", job, launch_cub_any_order,
                       prepare, check);
#endif
}
#endif

// One table: the sum of n ints, which may have any bits.
void run_size(lab::Sample& sample, int64_t n) {
    sample.set_n(n);
    std::vector<int> data(n);
    for (int64_t i = 0; i < n; ++i) data[i] = int(lab::random_bits(sample.seed(), i));
    const int64_t size = std::max<int64_t>({n / sample.threads() + 1, sample.blocks(), 1 << 16});
    const lab::DeviceArray<int> in(data), partial(size), other(size), sums(std::vector<int>(2));
    const lab::DeviceArray<unsigned> tickets(std::vector<unsigned>(1));
    Job job{
        sample,        n,         in.get(), cpu_reference(data), size, {partial.get(), other.get()},
        tickets.get(), sums.get()};

    sample.new_table(lab::text("sum of %s ints (%s)", lab::with_commas(n).c_str(),
                               lab::bytes_text(double(n) * sizeof(int)).c_str()));
    sample.limit_row(lab::Limit::read, n * sizeof(int));
#ifdef CUB_VERSION
    library_rows(sample, job);
#endif
    sample.rows(job, variants, prepare, check);
    sample.rows(job, twins, prepare, check);
}

int main(int argc, char** argv) {
    lab::Sample sample("04_reduction_variants",
                       "What stands between a first reduction and the memory's speed?");
    bool sweep = false;
    sample.defaults(lab::gpu ? 10'000'000 : 100'003, 0, 512, "elements",
                    "blocks of the grids that loop (default: fill the GPU once)");
    sample.option("--sweep", sweep,
                  "all sizes from 2^10 elements to 2^28, or to --n if that is more");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);

    std::vector<int64_t> sizes;
    const int64_t largest = std::max<int64_t>(sample.n(), lab::gpu ? 1 << 28 : 1 << 16);
    for (int64_t n = 1 << 10; n <= largest; n *= 4) sizes.push_back(n);
    if (!sweep) sizes = {sample.n()};
    sample.set_n(sizes.back());
    const double of_block = 2 * sizeof(int);  // its partial sum, in two arrays
    sample.require_memory((sample.shows_limit() ? 8 : 4) + of_block / sample.threads(),
                          of_block * std::max(sample.blocks(), 1 << 16));
    sample.require_blocks();

    if (sample.wants("whole_program")) sample.program(whole_program);
    for (const int64_t n : sizes) run_size(sample, n);
    return sample.verdict();
}
