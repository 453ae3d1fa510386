// 03.4  What float cannot count
//
// A float has 24 bits for its digits. 20,000,000 ones are added up in
// floats: once by one thread, one after the other, and once by 256 threads
// with 78,125 each, whose sums a tree then adds. Type both results.
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
