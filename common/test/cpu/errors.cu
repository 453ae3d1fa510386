// Errors of kernels and of calls, and what becomes of the exit status if the program ignores them.
#include "case.cuh"

#include <cassert>
#include <chrono>
#include <thread>

// RUN: plain assertion
// STATUS: 210
// SAYS: errors.cu:@#assertion: void assertion(){{.*}}block: [0,0,0], thread: [3,0,0] Assertion `i != 3` failed
__global__ void assertion() {
    int i = threadIdx.x;
    assert(i != 3);  // #assertion
}
CASE(assertion) { return assertion<<<1, 32>>>(), result(); }

// RUN: plain trap
// STATUS: 219
// SAYS: __trap() was called
__global__ void trapping() { __trap(); }
CASE(trap) { return trapping<<<1, 1>>>(), result(); }

__global__ void set(int* p, int value) { p[threadIdx.x] = value; }

// RUN: plain fault_while_polled
// STATUS: 200
// SAYS: illegal memory access
CASE(fault_while_polled) {
    set<<<1, 32>>>(nullptr, 5);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return result();
}

// RUN: plain fault_ignored
// STATUS: 1
// SAYS: illegal memory access
// SAYS: bugs were found: exit status 1
CASE(fault_ignored) {
    set<<<1, 32>>>(nullptr, 5);
    cudaDeviceSynchronize();
    return 0;
}

// RUN: plain fault_forgotten
// STATUS: 1
// SAYS: illegal memory access
// SAYS: bugs were found: exit status 1
CASE(fault_forgotten) {
    set<<<1, 32>>>(nullptr, 5);
    return cudaDeviceReset(), 0;
}

// RUN: plain fault_told
// SAYS: illegal memory access
// SAYS-NOT: bugs were found
CASE(fault_told) {
    set<<<1, 32>>>(nullptr, 5);
    cudaGetErrorString(cudaDeviceSynchronize());
    return cudaDeviceReset(), 0;
}

// RUN: plain copy_forgotten
// STATUS: 1
// SAYS: goes beyond its memory
// SAYS: bugs were found: exit status 1
CASE(copy_forgotten) {
    cudaMemset(managed<int>(1024), 0, 4097);
    return 0;
}

// RUN: plain found_wrong
// STATUS: 1
// SAYS: notice: the program ended with status 1. Build it with --hazards
CASE(found_wrong) {
    int* const p = managed<int>(32);
    set<<<1, 32>>>(p, 5);
    return result(p, 6);
}
