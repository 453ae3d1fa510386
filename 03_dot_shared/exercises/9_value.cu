// 03.9  Find a wrong value with gdb
//
// out[b] is the sum of the squares of the 64 numbers of block b. The tree is
// right, but the sum of block 1 is wrong. In gdb, stop a thread of block 1 where
// it writes out, and print the wrong sum. Then stop thread t where it writes
// tile[t], and print x and square. For which t do they not match? Mend it.
#include "exercise.cuh"

// ---- your part
__global__ void sum_of_squares(const int* in, int* out) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    const int x = in[64 * blockIdx.x + t];
    const short square = x * x;
    tile[t] = square;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) tile[t] += tile[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}

// ---- the check
int number(int i) { return i == 101 ? 300 + scattered(i) % 100 : scattered(i) % 100; }
int main() {
    return exercise({2, 1}, [](int blocks) {
        Array<int> in(64 * blocks, number), out(blocks);
        sum_of_squares<<<blocks, 64>>>(in, out);
        return check("out", out, [&](int b) {
            int sum = 0;
            for (int i = 64 * b; i < 64 * b + 64; ++i) sum += in[i] * in[i];
            return sum;
        });
    });
}
