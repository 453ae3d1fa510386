#include "vecops.h"
namespace {
__device__ float total;
__global__ void dot_kernel(const float* a, const float* b, size_t n) {
    __shared__ float part[128];
    float s = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i] * b[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int h = 64; h; h >>= 1) {
        if (threadIdx.x < h) part[threadIdx.x] += part[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(&total, part[0]);
}
}  // namespace
namespace vecops {
float dot(const float* a, const float* b, std::size_t n) {
    float *da, *db, r = 0;
    cudaMalloc(&da, n * 4);
    cudaMalloc(&db, n * 4);
    cudaMemcpy(da, a, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(total, &r, sizeof r);
    dot_kernel<<<2, 128>>>(da, db, n);
    cudaMemcpyFromSymbol(&r, total, sizeof r);
    cudaFree(da);
    cudaFree(db);
    return r;
}
}  // namespace vecops
