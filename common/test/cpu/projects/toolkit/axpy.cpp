#include <cuda_runtime.h>
#include <vector>
#include <cstdio>
void launch_axpy(float a, const float* x, float* y, int n, cudaStream_t stream);
int main() {
    const int n = 1000;
    std::vector<float> x(n, 2.f), y(n, 1.f);
    float *dx, *dy;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc((void**)&dx, n * sizeof(float));
    cudaMalloc((void**)&dy, n * sizeof(float));
    cudaMemcpyAsync(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice, s);
    launch_axpy(3.f, dx, dy, n, s);
    cudaMemcpyAsync(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    cudaFree(dx);
    cudaFree(dy);
    std::printf("%g\n", y[999]);
    return y[0] != 7.f || y[999] != 7.f;
}
