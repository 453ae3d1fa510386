#!/bin/sh
# run.sh BUILD auto|gpu|cpu: runs the six samples one after the other, on the GPU where one answers, else on the CPU
# device. Exit status 0 if all pass.
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
    echo "DEVICE is '$device'; type make run DEVICE=gpu, DEVICE=cpu or DEVICE=auto" >&2
    exit 2
    ;;
esac
samples=$(cd "$build/$device" 2>/dev/null && ls -d [0-9]*)
if [ -z "$samples" ]; then
    echo "There is no build for the $device in $build/$device. Type make doctor to see what is missing." >&2
    exit 3
fi
echo "Running on the $device: $why."
verdicts="" failed=0
for sample in $samples; do
    echo
    out=$("$build/$device/$sample" 2>&1)
    status=$?
    echo "$out"
    if [ $status != 0 ]; then failed=1; fi
    verdict=$(echo "$out" | grep -E '^(PASSED|FAILED)' | tail -1)
    verdicts="$verdicts${verdict:-FAILED: $sample ended with status $status}
"
done
echo
echo "All verdicts:"
printf '%s' "$verdicts" | sed 's/^/  /'
exit $failed
