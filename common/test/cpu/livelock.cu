// Kernels that do not come to an end, and long ones that do.
#include "case.cuh"

namespace cudacpu {
extern int patience;  // in seconds
}

// RUN: slow plain spin
// STATUS: 202
// SAYS: does not come to an end
// SAYS: at livelock.cu:@#spin
__global__ void spin(volatile int* p) {
    while (*p == 0) continue;  // #spin
}
CASE(spin) { return spin<<<1, 1>>>(device<int>(1)), result(); }

// RUN: slow plain spin_atomic
// STATUS: 202
// SAYS: does not come to an end
// SAYS: at livelock.cu:@#spin_atomic
__global__ void spin_atomic(int* p) {
    while (atomicCAS(p, 1, 2) != 1) continue;  // #spin_atomic
}
CASE(spin_atomic) { return spin_atomic<<<1, 1>>>(device<int>(1)), result(); }

// Two lanes spin until others of their warp end the loop.
// RUN: plain spinning
__global__ void spinning(int* p) {
    if (threadIdx.x < 2)
        while (atomicAdd(p, 0) == 0) {}
    else if (__shfl_sync(0xfffffffc, threadIdx.x, 31) == 31)
        atomicExch(p, 1);
}
CASE(spinning) {
    int* const p = managed<int>(1);
    spinning<<<1, 32>>>(p);
    return result(p, 1);
}

// This computes for longer than a spin may last.
// RUN: slow plain long_computation
__global__ void long_computation(int* out, long long nanoseconds) {
    unsigned x = 1;
    for (const long long start = clock64(); clock64() - start < nanoseconds;)
        for (int i = 0; i < 1000; ++i) x = x * 1664525 + 1013904223;
    *out = x != 0;
}
CASE(long_computation) {
    int* const out = managed<int>(1);
    long_computation<<<1, 1>>>(out, 13'000'000'000);
    return result(out, 1);
}

// RUN: slow plain meets_again
// SAYS: notice: this block has run for 2 seconds, and meets here again and again
// SAYS: at livelock.cu:@#meets_again
__global__ void meets_again(int* out, int rounds) {
    for (int i = 0; i < rounds; ++i) __syncthreads();  // #meets_again
    if (threadIdx.x == 0) *out = 1;
}
CASE(meets_again) {
    int* const out = managed<int>(1);
    cudacpu::patience = 1;
    meets_again<<<1, 32>>>(out, 5'000'000);
    return result(out, 1);
}
