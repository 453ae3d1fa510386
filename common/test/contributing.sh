#!/bin/sh
# contributing.sh BUILD: tests that the complete sample in CONTRIBUTING.md builds for the CPU device without a warning. The
# sample must be right for small and odd sizes, and its wrong twin must be wrong, both plain and with --hazards.
# Exit status: 0 if so, 1 if not, 77 if the CPU device is not built.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) || exit 1
[ -x "$build/cpu/cudacpu" ] || skip "no CPU device in $build"
cd "$folder" || exit 1
sed -n '/^```cuda/,/^```$/{/^```/d;p}' "$top/CONTRIBUTING.md" >saxpy.cu
for kind in "" --hazards; do
    ends 0 "$build/cpu/cudacpu" $kind -std=c++17 -Wall -Wextra -I"$top/common" saxpy.cu "$build/liblab.a" -o "saxpy$kind"
    must "it builds without a warning $kind" test ! -s err
    for n in 1 3 4 5 1003; do
        ends 0 "./saxpy$kind" --n $n --threads 32
        ends 1 "./saxpy$kind" --n $n --threads 32 --wrong last_missing
    done
done
ends 0 ./saxpy && must "it says so" says '^PASSED: 07_saxpy: 3 results agree'
ends 1 ./saxpy --wrong last_missing && must "the twin's element" says 'last_missing: element 1000002: got .*, wanted 2444'
finish
