#!/bin/sh
# translation_time.sh CUDACPU: tests that the time of `cudacpu --translate` grows in proportion to the program: twice the text
# takes less than three times the time, and many nested brackets take no longer than other text. The times are those of the
# processor, in seconds.
# Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(realpath "$1")
cd "$folder" || exit 1

mixed() { # N times 20 lines: a class, a function, a kernel and its launch
    awk -v n="$1" 'BEGIN {
        for (i = 0; i < n; ++i) print "struct S" i " {\n    int a, b;\n    int difference() { return a - b; }\n\
    __host__ __device__ int sum() const { return a + b; }\n};\n__device__ int twice" i "(const S" i "& s, int x) {\n\
    return x > 3 ? s.sum() + x * (x - 1) : 2 * x;\n}\n__global__ void kernel" i "(int* p, int n) {\n\
    const int first = blockIdx.x * blockDim.x + threadIdx.x;\n    S" i " s{1, 2};\n\
    for (int j = first; j < n; j += 32) p[j] += twice" i "(s, p[j]);\n}\nvoid launch" i "(int* p, int n) {\n\
    int more = 0;\n    for (int j = 0; j < 4; ++j) more += j;\n    kernel" i "<<<(n + 255) / 256, 256>>>(p, n + more);\n\
    cudaDeviceSynchronize();\n    printf(\"%d\\n\", more);\n}"
        print "int main() {}" }'
}
shared() { # N kernels with __shared__ memory, a constant each, and a launch each in one function
    awk -v n="$1" 'BEGIN {
        for (i = 0; i < n; ++i) print "__constant__ int c" i ";\n__global__ void k" i "(int* p) {\n    __shared__ int tile[32];\n\
    tile[threadIdx.x] = p[threadIdx.x] + c" i ";\n    __syncthreads();\n    p[threadIdx.x] = tile[31 - threadIdx.x];\n}"
        print "int main() {"
        for (i = 0; i < n; ++i) print "    k" i "<<<1, 32>>>(nullptr);"
        print "}" }'
}
warned() { # N warnings, in one function
    awk -v n="$1" 'BEGIN {
        for (i = 0; i < n; ++i) print "__device__ int d" i ";"
        print "int main() {"
        for (i = 0; i < n; ++i) print "    d" i " = 1;"
        print "}" }'
}
nested() { # nested N BEFORE OPEN CLOSE AFTER: N nested brackets
    awk -v n="$1" -v before="$2" -v open="$3" -v close_="$4" -v after="$5" 'BEGIN {
        printf "%s", before
        for (i = 0; i < n; ++i) printf "%s", open
        printf "1"
        for (i = 0; i < n; ++i) printf "%s", close_
        print after "\n__global__ void kernel() {}\nint main() { kernel<<<1, 1>>>(); }" }'
}

# takes BUILD FILE: translates it and sets $seconds
takes() {
    seconds=$(perl -e 'open STDERR, ">", "err"; system @ARGV and exit 1; printf "%.2f", (times)[2]' \
        timeout "$patience" "$cudacpu" "--$1" --translate "$2" -o "$2.cpp") || seconds=failed
}
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == a && a < b) }'; }

for kind in "mixed 2500 20" "shared 2000 10" "warned 2000 10"; do
    set -- $kind
    "$1" $2 >whole.cu
    "$1" $(($2 / 2)) >half.cu
    for build in plain hazards counters; do
        takes $build half.cu
        half=$seconds
        takes $build whole.cu
        must "$1 $2, $build: $seconds s, half of it $half s" less "$seconds" "$(awk -v t="$half" 'BEGIN { print 3 * t }')"
        must "less than $3 s" less "$seconds" "$3"
        [ $1 = warned ] || must "each kernel is launched" test "$(grep -o 'cudacpu::launched()' whole.cu.cpp | wc -l)" = "$2"
    done
done

# Past some depth the text is left as it is; what follows is translated.
for brackets in 'int x = |(|)|;' 'void f() {|{ |;}|}' 'int f(int); int g() { return |f(|)|; }' 'int g(int* a) { return |a[|]|; }' \
    'template <int> int A; int x = |A<|>|;' 'bool less(int a) { return |a < 1, |a <|; }'; do
    (IFS='|' && set -f && nested 10000 $brackets) >nested.cu
    takes hazards nested.cu
    must "10,000 times $brackets: $seconds s" less "$seconds" 5
    must "the launch after it is translated" grep -q 'cudacpu::launched()' nested.cu.cpp
done
finish
