// cuda_runtime.h - replaces NVIDIA's header on the CPU device: the language extensions of CUDA C++. The translator
// (cudacpu) finds `__global__`, `__shared__` and similar words as they are, and rewrites them.
#pragma once
#include "cudacpu/host_language.hpp"
#if __cplusplus < 202002L
#pragma GCC system_header  // no warnings about newer C++
#endif
#define CUDACPU 1  // lets a header distinguish the CPU device from a GPU
#if defined CUDACPU_INSTRUMENTED && \
    !(defined CUDACPU_COUNTED || defined CUDACPU_HAZARDS || defined CUDACPU_COUNTERS)
extern "C" {  // the compiler calls no hooks for these; in the hazard build they are hooks themselves
void* memcpy(void* __restrict__, const void* __restrict__, __SIZE_TYPE__) noexcept asm("__tsan_memcpy");
void* memmove(void*, const void*, __SIZE_TYPE__) noexcept asm("__tsan_memmove");
void* memset(void*, int, __SIZE_TYPE__) noexcept asm("__tsan_memset");
}
// Also for std::copy. The engine calls (__builtin_memcpy)(to, from, n), which has no hook.
#define __builtin_memcpy(...) ::memcpy(__VA_ARGS__)
#define __builtin_memmove(...) ::memmove(__VA_ARGS__)
#define __builtin_memset(...) ::memset(__VA_ARGS__)
#endif
#if defined CUDACPU_TRANSLATED && !defined __SANITIZE_ADDRESS__
extern "C" {  // src/memory/device_heap.cpp
void* malloc(__SIZE_TYPE__) noexcept asm("cudacpu_malloc");
void free(void*) noexcept asm("cudacpu_free");
}
#endif
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#define lerp cudacpu_std_lerp  // C++20's lerp, which would conflict with a lerp() of the program
#include <math.h>              // not <cmath>: abs() and sqrt() have to take floats also without std::
#undef lerp
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <limits>
#include <new>

#include "cuda_runtime_api.h"

#define __CUDACC__ 1
#define __CUDA_RUNTIME_H__  // tested by vendors' helper headers
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDA_VERSION CUDART_VERSION
#ifdef CUDACPU_TRANSLATED  // the translator reads and removes these words
#define __device__ __device__
#define __host__ __host__
#define __constant__ __constant__
#define __managed__ __managed__
#else
#define __device__
#define __host__
#define __constant__
#define __managed__
#endif
#ifndef __clang__
#define __builtin_assume(condition) static_cast<void>(0)
#endif
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __no_return__ __attribute__((noreturn))
#define __inline_hint__ inline
#define __nv_pure__
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI
#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM 4  // Thrust's C++ backend; see cudacpu/thrust.hpp
#endif

// They never change while a thread runs, so they are const and the compiler keeps them in registers.
#ifdef CUDACPU_INSTRUMENTED
extern const uint3 threadIdx asm("cudacpu_threadIdx");
#else  // here one function runs several threads
inline constexpr const uint3& threadIdx = ::cudacpu_thread;
#endif
extern const uint3 blockIdx asm("cudacpu_blockIdx");
extern const uint3 blockDim asm("cudacpu_blockDim"), gridDim asm("cudacpu_gridDim");  // not dim3: see dim3(uint3)
extern const int warpSize;

// A file in C++17, which the host's compiler compiles, needs only what is above.
#if __cplusplus >= 202002L

// ---- building blocks of the functions below --------------------------------------------------------------

namespace cudacpu {
using ull = unsigned long long;
template <class T, class... U>
concept one_of = (std::is_same_v<T, U> || ...);
template <class T> using as = std::type_identity_t<T>;  // an argument from which T is not deduced
constexpr auto least = [](auto a, auto b) CUDACPU_QUIET { return b < a ? b : a; };
constexpr auto most = [](auto a, auto b) CUDACPU_QUIET { return a < b ? b : a; };
constexpr auto sum = [](auto a, decltype(a) b) CUDACPU_QUIET -> decltype(a) {  // integers wrap around, as on a GPU
    if constexpr (std::is_integral_v<decltype(a)>) return decltype(a)(ull(a) + ull(b));
    else return a + b;
};
constexpr auto bits_and = [](auto a, decltype(a) b) CUDACPU_QUIET { return decltype(a)(a & b); };
constexpr auto bits_or = [](auto a, decltype(a) b) CUDACPU_QUIET { return decltype(a)(a | b); };
constexpr auto bits_xor = [](auto a, decltype(a) b) CUDACPU_QUIET { return decltype(a)(a ^ b); };
constexpr int leading_zeros(unsigned x) { return x ? __builtin_clz(x) : 32; }
constexpr int leading_zeros(ull x) { return x ? __builtin_clzll(x) : 64; }
constexpr bool is_power_of_2(ull x) { return x && !(x & (x - 1)); }
constexpr ull join(unsigned low, unsigned high) { return ull(high) << 32 | low; }

template <class T, class F> CUDACPU_QUIET T fold(const char* what, unsigned mask, T value, F f, Where where) {
    const Lanes lanes(what, mask, value, where);
    unsigned rest = lanes.present();
    for (value = lanes.get<T>(__builtin_ctz(rest)); rest &= rest - 1;)
        value = f(value, lanes.get<T>(__builtin_ctz(rest)));
    took(&value, sizeof value, -1);
    return value;
}
template <class T> CUDACPU_QUIET unsigned match(const Lanes& lanes, T value) {
    unsigned same = 0;
    for (unsigned rest = lanes.present(); rest; rest &= rest - 1)  // memcmp: a NaN matches itself
        if (const T other = lanes.get<T>(__builtin_ctz(rest)); !memcmp(&other, &value, sizeof value))
            same |= rest & -rest;
    return same;
}
template <class T, class F>
CUDACPU_QUIET T atomic(T* address, Where where, unsigned kind, F f, const void* expected = nullptr) {
    about_to_do_atomic(address, sizeof(T), kind, where, expected);
    const T old = *address;  // no other fiber runs between the two
    *address = f(old);
    return old;
}
// As in PTX: a value out of range saturates. A NaN becomes 0 if a float is converted to 32 bits, else the highest
// bit.
template <class Int, class Float> Int to_integer(Float x) {
    using Range = std::numeric_limits<Int>;
    if (isnan(x)) return sizeof(Int) + sizeof(Float) == 8 ? 0 : Int(1) << (8 * sizeof(Int) - 1);
    return x >= Float(Range::max()) ? Range::max() : x <= Float(Range::min()) ? Range::min() : Int(x);
}
}  // namespace cudacpu

// ---- barriers and fences ---------------------------------------------------------------------------------

inline void __threadfence() { cudacpu::fence(); }
inline void __threadfence_block() { cudacpu::fence(true); }
inline void __threadfence_system() { cudacpu::fence(); }
CUDACPU_INLINE void __syncthreads(CUDACPU_HERE) { cudacpu::barrier("__syncthreads()", 0, where); }
// clang-format off
#define CUDACPU_BARRIER(name, vote, result) \
    inline int name(int p, CUDACPU_HERE) { return cudacpu::barrier(#name "()", vote, where) result; }
CUDACPU_BARRIER(__syncthreads_count, p != 0, +0)
CUDACPU_BARRIER(__syncthreads_or, p != 0, > 0)
CUDACPU_BARRIER(__syncthreads_and, p == 0, == 0)
// clang-format on

// ---- warp operations: +value promotes as nvcc's overloads do ---------------------------------------------

inline unsigned __activemask(CUDACPU_HERE) { return cudacpu::active_lanes(where); }
inline void __syncwarp(unsigned mask = ~0u, CUDACPU_HERE) { cudacpu::Lanes("__syncwarp()", mask, 0, where); }
template <class T> unsigned __match_any_sync(unsigned mask, T value, CUDACPU_HERE) {
    return cudacpu::match({"__match_any_sync()", mask, +value, where}, +value);
}
template <class T> unsigned __match_all_sync(unsigned mask, T value, int* all, CUDACPU_HERE) {
    const cudacpu::Lanes lanes("__match_all_sync()", mask, +value, where);
    *all = cudacpu::match(lanes, +value) == lanes.present();
    return *all ? lanes.present() : 0;
}

// clang-format off
// As in PTX: the argument counts modulo 32, and __shfl_xor_sync reaches into lower segments but not into higher
// ones.
#define CUDACPU_SHUFFLE(name, Argument, source) \
    template <class T> \
    CUDACPU_QUIET auto name(unsigned mask, T value, Argument argument, int width = 32, CUDACPU_HERE) { \
        const cudacpu::Lanes lanes(#name "()", mask, +value, where); \
        const int n = argument & 31, me = cudacpu::lane(), first = me & -width, from = source; \
        const int source_lane = from < first + width ? from & 31 : me; \
        const auto result = lanes.get<decltype(+value)>(source_lane); \
        cudacpu::took(&result, sizeof result, source_lane); \
        return result; \
    }
CUDACPU_SHUFFLE(__shfl_sync, int, first + (n & (width - 1)))
CUDACPU_SHUFFLE(__shfl_up_sync, unsigned, me - n < first ? me : me - n)
CUDACPU_SHUFFLE(__shfl_down_sync, unsigned, me + n)
CUDACPU_SHUFFLE(__shfl_xor_sync, int, me ^ n)

#define CUDACPU_FOLD(R, name, T, shown, f) \
    inline R name(unsigned mask, T v, CUDACPU_HERE) { return cudacpu::fold(#name "()", mask, shown, f, where); }
#define CUDACPU_REDUCE(op, T, f) CUDACPU_FOLD(T, __reduce_##op##_sync, T, v, f)
CUDACPU_FOLD(unsigned, __ballot_sync, int, v ? 1u << cudacpu::lane() : 0u, cudacpu::bits_or)
CUDACPU_FOLD(int, __any_sync, int, v != 0, cudacpu::bits_or)
CUDACPU_FOLD(int, __all_sync, int, v != 0, cudacpu::bits_and)
CUDACPU_REDUCE(add, int, cudacpu::sum)        CUDACPU_REDUCE(add, unsigned, cudacpu::sum)
CUDACPU_REDUCE(min, int, cudacpu::least)      CUDACPU_REDUCE(min, unsigned, cudacpu::least)
CUDACPU_REDUCE(max, int, cudacpu::most)       CUDACPU_REDUCE(max, unsigned, cudacpu::most)
CUDACPU_REDUCE(or, unsigned, cudacpu::bits_or)   CUDACPU_REDUCE(and, unsigned, cudacpu::bits_and)
CUDACPU_REDUCE(xor, unsigned, cudacpu::bits_xor)

// The `...` is a worse match than any function of the program with the same name.
#define CUDACPU_GONE(name) \
    template <int n = 0> int name(...) { \
        static_assert(n, #name "() is gone since Volta: write " #name "_sync(mask, ...)"); \
        return 0; \
    }
CUDACPU_GONE(__shfl)  CUDACPU_GONE(__shfl_up)  CUDACPU_GONE(__shfl_down)  CUDACPU_GONE(__shfl_xor)
CUDACPU_GONE(__any)   CUDACPU_GONE(__all)      CUDACPU_GONE(__ballot)

// ---- atomics: only for CUDA's types, so that nvcc accepts what this header accepts -----------------------

#define CUDACPU_ATOMIC(name, kind, expression, ...) \
    template <cudacpu::one_of<__VA_ARGS__> T> T name(T* address, cudacpu::as<T> value, CUDACPU_HERE) { \
        return cudacpu::atomic(address, where, kind, [=](T old) CUDACPU_QUIET -> T { return expression; }); \
    }
#define CUDACPU_CAS(name, kind, ...) \
    template <cudacpu::one_of<__VA_ARGS__> T> \
    T name(T* address, cudacpu::as<T> expected, cudacpu::as<T> value, CUDACPU_HERE) { \
        auto swap = [=](T old) CUDACPU_QUIET { return old == expected ? value : old; }; \
        return cudacpu::atomic(address, where, kind, swap, &expected); \
    }
#define CUDACPU_SCOPES(X, name, kind, ...) \
    X(name, kind, __VA_ARGS__) X(name##_block, kind | cudacpu::at_block_scope, __VA_ARGS__) \
    X(name##_system, kind, __VA_ARGS__)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicAdd, 0, cudacpu::sum(old, value), int, unsigned, cudacpu::ull, float, double)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicSub, 0, cudacpu::sum(old, T(0u - value)), int, unsigned)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicExch, cudacpu::at_exchanges, ((void)old, value), int, unsigned, cudacpu::ull,
               float)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicMin, 0, cudacpu::least(old, value), int, unsigned, cudacpu::ull, long long)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicMax, 0, cudacpu::most(old, value), int, unsigned, cudacpu::ull, long long)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicAnd, 0, old & value, int, unsigned, cudacpu::ull)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicOr, 0, old | value, int, unsigned, cudacpu::ull)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicXor, 0, old ^ value, int, unsigned, cudacpu::ull)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicInc, 0, old >= value ? 0 : old + 1, unsigned)
CUDACPU_SCOPES(CUDACPU_ATOMIC, atomicDec, 0, old == 0 || old > value ? value : old - 1, unsigned)
CUDACPU_SCOPES(CUDACPU_CAS, atomicCAS, cudacpu::at_compares, int, unsigned, cudacpu::ull, unsigned short)

// Of sm_90: each part of a vector by itself, in global memory only; and 16-byte types as a whole.
#define CUDACPU_PARTS(name) \
    inline float2 name(float2* p, float2 v, CUDACPU_HERE) { \
        if (cudacpu::space_of(p) == cudacpu::Space::shared) cudacpu::trap("an atomic on a vector in shared memory", where); \
        return {name(&p->x, v.x, where), name(&p->y, v.y, where)}; \
    } \
    inline float4 name(float4* p, float4 v, CUDACPU_HERE) { \
        if (cudacpu::space_of(p) == cudacpu::Space::shared) cudacpu::trap("an atomic on a vector in shared memory", where); \
        return {name(&p->x, v.x, where), name(&p->y, v.y, where), name(&p->z, v.z, where), name(&p->w, v.w, where)}; \
    }
CUDACPU_PARTS(atomicAdd) CUDACPU_PARTS(atomicAdd_block) CUDACPU_PARTS(atomicAdd_system)
namespace cudacpu {
template <class T> concept wide = sizeof(T) == 16 && alignof(T) >= 16 && std::is_trivially_copyable_v<T>;
}
#define CUDACPU_WIDE_EXCHANGE(name, kind, ...) \
    template <cudacpu::wide T> T name(T* address, cudacpu::as<T> value, CUDACPU_HERE) { \
        return cudacpu::atomic(address, where, kind, [&](const T&) CUDACPU_QUIET { return value; }); \
    }
#define CUDACPU_WIDE_CAS(name, kind, ...) \
    template <cudacpu::wide T> T name(T* address, cudacpu::as<T> expected, cudacpu::as<T> value, CUDACPU_HERE) { \
        auto swap = [&](const T& old) CUDACPU_QUIET { return __builtin_memcmp(&old, &expected, 16) ? old : value; }; \
        return cudacpu::atomic(address, where, kind, swap, &expected); \
    }
CUDACPU_SCOPES(CUDACPU_WIDE_EXCHANGE, atomicExch, cudacpu::at_exchanges)
CUDACPU_SCOPES(CUDACPU_WIDE_CAS, atomicCAS, cudacpu::at_compares)

// ---- mathematics -----------------------------------------------------------------------------------------

// The C library's functions, inlined: of a NaN and a number they return the number.
#define CUDACPU_NUMBER(T, name, op) \
    extern inline __attribute__((gnu_inline, always_inline)) T name(T a, T b) noexcept { \
        const T result = a op b ? a : b; \
        return b == b ? result : a; \
    }
extern "C" {
CUDACPU_NUMBER(float, fminf, <) CUDACPU_NUMBER(float, fmaxf, >)
CUDACPU_NUMBER(double, fmin, <) CUDACPU_NUMBER(double, fmax, >)
}

#define CUDACPU_FUNCTION(name, expression) \
    inline double name(double x) noexcept { return expression; } \
    inline float name(float x) noexcept { return float(name(double(x))); } \
    inline float name##f(float x) noexcept { return name(x); }
CUDACPU_FUNCTION(rsqrt, 1 / sqrt(x))
CUDACPU_FUNCTION(sinpi, sin(M_PI * remainder(x, 1)) * (fabs(remainder(x, 2)) > 0.5 ? -1 : 1))
CUDACPU_FUNCTION(cospi, sinpi(0.5 - fabs(remainder(x, 2))))

#define CUDACPU_FLOAT(name, expression) inline float __##name(float x) { return expression; }
CUDACPU_FLOAT(expf, expf(x))       CUDACPU_FLOAT(exp10f, exp10f(x))       CUDACPU_FLOAT(logf, logf(x))
CUDACPU_FLOAT(log2f, log2f(x))     CUDACPU_FLOAT(log10f, log10f(x))       CUDACPU_FLOAT(sinf, sinf(x))
CUDACPU_FLOAT(cosf, cosf(x))       CUDACPU_FLOAT(tanf, tanf(x))           CUDACPU_FLOAT(frcp_rn, 1 / x)
CUDACPU_FLOAT(fsqrt_rn, sqrtf(x))  CUDACPU_FLOAT(frsqrt_rn, rsqrtf(x))

#define CUDACPU_ROUNDED(name, op) \
    inline float __f##name##_rn(float x, float y) { return x op y; } \
    inline double __d##name##_rn(double x, double y) { return x op y; }
CUDACPU_ROUNDED(add, +)    CUDACPU_ROUNDED(sub, -)    CUDACPU_ROUNDED(mul, *)    CUDACPU_ROUNDED(div, /)

#define CUDACPU_CONVERT(Float, to, Int) \
    inline Int __##Float##2##to##_rn(Float x) { return cudacpu::to_integer<Int>(rint(x)); } \
    inline Int __##Float##2##to##_rz(Float x) { return cudacpu::to_integer<Int>(x); } \
    inline Int __##Float##2##to##_ru(Float x) { return cudacpu::to_integer<Int>(ceil(x)); } \
    inline Int __##Float##2##to##_rd(Float x) { return cudacpu::to_integer<Int>(floor(x)); } \
    inline Float __##to##2##Float##_rn(Int x) { return Float(x); }
CUDACPU_CONVERT(float, int, int)        CUDACPU_CONVERT(float, uint, unsigned)
CUDACPU_CONVERT(float, ll, long long)   CUDACPU_CONVERT(float, ull, unsigned long long)
CUDACPU_CONVERT(double, int, int)       CUDACPU_CONVERT(double, uint, unsigned)
CUDACPU_CONVERT(double, ll, long long)  CUDACPU_CONVERT(double, ull, unsigned long long)

#define CUDACPU_MINMAX(T, A, B, smaller, larger) \
    inline T min(A a, B b) { return smaller((T)a, (T)b); } \
    inline T max(A a, B b) { return larger((T)a, (T)b); }
#define CUDACPU_MINMAX_OF(T, U, f, g) \
    CUDACPU_MINMAX(T, T, T, f, g) CUDACPU_MINMAX(U, T, U, f, g) \
    CUDACPU_MINMAX(U, U, T, f, g) CUDACPU_MINMAX(U, U, U, f, g)
CUDACPU_MINMAX_OF(int, unsigned, cudacpu::least, cudacpu::most)
CUDACPU_MINMAX_OF(long, unsigned long, cudacpu::least, cudacpu::most)
CUDACPU_MINMAX_OF(long long, unsigned long long, cudacpu::least, cudacpu::most)
CUDACPU_MINMAX(float, float, float, fminf, fmaxf)     CUDACPU_MINMAX(double, double, double, fmin, fmax)
CUDACPU_MINMAX(double, float, double, fmin, fmax)     CUDACPU_MINMAX(double, double, float, fmin, fmax)
constexpr unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
constexpr unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }

inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
// clang-format on
inline void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return fabsf(y) > 0x1p126f ? x * 0 : x / y; }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0), 1); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __double2float_rn(double x) { return float(x); }

// ---- bits ------------------------------------------------------------------------------------------------

// clang-format off
#define CUDACPU_CAST(From, from, To, to) constexpr To __##from##_as_##to(From x) { return __builtin_bit_cast(To, x); }
CUDACPU_CAST(float, float, int, int)               CUDACPU_CAST(int, int, float, float)
CUDACPU_CAST(float, float, unsigned, uint)         CUDACPU_CAST(unsigned, uint, float, float)
CUDACPU_CAST(double, double, long long, longlong)  CUDACPU_CAST(long long, longlong, double, double)
#define CUDACPU_BITS(name, expression) \
    constexpr int __##name(unsigned x) { return expression; } \
    constexpr int __##name##ll(unsigned long long x) { return expression; }
CUDACPU_BITS(popc, __builtin_popcountll(x))    CUDACPU_BITS(clz, cudacpu::leading_zeros(x))
CUDACPU_BITS(ffs, __builtin_ffsll(x))

constexpr int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
constexpr unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
constexpr int __mulhi(int a, int b) { return int(int64_t(a) * b >> 32); }
constexpr unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
constexpr unsigned long long __umul64hi(uint64_t a, uint64_t b) { return uint64_t(__uint128_t(a) * b >> 64); }
// clang-format on
constexpr unsigned long long __brevll(unsigned long long x) {
    cudacpu::ull r = 0;
    for (int i = 0; i < 64; ++i) r |= (x >> i & 1) << (63 - i);
    return r;
}
constexpr unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }
constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned r = 0;
    const cudacpu::ull bytes = cudacpu::join(x, y);
    for (int i = 0; i < 32; i += 8, selector >>= 4) r |= unsigned(bytes >> 8 * (selector & 7) & 0xff) << i;
    return r;
}
constexpr unsigned __funnelshift_l(unsigned a, unsigned b, unsigned n) {
    return unsigned(cudacpu::join(a, b) << n % 32 >> 32);
}
constexpr unsigned __funnelshift_r(unsigned a, unsigned b, unsigned n) {
    return unsigned(cudacpu::join(a, b) >> n % 32);
}
template <cudacpu::one_of<int, unsigned> T> constexpr T __dp4a(T a, T b, T c) {
    using Byte = std::conditional_t<std::is_signed_v<T>, signed char, unsigned char>;
    for (int i = 0; i < 32; i += 8) c = cudacpu::sum(c, T(Byte(a >> i) * Byte(b >> i)));
    return c;
}

// ---- memory, time and traps: always inline where a report names the program's line ------------------------

template <class T> __forceinline__ T __ldg(const T* p) { return *p; }
template <class T> __forceinline__ T __ldcg(const T* p) { return *p; }
template <class T> __forceinline__ T __ldcs(const T* p) { return *p; }
template <class T> __forceinline__ void __stcg(T* p, cudacpu::as<T> value) { *p = value; }
template <class T> __forceinline__ void __stcs(T* p, cudacpu::as<T> value) { *p = value; }
inline long long clock64() { return cudacpu::clock_ticks(); }  // the engine also defines clock()
CUDACPU_QUIET inline void __nanosleep(unsigned) {              // gives way at each sixteenth: it costs
    if ((cudacpu::waits_in_a_row += 64) > 1000) cudacpu::give_way();
}
inline void __trap(CUDACPU_HERE) { cudacpu::trap("__trap()", where); }

#include "cudacpu/intrinsics.hpp"
#include "texture_fetch_functions.h"

#endif
