#!/bin/sh
# faults.sh BINARY: each CUDA call of a run on the CPU device fails once (LAB_FAIL=1, 2, ...), until a run meets none.
# A run whose call fails must end with status 3 and say which call, where, and CUDA's error; it must free all device
# memory, leave no file, keep an old one, and give no verdict. Exit status: 0 all as promised, 1 not.
. "$(dirname "$0")/lib.sh"
sample "$1"
cd "$folder" && mkdir files || exit 1
patience=60
set -- --csv files/rows.csv
if takes --out; then
    set -- "$@" --width 33 --height 17 --out files/new.png
else
    set -- "$@" --n 1003
fi
if takes --threads; then set -- "$@" --threads 32; fi
wrong() {
    fail "LAB_FAIL=$LAB_FAIL $binary: $*"
    finish
}
LAB_FAIL=0
export LAB_FAIL
while :; do
    LAB_FAIL=$((LAB_FAIL + 1))
    echo old >files/rows.csv
    run "$binary" "$@"
    met=$(sed -n "s/^cudacpu: LAB_FAIL=$LAB_FAIL: \(.*\) fails with \(.*\)/\1 \2/p" err)
    [ "$met" ] || break
    error=${met##* } call=${met% *}
    [ "$call" != "a kernel launch" ] || call="(a kernel launch|cudaGetLastError)"
    [ $status = 3 ] || wrong "status $status instead of 3"
    grep -qE "^/.*\.cuh?:[0-9]+: $call.* failed$" err || wrong "does not say that $call failed, and where"
    grep -q "^    CUDA error [0-9]*, $error: " err || wrong "does not say $error"
    ! grep -q "never freed" err || wrong "leaves device memory"
    ! grep -qE "^(PASSED|FAILED)" out || wrong "gives a verdict"
    [ "$(ls files)" = rows.csv ] && [ "$(cat files/rows.csv)" = old ] || wrong "leaves or changes a file"
done
[ $status = 0 ] && grep -q '^PASSED: ' out || wrong "nothing fails, and status $status"
[ "$LAB_FAIL" -gt 10 ] || wrong "only $((LAB_FAIL - 1)) calls"
ok "$((LAB_FAIL - 1)) runs, in each of which another call fails: status 3, call, place and error named, nothing left behind"
finish
