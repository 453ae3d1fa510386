// half.cu - cuda_fp16.h and cuda_bf16.h: every result is compared with integer arithmetic, and races on halves are
// found. Argument: what is tested, one of the names at the end.
#include <cstdio>
#include <cstring>
#include <random>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

using U = unsigned short;
using Wide = __int128;

// ---- the reference: exact numbers, and the representable numbers on both sides of one ----

template <class H>
struct Type;
template <>
struct Type<half> {
    static constexpr int digits = 10, bias = 15;
};
template <>
struct Type<nv_bfloat16> {
    static constexpr int digits = 7, bias = 127;
};
template <class H>
U bits(H x) {
    return __builtin_bit_cast(U, x);
}
template <class H>
H number(U bits) {
    return __builtin_bit_cast(H, bits);
}
template <class H>
constexpr U infinity = U(0x7fff >> Type<H>::digits << Type<H>::digits);

// An exact number: units * 2^-scale.
struct Exact {
    Wide units;
    int scale;
};
// A finite number of the format in units of 2^-scale, rounded toward zero.
template <class H>
Exact exact(U h, int scale) {
    constexpr int digits = Type<H>::digits;
    const int exponent = (h & 0x7fff) >> digits;
    Wide units = (h & ((1 << digits) - 1)) + (exponent ? 1 << digits : 0);
    const int shift = (exponent ? exponent : 1) - Type<H>::bias - digits + scale;
    units = shift < 0 ? units >> -shift : shift > 116 ? Wide(1) << 126 : units << shift;  // 2^126: too large
    return {h >> 15 ? -units : units, scale};
}
enum Mode { nearest, zero, up, down };
// Rounds: the largest number that is not above |x|, by bisection, or its successor.
template <class H>
U rounded(Exact x, Mode mode, bool negative_zero = false) {
    const bool negative = x.units < 0 || (x.units == 0 && negative_zero);
    const Wide size = negative ? -x.units : x.units;
    if (!size) return U(negative << 15);
    int low = 0, high = infinity<H>;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (exact<H>(U(middle), x.scale).units <= size ? low : high) = middle;
    }
    const Wide below = exact<H>(U(low), x.scale).units, above = exact<H>(U(high), x.scale).units;
    const Wide to_below = size - below, to_above = above - size;
    bool away = mode == nearest ? to_below > to_above || (to_below == to_above && low % 2) : false;
    if (to_below && mode == (negative ? down : up)) away = true;
    return U((away ? high : low) | negative << 15);
}

// ---- counting ----

int wrong;
unsigned long checked;
template <class... A>
void same(unsigned long got, unsigned long expected, const char* what, A... a) {
    ++checked;
    if (got == expected || ++wrong > 10) return;
    printf("wrong: %s(", what);
    (printf(" %lx", (unsigned long)a), ...);
    printf(" ): %lx, expected %lx\n", got, expected);
}
bool is_nan(unsigned h, unsigned infinite) { return (h & 0x7fff) > infinite; }

// ---- conversions: all 65,536 numbers, and many floats, doubles and integers around each ----

template <class H>
H from_float(float x, Mode mode);
template <>
half from_float(float x, Mode m) {
    return m == nearest ? __float2half_rn(x)
           : m == zero  ? __float2half_rz(x)
           : m == up    ? __float2half_ru(x)
                        : __float2half_rd(x);
}
template <>
nv_bfloat16 from_float(float x, Mode m) {
    return m == nearest ? __float2bfloat16_rn(x)
           : m == zero  ? __float2bfloat16_rz(x)
           : m == up    ? __float2bfloat16_ru(x)
                        : __float2bfloat16_rd(x);
}
#define INTEGERS(Int, name)                                                                                      \
    void integers(half x, Int i, Int(&to)[4], half(&from)[4]) {                                                  \
        to[0] = __half2##name##_rn(x), to[1] = __half2##name##_rz(x), to[2] = __half2##name##_ru(x);             \
        to[3] = __half2##name##_rd(x);                                                                           \
        from[0] = __##name##2half_rn(i), from[1] = __##name##2half_rz(i), from[2] = __##name##2half_ru(i);       \
        from[3] = __##name##2half_rd(i);                                                                         \
    }                                                                                                            \
    void integers(nv_bfloat16 x, Int i, Int(&to)[4], nv_bfloat16(&from)[4]) {                                    \
        to[0] = __bfloat162##name##_rn(x), to[1] = __bfloat162##name##_rz(x), to[2] = __bfloat162##name##_ru(x); \
        to[3] = __bfloat162##name##_rd(x);                                                                       \
        from[0] = __##name##2bfloat16_rn(i), from[1] = __##name##2bfloat16_rz(i),                                \
        from[2] = __##name##2bfloat16_ru(i);                                                                     \
        from[3] = __##name##2bfloat16_rd(i);                                                                     \
    }
INTEGERS(short, short)
INTEGERS(unsigned short, ushort)
INTEGERS(int, int)
INTEGERS(unsigned, uint)
INTEGERS(long long, ll)
INTEGERS(unsigned long long, ull)
#undef INTEGERS

// The number as an integer, computed from its bits.
template <class Int, class H>
Int to_integer(U h, int mode) {
    using Range = std::numeric_limits<Int>;
    if (is_nan(h, infinity<H>)) return sizeof(Int) < 8 ? 0 : Int(1ull << 63);
    const bool negative = h >> 15;
    const int exponent = (h & 0x7fff) >> Type<H>::digits;
    if ((h & 0x7fff) == infinity<H> || exponent - Type<H>::bias > 64) return negative ? Range::min() : Range::max();
    const Wide mantissa = (h & ((1 << Type<H>::digits) - 1)) + (exponent ? 1 << Type<H>::digits : 0);
    const int shift = (exponent ? exponent : 1) - Type<H>::bias - Type<H>::digits;
    const int right = shift < -40 ? 40 : -shift;
    Wide whole = shift >= 0 ? mantissa << shift : mantissa >> right;
    const Wide rest = shift >= 0 ? 0 : mantissa - (whole << right),
               half_way = shift >= 0 ? 1 : Wide(1) << (right - 1);
    whole += mode == nearest ? rest > half_way || (rest == half_way && whole % 2)
                             : rest && mode == (negative ? down : up);
    if (negative) whole = -whole;
    return whole < Range::min() ? Range::min() : whole > Range::max() ? Range::max() : Int(whole);
}
template <class Int, class H>
void check_integers(H x, Int i, const char* what) {
    Int to[4];
    H from[4];
    integers(x, i, to, from);
    for (int m = 0; m < 4; ++m) {
        same(to[m], to_integer<Int, H>(bits(x), m), what, bits(x), m);
        const int scale = Type<H>::bias > 100 ? 40 : 60;  // at least the digits of the smallest integer but 0
        same(bits(from[m]), rounded<H>({Wide(i) << scale, scale}, Mode(m)), what, i, m);
    }
}
template <class H>
void conversions() {
    std::mt19937_64 random(1);
    for (unsigned h = 0; h < 65536; ++h) {
        const H x = number<H>(U(h));
        const float f = x;
        const double d = f;
        if (is_nan(h, infinity<H>)) {
            same(f == f, 0, "float of NaN", h);
            same(bits(H(f)), 0x7fff, "NaN", h);
        } else {
            same(bits(H(f)), h, "there and back", h);
        }
        if (!is_nan(h, infinity<H>) && (h & 0x7fff) != infinity<H> && fabs(d) < 1e4 && (fabs(d) > 1e-7 || d == 0)) {
            const Exact e = exact<H>(U(h), 70);
            same(d == ldexp(double(e.units), -70), 1, "float", h);
            // A float between two numbers, one nearly half-way, or a smaller one.
            const unsigned way = random() % 3;
            uint32_t near = __builtin_bit_cast(uint32_t, way == 2 ? f / float(1 << random() % 20) : f);
            near += way == 0 ? (random() >> 40) % 65536 : (1u << (22 - Type<H>::digits)) + random() % 3 - 1;
            const float g = __builtin_bit_cast(float, near);
            const double exactly = ldexp(double(g), 70), finer = nextafter(double(g), random() % 2 ? 1e9 : -1e9);
            if (exactly != trunc(exactly) || fabs(exactly) >= 0x1p126) continue;
            for (int m = 0; m < 4; ++m)
                same(bits(from_float<H>(g, Mode(m))), rounded<H>({Wide(exactly), 70}, Mode(m), h >> 15), "float",
                     near, m);
            if (ldexp(finer, 70) == trunc(ldexp(finer, 70)))
                same(bits(H(finer)), rounded<H>({Wide(ldexp(finer, 70)), 70}, nearest, h >> 15), "double", near);
        }
        unsigned long long integer = random() >> random() % 64;
        if (h % 2) {  // nearly half-way between two numbers, with up to 64 digits
            const int shift = int(random() % (63 - Type<H>::digits));
            const unsigned long long digits = (2ull << Type<H>::digits) + h % (2u << Type<H>::digits);
            integer = (digits << shift) + random() % 3 - 1;
        }
        check_integers<short>(x, short(integer), "short");
        check_integers<unsigned short>(x, U(integer), "ushort");
        check_integers<int>(x, int(integer), "int");
        check_integers<unsigned>(x, unsigned(integer), "uint");
        check_integers<long long>(x, (long long)integer, "ll");
        check_integers<unsigned long long>(x, integer, "ull");
        same(bool(x), (h & 0x7fff) != 0, "bool", h);
        same(bits(__hneg(x)), h ^ 0x8000, "__hneg", h);
        same(bits(__habs(x)), h & 0x7fff, "__habs", h);
        same(__hisnan(x), is_nan(h, infinity<H>), "__hisnan", h);
        same(__hisinf(x) + 1, 1 + ((h & 0x7fff) == infinity<H> ? h >> 15 ? -1 : 1 : 0), "__hisinf", h);
    }
    const float large[] = {65504, 65519.996f, 65520, 1e6f, 3.3895314e38f, 3.3961776e38f, 3.4028235e38f};
    for (const float x : large) {
        const bool is_half = Type<H>::digits == 10;
        const unsigned most = infinity<H> - 1;
        const bool above = is_half ? x > 65504 : x > 3.3895314e38f,
                   rounds_up = is_half ? x >= 65520 : x >= 3.3961776e38f;
        if (!is_half && x < 1e38f) continue;
        same(bits(from_float<H>(x, nearest)), most + rounds_up, "large", x > 65504);
        same(bits(from_float<H>(x, zero)), most, "large to zero", x > 65504);
        same(bits(from_float<H>(x, up)), most + above, "large up", x > 65504);
        same(bits(from_float<H>(-x, up)), most | 0x8000, "large negative up", x > 65504);
    }
}

// ---- arithmetic ----

template <class H>
void check_results(U a, U b, U c) {
    const H x = number<H>(a), y = number<H>(b), z = number<H>(c);
    const int scale = Type<H>::digits == 10 ? 24 : 35;  // the product has twice as many digits
    const Exact p = exact<H>(a, scale), q = exact<H>(b, scale), r = exact<H>(c, scale);
    const Exact sum{p.units + q.units, scale}, difference{p.units - q.units, scale},
        product{p.units * q.units, 2 * scale};
    const Exact fused{product.units + (r.units << scale), 2 * scale};
    const bool signs = (a ^ b) >> 15;
    const U added = rounded<H>(sum, nearest, a >> 15 & b >> 15), times = rounded<H>(product, nearest, signs);
    const U multiplied_added = rounded<H>(fused, nearest, signs & c >> 15);
    same(bits(__hadd(x, y)), added, "__hadd", a, b);
    same(bits(x - y), rounded<H>(difference, nearest, a >> 15 & !(b >> 15)), "-", a, b);
    same(bits(__hmul_rn(x, y)), times, "__hmul_rn", a, b);
    same(bits(__hfma(x, y, z)), multiplied_added, "__hfma", a, b, c);
    const auto clamped = [](U h) { return h >> 15 ? U(0) : min(h, bits(H(1))); };
    same(bits(__hadd_sat(x, y)), clamped(added), "__hadd_sat", a, b);
    same(bits(__hfma_sat(x, y, z)), clamped(multiplied_added), "__hfma_sat", a, b, c);
    same(bits(__hfma_relu(x, y, z)), multiplied_added >> 15 ? 0 : multiplied_added, "__hfma_relu", a, b, c);
    if (q.units) {  // the quotient: of |a * 2^k / b|, whole, and a bit more if there is a remainder
        const Wide top = (p.units < 0 ? -p.units : p.units) << 64, bottom = q.units < 0 ? -q.units : q.units;
        const Wide quotient = 2 * (top / bottom) + (top % bottom != 0);
        if (Type<H>::digits == 10 || quotient >> 60)
            same(bits(x / y), rounded<H>({signs ? -quotient : quotient, 65}, nearest, signs), "/", a, b);
    }
    const bool less = p.units < q.units, equal = p.units == q.units;
    same(x < y, less, "<", a, b);
    same(__hleu(x, y), less | equal, "__hleu", a, b);
    same(x != y, !equal, "!=", a, b);
    same(__hgt(x, y), !less & !equal, "__hgt", a, b);
    const bool a_is_larger = equal ? b >> 15 : !less;
    same(bits(__hmax(x, y)), a_is_larger ? a : b, "__hmax", a, b);
    same(bits(__hmin_nan(x, y)), equal ? (a >> 15 ? a : b) : less ? a : b, "__hmin_nan", a, b);
}
template <class H>
void arithmetic() {
    std::mt19937 random(2);
    const bool is_half = Type<H>::digits == 10;
    const auto any = [&] {  // of a range in which the reference has enough digits
        U h;
        do h = U(random());
        while ((h & 0x7fff) >= infinity<H> ||
               (!is_half && ((h >> 7 & 255) < 127 - 20 || (h >> 7 & 255) > 127 + 20)));
        return h;
    };
    for (int i = 0; i < 300000; ++i) check_results<H>(any(), any(), any());
    for (int i = 0; i < 300000; ++i) {  // nearly a * b = -c, so that the low digits of the product remain
        const U a = any(), b = any();
        const U c = bits(-(number<H>(a) * number<H>(b)));
        if ((c & 0x7fff) < infinity<H>)
            check_results<H>(a, b, is_half || ((c >> 7 & 255) > 107 && (c >> 7 & 255) < 147) ? c : any());
    }
    const U edges[] = {0,
                       0x8000,
                       1,
                       0x8001,
                       U((1 << Type<H>::digits) - 1),
                       U(1 << Type<H>::digits),
                       U(infinity<H> - 1),
                       U(infinity<H> - 1 + 0x8000),
                       bits(H(1)),
                       bits(H(-1)),
                       U(bits(H(1)) + 1),
                       U(bits(H(1)) - 1)};
    if (is_half)
        for (U a : edges)
            for (U b : edges)
                for (U c : edges) check_results<H>(a, b, c);
    // What a NaN and infinity give.
    const H nan = number<H>(0xffff), inf = number<H>(infinity<H>), one = 1;
    same(bits(nan + one), 0x7fff, "NaN + 1");
    same(bits(inf - inf), 0x7fff, "inf - inf");
    same(bits(H(0) * inf), 0x7fff, "0 * inf");
    same(bits(one / H(0)), infinity<H>, "1 / 0");
    same(bits(__hfma(inf, one, -inf)), 0x7fff, "inf * 1 - inf");
    same(bits(__hadd_sat(nan, one)), 0, "saturated NaN");
    same(bits(__hfma_relu(nan, one, one)), 0x7fff, "relu of NaN");
    same(bits(__hmax(nan, one)) << 16 | bits(__hmax(one, nan)), bits(one) << 16 | bits(one), "__hmax of NaN");
    same(bits(__hmin_nan(nan, one)) << 16 | bits(__hmin_nan(one, nan)), 0x7fff7fff, "__hmin_nan of NaN");
    same(__heq(nan, nan) | __hne(nan, one) << 1 | __hequ(nan, one) << 2 | __hneu(nan, one) << 3 | (nan != nan) << 4,
         0x1c, "NaN");
    same(__hlt(nan, one) | __hltu(nan, one) << 1 | __hgeu(nan, one) << 2 | (one <= nan) << 3, 6,
         "NaN is unordered");
    // A product half-way between two numbers, and a tiny third number that decides.
    const H x = number<H>(U(bits(one) + 1)), y = H(1.5), tiny = number<H>(1);
    same(bits(__hfma(x, y, tiny)), bits(y) + 2, "a tie and a tiny number");
    same(bits(__hfma(x, y, -tiny)), bits(y) + 1, "a tie less a tiny number");
}

// ---- mathematics: rounds what the C library computes with 64 digits ----

template <class H>
void mathematics() {
    for (unsigned h = 0; h < 65536; ++h) {
        const H x = number<H>(U(h));
        const long double w = float(x);
        const auto check = [&](H result, long double expected, const char* what) {
            const float f = result;
            const H below = number<H>(U(bits(result) - 1)), above = number<H>(U(bits(result) + 1));
            if (isnan(expected)) return same(bits(result), 0x7fff, what, h);
            if (isinf(f) || f == 0) return same(bits(result), bits(H(double(expected))), what, h);
            const long double off = fabsl(f - expected);  // no neighbour is nearer
            same((isinf(float(below)) || off <= fabsl(float(below) - expected)) &&
                     (isinf(float(above)) || off <= fabsl(float(above) - expected)),
                 1, what, h);
        };
        check(hsqrt(x), sqrtl(w), "hsqrt");
        check(hrsqrt(x), 1 / sqrtl(w), "hrsqrt");
        check(hrcp(x), 1 / w, "hrcp");
        check(hexp(x), expl(w), "hexp");
        check(hexp2(x), exp2l(w), "hexp2");
        check(hexp10(x), exp10l(w), "hexp10");
        check(hlog(x), logl(w), "hlog");
        check(hlog2(x), log2l(w), "hlog2");
        check(hlog10(x), log10l(w), "hlog10");
        check(hsin(x), sinl(w), "hsin");
        check(hcos(x), cosl(w), "hcos");
        check(htanh(x), tanhl(w), "htanh");
        check(hceil(x), ceill(w), "hceil");
        check(hfloor(x), floorl(w), "hfloor");
        check(htrunc(x), truncl(w), "htrunc");
        check(hrint(x), rintl(w), "hrint");
    }
}

// ---- vectors, in a kernel ----

#define EXPECT(condition)                                                                    \
    do                                                                                       \
        if (!(condition)) printf("wrong: line %d: %s\n", __LINE__, #condition), *failed = 1; \
    while (0)
#define VECTORS(NAME, H, H2, b)                                                                                  \
    __global__ void NAME(int* failed, const H* in, H2* sum) {                                                    \
        const H2 x = __floats2##b##2_rn(1, 2), y = __halves2##b##2(in[3], in[4]);                                \
        const auto is = [](H2 v, float a, float c) { return float(v.x) == a && float(v.y) == c; };               \
        EXPECT(is(x + y, 4, 6) && is(__hmul2(x, y), 3, 8) && is(__h2div(y, x), 3, 2) &&                          \
               is(__hsub2(x, y), -2, -2));                                                                       \
        EXPECT(is(__hfma2(x, y, x), 4, 10) && is(__hfma2_sat(x, y, -y), 0, 1) &&                                 \
               is(__hfma2_relu(-x, y, y), 0, 0));                                                                \
        EXPECT(is(__low2##b##2(y), 3, 3) && is(__high2##b##2(y), 4, 4) && is(__lowhigh2highlow(y), 4, 3));       \
        EXPECT(is(__lows2##b##2(x, y), 1, 3) && is(__highs2##b##2(x, y), 2, 4) &&                                \
               is(__##b##2##b##2(in[5]), 5, 5));                                                                 \
        EXPECT(float(__low2##b(y)) == 3 && __high2float(y) == 4 && __##b##22float2(y).y == 4);                   \
        EXPECT(is(__hcmadd(x, y, x), 3 - 8 + 1, 4 + 6 + 2));                                                     \
        EXPECT(is(__heq2(x, make_##b##2(H(1), H(3))), 1, 0) && __hbeq2(x, x) &&                                  \
               !__hblt2(x, make_##b##2(H(2), H(2))));                                                            \
        EXPECT(__hlt2_mask(x, make_##b##2(H(2), H(2))) == 0xffff && __hge2_mask(x, y) == 0 && x <= y && x != y); \
        EXPECT(is(h2sqrt(y* y), 3, 4) && is(__hneg2(x), -1, -2) && is(__habs2(-x), 1, 2) &&                      \
               is(__hmax2(x, -y), 1, 2));                                                                        \
        H2 z = x;                                                                                                \
        z += y, z *= x, ++z, z--;                                                                                \
        EXPECT(is(z, 4, 12) && is(h2rcp(__float2##b##2_rn(4)), 0.25f, 0.25f));                                   \
        EXPECT(float(__shfl_down_sync(~0u, in[threadIdx.x], 1)) == (threadIdx.x < 31 ? threadIdx.x + 1 : 31));   \
        EXPECT(is(__shfl_xor_sync(~0u, __halves2##b##2(in[threadIdx.x], H(7)), 1), threadIdx.x ^ 1, 7));         \
        EXPECT(float(__ldg(&in[9])) == 9 && float(__ldcv(&in[9])) == 9 && is(__ldg(sum + 1), 0, 0));             \
        EXPECT(__##b##2int_rn(H(2.5f)) == 2 && int(H(-2.75f)) == -2 && bits_of_h(H(1)) == bits_of_h(H(in[1])));  \
        EXPECT(float(in[2] * in[3] + in[4] / in[8] - H(1)) == 5.5f && in[2] < in[3] && -in[2] == H(-2));         \
        const H2 before = atomicAdd(sum, make_##b##2(in[1], in[2]));                                             \
        EXPECT(float(before.y) == 2 * float(before.x));                                                          \
        atomicAdd(&sum[2].x, in[1]);                                                                             \
    }
template <class H>
__device__ unsigned short bits_of_h(H x) {
    return __builtin_bit_cast(unsigned short, x);
}
VECTORS(halves, half, half2, half)
VECTORS(bfloats, nv_bfloat16, nv_bfloat162, bfloat16)

template <class H, class H2>
int vectors(void (*kernel)(int*, const H*, H2*)) {
    int* failed;
    H* in;
    H2* sum;
    cudaMallocManaged(&failed, sizeof *failed);
    cudaMallocManaged(&in, 32 * sizeof *in);
    cudaMallocManaged(&sum, 3 * sizeof *sum);
    *failed = 0;
    for (int i = 0; i < 32; ++i) in[i] = H(i);
    for (int i = 0; i < 3; ++i) sum[i] = H2(0, 0);
    kernel<<<1, 32>>>(failed, in, sum);
    cudaDeviceSynchronize();
    if (float(sum->x) != 32 || float(sum->y) != 64 || float(sum[2].x) != 32) *failed = 1;
    const int result = *failed || cudaGetLastError();
    cudaFree(failed);
    cudaFree(in);
    cudaFree(sum);
    return result;
}

// RUN: hazards race
// STATUS: 1
__global__ void racing(half* h, half2* v) {
    h[threadIdx.x] = __hadd(h[(threadIdx.x + 1) % 64], half(1));  // SAYS: thread
    if (threadIdx.x < 32) v->y = __hmul(v->y, half(2));           // SAYS: thread
}

int main(int, char** arguments) {
    const char* const what = arguments[1];
    // RUN: plain conversions
    // SAYS: of {{\d\d\d\d\d\d\d+}} conversions 0 are wrong
    if (!strcmp(what, "conversions")) conversions<half>(), conversions<nv_bfloat16>();
    // RUN: plain arithmetic
    // SAYS: of {{\d\d\d\d\d\d\d+}} arithmetic 0 are wrong
    if (!strcmp(what, "arithmetic")) arithmetic<half>(), arithmetic<nv_bfloat16>();
    // RUN: plain mathematics
    // SAYS: of {{\d\d\d\d\d\d\d+}} mathematics 0 are wrong
    if (!strcmp(what, "mathematics")) mathematics<half>(), mathematics<nv_bfloat16>();
    // RUN: plain,hazards,asan vectors
    // RUN: counters vectors
    // SAYS: global load {{.*}}32.0
    // SAYS-NOT: branch
    // SAYS-NOT: wrong:
    if (!strcmp(what, "vectors")) return vectors(halves) || vectors(bfloats);
    if (!strcmp(what, "race")) {
        half* h;
        half2* v;
        cudaMalloc(&h, 64 * sizeof *h);
        cudaMalloc(&v, sizeof *v);
        cudaMemset(h, 0, 64 * sizeof *h);
        cudaMemset(v, 0, sizeof *v);
        racing<<<1, 64>>>(h, v);
        cudaFree(h);
        cudaFree(v);
        return 0;
    }
    printf("of %lu %s %d are wrong\n", checked, what, wrong);
    return wrong > 0;
}
