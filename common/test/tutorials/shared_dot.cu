// A dot product: each block adds its products in shared memory, and the host adds the sums of the blocks.
#include <cuda_runtime.h>

#include <iostream>

#include "book.h"

using namespace std;

#define LENGTH 5 * 1024
const int threads = 64;
const int blocks = 16;

__global__ void dot(float* a, float* b, float* c) {
    __shared__ float cache[threads];
    float sum = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < LENGTH; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 2) c[blockIdx.x] = cache[0];
}

int main() {
    float a[LENGTH], b[LENGTH];
    float* c = (float*)malloc(blocks * sizeof(float));
    HANDLE_NULL(c);
    float *dev_a, *dev_b, *dev_c;
    HANDLE_ERROR(cudaMalloc((void**)&dev_a, LENGTH * sizeof(float)));
    HANDLE_ERROR(cudaMalloc((void**)&dev_b, LENGTH * sizeof(float)));
    HANDLE_ERROR(cudaMalloc((void**)&dev_c, blocks * sizeof(float)));
    for (int i = 0; i < LENGTH; ++i) {
        a[i] = i % 50;
        b[i] = i % 9;
    }
    HANDLE_ERROR(cudaMemcpy(dev_a, a, sizeof a, cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemcpy(dev_b, b, sizeof b, cudaMemcpyHostToDevice));
    dot<<<blocks, threads>>>(dev_a, dev_b, dev_c);
    HANDLE_ERROR(cudaMemcpy(c, dev_c, blocks * sizeof(float), cudaMemcpyDeviceToHost));
    double device = 0, host = 0;
    for (int i = 0; i < blocks; ++i) device += c[i];
    for (int i = 0; i < LENGTH; ++i) host += a[i] * b[i];
    cout << "device " << device << ", host " << host << "\n";
    HANDLE_ERROR(cudaFree(dev_a));
    HANDLE_ERROR(cudaFree(dev_b));
    HANDLE_ERROR(cudaFree(dev_c));
    free(c);
    return device == host ? 0 : 1;
}
