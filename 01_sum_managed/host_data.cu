// 01_host_data - what is the fastest way to the kernel for data that lie in the host's memory?
//
// sum_managed.cu makes the kernel fast. Here all ways end with one simple kernel, and the ways compete.
//   page_faults   managed memory: the first touch of a page fetches it     slow: waits for every fault
//   pageable      copied from ordinary memory                              slow: by way of a pinned buffer
//   prefetched    managed memory, sent ahead by cudaMemPrefetchAsync       slow: the sum waits for all of it
//   zero_copy     the kernel reads the host's pinned memory                slow: every load crosses the bus
//   pinned        copied from pinned memory by the copy engine             slow: the sum waits for the copy
//   overlapped    copied in chunks, each added while the next travels      pays if the kernel takes long, too
// Beside them: the copy alone, which is what the bus allows, and the host's own threads, which need no way at all.
//
//   01_host_data --only pinned --only overlapped     two ways; or --wrong no_sizeof: a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 01_sum_managed/host_data.cu common/lab.cpp common/write_file.cpp -o host_data
#include <chrono>
#include <future>
#include <thread>

#include "lab.cuh"

constexpr int threads = 256;
constexpr int chunks = 8;  // of the overlapped copy: fewer leave a longer last sum, more pay for more starts
constexpr int most_ints = (1 << 30) / sizeof(int);  // 1 GiB of managed memory
using Total = unsigned long long;  // in two's complement it adds signed numbers, too

// ---- the answer, slowly ----------------------------------------------------------------------------------------

int64_t on_the_cpu(const int* in, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i];
    return sum;
}

// The same on several threads, each with its own range.
int64_t on_cpu_threads(const int* in, int64_t n, int64_t workers) {
    std::vector<std::future<int64_t>> parts;
    for (int64_t t = 0; t < workers; ++t) {
        const int64_t from = n * t / workers;
        parts.push_back(std::async(std::launch::async, on_the_cpu, in + from, n * (t + 1) / workers - from));
    }
    int64_t sum = 0;
    for (auto& part : parts) sum += part.get();
    return sum;
}

// The median of the times by the host's clock, as the GPU has no part in them.
double time_on_the_cpu(const int* in, int64_t n, int64_t workers, int repeats, int64_t& sum) {
    std::vector<double> times(repeats);
    for (double& ms : times) {
        const auto start = std::chrono::steady_clock::now();
        sum = on_cpu_threads(in, n, workers);
        ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    return lab::median(times);
}

// ---- four kinds of memory, with the same ints in each ----------------------------------------------------------

// What a launch needs.
struct Job {
    const lab::Sample& sample;
    int64_t n;
    Total* d_sum;
    const int* pageable;     // the host's: the system may move its pages
    int* d_copy = nullptr;   // the GPU's
    int* pinned = nullptr;   // the host's, and it stays where it is
    int* managed = nullptr;  // one address for host and GPU: its pages move to who touches them
    cudaStream_t streams[2] = {};

    size_t bytes() const { return n * sizeof(int); }
    void zero() const { CHECK(cudaMemsetAsync(d_sum, 0, sizeof *d_sum)); }
    template <class Kernel> int fill(Kernel kernel) const { return sample.blocks_to_fill(kernel, threads); }
    bool can_send() const { return sample.properties().concurrentManagedAccess != 0; }
};

void allocate(Job& job) {
    CHECK(cudaMalloc(&job.d_copy, job.bytes()));
    CHECK(cudaMallocHost(&job.pinned, job.bytes()));
    CHECK(cudaMallocManaged(&job.managed, job.bytes()));
    std::copy(job.pageable, job.pageable + job.n, job.pinned);
    std::copy(job.pageable, job.pageable + job.n, job.managed);
    for (cudaStream_t& stream : job.streams) CHECK(cudaStreamCreate(&stream));  // the stopwatch waits for this kind
}
void release(const Job& job) {
    for (cudaStream_t stream : job.streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(job.managed));
    CHECK(cudaFreeHost(job.pinned));
    CHECK(cudaFree(job.d_copy));
}

// Sends all managed pages to one place, as one large transfer without faults. CUDA 13 changed the call.
void send(const Job& job, int device) {
#if CUDART_VERSION >= 13000
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation to{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
#else
    const int to = device;
#endif
    if (job.can_send()) CHECK(cudaMemPrefetchAsync(job.managed, job.bytes(), to, 0));
}

// Before the clock starts: neither the last sum nor a copy nor a page is left on the GPU.
void back_to_the_host(const Job& job) {
    CHECK(cudaMemsetAsync(job.d_sum, lab::poison_byte, sizeof *job.d_sum));
    CHECK(cudaMemsetAsync(job.d_copy, lab::poison_byte, job.bytes()));
    send(job, cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize());
    if (!job.can_send()) std::copy(job.pageable, job.pageable + job.n, job.managed);  // the writes fetch the pages
}

// ---- the ways to the kernel ------------------------------------------------------------------------------------

// The thread adds its share, shuffles fold the warp's sums, and one atomicAdd a warp brings the warps together.
__global__ void sum(const int* in, int64_t n, Total* total) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    Total mine = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) mine += in[i];
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}

// The kernel's first touch of a page is a fault: the driver moves the page, and the access is repeated.
void launch_page_faults(const Job& job) {
    job.zero();
    sum<<<job.fill(sum), threads>>>(job.managed, job.n, job.d_sum);
}

// Pages that the system may move go through a pinned buffer of the driver's: the host copies them there.
void launch_pageable(const Job& job) {
    CHECK(cudaMemcpyAsync(job.d_copy, job.pageable, job.bytes(), cudaMemcpyHostToDevice));
    job.zero();
    sum<<<job.fill(sum), threads>>>(job.d_copy, job.n, job.d_sum);
}

// The pages are on their way before the kernel asks for one.
void launch_prefetched(const Job& job) {
    send(job, job.sample.device());
    job.zero();
    sum<<<job.fill(sum), threads>>>(job.managed, job.n, job.d_sum);
}

// Nothing is copied: each load of the kernel crosses the bus.
void launch_zero_copy(const Job& job) {
    job.zero();
    sum<<<job.fill(sum), threads>>>(job.pinned, job.n, job.d_sum);
}

// The copy engine reads pinned memory directly. The copy alone is what the bus allows: the limit's row.
void copy_only(const Job& job) {
    CHECK(cudaMemcpyAsync(job.d_copy, job.pinned, job.bytes(), cudaMemcpyHostToDevice));
}
void launch_pinned(const Job& job) {
    CHECK(cudaMemcpyAsync(job.d_copy, job.pinned, job.bytes(), cudaMemcpyHostToDevice));
    job.zero();
    sum<<<job.fill(sum), threads>>>(job.d_copy, job.n, job.d_sum);
}

// Two streams take turns: while one adds its chunk, the other one's copy keeps the bus busy.
void launch_overlapped(const Job& job) {
    job.zero();
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int64_t at = job.n * chunk / chunks;
        const int64_t size = job.n * (chunk + 1) / chunks - at;
        const cudaStream_t turn = job.streams[chunk % 2];
        CHECK(cudaMemcpyAsync(job.d_copy + at, job.pinned + at, size * sizeof(int), cudaMemcpyHostToDevice, turn));
        sum<<<job.fill(sum), threads, 0, turn>>>(job.d_copy + at, size, job.d_sum);
    }
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// A copy counts bytes, not elements: three quarters of the ints are never sent.
void launch_no_sizeof(const Job& job) {
    CHECK(cudaMemcpyAsync(job.d_copy, job.pinned, job.n, cudaMemcpyHostToDevice));
    job.zero();
    sum<<<job.fill(sum), threads>>>(job.d_copy, job.n, job.d_sum);
}

// ---- the table -------------------------------------------------------------------------------------------------

struct Variant {
    const char* name;
    const char* how;
    void (*launch)(const Job&);
    int least_threads = 1;
    bool sends = false;  // managed pages while the clock runs: some GPUs cannot
};
constexpr Variant variants[] = {
    {"page_faults", "managed memory, fetched page by page", launch_page_faults},
    {"pageable", "copied from ordinary host memory", launch_pageable},
    {"prefetched", "managed memory, sent ahead", launch_prefetched, 1, true},
    {"zero_copy", "the kernel reads pinned host memory over the bus", launch_zero_copy},
    {"pinned", "copied from pinned host memory", launch_pinned},
    {"overlapped", "copied from pinned memory in chunks, added meanwhile", launch_overlapped},
};
constexpr Variant twins[] = {{"no_sizeof", "pinned, but so many bytes as there are ints", launch_no_sizeof}};

// ---- run, check, time ------------------------------------------------------------------------------------------

int main(int argc, char** argv) {
    lab::Sample sample("01_host_data",
                       "What is the fastest way to the kernel for data that lie in the host's memory?");
    sample.defaults(lab::gpu ? 10'000'000 : 1'000'003, 0, 0, "elements", "blocks (default: what fills the GPU)");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    sample.at_most("--n", most_ints, "that is more than 1 GiB of managed memory");
    sample.require_memory(2 * sizeof(int));  // managed, d_copy
    std::vector<int> in(sample.n());
    for (size_t i = 0; i < in.size(); ++i) in[i] = int(lab::random_bits(sample.seed(), i));
    const int64_t want = on_the_cpu(in.data(), sample.n());
    lab::DeviceArray<Total> d_sum(1);
    Job job{sample, sample.n(), d_sum.get(), in.data()};
    allocate(job);

    const auto row = [&](const std::string& name, int64_t got, lab::Time ms, lab::Kind kind) {
        const std::string wrong = got == want ? "" : lab::wanted(got, want);
        sample.row({name, lab::with_commas(got), ms, double(job.bytes()), wrong, kind});
    };
    const auto rows = [&](const auto& table) {
        for (const Variant& v : table) {
            if (!sample.wants(v.name)) continue;
            if (v.sends && !job.can_send()) {
                sample.say("%s: left out, as this GPU moves managed memory only when a kernel is launched", v.name);
                continue;
            }
            const lab::Time ms = sample.time([&] { back_to_the_host(job); }, [&] { v.launch(job); });
            row(v.name, int64_t(d_sum.download()[0]), ms, lab::Kind::variant);
        }
    };
    const auto cpu_row = [&](int64_t workers) {
        int64_t got = 0;
        const double ms = time_on_the_cpu(in.data(), job.n, workers, sample.repeats(), got);
        const std::string name = "CPU, " + lab::with_commas(workers) + (workers == 1 ? " thread" : " threads");
        row(name, got, ms, lab::Kind::shown);
    };
    sample.new_table("the sum of " + lab::with_commas(job.n) + " ints that lie in the host's memory", false);
    sample.columns({}, 6, 21);  // beside long names: "CPU, 16 threads"
    if (sample.shows_limit()) {
        const lab::Time ms = sample.time([] {}, [&] { copy_only(job); });
        sample.row({"pinned copy only", "-", ms, double(job.bytes()), "", lab::Kind::limit});
    }
    rows(variants);
    rows(twins);
    const int64_t all_threads = std::thread::hardware_concurrency();  // 0 if the system does not say
    if (sample.wants_all()) cpu_row(1);
    if (sample.wants_all() && all_threads > 1) cpu_row(all_threads);
    release(job);
    return sample.verdict();
}
