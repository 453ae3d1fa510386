// cuda.h - only the part of the driver API that runtime API programs call: cuInit(), which does nothing.
#pragma once
#include "cuda_runtime.h"  // the CPU device defines everything there

using CUresult = cudaError_t;
constexpr CUresult CUDA_SUCCESS = cudaSuccess, CUDA_ERROR_INVALID_VALUE = cudaErrorInvalidValue;

inline CUresult cuInit(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
