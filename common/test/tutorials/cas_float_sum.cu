// An atomic addition of floats, implemented with atomicCAS on their bits.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include "CudaAllocator.h"
#include "helper_cuda.h"
#include "ticktock.h"

__device__ __inline__ float add(float* to, float value) {
    int found = __float_as_int(*to), expected;
    do {
        expected = found;
        found = atomicCAS((int*)to, expected, __float_as_int(__int_as_float(expected) + value));
    } while (expected != found);
    return __int_as_float(found);
}

__global__ void run(float* sum, float const* in, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) add(&sum[0], in[i]);
}

int main() {
    int n = 1024;
    std::vector<float, CudaAllocator<float>> in(n), sum(1);
    for (int i = 0; i < n; i++) in[i] = i % 4;
    TICK(run);
    run<<<n / 128, 128>>>(sum.data(), in.data(), n);
    checkCudaErrors(cudaDeviceSynchronize());
    TOCK(run);
    printf("result: %g\n", sum[0]);
    return sum[0] == 1536 ? 0 : 1;
}
