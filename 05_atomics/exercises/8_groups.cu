// 05.8  Cooperative groups
//
// A cooperative group knows its threads. A tile is a group of 32, 16, 8 or 4
// neighbouring threads; tile.thread_rank(), tile.size() and
// tile.shfl_down(x, d) count within it. Write sum_of() for a tile of any size:
// thread 0 of the tile gets the sum of all x, by a tree without shared memory.
// Then let only that thread add to *sum: one atomic for each tile.
#include <cooperative_groups.h>
#include "exercise.cuh"
namespace cg = cooperative_groups;

// ---- your part
template <class Tile>
__device__ int sum_of(const Tile& tile, int x) {
    return x;
}
template <int size>
__global__ void add_up(const int* in, int n, int* sum) {
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int all = sum_of(tile, i < n ? in[i] : 0);
    atomicAdd(sum, all);
}

// ---- the check
template <int size>
bool right(const char* name, int n) {
    lab::begin(n);
    Array<int> in(n, [](int i) { return scattered(i) % 100; }), sum(1, [](int) { return 0; });
    add_up<size><<<(n + 127) / 128, 128>>>(in, n, sum);
    return check(name, sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0); }) &&
           at_most((n + 127) / 128 * 128 / size, atomics()) && at_most(4, accesses());
}

int main() {
    return exercise({1000, 1, 128}, [](int n) {
        return right<32>("sum by tiles of 32", n) && right<16>("sum by tiles of 16", n) &&
               right<8>("sum by tiles of 8", n) && right<4>("sum by tiles of 4", n);
    });
}
