// hooks.hpp - what the functions share that the compiler calls before each access of the program.
#pragma once
#include "detect.hpp"
#include "record.hpp"

namespace cudacpu::hazards {
void draw(const void* p, size_t bytes, unsigned kind, uint64_t site, const void* frame);
}

// clang-format off
#define CUDACPU_DRAW(p, bytes, kind) \
    if (__builtin_expect(cudacpu::steps::drawing, 0)) cudacpu::hazards::draw(p, bytes, kind, CUDACPU_SITE, __builtin_frame_address(0))
#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
// clang-format on
