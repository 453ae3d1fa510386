// The host that names a __device__ variable means its own copy. What CUDA's header includes is there, and no other name of std.
#include <cstdio>
using namespace std;
__device__ int count;
__constant__ int data[4];
__host__ __device__ void step() { count++; }
__global__ void kernel() { step(); }
int main() {
    step();
    step();
    kernel<<<1, 1>>>();
    int seen = 0;
    cudaMemcpyFromSymbol(&seen, count, sizeof seen);
    const int one[4] = {INT_MAX};
    const int set = cudaMemset(&count, 0, sizeof seen), copy = cudaMemcpy(data, one, sizeof one, cudaMemcpyHostToDevice);
    int* address;
    cudaGetSymbolAddress((void**)&address, count);
    printf("host %d, device %d, %d %d %d\n", count, seen, set, copy, cudaMemset(address, 0, sizeof seen));
}
