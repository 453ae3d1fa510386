#!/bin/sh
# pictures.sh BUILD [OUT]: draws the pictures of the samples' pages, NN_name/pictures/*.svg, in place or in the folder OUT. It
# runs the kernels on the CPU device, in the counters build, and writes their traces to BUILD/pictures.
# Exit status: 0 drawn, 2 a program is not built; otherwise the status of the program that failed.
set -eu
. "$(dirname "$0")/folder.sh"
cd "$top"
case $1 in /*) build=$1 ;; *) build=$PWD/$1 ;; esac
traces=$build/pictures
mkdir -p "$traces"
# trace NAME PROGRAM ARGUMENT...: the page NAME.html
trace() {
    page=$traces/$1.html program=$build/counters/$2
    shift 2
    [ -x "$program" ] || { echo "pictures.sh: there is no $program. Type: make pictures" >&2; exit 2; }
    "$program" "$@" --trace "$page" >"$traces/log" 2>&1 || { cat "$traces/log" >&2; exit 1; }
}
for kernel in modulo strided_index sequential; do
    trace $kernel 04_reduction_variants --only $kernel --n 512
done
# From compute capability 8.0 on, one instruction replaces the shuffles that the picture shows.
"$build/cpu/cudacpu" 04_reduction_variants/reduction_variants.cu common/lab.cpp common/write_file.cpp -Icommon \
    -D__CUDA_ARCH__=700 -o "$traces/shuffles" --counters
"$traces/shuffles" --only shuffle --n 1024 --trace "$traces/shuffle.html" >"$traces/log" 2>&1 || { cat "$traces/log" >&2; exit 1; }
for kernel in tutorial conflict_free; do
    trace tile_$kernel 06_shared_image --only $kernel --width 16 --height 16
done
LAB_ORDER=7 trace push_back 05_atomics --only push_back --n 32 # the lanes run in any order
"$build/cpu/cudacpu" 03_dot_shared/pictures/loads.cu -o "$traces/loads" --counters
"$traces/loads" --trace "$traces/loads.html" >"$traces/log" 2>&1 || { cat "$traces/log" >&2; exit 1; }
perl common/tools/pictures.pl "$traces" "${2:-.}"
