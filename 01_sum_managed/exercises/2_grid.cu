// 01.2  More threads than one block has
//
// A block has 1024 threads at most, so large arrays need many blocks: the
// grid. In each block threadIdx.x begins at 0 again. blockIdx.x tells a thread
// which block is its own, and blockDim.x how many threads a block has. Count
// on through the grid: block 1 begins where block 0 ended. Each thread writes
// its number in that count to the element of that number.
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
