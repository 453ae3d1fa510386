#pragma once
#include <cstdint>
struct Pcg {
    uint64_t state;
    __device__ uint32_t next();
};
