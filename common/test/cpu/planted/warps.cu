// Between the lanes of one warp, and in one line.
// RUN: slow fix
#include "planted.cuh"

__global__ void last_warp(const int* in, int* out) {
    __shared__ int a[64];
    const int tid = threadIdx.x;
    a[tid] = in[tid];
    __syncthreads();
    if (tid < 32) {
        a[tid] = a[tid] + a[tid + 32];
        int x = a[tid ^ 1];
        out[tid] = x;
    }
}
PLANT(in_the_first_warp) { last_warp<<<1, 64>>>(filled(64), zeros(32)); }

__global__ void warp_tile(const int* in, int* out) {
    __shared__ int a[128];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp > 0) {
        a[threadIdx.x] = in[threadIdx.x];
        out[threadIdx.x] = a[warp * 32 + 31 - lane];
    }
}
PLANT(some_warps) { warp_tile<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void warp_loop(const int* in, int* out) {
    __shared__ int a[4][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = warp; row < 6; row += 4) {
        a[warp][lane] = in[row * 32 + lane];
        __syncwarp();
        out[row * 32 + lane] = a[warp][31 - lane];
    }
}
PLANT(rows_of_warps) { warp_loop<<<1, 128>>>(filled(192), zeros(192)); }

__device__ void fold(volatile int* s, int tid) {
    s[tid] += s[tid + 32];  // FIXED: int v = s[tid] + s[tid + 32]; __syncwarp(); s[tid] = v; __syncwarp();
    s[tid] += s[tid + 16];  // FIXED: v += s[tid + 16]; __syncwarp(); s[tid] = v; __syncwarp();
    s[tid] += s[tid + 8];   // FIXED: v += s[tid + 8]; __syncwarp(); s[tid] = v; __syncwarp();
    s[tid] += s[tid + 4];   // FIXED: v += s[tid + 4]; __syncwarp(); s[tid] = v; __syncwarp();
    s[tid] += s[tid + 2];   // FIXED: v += s[tid + 2]; __syncwarp(); s[tid] = v; __syncwarp();
    s[tid] += s[tid + 1];   // FIXED: v += s[tid + 1]; __syncwarp(); s[tid] = v;
}
__global__ void volatile_fold(const int* in, int* out) {
    __shared__ int s[64];
    const int tid = threadIdx.x;
    s[tid] = in[tid];
    __syncthreads();
    if (tid < 32) fold(s, tid);
    if (tid == 0) *out = s[0];
}
PLANT(volatile_last_warp) { volatile_fold<<<1, 64>>>(filled(64), zeros(1)); }  // SAYS: __syncwarp

__global__ void warp_tree(const int* in, int* out) {
    __shared__ int a[32];
    a[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    for (unsigned d = 16; d > 0; d /= 2)
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
    if (threadIdx.x == 0) *out = a[0];
}
PLANT(tree_of_32) { warp_tree<<<1, 32>>>(filled(32), zeros(1)); }

__global__ void warp_scan(int* out) {
    __shared__ int a[32];
    const int lane = threadIdx.x;
    a[lane] = 1;
    __syncwarp();
    for (int d = 1; d < 32; d *= 2) {
        int add = lane >= d ? a[lane - d] : 0;
        a[lane] += add;
        __syncwarp();
    }
    out[lane] = a[lane];
}
PLANT(scan_of_32) { warp_scan<<<1, 32>>>(zeros(32)); }

__global__ void plain_then_volatile(const int* in, int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = in[threadIdx.x];
    volatile int* v = a;
    out[threadIdx.x] = v[63 - threadIdx.x];
}
PLANT(volatile_beside_plain) { plain_then_volatile<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void shift(int* a) {
    const int i = threadIdx.x;
    a[i] = a[i + 1];  // FIXED: const int read = a[i + 1]; __syncthreads(); a[i] = read;
}
PLANT(shift_in_place) { shift<<<1, 64>>>(filled(65)); }  // SAYS: check the index

__global__ void scan_line(int* out) {
    __shared__ int a[64];
    const int i = threadIdx.x;
    a[i] = 1;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        if (i >= d) a[i] += a[i - d];  // FIXED: const int read = i >= d ? a[i - d] : 0; __syncthreads(); if (i >= d) a[i] += read;
        __syncthreads();
    }
    out[i] = a[i];
}
PLANT(scan_in_one_line) { scan_line<<<1, 64>>>(zeros(64)); }

__global__ void off_by_one(const int* in, int* out) {
    __shared__ int a[128];
    const unsigned tid = threadIdx.x;
    a[tid] = in[tid];
    __syncthreads();
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        if (tid <= stride) a[tid] += a[tid + stride];  // FIXED: if (tid < stride) a[tid] += a[tid + stride];
        __syncthreads();
    }
    if (tid == 0) *out = a[0];
}
PLANT(one_thread_too_many) { off_by_one<<<1, 128>>>(filled(128), zeros(1)); }  // SAYS: or if that is not meant, check the index

__global__ void overlap(int* out) {
    out[threadIdx.x / 2] = threadIdx.x;  // FIXED: out[threadIdx.x] = threadIdx.x;
}
PLANT(two_write_one) { overlap<<<1, 64>>>(zeros(64)); }  // SAYS: check the index

__global__ void everybody_writes(const int* in, int* out) {
    __shared__ int last;
    last = in[threadIdx.x];  // FIXED: if (threadIdx.x == 0) last = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = last;
}
PLANT(all_write_one) { everybody_writes<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: if they share one result, let one write it

__global__ void bins(const int* in, int* out) {
    __shared__ int count[8];
    if (threadIdx.x < 8) count[threadIdx.x] = 0;
    __syncthreads();
    ++count[in[threadIdx.x] % 8];
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = count[threadIdx.x];
}
PLANT(bins_by_plus) { bins<<<1, 256>>>(filled(256), zeros(8)); }

__global__ void shared_sum(const float* in, float* out) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    sum += in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}
PLANT(sum_by_plus) { shared_sum<<<1, 64>>>(filled<float>(64), zeros<float>(1)); }

__global__ void shared_max(const int* in, int* out) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    best = max(best, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = best;
}
PLANT(maximum) { shared_max<<<1, 64>>>(filled(64), zeros(1)); }

__global__ void shared_max_if(const int* in, int* out) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    if (in[threadIdx.x] > best)       // FIXED: 
        best = in[threadIdx.x];       // FIXED: atomicMax(&best, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = best;
}
PLANT(maximum_by_if) { shared_max_if<<<1, 64>>>(filled(64), zeros(1)); }  // SAYS: atomic

__global__ void two_steps(const int* in, int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const int before = sum;             // FIXED: 
    sum = before + in[threadIdx.x];     // FIXED: atomicAdd(&sum, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}
PLANT(sum_in_two_lines) { two_steps<<<1, 64>>>(filled(64), zeros(1)); }  // SAYS: atomic

__global__ void bits(const int* in, unsigned* out) {
    out[0] |= 1u << in[threadIdx.x] % 32;
}
PLANT(bits_by_or) { bits<<<1, 64>>>(filled(64), zeros<unsigned>(1)); }

__global__ void minus(int* left) {
    left[0]--;
}
PLANT(count_down) { minus<<<2, 32>>>(filled(1)); }

__device__ int fold_row(int v, int* row) {
    const int lane = threadIdx.x & 31;
    row[lane] = v;
    for (int d = 16; d > 0; d >>= 1) {
        int w = lane < d ? row[lane + d] : 0;
        __syncwarp();
        if (lane < d) row[lane] += w;
        __syncwarp();
    }
    return row[0];
}
__global__ void rows_of_warps(const int* in, int* out) {
    __shared__ int rows[4][32];
    const int sum = fold_row(in[threadIdx.x], rows[threadIdx.x / 32]);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}
PLANT(row_of_each_warp) { rows_of_warps<<<1, 128>>>(filled(128), zeros(4)); }

__global__ void folded_by_lambda(const int* in, int* out) {
    __shared__ int a[64];
    const unsigned t = threadIdx.x;
    auto fold = [&](unsigned d) {
        if (t < d) a[t] += a[t + d];
    };
    a[t] = in[t];
    __syncthreads();
    fold(32);
    fold(16);
    fold(8);
    fold(4);
    fold(2);
    fold(1);
    if (t == 0) *out = a[0];
}
PLANT(lambda_called_again) { folded_by_lambda<<<1, 64>>>(filled(64), zeros(1)); }

__device__ void fold_half(int* a, unsigned t, unsigned d) {
    if (t < d) a[t] += a[t + d];
}
__global__ void folded_by_function(const int* in, int* out) {
    __shared__ int a[256];
    const unsigned t = threadIdx.x;
    a[t] = in[t];
    __syncthreads();
    for (unsigned d = 128; d; d /= 2)
        fold_half(a, t, d);
    if (t == 0) *out = a[0];
}
PLANT(function_called_again) { folded_by_function<<<1, 256>>>(filled(256), zeros(1)); }
