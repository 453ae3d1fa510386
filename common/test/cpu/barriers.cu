// Barriers of a block and of a grid, and blocks that wait for other blocks.
#include <cooperative_groups.h>

#include "case.cuh"

#include <string>
#include <vector>

// RUN: plain divergent_barrier
// STATUS: 219
// SAYS: divergent barrier
// SAYS: out of the branch
// SAYS: threads 1, 3, 5, 7, ...: waiting in __syncthreads() at barriers.cu:@#even, number 1 there
__global__ void divergent_barrier() {
    threadIdx.x % 2 ? __syncthreads() : __syncthreads();  // #even
}
CASE(divergent_barrier) { return divergent_barrier<<<1, 64>>>(), result(); }

// A note for each line, although three blocks pass both. The report uses std::vector while a kernel runs, as the
// program does.
// RUN: plain,hazards ended_barrier
// SAYS: note: a barrier that threads
// SAYS: threads 32-63: ended
// SAYS-COUNT-1: threads 0-31: waiting in __syncthreads() at barriers.cu:@#ended
// SAYS-COUNT-1: threads 0-31: waiting in __syncthreads() at barriers.cu:@#ended_again
// SAYS-COUNT-2: note:
__global__ void ended_barrier() {
    if (threadIdx.x >= 32) return;
    for (int i = 0; i < 2; ++i) {
        __syncthreads();  // #ended
        __syncthreads();  // #ended_again
    }
}
CASE(ended_barrier) {
    std::vector<std::string> words;
    words.push_back("ended_barrier");
    return ended_barrier<<<3, 64>>>(), result();
}

// The first block waits for the last.
// RUN: plain later_block
// RUN: slow counters later_block
// SAYS: later_block: 1 launch of 5 blocks, 64 threads each
__global__ void later_block(volatile int* flag, int* out) {
    __shared__ int mine[64];
    mine[threadIdx.x] = int(blockIdx.x) + 1;
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        *out = 3;
        __threadfence();
        *flag = 1;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (*flag == 0) continue;
        __threadfence();
        *out += mine[63];
    }
}
CASE(later_block) {
    int *const flag = managed<int>(1), *const out = managed<int>(1);
    later_block<<<5, 64>>>(flag, out);
    return result(out, 4);
}

// RUN: plain grid_barriers
// RUN: slow counters grid_barriers
// SAYS: grid_barriers: 1 launch of 8 blocks, 32 threads each
__global__ void grid_barriers(int* a, int* out) {
    const auto grid = cooperative_groups::this_grid();
    const int i = int(grid.thread_rank()), n = int(grid.size());
    for (int turn = 1; turn <= 3; ++turn) {
        a[i] = turn;
        grid.sync();
        if (a[n - 1 - i] == turn) atomicAdd(out, 1);
        grid.sync();
    }
}
CASE(grid_barriers) {
    int *a = managed<int>(256), *out = managed<int>(1);
    void* arguments[] = {&a, &out};
    cudaLaunchCooperativeKernel(grid_barriers, 8, 32, arguments);
    return result(out, 3 * 256);
}

// RUN: plain grid_barrier_plain
// STATUS: 219
// SAYS: grid.sync() in a kernel that is launched by <<<>>>
// SAYS: cudaLaunchCooperativeKernel
CASE(grid_barrier_plain) { return grid_barriers<<<8, 32>>>(managed<int>(256), managed<int>(1)), result(); }

// RUN: plain grid_barrier_missed
// STATUS: 219
// SAYS: grid.sync() waits for blocks that do not come
// SAYS: at barriers.cu:@#grid_barrier_missed
__global__ void grid_barrier_missed() {
    if (blockIdx.x > 0) cooperative_groups::this_grid().sync();  // #grid_barrier_missed
}
CASE(grid_barrier_missed) { return cudaLaunchCooperativeKernel(grid_barrier_missed, 3, 32, nullptr), result(); }

// RUN: plain too_many_to_wait
// STATUS: 1
// SAYS: grid_barrier_missed is not launched: 4096 blocks cannot be resident at the same time, only 32 can
// SAYS: bugs were found
CASE(too_many_to_wait) {
    cudaLaunchCooperativeKernel(grid_barrier_missed, 4096, 256, nullptr);
    return result();
}
