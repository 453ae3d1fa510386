// 01.1  Each thread writes its number
//
// <<<1, 64>>> below starts one block of 64 threads. All of them run the
// kernel, at the same time. threadIdx.x tells each one which it is, from 0 to
// 63. Let every thread write its number to its own element: 0, 1, 2, ... 63.
#include "exercise.cuh"

// ---- your part
__global__ void write_number(int* out) {
}

// ---- the check
int main() {
    return exercise({64}, [](int n) {
        Array<int> out(n);
        write_number<<<1, n>>>(out);
        return check("out", out, [](int i) { return i; }) && at_most(1, accesses());
    });
}
