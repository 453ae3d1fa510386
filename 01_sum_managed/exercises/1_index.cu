// 01.1  Each thread writes its number
//
// A function marked __global__ is a kernel: many threads execute it on the
// device. <<<1, 64>>> below starts it with one block of 64 threads. In each
// thread, threadIdx.x is the thread's number, from 0 to 63. Let each thread
// write its number to its own element of out: 0, 1, 2, ... 63. (If CUDA is new
// to you, begin with common/first/README.md.)
#include "exercise.cuh"

// ---- your part
__global__ void write_number(int* out) {
}

// ---- the check
int main() {
    return exercise({64}, [](int n) {
        Array<int> out(n);
        write_number<<<1, n>>>(out);
        return check("out", out, [](int i) { return i; }) && at_most(4, accesses());
    });
}
