// cuda_bf16.h - bfloat16 in software: 8 bits of exponent, as many as a float has, and 7 of mantissa.
#pragma once
#include "cudacpu/small_floats.hpp"

#define CUDACPU_H __nv_bfloat16
#define CUDACPU_H2 __nv_bfloat162
#define CUDACPU_RAW __nv_bfloat16_raw
#define CUDACPU_RAW2 __nv_bfloat162_raw
#define CUDACPU_FORMAT cudacpu::small::Format<8>
#define CUDACPU_NAMED(before, after) before##bfloat16##after
#define CUDACPU_TO_BOTH __bfloat162bfloat162
#include "cudacpu/small_float_functions.hpp"
#undef CUDACPU_H
#undef CUDACPU_H2
#undef CUDACPU_RAW
#undef CUDACPU_RAW2
#undef CUDACPU_FORMAT
#undef CUDACPU_NAMED
#undef CUDACPU_TO_BOTH

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(1)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
