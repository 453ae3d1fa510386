// 03_dot_shared - what does shared memory buy a dot product, and what does float cost it?
//
// Each thread multiplies and adds its share of two arrays. Then the threads' sums must meet.
//   tutorial      a tree in shared memory, then the host     slow: the sums travel to the host
//   no_shared     an atomic add for each thread              slow: all queue at one address
//   atomics       the tutorial's tree, an atomic a block     slow: the result needs a reset
//   last_block    the last block to finish adds the rest     slow: 64 small blocks, an idle GPU
//   shuffle       fills the GPU, adds in registers           slow: one load for every 4 bytes
//   vectorised    16-byte loads, no ticket and no reset      slow for small n: a barrier, long code
//   warp_atomics  an atomic add a warp, no barrier           slow for large n: thousands of adds
// A float keeps 24 bits, so each operation may err by 2^-24 of its result. The table shows each
// variant's error, and the bound that follows from its longest chain of roundings. exact_dot.cu
// goes on: what does it cost to have no rounding error at all?
//
//   03_dot_shared --only tutorial --blocks 1 --threads 1    one thread, a larger error
//   03_dot_shared --wrong no_barrier                        a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 03_dot_shared/dot_shared.cu
//       common/lab.cpp common/write_file.cpp -lcublas -o dot_shared
#include "lab.cuh"
#if defined(__NVCC__) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

constexpr int tutorial_n = 33 * 1024, tutorial_blocks = 64, tutorial_threads = 64;
constexpr int most_threads = 1024;  // of a block
constexpr int warp = 32;            // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
static_assert(most_threads <= warp * warp, "one warp must be able to add the sums of all warps");
static_assert(tutorial_n <= 1 << 24, "float must hold every whole number up to tutorial_n exactly");

// ---- CPU reference ------------------------------------------------------------------------------

// The table's elements are whole numbers, and so is their dot product: an integer holds it exactly.
// (With more than 2^35 elements the sum may not fit into 64 bits.)
using Int128 = __int128;
Int128 cpu_reference(const std::vector<float>& a, const std::vector<float>& b) {
    Int128 dot = 0;
    for (size_t i = 0; i < a.size(); ++i) dot += int64_t(a[i]) * int64_t(b[i]);
    return dot;
}

// ---- the tutorial's kernel ----------------------------------------------------------------------

// Each thread adds up its share and leaves the sum in shared memory, of which each block has its
// own. A tree adds those: half of the threads add the sums of the other half, then a quarter, and
// so on, until cache[0] is the block's sum.
__global__ void tutorial(const float* a, const float* b, float* c, int64_t n) {  // n was a macro
    __shared__ float cache[most_threads];                        // was 64; --threads may be more
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;  // was int; n may pass 2^31
    const int tid = threadIdx.x;
    float sum = 0;
    while (i < n) {  // a grid-stride loop: neighbouring threads read neighbours (coalesced)
        sum += a[i] * b[i];
        i += int64_t(gridDim.x) * blockDim.x;
    }
    cache[tid] = sum;
    __syncthreads();  // all sums of the block are in the cache
    for (int stride = blockDim.x / 2; stride != 0; stride /= 2) {
        if (tid < stride) cache[tid] += cache[tid + stride];
        __syncthreads();  // this step is done; after the last one any thread may read cache[0]
    }
    if (tid == min(2, int(blockDim.x) - 1)) c[blockIdx.x] = cache[0];  // was 2; a block may lack it
}

// ---- the tutorial's whole program ---------------------------------------------------------------

bool whole_program() {
    // The tutorial has a and b on the stack, 270 KB, and c from new[]. A vector frees itself.
    std::vector<float> a(tutorial_n), b(tutorial_n), c(tutorial_blocks);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, tutorial_n * sizeof(float)));
    CHECK(cudaMalloc(&d_b, tutorial_n * sizeof(float)));
    CHECK(cudaMalloc(&d_c, tutorial_blocks * sizeof(float)));

    // With these data the dot product is the tutorial's f(n) = 1 + 2*2 + 3*3 + ... + (n-1)*(n-1),
    // the sum of the squares of all indices. In closed form it is (n-1) * n * (2n-1) / 6.
    // But a equals b, and each element is its index. A kernel that reads one array twice, or no
    // array, would also be right. So the table's data are random, and different in a and b.
    for (int i = 0; i < tutorial_n; ++i) a[i] = b[i] = float(i);
    CHECK(cudaMemcpy(d_a, a.data(), tutorial_n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), tutorial_n * sizeof(float), cudaMemcpyHostToDevice));
    tutorial<<<tutorial_blocks, tutorial_threads>>>(d_a, d_b, d_c, tutorial_n);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    CHECK(cudaMemcpy(c.data(), d_c, tutorial_blocks * sizeof(float), cudaMemcpyDeviceToHost));

    double device = 0, host = 0;
    for (float of_block : c) device += of_block;
    for (int i = 0; i < tutorial_n; ++i) host += double(i) * i;  // an int overflows at 46,341
    std::printf("dot product on the device  %.0f\n", device);
    std::printf("dot product on the host    %.0f\n", host);
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return std::fabs(device - host) <= 16.0 / (1 << 24) * host;  // 15 roundings in float
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

// Returns how often float rounds on a block's longest way. The definition is below the rungs.
int64_t block_roundings(int64_t values, int64_t blocks, int64_t threads);

struct Job {  // what a launch needs, and what it leaves
    const lab::Sample& sample;
    int64_t n;
    const float *a, *b;
    lab::DeviceArray<float>& c;  // the blocks' sums
    float* sums[2];              // the results of the last two rungs, which take turns
    Int128 want;                 // the CPU's result
    int current = 0;             // which of the two sums is next

    // A launch leaves its result in the device's memory, or in host_result if `result` is null. It
    // also leaves how often float may round a product on its way there; the bound depends on that.
    const float* result = nullptr;
    double host_result = 0;
    int64_t roundings = 0;

    int blocks() const { return sample.blocks() ? sample.blocks() : tutorial_blocks; }
    int threads() const { return sample.threads(); }
};

// The tutorial's end, which is also timed. The copy waits for the kernel.
void add_on_host(Job& job) {
    std::vector<float> c(job.blocks());
    CHECK(cudaMemcpy(c.data(), job.c.get(), c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    job.result = nullptr;
    job.host_result = 0;
    for (float of_block : c) job.host_result += of_block;
    job.roundings = block_roundings(job.n, job.blocks(), job.threads());
    job.roundings += 1 + job.blocks() / (1 << 29);  // 2^29 in double err as much as one
}

void launch_tutorial(Job& job) {
    tutorial<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    add_on_host(job);
}

// The tutorial's grid-stride loop: the dot product of this thread's share.
__device__ float strided_dot(const float* a, const float* b, int64_t n) {
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int64_t i = first; i < n; i += int64_t(gridDim.x) * blockDim.x) sum += a[i] * b[i];
    return sum;
}

// Without shared memory: the sums of all threads meet at one address.
__global__ void no_shared(const float* a, const float* b, float* c, int64_t n) {
    atomicAdd(c, strided_dot(a, b, n));
}
void launch_no_shared(Job& job) {
    job.result = job.c.get();
    CHECK(cudaMemsetAsync(job.c.get(), 0, sizeof(float)));
    no_shared<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    const int64_t all_threads = int64_t(job.blocks()) * job.threads();
    job.roundings = block_roundings(job.n, job.blocks(), job.threads()) + all_threads;
}

// The tutorial's tree: the sum over the block's threads, which all of them get.
__device__ float reduce_tree(float* cache, float sum) {
    const unsigned tid = threadIdx.x;
    cache[tid] = sum;
    __syncthreads();  // all sums of the block are in the cache
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) cache[tid] += cache[tid + stride];
        __syncthreads();  // this step is done; after the last one all threads may read cache[0]
    }
    return cache[0];
}

// The sums of the blocks meet at one address.
__global__ void atomics(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    const float sum = reduce_tree(cache, strided_dot(a, b, n));
    if (threadIdx.x == 0) atomicAdd(c, sum);
}
void launch_atomics(Job& job) {
    job.result = job.c.get();
    CHECK(cudaMemsetAsync(job.c.get(), 0, sizeof(float)));
    atomics<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    job.roundings = block_roundings(job.n, job.blocks(), job.threads()) + job.blocks();
}

// Is this block the last one to come here? Thread 0 draws a ticket, the number of blocks that came
// before. All threads of the block get the answer, and if it is true, they can read what thread 0
// of each block has stored before. That takes two fences, one on each side of the ticket. (NVIDIA's
// sample threadFenceReduction has only the first, and plain loads. It works on today's GPUs: no L1
// cache can hold an old copy of a sum that nobody has read before in this launch. CUDA's memory
// model does not promise that; it asks the reader for a fence of its own.)
__device__ unsigned tickets;  // the last block makes it 0 again
__device__ bool is_last_block() {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();  // release: a thread that sees this ticket can see the block's sum
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();  // acquire: from here on the other blocks' sums can be seen
    }
    __syncthreads();  // all threads of the block know whether it is the last
    return last;
}

// This thread's share of the blocks' sums. The last block adds them all.
__device__ float strided_sum(const float* c) {
    float sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += c[i];
    return sum;
}

// One launch, and nothing to reset. With the tutorial's n, atomics is faster: its blocks do not
// wait. Here the block's sum, its ticket and the last block's loads each wait for the one before.
__global__ void last_block(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    const float sum = reduce_tree(cache, strided_dot(a, b, n));
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const float total = reduce_tree(cache, strided_sum(c));
    if (threadIdx.x == 0) c[0] = total;  // in place of the sum of block 0
}
void launch_last_block(Job& job) {
    job.result = job.c.get();
    last_block<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    job.roundings = block_roundings(job.n, job.blocks(), job.threads()) +
                    block_roundings(job.blocks(), 1, job.threads());
}

// The sum over a warp's lanes, in lane 0: in each step a lane adds the value of the lane `offset`
// above it. The values travel through registers, without shared memory and without a barrier.
__device__ float reduce_warp(float sum) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}

// The sum over a block's threads, in thread 0: one value a warp goes through shared memory, and the
// first warp adds those.
__device__ float reduce_block(float sum) {
    __shared__ float of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    sum = reduce_warp(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have stored their sums
    if (tid < warp) sum = reduce_warp(tid < warps ? of_warp[tid] : 0);
    return sum;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many blocks as fill the GPU, but no block without work. --blocks replaces this number.
int grid_size(const Job& job, int to_fill, int elements_per_block) {
    if (job.sample.blocks()) return job.sample.blocks();
    return int(std::min<int64_t>(to_fill, ceil_div(job.n, elements_per_block)));
}

// last_block on a grid that fills the GPU, with one barrier in a block's sum instead of seven.
__global__ void shuffle(const float* a, const float* b, float* c, int64_t n) {
    const float sum = reduce_block(strided_dot(a, b, n));
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const float total = reduce_block(strided_sum(c));
    if (threadIdx.x == 0) c[0] = total;
}
void launch_shuffle(Job& job) {
    const int threads = job.threads();
    const int blocks = grid_size(job, job.sample.blocks_to_fill(shuffle, threads), threads);
    job.result = job.c.get();
    shuffle<<<blocks, threads>>>(job.a, job.b, job.c.get(), job.n);
    job.roundings = block_roundings(job.n, blocks, threads) + block_roundings(blocks, 1, threads);
}

// The four sums of a thread, one for each float of a 16-byte load.
__device__ void add_products(float4& sum, const float4& p, const float4& q) {
    sum.x += p.x * q.x;
    sum.y += p.y * q.y;
    sum.z += p.z * q.z;
    sum.w += p.w * q.w;
}

// The dot product of this thread's share, with 16-byte loads. The block works on tiles of
// in_flight * blockDim.x packs (float4) of each array. A thread starts all loads of a whole tile
// before it uses the first. The first threads of the grid add the last n % 4 products.
constexpr int pack = 4, in_flight = 4;
static_assert(sizeof(float4) == pack * sizeof(float), "one load must bring `pack` floats");
__device__ float wide_dot(const float* a, const float* b, int64_t n) {
    const float4* packs_a = reinterpret_cast<const float4*>(a);
    const float4* packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / pack, tile = int64_t(in_flight) * blockDim.x, tid = threadIdx.x;
    const int64_t tail = pack * packs + int64_t(blockIdx.x) * blockDim.x + tid;
    float4 sum = {tail < n ? a[tail] * b[tail] : 0, 0, 0, 0};
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[in_flight], q[in_flight];
            for (int k = 0; k < in_flight; ++k) {
                const int64_t i = first + k * blockDim.x + tid;
                p[k] = packs_a[i];
                q[k] = packs_b[i];
            }
            for (int k = 0; k < in_flight; ++k) add_products(sum, p[k], q[k]);
        } else {
            for (int64_t i = first + tid; i < packs; i += blockDim.x)
                add_products(sum, packs_a[i], packs_b[i]);
        }
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// Large blocks, so that few sums are left to add; the launch bounds leave each thread registers for
// a tile. No barrier spans the grid of an ordinary launch, so a kernel cannot clear the sum that it
// adds to. It clears the next launch's instead: two sums take turns. The order of the additions,
// and with it the last digits of the result, may vary from run to run.
constexpr int large_block = 512;
__global__ void __launch_bounds__(large_block, 2)
    vectorised(const float* a, const float* b, float* total, float* next, int64_t n) {
    const float sum = reduce_block(wide_dot(a, b, n));
    if (threadIdx.x != 0) return;
    atomicAdd(total, sum);
    if (blockIdx.x == 0) *next = 0;
}
void launch_vectorised(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(vectorised, large_block);
    const int blocks = grid_size(job, to_fill, pack * in_flight * large_block);
    float *total = job.sums[job.current], *next = job.sums[1 - job.current];
    job.result = total;
    job.current = 1 - job.current;
    vectorised<<<blocks, large_block>>>(job.a, job.b, total, next, job.n);
    // Up to in_flight more than in an even share, because of whole tiles; 2 for the four sums.
    job.roundings = block_roundings(job.n, int64_t(pack) * blocks, large_block);
    job.roundings += in_flight + 2 + blocks;
}

// For small arrays: no barrier, and little code, because code also comes from memory. Small blocks,
// so that a small array reaches many SMs.
constexpr int small_block = 256;
__global__ void warp_atomics(const float* a, const float* b, float* total, float* next, int64_t n) {
    const float4* packs_a = reinterpret_cast<const float4*>(a);
    const float4* packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / pack, step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t tail = pack * packs + first;
    if (first == 0) *next = 0;
    float sum = tail < n ? a[tail] * b[tail] : 0;
#pragma unroll 1
    for (int64_t i = first; i < packs; i += step) {
        const float4 p = packs_a[i], q = packs_b[i];
        sum += (p.x * q.x + p.y * q.y) + (p.z * q.z + p.w * q.w);
    }
    sum = reduce_warp(sum);
    if (threadIdx.x % warp == 0) atomicAdd(total, sum);
}
void launch_warp_atomics(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(warp_atomics, small_block);
    const int blocks = grid_size(job, to_fill, pack * small_block);
    float *total = job.sums[job.current], *next = job.sums[1 - job.current];
    job.result = total;
    job.current = 1 - job.current;
    warp_atomics<<<blocks, small_block>>>(job.a, job.b, total, next, job.n);
    const int64_t all_warps = int64_t(blocks) * small_block / warp;
    job.roundings = block_roundings(job.n, int64_t(pack) * blocks, small_block) + 3 + all_warps;
}

// ---- what float costs: the bound of the error ---------------------------------------------------

// Returns how often float rounds on the longest way from one of `values` products to the sum of a
// block. The product rounds once, and so does each addition to something other than 0. A thread has
// one addition less than products, and a tree has one for each step. The work is shared by `blocks`
// blocks of `threads` threads, a power of 2.
int64_t block_roundings(int64_t values, int64_t blocks, int64_t threads) {
    return ceil_div(values, blocks * threads) + std::ilogb(threads);
}

// A rounding multiplies by 1 + d with |d| <= u = 2^-24, and k of them by less than e^(ku). All
// products are positive, so the relative error of the result is at most e^(ku) - 1. (No product is
// rounded more than n times, in any order.)
double error_bound(const Job& job) {
    return std::expm1(0x1p-24 * double(std::min(job.roundings, job.n)));
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// The tutorial's tree without the barrier in the loop: a thread adds what its partner has not
// written yet.
__global__ void no_barrier(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    cache[threadIdx.x] = strided_dot(a, b, n);
    __syncthreads();  // all sums of the block are in the cache
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        if (threadIdx.x < stride) cache[threadIdx.x] += cache[threadIdx.x + stride];
    if (threadIdx.x == 2) c[blockIdx.x] = cache[0];
}
void launch_no_barrier(Job& job) {
    no_barrier<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    add_on_host(job);
}

// Thread 2 writes for the block, and writes its own element. The block's sum is in cache[0],
// whichever thread writes it.
__global__ void own_element(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    reduce_tree(cache, strided_dot(a, b, n));
    if (threadIdx.x == 2) c[blockIdx.x] = cache[threadIdx.x];
}
void launch_own_element(Job& job) {
    own_element<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    add_on_host(job);
}

// Three quarters of --threads: 48 halve to 24, 12, 6, 3 and 1, and of those three the last is lost.
void launch_odd_halving(Job& job) {
    tutorial<<<job.blocks(), job.threads() / 4 * 3>>>(job.a, job.b, job.c.get(), job.n);
    add_on_host(job);
}

// n - 1 instead of n: the last element is left out. The error is small, but far above the bound.
void launch_no_last(Job& job) {
    tutorial<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n - 1);
    add_on_host(job);
}

// The right kernel adds to what the word held before.
void launch_no_reset(Job& job) {
    job.result = job.c.get();
    atomics<<<job.blocks(), job.threads()>>>(job.a, job.b, job.c.get(), job.n);
    job.roundings = block_roundings(job.n, job.blocks(), job.threads()) + job.blocks();
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"tutorial", "shared memory, then the host", launch_tutorial},
    {"no_shared", "an atomicAdd for every thread", launch_no_shared},
    {"atomics", "shared memory, then an atomicAdd a block", launch_atomics},
    {"last_block", "shared memory, then the last block", launch_last_block},
    {"shuffle", "a grid that fills the GPU, warp shuffles", launch_shuffle, lab::whole_warps},
    {"vectorised", "16-byte loads, four pairs in flight; a launch clears the next one's sum",
     launch_vectorised},
    {"warp_atomics", "one atomic a warp, no barrier", launch_warp_atomics},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_barrier", "the tree without its barrier", launch_no_barrier, 4},
    {"own_element", "thread 2 writes its own element", launch_own_element, 4},
    {"odd_halving", "3/4 of --threads, which do not halve evenly", launch_odd_halving, 4},
    {"no_last", "stops one element early", launch_no_last},
    {"no_reset", "adds to what was there before", launch_no_reset},
};

// Does the variant give the same bits in each run on the same grid? Not if atomics add the sums,
// because they do so in any order.
const char* same_bits(const std::string& variant) {
    for (const char* in_any_order : {"no_shared", "atomics", "vectorised", "warp_atomics"})
        if (variant == in_any_order) return "no";
    return variant == "cublasSdot" ? "-" : "yes";  // the library does not say
}

// Poisons what the launch writes: the blocks' sums, and the next launch's sum, which it must clear.
void prepare(Job& job) {
    job.c.poison();
    CHECK(cudaMemsetAsync(job.sums[1 - job.current], lab::poison_byte, sizeof(float)));
}

// After very many roundings the bound is so large that it also includes the poison.
void check(Job& job, lab::Row& row) {
    float sum = 0;
    if (job.result) CHECK(cudaMemcpy(&sum, job.result, sizeof sum, cudaMemcpyDeviceToHost));
    const double got = job.result ? sum : job.host_result;
    const double off = double(std::fabs(got - (long double)job.want));
    const double error = off / double(std::max<Int128>(1, job.want));
    const double bound = error_bound(job);
    const bool right = error <= bound && got < lab::poisoned<float>() / 2;
    row.result = lab::text("%.15g", got);
    row.bytes = 2.0 * sizeof(float) * double(job.n);
    row.wrong = right ? "" : lab::wanted(float(got), float(job.want));
    row.columns = {lab::text("%.1e", error), lab::text("%.1e", bound), same_bits(row.variant)};
}

#if CUBLAS_VERSION >= 120000  // the first that counts in 64 bits
void check_cublas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
    CHECK(status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown);
}
cublasHandle_t cublas;
void launch_cublas(Job& job) {  // it does not say how it adds: it may err as the tutorial may
    job.result = job.c.get();
    job.roundings = block_roundings(job.n, job.blocks(), job.threads());
    if (job.n > INT32_MAX)
        check_cublas(cublasSdot_64(cublas, job.n, job.a, 1, job.b, 1, job.c.get()));
    else
        check_cublas(cublasSdot(cublas, int(job.n), job.a, 1, job.b, 1, job.c.get()));
}
void cublas_row(lab::Sample& sample, Job& job) {
    if (!sample.wants_all()) return;
    const int major = CUBLAS_VER_MAJOR, minor = CUBLAS_VER_MINOR, patch = CUBLAS_VER_PATCH;
    check_cublas(cublasCreate(&cublas));
    check_cublas(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE));  // no wait for a result
    sample.library_row("cublasSdot", lab::text("%d.%d.%d", major, minor, patch), job, launch_cublas,
                       prepare, check);
    check_cublas(cublasDestroy(cublas));
}
#endif

// Random whole numbers in the range of the tutorial's, for array 0 or array 1.
std::vector<float> random_numbers(int64_t n, uint64_t seed, int array) {
    std::vector<float> numbers(n);
    for (int64_t i = 0; i < n; ++i)
        numbers[i] = float(lab::random_bits(seed, 2 * i + array) % tutorial_n);
    return numbers;
}

int main(int argc, char** argv) {
    lab::Sample sample("03_dot_shared",
                       "What does shared memory buy a dot product, and what does float cost it?");
    sample.defaults(tutorial_n, 0, tutorial_threads, "elements of each array",
                    "blocks (default: the tutorial's 64; from shuffle on as many as fill the GPU "
                    "once, at most)");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(float),
                          sizeof(float) * (sample.blocks() + 1e6));
    if (sample.wants("whole_program")) sample.program(whole_program);

    const std::vector<float> a = random_numbers(n, sample.seed(), 0);
    const std::vector<float> b = random_numbers(n, sample.seed(), 1);
    const lab::DeviceArray<float> d_a(a), d_b(b);
    lab::DeviceArray<float> c(std::max(sample.blocks(), 1 << 16));  // no GPU holds more at once
    const int apart = 64;  // floats: in one cache line, clearing a sum would delay the other's adds
    const lab::DeviceArray<float> sums(std::vector<float>(2 * apart));
    float *first = sums.get(), *second = first + apart;
    Job job{sample, n, d_a.get(), d_b.get(), c, {first, second}, cpu_reference(a, b)};

    sample.new_table(lab::text("dot product of 2 x %s floats; the exact result is %.15g",
                               lab::with_commas(n).c_str(), double(job.want)));
    sample.columns({"error", "bound", "same bits"});
    sample.limit_row(lab::Limit::read, 2 * sizeof(float) * n);
#if CUBLAS_VERSION >= 120000
    cublas_row(sample, job);
#endif
    sample.rows(job, variants, prepare, check);
    sample.rows(job, twins, prepare, check);
    return sample.verdict();
}
