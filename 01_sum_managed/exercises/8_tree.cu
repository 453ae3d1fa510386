// 01.8  A tree reduction
//
// The 256 threads of a block add up 256 numbers in shared memory. First they
// add the upper half of tile to the lower half, 128 additions at once. Then
// they add the upper half of the rest, and so on, until tile[0] is the sum.
// Every thread then reads tile[0]. A thread may read what another thread wrote
// only after a __syncthreads() that all threads reach. Write the steps, without
// atomics.
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const int* in, int* out) {
    __shared__ int tile[256];
    const int tid = threadIdx.x;
    tile[tid] = in[tid];

    out[tid] = tile[0];
}

// ---- the check
int main() {
    return exercise({256}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), out(n);
        add_up<<<1, n>>>(in, out);
        const int sum = std::accumulate(in.begin(), in.end(), 0);
        return check("out", out, [&](int) { return sum; }) && at_most(60, accesses()) &&
               at_most(0, atomics());
    });
}
