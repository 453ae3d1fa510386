#!/bin/sh
# sanitizer.sh TOOL BINARY: all right kernels of a sample for the GPU under one tool of compute-sanitizer.
# all_gpus is left out: NCCL itself asks for kernels that its library does not hold, and memcheck reports that.
# Exit status: 0 nothing found, 1 something found, 77 no GPU, or no compute-sanitizer.
set -u
tool=$1 binary=$2
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
    { echo "no compute-sanitizer on the PATH or in /usr/local/cuda/bin"; exit 77; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'exit 1' HUP INT TERM
only=$(sh "$(dirname "$0")/without_nccl.sh" "$binary") || exit 1
set -- $only
"$binary" --list | grep -q '^takes --few$' && set -- "$@" --few 200
for n in 1 5003 100003; do
    timeout 600 "$sanitizer" --tool "$tool" --error-exitcode 99 "$binary" "$@" --repeats 1 --n $n >"$out" 2>&1
    if grep -q "no CUDA device" "$out"; then exit 77; fi
    if grep -q '^PASSED: ' "$out" && grep -qE "ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards" "$out"; then
        echo "ok    $tool --n $n: $(grep SUMMARY "$out" | sed 's/^[ =]*//')"
    else
        echo "FAIL  $sanitizer --tool $tool $binary $* --repeats 1 --n $n"
        sed 's/^/      | /' "$out"
        failed=1
    fi
done
exit ${failed:-0}
