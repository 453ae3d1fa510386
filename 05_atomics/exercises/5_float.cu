// 05.5  Add floats with atomicCAS
//
// atomicCAS compares integers. __float_as_int(x) returns the bits of a float as
// an int, and __int_as_float(bits) converts them back. Let add() do *p += x as
// one operation, with atomicCAS on the bits, so that no addition is lost. (GPUs
// before compute capability 2.0 had no other way.)
#include "exercise.cuh"

// ---- your part
__device__ void add(float* p, float x) {
    *p += x;
}

// ---- the check
__global__ void add_up(const float* in, float* sum) {
    add(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main() {
    return exercise({32, 128}, [](int n) {
        // -0 == 0, but their bits differ: the sum is -0 until the first 0 is added.
        Array<float> in(n, [](int i) { return i % 2 * (scattered(i) % 100 / 4.0f); });
        Array<float> sum(1, [](int) { return -0.0f; });
        add_up<<<n / 32, 32>>>(in, sum);
        return check("sum", sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0.0f); }) &&
               at_least(n + 1, compares());  // some threads have to try again
    });
}
