#!/bin/sh
# again.sh seeds|together COUNT BINARY: runs a sample many times and compares each result with the CPU's.
# seeds: COUNT runs, each with another seed and another size. The slow variants are left out.
# together: eight runs at the same time on one device, repeated COUNT times.
# Exit status: 0 if all runs agree with the CPU, 1 if not, 77 if there is no device.
. "$(dirname "$0")/lib.sh"
mode=$1 count=$2
sample "$3"

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
    only=$(quick) || skip "all variants are slow"
    wanted=$count only=${rungs:-$only}
    for run in $(seq "$count"); do
        number=$((100 * run / count))
        once "$number" $only --repeats 1 --n $((number * number + number))
    done
    ;;
together)
    wanted=$((8 * count)) size="--repeats 20" # eight runs disturb each other, so times never become steady
    [ "$device" = gpu ] || size="--n 20011"
    for round in $(seq "$count"); do
        for number in 1 2 3 4 5 6 7 8; do once $((round * 8 + number)) $rungs $size & done
        wait
    done
    ;;
esac
must "$wanted of $wanted runs agree with the CPU" test "$(cat "$folder/agree" 2>/dev/null | wc -l)" = "${wanted:?seeds or together, and how many}"
finish
