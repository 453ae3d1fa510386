// What C++ leaves undefined: operations that a GPU calculates differently, misaligned addresses, and a missing
// return.
#include "case.cuh"

// RUN: plain,hazards shifts
// SAYS: note: a shift of 32 bits by 32: a GPU shifts them all out
// SAYS: at undefined_behaviour.cu:@#shifts
// SAYS: a shift of 64 bits by 64
// SAYS: at undefined_behaviour.cu:@#shifts_shared
// SAYS: a shift of 32 bits by -32
// SAYS: at undefined_behaviour.cu:@#shifts_negative
__global__ void shifts(int* p, int by) {
    p[0] = 1 << by;  // #shifts
    p[1] = int(0xffffffffu >> (by - 1));
    __shared__ long wide;
    volatile short narrow = -5;
    wide = -9;
    wide >>= 2 * by;  // #shifts_shared
    narrow >>= -by;   // #shifts_negative
    p[2] = int(wide) + narrow;
}
CASE(shifts) { return shifts<<<1, 1>>>(device<int>(3), 32), result(); }

// The second conversion keeps the low bits of 300.
// RUN: hazards too_large
// SAYS: note: 3e+10 as 'int', which has no such value
// SAYS: at undefined_behaviour.cu:@#too_large
__global__ void too_large(float x, int* p) {
    p[0] = int(x);  // #too_large
    p[1] = (unsigned char)(x / 1e8f);
}
CASE(too_large) { return too_large<<<1, 1>>>(3e10f, device<int>(2)), result(); }

// RUN: plain divide_by_zero
// STATUS: 219
// SAYS: integer division by zero
// SAYS: at undefined_behaviour.cu:@#divide
__global__ void divide_by_zero(int* p) {
    *p = 7 / *p;  // #divide
}
CASE(divide_by_zero) { return divide_by_zero<<<1, 1>>>(device<int>(1)), result(); }

// RUN: plain misaligned
// STATUS: 216
// SAYS: misaligned address: {{0x[0-9a-f]+}} is no multiple of 4, which 'const int' needs: byte 1 of the 4096 bytes
// SAYS: at undefined_behaviour.cu:@#misaligned
__global__ void misaligned(const char* p, int* out) {
    *out = *reinterpret_cast<const int*>(p + 1);  // #misaligned
}
CASE(misaligned) { return misaligned<<<1, 1>>>(managed<char>(4096), managed<int>(1)), result(); }

// clang does not check the address of a struct that is copied.
// RUN: gcc plain misaligned_vector
// STATUS: 216
// SAYS: is no multiple of 16, which 'const struct float4' needs
// SAYS: at undefined_behaviour.cu:@#misaligned_vector
__global__ void misaligned_vector(const float* p, float4* out) {
    *out = *reinterpret_cast<const float4*>(p + 1);  // #misaligned_vector
}
CASE(misaligned_vector) { return misaligned_vector<<<1, 1>>>(managed<float>(8), managed<float4>(1)), result(); }

// RUN: gcc plain misaligned_store
// STATUS: 216
// SAYS: is no multiple of 16
// SAYS: at undefined_behaviour.cu:@#misaligned_store
__global__ void misaligned_store(float* p) {
    __stcs(reinterpret_cast<float4*>(p + 1 + 4 * threadIdx.x), float4{});  // #misaligned_store
}
CASE(misaligned_store) { return misaligned_store<<<1, 32>>>(device<float>(200)), result(); }

// RUN: plain,hazards no_return
// STATUS: 3
// SAYS: a function that has to return a value ended without a return at undefined_behaviour.cu:@#no_return
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
static int no_return(int x) {  // #no_return
    if (x > 0) return x;
}
#pragma GCC diagnostic pop
CASE(no_return) { return no_return(-allocations); }
