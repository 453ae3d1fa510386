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
    while (i < n) {
        a[i] *= 2;
        i += blockDim.x;  // FIXED: i += blockDim.x * gridDim.x;
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
