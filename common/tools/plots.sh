#!/bin/sh
# plots.sh [TOP]: redraws the plots of the H200's measurements, SAMPLE/results/h200.svg, from results/h200_TAG.csv. The line
# `results TITLE | TAG TAG...` of each sample's report.txt has the title, to which the GPU's name is added, and the TAGs. The
# Chinese plots, h200.zh.svg, are translated by plots.zh.sed.
set -eu
. "$(dirname "$0")/folder.sh"
tools=$top/common/tools
cd "${1:-$top}"
for file in [0-9]*/report.txt; do
    [ -f "$file" ] || continue
    sample=${file%/*}
    line=$(settings "$PWD/$file" "$sample" results)
    [ -n "$line" ] || continue
    set --
    for tag in ${line##*|}; do set -- "$@" "$sample/results/h200_$tag.csv"; done
    title=$(echo "${line%|*}" | sed 's/ *$//')
    gpu=$(sed -n '2s/^[^"]*"\([^:"]*\).*/\1/p' "$1")
    case $title in *"$gpu"*) ;; *) title="$title, on an $gpu" ;; esac
    sh "$tools/draw.sh" "$sample" "$sample/results/h200.svg" "$title" "$@"
    sed -f "$tools/plots.zh.sed" "$sample/results/h200.svg" >"$sample/results/h200.zh.svg"
    echo "$sample/results/h200.svg"
done
