// exact_test.cu - tests that 03_exact_dot's `wide` and `exact` return the float nearest to the exact result, for
// any input.
//   exact_test [COUNT] [SEED]: COUNT small inputs of each kind, each on its own grid, and a long one for each shape
// The reference computes with whole numbers and shares no code with the sample. A product of floats is a whole
// number of 2^-298. The reference adds up the positive and the negative ones. Then it searches the floats for the
// greatest one that is not above the sum, and compares the sum with the middle between it and the next one.
// Exit status: 0 if all results are right, 1 if not, 77 if there is no GPU.
#define main sample_main
#include "../../03_dot_shared/exact_dot.cu"
#undef main
#include <array>
#include <random>

namespace {

// A whole number from 0 to 2^672 - 1. The highest word comes first, so operator< of std::array compares numbers.
struct Whole {
    std::array<uint32_t, 21> words = {};
    void add(uint64_t x, int shift) {  // adds x * 2^shift
        uint64_t carry = 0;
        for (int k = 20, from = -shift; k >= 0 && (from < 64 || carry); --k, from += 32) {
            const uint64_t part = from <= -32 || from >= 64 ? 0 : from < 0 ? x << -from : x >> from;
            carry += words[k] + uint64_t(uint32_t(part));
            words[k] = uint32_t(carry);
            carry >>= 32;
        }
    }
    Whole minus(const Whole& less) const {
        Whole result;
        int64_t borrow = 0;
        for (int k = 20; k >= 0; --k) {
            borrow += int64_t(words[k]) - less.words[k];
            result.words[k] = uint32_t(borrow);
            borrow >>= 32;
        }
        return result;
    }
};
constexpr int unit = -298;  // the numbers below count 2^-298
// |x| is first * 2^second, and first is odd. x is not 0.
std::pair<uint64_t, int> parts(float x) {
    int exponent = 0;
    auto m = uint64_t(std::ldexp(std::frexp(std::fabs(x), &exponent), 24));
    for (exponent -= 24; m % 2 == 0; m /= 2) ++exponent;
    return {m, exponent};
}
// Twice the float whose bits are `bits`; 2^128 follows the greatest one.
Whole twice(uint32_t bits) {
    Whole result;
    if (bits == 0) return result;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    const auto [m, exponent] = std::isinf(x) ? std::pair<uint64_t, int>(1, 128) : parts(x);
    result.add(m, exponent + 1 - unit);
    return result;
}
// The float nearest to a number; in the middle of two, the even one.
float nearest_to(const Whole& number) {
    Whole doubled = number;
    for (int k = 0; k < 21; ++k) doubled.words[k] = number.words[k] << 1 | (k < 20 ? number.words[k + 1] >> 31 : 0);
    uint32_t bits = 0;  // the floats are in the order of their bits
    for (uint32_t step = 1u << 30; step > 0; step /= 2)
        if (bits + step <= 0x7f7fffff && !(doubled.words < twice(bits + step).words)) bits += step;
    const Whole below = doubled.minus(twice(bits)), above = twice(bits + 1).minus(doubled);
    const bool beyond_infinity = !(doubled.words < twice(0x7f800000).words);
    if (beyond_infinity || above.words < below.words || (above.words == below.words && bits % 2)) ++bits;
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}
float reference(const std::vector<float>& a, const std::vector<float>& b) {
    Whole positive, negative;
    bool above = false, below = false, none = false;
    for (size_t i = 0; i < a.size(); ++i) {
        const float x = a[i], y = b[i];
        const bool minus = std::signbit(x) != std::signbit(y);
        if (std::isnan(x) || std::isnan(y) || (std::isinf(x) && y == 0) || (x == 0 && std::isinf(y))) {
            none = true;
        } else if (std::isinf(x) || std::isinf(y)) {
            (minus ? below : above) = true;
        } else if (x != 0 && y != 0) {
            const auto [mx, ex] = parts(x);
            const auto [my, ey] = parts(y);
            (minus ? negative : positive).add(mx * my, ex + ey - unit);
        }
    }
    if (none || (above && below)) return NAN;
    if (above || below) return above ? INFINITY : -INFINITY;
    const bool minus = positive.words < negative.words;
    const float result = nearest_to(minus ? negative.minus(positive) : positive.minus(negative));
    return (minus ? -result : result) + 0.0f;  // no -0
}

std::mt19937_64 bits;
int within(int least, int most) { return least + int(bits() % uint64_t(most - least + 1)); }
float sign() { return within(0, 1) ? 1.0f : -1.0f; }
float any(int least, int most) {  // any 24 bits, a sign, and an exponent
    return std::ldexp(float(int64_t(bits()) >> 40) / 0x1p23f, within(least, most));
}
float any_finite() {
    uint32_t word = uint32_t(bits());
    word ^= (word >> 23 & 255) == 255 ? 1u << 30 : 0;
    float result;
    std::memcpy(&result, &word, sizeof result);
    return result;
}
using Floats = std::vector<float>;
constexpr int most = 2500;  // elements
void set(Floats& a, Floats& b, size_t i, float x, float y) {
    if (i >= a.size()) return;
    a[i] = x;
    b[i] = y;
}

void ordinary(Floats& a, Floats& b) {
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, any(-10, 10), any(-10, 10));
}
void any_bits(Floats& a, Floats& b) {
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, any_finite(), any_finite());
}
void pairs_that_cancel(Floats& a, Floats& b) {
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, any(-60, 60), any(-60, 60));
    for (size_t i = 0; i < a.size() / 2; ++i)
        set(a, b, a.size() - 1 - i, -a[i], within(0, 9) ? b[i] : std::nextafter(b[i], 0.0f));
}
// All bits cancel, except the last one that a product can have, if any.
void last_bit(Floats& a, Floats& b) {
    any_bits(a, b);
    for (size_t i = 0; i < a.size() / 2; ++i) set(a, b, a.size() - 1 - i, b[i], -a[i]);
    if (a.size() % 2) set(a, b, a.size() / 2, within(0, 1) * 0x1p-149f, sign() * 0x1p-149f);
}
// Each further term cancels the sum of those before (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005,
// algorithm 6.1).
void ill_conditioned(Floats& a, Floats& b) {
    const size_t n = a.size();
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
        const int size = int(60 - 120 * i / n);
        set(a, b, i, any(size / 2, size / 2), any(size / 2, size / 2));
        if (i >= n / 2 && a[i] != 0) b[i] = float((double(any(size, size)) - sum) / a[i]);
        if (!std::isfinite(b[i])) b[i] = 0;
        sum += double(a[i]) * double(b[i]);
    }
}
void below_every_float(Floats& a, Floats& b) {
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, any(-149, -60), any(-149, -60));
}
void subnormal(Floats& a, Floats& b) {  // the sum, and a factor of each term
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, any(-149, -127), any(-20, 0));
}
void about_the_greatest(Floats& a, Floats& b) {
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, any(60, 64), any(60, 63));
    const float half = within(0, 3) ? 0x1p103f : std::nextafter(0x1p103f, 0.0f);
    if (within(0, 1)) {  // 2^128 - 2^104 is the greatest float, and half of the step to 2^128 is added
        std::fill(a.begin(), a.end(), 0.0f);
        set(a, b, 0, std::numeric_limits<float>::max(), sign());
        set(a, b, a.size() / 2, half, a.size() > 1 ? b[0] : 0.5f);
        set(a, b, a.size() > 2 ? a.size() - 1 : a.size(), within(-1, 1) * 0x1p-149f, 0x1p-149f);
    }
}
void infinite_or_nan(Floats& a, Floats& b) {
    any_bits(a, b);
    for (int k = within(1, 3); k > 0; --k) {
        const float x = within(0, 4) ? sign() * INFINITY : NAN;
        set(a, b, bits() % a.size(), x, within(0, 4) ? any_finite() : sign() * 0.0f);
    }
    if (within(0, 1)) std::swap(a, b);
}
void signed_zeros(Floats& a, Floats& b) {
    for (size_t i = 0; i < a.size(); ++i) set(a, b, i, sign() * 0.0f, within(0, 1) ? any_finite() : sign() * 0.0f);
    if (within(0, 1)) set(a, b, 0, 0x1p-149f, -0x1p-20f);
}
// The middle of two floats, and perhaps more: the smallest product, or one that two doubles hardly keep.
void middle(Floats& a, Floats& b) {
    std::fill(a.begin(), a.end(), 0.0f);
    std::fill(b.begin(), b.end(), 1.0f);
    const int k = within(-120, 120);
    set(a, b, 0, std::ldexp(1.0f + float(within(0, 3)) * 0x1p-23f, k), sign());
    set(a, b, 1, std::ldexp(1.0f, k - 24), sign());
    const float more = within(0, 1) ? 0x1p-149f : std::ldexp(1.0f, std::max(-149, (k - 94 - within(0, 9)) / 2));
    if (within(0, 2)) set(a, b, 2, more, sign() * more);
    const float third = std::ldexp(1.0f, (k - 160) / 2);  // so that two doubles do not hold the sum
    if (within(0, 1)) set(a, b, 3, third, sign() * third);
}

// Each block has terms of its own size: its sum fits into two doubles, and the sum of all blocks does not.
void blocks_of_their_own_size(Floats& a, Floats& b) {
    a.resize(within(1500, most));
    b.resize(a.size());
    for (size_t i = 0; i < a.size(); ++i)
        set(a, b, i, any(-4, 4), any(int(i / 512) * 40 - 100, int(i / 512) * 40 - 98));
}

struct Kind {
    const char* name;
    void (*make)(Floats& a, Floats& b);
    bool shuffled = true;
};
const Kind kinds[] = {{"ordinary", ordinary},
                      {"any bits", any_bits},
                      {"pairs that cancel", pairs_that_cancel},
                      {"the last bit is left", last_bit},
                      {"ill conditioned", ill_conditioned},
                      {"products below every float", below_every_float},
                      {"subnormal", subnormal},
                      {"about the greatest float", about_the_greatest},
                      {"infinite or NaN", infinite_or_nan},
                      {"signed zeros", signed_zeros},
                      {"the middle of two floats", middle},
                      {"blocks of their own size", blocks_of_their_own_size, false}};

bool same(float x, float y) { return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0; }

struct Launch {
    Kernel kernel;
    bool dot;
};
const Launch launches[] = {{wide<4>, true},          {exact<4, true>, true},   {wide<1>, true},
                           {wide<2>, true},          {exact<1, true>, true},   {exact<2, true>, true},
                           {exact<1, false>, false}, {exact<2, false>, false}, {exact<4, false>, false}};

// A block adds so many terms, as large as a bin's terms can be, that a thread's bins would overflow if they were
// never emptied. The first term is so small that two doubles do not hold the sum.
int64_t wrong_long_inputs() {
    constexpr int n = 128 << 15;
    Floats a(n, std::nextafter(0x1p43f, 0.0f)), b = a;
    a[0] = b[0] = 0x1p-149f;
    const lab::DeviceArray<float> d_a(a), d_b(b);
    const lab::DeviceArray<double> out(1);
    const lab::DeviceArray<Twofold> of_block(1);
    const lab::DeviceArray<unsigned> count(std::vector<unsigned>(1));
    int64_t wrong = 0;
    for (const Launch& launch : {launches[0], launches[1]}) {
        launch.kernel<<<1, exact_threads>>>(d_a.get(), d_b.get(), of_block.get(), out.get(), count.get(), n);
        CHECK(cudaGetLastError());
        const double got = out.download()[0];
        const float want = reference(a, b);
        if (same(float(got), want)) continue;
        ++wrong;
        std::printf("long input: got %.9g, wanted %.9g\n", got, want);
    }
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    if (lab::means_no_device(cudaGetDeviceCount(&devices)) && devices == 0) return lab::no_device;
    const int64_t inputs = argc > 1 ? std::atoll(argv[1]) : 1000;
    bits.seed(argc > 2 ? std::atoll(argv[2]) : 1);
    constexpr int most_grid = 200, batch = 500;
    const lab::DeviceArray<float> d_a(int64_t(batch) * most), d_b(int64_t(batch) * most);
    const lab::DeviceArray<double> out(batch);
    const lab::DeviceArray<Twofold> of_block(most_grid);
    const lab::DeviceArray<unsigned> count(std::vector<unsigned>(1));
    int64_t wrong = wrong_long_inputs();
    for (const Kind& kind : kinds) {
        const unsigned before = count.download()[0];
        for (int64_t done = 0; done < inputs; done += batch) {
            const int here = int(std::min<int64_t>(batch, inputs - done));
            std::vector<Floats> a(here), b(here);
            Floats all_a(int64_t(batch) * most), all_b(int64_t(batch) * most);
            for (int k = 0; k < here; ++k) {
                const int n = within(1, within(0, 3) ? 40 : most);
                a[k].resize(n);
                b[k].resize(n);
                kind.make(a[k], b[k]);
                for (size_t i = kind.shuffled ? n : 0; i > 1; --i) {
                    const size_t j = bits() % i;
                    std::swap(a[k][i - 1], a[k][j]);
                    std::swap(b[k][i - 1], b[k][j]);
                }
                std::copy(a[k].begin(), a[k].end(), all_a.begin() + int64_t(k) * most);
                std::copy(b[k].begin(), b[k].end(), all_b.begin() + int64_t(k) * most);
            }
            CHECK(cudaMemcpy(d_a.get(), all_a.data(), d_a.bytes(), cudaMemcpyHostToDevice));
            CHECK(cudaMemcpy(d_b.get(), all_b.data(), d_b.bytes(), cudaMemcpyHostToDevice));
            for (int k = 0; k < here; ++k) {
                const int64_t at = int64_t(k) * most;
                const int grid = within(0, 63) ? within(1, 5) : within(1, most_grid);
                const Launch& launch = launches[k % std::size(launches)];
                launch.kernel<<<grid, exact_threads>>>(d_a.get() + at, d_b.get() + at, of_block.get(),
                                                       out.get() + k, count.get(), int64_t(a[k].size()));
                CHECK(cudaGetLastError());
                if (!launch.dot) b[k].assign(b[k].size(), 1);
            }
            const std::vector<double> got = out.download();
            for (int k = 0; k < here; ++k) {
                const float want = reference(a[k], b[k]);
                if (same(float(got[k]), want) || ++wrong > 5) continue;
                std::printf("%s, %zu elements: got %.9g, wanted %.9g\n", kind.name, a[k].size(), got[k], want);
            }
        }
        std::printf("%-26s %8lld inputs, %5.1f %% of them needed the wide number\n", kind.name, (long long)inputs,
                    100.0 * (count.download()[0] - before) / double(inputs));
    }
    std::printf(wrong ? "%lld are WRONG\n" : "all are right\n", (long long)wrong);
    return wrong ? 1 : 0;
}
