// 01.6  A result that is read too early
//
// A launch returns at once: the host continues when the kernel has hardly
// begun. So last_square() reads the last element before it is squared.
// cudaDeviceSynchronize() waits until all work launched before it has ended.
// Mend it. (The array is in managed memory: the host and the device use the
// same address, and no copy is needed.)
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
