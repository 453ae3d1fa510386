// A sum: all threads add to one word with atomicAdd.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include "CudaAllocator.h"
#include "helper_cuda.h"
#include "ticktock.h"

__global__ void run(int* sum, int const* in, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&sum[0], in[i]);
}

int main() {
    int n = 4096, want = 0;
    std::vector<int, CudaAllocator<int>> in(n);
    std::vector<int, CudaAllocator<int>> sum(1);
    for (int i = 0; i < n; i++) want += in[i] = std::rand() % 5;
    TICK(run);
    run<<<n / 128, 128>>>(sum.data(), in.data(), n);
    checkCudaErrors(cudaDeviceSynchronize());
    TOCK(run);
    printf("result: %d of %d\n", sum[0], want);
    return sum[0] == want ? 0 : 1;
}
