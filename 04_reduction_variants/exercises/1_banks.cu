// 04.1  Bank conflicts in a tree reduction
//
// Shared memory has 32 banks: word w is in bank w % 32, and a bank serves one
// word at a time. If lanes of a warp access different words of one bank, the
// access takes several turns: a bank conflict. Here thread tid adds at
// 2 * stride * tid, and the first pairs are neighbours. Choose other pairs, so
// that each access takes one turn.
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const int* in, int* sum) {
    __shared__ int tile[512];
    const int tid = threadIdx.x;
    tile[tid] = in[tid];
    for (int stride = 1; stride < 512; stride *= 2) {
        __syncthreads();
        const int at = 2 * stride * tid;
        if (at < 512) tile[at] += tile[at + stride];
    }
    if (tid == 0) *sum = tile[0];
}

// ---- the check
void launch(const int* in, int n, int* sum) { add_up<<<1, n>>>(in, sum); }

int main() {
    return exercise({512}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), sum(1);
        launch(in, n, sum);
        return check("sum", sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0); }) &&
               at_most(0, conflicts()) && at_most(16, atomics()) && at_most(60, accesses());
    }, [] { beside("CUB", library::sum, launch, 512); });
}
