// 02.5  A warp needs no barrier
//
// The tree reduction has eight barriers. The 32 lanes of a warp need none: in
// __shfl_down_sync(~0u, x, d) each lane passes its x and receives the x of the
// lane d places further on. Find the minimum of 256 ints with one barrier:
// first in each warp, then of the eight results.
#include "exercise.cuh"

// ---- your part
__global__ void least(const int* in, int* out) {
    __shared__ int tile[256];
    const int tid = threadIdx.x;
    tile[tid] = in[tid];
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d) tile[tid] = min(tile[tid], tile[tid + d]);
    }
    if (tid == 0) *out = tile[0];
}

// ---- the check
void launch(const int* in, int n, int* out) { least<<<1, n>>>(in, out); }

int main() {
    return exercise({256}, [](int n) {
        for (int where : {0, 31, 32, 100, 255, -1}) {  // index of the minimum; -1: no negative number
            lab::begin(n);
            Array<int> in(n, [&](int i) { return i == where ? -1 - where : scattered(i); }), out(1);
            launch(in, n, out);
            if (!check("out", out, [&](int) { return *std::min_element(in.begin(), in.end()); })) return false;
            if (!at_most(1, barriers()) || !at_most(60, accesses())) return false;
        }
        return true;
    }, [] { beside("CUB", library::least, launch, 256); });
}
