// A sum in managed memory, measured with the host's clock.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include "error.cuh"

#define COUNT 100003
#define THREADS 128

__managed__ int numbers[COUNT];
__managed__ int total[1] = {0};

double seconds() {
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec + now.tv_usec * 1e-6;
}

__global__ void add_up(const int* in, int count, int* out) {
    __shared__ int part[THREADS];
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += in[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half >= 1; half /= 2) {
        int both = 0;
        if (threadIdx.x < half) both = part[threadIdx.x] + part[threadIdx.x + half];
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = both;
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

int main() {
    srand((uint32_t)time(NULL));
    uint32_t want = 0;
    for (int i = 0; i < COUNT; ++i) want += numbers[i] = rand();
    const double begin = seconds();
    add_up<<<16, THREADS>>>(numbers, COUNT, total);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    fprintf(stderr, "%u on the device, %u on the host, %.3f ms\n", total[0], want, 1e3 * (seconds() - begin));
    if ((uint32_t)total[0] != want) exit(-1);
    return 0;
}
