// 02_clock_min - how many clocks does one block need?
//
// The tutorial explains NVIDIA's sample "clock" (cuda-samples, 0_Introduction/clock): a block finds the least of
// its floats, and thread 0 reads the SM's clock before and after. (resident_blocks.cu: ever more of its blocks.)
//
//   tutorial       tree in dynamic shared memory                     slow: a barrier for each of nine steps
//   one_element    the second listing: one element a thread          half the work in nearly as many steps
//   static_shared  the first tree, its tile sized by the compiler    as slow: only the way to ask for it differs
//   shuffle        each warp folds in registers, one barrier         slow: five shuffles, each waits for the last
//   redux          one instruction folds a warp: floats as integers  the fastest: it waits mostly for its loads
//   one_warp       32 threads, 16-byte loads, no shared memory       no faster: its one warp does all the work
//
//   02_clock_min --n 1000000 --only shuffle --threads 512    one variant, other blocks
//   02_clock_min --wrong shared_input                        a classic mistake
//
//   nvcc -std=c++17 -arch=native -Icommon 02_clock_min/clock_min.cu common/lab.cpp common/write_file.cpp -o clock_min
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>

#include "lab.cuh"

constexpr int tutorial_blocks = 64;
constexpr int tutorial_threads = 256;
constexpr int tutorial_segment = 2 * tutorial_threads;  // floats for one block
constexpr int most_threads = 1024;
constexpr int loads = 4;  // of one_warp, in flight before the first is used
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr float infinity = INFINITY;  // the minimum of nothing
constexpr int least_clocks = 100;     // a block of a warp or more takes longer: it loads from memory between its clocks
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");
static_assert(2 * most_threads * sizeof(float) <= 48 * 1024, "a block's tile must fit without asking for more");

// ---- the answer, slowly ----------------------------------------------------------------------------------------

float on_the_cpu(const float* in, int64_t n) {
    float least = infinity;
    for (int64_t i = 0; i < n; ++i)
        if (in[i] < least) least = in[i];
    return least;
}

// ---- the tutorial's kernel -------------------------------------------------------------------------------------

struct Job {  // what a launch needs
    const float* in;
    int64_t n;         // floats
    int threads;       // of one block
    int segment;       // floats for one block, two a thread
    float* minimum;    // one a block
    long long* timer;  // as in the tutorial: [b] is when block b began, [blocks + b] when it ended
    int* of_block;     // the launch leaves here how many floats it gave each block, for the check

    int blocks(int floats_each) const {
        *of_block = floats_each;
        return int((n - 1) / floats_each + 1);
    }
    size_t tile_bytes() const { return segment * sizeof(float); }
};

// Its first listing: each thread brings two floats into the tile, then all compare two each, then half of them,
// then a quarter, until the least lies first. Thread 0 notes the clock before and after, for the block.
// differs: n and segment, as here each block has floats of its own; there every block takes the same 512.
__global__ void tutorial(const float* in, int64_t n, int segment, float* minimum, long long* timer) {
    extern __shared__ float dynamic_tile[];  // 2 * blockDim.x floats, asked for at the launch
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    const int64_t i = int64_t(block) * segment + tid;  // differs: its index is tid, so all blocks read the same
    if (tid == 0) timer[block] = clock64();            // differs: clock() has 32 bits, which soon begin anew
    dynamic_tile[tid] = i < n ? in[i] : infinity;  // differs: guards, as the last segment may be short; infinity
    dynamic_tile[tid + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : infinity;  // changes no minimum
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();  // the floats, or the last step's results, are in the tile
        if (tid < d && dynamic_tile[tid + d] < dynamic_tile[tid]) dynamic_tile[tid] = dynamic_tile[tid + d];
    }
    if (tid == 0) minimum[block] = dynamic_tile[0];
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[block + gridDim.x] = clock64();
}
void launch_tutorial(const Job& job) {
    const int blocks = job.blocks(job.segment);
    tutorial<<<blocks, job.threads, job.tile_bytes()>>>(job.in, job.n, job.segment, job.minimum, job.timer);
}

// Its second listing: one element a thread, a tile whose size the compiler knows, the barrier at the loop's end.
// Here the index has the block's number: blockIdx.x * blockDim.x floats belong to the blocks before this one.
__global__ void one_element(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ float tile[most_threads];  // differs: 256 there, for blocks of 256 threads; here for any block
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    const int64_t i = int64_t(block) * blockDim.x + tid;  // differs: 64 bits, as there may be many elements
    if (tid == 0) timer[block] = clock64();               // differs: this listing reads no clock
    tile[tid] = i < n ? in[i] : infinity;                 // differs: a guard, as above
    __syncthreads();                                      // all floats are in the tile
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = min(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are in the tile
    }
    if (tid == 0) minimum[block] = tile[0];
    __syncthreads();                                     // differs: the clock is not read before the store
    if (tid == 0) timer[block + gridDim.x] = clock64();  // differs: as above
}
void launch_one_element(const Job& job) {
    one_element<<<job.blocks(job.threads), job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// ---- the tutorial's whole program ------------------------------------------------------------------------------

// 64 blocks, which all read the same 512 floats: 0, 1, ..., 511. The tutorial takes the best of all GPUs; here it
// is the current one, the first that CUDA_VISIBLE_DEVICES lets through. It prints the clocks alone. Here the minima
// are looked at, too; but the least of ascending floats is the first, which a kernel without its loop also finds.
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

    const int segment = 0;  // from one block's input to the next one's: all read the same
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
        if (minimum[b] == on_the_cpu(input, tutorial_segment)) ++right;
    }
    std::printf("average clocks of a block: %.1f\n", clocks / tutorial_blocks);
    std::printf("minima that are the CPU's: %d of %d\n", right, tutorial_blocks);
    if (too_short > 0) std::printf("blocks of less than %d clocks: %d\n", least_clocks, too_short);
    return right == tutorial_blocks && too_short == 0;
}

// ---- the rungs -------------------------------------------------------------------------------------------------

// in[i], or infinity past the end.
__device__ float load(const float* in, int64_t i, int64_t n) { return i < n ? in[i] : infinity; }

// The first listing with the second one's kind of tile. Every block gets the tile of the largest one.
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
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_static_shared(const Job& job) {
    static_shared<<<job.blocks(job.segment), job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// The least of a warp's 32 values, in lane 0: in each step a lane asks the one `offset` lanes up.
__device__ float fold_warp(float least) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        least = fminf(least, __shfl_down_sync(all_lanes, least, offset));
    return least;
}

// Each warp leaves one value in shared memory, and the first warp folds those.
__global__ void shuffle(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ float of_warp[warp];
    const int tid = threadIdx.x;
    const int warps = blockDim.x / warp;
    const int64_t i = int64_t(blockIdx.x) * 2 * blockDim.x + tid;
    if (tid == 0) timer[blockIdx.x] = clock64();
    float least = fold_warp(fminf(load(in, i, n), load(in, i + blockDim.x, n)));
    if (tid % warp == 0) of_warp[tid / warp] = least;
    __syncthreads();  // all warps have left their values
    if (tid < warp) least = fold_warp(tid < warps ? of_warp[tid] : infinity);
    if (tid == 0) minimum[blockIdx.x] = least;
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_shuffle(const Job& job) {
    shuffle<<<job.blocks(job.segment), job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// The bits of floats, read as integers, have the floats' order once the negative ones' are turned round.
__device__ int ordered(float x) { return __float_as_int(x) ^ (__float_as_int(x) >> 31 & 0x7fffffff); }
__device__ float from_ordered(int x) { return __int_as_float(x ^ (x >> 31 & 0x7fffffff)); }

// The least of a warp's integers: one instruction from compute capability 8.0 on, shuffles before.
__device__ int redux_min(int least) {
    namespace cg = cooperative_groups;
    return cg::reduce(cg::tiled_partition<warp>(cg::this_thread_block()), least, cg::less<int>());
}
__global__ void redux(const float* in, int64_t n, float* minimum, long long* timer) {
    __shared__ int of_warp[warp];
    const int tid = threadIdx.x;
    const int warps = blockDim.x / warp;
    const int64_t i = int64_t(blockIdx.x) * 2 * blockDim.x + tid;
    if (tid == 0) timer[blockIdx.x] = clock64();
    int least = redux_min(ordered(fminf(load(in, i, n), load(in, i + blockDim.x, n))));
    if (tid % warp == 0) of_warp[tid / warp] = least;
    __syncthreads();  // all warps have left their values
    if (tid < warp) least = redux_min(of_warp[tid < warps ? tid : 0]);
    if (tid == 0) minimum[blockIdx.x] = from_ordered(least);
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_redux(const Job& job) {
    redux<<<job.blocks(job.segment), job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// One warp waits for nobody. Each lane loads 16 bytes, `loads` times before the first is used: all 512 floats of
// the tutorial's block. Lanes past the end load the last pack again; the first ones take a short segment's rest.
__global__ void one_warp(const float* in, int64_t n, int segment, float* minimum, long long* timer) {
    const int tid = threadIdx.x;
    const int64_t first = int64_t(blockIdx.x) * segment;
    const int here = int(min(int64_t(segment), n - first));
    const int count = here / 4;
    const float4* packs = reinterpret_cast<const float4*>(in + first);
    if (tid == 0) timer[blockIdx.x] = clock64();
    float least = load(in, first + 4 * count + tid, first + here);
    for (int i = tid; i < count; i += loads * warp) {
        float4 pack[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) pack[k] = packs[min(i + k * warp, count - 1)];
#pragma unroll
        for (const float4& p : pack) least = fminf(least, fminf(fminf(p.x, p.y), fminf(p.z, p.w)));
    }
    least = from_ordered(redux_min(ordered(least)));
    if (tid == 0) minimum[blockIdx.x] = least;
    __syncthreads();  // no other warp to wait for: it keeps the clock from being read before the store
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_one_warp(const Job& job) {
    one_warp<<<job.blocks(job.segment), warp>>>(job.in, job.n, job.segment, job.minimum, job.timer);
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// static_shared without the barriers of its tree: a thread compares with what its partner has not written yet. The
// tutorial's ascending floats, of which the first is the least, would not show it.
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
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[blockIdx.x + gridDim.x] = clock64();
}
void launch_no_barrier(const Job& job) {
    no_barrier<<<job.blocks(job.segment), job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// The tutorial's own index, in[tid], on input where each block has a segment of its own: all get the first one.
void launch_shared_input(const Job& job) {
    tutorial<<<job.blocks(job.segment), job.threads, job.tile_bytes()>>>(job.in, job.n, 0, job.minimum, job.timer);
}

// The second listing in the first one's grid, which has a thread for two elements: nobody reads the second half.
void launch_half_grid(const Job& job) {
    one_element<<<job.blocks(job.segment), job.threads>>>(job.in, job.n, job.minimum, job.timer);
}

// ---- the table -------------------------------------------------------------------------------------------------

struct Variant {
    const char* name;
    const char* how;
    void (*launch)(const Job&);
    int least_threads = 1;
};
constexpr Variant variants[] = {
    {"tutorial", "tree in dynamic shared memory", launch_tutorial},
    {"one_element", "the second listing: one element a thread", launch_one_element},
    {"static_shared", "the first tree, its tile sized by the compiler", launch_static_shared},
    {"shuffle", "each warp folds in registers, one barrier", launch_shuffle, lab::whole_warps},
    {"redux", "one instruction folds a warp, floats as integers", launch_redux, lab::whole_warps},
    {"one_warp", "32 threads, 16-byte loads, no shared memory", launch_one_warp},
};
constexpr Variant twins[] = {
    {"no_barrier", "the tree without its barriers", launch_no_barrier},
    {"shared_input", "every block reduces the first segment, as in the tutorial", launch_shared_input},
    {"half_grid", "one element a thread, in a grid for two", launch_half_grid},
};

// ---- run, check, time ------------------------------------------------------------------------------------------

// Both signs and all sizes, but every fourth run of 512 is positive: minima of both signs, too.
std::vector<float> make_input(int64_t n, uint64_t seed) {
    std::vector<float> in(n);
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = lab::random_bits(seed, i);
        in[i] = std::ldexp(float(int32_t(bits)), -10 - int(bits >> 32 & 15));
        if (i / 512 % 4 == 3) in[i] = std::fabs(in[i]);
    }
    return in;
}

struct Measured {
    lab::Time ms;                // of a launch
    std::vector<double> clocks;  // of all blocks of the runs that were kept, ascending
    std::string right, wrong;

    double at(double share) const { return clocks[size_t(share * double(clocks.size() - 1) + 0.5)]; }
};

// Launches as often as --repeats says, the L2 flushed before each run or not; checks every block's minimum.
Measured measure(lab::Sample& sample, void (*launch)(const Job&), const std::vector<float>& in,
                 const lab::DeviceArray<float>& d_in, bool flush) {
    const int64_t n = int64_t(in.size());
    const int threads = sample.threads();
    const int64_t most = (n - 1) / threads + 1;  // blocks, if each gets one element a thread
    lab::DeviceArray<float> d_minimum(most);
    lab::DeviceArray<long long> d_timer(2 * most);
    int of_block = 0;
    const Job job{d_in.get(), n, threads, 2 * threads, d_minimum.get(), d_timer.get(), &of_block};
    int64_t blocks = 0;
    Measured m{};
    const auto keep = [&] {
        blocks = (n - 1) / of_block + 1;
        const std::vector<long long> timer = d_timer.download(2 * blocks);
        for (int64_t b = 0; b < blocks && m.clocks.size() < 1 << 22; ++b)
            m.clocks.push_back(double(timer[blocks + b] - timer[b]));
    };
    int run = sample.on_gpu() ? -1 : 0;  // the first on a GPU warms up
    const auto prepare = [&] {
        if (run++ > 0) keep();  // what the run before this one left
        d_minimum.poison();
        d_timer.poison();
    };
    m.ms = sample.time(prepare, [&] { launch(job); }, flush);
    keep();
    std::sort(m.clocks.begin(), m.clocks.end());
    const std::vector<float> got = d_minimum.download(blocks);
    int64_t right = 0;
    for (int64_t b = 0; b < blocks; ++b) {
        const float want = on_the_cpu(&in[b * of_block], std::min<int64_t>(of_block, n - b * of_block));
        if (got[b] == want) ++right;
        else if (m.wrong.empty()) m.wrong = lab::text("block %d: ", int(b)) + lab::wanted(got[b], want);
    }
    const int least = threads < warp ? 1 : least_clocks;  // smaller blocks may be quicker
    if (m.wrong.empty() && m.clocks[0] < least)
        m.wrong = lab::text("a block took %.0f clocks, wanted %d or more", m.clocks[0], least);
    m.right = lab::with_commas(right) + " of " + lab::with_commas(blocks);
    return m;
}

std::string number(double x, int digits = 0) { return std::isnan(x) ? "-" : lab::text("%.*f", digits, x); }

int main(int argc, char** argv) {
    lab::Sample sample("02_clock_min", "How many clocks does one block need?");
    sample.defaults(tutorial_blocks * tutorial_segment, 0, tutorial_threads, "elements", "");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const double of_block = sizeof(float) + 2 * sizeof(long long);
    sample.require_memory((sample.shows_limit() ? 2 : 1) * sizeof(float) + of_block / sample.threads());
    sample.require_blocks();
    if (sample.wants("whole_program")) sample.program(whole_program);

    const std::vector<float> in = make_input(sample.n(), sample.seed());
    const lab::DeviceArray<float> d_in(in);
    const double bytes = double(sample.n()) * sizeof(float);
    sample.new_table("minima of " + lab::with_commas(sample.n()) + " floats: clocks of one block");
    sample.columns({"clocks median", "clocks p95", "% of tutorial", "L2 warm", "% of tut. warm"}, 6, 8);
    sample.limit_row(lab::Sample::Limit::read, int64_t(bytes));
    double first_cold = NAN, first_warm = NAN;  // the tutorial's
    const auto rows = [&](const auto& table) {
        for (const Variant& v : table) {
            if (!sample.wants(v.name)) continue;
            const Measured cold = measure(sample, v.launch, in, d_in, !sample.warm());
            const Measured warm = measure(sample, v.launch, in, d_in, false);  // without most of the memory's latency
            if (v.launch == launch_tutorial) first_cold = cold.at(0.5);
            if (v.launch == launch_tutorial) first_warm = warm.at(0.5);
            const std::string wrong = cold.wrong.empty() ? warm.wrong : cold.wrong;
            sample.row({v.name, cold.right, cold.ms, bytes, wrong, lab::Kind::variant,
                        {number(cold.at(0.5)), number(cold.at(0.95)), number(100 * cold.at(0.5) / first_cold, 1),
                         number(warm.at(0.5)), number(100 * warm.at(0.5) / first_warm, 1)}});
        }
    };
    rows(variants);
    rows(twins);
    return sample.verdict();
}
