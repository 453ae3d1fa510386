// indices.cu - programs that look like others whose advice would be wrong for them.
// RUN: slow fix
#include "planted.cuh"

// ---- an update by several threads: an atomic if they share an element, else the index

__global__ void column_totals(const int* m, int* total, int rows, int cols) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) total[c] += m[r * cols + c];
}
PLANT(columns_added) {
    int* total = zeros(20);
    column_totals<<<dim3(2, 2), dim3(16, 4)>>>(filled(160), total, 8, 20);
    wants(total, 20, [](int c) {
        int sum = 0;
        for (int r = 0; r < 8; ++r) sum += in_at(20 * r + c);
        return sum;
    });
}

__global__ void blocks_folded(const int* in, int* out) {
    const int t = threadIdx.x;
    out[t] += in[blockIdx.x * blockDim.x + t];
}
PLANT(blocks_added) {
    int* out = zeros(32);
    blocks_folded<<<3, 32>>>(filled(96), out);
    wants(out, 32, [](int i) { return in_at(i) + in_at(i + 32) + in_at(i + 64); });
}

__global__ void add_rows(int* y, const int* x, int width, int height) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < width && j < height)
        y[j * height + i] += x[j * width + i];  // FIXED: if (i < width && j < height) y[j * width + i] += x[j * width + i];
}
PLANT(rows_by_height) {
    int* y = filled(20 * 12);
    add_rows<<<dim3(2, 1), dim3(16, 16)>>>(y, filled(20 * 12), 20, 12);
    wants(y, 20 * 12, [](int i) { return 2 * in_at(i); });
}

__global__ void twice_each(float* a, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    while (i < n) {  // FIXED: for (; i < n; i += blockDim.x * (gridDim.x - 1)) {
        a[i] *= 2;
        i += blockDim.x;
    }
}
PLANT(while_by_block) {
    float* a = filled<float>(300);
    twice_each<<<3, 32>>>(a, 300);
    wants(a, 300, [](int i) { return 2 * in_at(i); });
}

__global__ void block_maxima(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] = max(s[t], s[t + d]);
    }
    if (t == 0) out[t] = s[t];  // FIXED: if (t == 0) out[blockIdx.x] = s[t];
}
PLANT(maximum_of_block) {
    int* out = zeros(4);
    block_maxima<<<4, 64>>>(filled(256), out);
    wants(out, 4, [](int b) {
        int best = 0;
        for (int i = 0; i < 64; ++i) best = max(best, in_at(64 * b + i));
        return best;
    });
}

// ---- one __shared__ variable: of each thread, or of all

__global__ void squares_of_some(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int x;  // FIXED: int x;
    if (i < n) {
        x = in[i];
        out[i] = x * x;
    }
}
PLANT(own_in_a_branch) {
    int* out = zeros(100);
    squares_of_some<<<2, 64>>>(filled(100), out, 100);
    wants(out, 100, [](int i) { return in_at(i) * in_at(i); });
}

__global__ void with_first(const int* in, int* out) {
    __shared__ int first;
    if (threadIdx.x == 0) first = in[blockIdx.x * blockDim.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = first;
}
PLANT(first_of_all) {
    int* out = zeros(128);
    with_first<<<2, 64>>>(filled(128), out);
    wants(out, 128, [](int i) { return in_at(i / 64 * 64); });
}

__global__ void each_in_turn(const int* in, int* out) {
    __shared__ int pivot;
    int sum = 0;
    for (int k = 0; k < 64; ++k) {
        if (threadIdx.x == k) pivot = in[k];
        __syncthreads();
        sum += pivot;
    }
    out[threadIdx.x] = sum;
}
PLANT(pivot_in_turn) {
    int* out = zeros(64);
    each_in_turn<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += in_at(k);
        return sum;
    });
}

__global__ void total_of_all(const int* in, int* out) {
    __shared__ int total;
    total = 0;
    atomicAdd(&total, in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = total;
}
PLANT(all_set_it_first) {
    int* out = zeros(64);
    total_of_all<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += in_at(k);
        return sum;
    });
}

__global__ void largest_of_all(const int* in, int* out) {
    __shared__ int best;
    best = 0;                                            // FIXED: best = 0; __syncthreads();
    if (in[threadIdx.x] > best) best = in[threadIdx.x];  // FIXED: atomicMax(&best, in[threadIdx.x]);
    if (threadIdx.x == 0) *out = best;  // FIXED: __syncthreads(); if (threadIdx.x == 0) *out = best;
}
PLANT(one_for_all) {
    int* out = zeros(1);
    largest_of_all<<<1, 64>>>(filled(64), out);
    wants(out, 1, [](int) {
        int best = 0;
        for (int k = 0; k < 64; ++k) best = max(best, in_at(k));
        return best;
    });
}

// ---- out of bounds

struct Sample {
    int key, value;
};
__global__ void keys_only(Sample* s) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[i].key = i;  // FIXED: if (i < 50) s[i].key = i;
}
PLANT(field_without_guard) { keys_only<<<1, 64>>>(zeros<Sample>(50)); }

__global__ void pair_sums(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];  // FIXED: s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    out[i] = s[threadIdx.x] + s[63 - threadIdx.x];  // FIXED: if (i < n) out[i] = s[threadIdx.x] + s[63 - threadIdx.x];
}
PLANT(guard_before_a_barrier) {
    int* out = zeros(100);
    pair_sums<<<2, 64>>>(filled(100), out, 100);
    wants(out, 100, [](int i) {
        const int other = i < 64 ? 63 - i : 191 - i;
        return in_at(i) + (other < 100 ? in_at(other) : 0);
    });
}

__global__ void differences(const int* in, int* out, int n) {
    for (int i = threadIdx.x; i <= n - 1; i += blockDim.x) out[i] = in[i + 1] - in[i];  // FIXED: for (int i = threadIdx.x; i < n - 1; i += blockDim.x) out[i] = in[i + 1] - in[i];
}
PLANT(last_has_no_next) {
    int* out = zeros(100);
    differences<<<1, 32>>>(filled(100), out, 100);
    wants(out, 99, [](int i) { return in_at(i + 1) - in_at(i); });
}

__global__ void window(const int* in, int* out, int n, int radius) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k <= radius; ++k) sum += in[i + k];  // FIXED: for (int k = 0; k <= radius && i + k < n; ++k) sum += in[i + k];
    out[i] = sum;
}
PLANT(window_at_the_end) {
    int* out = zeros(100);
    window<<<2, 64>>>(filled(100), out, 100, 2);
    wants(out, 100, [](int i) {
        int sum = 0;
        for (int k = i; k <= i + 2 && k < 100; ++k) sum += in_at(k);
        return sum;
    });
}

// ---- values that nobody sets

__global__ void bin_counts(const int* in, int* out, int n) {
    __shared__ int bins[16];  // FIXED: __shared__ int bins[16]; if (threadIdx.x < 16) bins[threadIdx.x] = 0; __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
PLANT(bins_not_zeroed) {
    int* out = zeros(16);
    bin_counts<<<1, 64>>>(filled(200), out, 200);
    wants(out, 16, [](int b) {
        int n = 0;
        for (int i = 0; i < 200; ++i) n += in_at(i) % 16 == b;
        return n;
    });
}

// ---- threads that do not come

__global__ void as_long_as_data(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    int left = in[t] % 4;
    s[t] = 0;
    while (left > 0) s[t] = left--, __syncthreads();  // FIXED: for (int k = 0; k < 3; ++k) { if (left > 0) s[t] = left--; __syncthreads(); }
    out[t] = s[t];
}
PLANT(rounds_by_data) {
    int* out = zeros(64);
    as_long_as_data<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int i) { return in_at(i) % 4 ? 1 : 0; });
}

// ---- written in each round of a loop

__global__ void handed_round(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 3; ++k) {
        s[(t + k) % 64] = t;
        __syncthreads();
        sum += s[t];
    }
    out[t] = sum;
}
PLANT(another_in_each_round) {
    int* out = zeros(64);
    handed_round<<<1, 64>>>(out);
    wants(out, 64, [](int t) { return t + (t + 63) % 64 + (t + 62) % 64; });
}

__global__ void halves_used(const int* in, int* out) {
    __shared__ int s[128];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int k = 0; k < 4; ++k) {
        s[lane] = in[64 * k + t];  // FIXED: s[32 * warp + lane] = in[64 * k + t];
        __syncthreads();
        out[64 * k + t] = s[31 - lane] + warp;  // FIXED: out[64 * k + t] = s[32 * warp + 31 - lane] + warp;
        __syncthreads();
    }
}
PLANT(lane_for_thread) {
    int* out = zeros(256);
    halves_used<<<1, 64>>>(filled(256), out);
    wants(out, 256, [](int i) { return in_at(i / 32 * 32 + 31 - i % 32) + i / 32 % 2; });
}

__global__ void weighted(const float* w, float* out, int taps) {
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k <= taps; ++k) sum += w[k * 32 + t];  // FIXED: for (int k = 0; k <= taps && t < 32; ++k) sum += w[k * 32 + t];
    if (t < 32) out[t] = sum;
}
PLANT(too_many_columns) {
    float* out = zeros<float>(32);
    weighted<<<1, 33>>>(filled<float>(96), out, 2);
    wants(out, 32, [](int t) { return in_at(t) + in_at(32 + t) + in_at(64 + t); });
}

__global__ void as_many_as_said(const int* count, int* out) {
    __shared__ int n;  // FIXED: int n;
    n = count[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(out, 1);
}
PLANT(same_number_for_all) {
    int* out = zeros(1);
    as_many_as_said<<<2, 64>>>(filled(2), out);
    wants(out, 1, [](int) { return in_at(0) + in_at(1); });
}

__global__ void image_edges(int* image, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= w && y < h) image[y * w + x] = x + y;  // FIXED: if (x < w && y < h) image[y * w + x] = x + y;
}
PLANT(one_column_too_many) {
    int* image = zeros(200);
    image_edges<<<dim3(2, 2), dim3(16, 8)>>>(image, 20, 10);
    wants(image, 200, [](int i) { return i % 20 + i / 20; });
}

// two blocks move one particle, in a function
struct Particle {
    float x, v;
};
__device__ void push(Particle* p, float t) { p->x += p->x * t; }
__global__ void pushed(Particle* all, int count, float t) {
    int stride = blockDim.x;
    for (int k = threadIdx.x + blockDim.x * blockIdx.x; k < count; k += stride) push(&all[k], t);  // FIXED: for (int k = threadIdx.x + blockDim.x * blockIdx.x; k < count; k += stride * gridDim.x) push(&all[k], t);
}
PLANT(stride_is_a_blocks) {  // SAYS: goes on by one block's threads, `k += stride`
    pushed<<<4, 32>>>(reinterpret_cast<Particle*>(zeros<float>(1000)), 500, 1);
}

// each block writes its result to the same place
__global__ void sum_of_each(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];  // FIXED: if (t == 0) out[blockIdx.x] = s[0];
}
PLANT(result_of_each_block) {  // SAYS: two blocks write one element
    int* out = zeros(4);
    sum_of_each<<<4, 64>>>(filled(256), out);
    wants(out, 4, [](int b) {
        int sum = 0;
        for (int i = 0; i < 64; ++i) sum += in_at(b * 64 + i);
        return sum;
    });
}

// the host passes one array twice
__global__ void cooled(const float* now, float* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) next[i] = (now[i - 1] + now[i + 1]) / 2;
}
PLANT(one_array_passed_twice) {  // SAYS: passes the same memory for `now` and `next`: pass another array for the one that is written{{.*}}swap the two
    float *now = filled<float>(200), *next = filled<float>(200);
    for (int k = 0; k < 1; ++k) {
        cooled<<<4, 64>>>(now, now, 200);  // FIXED: cooled<<<4, 64>>>(now, next, 200);
    }
    wants(next, 199, [](int i) { return i ? (in_at(i - 1) + in_at(i + 1)) / 2.0f : in_at(0); });
}

// a grid in three dimensions, and an index that leaves out the third
__global__ void number_the_bricks(int* brick) {
    if (threadIdx.x == 0) brick[blockIdx.y * gridDim.x + blockIdx.x] = 100 * blockIdx.z + blockIdx.y + 1;  // FIXED: if (threadIdx.x == 0) brick[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = 100 * blockIdx.z + blockIdx.y + 1;
}
PLANT(third_axis_left_out) {  // SAYS: does not depend on blockIdx.z
    int* brick = zeros(24);
    number_the_bricks<<<dim3(3, 4, 2), 32>>>(brick);
    wants(brick, 24, [](int i) { return 100 * (i / 12) + i / 3 % 4 + 1; });
}

#define EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x)
__global__ void louder(int* clip, int n) {
    EACH(frame, n) {  // FIXED: for (int frame = blockIdx.x * blockDim.x + threadIdx.x; frame < n; frame += blockDim.x * gridDim.x) {
        const int s = clip[frame];
        clip[frame] = 2 * s;
    }
}
PLANT(step_in_a_macro) {  // SAYS: check the step of the loop of line
    int* clip = filled(500);
    louder<<<3, 64>>>(clip, 500);
    wants(clip, 500, [](int i) { return 2 * in_at(i); });
}
