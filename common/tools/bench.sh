#!/bin/sh
# bench.sh BUILD FOLDER: runs on the GPU what each sample's bench.txt asks for, writes the output to FOLDER/SAMPLE/gpu_TAG.csv
# and .txt, and prints one table: each bar, the measured value, and whether it reaches the bar.
#   program NAME                              the following lines are about this program (the folder's own before any such line)
#   run TAG ARGUMENT...                       in seven processes, whose mean counts: in some processes each launch takes 0.2 us
#                                             longer
#   once TAG ARGUMENT...                      in one process, for times for which 0.2 us do not matter
#   names SHORT NAME,NAME,...                 a short name for a list of rows
#   bar HOW | TAG | N | NAMES | >= 1.25 | TITLE
# The best of NAMES with this n counts. HOW is one of these:
#   library        the library's time divided by theirs; a row within 5 % of the limit also passes (not with `library only`)
#   limit          % of the limit's row
#   nominal        % of the memory's bandwidth
#   column NAME    the value in this column
#   over ROW       their time divided by the row's
#   speedup ROW    the row's time divided by theirs
# ROW may be `ROW of SAMPLE TAG`. The measured value is compared as the table shows it, with two decimals.
# Exit status: 0 measured, even if a bar is not reached (another GPU has other ratios), 1 a sample failed, 3 a bench.txt has an
# error, 77 no GPU.
set -u
build=$1 folder=$2
. "$(dirname "$0")/folder.sh"
failed=0 ran=0
mkdir -p "$folder" || exit 3
"$build/bars" "$top" >/dev/null || exit # checks each bench.txt
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
    echo "make bench needs a GPU build, but there is none in $build/gpu."
    echo "Type make doctor to see what is missing."
    exit 77
fi
echo
"$build/bars" "$top" "$folder" >"$folder/bars_table.txt" || exit
cat "$folder/bars_table.txt"
exit $failed
