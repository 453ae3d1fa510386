// first.cu - which thread writes which element? 3 blocks of 8 threads fill an array of 20 elements.
// README.md in this folder explains each line. To compile and run it without a GPU, then with one:
//   build/cpu/cudacpu common/first/first.cu -O2 -std=c++17 -Icommon -o build/first && build/first
//   nvcc -std=c++17 -arch=native -Icommon common/first/first.cu -o build/first && build/first
#include "error.cuh"

constexpr int n = 20;                                // elements
constexpr int threads = 8;                           // in each block
constexpr int blocks = (n + threads - 1) / threads;  // n / threads, rounded up: 3

// An element: the block and thread number of the thread that wrote it.
struct Writer {
    int block, thread;
};

// Every thread runs this function with the same arguments. blockIdx and threadIdx differ.
__global__ void sign(Writer* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {  // the guard: there are 24 threads and 20 elements
        out[i].block = blockIdx.x;
        out[i].thread = threadIdx.x;
    }
}

int main() {
    Writer* d_out;  // an address in device memory: the host must not read or write there
    CHECK(cudaMalloc(&d_out, n * sizeof(Writer)));
    CHECK(cudaMemset(d_out, 0xff, n * sizeof(Writer)));  // -1 and -1: not written yet

    sign<<<blocks, threads>>>(d_out, n);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // waits for the kernel: did it run to its end?

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
