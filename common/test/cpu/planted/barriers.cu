// Barriers that are missing within a block, in straight code and in loops.
// RUN: slow fix
#include "planted.cuh"

__global__ void reverse(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = a[63 - threadIdx.x];
}
PLANT(straight) { reverse<<<1, 64>>>(zeros(64)); }

__global__ void switched_off(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = threadIdx.x;
#ifdef WITH_BARRIER
    __syncthreads();
#endif
    out[threadIdx.x] = a[63 - threadIdx.x];
}
PLANT(barrier_switched_off) { switched_off<<<1, 64>>>(zeros(64)); }

__global__ void one_writes(const int* in, int* out) {
    __shared__ int factor;
    if (threadIdx.x == 0) factor = in[0];
    out[threadIdx.x] = factor * in[threadIdx.x];
}
PLANT(one_thread_sets) { one_writes<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void one_writes_in_braces(const int* in, int* out) {
    __shared__ int low, high;
    if (threadIdx.x == 0) {
        low = in[0];
        high = in[1];
    }
    const int i = threadIdx.x;
    out[i] = min(max(in[i], low), high);
}
PLANT(one_thread_sets_two) { one_writes_in_braces<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void tree(const int* in, int* out) {
    __shared__ int a[128];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
    }
    if (threadIdx.x == 0) *out = a[0];
}
PLANT(tree_of_128) { tree<<<1, 128>>>(filled(128), zeros(1)); }

__global__ void tree_64(const int* in, int* out) {
    __shared__ int a[64];
    const int tid = threadIdx.x;
    a[tid] = in[tid];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1)
        if (tid < d) a[tid] += a[tid + d];
    if (tid == 0) *out = a[0];
}
PLANT(tree_of_64) { tree_64<<<1, 64>>>(filled(64), zeros(1)); }

__global__ void tree_long_if(const float* in, float* out) {
    __shared__ float a[256];
    const int tid = threadIdx.x;
    a[tid] = in[tid];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (tid % (2 * d) == 0) {
            const float other = a[tid + d];
            a[tid] += other;
        }
    }
    if (tid == 0) *out = a[0];
}
PLANT(tree_with_modulo) { tree_long_if<<<1, 256>>>(filled<float>(256), zeros<float>(1)); }

__global__ void tree_while(const int* in, int* out) {
    __shared__ int a[128];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i)
            a[threadIdx.x] += a[threadIdx.x + i];
        i /= 2;
    }
    if (threadIdx.x == 0) *out = a[0];
}
PLANT(tree_in_a_while) { tree_while<<<1, 128>>>(filled(128), zeros(1)); }

__global__ void tree_first(const int* in, int* out) {
    __shared__ int a[128];
    a[threadIdx.x] = in[threadIdx.x];
    for (unsigned d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = a[0];
}
PLANT(before_the_tree) { tree_first<<<1, 128>>>(filled(128), zeros(1)); }

__global__ void tree_last(const int* in, int* out) {
    __shared__ int a[128];
    a[threadIdx.x] = in[threadIdx.x];
    for (unsigned d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
    }
    out[threadIdx.x] = a[0];
}
PLANT(behind_the_tree) { tree_last<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void tiles(const int* in, int* out) {
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[threadIdx.x] = in[64 * i + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; ++k) sum += tile[k];
    }
    out[threadIdx.x] = sum;
}
PLANT(tile_used_again) { tiles<<<1, 64>>>(filled(256), zeros(64)); }

__global__ void tiles_unready(const int* in, int* out) {
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[threadIdx.x] = in[64 * i + threadIdx.x];
        for (int k = 0; k < 64; ++k) sum += tile[k];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
PLANT(tile_not_ready) { tiles_unready<<<1, 64>>>(filled(256), zeros(64)); }

__global__ void tiles_bare(const int* in, int* out) {
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[threadIdx.x] = in[64 * i + threadIdx.x];
        for (int k = 0; k < 64; ++k)
            sum += tile[k];
    }
    out[threadIdx.x] = sum;
}
PLANT(tile_without_any) { tiles_bare<<<1, 64>>>(filled(256), zeros(64)); }

constexpr int n = 32;
__global__ void product(const float* a, const float* b, float* c) {
    __shared__ float left[16][16], right[16][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    }
    c[y * n + x] = sum;
}
PLANT(product_second) {
    product<<<dim3(2, 2), dim3(16, 16)>>>(filled<float>(n * n), filled<float>(n * n), zeros<float>(n * n));
}

__global__ void product_first(const float* a, const float* b, float* c) {
    __shared__ float left[16][16], right[16][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        for (int i = 0; i < 16; ++i) {
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        }
        __syncthreads();
    }
    c[y * n + x] = sum;
}
PLANT(product_first) {
    product_first<<<dim3(2, 2), dim3(16, 16)>>>(filled<float>(n * n), filled<float>(n * n), zeros<float>(n * n));
}

__global__ void stencil(const int* in, int* out, int count) {
    __shared__ int tile[130];
    const int i = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x + 1;
    tile[t] = in[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0;
    if (threadIdx.x == 127) tile[129] = i + 1 < count ? in[i + 1] : 0;
    out[i] = tile[t - 1] + tile[t] + tile[t + 1];
}
PLANT(halo) { stencil<<<2, 128>>>(filled(256), zeros(256), 256); }

__global__ void halo_loop(const int* in, int* out, int count) {
    __shared__ int tile[68];
    for (int j = threadIdx.x; j < 68; j += blockDim.x) {
        const int i = blockIdx.x * 64 + j - 2;
        tile[j] = i >= 0 && i < count ? in[i] : 0;
    }
    int sum = 0;
    for (int d = 0; d < 5; ++d) sum += tile[threadIdx.x + d];
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PLANT(halo_by_a_loop) { halo_loop<<<2, 64>>>(filled(128), zeros(128), 128); }

__global__ void heat(float* out, int steps) {
    __shared__ float t[128];
    const int i = threadIdx.x;
    t[i] = i;
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        float next = t[i];
        if (i > 0 && i < 127) next = (t[i - 1] + t[i] + t[i + 1]) / 3;
        t[i] = next;
        __syncthreads();
    }
    out[i] = t[i];
}
PLANT(steps_read) { heat<<<1, 128>>>(zeros<float>(128), 3); }

__global__ void heat_write(float* out, int steps) {
    __shared__ float t[128];
    const int i = threadIdx.x;
    t[i] = i;
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        float next = t[i];
        if (i > 0 && i < 127) next = (t[i - 1] + t[i] + t[i + 1]) / 3;
        __syncthreads();
        t[i] = next;
    }
    out[i] = t[i];
}
PLANT(steps_written) { heat_write<<<1, 128>>>(zeros<float>(128), 3); }

__global__ void scan(int* out) {
    __shared__ int a[128];
    const int i = threadIdx.x;
    a[i] = 1;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int add = 0;
        if (i >= d) add = a[i - d];
        a[i] += add;
        __syncthreads();
    }
    out[i] = a[i];
}
PLANT(scan_in_place) { scan<<<1, 128>>>(zeros(128)); }

__global__ void buffers(int* out) {
    __shared__ int a[2][64];
    int from = 0;
    a[0][threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        const int left = int(threadIdx.x) >= d ? a[from][threadIdx.x - d] : 0;
        a[1 - from][threadIdx.x] = a[from][threadIdx.x] + left;
        from = 1 - from;
    }
    out[threadIdx.x] = a[from][threadIdx.x];
}
PLANT(two_buffers) { buffers<<<1, 64>>>(zeros(64)); }

__global__ void done_flag(int* out) {
    __shared__ bool done;
    __shared__ int rounds;
    if (threadIdx.x == 0) {
        done = false;
        rounds = 0;
    }
    __syncthreads();
    while (!done) {  // FIXED: while (true) { const bool stop = done; __syncthreads(); if (stop) break;
        if (threadIdx.x == 0) {
            ++rounds;
            done = rounds == 3;
        }
        __syncthreads();
    }
    out[threadIdx.x] = rounds;
}
PLANT(done_too_early) { done_flag<<<1, 128>>>(zeros(128)); }

__global__ void changed_flag(int* out) {
    __shared__ int a[64];
    __shared__ int changed;
    const int i = threadIdx.x;
    a[i] = 63 - i;
    __syncthreads();
    for (int round = 0; round < 64; ++round) {
        __syncthreads();
        if (i == 0) changed = 0;
        if (i % 2 == 0 && a[i] > a[i + 1]) {
            const int t = a[i];
            a[i] = a[i + 1];
            a[i + 1] = t;
        }
        __syncthreads();
        if (i % 2 == 1 && i < 63 && a[i] > a[i + 1]) {
            const int t = a[i];
            a[i] = a[i + 1];
            a[i + 1] = t;
            atomicExch(&changed, 1);
        }
        if (!changed) break;
    }
    out[i] = a[i];
}
PLANT(changed_not_seen) { changed_flag<<<1, 64>>>(zeros(64)); }

__global__ void histogram(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
PLANT(bins_not_zero) { histogram<<<1, 128>>>(filled(128), zeros(8)); }

__global__ void histogram_out(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);
    if (threadIdx.x < 8) {
        out[threadIdx.x] = bins[threadIdx.x];
    }
}
PLANT(bins_not_full) { histogram_out<<<1, 128>>>(filled(128), zeros(8)); }

__global__ void count_up(const int* in, int* out) {
    __shared__ int sum;
    for (int b = 0; b < 4; ++b) {
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
        atomicAdd(&sum, in[64 * b + threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 63) out[b] = sum;
    }
}
PLANT(sum_set_again) { count_up<<<1, 64>>>(filled(256), zeros(4)); }

__device__ int block_sum(int x) {
    __shared__ int parts[2];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    return parts[0] + parts[1];
}
__global__ void two_sums(const int* in, int* out) {
    const int one = block_sum(in[threadIdx.x]);
    const int two = block_sum(in[threadIdx.x + 64]);
    out[threadIdx.x] = one - two;
}
PLANT(called_twice) { two_sums<<<1, 64>>>(filled(128), zeros(64)); }

__device__ void load(int* to, const int* from, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}
__global__ void by_a_function(const int* in, int* out) {
    extern __shared__ int cache[];
    load(cache, in, 128);
    out[threadIdx.x] = cache[127 - threadIdx.x];
}
PLANT(loaded_by_a_function) { by_a_function<<<1, 64, 512>>>(filled(128), zeros(64)); }

__global__ void transpose(const int* in, int* out) {
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
PLANT(transposed) { transpose<<<1, dim3(16, 16)>>>(filled(256), zeros(256)); }

__global__ void in_global(int* a, int* out) {
    const int i = threadIdx.x;
    a[i] = i * i;
    out[i] = a[blockDim.x - 1 - i];
}
PLANT(global_array) { in_global<<<1, 128>>>(zeros(128), zeros(128)); }

__global__ void bubbles(int* a) {
    const int i = threadIdx.x;
    for (int round = 0; round < 64; ++round) {
        const int k = 2 * i + round % 2;
        if (k + 1 < 64 && a[k] > a[k + 1]) {
            const int t = a[k];
            a[k] = a[k + 1];
            a[k + 1] = t;
        }
    }
}
PLANT(odd_even_sort) { bubbles<<<1, 32>>>(filled(64)); }

__global__ void bitonic(int* values) {
    extern __shared__ int s[];
    const unsigned i = threadIdx.x;
    s[i] = values[i];
    for (unsigned k = 2; k <= blockDim.x; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            const unsigned other = i ^ j;
            if (other > i) {
                if ((i & k) == 0 ? s[i] > s[other] : s[i] < s[other]) {
                    const int t = s[i];
                    s[i] = s[other];
                    s[other] = t;
                }
            }
        }
    }
    values[i] = s[blockDim.x - 1 - i];
}
PLANT(bitonic_last) { bitonic<<<1, 64, 256>>>(filled(64)); }

__global__ void broadcast(const int* in, int* out) {
    __shared__ int best;
    for (int b = 0; b < 4; ++b) {
        if (threadIdx.x == b) best = in[b];
        __syncthreads();
        out[b * 64 + threadIdx.x] = best;
    }
}
PLANT(broadcast_again) { broadcast<<<1, 64>>>(filled(4), zeros(256)); }

__global__ void one_line(const int* in, int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = in[threadIdx.x]; out[threadIdx.x] = a[threadIdx.x ^ 32];  // FIXED: a[threadIdx.x] = in[threadIdx.x]; __syncthreads(); out[threadIdx.x] = a[threadIdx.x ^ 32];
}
PLANT(two_in_one_line) { one_line<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void guarded(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {  // FIXED: {
        s[threadIdx.x] = in[i];  // FIXED: if (i < n) s[threadIdx.x] = in[i]; __syncthreads();
        out[i] = s[threadIdx.x ^ 33];  // FIXED: if (i < n) out[i] = s[threadIdx.x ^ 33];
    }
}
PLANT(within_a_guard) { guarded<<<2, 64>>>(filled(128), zeros(128), 128); }

__global__ void guarded_loop(const int* in, int* out, int n) {
    extern __shared__ int s[];
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
    {
        s[threadIdx.x] = in[i];
        __syncthreads();
        sum += s[blockDim.x - 1 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
PLANT(within_a_strided_loop) { guarded_loop<<<1, 64, 256>>>(filled(256), zeros(64), 256); }

__global__ void again_until(const int* in, int* out) {
    __shared__ int left;
    int i = 0;
    if (threadIdx.x == 0) left = 3;
    __syncthreads();
    do {
        i += in[threadIdx.x];
        if (threadIdx.x == 0) left = left - 1;  // FIXED: if (threadIdx.x == 0) left = left - 1; __syncthreads();
    } while (left > 0);  // FIXED: if (left <= 0) break; __syncthreads(); } while (true);
    out[threadIdx.x] = i;
}
PLANT(do_while) { again_until<<<1, 64>>>(filled(64), zeros(64)); }

template <int size> __device__ inline void add_up(int (&s)[size]) {
    for (int d = size / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    }
}
template <int size> __global__ void by_template(const int* in, int* out)
{
    __shared__ int s[size];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    add_up<size>(s);
    if (threadIdx.x == 0) *out = s[0];
}
PLANT(template_function) { by_template<128><<<1, 128>>>(filled(128), zeros(1)); }

struct Cell {
    float value;
    int count;
};
__global__ void of_structs(Cell* out) {
    __shared__ Cell cells[64];
    cells[threadIdx.x].value = threadIdx.x;
    cells[threadIdx.x].count = 1;
    const Cell left = cells[(threadIdx.x + 63) % 64];
    out[threadIdx.x] = left;
}
PLANT(structs) { of_structs<<<1, 64>>>(zeros<Cell>(64)); }

#define LANES 64
__global__ void prefix(int* out) {
    __shared__ int a[LANES];
    a[threadIdx.x] = 1;
    __syncthreads();
    for (int d = 1; d < LANES; d <<= 1) {
        int t;
        if (threadIdx.x >= d)
            t = a[threadIdx.x - d];
        __syncthreads();
        if (threadIdx.x >= d)
            a[threadIdx.x] += t;
    }
    out[threadIdx.x] = a[threadIdx.x];
}
PLANT(scan_end_of_round) { prefix<<<1, LANES>>>(zeros(LANES)); }

__global__ void with_groups(const int* in, int* out) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    __shared__ int a[64];
    for (int k = 0; k < 3; ++k) {
        a[block.thread_rank()] = in[block.thread_rank()] + k;
        block.sync();
        out[block.thread_rank()] += a[63 - block.thread_rank()];
    }
}
PLANT(block_group) { with_groups<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void leaves_early(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    for (int r = 0; r < 4; ++r) {
#ifndef CURED
        if (t >= n + r) break;
#endif
        if (t < n + r) s[t] = in[t] + r;
        __syncthreads();
        if (t < n + r) out[t] += s[r];
        __syncthreads();
    }
    __syncthreads();
    out[t] -= 1;
}
PLANT(leaves_a_loop_with_a_barrier) { leaves_early<<<1, 64>>>(filled(64), zeros(64), 40); }  // SAYS: take as many rounds of the loop

__global__ void leaves_unordered(int* out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    int x = t;
    for (int r = 0; r < 4; ++r) {
#ifndef CURED
        if (t >= n) break;
#endif
        s[t] = r + x;  // FIXED: if (t < n) s[t] = r + x; __syncthreads();
        x += s[(t + 1) % n];  // FIXED: if (t < n) x += s[(t + 1) % n]; __syncthreads();
    }
    __syncthreads();
    out[t] = x;
}
PLANT(leaves_a_loop) { leaves_unordered<<<1, 64>>>(zeros(64), 40); }  // SAYS: not all threads come to lines
