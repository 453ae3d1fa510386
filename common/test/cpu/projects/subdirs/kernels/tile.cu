#include "tile.cuh"
__device__ float tile_dot(const float* a, const float* b, int n, int row, int col, int t) {
    __shared__ float as[T][T], bs[T][T + 1];
    int x = threadIdx.x, y = threadIdx.y;
    as[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0.f;
    bs[y][x] = t + y < n && col < n ? b[(t + y) * n + col] : 0.f;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < T; ++k) s += as[y][k] * bs[k][x];
    __syncthreads();
    return s;
}
