// As beginners write them, one mistake each, written before the advice was looked at. What is mended must also be right:
// wants() says what has to come out.
// RUN: slow fix
#include "planted.cuh"

#include <algorithm>

// no guard
__global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    c[i] = a[i] + b[i];  // FIXED: if (i < n) c[i] = a[i] + b[i];
}
PLANT(add_no_guard) {
    float* c = zeros<float>(1000);
    vec_add<<<4, 256>>>(filled<float>(1000), filled<float>(1000), c, 1000);
    wants(c, 1000, [](int i) { return 2 * in_at(i); });
}

// block index forgotten
__global__ void twice(const int* in, int* out, int n) {
    int i = threadIdx.x;  // FIXED: int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
PLANT(block_forgotten) {  // SAYS: `(threadIdx.x)` in lines 21 and 22 does not depend on blockIdx.x
    int* out = zeros(512);
    twice<<<4, 128>>>(filled(512), out, 512);
    wants(out, 512, [](int i) { return 2 * in_at(i); });
}

// x and y swapped in the index
__global__ void brighten(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * width + y] = in[x * width + y] + 10;  // FIXED: if (x < width && y < height) out[y * width + x] = in[y * width + x] + 10;
}
PLANT(row_and_column_swapped) {  // SAYS: the length of this array's rows
    int* out = zeros(48 * 32);
    brighten<<<dim3(3, 2), dim3(16, 16)>>>(filled(48 * 32), out, 48, 32);
    wants(out, 48 * 32, [](int i) { return in_at(i) + 10; });
}

// height as the row's length
__global__ void invert(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * height + x] = 255 - in[y * height + x];  // FIXED: if (x < width && y < height) out[y * width + x] = 255 - in[y * width + x];
}
PLANT(height_as_width) {  // SAYS: the length of this array's rows
    int* out = zeros(48 * 32);
    invert<<<dim3(3, 2), dim3(16, 16)>>>(filled(48 * 32), out, 48, 32);
    wants(out, 48 * 32, [](int i) { return 255 - in_at(i); });
}

// guard of swapped sizes
__global__ void darken(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < height && y < width) out[y * width + x] = in[y * width + x] / 2;  // FIXED: if (x < width && y < height) out[y * width + x] = in[y * width + x] / 2;
}
PLANT(guard_swapped) {  // SAYS: or the condition of line 58{{.*}}the length of this array's rows
    int* out = zeros(40 * 20);
    darken<<<dim3(3, 3), dim3(16, 16)>>>(filled(40 * 20), out, 40, 20);
    wants(out, 40 * 20, [](int i) { return in_at(i) / 2; });
}

// transposed, the stride of the source
__global__ void transpose(const int* in, int* out, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) out[c * cols + r] = in[r * cols + c];  // FIXED: if (r < rows && c < cols) out[c * rows + r] = in[r * cols + c];
}
PLANT(transposed_stride) {  // SAYS: check the index of `out[c * cols + r]`{{.*}}the length of this array's rows
    int* out = zeros(20 * 40);
    transpose<<<dim3(3, 2), dim3(16, 16)>>>(filled(20 * 40), out, 20, 40);
    wants(out, 20 * 40, [](int i) { return in_at(i % 20 * 40 + i / 20); });
}

// n - i
__global__ void backwards(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[n - i];  // FIXED: if (i < n) out[i] = in[n - 1 - i];
}
PLANT(one_off_backwards) {
    int* out = zeros(100);
    backwards<<<2, 64>>>(filled(100), out, 100);
    wants(out, 100, [](int i) { return in_at(99 - i); });
}

// the second half is n / 2 away
__global__ void fold_halves(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) out[i] = in[i] + in[i + n];  // FIXED: if (i < n / 2) out[i] = in[i] + in[i + n / 2];
}
PLANT(other_half) {  // SAYS: check the index of `in[i]` and `in[i + n]`
    int* out = zeros(64);
    fold_halves<<<1, 64>>>(filled(128), out, 128);
    wants(out, 64, [](int i) { return in_at(i) + in_at(i + 64); });
}

// pairs: every thread goes by two
__global__ void pairs(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[2 * i] + in[2 * i + 1];  // FIXED: if (i < n / 2) out[i] = in[2 * i] + in[2 * i + 1];
}
PLANT(pairs_of_n) {  // SAYS: check the index of `in[2 * i]` and `in[2 * i + 1]`
    int* out = zeros(64);
    pairs<<<2, 64>>>(filled(128), out, 128);
    wants(out, 64, [](int i) { return in_at(2 * i) + in_at(2 * i + 1); });
}

// RGB: three for each pixel, one off
__global__ void gray(const int* rgb, int* out, int pixels) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pixels) out[p] = (rgb[3 * p + 1] + rgb[3 * p + 2] + rgb[3 * p + 3]) / 3;  // FIXED: if (p < pixels) out[p] = (rgb[3 * p] + rgb[3 * p + 1] + rgb[3 * p + 2]) / 3;
}
PLANT(rgb_one_off) {  // SAYS: and `rgb[3 * p + 3]`, or the condition of line 114
    int* out = zeros(100);
    gray<<<1, 128>>>(filled(300), out, 100);
    wants(out, 100, [](int i) { return (in_at(3 * i) + in_at(3 * i + 1) + in_at(3 * i + 2)) / 3; });
}

// four elements each, without a guard for the last
__global__ void four_each(const int* in, int* out, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int k = 0; k < 4; k++) out[i + k] = in[i + k] + 1;  // FIXED: for (int k = 0; k < 4; k++) if (i + k < 250) out[i + k] = in[i + k] + 1;
}
PLANT(four_each_no_guard) {  // SAYS: check the index of `in[i + k]`
    int* out = zeros(250);
    four_each<<<1, 64>>>(filled(250), out, 250);
    wants(out, 250, [](int i) { return in_at(i) + 1; });
}

// the loop that takes one too many
__global__ void row_sums(const int* m, int* sums, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int sum = 0;
    for (int c = 0; c <= cols; c++) sum += m[r * cols + c];  // FIXED: for (int c = 0; c < cols; c++) sum += m[r * cols + c];
    sums[r] = sum;
}
PLANT(loop_one_too_many) {  // SAYS: lets it pass: `int c = 0; c <= cols; c++`
    int* sums = zeros(30);
    row_sums<<<1, 32>>>(filled(30 * 20), sums, 30, 20);
    wants(sums, 30, [](int r) { int s = 0; for (int c = 0; c < 20; ++c) s += in_at(r * 20 + c); return s; });
}

// columns, guarded by rows
__global__ void column_sums(const int* m, int* sums, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < rows) {  // FIXED: if (c < 20) {
        int sum = 0;
        for (int r = 0; r < rows; r++) sum += m[r * cols + c];
        sums[c] = sum;
    }
}
PLANT(columns_up_to_rows) {  // SAYS: check the index of `sums[c]`, or the condition of line 150
    int* sums = zeros(20);
    column_sums<<<1, 32>>>(filled(30 * 20), sums, 30, 20);
    wants(sums, 20, [](int c) { int s = 0; for (int r = 0; r < 30; ++r) s += in_at(r * 20 + c); return s; });
}

// both neighbours, no edges
__global__ void smooth(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;  // FIXED: if (i - 1 >= 0) if (i + 1 < 128) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
PLANT(no_edges) {  // SAYS: check the index of `in[i - 1]`
    int* out = zeros(128);
    smooth<<<2, 64>>>(filled(128), out, 128);
    wants(out, 128, [](int i) { return i && i < 127 ? (in_at(i - 1) + in_at(i) + in_at(i + 1)) / 3 : 0; });
}

// shared array for half of the threads
__global__ void through_shared(const int* in, int* out) {
    __shared__ int s[32];  // FIXED: __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[blockDim.x - 1 - t];
}
PLANT(shared_too_small) {  // SAYS: elements up to number 63
    int* out = zeros(64);
    through_shared<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int i) { return in_at(63 - i); });
}

// cudaMalloc in elements
__global__ void count_up(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
PLANT(malloc_in_elements) {  // SAYS: line @#elements gives 256 bytes, and the accesses need 1024: if 256 is a number of elements, multiply it by 4
    int* out;
    cudaMalloc(&out, 256);  // FIXED: cudaMalloc(&out, 256 * sizeof(int));  // #elements
    count_up<<<1, 256>>>(out, 256);
    wants(out, 64, [](int i) { return i; });
}

// tree, barrier left out in the loop
__global__ void block_sum(const int* in, int* out) {
    __shared__ int sdata[128];
    int tid = threadIdx.x;
    sdata[tid] = in[blockIdx.x * blockDim.x + tid];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) sdata[tid] += sdata[tid + s];
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}
static int sum_of(int from, int to) { int s = 0; for (int i = from; i < to; ++i) s += in_at(i); return s; }
PLANT(tree_no_barrier) {
    int* out = zeros(4);
    block_sum<<<4, 128>>>(filled(512), out);
    wants(out, 4, [](int b) { return sum_of(b * 128, b * 128 + 128); });
}

// tree that doubles its stride, past the end for 96 threads
__global__ void block_sum_doubling(const int* in, int* out) {
    __shared__ int sdata[96];
    int tid = threadIdx.x;
    sdata[tid] = in[tid];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];  // FIXED: if (tid % (2 * s) == 0) if (tid + s < 96) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) *out = sdata[0];
}
PLANT(tree_of_96) {  // SAYS: check the index of `sdata[tid]` and `sdata[tid + s]`
    int* out = zeros(1);
    block_sum_doubling<<<1, 96>>>(filled(96), out);
    wants(out, 1, [](int) { return sum_of(0, 96); });
}

// no atomic between blocks
__global__ void total(const int* in, int* sum) {
    __shared__ int cache[64];
    int t = threadIdx.x;
    cache[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = 32; s > 0; s >>= 1) {
        if (t < s) cache[t] += cache[t + s];
        __syncthreads();
    }
    if (t == 0) *sum += cache[0];
}
PLANT(total_no_atomic) {
    int* sum = zeros(1);
    total<<<8, 64>>>(filled(512), sum);
    wants(sum, 1, [](int) { return sum_of(0, 512); });
}

// histogram
__global__ void histogram(const int* in, int* hist, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) hist[in[i] % 16]++;
}
static int bin_of(int b, int n) { int s = 0; for (int i = 0; i < n; ++i) s += in_at(i) % 16 == b; return s; }
PLANT(histogram_plain) {
    int* hist = zeros(16);
    histogram<<<4, 64>>>(filled(250), hist, 250);
    wants(hist, 16, [](int b) { return bin_of(b, 250); });
}

// shared histogram: zeroed, no barrier
__global__ void histogram_zero(const int* in, int* hist, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&hist[threadIdx.x], bins[threadIdx.x]);
}
PLANT(bins_zeroed_too_late) {
    int* hist = zeros(16);
    histogram_zero<<<4, 64>>>(filled(250), hist, 250);
    wants(hist, 16, [](int b) { return bin_of(b, 250); });
}

// shared histogram: added up too early
__global__ void histogram_merge(const int* in, int* hist, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] % 16], 1);
    if (threadIdx.x < 16) atomicAdd(&hist[threadIdx.x], bins[threadIdx.x]);
}
PLANT(bins_merged_too_early) {
    int* hist = zeros(16);
    histogram_merge<<<2, 64>>>(filled(250), hist, 250);
    wants(hist, 16, [](int b) { return bin_of(b, 250); });
}

// scan with one barrier
__global__ void scan(const int* in, int* out) {
    __shared__ int temp[64];
    int t = threadIdx.x;
    temp[t] = in[t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        if (t >= d) temp[t] += temp[t - d];  // FIXED: const int read = t >= d ? temp[t - d] : 0; __syncthreads(); if (t >= d) temp[t] += read;
    }
    __syncthreads();
    out[t] = temp[t];
}
PLANT(scan_one_barrier) {
    int* out = zeros(64);
    scan<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int i) { return sum_of(0, i + 1); });
}

// maximum
__global__ void largest(const int* in, int* max, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > *max) *max = in[i];
}
PLANT(maximum_plain) {
    int* max = zeros(1);
    largest<<<2, 64>>>(filled(100), max, 100);
    wants(max, 1, [](int) { int m = 0; for (int i = 0; i < 100; ++i) m = in_at(i) > m ? in_at(i) : m; return m; });
}

// filter
__global__ void filter(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 50) {
        int pos = *count;  // FIXED: int pos = atomicAdd(count, 1);
        out[pos] = in[i];
        *count = pos + 1;  // FIXED: ;
    }
}
static int above(int n) { int s = 0; for (int i = 0; i < n; ++i) s += in_at(i) > 50; return s; }
PLANT(filter_plain) {
    int* count = zeros(1);
    filter<<<2, 64>>>(filled(100), zeros(100), count, 100);
    wants(count, 1, [](int) { return above(100); });
}

// product with tiles: second barrier
constexpr int TILE = 8;
__global__ void matmul(const int* A, const int* B, int* C, int N) {
    __shared__ int As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    int sum = 0;
    for (int t = 0; t < N / TILE; t++) {
        As[threadIdx.y][threadIdx.x] = A[row * N + t * TILE + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    }
    C[row * N + col] = sum;
}
static int product_at(int r, int c, int N) { int s = 0; for (int k = 0; k < N; ++k) s += in_at(r * N + k) * in_at(k * N + c); return s; }
PLANT(product_second_barrier) {
    int* C = zeros(24 * 24);
    matmul<<<dim3(3, 3), dim3(TILE, TILE)>>>(filled(24 * 24), filled(24 * 24), C, 24);
    wants(C, 24 * 24, [](int i) { return product_at(i / 24, i % 24, 24); });
}

// product with tiles: first barrier
__global__ void matmul_first(const int* A, const int* B, int* C, int N) {
    __shared__ int As[TILE][TILE];
    __shared__ int Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    int sum = 0;
    for (int t = 0; t < N / TILE; t++) {
        As[ty][tx] = A[row * N + t * TILE + tx];
        Bs[ty][tx] = B[(t * TILE + ty) * N + col];
        for (int k = 0; k < TILE; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
PLANT(product_first_barrier) {
    int* C = zeros(24 * 24);
    matmul_first<<<dim3(3, 3), dim3(TILE, TILE)>>>(filled(24 * 24), filled(24 * 24), C, 24);
    wants(C, 24 * 24, [](int i) { return product_at(i / 24, i % 24, 24); });
}

// product of matrices that are not square, wrong row length
__global__ void product(const int* A, const int* B, int* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        int sum = 0;
        for (int k = 0; k < K; k++) sum += A[row * N + k] * B[k * N + col];  // FIXED: for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
PLANT(product_row_length) {  // SAYS: check the index of `A[row * N + k]`
    int* C = zeros(16 * 24);
    product<<<dim3(3, 2), dim3(8, 8)>>>(filled(16 * 8), filled(8 * 24), C, 16, 8, 24);
    wants(C, 16 * 24, [](int i) { int s = 0; for (int k = 0; k < 8; ++k) s += in_at(i / 24 * 8 + k) * in_at(k * 24 + i % 24); return s; });
}

// shift to the left in place
__global__ void shift_left(int* a, int n) {
    int i = threadIdx.x;
    if (i < n - 1) a[i] = a[i + 1];  // FIXED: const int read = i < n - 1 ? a[i + 1] : 0; __syncthreads(); if (i < n - 1) a[i] = read;
}
PLANT(shift_in_place) {
    int* a = filled(64);
    shift_left<<<1, 64>>>(a, 64);
    wants(a, 63, [](int i) { return in_at(i + 1); });
}

// smoothed in place, by several blocks
__global__ void blur(int* a, int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;  // FIXED: if (i > 0 && i < n - 1) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}
PLANT(blur_in_place) {
    int* b = zeros(256);
    blur<<<4, 64>>>(filled(256), b, 256);
    wants(b, 256, [](int i) { return i && i < 255 ? (in_at(i - 1) + in_at(i) + in_at(i + 1)) / 3 : 0; });
}

// odd-even sort, no barrier
__global__ void sort(int* data, int n) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int phase = 0; phase < n; phase++) {
        int left = 2 * t + phase % 2;
        if (left + 1 < n && s[left] > s[left + 1]) {
            int tmp = s[left];
            s[left] = s[left + 1];
            s[left + 1] = tmp;
        }
    }
    __syncthreads();
    data[t] = s[t];
}
PLANT(sort_no_barrier) {
    int* a = filled(32);
    sort<<<1, 32>>>(a, 32);
    wants(a, 32, [](int i) { int v[32]; for (int k = 0; k < 32; ++k) v[k] = in_at(k);
        for (int k = 0; k < 32; ++k) for (int j = 0; j < 31; ++j) if (v[j] > v[j + 1]) { int x = v[j]; v[j] = v[j + 1]; v[j + 1] = x; }
        return v[i]; });
}

// thread 0 loads what all use
__global__ void polynomial(const int* coefficients, const int* x, int* y) {
    __shared__ int c[3];
    if (threadIdx.x == 0) {
        c[0] = coefficients[0];
        c[1] = coefficients[1];
        c[2] = coefficients[2];
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = c[0] + c[1] * x[i] + c[2] * x[i] * x[i];
}
PLANT(coefficients_no_barrier) {
    int* y = zeros(128);
    polynomial<<<2, 64>>>(filled(3), filled(128), y);
    wants(y, 128, [](int i) { return in_at(0) + in_at(1) * in_at(i) + in_at(2) * in_at(i) * in_at(i); });
}

// halo: the right one is not loaded
__global__ void stencil(const int* in, int* out, int n) {
    __shared__ int s[66];
    int g = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    s[t] = in[g];
    if (threadIdx.x == 0) s[0] = g > 0 ? in[g - 1] : 0;
    __syncthreads();
    out[g] = s[t - 1] + s[t] + s[t + 1];  // FIXED: if (t == 64) s[65] = g < n - 1 ? in[g + 1] : 0; out[g] = s[t - 1] + s[t] + s[t + 1];
}
PLANT(right_halo_forgotten) {
    int* out = zeros(128);
    stencil<<<2, 64>>>(filled(128), out, 128);
    wants(out, 128, [](int i) { return (i ? in_at(i - 1) : 0) + in_at(i) + (i < 127 ? in_at(i + 1) : 0); });
}

// halo, no barrier
__global__ void stencil_barrier(const int* in, int* out, int n) {
    __shared__ int s[64 + 2];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x + 1;
    s[t] = in[g];
    if (threadIdx.x == 0) s[0] = g > 0 ? in[g - 1] : 0;
    if (threadIdx.x == blockDim.x - 1) s[t + 1] = g < n - 1 ? in[g + 1] : 0;
    out[g] = s[t - 1] + s[t] + s[t + 1];
}
PLANT(halo_no_barrier) {
    int* out = zeros(128);
    stencil_barrier<<<2, 64>>>(filled(128), out, 128);
    wants(out, 128, [](int i) { return (i ? in_at(i - 1) : 0) + in_at(i) + (i < 127 ? in_at(i + 1) : 0); });
}

// grid stride by the block's size
__global__ void scale(int* a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) a[i] *= 3;  // FIXED: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] *= 3;
}
PLANT(stride_of_a_block) {
    int* a = filled(512);
    scale<<<4, 64>>>(a, 512);
    wants(a, 512, [](int i) { return 3 * in_at(i); });
}

// a flag that is never reset
__global__ void any_large(const int* in, int* out) {
    __shared__ int found;  // FIXED: __shared__ int found; if (threadIdx.x == 0) found = 0; __syncthreads();
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 100) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = found;
}
PLANT(flag_never_reset) {
    int* out = zeros(4);
    any_large<<<4, 32>>>(filled(128), out);
    wants(out, 4, [](int b) { int f = 0; for (int i = 0; i < 32; ++i) f |= in_at(b * 32 + i) > 100; return f; });
}

// last block adds up, no fence
__global__ void last_adds(const int* in, int* partial, int* done, int* sum) {
    __shared__ bool last;
    int mine = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 64; i++) mine += in[blockIdx.x * 64 + i];
        partial[blockIdx.x] = mine;
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int s = 0;
        for (int b = 0; b < gridDim.x; b++) s += partial[b];
        *sum = s;
    }
}
PLANT(last_block_no_fence) {
    int* sum = zeros(1);
    last_adds<<<8, 64>>>(filled(512), zeros(8), zeros(1), sum);
    wants(sum, 1, [](int) { return sum_of(0, 512); });
}

// warps in step
__global__ void warp_tree(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];  // FIXED: { const int read = s[t + 16]; __syncwarp(); s[t] += read; }
        s[t] += s[t + 8];  // FIXED: { const int read = s[t + 8]; __syncwarp(); s[t] += read; }
        s[t] += s[t + 4];  // FIXED: { const int read = s[t + 4]; __syncwarp(); s[t] += read; }
        s[t] += s[t + 2];  // FIXED: { const int read = s[t + 2]; __syncwarp(); s[t] += read; }
        s[t] += s[t + 1];  // FIXED: { const int read = s[t + 1]; __syncwarp(); s[t] += read; }
    }
    if (t == 0) *out = s[0];
}
PLANT(warp_in_step) {
    int* out = zeros(1);
    warp_tree<<<1, 64>>>(filled(64), out);
    wants(out, 1, [](int) { return sum_of(0, 64); });
}

// two kernels in two streams
__global__ void plus_one(int* a) { a[threadIdx.x] += 1; }
__global__ void times_two(int* a) { a[threadIdx.x] *= 2; }
PLANT(streams_without_event) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    int* a = filled(64);
    cudaDeviceSynchronize();
    plus_one<<<1, 64, 0, s>>>(a);
    times_two<<<1, 64, 0, t>>>(a);  // FIXED: cudaStreamSynchronize(s); times_two<<<1, 64, 0, t>>>(a);
    cudaDeviceSynchronize();
    wants(a, 64, [](int i) { return 2 * (in_at(i) + 1); });
}

// the host does not wait
PLANT(host_too_early) {
    int* a;
    cudaMallocManaged(&a, 64 * sizeof(int));
    for (int i = 0; i < 64; i++) a[i] = i;
    plus_one<<<1, 64>>>(a);
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += a[i];  // FIXED: cudaDeviceSynchronize(); for (int i = 0; i < 64; i++) sum += a[i];
    wants_value(0, sum, 64 * 65 / 2);
}

// tile indexed the other way round
__global__ void tiled(const int* in, int* out, int width) {
    __shared__ int tile[8][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    tile[threadIdx.x][threadIdx.y] = in[y * width + x];  // FIXED: tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    out[y * width + x] = tile[threadIdx.x][threadIdx.y] + 1;  // FIXED: out[y * width + x] = tile[threadIdx.y][threadIdx.x] + 1;
}
PLANT(tile_indices_swapped) {  // SAYS: check the index of `tile[threadIdx.x][threadIdx.y]`
    int* out = zeros(32 * 16);
    tiled<<<dim3(2, 2), dim3(16, 8)>>>(filled(32 * 16), out, 32);
    wants(out, 32 * 16, [](int i) { return in_at(i) + 1; });
}

// every thread adds to its block's word
__global__ void sums_of_blocks(const int* in, int* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[blockIdx.x] += in[i];
}
PLANT(sum_of_block_plain) {
    int* sums = zeros(4);
    sums_of_blocks<<<4, 64>>>(filled(256), sums, 256);
    wants(sums, 4, [](int b) { return sum_of(b * 64, b * 64 + 64); });
}

// particles: moved while others look
struct Particle { float x, v; };
__global__ void move(Particle* p, int n) {
    int i = threadIdx.x;
    float force = 0;
    for (int j = 0; j < n; j++) force += p[j].x - p[i].x;
    p[i].v += force;
    p[i].x += p[i].v;
}
PLANT(particles_in_place) {
    Particle* p;
    Particle host[32];
    for (int i = 0; i < 32; i++) host[i] = {float(in_at(i)), 0};
    cudaMalloc(&p, sizeof host);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    move<<<1, 32>>>(p, 32);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
        float x = in_at(i) + float(sum_of(0, 32) - 32 * in_at(i));
        wants_value(i, host[i].x, x);
    }
}

// copy of a part: the offset is added twice
__global__ void copy_part(const int* in, int* out, int offset, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + offset;
    if (i < n) out[i] = in[i + offset];  // FIXED: if (i < n) out[i] = in[i];
}
PLANT(offset_twice) {  // SAYS: check the index of `in[i + offset]`
    int* out = zeros(128);
    copy_part<<<2, 64>>>(filled(128), out, 16, 128);
    wants(out, 128, [](int i) { return i < 16 ? 0 : in_at(i); });
}

// one thread a row, index of another
__global__ void diagonal(const int* m, int* out, int n) {
    int i = threadIdx.x;
    out[i] = m[i * n + n];  // FIXED: out[i] = m[i * n + i];
}
PLANT(diagonal_wrong) {  // SAYS: check the index of `m[i * n + n]`
    int* out = zeros(16);
    diagonal<<<1, 16>>>(filled(256), out, 16);
    wants(out, 16, [](int i) { return in_at(i * 16 + i); });
}

// interleaved into an array of half the size
__global__ void interleave(const int* a, const int* b, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[2 * i] = a[i];
        out[2 * i + 1] = b[i];
    }
}
PLANT(interleave_too_small) {  // SAYS: make the array longer
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));  // FIXED: cudaMalloc(&out, 128 * sizeof(int));
    interleave<<<1, 64>>>(filled(64), filled(64), out, 64);
    wants(out, 64, [](int i) { return in_at(i / 2); });
}

// a sum in shared memory, added up by atomics, read too early
__global__ void mean(const int* in, int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    atomicAdd(&sum, in[threadIdx.x]);
    out[threadIdx.x] = in[threadIdx.x] - sum / int(blockDim.x);
}
PLANT(mean_no_barriers) {
    int* out = zeros(64);
    mean<<<1, 64>>>(filled(64), out);
    wants(out, 64, [](int i) { return in_at(i) - sum_of(0, 64) / 64; });
}

// up-sweep and down-sweep
__global__ void blelloch(const int* in, int* out) {
    __shared__ int t[64];
    int x = threadIdx.x;
    t[2 * x] = in[2 * x];
    t[2 * x + 1] = in[2 * x + 1];
    int offset = 1;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (x < d) t[offset * (2 * x + 2) - 1] += t[offset * (2 * x + 1) - 1];
        offset *= 2;
    }
    if (x == 0) t[63] = 0;
    for (int d = 1; d < 64; d *= 2) {
        offset /= 2;
        if (x < d) {
            int a = offset * (2 * x + 1) - 1, b = offset * (2 * x + 2) - 1;
            int old = t[a];
            t[a] = t[b];
            t[b] += old;
        }
    }
    __syncthreads();
    out[2 * x] = t[2 * x];
    out[2 * x + 1] = t[2 * x + 1];
}
PLANT(sweeps) {
    int* out = zeros(64);
    blelloch<<<1, 32>>>(filled(64), out);
    wants(out, 64, [](int i) { return sum_of(0, i); });
}

// bitonic sort
__global__ void bitonic(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    for (int k = 2; k <= 64; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[other]) == up) {
                    int tmp = s[t];
                    s[t] = s[other];
                    s[other] = tmp;
                }
            }
        }
    }
    data[t] = s[t];
}
PLANT(bitonic_no_barriers) {
    int* a = filled(64);
    bitonic<<<1, 64>>>(a);
    wants(a, 64, [](int i) { int v[64]; for (int k = 0; k < 64; ++k) v[k] = in_at(k);
        for (int k = 0; k < 64; ++k) for (int j = 0; j < 63; ++j) if (v[j] > v[j + 1]) { int x = v[j]; v[j] = v[j + 1]; v[j + 1] = x; }
        return v[i]; });
}

// a number for each
__device__ int next_free;
__global__ void take_numbers(int* owner) {
    int id = next_free++;
    owner[id] = 1;
}
PLANT(numbers) {
    int* owner = zeros(128);
    take_numbers<<<2, 64>>>(owner);
    wants(owner, 128, [](int) { return 1; });
}

// place of the smallest
__global__ void smallest(const int* in, int* best, int* place, unsigned long long* both, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] < *best) {  // FIXED: if (i < n) atomicMin(both, (unsigned long long)in[i] << 32 | i); if (false) {
        *best = in[i];
        *place = i;
    }
}
PLANT(smallest_and_place) {  // SAYS: what is set together belongs in one 64-bit word
    unsigned long long* both;
    cudaMalloc(&both, sizeof *both);
    cudaMemset(both, 0xff, sizeof *both);
    smallest<<<2, 64>>>(filled(100), filled(1), zeros(1), both, 100);
    wants(both, 1, [](int) {
        unsigned long long m = ~0ull;
        for (int i = 0; i < 100; ++i) m = std::min(m, (unsigned long long)in_at(i) << 32 | i);
        return m;
    });
}

// tile, transposed
__global__ void transpose_again(const int* in, int* out, int n) {
    __shared__ int tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
PLANT(transpose_no_barrier) {
    int* out = zeros(32 * 32);
    transpose_again<<<dim3(2, 2), dim3(16, 16)>>>(filled(32 * 32), out, 32);
    wants(out, 32 * 32, [](int i) { return in_at(i % 32 * 32 + i / 32); });
}

// bodies: tile by tile
__global__ void forces(const int* x, int* f, int n) {
    __shared__ int tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int force = 0;
    for (int base = 0; base < n; base += 32) {
        tile[threadIdx.x] = x[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 32; j++)
            force += tile[j] - x[i];
    }
    f[i] = force;
}
PLANT(tiles_of_bodies) {
    int* f = zeros(128);
    forces<<<4, 32>>>(filled(128), f, 128);
    wants(f, 128, [](int i) { return sum_of(0, 128) - 128 * in_at(i); });
}

// turned round by all instead of half
__global__ void turn_round(char* s, int n) {
    int i = threadIdx.x;
    if (i < n) {  // FIXED: {
        char tmp = s[i];  // FIXED: const char tmp = i < n ? s[i] : 0, other = i < n ? s[n - 1 - i] : 0; __syncthreads();
        s[i] = s[n - 1 - i];  // FIXED: if (i < n) s[i] = other;
        s[n - 1 - i] = tmp;  // FIXED: ;
    }
}
PLANT(turned_twice) {  // SAYS: read into a variable first
    char* s = filled<char>(50);
    turn_round<<<1, 64>>>(s, 50);
    wants(s, 50, [](int i) { return in_at(49 - i); });
}

// running sum as in a loop on the host
__global__ void running(const int* in, int* out, int n) {
    int i = threadIdx.x;
    if (i > 0 && i < n) out[i] = out[i - 1] + in[i];  // FIXED: const int read = i > 0 && i < n ? out[i - 1] : 0; __syncthreads(); if (i > 0 && i < n) out[i] = read + in[i];
}
PLANT(running_as_on_host) {  // SAYS: read into a variable first
    int* out = zeros(64);
    running<<<1, 64>>>(filled(64), out, 64);
}

// counted in a shared variable
__global__ void count_odd(const int* in, int* out) {
    __shared__ int c;
    if (threadIdx.x == 0) c = 0;
    __syncthreads();
    if (in[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 1) c++;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = c;
}
PLANT(count_plain) {
    int* out = zeros(2);
    count_odd<<<2, 64>>>(filled(128), out);
    wants(out, 2, [](int b) { int c = 0; for (int i = 0; i < 64; ++i) c += in_at(b * 64 + i) % 2; return c; });
}

// until nothing changes
__global__ void spread(int* data, int n) {
    __shared__ int s[64];
    __shared__ bool changed;
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    do {
        if (t == 0) changed = false;
        __syncthreads();
        int left = t > 0 ? s[t - 1] : s[t];
        __syncthreads();
        if (left > s[t]) {
            s[t] = left;
            changed = true;
        }
        __syncthreads();
    } while (changed);
    data[t] = s[t];
}
PLANT(until_unchanged) {
    int* a = filled(64);
    spread<<<1, 64>>>(a, 64);
    wants(a, 64, [](int i) { int m = 0; for (int k = 0; k <= i; ++k) m = in_at(k) > m ? in_at(k) : m; return m; });
}

// matrix times vector, a thread for each product
__global__ void mat_vec(const int* m, const int* x, int* y, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) y[row] += m[row * n + col] * x[col];
}
PLANT(mat_vec_plain) {
    int* y = zeros(20);
    mat_vec<<<dim3(3, 3), dim3(8, 8)>>>(filled(400), filled(20), y, 20);
    wants(y, 20, [](int r) { int s = 0; for (int c = 0; c < 20; ++c) s += in_at(r * 20 + c) * in_at(c); return s; });
}

// generations of cells
__global__ void life(int* cells, int steps) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = cells[t] % 2;
    for (int k = 0; k < steps; k++) {
        __syncthreads();
        int sum = s[(t + 63) % 64] + s[t] + s[(t + 1) % 64];
        s[t] = sum == 1 || sum == 2;
    }
    cells[t] = s[t];
}
PLANT(life_in_place) {
    int* a = filled(64);
    life<<<1, 64>>>(a, 3);
    wants(a, 64, [](int i) { int v[64], w[64]; for (int k = 0; k < 64; ++k) v[k] = in_at(k) % 2;
        for (int g = 0; g < 3; ++g) { for (int k = 0; k < 64; ++k) { int s = v[(k + 63) % 64] + v[k] + v[(k + 1) % 64]; w[k] = s == 1 || s == 2; }
            for (int k = 0; k < 64; ++k) v[k] = w[k]; }
        return v[i]; });
}

// rows one after the other through one buffer
__global__ void rows(const int* m, int* out, int height) {
    __shared__ int row[32];
    int t = threadIdx.x;
    for (int r = 0; r < height; r++) {
        row[t] = m[r * 32 + t];
        __syncthreads();
        out[r * 32 + t] = row[31 - t];
    }
}
PLANT(rows_one_buffer) {
    int* out = zeros(32 * 4);
    rows<<<1, 32>>>(filled(32 * 4), out, 4);
    wants(out, 32 * 4, [](int i) { return in_at(i / 32 * 32 + 31 - i % 32); });
}

// two buffers, swapped
__global__ void diffuse(int* data, int steps) {
    __shared__ int a[64], b[64];
    int *from = a, *to = b;
    int t = threadIdx.x;
    from[t] = data[t];
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        int l = t > 0 ? t - 1 : t, r = t < 63 ? t + 1 : t;
        to[t] = (from[l] + from[t] + from[r]) / 3;
        int* swap = from;
        from = to;
        to = swap;
    }
    data[t] = from[t];
}
PLANT(two_buffers) {
    int* a = filled(64);
    diffuse<<<1, 64>>>(a, 3);
    wants(a, 64, [](int i) { int v[64], w[64]; for (int k = 0; k < 64; ++k) v[k] = in_at(k);
        for (int g = 0; g < 3; ++g) { for (int k = 0; k < 64; ++k) w[k] = (v[k ? k - 1 : k] + v[k] + v[k < 63 ? k + 1 : k]) / 3;
            for (int k = 0; k < 64; ++k) v[k] = w[k]; }
        return v[i]; });
}

// the sum of a warp through shared memory
__global__ void warp_sums(const int* in, int* out) {
    __shared__ int s[4];
    int v = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    if (threadIdx.x == 0) *out = s[0] + s[1] + s[2] + s[3];
}
PLANT(sums_of_warps) {
    int* out = zeros(1);
    warp_sums<<<1, 128>>>(filled(128), out);
    wants(out, 1, [](int) { return sum_of(0, 128); });
}

// text: letters counted
__global__ void words(const char* s, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    char c = s[i];
    if (c >= 'A' && c <= 'Z') counts[c - 'A'] += 1;
}
PLANT(letters_plain) {
    int* counts = zeros(26);
    words<<<4, 64>>>(filled<char>(200), counts, 200);
    wants(counts, 26, [](int l) { int k = 0; for (int i = 0; i < 200; ++i) k += in_at(i) == 'A' + l; return k; });
}

// a sum of floats
__global__ void norm(const float* x, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *sum = *sum + x[i] * x[i];
}
PLANT(norm_plain) {
    float* sum = zeros<float>(1);
    norm<<<2, 64>>>(filled<float>(100), sum, 100);
    wants(sum, 1, [](int) { float s = 0; for (int i = 0; i < 100; ++i) s += float(in_at(i) * in_at(i)); return s; });
}

// stencil in two directions, barrier forgotten
__global__ void box(const int* in, int* out, int n) {
    __shared__ int s[10][10];
    int x = blockIdx.x * 8 + threadIdx.x - 1, y = blockIdx.y * 8 + threadIdx.y - 1;
    bool inside = x >= 0 && y >= 0 && x < n && y < n;
    s[threadIdx.y][threadIdx.x] = inside ? in[y * n + x] : 0;
    if (threadIdx.x > 0 && threadIdx.x < 9 && threadIdx.y > 0 && threadIdx.y < 9 && inside) {
        int sum = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) sum += s[threadIdx.y + dy][threadIdx.x + dx];
        out[y * n + x] = sum;
    }
}
PLANT(box_no_barrier) {
    int* out = zeros(16 * 16);
    box<<<dim3(2, 2), dim3(10, 10)>>>(filled(16 * 16), out, 16);
    wants(out, 16 * 16, [](int i) { int s = 0, x = i % 16, y = i / 16;
        for (int v = y - 1; v <= y + 1; ++v) for (int u = x - 1; u <= x + 1; ++u) if (u >= 0 && v >= 0 && u < 16 && v < 16) s += in_at(v * 16 + u);
        return s; });
}

// a queue of work, taken without an atomic
__global__ void workers(int* next, int* done, int n) {
    while (true) {
        int job = *next;  // FIXED: int job = atomicAdd(next, 1);
        *next = job + 1;  // FIXED: ;
        if (job >= n) break;
        done[job] = 1;
    }
}
PLANT(jobs_taken_twice) {  // SAYS: take the old value that atomicAdd
    int* done = zeros(40);
    workers<<<2, 8>>>(zeros(1), done, 40);
    wants(done, 40, [](int) { return 1; });
}
