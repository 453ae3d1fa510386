// Launches that CUDA refuses, kernels and functions in the wrong place, and work that the program does not wait
// for.
#include "case.cuh"

__global__ void touch(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void set_one(int& element, int value) { element = value; }

// One notice, however often the line is executed.
// RUN: plain no_blocks
// STATUS: 1
// SAYS-COUNT-1: cudacpu: notice: kernel touch is not launched: the grid has no blocks at launches.cu:@#no_blocks
// SAYS: n / threads rounds down
// SAYS: after each launch ask cudaGetLastError()
// SAYS: bugs were found
CASE(no_blocks) {
    int* const p = device<int>(32);
    for (int i = 0; i < 3; ++i) touch<<<31 / 32, 32>>>(p);  // #no_blocks
    return 0;
}

// RUN: plain too_many_threads
// STATUS: 1
// SAYS: a block has at most 1024 threads, not 2048
// SAYS: bugs were found
CASE(too_many_threads) {
    touch<<<1, 2048>>>(device<int>(2048));
    cudaDeviceSynchronize();
    return 0;
}

// RUN: plain bounds_exceeded
// SAYS: at_most_64 is not launched: its __launch_bounds__ are 64 threads, not 65
__global__ void __launch_bounds__(64) at_most_64(int* p) { *p = 1; }
CASE(bounds_exceeded) {
    at_most_64<<<1, 65>>>(device<int>(1));
    return cudaGetLastError() != cudaErrorInvalidValue;
}

// RUN: plain no_configuration
// STATUS: 3
// SAYS: write touch<<<blocks, threads>>>
CASE(no_configuration) { return touch(nullptr), 0; }

// RUN: plain host_launched
// STATUS: 1
// SAYS: a function that is not a kernel is launched
// SAYS: at launches.cu:@#host_launched
// SAYS: bugs were found
CASE(host_launched) {
    int* const p = managed<int>(1);
    void (*kernel)(int*, int) = [](int* p, int value) { *p = value; };
    kernel<<<1, 1>>>(p, 4);  // #host_launched
    set_one<<<1, 1>>>(*p, 5);
    return result(p, 5);
}

// RUN: plain launched_from_kernel
// STATUS: 201
// SAYS: a kernel is launched from a kernel
// SAYS: at launches.cu:@#launched_from_kernel
__host__ __device__ void launch_one(int* p) {
    set_one<<<1, 1>>>(*p, 5);  // #launched_from_kernel
}
__global__ void launch_from_kernel(int* p) { launch_one(p); }
CASE(launched_from_kernel) { return launch_from_kernel<<<1, 1>>>(device<int>(1)), result(); }

// RUN: plain barrier_on_host
// STATUS: 3
// SAYS: __syncthreads() is for kernels
// SAYS: at launches.cu:@#barrier_on_host
__host__ __device__ void meet() {
    __syncthreads();  // #barrier_on_host
}
CASE(barrier_on_host) { return meet(), 0; }

// RUN: plain constructed
// SAYS: no constructor runs for the __shared__ variable counter
// SAYS: at launches.cu:@#constructed
struct Counter {
    int n;
    __device__ Counter() : n(5) {}
};
__global__ void constructed(int* out) {
    __shared__ Counter counter;  // #constructed
    *out = counter.n;
}
CASE(constructed) {
    int* const out = managed<int>(1);
    constructed<<<1, 32>>>(out);
    return result(out, -1);
}

// RUN: plain empty_constructor
struct Empty {
    int n;
    __device__ Empty() {}
};
__global__ void empty_constructor(int* out) {
    __shared__ Empty b[2];
    if (threadIdx.x == 0) b[1].n = 5;
    __syncthreads();
    *out = b[1].n;
}
CASE(empty_constructor) {
    int* const out = managed<int>(1);
    empty_constructor<<<1, 32>>>(out);
    return result(out, 5);
}

// ---- a program that does not wait: exit() leaves the memory as it is, because freeing it would wait

// RUN: plain never_waited
// SAYS: ended without waiting for its last 1 kernel
CASE(never_waited) {
    touch<<<1, 1>>>(managed<int>(1));
    exit(0);
}

// RUN: plain never_waited_long
// SAYS: ended without waiting for its last 1 kernel
__global__ void long_computation(int* out, long long nanoseconds) {
    unsigned x = 1;
    for (const long long start = clock64(); clock64() - start < nanoseconds;)
        for (int i = 0; i < 1000; ++i) x = x * 1664525 + 1013904223;
    *out = x != 0;
}
CASE(never_waited_long) {
    long_computation<<<1, 1>>>(managed<int>(1), 1'500'000'000);
    exit(0);
}

// RUN: plain never_called
// SAYS: ended without waiting for its last 1 host function
// SAYS: called
CASE(never_called) {
    cudaLaunchHostFunc(
        nullptr, [](void*) { puts("called"); }, nullptr);
    exit(0);
}
