#!/bin/sh
# run.sh BUILD auto|gpu|cpu: runs all samples in turn. With auto it uses the GPU if there is one, otherwise the CPU device.
# It does not run sequels (04_all_gpus). Exit status: 0 if all pass, 1 if one does not, or the status of device.sh.
build=$1
. "$(dirname "$0")/folder.sh"
wanted=cpu_samples
[ "$2" = cpu ] || ! a_gpu_answers || wanted="gpu_samples cpu_samples"
[ "$2" != gpu ] || wanted=gpu_samples
sh "$top/common/tools/build.sh" "$build" $wanted || exit
chosen=$(sh "$top/common/tools/device.sh" "$build" "$2") || exit
device=$(echo "$chosen" | head -1)
echo "$chosen" | tail -1
passed="${green}PASSED$usual " not_passed="${red}FAILED$usual "
verdicts="" failed=0
for sample in $(programs "$build/$device"); do
    [ -d "$top/$sample" ] || continue
    echo
    "$build/$device/$sample"
    status=$?
    case $status in
    0) verdicts="$verdicts  $passed $sample
" ;;
    1) verdicts="$verdicts  $not_passed $sample
" failed=1 ;;
    *) verdicts="$verdicts  $not_passed $sample ended with status $status
" failed=1 ;;
    esac
    last=$build/$device/$sample
done
mistake=$("$last" --list | sed -n 's/^twin //p' | head -1)
next() { printf '  %-26s %s\n' "$1" "$2"; }
echo
echo "All verdicts:"
printf '%b' "$verdicts"
echo
echo "Next:"
next "make 04" "build and check one sample, after an edit"
next "make learn" "exercises: each save is checked"
next "make try FILE=yours.cu" "check your own .cu file for races"
next "make report" "plots, tables and races in one HTML page"
[ -z "$mistake" ] || printf '  %s\n  %-26s %s\n' "$last --wrong $mistake" "" "run a classic mistake"
exit $failed
