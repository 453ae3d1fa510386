#pragma once
#include <cstddef>
#include "vecops_export.h"
namespace vecops {
VECOPS_EXPORT float dot(const float* a, const float* b, std::size_t n);
VECOPS_EXPORT const char* version();
}  // namespace vecops
