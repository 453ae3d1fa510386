// 03.10  Find with gdb where threads wait
//
// percent() writes each number in percent of its row's sum. It never gets that
// far: its threads wait for each other. In gdb, run it, list the threads, then
// select one at each of the two barriers and print its backtrace and d. Which
// threads have left add_up() before the others needed them? Mend add_up().
#include "exercise.cuh"

// ---- your part
// Adds up the 64 numbers in tile[0].
__device__ void add_up(int* tile) {
    const int t = threadIdx.x;
    for (int d = 32; d > 0; d /= 2) {
        if (t >= d) return;  // nothing to add
        tile[t] += tile[t + d];
        __syncthreads();
    }
}

__global__ void percent(const int* in, int* out) {
    __shared__ int tile[64];
    const int i = 64 * blockIdx.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    add_up(tile);
    __syncthreads();
    out[i] = 100 * in[i] / tile[0];
}

// ---- the check
int main() {
    return exercise({2, 1}, [](int rows) {
        Array<int> in(64 * rows, [](int i) { return 1 + scattered(i) % 100; }), out(64 * rows);
        percent<<<rows, 64>>>(in, out);
        return check("out", out, [&](int i) {
            const int* const row = in + i / 64 * 64;
            return 100 * in[i] / std::accumulate(row, row + 64, 0);
        }) && at_most(30, accesses());
    });
}
