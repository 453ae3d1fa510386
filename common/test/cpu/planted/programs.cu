// Parts of larger programs, each with one mistake.
// RUN: slow fix
#include "planted.cuh"

__global__ void rows_by_memcpy(const int* in, int* out) {
    __shared__ int rows[4][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) memcpy(rows[warp], in + 32 * warp, 32 * sizeof(int));
    out[threadIdx.x] = rows[3 - warp][lane];
}
PLANT(rows_by_memcpy) { rows_by_memcpy<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void frontier(const int* level, int* next, int* size) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (level[threadIdx.x] % 2) {
        next[threadIdx.x] = level[threadIdx.x];
        count++;
    }
    __syncthreads();
    if (threadIdx.x == 0) *size = count;
}
PLANT(frontier) { frontier<<<1, 128>>>(filled(128), zeros(128), zeros(1)); }

__global__ void tile_of_pairs(const float2* in, float2* out) {
    __shared__ float2 tile[8][8];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 8 + x];
    float2 v = tile[x][y];
    v.x += v.y;
    out[y * 8 + x] = v;
}
PLANT(tile_of_pairs) { tile_of_pairs<<<1, dim3(8, 8)>>>((float2*)filled<float>(128), (float2*)zeros<float>(128)); }

__global__ void while_changed(int* x, int n) {
    __shared__ int changed;
    int rounds = 0;
    do {
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        if ((int)threadIdx.x < n && x[threadIdx.x] > rounds) {
            x[threadIdx.x] /= 2;
            atomicOr(&changed, 1);
        }
        __syncthreads();
        ++rounds;
    } while (changed && rounds < 4);
}
PLANT(while_changed) { while_changed<<<1, 96>>>(filled(96), 96); }

__global__ void bins_not_cleared(const int* in, int* out) {
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    atomicAdd(&bins[in[threadIdx.x] % 16], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, (int)bins[threadIdx.x]);
}
PLANT(bins_not_cleared) { bins_not_cleared<<<2, 64>>>(filled(128), zeros(16)); }

__global__ void chars_reversed(char* s, int n) {
    int i = threadIdx.x;
    if (i < n) s[i] = s[n - 1 - i];  // FIXED: const char other = i < n ? s[n - 1 - i] : 0; __syncthreads(); if (i < n) s[i] = other;
}
PLANT(chars_reversed) { chars_reversed<<<1, 64>>>(filled<char>(50), 50); }

__global__ void neighbours_added(long long* x) {
    __shared__ long long s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    s[t] += s[t ^ 1];  // FIXED: const long long other = s[t ^ 1]; __syncwarp(); s[t] += other;
    __syncthreads();
    x[t] = s[t];
}
PLANT(neighbours_added) { neighbours_added<<<1, 64>>>(filled<long long>(64)); }

__device__ void store(int* where, int what) {
    *where = what;
}
__global__ void stored_elsewhere(const int* in, int* out) {
    __shared__ int s[64];
    store(&s[threadIdx.x], in[threadIdx.x]);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(stored_elsewhere) { stored_elsewhere<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void phases(const int* in, int* out, int how) {
    __shared__ int s[96];
    switch (how) {
    case 0:
        s[threadIdx.x] = in[threadIdx.x];
        break;
    default:
        s[threadIdx.x] = -in[threadIdx.x];
        break;
    }
    out[threadIdx.x] = s[(threadIdx.x + 40) % 96];
}
PLANT(phases) { phases<<<1, 96>>>(filled(96), zeros(96), 1); }

__global__ void two_loops(const int* in, int n, int* out) {
    __shared__ int tile[32];
    int sum = 0;
    for (int base = 0; base < n; base += 32) {
        if (threadIdx.x < 32) tile[threadIdx.x] = in[base + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < 32; ++i)
            sum += tile[i];
    }
    out[threadIdx.x] = sum;
}
PLANT(two_loops) { two_loops<<<1, 64>>>(filled(128), 128, zeros(64)); }

__global__ void exchange_in_warp(const int* in, int* out) {
    __shared__ int box[32];
    box[threadIdx.x] = in[threadIdx.x];
    int other = box[threadIdx.x ^ 16];
    out[threadIdx.x] = other;
}
PLANT(exchange_in_warp) { exchange_in_warp<<<1, 32>>>(filled(32), zeros(32)); }

__global__ void steps_of_heat(const float* in, float* out, int steps) {
    __shared__ float a[64], b[64];
    int t = threadIdx.x;
    float *now = a, *next = b;
    now[t] = in[t];
    __syncthreads();
    for (int i = 0; i < steps; ++i) {
        float left = t ? now[t - 1] : 0, right = t < 63 ? now[t + 1] : 0;
        next[t] = (left + now[t] + right) / 3;
        float* tmp = now;
        now = next;
        next = tmp;
    }
    out[t] = now[t];
}
PLANT(steps_of_heat) { steps_of_heat<<<1, 64>>>(filled<float>(64), zeros<float>(64), 5); }

struct Totals {
    int sum, count;
};
__global__ void totals(const int* in, Totals* out) {
    __shared__ Totals t;
    if (threadIdx.x == 0) t.sum = t.count = 0;
    __syncthreads();
    t.sum += in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *out = t;
}
PLANT(totals) { totals<<<1, 64>>>(filled(64), (Totals*)zeros(2)); }

__global__ void parts_and_last(const int* in, int* parts, int* done, int* out) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = s;
        if (atomicAdd(done, 1) == (int)gridDim.x - 1) {
            __threadfence();
            int all = 0;
            for (int i = 0; i < (int)gridDim.x; ++i) all += parts[i];
            *out = all;
        }
    }
}
PLANT(parts_and_last) { parts_and_last<<<4, 64>>>(filled(256), zeros(4), zeros(1), zeros(1)); }

__global__ void ticket_lock(int* next, int* serving, int* x) {
    if (threadIdx.x % 32) return;
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {
    }
    __threadfence();
    x[0] = x[0] * 3 + 1;
    atomicAdd(serving, 1);
}
PLANT(ticket_lock) { ticket_lock<<<3, 64>>>(zeros(1), zeros(1), zeros(1)); }

__global__ void cleared_by_one(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x == 0) memset(bins, 0, sizeof bins);
    atomicAdd(bins + in[threadIdx.x] % 8, 1);
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
PLANT(cleared_by_one) { cleared_by_one<<<1, 64>>>(filled(64), zeros(8)); }

__global__ void most_so_far(const int* in, int n, int* most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > *most)  // FIXED: if (i < n && in[i] > atomicAdd(most, 0))
        atomicMax(most, in[i]);
}
PLANT(most_so_far) { most_so_far<<<3, 64>>>(filled(192), 192, zeros(1)); }

__global__ void scaled(float* x, int n) {
    __shared__ float norm;
    float part = x[threadIdx.x] * x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) part += __shfl_down_sync(0xffffffff, part, d);
    if (threadIdx.x == 0) norm = sqrtf(part);
    x[threadIdx.x] /= norm;
}
PLANT(scaled) { scaled<<<1, 32>>>(filled<float>(32), 32); }

__global__ void short_sums(const short* in, short* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i / 2] = in[i];  // FIXED: if (i < n) out[i] = in[i];
}
PLANT(short_sums) { short_sums<<<2, 64>>>(filled<short>(128), zeros<short>(128), 128); }

__global__ void queue(const int* in, int* out, int* tail, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) {
        int at = *tail;  // FIXED: int at = atomicAdd(tail, 1);
        *tail = at + 1;  // FIXED: 
        out[at] = in[i];
    }
}
PLANT(queue) { queue<<<2, 64>>>(filled(128), zeros(128), zeros(1), 128); }  // SAYS-COUNT-1: cudacpu: hazard:

__global__ void carry_between_warps(const int* in, int* out) {
    __shared__ int sums[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, x = in[t];
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) sums[warp] = x;
    for (int w = 0; w < warp; ++w) x += sums[w];
    out[t] = x;
}
PLANT(carry_between_warps) { carry_between_warps<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void one_past(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) memcpy(out + i, in + i, 2 * sizeof(int));  // FIXED: if (i < n) memcpy(out + i, in + i, sizeof(int));
}
PLANT(one_past) { one_past<<<1, 64>>>(filled(64), zeros(64), 64); }

__global__ void shared_counter(int* out) {
    __shared__ int j;  // FIXED: int j;
    int s = 0;
    for (j = 0; j < 4; ++j)
        s += j;
    out[threadIdx.x] = s;
}
PLANT(shared_counter) { shared_counter<<<1, 64>>>(filled(64)); }

__device__ int called() {
    static int calls;
    return ++calls;
}
__global__ void count_calls(int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = called();
}
PLANT(count_calls) { count_calls<<<2, 64>>>(filled(128)); }

__global__ void numbers_given(int* out) {
    static int last;
    out[blockIdx.x * blockDim.x + threadIdx.x] = last++ * 2;
}
PLANT(numbers_given) { numbers_given<<<2, 64>>>(filled(128)); }

__global__ void topological(const int* row, const int* to, int* left, int* tail, int* order, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = row[v]; e < row[v + 1]; ++e)
        if (--left[to[e]] == 0)
            order[atomicAdd(tail, 1)] = to[e];
}
PLANT(topological) {
    int row[101], to[200], *r = zeros(101), *t = zeros(200);
    for (int i = 0; i < 101; ++i) row[i] = 2 * i;
    for (int i = 0; i < 200; ++i) to[i] = (i * 7 + 1) % 100;
    cudaMemcpy(r, row, sizeof row, cudaMemcpyHostToDevice);
    cudaMemcpy(t, to, sizeof to, cudaMemcpyHostToDevice);
    topological<<<4, 32>>>(r, t, filled(100), zeros(1), zeros(200), 100);
}

__global__ void darts(unsigned* states, int* hits) {
    unsigned state = states[threadIdx.x];  // FIXED: unsigned state = states[blockIdx.x * blockDim.x + threadIdx.x];
    int inside = 0;
    for (int k = 0; k < 8; ++k) {
        state = state * 1664525u + 1013904223u;
        inside += state >> 31;
    }
    states[threadIdx.x] = state;  // FIXED: states[blockIdx.x * blockDim.x + threadIdx.x] = state;
    atomicAdd(hits, inside);
}
PLANT(darts) { darts<<<4, 32>>>(filled<unsigned>(128), zeros(1)); }

__global__ void of_one_key(int* out) {
    __shared__ int room[64];
    int t = threadIdx.x, lane = t % 32;
    unsigned mask = __match_any_sync(0xffffffff, lane % 3);
    room[t] = t * 3 + 1;  // FIXED: room[t] = t * 3 + 1; __syncwarp();
    __syncwarp(mask);
    out[t] = room[t ^ 1];
}
PLANT(of_one_key) { of_one_key<<<1, 64>>>(filled(64)); }
