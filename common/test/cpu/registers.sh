#!/bin/sh
# registers.sh CUDACPU: tests that a thread keeps its values across a wait, whichever registers the compiler may use.
# Exit status: 0 if so, 1 if not, 77 if this processor has no AVX-512, so that only the assembly was checked.
. "$(dirname "$0")/../lib.sh"
cudacpu=$1
[ "$(uname -m)" = x86_64 ] || skip "the inline switch is for x86-64"
cat >"$folder/across.cu" <<'end'
template <class T> T across(T a, T b, T c, int n, void** from, void* to) {
    for (int i = 0; i < n; ++i) {
        cudacpu::switch_stacks(from, to);
        a += b, b += c, c += a, a *= b, b += c, c += a;
    }
    return a + b + c;
}
template float across(float, float, float, int, void**, void*);
template long double across(long double, long double, long double, int, void**, void*);
template long across(long, long, long, int, void**, void*);
end
none_of() { # none_of REGISTERS OPTION: the code must not use these registers, because the switch does not save them
    ends 0 "$cudacpu" -O2 "$2" -S -c "$folder/across.cu" -o "$folder/across.s"
    must "with $2 no value stays in a register that the switch does not save" test "$(grep -cE "$1" "$folder/across.s")" = 0
}
none_of '[xyz]mm(1[6-9]|2[0-9]|3[01])|%k[0-7]' -mavx512f
none_of '[xyz]mm(1[6-9]|2[0-9]|3[01])|%k[0-7]' -mavx512vl
must "a long double is in memory meanwhile" grep -q fstpt "$folder/across.s"
run "$cudacpu" -mapxf -c "$folder/across.cu" -o "$folder/across.o"
[ $status -ne 0 ] || none_of '%r(1[6-9]|2[0-9]|3[01])' -mapxf # supported by g++ from 14 on and clang from 18 on

cat >"$folder/kept.cu" <<'end'
#include <cstdio>
constexpr int threads = 64, rounds = 5;
template <class T, int m> __global__ void kernel(T* out, const T* in) {
    T v[m];
#pragma GCC unroll 32
    for (int i = 0; i < m; ++i) v[i] = in[i] * (threadIdx.x + 1);
    for (int r = 0; r < rounds; ++r) {
        __syncthreads();
#pragma GCC unroll 32
        for (int i = 0; i < m; ++i) v[i] = v[i] * 2;
    }
#pragma GCC unroll 32
    for (int i = 0; i < m; ++i) out[threadIdx.x * m + i] = v[i];
}
template <class T, int m> int wrong() {
    T *out, *in;
    cudaMallocManaged(&out, threads * m * sizeof *out);
    cudaMallocManaged(&in, m * sizeof *in);
    for (int i = 0; i < m; ++i) in[i] = T(i + 1);
    kernel<T, m><<<1, threads>>>(out, in);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < threads * m; ++i) wrong += out[i] != T(i % m + 1) * T(i / m + 1) * (1 << rounds);
    cudaFree(in);
    cudaFree(out);
    return wrong;
}
int main() {
    const int wrongs[] = {wrong<float, 24>(), wrong<double, 4>(), wrong<long double, 3>(), wrong<int, 40>()};
    for (int w : wrongs) printf("%d wrong\n", w);
    return wrongs[0] + wrongs[1] + wrongs[2] + wrongs[3] != 0;
}
end
ends 0 "$cudacpu" "$folder/kept.cu" -o "$folder/kept"
ends 0 "$folder/kept"
[ $failed = 0 ] && ! grep -qw avx512vl /proc/cpuinfo && skip "this processor has no AVX-512: only the assembly was checked"
for level in -O1 -O2 -O3; do
    ends 0 "$cudacpu" $level -march=native "$folder/kept.cu" -o "$folder/kept"
    ends 0 "$folder/kept"
done
finish
