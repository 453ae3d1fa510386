// 05_managed_vector - what does the tutorial's program look like in its own form, and where do its
// times come from?
//
// atomics.cu measures the tutorial's kernels alone, on device memory. Here are the tutorial's whole
// programs: std::vector over managed memory, a launch, a wait, and a stopwatch around both.
//   race_sum           sum[0] += x: a race                      wrong: the others are right
//   atomic_sum         atomicAdd for each element               slow: one queue
//   filter             res[atomicAdd(count, 1)] = x             slow: the host has touched res
//   filter_untouched   the same; the host has not touched res   slow: it has filled the input
//   cas_sum            an atomic add made of atomicCAS          slow: one succeeds, all retry
//   local_sum          a sum for each thread, n / 4096 blocks   slow: page faults
//   exchange           atomicExch, beside std::atomic's exchange() on the host
// On a GPU each kernel is launched twice. The first launch, which is the tutorial's only one, waits
// for page faults. The host has filled the vectors, so their pages are in the host's memory.
// Each moves to the GPU when the kernel first touches it. The first launch of a kernel also loads
// its code. The second launch finds the data and the code on the GPU.
//
//   05_managed_vector --wrong no_wait     a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 05_atomics/managed_vector.cu
//       common/lab.cpp common/write_file.cpp -o managed_vector
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include "lab.cuh"

constexpr int tutorial_n = 65'536;  // elements of the tutorial's sums,
constexpr int tutorial_large_n = 1
                                 << 24;  // of its filter, and of the sum that is local to a thread
constexpr int host_threads = 4;          // that exchange values on the host

// ---- CPU reference ------------------------------------------------------------------------------

int cpu_sum(const int* in, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

// ---- the allocator and the stopwatch ------------------------------------------------------------

// A std::vector asks its allocator for memory, and gives it back to it. This one's is managed: the
// host and the device use it at the same address, so a kernel takes vector.data(), and nothing is
// copied. The constructor and the comparisons are what C++ demands of an allocator.
template <class T>
struct CudaAllocator {
    using value_type = T;

    CudaAllocator() = default;
    template <class U>
    CudaAllocator(const CudaAllocator<U>&) {}

    T* allocate(size_t count) {
        T* memory = nullptr;
        CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
        return memory;
    }
    void deallocate(T* memory, size_t) { CHECK(cudaFree(memory)); }
};
template <class T, class U>
bool operator==(const CudaAllocator<T>&, const CudaAllocator<U>&) {
    return true;  // one may free what another has allocated
}
template <class T, class U>
bool operator!=(const CudaAllocator<T>&, const CudaAllocator<U>&) {
    return false;
}
using ManagedVector = std::vector<int, CudaAllocator<int>>;

// ManagedVector(n) constructs each element as 0. The host writes it, so all pages are in the host's
// memory, even those of an output. They move to the device at the kernel's first touch. The usual
// cure is a construct() that does nothing for an element without a value: `new (place) T` leaves an
// int as it is. Then a page that the kernel touches first begins on the device. But then no element
// is 0 unless the program sets it.
template <class T>
struct UntouchedAllocator : CudaAllocator<T> {
    UntouchedAllocator() = default;
    template <class U>
    UntouchedAllocator(const UntouchedAllocator<U>&) {}

    void construct(T* place) { new (place) T; }
};
using UntouchedVector = std::vector<int, UntouchedAllocator<int>>;

// The tutorial's stopwatch is a pair of macros: TICK(name) stores the time in a variable that has
// `name` in its name, and TOCK(name) prints the seconds since then. Two functions do the same. A
// launch returns at once, so wait for the kernel before tock().
std::chrono::steady_clock::time_point tick() { return std::chrono::steady_clock::now(); }
double tock(std::chrono::steady_clock::time_point start) {  // seconds
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// ---- the tutorial's kernels ---------------------------------------------------------------------

// Read the word, read the element, add, write the word: another thread may come in between.
__global__ void race_sum(int* sum, const int* arr, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum[0] += arr[i];
}

__global__ void atomic_sum(int* sum, const int* arr, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&sum[0], arr[i]);
}

// The old value is a place that no other thread gets: a push_back() for all threads at once.
__global__ void filter(int* count, int* res, const int* arr, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (arr[i] >= 2) {
            const int place = atomicAdd(&count[0], 1);
            res[place] = arr[i];
        }
    }
}

// Offers expected + x until the word still holds what was expected. Returns the old value.
__device__ int own_atomic_add(int* word, int x) {
    int found = *word, expected;
    do {
        expected = found;
        found = atomicCAS(word, expected, expected + x);
    } while (found != expected);
    return found;
}
__global__ void cas_sum(int* sum, const int* arr, int n) {
    int local = 0;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local += arr[i];
    own_atomic_add(&sum[0], local);
}

// The smaller gridDim and blockDim, the more elements a thread has, and the fewer atomics.
__global__ void local_sum(int* sum, const int* arr, int n) {
    int local = 0;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local += arr[i];
    atomicAdd(&sum[0], local);
}

// Thread i hands in i + 1 and gets what another has handed in, or the 0 of the beginning. (The
// tutorial explains atomicExch, and has no program for it.)
__global__ void exchange(int* word, int* old, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        old[i] = atomicExch(&word[0], i + 1);
}

// The same on the host, for every host_threads-th value.
void exchange_on_host(std::atomic<int>& word, std::vector<int>& old, int first) {
    for (int i = first; i < int(old.size()); i += host_threads) old[i] = word.exchange(i + 1);
}

// ---- the tutorial's whole programs --------------------------------------------------------------

struct Job {  // what a program needs, and what it leaves
    int n;
    unsigned seed;
    double seconds[2] = {};  // of the first and of the second launch
    lab::Row row = {};

    int small_n() const { return std::min(n, tutorial_n); }
    int one_each() const { return (small_n() - 1) / 128 + 1; }  // blocks; n / 128, rounded up
};
int small_grid(int n) { return std::max(1, n / 4096); }  // the tutorial's, but one block at least

// Numbers 0 .. 3. With glibc's rand() and its first seed, 1, they are the tutorial's.
ManagedVector random_numbers(int n, unsigned seed) {
    std::srand(seed);
    ManagedVector arr(n);
    for (int i = 0; i < n; ++i) arr[i] = std::rand() % 4;
    return arr;
}

void keep_result(Job& job, int got, int want) {
    job.row.result = lab::with_commas(got);
    if (got != want) job.row.wrong = lab::wanted(got, want);
}

// The tutorial's four sums differ in the kernel, the grid and n. The host must not read arr between
// the launches: its pages would move back.
void sum_program(Job& job, void (*kernel)(int*, const int*, int), int blocks, int threads, int n) {
    const ManagedVector arr = random_numbers(n, job.seed);
    const int want = cpu_sum(arr.data(), n);
    ManagedVector sum(1);
    for (double& seconds : job.seconds) {
        sum[0] = 0;  // not in the tutorial, which launches once: a new vector's elements are 0
        const auto start = tick();
        kernel<<<blocks, threads>>>(sum.data(), arr.data(), n);
        CHECK(cudaGetLastError());  // was the launch legal?
        CHECK(
            cudaDeviceSynchronize());  // did the kernel run to its end? Only then may the host read
        seconds = tock(start);
        keep_result(job, sum[0], want);
    }
    job.row.bytes = 4.0 * n;
}
void run_race_sum(Job& job) { sum_program(job, race_sum, job.one_each(), 128, job.small_n()); }
void run_atomic_sum(Job& job) { sum_program(job, atomic_sum, job.one_each(), 128, job.small_n()); }
void run_cas_sum(Job& job) {
    sum_program(job, cas_sum, small_grid(job.small_n()), 512, job.small_n());
}
void run_local_sum(Job& job) { sum_program(job, local_sum, small_grid(job.n), 512, job.n); }

// Compares what the filter has kept, in ascending order, because it may keep the elements in any.
// The tutorial looks only whether all are >= 2.
std::string compare_kept(const std::vector<int>& kept, const std::vector<int>& want) {
    const auto differ = std::mismatch(kept.begin(), kept.end(), want.begin());
    if (differ.first == kept.end()) return "";
    return lab::text("element %d in ascending order: ", int(differ.first - kept.begin())) +
           lab::wanted(*differ.first, *differ.second);
}

template <class Vector>
void filter_program(Job& job) {
    const ManagedVector arr = random_numbers(job.n, job.seed);
    std::vector<int> want;
    for (int x : arr)
        if (x >= 2) want.push_back(x);
    Vector res(job.n);
    ManagedVector count(1);
    for (double& seconds : job.seconds) {
        count[0] = 0;
        const auto start = tick();
        filter<<<small_grid(job.n), 512>>>(count.data(), res.data(), arr.data(), job.n);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        seconds = tock(start);
        keep_result(job, count[0], int(want.size()));
    }
    if (job.row.wrong.empty())
        job.row.wrong =
            compare_kept(lab::sorted({res.begin(), res.begin() + count[0]}), lab::sorted(want));
    job.row.bytes = 4.0 * (double(job.n) + double(want.size()));
}

// Are the old values and the last one 0 .. n, each once? Each value is handed on exactly once.
std::string handed_on_once(std::vector<int> values, int last, const char* where) {
    values.push_back(last);
    values = lab::sorted(values);
    for (int i = 0; i < int(values.size()); ++i)
        if (values[i] != i) return where + lab::wanted(values[i], i);
    return "";
}

void run_exchange(Job& job) {
    const int n = job.small_n();
    std::atomic<int> host_word{0};
    std::vector<int> host_old(n);
    std::vector<std::thread> team;
    for (int t = 0; t < host_threads; ++t)
        team.emplace_back(exchange_on_host, std::ref(host_word), std::ref(host_old), t);
    for (std::thread& member : team) member.join();
    job.row.wrong = handed_on_once(host_old, host_word, "on the host: ");

    ManagedVector word(1), old(n);
    for (double& seconds : job.seconds) {
        word[0] = 0;
        const auto start = tick();
        exchange<<<small_grid(n), 512>>>(word.data(), old.data(), n);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        seconds = tock(start);
    }
    job.row.wrong += handed_on_once({old.begin(), old.end()}, word[0], "on the device: ");
    job.row.result = lab::with_commas(n + 1);
    job.row.bytes = 4.0 * n;
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// A launch returns at once: the host reads before the kernel has run, and without an error.
void run_no_wait(Job& job) {
    const int n = job.small_n();
    const ManagedVector arr = random_numbers(n, job.seed);
    ManagedVector sum(1);
    atomic_sum<<<job.one_each(), 128>>>(sum.data(), arr.data(), n);
    CHECK(cudaGetLastError());
    const int early = sum[0];
    CHECK(cudaDeviceSynchronize());
    keep_result(job, early, cpu_sum(arr.data(), n));
}

// The second launch adds to the sum of the first.
void run_no_reset(Job& job) {
    const int n = job.small_n();
    const ManagedVector arr = random_numbers(n, job.seed);
    ManagedVector sum(1);
    for (int launch = 1; launch <= 2; ++launch) {
        atomic_sum<<<job.one_each(), 128>>>(sum.data(), arr.data(), n);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    keep_result(job, sum[0], cpu_sum(arr.data(), n));
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> race[] = {
    {"race_sum", "sum[0] += x: lost updates", run_race_sum},
};
constexpr lab::Variant<Job> programs[] = {
    {"atomic_sum", "atomicAdd for each element", run_atomic_sum},
    {"filter", "each old value is a place", filter_program<ManagedVector>},
    {"filter_untouched", "filter, to pages that the host has not touched",
     filter_program<UntouchedVector>},
    {"cas_sum", "an atomic add made of atomicCAS", run_cas_sum},
    {"local_sum", "atomicAdd for each thread, n / 4096 blocks of 512", run_local_sum},
    {"exchange", "atomicExch, and std::atomic's exchange() on the host", run_exchange},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_wait", "reads the sum before cudaDeviceSynchronize()", run_no_wait},
    {"no_reset", "a second launch adds to the sum of the first", run_no_reset},
};

void run_program(lab::Sample& sample, Job job, const lab::Variant<Job>& program) {
    job.row.variant = program.name;
    program.launch(job);
    if (lab::gpu && job.seconds[1] > 0) {
        job.row.columns = {lab::text("%.2f", 1e6 * job.seconds[0])};
        job.row.ms = 1e3 * job.seconds[1];
    }
    sample.row(job.row);
}

int main(int argc, char** argv) {
    lab::Sample sample("05_managed_vector",
                       "What does the tutorial's program look like in its own form, and where do "
                       "its times come from?");
    sample.defaults(
        lab::gpu ? tutorial_large_n : tutorial_n, 0, 0,
        "elements of filter and local_sum; the others have the tutorial's 65,536 at most", "");
    sample.variants(programs);
    sample.twins(race, twins);
    sample.start(argc, argv);
    sample.at_most("--n", 1 << 28, "that is more than 1 GiB of managed memory");
    sample.require_memory(2 * sizeof(int));  // the filter's input and output
    // A program that does not call srand() gets the numbers of seed 1.
    Job job{int(sample.n()), sample.typed("--seed") ? unsigned(sample.seed()) : 1u};

    sample.new_table("the tutorial's programs: std::vector over managed memory", false);
    if (lab::gpu) {
        sample.columns({"first us"}, 10);
        sample.say("first us: the first launch, with its page faults; time us: the second launch");
    }
    if (sample.wants_all()) {
        Job shown = job;
        shown.row.kind = lab::Kind::shown;
        run_program(sample, shown, race[0]);
    }
    for (const auto& program : programs)
        if (sample.wants(program.name)) run_program(sample, job, program);
    if (sample.wants_twin("race_sum")) run_program(sample, job, race[0]);
    for (const auto& twin : twins)
        if (sample.wants(twin.name)) run_program(sample, job, twin);
    return sample.verdict();
}
