#!/bin/sh
# device.sh BUILD auto|gpu|cpu: says where the samples run (gpu or cpu), and on a second line why.
# Exit status 2: a bad word, 3: nothing is built there.
build=$1 device=$2
case $device in
gpu | cpu) why="as asked" ;;
auto)
    first=$(ls -d "$build"/gpu/[0-9]* 2>/dev/null | head -1)
    if [ -z "$first" ]; then
        device=cpu why="there is no GPU build, since nvcc was not found"
    else
        why=$("$first" --n 1 --repeats 1 2>&1 >/dev/null)
        if [ $? = 77 ]; then
            device=cpu why=$(echo "$why" | head -1)
        else
            device=gpu why="a GPU answers"
        fi
    fi
    ;;
*)
    echo "DEVICE is '$device'; type DEVICE=gpu, DEVICE=cpu or DEVICE=auto" >&2
    exit 2
    ;;
esac
if ! ls -d "$build/$device"/[0-9]* >/dev/null 2>&1; then
    echo "There is no build for the $device in $build/$device. Type make doctor to see what is missing." >&2
    exit 3
fi
echo "$device"
echo "$why"
