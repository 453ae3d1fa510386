#!/bin/sh
# draw.sh SAMPLE OUT.svg TITLE CSV...: draws the plot of the folder SAMPLE. Its plot.gp gets the CSV files and then the SVG
# as arguments, and style.gp's path as `style`. What it draws is made fit for pages: text in the page's ink (a grey that
# light and dark pages can both carry, where the SVG stands alone), a title for screen readers, and names that do not
# clash with those of other plots on the page. Writes the whole file or none.
set -eu
folder=$1 style=$(cd "$(dirname "$0")" && pwd)/style.gp out=$2 title=$3
number=$(basename "$folder" | sed 's/_.*//')
shift 3
if ! command -v gnuplot >/dev/null 2>&1; then
    echo "draw.sh: gnuplot is missing, and draws the plots. Type: apt-get install gnuplot-nox" >&2
    exit 3
fi
for csv; do
    [ -r "$csv" ] || { echo "draw.sh: cannot read $csv" >&2; exit 3; }
done
trap 'rm -f "$out.part" "$out.raw"' EXIT
quoted=$(printf '%s' "$style" | sed "s/'/''/g") # as gnuplot wants it
log=$(gnuplot -e "style = '$quoted'" -c "$folder/plot.gp" "$@" "$out.raw" 2>&1) && [ -s "$out.raw" ] || {
    echo "draw.sh: gnuplot could not draw $folder/plot.gp from $*:" >&2
    echo "$log" >&2
    exit 3
}
title=$(printf '%s' "$title" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/[\\&|]/\\&/g')
sed -e '/^<?xml/d' -e '/^<desc>/d' -e "/^$/d" -e 's/xlink:href/href/g' -e '/xmlns:xlink/d' \
    -e 's/\(<g id="[^"]*" *>\)<title>[^<]*<\/title>/\1/' -e "s|^<title>.*|<title id=\"p$number-title\">$title</title>|" \
    -e "s|^<svg *\$|<svg role=\"img\" aria-labelledby=\"p$number-title\" style=\"color:#767b84\"|" \
    -e 's/ color="black"//; s/\([a-z]\)="black"/\1="currentColor"/g' -e "s/'black'/'currentColor'/g; s/rgb( *0, *0, *0)/currentColor/g" \
    -e "s/<tspan font-family=\"sans-serif\" >\([^<]*\)<\/tspan>/\1/g" \
    -e "s/gp\([PD]\)/p$number-\1/g" -e "s/id=\"gnuplot_/id=\"p$number-/; s/id='\([a-z]*box\)'/id='p$number-\1'/" \
    -e 's/[ 	]*$//' "$out.raw" >"$out.part"
mv "$out.part" "$out"
