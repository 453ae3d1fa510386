// cuda_pipeline_primitives.h - asynchronous copies into shared memory. On the CPU device they are done at once.
#pragma once
#include "cuda_runtime.h"

__forceinline__ void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    char* const target = static_cast<char*>(to);
    for (size_t i = 0; i < bytes; ++i) target[i] = i < bytes - zeros ? static_cast<const char*>(from)[i] : 0;
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
