#!/bin/sh
# large.sh BINARY: more than 2^31 and more than 2^32 elements on a GPU, every result checked against the CPU. A size
# that is not for this device is refused with status 2, and counts as left out; if all are, the exit status is 77.
set -u
binary=$1
room=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
if [ "$room" -lt 90 ]; then
    echo "needs 90 GiB of host memory, and $room are free"
    exit 77
fi
if "$binary" --list | grep -q '^takes --width'; then
    set -- "--width 65536 --height 32769" "--width 70001 --height 70001"
else
    set -- "--n 2147483659" "--n 5000000000"
fi
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'exit 1' HUP INT TERM
checked=0 failed=0
for size in "$@"; do
    timeout 600 "$binary" $size --repeats 1 >"$out" 2>&1
    status=$?
    case $status in
    0) checked=$((checked + 1)) && echo "ok    $size: $(tail -1 "$out")" ;;
    2) echo "left out, $size: $(head -1 "$out" | sed 's/^[^:]*: //')" ;;
    77) exit 77 ;;
    *)
        echo "FAIL  status $status: $binary $size --repeats 1"
        sed 's/^/      | /' "$out"
        failed=1
        ;;
    esac
done
[ $failed = 0 ] || exit 1
[ $checked != 0 ] || exit 77
