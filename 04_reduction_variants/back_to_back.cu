// 04_back_to_back - what does a launch cost when many follow one another?
//
// For 2^16 ints most of a sum's time is its launch. Here 1,000 sums follow one another, each of
// other ints. They share one word of scratch memory, so each must wait for the sum before it. The
// kernel is the same in all rows. Only the launches differ:
//   one_by_one        the host launches each sum         slow: the host needs time for each
//   overlapped        a sum begins before the last ends  slow: the host still launches each
//   graph             a graph launches all at once       slow: a sum begins when the last has ended
//   graph_overlapped  a graph of overlapped launches     for sums that are known in advance
// A row shows the time from one sum to the next. A program that waits for each result gains
// nothing.
//
//   04_back_to_back --only one_by_one --n 1000    one row, another size
//   04_back_to_back --wrong no_reset              a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 04_reduction_variants/back_to_back.cu
//       common/lab.cpp common/write_file.cpp -o back_to_back
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int threads = 512;  // of a block
constexpr int warp = 32;      // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
constexpr int pack_size = sizeof(int4) / sizeof(int);  // ints that one load brings
static_assert(threads <= warp * warp, "one warp must be able to add the sums of all warps");

// Sum k starts at element k * shift. A sum that another one disturbs then has a wrong value, too.
constexpr int shift = pack_size;

constexpr int most_sums = lab::gpu ? 1000 : 8;                   // in a row,
constexpr int64_t most_elements = lab::gpu ? 1 << 30 : 1 << 17;  // and fewer if n is large

// ---- CPU reference ------------------------------------------------------------------------------

// All sums modulo 2^32. Sum k + 1 is sum k without the first `shift` ints and with the next ones.
std::vector<int> cpu_reference(const std::vector<int>& in, int64_t n, int64_t sums) {
    std::vector<int> want(sums);
    unsigned sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i];
    int64_t first = 0;
    for (int& one : want) {
        one = int(sum);
        for (const int64_t end = first + shift; first < end; ++first)
            sum += unsigned(in[first + n]) - in[first];
    }
    return want;
}

// ---- the kernel ---------------------------------------------------------------------------------

// Programmatic dependent launch (compute capability 9.0; other launches ignore both calls). The
// next kernel may begin once each block of this one has called let_next_begin() or ended. Then both
// run at the same time. The call publishes nothing: the next kernel need not see what this one has
// written before the call.
__device__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900 || defined(CUDACPU)
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
// Waits until the kernel before this one has ended and all that it wrote is visible. Only then may
// a thread touch memory that both use. That kernel has waited for the one before it, and so on, so
// all earlier kernels have ended. A kernel in which no thread waits would break this chain.
__device__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900 || defined(CUDACPU)
    cudaGridDependencySynchronize();
#endif
}

__device__ unsigned reduce_warp(unsigned sum) {  // lane 0 has the result
    for (int offset = warp / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}
__device__ unsigned reduce_block(unsigned sum) {  // thread 0 has the result
    __shared__ unsigned of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    sum = reduce_warp(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have stored their sums
    if (tid < warp) sum = reduce_warp(tid < warps ? of_warp[tid] : 0);
    return sum;
}
// The sum of this block's share, in thread 0.
__device__ unsigned block_sum(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t count = n / pack_size, step = int64_t(gridDim.x) * blockDim.x;
    unsigned sum = 0;
    for (int64_t i = first; i < count; i += step) {
        const int4 pack = packs[i];
        sum += unsigned(pack.x) + pack.y + pack.z + pack.w;
    }
    const int64_t tail = count * pack_size + first;
    if (tail < n) sum += in[tail];
    return reduce_block(sum);
}

using Word = unsigned long long;

// Ticket and sum in one atomic: the upper half of the word is the sum of the blocks that have
// added, and the lower half is their number. The block that adds last has the whole sum. It clears
// the word for the next kernel. All kernels use the same word, so each waits before it adds. The
// block's own sum needs nothing from other kernels, so it is computed while the last one still
// runs.
__global__ void packed(const int* in, int64_t n, Word* word, int* result) {
    let_next_begin();
    const Word mine = Word(block_sum(in, n)) << 32 | 1;
    if (threadIdx.x != 0) return;
    wait_for_previous();
    const Word before = atomicAdd(word, mine);
    if (unsigned(before) != gridDim.x - 1) return;
    *result = int((before + mine) >> 32);
    atomicExch(word, 0);
}

// ---- the rows, slow to fast ---------------------------------------------------------------------

struct Job {  // what a launch needs
    int64_t n;
    int blocks;
    std::vector<int> want;  // the CPU's results
    const lab::DeviceArray<int> in;
    lab::DeviceArray<int> results{int64_t(want.size())};
    const lab::DeviceArray<Word> word{std::vector<Word>(1)};  // 0 between two kernels
    const lab::DeviceArray<char> scratch{1 << 20};            // for CUB
    cudaStream_t stream = nullptr;                            // the one that a graph records
#ifndef CUDACPU                                               // the CPU device has no graphs
    std::map<void (*)(Job&), cudaGraphExec_t> graphs = {};    // by the launches that they record
#endif

    int sums() const { return int(want.size()); }
};

void launch_one_by_one(Job& job) {
    for (int k = 0; k < job.sums(); ++k)
        packed<<<job.blocks, threads, 0, job.stream>>>(job.in.get() + k * shift, job.n,
                                                       job.word.get(), job.results.get() + k);
}

// A launch with this attribute may begin before the kernel before it in the stream has ended.
cudaLaunchConfig_t overlapping(const Job& job) {
    static cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = job.blocks;
    config.blockDim = threads;
    config.stream = job.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return config;
}
void launch_overlapped(Job& job) {
    const cudaLaunchConfig_t config = overlapping(job);
    for (int k = 0; k < job.sums(); ++k)
        CHECK(cudaLaunchKernelEx(&config, packed, job.in.get() + k * shift, job.n, job.word.get(),
                                 job.results.get() + k));
}

#ifndef CUDACPU
// Makes a graph: runs `launches` with a stream that records them and executes none.
cudaGraphExec_t record(Job& job, void (*launches)(Job&)) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&job.stream));
    CHECK(cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeThreadLocal));
    launches(job);
    CHECK(cudaStreamEndCapture(job.stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(job.stream));
    job.stream = nullptr;
    return ready;
}
// One call starts all launches. The first one, which no row times, also makes the graph.
void launch_graph_of(Job& job, void (*launches)(Job&)) {
    cudaGraphExec_t& graph = job.graphs[launches];
    if (!graph) graph = record(job, launches);
    CHECK(cudaGraphLaunch(graph, nullptr));
}
void launch_graph(Job& job) { launch_graph_of(job, launch_one_by_one); }

// The recorded edges from kernel to kernel are programmatic, because the launches have the
// attribute.
void launch_graph_overlapped(Job& job) { launch_graph_of(job, launch_overlapped); }

// The limit: kernels that only wait for each other.
__global__ void nothing() {
    let_next_begin();
    wait_for_previous();
}
void launch_nothing(Job& job) {
    const cudaLaunchConfig_t config = overlapping(job);
    for (int k = 0; k < job.sums(); ++k) CHECK(cudaLaunchKernelEx(&config, nothing));
}
void launch_graph_of_nothing(Job& job) { launch_graph_of(job, launch_nothing); }

#ifdef CUB_VERSION
void launch_cub(Job& job) {
    size_t bytes = job.scratch.bytes();
    for (int k = 0; k < job.sums(); ++k)
        CHECK(cub::DeviceReduce::Sum(job.scratch.get(), bytes, job.in.get() + k * shift,
                                     job.results.get() + k, job.n, job.stream));
}
void launch_graph_of_cub(Job& job) { launch_graph_of(job, launch_cub); }
#endif
#endif

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// Nobody clears the word. The program's first sum is right, so a test that launches once passes.
// After that no block draws the number of the last one.
__global__ void no_reset(const int* in, int64_t n, Word* word, int* result) {
    const Word mine = Word(block_sum(in, n)) << 32 | 1;
    if (threadIdx.x != 0) return;
    const Word before = atomicAdd(word, mine);
    if (unsigned(before) == gridDim.x - 1) *result = int((before + mine) >> 32);
}
void launch_no_reset(Job& job) {
    for (int k = 0; k < job.sums(); ++k)
        no_reset<<<job.blocks, threads>>>(job.in.get() + k * shift, job.n, job.word.get(),
                                          job.results.get() + k);
}

#ifndef CUDACPU  // where no two kernels run at the same time
// packed without its wait, "because the launches are in one stream". The blocks of two sums add to
// the word at the same time.
__global__ void no_wait(const int* in, int64_t n, Word* word, int* result) {
    let_next_begin();
    const Word mine = Word(block_sum(in, n)) << 32 | 1;
    if (threadIdx.x != 0) return;
    const Word before = atomicAdd(word, mine);
    if (unsigned(before) != gridDim.x - 1) return;
    *result = int((before + mine) >> 32);
    atomicExch(word, 0);
}
void launch_no_wait(Job& job) {
    const cudaLaunchConfig_t config = overlapping(job);
    for (int k = 0; k < job.sums(); ++k)
        CHECK(cudaLaunchKernelEx(&config, no_wait, job.in.get() + k * shift, job.n, job.word.get(),
                                 job.results.get() + k));
}
#endif

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"one_by_one", "the host launches each sum", launch_one_by_one},
    {"overlapped", "programmatic dependent launch", launch_overlapped},
#ifndef CUDACPU
    {"graph", "a graph of all launches", launch_graph},
    {"graph_overlapped", "a graph of overlapped launches", launch_graph_overlapped},
#endif
};
constexpr lab::Variant<Job> twins[] = {
    {"no_reset", "the word is not cleared for the next sum", launch_no_reset},
#ifndef CUDACPU
    {"no_wait", "overlapped, without waiting for the sum before", launch_no_wait},
#endif
};

void prepare(Job& job) { job.results.poison(); }

// Compares every sum. The row shows the time of one.
void check(Job& job, lab::Row& row) {
    const std::vector<int> got = job.results.download();
    int right = 0;
    for (int k = 0; k < job.sums(); ++k) {
        if (got[k] == job.want[k])
            ++right;
        else if (row.wrong.empty())
            row.wrong = lab::text("sum %d: ", k) + lab::wanted(got[k], job.want[k]);
    }
    row.result = lab::with_commas(right) + " of " + lab::with_commas(job.sums());
    row.bytes = double(job.n) * sizeof(int);
    row.ms.ms /= job.sums();
    row.ms.back_to_back = lab::not_timed;
}

#ifndef CUDACPU
void limit_row(lab::Sample& sample, Job& job) {
    lab::Row row;
    row.variant = "no work";
    row.kind = lab::Kind::limit;
    row.bytes = double(job.n) * sizeof(int);
    row.ms = sample.time(job, prepare, launch_graph_of_nothing) / job.sums();
    sample.row(row);
}
#endif

// Was the kernel compiled for a GPU that overlaps launches? Older code does not wait.
bool waits() {
    cudaFuncAttributes of;
    CHECK(cudaFuncGetAttributes(&of, packed));
    return !lab::gpu || of.ptxVersion >= 90;
}

int main(int argc, char** argv) {
    lab::Sample sample("04_back_to_back", "What does a launch cost when many follow one another?");
    sample.defaults(lab::gpu ? 1 << 16 : 1 << 14, 0, 0, "elements of each sum",
                    "blocks (default: as many as n needs, at most a full GPU)");
    int64_t sums = most_sums;
    sample.option("--sums", sums, 1, most_sums, "sums in a row; fewer if n is large");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const bool can_overlap = waits();
    const char* const why = "its kernel needs a build for compute capability 9.0 or more";
    if (!can_overlap) {
        sample.leave_out("overlapped", why, "--only one_by_one");
        sample.leave_out("graph_overlapped", why, "--only graph");
        sample.leave_out("no_wait", why, "--wrong no_reset");
    }
    const int64_t n = sample.n();
    sums = std::clamp<int64_t>(most_elements / n, 1, sums);
    const int64_t size = n + sums * shift;
    sample.require_memory(sizeof(int), 1 << 21);
    std::vector<int> in(size);
    for (int64_t i = 0; i < size; ++i) in[i] = int(lab::random_bits(sample.seed(), i));

    sample.new_table(lab::text("sums of %s ints (%s), number in a row: %d; time of one sum",
                               lab::with_commas(n).c_str(),
                               lab::bytes_text(double(n) * sizeof(int)).c_str(), int(sums)),
                     false);
    const int full = sample.blocks_to_fill(packed, threads);
    const int64_t useful = (n / pack_size + threads - 1) / threads;
    const int blocks = sample.blocks() ? full : int(std::clamp<int64_t>(useful, 1, full));
    Job job{n, blocks, cpu_reference(in, n, sums), lab::DeviceArray<int>(in)};
#ifdef CUDACPU
    if (sample.wants_all())
        sample.say("graph, graph_overlapped: left out, because the CPU device has no graphs");
#else
    if (sample.shows_limit() && can_overlap) limit_row(sample, job);
#ifdef CUB_VERSION
    const bool counts_in_ints = CUB_VERSION < 300000;
    if (!counts_in_ints || n <= std::numeric_limits<int>::max())
        sample.library_row("CUB", lab::library_version(CUB_VERSION) + " in a graph", job,
                           launch_graph_of_cub, prepare, check);
#endif
#endif
    sample.rows(job, variants, prepare, check);
    sample.rows(job, twins, prepare, check);
#ifndef CUDACPU
    for (const auto& [launches, graph] : job.graphs) CHECK(cudaGraphExecDestroy(graph));
#endif
    return sample.verdict();
}
