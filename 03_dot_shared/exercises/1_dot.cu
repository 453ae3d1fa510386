// 03.1  A dot product
//
// The grid has 8 blocks of 64 threads. Each thread adds up products a[i] * b[i]
// in a register. It starts at its own i and advances by the whole grid (01.5).
// Then each block adds up its 64 sums in its cache by a tree reduction (01.8).
// Thread 0 writes the result to c[blockIdx.x]. Write all of it.
#include "exercise.cuh"

// ---- your part
__global__ void dot(const float* a, const float* b, int n, float* c) {
    __shared__ float cache[64];
}

// ---- the check
int main() {
    return exercise({512, 1, 700, 3300}, [](int n) {
        Array<float> a(n, [](int i) { return scattered(i) % 10; }), b(n, [](int i) { return i % 7; }), c(8);
        dot<<<8, 64>>>(a, b, n, c);
        return check("c", c, [&](int block) {
            float sum = 0;  // exact: float does not round small whole numbers
            for (int i = 0; i < n; ++i) sum += i / 64 % 8 == block ? a[i] * b[i] : 0;
            return sum;
        }) && at_most(60, accesses());
    });
}
