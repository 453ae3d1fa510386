// cuda_runtime.h - stands in for NVIDIA's where there is no GPU: what CUDA C++ adds to C++.
// `__global__` and `__shared__` stay as they are: the translator (cudacpu.cpp) rewrites them.
#pragma once
#define CUDACPU 1  // how a header can tell the CPU device from a GPU
#if defined(__NVCC__) || !defined(__cplusplus)
#error "this folder holds the CPU device's headers: it is not for nvcc, and not for C"
#endif
#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <type_traits>

#include "cuda_runtime_api.h"

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __nv_pure__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

// They never change while a thread runs, so that they may be const: the compiler keeps them in registers.
extern const uint3 threadIdx asm("cudacpu_threadIdx");
extern const uint3 blockIdx asm("cudacpu_blockIdx");
extern const dim3 blockDim asm("cudacpu_blockDim");
extern const dim3 gridDim asm("cudacpu_gridDim");
extern const int warpSize;

// ---- barriers and fences ---------------------------------------------------------------------------------

inline void __syncthreads(CUDACPU_HERE) { cudacpu::barrier("__syncthreads()", 0, where); }
inline int __syncthreads_count(int p, CUDACPU_HERE) {
    return cudacpu::barrier("__syncthreads_count()", p != 0, where);
}
inline int __syncthreads_or(int p, CUDACPU_HERE) {
    return cudacpu::barrier("__syncthreads_or()", p != 0, where) > 0;
}
inline int __syncthreads_and(int p, CUDACPU_HERE) {
    return cudacpu::barrier("__syncthreads_and()", p == 0, where) == 0;
}
inline void __threadfence() { cudacpu::fence(); }
inline void __threadfence_block() { cudacpu::fence(); }
inline void __threadfence_system() { cudacpu::fence(); }

// ---- warp operations -------------------------------------------------------------------------------------

inline void __syncwarp(unsigned mask = 0xffffffff, CUDACPU_HERE) {
    cudacpu::Lanes("__syncwarp()", mask, 0, where);
}
inline unsigned __activemask(CUDACPU_HERE) { return cudacpu::active_lanes(where); }

template <class T> concept cudacpu_exchangeable = std::is_arithmetic_v<T> && sizeof(T) >= 4 && sizeof(T) <= 8;

#define CUDACPU_SHUFFLE(name, Argument, source) \
    template <cudacpu_exchangeable T> \
    CUDACPU_QUIET T name(unsigned mask, T value, Argument argument, int width = 32, CUDACPU_HERE) { \
        const cudacpu::Lanes lanes(#name "()", mask, value, where); \
        const int me = cudacpu::lane, first = me & ~(width - 1), last = first + width - 1, from = source; \
        return lanes.get<T>(from >= first && from <= last ? from : me); \
    }
CUDACPU_SHUFFLE(__shfl_sync, int, first + (argument & (width - 1)))
CUDACPU_SHUFFLE(__shfl_up_sync, unsigned, me - int(argument))
CUDACPU_SHUFFLE(__shfl_down_sync, unsigned, me + int(argument))
CUDACPU_SHUFFLE(__shfl_xor_sync, int, (me ^ argument) > last ? me : me ^ argument)
#undef CUDACPU_SHUFFLE

namespace cudacpu {
template <class T, class F>
CUDACPU_QUIET T fold(const char* what, unsigned mask, T value, F f, Where where) {
    const Lanes lanes(what, mask, value, where);
    bool first = true;
    for (int i = 0; i < 32; ++i)
        if (lanes.present() >> i & 1) {
            value = first ? lanes.get<T>(i) : static_cast<T>(f(value, lanes.get<T>(i)));
            first = false;
        }
    return value;
}
}  // namespace cudacpu

inline unsigned __ballot_sync(unsigned mask, int p, CUDACPU_HERE) {
    return cudacpu::fold("__ballot_sync()", mask, p ? 1u << cudacpu::lane : 0u, std::bit_or<>(), where);
}
inline int __any_sync(unsigned mask, int p, CUDACPU_HERE) {
    return cudacpu::fold("__any_sync()", mask, int(p != 0), std::bit_or<>(), where);
}
inline int __all_sync(unsigned mask, int p, CUDACPU_HERE) {
    return cudacpu::fold("__all_sync()", mask, int(p != 0), std::bit_and<>(), where);
}
template <class T> concept cudacpu_word = std::same_as<T, int> || std::same_as<T, unsigned>;
#define CUDACPU_REDUCE(name, T, f) \
    inline T name(unsigned mask, T value, CUDACPU_HERE) { \
        return cudacpu::fold(#name "()", mask, value, f, where); \
    }
CUDACPU_REDUCE(__reduce_add_sync, unsigned, std::plus<>())
CUDACPU_REDUCE(__reduce_add_sync, int, [](unsigned a, unsigned b) { return a + b; })
CUDACPU_REDUCE(__reduce_min_sync, unsigned, [](auto a, auto b) { return std::min(a, b); })
CUDACPU_REDUCE(__reduce_min_sync, int, [](auto a, auto b) { return std::min(a, b); })
CUDACPU_REDUCE(__reduce_max_sync, unsigned, [](auto a, auto b) { return std::max(a, b); })
CUDACPU_REDUCE(__reduce_max_sync, int, [](auto a, auto b) { return std::max(a, b); })
CUDACPU_REDUCE(__reduce_and_sync, unsigned, std::bit_and<>())
CUDACPU_REDUCE(__reduce_or_sync, unsigned, std::bit_or<>())
CUDACPU_REDUCE(__reduce_xor_sync, unsigned, std::bit_xor<>())
#undef CUDACPU_REDUCE

template <cudacpu_exchangeable T>
CUDACPU_QUIET unsigned __match_any_sync(unsigned mask, T value, CUDACPU_HERE) {
    const cudacpu::Lanes lanes("__match_any_sync()", mask, value, where);
    unsigned same = 0;
    for (int i = 0; i < 32; ++i)
        if (lanes.present() >> i & 1 && lanes.get<T>(i) == value) same |= 1u << i;
    return same;
}
template <cudacpu_exchangeable T>
CUDACPU_QUIET unsigned __match_all_sync(unsigned mask, T value, int* all, CUDACPU_HERE) {
    const cudacpu::Lanes lanes("__match_all_sync()", mask, value, where);
    *all = 1;
    for (int i = 0; i < 32; ++i)
        if (lanes.present() >> i & 1 && lanes.get<T>(i) != value) *all = 0;
    return *all ? lanes.present() : 0;
}

// ---- atomics: for the types that CUDA has them for, so that nvcc takes what this takes -------------------

namespace cudacpu {
using ull = unsigned long long;
template <class T, class... U> concept one_of = (std::same_as<T, U> || ...);
template <class T, class F>
CUDACPU_QUIET T atomic(T* address, F f, Where where, bool compare = false) {
    about_to_do_atomic(address, sizeof(T), compare, where);
    const T old = *address;  // no other fiber runs between the two
    *address = f(old);
    return old;
}
}  // namespace cudacpu
#define CUDACPU_ATOMIC(name, expression, ...) \
    template <cudacpu::one_of<__VA_ARGS__> T> \
    CUDACPU_QUIET T name(T* address, std::type_identity_t<T> value, CUDACPU_HERE) { \
        return cudacpu::atomic(address, [=](T old) CUDACPU_QUIET -> T { return expression; }, where); \
    } \
    template <class T> T name##_block(T* address, std::type_identity_t<T> value, CUDACPU_HERE) { \
        return name(address, value, where); \
    } \
    template <class T> T name##_system(T* address, std::type_identity_t<T> value, CUDACPU_HERE) { \
        return name(address, value, where); \
    }
CUDACPU_ATOMIC(atomicAdd, std::is_integral_v<T> ? T(cudacpu::ull(old) + cudacpu::ull(value)) : T(old + value),
               int, unsigned, cudacpu::ull, float, double)
CUDACPU_ATOMIC(atomicSub, T(unsigned(old) - unsigned(value)), int, unsigned)
CUDACPU_ATOMIC(atomicExch, ((void)old, value), int, unsigned, cudacpu::ull, float)
CUDACPU_ATOMIC(atomicMin, std::min(old, value), int, unsigned, cudacpu::ull, long long)
CUDACPU_ATOMIC(atomicMax, std::max(old, value), int, unsigned, cudacpu::ull, long long)
CUDACPU_ATOMIC(atomicAnd, old & value, int, unsigned, cudacpu::ull)
CUDACPU_ATOMIC(atomicOr, old | value, int, unsigned, cudacpu::ull)
CUDACPU_ATOMIC(atomicXor, old ^ value, int, unsigned, cudacpu::ull)
CUDACPU_ATOMIC(atomicInc, old >= value ? 0 : old + 1, unsigned)
CUDACPU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, unsigned)
#undef CUDACPU_ATOMIC

#define CUDACPU_CAS(name) \
    template <cudacpu::one_of<int, unsigned, cudacpu::ull, unsigned short> T> \
    CUDACPU_QUIET T name(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired, \
                         CUDACPU_HERE) { \
        auto f = [=](T old) CUDACPU_QUIET { return old == expected ? desired : old; }; \
        return cudacpu::atomic(address, f, where, true); \
    }
CUDACPU_CAS(atomicCAS)
CUDACPU_CAS(atomicCAS_block)
CUDACPU_CAS(atomicCAS_system)
#undef CUDACPU_CAS

// ---- mathematics and bits --------------------------------------------------------------------------------

#define CUDACPU_MINMAX(T) \
    constexpr T min(T a, T b) { return b < a ? b : a; } \
    constexpr T max(T a, T b) { return a < b ? b : a; }
CUDACPU_MINMAX(int)
CUDACPU_MINMAX(unsigned)
CUDACPU_MINMAX(long)
CUDACPU_MINMAX(unsigned long)
CUDACPU_MINMAX(long long)
CUDACPU_MINMAX(unsigned long long)
#undef CUDACPU_MINMAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
constexpr unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
constexpr unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
constexpr unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
constexpr unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }
inline double min(float a, double b) { return fmin(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

#define CUDACPU_UNARY(T, name, expression) inline T name(T x) { return expression; }
CUDACPU_UNARY(float, rsqrtf, 1 / sqrtf(x))
CUDACPU_UNARY(double, rsqrt, 1 / sqrt(x))
CUDACPU_UNARY(float, rcbrtf, 1 / cbrtf(x))
CUDACPU_UNARY(float, sinpif, sinf(float(M_PI) * x))
CUDACPU_UNARY(float, cospif, cosf(float(M_PI) * x))
CUDACPU_UNARY(float, __expf, expf(x))
CUDACPU_UNARY(float, __exp10f, exp10f(x))
CUDACPU_UNARY(float, __logf, logf(x))
CUDACPU_UNARY(float, __log2f, log2f(x))
CUDACPU_UNARY(float, __log10f, log10f(x))
CUDACPU_UNARY(float, __sinf, sinf(x))
CUDACPU_UNARY(float, __cosf, cosf(x))
CUDACPU_UNARY(float, __tanf, tanf(x))
CUDACPU_UNARY(float, __saturatef, fminf(fmaxf(x, 0), 1))
CUDACPU_UNARY(float, __frcp_rn, 1 / x)
CUDACPU_UNARY(float, __fsqrt_rn, sqrtf(x))
CUDACPU_UNARY(float, __frsqrt_rn, 1 / sqrtf(x))
CUDACPU_UNARY(double, __drcp_rn, 1 / x)
CUDACPU_UNARY(double, __dsqrt_rn, sqrt(x))
#undef CUDACPU_UNARY
inline void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// Conversions to integers stay within the integer's range, as the GPU's do; a NaN becomes 0.
template <class Int, class Float>
Int cudacpu_to_integer(Float x) {
    if (!(x == x)) return 0;
    if (x >= Float(std::numeric_limits<Int>::max())) return std::numeric_limits<Int>::max();
    return x <= Float(std::numeric_limits<Int>::min()) ? std::numeric_limits<Int>::min() : Int(x);
}
#define CUDACPU_CONVERT(From, from, To, to) \
    inline To __##from##2##to##_rn(From x) { return cudacpu_to_integer<To>(std::nearbyint(x)); } \
    inline To __##from##2##to##_rz(From x) { return cudacpu_to_integer<To>(std::trunc(x)); } \
    inline To __##from##2##to##_ru(From x) { return cudacpu_to_integer<To>(std::ceil(x)); } \
    inline To __##from##2##to##_rd(From x) { return cudacpu_to_integer<To>(std::floor(x)); }
CUDACPU_CONVERT(float, float, int, int)
CUDACPU_CONVERT(float, float, unsigned, uint)
CUDACPU_CONVERT(float, float, long long, ll)
CUDACPU_CONVERT(double, double, int, int)
CUDACPU_CONVERT(double, double, unsigned, uint)
CUDACPU_CONVERT(double, double, long long, ll)
#undef CUDACPU_CONVERT
inline float __int2float_rn(int x) { return float(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }
inline float __double2float_rn(double x) { return float(x); }
inline double __int2double_rn(int x) { return x; }

constexpr int __popc(unsigned x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(unsigned(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(cudacpu::ull(x)); }
constexpr int __ffs(int x) { return x ? std::countr_zero(unsigned(x)) + 1 : 0; }
constexpr int __ffsll(long long x) { return x ? std::countr_zero(cudacpu::ull(x)) + 1 : 0; }
constexpr unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i) r |= (x >> i & 1) << (31 - i);
    return r;
}
constexpr unsigned long long __brevll(unsigned long long x) {
    return cudacpu::ull(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}
constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = cudacpu::ull(y) << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned pick = selector >> 4 * i, byte = bytes >> 8 * (pick & 7) & 0xff;
        r |= (pick & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * i;
    }
    return r;
}
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
    return (cudacpu::ull(high) << 32 | low) << (n & 31) >> 32;
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
    return (cudacpu::ull(high) << 32 | low) >> (n & 31);
}
constexpr int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
constexpr unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
constexpr int __mulhi(int a, int b) { return static_cast<long long>(a) * b >> 32; }
constexpr unsigned __umulhi(unsigned a, unsigned b) { return cudacpu::ull(a) * b >> 32; }
__extension__ typedef __int128 cudacpu_int128;
constexpr long long __mul64hi(long long a, long long b) { return cudacpu_int128(a) * b >> 64; }
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned __int128>(a) * b >> 64;
}
constexpr unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? unsigned(b) - a : unsigned(a) - b); }
constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
constexpr int __hadd(int a, int b) { return (static_cast<long long>(a) + b) >> 1; }
constexpr int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    return c;
}
constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
constexpr unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
constexpr float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
constexpr long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
constexpr double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
constexpr int __double2hiint(double x) { return __double_as_longlong(x) >> 32; }
constexpr int __double2loint(double x) { return int(__double_as_longlong(x)); }
constexpr double __hiloint2double(int h, int l) {
    return __longlong_as_double(cudacpu::ull(h) << 32 | unsigned(l));
}

template <class T> __forceinline__ T __ldg(const T* p) { return *p; }
template <class T> __forceinline__ T __ldcg(const T* p) { return *p; }
template <class T> __forceinline__ T __ldcs(const T* p) { return *p; }
template <class T> __forceinline__ void __stcg(T* p, std::type_identity_t<T> value) { *p = value; }
template <class T> __forceinline__ void __stcs(T* p, std::type_identity_t<T> value) { *p = value; }

// ---- time, and what ends a kernel ------------------------------------------------------------------------

inline long long clock64() { return cudacpu::clock_ticks(); }  // clock() is the engine's as well
inline void __nanosleep(unsigned) { cudacpu::give_way(); }
inline void __trap(CUDACPU_HERE) { cudacpu::trap("__trap()", where); }
inline void __brkpt(CUDACPU_HERE) { cudacpu::trap("__brkpt()", where); }
inline void __assume(bool) {}
