// 01.2  More threads than one block has
//
// A block has 1024 threads at most, so large arrays need many blocks. Each
// one numbers its threads from 0. blockIdx.x tells a thread which block is
// its own, and blockDim.x how many threads a block has. Let each thread
// write its number in the whole grid to the element of that number.
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
        return check("out", out, [](int i) { return i; }) && at_most(1, accesses());
    });
}
