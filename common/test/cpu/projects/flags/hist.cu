#include <cuda_runtime.h>
#include <algorithm>
#include <array>
constexpr int clamp_bin(int v) { return std::min(std::max(v, 0), BINS - 1); }
template <class F>
__global__ void for_each(int n, F f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
void histogram(const unsigned char* in, unsigned* bins, int n) {
    unsigned* dbins;
    unsigned char* din;
    cudaMalloc(&dbins, BINS * sizeof(unsigned));
    cudaMalloc(&din, n);
    cudaMemset(dbins, 0, BINS * sizeof(unsigned));
    cudaMemcpy(din, in, n, cudaMemcpyHostToDevice);
    auto body = [=] __device__(int i) { atomicAdd(&dbins[clamp_bin(din[i] / 8)], 1u); };
    for_each<<<(n + 255) / 256, 256>>>(n, body);
    cudaMemcpy(bins, dbins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(dbins);
    cudaFree(din);
}
