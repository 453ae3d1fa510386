#include <cstdio>
__global__ void k(float* x) { x[threadIdx.x] = __expf(0.f) + __fdividef(threadIdx.x, 2.f); }
int main() {
    float* x;
    cudaMallocManaged(&x, 128);
    k<<<1, 32>>>(x);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%f\n", x[31]);
    bool ok = x[31] == 16.5f && e == cudaSuccess;
    cudaFree(x);
    return !ok;
}
