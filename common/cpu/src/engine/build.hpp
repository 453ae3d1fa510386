// build.hpp - which build of the CPU device this is, and constants and attributes that every layer uses.
#pragma once
#include <cstddef>

namespace cudacpu {

#ifdef CUDACPU_HAZARDS
constexpr bool hazard_build = true;
#else
constexpr bool hazard_build = false;
#endif
#ifdef CUDACPU_COUNTERS
constexpr bool counters_build = true;
#else
constexpr bool counters_build = false;
#endif
#ifdef CUDACPU_ASAN
constexpr bool asan_build = true;
#else
constexpr bool asan_build = false;
#endif
constexpr bool plain_build = !hazard_build && !counters_build && !asan_build;

constexpr size_t page = 4096;
// threadIdx, blockIdx and similar variables: between __start_cudacpu_builtin and __stop_cudacpu_builtin.
#define CUDACPU_BUILTIN __attribute__((section("cudacpu_builtin")))
// Outlives the program's own objects, because kernels may run at its very end.
#define CUDACPU_LASTING __attribute__((init_priority(101)))

}  // namespace cudacpu
