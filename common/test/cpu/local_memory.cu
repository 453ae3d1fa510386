// Variables of a thread: its stack, and atomics on them.
#include "case.cuh"

// RUN: plain stack_overflow
// STATUS: 200
// SAYS: stack overflow
__device__ int deep(volatile int* p, int n) {
    volatile char big[1000];
    big[n % 1000] = 1;
    return n ? deep(p, n - 1) + big[n % 1000] : *p;
}
__global__ void stack_overflow(int* p) { *p = deep(p, 100000); }
CASE(stack_overflow) { return stack_overflow<<<1, 1>>>(device<int>(1)), result(); }

// RUN: plain large_array
// RUN: plain much_too_large
// STATUS: 200
// SAYS: stack overflow
// SAYS: the local variables of a thread have 512 KB
// SAYS: at local_memory.cu:@#much_too_large
template <int KB>
__global__ void local_array(int* out, int i) {  // #much_too_large
    volatile char a[KB << 10];
    for (int k = 0; k < 4; ++k) a[i + k * (KB << 8)] = 1;
    out[threadIdx.x] = 4 + a[i];
}
CASE(large_array) {
    int* const out = managed<int>(32);
    local_array<500><<<1, 32>>>(out, 0);
    return result(out, 5);
}
CASE(much_too_large) { return local_array<700><<<1, 32>>>(managed<int>(32), 0), result(); }

// RUN: plain own_atomic
// STATUS: 219
// SAYS: an atomic on a variable of the thread's own
// SAYS: at local_memory.cu:@#own_atomic
__global__ void own_atomic(int* out, int n) {
    int bins[4] = {};
    for (int i = 0; i < n; ++i) atomicAdd(&bins[i % 4], 1);  // #own_atomic
    *out = bins[0];
}
CASE(own_atomic) { return own_atomic<<<1, 1>>>(managed<int>(1), 10), result(); }
