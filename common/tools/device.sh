#!/bin/sh
# device.sh BUILD auto|gpu|cpu: prints where the samples run (gpu or cpu), and on a second line the reason.
# Exit status 3: there is no build for that device; 77: the GPU was requested, but none works.
build=$1 device=$2
counts="results are valid, times are not"
first=$(ls -d "$build"/gpu/[0-9]* 2>/dev/null | head -1)
# answers: does a GPU work? If not, $said is the program's message.
answers() {
    said=$("$first" --n 1 --repeats 1 2>&1 >/dev/null)
    [ $? != 77 ]
}
case $device in
cpu) why="The CPU device runs the samples (DEVICE=cpu): $counts." ;;
gpu)
    why="The GPU runs the samples (DEVICE=gpu)."
    if [ -n "$first" ] && ! answers; then
        echo "$said" >&2
        exit 77
    fi
    ;;
auto)
    if [ -z "$first" ]; then
        device=cpu why="Without a GPU build, the CPU device runs the samples: $counts."
    elif answers; then
        device=gpu why="The GPU runs the samples."
    else
        device=cpu why="Without a GPU, the CPU device runs the samples: $counts."
    fi
    ;;
esac
if ! ls -d "$build/$device"/[0-9]* >/dev/null 2>&1; then
    echo "There is no build for the $device in $build/$device." >&2
    echo "Type make doctor to see what is missing." >&2
    exit 3
fi
echo "$device"
echo "$why"
