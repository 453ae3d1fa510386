#include <vecops.h>
#include <cstdio>
__global__ void fill(float* p, float v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
int main() {
    float* p;
    cudaMallocHost(&p, 1024 * 4);
    float* d;
    cudaMalloc(&d, 1024 * 4);
    fill<<<8, 128>>>(d, 3.f);
    cudaMemcpy(p, d, 1024 * 4, cudaMemcpyDeviceToHost);
    float r = vecops::dot(p, p, 1024);
    std::printf("%g\n", r);
    cudaFree(d);
    cudaFreeHost(p);
    return r != 9216.f;
}
