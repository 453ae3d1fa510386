// A tree reduction: in each step, the first half of the threads adds the second half of the values.
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <iostream>
using namespace std;

const int threads = 256;
const int count = 2048;
const int blocks = (count + threads - 1) / threads;

__global__ void add_up(float* in, float* sums) {
    __shared__ float part[threads];
    const int tid = threadIdx.x;
    part[tid] = in[tid + blockIdx.x * blockDim.x];
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = part[0];
}

int main() {
    float* in = (float*)malloc(count * sizeof(float));
    float* sums = (float*)malloc(blocks * sizeof(float));
    for (int i = 0; i < count; ++i) in[i] = 1;
    float *d_in, *d_sums;
    cudaMalloc((void**)&d_in, count * sizeof(float));
    cudaMalloc((void**)&d_sums, blocks * sizeof(float));
    cudaMemcpy(d_in, in, count * sizeof(float), cudaMemcpyHostToDevice);
    add_up<<<blocks, threads>>>(d_in, d_sums);
    cudaMemcpy(sums, d_sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    int sum = 0, want = 0;
    for (int i = 0; i < blocks; ++i) sum += sums[i];
    for (int i = 0; i < count; ++i) want += in[i];
    cout << "sum=" << sum << endl;
    cudaFree(d_in);
    cudaFree(d_sums);
    free(in);
    free(sums);
    return sum == want ? 0 : 1;
}
