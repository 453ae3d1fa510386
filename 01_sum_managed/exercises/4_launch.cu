// 01.4  How many blocks?
//
// Now you choose the number of blocks. blocks_for(n, threads) returns the
// smallest number of blocks that has a thread for each of n elements. The last
// block may have threads without an element, because the kernel has a guard.
// The check calls the function with 256 threads per block and with 100.
#include "exercise.cuh"

__global__ void write_number(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

// ---- your part
int blocks_for(int n, int threads) {
    return n / threads;
}

// ---- the check
int main() {
    return exercise({256, 1, 255, 257, 1000, 1024}, [](int n) {
        for (int threads : {256, 100}) {
            const char* const call = threads == 256 ? "blocks_for(n, 256)" : "blocks_for(n, 100)";
            Array<int> out(n), blocks(1, [&](int) { return blocks_for(n, threads); });
            write_number<<<blocks[0], threads>>>(out, n);
            if (!check(call, blocks, [&](int) { return n / threads + (n % threads > 0); })) return false;
        }
        return true;
    });
}
