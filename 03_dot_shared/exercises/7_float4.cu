// 03.7  float4 loads and stores
//
// A float4 has four floats: x, y, z and w. A thread loads or stores all four
// with one instruction of 16 bytes. Use pointers to float4, and let each thread
// of the grid-stride loop process four neighbours: a quarter of the loads and
// stores. If n is not a multiple of 4, which threads process the last one to
// three? in and out begin at a multiple of 16 bytes, as float4 requires.
#include "exercise.cuh"

// ---- your part
__global__ void half_of(const float* in, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] / 2;
}

// ---- the check
int main() {
    return exercise({4096, 1023, 2, 4}, [](int n) {
        Array<float> in(n, [](int i) { return scattered(i) % 1000; }), out(n);
        half_of<<<4, 64>>>(in, out, n);
        return check("out", out, [&](int i) { return in[i] / 2; }) &&
               at_most((n / 4 + 255) / 256 * 2 + n % 4 * 2, accesses());
    });
}
