// Mistakes in what the preprocessor and the branches leave: lines that are switched off, last blocks, __shared__ that
// was not meant.
// RUN: slow fix
#include "planted.cuh"

// ---- lines that are not compiled

__global__ void barrier_switched_off(const int* in, int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
#ifdef SYNCHRONISE
    __syncthreads();
#endif
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(barrier_switched_off) { barrier_switched_off<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void tree_switched_off(const int* in, int* out) {
    __shared__ int s[128];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
#if 0
        __syncthreads();  // don't
#endif
    }
    if (threadIdx.x == 0) *out = s[0];
}
PLANT(tree_switched_off) { tree_switched_off<<<1, 128>>>(filled(128), zeros(1)); }

__global__ void one_of_two(const int* in, int* out) {
    __shared__ int s[64];
#if defined(RIGHT)
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) {
#else
    s[63 - threadIdx.x] = in[threadIdx.x];
    {
#endif
        out[threadIdx.x] = s[threadIdx.x];
    }
}
PLANT(one_of_two) { one_of_two<<<1, 64>>>(filled(64), zeros(64)); }

__device__ unsigned held;
__device__ void take_it() {
    while (atomicCAS(&held, 0, 1)) {
    }
#ifdef FENCES
    __threadfence();
#endif
}
__device__ void give_it() {
    __threadfence();
    atomicExch(&held, 0);
}
__global__ void lock_unfenced(int* x) {
    if (threadIdx.x == 0) {
        take_it();
        *x += 1;
        give_it();
    }
}
PLANT(lock_unfenced) { lock_unfenced<<<2, 64>>>(zeros(1)); }

__device__ int raised = 0;
__global__ void flag_by_hand(int* x) {
    if (blockIdx.x == 0) {
        *x = 5;
        __threadfence();
        raised = 1;  // FIXED: atomicExch(&raised, 1);
    }
    if (blockIdx.x == 1) {
#ifdef ATOMIC
        while (atomicMax(&raised, 0) != 1) {
        }
#else
        while (*(volatile int*)&raised != 1) {  // FIXED: while (atomicAdd(&raised, 0) != 1) {
        }
#endif
#ifdef FENCES
        __threadfence();
#endif
        x[1] = x[0];
    }
}
PLANT(flag_by_hand) { flag_by_hand<<<2, 1>>>(zeros(2)); }  // SAYS: put __threadfence() after line

template <bool Rows>
__global__ void disabled_twin(const int* in, int* out) {
    __shared__ int s[8][8];
#ifndef OLD
    s[threadIdx.y][threadIdx.x] = in[8 * threadIdx.y + threadIdx.x];
#ifdef SYNCHRONISE
    __syncthreads();
#endif
#else
    s[threadIdx.x][threadIdx.y] = in[8 * threadIdx.y + threadIdx.x];
    __syncthreads();
#endif
    out[8 * threadIdx.y + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
PLANT(disabled_twin) { disabled_twin<true><<<1, dim3(8, 8)>>>(filled(64), zeros(64)); }

/*
#ifdef NOT_EVEN_A_DIRECTIVE
*/
__global__ void in_a_macro(const int* in, int* out) {
#ifdef SYNCHRONISE
#define ORDER() __syncthreads()
#else
#define ORDER()
#endif
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    ORDER();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(in_a_macro) { in_a_macro<<<1, 64>>>(filled(64), zeros(64)); }

// ---- last blocks

__device__ unsigned finished, finished_too, finished_all;
__global__ void last_by_one(const float* in, float* partial, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < 64; ++i) sum += s[i];
        partial[blockIdx.x] = sum;
        __threadfence();
        unsigned old = atomicInc(&finished, gridDim.x - 1);
        if (old == gridDim.x - 1) {
            sum = 0;
            for (int i = 0; i < gridDim.x; ++i) sum += partial[i];
            *out = sum;
        }
    }
}
PLANT(last_by_one) { last_by_one<<<4, 64>>>(filled<float>(256), zeros<float>(4), zeros<float>(1)); }

__global__ void last_in_the_head(const int* in, int* partial, int* out) {
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        if (atomicAdd(&finished_too, 1) == gridDim.x - 1) {
            int sum = 0;
            for (int i = 0; i < gridDim.x; ++i) sum += partial[i];
            *out = sum;
        }
    }
}
PLANT(last_in_the_head) { last_in_the_head<<<4, 64>>>(filled(4), zeros(4), zeros(1)); }

__global__ void last_of_a_warp(const int* in, int* partial, int* out) {
    int v = in[blockIdx.x * 64 + threadIdx.x];
    v = __reduce_add_sync(0xffffffff, v);
    if (threadIdx.x % 32 == 0) {
        const int warp = blockIdx.x * 2 + threadIdx.x / 32;
        partial[warp] = v;
        __threadfence();
        const unsigned ticket = atomicAdd(&finished_all, 1);
        if (ticket == 2 * gridDim.x - 1)
        {
            for (int i = 0; i < 2 * gridDim.x; ++i) *out += partial[i];
        }
    }
}
PLANT(last_of_a_warp) { last_of_a_warp<<<4, 64>>>(filled(256), zeros(8), zeros(1)); }

// ---- __shared__ that each thread uses for itself

__global__ void shared_scalars(float* out, int n) {
    __shared__ float x, y;  // FIXED: float x, y;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x = 2.0f * i;
    y = x * x;
    if (i < n) out[i] = y;
}
PLANT(shared_scalars) { shared_scalars<<<1, 64>>>(zeros<float>(64), 64); }

__global__ void shared_index(const int* in, int* out, int n) {
    __shared__ int i;  // FIXED: int i;
    i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
PLANT(shared_index) { shared_index<<<2, 64>>>(filled(128), zeros(128), 128); }

__global__ void shared_sum(const float* a, const float* b, float* c) {
    __shared__ float sum;  // FIXED: float sum;
    const int row = threadIdx.y, column = threadIdx.x;
    sum = 0;
    for (int k = 0; k < 8; ++k) sum += a[8 * row + k] * b[8 * k + column];
    c[8 * row + column] = sum;
}
PLANT(shared_sum) { shared_sum<<<1, dim3(8, 8)>>>(filled<float>(64), filled<float>(64), zeros<float>(64)); }

__global__ void one_of_them_shared(const int* in, int* out) {
    __shared__ int own, first;  // FIXED: int own; __shared__ int first;
    if (threadIdx.x == 0) first = in[0];
    __syncthreads();
    own = in[threadIdx.x] * 2;
    own -= first;
    out[threadIdx.x] = own;
}
PLANT(one_of_them_shared) { one_of_them_shared<<<1, 64>>>(filled(64), zeros(64)); }

// Not these: what they want is one value for all.
__global__ void largest(const int* in, int* out) {
    __shared__ int best;
    best = 0;
    if (in[threadIdx.x] > best) best = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *out = best;
}
PLANT(largest) { largest<<<1, 64>>>(filled(64), zeros(1)); }  // SAYS: put __syncthreads() after line

__global__ void told_to_all(const int* in, int* out) {
    __shared__ int base;
    if (threadIdx.x == 0) base = in[5];
    out[threadIdx.x] = in[threadIdx.x] - base;
}
PLANT(told_to_all) { told_to_all<<<1, 64>>>(filled(64), zeros(64)); }
