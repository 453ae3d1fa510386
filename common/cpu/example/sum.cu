// sum.cu - sums 1 to 256. A barrier is missing on purpose: cudacpu reports the two lines between which it belongs.
#include <cstdio>

__global__ void sum(int* result) {
    __shared__ int part[256];
    part[threadIdx.x] = int(threadIdx.x) + 1;
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = part[0];
}

int main() {
    int* result;
    cudaMallocManaged(&result, sizeof *result);
    sum<<<1, 256>>>(result);
    cudaDeviceSynchronize();
    const bool right = *result == 256 * 257 / 2;
    printf("%d: %s\n", *result, right ? "right" : "wrong");
    cudaFree(result);
    return right ? 0 : 1;
}
