// The host that names a __device__ variable means its own copy.
#include <cstdio>
__device__ int sum;
__constant__ int table[4];
__host__ __device__ void count() { sum++; }
__global__ void kernel() { count(); }
int main() {
    count();
    count();
    kernel<<<1, 1>>>();
    int seen = 0;
    cudaMemcpyFromSymbol(&seen, sum, sizeof seen);
    const int one[4] = {INT_MAX};  // from CUDA's header
    const int set = cudaMemset(&sum, 0, sizeof sum), copy = cudaMemcpy(table, one, sizeof one, cudaMemcpyHostToDevice);
    int* address;
    cudaGetSymbolAddress((void**)&address, sum);
    std::printf("host %d, device %d, %d %d %d\n", sum, seen, set, copy, cudaMemset(address, 0, sizeof sum));
}
