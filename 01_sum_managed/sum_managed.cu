// 01_sum_managed - how fast can a GPU add ten million integers, and what does managed memory cost?
//
// First table: the data lie in the GPU's memory already, and the kernels compete.
//
//   tutorial      grid-stride loop, tree in shared memory, an atomicAdd a block   slow: 256 blocks on any GPU
//   full_grid     the same kernel on as many blocks as the GPU holds at once      slow: two barriers a step
//   warp_fold     registers and shuffles instead of the tree                      slow: 4-byte loads, four times as many
//   vectorised    16-byte loads, four in flight                                   slow: the result needs a reset
//   last_block    the block that finishes last delivers the sum                   one launch, nothing else
//
// Second table: the data lie in the host's memory, and the ways to the kernel compete, each with two kernels.
//
//   page_faults   managed memory: the first touch of a page fetches it            slow: waits for every fault
//   prefetched    managed memory, sent ahead by cudaMemPrefetchAsync              slow: the sum waits for all of it
//   resident      managed memory that the GPU has already                         nothing left to bring
//   zero_copy     the kernel reads pinned host memory                             slow: every load crosses the bus
//   pinned        copied from pinned memory, then added                           slow: the sum waits for the copy
//   pageable      copied from ordinary memory, then added                         slow: through a pinned buffer
//   overlapped    copied in chunks, each added while the next is on its way       the bus's speed
//
//   01_sum_managed --n 1000003 --only tutorial --only overlapped    one kernel, one way
//   01_sum_managed --wrong no_reset                                 a classic mistake
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "lab.cuh"
#if __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#endif

constexpr int tutorial_blocks = 256;
constexpr int most_threads = 1024;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;   // in flight before the first is used
constexpr int chunks = 8;  // of the overlapped copy: fewer leave a longer last sum, more pay for more starts
constexpr int64_t most_ints = (int64_t(1) << 30) / sizeof(int);  // 1 GiB of managed memory
static_assert(most_threads <= warp * warp, "one warp must be able to fold the results of all warps of a block");
static_assert(sizeof(int4) == 4 * sizeof(int), "vectorised reads four ints with one load");

// atomicAdd has no signed 64-bit form, and needs none: in two's complement the same adder serves both, and an int
// becomes a Total by extending its sign.
using Total = unsigned long long;

__managed__ Total result;  // kernels and host know it by the same name and address

// ---- the answer, slowly ----------------------------------------------------------------------------------------

int64_t on_the_cpu(const int* in, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i];
    return sum;
}

// ---- the kernels, slow to fast ---------------------------------------------------------------------------------

// A thread's share in the tutorial: 65,536 threads take every 65,536th element each.
__device__ Total add_strided(const int* in, int64_t n) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    Total sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum += in[i];
    return sum;
}

// The tutorial's. The block folds the upper half of its tile onto the lower half until one sum is left.
__global__ void tutorial(const int* in, int64_t n, Total* total) {
    __shared__ Total tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = add_strided(in, n);
    __syncthreads();  // all sums of the block are there
    for (int length = blockDim.x / 2; length >= 1; length /= 2) {
        Total folded = 0;
        if (tid < length) folded = tile[tid] + tile[tid + length];
        __syncthreads();  // all have read what this step overwrites
        if (tid < length) tile[tid] = folded;
        __syncthreads();  // all have written what the next step reads
    }
    if (tid == 0) atomicAdd(total, tile[0]);
}

// One value a warp goes through shared memory, and the first warp folds those; thread 0 has the block's sum.
__device__ Total fold_block(Total sum) {
    __shared__ Total of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(all_lanes, sum, offset);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have left their sums
    if (tid >= warp) return 0;
    sum = tid < warps ? of_warp[tid] : 0;
    for (int offset = warp / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}

// One barrier instead of seventeen.
__global__ void warp_fold(const int* in, int64_t n, Total* total) {
    const Total sum = fold_block(add_strided(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// A thread's share of in[0 .. n), 64 bytes of it on their way at any time. What would lie past the end is the last
// int4 once more, loaded but not added: no load waits for a branch. The first threads add the last n % 4 ints.
__device__ Total add_share(const int* in, int64_t n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int64_t count = n / 4, step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, tail = 4 * count + first;
    Total sum = tail < n ? in[tail] : 0;
    for (int64_t i = first; i < count; i += loads * step) {
        int4 pack[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) pack[k] = __ldcs(packs + min(i + k * step, count - 1));
#pragma unroll
        for (int k = 0; k < loads; ++k)
            if (i + k * step < count) sum += int64_t(pack[k].x) + pack[k].y + pack[k].z + pack[k].w;
    }
    return sum;
}

__global__ void vectorised(const int* in, int64_t n, Total* total) {
    const Total sum = fold_block(add_share(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// The blocks add to a sum of their own and draw tickets. Who draws the last one takes the sum, leaves 0 for the
// next launch and writes the result; atomicInc turns the tickets back to 0. (The idea: CUDA C++ Programming Guide,
// "Memory Fence Functions".)
__device__ Total running;
__device__ unsigned tickets;

__global__ void last_block(const int* in, int64_t n, Total* total) {
    const Total sum = fold_block(add_share(in, n));
    if (threadIdx.x != 0) return;
    atomicAdd(&running, sum);
    __threadfence();  // the block's sum is in before its ticket is drawn
    if (atomicInc(&tickets, gridDim.x - 1) != gridDim.x - 1) return;
    __threadfence();  // the last ticket is drawn before the sum is taken
    *total = atomicExch(&running, Total(0));
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The tree without its barriers: a thread adds what its partner has not written yet.
__global__ void no_barrier(const int* in, int64_t n, Total* total) {
    __shared__ Total tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = add_strided(in, n);
    __syncthreads();
    for (int length = blockDim.x / 2; length >= 1; length /= 2)
        if (tid < length) tile[tid] += tile[tid + length];
    if (tid == 0) atomicAdd(total, tile[0]);
}

// The tutorial's own tile has 32 bits, and the threads' sums do not fit. (unsigned, as the overflow of an int is
// undefined: the compiler might do anything.)
__global__ void sum_32_bits(const int* in, int64_t n, Total* total) {
    __shared__ unsigned tile[most_threads];
    const int tid = threadIdx.x;
    tile[tid] = unsigned(add_strided(in, n));
    __syncthreads();
    for (int length = blockDim.x / 2; length >= 1; length /= 2) {
        if (tid < length) tile[tid] += tile[tid + length];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(total, Total(int(tile[0])));
}

// no_reset is the tutorial's kernel, launched once to warm up and once more, with the reset before the first alone.

// ---- the tables of variants ------------------------------------------------------------------------------------

enum class Delivery { adds, writes, adds_twice };  // what launches do to `result`: those that add need a reset

struct Variant {
    const char* name;
    const char* how;
    void (*kernel)(const int*, int64_t, Total*);
    bool fills_gpu;  // else the tutorial's 256 blocks
    Delivery delivery;
    int least_threads = 1;
};
constexpr Variant variants[] = {
    {"tutorial", "grid-stride loop, tree, one atomicAdd a block; 256 blocks", tutorial, false, Delivery::adds},
    {"full_grid", "the tutorial's kernel on a grid that fills the GPU", tutorial, true, Delivery::adds},
    {"warp_fold", "shuffles instead of the tree", warp_fold, true, Delivery::adds, lab::whole_warps},
    {"vectorised", "16-byte loads, four in flight", vectorised, true, Delivery::adds, lab::whole_warps},
    {"last_block", "one launch: the last block delivers the sum", last_block, true, Delivery::writes,
     lab::whole_warps},
};
constexpr Variant slowest = variants[0], fastest_adding = variants[3], fastest = variants[4];
constexpr Variant twins[] = {
    {"no_barrier", "the tutorial's tree without its barriers", no_barrier, false, Delivery::adds},
    {"sum_32_bits", "32-bit sums, as in the tutorial, overflow", sum_32_bits, false, Delivery::adds},
    {"no_reset", "the second run adds to the first one's result", tutorial, false, Delivery::adds_twice},
};

enum class Way { page_faults, prefetched, resident, zero_copy, pinned, pageable, overlapped };

struct Mode {
    const char* name;
    const char* how;
    Way way;
};
constexpr Mode modes[] = {
    {"page_faults", "managed memory, fetched page by page when touched", Way::page_faults},
    {"prefetched", "managed memory, sent ahead by cudaMemPrefetchAsync", Way::prefetched},
    {"resident", "managed memory that is on the GPU already", Way::resident},
    {"zero_copy", "the kernel reads pinned host memory over the bus", Way::zero_copy},
    {"pinned", "copied from pinned host memory, then added", Way::pinned},
    {"pageable", "copied from ordinary host memory, then added", Way::pageable},
    {"overlapped", "copied from pinned memory in chunks, added meanwhile", Way::overlapped},
};

// ---- run, check, time ------------------------------------------------------------------------------------------

struct FreeManaged {
    void operator()(int* p) const { CHECK(cudaFree(p)); }
};
struct FreePinned {
    void operator()(int* p) const { CHECK(cudaFreeHost(p)); }
};
using Managed = std::unique_ptr<int[], FreeManaged>;
using Pinned = std::unique_ptr<int[], FreePinned>;

/// Moves managed memory ahead of its use, to a device or to the host (cudaCpuDeviceId). CUDA 13 changed the call.
void prefetch(const Managed& managed, size_t bytes, int device) {
#if CUDART_VERSION >= 13000
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation place{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, host ? 0 : device};
    CHECK(cudaMemPrefetchAsync(managed.get(), bytes, place, 0));
#else
    CHECK(cudaMemPrefetchAsync(managed.get(), bytes, device));
#endif
}

struct Run {
    lab::Sample& sample;
    const int64_t n = sample.n();
    const size_t bytes = n * sizeof(int);
    const bool can_prefetch = sample.properties().concurrentManagedAccess != 0;
    std::vector<int> in = std::vector<int>(n);  // ordinary, pageable memory
    Managed managed;
    Pinned pinned;
    lab::DeviceArray<int> d_copy{n};
    cudaStream_t streams[2] = {};
    int64_t want = 0;

    explicit Run(lab::Sample& the_sample) : sample(the_sample) {
        for (int64_t i = 0; i < n; ++i) in[i] = int(lab::random_bits(sample.seed(), i));
        want = on_the_cpu(in.data(), n);
        int* p = nullptr;
        CHECK(cudaMallocManaged(&p, bytes));
        managed.reset(p);
        CHECK(cudaMallocHost(&p, bytes));
        pinned.reset(p);
        for (int* to : {managed.get(), pinned.get()}) std::copy(in.begin(), in.end(), to);
        for (cudaStream_t& s : streams) CHECK(cudaStreamCreate(&s));  // the stopwatch's events wait for this kind
    }
    ~Run() {
        for (cudaStream_t s : streams) CHECK(cudaStreamDestroy(s));
    }

    static void poison() { CHECK(cudaMemsetAsync(&result, 0xff, sizeof result)); }
    void copy(const int* from) { CHECK(cudaMemcpyAsync(d_copy.get(), from, bytes, cudaMemcpyHostToDevice)); }

    void row(const std::string& name, int64_t got, double ms, lab::Kind kind, const char* kernel = "-") {
        const std::string text = lab::with_commas(got);
        const std::string wrong = got == want ? "" : "got " + text + ", wanted " + lab::with_commas(want);
        sample.row({name, text, ms, double(bytes), wrong, kind, {kernel}});
    }

    int blocks(const Variant& v) const {
        if (v.fills_gpu) return sample.blocks_to_fill(v.kernel, sample.threads());
        return sample.blocks() ? sample.blocks() : tutorial_blocks;
    }

    void launch(const Variant& v, int blocks, const int* data) {
        if (v.delivery != Delivery::writes) CHECK(cudaMemsetAsync(&result, 0, sizeof result));
        v.kernel<<<blocks, sample.threads()>>>(data, n, &result);
        if (v.delivery == Delivery::adds_twice) v.kernel<<<blocks, sample.threads()>>>(data, n, &result);
    }

    // Two streams take turns: while one adds its chunk, the other one's copy keeps the bus busy.
    void launch_overlapped(const Variant& v, int blocks) {
        CHECK(cudaMemsetAsync(&result, 0, sizeof result));
        const int64_t chunk = (n / chunks + 4) / 4 * 4;  // whole int4s
        for (int64_t at = 0, turn = 0; at < n; at += chunk, ++turn) {
            const cudaStream_t stream = streams[turn % 2];
            const int64_t size = std::min(chunk, n - at);
            int* const to = d_copy.get() + at;
            CHECK(cudaMemcpyAsync(to, pinned.get() + at, size * sizeof(int), cudaMemcpyHostToDevice, stream));
            v.kernel<<<blocks, sample.threads(), 0, stream>>>(to, size, &result);
        }
    }

    void check(const Variant& v) {
        const int grid = blocks(v);
        const double ms = sample.time(poison, [&] { launch(v, grid, managed.get()); });
        row(v.name, result, ms, lab::Kind::variant);
    }

    void check(const Mode& mode, const Variant& v) {
        const int grid = blocks(v);
        const auto prepare = [&] {  // the data where the mode wants them, and none left where they are copied to
            poison();
            if (mode.way >= Way::pinned) return d_copy.poison();
            if (mode.way == Way::zero_copy) return;
            const bool to_host = mode.way != Way::resident;
            if (can_prefetch) prefetch(managed, bytes, to_host ? cudaCpuDeviceId : sample.device());
            CHECK(cudaDeviceSynchronize());
            if (!can_prefetch && to_host) std::copy(in.begin(), in.end(), managed.get());  // the writes fetch it
        };
        const double ms = sample.time(prepare, [&] {
            switch (mode.way) {
                case Way::prefetched: prefetch(managed, bytes, sample.device()); [[fallthrough]];
                case Way::page_faults:
                case Way::resident: return launch(v, grid, managed.get());
                case Way::zero_copy: return launch(v, grid, pinned.get());
                case Way::pinned: return copy(pinned.get()), launch(v, grid, d_copy.get());
                case Way::pageable: return copy(in.data()), launch(v, grid, d_copy.get());
                case Way::overlapped: return launch_overlapped(v, grid);
            }
        });
        row(mode.name, result, ms, lab::Kind::variant, v.name);
    }

    // The same on the CPU, outside the verdict: each thread adds its own range.
    void show_cpu(int64_t threads) {
        std::vector<double> times(sample.repeats());
        int64_t sum = 0;
        for (double& ms : times) {
            const auto start = std::chrono::steady_clock::now();
            std::vector<std::future<int64_t>> parts;
            for (int64_t t = 0, from = 0, to; t < threads; ++t, from = to) {
                to = n * (t + 1) / threads;
                parts.push_back(std::async(std::launch::async, on_the_cpu, in.data() + from, to - from));
            }
            sum = 0;
            for (auto& part : parts) sum += part.get();
            ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        }
        const std::string name = "CPU, " + lab::with_commas(threads) + (threads == 1 ? " thread" : " threads");
        row(name, sum, lab::median(times), lab::Kind::shown);
    }
};

void kernels_table(Run& run) {
    lab::Sample& sample = run.sample;
    sample.new_table(lab::text("the sum of %s ints (%s) that lie in the GPU's memory",
                               lab::with_commas(run.n).c_str(), lab::bytes_text(double(run.bytes)).c_str()));
    if (run.can_prefetch) prefetch(run.managed, run.bytes, sample.device());
    sample.limit_row(lab::Sample::Limit::read, run.bytes);
#ifdef CUB_VERSION
    if (sample.wants_all()) {  // it reads ints and writes a Total, so that it adds in 64 bits, too
        size_t room = 0;
        CHECK(cub::DeviceReduce::Sum(nullptr, room, run.managed.get(), &result, run.n));
        const lab::DeviceArray<char> d_room(std::max<int64_t>(room, 1));
        const double ms = sample.time(Run::poison, [&] {
            CHECK(cub::DeviceReduce::Sum(d_room.get(), room, run.managed.get(), &result, run.n));
        });
        run.row("CUB", result, ms, lab::Kind::library);
    }
#endif
    for (const Variant& v : variants)
        if (sample.wants(v.name)) run.check(v);
    for (const Variant& v : twins)
        if (sample.wants_twin(v.name)) run.check(v);
}

void memory_table(Run& run) {
    lab::Sample& sample = run.sample;
    sample.new_table("the same sum of ints that lie in the host's memory", false);
    sample.columns({"kernel"});
    if (sample.on_gpu() && sample.wants_all()) {
        const double ms = sample.time([] {}, [&] { run.copy(run.pinned.get()); });
        sample.row({"pinned copy only", "-", ms, double(run.bytes), "", lab::Kind::limit});
    }
    for (const Mode& mode : modes) {
        if (!sample.wants(mode.name)) continue;
        if (mode.way == Way::prefetched && !run.can_prefetch) {
            sample.say("prefetched: left out, as this GPU moves managed memory only when a kernel is launched");
            continue;
        }
        if (sample.on_gpu() || mode.way == Way::page_faults) run.check(mode, slowest);
        run.check(mode, mode.way == Way::overlapped ? fastest_adding : fastest);
    }
    if (!sample.wants_all()) return;
    run.show_cpu(1);
    if (std::thread::hardware_concurrency() > 1) run.show_cpu(std::thread::hardware_concurrency());
}

void run_all(lab::Sample& sample) {
    Run run(sample);
    const int in_32_bits = int(unsigned(run.want));
    const std::string comment = in_32_bits == run.want ? "right, as it fits" : "wrong, as it overflowed";
    sample.say("exact sum: %s; in 32 bits, as the tutorial adds: %s, %s", lab::with_commas(run.want).c_str(),
               lab::with_commas(in_32_bits).c_str(), comment.c_str());
    kernels_table(run);
    if (std::any_of(std::begin(modes), std::end(modes), [&](const Mode& m) { return sample.wants(m.name); }))
        memory_table(run);
}

int main(int argc, char** argv) {
    lab::Sample sample("01_sum_managed",
                       "How fast can a GPU add ten million integers, and what does managed memory cost?");
    sample.defaults(10'000'000, 0, 256, "elements", "blocks (default: the tutorial's 256, or what fills the GPU)");
    for (const Variant& v : variants) sample.variant(v.name, v.how, v.least_threads);
    for (const Mode& mode : modes) sample.variant(mode.name, mode.how, fastest.least_threads);
    for (const Variant& v : twins) sample.twin(v.name, v.how);
    sample.start(argc, argv);
    sample.require_memory((sample.shows_limit() ? 3 : 2) * sizeof(int));  // managed, copied, read by the limit's row
    if (sample.n() > most_ints)
        sample.refuse("--n %lld is more than 1 GiB of managed memory; type --n %lld or less",
                      static_cast<long long>(sample.n()), static_cast<long long>(most_ints));

    run_all(sample);
    return sample.verdict();
}
