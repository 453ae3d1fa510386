// 02_resident_blocks - when do blocks have to wait for an SM?
//
// An SM has room for so many blocks, threads, registers and bytes of shared memory; what is used up first limits
// how many blocks it holds at once. These are resident, and the others wait until one ends. Here are ever more of
// the tutorial's blocks, up to 32 for each SM of the GPU (clock_min.cu looks at one block):
//   tutorial  the clocks of a block, as the tutorial counts them         a block that waits has not begun to count
//   timeline  when it begins and ends, by a clock that all SMs share     so this shows which blocks had to wait
//   02_resident_blocks --timeline --csv times.csv                        where and when each block ran, for a plot
//   nvcc -std=c++17 -arch=native -Icommon 02_clock_min/resident_blocks.cu common/lab.cpp common/write_file.cpp -o resident_blocks
#include <map>
#include <numeric>
#include <set>

#include "lab.cuh"

constexpr int tutorial_threads = 256;
constexpr int most_blocks = 1 << 18;
constexpr int64_t most_n = 1 << 25;   // floats of one launch
constexpr int timer_rows = 5;         // a word for each block: clocks at its begin and end, its SM, ns at both
constexpr float infinity = INFINITY;  // the minimum of nothing
constexpr int least_clocks = 100;     // a block of a warp or more takes longer: it loads from memory between its clocks
static_assert(2 * 1024 * sizeof(float) <= 48 * 1024, "a block's tile must fit without asking for more");

// ---- the answer, slowly ----------------------------------------------------------------------------------------

// The least of each block's segment.
std::vector<float> on_the_cpu(const float* in, int64_t n, int64_t segment, int64_t blocks) {
    std::vector<float> least(blocks, infinity);
    for (int64_t i = 0; i < std::min(n, blocks * segment); ++i)
        if (in[i] < least[i / segment]) least[i / segment] = in[i];
    return least;
}

// ---- the tutorial's kernel -------------------------------------------------------------------------------------

struct Job {  // what a launch needs
    const float* in;
    int64_t n;
    int blocks, threads;
    int segment;       // floats for one block, two a thread
    float* minimum;    // one a block
    long long* timer;  // as in the tutorial: [b] is when block b began, [blocks + b] when it ended, and so on
    size_t tile_bytes = segment * sizeof(float);
};

// The SM that the block runs on: a special register, which a line of PTX reads.
__device__ int sm_id() {
    int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

// The least of a block's floats by a tree, as in clock_min.cu, where each line that differs from the tutorial's has
// its reason. Thread 0 notes the clocks of its SM, and then which SM it is.
__global__ void tutorial(const float* in, int64_t n, int segment, float* minimum, long long* timer) {
    extern __shared__ float tile[];  // 2 * blockDim.x floats, asked for at the launch
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    const int64_t i = int64_t(block) * segment + tid;
    if (tid == 0) timer[block] = clock64();
    tile[tid] = i < n ? in[i] : infinity;
    tile[tid + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : infinity;
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();  // the floats, or the last step's results, are in the tile
        if (tid < d && tile[tid + d] < tile[tid]) tile[tid] = tile[tid + d];
    }
    if (tid == 0) minimum[block] = tile[0];
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[block + gridDim.x] = clock64();
    if (tid == 0) timer[block + 2 * gridDim.x] = sm_id();  // differs: the tutorial does not ask
}
void launch_tutorial(const Job& job) {
    tutorial<<<job.blocks, job.threads, job.tile_bytes>>>(job.in, job.n, job.segment, job.minimum, job.timer);
}

// Its author's clocks by the number of blocks, on a G80 of 2006 with 16 SMs. An SM of compute capability 1.0 holds
// 768 threads, so 3 of these blocks: 48 are resident at once, and of 64 blocks 16 wait until others end.
const std::map<int64_t, const char*> g80 = {{1, "3096"}, {8, "3232"}, {16, "3364"}, {32, "4615"}, {64, "9981"}};

// How many of these blocks an SM of this GPU holds: CUDA knows the SM's room, and what the kernel takes of it.
int resident_on_sm(int threads) {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tutorial, threads, 2 * threads * sizeof(float)));
    return blocks;
}

// The numbers of blocks to look at, ascending: the author's; 1 to 32 for each SM; and all that are resident.
std::set<int64_t> block_counts(int64_t sms, int64_t resident) {
    std::set<int64_t> counts = {resident};
    for (const auto& [blocks, clocks] : g80) counts.insert(blocks);
    for (int per_sm = 1; per_sm <= 32; per_sm *= 2) counts.insert(per_sm * sms);
    return counts;
}

// What the blocks noted, and what a row shows of it: the SMs, the blocks' clocks, and what they were on that G80.
struct Notes {
    int64_t blocks, threads;
    std::vector<double> clocks;    // of all runs that count, ascending
    std::vector<long long> timer;  // of the last run
    const long long* row(int of_timer) const { return timer.data() + of_timer * blocks; }
    // Empty if each block took some time. The clock of all SMs may not have advanced, but it never goes back.
    std::string wrong(bool of_all_sms) const {
        const int least = threads < 32 ? 1 : least_clocks;  // smaller blocks may be quicker
        if (clocks[0] < least) return lab::text("a block took %.0f clocks, wanted %d or more", clocks[0], least);
        for (int64_t b = 0; of_all_sms && b < blocks; ++b)
            if (row(3)[b] <= 0 || row(4)[b] < row(3)[b]) return lab::text("block %d ended before it began", int(b));
        return "";
    }
};
using Texts = std::vector<std::string>;
template <class T> std::string number(T x) { return lab::text("%.0f", double(x)); }
Texts clocks_columns(const Notes& of) {
    const std::set<long long> sms(of.row(2), of.row(3));
    const double mean = std::accumulate(of.clocks.begin(), of.clocks.end(), 0.0) / double(of.clocks.size());
    const auto at = [&](size_t percent) { return number(of.clocks[of.clocks.size() * percent / 100]); };
    const bool as_then = of.threads == tutorial_threads && g80.count(of.blocks);
    return {number(sms.size()), number(mean), at(50), at(95), as_then ? g80.at(of.blocks) : "-"};
}

// ---- the rungs -------------------------------------------------------------------------------------------------

// The same block. Two SMs' clocks cannot be compared, but globaltimer is the same on all: nanoseconds, in steps
// that the GPU chooses. Reading it takes time, so it is read outside of the clocks, and in a kernel of its own.
__global__ void timeline(const float* in, int64_t n, int segment, float* minimum, long long* timer) {
    extern __shared__ float tile[];
    const int tid = threadIdx.x;
    const int block = blockIdx.x;
    const int64_t i = int64_t(block) * segment + tid;
    if (tid == 0) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer[block + 3 * gridDim.x]));
    if (tid == 0) timer[block] = clock64();
    tile[tid] = i < n ? in[i] : infinity;
    tile[tid + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : infinity;
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();  // the floats, or the last step's results, are in the tile
        if (tid < d && tile[tid + d] < tile[tid]) tile[tid] = tile[tid + d];
    }
    if (tid == 0) minimum[block] = tile[0];
    __syncthreads();  // thread 0 waits for the rest, so that its clocks are the block's
    if (tid == 0) timer[block + gridDim.x] = clock64();
    if (tid == 0) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer[block + 4 * gridDim.x]));
    if (tid == 0) timer[block + 2 * gridDim.x] = sm_id();
}
void launch_timeline(const Job& job) {
    timeline<<<job.blocks, job.threads, job.tile_bytes>>>(job.in, job.n, job.segment, job.minimum, job.timer);
}

// From when all blocks began and ended: how many ran at once, and how many began only when another had ended.
Texts waiting_columns(const Notes& of) {
    std::vector<long long> begin(of.row(3), of.row(4)), end(of.row(4), of.row(5));
    std::sort(begin.begin(), begin.end());
    std::sort(end.begin(), end.end());
    int64_t ended = 0, at_once = 0, waited = 0;
    for (int64_t b = 0; b < of.blocks; ++b) {
        while (ended < b && end[ended] <= begin[b]) ++ended;  // before block b, in the order of their begins, began
        at_once = std::max(at_once, b + 1 - ended);
        if (ended > 0) ++waited;
    }
    return {number(at_once), number(waited)};
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The tutorial's own index, in[tid], on input where each block has a segment of its own: all get the first one.
void launch_shared_input(const Job& job) {
    tutorial<<<job.blocks, job.threads, job.tile_bytes>>>(job.in, job.n, 0, job.minimum, job.timer);
}

// ---- the table -------------------------------------------------------------------------------------------------

struct Variant {
    const char* name;
    const char* how;
    void (*launch)(const Job&);
    int least_threads = 1;
};
constexpr Variant by_clocks[] = {{"tutorial", "the clocks of the tutorial's block", launch_tutorial}};
constexpr Variant by_time[] = {{"timeline", "when it begins and ends, by a clock of all SMs", launch_timeline}};
constexpr Variant twins[] = {{"shared_input", "every block reduces the first segment", launch_shared_input}};

// ---- run, check, time ------------------------------------------------------------------------------------------

int main(int argc, char** argv) {
    lab::Sample sample("02_resident_blocks", "When do blocks have to wait for an SM?");
    int64_t n = 0;
    bool writes_timeline = false;
    sample.defaults(0, 0, tutorial_threads, "", "blocks (default: the tutorial's, and 1 to 32 for each SM)");
    sample.option("--n", n, 1, most_n, "elements (default: two for each thread)");
    sample.option("--timeline", writes_timeline, "where and when each block ran, into the --csv file");
    sample.variants(by_clocks, by_time);
    sample.twins(twins);
    sample.start(argc, argv);
    if (writes_timeline && !sample.writes_csv()) sample.refuse("--timeline fills a file; type --csv times.csv");
    const int threads = sample.threads(), segment = 2 * threads;
    const int on_sm = resident_on_sm(threads), resident = on_sm * sample.sms();
    std::set<int64_t> counts = block_counts(sample.sms(), resident);
    if (n) counts = {(n - 1) / segment + 1};
    if (sample.blocks()) counts = {sample.blocks()};
    const int64_t most = *counts.rbegin();
    sample.set_n(n ? n : most * segment);
    sample.at_most("--n", int64_t(most_blocks) * segment, "those are too many blocks");
    sample.at_most("--blocks", most_blocks, "are too many");
    sample.require_memory(sizeof(float) + double(sizeof(float) + timer_rows * sizeof(long long)) / segment, 0,
                          {int64_t(counts.size()) * sample.n()});

    std::vector<float> in(sample.n());  // both signs, but no negative ones for every second block
    for (int64_t i = 0; i < sample.n(); ++i)
        in[i] = float(lab::random_bits(sample.seed(), i) >> 32) - (i / segment % 2 == 0 ? 0x1p31f : 0);
    lab::DeviceArray<float> d_in(in), d_minimum(most);
    lab::DeviceArray<long long> d_timer(int64_t(timer_rows) * most);
    const auto row = [&](const Variant& v, int64_t blocks, Texts (*columns)(const Notes&)) {
        sample.set_n(n ? n : blocks * segment);
        const Job job{d_in.get(), sample.n(), int(blocks), threads, segment, d_minimum.get(), d_timer.get()};
        Notes of{blocks, threads, {}, {}};
        const auto keep = [&] {
            of.timer = d_timer.download(timer_rows * blocks);
            for (int64_t b = 0; b < blocks && of.clocks.size() < 1 << 22; ++b)
                of.clocks.push_back(double(of.timer[blocks + b] - of.timer[b]));
        };
        int run = sample.on_gpu() ? -1 : 0;  // the first on a GPU warms up
        const auto prepare = [&] {
            if (run++ > 0) keep();  // what the run before this one left
            d_minimum.poison();
            d_timer.poison();
        };
        const lab::Time ms = sample.time(prepare, [&] { v.launch(job); });
        keep();
        std::sort(of.clocks.begin(), of.clocks.end());
        const std::vector<float> got = d_minimum.download(blocks);
        const std::vector<float> want = on_the_cpu(in.data(), sample.n(), segment, blocks);
        int64_t right = 0;
        std::string wrong;
        for (int64_t b = 0; b < blocks; ++b) {
            if (got[b] == want[b]) ++right;
            else if (wrong.empty()) wrong = lab::text("block %d: ", int(b)) + lab::wanted(got[b], want[b]);
        }
        if (wrong.empty()) wrong = of.wrong(v.launch == launch_timeline);
        sample.row({lab::with_commas(blocks) + (blocks == 1 ? " block" : " blocks"),
                    lab::with_commas(right) + " of " + lab::with_commas(blocks), ms, 4.0 * double(sample.n()),
                    wrong, lab::Kind::variant, columns(of)});
        return of;
    };
    sample.new_table(lab::text("clocks of blocks: %d SMs hold %d each, %d in all", sample.sms(), on_sm, resident));
    sample.columns({"SMs used", "clocks mean", "clocks median", "clocks p95", "G80 clocks"}, 6, 14);
    for (const int64_t blocks : counts)
        for (const Variant& v : {by_clocks[0], twins[0]})
            if (sample.wants(v.name)) row(v, blocks, clocks_columns);
    sample.new_table("by the clock of all SMs: blocks that ran at once, and that began when another had ended");
    sample.columns({"at once", "had to wait"}, 6, 14);
    if (!sample.wants(by_time[0].name)) counts.clear();
    for (const int64_t blocks : counts) {
        const Notes of = row(by_time[0], blocks, waiting_columns);
        const long long *sm = of.row(2), *begin = of.row(3), *end = of.row(4), zero = *std::min_element(begin, end);
        for (int64_t b = 0; b < blocks && writes_timeline; ++b)
            sample.record({{"variant", "timeline"}, {"threads", number(threads)}, {"resident", number(resident)},
                           {"blocks", number(blocks)}, {"block", number(b)}, {"sm", number(sm[b])},
                           {"begin_ns", number(begin[b] - zero)}, {"end_ns", number(end[b] - zero)},
                           {"clocks", number(of.timer[blocks + b] - of.timer[b])}});
    }
    return sample.verdict();
}
