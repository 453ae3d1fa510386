// Operations of a warp whose lanes do not all take part.
#include "case.cuh"

// RUN: plain lane_missing
// STATUS: 219
// SAYS: deadlock
// SAYS: threads 0-4, 6-31: waiting in __shfl_down_sync() at warps.cu:@#lane_missing
__global__ void lane_missing(int* p) {
    if (threadIdx.x != 5)
        p[threadIdx.x] = __shfl_down_sync(0xffffffff, 1, 1);  // #lane_missing
    else
        while (!atomicAdd(p + 40, 0)) __nanosleep(10), __syncthreads();
}
CASE(lane_missing) { return lane_missing<<<1, 32>>>(device<int>(64)), result(); }

// RUN: plain not_in_mask
// STATUS: 219
// SAYS: lane 16 is not in its own mask 0x0000ffff
__global__ void not_in_mask(int* p) { p[threadIdx.x] = __shfl_sync(0xffff, 1, 1); }
CASE(not_in_mask) { return not_in_mask<<<1, 32>>>(device<int>(64)), result(); }

// RUN: plain upper_half_gone
// STATUS: 1
// SAYS: takes the value of lane 16, which has ended
// SAYS: at warps.cu:@#upper_half_gone
// SAYS: bugs were found
__global__ void upper_half_gone(int* out) {
    int v = 1;
    if (threadIdx.x < 16) v += __shfl_down_sync(~0u, v, 16);  // #upper_half_gone
    out[threadIdx.x] = v;
}
CASE(upper_half_gone) { return upper_half_gone<<<1, 32>>>(managed<int>(32)), result(); }

// RUN: plain left_early
// STATUS: 1
// SAYS: which has ended
// SAYS: at warps.cu:@#left_early
__global__ void left_early(int* out, int n) {
    int v = 1;
    if (int(threadIdx.x) >= n) return;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);  // #left_early
    out[threadIdx.x] = v;
}
CASE(left_early) {
    int* const out = managed<int>(32);
    left_early<<<1, 32>>>(out, 20);
    return result(out, 31);
}

// RUN: plain vote_of_the_rest
// SAYS: note: __ballot_sync() names lanes that have ended: 0xfff00000
// SAYS: at warps.cu:@#vote_of_the_rest
__global__ void vote_of_the_rest(int* out, int n) {
    if (int(threadIdx.x) >= n) return;
    out[threadIdx.x] = __popc(__ballot_sync(~0u, 1));  // #vote_of_the_rest
}
CASE(vote_of_the_rest) {
    int* const out = managed<int>(32);
    vote_of_the_rest<<<1, 32>>>(out, 20);
    return result(out, 20);
}

// RUN: plain half_a_warp
// SAYS: note: __shfl_down_sync() takes the value of lane 16, which is not in the mask
// SAYS: at warps.cu:@#half_a_warp
__global__ void half_a_warp(int* out) {
    int v = 1;
    if (threadIdx.x >= 16) return;
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffff, v, d);  // #half_a_warp
    if (threadIdx.x == 0) *out = v;
}
CASE(half_a_warp) {
    int* const out = managed<int>(1);
    half_a_warp<<<1, 32>>>(out);
    return result(out, 16);
}

// Lanes are together again after a branch.
// RUN: plain together_again
__global__ void together_again(unsigned* out) {
    if (threadIdx.x < 16) out[32 + threadIdx.x] = __activemask();
    out[threadIdx.x] = __activemask();
}
CASE(together_again) {
    unsigned* const out = managed<unsigned>(64);
    together_again<<<1, 32>>>(out);
    return result(out, ~0u) || out[32] != 0xffff;
}
