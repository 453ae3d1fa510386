// 05.7  One atomic for each warp
//
// Write push_back of 05.3 with one atomic per warp. The lanes that keep a
// number vote (__ballot_sync). The first of them asks for all places at once
// and tells the others where these begin (__shfl_sync). Each takes the place of
// its rank. __popc(bits) counts the 1 bits, __ffs(bits) - 1 finds the first.
// nvcc does the same to 05.3, so a GPU shows no gain here. It cannot if the
// lanes use different words, or several places each.
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
        // The second warp keeps only its last number.
        Array<int> in(n, [](int i) { return i / 32 == 1 ? i % 32 / 31 * 2 : scattered(i) % 5; });
        Array<int> out(n), count(1, [](int) { return 0; });
        launch(in, n, out, count);
        return check_kept(in, out, count) && at_most((n + 255) / 256 * 8, global_atomics()) &&
               at_most(60, accesses());
    }, [] { beside("CUB", library::filter, timed, 1 << 24); });
}
