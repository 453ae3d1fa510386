// 02_clock_min - how many clocks does one block need?
//
// The tutorial explains NVIDIA's sample "clock" (cuda-samples, 0_Introduction/clock): a block finds
// the minimum of its floats, and thread 0 reads the clock of its SM before and after.
//   tutorial       tree in dynamic shared memory             slow: nine steps, a barrier for each
//   one_element    the second listing: one element a thread  half the work, nearly as many steps
//   static_shared  the first tree in static shared memory    as slow: the same steps
//   shuffle        registers and shuffles, one barrier       slow: each shuffle waits for the last
//   redux          one instruction reduces a warp            fastest: waits mostly for its loads
//   one_warp       32 threads, 16-byte loads, no tile        no faster: one warp does all the work
// resident_blocks.cu goes on: what if there are more blocks than the GPU holds at once?
//
//   02_clock_min --n 1000000 --only shuffle --threads 512    one variant, other blocks
//   02_clock_min --wrong shared_input                        a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 02_clock_min/clock_min.cu
//       common/lab.cpp common/write_file.cpp -o clock_min
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "lab.cuh"

constexpr int tutorial_blocks = 64, tutorial_threads = 256;
constexpr int tutorial_segment = 2 * tutorial_threads;  // floats for one block
constexpr int most_threads = 1024;                      // of a block
constexpr int warp = 32;                                // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
constexpr float infinity = INFINITY;     // the minimum of nothing
constexpr int least_clocks = 100;        // of a block: it loads from memory between its readings
constexpr size_t most_clocks = 1 << 22;  // that are kept for the median
static_assert(most_threads <= warp * warp, "one warp must be able to reduce all warps' minima");
static_assert(2 * most_threads * sizeof(float) <= 48 * 1024,
              "a block's tile must fit without asking for more shared memory");

// ---- CPU reference ------------------------------------------------------------------------------

float cpu_reference(const float* in, int64_t n) {
    float least = infinity;
    for (int64_t i = 0; i < n; ++i)
        if (in[i] < least) least = in[i];
    return least;
}

// ---- the tutorial's kernel ----------------------------------------------------------------------

// Its first listing. Each thread copies two floats into the tile. Then all threads compare two
// floats each, then half of the threads, then a quarter, until the minimum is the first float.
// differs: n and segment, because each block has its own floats; there all blocks read the same.
__global__ void tutorial(const float* in, int64_t n, int segment, float* minimum,
                         long long* timer) {
    // `__shared__ float tile[2 * blockDim.x];` is illegal. The size of a static array must be a
    // constant expression, known when the file is compiled; blockDim.x is known at the launch.
    // `extern` leaves the size open, and the launch's third argument gives it, in bytes.
    extern __shared__ float dynamic_tile[];
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    const int64_t i = int64_t(block) * segment + tid;  // differs: there tid, for all blocks
    if (tid == 0) timer[block] = clock64();  // differs: clock() has 32 bits and soon wraps around

    // Shared memory has a low latency. On an H200 a warp of this kernel waits 627 clocks for these
    // loads from global memory, and 157 for its work in the tile (measured.md).
    dynamic_tile[tid] = i < n ? in[i] : infinity;  // differs: guards; the last segment may be short
    dynamic_tile[tid + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : infinity;
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();  // the floats, or the last step's results, are in the tile
        if (tid < d && dynamic_tile[tid + d] < dynamic_tile[tid])
            dynamic_tile[tid] = dynamic_tile[tid + d];
    }
    if (tid == 0) minimum[block] = dynamic_tile[0];
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[block + gridDim.x] = clock64();
}

// Its second listing: one element a thread, a tile of a size that the compiler knows, the barrier
// at the end of the loop. Here the index counts the floats of the blocks before this one.
__global__ void one_element(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ float tile[most_threads];  // differs: 256 there, here room for any block
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    const int64_t i = int64_t(block) * blockDim.x + tid;  // differs: 64 bits, for any n
    if (tid == 0) timer[block] = clock64();               // differs: this listing reads no clock
    tile[tid] = i < n ? in[i] : infinity;                 // differs: a guard, as above
    __syncthreads();                                      // all floats are in the tile
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = min(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are in the tile
    }
    if (tid == 0) minimum[block] = tile[0];
    __syncthreads();                                     // differs: all threads are done, as above
    if (tid == 0) timer[block + gridDim.x] = clock64();  // differs: as above
}

// ---- the tutorial's whole program ---------------------------------------------------------------

// 64 blocks, which all read the same 512 floats: 0, 1, ..., 511. The tutorial takes the best of all
// GPUs; here it is the current one, the first that CUDA_VISIBLE_DEVICES names. The tutorial prints
// the clocks and ignores the minima. Comparing them says little on its data: the minimum of
// ascending floats is the first one, which a kernel without its loop also returns.
bool whole_program() {
    float input[tutorial_segment];
    for (int i = 0; i < tutorial_segment; ++i) input[i] = float(i);
    float minimum[tutorial_blocks];
    long long timer[2 * tutorial_blocks];
    float* d_input = nullptr;
    float* d_minimum = nullptr;
    long long* d_timer = nullptr;
    CHECK(cudaMalloc(&d_input, sizeof input));
    CHECK(cudaMalloc(&d_minimum, sizeof minimum));
    CHECK(cudaMalloc(&d_timer, sizeof timer));
    CHECK(cudaMemcpy(d_input, input, sizeof input, cudaMemcpyHostToDevice));

    const int segment = 0;  // from one block's floats to the next one's: all read the same
    tutorial<<<tutorial_blocks, tutorial_threads, tutorial_segment * sizeof(float)>>>(
        d_input, tutorial_segment, segment, d_minimum, d_timer);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    CHECK(cudaMemcpy(minimum, d_minimum, sizeof minimum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(timer, d_timer, sizeof timer, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_input));
    CHECK(cudaFree(d_minimum));
    CHECK(cudaFree(d_timer));

    double clocks = 0;
    int right = 0, too_short = 0;
    for (int b = 0; b < tutorial_blocks; ++b) {
        clocks += double(timer[b + tutorial_blocks] - timer[b]);
        if (timer[b + tutorial_blocks] - timer[b] < least_clocks) ++too_short;
        if (minimum[b] == cpu_reference(input, tutorial_segment)) ++right;
    }
    std::printf("average clocks of a block: %.1f\n", clocks / tutorial_blocks);
    std::printf("minima that are the CPU's: %d of %d\n", right, tutorial_blocks);
    if (too_short > 0) std::printf("blocks of less than %d clocks: %d\n", least_clocks, too_short);
    return right == tutorial_blocks && too_short == 0;
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Job {  // what a launch needs
    const float* in;
    int64_t n;                        // floats
    int threads;                      // of a block
    float* minimum;                   // one a block
    long long* timer;                 // [b] is when block b began, [grid + b] when it ended
    int64_t most_blocks;              // that minimum and timer have room for
    const float* host_in;             // the same floats, for the check
    int segment = 0, grid = 0;        // of this launch: floats of a block; blocks
    std::vector<double> clocks = {};  // of the blocks of all runs that count
    double tutorial_cold = NAN, tutorial_warm = NAN;  // its median clocks: 100 %
};

// A block for each segment; the last one may be short.
void set_grid(Job& job, int segment) {
    job.segment = segment;
    job.grid = int((job.n - 1) / segment + 1);
}

void launch_tutorial(Job& job) {
    set_grid(job, 2 * job.threads);
    const size_t tile_bytes = job.segment * sizeof(float);
    tutorial<<<job.grid, job.threads, tile_bytes>>>(job.in, job.n, job.segment, job.minimum,
                                                    job.timer);
}

void launch_one_element(Job& job) {
    set_grid(job, job.threads);
    one_element<<<job.grid, job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// in[i], or infinity past the end, which changes no minimum.
__device__ float load(const float* in, int64_t i, int64_t n) { return i < n ? in[i] : infinity; }

// The first listing with a static tile. Every block gets the tile of the largest one.
__global__ void static_shared(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ float tile[2 * most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * 2 * blockDim.x + tid;
    if (tid == 0) timer[blockIdx.x] = clock64();
    tile[tid] = load(in, i, n);
    tile[tid + blockDim.x] = load(in, i + blockDim.x, n);
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();  // the floats, or the last step's results, are in the tile
        if (tid < d && tile[tid + d] < tile[tid]) tile[tid] = tile[tid + d];
    }
    if (tid == 0) minimum[blockIdx.x] = tile[0];
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_static_shared(Job& job) {
    set_grid(job, 2 * job.threads);
    static_shared<<<job.grid, job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// The minimum of a warp's lanes, in lane 0: in each step a lane takes the value of the lane
// `offset` above it. The values travel through registers, without shared memory and barriers.
__device__ float reduce_warp(float least) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        least = fminf(least, __shfl_down_sync(all_lanes, least, offset));
    return least;
}

// One value a warp goes through shared memory, and the first warp reduces those.
__global__ void shuffle(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ float of_warp[warp];
    const int tid = threadIdx.x;
    const int warps = blockDim.x / warp;
    const int64_t i = int64_t(blockIdx.x) * 2 * blockDim.x + tid;
    if (tid == 0) timer[blockIdx.x] = clock64();
    float least = reduce_warp(fminf(load(in, i, n), load(in, i + blockDim.x, n)));
    if (tid % warp == 0) of_warp[tid / warp] = least;
    __syncthreads();  // all warps have stored their minima
    if (tid < warp) least = reduce_warp(tid < warps ? of_warp[tid] : infinity);
    if (tid == 0) minimum[blockIdx.x] = least;
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_shuffle(Job& job) {
    set_grid(job, 2 * job.threads);
    shuffle<<<job.grid, job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// The bits of floats, read as integers, are in the floats' order, except that negative floats
// are in reverse order. Inverting their lower 31 bits corrects that.
__device__ int ordered(float x) {
    return __float_as_int(x) ^ (__float_as_int(x) >> 31 & 0x7fffffff);
}
__device__ float from_ordered(int x) { return __int_as_float(x ^ (x >> 31 & 0x7fffffff)); }

// The minimum of a warp's integers: one instruction, or shuffles before compute capability 8.0.
__device__ int redux_min(int least) {
    namespace cg = cooperative_groups;
    return cg::reduce(cg::tiled_partition<warp>(cg::this_thread_block()), least, cg::less<int>());
}

// The same with one instruction for each reduction of a warp, instead of five shuffles in a chain.
__global__ void redux(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ int of_warp[warp];
    const int tid = threadIdx.x;
    const int warps = blockDim.x / warp;
    const int64_t i = int64_t(blockIdx.x) * 2 * blockDim.x + tid;
    if (tid == 0) timer[blockIdx.x] = clock64();
    int least = redux_min(ordered(fminf(load(in, i, n), load(in, i + blockDim.x, n))));
    if (tid % warp == 0) of_warp[tid / warp] = least;
    __syncthreads();  // all warps have stored their minima
    if (tid < warp) least = redux_min(of_warp[tid < warps ? tid : 0]);
    if (tid == 0) minimum[blockIdx.x] = from_ordered(least);
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_redux(Job& job) {
    set_grid(job, 2 * job.threads);
    redux<<<job.grid, job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// A block of one warp waits for no other. Each lane starts four 16-byte loads before it uses the
// first: those are the 512 floats of the tutorial's block. A lane past the end loads the last
// pack again. The first lanes also take the last floats of a short segment.
constexpr int loads = 4;
__global__ void one_warp(const float* in, int64_t n, int segment, float* minimum,
                         long long* timer) {
    const int tid = threadIdx.x;
    const int64_t first = int64_t(blockIdx.x) * segment;
    const int length = int(min(int64_t(segment), n - first));
    const int count = length / 4;
    const float4* packs = reinterpret_cast<const float4*>(in + first);
    if (tid == 0) timer[blockIdx.x] = clock64();
    float least = load(in, first + 4 * count + tid, first + length);
    for (int i = tid; i < count; i += loads * warp) {
        float4 pack[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) pack[k] = packs[min(i + k * warp, count - 1)];
#pragma unroll
        for (const float4& p : pack) least = fminf(least, fminf(fminf(p.x, p.y), fminf(p.z, p.w)));
    }
    least = from_ordered(redux_min(ordered(least)));
    if (tid == 0) minimum[blockIdx.x] = least;
    __syncthreads();  // keeps the compiler from reading the clock before the store
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_one_warp(Job& job) {
    set_grid(job, 2 * job.threads);
    one_warp<<<job.grid, warp>>>(job.in, job.n, job.segment, job.minimum, job.timer);
}

// ---- the clocks of the blocks -------------------------------------------------------------------

// Before each run, untimed: poison, so that a minimum or a clock that nobody wrote is seen.
void prepare(Job& job) {
    CHECK(cudaMemsetAsync(job.minimum, lab::poison_byte, job.most_blocks * sizeof *job.minimum));
    CHECK(cudaMemsetAsync(job.timer, lab::poison_byte, 2 * job.most_blocks * sizeof *job.timer));
}

// After each run that counts: how many clocks passed between a block's first and its last reading.
void keep_clocks(Job& job) {
    std::vector<long long> timer(2 * job.grid);
    const size_t bytes = timer.size() * sizeof(long long);
    CHECK(cudaMemcpy(timer.data(), job.timer, bytes, cudaMemcpyDeviceToHost));
    for (int b = 0; b < job.grid && job.clocks.size() < most_clocks; ++b)
        job.clocks.push_back(double(timer[job.grid + b] - timer[b]));
}

// Runs a kernel again and again. If `flush`, the L2 cache is filled with other data before each
// run; otherwise the floats are there from the run before. Returns a launch's time; job.clocks has
// the clocks of its blocks.
lab::Time measure(lab::Sample& sample, Job& job, void (*launch)(Job&), bool flush) {
    job.clocks.clear();
    return sample.time(job, prepare, launch, keep_clocks, flush);
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// static_shared without the barriers of its tree: a thread compares with a value that its partner
// has not written yet. The tutorial's ascending floats, whose first is the minimum, hide that.
__global__ void no_barrier(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ float tile[2 * most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * 2 * blockDim.x + tid;
    if (tid == 0) timer[blockIdx.x] = clock64();
    tile[tid] = load(in, i, n);
    tile[tid + blockDim.x] = load(in, i + blockDim.x, n);
    for (int d = blockDim.x; d > 0; d /= 2)
        if (tid < d && tile[tid + d] < tile[tid]) tile[tid] = tile[tid + d];
    if (tid == 0) minimum[blockIdx.x] = tile[0];
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_no_barrier(Job& job) {
    set_grid(job, 2 * job.threads);
    no_barrier<<<job.grid, job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// The tutorial's own index, tid, on data of which each block has its own segment: all blocks reduce
// the first one.
void launch_shared_input(Job& job) {
    set_grid(job, 2 * job.threads);
    const size_t tile_bytes = job.segment * sizeof(float);
    tutorial<<<job.grid, job.threads, tile_bytes>>>(job.in, job.n, 0, job.minimum, job.timer);
}

// The second listing in the first one's grid, which has a thread for every two floats: no thread
// reads the second half.
void launch_half_grid(Job& job) {
    set_grid(job, 2 * job.threads);
    one_element<<<job.grid, job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"tutorial", "tree in dynamic shared memory", launch_tutorial},
    {"one_element", "the second listing: one element a thread", launch_one_element},
    {"static_shared", "the first tree in static shared memory", launch_static_shared},
    {"shuffle", "registers and shuffles, one barrier", launch_shuffle, lab::whole_warps},
    {"redux", "one instruction reduces a warp, floats as integers", launch_redux, lab::whole_warps},
    {"one_warp", "32 threads, 16-byte loads, no shared memory", launch_one_warp},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_barrier", "the tree without its barriers", launch_no_barrier},
    {"shared_input", "every block reduces the first segment, as in the tutorial",
     launch_shared_input},
    {"half_grid", "one element a thread, in a grid for two", launch_half_grid},
};

// Floats of both signs and all sizes. Every fourth run of 512 is positive, so that some minima are.
std::vector<float> make_input(int64_t n, uint64_t seed) {
    std::vector<float> in(n);
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = lab::random_bits(seed, i);
        in[i] = std::ldexp(float(int32_t(bits)), -10 - int(bits >> 32 & 15));
        if (i / 512 % 4 == 3) in[i] = std::fabs(in[i]);
    }
    return in;
}

// Compares each block's minimum with the CPU's. Its clocks must be possible.
void check(Job& job, lab::Row& row) {
    if (!row.wrong.empty()) return;  // so were the runs with a cold cache
    std::vector<float> got(job.grid);
    CHECK(cudaMemcpy(got.data(), job.minimum, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    int right = 0;
    for (int b = 0; b < job.grid; ++b) {
        const int64_t first = int64_t(b) * job.segment;
        const int64_t length = std::min<int64_t>(job.segment, job.n - first);
        const float want = cpu_reference(job.host_in + first, length);
        if (got[b] == want)
            ++right;
        else if (row.wrong.empty())
            row.wrong = lab::text("block %d: ", b) + lab::wanted(got[b], want);
    }
    const double shortest = *std::min_element(job.clocks.begin(), job.clocks.end());
    const int least = job.threads < warp ? 1 : least_clocks;  // smaller blocks may be quicker
    if (row.wrong.empty() && shortest < least)
        row.wrong = lab::text("a block took %.0f clocks, wanted %d or more", shortest, least);
    row.result = lab::with_commas(right) + " of " + lab::with_commas(job.grid);
    row.bytes = double(job.n) * sizeof(float);
}

std::string number(double x, int digits = 0) {
    return std::isnan(x) ? "-" : lab::text("%.*f", digits, x);
}

// A variant's row: with a cold L2 cache, then with a warm one, which saves most of the latency.
void run(lab::Sample& sample, Job& job, const lab::Variant<Job>& variant) {
    if (!sample.wants(variant.name)) return;
    lab::Row row;
    row.variant = variant.name;
    row.ms = measure(sample, job, variant.launch, !sample.warm());
    check(job, row);
    const double cold = lab::median(job.clocks), p95 = lab::quantile(job.clocks, 0.95);
    measure(sample, job, variant.launch, false);
    check(job, row);
    const double warm = lab::median(job.clocks);
    if (variant.launch == launch_tutorial) {
        job.tutorial_cold = cold;
        job.tutorial_warm = warm;
    }
    row.columns = {number(cold), number(p95), number(100 * cold / job.tutorial_cold, 1),
                   number(warm), number(100 * warm / job.tutorial_warm, 1)};
    sample.row(row);
}

int main(int argc, char** argv) {
    lab::Sample sample("02_clock_min", "How many clocks does one block need?");
    sample.defaults(tutorial_blocks * tutorial_segment, 0, tutorial_threads, "elements", "");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const double of_block = sizeof(float) + 2 * sizeof(long long);
    sample.require_memory((sample.shows_limit() ? 2 : 1) * sizeof(float) +
                          of_block / sample.threads());
    sample.require_blocks();
    if (sample.wants("whole_program")) sample.program(whole_program);

    const int64_t n = sample.n();
    const int64_t most_blocks = (n - 1) / sample.threads() + 1;  // one_element's
    const std::vector<float> in = make_input(n, sample.seed());
    const lab::DeviceArray<float> d_in(in);
    const lab::DeviceArray<float> d_minimum(most_blocks);
    const lab::DeviceArray<long long> d_timer(2 * most_blocks);
    Job job{d_in.get(),    n,           sample.threads(), d_minimum.get(),
            d_timer.get(), most_blocks, in.data()};

    sample.new_table("minima of " + lab::with_commas(n) + " floats: clocks of one block");
    sample.columns({"clocks median", "clocks p95", "% of tutorial", "L2 warm", "% of tut. warm"}, 6,
                   8);
    sample.limit_row(lab::Limit::read, n * sizeof(float));
    for (const lab::Variant<Job>& variant : variants) run(sample, job, variant);
    for (const lab::Variant<Job>& variant : twins) run(sample, job, variant);
    return sample.verdict();
}
