// 01.7  Many threads add to one variable
//
// *sum += x takes three steps: read *sum, add x, and write the result back. If
// another thread writes between the first step and the last, its x is lost:
// this is a race. atomicAdd(address, x) performs the three steps as one
// operation. Mend the line.
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const int* in, int n, int* sum) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) *sum += in[i];
}

// ---- the check
void launch(const int* in, int n, int* sum) { add_up<<<(n + 255) / 256, 256>>>(in, n, sum); }

int main() {
    return exercise({1, 256, 1000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), sum(1, [](int) { return 0; });
        launch(in, n, sum);
        return check("sum", sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0); }) &&
               at_most(200, accesses());
    }, [] { beside("CUB", library::sum, launch, 1 << 24); });
}
