// 03.6  The nearest float
//
// The numbers are large, of both signs, and nearly cancel. Each is a multiple
// of 1/1024 and less than 2^40. *sum must be the float nearest to their exact
// sum, in whatever order the threads run. Neither float nor double has enough
// bits to add them up. Which type does? (The launch has one block of 256
// threads.)
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const float* in, int n, float* sum) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) *sum = total;
}

// ---- the check
// Elements with an even index are large: the second half cancels the first half, and subtracts 65536
// more. Elements with an odd index are small.
float number(int i, int n) {
    if (i % 2 || i == n / 2 - 1) return (scattered(i) - (n < 500 ? 8'388'608 : 16'777'216)) / 1024.0f;
    const float large = (scattered(std::min(i, n - 2 - i)) + 1) * 65536.0f;
    return i < n / 2 ? large : i == n / 2 + 1 ? -large - 65536 : -large;
}

int main() {
    return exercise({250, 998}, [](int n) {
        Array<float> in(n, [&](int i) { return number(i, n); }), sum(1);
        long long exact = 0;
        for (float x : in) exact += static_cast<long long>(x * 1024.0);
        add_up<<<1, 256>>>(in, n, sum);
        return check("sum", sum, [&](int) { return exact / 1024.0f; });
    });
}
