// 01.6  Too early
//
// A launch returns at once: the host goes on while the kernel has hardly
// begun. So last_square reads its element before anybody has written it.
// cudaDeviceSynchronize() waits until all that was launched has ended. Mend it.
// (The array is managed memory: host and device use the same address, and
// nothing has to be copied.)
#include "exercise.cuh"

__global__ void square(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i * i;
}

// ---- your part
int last_square(int* out, int n) {
    square<<<(n + 255) / 256, 256>>>(out, n);
    return out[n - 1];
}

// ---- the check
int main() {
    return exercise({10, 1000}, [](int n) {
        Array<int> out(n), last(1, [&](int) { return last_square(out, n); });
        return check("last", last, [&](int) { return (n - 1) * (n - 1); });
    });
}
