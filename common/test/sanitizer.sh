#!/bin/sh
# sanitizer.sh TOOL "SIZES" BINARY: runs the right kernels of a sample for the GPU under one tool of compute-sanitizer, except the
# slow ones. These call a library that asks the driver for kernels which it does not contain, and memcheck reports that.
# Exit status: 0 if the tool finds nothing, 1 if it finds an error, 77 if there is no GPU or no compute-sanitizer.
. "$(dirname "$0")/lib.sh"
tool=$1 sizes=$2 patience=600
sample "$3"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
    skip "no compute-sanitizer on the PATH or in /usr/local/cuda/bin"
only=$(quick) || skip "all variants are slow"
set -- $only
if takes --few; then set -- "$@" --few 200; fi
if takes --sums; then set -- "$@" --sums 20; fi
for n in $sizes; do
    run "$sanitizer" --tool "$tool" --error-exitcode 99 "$binary" "$@" --repeats 1 --n $n
    if says '^PASSED: ' && says 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards'; then
        ok "$tool --n $n: $(cat "$folder/out" "$folder/err" | grep SUMMARY | sed 's/^[ =]*//')"
    else
        fail "$sanitizer --tool $tool $binary $* --repeats 1 --n $n"
    fi
done
finish
