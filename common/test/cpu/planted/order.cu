// Barriers, atomics and fences that are missing where the text is unusual: each has one mistake.
// RUN: slow fix
#include "planted.cuh"

namespace cg = cooperative_groups;

// a tree whose index is computed
__global__ void tree_by_products(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[t];
    for (int d = 1; d < 64; d *= 2) {
        const int i = 2 * d * t;
        if (i < 64) s[i] += s[i + d];
    }
    if (t == 0) *out = s[0];
}
PLANT(tree_by_products) {
    int* out = zeros(1);
    tree_by_products<<<1, 64>>>(filled(64), out);
    wants(out, 1, [](int) { int sum = 0; for (int i = 0; i < 64; ++i) sum += in_at(i); return sum; });
}

// a butterfly
__global__ void butterfly(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        s[t] += s[t ^ d];  // FIXED: const int other = s[t ^ d]; __syncthreads(); s[t] += other;
        __syncthreads();
    }
    out[t] = s[t];
}
PLANT(butterfly) {
    int* out = zeros(64);
    butterfly<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int) { int sum = 0; for (int i = 0; i < 64; ++i) sum += in_at(i); return sum; });
}

// the question comes first
__global__ void question_first(const int* in, int* best, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i % n] > *best && i < n) *best = in[i];  // FIXED: if (i < n) atomicMax(best, in[i]);
}
PLANT(question_first) {
    int* best = zeros(1);
    question_first<<<4, 64>>>(filled(256), best, 256);
    wants(best, 1, [](int) { return 101; });
}

// both branches write, and all read
__global__ void two_branches(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 32)
        s[t] = in[t];
    else
        s[t] = 2 * in[t];
    out[t] = s[63 - t];
}
PLANT(two_branches) {
    int* out = zeros(64);
    two_branches<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int i) { return in_at(63 - i) * (i < 32 ? 2 : 1); });
}

// a loop in one line
__global__ void loop_in_a_line(const int* in, int* out) {
    __shared__ int s[64];
    int v = in[threadIdx.x];
    for (int k = 0; k < 3; ++k) { s[threadIdx.x] = v; __syncthreads(); v = s[63 - threadIdx.x] + k; }  // FIXED: for (int k = 0; k < 3; ++k) { s[threadIdx.x] = v; __syncthreads(); v = s[63 - threadIdx.x] + k; __syncthreads(); }
    out[threadIdx.x] = v;
}
PLANT(loop_in_a_line) {
    int* out = zeros(64);
    loop_in_a_line<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int i) { return in_at(63 - i) + 3; });
}

// elements that a function exchanges
__device__ void exchange(int& x, int& y) { const int old = x; x = y; y = old; }
__global__ void sort_by_pairs(int* a) {
    const int t = threadIdx.x;
    for (int k = 0; k < 64; ++k) {
        const int i = 2 * t + k % 2;
        if (i + 1 < 64 && a[i] > a[i + 1]) exchange(a[i], a[i + 1]);
    }
}
PLANT(sort_by_pairs) {
    int* a = filled(64);
    sort_by_pairs<<<1, 32>>>(a);
    wants(a, 64, [](int i) {
        for (int v = 1;; ++v) {
            int smaller = 0;
            for (int k = 0; k < 64; ++k) smaller += in_at(k) <= v;
            if (smaller > i) return v;
        }
    });
}

// a ticket of a function, drawn before all have written
__device__ bool draws_last(unsigned* ticket) {
    __threadfence();
    return atomicAdd(ticket, 1) == gridDim.x - 1;
}
__global__ void last_in_a_function(const int* in, int* part, unsigned* ticket, int* out) {
    __shared__ bool last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0) last = draws_last(ticket);
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 0; i < 256; ++i) *out += part[i];
}
PLANT(last_in_a_function) {
    int* out = zeros(1);
    last_in_a_function<<<4, 64>>>(filled(64), zeros(256), zeros<unsigned>(1), out);
    wants(out, 1, [](int) { int sum = 0; for (int i = 0; i < 64; ++i) sum += in_at(i); return 4 * sum; });
}

// a count in elements of two bytes
__global__ void counts_of_shorts(const int* in, unsigned short* count) {
    count[in[threadIdx.x] % 4] += 1;  // FIXED: atomicAdd((int*)count + in[threadIdx.x] % 4, 1);
}
PLANT(counts_of_shorts) {
    counts_of_shorts<<<1, 64>>>(filled(64), zeros<unsigned short>(8));
}

// a tile that waits where the block must
__global__ void tile_for_block(const int* in, int* out) {
    __shared__ int s[128];
    cg::thread_block_tile<32> quarter = cg::tiled_partition<32>(cg::this_thread_block());
    const int t = threadIdx.x;
    s[t] = in[t];
    quarter.sync();
    out[t] = s[127 - t];
}
PLANT(tile_for_block) {
    int* out = zeros(128);
    tile_for_block<<<1, 128>>>(filled(128), out);
    wants(out, 128, [](int i) { return in_at(127 - i); });
}

// elements that are moved in a loop
__global__ void moved_in_a_loop(int* a) {
    const int t = threadIdx.x;
    for (int k = 0; k < 2; ++k)
        if (t < 63 - k) a[t] = a[t + 1];  // FIXED: { const int next = t < 63 - k ? a[t + 1] : 0; __syncthreads(); if (t < 63 - k) a[t] = next; __syncthreads(); }
}
PLANT(moved_in_a_loop) {
    int* a = filled(64);
    moved_in_a_loop<<<1, 64>>>(a);
    wants(a, 62, [](int i) { return in_at(i + 2); });
}

// a counter and what it counts, by several blocks
struct Log { int used, lines[256]; };
__global__ void logged(const int* in, Log* log) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 2) {
        int place = log->used;  // FIXED: int place = atomicAdd(&log->used, 1);
        log->used = place + 1;  // FIXED: ;
        log->lines[place] = i;
    }
}
PLANT(logged) {
    Log* log = zeros<Log>(1);
    logged<<<4, 64>>>(filled(256), log);
    wants(&log->used, 1, [](int) { int odd = 0; for (int i = 0; i < 256; ++i) odd += in_at(i) % 2; return odd; });
}

// a lock whose functions lack the fence of the release
struct Lock {
    int held;
    __device__ void take() {
        while (atomicCAS(&held, 0, 1)) {}
        __threadfence();
    }
    __device__ void give() { atomicExch(&held, 0); }
};
__global__ void locked_sum(const int* in, Lock* lock, int* sum) {
    if (threadIdx.x) return;
    lock->take();
    *sum = 3 * *sum + in[blockIdx.x] % 2;
    lock->give();
}
PLANT(locked_sum) {
    locked_sum<<<4, 32>>>(filled(4), zeros<Lock>(1), zeros(1));
}
