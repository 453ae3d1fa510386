#!/bin/sh
# run.sh BUILD auto|gpu|cpu: runs the samples one after the other, on the GPU where one answers, else on the CPU
# device. Exit status 0 if all pass. Sequels (04_all_gpus) are left to who asks for them.
build=$1
. "$(dirname "$0")/folder.sh"
chosen=$(sh "$top/common/tools/device.sh" "$build" "$2") || exit
device=$(echo "$chosen" | head -1) why=$(echo "$chosen" | tail -1)
echo "Running on the $device: $why."
verdicts="" failed=0
for sample in $(programs "$build/$device"); do
    [ -d "$top/$sample" ] || continue
    echo
    out=$("$build/$device/$sample" 2>&1)
    status=$?
    echo "$out"
    if [ $status != 0 ]; then failed=1; fi
    verdict=$(echo "$out" | grep -E '^(PASSED|FAILED)' | tail -1)
    verdicts="$verdicts${verdict:-FAILED: $sample ended with status $status}
"
    last=$build/$device/$sample
done
mistake=$("$last" --list | sed -n 's/^twin //p' | head -1)
echo
echo "All verdicts:"
printf '%s' "$verdicts" | sed 's/^/  /'
echo
printf 'Next: %-52s %s\n' "make report" "the same with plots, tables and hazards, as one page"
[ -z "$mistake" ] || printf '      %-52s %s\n' "$last --wrong $mistake" "a classic mistake, caught"
exit $failed
