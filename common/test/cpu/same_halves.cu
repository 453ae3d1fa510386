// same_halves.cu - prints what the functions of cuda_fp16.h and cuda_bf16.h give for each of the 65,536 values: a
// line a function, with a hash of all results. same_halves_h200.txt is what it printed on an NVIDIA H200; the CPU
// device and any other GPU must print the same. htanh_approx() is left out: the CPU device rounds the exact result.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "error.cuh"
#include "noise.cuh"

constexpr int values = 1 << 16;

// One result, of any type. A NaN's bits are open.
__device__ unsigned long long bits(__half x) { return __hisnan(x) ? 0x7fff : __half_as_ushort(x); }
__device__ unsigned long long bits(__nv_bfloat16 x) { return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x); }
__device__ unsigned long long bits(float x) { return x != x ? 0x7fffffff : __float_as_uint(x); }
template <class Integer>
__device__ unsigned long long bits(Integer x) {
    return static_cast<unsigned long long>(x);
}

__device__ __half from_bits(__half, unsigned short x) { return __ushort_as_half(x); }
__device__ __nv_bfloat16 from_bits(__nv_bfloat16, unsigned short x) { return __ushort_as_bfloat16(x); }

// The operands of result i: a is each value once, b and c are others, often of about a's size.
template <class H, class F>
__global__ void all_values(unsigned long long* results, F f) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, random = noise(i);
    const unsigned short near = static_cast<unsigned short>((i & 0xff00) ^ (random & 0x83ff));
    const H a = from_bits(H(), static_cast<unsigned short>(i));
    const H b = from_bits(H(), random >> 31 ? near : static_cast<unsigned short>(random));
    const H c = from_bits(H(), static_cast<unsigned short>(noise(random)));
    results[i] = bits(f(a, b, c, random));
}

template <class H, class F>
void show(const char* type, const char* name, F f) {
    unsigned long long* results = nullptr;
    CHECK(cudaMalloc(&results, values * sizeof *results));
    all_values<H><<<values / 256, 256>>>(results, f);
    CHECK(cudaGetLastError());
    std::vector<unsigned long long> host(values);
    CHECK(cudaMemcpy(host.data(), results, values * sizeof *results, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(results));
    unsigned long long hash = 0xcbf29ce484222325;
    for (const unsigned long long x : host) hash = (hash ^ x) * 0x100000001b3;
    printf("%-4s %-14s %016llx\n", type, name, hash);
}

// clang-format off
#define FUNCTIONS(SHOW) \
    SHOW(to_float, float(a)) \
    SHOW(from_float, H(__uint_as_float(random))) \
    SHOW(from_double, H(__hiloint2double(int(random & 0x8fffffff) | 0x30000000, int(noise(random))))) \
    SHOW(from_int, H(int(random) >> (random & 31))) \
    SHOW(from_unsigned, H(random >> (random & 31))) \
    SHOW(from_long_long, H((long long)((unsigned long long)random << 32 | noise(random)) >> (random & 63))) \
    SHOW(to_int, int(a)) \
    SHOW(to_unsigned, (unsigned)(a)) \
    SHOW(to_short, short(a)) \
    SHOW(to_long_long, (long long)(a)) \
    SHOW(add, __hadd(a, b)) \
    SHOW(sub, __hsub(a, b)) \
    SHOW(mul, __hmul(a, b)) \
    SHOW(div, __hdiv(a, b)) \
    SHOW(fma, __hfma(a, b, c)) \
    SHOW(add_sat, __hadd_sat(a, b)) \
    SHOW(mul_sat, __hmul_sat(a, b)) \
    SHOW(fma_sat, __hfma_sat(a, b, c)) \
    SHOW(fma_relu, __hfma_relu(a, b, c)) \
    SHOW(max, __hmax(a, b)) \
    SHOW(min, __hmin(a, b)) \
    SHOW(max_nan, __hmax_nan(a, b)) \
    SHOW(min_nan, __hmin_nan(a, b)) \
    SHOW(neg, __hneg(a)) \
    SHOW(abs, __habs(a)) \
    SHOW(trunc, htrunc(a)) \
    SHOW(ceil, hceil(a)) \
    SHOW(floor, hfloor(a)) \
    SHOW(rint, hrint(a)) \
    SHOW(sqrt, hsqrt(a)) \
    SHOW(rsqrt, hrsqrt(a)) \
    SHOW(rcp, hrcp(a)) \
    SHOW(exp, hexp(a)) \
    SHOW(exp2, hexp2(a)) \
    SHOW(exp10, hexp10(a)) \
    SHOW(log, hlog(a)) \
    SHOW(log2, hlog2(a)) \
    SHOW(log10, hlog10(a)) \
    SHOW(sin, hsin(a)) \
    SHOW(cos, hcos(a)) \
    SHOW(tanh, htanh(a)) \
    SHOW(compare, __heq(a, b) | __hequ(a, b) << 1 | __hne(a, b) << 2 | __hneu(a, b) << 3 | __hlt(a, b) << 4 | __hltu(a, b) << 5 | __hle(a, b) << 6 | __hleu(a, b) << 7 | __hgt(a, b) << 8 | __hgtu(a, b) << 9 | __hge(a, b) << 10 | __hgeu(a, b) << 11 | __hisnan(a) << 12 | (__hisinf(a) + 1) << 13)
// clang-format on
#define FUNCTOR(name, expression)                                          \
    struct name##_ {                                                       \
        template <class H>                                                 \
        __device__ auto operator()(H a, H b, H c, unsigned random) const { \
            (void)a, (void)b, (void)c, (void)random;                       \
            return expression;                                             \
        }                                                                  \
    };
FUNCTIONS(FUNCTOR)

template <class H>
void show_all(const char* type) {
#define SHOW(name, expression) show<H>(type, #name, name##_());
    FUNCTIONS(SHOW)
}

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
    show_all<__half>("half");
    show_all<__nv_bfloat16>("bf16");
}
