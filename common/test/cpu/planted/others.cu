// Patterns of books and blogs, each with one mistake.
// RUN: slow fix
#include "planted.cuh"

__shared__ int smem_first[128];
__shared__ int smem_second[4];
__global__ void sum_kernel(int* data_in, int* sum_out) {
    int tx = threadIdx.x;
    smem_first[tx] = data_in[tx] + tx;

    if (tx % 32 == 0) {
        int wx = tx / 32;

        smem_second[wx] = 0;
        for (int i = 0; i < 32; ++i)
            smem_second[wx] += smem_first[tx + i];
    }

    __syncthreads();

    if (tx == 0) {
        *sum_out = 0;
        for (int i = 0; i < 4; ++i)
            *sum_out += smem_second[i];
    }
}
PLANT(doc_warp_level) { sum_kernel<<<1, 128>>>(filled(128), zeros(1)); }

__global__ void kr(const int* in, int* out)
{
    __shared__ int a[128];
    int tid = threadIdx.x;
    a[tid] = in[tid];
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1)
    {
        if (tid < s)
        {
            a[tid] += a[tid + s];
        }
    }
    if (tid == 0)
    {
        out[0] = a[0];
    }
}
PLANT(braces_below) { kr<<<1, 128>>>(filled(128), zeros(1)); }

template <unsigned blockSize>
__global__ void unrolled(const int* in, int* out) {
    extern __shared__ int sdata[];
    unsigned tid = threadIdx.x;
    sdata[tid] = in[tid];
    __syncthreads();
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } }
    if (tid < 32) {
        for (int d = 32; d > 0; d /= 2) {
            int v = sdata[tid + d];
            __syncwarp();
            sdata[tid] += v;
            __syncwarp();
        }
    }
    if (tid == 0) out[0] = sdata[0];
}
PLANT(template_ladder) { unrolled<256><<<1, 256, 1024>>>(filled(256), zeros(1)); }

__global__ void dot(const float* a, const float* b, float* c, int n) {
    __shared__ float cache[256];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}
PLANT(dot_product) { dot<<<2, 256>>>(filled<float>(1000), filled<float>(1000), zeros<float>(2), 1000); }

__global__ void ripple(unsigned char* ptr, int dim) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    int offset = x + y * blockDim.x * gridDim.x;
    __shared__ float shared[16][16];
    shared[threadIdx.x][threadIdx.y] = 255 * (x + y) / 64.0f;
    ptr[offset * 4 + 0] = 0;
    ptr[offset * 4 + 1] = shared[15 - threadIdx.x][15 - threadIdx.y];
    ptr[offset * 4 + 2] = 0;
}
PLANT(image) { ripple<<<dim3(2, 2), dim3(16, 16)>>>(zeros<unsigned char>(4096), 32); }

__global__ void byte_bins(const unsigned char* in, unsigned* histo, int size) {
    __shared__ unsigned temp[256];
    temp[threadIdx.x] = 0;
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int offset = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[in[i]], 1);
        i += offset;
    }
    __syncthreads();
    atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}
PLANT(byte_bins_not_zero) { byte_bins<<<2, 256>>>(filled<unsigned char>(2000), zeros<unsigned>(256), 2000); }

__global__ void stencil_1d(int* in, int* out) {
    __shared__ int temp[32 + 2 * 3];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x + 3;
    int lindex = threadIdx.x + 3;
    temp[lindex] = in[gindex];
    if (threadIdx.x < 3) {
        temp[lindex - 3] = in[gindex - 3];
        temp[lindex + 32] = in[gindex + 32];
    }
    int result = 0;
    for (int offset = -3; offset <= 3; offset++)
        result += temp[lindex + offset];
    out[gindex] = result;
}
PLANT(stencil_1d) { stencil_1d<<<2, 32>>>(filled(70), zeros(70)); }

__global__ void pragma(const int* in, int* out) {
    __shared__ int buf[64];
    int acc = 0;
#pragma unroll
    for (int t = 0; t < 4; t++) {
        // load
        buf[threadIdx.x] = in[t * 64 + threadIdx.x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 64; k++) {
            acc += buf[k];   /* read them all */
        }
    }
    out[threadIdx.x] = acc;
}
PLANT(pragmas) { pragma<<<1, 64>>>(filled(256), zeros(64)); }

__global__ void pingpong(int* out, int steps) {
    __shared__ int ping[64], pong[64];
    int *src = ping, *dst = pong;
    int i = threadIdx.x;
    ping[i] = i;
    for (int s = 0; s < steps; ++s) {
        dst[i] = src[i] + src[(i + 1) % 64];
        int* t = src;
        src = dst;
        dst = t;
    }
    out[i] = src[i];
}
PLANT(ping_pong) { pingpong<<<1, 64>>>(zeros(64), 4); }

__global__ void counter(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0) count++;
    __syncthreads();
    out[threadIdx.x] = count;
}
PLANT(counter) { counter<<<1, 96>>>(zeros(96)); }

__global__ void compact(const int* in, int* out, int* n) {
    __shared__ int c, base;
    if (threadIdx.x == 0) c = 0;
    __syncthreads();
    int pos = 0, d = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (d > 50) pos = atomicAdd(&c, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(n, c);
    if (d > 50) out[base + pos] = d;
}
PLANT(compaction) { compact<<<4, 64>>>(filled(256), zeros(256), zeros(1)); }

__global__ void max_loop(const int* in, int* out, int n) {
    __shared__ int best[4];
    for (int row = 0; row < n; row++) {
        int v = in[row * 128 + threadIdx.x];
        for (int d = 16; d > 0; d >>= 1) v = max(v, __shfl_down_sync(0xffffffff, v, d));
        if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = v;
        __syncthreads();
        if (threadIdx.x == 0) out[row] = max(max(best[0], best[1]), max(best[2], best[3]));
    }
}
PLANT(row_maximum) { max_loop<<<1, 128>>>(filled(512), zeros(4), 4); }

__global__ void gauss(float* m, int n) {
    int j = threadIdx.x;
    for (int k = 0; k < n - 1; ++k) {
        for (int i = k + 1; i < n; ++i) {
            float factor = m[i * n + k] / (m[k * n + k] + 1);
            if (j >= k && j < n) m[i * n + j] -= factor * m[k * n + j];
        }
        __syncthreads();
    }
}
PLANT(gauss) { gauss<<<1, 16>>>(filled<float>(256), 16); }

__global__ void merge_flags(const int* in, bool* any) {
    __shared__ bool found;
    found = false;
    if (in[threadIdx.x] > 100) found = true;
    __syncthreads();
    if (threadIdx.x == 0) *any = found;
}
PLANT(found_flag) { merge_flags<<<1, 128>>>(filled(128), zeros<bool>(1)); }

__global__ void lambda_kernel(const int* in, int* out) {
    __shared__ int s[64];
    auto put = [&](int i) { s[i] = in[i]; };
    put(threadIdx.x);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(lambda) { lambda_kernel<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void top(const int* in, int* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > *best) *best = in[i];
}
PLANT(top) { top<<<2, 64>>>(filled(128), zeros(1), 127); }  // SAYS: write `if (i < n) atomicMax(best, in[i]);

__global__ void lowest(const float* in, float* least) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] < *least) *least = in[i];  // FIXED: if (i == 0) *least = in[i];
}
PLANT(lowest) { lowest<<<2, 64>>>(filled<float>(128), filled<float>(1)); }  // SAYS: a loop around atomicCAS
