// Code that is right only if the lanes of a warp run in lockstep. The plain build detects it in files that contain
// `volatile`.
#include "case.cuh"

// RUN: plain in_step
// STATUS: 1
// SAYS: as if a warp ran in step
// SAYS: at warp_synchronous.cu:@#in_step
// SAYS: put __syncwarp()
// RUN: plain in_step_global
// STATUS: 1
// SAYS: as if a warp ran in step: byte
// SAYS: at warp_synchronous.cu:@#in_step
// SAYS: put __syncwarp()
// RUN: plain in_step_variable
// STATUS: 1
// SAYS: as if a warp ran in step: element 1 of row
// SAYS: at warp_synchronous.cu:@#in_step
__device__ void fold_in_step(volatile int* a, int i) {
    a[i] += a[i + 32];
    a[i] += a[i + 16];  // #in_step
    a[i] += a[i + 8];
    a[i] += a[i + 4];
    a[i] += a[i + 2];
    a[i] += a[i + 1];
}
__global__ void in_step(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < 32) fold_in_step(a, threadIdx.x);
    if (threadIdx.x == 0) *out = a[0];
}
__global__ void in_step_global(int* a) {
    volatile int* const b = a;
    fold_in_step(b, threadIdx.x);
}
__device__ volatile int row[64];
__global__ void in_step_variable() { fold_in_step(row, threadIdx.x); }
CASE(in_step) { return in_step<<<1, 64>>>(managed<int>(1)), result(); }
CASE(in_step_global) { return in_step_global<<<1, 32>>>(managed<int>(1024)), result(); }
CASE(in_step_variable) { return in_step_variable<<<1, 32>>>(), result(); }

// Two lanes that wait for each other do not rely on lockstep.
// RUN: plain lanes_take_turns
__device__ void take_turns(volatile int* flags, int* out) {
    for (int i = 1; i <= 5; ++i)
        if (threadIdx.x == 0) {
            flags[0] = i;
            while (flags[1] != i) continue;
        } else {
            while (flags[0] != i) continue;
            *out += i;
            __threadfence();
            flags[1] = i;
        }
}
__global__ void lanes_take_turns(int* a, int* out) {
    __shared__ int flags[2];
    if (threadIdx.x == 0) flags[0] = flags[1] = 0;
    __syncthreads();
    take_turns(flags, out);
    take_turns(a, out);
}
CASE(lanes_take_turns) {
    int *const a = managed<int>(2), *const out = managed<int>(1);
    lanes_take_turns<<<1, 2>>>(a, out);
    return result(out, 30);
}

// Nor do lanes that use what a neighbour has found, now or before.
// RUN: plain neighbours_relax
__global__ void neighbours_relax(volatile int* a, int* out) {
    const int i = threadIdx.x;
    a[i] = min(a[i + 1], a[i + 2]) + 1;
    atomicMax(out, 7);
}
CASE(neighbours_relax) {
    int *const a = managed<int>(64), *const out = managed<int>(1);
    neighbours_relax<<<1, 32>>>(a, out);
    return result(out, 7);
}

// RUN: plain step_by_step
__global__ void step_by_step(int* out) {
    __shared__ volatile int a[32];
    a[threadIdx.x] = 1;
    __syncwarp();
    for (unsigned d = 16; d > 0; d /= 2) {
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
        __syncwarp();
    }
    if (threadIdx.x == 0) *out = a[0];
}
CASE(step_by_step) {
    int* const out = managed<int>(1);
    step_by_step<<<1, 32>>>(out);
    return result(out, 32);
}

// RUN: plain flag_in_shared
__global__ void flag_in_shared(int* out) {
    __shared__ volatile int stop, turn;
    if (threadIdx.x == 0) stop = turn = 0;
    __syncthreads();
    for (int i = 0; i < 100 && !stop; ++i)
        if (i == int(threadIdx.x)) stop = 1;
    while (turn != int(threadIdx.x)) {}
    turn = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = turn;
}
CASE(flag_in_shared) {
    int* const out = managed<int>(1);
    flag_in_shared<<<1, 64>>>(out);
    return result(out, 64);
}
