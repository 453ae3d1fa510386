// A minimum: each block finds the smallest number, and measures its time with clock().
#include <assert.h>
#include <stdint.h>
#include <stdio.h>

#include <cuda_runtime.h>

#include <helper_cuda.h>
#include <helper_functions.h>

#define BLOCKS 8
#define THREADS 64

__global__ static void smallest(const float* in, float* out, clock_t* times) {
    extern __shared__ float values[];
    const int tid = threadIdx.x;
    if (tid == 0) times[blockIdx.x] = clock();
    values[tid] = in[tid];
    values[tid + blockDim.x] = in[tid + blockDim.x];
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d && values[tid + d] < values[tid]) values[tid] = values[tid + d];
    }
    if (tid == 0) out[blockIdx.x] = values[0];
    __syncthreads();
    if (tid == 0) times[blockIdx.x + gridDim.x] = clock();
}

int main(int argc, char** argv) {
    findCudaDevice(argc, (const char**)argv);
    float in[2 * THREADS], out[BLOCKS];
    clock_t times[2 * BLOCKS];
    for (int i = 0; i < 2 * THREADS; ++i) in[i] = (float)((i * 37 + 11) % 101) - 5;
    float *d_in = NULL, *d_out = NULL;
    clock_t* d_times = NULL;
    checkCudaErrors(cudaMalloc((void**)&d_in, sizeof in));
    checkCudaErrors(cudaMalloc((void**)&d_out, sizeof out));
    checkCudaErrors(cudaMalloc((void**)&d_times, sizeof times));
    checkCudaErrors(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    smallest<<<BLOCKS, THREADS, sizeof in>>>(d_in, d_out, d_times);
    getLastCudaError("smallest");
    checkCudaErrors(cudaMemcpy(times, d_times, sizeof times, cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaFree(d_in));
    checkCudaErrors(cudaFree(d_out));
    checkCudaErrors(cudaFree(d_times));
    long double clocks = 0;
    for (int i = 0; i < BLOCKS; ++i) {
        assert(out[i] == -5);
        clocks += times[i + BLOCKS] - times[i];
    }
    printf("%.0Lf clocks a block\n", clocks / BLOCKS);
    return EXIT_SUCCESS;
}
