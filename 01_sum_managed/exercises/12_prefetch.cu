// 01.12  Prefetch managed memory
//
// A page of managed memory moves when it is first accessed: the kernel waits
// for each page, and later the host does. cudaMemPrefetchAsync(a, bytes, to, 0)
// moves a whole array at once; `to` is gpu or host, which are defined below.
// Prefetch the array to the GPU before the launch, and to the host after it.
// Then wait, and return the last element.
#include "exercise.cuh"

#if CUDART_VERSION >= 13000
const cudaMemLocation gpu{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
#else
const int gpu = 0, host = cudaCpuDeviceId;
#endif
__global__ void square(int* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= a[i];
}

// ---- your part
int last_square(int* a, int n) {
    square<<<(n + 255) / 256, 256>>>(a, n);
    CHECK(cudaDeviceSynchronize());
    return a[n - 1];
}

// ---- the check
int main() {
    return exercise({3000, 10}, [](int n) {
        Array<int> a(n, [](int i) { return scattered(i) % 1000; });
        const int x = a[n - 1];
        Array<int> last(1, [&](int) { return last_square(a, n); });
        return check("last", last, [&](int) { return x * x; }) &&
               prefetched("a", a, n * sizeof(int), true) &&
               prefetched("a", a, n * sizeof(int), false);
    });
}
