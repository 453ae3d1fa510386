#!/bin/sh
# faults.sh BINARY: each CUDA call of a run on the CPU device fails once (LAB_FAIL=1, 2, ...), until a run meets none.
# A run whose call fails must end with status 3 and say which call, where, and CUDA's error; it must free all device
# memory, leave no file, keep an old one, and give no verdict. Exit status: 0 all as promised, 1 not.
set -u
binary=$(realpath "$1") folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder" || exit 1
mkdir run
takes=$("$binary" --list) || exit 1
set -- --csv run/rows.csv
if echo "$takes" | grep -q '^takes --out'; then
    set -- "$@" --width 33 --height 17 --out run/new.png
else
    set -- "$@" --n 1003 --threads 32
fi

wrong() { # wrong WHAT
    echo "FAIL  LAB_FAIL=$k $binary: $*"
    sed 's/^/      | /' out err
    exit 1
}
k=0
while :; do
    k=$((k + 1))
    echo old >run/rows.csv
    LAB_FAIL=$k timeout 60 "$binary" "$@" >out 2>err
    status=$?
    met=$(sed -n "s/^cudacpu: LAB_FAIL=$k: \(.*\) fails with \(.*\)/\1 \2/p" err)
    [ "$met" ] || break
    error=${met##* } call=${met% *}
    [ "$call" != "a kernel launch" ] || call="(a kernel launch|cudaGetLastError)"
    [ $status = 3 ] || wrong "status $status instead of 3"
    grep -qE "^/.*\.cuh?:[0-9]+: $call.* failed$" err || wrong "does not say that $call failed, and where"
    grep -q "^    CUDA error [0-9]*, $error: " err || wrong "does not say $error"
    ! grep -q "never freed" err || wrong "leaves device memory"
    ! grep -qE "^(PASSED|FAILED)" out || wrong "gives a verdict"
    [ "$(ls run)" = rows.csv ] && [ "$(cat run/rows.csv)" = old ] || wrong "leaves or changes a file"
done
[ $status = 0 ] && grep -q '^PASSED: ' out || wrong "nothing fails, and status $status"
[ $k -gt 10 ] || wrong "only $((k - 1)) calls"
echo "$((k - 1)) runs, in each of which another call fails: status 3, call, place and error named, nothing left behind"
