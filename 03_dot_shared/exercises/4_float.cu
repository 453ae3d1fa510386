// 03.4  How far float can count
//
// A float has 24 significant bits. 20,000,000 ones are added up in float. First
// one thread adds them one after the other. Then 256 threads add 78,125 ones
// each, and a tree adds up their sums. Fill in both results.
#include "exercise.cuh"

// ---- your part
constexpr double one_thread = 0;
constexpr double a_tree = 0;

// ---- the check
__global__ void count(float* sum, int each) {
    __shared__ float cache[256];
    float mine = 0;
    for (int i = 0; i < each; ++i) mine += 1;
    cache[threadIdx.x] = mine;
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) cache[threadIdx.x] += cache[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) *sum = cache[0];
}

int main() {
    return exercise({20'000'000}, [](int n) {
        Array<float> alone(1), together(1);
        count<<<1, 1>>>(alone, n);
        count<<<1, 256>>>(together, n / 256);
        return lab::has_ended() && predicted("one_thread", one_thread, *alone) &&
               predicted("a_tree", a_tree, *together);
    });
}
