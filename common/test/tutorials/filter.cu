// A filter: each thread that keeps an element gets the next free place from an atomic counter.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include "CudaAllocator.h"
#include "helper_cuda.h"
#include "ticktock.h"

__global__ void keep(int* kept, int* out, int const* in, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (in[i] >= 2) {
            int place = atomicAdd(&kept[0], 1);
            out[place] = in[i];
        }
    }
}

int main() {
    int n = 1 << 13;
    std::vector<int, CudaAllocator<int>> in(n), out(n), kept(1);
    for (int i = 0; i < n; i++) in[i] = std::rand() % 4;
    TICK(keep);
    keep<<<n / 512, 128>>>(kept.data(), out.data(), in.data(), n);
    checkCudaErrors(cudaDeviceSynchronize());
    TOCK(keep);
    for (int i = 0; i < kept[0]; i++) {
        if (out[i] < 2) {
            printf("element %d is %d\n", i, out[i]);
            return -1;
        }
    }
    printf("%d of %d kept\n", kept[0], n);
    return 0;
}
