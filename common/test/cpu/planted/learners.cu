// Mistakes of people who write their first kernels: tiles, indices, copies, launches.
// RUN: slow fix
#include "planted.cuh"

__global__ void matmul_load(const float* A, const float* B, float* C, int n) {
    __shared__ float tileA[8][8];
    __shared__ float tileB[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * 8 + tx;
    int row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int m = 0; m < n / 8; m++) {
        tileA[ty][tx] = A[row * n + m * 8 + tx];
        tileB[ty][tx] = B[(m * 8 + ty) * n + col];
        for (int k = 0; k < 8; k++) sum += tileA[ty][k] * tileB[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
PLANT(tile_load) {
    const int n = 24;
    float* c = zeros<float>(n * n);
    matmul_load<<<dim3(3, 3), dim3(8, 8)>>>(filled<float>(n * n), filled<float>(n * n), c, n);
    wants(c, n * n, [](int i) {
        int s = 0;
        for (int k = 0; k < 24; ++k) s += in_at(i / 24 * 24 + k) * in_at(k * 24 + i % 24);
        return s;
    });
}

__global__ void matmul_reuse(float* out, const float* left, const float* right, int width) {
    __shared__ float l[16][16], r[16][16];
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float acc = 0.0f;
    int phases = width / 16;
    for (int p = 0; p < phases; ++p) {
        l[threadIdx.y][threadIdx.x] = left[y * width + (p * 16 + threadIdx.x)];
        r[threadIdx.y][threadIdx.x] = right[(p * 16 + threadIdx.y) * width + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            acc += l[threadIdx.y][k] * r[k][threadIdx.x];
        }
    }
    out[y * width + x] = acc;
}
PLANT(tile_reuse) {
    float* out = zeros<float>(32 * 32);
    dim3 threads(16, 16), grid(2, 2);
    matmul_reuse<<<grid, threads>>>(out, filled<float>(32 * 32), filled<float>(32 * 32), 32);
    wants(out, 32 * 32, [](int i) {
        int s = 0;
        for (int k = 0; k < 32; ++k) s += in_at(i / 32 * 32 + k) * in_at(k * 32 + i % 32);
        return s;
    });
}

__global__ void normalize(float* v) {
    __shared__ float sh[128];
    unsigned t = threadIdx.x;
    float mine = v[t];
    sh[t] = mine;
    for (unsigned half = 64; half >= 1; half = half / 2) {
        __syncthreads();
        if (t < half) {
            sh[t] = fmaxf(sh[t], sh[t + half]);
        }
    }
    v[t] = mine / sh[0];
}
PLANT(normalize) {
    float* v = filled<float>(128);
    normalize<<<1, 128>>>(v);
    wants(v, 128, [](int i) { return in_at(i) / 101.0f; });
}

__device__ int block_sum(int x) {
    __shared__ int scratch[256];
    scratch[threadIdx.x] = x;
    __syncthreads();
    for (int off = blockDim.x / 2; off; off /= 2) {
        if (threadIdx.x < off) scratch[threadIdx.x] += scratch[threadIdx.x + off];
        __syncthreads();
    }
    return scratch[0];
}
__global__ void mean_and_squares(const int* in, int* out) {
    int x = in[threadIdx.x];
    int sum = block_sum(x);
    int squares = block_sum(x * x);
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = squares;
    }
}
PLANT(helper_twice) {
    int* out = zeros(2);
    mean_and_squares<<<1, 256>>>(filled(256), out);
    wants(out, 2, [](int i) {
        int s = 0;
        for (int k = 0; k < 256; ++k) s += i ? in_at(k) * in_at(k) : in_at(k);
        return s;
    });
}

__global__ void shift_left(const int* in, int* out, int n) {
    __shared__ int s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { s[threadIdx.x] = in[i]; __syncthreads();  // FIXED: if (i < n) s[threadIdx.x] = in[i]; __syncthreads(); if (i < n) {
        int next = threadIdx.x + 1;
        if (next < blockDim.x && i + 1 < n)
            out[i] = s[next];
        else
            out[i] = 0;
    }
}
PLANT(barrier_in_branch) {
    int* out = zeros(200);
    shift_left<<<2, 128>>>(filled(200), out, 200);
    wants(out, 200, [](int i) { return i == 127 || i == 199 ? 0 : in_at(i + 1); });
}

__global__ void scale(float* data, float factor, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i <= n) {  // FIXED: if (i < n) {
        data[i] = data[i] * factor;
    }
}
PLANT(off_by_one) {
    float* data = filled<float>(1000);
    scale<<<4, 256>>>(data, 2.0f, 1000);
    wants(data, 1000, [](int i) { return 2.0f * in_at(i); });
}

__global__ void vecAdd(double* a, double* b, double* c, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    c[id] = a[id] + b[id];  // FIXED: if (id < count) c[id] = a[id] + b[id];
}
PLANT(no_bounds_check) {
    const int count = 500;
    double *d_a, *d_b, *d_c;
    double h_a[count], h_b[count], h_c[count];
    for (int i = 0; i < count; i++) {
        h_a[i] = i;
        h_b[i] = 2 * i;
    }
    cudaMalloc((void**)&d_a, count * sizeof(double));
    cudaMalloc((void**)&d_b, count * sizeof(double));
    cudaMalloc((void**)&d_c, count * sizeof(double));
    cudaMemcpy(d_a, h_a, count * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, count * sizeof(double), cudaMemcpyHostToDevice);
    int blockSize = 128;
    int gridSize = (int)ceil((float)count / blockSize);
    vecAdd<<<gridSize, blockSize>>>(d_a, d_b, d_c, count);
    cudaMemcpy(h_c, d_c, count * sizeof(double), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wants_value(i, h_c[i], 3.0 * i);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += blockDim.x) {  // FIXED: for (; i < n; i += blockDim.x * gridDim.x) {
        y[i] = a * x[i] + y[i];
    }
}
PLANT(grid_stride) {
    float* y = filled<float>(3000);
    saxpy<<<4, 64>>>(3000, 2.0f, filled<float>(3000), y);
    wants(y, 3000, [](int i) { return 3.0f * in_at(i); });
}

__global__ void to_gray(const uchar3* rgb, unsigned char* gray, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int index = x * width + y;
        uchar3 p = rgb[index];  // FIXED: index = x * height + y; uchar3 p = rgb[index];
        gray[index] = (p.x + p.y + p.z) / 3;
    }
}
PLANT(swapped_xy) {
    const int width = 50, height = 30;
    uchar3* rgb;
    unsigned char* gray = zeros<unsigned char>(width * height);
    cudaMallocManaged(&rgb, width * height * sizeof(uchar3));
    for (int i = 0; i < width * height; ++i) rgb[i] = make_uchar3(i % 250, i % 250, i % 250);
    to_gray<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(rgb, gray, width, height);
    wants(gray, width * height, [](int i) { return i % 250; });
}

#define HALO_RADIUS 3
#define HALO_BLOCK 64
__global__ void stencil(const int* in, int* out) {
    __shared__ int temp[HALO_BLOCK + 2 * HALO_RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x + HALO_RADIUS;
    int s = threadIdx.x + HALO_RADIUS;
    temp[s] = in[g];
    if (threadIdx.x < HALO_RADIUS) {
        temp[s - HALO_RADIUS] = in[g - HALO_RADIUS];
        temp[threadIdx.x + HALO_BLOCK] = in[g + HALO_BLOCK];  // FIXED: temp[s + HALO_BLOCK] = in[g + HALO_BLOCK];
    }
    __syncthreads();
    int result = 0;
    for (int offset = -HALO_RADIUS; offset <= HALO_RADIUS; offset++) result += temp[s + offset];
    out[g - HALO_RADIUS] = result;
}
PLANT(stencil_halo) {  // SAYS: : others)
    int* out = zeros(128);
    stencil<<<2, HALO_BLOCK>>>(filled(128 + 2 * HALO_RADIUS), out);
    wants(out, 128, [](int i) {
        int s = 0;
        for (int k = 0; k <= 2 * HALO_RADIUS; ++k) s += in_at(i + k);
        return s;
    });
}

__global__ void invert(float* image, size_t pitch, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
#ifdef CURED
    pitch /= sizeof(float);
#endif
    float* row = image + y * pitch;
    row[x] = 255.0f - row[x];
}
PLANT(pitched_rows) {  // SAYS: row y begins at
    float host[20][40], *image;
    for (int i = 0; i < 800; ++i) host[i / 40][i % 40] = i % 256;
    size_t pitch;
    cudaMallocPitch(&image, &pitch, 40 * sizeof(float), 20);
    cudaMemcpy2D(image, pitch, host, 40 * sizeof(float), 40 * sizeof(float), 20, cudaMemcpyHostToDevice);
    invert<<<dim3(3, 2), dim3(16, 16)>>>(image, pitch, 40, 20);
    cudaMemcpy2D(host, 40 * sizeof(float), image, pitch, 40 * sizeof(float), 20, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 800; ++i) wants_value(i, host[i / 40][i % 40], 255.0f - i % 256);
}

__global__ void partial_sums(const int* in, int* sums, int n) {
    __shared__ int buffer[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) buffer[threadIdx.x] = in[i];  // FIXED: buffer[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) buffer[threadIdx.x] += buffer[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = buffer[0];
}
PLANT(last_tile) {
    int* sums = zeros(3);
    partial_sums<<<3, 128>>>(filled(300), sums, 300);
    wants(sums, 3, [](int b) {
        int s = 0;
        for (int k = b * 128; k < min(300, b * 128 + 128); ++k) s += in_at(k);
        return s;
    });
}

__global__ void count_letters(const char* text, int* counts, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        char c = text[i];
        if (c >= 'a' && c <= 'z') {
            counts[c - 'a']++;
        }
    }
}
PLANT(letter_counts) {
    const char* poem = "the quick brown fox jumps over the lazy dog and then the other dog jumps over the fox";
    int length = strlen(poem);
    char* text;
    int* counts;
    cudaMalloc(&text, length);
    cudaMalloc(&counts, 26 * sizeof(int));
    cudaMemset(counts, 0, 26 * sizeof(int));
    cudaMemcpy(text, poem, length, cudaMemcpyHostToDevice);
    count_letters<<<(length + 31) / 32, 32>>>(text, counts, length);
    wants(counts, 26, [poem](int c) {
        int n = 0;
        for (const char* p = poem; *p; ++p) n += *p == 'a' + c;
        return n;
    });
}

__global__ void dot(const float* a, const float* b, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, a[i] * b[i]);
}
PLANT(output_not_zeroed) {
    float* total;
    cudaMalloc(&total, sizeof(float));  // FIXED: cudaMalloc(&total, sizeof(float)); cudaMemset(total, 0, sizeof(float));
    dot<<<2, 64>>>(filled<float>(100), filled<float>(100), total, 100);
    wants(total, 1, [](int) {
        int s = 0;
        for (int k = 0; k < 100; ++k) s += in_at(k) * in_at(k);
        return s;
    });
}

__global__ void square(int* numbers) {
    int i = threadIdx.x;
    numbers[i] = numbers[i] * numbers[i];
}
PLANT(memcpy_in_elements) {
    const int N = 64;
    int host[N], *dev;
    for (int i = 0; i < N; i++) host[i] = i;
    cudaMalloc(&dev, N * sizeof(int));
    cudaMemcpy(dev, host, N, cudaMemcpyHostToDevice);  // FIXED: cudaMemcpy(dev, host, N * sizeof(int), cudaMemcpyHostToDevice);
    square<<<1, N>>>(dev);
    cudaMemcpy(host, dev, N * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) wants_value(i, host[i], i * i);
    cudaFree(dev);
}

__global__ void cube(int* numbers) {
    int i = threadIdx.x;
    numbers[i] = numbers[i] * numbers[i] * numbers[i];
}
PLANT(memcpy_direction) {
    int host[64], *dev;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&dev, sizeof host);
    cudaMemcpy(dev, host, sizeof host, cudaMemcpyHostToDevice);
    cube<<<1, 64>>>(dev);
    cudaMemcpy(host, dev, sizeof host, cudaMemcpyHostToDevice);  // FIXED: cudaMemcpy(host, dev, sizeof host, cudaMemcpyDefault);
    for (int i = 0; i < 64; i++) wants_value(i, host[i], i * i * i);
    cudaFree(dev);
}

__global__ void fill_squares(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = i * i;
}
PLANT(host_does_not_wait) {
    int* a;
    cudaMallocManaged(&a, 100 * sizeof(int));
    for (int i = 0; i < 100; i++) a[i] = -1;
    fill_squares<<<2, 50>>>(a, 100);
    for (int i = 0; i < 100; i++) wants_value(i, a[i], i * i);  // FIXED: cudaDeviceSynchronize(); for (int i = 0; i < 100; i++) wants_value(i, a[i], i * i);
    cudaFree(a);
}

__global__ void negate(const int* from, int* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = -from[i];
}
PLANT(host_pointer) {
    size_t bytes = 256 * sizeof(int);
    int* h_in = (int*)malloc(bytes);
    for (int i = 0; i < 256; i++) h_in[i] = i;
    int *d_in, *d_out;
    cudaMalloc(&d_in, bytes);
    cudaMalloc(&d_out, bytes);
    cudaMemcpy(d_in, h_in, bytes, cudaMemcpyHostToDevice);
    negate<<<1, 256>>>(h_in, d_out, 256);  // FIXED: negate<<<1, 256>>>(d_in, d_out, 256);
    wants(d_out, 256, [](int i) { return -i; });
    free(h_in);
}

__global__ void ramp(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 3 * i;
}
PLANT(too_many_threads) {
    const int n = 2000;
    int* out = zeros(n);
    ramp<<<1, n>>>(out, n);  // FIXED: ramp<<<8, 250>>>(out, n);
    wants(out, n, [](int i) { return 3 * i; });
}

__global__ void heat(float* temperature, int steps) {
    __shared__ float rod[64];
    int i = threadIdx.x;
    rod[i] = temperature[i];
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        float left = i > 0 ? rod[i - 1] : rod[i];
        float right = i < 63 ? rod[i + 1] : rod[i];
        float middle = (left + right) / 2;
        rod[i] = middle;
        __syncthreads();
    }
    temperature[i] = rod[i];
}
PLANT(heat_steps) {
    float* t = filled<float>(64);
    heat<<<1, 64>>>(t, 2);
    wants(t, 64, [](int i) {
        auto at = [](int k) { return float(in_at(k)); };
        auto step = [at](int k) { return ((k > 0 ? at(k - 1) : at(k)) + (k < 63 ? at(k + 1) : at(k))) / 2; };
        return ((i > 0 ? step(i - 1) : step(i)) + (i < 63 ? step(i + 1) : step(i))) / 2;
    });
}
