// 02.8  Choose a grid by occupancy
//
// A grid-stride kernel is correct with any number of blocks. The best number is
// usually as many as the GPU holds at once: the blocks of one SM times the
// number of SMs (cudaDevAttrMultiProcessorCount). For one SM,
// cudaOccupancyMaxActiveBlocksPerMultiprocessor() computes it from the kernel,
// its threads and its bytes of dynamic shared memory. Return no more blocks
// than n elements need.
#include "exercise.cuh"

__global__ void twice(const int* in, int* out, int n) {
    extern __shared__ int tile[];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        tile[threadIdx.x] = 2 * in[i];
        out[i] = tile[threadIdx.x];
    }
}

// ---- your part
int blocks_for(int n, int threads, size_t bytes) {
    return (n + threads - 1) / threads;
}

// ---- the check
bool right(int n, int threads, size_t bytes) {
    int per_sm = 0, sms = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, twice, threads, bytes));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    char call[80];
    std::snprintf(call, sizeof call, "blocks_for(%d, %d, %zu)", n, threads, bytes);
    Array<int> blocks(1, [&](int) { return blocks_for(n, threads, bytes); });
    const int needed = n / threads + (n % threads > 0);
    return check(call, blocks, [&](int) { return std::min(per_sm * sms, needed); });
}

int main() {
    return exercise({1000, 1, 256}, [](int n) {
        for (int threads : {256, 64, 1024})
            for (size_t bytes : {4096, 40'000})
                if (!right(1 << 30, threads, bytes) || !right(n, threads, bytes)) return false;
        Array<int> in(n, scattered), out(n);
        twice<<<blocks_for(n, 256, 1024), 256, 1024>>>(in, out, n);
        return check("out", out, [&](int i) { return 2 * in[i]; });
    });
}
