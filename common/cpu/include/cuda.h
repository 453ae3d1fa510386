// cuda.h - of the driver API only what programs of the runtime API call: cuInit(), which has nothing to do.
#pragma once
#include "cuda_runtime.h"  // the CPU device keeps everything there

using CUresult = cudaError_t;
constexpr CUresult CUDA_SUCCESS = cudaSuccess, CUDA_ERROR_INVALID_VALUE = cudaErrorInvalidValue;

inline CUresult cuInit(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
