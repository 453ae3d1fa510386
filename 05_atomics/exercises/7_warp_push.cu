// 05.7  One atomic for a warp
//
// Write push_back of 05.3 with one atomic for each warp. The lanes that keep
// a number vote (__ballot_sync). The first of them reserves all places and
// tells the others where these begin (__shfl_sync). Each takes the place of
// its rank among them. __popc(bits) counts bits, __ffs(bits) - 1 is the
// first one. nvcc does this to 05.3 by itself, so a GPU shows no gain. It
// cannot if the lanes use different words, or reserve several places each.
#include "exercise.cuh"

// ---- your part
__global__ void keep(const int* in, int n, int* out, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] >= 2) out[atomicAdd(count, 1)] = in[i];
}

// ---- the check
void launch(const int* in, int n, int* out, int* count) { keep<<<(n + 255) / 256, 256>>>(in, n, out, count); }
void timed(const int* in, int n, int* out) {
    CHECK(cudaMemsetAsync(out + n, 0, sizeof(int)));
    launch(in, n, out, out + n);
}

int main() {
    return exercise({256, 1, 1000}, [](int n) {
        // The second warp keeps only its last one.
        Array<int> in(n, [](int i) { return i / 32 == 1 ? i % 32 / 31 * 2 : scattered(i) % 5; });
        Array<int> out(n), count(1, [](int) { return 0; });
        launch(in, n, out, count);
        return check_kept(in, out, count) && at_most((n + 255) / 256 * 8, global_atomics()) &&
               at_most(60, accesses());
    }, [] { beside("CUB", library::filter, timed, 1 << 24); });
}
