// Threads that do not come to a barrier or leave elements unset, guards that let in one too many, and atomics that
// take the old value.
// RUN: slow fix
#include "planted.cuh"

__global__ void in_both(const int* in, int* out, int n) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    if (t < n) {
        tile[t] = in[t];
        __syncthreads();  // FIXED: } __syncthreads(); if (t < n) {
        out[t] = tile[n - 1 - t];
    } else {
        __syncthreads();  // FIXED:
    }
}
PLANT(barrier_in_both_branches) {  // SAYS: out of the branch
    int* out = zeros(200);
    in_both<<<1, 256>>>(filled(200), out, 200);
    wants(out, 200, [](int i) { return in_at(199 - i); });
}

__global__ void last_in_branch(const int* in, int* out, int n) {
    __shared__ int low[128], high[128];
    int t = threadIdx.x;
    low[t] = high[t] = 0;
    if (t < n) {
        if (t % 3) {
            low[t] = in[t];
            __syncthreads();  // FIXED:
        } else {
            high[t] = in[t];
        }
    }
    if (t < n) out[t] = low[n - 1 - t] + high[n - 1 - t];
}
PLANT(barrier_last_in_branch) {
    int* out = zeros(100);
    last_in_branch<<<1, 128>>>(filled(100), out, 100);
    wants(out, 100, [](int i) { return in_at(99 - i); });
}

__global__ void away_before(const int* in, int* out, int n) {
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = in[i];
    out[i] = tile[threadIdx.x ? threadIdx.x - 1 : 0];
}
PLANT(return_before_the_barrier) {
    int* out = zeros(200);
    away_before<<<2, 128>>>(filled(200), out, 200);
    wants(out, 200, [](int i) { return in_at(i % 128 ? i - 1 : i); });
}

__global__ void away_unset(const int* in, int* out, int n) {
    __shared__ int a[64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i >= n) return;  // FIXED:
    a[t] = in[i];  // FIXED: a[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) a[t] += a[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, a[0]);
}
static int sum_of(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in_at(i);
    return sum;
}
PLANT(return_leaves_unset) {
    int* out = zeros(1);
    away_unset<<<4, 64>>>(filled(200), out, 200);
    wants(out, 1, [](int) { return sum_of(200); });
}

__global__ void guard_leaves_unset(const int* in, int* out, int n) {
    __shared__ int s[256];
    const int t = threadIdx.x;
    if (t < n) s[t] = in[t];  // FIXED: s[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}
PLANT(tail_unset) {
    int* out = zeros(1);
    guard_leaves_unset<<<1, 256>>>(filled(200), out, 200);
    wants(out, 1, [](int) { return sum_of(200); });
}

__global__ void never_zeroed(const int* in, int* out, int n) {
    __shared__ int sum;  // FIXED: __shared__ int sum; if (threadIdx.x == 0) sum = 0; __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
PLANT(shared_sum_not_zeroed) {
    int* out = zeros(1);
    never_zeroed<<<4, 64>>>(filled(200), out, 200);
    wants(out, 1, [](int) { return sum_of(200); });
}

__global__ void one_too_many(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {  // FIXED: if (i < n) {
        out[i] = 2 * in[i];
    }
}
PLANT(guard_one_too_far) { one_too_many<<<4, 64>>>(filled(200), zeros(200), 200); }

__global__ void returns_too_late(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;  // FIXED: if (i >= n) return;
    out[i] = in[i] + 1;
}
PLANT(return_one_too_late) { returns_too_late<<<4, 64>>>(filled(200), zeros(200), 200); }

__global__ void clip(const int* in, int* out, int n) {
    __shared__ int low;
    if (threadIdx.x == 0) low = 20;
    int v = in[threadIdx.x];
    if (v < low) v = low;
    out[threadIdx.x] = v;
}
PLANT(own_variable_needs_no_atomic) { clip<<<1, 128>>>(filled(128), zeros(128), 128); }

__global__ void smallest(const int* in, int* best) { *best = in[threadIdx.x] < *best ? in[threadIdx.x] : *best; }
PLANT(least_by_a_question) { smallest<<<1, 64>>>(filled(64), filled(1)); }

__global__ void link(const int* in, int* head, int* next) {
    int b = in[threadIdx.x] % 4;
    next[threadIdx.x] = head[b];  // FIXED: next[threadIdx.x] = atomicExch(&head[b], threadIdx.x);
    head[b] = threadIdx.x;  // FIXED: ;
}
PLANT(list_pushed) { link<<<1, 64>>>(filled(64), zeros(4), zeros(64)); }  // SAYS: (or atomicExch)

__global__ void claims(const int* in, int* found, int* out) {
    if (in[threadIdx.x] > 10 && *found == 0) {  // FIXED: if (in[threadIdx.x] > 10 && atomicCAS(found, 0, 1) == 0) {
        *found = 1;  // FIXED: ;
        out[0] = in[threadIdx.x];
    }
}
PLANT(claimed_by_a_question) { claims<<<1, 64>>>(filled(64), zeros(1), zeros(1)); }

__global__ void wide(const int* in, long long* sum) { *sum += in[threadIdx.x]; }
PLANT(sum_of_long_long) { wide<<<1, 64>>>(filled(64), zeros<long long>(1)); }

__global__ void lanes_not_let_in(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = in[i];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);
    }
}
PLANT(shuffle_in_a_branch) {  // MISS shuffle_in_a_branch
    int* out = zeros(1);
    lanes_not_let_in<<<4, 64>>>(filled(200), out, 200);
    wants(out, 1, [](int) { return sum_of(200); });
}

__global__ void lanes_sent_away(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = in[i];
    v += __shfl_xor_sync(0xffffffffu, v, 16);
    v += __shfl_xor_sync(0xffffffffu, v, 8);
    v += __shfl_xor_sync(0xffffffffu, v, 4);
    v += __shfl_xor_sync(0xffffffffu, v, 2);
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}
PLANT(shuffle_behind_a_return) {  // MISS shuffle_behind_a_return
    float* out = zeros<float>(1);
    lanes_sent_away<<<2, 128>>>(filled<float>(200), out, 200);
    wants(out, 1, [](int) { return float(sum_of(200)); });
}
