// 01.2  More threads than one block can have
//
// A block has at most 1024 threads, so a large array needs many blocks.
// Together they are the grid. In each block threadIdx.x begins at 0. blockIdx.x
// is the number of the thread's block, and blockDim.x is the number of threads
// per block. Number the threads through the whole grid: block 1 continues where
// block 0 ends. Each thread writes its number to the element with that index.
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
