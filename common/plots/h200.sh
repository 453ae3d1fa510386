#!/bin/sh
# h200.sh: draws the plots of the H200's figures again, from the CSV files in results/. Run it from the top folder.
set -eu
draw() { # draw SAMPLE TITLE CSV...
    sample=$1 title=$2 paths=""
    shift 2
    for csv; do paths="$paths $sample/results/h200_$csv.csv"; done
    sh common/plots/draw.sh "${sample%%_*}" "$sample/results/h200.svg" "$title" $paths
    echo "$sample/results/h200.svg"
}
draw 01_sum_managed "Time to add ten million ints by the kind of memory they lie in, on an NVIDIA H200" default
draw 02_clock_min "Clocks of a block by the number of blocks, and when each block ran, on an NVIDIA H200" default timeline
draw 03_dot_shared "Error and time of each dot product of 33,792 elements, on an NVIDIA H200" default
draw 04_reduction_variants "Bandwidth of each reduction by the number of ints, on an NVIDIA H200" sizes_int
draw 05_atomics "Increments in a nanosecond by the number of words, on an NVIDIA H200" addresses
draw 06_shared_image "Time to draw a small and a large picture by variant, on an NVIDIA H200" default 16384
