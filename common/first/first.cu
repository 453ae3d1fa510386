// first.cu - who writes which element? 3 blocks of 8 threads fill an array of 20. Read README.md beside it first.
//   build/cpu/cudacpu common/first/first.cu -O2 -std=c++17 -Icommon -o first && ./first    without a GPU
//   nvcc -std=c++17 -arch=native -Icommon common/first/first.cu -o first && ./first        on one
#include "error.cuh"

constexpr int n = 20;                                // elements
constexpr int threads = 8;                           // in each block
constexpr int blocks = (n + threads - 1) / threads;  // n / threads, rounded up: 3

// What each element is to hold: who wrote it.
struct Writer {
    int block, thread;
};

// Every thread runs this. All get the same arguments; blockIdx and threadIdx tell them apart.
__global__ void sign(Writer* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {  // the guard: 24 threads, 20 elements
        out[i].block = blockIdx.x;
        out[i].thread = threadIdx.x;
    }
}

int main() {
    Writer* d_out;  // an address in the device's memory: the host may pass it on, and may not read there
    CHECK(cudaMalloc(&d_out, n * sizeof(Writer)));
    CHECK(cudaMemset(d_out, 0xff, n * sizeof(Writer)));  // -1 and -1: nobody has been here

    sign<<<blocks, threads>>>(d_out, n);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // the launch returned at once: wait until the kernel has ended

    Writer out[n];
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_out));

    bool right = true;
    for (int i = 0; i < n; ++i) {
        std::printf("element %2d: block %d, thread %d\n", i, out[i].block, out[i].thread);
        right = right && out[i].block == i / threads && out[i].thread == i % threads;
    }
    std::printf("%s\n", right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
