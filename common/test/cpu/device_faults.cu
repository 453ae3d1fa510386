// device_faults.cu: causes one of the faults that are possible on any GPU, so that CHECK ends the program.
//     device_faults exhaust | too_many_threads | too_much_shared | trap | illegal | assertion
//     device_faults none              exit status 77 without a device, otherwise 2
//     device_faults hold COMMAND      runs the command while this program holds all of the device's memory
// RUN: plain exhaust
// STATUS: 3
// SAYS: error 2, cudaErrorMemoryAllocation
// RUN: plain too_many_threads
// STATUS: 3
// SAYS: error {{[19]}}, cudaErrorInvalid
// RUN: plain too_much_shared
// STATUS: 3
// SAYS: error 1, cudaErrorInvalidValue
// RUN: plain trap
// STATUS: 3
// SAYS: error 719, cudaErrorLaunchFailure
// RUN: plain illegal
// STATUS: 3
// SAYS: error 700, cudaErrorIllegalAddress
// RUN: plain assertion
// STATUS: 3
// SAYS: error 710, cudaErrorAssert
// RUN: plain none
// STATUS: 2
#undef NDEBUG  // keeps assert()
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../../error.cuh"

__global__ void right(int* p) { *p = 1; }
__global__ void trap(int*) { __trap(); }
__global__ void assertion(int* p) { assert(!p); }

int main(int argc, char** argv) {
    const std::string fault = argc > 1 ? argv[1] : "";
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) return 77;
    size_t free = 0, total = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    int* p = nullptr;
    if (fault == "exhaust") CHECK(cudaMalloc(&p, total + (size_t{1} << 30)));
    if (fault == "hold") {
        for (size_t bytes = free; bytes >= 1 << 20;)
            if (cudaMalloc(&p, bytes) != cudaSuccess) bytes /= 2;
        setenv("COMMAND", argv[2], 1);  // its path may contain spaces and quotes
        return std::system("\"$COMMAND\"") >> 8;
    }
    CHECK(cudaMalloc(&p, sizeof *p));
    if (fault == "too_many_threads") right<<<1, 2048>>>(p);
    if (fault == "too_much_shared") right<<<1, 1, 16 << 20>>>(p);
    const cudaError_t refused = cudaGetLastError();
    right<<<1, 1>>>(p);  // a rejected launch does not affect the next one
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(refused);
    if (fault == "trap") trap<<<1, 1>>>(p);
    if (fault == "illegal") right<<<1, 1>>>(nullptr);
    if (fault == "assertion") assertion<<<1, 1>>>(p);
    CHECK(cudaGetLastError());  // the launch itself succeeds
    const cudaError_t sticks = cudaDeviceSynchronize();
    if (cudaMalloc(&p, 4) != sticks || cudaDeviceSynchronize() != sticks) {
        std::fprintf(stderr, "the error does not stick\n");
        return 1;
    }
    CHECK(sticks);
    std::fprintf(stderr, "no fault: %s\n", fault.c_str());
    return 2;
}
