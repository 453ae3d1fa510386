#!/bin/sh
# plots.sh [TOP]: draws the plots of the H200's figures again: SAMPLE/results/h200.svg, as the line
# `results TITLE | TAG TAG...` of each sample's report.txt asks, from results/h200_TAG.csv. The title names the GPU. And the
# same in Chinese, h200.zh.svg, by the words of plots.zh.sed.
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
