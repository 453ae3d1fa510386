// small_float_functions.hpp - a type of 16-bit floating-point numbers, the vector of two, and their functions.
// cuda_fp16.h and cuda_bf16.h include this file, with these macros:
//   CUDACPU_H, CUDACPU_H2      the types; CUDACPU_RAW, CUDACPU_RAW2: their bits
//   CUDACPU_FORMAT             cudacpu::small::Format<...>
//   CUDACPU_NAMED(a, b)        a, the name of the type in names of functions, b; CUDACPU_TO_BOTH: __half2half2
//
// Functions are always inline, because the hazard build sees no load that is the argument of a call.

struct alignas(2) CUDACPU_RAW {
    unsigned short x;
};
struct alignas(4) CUDACPU_RAW2 {
    unsigned short x, y;
};

class alignas(2) CUDACPU_H {
    unsigned short bits;

public:
    CUDACPU_H() = default;
    constexpr CUDACPU_H(CUDACPU_RAW raw) : bits(raw.x) {}
    template <class T>
    requires std::is_floating_point_v<T> CUDACPU_H(T x)
        : bits(CUDACPU_FORMAT::encode(x, cudacpu::small::Rounding::nearest)) {}
    template <class T>
    requires std::is_integral_v<T> CUDACPU_H(T x) : CUDACPU_H(cudacpu::small::exactly(x)) {}
    template <class T>
    requires T::is_small_float explicit CUDACPU_H(T x) : CUDACPU_H(float(x)) {}
    static constexpr bool is_small_float = true;

    constexpr operator CUDACPU_RAW() const { return {bits}; }
    operator float() const { return CUDACPU_FORMAT::decode(bits); }
    operator bool() const { return (bits & 0x7fff) != 0; }
#define CUDACPU_INTEGER(Int) \
    operator Int() const { return cudacpu::small::to_integer<Int>(CUDACPU_FORMAT::decode(bits)); }
    CUDACPU_INTEGER(short)
    CUDACPU_INTEGER(unsigned short)
    CUDACPU_INTEGER(int)
    CUDACPU_INTEGER(unsigned)
    CUDACPU_INTEGER(long)
    CUDACPU_INTEGER(unsigned long)
    CUDACPU_INTEGER(long long)
    CUDACPU_INTEGER(unsigned long long)
    explicit CUDACPU_INTEGER(char) explicit CUDACPU_INTEGER(signed char) explicit CUDACPU_INTEGER(unsigned char)
#undef CUDACPU_INTEGER
};

struct alignas(4) CUDACPU_H2 {
    CUDACPU_H x, y;
    CUDACPU_H2() = default;
    constexpr CUDACPU_H2(CUDACPU_H first, CUDACPU_H second) : x(first), y(second) {}
    constexpr CUDACPU_H2(CUDACPU_RAW2 raw) : x(CUDACPU_RAW{raw.x}), y(CUDACPU_RAW{raw.y}) {}
    constexpr operator CUDACPU_RAW2() const { return {CUDACPU_RAW(x).x, CUDACPU_RAW(y).x}; }
};

namespace cudacpu::small {
__forceinline__ double wide(CUDACPU_H a) { return float(a); }
inline unsigned short bits(CUDACPU_H a) { return CUDACPU_RAW(a).x; }
}  // namespace cudacpu::small

// clang-format off
// ---- conversions -----------------------------------------------------------------------------------------

#define CUDACPU_F __forceinline__
CUDACPU_F CUDACPU_H CUDACPU_NAMED(__ushort_as_,)(unsigned short a) { return CUDACPU_RAW{a}; }
CUDACPU_F CUDACPU_H CUDACPU_NAMED(__short_as_,)(short a) { return CUDACPU_RAW{(unsigned short)a}; }
CUDACPU_F unsigned short CUDACPU_NAMED(__,_as_ushort)(CUDACPU_H a) { return cudacpu::small::bits(a); }
CUDACPU_F short CUDACPU_NAMED(__,_as_short)(CUDACPU_H a) { return short(cudacpu::small::bits(a)); }
CUDACPU_F float CUDACPU_NAMED(__, 2float)(CUDACPU_H a) { return a; }
CUDACPU_F CUDACPU_H CUDACPU_NAMED(__float2,)(float a) { return a; }
CUDACPU_F CUDACPU_H CUDACPU_NAMED(__double2,)(double a) { return a; }
CUDACPU_F signed char CUDACPU_NAMED(__, 2char_rz)(CUDACPU_H a) { return (signed char)a; }
CUDACPU_F unsigned char CUDACPU_NAMED(__, 2uchar_rz)(CUDACPU_H a) { return (unsigned char)a; }

#define CUDACPU_ROUNDING(suffix, rounding, integer) \
    CUDACPU_F CUDACPU_H CUDACPU_NAMED(__float2, _##suffix)(float a) { \
        return CUDACPU_RAW{CUDACPU_FORMAT::encode(a, cudacpu::small::Rounding::rounding)}; \
    } \
    CUDACPU_INTEGERS(short, short, suffix, rounding, integer) \
    CUDACPU_INTEGERS(ushort, unsigned short, suffix, rounding, integer) \
    CUDACPU_INTEGERS(int, int, suffix, rounding, integer) \
    CUDACPU_INTEGERS(uint, unsigned, suffix, rounding, integer) \
    CUDACPU_INTEGERS(ll, long long, suffix, rounding, integer) \
    CUDACPU_INTEGERS(ull, unsigned long long, suffix, rounding, integer)
#define CUDACPU_INTEGERS(name, Int, suffix, rounding, integer) \
    CUDACPU_F CUDACPU_H CUDACPU_NAMED(__##name##2, _##suffix)(Int a) { \
        const double x = cudacpu::small::exactly(a); \
        return CUDACPU_RAW{CUDACPU_FORMAT::encode(x, cudacpu::small::Rounding::rounding)}; \
    } \
    CUDACPU_F Int CUDACPU_NAMED(__, 2##name##_##suffix)(CUDACPU_H a) { \
        return cudacpu::small::to_integer<Int>(integer(cudacpu::small::wide(a))); \
    }
CUDACPU_ROUNDING(rn, nearest, rint) CUDACPU_ROUNDING(rz, zero, trunc)
CUDACPU_ROUNDING(ru, up, ceil)      CUDACPU_ROUNDING(rd, down, floor)
#undef CUDACPU_ROUNDING
#undef CUDACPU_INTEGERS

// ---- vectors of two --------------------------------------------------------------------------------------

CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(make_, 2)(CUDACPU_H x, CUDACPU_H y) { return {x, y}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__halves2, 2)(CUDACPU_H x, CUDACPU_H y) { return {x, y}; }
CUDACPU_F CUDACPU_H2 CUDACPU_TO_BOTH(CUDACPU_H a) { return {a, a}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__float2, 2_rn)(float a) { return {a, a}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__floats2, 2_rn)(float a, float b) { return {a, b}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__float22, 2_rn)(float2 a) { return {a.x, a.y}; }
CUDACPU_F float2 CUDACPU_NAMED(__, 22float2)(CUDACPU_H2 a) { return {a.x, a.y}; }
CUDACPU_F float __low2float(CUDACPU_H2 a) { return a.x; }
CUDACPU_F float __high2float(CUDACPU_H2 a) { return a.y; }
CUDACPU_F CUDACPU_H CUDACPU_NAMED(__low2,)(CUDACPU_H2 a) { return a.x; }
CUDACPU_F CUDACPU_H CUDACPU_NAMED(__high2,)(CUDACPU_H2 a) { return a.y; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__low2, 2)(CUDACPU_H2 a) { return {a.x, a.x}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__high2, 2)(CUDACPU_H2 a) { return {a.y, a.y}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__lows2, 2)(CUDACPU_H2 a, CUDACPU_H2 b) { return {a.x, b.x}; }
CUDACPU_F CUDACPU_H2 CUDACPU_NAMED(__highs2, 2)(CUDACPU_H2 a, CUDACPU_H2 b) { return {a.y, b.y}; }
CUDACPU_F CUDACPU_H2 __lowhigh2highlow(CUDACPU_H2 a) { return {a.y, a.x}; }

// ---- arithmetic and mathematics: x, y and z are the operands as doubles ----------------------------------

#define CUDACPU_1(name, name2, expression) \
    CUDACPU_F CUDACPU_H name(CUDACPU_H a) { const double x = cudacpu::small::wide(a); return expression; } \
    CUDACPU_F CUDACPU_H2 name2(CUDACPU_H2 a) { return {name(a.x), name(a.y)}; }
#define CUDACPU_2(name, name2, expression) \
    CUDACPU_F CUDACPU_H name(CUDACPU_H a, CUDACPU_H b) { \
        const double x = cudacpu::small::wide(a), y = cudacpu::small::wide(b); \
        return expression; \
    } \
    CUDACPU_F CUDACPU_H2 name2(CUDACPU_H2 a, CUDACPU_H2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define CUDACPU_3(name, name2, change) \
    CUDACPU_F CUDACPU_H name(CUDACPU_H a, CUDACPU_H b, CUDACPU_H c) { \
        const double x = cudacpu::small::wide(a), y = cudacpu::small::wide(b), z = cudacpu::small::wide(c); \
        return change(cudacpu::small::multiply_add(x, y, z)); \
    } \
    CUDACPU_F CUDACPU_H2 name2(CUDACPU_H2 a, CUDACPU_H2 b, CUDACPU_H2 c) { \
        return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)}; \
    }
#define CUDACPU_SUMS(name, expression) \
    CUDACPU_2(name, name##2, expression) CUDACPU_2(name##_rn, name##2_rn, expression) \
    CUDACPU_2(name##_sat, name##2_sat, cudacpu::small::saturated(expression))
CUDACPU_SUMS(__hadd, x + y)  CUDACPU_SUMS(__hsub, x - y)  CUDACPU_SUMS(__hmul, x * y)
CUDACPU_2(__hdiv, __h2div, x / y)
CUDACPU_3(__hfma, __hfma2, )
CUDACPU_3(__hfma_sat, __hfma2_sat, cudacpu::small::saturated)
CUDACPU_3(__hfma_relu, __hfma2_relu, cudacpu::small::at_least_0)
CUDACPU_F CUDACPU_H __hneg(CUDACPU_H a) { return CUDACPU_RAW{(unsigned short)(cudacpu::small::bits(a) ^ 0x8000)}; }
CUDACPU_F CUDACPU_H __habs(CUDACPU_H a) { return CUDACPU_RAW{(unsigned short)(cudacpu::small::bits(a) & 0x7fff)}; }
CUDACPU_F CUDACPU_H2 __hneg2(CUDACPU_H2 a) { return {__hneg(a.x), __hneg(a.y)}; }
CUDACPU_F CUDACPU_H2 __habs2(CUDACPU_H2 a) { return {__habs(a.x), __habs(a.y)}; }
CUDACPU_F CUDACPU_H2 __hcmadd(CUDACPU_H2 a, CUDACPU_H2 b, CUDACPU_H2 c) {  // complex numbers: a * b + c
    return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

CUDACPU_2(__hmax, __hmax2, cudacpu::small::larger(x, y, false))
CUDACPU_2(__hmin, __hmin2, cudacpu::small::smaller(x, y, false))
CUDACPU_2(__hmax_nan, __hmax2_nan, cudacpu::small::larger(x, y, true))
CUDACPU_2(__hmin_nan, __hmin2_nan, cudacpu::small::smaller(x, y, true))

CUDACPU_1(htrunc, h2trunc, trunc(x))  CUDACPU_1(hceil, h2ceil, ceil(x))     CUDACPU_1(hfloor, h2floor, floor(x))
CUDACPU_1(hrint, h2rint, rint(x))     CUDACPU_1(hsqrt, h2sqrt, sqrt(x))     CUDACPU_1(hrsqrt, h2rsqrt, 1 / sqrt(x))
CUDACPU_1(hrcp, h2rcp, 1 / x)         CUDACPU_1(hexp, h2exp, exp(x))        CUDACPU_1(hexp2, h2exp2, exp2(x))
CUDACPU_1(hexp10, h2exp10, exp10(x))  CUDACPU_1(hlog, h2log, log(x))        CUDACPU_1(hlog2, h2log2, log2(x))
CUDACPU_1(hlog10, h2log10, log10(x))  CUDACPU_1(hsin, h2sin, sin(x))        CUDACPU_1(hcos, h2cos, cos(x))
CUDACPU_1(htanh, h2tanh, tanh(x))     CUDACPU_1(htanh_approx, h2tanh_approx, tanh(x))
#undef CUDACPU_1
#undef CUDACPU_2
#undef CUDACPU_3
#undef CUDACPU_SUMS

// ---- comparisons: a NaN is unordered ---------------------------------------------------------------------

#define CUDACPU_COMPARED(op, expression) \
    CUDACPU_F bool __h##op(CUDACPU_H a, CUDACPU_H b) { const float x = a, y = b; return expression; } \
    CUDACPU_F bool __hb##op##2(CUDACPU_H2 a, CUDACPU_H2 b) { return __h##op(a.x, b.x) & __h##op(a.y, b.y); } \
    CUDACPU_F CUDACPU_H2 __h##op##2(CUDACPU_H2 a, CUDACPU_H2 b) { return {__h##op(a.x, b.x), __h##op(a.y, b.y)}; } \
    CUDACPU_F unsigned __h##op##2_mask(CUDACPU_H2 a, CUDACPU_H2 b) { \
        return __h##op(a.x, b.x) * 0xffffu | __h##op(a.y, b.y) * 0xffff0000u; \
    }
CUDACPU_COMPARED(eq, x == y)               CUDACPU_COMPARED(equ, !((x < y) | (x > y)))
CUDACPU_COMPARED(ne, (x < y) | (x > y))    CUDACPU_COMPARED(neu, x != y)
CUDACPU_COMPARED(lt, x < y)                CUDACPU_COMPARED(ltu, !(x >= y))
CUDACPU_COMPARED(le, x <= y)               CUDACPU_COMPARED(leu, !(x > y))
CUDACPU_COMPARED(gt, x > y)                CUDACPU_COMPARED(gtu, !(x <= y))
CUDACPU_COMPARED(ge, x >= y)               CUDACPU_COMPARED(geu, !(x < y))
#undef CUDACPU_COMPARED
CUDACPU_F bool __hisnan(CUDACPU_H a) { return (cudacpu::small::bits(a) & 0x7fff) > CUDACPU_FORMAT::infinity; }
CUDACPU_F int __hisinf(CUDACPU_H a) {  // its sign, or 0
    const int bits = cudacpu::small::bits(a);
    return ((bits & 0x7fff) == CUDACPU_FORMAT::infinity) * (1 - (bits >> 14 & 2));
}
CUDACPU_F CUDACPU_H2 __hisnan2(CUDACPU_H2 a) { return {__hisnan(a.x), __hisnan(a.y)}; }

// ---- operators -------------------------------------------------------------------------------------------

#define CUDACPU_OPERATOR(op, f, f2) \
    CUDACPU_F CUDACPU_H operator op(const CUDACPU_H& a, const CUDACPU_H& b) { return f(a, b); } \
    CUDACPU_F CUDACPU_H2 operator op(const CUDACPU_H2& a, const CUDACPU_H2& b) { return f2(a, b); } \
    CUDACPU_F CUDACPU_H& operator op##=(CUDACPU_H& a, const CUDACPU_H& b) { return a = f(a, b); } \
    CUDACPU_F CUDACPU_H2& operator op##=(CUDACPU_H2& a, const CUDACPU_H2& b) { return a = f2(a, b); }
CUDACPU_OPERATOR(+, __hadd, __hadd2)  CUDACPU_OPERATOR(-, __hsub, __hsub2)
CUDACPU_OPERATOR(*, __hmul, __hmul2)  CUDACPU_OPERATOR(/, __hdiv, __h2div)
#undef CUDACPU_OPERATOR
#define CUDACPU_STEP(op) \
    CUDACPU_F CUDACPU_H& operator op##op(CUDACPU_H& a) { return a = a op CUDACPU_H(1); } \
    CUDACPU_F CUDACPU_H2& operator op##op(CUDACPU_H2& a) { return a = a op CUDACPU_H2(1, 1); } \
    CUDACPU_F CUDACPU_H operator op##op(CUDACPU_H& a, int) { const CUDACPU_H old = a; op##op a; return old; } \
    CUDACPU_F CUDACPU_H2 operator op##op(CUDACPU_H2& a, int) { const CUDACPU_H2 old = a; op##op a; return old; }
CUDACPU_STEP(+) CUDACPU_STEP(-)
#undef CUDACPU_STEP
CUDACPU_F CUDACPU_H operator+(const CUDACPU_H& a) { return a; }
CUDACPU_F CUDACPU_H2 operator+(const CUDACPU_H2& a) { return a; }
CUDACPU_F CUDACPU_H operator-(const CUDACPU_H& a) { return __hneg(a); }
CUDACPU_F CUDACPU_H2 operator-(const CUDACPU_H2& a) { return __hneg2(a); }
#define CUDACPU_COMPARISON(op, name) \
    CUDACPU_F bool operator op(const CUDACPU_H& a, const CUDACPU_H& b) { return __h##name(a, b); } \
    CUDACPU_F bool operator op(const CUDACPU_H2& a, const CUDACPU_H2& b) { return __hb##name##2(a, b); }
CUDACPU_COMPARISON(==, eq) CUDACPU_COMPARISON(!=, neu) CUDACPU_COMPARISON(<, lt)
CUDACPU_COMPARISON(<=, le) CUDACPU_COMPARISON(>, gt)   CUDACPU_COMPARISON(>=, ge)
#undef CUDACPU_COMPARISON

// ---- memory ----------------------------------------------------------------------------------------------

namespace cudacpu::small {
CUDACPU_QUIET inline CUDACPU_H added(CUDACPU_H a, CUDACPU_H b) {  // in an atomic: calls nothing with hooks
    const double x = CUDACPU_FORMAT::decode(__builtin_bit_cast(unsigned short, a));
    const double y = CUDACPU_FORMAT::decode(__builtin_bit_cast(unsigned short, b));
    return __builtin_bit_cast(CUDACPU_H, CUDACPU_FORMAT::encode(x + y, Rounding::nearest));
}
CUDACPU_QUIET inline CUDACPU_H2 added(CUDACPU_H2 a, CUDACPU_H2 b) {
    a.x = added(a.x, b.x), a.y = added(a.y, b.y);
    return a;
}
}  // namespace cudacpu::small
#define CUDACPU_ADD(H) \
    inline H atomicAdd(H* p, H value, CUDACPU_HERE) { \
        const auto add = [=](H old) CUDACPU_QUIET { return cudacpu::small::added(old, value); }; \
        return cudacpu::atomic(p, where, 0, add); \
    }
CUDACPU_ADD(CUDACPU_H) CUDACPU_ADD(CUDACPU_H2)
#undef CUDACPU_ADD
CUDACPU_F CUDACPU_H __ldcv(const CUDACPU_H* p) { return CUDACPU_RAW{*(const volatile unsigned short*)p}; }
CUDACPU_F CUDACPU_H2 __ldcv(const CUDACPU_H2* p) {
    using Word = unsigned __attribute__((may_alias));
    return __builtin_bit_cast(CUDACPU_RAW2, *(const volatile Word*)p);
}
// clang-format on
#undef CUDACPU_F
