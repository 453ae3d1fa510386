// 02.7  Time a kernel with events
//
// A launch returns at once, so the host's clock cannot time a kernel. An event
// can: it is recorded in a stream, and the GPU stores the time when it reaches
// the event. Return the milliseconds that `work` takes, without `prepare`.
// Create two events, record one before `work` and one after it, wait for the
// second, call cudaEventElapsedTime(), and destroy both.
#include <chrono>
#include "exercise.cuh"

__device__ void wait_for(long long clocks) {
    for (const long long start = clock64(); clock64() - start < clocks;) continue;
}
__global__ void prepare(int* a, long long clocks) {
    wait_for(clocks);
    a[threadIdx.x] = threadIdx.x;
}
__global__ void work(int* a, long long clocks) {
    wait_for(clocks);
    a[threadIdx.x] *= 2;
}

// ---- your part
float time_of_work(int* a, int n, long long clocks) {
    float ms = 0;
    prepare<<<1, n>>>(a, 3 * clocks);
    work<<<1, n>>>(a, clocks);
    return ms;
}

// ---- the check
int main() {
    return exercise({32, 1}, [](int n) {
        int khz = 0;
        CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
        Array<int> a(n);
        using clock = std::chrono::steady_clock;
        const auto start = clock::now();
        const float ms = time_of_work(a, n, 10 * khz);  // 10 ms, or more if the clock is slower
        const cudaError_t error = cudaPeekAtLastError();
        if (!check("a", a, [](int i) { return 2 * i; })) return false;
        const float all = std::chrono::duration<float, std::milli>(clock::now() - start).count();
        if (ms >= 9.9f && ms <= all - 29) return at_least(2, events());
        std::printf(
            lab::words("time_of_work() returns %.2f ms; work takes 10 ms or more, prepare 30\n",
                       "time_of_work() 返回 %.2f ms；work 至少 10 ms，prepare 至少 30 ms\n"), ms);
        if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
        return false;
    });
}
