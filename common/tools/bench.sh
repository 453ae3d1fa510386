#!/bin/sh
# bench.sh BUILD FOLDER: runs what each sample's bench.txt asks for on the GPU, keeps what it wrote as
# FOLDER/SAMPLE/gpu_TAG.csv and .txt, and ends with one table: the bar, what was measured, and whether it was reached.
# A run that takes few seconds is made five times, and the medians count: what a launch costs differs from process to
# process by up to 0.2 us, however often it is timed in one.
#   program NAME                              the lines below are about this program (the folder's own, if none is named)
#   run TAG ARGUMENT...
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
    settings "$top/$sample/bench.txt" "$program" run >"$folder/runs" || exit 3
    while read -r tag arguments; do
        mkdir -p "$folder/$sample" || exit 3
        printf '%-22s %-16s %s\n' "$program" "$tag" "$arguments"
        out=$folder/$sample/gpu_$tag ran=1 started=$(date +%s)
        for run in 1 2 3 4 5; do
            # shellcheck disable=SC2086 # the arguments are words
            "$build/gpu/$program" $arguments --csv "$out.$run.csv" >"$out.$run.txt" 2>&1 </dev/null
            status=$?
            if [ $status != 0 ] || [ $(($(date +%s) - started)) -gt $((2 * run)) ]; then break; fi
        done
        mv "$out.$run.txt" "$out.txt"
        if [ $status != 0 ]; then
            tail -3 "$out.txt"
            [ $status = 77 ] && exit 77
            failed=1
        else
            "$build/median_csv" "$out.csv" "$out".?.csv || failed=1
        fi
        rm -f "$out".?.csv "$out".?.txt
    done <"$folder/runs"
    rm -f "$folder/runs"
done
if [ $ran = 0 ]; then
    echo "make bench measures GPUs, and there is no GPU build in $build/gpu. Type make doctor to see what is missing."
    exit 77
fi
echo
"$build/bars" "$top" "$folder" >"$folder/bars_table.txt" || exit
cat "$folder/bars_table.txt"
exit $failed
