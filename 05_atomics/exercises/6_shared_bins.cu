// 05.6  A histogram for each block
//
// The histogram of 05.1 does one atomic in global memory for each digit, and
// all threads of the grid compete for ten words. Let each block first count in
// shared memory, where an atomic is fast. At the end it adds its ten bins to
// the global bins: ten atomics for each block. All bins are 0 at the beginning.
#include "exercise.cuh"

// ---- your part
__global__ void count(const int* in, int n, int* bins) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
}
void launch(const int* in, int n, int* bins) {
    count<<<(n + 1023) / 1024, 128>>>(in, n, bins);
}

// ---- the check
int main() {
    return exercise({1000, 1, 3000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 10; }), bins(10, [](int) { return 0; });
        launch(in, n, bins);
        return check("bins", bins, [&](int digit) { return std::count(in.begin(), in.end(), digit); }) &&
               at_most((n + 1023) / 1024 * 10, global_atomics()) && at_most(100, accesses());
    }, [] { beside("CUB", library::histogram, launch, 1 << 24); });
}
