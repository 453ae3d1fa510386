#!/bin/sh
# counters.sh BUILD FOLDER [PROGRAM ...]: counts what the kernels do on the GPU with NVIDIA's ncu, as each sample's counters.txt
# asks (for all programs, if none is named), and writes FOLDER/SAMPLE/gpu_counters_TAG.csv (in results/:
# h200_counters_TAG.csv); what ncu printed is beside it, as .txt.
#   program NAME                      the lines below are about this program (the folder's own, if none is named)
#   metric NAME HEADING               a counter of ncu, and its column's heading; a time under a heading with µs comes in µs
#   run TAG KERNEL_REGEX ARGUMENT...  the kernels whose name matches are counted, the others only run
# Launches of one kernel with the same grid and block are averaged.
# Exit status: 0 written, 1 a sample or ncu failed, 3 a file is not as above, 77 no GPU, no ncu, or it may not count.
set -u
build=$1 folder=$2
shift 2
. "$(dirname "$0")/folder.sh"
if [ -z "$(programs "$build/gpu")" ]; then
    echo "make counters-gpu counts on GPUs, and there is no GPU build in"
    echo "$build/gpu."
    echo "Type make doctor to see what is missing."
    exit 77
fi
for ncu in ncu "${CUDA_PATH:-/usr/local/cuda}/bin/ncu" /usr/local/cuda/bin/ncu ""; do
    if command -v "$ncu" >/dev/null 2>&1; then break; fi
done
if [ -z "$ncu" ]; then
    echo "There is no ncu. It comes with the CUDA Toolkit:"
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
            echo "The driver keeps the GPU's counters for administrators (ERR_NVGPUCTRPERM)."
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
