#!/bin/sh
# run.sh BUILD auto|gpu|cpu: runs the samples one after the other, on the GPU where one answers, else on the CPU
# device. Exit status 0 if all pass, 1 if not, and device.sh's. Sequels (04_all_gpus) are left to who asks for them.
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
next "make 04" "one sample and its races, after an edit"
next "make learn" "you write the kernels, each save is checked"
next "make try FILE=yours.cu" "your own .cu file, its races named"
next "make report" "plots, tables and hazards, as one page"
[ -z "$mistake" ] || printf '  %s\n  %-26s %s\n' "$last --wrong $mistake" "" "a classic mistake, caught"
exit $failed
