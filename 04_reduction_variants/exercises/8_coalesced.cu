// 04.8  Coalesced loads
//
// Memory is accessed in sectors of 32 bytes, which are 8 ints. Here each thread
// adds up 16 neighbours. So the 32 lanes of a warp read 32 ints from 32 sectors
// at a time, and load each sector many times. Let neighbouring lanes read
// neighbouring ints: 2048 ints are 256 sectors of loads, and at most 4 sectors
// of stores. You may choose which thread adds which ints.
#include "exercise.cuh"

// ---- your part
__global__ void add_up(const int* in, int n, int* sum) {
    const int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
    int mine = 0;
    for (int k = 0; k < 16; ++k)
        if (first + k < n) mine += in[first + k];
    atomicAdd(sum, mine);
}
void launch(const int* in, int n, int* sum) {
    cudaMemset(sum, 0, sizeof(int));
    add_up<<<(n + 1023) / 1024, 64>>>(in, n, sum);
}

// ---- the check
int main() {
    return exercise({2048, 1, 1500}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), sum(1);
        launch(in, n, sum);
        return check("sum", sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0); }) &&
               at_most((n + 7) / 8 + 4, sectors()) && at_least((n + 7) / 8, sectors());
    }, [] { beside("CUB", library::sum, launch, 1 << 24); });
}
