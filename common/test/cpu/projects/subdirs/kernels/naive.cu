#include "matmul.h"
#include "tile.cuh"
#include <stdio.h>
#define CHECK(x)                                                                       \
    do {                                                                               \
        cudaError_t e_ = (x);                                                          \
        if (e_ != cudaSuccess) {                                                       \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
            return -1;                                                                 \
        }                                                                              \
    } while (0)
__global__ void mm(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += T) sum += tile_dot(a, b, n, row, col, t);
    if (row < n && col < n) c[row * n + col] = sum;
}
extern "C" int matmul_gpu(const float* a, const float* b, float* c, int n) {
    float *da, *db, *dc;
    size_t bytes = size_t(n) * n * sizeof(float);
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
    dim3 block(T, T), grid((n + T - 1) / T, (n + T - 1) / T);
    mm<<<grid, block>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return 0;
}
