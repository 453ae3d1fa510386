// cuda_fp16.h - half precision in software: 5 bits of exponent, 10 of mantissa.
#pragma once
#include "cudacpu/small_floats.hpp"

#define CUDACPU_H __half
#define CUDACPU_H2 __half2
#define CUDACPU_RAW __half_raw
#define CUDACPU_RAW2 __half2_raw
#define CUDACPU_FORMAT cudacpu::small::Format<5>
#define CUDACPU_NAMED(before, after) before##half##after
#define CUDACPU_TO_BOTH __half2half2
#include "cudacpu/small_float_functions.hpp"
#undef CUDACPU_H
#undef CUDACPU_H2
#undef CUDACPU_RAW
#undef CUDACPU_RAW2
#undef CUDACPU_FORMAT
#undef CUDACPU_NAMED
#undef CUDACPU_TO_BOTH

#ifndef CUDA_NO_HALF
using half = __half;
using half2 = __half2;
#endif
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
#define CUDART_ZERO_FP16 __ushort_as_half(0)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(1)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
