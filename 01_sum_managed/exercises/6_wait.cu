// 01.6  Wait for the kernel
//
// A launch returns at once: the host goes on before the kernel
// has ended. So last_square reads the last element before it has
// been squared. cudaDeviceSynchronize() waits until all launched
// work has ended. Correct it. (The array is managed memory: host
// and device use the same address, and nothing has to be copied.)
#include "exercise.cuh"

__global__ void square(int* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= a[i];
}

// ---- your part
int last_square(int* a, int n) {
    square<<<(n + 255) / 256, 256>>>(a, n);
    return a[n - 1];
}

// ---- the check
int main() {
    return exercise({10, 1000}, [](int n) {
        Array<int> a(n, [](int i) { return scattered(i) % 1000; });
        const int x = a[n - 1];
        Array<int> last(1, [&](int) { return last_square(a, n); });
        const bool waited = lab::host_waited();
        if (!waited) std::puts(lab::words("last_square() does not wait for the kernel", "last_square() 没有等核函数"));
        return check("last", last, [&](int) { return x * x; }) && waited;
    });
}
