// 01.3  Threads without an element
//
// 100 elements do not fill two blocks of 64 threads: the last 28 threads have
// nothing to do. The kernel does not check for this, and the memory past the
// end of the array is not ours. Mend it: n is the number of elements.
#include "exercise.cuh"

// ---- your part
__global__ void square(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * in[i];
}

// ---- the check
int main() {
    return exercise({64, 100, 1}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 1000; }), out(n);
        square<<<(n + 63) / 64, 64>>>(in, out, n);
        return check("out", out, [&](int i) { return in[i] * in[i]; }) && at_most(8, accesses());
    });
}
