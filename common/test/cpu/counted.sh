#!/bin/sh
# counted.sh MODE BUILD FOLDER [PROGRAM ...]: compares the counters of ncu and of the CPU device, for the programs of
# counted.txt (by default all). MODE is one of:
#   gpu    runs them under NVIDIA's ncu. It needs a GPU and BUILD/gpu. FOLDER gets, for each run, ncu's output and the
#          program's; and metrics, the counters that ncu knows, and the machine code of the kernels
#   cpu    makes the same runs on the CPU device, in the build with counters, and writes its counts to FOLDER
#   join   prints both side by side, in the format of counted_h200.csv
#   equal  prints how many figures of counted_h200.csv are equal
#   check  runs them on the CPU device, and compares the counts with those in counted_h200.csv
# Exit status: 0 if done and, for check, equal; 1 if a run failed or a count differs; 77 if there is no GPU or no ncu.
set -u
mode=$1 build=$2 folder=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tools/folder.sh
. "$here/../../tools/folder.sh"
top=$(cd "$here/../../.." && pwd)
mkdir -p "$folder" || exit 3
rm -f "$folder"/cpu_* # from an older state of the sources
programs=${*:-$(awk '$1 == "program" { print $2 }' "$here/counted.txt")}
sectors=l1tex__t_sectors_pipe_lsu_mem_global_op requests=l1tex__t_requests_pipe_lsu_mem_global_op
shared=smsp__sass_inst_executed_op_shared wavefronts=memory_l1_wavefronts_shared
wanted="${requests}_ld.sum ${requests}_st.sum ${requests}_red.sum ${requests}_atom.sum ${sectors}_ld.sum ${sectors}_st.sum
    ${shared}_ld.sum ${shared}_st.sum $wavefronts ${wavefronts}_ideal"
# These counters are stored but not compared: they may explain a difference.
others="${shared}_atom.sum smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared.sum
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum memory_l1_wavefronts_shared_atom idc__requests.sum
    smsp__inst_executed_op_ldc.sum l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"
failed=0

# each_run FUNCTION: calls FUNCTION PROGRAM TAG ARGUMENT... for each run of the programs
each_run() {
    for program in $programs; do
        settings "$here/counted.txt" "$program" run >"$folder/runs"
        while read -r tag arguments; do
            # shellcheck disable=SC2086 # the arguments are words
            "$1" "$program" "$tag" $arguments </dev/null
        done <"$folder/runs"
    done
    rm -f "$folder/runs"
}

# kernels_of PROGRAM: prints the names of the kernels in its source, separated by |, without those of libraries
kernels_of() {
    source=$here/$1.cu
    [ -f "$source" ] || source=$(ls "$top/$1/${1#*_}.cu" "$top/$(folder_of "$1")/${1#*_}.cu" 2>/dev/null | head -1)
    sed -n 's/__launch_bounds__([^)]*)//; /__global__ void *$/{N; s/ *\n */ /}; s/.*__global__ void *\([A-Za-z_0-9]*\)(.*/\1/p' "$source" | sort -u | paste -sd '|'
}

under_ncu() {
    name=$1 out=$folder/$1_$2.ncu
    binary=$build/gpu/$1 csv="--repeats 1 --csv ${out%.ncu}.csv"
    [ ! -f "$here/$1.cu" ] || csv=""
    shift 2
    kernels=regex:^\($(kernels_of "$name")\)'$'
    # shellcheck disable=SC2086 # the options are words
    timeout 300 "$ncu" --clock-control none --cache-control none --csv --page raw --print-units base \
        --print-kernel-base function --kernel-name-base function --kernel-name "$kernels" --metrics "$metrics" \
        --log-file "$out" "$binary" "$@" $csv >"$out.said" 2>&1
    status=$?
    echo "$name $*: status $status, $(grep -c '^"[0-9]' "$out") launches"
    [ $status = 0 ] || failed=1
}

on_the_cpu_device() {
    name=$1 out=$folder/$1_$2.cpu
    shift 2
    binary=$build/counters/$name
    [ ! -f "$here/$name.cu" ] || binary=$build/common/test/cpu/cpu_$name
    if [ -f "$here/$name.cu" ] && ! [ -x "$binary" ]; then
        binary=$folder/cpu_$name
        [ -x "$binary" ] || "$build/cpu/cudacpu" "$here/$name.cu" --counters -o "$binary" || failed=1
    fi
    rm -f "$out"
    if ! [ -x "$binary" ]; then
        echo "left out: $binary is not built"
        return
    fi
    "$binary" --counters-csv "$out" "$@" >"$out.said" 2>&1 && return
    echo "FAILED: $binary $*"
    tail -5 "$out.said"
    failed=1
}

case $mode in
gpu)
    for ncu in ncu "${CUDA_PATH:-/usr/local/cuda}/bin/ncu" /usr/local/cuda/bin/ncu ""; do
        if command -v "$ncu" >/dev/null 2>&1; then break; fi
    done
    if [ -z "$ncu" ] || ! a_gpu_answers; then
        echo "counted.sh gpu needs a GPU and NVIDIA's ncu; it comes with the CUDA Toolkit"
        exit 77
    fi
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    for name in $(printf '%s\n' counted $programs | sort -u); do
        [ ! -f "$here/$name.cu" ] || [ -n "$(find "$build/gpu/$name" -newer "$here/$name.cu" 2>/dev/null)" ] ||
            "$nvcc" -O3 -std=c++17 -arch=native -I"$top/common" "$here/$name.cu" -o "$build/gpu/$name" &
    done
    wait
    # Finds the counters that this ncu knows: an unknown one would end the run.
    [ -s "$folder/metrics" ] || for metric in $wanted $others; do
        "$ncu" --csv --page raw --launch-count 1 --metrics "$metric" "$build/gpu/counted" >"$folder/asked" 2>&1 &&
            grep -q "\"$metric\"" "$folder/asked" && echo "$metric" >>"$folder/metrics"
    done
    metrics=$(paste -sd , "$folder/metrics")
    "$ncu" --version | tail -1
    each_run under_ncu
    for name in $programs; do # the machine code that ptxas generates explains most differences
        "$(dirname "$nvcc")/cuobjdump" -sass "$build/gpu/$name" 2>/dev/null | sed 's|/\* 0x[0-9a-f]* \*/||' >"$folder/$name.sass"
    done
    rm -f "$folder/asked"
    ;;
cpu)
    each_run on_the_cpu_device
    ;;
join | equal | check)
    [ $mode != check ] || each_run on_the_cpu_device
    # shellcheck disable=SC2086 # the programs are words
    perl "$here/counted.pl" "$mode" "$here/counted.txt" "$folder" "$here/counted_h200.csv" $programs || failed=1
    ;;
esac
exit $failed
