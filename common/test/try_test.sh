#!/bin/sh
# try_test.sh BUILD: tests `make try` (common/tools/try.sh) with files in other folders.
# Exit status: 0 if all cases pass, 1 if not, 77 if the hazard build is missing.
. "$(dirname "$0")/lib.sh"
build=$(cd "${1:?try_test.sh BUILD}" && pwd) || exit 1
[ -f "$build/cpu/libcudacpu_hazards.a" ] || skip "no hazard build in $build"
try() { ends "$1" sh "$top/common/tools/try.sh" "$build" "$2"; }

# The headers that a copy of a sample includes are found. Headers in the file's own folder come first.
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
says '^WRONG: own[.]cu: exit status 3, also with --hazards[.]$' && says '^The hazard build found no race' || fail "another error.cuh was read"

echo 'int main() { return x; }' >"$folder/broken.cu"
try 1 "$folder/broken.cu"
says 'broken.cu does not compile for the CPU device' || fail "it does not say that the file does not compile"
says "^$top/common/cpu/README.md$" || fail "it does not say where to read about the device"
! says 'no main' || fail "it has a main(), but is told to add one"
echo '__global__ void k() {}' >"$folder/kernel.cu"
try 1 "$folder/kernel.cu"
says '^It has no main..:' || fail "it does not say what a kernel alone lacks"
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
says "^[\$] '.*/first try' 'given number'$" || fail "the names with blanks are not quoted"
# The program runs in the folder of its file, with the arguments, and in other orders of the threads.
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
says '^WRONG: place[.]cu: exit status 4' && says '^The program ran with no arguments ' || fail "it does not say that there were none"
ends 1 sh "$top/common/tools/try.sh" "$build" "$folder/place.cu" place.cu
says 'hazard: ' && says '^  in kernel last, block 0, at place.cu:2$' || fail "the race has no short place"
sed 's/threadIdx/blockIdx/; s/<<<1, 32>>>/<<<2, 1>>>/; s/== 31/== 1/; s/\*a = \(blockIdx.x\)/atomicExch(a, \1)/' "$folder/place.cu" >"$folder/order.cu"
ends 1 sh "$top/common/tools/try.sh" "$build" "$folder/order.cu" order.cu
says '^WRONG: order[.]cu: exit status 4 with LAB_ORDER=reverse[.]$' || fail "another order of the threads is not run"

# Host code that never ends is stopped, and host code that crashes is reported. Both reports name the line.
kernel='#include <cstdio>
__global__ void k() {}
int main() {
    k<<<1, 1>>>();
    cudaDeviceSynchronize();
    volatile int i = 0, *p = nullptr;
'
printf '%s    while (i < 1)\n        if (p) ++i;\n}\n' "$kernel" >"$folder/loop.cu"
for limit in abc 0 -1 1e9; do
    CMAKE=false LIMIT=$limit try 2 "$folder/loop.cu" # it must reject LIMIT before it builds anything
    says "^LIMIT=$limit is not a number of seconds[.] Type LIMIT=300, for example[.]$" || fail "LIMIT=$limit is taken"
done
LIMIT=6 try 1 "$folder/loop.cu"
says '^.still running after 5 s; Ctrl-C or the limit of 6 s stops it' || fail "it does not say that it still runs"
says '^  at loop.cu:[78]$' && says '^WRONG: loop[.]cu: stopped after 6 seconds[.]$' || fail "where it never ends"
printf '%s    *p = 1;\n}\n' "$kernel" >"$folder/fault.cu"
try 1 "$folder/fault.cu"
says '^cudacpu: the host.s code touched' && says '^  at fault.cu:7$' && says '^a segmentation fault$' || fail "the host's fault"
printf '%s    double a[5000000];\n    while (i < 5000000) a[i] = 1, ++i;\n    return a[0] > 1;\n}\n' "$kernel" >"$folder/large.cu"
try 1 "$folder/large.cu"
says '^cudacpu: the host.s stack is full' && says '^  at large.cu:[347]$' || fail "an array that the stack cannot hold"
# Long output is shown once, and shortened. Output that two runs share is not shown again.
printf '%s    for (; i < 10000; ++i) printf("line %%d\\n", i);\n}\n' "$kernel" >"$folder/long.cu"
try 0 "$folder/long.cu"
says '^line 0$' && says '^line 9999$' && says '^[.]{3} and 9950 more lines, in$' && says '^.Its output is the same[.].$' || fail "10,000 lines"
says "^[$] cd .*${folder##*/}'?$" || fail "the folder is not named"
must "50 of them" test "$(grep -c '^line ' "$folder/out")" = 50
must "the file has all" test "$(grep -c '^line ' "$(grep '^/.*long.out$' "$folder/out")")" = 10000
sed 's/; i < 10000; ++i) printf.*/; i < 3; ++i) printf("%d %s\\n", i, argv[0]);/; s/main()/main(int, char** argv)/' "$folder/long.cu" >"$folder/other.cu"
try 0 "$folder/other.cu"
must "what differs is shown" test "$(grep -c '^[012] ' "$folder/out")" = 6
# Each command that it shows can be run.
cp "$folder/copy.cu" "$folder/it's.cu"
try 0 "$folder/it's.cu"
says "^[\$] '.*/it'.''s'$" || fail "a quote in a name is not quoted"

# All runs get the input of the first: none, a line, more than a pipe holds, or an endless one that no run reads.
echo '#include <cstdio>
#include <cstdlib>
int main(int, char** argv) {
    long bytes = 0;
    while (getchar() != EOF) ++bytes;
    return bytes != std::atol(argv[1]);
}' >"$folder/input.cu"
cat >"$folder/piped" <<END
"\$1" "\$2" | sh "$top/common/tools/try.sh" "$build" "\$3" "\$4"
END
ends 0 sh "$folder/piped" echo line "$folder/input.cu" 5
ends 0 sh "$folder/piped" cat "$build/cpu/libcudacpu_plain.a" "$folder/input.cu" "$(wc -c <"$build/cpu/libcudacpu_plain.a")"
ends 0 sh "$top/common/tools/try.sh" "$build" "$folder/input.cu" 0 </dev/null
ends 0 sh "$top/common/tools/try.sh" "$build" "$folder/input.cu" "$(wc -c <"$0")" <"$0"
ends 0 sh "$folder/piped" yes y "$folder/copy.cu" ""

# Two files with the same name have separate programs, even at the same time. Two runs of one file wait for each other.
for status in 3 4; do
    mkdir "$folder/-$status"
    echo "int main() { return $status; }" >"$folder/-$status/-same.cu"
done
for number in 3 4 3again; do
    (cd "$folder" && sh "$top/common/tools/try.sh" "$build" "$folder/-${number%again}/-same.cu" >"$number" 2>&1) &
done
wait
for number in 3 4 3again; do must "its own program" grep -q "^WRONG: -same.cu: exit status ${number%again}, also with --hazards[.]\$" "$folder/$number"; done
must "one of two waits" test "$(cat "$folder/3" "$folder/3again" | grep -c '^Another make try of -same.cu is running[.]')" = 1

# A note about threads that miss a barrier is not a pass. A note about equal values is printed.
echo '__global__ void k(int* a) {
    if (threadIdx.x < 16) {
        *a = 1;
        __syncthreads();
    }
}
int main() {
    int* a;
    cudaMalloc(&a, sizeof *a);
    k<<<1, 32>>>(a);
    return cudaFree(a);
}' >"$folder/barrier.cu"
try 1 "$folder/barrier.cu"
tr '\n' ' ' <"$folder/out" | tr -s ' ' >"$folder/line"
must "the note is the verdict" grep -q 'WRONG: barrier.cu: a barrier that threads of the block never reach, as they have ended[.]' "$folder/line"
sed -i /syncthreads/d "$folder/barrier.cu"
try 0 "$folder/barrier.cu"
must "it does not say that there are no races" says 'nothing except the note above'

# A nearly right argument is accepted, or the message says what to type.
try 2 "$folder/my own/typo.cu"
says "^There is no readable file '.*/my own/typo.cu'" || fail "the name is cut at its blank"
cp "$folder/kernel.cu" "$folder/kernel.cpp"
try 2 "$folder/kernel.cpp"
says "^'kernel.cpp' contains a kernel: rename it to kernel.cu$" && ! says 'error:' || fail "a kernel in a .cpp file"
try 2 "$top/01_sum_managed/exercises/1_index.cu"
says "make learn EX=01.1$" || fail "an exercise"
iconv -t UTF-16 "$folder/kernel.cu" >"$folder/wide.cu"
try 2 "$folder/wide.cu"
says 'save it as UTF-8$' || fail "UTF-16"
echo '__global__ void k(int* a) { a[threadIdx] = 1; }' >"$folder/index.cu"
try 1 "$folder/index.cu"
says '^threadIdx has .x, .y and .z' || fail "threadIdx is no number"
try 2 "$folder/missing.cu"
try 2 "$folder"
try 2 ""
# The tutorials' programs find the headers that they include. The user's own headers come first. FLAGS adds options of cudacpu.
cp -r "$here/tutorials" "$folder"
for program in "$folder"/tutorials/*.cu; do
    case $program in
    */plain_sum.cu) try 1 "$program" && must "the race is named" says 'use an atomic: in line 10' ;;
    */shared_picture.cu) # without OpenCV there is no window
        [ -d /usr/include/opencv4 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || continue
        try 1 "$program" && must "it asks for a display" says '^There is no display here'
        ;;
    *) try 0 "$program" ;;
    esac
done
mkdir "$folder/my include"
echo '#define HANDLE_ERROR(call) return (call), STATUS' >"$folder/book.h"
echo '#define STATUS (NUMBER + 1)' >"$folder/my include/status.h"
echo '#include "book.h"
#include "status.h"
int main() { HANDLE_ERROR(0); }' >"$folder/flags.cu"
FLAGS="-I'my include' -DNUMBER=3" try 1 "$folder/flags.cu" && must "own headers and flags" says 'exit status 4'
FLAGS="-I'my" try 2 "$folder/flags.cu"
finish
