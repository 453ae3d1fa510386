// clangd.h - read by clangd before a .cu file. clangd takes <<<...>>> in CUDA's mode only, and reads the CPU
// device's headers, with no CUDA Toolkit. There every function is the host's, so CUDA's words mean nothing here;
// .clangd leaves out the two errors that follow from that. No build uses this file.
#pragma once
__attribute__((host, device)) void* operator new(__SIZE_TYPE__);  // else there are two, one a side
#include <new>
#define __CLANG_CUDA_WRAPPERS_NEW  // clang's own <new> would add those of the GPU's side
#define __global__
#define __host__
#define __device__
#define __shared__
#define __launch_bounds__(...)
#include <math.h>
#include "vector_types.h"
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = nullptr);  // what <<<...>>> calls
