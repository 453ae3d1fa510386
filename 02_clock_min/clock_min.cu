// 02_clock_min - how many clocks does one block need, and when does the GPU run out of places for blocks?
//
// The input is cut into segments of 2 * threads floats; the last may be short. Block b finds the minimum of
// segment b and measures itself with the clock of the SM that it runs on. First table: the clocks of one block.
//
//   tutorial       tree in dynamic shared memory                     slow: a barrier for each of nine steps
//   static_shared  the same tree, its tile sized by the compiler     as slow: only the way to ask for it differs
//   shuffle        each warp folds in registers, one barrier         slow: five shuffles, each waits for the last
//   redux          one instruction folds a warp: floats as integers  slow: waits for the slowest of eight warps
//   one_warp       32 threads, 16-byte loads, no shared memory       little more than the wait for memory
//
// Second table: the tutorial's block, ever more of them, up to 32 for each SM of the GPU.
//
//   02_clock_min --n 1000000 --only shuffle --threads 512    one variant, other blocks
//   02_clock_min --blocks 1000                               the second table with this many blocks
//   02_clock_min --timeline --csv times.csv                  where and when each block ran, for a plot
//   02_clock_min --wrong shared_input                        a classic mistake
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <numeric>
#include <set>

#include "lab.cuh"

constexpr int tutorial_blocks = 64, tutorial_threads = 256;
constexpr int most_threads = 1024;
constexpr int most_blocks = 1 << 16;  // of the second table
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr size_t most_clocks = 1 << 22;  // kept of all runs together
constexpr int loads = 4;  // of one_warp, in flight before the first is used
constexpr float infinity = std::numeric_limits<float>::infinity();  // the minimum of nothing
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");
static_assert(2 * most_threads * sizeof(float) <= 48 * 1024, "a block's tile must fit without asking for more");

// ---- the answer, slowly ----------------------------------------------------------------------------------------

float on_the_cpu(const float* in, int64_t n) {
    float least = infinity;
    for (int64_t i = 0; i < n; ++i)
        if (in[i] < least) least = in[i];
    return least;
}

// ---- the stopwatch on the GPU ----------------------------------------------------------------------------------
// CUDA has clock64() for the clock of the SM. The SM's number, and nanoseconds that are the same on all SMs, are
// special registers, which take a line of PTX to read.

__device__ unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
__device__ unsigned long long gpu_ns() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

struct Stamp {  // what a block leaves behind besides its minimum
    long long clocks;
    unsigned long long begin_ns, end_ns;
    unsigned sm;
};

struct Watch {
    Stamp* stamps;  // one a block
    bool timeline;  // take the nanoseconds, too: outside of the clocks, as reading them is slow itself
    unsigned long long begin_ns = 0;
    long long begin = 0;

    __device__ void start() {
        if (timeline && threadIdx.x == 0) begin_ns = gpu_ns();
        begin = clock64();
    }
    __device__ void stop() const {
        __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
        if (threadIdx.x != 0) return;
        const long long clocks = clock64() - begin;
        stamps[blockIdx.x] = {clocks, begin_ns, timeline ? gpu_ns() : 0, sm_id()};
    }
};

// ---- the kernels, slow to fast ---------------------------------------------------------------------------------

// in[i], or infinity past the end, which changes no minimum.
__device__ float load(const float* in, int64_t i, int64_t n) { return i < n ? in[i] : infinity; }

// The tutorial's tree: folds tile[0 .. 2 * d) into tile[0], for thread 0 to read.
__device__ void fold_tile(float* tile, int d) {
    const int tid = threadIdx.x;
    for (; d > 0; d /= 2) {
        __syncthreads();  // the loads, or the last step's results, are in the tile
        if (tid < d && tile[tid + d] < tile[tid]) tile[tid] = tile[tid + d];
    }
}

__global__ void tutorial(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    extern __shared__ float dynamic_tile[];  // 2 * blockDim.x floats, asked for at the launch
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * segment + tid;
    watch.start();
    dynamic_tile[tid] = load(in, i, n);
    dynamic_tile[tid + blockDim.x] = load(in, i + blockDim.x, n);
    fold_tile(dynamic_tile, blockDim.x);
    if (tid == 0) minimum[blockIdx.x] = dynamic_tile[0];
    watch.stop();
}

// Every block gets the tile of the largest one.
__global__ void static_shared(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    __shared__ float tile[2 * most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * segment + tid;
    watch.start();
    tile[tid] = load(in, i, n);
    tile[tid + blockDim.x] = load(in, i + blockDim.x, n);
    fold_tile(tile, blockDim.x);
    if (tid == 0) minimum[blockIdx.x] = tile[0];
    watch.stop();
}

// The least of a warp's 32 values, in lane 0.
__device__ float fold_warp(float least) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        least = fminf(least, __shfl_down_sync(all_lanes, least, offset));
    return least;
}

// Each warp leaves one value in shared memory, and the first warp folds those.
__global__ void shuffle(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    __shared__ float of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    const int64_t i = int64_t(blockIdx.x) * segment + tid;
    watch.start();
    float least = fold_warp(fminf(load(in, i, n), load(in, i + blockDim.x, n)));
    if (tid % warp == 0) of_warp[tid / warp] = least;
    __syncthreads();  // all warps have left their values
    if (tid < warp) least = fold_warp(tid < warps ? of_warp[tid] : infinity);
    if (tid == 0) minimum[blockIdx.x] = least;
    watch.stop();
}

// The bits of floats, read as integers, have the floats' order once those of the negative ones are turned round.
__device__ int ordered(float x) { return __float_as_int(x) ^ (__float_as_int(x) >> 31 & 0x7fffffff); }
__device__ float from_ordered(int x) { return __int_as_float(x ^ (x >> 31 & 0x7fffffff)); }

// The least of a warp's 32 integers: one instruction from compute capability 8.0 on; on older GPUs cooperative
// groups do it in another way.
__device__ int redux_min(int least) {
    namespace cg = cooperative_groups;
    return cg::reduce(cg::tiled_partition<warp>(cg::this_thread_block()), least, cg::less<int>());
}

__global__ void redux(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    __shared__ int of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    const int64_t i = int64_t(blockIdx.x) * segment + tid;
    watch.start();
    int least = redux_min(ordered(fminf(load(in, i, n), load(in, i + blockDim.x, n))));
    if (tid % warp == 0) of_warp[tid / warp] = least;
    __syncthreads();
    if (tid < warp) least = redux_min(of_warp[tid < warps ? tid : 0]);
    if (tid == 0) minimum[blockIdx.x] = from_ordered(least);
    watch.stop();
}

// One warp has nobody to wait for. Each lane loads 16 bytes, `loads` times before the first is used: all of the
// tutorial's 512 floats. Lanes past the end load the last pack again; the first ones take a short segment's rest.
__global__ void one_warp(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    const int tid = threadIdx.x;
    const int64_t first = int64_t(blockIdx.x) * segment;
    const int here = int(min(int64_t(segment), n - first)), count = here / 4;
    const float4* packs = reinterpret_cast<const float4*>(in + first);
    watch.start();
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
    watch.stop();
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// static_shared without barriers: a thread compares with what its partner has not written yet. The tutorial's
// ascending input, whose minimum is its first element, would not show it.
__global__ void no_barrier(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    __shared__ float tile[2 * most_threads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t(blockIdx.x) * segment + tid;
    watch.start();
    tile[tid] = load(in, i, n);
    tile[tid + blockDim.x] = load(in, i + blockDim.x, n);
    for (int d = blockDim.x; d > 0; d /= 2)
        if (tid < d && tile[tid + d] < tile[tid]) tile[tid] = tile[tid + d];
    if (tid == 0) minimum[blockIdx.x] = tile[0];
    watch.stop();
}

// The tutorial's own index, in[tid]: every block reduces the first segment.
__global__ void shared_input(const float* in, int64_t n, int, float* minimum, Watch watch) {
    __shared__ float tile[2 * most_threads];
    const int tid = threadIdx.x;
    watch.start();
    tile[tid] = load(in, tid, n);
    tile[tid + blockDim.x] = load(in, tid + blockDim.x, n);
    fold_tile(tile, blockDim.x);
    if (tid == 0) minimum[blockIdx.x] = tile[0];
    watch.stop();
}

// One load a thread, as the tutorial's second listing has it, where the segment has two elements for each.
__global__ void half_segment(const float* in, int64_t n, int segment, float* minimum, Watch watch) {
    __shared__ float tile[most_threads];
    const int tid = threadIdx.x;
    watch.start();
    tile[tid] = load(in, int64_t(blockIdx.x) * segment + tid, n);
    fold_tile(tile, blockDim.x / 2);
    if (tid == 0) minimum[blockIdx.x] = tile[0];
    watch.stop();
}

// ---- the table of variants -------------------------------------------------------------------------------------

struct Variant {
    const char* name;
    const char* how;
    void (*kernel)(const float*, int64_t, int, float*, Watch);
    bool dynamic = false;   // its shared memory is asked for at the launch
    bool one_warp = false;  // 32 threads, whatever --threads says
    int least_threads = 1;
};
constexpr Variant variants[] = {
    {"tutorial", "tree in dynamic shared memory", tutorial, true},
    {"static_shared", "the same tree, its tile sized by the compiler", static_shared},
    {"shuffle", "each warp folds in registers, one barrier", shuffle, false, false, lab::whole_warps},
    {"redux", "one instruction folds a warp, floats as integers", redux, false, false, lab::whole_warps},
    {"one_warp", "32 threads, 16-byte loads, no shared memory", one_warp, false, true},
};
constexpr Variant twins[] = {
    {"no_barrier", "the tree without its barriers", no_barrier},
    {"shared_input", "every block reduces the first segment, as in the tutorial", shared_input},
    {"half_segment", "one load a thread instead of two", half_segment},
};

// The tutorial's figures: blocks of 256 threads, and the clocks that one took on a G80, which had 16 SMs.
struct Point {
    int64_t blocks;
    const char* clocks;
};
constexpr Point g80[] = {{1, "3096"}, {8, "3232"}, {16, "3364"}, {32, "4615"}, {64, "9981"}};

// ---- the input -------------------------------------------------------------------------------------------------

// All sizes up to 2^21 and both signs, but every fourth run of 512 is positive: minima of both signs, too.
std::vector<float> make_input(int64_t n, uint64_t seed) {
    std::vector<float> in(n);
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = lab::random_bits(seed, i);
        const float x = std::ldexp(float(int32_t(bits)), -10 - int(bits >> 32 & 15));
        in[i] = i / 512 % 4 == 3 ? std::fabs(x) : x;
    }
    return in;
}

// ---- run, check, time ------------------------------------------------------------------------------------------

struct Measured {
    double ms;                   // median time of a launch
    std::vector<double> clocks;  // of all blocks of the runs that were kept, ascending
    std::vector<Stamp> stamps;   // of the blocks of the last run
    std::string right, wrong;

    double at(double share) const { return clocks[size_t(share * double(clocks.size() - 1) + 0.5)]; }
    double mean() const { return std::accumulate(clocks.begin(), clocks.end(), 0.0) / double(clocks.size()); }
};

/// Runs a variant as often as --repeats says, the L2 flushed before each run or not; checks every block's minimum.
Measured measure(lab::Sample& sample, const Variant& v, const std::vector<float>& in, bool flush,
                 bool timeline = false) {
    const int64_t n = int64_t(in.size());
    const int threads = v.one_warp ? warp : sample.threads(), segment = 2 * sample.threads();
    const size_t shared_bytes = v.dynamic ? segment * sizeof(float) : 0;
    const int64_t blocks = (n + segment - 1) / segment;
    const lab::DeviceArray<float> d_in(in);
    lab::DeviceArray<float> d_minimum(blocks);
    lab::DeviceArray<Stamp> d_stamps(blocks);
    Measured m{};
    const auto keep = [&] {
        m.stamps = d_stamps.download();
        if (m.clocks.size() < most_clocks)
            for (const Stamp& s : m.stamps) m.clocks.push_back(double(s.clocks));
    };
    int run = sample.on_gpu() ? -1 : 0;  // the first on a GPU warms up
    const auto prepare = [&] {
        if (run++ > 0) keep();  // what the run before this one left
        d_minimum.poison(), d_stamps.poison();
    };
    const Watch watch{d_stamps.get(), timeline};
    m.ms = sample.time(prepare, [&] {
        v.kernel<<<blocks, threads, shared_bytes>>>(d_in.get(), n, segment, d_minimum.get(), watch);
    }, flush);
    keep();
    std::sort(m.clocks.begin(), m.clocks.end());

    const std::vector<float> got = d_minimum.download();
    int64_t right = 0;
    for (int64_t b = 0; b < blocks; ++b) {
        const float want = on_the_cpu(in.data() + b * segment, std::min<int64_t>(segment, n - b * segment));
        if (got[b] == want) ++right;
        else if (m.wrong.empty())
            m.wrong = lab::text("the minimum of block %d: got %.9g, wanted %.9g", int(b), got[b], want);
    }
    m.right = lab::with_commas(right) + " of " + lab::with_commas(blocks);
    return m;
}

std::string clocks_text(double clocks) { return lab::text("%.0f", clocks); }

void variants_table(lab::Sample& sample) {
    const std::vector<float> in = make_input(sample.n(), sample.seed());
    const double bytes = double(sample.n()) * sizeof(float);
    sample.new_table(lab::text("minima of %s floats, %d for each block: clocks of one block",
                               lab::with_commas(sample.n()).c_str(), 2 * sample.threads()));
    sample.columns({"clocks median", "clocks p95", "% of tutorial", "L2 warm", "% of tut. warm"});
    sample.limit_row(lab::Sample::Limit::read, int64_t(bytes));
    double tutorial_clocks[2] = {};
    const auto check = [&](const Variant& v) {
        std::vector<std::string> more;
        Measured m[2];
        for (const int warm : {0, 1}) {  // the wait for memory is the same for all; without it the rest is seen
            m[warm] = measure(sample, v, in, !warm && !sample.warm());
            const double clocks = m[warm].at(0.5);
            if (v.kernel == tutorial) tutorial_clocks[warm] = clocks;
            more.push_back(clocks_text(clocks));
            if (!warm) more.push_back(clocks_text(m[warm].at(0.95)));
            more.push_back(tutorial_clocks[warm] ? lab::text("%.1f", 100 * clocks / tutorial_clocks[warm]) : "-");
        }
        sample.row({v.name, m[0].right, m[0].ms, bytes, m[0].wrong.empty() ? m[1].wrong : m[0].wrong,
                    lab::Kind::variant, more});
    };
    for (const Variant& v : variants)
        if (sample.wants(v.name)) check(v);
    for (const Variant& v : twins)
        if (sample.wants_twin(v.name)) check(v);
}

void blocks_table(lab::Sample& sample, bool timeline) {
    std::set<int64_t> counts;  // ascending
    for (const Point& point : g80) counts.insert(point.blocks);
    for (int per_sm = 1; per_sm <= 32; per_sm *= 2) counts.insert(int64_t(per_sm) * sample.sms());
    if (sample.blocks()) counts = {sample.blocks()};
    const int segment = 2 * sample.threads();
    const size_t shared_bytes = segment * sizeof(float);
    int places = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&places, tutorial, sample.threads(), shared_bytes));
    sample.new_table(lab::text("ever more of the tutorial's blocks: %d SMs have places for %d each, %d in all",
                               sample.sms(), places, sample.sms() * places));
    sample.columns({"SMs used", "clocks mean", "clocks median", "clocks p95", "G80 clocks"});
    for (const int64_t blocks : counts) {
        sample.set_n(blocks * segment);
        const std::vector<float> in = make_input(sample.n(), sample.seed());
        const Measured m = measure(sample, variants[0], in, !sample.warm());
        std::set<unsigned> sms;
        for (const Stamp& s : m.stamps) sms.insert(s.sm);
        std::string then = "-";
        for (const Point& point : g80)
            if (point.blocks == blocks && sample.threads() == tutorial_threads) then = point.clocks;
        sample.row({lab::with_commas(blocks) + (blocks == 1 ? " block" : " blocks"), m.right, m.ms,
                    double(sample.n()) * sizeof(float), m.wrong, lab::Kind::variant,
                    {std::to_string(sms.size()), clocks_text(m.mean()), clocks_text(m.at(0.5)),
                     clocks_text(m.at(0.95)), then}});
        if (!timeline) continue;
        const Measured t = measure(sample, variants[0], in, !sample.warm(), true);
        unsigned long long zero = t.stamps[0].begin_ns;
        for (const Stamp& s : t.stamps) zero = std::min(zero, s.begin_ns);
        for (int64_t b = 0; b < blocks; ++b) {
            const Stamp& s = t.stamps[b];
            sample.record({{"variant", "timeline"}, {"threads", std::to_string(sample.threads())},
                           {"blocks", std::to_string(blocks)}, {"block", std::to_string(b)},
                           {"sm", std::to_string(s.sm)}, {"begin_ns", std::to_string(s.begin_ns - zero)},
                           {"end_ns", std::to_string(s.end_ns - zero)}, {"clocks", std::to_string(s.clocks)}});
        }
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("02_clock_min",
                       "How many clocks does one block need, and when does the GPU run out of places for blocks?");
    bool timeline = false;
    sample.defaults(int64_t(tutorial_blocks) * 2 * tutorial_threads, 0, tutorial_threads,
                    "elements of the first table, 2 * threads for each block",
                    "blocks of the second table (default: the tutorial's, and 1 to 32 for each SM)");
    sample.option("--timeline", timeline, "where and when each block of the second table ran, into the --csv file");
    for (const Variant& v : variants) sample.variant(v.name, v.how, v.least_threads);
    for (const Variant& v : twins) sample.twin(v.name, v.how);
    sample.start(argc, argv);
    if (timeline && !sample.writes_csv()) sample.refuse("--timeline goes into a file; type --csv times.csv, too");
    if (sample.blocks() > most_blocks)
        sample.refuse("--blocks %d is too many; type --blocks %d or less", sample.blocks(), most_blocks);
    const double of_block = sizeof(float) + sizeof(Stamp);
    sample.require_memory((sample.shows_limit() ? 2 : 1) * sizeof(float) + of_block / (2 * sample.threads()));
    sample.require_blocks(2);
    variants_table(sample);
    if (sample.wants("tutorial")) blocks_table(sample, timeline);
    return sample.verdict();
}
