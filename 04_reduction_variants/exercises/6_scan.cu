// 04.6  A scan of one block
//
// out[i] must be in[0] + ... + in[i]: this is a scan, or prefix sum, here of
// one block. In step d = 1, 2, 4, ... each thread adds the element d places to
// its left, if there is one. All threads read old values and write new ones; a
// thread that reads too late reads a new value. n is at most 256, and the block
// has n threads. Write the kernel.
#include "exercise.cuh"

// ---- your part
__global__ void scan(const int* in, int n, int* out) {
    __shared__ int tile[256];
}

// ---- the check
void launch(const int* in, int n, int* out) { scan<<<1, n>>>(in, n, out); }

int main() {
    return exercise({256, 1, 2, 100}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 10; }), out(n);
        launch(in, n, out);
        return check("out", out, [&](int i) { return std::accumulate(in + 0, in + i + 1, 0); }) &&
               (n < 256 || at_most(60, accesses()));
    }, [] { beside("CUB", library::scan, launch, 256); });
}
