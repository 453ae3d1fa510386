// An atomic addition, implemented with atomicCAS.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include "CudaAllocator.h"
#include "helper_cuda.h"
#include "ticktock.h"

__device__ __inline__ int add(int* to, int value) {
    int found = *to, expected;
    do {
        expected = found;
        found = atomicCAS(to, expected, expected + value);
    } while (expected != found);
    return found;
}

__global__ void run(int* sum, int const* in, int n) {
    int mine = 0;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) mine += in[i];
    add(&sum[0], mine);
}

int main() {
    int n = 4096, want = 0;
    std::vector<int, CudaAllocator<int>> in(n);
    std::vector<int, CudaAllocator<int>> sum(1);
    for (int i = 0; i < n; i++) want += in[i] = std::rand() % 5;
    TICK(run);
    run<<<n / 1024, 64>>>(sum.data(), in.data(), n);
    checkCudaErrors(cudaDeviceSynchronize());
    TOCK(run);
    printf("result: %d of %d\n", sum[0], want);
    return sum[0] == want ? 0 : 1;
}
