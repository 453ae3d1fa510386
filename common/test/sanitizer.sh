#!/bin/sh
# sanitizer.sh TOOL "SIZES" BINARY: the right kernels of a sample for the GPU under one tool of compute-sanitizer, but for
# the slow ones: they ask a library that itself asks for kernels which it does not hold, and memcheck reports that.
# Exit status: 0 nothing found, 1 something found, 77 no GPU, or no compute-sanitizer.
. "$(dirname "$0")/lib.sh"
tool=$1 sizes=$2 patience=600
sample "$3"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
    skip "no compute-sanitizer on the PATH or in /usr/local/cuda/bin"
only=$(quick) || skip "all variants are slow"
set -- $only
if takes --few; then set -- "$@" --few 200; fi
for n in $sizes; do
    run "$sanitizer" --tool "$tool" --error-exitcode 99 "$binary" "$@" --repeats 1 --n $n
    if says '^PASSED: ' && says 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards'; then
        ok "$tool --n $n: $(cat "$folder/out" "$folder/err" | grep SUMMARY | sed 's/^[ =]*//')"
    else
        fail "$sanitizer --tool $tool $binary $* --repeats 1 --n $n"
    fi
done
finish
