#!/bin/sh
# again.sh seeds|together BINARY: a sample again and again. seeds: 100 runs with 100 seeds and sizes, without all_gpus,
# which takes seconds to set up. together: eight runs at once on one device, three times.
# Exit status: 0 all agree with the CPU, 1 not, 77 no device.
set -u
mode=$1 binary=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
device=$(basename "$(dirname "$binary")")

once() { # once NUMBER ARGUMENT...
    number=$1
    shift
    timeout 250 "$binary" "$@" --seed "$number" >"$folder/$number" 2>&1
    status=$?
    [ $status = 77 ] && return
    [ $status = 0 ] && grep -q '^PASSED: ' "$folder/$number" && echo ok >>"$folder/agree" && return
    echo "FAIL  status $status: $binary $* --seed $number"
    sed 's/^/      | /' "$folder/$number"
}
case $mode in
seeds)
    only=$(sh "$(dirname "$0")/without_nccl.sh" "$binary") || exit 1
    for number in $(seq 100); do
        once "$number" $only --repeats 1 --n $((number * number + number))
        [ $status != 77 ] || break
    done
    wanted=100
    ;;
together)
    size=""
    [ "$device" = gpu ] || size="--n 20011"
    for round in 1 2 3; do
        for number in 1 2 3 4 5 6 7 8; do once $((round * 8 + number)) $size & done
        wait
    done
    wanted=24
    ;;
*)
    echo "again.sh: $mode is neither seeds nor together" >&2
    exit 2
    ;;
esac
agree=$(cat "$folder/agree" 2>/dev/null | wc -l)
if [ "$agree" = 0 ] && grep -q "no CUDA device" "$folder"/[0-9]*; then exit 77; fi
echo "$agree of $wanted runs agree with the CPU"
[ "$agree" = "$wanted" ]
