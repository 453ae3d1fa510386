// launch_blocking.cu - CUDA_LAUNCH_BLOCKING=1: each launch waits for its kernel, so the host may read at once.
#include <cstdio>

__global__ void add(int* sum) { ++*sum; }

// RUN: plain,hazards CUDA_LAUNCH_BLOCKING=1
// SAYS: sum 3
// SAYS-NOT: cudacpu:
// RUN: plain CUDA_LAUNCH_BLOCKING=0
// STATUS: 1
// SAYS: sum 0
// SAYS: the host {{.*}}sum
int main() {
    int* sum;
    cudaMallocManaged(&sum, sizeof *sum);
    *sum = 0;
    for (int i = 0; i < 3; ++i) add<<<1, 1>>>(sum);
    printf("sum %d\n", *sum);
    cudaDeviceSynchronize();
    cudaFree(sum);
}
