#!/bin/sh
# again.sh seeds|together BINARY: a sample again and again. seeds: 100 runs with 100 seeds and sizes, without the slow
# variants. together: eight runs at once on one device, three times.
# Exit status: 0 all agree with the CPU, 1 not, 77 no device.
. "$(dirname "$0")/lib.sh"
mode=$1
sample "$2"
needs_device

once() { # once NUMBER ARGUMENT...
    number=$1
    shift
    timeout 250 "$binary" "$@" --seed "$number" >"$folder/$number" 2>&1
    status=$?
    if [ $status = 0 ] && grep -q '^PASSED: ' "$folder/$number"; then
        echo ok >>"$folder/agree"
    else
        mv "$folder/$number" "$folder/out"
        fail "status $status: $binary $* --seed $number"
    fi
}
case $mode in
seeds)
    wanted=100 only=$(quick) || skip "all variants are slow"
    for number in $(seq 100); do once "$number" $only --repeats 1 --n $((number * number + number)); done
    ;;
together)
    wanted=24 size=""
    [ "$device" = gpu ] || size="--n 20011"
    for round in 1 2 3; do
        for number in 1 2 3 4 5 6 7 8; do once $((round * 8 + number)) $size & done
        wait
    done
    ;;
esac
must "$wanted of $wanted runs agree with the CPU" test "$(cat "$folder/agree" 2>/dev/null | wc -l)" = "${wanted:?seeds or together}"
finish
