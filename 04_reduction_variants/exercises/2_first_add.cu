// 04.2  Add while loading
//
// In the first step of a tree reduction half of the threads have nothing to do.
// So let each thread load two elements and add them: block b processes 512
// elements with 256 threads. n need not be a multiple of 512: elements past the
// end count as 0. Write the missing line. sums[b] is the sum of block b.
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const int* in, int n, int* sums) {
    __shared__ int tile[256];
    const int tid = threadIdx.x;
    tile[tid] = 0;
    for (int stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (tid < stride) tile[tid] += tile[tid + stride];
    }
    if (tid == 0) sums[blockIdx.x] = tile[0];
}

// ---- the check
int main() {
    return exercise({512, 1024, 1, 700, 300}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), sums((n + 511) / 512);
        add_up<<<sums.size(), 256>>>(in, n, sums);
        return check("sums", sums, [&](int b) {
            return std::accumulate(in + 512 * b, in + std::min(n, 512 * b + 512), 0);
        }) && at_most(60, accesses());
    });
}
