// 03_dot_shared - what does shared memory buy a dot product, and what does float cost it?
//
// Every thread multiplies and adds its share of two arrays; then the threads' sums must meet.
//   tutorial      a tree in shared memory, then the host         slow: the blocks' sums travel to the host
//   no_shared     an atomic add for every thread                 slow: thousands of adds queue at one address
//   atomics       the tutorial's tree, an atomic add a block     slow: somebody must zero the result first
//   last_block    the block that finishes last adds the rest     slow: 64 small blocks leave the GPU idle
//   shuffle       a grid that fills the GPU, sums in registers   slow: 4-byte loads, four times as many
//   vectorised    16-byte loads, no ticket and no reset          slow: a barrier and much code, if n is small
//   warp_atomics  an atomic add a warp, no barrier               slow: thousands of adds again, if n is large
// A float keeps 24 bits, so every operation may err by a 2^-24th of its result. The table shows each variant's
// error, and the bound that its longest chain of roundings promises. exact_dot.cu goes on from there.
//   03_dot_shared --wrong no_barrier   a classic mistake; or --only tutorial --blocks 1 --threads 1: a larger error
//   nvcc -std=c++17 -arch=native -Icommon 03_dot_shared/dot_shared.cu common/lab.cpp common/write_file.cpp -o dot_shared -lcublas
#include <numeric>
#include "lab.cuh"
#if defined(__NVCC__) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

constexpr int ramp = 33 * 1024;     // the tutorial's elements, a[i] = b[i] = i, are below this; so are the table's
constexpr int tutorial_blocks = 64, tutorial_threads = 64, most_threads = 1024, warp = 32;
constexpr int fast_threads = 512;   // vectorised's blocks: large ones, so that few sums are left over
constexpr int small_threads = 256;  // warp_atomics' blocks: small ones, so that small arrays reach many SMs
constexpr int pack = 4;             // floats of a 16-byte load
constexpr int in_flight = 4;        // such loads of each array on their way before the first is used
constexpr int apart = 64;           // floats between two sums that must not share a cache line
constexpr unsigned all_lanes = 0xffffffff;
static_assert(most_threads <= warp * warp, "one warp must be able to fold the sums of all warps of a block");
static_assert(ramp <= 1 << 24, "every element must be a whole number that float keeps exactly");
__extension__ typedef __int128 Wide;  // the sum of 2^35 squares does not fit into int64_t

// Roundings in float that a product goes through: its own, and one for each addition to something that is not 0.
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t in_tree(int threads) { return std::ilogb(threads); }  // the tree's steps: threads is a power of 2
int64_t in_last(int64_t blocks, int threads) { return ceil_div(blocks, threads) + in_tree(threads); }

struct Result {  // what a launch returns
    int64_t roundings;       // of its longest chain
    const float* on_device;  // where the result is, or
    double on_host = 0;      // what it is, if it is nowhere on the device
};
struct Job {  // what a launch needs
    lab::Sample& sample;
    int64_t n;
    int blocks, threads;  // the tutorial's 64 and 64, or --blocks and --threads
    const float *a, *b;
    float* c;                               // the blocks' sums; c[0] may become the result
    float *sum = nullptr, *next = nullptr;  // the last two rungs' sums, which take turns
    template <class Kernel> int fill(Kernel kernel, int block_size, int elements = 1) const {
        const int most = sample.blocks_to_fill(kernel, block_size);  // as many as fill the GPU once
        return sample.blocks() ? most : int(std::min<int64_t>(most, ceil_div(n, elements * block_size)));
    }
    int64_t in_block(int64_t grid, int block) const { return ceil_div(n, grid * block) + in_tree(block); }
    // The tutorial's end, timed, too; the copy waits for the kernel. 2^29 roundings in double weigh as one float's.
    Result add_on_host() const {
        std::vector<float> of_block(blocks);
        CHECK(cudaMemcpy(of_block.data(), c, blocks * sizeof(float), cudaMemcpyDeviceToHost));
        const double sum = std::accumulate(of_block.begin(), of_block.end(), 0.0);
        return {in_block(blocks, threads) + ceil_div(blocks, 1 << 29), nullptr, sum};
    }
};

// ---- the answer, slowly ----------------------------------------------------------------------------------------

// Random whole numbers in the range of the tutorial's. In the tutorial a and b are equal, and each element is its index:
// then a kernel may read one array twice, or none, and its result is still right.
std::vector<float> random_numbers(int64_t n, uint64_t seed, bool of_b) {
    std::vector<float> numbers(n);
    for (int64_t i = 0; i < n; ++i) numbers[i] = float(lab::random_bits(seed, 2 * i + of_b) % ramp);
    return numbers;
}

// All elements are whole numbers, so the dot product is a whole number, and an integer holds it exactly.
Wide on_the_cpu(const std::vector<float>& a, const std::vector<float>& b) {
    Wide dot = 0;
    for (size_t i = 0; i < a.size(); ++i) dot += int64_t(a[i]) * int64_t(b[i]);
    return dot;
}

// ---- the tutorial's kernel -------------------------------------------------------------------------------------

// Every thread adds up its share and leaves the sum in shared memory, of which each block has its own. A tree
// folds them: half of the threads add the other half's sums, then a quarter, until cache[0] is the block's.
__global__ void tutorial(const float* a, const float* b, float* c, int64_t n) {  // there n is a macro
    __shared__ float cache[most_threads];                        // there 64, here as many as --threads may be
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;  // there int, but n may pass 2^31
    const int tid = threadIdx.x;
    float sum = 0;
    while (i < n) {  // a grid stride: neighbours take neighbours, so that a warp's loads are coalesced
        sum += a[i] * b[i];
        i += int64_t(gridDim.x) * blockDim.x;
    }
    cache[tid] = sum;
    __syncthreads();  // all of the block's sums are in the cache
    for (int stride = blockDim.x / 2; stride != 0; stride /= 2) {
        if (tid < stride) cache[tid] += cache[tid + stride];
        __syncthreads();  // this step's sums are there for the next step, and after the last one for every thread
    }
    if (tid == min(2, int(blockDim.x) - 1)) c[blockIdx.x] = cache[0];  // there 2, but --threads may be 1 or 2
}
Result launch_tutorial(const Job& job) {
    tutorial<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return job.add_on_host();
}

// ---- the tutorial's whole program ------------------------------------------------------------------------------

bool whole_program() {
    // There a and b lie on the stack, 270 KB, and c comes from new[]. A vector frees itself.
    std::vector<float> a(ramp), b(ramp), c(tutorial_blocks);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, ramp * sizeof(float)));
    CHECK(cudaMalloc(&d_b, ramp * sizeof(float)));
    CHECK(cudaMalloc(&d_c, tutorial_blocks * sizeof(float)));
    for (int i = 0; i < ramp; ++i) a[i] = b[i] = float(i);
    CHECK(cudaMemcpy(d_a, a.data(), ramp * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), ramp * sizeof(float), cudaMemcpyHostToDevice));
    tutorial<<<tutorial_blocks, tutorial_threads>>>(d_a, d_b, d_c, ramp);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    CHECK(cudaMemcpy(c.data(), d_c, tutorial_blocks * sizeof(float), cudaMemcpyDeviceToHost));
    double device = 0, host = 0;
    for (float of_block : c) device += of_block;
    for (int i = 0; i < ramp; ++i) host += double(i) * i;
    std::printf("dot product on the device  %.0f\ndot product on the host    %.0f\n", device, host);
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return std::fabs(device - host) <= 16.0 / (1 << 24) * host;  // 15 roundings in float, fewer in double
}

// ---- the rungs -------------------------------------------------------------------------------------------------

// The tutorial's first half, for its neighbours: a thread's share.
__device__ float share(const float* a, const float* b, int64_t n) {
    float sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        sum += a[i] * b[i];
    return sum;
}

// Without shared memory: the sums of all threads meet at one address.
__global__ void no_shared(const float* a, const float* b, float* c, int64_t n) { atomicAdd(c, share(a, b, n)); }
Result launch_no_shared(const Job& job) {
    CHECK(cudaMemsetAsync(job.c, 0, sizeof(float)));
    no_shared<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return {job.in_block(job.blocks, job.threads) + int64_t(job.blocks) * job.threads, job.c};
}

// The tutorial's second half: the tree, which tells every thread the block's sum.
__device__ float fold_tree(float* cache, float sum) {
    cache[threadIdx.x] = sum;
    __syncthreads();  // all of the block's sums are in the cache
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) cache[threadIdx.x] += cache[threadIdx.x + stride];
        __syncthreads();  // this step's sums are there for the next step, and after the last one for every thread
    }
    return cache[0];
}

// The blocks' sums meet at one address.
__global__ void atomics(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    const float sum = fold_tree(cache, share(a, b, n));
    if (threadIdx.x == 0) atomicAdd(c, sum);
}
Result launch_atomics(const Job& job) {
    CHECK(cudaMemsetAsync(job.c, 0, sizeof(float)));
    atomics<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return {job.in_block(job.blocks, job.threads) + job.blocks, job.c};
}

__device__ unsigned finished;  // how many blocks of this launch have left their sums; the last makes it 0 again
// Folds the threads' sums into the block's, and leaves that in c[blockIdx.x]. The last block to do so adds up
// all of them: the result is in c[0], in place of block 0's sum.
template <class Fold> __device__ void last_adds_up(float sum, float* c, Fold fold) {
    __shared__ bool last;
    sum = fold(sum);
    if (threadIdx.x == 0) {
        c[blockIdx.x] = sum;
        __threadfence();  // the sum is in memory before the block counts as finished
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread of the block knows whether it is the last
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += __ldcg(c + i);
    sum = fold(sum);
    if (threadIdx.x == 0) c[0] = sum;
}

// One launch, and nothing to zero. At the default size atomics is faster: here a block's sum, its ticket and the
// last block's look at all sums each wait for the one before; there each block sends an add, and nobody waits.
__global__ void last_block(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    last_adds_up(share(a, b, n), c, [&](float sum) { return fold_tree(cache, sum); });
}
Result launch_last_block(const Job& job) {
    last_block<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return {job.in_block(job.blocks, job.threads) + in_last(job.blocks, job.threads), job.c};
}

// A warp's 32 values fold through registers, without shared memory and without a barrier; lane 0 has the sum.
__device__ float fold_warp(float value) {
    for (int offset = warp / 2; offset > 0; offset /= 2) value += __shfl_down_sync(all_lanes, value, offset);
    return value;
}

// fold_tree with one barrier: only one sum a warp goes through shared memory. Thread 0 gets the block's sum.
__device__ float fold_block(float value) {
    __shared__ float of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    value = fold_warp(value);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have left their sums
    if (tid < warp) value = fold_warp(tid < warps ? of_warp[tid] : 0);
    return value;
}

__global__ void shuffle(const float* a, const float* b, float* c, int64_t n) {
    last_adds_up(share(a, b, n), c, fold_block);
}
Result launch_shuffle(const Job& job) {
    const int blocks = job.fill(shuffle, job.threads);
    shuffle<<<blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return {job.in_block(blocks, job.threads) + in_last(blocks, job.threads), job.c};
}

// 16 bytes at a time, in tiles of in_flight * blockDim.x float4. A thread has all loads of a tile in flight when it
// uses the first, and by the launch bounds the registers for it. The first threads take a tail of up to three.
// No block waits for what its atomic finds, and no barrier spans the grid of an ordinary launch: two sums take turns, and
// a launch clears the next one's. The order of additions, and so the last digits, may vary from run to run.
__global__ void __launch_bounds__(fast_threads, 2) vectorised(const float* a, const float* b, float* sum, float* next, int64_t n) {
    const float4 *packs_a = reinterpret_cast<const float4*>(a), *packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / pack, tile = int64_t(in_flight) * blockDim.x, tid = threadIdx.x;
    const int64_t tail = pack * packs + int64_t(blockIdx.x) * blockDim.x + tid;
    float x = tail < n ? a[tail] * b[tail] : 0, y = 0, z = 0, w = 0;
    const auto add = [&](const float4& p, const float4& q) {
        x += p.x * q.x;
        y += p.y * q.y;
        z += p.z * q.z;
        w += p.w * q.w;
    };
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[in_flight], q[in_flight];
            for (int k = 0; k < in_flight; ++k) {
                const int64_t i = first + k * blockDim.x + tid;
                p[k] = packs_a[i];
                q[k] = packs_b[i];
            }
            for (int k = 0; k < in_flight; ++k) add(p[k], q[k]);
        } else {
            for (int64_t i = first + tid; i < packs; i += blockDim.x) add(packs_a[i], packs_b[i]);
        }
    }
    const float mine = fold_block((x + y) + (z + w));
    if (tid != 0) return;
    atomicAdd(sum, mine);
    if (blockIdx.x == 0) *next = 0;
}
Result launch_vectorised(const Job& job) {
    const int64_t blocks = job.fill(vectorised, fast_threads, pack * in_flight);
    vectorised<<<blocks, fast_threads>>>(job.a, job.b, job.sum, job.next, job.n);
    return {job.in_block(pack * blocks, fast_threads) + in_flight + 2 + blocks, job.sum};
}

// For small arrays: no barrier, and little code, which comes from memory, too.
__global__ void warp_atomics(const float* a, const float* b, float* sum, float* next, int64_t n) {
    const float4 *packs_a = reinterpret_cast<const float4*>(a), *packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / pack, step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, tail = pack * packs + first;
    if (first == 0) *next = 0;
    float mine = tail < n ? a[tail] * b[tail] : 0;
#pragma unroll 1
    for (int64_t i = first; i < packs; i += step) {
        const float4 p = packs_a[i], q = packs_b[i];
        mine += (p.x * q.x + p.y * q.y) + (p.z * q.z + p.w * q.w);
    }
    mine = fold_warp(mine);
    if (threadIdx.x % warp == 0) atomicAdd(sum, mine);
}
Result launch_warp_atomics(const Job& job) {
    const int64_t blocks = job.fill(warp_atomics, small_threads, pack);
    warp_atomics<<<blocks, small_threads>>>(job.a, job.b, job.sum, job.next, job.n);
    return {job.in_block(pack * blocks, small_threads) + 3 + blocks * small_threads / warp, job.sum};
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The tutorial's tree without the barrier in the loop: a thread adds what its partner has not summed up yet.
__global__ void no_barrier(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    cache[threadIdx.x] = share(a, b, n);
    __syncthreads();  // all of the block's sums are in the cache
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        if (threadIdx.x < stride) cache[threadIdx.x] += cache[threadIdx.x + stride];
    if (threadIdx.x == 2) c[blockIdx.x] = cache[0];
}
Result launch_no_barrier(const Job& job) {
    no_barrier<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return job.add_on_host();
}

// Thread 2 writes for the block, and writes its own element: the block's sum is in cache[0], whoever writes it.
__global__ void own_element(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    fold_tree(cache, share(a, b, n));
    if (threadIdx.x == 2) c[blockIdx.x] = cache[threadIdx.x];
}
Result launch_own_element(const Job& job) {
    own_element<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return job.add_on_host();
}

// Three quarters of --threads: 48 halve to 24, 12, 6, 3, 1, and of those three the last is dropped.
Result launch_odd_halving(const Job& job) {
    tutorial<<<job.blocks, job.threads / 4 * 3>>>(job.a, job.b, job.c, job.n);
    return job.add_on_host();
}

// n - 1 for n: the last element is left out. The error is small, and far above what rounding can cost.
Result launch_no_last(const Job& job) {
    tutorial<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n - 1);
    return job.add_on_host();
}

// atomics, added to what the word held before.
Result launch_no_reset(const Job& job) {
    atomics<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return {job.in_block(job.blocks, job.threads) + job.blocks, job.c};
}

// ---- the table -------------------------------------------------------------------------------------------------

struct Variant {
    const char* name;
    const char* how;
    Result (*launch)(const Job&);
    int least_threads = 1;
    const char* same_bits = "yes";  // in every run on the same grid: no, where additions come as they come
};
constexpr Variant variants[] = {
    {"tutorial", "shared memory, then the host", launch_tutorial},
    {"no_shared", "an atomicAdd for every thread", launch_no_shared, 1, "no"},
    {"atomics", "shared memory, then an atomicAdd a block", launch_atomics, 1, "no"},
    {"last_block", "shared memory, then the last block", launch_last_block},
    {"shuffle", "a grid that fills the GPU, warp shuffles", launch_shuffle, lab::whole_warps},
    {"vectorised", "16-byte loads, four pairs in flight; a launch clears the next one's sum", launch_vectorised, 1, "no"},
    {"warp_atomics", "one atomic a warp, no barrier", launch_warp_atomics, 1, "no"},
};
constexpr Variant twins[] = {
    {"no_barrier", "the tree without its barrier", launch_no_barrier, 4},
    {"own_element", "thread 2 writes its own element", launch_own_element, 4},
    {"odd_halving", "3/4 of --threads, which do not halve evenly", launch_odd_halving, 4},
    {"no_last", "stops one element early", launch_no_last},
    {"no_reset", "adds to what was there before", launch_no_reset},
};

// ---- run, check, time ------------------------------------------------------------------------------------------

void run(Job job, lab::DeviceArray<float>& c, Wide want, const Variant& v, lab::Kind kind = lab::Kind::variant,
         const std::string& version = "") {
    if (kind == lab::Kind::variant && !job.sample.wants(v.name)) return;
    const lab::DeviceArray<float> sums(std::vector<float>(2 * apart));  // zeros
    job.sum = sums.get();
    job.next = job.sum + apart;
    Result result{};
    const auto prepare = [&] {
        c.poison();
        std::swap(job.sum, job.next);  // the launch before has cleared this sum, and shall clear the other
        CHECK(cudaMemsetAsync(job.next, lab::poison_byte, sizeof(float)));
    };
    const lab::Time ms = job.sample.time(prepare, [&] { result = v.launch(job); });
    float sum = 0;
    if (result.on_device) CHECK(cudaMemcpy(&sum, result.on_device, sizeof sum, cudaMemcpyDeviceToHost));
    const double got = result.on_device ? sum : result.on_host;
    const double error = double(std::fabs(got - (long double)want)) / double(std::max<Wide>(1, want));
    // A rounding multiplies by 1 + d, |d| <= u = 2^-24, and k of them by less than e^(ku). No product goes through
    // more than n, whatever the order. So far may the result be off, as all are positive; so far may poison, too.
    const double bound = std::expm1(0x1p-24 * double(std::min(result.roundings, job.n)));
    const bool right = error <= bound && got < lab::poisoned<float>() / 2;
    job.sample.row({v.name, lab::text("%.15g", got), ms, 8.0 * double(job.n), right ? "" : lab::wanted(float(got), float(want)),
                    kind, {lab::text("%.1e", error), lab::text("%.1e", bound), v.same_bits}, version});
}

#if CUBLAS_VERSION >= 120000  // from there on it counts in 64 bits, too
void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
    CHECK(status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown);
}
cublasHandle_t cublas;
Result launch_cublas(const Job& job) {  // it does not say how it adds: it may err as the tutorial may
    if (job.n > INT32_MAX) check(cublasSdot_64(cublas, job.n, job.a, 1, job.b, 1, job.c));
    else check(cublasSdot(cublas, int(job.n), job.a, 1, job.b, 1, job.c));
    return {job.in_block(job.blocks, job.threads), job.c};
}
#endif

int main(int argc, char** argv) {
    lab::Sample sample("03_dot_shared", "What does shared memory buy a dot product, and what does float cost it?");
    sample.defaults(ramp, 0, tutorial_threads, "elements of each array",
                    "blocks (default: the tutorial's 64; from shuffle on as many as fill the GPU once, at most)");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(float), sizeof(float) * (sample.blocks() + 1e6));
    if (sample.wants("whole_program")) sample.program(whole_program);
    const std::vector<float> a = random_numbers(n, sample.seed(), false), b = random_numbers(n, sample.seed(), true);
    const Wide want = on_the_cpu(a, b);
    sample.new_table(lab::text("dot product of 2 x %s floats; the exact result is %.15g",
                               lab::with_commas(n).c_str(), double(want)));
    sample.columns({"error", "bound", "same bits"});
    sample.limit_row(lab::Sample::Limit::read, 8 * n);
    const lab::DeviceArray<float> d_a(a), d_b(b);
    const int blocks = sample.blocks() ? sample.blocks() : tutorial_blocks;
    lab::DeviceArray<float> d_c(std::max(blocks, 1 << 16));  // no GPU holds more blocks at once
    const Job job{sample, n, blocks, sample.threads(), d_a.get(), d_b.get(), d_c.get()};
#if CUBLAS_VERSION >= 120000
    if (sample.wants_all()) {
        check(cublasCreate(&cublas));
        check(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE));  // it need not wait for the result
        run(job, d_c, want, {"cublasSdot", "", launch_cublas, 1, "-"}, lab::Kind::library,
            lab::text("%d.%d.%d", CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH));
        check(cublasDestroy(cublas));
    }
#endif
    for (const Variant& v : variants) run(job, d_c, want, v);
    for (const Variant& v : twins) run(job, d_c, want, v);
    return sample.verdict();
}
