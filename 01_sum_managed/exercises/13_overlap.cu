// 01.13  Copies that overlap with kernels
//
// The GPU can copy one half of an array while a kernel processes the other
// half. This needs two streams and pinned host memory from cudaMallocHost().
// With ordinary memory cudaMemcpyAsync() waits. Allocate pinned memory. Use one
// stream for each half: copy it to the device, launch the kernel, and copy it
// back. n may be odd. Do not wait for the streams: the check does.
#include "exercise.cuh"

__global__ void twice(int* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= 2;
}

// ---- your part
int* allocate(int n) { return new int[n]; }
void release(int* host) { delete[] host; }

void twice_all(int* host, int* device, int n, cudaStream_t one, cudaStream_t other) {
    cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, one);
    twice<<<(n + 255) / 256, 256, 0, one>>>(device, n);
    cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, one);
}

// ---- the check
int main() {
    return exercise({1000, 777}, [](int n) {
        int *device, *const host = allocate(n);
        cudaStream_t streams[2];
        for (int i = 0; i < n; ++i) host[i] = scattered(i);
        CHECK(cudaMalloc(&device, n * sizeof(int)));
        for (cudaStream_t& stream : streams)
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        twice_all(host, device, n, streams[0], streams[1]);
        const bool waited = lab::counts && lab::has_run();  // on a GPU it may have ended by now
        cudaPointerAttributes about{};
        const bool ended = lab::has_ended();
        const bool pinned = cudaPointerGetAttributes(&about, host) == cudaSuccess &&
                            about.type == cudaMemoryTypeHost;
        Array<int> out(n, [&](int i) { return host[i]; });
        for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
        CHECK(cudaFree(device));
        release(host);
        if (!ended || !check("host", out, [](int i) { return 2 * scattered(i); })) return false;
        const char* const wrong =
            !pinned  ? lab::words("allocate() returns ordinary memory", "allocate() 返回的是普通内存")
            : waited ? lab::words("twice_all() waits for a kernel", "twice_all() 在等核函数")
                     : nullptr;
        if (wrong) std::puts(wrong);
        return pinned && !waited && at_least(4, copies_beside_kernels());
    });
}
