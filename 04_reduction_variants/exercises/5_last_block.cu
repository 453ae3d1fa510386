// 04.5  A reduction in one launch
//
// Combine the parts: each block of 64 threads adds up its share (block_sum does
// that). The last block (04.4) adds up the parts and writes *sum. The next
// launch must find *tickets as this launch found it: 0. Write the code after
// `mine`.
#include "exercise.cuh"

// Returns the sum of the block's share to thread 0, and 0 to the other threads.
__device__ int block_sum(const int* in, int n) {
    __shared__ int tile[64];
    int mine = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) mine += in[i];
    tile[threadIdx.x] = mine;
    for (int stride = 32; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
    }
    return threadIdx.x == 0 ? tile[0] : 0;
}

// ---- your part
__global__ void add_up(const int* in, int n, int* part, unsigned* tickets, int* sum) {
    const int mine = block_sum(in, n);
}

// ---- the check
int main() {
    return exercise({1, 500, 3000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), part(16), sum(1);
        Array<unsigned> tickets(1, [](int) { return 0u; });
        const int wanted = std::accumulate(in.begin(), in.end(), 0);
        add_up<<<16, 64>>>(in, n, part, tickets, sum);
        if (!check("sum", sum, [&](int) { return wanted; }) ||
            !check("tickets", tickets, [](int) { return 0u; })) return false;
        *sum = -1;
        add_up<<<16, 64>>>(in, n, part, tickets, sum);
        return check("sum of the second launch", sum, [&](int) { return wanted; }) && at_least(32, global_atomics());
    });
}
