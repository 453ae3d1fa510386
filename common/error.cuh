// error.cuh - CHECK(call): every CUDA call can fail, and a failure that nobody looks at turns up later, elsewhere.
//
//     CHECK(cudaMalloc(&p, bytes));
//     kernel<<<blocks, threads>>>(p);
//     CHECK(cudaGetLastError());       // was the launch legal?
//     CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
//
// On failure it says which call, where, and CUDA's own words on stderr, and ends the program with status 3.
// It is active in every build type: a check that vanishes with NDEBUG checks nothing when it matters.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

/// Ends the program with status 3 unless `status` is cudaSuccess. Meant to be called through CHECK.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: %s failed\n    CUDA error %d, %s: %s\n", file, line, call,
                 static_cast<int>(status), cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(3);
}
