// build.hpp - which build of the CPU device this is, and constants and attributes that every layer uses.
#pragma once
#include <unistd.h>

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

// threadIdx, blockIdx and similar variables: between __start_cudacpu_builtin and __stop_cudacpu_builtin.
#define CUDACPU_BUILTIN __attribute__((section("cudacpu_builtin")))
// Outlives the program's own objects, because kernels may run at its very end.
#define CUDACPU_LASTING __attribute__((init_priority(101)))

/// The size of a memory page in bytes: 4 KB on x86-64; 4, 16 or 64 KB on arm64. At most `largest_page`.
const struct Page {
    size_t bytes = size_t(sysconf(_SC_PAGESIZE));
    operator size_t() const { return bytes; }
} page CUDACPU_LASTING;

}  // namespace cudacpu
