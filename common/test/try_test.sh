#!/bin/sh
# try_test.sh BUILD: what does make try (common/tools/try.sh) say about files that lie somewhere else? Exit status: 0 all as
# promised, 1 not, 77 there is no hazard build.
. "$(dirname "$0")/lib.sh"
build=$(cd "${1:?try_test.sh BUILD}" && pwd) || exit 1
[ -f "$build/cpu/libcudacpu_hazards.a" ] || skip "no hazard build in $build"
try() { ends "$1" sh "$top/common/tools/try.sh" "$build" "$2"; }

# What a copy of a sample includes is found, and what lies beside the file comes first.
echo '#include "lab.cuh"
__global__ void k() {}
int main() {
    k<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    return lab::with_commas(1000) != "1,000";
}' >"$folder/copy.cu"
try 0 "$folder/copy.cu"
says '^RIGHT so far: copy ' || fail "it is not called right"
echo '#define STATUS 3' >"$folder/error.cuh"
echo '#include "error.cuh"
int main() { return STATUS; }' >"$folder/own.cu"
try 1 "$folder/own.cu"
says '^WRONG: own[.] plain: exit status 3[.] hazards: exit status 3[.]' || fail "another error.cuh was read"

echo 'int main() { return x; }' >"$folder/broken.cu"
try 1 "$folder/broken.cu"
says 'broken.cu does not compile for the CPU device' || fail "it does not say that the file does not compile"
says "^$top/common/cpu/README.md$" || fail "it does not say where to read about the device"
! says 'no main' || fail "it has a main()"
echo '__global__ void k() {}' >"$folder/kernel.cu"
try 1 "$folder/kernel.cu"
says '^There is no main.. in it' || fail "it does not say what a kernel alone lacks"
mkdir "$folder/my own"
echo 'constexpr int wanted = 7;' >"$folder/my own/wanted.cuh"
echo 7 >"$folder/my own/given number"
echo '#include "wanted.cuh"
#include <cstdio>
int main(int, char** argv) {
    int x = 0;
    return fscanf(fopen(argv[1], "r"), "%d", &x) != 1 || x != wanted;
}' >"$folder/my own/first try.cu"
ends 0 sh "$top/common/tools/try.sh" "$build" "$folder/my own/first try.cu" "given number"
says "^[\$] '.*/try/first try' 'given number'$" || fail "the names with blanks are not quoted"
# It runs where its file lies, with the arguments; and in other orders of the threads.
echo '#include <cstdio>
__global__ void last(int* a) { *a = threadIdx.x; }
int main(int argc, char** argv) {
    int* a;
    cudaMallocManaged(&a, sizeof *a);
    last<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    return *a == 31 && argc > 1 && std::fopen(argv[1], "r") ? 0 : 4;
}' >"$folder/place.cu"
try 1 "$folder/place.cu"
says '^WRONG: place[.] plain: exit status 4[.]' && says '^given no arguments ' || fail "it does not say that there were none"
ends 1 sh "$top/common/tools/try.sh" "$build" "$folder/place.cu" place.cu
says 'hazard: ' && says '^  in kernel last, block 0, at place.cu:2$' || fail "the race has no short place"
sed 's/threadIdx/blockIdx/; s/<<<1, 32>>>/<<<2, 1>>>/; s/== 31/== 1/; s/\*a = \(blockIdx.x\)/atomicExch(a, \1)/' "$folder/place.cu" >"$folder/order.cu"
ends 1 sh "$top/common/tools/try.sh" "$build" "$folder/order.cu" order.cu
says '^WRONG: order[.] plain, LAB_ORDER=reverse: exit status 4[.]' || fail "another order of the threads is not run"

# A host that never ends is ended, and one that faults is not silent: both say where.
kernel='#include <cstdio>
__global__ void k() {}
int main() {
    k<<<1, 1>>>();
    cudaDeviceSynchronize();
    volatile int i = 0, *p = nullptr;
'
printf '%s    while (i < 1)\n        if (p) ++i;\n}\n' "$kernel" >"$folder/loop.cu"
LIMIT=6 try 1 "$folder/loop.cu"
says '^.5 s, and it still runs: Ctrl-C, or 6 s, end it' || fail "it does not say that it still runs"
says '^  at loop.cu:[78]$' && says '^WRONG: loop[.] plain: it had not ended after 6 seconds[.]$' || fail "where it never ends"
printf '%s    *p = 1;\n}\n' "$kernel" >"$folder/fault.cu"
try 1 "$folder/fault.cu"
says '^cudacpu: the host.s code touched' && says '^  at fault.cu:7$' && says '^a segmentation fault$' || fail "the host's fault"
printf '%s    double a[5000000];\n    while (i < 5000000) a[i] = 1, ++i;\n    return a[0] > 1;\n}\n' "$kernel" >"$folder/large.cu"
try 1 "$folder/large.cu"
says '^cudacpu: the host.s stack is full' && says '^  at large.cu:[347]$' || fail "an array that the stack cannot hold"
# Much output is shown once, and shortened. What two runs print alike is not shown again.
printf '%s    for (; i < 10000; ++i) printf("line %%d\\n", i);\n}\n' "$kernel" >"$folder/long.cu"
try 0 "$folder/long.cu"
says '^line 0$' && says '^line 9999$' && says '^[.]{3} and 9950 lines more, in$' && says '^.It prints the same[.].$' || fail "10,000 lines"
must "50 of them" test "$(grep -c '^line ' "$folder/out")" = 50
must "the file has all" test "$(grep -c '^line ' "$build/try/long.out")" = 10000
sed 's/; i < 10000; ++i) printf.*/; i < 3; ++i) printf("%d %s\\n", i, argv[0]);/; s/main()/main(int, char** argv)/' "$folder/long.cu" >"$folder/other.cu"
try 0 "$folder/other.cu"
must "what differs is shown" test "$(grep -c '^[012] ' "$folder/out")" = 6
# What it shows as a command is one.
cp "$folder/copy.cu" "$folder/it's.cu"
try 0 "$folder/it's.cu"
says "^[\$] '.*/try/it'.''s'$" || fail "a quote in a name is not quoted"
try 2 "$folder/missing.cu"
try 2 "$folder"
try 2 ""
finish
