// 04.6  A scan of one block
//
// A scan computes out[i] = in[0] + ... + in[i], here in one block. In step d
// = 1, 2, 4, ... each thread adds the value d places to its left, if there
// is one. All threads must read the old values before any thread writes a
// new one. n is at most 256, and the block has n threads. Write it.
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
