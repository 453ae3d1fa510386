# loops.awk: writes a .cu file with random kernels of one loop each, and the same loops for the host.
#   awk -f loops.awk -v kernels=40 -v seed=7 >loops.cu
# The program compares both sums for several sizes. Its exit status is 0 if all are equal, 1 if not.
function any(list,   of) { return of[1 + int(rand() * split(list, of, "|"))] }
function loop(   type, unsigned_type, from, to, step, down) {
    type = any("int|unsigned|int64_t|uint64_t|long|short|size_t|unsigned long long")
    unsigned_type = type ~ /unsigned|uint|size_t/
    down = !unsigned_type && rand() < 0.3
    step = any("1|2|3|5|blockDim.x|int(gridDim.x * blockDim.x)|step")
    to = any("n|" (unsigned_type ? "n" : "n - 1") "|n / 2|min(n, 77)|n + threadIdx.x % 3")
    from = any("0|threadIdx.x|int(blockIdx.x * blockDim.x + threadIdx.x)|first|3|n / 3")
    if (down)
        return "for (" type " i = " to "; i " any(">|>=") " " any("0|first % 4|1") "; " (step == 1 ? any("--i|i--") : "i -= " step) ")"
    return "for (" type " i = " from "; i " (unsigned_type ? "<" : any("<|<=")) " " to "; " \
        (step == 1 ? any("++i|i++|i += 1") : "i += " step) ")"
}
function body() {
    return any("s += in[i % m] * w++;" \
        "|{ if (in[i % m] % 3 == 0) continue; s = s * 3 + in[i % m]; }" \
        "|{ s ^= in[i % m] + int(i); a[w & 7] += int(i); ++w; }" \
        "|{ const int x = in[i % m]; s += x; if (x > 50) s -= in[(i + 1) % m]; last = int(i); }" \
        "|{ add(out + 64 + int(i) % 8, in[i % m]); s += last; last += 2; }" \
        "|{ for (int j = 0; j < 3; ++j) s = s * 5 + in[(i + j) % m]; }" \
        "|{ int t = in[i % m]; while (t > 0) { s += t & 1; t >>= 1; } }" \
        "|{ mine[threadIdx.x] = in[i % m]; s += mine[threadIdx.x] * int(i); }")
}
function written(name, kernel, code) {
    print (kernel ? "__global__ void k" : "void h") name "(const int* in, int n, int m, int step, unsigned* out" \
        (kernel ? "" : ", uint3 threadIdx, uint3 blockIdx, dim3 blockDim, dim3 gridDim") ") {"
    print "    " (kernel ? "__shared__ " : "") "int mine[64];"
    print "    unsigned s = 1, w = 1, last = 0, a[8] = {};"
    print "    const int first = blockIdx.x * blockDim.x + threadIdx.x;"
    if (kernel) print "    const auto add = [](unsigned* p, unsigned x) { atomicAdd(p, x); };"
    else print "    const auto add = [](unsigned* p, unsigned x) { *p += x; };"
    print "    mine[threadIdx.x] = first;"
    print code
    print "    add(out + threadIdx.x, s * 7 + w + last + a[0] + 3 * a[3] + mine[threadIdx.x]);\n}"
}
BEGIN {
    srand(seed)
    print "#include <cstdint>\n#include <cstdio>\n#include <cstring>"
    for (k = 0; k < kernels; ++k) {
        code = "    " loop() " " body()
        written(k, 1, code)
        written(k, 0, code)
    }
    print "constexpr int m = 257, blocks = 3, threads = 64, words = threads + 8;"
    print "int *in, wrong;\nunsigned *out, sums[words];"
    print "template <class K, class H> void compare(int number, K k, H h, int n) {"
    print "    const int step = 1 + n % 4;"
    print "    cudaMemset(out, 0, sizeof sums);\n    memset(sums, 0, sizeof sums);"
    print "    k<<<blocks, threads>>>(in, n, m, step, out);"
    print "    for (unsigned b = 0; b < blocks; ++b)"
    print "        for (unsigned t = 0; t < threads; ++t) h(in, n, m, step, sums, uint3{t, 0, 0}, uint3{b, 0, 0}, threads, blocks);"
    print "    cudaDeviceSynchronize();"
    print "    if (!memcmp(sums, out, sizeof sums)) return;"
    print "    if (wrong++ < 5) printf(\"kernel k%d, n = %d: not the host's sums\\n\", number, n);\n}"
    print "int main() {\n    cudaMallocManaged(&in, m * sizeof *in);\n    cudaMallocManaged(&out, sizeof sums);"
    print "    for (int i = 0; i < m; ++i) in[i] = (i * 2654435761u >> 7) % 100;"
    print "    for (int n : {0, 1, 2, 3, 5, 8, 17, 31, 64, 65, 100, 200, 257, 1000}) {"
    for (k = 0; k < kernels; ++k) print "        compare(" k ", k" k ", h" k ", n);"
    print "    }\n    cudaFree(in);\n    cudaFree(out);\n    return wrong > 0;\n}"
}
