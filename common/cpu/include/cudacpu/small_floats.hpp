// small_floats.hpp - floating-point numbers of 16 bits in software: what __half and __nv_bfloat16 have in common.
//
// Functions with branches are excluded from instrumentation, and call only others that are: a GPU has an
// instruction for each. Every operation computes in double and rounds once. For sums, products, quotients and
// square roots of such numbers, rounding to double first does not change the result, because a double has more than
// twice their digits (Figueroa, "When is double rounding innocuous?", 1995). Multiply-adds and integers of 64 bits
// are rounded to odd first.
#pragma once
#include <cmath>

#include "../cuda_runtime.h"

namespace cudacpu::small {

enum class Rounding { nearest, zero, up, down };

/// A format with this many bits of exponent; the other bits after the sign are the mantissa.
template <int exponent_bits> struct Format {
    static constexpr int digits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr unsigned infinity = 0x7fff >> digits << digits, nan = 0x7fff;

    /// Rounds x. A NaN becomes the one that a GPU returns.
    CUDACPU_QUIET static unsigned short encode(double x, Rounding rounding) {
        const uint64_t bits = __builtin_bit_cast(uint64_t, x);
        const bool negative = bits >> 63;
        const unsigned sign = unsigned(negative) << 15;
        if (__builtin_isnan(x)) return nan;
        if (__builtin_isinf(x)) return sign | infinity;
        const int exponent = int(bits >> 52 & 0x7ff), least = 1023 - bias + 1;  // of the smallest normal number
        const uint64_t mantissa = (bits & ~uint64_t{0} >> 12) | uint64_t(exponent != 0) << 52;
        const int below = exponent < least ? least - exponent : 0, above = exponent < least ? 0 : exponent - least;
        const int shift = below > digits + 11 ? 63 : 52 - digits + below;
        const uint64_t kept = mantissa >> shift, rest = mantissa << (64 - shift), half = uint64_t{1} << 63;
        const bool away = rounding == Rounding::nearest ? rest > half || (rest == half && kept & 1)
                          : rounding == Rounding::up    ? rest && !negative
                          : rounding == Rounding::down  ? rest && negative
                                                        : false;
        const unsigned result = (above << digits) + unsigned(kept) + away;
        if (result < infinity) return sign | result;
        const bool to_infinity =
            rounding == Rounding::nearest || rounding == (negative ? Rounding::down : Rounding::up);
        return sign | (infinity - !to_infinity);
    }
    /// The value as a float, which is exact.
    CUDACPU_QUIET static float decode(unsigned short bits) {
        const uint32_t sign = uint32_t(bits >> 15) << 31, magnitude = bits & 0x7fff;
        if (exponent_bits == 8) return __builtin_bit_cast(float, sign | magnitude << 16);
        if (magnitude > infinity) return __builtin_bit_cast(float, 0x7fffffff);
        if (magnitude == infinity) return __builtin_bit_cast(float, sign | 0x7f800000);
        return __builtin_bit_cast(float, sign | magnitude << (23 - digits)) *
               __builtin_bit_cast(float, (254u - bias) << 23);
    }
};

/// Rounds the exact sum s + error to odd; s is its nearest double. Rounding the result again, to fewer digits,
/// gives what rounding the exact sum gives.
CUDACPU_QUIET inline double to_odd(double s, double error) {
    if (error == 0 || !__builtin_isfinite(s) || __builtin_bit_cast(uint64_t, s) & 1) return s;
    return __builtin_nextafter(s, error > 0 ? INFINITY : -INFINITY);
}
CUDACPU_QUIET inline double multiply_add(double a, double b, double c) {  // the product is exact
    const double product = a * b, s = product + c, part = s - product;
    return to_odd(s, (product - (s - part)) + (c - part));
}
/// An integer as a double; the low bits of a large one are combined into one.
template <class Int> CUDACPU_QUIET double exactly(Int x) {
    const ull magnitude = x < 0 ? 0 - ull(x) : ull(x), low = magnitude % 2048;
    const double result = double(magnitude >> 53 ? magnitude - low | ull(low != 0) << 11 : magnitude);
    return x < 0 ? -result : result;
}
CUDACPU_QUIET inline double saturated(double x) { return x > 0 ? x < 1 ? x : 1 : 0; }
CUDACPU_QUIET inline double at_least_0(double x) { return x > 0 || __builtin_isnan(x) ? x : 0; }
/// The larger one, where -0 is less than 0. Of a NaN and a number: the number, or the NaN if it counts.
CUDACPU_QUIET inline double larger(double x, double y, bool nan_counts) {
    if (__builtin_isnan(x) || __builtin_isnan(y)) return __builtin_isnan(x) == nan_counts ? x : y;
    return x > y || (x == y && __builtin_signbit(y)) ? x : y;
}
CUDACPU_QUIET inline double smaller(double x, double y, bool nan_counts) { return -larger(-x, -y, nan_counts); }
/// As in PTX: a number out of range saturates. A NaN becomes 0, or the highest bit of an integer of 64 bits.
template <class Int> CUDACPU_QUIET Int to_integer(double x) {
    constexpr Int least = std::numeric_limits<Int>::min(), most = std::numeric_limits<Int>::max();
    if (__builtin_isnan(x)) return sizeof(Int) < 8 ? 0 : Int(1) << 63;
    return x >= double(most) ? most : x <= double(least) ? least : Int(x);
}

}  // namespace cudacpu::small
