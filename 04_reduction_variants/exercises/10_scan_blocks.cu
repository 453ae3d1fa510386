// 04.10  A scan of many blocks
//
// Extend the scan of 04.6 to 65,536 elements. A block cannot wait for another
// block, but a launch waits for the one before it. So launch three times.
// First, each block of 256 threads scans its elements and writes its total to
// totals[b]. Second, one block scans the totals. Third, each block adds the
// totals of all blocks before it. scan_block(x) returns the sum of x over
// threads 0 to this one.
#include "exercise.cuh"

// All threads of a block of 256 threads must call it.
__device__ int scan_block(int x) {
    __shared__ int warps[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const int left = __shfl_up_sync(~0u, x, d);
        if (lane >= d) x += left;
    }
    if (lane == 31) warps[warp] = x;
    __syncthreads();
    for (int w = 0; w < warp; ++w) x += warps[w];
    return x;
}

// ---- your part
void launch(const int* in, int n, int* out, int* totals) {
}

// ---- the check
void timed(const int* in, int n, int* out) {
    static Array<int> totals(256);
    launch(in, n, out, totals);
}

int main() {
    return exercise({1000, 1, 256, 257, 12000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 10; }), out(n), totals(256);
        launch(in, n, out, totals);
        std::vector<int> wanted(n);
        std::partial_sum(in.begin(), in.end(), wanted.begin());
        return check("out", out, [&](int i) { return wanted[i]; }) && at_most(40, accesses());
    }, [] { beside("CUB", library::scan, timed, 1 << 16); });
}
