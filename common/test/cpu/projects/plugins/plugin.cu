#include <cstdio>
__constant__ int k = 5;
__global__ void five(int* p) { *p = k; }
extern "C" int run() {
    int* p;
    cudaMallocManaged(&p, 4);
    five<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    int r = *p;
    cudaFree(p);
    printf("plugin %d\n", r);
    return r;
}
