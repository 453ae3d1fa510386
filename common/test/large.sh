#!/bin/sh
# large.sh BINARY: runs a sample with more than 2^32 elements on a GPU and compares every result with the CPU's. If the sample
# rejects this size with status 2, the script tries more than 2^31. Both sizes reveal 32-bit indices, signed or unsigned.
# Exit status: 0 if the results agree, 1 if not, 77 if the sample rejects both sizes or the host has less
# than 90 GiB of free memory.
. "$(dirname "$0")/lib.sh"
patience=600
room=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
if [ "$room" -lt 90 ]; then skip "needs 90 GiB of host memory, and $room are free"; fi
sample "$1"
set -- "--n 5000000000" "--n 2147483659"
if takes --width; then set -- "--width 70001 --height 70001" "--width 65536 --height 32769"; fi
checked=0
for size in "$@"; do
    ends '0|2' "$binary" $size --repeats 1
    cat "$folder/out" "$folder/err" | tail -1
    if [ $status = 0 ]; then
        checked=1
        break
    fi
done
if [ $checked$failed = 00 ]; then skip "no size is for this device"; fi
finish
