#!/bin/sh
# plots.sh [TOP]: draws the plots of the H200's figures again: SAMPLE/results/h200.svg, as the line `results TITLE | TAG TAG...`
# of each sample's report.txt asks, from results/h200_TAG.csv.
set -eu
. "$(dirname "$0")/folder.sh"
tools=$top/common/tools
cd "${1:-$top}"
for file in [0-9]*/report.txt; do
    [ -f "$file" ] || continue
    sample=${file%/*}
    line=$(settings "$PWD/$file" "$sample" results)
    [ -n "$line" ] || continue
    paths=""
    for tag in ${line##*|}; do paths="$paths $sample/results/h200_$tag.csv"; done
    # shellcheck disable=SC2086 # the paths are words
    sh "$tools/draw.sh" "$sample" "$sample/results/h200.svg" "$(echo "${line%|*}" | sed 's/ *$//')" $paths
    echo "$sample/results/h200.svg"
done
