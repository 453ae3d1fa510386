#!/bin/sh
# run.sh BUILD auto|gpu|cpu: runs the samples one after the other, on the GPU where one answers, else on the CPU
# device. Exit status 0 if all pass.
build=$1
chosen=$(sh "$(dirname "$0")/device.sh" "$build" "$2") || exit
device=$(echo "$chosen" | head -1) why=$(echo "$chosen" | tail -1)
samples=$(cd "$build/$device" && ls -d [0-9]*)
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
echo
printf 'Next: %-52s %s\n' "make report" "the same with plots, tables and hazards, as one page"
printf '      %-52s %s\n' "$build/cpu/04_reduction_variants --wrong no_barrier" "a classic mistake, caught"
exit $failed
