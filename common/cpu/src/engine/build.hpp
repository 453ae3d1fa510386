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

// A layer below race/ and warp/ declares what it calls of them with these macros. A build without the race
// detector, or without lockstep, gets an empty inline function.
#ifdef CUDACPU_HAZARDS
#define CUDACPU_RACE_UPCALL(declaration) void declaration
#else
#define CUDACPU_RACE_UPCALL(declaration) \
    inline void declaration {}
#endif
#if defined(CUDACPU_HAZARDS) || defined(CUDACPU_COUNTERS)
#define CUDACPU_WARP_UPCALL(declaration, result) declaration
#else
#define CUDACPU_WARP_UPCALL(declaration, result) \
    inline declaration { return result; }
#endif

constexpr size_t page = 4096;
// threadIdx, blockIdx and similar variables: between __start_cudacpu_builtin and __stop_cudacpu_builtin.
#define CUDACPU_BUILTIN __attribute__((section("cudacpu_builtin")))
// Outlives the program's own objects, because kernels may run at its very end.
#define CUDACPU_LASTING __attribute__((init_priority(101)))

}  // namespace cudacpu
