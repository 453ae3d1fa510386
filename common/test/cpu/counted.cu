// counted.cu - kernels whose requests, sectors and bank conflicts can be told by hand: what counted.txt expects of
// them is what the CPU device has to count, and what ncu counts on a GPU.
#include <cstdio>
#include <vector>

constexpr int n = 64, edge = 32, rows = 8, side = 16, threads = 256, bins = 64, elements = 1024;

// Tiles of 16 x 16: a warp has two rows of them.
__global__ void product(const float* a, const float* b, float* c) {
    __shared__ float tile_a[side][side], tile_b[side][side];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * side + x, row = blockIdx.y * side + y;
    float sum = 0;
    for (int tile = 0; tile < n; tile += side) {
        tile_a[y][x] = a[row * n + tile + x];
        tile_b[y][x] = b[(tile + y) * n + column];
        __syncthreads();
        for (int k = 0; k < side; ++k) sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Reads the tile by columns: all lanes of a warp in one bank, unless the rows are padded.
template <int width>
__device__ void transpose_tile(const float* in, float* out, float (&tile)[edge][width]) {
    const int x = blockIdx.x * edge + threadIdx.x, y = blockIdx.y * edge + threadIdx.y;
    for (int i = 0; i < edge; i += rows) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    const int to_x = blockIdx.y * edge + threadIdx.x, to_y = blockIdx.x * edge + threadIdx.y;
    for (int i = 0; i < edge; i += rows) out[(to_y + i) * n + to_x] = tile[threadIdx.x][threadIdx.y + i];
}
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[edge][edge];
    transpose_tile(in, out, tile);
}
__global__ void transpose_padded(const float* in, float* out) {
    __shared__ float tile[edge][edge + 1];
    transpose_tile(in, out, tile);
}

__global__ void histogram(const int* in, int* counts) {
    __shared__ int mine[bins];
    if (threadIdx.x < bins) mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[in[blockIdx.x * blockDim.x + threadIdx.x] % bins], 1);
    __syncthreads();
    if (threadIdx.x < bins) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

__global__ void stencil(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[i + 1] + in[i + 2];
}

__global__ void scan(const int* in, int* out) {  // of each block
    __shared__ int tile[threads];
    const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    int sum = in[i];
    tile[tid] = sum;
    for (int offset = 1; offset < threads; offset *= 2) {
        __syncthreads();
        const int left = tid >= offset ? tile[tid - offset] : 0;
        __syncthreads();
        sum += left;
        tile[tid] = sum;
    }
    out[i] = sum;
}

// 8 and 16 bytes a lane: every second element, so that half of the banks are used, and one that all lanes share.
template <class T>
__device__ void wide_tile(const T* in, T* out, T (&tile)[threads]) {
    const int tid = threadIdx.x;
    tile[tid] = in[tid];
    __syncthreads();
    out[tid] = tile[tid * 2 % threads];
    out[tid + threads] = tile[tid / 32];
}
__global__ void wide_8(const double* in, double* out) {
    __shared__ double tile[threads];
    wide_tile(in, out, tile);
}
__global__ void wide_16(const float4* in, float4* out) {
    __shared__ float4 tile[threads];
    wide_tile(in, out, tile);
}

// A third of the lanes take the one branch, the others the other; each lane has its own number of rounds.
__global__ void divergent(const int* in, int* out) {
    int sum = 0;
    for (int i = 0; i < int(threadIdx.x % 4); ++i) {
        if (threadIdx.x % 3 == 0)
            sum += in[threadIdx.x + 32 * i];
        else
            sum -= in[threadIdx.x + 32 * i];
    }
    out[threadIdx.x] = sum;
}

int main() {
    float* floats;
    int* ints;
    const size_t bytes = 4 * n * n * sizeof(float);
    if (cudaMallocManaged(&floats, bytes) || cudaMallocManaged(&ints, bytes)) return 77;
    for (int i = 0; i < 4 * n * n; ++i) {
        floats[i] = float(i % 7);
        ints[i] = i % 61;
    }
    product<<<dim3(n / side, n / side), dim3(side, side)>>>(floats, floats + n * n, floats + 2 * n * n);
    transpose<<<dim3(n / edge, n / edge), dim3(edge, rows)>>>(floats, floats + 3 * n * n);
    transpose_padded<<<dim3(n / edge, n / edge), dim3(edge, rows)>>>(floats, floats + 3 * n * n);
    histogram<<<elements / threads, threads>>>(ints, ints + 2 * n * n);
    stencil<<<elements / threads, threads>>>(floats, floats + 3 * n * n);
    scan<<<elements / threads, threads>>>(ints, ints + 2 * n * n);
    wide_8<<<1, threads>>>(reinterpret_cast<double*>(floats), reinterpret_cast<double*>(floats + 2 * n * n));
    wide_16<<<1, threads>>>(reinterpret_cast<float4*>(floats), reinterpret_cast<float4*>(floats + 2 * n * n));
    divergent<<<1, 32>>>(ints, ints + 2 * n * n);
    const cudaError_t error = cudaDeviceSynchronize();
    std::puts(cudaGetErrorString(error));
    cudaFree(floats);
    cudaFree(ints);
    return error != cudaSuccess;
}
