// thrust/mr/new.h - replaces Thrust's header: the memory of device vectors is managed.
#pragma once
#include <thrust/mr/memory_resource.h>

#include "../../cudacpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace mr {
struct new_delete_resource final : memory_resource<> {
    void* do_allocate(size_t bytes, size_t) override {
        void* p;
        if (cudaMallocManaged(&p, bytes + !bytes) != cudaSuccess) throw std::bad_alloc();
        return p;
    }
    void do_deallocate(void* p, size_t, size_t) override { cudaFree(p); }
};
}  // namespace mr
THRUST_NAMESPACE_END
