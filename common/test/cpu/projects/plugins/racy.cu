#include <cstdio>
float sum(const float*, int);
__device__ int counter;
__global__ void count(float* p, int n) {
    int i = threadIdx.x;
    if (i < n) {
        p[i] = 1;
        atomicAdd(&counter, 1);
#ifdef RACY
        counter += 1;
#endif
    }
}
int main() {
    float* p;
    cudaMalloc(&p, 256);
    count<<<1, 64>>>(p, 64);
    float s = sum(p, 64);
    cudaFree(p);
    int c;
    cudaMemcpyFromSymbol(&c, counter, 4);
    printf("%g %d\n", s, c);
    return s != 64 || c != 64;
}
