#!/bin/sh
# loops.sh CUDACPU [KERNELS [SEED]]: tests that all builds compute what the host computes. It runs random kernels with one loop
# each (loops.awk) in the plain build, with --counters and with --hazards, in four orders.
# Exit status: 0 if all results agree, 1 if not.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(realpath "$1")
awk -f "$here/loops.awk" -v kernels="${2:-40}" -v seed="${3:-7}" >"$folder/loops.cu"
cd "$folder" || exit 3
for build in plain counters hazards; do
    "$cudacpu" loops.cu "--$build" -o "$build" || fail "the kernels do not compile with --$build"
    for order in forward reverse 1 2; do
        LAB_ORDER=$order timeout 300 "./$build" >said 2>&1 ||
            { fail "--$build, order $order: $(head -20 said)"; break; }
    done
done
finish
