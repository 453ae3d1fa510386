#!/bin/sh
# bench.sh BUILD FOLDER: runs what each sample's bench.txt asks for on the GPU, keeps what it wrote as
# FOLDER/SAMPLE/gpu_TAG.csv and .txt, and ends with one table: the bar, what was measured, and whether it was reached.
#   program NAME                              the lines below are about this program (the folder's own, if none is named)
#   run TAG ARGUMENT...                       in seven processes; what counts is their mean, as a launch costs up to 0.2 us
#                                             more in one process than in the next
#   once TAG ARGUMENT...                      in one, where 0.2 us are nothing
#   names SHORT NAME,NAME,...                 a short name for a list of rows
#   bar HOW | TAG | N | NAMES | >= 1.25 | TITLE
# The best of NAMES with this n counts. HOW is library (its time over theirs; within 5 % of the limit a row passes, too,
# unless it is `library only`), limit (% of the limit's row), nominal (% of the
# memory's bandwidth), column NAME, over ROW (their time over the row's) or speedup ROW (the row's over theirs);
# ROW may be `ROW of SAMPLE TAG`. What was measured is compared at the two decimals that the table shows.
# Exit status: 0 measured (reached or not: another GPU has other ratios), 1 a sample failed, 3 a bench.txt is not as
# above, 77 no GPU.
set -u
build=$1 folder=$2
. "$(dirname "$0")/folder.sh"
failed=0 ran=0
mkdir -p "$folder" || exit 3
"$build/bars" "$top" >/dev/null || exit # is each bench.txt as it should be?
for program in $(programs "$build/gpu"); do
    sample=$(folder_of "$program")
    for word in run once; do
        settings "$top/$sample/bench.txt" "$program" $word >"$folder/runs" || exit 3
        if [ $word = run ]; then processes="1 2 3 4 5 6 7"; else processes=1; fi
        while read -r tag arguments; do
            mkdir -p "$folder/$sample" || exit 3
            out=$folder/$sample/gpu_$tag ran=1 started=$(date +%s)
            for process in $processes; do
                # shellcheck disable=SC2086 # the arguments are words
                "$build/gpu/$program" $arguments --csv "$out.$process.csv" >"$out.txt" 2>&1 </dev/null
                status=$?
                [ $status = 0 ] || break
            done
            printf '%-22s %-16s %4d s  %s\n' "$program" "$tag" $(($(date +%s) - started)) "$arguments"
            if [ $status != 0 ]; then
                tail -3 "$out.txt"
                [ $status = 77 ] && exit 77
                failed=1
            else
                perl "$top/common/tools/mean.pl" "$out.csv" "$out".?.csv || failed=1
            fi
            rm -f "$out".?.csv
        done <"$folder/runs"
        rm -f "$folder/runs"
    done
done
if [ $ran = 0 ]; then
    echo "make bench measures GPUs, and there is no GPU build in $build/gpu."
    echo "Type make doctor to see what is missing."
    exit 77
fi
echo
"$build/bars" "$top" "$folder" >"$folder/bars_table.txt" || exit
cat "$folder/bars_table.txt"
exit $failed
