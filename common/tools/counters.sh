#!/bin/sh
# counters.sh BUILD FOLDER [PROGRAM ...]: counts with NVIDIA's ncu what the kernels do on the GPU. Each sample's counters.txt says
# what to count (default: all programs). It writes FOLDER/SAMPLE/gpu_counters_TAG.csv (in results/: h200_counters_TAG.csv), and
# the output of ncu as .txt in the same folder.
#   program NAME                      the following lines are about this program (the folder's own before any such line)
#   metric NAME HEADING               a counter of ncu, and the heading of its column; if that has µs, times are converted to µs
#   run TAG KERNEL_REGEX ARGUMENT...  the kernels whose name matches are counted, the others only run
# Launches of one kernel with the same grid and block are averaged.
# Exit status: 0 written, 1 a sample or ncu failed, 3 a counters.txt has an error, 77 no GPU, no ncu, or no permission to count.
set -u
build=$1 folder=$2
shift 2
. "$(dirname "$0")/folder.sh"
if [ -z "$(programs "$build/gpu")" ]; then
    echo "make counters-gpu needs a GPU build, but there is no GPU build in"
    echo "$build/gpu."
    echo "Type make doctor to see what is missing."
    exit 77
fi
for ncu in ncu "${CUDA_PATH:-/usr/local/cuda}/bin/ncu" /usr/local/cuda/bin/ncu ""; do
    if command -v "$ncu" >/dev/null 2>&1; then break; fi
done
if [ -z "$ncu" ]; then
    echo "There is no ncu. It is part of the CUDA Toolkit:"
    echo "install nsight-compute, or add its folder to PATH."
    exit 77
fi
mkdir -p "$folder" || exit 3
failed=0
for program in ${*:-$(programs "$build/gpu")}; do
    sample=$(folder_of "$program")
    file=$top/$sample/counters.txt
    settings "$file" "$program" run >"$folder/runs" || exit 3
    metrics=$(settings "$file" "$program" metric | awk '{ printf "%s%s", comma, $1; comma = "," }')
    while read -r tag kernels arguments; do
        mkdir -p "$folder/$sample" || exit 3
        out=$folder/$sample/gpu_counters_$tag
        printf '%-22s %s\n' "$program" "$tag"
        rm -f "$out.csv" "$out.txt" "$folder/run.csv"
        # shellcheck disable=SC2086 # the arguments are words
        "$ncu" --clock-control none --csv --page raw --print-units base --print-kernel-base function \
            --kernel-name-base function --kernel-name "regex:$kernels" --metrics "$metrics" --log-file "$out.txt" \
            "$build/gpu/$program" $arguments --csv "$folder/run.csv" >"$folder/said" 2>&1 </dev/null
        status=$?
        if grep -q ERR_NVGPUCTRPERM "$out.txt" "$folder/said" 2>/dev/null; then
            echo "Only administrators may read the GPU's counters here (ERR_NVGPUCTRPERM)."
            echo "Run this as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0:"
            echo "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
            exit 77
        fi
        if [ $status = 77 ] || grep -q 'no CUDA device' "$folder/said"; then
            cat "$folder/said"
            exit 77
        fi
        [ $status = 0 ] && settings "$file" "$program" metric |
            perl "$top/common/tools/counters.pl" "$out.txt" "$folder/run.csv" "$program" "$out.csv" && continue
        echo "FAILED: $program $tag: ncu ended with status $status"
        tail -3 "$folder/said"
        [ ! -f "$out.txt" ] || grep '^==' "$out.txt" | tail -5
        failed=1
    done <"$folder/runs"
done
rm -f "$folder/runs" "$folder/run.csv" "$folder/said"
exit $failed
