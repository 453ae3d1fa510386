// 01_host_data - what is the fastest way to the kernel for data that are in the host's memory?
//
// sum_managed.cu makes the kernel fast. Here all ways end with one simple kernel, and the ways
// compete.
//   page_faults  managed memory: the first touch moves a page    slow: waits for each fault
//   pageable     copied from ordinary memory                     slow: through a pinned buffer
//   prefetched   managed memory, moved ahead by                  slow: the sum waits for all pages
//                cudaMemPrefetchAsync
//   zero_copy    the kernel reads the host's pinned memory       slow: each load crosses the bus
//   pinned       copied from pinned memory by the copy engine    slow: the sum waits for the copy
//   overlapped   copied in chunks, the sum of one during the     pays if the kernel is also slow
//                copy of the next
// Beside them: the copy alone, which is what the bus allows, and the host's own threads, which need
// no way at all.
//
//   01_host_data --only pinned --only overlapped    two ways
//   01_host_data --wrong no_sizeof                  a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 01_sum_managed/host_data.cu
//       common/lab.cpp common/write_file.cpp -o host_data
#include <chrono>
#include <future>
#include <thread>
#include "lab.cuh"

constexpr int threads = 256;
// Of the overlapped copy: fewer leave a longer last sum, more have more starts to pay for.
constexpr int chunks = 8;
constexpr int most_ints = (1 << 30) / sizeof(int);  // 1 GiB of managed memory
constexpr int warp = 32;                            // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
static_assert(threads % warp == 0, "reduce_warp needs whole warps");

using Total = unsigned long long;  // in two's complement it also adds signed numbers

// ---- CPU reference ------------------------------------------------------------------------------

int64_t cpu_reference(const int* in, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i];
    return sum;
}

// ---- one kernel for all ways --------------------------------------------------------------------

// The tutorial's grid-stride loop: the sum of this thread's share.
__device__ Total strided_sum(const int* in, int64_t n) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    Total sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum += in[i];
    return sum;
}

// The sum over a warp's lanes, in lane 0.
__device__ Total reduce_warp(Total sum) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(all_lanes, sum, offset);
    return sum;
}

__global__ void sum(const int* in, int64_t n, Total* total) {
    const Total of_warp = reduce_warp(strided_sum(in, n));
    if (threadIdx.x % warp == 0) atomicAdd(total, of_warp);
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Job {  // what a launch needs: the same ints in four kinds of memory
    const lab::Sample& sample;
    int64_t n;
    Total* sum;
    Total want;              // the CPU's result
    const int* pageable;     // the host's: the system may move its pages
    int* on_gpu = nullptr;   // the GPU's own
    int* pinned = nullptr;   // the host's, and it stays where it is
    int* managed = nullptr;  // one address for host and GPU; a touch moves a page
    cudaStream_t streams[2] = {};

    size_t bytes() const { return n * sizeof(int); }
};

void allocate(Job& job) {
    CHECK(cudaMalloc(&job.on_gpu, job.bytes()));
    CHECK(cudaMallocHost(&job.pinned, job.bytes()));
    CHECK(cudaMallocManaged(&job.managed, job.bytes()));
    std::copy(job.pageable, job.pageable + job.n, job.pinned);
    std::copy(job.pageable, job.pageable + job.n, job.managed);
    // The default stream waits for such streams, and so do the events that take the time.
    for (cudaStream_t& stream : job.streams) CHECK(cudaStreamCreate(&stream));
}
void release(Job& job) {
    for (cudaStream_t stream : job.streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(job.managed));
    CHECK(cudaFreeHost(job.pinned));
    CHECK(cudaFree(job.on_gpu));
}

// Moves all managed pages to one place, as one large transfer without faults. Some GPUs cannot:
// there a kernel's launch moves the pages. CUDA 13 changed the call.
bool can_prefetch(const lab::Sample& sample) {
    return sample.properties().concurrentManagedAccess != 0;
}
void prefetch(const Job& job, int device) {
#if CUDART_VERSION >= 13000
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation to{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
#else
    const int to = device;
#endif
    if (can_prefetch(job.sample)) CHECK(cudaMemPrefetchAsync(job.managed, job.bytes(), to, 0));
}

void reset(const Job& job) { CHECK(cudaMemsetAsync(job.sum, 0, sizeof *job.sum)); }

void launch_sum(const Job& job, const int* in) {
    sum<<<job.sample.blocks_to_fill(sum, threads), threads>>>(in, job.n, job.sum);
}

// The kernel's first touch of a page is a fault: the driver moves the page, and the access is
// repeated.
void launch_page_faults(Job& job) {
    reset(job);
    launch_sum(job, job.managed);
}

// The copy engine cannot read pages that the system may move: the host copies them to a pinned
// buffer of the driver first.
void launch_pageable(Job& job) {
    CHECK(cudaMemcpyAsync(job.on_gpu, job.pageable, job.bytes(), cudaMemcpyHostToDevice));
    reset(job);
    launch_sum(job, job.on_gpu);
}

// The pages are on their way before the kernel asks for one.
void launch_prefetched(Job& job) {
    prefetch(job, job.sample.device());
    reset(job);
    launch_sum(job, job.managed);
}

// Nothing is copied: each load of the kernel crosses the bus.
void launch_zero_copy(Job& job) {
    reset(job);
    launch_sum(job, job.pinned);
}

// The copy engine reads pinned memory directly. The copy alone is what the bus allows.
void launch_copy_only(Job& job) {
    CHECK(cudaMemcpyAsync(job.on_gpu, job.pinned, job.bytes(), cudaMemcpyHostToDevice));
}
void launch_pinned(Job& job) {
    launch_copy_only(job);
    reset(job);
    launch_sum(job, job.on_gpu);
}

// Two streams take turns: during the sum of one chunk, the copy of the next one keeps the bus busy.
void launch_overlapped(Job& job) {
    reset(job);
    const int blocks = job.sample.blocks_to_fill(sum, threads);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int64_t first = job.n * chunk / chunks;
        const int64_t length = job.n * (chunk + 1) / chunks - first;
        const cudaStream_t stream = job.streams[chunk % 2];
        int* in = job.on_gpu + first;
        CHECK(cudaMemcpyAsync(in, job.pinned + first, length * sizeof(int), cudaMemcpyHostToDevice,
                              stream));
        sum<<<blocks, threads, 0, stream>>>(in, length, job.sum);
    }
}

// ---- the host's own threads ---------------------------------------------------------------------

// Each thread adds a range of its own.
int64_t sum_on_host(const int* in, int64_t n, int64_t workers) {
    std::vector<std::future<int64_t>> parts;
    for (int64_t t = 0; t < workers; ++t) {
        const int64_t first = n * t / workers, length = n * (t + 1) / workers - first;
        parts.push_back(std::async(std::launch::async, cpu_reference, in + first, length));
    }
    int64_t sum = 0;
    for (std::future<int64_t>& part : parts) sum += part.get();
    return sum;
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// A copy counts bytes, not elements: three quarters of the ints are never copied.
void launch_no_sizeof(Job& job) {
    CHECK(cudaMemcpyAsync(job.on_gpu, job.pinned, job.n, cudaMemcpyHostToDevice));
    reset(job);
    launch_sum(job, job.on_gpu);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"page_faults", "managed memory, moved page by page", launch_page_faults},
    {"pageable", "copied from ordinary host memory", launch_pageable},
    {"prefetched", "managed memory, moved ahead", launch_prefetched},
    {"zero_copy", "the kernel reads pinned host memory over the bus", launch_zero_copy},
    {"pinned", "copied from pinned host memory", launch_pinned},
    {"overlapped", "copied from pinned memory in chunks, added meanwhile", launch_overlapped},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_sizeof", "pinned, but as many bytes as there are ints", launch_no_sizeof}};

// Before the clock starts: neither the last sum nor a copy nor a page is left on the GPU.
void prepare(Job& job) {
    CHECK(cudaMemsetAsync(job.sum, lab::poison_byte, sizeof *job.sum));
    CHECK(cudaMemsetAsync(job.on_gpu, lab::poison_byte, job.bytes()));
    prefetch(job, cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize());
    // A host that writes managed memory moves its pages back.
    if (!can_prefetch(job.sample)) std::copy(job.pageable, job.pageable + job.n, job.managed);
}
void prepare_nothing(Job&) {}

void compare(const Job& job, Total got, lab::Row& row) {
    row.result = lab::with_commas(int64_t(got));
    row.bytes = double(job.bytes());
    row.wrong = got == job.want ? "" : lab::wanted(int64_t(got), int64_t(job.want));
}
void check(Job& job, lab::Row& row) {
    Total got = 0;
    CHECK(cudaMemcpy(&got, job.sum, sizeof got, cudaMemcpyDeviceToHost));
    compare(job, got, row);
}

void copy_row(lab::Sample& sample, Job& job) {
    lab::Row row;
    row.variant = "pinned copy only";
    row.kind = lab::Kind::limit;
    row.ms = sample.time(job, prepare_nothing, launch_copy_only);
    row.bytes = double(job.bytes());
    sample.row(row);
}

// The GPU has no part in this row, so the host's clock takes the time.
void cpu_row(lab::Sample& sample, const Job& job, int64_t workers) {
    std::vector<double> times(sample.repeats());
    int64_t got = 0;
    for (double& ms : times) {
        const auto start = std::chrono::steady_clock::now();
        got = sum_on_host(job.pageable, job.n, workers);
        const auto end = std::chrono::steady_clock::now();
        ms = std::chrono::duration<double, std::milli>(end - start).count();
    }
    lab::Row row;
    row.variant = "CPU, " + lab::with_commas(workers) + (workers == 1 ? " thread" : " threads");
    row.kind = lab::Kind::shown;
    row.ms = lab::median(times);
    compare(job, Total(got), row);
    sample.row(row);
}

int main(int argc, char** argv) {
    lab::Sample sample(
        "01_host_data",
        "What is the fastest way to the kernel for data that are in the host's memory?");
    sample.defaults(lab::gpu ? 10'000'000 : 1'000'003, 0, 0, "elements",
                    "blocks (default: what fills the GPU)");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    if (!can_prefetch(sample))
        sample.leave_out("prefetched",
                         "this GPU moves managed memory only when a kernel is launched",
                         "--only page_faults");
    sample.at_most("--n", most_ints, "that is more than 1 GiB of managed memory");
    sample.require_memory(2 * sizeof(int));  // job.managed and job.on_gpu

    std::vector<int> in(n);
    for (int64_t i = 0; i < n; ++i) in[i] = int(lab::random_bits(sample.seed(), i));
    const lab::DeviceArray<Total> d_sum(1);
    Job job{sample, n, d_sum.get(), Total(cpu_reference(in.data(), n)), in.data()};
    allocate(job);

    sample.new_table("the sum of " + lab::with_commas(n) + " ints that are in the host's memory",
                     false);
    sample.columns({}, 6, 21);  // the names are long: "CPU, 16 threads"
    if (sample.shows_limit()) copy_row(sample, job);
    sample.rows(job, variants, prepare, check);
    sample.rows(job, twins, prepare, check);
    const int all_threads = std::thread::hardware_concurrency();  // 0 if the system does not say
    if (sample.wants_all()) cpu_row(sample, job, 1);
    if (sample.wants_all() && all_threads > 1) cpu_row(sample, job, all_threads);
    release(job);
    return sample.verdict();
}
