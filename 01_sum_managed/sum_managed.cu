// 01_sum_managed - how fast can a GPU add ten million integers, and what does managed memory cost?
//
// First table: the data lie in the GPU's memory already, and the kernels compete.
//   tutorial      grid-stride loop, tree in shared memory, one atomicAdd   slow: 256 blocks on any GPU
//   one_each      the same kernel with a thread for each element           slow: a tree for every 256 elements
//   full_grid     the same kernel on as many blocks as the GPU holds       slow: two barriers a step
//   warp_fold     registers and shuffles instead of the tree               slow: a load for every 4 bytes
//   vectorised    16-byte loads, four in flight                            slow: the result needs a reset
//   two_sums      take turns, and a launch clears the next one's           one launch, nothing else
//
// Second table: the kernel gets managed memory, and what counts is where its pages are. Each with two kernels.
//   page_faults   at the host: the first touch of a page fetches it        slow: waits for every fault
//   prefetched    at the host, sent ahead by cudaMemPrefetchAsync          slow: the sum waits for all of it
//   resident      at the GPU already                                       nothing left to bring
// host_data.cu goes on: what is the fastest way to the kernel for data that lie in the host's memory?
//
//   01_sum_managed --n 1000003 --only tutorial --only prefetched    one kernel, one way
//   01_sum_managed --wrong no_reset                                 a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 01_sum_managed/sum_managed.cu common/lab.cpp common/write_file.cpp -o sum_managed
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int tutorial_n = 10'000'000;
constexpr int tutorial_blocks = 256;
constexpr int tutorial_threads = 256;
constexpr int default_n = lab::gpu ? tutorial_n : 1'000'003;  // a CPU takes seconds for one_each with 10^7 threads
constexpr int most_threads = 1024;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;  // in flight before the first is used
constexpr int64_t most_ints = (int64_t(1) << 30) / sizeof(int);  // 1 GiB of managed memory
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");
static_assert(sizeof(int4) == 4 * sizeof(int), "vectorised reads four ints with one load");

// atomicAdd has no signed 64-bit form, and needs none: in two's complement the same adder serves both, and an int
// becomes a Total by extending its sign.
using Total = unsigned long long;

// What a launch needs.
struct Job {
    const lab::Sample& sample;
    int64_t n;
    int threads;
    Total* sum;         // where the result will be
    Total* turns;       // two_sums' two,
    int turn = 0;       // and which is next
    int* in = nullptr;  // managed memory: one address for host and GPU

    size_t bytes() const { return n * sizeof(int); }
    void zero() const { CHECK(cudaMemsetAsync(sum, 0, sizeof *sum)); }
    int few() const { return sample.blocks() ? sample.blocks() : tutorial_blocks; }
    int one_each() const { return sample.blocks() ? sample.blocks() : int((n + threads - 1) / threads); }
    template <class Kernel> int fill(Kernel kernel) const { return sample.blocks_to_fill(kernel, threads); }
};

// ---- the answer, slowly ----------------------------------------------------------------------------------------

int64_t on_the_cpu(const int* in, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i];
    return sum;
}

// ---- the tutorial's kernel -------------------------------------------------------------------------------------

// Each thread adds a share, each block folds its threads' sums, one atomicAdd a block brings the blocks together.
__global__ void tutorial(const int* in, int64_t n, Total* total) {  // n, i: 64-bit, as i + step may pass 2^31
    __shared__ Total tile[most_threads];                             // 64-bit sums; room for any --threads
    const int tid = threadIdx.x;

    Total sum = 0;  // 64-bit sum
    // Neighbouring threads read neighbouring ints (coalesced), then the whole grid takes a step.
    for (int64_t i = tid + int64_t(blockDim.x) * blockIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        sum += in[i];
    tile[tid] = sum;
    __syncthreads();  // all sums of the block are in the tile

    for (int length = blockDim.x / 2; length >= 1; length /= 2) {  // blockDim.x: --threads sets it, no macro
        Total folded = 0;  // 64-bit sum; there it starts as -1, which nobody reads
        if (tid < length) folded = tile[tid] + tile[tid + length];
        __syncthreads();  // the tutorial's, not needed: what a step overwrites, only the same thread has read
        if (tid < length) tile[tid] = folded;
        __syncthreads();  // all have written what the next step reads
    }

    // A block that begins past the end has added nothing and need not ask for an atomic. All its threads agree, so
    // there is no divergence; and no barrier follows, which all of them would have to reach.
    if (int64_t(blockDim.x) * blockIdx.x < n) {
        if (tid == 0) atomicAdd(total, tile[0]);
    }
}
void launch_tutorial(Job& job) {
    job.zero();
    tutorial<<<job.few(), job.threads>>>(job.in, job.n, job.sum);
}

// ---- the tutorial's whole program ------------------------------------------------------------------------------

// One address for host and GPU, so nothing is allocated, copied or freed: the first touch of a page brings it.
__managed__ int source[tutorial_n];
__managed__ Total final_result[1] = {0};  // 64-bit sum

bool whole_program() {
    std::srand(1);  // the tutorial takes the time; this adds the same numbers in each run
    for (int& x : source) x = std::rand();
    final_result[0] = 0;  // not in the tutorial: there a second launch would add to the first one's sum
    CHECK(cudaDeviceSynchronize());  // nothing runs on the GPU any more that might touch them

    // The tutorial's stopwatch is left out: it times mostly page faults. The tables below take the sum's time.
    tutorial<<<tutorial_blocks, tutorial_threads>>>(source, tutorial_n, final_result);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end? Only then may the host read its result

    // Compared in the tutorial's 32 bits: unsigned, as the overflow of an int is undefined.
    const unsigned on_the_gpu = unsigned(final_result[0]);
    unsigned on_the_host = 0;
    for (int x : source) on_the_host += unsigned(x);
    std::printf("GPU sum: %u, CPU sum: %u (the lower 32 bits of each)\n", on_the_gpu, on_the_host);
    return on_the_gpu == on_the_host;
}

// ---- the rungs -------------------------------------------------------------------------------------------------

// The tutorial's other grid, commented out there: as many threads as elements, and the loop has one turn.
void launch_one_each(Job& job) {
    job.zero();
    tutorial<<<job.one_each(), job.threads>>>(job.in, job.n, job.sum);
}

// The grid that fills the GPU once: more loads on their way than with 256 blocks, fewer trees than with one_each.
void launch_full_grid(Job& job) {
    job.zero();
    tutorial<<<job.fill(tutorial), job.threads>>>(job.in, job.n, job.sum);
}

// A thread's share in the tutorial.
__device__ Total add_strided(const int* in, int64_t n) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    Total sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum += in[i];
    return sum;
}

// One value a warp goes through shared memory, and the first warp folds those; thread 0 has the block's sum.
__device__ Total fold_block(Total sum) {
    __shared__ Total of_warp[warp];
    const int tid = threadIdx.x;
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(all_lanes, sum, offset);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have left their sums
    if (tid >= warp) return 0;
    sum = tid < int(blockDim.x) / warp ? of_warp[tid] : 0;
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}

// One barrier instead of seventeen.
__global__ void warp_fold(const int* in, int64_t n, Total* total) {
    const Total sum = fold_block(add_strided(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
void launch_warp_fold(Job& job) {
    job.zero();
    warp_fold<<<job.fill(warp_fold), job.threads>>>(job.in, job.n, job.sum);
}

// A thread's share of in[0 .. n), 64 bytes of it on their way at any time. What would lie past the end is 0 and is not
// loaded: that takes a predicate, and no load waits for a branch. The first threads add the last n % 4 ints. (nvcc 13.0
// would unroll the rounds, too, and then wait for the first loads before it begins the last: 5 % slower.)
__device__ Total add_wide(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t count = n / 4;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t tail = 4 * count + first;
    Total sum = tail < n ? in[tail] : 0;
#pragma unroll 1
    for (int64_t i = first; i < count; i += loads * step) {
        int4 pack[loads];
        for (int k = 0; k < loads; ++k) pack[k] = i + k * step < count ? packs[i + k * step] : int4{0, 0, 0, 0};
        for (const int4& p : pack) sum += int64_t(p.x) + p.y + p.z + p.w;
    }
    return sum;
}

__global__ void vectorised(const int* in, int64_t n, Total* total) {
    const Total sum = fold_block(add_wide(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
void launch_vectorised(Job& job) {
    job.zero();
    vectorised<<<job.fill(vectorised), job.threads>>>(job.in, job.n, job.sum);
}

// No barrier spans the grid of an ordinary launch, so a kernel cannot clear the sum that it adds to: it clears the next
// launch's. Two sums take turns.
__global__ void two_sums(const int* in, int64_t n, Total* total, Total* next) {
    const Total sum = fold_block(add_wide(in, n));
    if (threadIdx.x != 0) return;
    atomicAdd(total, sum);
    if (blockIdx.x == 0) *next = 0;
}
void launch_two_sums(Job& job) {
    job.sum = job.turns + job.turn;
    job.turn = 1 - job.turn;
    two_sums<<<job.fill(two_sums), job.threads>>>(job.in, job.n, job.sum, job.turns + job.turn);
}

// ---- what managed memory costs ---------------------------------------------------------------------------------

// A host that writes managed memory fetches its pages, if it has not got them.
void write_ints(const Job& job) {
    for (int64_t i = 0; i < job.n; ++i) job.in[i] = int(lab::random_bits(job.sample.seed(), i));
}

// Sends all pages to one place, as one large transfer without faults, if the GPU can. CUDA 13 changed the call.
bool can_send(const Job& job) { return job.sample.properties().concurrentManagedAccess != 0; }
void send(const Job& job, int device) {
#if CUDART_VERSION >= 13000
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation to{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
#else
    const int to = device;
#endif
    if (can_send(job)) CHECK(cudaMemPrefetchAsync(job.in, job.bytes(), to, 0));
}

// Where the pages are before the clock starts. launch_tutorial and launch_two_sums from on_gpu make the rows of
// resident: nothing has to move. From on_host they make page_faults: the kernel's first touch of a page is a fault,
// the driver moves the page, and the access is repeated.
void on_gpu(Job& job) { send(job, job.sample.device()); }
void on_host(Job& job) {
    send(job, cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize());
    if (!can_send(job)) write_ints(job);
}

// From on_host: the pages are on their way before the kernel asks for one.
void launch_prefetched(Job& job) {
    send(job, job.sample.device());
    job.zero();
    tutorial<<<job.few(), job.threads>>>(job.in, job.n, job.sum);
}
void launch_prefetched_best(Job& job) {
    send(job, job.sample.device());
    launch_two_sums(job);
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The tree without its barriers: a thread adds what its partner has not written yet.
__global__ void no_barrier(const int* in, int64_t n, Total* total) {
    __shared__ Total tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = add_strided(in, n);
    __syncthreads();  // all sums of the block are in the tile
    for (int length = blockDim.x / 2; length >= 1; length /= 2)
        if (tid < length) tile[tid] += tile[tid + length];
    if (tid == 0) atomicAdd(total, tile[0]);
}
void launch_no_barrier(Job& job) {
    job.zero();
    no_barrier<<<job.few(), job.threads>>>(job.in, job.n, job.sum);
}

// The tutorial's sums have 32 bits: of a block's sum only the lower half arrives. (By way of unsigned, as the
// overflow of an int is undefined: the compiler might do anything.)
__global__ void sum_32_bits(const int* in, int64_t n, Total* total) {
    const Total sum = fold_block(add_strided(in, n));
    if (threadIdx.x == 0) atomicAdd(total, Total(int(unsigned(sum))));
}
void launch_sum_32_bits(Job& job) {
    job.zero();
    sum_32_bits<<<job.few(), job.threads>>>(job.in, job.n, job.sum);
}

// The right kernel, added to what the result held before: here poison, in the tutorial's program the first sum.
void launch_no_reset(Job& job) { tutorial<<<job.few(), job.threads>>>(job.in, job.n, job.sum); }

// ---- the table -------------------------------------------------------------------------------------------------

using Launch = void(Job&);
struct Variant {
    const char* name;
    const char* how;
    Launch* launch;
    int least_threads = 1;
};
constexpr Variant variants[] = {
    {"tutorial", "grid-stride loop, tree, one atomicAdd a block; 256 blocks", launch_tutorial},
    {"one_each", "the tutorial's kernel with a thread for each element", launch_one_each},
    {"full_grid", "the tutorial's kernel on a grid that fills the GPU", launch_full_grid},
    {"warp_fold", "shuffles instead of the tree", launch_warp_fold, lab::whole_warps},
    {"vectorised", "16-byte loads, four in flight", launch_vectorised, lab::whole_warps},
    {"two_sums", "one launch: two sums take turns", launch_two_sums, lab::whole_warps},
};
constexpr Variant twins[] = {
    {"no_barrier", "the tutorial's tree without its barriers", launch_no_barrier},
    {"sum_32_bits", "32-bit sums, as in the tutorial, overflow", launch_sum_32_bits, lab::whole_warps},
    {"no_reset", "adds to what the result held before", launch_no_reset},
};

// Each with the tutorial's kernel and with the best, two_sums; `before` puts the pages where the way starts.
struct Way {
    const char* name;
    const char* how;
    Launch* before;
    Launch* launch;
    Launch* launch_best;
    bool sends = false;  // pages while the clock runs: some GPUs cannot
    int least_threads = lab::whole_warps;
};
constexpr Way ways[] = {
    {"page_faults", "managed memory, fetched page by page", on_host, launch_tutorial, launch_two_sums},
    {"prefetched", "managed memory, sent ahead", on_host, launch_prefetched, launch_prefetched_best, true},
    {"resident", "managed memory that is on the GPU already", on_gpu, launch_tutorial, launch_two_sums},
};

// ---- run, check, time ------------------------------------------------------------------------------------------

int main(int argc, char** argv) {
    lab::Sample sample("01_sum_managed",
                       "How fast can a GPU add ten million integers, and what does managed memory cost?");
    sample.defaults(default_n, 0, tutorial_threads, "elements",
                    "blocks (default: the tutorial's 256, or what fills the GPU)");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants, ways);
    sample.twins(twins);
    sample.start(argc, argv);
    sample.at_most("--n", most_ints, "that is more than 1 GiB of managed memory");
    sample.require_memory((sample.shows_limit() ? 2 : 1) * sizeof(int), sizeof source);  // the second: limit's
    if (sample.wants("whole_program")) sample.program(whole_program);

    const lab::DeviceArray<Total> turns(std::vector<Total>(2));
    Job job{sample, sample.n(), sample.threads(), final_result, turns.get()};
    CHECK(cudaMallocManaged(&job.in, job.bytes()));
    write_ints(job);
    const int64_t want = on_the_cpu(job.in, job.n);
    const int in_32_bits = int(unsigned(want));
    sample.say("exact sum of the tables' ints: %s; in 32 bits, as the tutorial adds: %s, %s",
               lab::with_commas(want).c_str(), lab::with_commas(in_32_bits).c_str(),
               in_32_bits == want ? "right, as it fits" : "wrong, as it overflowed");

    const auto row = [&](const char* name, Launch* before, auto launch, lab::Kind kind, const char* kernel = "-",
                         const std::string& version = "") {
        const auto prepare = [&] {
            job.sum = final_result;
            CHECK(cudaMemsetAsync(job.sum, lab::poison_byte, sizeof *job.sum));
            before(job);
        };
        const lab::Time ms = sample.time(prepare, [&] { launch(job); });
        int64_t got = 0;
        CHECK(cudaMemcpy(&got, job.sum, sizeof got, cudaMemcpyDeviceToHost));
        const std::string wrong = got == want ? "" : lab::wanted(got, want);
        sample.row({name, lab::with_commas(got), ms, double(job.bytes()), wrong, kind, {kernel}, version});
    };

    sample.new_table("the sum of " + lab::with_commas(job.n) + " ints (" + lab::bytes_text(double(job.bytes())) +
                     ") that lie in the GPU's memory");
    sample.limit_row(lab::Sample::Limit::read, job.bytes());
#ifdef CUB_VERSION
    if (sample.wants_all()) {  // it reads ints and writes a Total, so that it adds in 64 bits, too
        size_t room = 0;
        CHECK(cub::DeviceReduce::Sum(nullptr, room, job.in, job.sum, job.n));
        const lab::DeviceArray<char> d_room(std::max<int64_t>(room, 1));
        const auto cub = [&](Job& of) {
            CHECK(cub::DeviceReduce::Sum(d_room.get(), room, of.in, of.sum, of.n));
        };
        row("CUB", on_gpu, cub, lab::Kind::library, "-", lab::library_version(CUB_VERSION));
    }
#endif
    for (const Variant& v : variants)
        if (sample.wants(v.name)) row(v.name, on_gpu, v.launch, lab::Kind::variant);
    for (const Variant& v : twins)
        if (sample.wants(v.name)) row(v.name, on_gpu, v.launch, lab::Kind::variant);

    sample.new_table("the same sum of ints in managed memory, by where its pages are", false);
    sample.columns({"kernel"}, 10);
    for (const Way& way : ways) {
        if (!sample.wants(way.name)) continue;
        if (way.sends && !can_send(job)) {
            sample.say("%s: left out, as this GPU moves managed memory only when a kernel is launched", way.name);
            continue;
        }
        row(way.name, way.before, way.launch, lab::Kind::variant, "tutorial");
        row(way.name, way.before, way.launch_best, lab::Kind::variant, "two_sums");
    }
    CHECK(cudaFree(job.in));
    return sample.verdict();
}
