// bench.cu - measures the CPU device itself: thread switches, barriers, launches,
// and whole kernels, two of which are compared with native code. Run it after
// each change of the engine.
// `make bench-cpu` runs all of it; --benchmark_filter=sum selects by name.
//
// The column Time is the time of one launch and the wait for its end. The last
// column divides it by the units of work.
#include <benchmark/benchmark.h>
#include <errno.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "../error.cuh"

constexpr int turns = 1000;  // of a kernel's loop: enough to make the cost of the launch negligible
constexpr int side = 16;     // of a tile of the image

__global__ void empty() {}

__global__ void barriers() {
    for (int i = 0; i < turns; ++i) __syncthreads();
}

__global__ void fold(const int* in, int* total) {
    __shared__ int tile[1024];
    const int tid = threadIdx.x;
    tile[tid] = in[blockIdx.x * 1024 + tid];
    __syncthreads();
    for (int length = 512; length > 0; length /= 2) {
        if (tid < length) tile[tid] += tile[tid + length];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(total, tile[0]);
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

__global__ void shuffles(int* out) {
    int x = threadIdx.x;
    for (int i = 0; i < turns; ++i) x += __shfl_xor_sync(0xffffffff, x, 1);
    out[threadIdx.x] = x;
}

__global__ void atomics(int* word) {
    for (int i = 0; i < turns; ++i) atomicAdd(word, 1);
}

__global__ void sum(const int* in, int64_t n, unsigned long long* total) {
    __shared__ unsigned long long tile[256];
    const int tid = threadIdx.x;
    unsigned long long mine = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + tid; i < n; i += int64_t(gridDim.x) * blockDim.x)
        mine += in[i];
    tile[tid] = mine;
    __syncthreads();
    for (int length = blockDim.x / 2; length > 0; length /= 2) {
        if (tid < length) tile[tid] += tile[tid + length];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(total, tile[0]);
}

__global__ void image(unsigned char* pixels, int width) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    tile[tx][ty] = 127 * (sinf(float(x) / 20) + 1) * (sinf(float(y) / 20) + 1) / 2;
    __syncthreads();
    pixels[y * width + x] = static_cast<unsigned char>(tile[side - 1 - tx][side - 1 - ty]);
}

namespace {

/// Measures `launch` and the wait for its end. One launch does `units` units of
/// work, each called `unit`.
template <class Launch>
void measure(benchmark::State& state, const char* unit, double units, Launch launch) {
    for (auto _ : state) {
        launch();
        CHECK(cudaDeviceSynchronize());
    }
    state.counters[std::string("per ") + unit] =
        benchmark::Counter(units, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class T>
T* device_memory(int64_t count) {
    T* p = nullptr;
    CHECK(cudaMalloc(&p, count * sizeof(T)));
    CHECK(cudaMemset(p, 0, count * sizeof(T)));
    return p;
}

void launch_empty_kernel(benchmark::State& state) {
    measure(state, "launch", 1, [] { empty<<<1, 1>>>(); });
}

// The thread that arrives last at a barrier continues. So two threads at barriers
// alternate, with one switch for each barrier.
void fiber_switch(benchmark::State& state) {
    measure(state, "switch", 2.0 * turns, [] { barriers<<<1, 2>>>(); });
}

void syncthreads_256_threads(benchmark::State& state) {
    measure(state, "thread", 256.0 * turns, [] { barriers<<<1, 256>>>(); });
}

void syncthreads_1024_threads(benchmark::State& state) {
    measure(state, "thread", 1024.0 * turns, [] { barriers<<<1, 1024>>>(); });
}

/// Adds the column "x native": the time of a launch divided by the time of `native`. The two alternate, so that
/// other load on the machine slows both.
template <class Launch, class Native>
void compare(benchmark::State& state, Launch launch, Native native) {
    using Clock = std::chrono::steady_clock;
    Clock::duration device = Clock::duration::max(), host = device;
    for (auto _ : state) {
        const auto start = Clock::now();
        launch();
        CHECK(cudaDeviceSynchronize());
        const auto between = Clock::now();
        native();
        device = std::min(device, between - start);
        host = std::min(host, Clock::now() - between);
        state.SetIterationTime(std::chrono::duration<double>(between - start).count());
    }
    state.counters["x native"] = double(device.count()) / double(host.count());
}

__attribute__((noinline, no_sanitize("alignment"))) void native_saxpy(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

void saxpy_2_to_20(benchmark::State& state) {
    constexpr int n = 1 << 20;
    float *x = device_memory<float>(n), *y = device_memory<float>(n);
    std::vector<float> host_x(n), host_y(n);
    compare(
        state, [=] { saxpy<<<n / 256, 256>>>(n, 3, x, y); },
        [&] { native_saxpy(n, 3, host_x.data(), host_y.data()); });
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

__attribute__((noinline, no_sanitize("alignment"))) int native_sum(const int* in, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

double seconds_of_saxpy() {  // the fastest of 20 launches, because other load slows some of them
    using Clock = std::chrono::steady_clock;
    constexpr int n = 1 << 20;
    float *x = device_memory<float>(n), *y = device_memory<float>(n);
    Clock::duration least = Clock::duration::max();
    for (int i = 0; i < 20; ++i) {
        const auto start = Clock::now();
        saxpy<<<n / 256, 256>>>(n, 3, x, y);
        CHECK(cudaDeviceSynchronize());
        least = std::min(least, Clock::now() - start);
    }
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return std::chrono::duration<double>(least).count();
}

/// The same with --hazards. Another program runs it: this file, compiled with --hazards.
void saxpy_2_to_20_hazards(benchmark::State& state) {
    double hazards = 0;
    const double plain = seconds_of_saxpy();
    FILE* const other = popen((std::string(program_invocation_name) + "_hazards").c_str(), "r");
    if (!other || fscanf(other, "%lf", &hazards) != 1) state.SkipWithError("bench_cpu_hazards does not run");
    if (other) pclose(other);
    for (auto _ : state) state.SetIterationTime(hazards);
    state.counters["x plain"] = hazards / plain;
}

void fold_2_to_20_in_blocks_of_1024(benchmark::State& state) {
    constexpr int n = 1 << 20;
    int *in = device_memory<int>(n), *total = device_memory<int>(1);
    const std::vector<int> host(n);
    compare(
        state, [=] { fold<<<n / 1024, 1024>>>(in, total); },
        [&] { benchmark::DoNotOptimize(native_sum(host.data(), n)); });
    CHECK(cudaFree(in));
    CHECK(cudaFree(total));
}

void shuffle_of_a_warp(benchmark::State& state) {
    int* out = device_memory<int>(32);
    measure(state, "lane", 32.0 * turns, [=] { shuffles<<<1, 32>>>(out); });
    CHECK(cudaFree(out));
}

void atomic_add(benchmark::State& state) {
    int* word = device_memory<int>(1);
    measure(state, "add", 32.0 * turns, [=] { atomics<<<1, 32>>>(word); });
    CHECK(cudaFree(word));
}

void sum_of_10_million_ints(benchmark::State& state) {
    constexpr int64_t n = 10'000'000;
    std::vector<int> host(n);
    std::iota(host.begin(), host.end(), 1);
    int* in = device_memory<int>(n);
    unsigned long long *total = device_memory<unsigned long long>(1), got = 0;
    CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    measure(state, "element", n, [=] {
        CHECK(cudaMemsetAsync(total, 0, sizeof *total));
        sum<<<256, 256>>>(in, n, total);
    });
    CHECK(cudaMemcpy(&got, total, sizeof got, cudaMemcpyDeviceToHost));
    if (got != n * (n + 1) / 2) state.SkipWithError("the sum is wrong");
    CHECK(cudaFree(in));
    CHECK(cudaFree(total));
}

void image_1024_squared(benchmark::State& state) {
    constexpr int width = 1024;
    unsigned char* pixels = device_memory<unsigned char>(width * width);
    measure(state, "pixel", width * width,
            [=] { image<<<dim3(width / side, width / side), dim3(side, side)>>>(pixels, width); });
    CHECK(cudaFree(pixels));
}

}  // namespace

#ifdef CUDACPU_INSTRUMENTED
int main() { printf("%g\n", seconds_of_saxpy()); }
#else
BENCHMARK(launch_empty_kernel);
BENCHMARK(fiber_switch);
BENCHMARK(syncthreads_256_threads);
BENCHMARK(syncthreads_1024_threads);
BENCHMARK(saxpy_2_to_20)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(50);
BENCHMARK(saxpy_2_to_20_hazards)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);
BENCHMARK(fold_2_to_20_in_blocks_of_1024)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(5);
BENCHMARK(shuffle_of_a_warp);
BENCHMARK(atomic_add);
BENCHMARK(sum_of_10_million_ints)->Unit(benchmark::kMillisecond);
BENCHMARK(image_1024_squared)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
#endif
