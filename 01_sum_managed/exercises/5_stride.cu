// 01.5  Fewer threads than elements
//
// The grid has 4 blocks of 64 threads for any n. So each thread processes more
// than one element: first its own, then the element one whole grid further on,
// and so on to the end. gridDim.x is the number of blocks. Write this loop, the
// grid-stride loop, so that out[i] is 2 * in[i].
#include "exercise.cuh"

// ---- your part
__global__ void twice(const int* in, int* out, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first < n) out[first] = 2 * in[first];
}

// ---- the check
void launch(const int* in, int n, int* out) { twice<<<4, 64>>>(in, out, n); }

int main() {
    return exercise({256, 10, 257, 3000, 70000}, [](int n) {
        Array<int> in(n, scattered), out(n);
        launch(in, n, out);
        return check("out", out, [&](int i) { return 2 * in[i]; }) &&
               at_most((n + 255) / 256 * 4, accesses()) && at_most((n + 7) / 8 * 2, sectors());
    }, [] { beside("copy", library::copy, launch, 1 << 20); });
}
