// 02.4  The work of a tree reduction
//
// 256 threads, which are 8 warps of 32, find the minimum of 512 numbers by a
// tree reduction: first 256 comparisons at once, then 128, ... 1. Fill in three
// numbers: the steps, the comparisons in all steps, and the warps that have
// work, added up over all steps.
#include "exercise.cuh"

// ---- your part
constexpr int steps = 0;
constexpr int comparisons = 0;
constexpr int warps_at_work = 0;

// ---- the check
__global__ void count(int* counts) {
    for (int d = blockDim.x; d > 0; d /= 2) {
        if (threadIdx.x == 0) ++counts[0];
        if (threadIdx.x < d) atomicAdd(&counts[1], 1);
        if (threadIdx.x < d && threadIdx.x % 32 == 0) atomicAdd(&counts[2], 1);
    }
}

int main() {
    return exercise({256}, [](int n) {
        Array<int> counts(3, [](int) { return 0; });
        count<<<1, n>>>(counts);
        return lab::has_ended() && predicted("steps", steps, counts[0]) &&
               predicted("comparisons", comparisons, counts[1]) &&
               predicted("warps_at_work", warps_at_work, counts[2]);
    });
}
