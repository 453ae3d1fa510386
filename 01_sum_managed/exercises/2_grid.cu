// 01.2  More threads than one block has
//
// A block has at most 1024 threads, so large arrays need many blocks: the
// grid. In each block threadIdx.x begins at 0 again. blockIdx.x is the
// number of the block, and blockDim.x the number of threads in a block.
// Number all threads of the grid: block 1 continues where block 0 ended.
// Each thread writes its number in the grid to the element with that index.
#include "exercise.cuh"

// ---- your part
__global__ void write_number(int* out) {
    out[threadIdx.x] = threadIdx.x;
}

// ---- the check
int main() {
    return exercise({64, 256, 6400}, [](int n) {
        Array<int> out(n);
        write_number<<<n / 64, 64>>>(out);
        return check("out", out, [](int i) { return i; }) && at_most(4, accesses());
    });
}
