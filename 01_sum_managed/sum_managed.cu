// 01_sum_managed - how fast can a GPU add ten million integers, and what does managed memory cost?
//
// First table: the data are in the GPU's memory already, and the kernels compete.
//   tutorial      grid-stride loop, tree, one atomicAdd a block   slow: 256 blocks on any GPU
//   one_each      the same kernel, a thread for each element      slow: a tree for each 256 of them
//   full_grid     the same kernel, as many blocks as fit          slow: two barriers a step
//   shuffle       registers and shuffles instead of the tree      slow: one load for every 4 bytes
//   vectorised    16-byte loads, four in flight                   slow: the result needs a reset
//   two_sums      each launch clears the next launch's sum        one launch, nothing else
//
// Second table: the kernel reads managed memory, and its pages are in different places. Each row
// appears with two kernels, the tutorial's and two_sums.
//   page_faults   at the host: the first touch of a page moves it      slow: waits for each fault
//   prefetched    at the host, moved ahead by cudaMemPrefetchAsync     slow: waits for all pages
//   resident      on the GPU already                                   nothing left to move
// host_data.cu goes on: what is the fastest way to the kernel for data in the host's memory?
//
//   01_sum_managed --n 1000003 --only tutorial --only prefetched    one kernel, one way
//   01_sum_managed --wrong no_reset                                 a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 01_sum_managed/sum_managed.cu
//       common/lab.cpp common/write_file.cpp -o sum_managed
#include <chrono>
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int tutorial_n = 10'000'000, tutorial_blocks = 256, tutorial_threads = 256;
constexpr int most_threads = 1024;  // of a block
constexpr int warp = 32;            // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
static_assert(most_threads <= warp * warp, "one warp must be able to add the sums of all warps");

// atomicAdd has no signed 64-bit form. An unsigned sum serves as well, because in two's complement
// both are added alike. The conversion from int to Total extends the sign.
using Total = unsigned long long;

// ---- CPU reference ------------------------------------------------------------------------------

Total cpu_reference(const int* in, int64_t n) {
    Total sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i];
    return sum;
}

// ---- the tutorial's kernel ----------------------------------------------------------------------

// Each thread adds its share, a tree adds the sums of a block's threads, and one atomicAdd a block
// adds the block's sum to the total. Not as in the tutorial: n, i and all sums have 64 bits (i plus
// a step may pass 2^31), the tile has room for any --threads, and blockDim.x replaces a macro.
__global__ void tutorial(const int* in, int64_t n, Total* total) {
    __shared__ Total tile[most_threads];  // each block has its own
    const int tid = threadIdx.x;

    // A grid-stride loop: neighbouring threads read neighbouring ints (coalesced), then the whole
    // grid moves on. It works for any n and any number of blocks.
    Total sum = 0;
    for (int64_t i = tid + int64_t(blockDim.x) * blockIdx.x; i < n;
         i += int64_t(gridDim.x) * blockDim.x)
        sum += in[i];
    tile[tid] = sum;
    __syncthreads();  // all sums of the block are in the tile

    for (int length = blockDim.x / 2; length >= 1; length /= 2) {
        Total pair = 0;  // the tutorial starts it at -1; that value is never read
        if (tid < length) pair = tile[tid] + tile[tid + length];
        __syncthreads();  // the tutorial's; not needed: in this step only tid reads tile[tid]
        if (tid < length) tile[tid] = pair;
        __syncthreads();  // the sums of this step are there for the next one
    }

    // A block that begins past the end has added nothing and needs no atomic. The condition is the
    // same for all threads of a block, so the warps do not diverge.
    if (int64_t(blockDim.x) * blockIdx.x < n) {
        if (tid == 0) atomicAdd(total, tile[0]);
    }
}

// ---- the tutorial's whole program ---------------------------------------------------------------

// Managed memory has one address for host and GPU. The program allocates, copies and frees nothing:
// the first touch of a page moves it. cudaMallocManaged() returns such memory at run time.
__managed__ int source[tutorial_n];
__managed__ Total final_result[1] = {0};

double get_time() {  // seconds; the tutorial asks gettimeofday()
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

bool whole_program() {
    std::srand(1);  // the tutorial seeds with the time; here each run adds the same numbers
    for (int& x : source) x = std::rand();
    final_result[0] = 0;             // not in the tutorial: there a second launch adds to this sum
    CHECK(cudaDeviceSynchronize());  // as in the tutorial: earlier work on the GPU has ended

    const double gpu_start = get_time();
    tutorial<<<tutorial_blocks, tutorial_threads>>>(source, tutorial_n, final_result);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end? Only then may the host read
    const double gpu_end = get_time();

    const double cpu_start = get_time();
    const Total cpu_sum = cpu_reference(source, tutorial_n);
    const double cpu_end = get_time();

    // The tutorial adds in 32 bits, where this sum overflows. So print the lower 32 bits.
    std::printf("GPU sum: %u, CPU sum: %u (the lower 32 bits)\n", unsigned(final_result[0]),
                unsigned(cpu_sum));
    if (lab::gpu)  // most of the GPU's time is page faults: see the second table
        std::printf("GPU time %.3f ms, CPU time %.3f ms\n", 1e3 * (gpu_end - gpu_start),
                    1e3 * (cpu_end - cpu_start));
    return final_result[0] == cpu_sum;
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Job {  // what a launch needs
    const lab::Sample& sample;
    int64_t n;
    int* in;               // managed memory
    Total* sums;           // two_sums' two results
    char* memory;          // for CUB to work in
    Total want;            // the CPU's result
    Total* sum = nullptr;  // where the result of this launch will be
    int current = 0;       // which of two_sums' results is next

    int threads() const { return sample.threads(); }
    int small_grid() const { return sample.blocks() ? sample.blocks() : tutorial_blocks; }
};

void reset(const Job& job) { CHECK(cudaMemsetAsync(job.sum, 0, sizeof *job.sum)); }

void launch_tutorial(Job& job) {
    reset(job);
    tutorial<<<job.small_grid(), job.threads()>>>(job.in, job.n, job.sum);
}

// The tutorial's other grid, which it has commented out: a thread for each element.
void launch_one_each(Job& job) {
    const int64_t blocks = (job.n + job.threads() - 1) / job.threads();  // rounded up
    reset(job);
    const int grid = job.sample.blocks() ? job.sample.blocks() : int(blocks);
    tutorial<<<grid, job.threads()>>>(job.in, job.n, job.sum);
}

// A grid that fills the GPU once: more loads in flight than with 256 blocks, fewer trees than with
// one_each.
void launch_full_grid(Job& job) {
    reset(job);
    const int blocks = job.sample.blocks_to_fill(tutorial, job.threads());
    tutorial<<<blocks, job.threads()>>>(job.in, job.n, job.sum);
}

// The tutorial's grid-stride loop: the sum of this thread's share.
__device__ Total strided_sum(const int* in, int64_t n) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    Total sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum += in[i];
    return sum;
}

// The sum over a warp's lanes, in lane 0: in each step a lane adds the value of the lane `offset`
// above it. The values travel through registers, without shared memory and without a barrier.
__device__ Total reduce_warp(Total sum) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}

// The sum over a block's threads, in thread 0: one value a warp goes through shared memory, and the
// first warp adds those.
__device__ Total reduce_block(Total sum) {
    __shared__ Total of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    sum = reduce_warp(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have stored their sums
    if (tid < warp) sum = reduce_warp(tid < warps ? of_warp[tid] : 0);
    return sum;
}

// One barrier instead of seventeen.
__global__ void shuffle(const int* in, int64_t n, Total* total) {
    const Total sum = reduce_block(strided_sum(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
void launch_shuffle(Job& job) {
    reset(job);
    const int blocks = job.sample.blocks_to_fill(shuffle, job.threads());
    shuffle<<<blocks, job.threads()>>>(job.in, job.n, job.sum);
}

// The sum of this thread's share, with 64 bytes of it in flight: four loads of 16 bytes start
// before the first value is used. Past the end it takes 0 without a load, by a predicate instead of
// a branch. The first threads of the grid add the last n % 4 ints. (If nvcc 13.0 unrolls the loop,
// it waits for the first loads before it starts the last ones, and is 5 % slower.)
constexpr int loads = 4;
static_assert(sizeof(int4) == 4 * sizeof(int), "one load must bring four ints");
__device__ Total wide_sum(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t count = n / 4;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t tail = 4 * count + first;
    Total sum = tail < n ? in[tail] : 0;
#pragma unroll 1
    for (int64_t i = first; i < count; i += loads * step) {
        int4 pack[loads];
        for (int k = 0; k < loads; ++k)
            pack[k] = i + k * step < count ? packs[i + k * step] : int4{0, 0, 0, 0};
        for (const int4& p : pack) sum += int64_t(p.x) + p.y + p.z + p.w;
    }
    return sum;
}

__global__ void vectorised(const int* in, int64_t n, Total* total) {
    const Total sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
void launch_vectorised(Job& job) {
    reset(job);
    const int blocks = job.sample.blocks_to_fill(vectorised, job.threads());
    vectorised<<<blocks, job.threads()>>>(job.in, job.n, job.sum);
}

// An ordinary launch has no barrier for the whole grid, so a kernel cannot clear the sum that it
// adds to. It clears the sum of the next launch instead: two sums take turns.
__global__ void two_sums(const int* in, int64_t n, Total* total, Total* next) {
    const Total sum = reduce_block(wide_sum(in, n));
    if (threadIdx.x != 0) return;
    atomicAdd(total, sum);
    if (blockIdx.x == 0) *next = 0;
}
void launch_two_sums(Job& job) {
    job.sum = job.sums + job.current;
    job.current = 1 - job.current;
    const int blocks = job.sample.blocks_to_fill(two_sums, job.threads());
    two_sums<<<blocks, job.threads()>>>(job.in, job.n, job.sum, job.sums + job.current);
}

// ---- what managed memory costs ------------------------------------------------------------------

// Fills the array on the host. Pages that are on the GPU move back to the host.
void write_ints(const Job& job) {
    for (int64_t i = 0; i < job.n; ++i) job.in[i] = int(lab::random_bits(job.sample.seed(), i));
}

// Moves all pages to one place, in large transfers without faults. Some GPUs cannot do this; with
// them each launch moves the pages. CUDA 13 changed the arguments of the call.
bool can_prefetch(const Job& job) { return job.sample.properties().concurrentManagedAccess != 0; }
void prefetch(const Job& job, int device) {
#if CUDART_VERSION >= 13000
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation to{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
#else
    const int to = device;
#endif
    if (can_prefetch(job)) CHECK(cudaMemPrefetchAsync(job.in, job.n * sizeof(int), to, 0));
}

// Before each measurement: poison the result, so that a missing sum is noticed, and move the pages.
// The first table and `resident` have them on the GPU, the other rows at the host. From there the
// kernel's first access to a page faults: the driver moves the page, and the access is repeated.
void prepare_on_gpu(Job& job) {
    job.sum = final_result;
    CHECK(cudaMemsetAsync(job.sum, lab::poison_byte, sizeof *job.sum));
    prefetch(job, job.sample.device());
}
void prepare_on_host(Job& job) {
    job.sum = final_result;
    CHECK(cudaMemsetAsync(job.sum, lab::poison_byte, sizeof *job.sum));
    prefetch(job, cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize());
    if (!can_prefetch(job)) write_ints(job);
}

// The prefetch is queued before the kernel, so the kernel finds its pages on the GPU.
void launch_prefetched(Job& job) {
    prefetch(job, job.sample.device());
    launch_tutorial(job);
}
void launch_prefetched_two_sums(Job& job) {
    prefetch(job, job.sample.device());
    launch_two_sums(job);
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// The tree without its barriers: a thread adds what its partner has not written yet.
__global__ void no_barrier(const int* in, int64_t n, Total* total) {
    __shared__ Total tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = strided_sum(in, n);
    __syncthreads();  // all sums of the block are in the tile
    for (int length = blockDim.x / 2; length >= 1; length /= 2)
        if (tid < length) tile[tid] += tile[tid + length];
    if (tid == 0) atomicAdd(total, tile[0]);
}
void launch_no_barrier(Job& job) {
    reset(job);
    no_barrier<<<job.small_grid(), job.threads()>>>(job.in, job.n, job.sum);
}

// The tutorial's sums have 32 bits. This twin adds in 64 bits and keeps the lower half of a block's
// sum, because the overflow of an int is undefined: the compiler might do anything.
__global__ void sum_32_bits(const int* in, int64_t n, Total* total) {
    const Total sum = reduce_block(strided_sum(in, n));
    if (threadIdx.x == 0) atomicAdd(total, Total(int(unsigned(sum))));
}
void launch_sum_32_bits(Job& job) {
    reset(job);
    sum_32_bits<<<job.small_grid(), job.threads()>>>(job.in, job.n, job.sum);
}

// The kernel is right, but it adds to the old value of the result: here poison, in the tutorial's
// program the sum of the launch before.
void launch_no_reset(Job& job) {
    tutorial<<<job.small_grid(), job.threads()>>>(job.in, job.n, job.sum);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"tutorial", "grid-stride loop, tree, one atomicAdd a block; 256 blocks", launch_tutorial},
    {"one_each", "the tutorial's kernel with a thread for each element", launch_one_each},
    {"full_grid", "the tutorial's kernel on a grid that fills the GPU", launch_full_grid},
    {"shuffle", "shuffles instead of the tree", launch_shuffle, lab::whole_warps},
    {"vectorised", "16-byte loads, four in flight", launch_vectorised, lab::whole_warps},
    {"two_sums", "one launch: two sums take turns", launch_two_sums, lab::whole_warps},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_barrier", "the tutorial's tree without its barriers", launch_no_barrier},
    {"sum_32_bits", "32-bit sums, as in the tutorial", launch_sum_32_bits, lab::whole_warps},
    {"no_reset", "adds to what the result held before", launch_no_reset},
};
struct Way {  // where the pages are when the clock starts, and how they come to the kernel
    const char* name;
    const char* how;
    void (*prepare)(Job&);
    void (*launch)(Job&);       // with the tutorial's kernel,
    void (*launch_best)(Job&);  // and with two_sums
    int least_threads = lab::whole_warps;
};
constexpr Way ways[] = {
    {"page_faults", "managed memory, moved page by page", prepare_on_host, launch_tutorial,
     launch_two_sums},
    {"prefetched", "managed memory, moved ahead", prepare_on_host, launch_prefetched,
     launch_prefetched_two_sums},
    {"resident", "managed memory that is on the GPU already", prepare_on_gpu, launch_tutorial,
     launch_two_sums},
};

void check(Job& job, lab::Row& row) {
    Total got = 0;
    CHECK(cudaMemcpy(&got, job.sum, sizeof got, cudaMemcpyDeviceToHost));
    row.result = lab::with_commas(int64_t(got));
    row.bytes = double(job.n) * sizeof(int);
    row.wrong = got == job.want ? "" : lab::wanted(int64_t(got), int64_t(job.want));
}

#ifdef CUB_VERSION
void launch_cub(Job& job) {  // its result is a Total, so CUB also adds in 64 bits
    size_t bytes = 1 << 20;  // of job.memory
    CHECK(cub::DeviceReduce::Sum(job.memory, bytes, job.in, job.sum, job.n));
}
#endif

// Each way with both kernels. The time of a row includes the kernel and the moving of its pages.
void run_ways(lab::Sample& sample, Job& job) {
    sample.columns({"kernel"}, 10);
    for (const Way& way : ways) {
        if (!sample.wants(way.name)) continue;
        for (const bool best : {false, true}) {
            lab::Row row;
            row.variant = way.name;
            row.ms = sample.time(job, way.prepare, best ? way.launch_best : way.launch);
            check(job, row);
            row.columns = {best ? "two_sums" : "tutorial"};
            sample.row(row);
        }
    }
}

int main(int argc, char** argv) {
    lab::Sample sample(
        "01_sum_managed",
        "How fast can a GPU add ten million integers, and what does managed memory cost?");
    // On the CPU device fewer elements: it takes seconds for one_each with 10^7 threads.
    sample.defaults(lab::gpu ? tutorial_n : 1'000'003, 0, tutorial_threads, "elements",
                    "blocks (default: the tutorial's 256, or what fills the GPU)");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants, ways);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.at_most("--n", (int64_t(1) << 30) / sizeof(int),
                   "that is more than 1 GiB of managed memory");
    sample.require_memory((sample.shows_limit() ? 2 : 1) * sizeof(int), sizeof source);
    if (sample.wants("whole_program")) sample.program(whole_program);

    const lab::DeviceArray<Total> sums(std::vector<Total>(2));
    const lab::DeviceArray<char> memory(1 << 20);  // more than CUB asks for
    Job job{sample, n, nullptr, sums.get(), memory.get(), 0};
    CHECK(cudaMallocManaged(&job.in, n * sizeof(int)));
    write_ints(job);
    job.want = cpu_reference(job.in, n);
    sample.say("exact sum of the tables' ints: %s; in the tutorial's 32 bits: %s",
               lab::with_commas(int64_t(job.want)).c_str(),
               lab::with_commas(int(unsigned(job.want))).c_str());
    if (!can_prefetch(job))
        sample.leave_out("prefetched", "this GPU moves managed pages only at a launch",
                         "--only resident");

    sample.new_table("the sum of " + lab::with_commas(n) + " ints (" +
                     lab::bytes_text(double(n) * sizeof(int)) + ") that are in the GPU's memory");
    sample.limit_row(lab::Limit::read, n * sizeof(int));
#ifdef CUB_VERSION
    sample.library_row("CUB", lab::library_version(CUB_VERSION), job, launch_cub, prepare_on_gpu,
                       check);
#endif
    sample.rows(job, variants, prepare_on_gpu, check);
    sample.rows(job, twins, prepare_on_gpu, check);
    sample.new_table("the same sum of ints in managed memory, by where its pages are", false);
    run_ways(sample, job);
    CHECK(cudaFree(job.in));
    return sample.verdict();
}
