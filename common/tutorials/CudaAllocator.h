// CudaAllocator.h - for programs that include "CudaAllocator.h": std::vector in managed memory.
#pragma once
#include "../error.cuh"

/// Allocates memory that the host and the device share: pass vector.data() to the kernel. Elements that the program
/// does not set are 0. Ends the program with status 3 if there is not enough memory.
template <class T>
struct CudaAllocator {
    using value_type = T;

    CudaAllocator() = default;
    template <class Other>
    CudaAllocator(const CudaAllocator<Other>&) {}

    T* allocate(size_t count) {
        T* memory = nullptr;
        CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
        return memory;
    }
    void deallocate(T* memory, size_t) { CHECK(cudaFree(memory)); }

    template <class Other>
    bool operator==(const CudaAllocator<Other>&) const {
        return true;
    }
    template <class Other>
    bool operator!=(const CudaAllocator<Other>&) const {
        return false;
    }
};
