#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
void scale(float*, float, int);
float sum(const float*, int);
int main() {
    std::vector<float> h(100, 1.f);
    float* d;
    if (cudaMalloc((void**)&d, 400) != cudaSuccess) return 3;
    cudaMemcpy(d, h.data(), 400, cudaMemcpyHostToDevice);
    scale(d, 3.f, 100);
    float s = sum(d, 100);
    cudaFree(d);
    std::printf("%g\n", s);
    return s != 300.f;
}
