// 02_resident_blocks - when do blocks have to wait for an SM?
//
// An SM has room for a number of blocks, threads, registers and bytes of shared memory. Whichever
// is used up first limits the blocks that it holds at once, its resident blocks. The others wait
// until one ends. Here the tutorial's block runs in ever larger grids, up to 32 blocks for each SM
// of the GPU (clock_min.cu is about one block).
//   tutorial    the clocks of a block            a block that waits has read no clock yet
//   timeline    its begin and end, by a clock    shows which blocks had to wait
//               that all SMs share
//
//   02_resident_blocks --timeline --csv times.csv    where and when each block ran, for a plot
//   02_resident_blocks --wrong shared_input          a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 02_clock_min/resident_blocks.cu
//       common/lab.cpp common/write_file.cpp -o resident_blocks
#include <map>
#include <numeric>
#include <set>
#include "lab.cuh"

constexpr int tutorial_threads = 256;
constexpr int most_blocks = 1 << 18;
constexpr int64_t most_n = 1 << 25;      // floats of one launch
constexpr float infinity = INFINITY;     // the minimum of nothing
constexpr int least_clocks = 100;        // of a block: it loads from memory between its readings
constexpr size_t most_clocks = 1 << 22;  // that are kept for the mean
static_assert(2 * 1024 * sizeof(float) <= 48 * 1024,
              "a block's tile must fit without asking for more shared memory");

// ---- CPU reference ------------------------------------------------------------------------------

// The minimum of each block's segment.
std::vector<float> cpu_reference(const float* in, int64_t n, int segment, int blocks) {
    std::vector<float> least(blocks, infinity);
    for (int64_t i = 0; i < std::min(n, int64_t(blocks) * segment); ++i)
        if (in[i] < least[i / segment]) least[i / segment] = in[i];
    return least;
}

// ---- the tutorial's kernel ----------------------------------------------------------------------

// The SM that the block runs on: a special register, which a line of PTX reads.
__device__ int sm_id() {
    int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

// The minimum of a block's floats by a tree, as in clock_min.cu, which gives a reason for each line
// that differs from the tutorial. Thread 0 notes two clocks of its SM, and then which SM it is.
__global__ void tutorial(const float* in, int64_t n, int segment, float* minimum,
                         long long* timer) {
    extern __shared__ float tile[];  // 2 * blockDim.x floats: the launch's third argument
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
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[block + gridDim.x] = clock64();
    if (tid == 0) timer[block + 2 * gridDim.x] = sm_id();  // differs: the tutorial does not ask
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

// The values that a block notes. The timer has a row for each, with a word for each block.
enum Note { begin_clock, end_clock, on_sm, begin_ns, end_ns, notes };

struct Job {  // what a launch needs
    const float* in;
    int64_t n;                               // floats
    int threads;                             // of a block
    int grid;                                // blocks
    float* minimum;                          // one a block
    long long* timer;                        // [note * grid + b] is what block b noted
    const float* host_in;                    // the same floats, for the check
    std::vector<double> clocks = {};         // of the blocks of all runs that count
    std::vector<long long> last_timer = {};  // of the last run

    int segment() const { return 2 * threads; }  // floats of a block
    size_t tile_bytes() const { return segment() * sizeof(float); }
    const long long* noted(Note note) const { return &last_timer[int64_t(note) * grid]; }
};

void launch_tutorial(Job& job) {
    tutorial<<<job.grid, job.threads, job.tile_bytes()>>>(job.in, job.n, job.segment(), job.minimum,
                                                          job.timer);
}

// The same block. The clocks of two SMs cannot be compared, but globaltimer is the same on all:
// nanoseconds, in steps that the GPU chooses. Reading it takes time, so this kernel is another one,
// and reads it outside of the clocks.
__global__ void timeline(const float* in, int64_t n, int segment, float* minimum,
                         long long* timer) {
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
    __syncthreads();  // all threads are done, so that the clocks are the whole block's
    if (tid == 0) timer[block + gridDim.x] = clock64();
    if (tid == 0) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer[block + 4 * gridDim.x]));
    if (tid == 0) timer[block + 2 * gridDim.x] = sm_id();
}
void launch_timeline(Job& job) {
    timeline<<<job.grid, job.threads, job.tile_bytes()>>>(job.in, job.n, job.segment(), job.minimum,
                                                          job.timer);
}

// ---- how many blocks run at once ----------------------------------------------------------------

// The tutorial's clocks by the number of blocks, on a G80 of 2006 with 16 SMs. A block never
// spreads over two SMs, so with fewer blocks than SMs some SMs are idle: here with fewer than 16.
// With one block on an SM, nothing else computes there while that block waits for memory. An SM of
// compute capability 1.0 holds 768 threads, which is 3 of these blocks. So 48 blocks are resident
// at once, and of 64 blocks 16 wait until others end. Older versions of NVIDIA's sample, which
// have these figures, print the last end minus the first begin, so that the wait is in them.
const std::map<int, const char*> g80 = {
    {1, "3096"}, {8, "3232"}, {16, "3364"}, {32, "4615"}, {64, "9981"}};

// The blocks that an SM of this GPU holds at once: CUDA knows the SM's room, and what the kernel
// takes of it.
int resident_on_sm(int threads) {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tutorial, threads,
                                                        2 * threads * sizeof(float)));
    return blocks;
}

// The numbers of blocks to look at: the tutorial's, 1 to 32 for each SM, and all that are resident.
std::set<int> block_counts(int sms, int resident) {
    std::set<int> counts = {resident};  // ascending
    for (const auto& [blocks, clocks] : g80) counts.insert(blocks);
    for (int per_sm = 1; per_sm <= 32; per_sm *= 2) counts.insert(per_sm * sms);
    return counts;
}

// Before each run, untimed: poison, so that a minimum or a note that nobody wrote is seen.
void prepare(Job& job) {
    CHECK(cudaMemsetAsync(job.minimum, lab::poison_byte, job.grid * sizeof *job.minimum));
    CHECK(cudaMemsetAsync(job.timer, lab::poison_byte, notes * job.grid * sizeof *job.timer));
}

// After each run that counts: what the blocks noted.
void keep_timer(Job& job) {
    job.last_timer.resize(notes * job.grid);
    const size_t bytes = job.last_timer.size() * sizeof(long long);
    CHECK(cudaMemcpy(job.last_timer.data(), job.timer, bytes, cudaMemcpyDeviceToHost));
    for (int b = 0; b < job.grid && job.clocks.size() < most_clocks; ++b)
        job.clocks.push_back(double(job.noted(end_clock)[b] - job.noted(begin_clock)[b]));
}

// Returns what is impossible in timeline's notes, or nothing. The clock of all SMs may not have
// advanced while a block ran, but it never goes back.
std::string wrong_times(const Job& job) {
    for (int b = 0; b < job.grid; ++b)
        if (job.noted(begin_ns)[b] <= 0 || job.noted(end_ns)[b] < job.noted(begin_ns)[b])
            return lab::text("block %d ended before it began", b);
    return "";
}

// From when all blocks of timeline began and ended: how many ran at once, and how many began only
// after another had ended.
void count_waiting(const Job& job, int& at_once, int& waited) {
    std::vector<long long> begin(job.noted(begin_ns), job.noted(begin_ns) + job.grid);
    std::vector<long long> end(job.noted(end_ns), job.noted(end_ns) + job.grid);
    std::sort(begin.begin(), begin.end());
    std::sort(end.begin(), end.end());
    int ended = 0;  // before block b, in the order of their begins, began
    at_once = waited = 0;
    for (int b = 0; b < job.grid; ++b) {
        while (ended < b && end[ended] <= begin[b]) ++ended;
        at_once = std::max(at_once, b + 1 - ended);
        if (ended > 0) ++waited;
    }
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// The tutorial's own index, tid, on data of which each block has its own segment: all blocks reduce
// the first one.
void launch_shared_input(Job& job) {
    tutorial<<<job.grid, job.threads, job.tile_bytes()>>>(job.in, job.n, 0, job.minimum, job.timer);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"tutorial", "the clocks of the tutorial's block", launch_tutorial},
    {"timeline", "when it begins and ends, by a clock of all SMs", launch_timeline},
};
constexpr lab::Variant<Job> twins[] = {
    {"shared_input", "every block reduces the first segment", launch_shared_input}};

// Floats of both signs, but no negative ones for every second block.
std::vector<float> make_input(int64_t n, int segment, uint64_t seed) {
    std::vector<float> in(n);
    for (int64_t i = 0; i < n; ++i)
        in[i] = float(lab::random_bits(seed, i) >> 32) - (i / segment % 2 == 0 ? 0x1p31f : 0);
    return in;
}

std::string number(double x) { return lab::text("%.0f", x); }

// Compares each block's minimum with the CPU's. Its clocks must be possible.
void check(Job& job, lab::Row& row) {
    std::vector<float> got(job.grid);
    CHECK(cudaMemcpy(got.data(), job.minimum, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    const std::vector<float> want = cpu_reference(job.host_in, job.n, job.segment(), job.grid);
    int right = 0;
    for (int b = 0; b < job.grid; ++b) {
        if (got[b] == want[b])
            ++right;
        else if (row.wrong.empty())
            row.wrong = lab::text("block %d: ", b) + lab::wanted(got[b], want[b]);
    }
    const double shortest = *std::min_element(job.clocks.begin(), job.clocks.end());
    const int least = job.threads < 32 ? 1 : least_clocks;  // smaller blocks may be quicker
    if (row.wrong.empty() && shortest < least)
        row.wrong = lab::text("a block took %.0f clocks, wanted %d or more", shortest, least);
    row.result = lab::with_commas(right) + " of " + lab::with_commas(job.grid);
}

// Times a launch of so many blocks, and checks what they did.
lab::Row run(lab::Sample& sample, Job& job, int blocks, void (*launch)(Job&)) {
    job.grid = blocks;
    if (!sample.typed("--n")) job.n = int64_t(blocks) * job.segment();
    sample.set_n(job.n);
    job.clocks.clear();
    lab::Row row;
    row.variant = lab::with_commas(blocks) + (blocks == 1 ? " block" : " blocks");
    row.ms = sample.time(job, prepare, launch, keep_timer, !sample.warm());
    row.bytes = double(job.n) * sizeof(float);
    check(job, row);
    return row;
}

void run_by_clocks(lab::Sample& sample, Job& job, int blocks, void (*launch)(Job&)) {
    lab::Row row = run(sample, job, blocks, launch);
    const std::set<long long> sms(job.noted(on_sm), job.noted(on_sm) + blocks);
    const double sum = std::accumulate(job.clocks.begin(), job.clocks.end(), 0.0);
    const bool on_g80 = job.threads == tutorial_threads && g80.count(blocks);
    row.columns = {number(double(sms.size())), number(sum / double(job.clocks.size())),
                   number(lab::median(job.clocks)), number(lab::quantile(job.clocks, 0.95)),
                   on_g80 ? g80.at(blocks) : "-"};
    sample.row(row);
}

void run_by_time(lab::Sample& sample, Job& job, int blocks, int resident) {
    lab::Row row = run(sample, job, blocks, launch_timeline);
    if (row.wrong.empty()) row.wrong = wrong_times(job);
    int at_once = 0, waited = 0;
    count_waiting(job, at_once, waited);
    row.columns = {number(at_once), number(waited)};
    sample.row(row);
    if (!sample.typed("--timeline")) return;

    const long long *begin = job.noted(begin_ns), *end = job.noted(end_ns);
    const long long zero = *std::min_element(begin, begin + blocks);
    for (int b = 0; b < blocks; ++b) {
        const double clocks = double(job.noted(end_clock)[b] - job.noted(begin_clock)[b]);
        sample.record({{"variant", "timeline"},
                       {"threads", number(job.threads)},
                       {"resident", number(resident)},
                       {"blocks", number(blocks)},
                       {"block", number(b)},
                       {"sm", number(double(job.noted(on_sm)[b]))},
                       {"begin_ns", number(double(begin[b] - zero))},
                       {"end_ns", number(double(end[b] - zero))},
                       {"clocks", number(clocks)}});
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("02_resident_blocks", "When do blocks have to wait for an SM?");
    int64_t n = 0;
    bool writes_timeline = false;
    sample.defaults(0, 0, tutorial_threads, "",
                    "blocks (default: the tutorial's, and 1 to 32 for each SM)");
    sample.option("--n", n, 1, most_n, "elements (default: two for each thread)");
    sample.option("--timeline", writes_timeline,
                  "where and when each block ran, into the --csv file");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    if (writes_timeline && !sample.writes_csv())
        sample.refuse("--timeline fills a file; type --csv times.csv");
    const int threads = sample.threads(), segment = 2 * threads;
    const int on_each = resident_on_sm(threads), resident = on_each * sample.sms();
    std::set<int> counts = block_counts(sample.sms(), resident);
    if (n) counts = {int((n - 1) / segment + 1)};
    if (sample.blocks()) counts = {sample.blocks()};
    const int64_t most = *counts.rbegin();
    sample.set_n(n ? n : most * segment);
    sample.at_most("--n", int64_t(most_blocks) * segment, "those are too many blocks");
    sample.at_most("--blocks", most_blocks, "are too many");
    const double of_block = sizeof(float) + notes * sizeof(long long);
    sample.require_memory(sizeof(float) + of_block / segment, 0,
                          {int64_t(counts.size()) * sample.n()});

    const std::vector<float> in = make_input(sample.n(), segment, sample.seed());
    const lab::DeviceArray<float> d_in(in), d_minimum(most);
    const lab::DeviceArray<long long> d_timer(notes * most);
    Job job{d_in.get(), n, threads, 0, d_minimum.get(), d_timer.get(), in.data()};

    sample.new_table(lab::text("clocks of blocks: %d SMs hold %d each, %d in all", sample.sms(),
                               on_each, resident));
    sample.columns({"SMs used", "clocks mean", "clocks median", "clocks p95", "G80 clocks"}, 6, 14);
    for (const int blocks : counts) {
        if (sample.wants("tutorial")) run_by_clocks(sample, job, blocks, launch_tutorial);
        if (sample.wants("shared_input")) run_by_clocks(sample, job, blocks, launch_shared_input);
    }
    sample.new_table(
        "by the clock of all SMs: blocks that ran at once, and that began when another had ended");
    sample.columns({"at once", "had to wait"}, 6, 14);
    for (const int blocks : counts)
        if (sample.wants("timeline")) run_by_time(sample, job, blocks, resident);
    return sample.verdict();
}
