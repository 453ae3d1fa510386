// 05.5  A float in an int's clothes
//
// atomicCAS compares integers. A double has 64 bits, as an unsigned
// long long has: __double_as_longlong(x) gives its bits,
// __longlong_as_double(bits) makes a double of them again. Let add()
// do *p += x as one step for all threads, by atomicCAS on the bits.
// (On GPUs before compute capability 6.0 this was the only way.)
#include "exercise.cuh"

// ---- your part
__device__ void add(double* p, double x) {
    *p += x;
}

// ---- the check
__global__ void add_up(const double* in, double* sum) {
    add(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main() {
    return exercise({32, 128}, [](int n) {
        Array<double> in(n, [](int i) { return scattered(i) % 100 / 4.0; }), sum(1, [](int) { return 0.0; });
        add_up<<<n / 32, 32>>>(in, sum);
        return check("sum", sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0.0); });
    });
}
