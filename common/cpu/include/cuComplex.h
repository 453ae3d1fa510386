// cuComplex.h - CUDA's complex numbers: a float2 or double2, and functions of their own names.
#pragma once
#include "cuda_runtime.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// clang-format off
#define CUDACPU_COMPLEX(Complex, T, f, make, fma) \
    inline Complex make(T re, T im) { return {re, im}; } \
    inline T cuCreal##f(Complex x) { return x.x; } \
    inline T cuCimag##f(Complex x) { return x.y; } \
    inline T cuCabs##f(Complex x) { return std::hypot(x.x, x.y); } \
    inline Complex cuConj##f(Complex x) { return {x.x, -x.y}; } \
    inline Complex cuCadd##f(Complex x, Complex y) { return {x.x + y.x, x.y + y.y}; } \
    inline Complex cuCsub##f(Complex x, Complex y) { return {x.x - y.x, x.y - y.y}; } \
    inline Complex cuCmul##f(Complex x, Complex y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
    inline Complex cuCdiv##f(Complex x, Complex y) { /* by a number near 1, so that nothing overflows */ \
        const T s = 1 / (std::abs(y.x) + std::abs(y.y)), a = x.x * s, b = x.y * s, c = y.x * s, d = y.y * s; \
        const T over = 1 / (c * c + d * d); \
        return {(a * c + b * d) * over, (b * c - a * d) * over}; \
    } \
    inline Complex fma(Complex x, Complex y, Complex z) { return cuCadd##f(cuCmul##f(x, y), z); }
CUDACPU_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, cuCfmaf)
CUDACPU_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, cuCfma)
// clang-format on
inline cuComplex make_cuComplex(float re, float im) { return {re, im}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {float(x.x), float(x.y)}; }
