// thrust/system/detail/sequential/malloc_and_free.h - replaces Thrust's header: device_malloc() returns managed
// memory.
#pragma once
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>

#include "../../../../cuda_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace system::detail::sequential {
template <class Policy> void* malloc(execution_policy<Policy>&, size_t bytes) {
    if (cudacpu::in_kernel()) return ::malloc(bytes);
    void* p = nullptr;
    cudaMallocManaged(&p, bytes + !bytes);
    return p;
}
template <class Policy, class Pointer> void free(execution_policy<Policy>&, Pointer p) {
    void* const raw = thrust::raw_pointer_cast(p);
    if (cudacpu::in_kernel()) ::free(raw);
    else cudaFree(raw);
}
}  // namespace system::detail::sequential
THRUST_NAMESPACE_END
