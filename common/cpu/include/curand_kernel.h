// curand_kernel.h - cuRAND's generators for kernels, XORWOW and Philox: the same integers and uniform numbers as on
// a GPU. Normal numbers are rounded differently, because logf() and __sincosf() are.
#pragma once
#include "cuda_runtime.h"

struct curandStateXORWOW {
    unsigned d, v[5];  // a counter, and a shift register
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;  // how many of the four numbers in `output` are used
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

namespace cudacpu::random {
CUDACPU_QUIET inline void step(unsigned* v) {
    const unsigned t = v[0] ^ v[0] >> 2;
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}
/// What many steps make of a register: they are linear, so row i is what becomes of bit i.
using Steps = unsigned[160][5];
CUDACPU_QUIET inline void apply(const Steps& steps, unsigned* v) {
    unsigned sum[5] = {};
    for (int i = 0; i < 160; ++i) {
        if (v[i / 32] >> i % 32 & 1)
            for (int word = 0; word < 5; ++word) sum[word] ^= steps[i][word];
    }
    for (int word = 0; word < 5; ++word) v[word] = sum[word];
}
/// Takes n * 2^shift steps.
CUDACPU_QUIET inline void skip(unsigned* v, unsigned long long n, int shift) {
    static Steps powers[67 + 64];  // 2^k steps
    static int known = 0;
    for (int k = shift; n; ++k, n >>= 1) {
        for (; known <= k; ++known) {
            for (int i = 0; i < 160; ++i) {
                unsigned* const row = powers[known][i];
                for (int word = 0; word < 5; ++word)
                    row[word] = known ? powers[known - 1][i][word] : word == i / 32 ? 1u << i % 32 : 0;
                known ? apply(powers[known - 1], row) : step(row);
            }
        }
        if (n & 1) apply(powers[k], v);
    }
}
inline void skip(curandStateXORWOW* state, unsigned long long n, int shift) {
    unsigned v[] = {state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]};
    skip(v, n, shift);
    for (int word = 0; word < 5; ++word) state->v[word] = v[word];
}

/// Adds n to the word `first` of the counter, with carries.
inline void count(uint4& ctr, unsigned long long n, int first) {
    unsigned* const words[] = {&ctr.x, &ctr.y, &ctr.z, &ctr.w};
    for (int word = first; word < 4; ++word) {
        n += *words[word];
        *words[word] = unsigned(n);
        n >>= 32;
    }
}
inline uint4 philox(uint4 c, uint2 key) {
    for (int round = 0; round < 10; ++round, key.x += 0x9e3779b9, key.y += 0xbb67ae85) {
        const unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
        c = {unsigned(b >> 32) ^ c.y ^ key.x, unsigned(b), unsigned(a >> 32) ^ c.w ^ key.y, unsigned(a)};
    }
    return c;
}
inline float uniform(unsigned x) {
    return fmaf(float(x), 2.3283064e-10f, 2.3283064e-10f / 2);
}  // as nvcc contracts it
inline double uniform(unsigned x, unsigned y) {
    return double(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
inline float2 normal(unsigned x, unsigned y) {
    const float angle = fmaf(float(y), 2.3283064e-10f * 6.2831855f, 2.3283064e-10f * 6.2831855f / 2);
    const float radius = sqrtf(-2 * logf(uniform(x)));
    return {radius * sinf(angle), radius * cosf(angle)};
}
inline double2 normal(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
    const double radius = sqrt(-2 * log(uniform(x0, x1))), angle = 2 * uniform(y0, y1);
    return {radius * sinpi(angle), radius * cospi(angle)};
}
template <class State>
concept Generator = std::is_same_v<State, curandStateXORWOW> || std::is_same_v<State, curandStatePhilox4_32_10>;
}  // namespace cudacpu::random

inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
    cudacpu::random::skip(state, n, 0);
    state->d += 362437 * unsigned(n);
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
    cudacpu::random::skip(state, n, 67);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW* state) {
    const unsigned t0 = 1099087573 * (unsigned(seed) ^ 0xaad26b49);
    const unsigned t1 = 2591861531 * (unsigned(seed >> 32) ^ 0xf7dcefdd);
    *state = {6615241 + t1 + t0, {123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0}};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
inline unsigned curand(curandStateXORWOW* state) {
    cudacpu::random::step(state->v);
    return state->v[4] + (state->d += 362437);
}

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    state->STATE += n & 3;
    cudacpu::random::count(state->ctr, n / 4 + state->STATE / 4, 0);
    state->STATE &= 3;
    state->output = cudacpu::random::philox(state->ctr, state->key);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    cudacpu::random::count(state->ctr, n, 2);
    state->output = cudacpu::random::philox(state->ctr, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10* state) {
    *state = {};
    state->key = {unsigned(seed), unsigned(seed >> 32)};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
inline unsigned curand(curandStatePhilox4_32_10* state) {
    const uint4 four = state->output;
    const unsigned used = state->STATE;
    skipahead(1, state);
    return used == 0 ? four.x : used == 1 ? four.y : used == 2 ? four.z : four.w;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
    return {curand(state), curand(state), curand(state), curand(state)};
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    using cudacpu::random::uniform;
    return {uniform(x.x), uniform(x.y), uniform(x.z), uniform(x.w)};
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    const float2 a = cudacpu::random::normal(x.x, x.y), b = cudacpu::random::normal(x.z, x.w);
    return {a.x, a.y, b.x, b.y};
}

template <cudacpu::random::Generator State> float curand_uniform(State* state) {
    return cudacpu::random::uniform(curand(state));
}
inline double curand_uniform_double(curandStateXORWOW* state) {
    const unsigned x = curand(state), y = curand(state);
    return cudacpu::random::uniform(x, y);
}
inline double curand_uniform_double(curandStatePhilox4_32_10* state) { return curand(state) * 0x1p-32 + 0x1p-32; }
template <cudacpu::random::Generator State> float2 curand_normal2(State* state) {
    const unsigned x = curand(state), y = curand(state);
    return cudacpu::random::normal(x, y);
}
template <cudacpu::random::Generator State> double2 curand_normal2_double(State* state) {
    const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
    return cudacpu::random::normal(x0, x1, y0, y1);
}
// clang-format off
/// Numbers come in pairs, and the second waits in the state. `kind` is 1 for normal numbers, 2 for log-normal ones.
#define CUDACPU_PAIRED(name, T, parameters, suffix, kind, value) \
    template <cudacpu::random::Generator State> T name parameters { \
        const auto made = [=](T normal) { return value; }; \
        if (std::exchange(state->boxmuller_flag##suffix, kind) == kind) { \
            state->boxmuller_flag##suffix = 0; \
            return state->boxmuller_extra##suffix; \
        } \
        const auto pair = curand_normal2##suffix(state); \
        state->boxmuller_extra##suffix = made(pair.y); \
        return made(pair.x); \
    }
CUDACPU_PAIRED(curand_normal, float, (State* state), , 1, normal)
CUDACPU_PAIRED(curand_normal_double, double, (State* state), _double, 1, normal)
CUDACPU_PAIRED(curand_log_normal, float, (State* state, float mean, float deviation), , 2,
               expf(mean + deviation * normal))
CUDACPU_PAIRED(curand_log_normal_double, double, (State* state, double mean, double deviation), _double, 2,
               exp(mean + deviation * normal))
#undef CUDACPU_PAIRED
// clang-format on
