// 04.3  Warps do not run in lockstep
//
// Old programs omit the barriers once a single warp is left, because "its lanes
// run in lockstep". Since Volta each lane has its own program counter, and
// nothing keeps the lanes together. A warp has its own barrier, which is
// cheaper than the block's. Mend the loop without another __syncthreads().
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const int* in, int* out) {
    __shared__ int tile[64];
    const int tid = threadIdx.x;
    tile[tid] = in[tid];
    __syncthreads();
    if (tid < 32) {
        for (int stride = 32; stride > 0; stride /= 2)
            if (tid < stride) tile[tid] += tile[tid + stride];
        out[tid] = tile[0];
    }
}

// ---- the check
int main() {
    return exercise({64}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), out(32);
        add_up<<<1, n>>>(in, out);
        const int sum = std::accumulate(in.begin(), in.end(), 0);
        return check("out", out, [&](int) { return sum; }) && at_most(1, barriers()) &&
               at_most(60, accesses());
    });
}
