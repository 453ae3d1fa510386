// intrinsics.hpp - the less common device functions: directed rounding, operations on halves and quarters of a
// word, minima of three values.
#pragma once
#include <fenv.h>

namespace cudacpu {
template <class T, class F> __attribute__((noinline)) T rounded(int mode, F f) {  // f's operands are volatile
    const int before = fegetround();
    fesetround(mode);
    volatile const T result = f();  // so it is not computed later, in another rounding mode
    fesetround(before);
    return result;
}
// Applies f to each part of the words; the parts are Ts of 8 or 16 bits.
template <class T, class F> constexpr unsigned each_part(unsigned a, unsigned b, unsigned c, F f) {
    constexpr int bits = 8 * sizeof(T);
    unsigned result = 0;
    for (int i = 0; i < 32; i += bits)
        result |= (unsigned(f(int(T(a >> i)), int(T(b >> i)), int(T(c >> i)))) & ((1u << bits) - 1)) << i;
    return result;
}
template <class T> constexpr int saturated(int x) {
    using Range = std::numeric_limits<T>;
    return x < Range::min() ? Range::min() : x > Range::max() ? Range::max() : x;
}
constexpr int difference(int a, int b) { return a < b ? b - a : a - b; }
}  // namespace cudacpu

// clang-format off
#define CUDACPU_DIRECTED(prefix, suffix, T, mode) \
    inline T __##prefix##add_##suffix(T a, T b) { \
        volatile T x = a, y = b; return cudacpu::rounded<T>(mode, [&] { return x + y; }); \
    } \
    inline T __##prefix##sub_##suffix(T a, T b) { \
        volatile T x = a, y = b; return cudacpu::rounded<T>(mode, [&] { return x - y; }); \
    } \
    inline T __##prefix##mul_##suffix(T a, T b) { \
        volatile T x = a, y = b; return cudacpu::rounded<T>(mode, [&] { return x * y; }); \
    } \
    inline T __##prefix##div_##suffix(T a, T b) { \
        volatile T x = a, y = b; return cudacpu::rounded<T>(mode, [&] { return x / y; }); \
    } \
    inline T __##prefix##rcp_##suffix(T a) { return __##prefix##div_##suffix(1, a); } \
    inline T __##prefix##sqrt_##suffix(T a) { \
        volatile T x = a; return cudacpu::rounded<T>(mode, [&] { return sqrt(T(x)); }); \
    }
#define CUDACPU_TO_FLOAT(suffix, mode) \
    CUDACPU_DIRECTED(f, suffix, float, mode) CUDACPU_DIRECTED(d, suffix, double, mode) \
    inline float __fmaf_##suffix(float a, float b, float c) { \
        volatile float x = a; return cudacpu::rounded<float>(mode, [&] { return fmaf(x, b, c); }); \
    } \
    inline float __fmaf_ieee_##suffix(float a, float b, float c) { return __fmaf_##suffix(a, b, c); } \
    inline double __fma_##suffix(double a, double b, double c) { \
        volatile double x = a; return cudacpu::rounded<double>(mode, [&] { return fma(x, b, c); }); \
    } \
    inline float __double2float_##suffix(double a) { \
        volatile double x = a; return cudacpu::rounded<float>(mode, [&] { return float(x); }); \
    } \
    inline float __int2float_##suffix(int a) { return __double2float_##suffix(a); } \
    inline float __uint2float_##suffix(unsigned a) { return __double2float_##suffix(a); } \
    inline float __ll2float_##suffix(long long a) { \
        volatile long long x = a; return cudacpu::rounded<float>(mode, [&] { return float(x); }); \
    } \
    inline double __ll2double_##suffix(long long a) { \
        volatile long long x = a; return cudacpu::rounded<double>(mode, [&] { return double(x); }); \
    } \
    inline float __ull2float_##suffix(unsigned long long a) { \
        volatile unsigned long long x = a; return cudacpu::rounded<float>(mode, [&] { return float(x); }); \
    } \
    inline double __ull2double_##suffix(unsigned long long a) { \
        volatile unsigned long long x = a; return cudacpu::rounded<double>(mode, [&] { return double(x); }); \
    }
CUDACPU_TO_FLOAT(rd, FE_DOWNWARD) CUDACPU_TO_FLOAT(ru, FE_UPWARD) CUDACPU_TO_FLOAT(rz, FE_TOWARDZERO)
inline float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __drcp_rn(double x) { return 1 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline float __tanhf(float x) { return tanhf(x); }
constexpr int __double2hiint(double x) { return int(__builtin_bit_cast(long long, x) >> 32); }
constexpr int __double2loint(double x) { return int(__builtin_bit_cast(long long, x)); }
constexpr double __hiloint2double(int high, int low) { return __builtin_bit_cast(double, cudacpu::join(low, high)); }

constexpr long long __mul64hi(long long a, long long b) { return (long long)(__int128_t(a) * b >> 64); }
constexpr int __hadd(int a, int b) { return int((int64_t(a) + b) >> 1); }
constexpr int __rhadd(int a, int b) { return int((int64_t(a) + b + 1) >> 1); }
constexpr unsigned __uhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b) >> 1); }
constexpr unsigned __urhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b + 1) >> 1); }
constexpr unsigned __sad(int a, int b, unsigned c) {
    return c + (a < b ? unsigned(b) - unsigned(a) : unsigned(a) - unsigned(b));
}
constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
constexpr unsigned __funnelshift_lc(unsigned a, unsigned b, unsigned n) {
    return n < 32 ? __funnelshift_l(a, b, n) : a;
}
constexpr unsigned __funnelshift_rc(unsigned a, unsigned b, unsigned n) {
    return n < 32 ? __funnelshift_r(a, b, n) : b;
}
constexpr unsigned __fns(unsigned mask, unsigned base, int offset) {  // the offset-th set bit, counted from base
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    for (int i = int(base), left = offset < 0 ? -offset : offset; i >= 0 && i < 32; i += offset < 0 ? -1 : 1)
        if (mask >> i & 1 && !--left) return i;
    return ~0u;
}
constexpr unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
constexpr unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
constexpr unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
// Two products of a halfword and a byte; __dp4a has four products of bytes.
#define CUDACPU_DP2A(half, shift) \
    constexpr int __dp2a_##half(int a, int b, int c) { \
        return cudacpu::sum(c, short(a) * (signed char)(b >> shift) + (a >> 16) * (signed char)(b >> (shift + 8))); \
    } \
    constexpr unsigned __dp2a_##half(unsigned a, unsigned b, unsigned c) { \
        return c + (a & 0xffff) * (b >> shift & 0xff) + (a >> 16) * (b >> (shift + 8) & 0xff); \
    } \
    constexpr int __dp2a_##half(short2 a, char4 b, int c) { \
        return cudacpu::sum(c, a.x * (shift ? b.z : b.x) + a.y * (shift ? b.w : b.y)); \
    } \
    constexpr unsigned __dp2a_##half(ushort2 a, uchar4 b, unsigned c) { \
        return c + unsigned(a.x) * (shift ? b.z : b.x) + unsigned(a.y) * (shift ? b.w : b.y); \
    }
CUDACPU_DP2A(lo, 0) CUDACPU_DP2A(hi, 16)
constexpr int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
constexpr unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
template <class T> __forceinline__ T __ldca(const T* p) { return *p; }
template <class T> __forceinline__ T __ldlu(const T* p) { return *p; }
template <class T> __forceinline__ T __ldcv(const T* p) { return *const_cast<const volatile T*>(p); }
template <class T> __forceinline__ void __stwb(T* p, cudacpu::as<T> value) { *p = value; }
template <class T> __forceinline__ void __stwt(T* p, cudacpu::as<T> value) { *p = value; }

inline unsigned __isShared(const void* p) { return cudacpu::space_of(p) == cudacpu::Space::shared; }
inline unsigned __isLocal(const void* p) { return cudacpu::space_of(p) == cudacpu::Space::local; }
inline unsigned __isGlobal(const void* p) { return cudacpu::space_of(p) == cudacpu::Space::global; }
inline void __prof_trigger(int) {}  // for a profiler
inline void __brkpt() {}            // for a debugger
inline void __threadfence_cluster() { cudacpu::fence(); }
inline void cudaGridDependencySynchronize() { cudacpu::grid_dependency_wait(); }
inline void cudaTriggerProgrammaticLaunchCompletion() {}  // it publishes nothing

#define CUDACPU_PARTS_OF(name, T, expression) \
    constexpr unsigned name(unsigned x, unsigned y) { \
        return cudacpu::each_part<T>(x, y, 0, [](int a, [[maybe_unused]] int b, int) { return expression; }); \
    }
#define CUDACPU_SIGNED(name, expression) \
    CUDACPU_PARTS_OF(name##2, short, expression(short)) \
    CUDACPU_PARTS_OF(name##4, signed char, expression(signed char))
#define CUDACPU_UNSIGNED(name, expression) \
    CUDACPU_PARTS_OF(name##2, unsigned short, expression(unsigned short)) \
    CUDACPU_PARTS_OF(name##4, unsigned char, expression(unsigned char))
#define CUDACPU_SUM(T) a + b
#define CUDACPU_LESS(T) a - b
#define CUDACPU_SUM_IN(T) cudacpu::saturated<T>(a + b)
#define CUDACPU_LESS_IN(T) cudacpu::saturated<T>(a - b)
#define CUDACPU_MEAN_UP(T) (a + b + (a + b >= 0)) >> 1
#define CUDACPU_MEAN(T) (a + b) >> 1
#define CUDACPU_MOST(T) a < b ? b : a
#define CUDACPU_LEAST(T) b < a ? b : a
#define CUDACPU_APART(T) cudacpu::difference(a, b)
CUDACPU_SIGNED(__vadd, CUDACPU_SUM)         CUDACPU_SIGNED(__vsub, CUDACPU_LESS)
CUDACPU_SIGNED(__vaddss, CUDACPU_SUM_IN)    CUDACPU_UNSIGNED(__vaddus, CUDACPU_SUM_IN)
CUDACPU_SIGNED(__vsubss, CUDACPU_LESS_IN)   CUDACPU_UNSIGNED(__vsubus, CUDACPU_LESS_IN)
CUDACPU_SIGNED(__vavgs, CUDACPU_MEAN_UP)    CUDACPU_UNSIGNED(__vavgu, CUDACPU_MEAN_UP)
CUDACPU_UNSIGNED(__vhaddu, CUDACPU_MEAN)
CUDACPU_SIGNED(__vmaxs, CUDACPU_MOST)       CUDACPU_UNSIGNED(__vmaxu, CUDACPU_MOST)
CUDACPU_SIGNED(__vmins, CUDACPU_LEAST)      CUDACPU_UNSIGNED(__vminu, CUDACPU_LEAST)
CUDACPU_SIGNED(__vabsdiffs, CUDACPU_APART)  CUDACPU_UNSIGNED(__vabsdiffu, CUDACPU_APART)
#define CUDACPU_EQ(T) a == b
#define CUDACPU_NE(T) a != b
#define CUDACPU_GE(T) a >= b
#define CUDACPU_GT(T) a > b
#define CUDACPU_LE(T) a <= b
#define CUDACPU_LT(T) a < b
#define CUDACPU_MASK_EQ(T) -(a == b)
#define CUDACPU_MASK_NE(T) -(a != b)
#define CUDACPU_MASK_GE(T) -(a >= b)
#define CUDACPU_MASK_GT(T) -(a > b)
#define CUDACPU_MASK_LE(T) -(a <= b)
#define CUDACPU_MASK_LT(T) -(a < b)
#define CUDACPU_COMPARISON(name, NAME) \
    CUDACPU_SIGNED(__vset##name##s, CUDACPU_##NAME)      CUDACPU_UNSIGNED(__vset##name##u, CUDACPU_##NAME) \
    CUDACPU_SIGNED(__vcmp##name##s, CUDACPU_MASK_##NAME) CUDACPU_UNSIGNED(__vcmp##name##u, CUDACPU_MASK_##NAME)
CUDACPU_COMPARISON(ge, GE) CUDACPU_COMPARISON(gt, GT) CUDACPU_COMPARISON(le, LE) CUDACPU_COMPARISON(lt, LT)
CUDACPU_SIGNED(__vseteq, CUDACPU_EQ)        CUDACPU_SIGNED(__vsetne, CUDACPU_NE)
CUDACPU_SIGNED(__vcmpeq, CUDACPU_MASK_EQ)   CUDACPU_SIGNED(__vcmpne, CUDACPU_MASK_NE)
#define CUDACPU_OF_ONE(bytes) \
    constexpr unsigned __vabs##bytes(unsigned a) { \
        return __vsub##bytes(__vmaxs##bytes(a, 0), __vmins##bytes(a, 0)); \
    } \
    constexpr unsigned __vabsss##bytes(unsigned a) { \
        return __vsubss##bytes(__vmaxs##bytes(a, 0), __vmins##bytes(a, 0)); \
    } \
    constexpr unsigned __vneg##bytes(unsigned a) { return __vsub##bytes(0, a); } \
    constexpr unsigned __vnegss##bytes(unsigned a) { return __vsubss##bytes(0, a); } \
    constexpr unsigned __vsads##bytes(unsigned a, unsigned b) { \
        return cudacpu::parts_sum<bytes>(__vabsdiffs##bytes(a, b)); \
    } \
    constexpr unsigned __vsadu##bytes(unsigned a, unsigned b) { \
        return cudacpu::parts_sum<bytes>(__vabsdiffu##bytes(a, b)); \
    }
namespace cudacpu {
template <int parts> constexpr unsigned parts_sum(unsigned a) {
    unsigned total = 0;
    for (int i = 0; i < 32; i += 32 / parts) total += a >> i & ((1u << 32 / parts) - 1);
    return total;
}
}  // namespace cudacpu
CUDACPU_OF_ONE(2) CUDACPU_OF_ONE(4)

#define CUDACPU_THREE(suffix, T, best_of, better) \
    constexpr T __vi##best_of##3_##suffix(T a, T b, T c) { return cudacpu::better(cudacpu::better(a, b), c); } \
    constexpr T __viadd##best_of##_##suffix(T a, T b, T c) { return cudacpu::better(cudacpu::sum(a, b), c); } \
    constexpr T __vib##best_of##_##suffix(T a, T b, bool* first) { \
        return *first = cudacpu::better(a, b) == a, cudacpu::better(a, b); \
    }
CUDACPU_THREE(s32, int, max, most)      CUDACPU_THREE(s32, int, min, least)
CUDACPU_THREE(u32, unsigned, max, most) CUDACPU_THREE(u32, unsigned, min, least)
#define CUDACPU_AT_LEAST_0(best_of, better) \
    constexpr int __vi##best_of##_s32_relu(int a, int b) { return cudacpu::most(cudacpu::better(a, b), 0); } \
    constexpr int __vi##best_of##3_s32_relu(int a, int b, int c) { \
        return cudacpu::most(__vi##best_of##3_s32(a, b, c), 0); \
    } \
    constexpr int __viadd##best_of##_s32_relu(int a, int b, int c) { \
        return cudacpu::most(__viadd##best_of##_s32(a, b, c), 0); \
    }
CUDACPU_AT_LEAST_0(max, most) CUDACPU_AT_LEAST_0(min, least)
#define CUDACPU_THREE_PARTS(suffix, T, best_of, better) \
    constexpr unsigned __vi##best_of##3_##suffix(unsigned x, unsigned y, unsigned z) { \
        return cudacpu::each_part<T>(x, y, z, [](int a, int b, int c) { \
            return cudacpu::better(cudacpu::better(a, b), c); \
        }); \
    } \
    constexpr unsigned __viadd##best_of##_##suffix(unsigned x, unsigned y, unsigned z) { \
        return cudacpu::each_part<T>(x, y, z, [](int a, int b, int c) { \
            return cudacpu::better(int(static_cast<T>(a + b)), c); \
        }); \
    }
#define CUDACPU_TWO_PARTS(suffix, T, best_of, better) \
    constexpr unsigned __vib##best_of##_##suffix(unsigned x, unsigned y, bool* high, bool* low) { \
        const auto part = [](unsigned word, int shift) { return int(static_cast<T>(word >> shift)); }; \
        *high = cudacpu::better(part(x, 16), part(y, 16)) == part(x, 16); \
        *low = cudacpu::better(part(x, 0), part(y, 0)) == part(x, 0); \
        return __vi##best_of##3_##suffix(x, y, y); \
    }
#define CUDACPU_PARTS_AT_LEAST_0(best_of) \
    constexpr unsigned __vi##best_of##_s16x2_relu(unsigned x, unsigned y) { \
        return __vmaxs2(__vi##best_of##3_s16x2(x, y, y), 0); \
    } \
    constexpr unsigned __vi##best_of##3_s16x2_relu(unsigned x, unsigned y, unsigned z) { \
        return __vmaxs2(__vi##best_of##3_s16x2(x, y, z), 0); \
    } \
    constexpr unsigned __viadd##best_of##_s16x2_relu(unsigned x, unsigned y, unsigned z) { \
        return __vmaxs2(__viadd##best_of##_s16x2(x, y, z), 0); \
    }
CUDACPU_THREE_PARTS(s16x2, short, max, most)          CUDACPU_THREE_PARTS(s16x2, short, min, least)
CUDACPU_THREE_PARTS(u16x2, unsigned short, max, most) CUDACPU_THREE_PARTS(u16x2, unsigned short, min, least)
CUDACPU_TWO_PARTS(s16x2, short, max, most)            CUDACPU_TWO_PARTS(s16x2, short, min, least)
CUDACPU_TWO_PARTS(u16x2, unsigned short, max, most)   CUDACPU_TWO_PARTS(u16x2, unsigned short, min, least)
CUDACPU_PARTS_AT_LEAST_0(max)                         CUDACPU_PARTS_AT_LEAST_0(min)

// Computed in a wider type, so nothing overflows or underflows on the way and the result is rounded once.
namespace cudacpu {  // src/engine/intrinsics.cpp
long double scaled_erfc(double x);
long double erf_inverse(long double e, long double c);
double length(float x, float y, float z, float w);
long double length(double x, double y, double z, double w);
}  // namespace cudacpu
inline float rcbrtf(float x) { return float(1 / cbrt(double(x))); }
inline double rcbrt(double x) { return double(1 / cbrtl(x)); }
inline double normcdf(double x) { return double(erfcl(-x * M_SQRT1_2l) / 2); }
inline float normcdff(float x) { return float(erfc(-x * M_SQRT1_2) / 2); }
inline double erfcx(double x) { return double(cudacpu::scaled_erfc(x)); }
inline float erfcxf(float x) { return float(erfcx(x)); }
inline double erfinv(double y) { return double(cudacpu::erf_inverse(y, 1.l - y)); }
inline float erfinvf(float y) { return float(erfinv(y)); }
inline double erfcinv(double y) { return double(cudacpu::erf_inverse(1.l - y, y)); }
inline float erfcinvf(float y) { return float(erfcinv(y)); }
inline double normcdfinv(double y) { return double(0 - M_SQRT2l * cudacpu::erf_inverse(1 - 2.l * y, 2.l * y)); }
inline float normcdfinvf(float y) { return float(normcdfinv(y)); }
#define CUDACPU_NORM(T, Wide, f) \
    inline T rhypot##f(T x, T y) { return T(1 / cudacpu::length(x, y, 0, 0)); } \
    inline T norm3d##f(T x, T y, T z) { return T(cudacpu::length(x, y, z, 0)); } \
    inline T rnorm3d##f(T x, T y, T z) { return T(1 / cudacpu::length(x, y, z, 0)); } \
    inline T norm4d##f(T x, T y, T z, T w) { return T(cudacpu::length(x, y, z, w)); } \
    inline T rnorm4d##f(T x, T y, T z, T w) { return T(1 / cudacpu::length(x, y, z, w)); } \
    inline Wide cudacpu_length(int n, const T* x) { \
        Wide sum = 0; \
        bool infinite = false; \
        for (int i = 0; i < n; ++i) { \
            const Wide part = x[i]; \
            sum += part * part, infinite |= std::isinf(part); \
        } \
        return infinite ? INFINITY : std::sqrt(sum); \
    } \
    inline T norm##f(int n, const T* x) { return T(cudacpu_length(n, x)); } \
    inline T rnorm##f(int n, const T* x) { return T(1 / cudacpu_length(n, x)); }
CUDACPU_NORM(double, long double, ) CUDACPU_NORM(float, double, f)
inline float fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0., fabs(x)); }
inline float cyl_bessel_i0f(float x) { return float(cyl_bessel_i0(x)); }
inline double cyl_bessel_i1(double x) { return copysign(std::cyl_bessel_i(1., fabs(x)), x); }
inline float cyl_bessel_i1f(float x) { return float(cyl_bessel_i1(x)); }
constexpr long long llmin(long long a, long long b) { return b < a ? b : a; }
constexpr long long llmax(long long a, long long b) { return a < b ? b : a; }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
// clang-format on
