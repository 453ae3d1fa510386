// Updates in place: an element is made from another one of the same array, which another thread writes. No atomic
// mends that. Tiles that use the same elements, and words that nobody has set.
// RUN: slow fix
#include "planted.cuh"

namespace cg = cooperative_groups;

// ---- scans: all must read before one writes

__global__ void scan_warp(const int* in, int* out) {
    __shared__ int t[32];
    const int x = threadIdx.x;
    t[x] = in[x];
    __syncthreads();
    for (int d = 1; d < 32; d *= 2) {
        if (x >= d) {
            t[x] += t[x - d];  // FIXED: } const int read = x >= d ? t[x - d] : 0; __syncthreads(); if (x >= d) { t[x] += read;
        }
        __syncthreads();
    }
    out[x] = t[x];
}
PLANT(scan_of_a_warp) { scan_warp<<<1, 32>>>(filled(32), zeros(32)); }  // SAYS: read into a variable first

__global__ void running_sum(int* d) {
    const int tid = threadIdx.x;
    for (int count = blockDim.x, step = 1; count > 0; step *= 2) {
        if (tid < count)
        {
            d[tid+step] += d[tid];  // FIXED: } const int read = tid < count ? d[tid] : 0; __syncthreads(); if (tid < count) d[tid+step] += read; __syncthreads(); {
        }
        count -= step;
    }
}
PLANT(scan_without_barriers) { running_sum<<<1, 63>>>(filled(64)); }

__global__ void scan_upwards(const float* in, float* out) {
    __shared__ float s[128];
    s[threadIdx.x] = in[threadIdx.x];
    s[threadIdx.x + 64] = 0;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2)
        s[threadIdx.x + d] = s[threadIdx.x + d] * 0.5f + s[threadIdx.x];  // FIXED: { const float read = s[threadIdx.x]; __syncthreads(); s[threadIdx.x + d] = s[threadIdx.x + d] * 0.5f + read; __syncthreads(); }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
PLANT(scan_without_a_guard) { scan_upwards<<<1, 64>>>(filled<float>(64), zeros<float>(64)); }

__global__ void running_maximum(const int* in, int* out) {
    __shared__ int most[64];
    const int x = threadIdx.x;
    most[x] = in[x];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        if (x >= d) {
            if (most[x] < most[x - d]) most[x] = most[x - d];  // FIXED: } const int read = x >= d ? most[x - d] : 0; __syncthreads(); if (x >= d) { if (most[x] < read) most[x] = read;
        }
        __syncthreads();
    }
    out[x] = most[x];
}
PLANT(running_maximum) { running_maximum<<<1, 64>>>(filled(64), zeros(64)); }

template <class T>
__global__ void scan_backwards(const T* in, T* out) {
    __shared__ T s[96];
    const unsigned x = threadIdx.x;
    s[x] = in[x];
    __syncthreads();
    for (unsigned d = 1; d < 96; d <<= 1) {
        if (x + d < 96) s[x] = min(s[x], s[x + d]);  // FIXED: const T read = x + d < 96 ? s[x + d] : T(); __syncthreads(); if (x + d < 96) s[x] = min(s[x], read);
        __syncthreads();
    }
    out[x] = s[x];
}
PLANT(scan_backwards) { scan_backwards<float><<<1, 96>>>(filled<float>(96), zeros<float>(96)); }

__global__ void smooth(float* row, int n) {
    const int i = threadIdx.x;
    if (i > 0 && i < n - 1) row[i] = (row[i - 1] + row[i] + row[i + 1]) / 3;  // FIXED: const float read = i > 0 && i < n - 1 ? (row[i - 1] + row[i] + row[i + 1]) / 3 : 0; __syncthreads(); if (i > 0 && i < n - 1) row[i] = read;
}
PLANT(smoothed_in_place) { smooth<<<1, 64>>>(filled<float>(64), 64); }

__global__ void pair_swap(int* a) {
    const int i = threadIdx.x;
    if (i % 2 == 0)
        a[i] = a[i + 1];
    else
        a[i] = a[i - 1];  // FIXED: ;
}
PLANT(swapped_in_place) { pair_swap<<<1, 64>>>(filled(64)); }

__global__ void set_both(const int* in, int* out) {
    __shared__ int s[96];
    const int x = threadIdx.x;
    s[x] = s[x + 1] = in[x];  // FIXED: s[x] = in[x];
    __syncthreads();
    out[x] = s[x];
}
PLANT(two_set_at_once) { set_both<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: two threads write

struct Point {
    float x, y;
};
__global__ void members(Point* p) {
    __shared__ Point s[64];
    const int i = threadIdx.x;
    s[i] = p[i];
    __syncthreads();
    s[i].x = s[i].x + s[(i + 1) % 64].x;  // FIXED: const auto read = s[(i + 1) % 64].x; __syncthreads(); s[i].x = s[i].x + read;
    __syncthreads();
    p[i] = s[i];
}
PLANT(members_in_place) { members<<<1, 64>>>(zeros<Point>(64)); }

__global__ void strides(int* a, int n) {
    for (int i = threadIdx.x; i < n - 1; i += blockDim.x) a[i] = a[i] + a[i + 1];  // FIXED: ;
}
PLANT(strides_in_place) { strides<<<1, 32>>>(filled(128), 128); }  // SAYS: put __syncwarp() where all threads come

__global__ void of_blocks(int* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) a[i] += a[i - 1];  // FIXED: ;
}
PLANT(blocks_in_place) { of_blocks<<<4, 32>>>(filled(128), 128); }  // SAYS: write into another array

// ---- trees: a barrier in the loop, and nothing else

__global__ void least(const int* in, int* out) {
    __shared__ int v[32];
    const int id = threadIdx.x;
    v[id] = in[id];
    for (int i = 16; i > 0; i >>= 1) {
        if (id < i) {
            if (v[id] > v[id + i]) {
                v[id] = v[id + i];
            }
        }
    }
    if (id == 0) *out = v[0];
}
PLANT(least_of_a_warp) { least<<<1, 32>>>(filled(32), zeros(1)); }

__global__ void greatest(const int* in, int* out) {
    __shared__ int v[128];
    const int id = threadIdx.x;
    v[id] = in[id];
    __syncthreads();
    for (int i = 64; i > 0; i >>= 1)
        if (id < i && v[id + i] > v[id]) v[id] = v[id + i];
    __syncthreads();
    if (id == 0) *out = v[0];
}
PLANT(greatest_of_a_block) { greatest<<<1, 128>>>(filled(128), zeros(1)); }  // SAYS: __syncthreads(); }

__global__ void strided(const int* in, int* out) {
    __shared__ int v[128];
    v[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        const int at = 2 * d * threadIdx.x;
        if (at < blockDim.x) v[at] = max(v[at], v[at + d]);
    }
    if (threadIdx.x == 0) *out = v[0];
}
PLANT(tree_by_strides) { strided<<<1, 128>>>(filled(128), zeros(1)); }  // SAYS: put __syncthreads() after line

// ---- indices that come from memory: only atomics help

__global__ void relax(int* far, const int* from, const int* to, const int* length, int n) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n) return;
    const int u = from[e] % 16, v = to[e] % 16;
    if (far[v] > far[u] + length[e]) far[v] = far[u] + length[e];  // FIXED: atomicMin(&far[v], atomicAdd(&far[u], 0) + length[e]);
}
PLANT(relaxed_edges) {  // SAYS: atomicMin
    relax<<<4, 32>>>(filled(16), filled(128), filled(128) + 40, filled(128), 88);
}

// ---- tiles that share elements

__global__ void tiles(const int* in, int* out) {
    __shared__ int part[64];
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const int rank = tile.thread_rank();
    part[rank] = in[threadIdx.x];  // FIXED: part[threadIdx.x - tile.thread_rank() + rank] = in[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = part[15 - rank];  // FIXED: out[threadIdx.x] = part[threadIdx.x - tile.thread_rank() + 15 - rank];
}
PLANT(tiles_of_16) { tiles<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: the threads of a warp or tile

__device__ int fold(cg::thread_group g, int* space, int value) {
    const int rank = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        space[rank] = value;  // FIXED: space[rank + threadIdx.x - g.thread_rank()] = value;
        g.sync();
        if (rank < i) value += space[rank + i];  // FIXED: if (rank < i) value += space[rank + i + threadIdx.x - g.thread_rank()];
        g.sync();
    }
    return value;
}
__global__ void folds(const int* in, int* out) {
    __shared__ int space[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[threadIdx.x] = fold(tile, space, in[threadIdx.x]);
}
PLANT(tiles_in_a_function) { folds<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: check the index `(g.thread_rank())` in lines 194, 196 and 198

__global__ void lanes(const int* in, int* out) {
    __shared__ int s[64];
    const int lane = threadIdx.x % 32;
    s[lane] = in[threadIdx.x];  // FIXED: s[threadIdx.x / 32 * 32 + lane] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s[31 - lane];  // FIXED: out[threadIdx.x] = s[threadIdx.x / 32 * 32 + 31 - lane];
}
PLANT(lanes_of_two_warps) { lanes<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: the threads of a warp or tile

__global__ void table(const int* in, int* out) {
    __shared__ int s[32];
    const int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) s[lane] = in[lane];
    out[threadIdx.x] = s[lane];
}
PLANT(table_of_one_warp) { table<<<1, 64>>>(filled(32), zeros(64)); }  // SAYS: put __syncthreads

// ---- nobody has set the word, and it is raced on

__global__ void least_of_all(const int* in, int* out) {
    __shared__ int m;  // FIXED: __shared__ int m; if (threadIdx.x == 0) m = 1000; __syncthreads();
    atomicMin(&m, in[threadIdx.x]);

    if (threadIdx.x == 0) *out = m;
}
PLANT(unset_and_raced) { least_of_all<<<1, 32>>>(filled(32), zeros(1)); }  // SAYS: nobody has written

__global__ void sum_unset(const int* in, int* out) {
    __shared__ int sum;  // FIXED: __shared__ int sum; if (threadIdx.x == 0) sum = 0; __syncthreads();
    sum += in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}
PLANT(unset_sum) { sum_unset<<<1, 64>>>(filled(64), zeros(1)); }  // SAYS: nobody has written

__global__ void set_too_late(const int* in, int* out) {
    __shared__ int sum;
    if (threadIdx.x == 63) sum = 0;
    atomicAdd(&sum, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}
PLANT(set_too_late) { set_too_late<<<1, 64>>>(filled(64), zeros(1)); }  // SAYS-COUNT-1: cudacpu: hazard:

#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
__global__ void counted_by_macro(const int* in, int* bins, int n) {
    __shared__ int local[32];
    if (threadIdx.x < 32) local[threadIdx.x] = 0;
    __syncthreads();
    EACH(i, n) {
        local[in[i] % 32] += 1;
    }
    __syncthreads();
    EACH(i, 32) atomicAdd(bins + i, local[i]);
}
PLANT(loop_of_a_macro) { counted_by_macro<<<1, 96>>>(filled(200), zeros(32), 200); }

struct Found {
    int* items;
    int size;
};
__device__ void push(Found* q, int item) {
    q->items[q->size] = item;  // FIXED: q->items[atomicAdd(&q->size, 1)] = item;
    q->size++;  // FIXED: ;
}
__global__ void pushes(const int* in, Found* q, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 50) push(q, i);
}
PLANT(pushed_and_counted) {  // SAYS-COUNT-1: cudacpu: hazard:
    const Found empty{zeros(200), 0};
    Found* q = zeros<Found>(1);
    cudaMemcpy(q, &empty, sizeof empty, cudaMemcpyHostToDevice);
    pushes<<<4, 64>>>(filled(200), q, 200);
}

struct Seen {
    int data[128];
    int used;
};
__global__ void different(const int* in, int* out, int n) {
    __shared__ Seen seen;
    for (int k = threadIdx.x; k < 128; k += blockDim.x) seen.data[k] = 0;
    if (threadIdx.x == 0) seen.used = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (atomicExch(&seen.data[in[i]], 1) == 0)
            seen.used++;
    __syncthreads();
    if (threadIdx.x == 0) *out = seen.used;
}
PLANT(counted_by_who_marks) { different<<<1, 64>>>(filled(200), zeros(1), 200); }

struct Box {
    size_t taken;
    int most;
};
__global__ void boxed(const int* in, Box* box, int* list) {
    list[box->taken++] = in[threadIdx.x];
    box->most = max(box->most, in[threadIdx.x]);
}
PLANT(member_stepped) { boxed<<<2, 32>>>(filled(32), zeros<Box>(1), zeros(64)); }

__global__ void stacked(const int* in, int* out, int n) {
    __shared__ Seen stack;
    if (threadIdx.x == 0) stack.used = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] & 1) {
            const int where = stack.used;  // FIXED: const int where = atomicAdd(&stack.used, 1);
            stack.data[where] = in[i];
            stack.used = where + 1;  // FIXED: ;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < stack.used; i += blockDim.x) out[i] = stack.data[i];
}
PLANT(pushed_in_three_lines) { stacked<<<1, 64>>>(filled(100), zeros(128), 100); }  // SAYS-COUNT-1: cudacpu: hazard:

__global__ void asked_in_the_line(const int* in, int* out) {
    __shared__ int part[64];
    const int t = threadIdx.x;
    part[t] = in[t];
    for (int s = 32; s > 0; s >>= 1) {
        __syncthreads();
        part[t] += t < s ? part[t + s] : 0;  // FIXED: const int read = t < s ? part[t + s] : 0; __syncthreads(); part[t] += read;
    }
    if (t == 0) *out = part[0];
}
PLANT(tree_by_a_question) {
    int* out = zeros(1);
    asked_in_the_line<<<1, 64>>>(filled(64), out);
    wants(out, 1, [](int) {
        int sum = 0;
        for (int i = 0; i < 64; ++i) sum += in_at(i);
        return sum;
    });
}
