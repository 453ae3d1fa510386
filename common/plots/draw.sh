#!/bin/sh
# draw.sh NN OUT.svg TITLE CSV...: draws the plot of sample NN with NN.gp, and makes it fit for pages: text in the
# page's ink (a grey that light and dark pages can both carry, where the SVG stands alone), a title for screen readers,
# and names that do not clash with those of other plots on the page. Writes the whole file or none.
set -eu
folder=$(dirname "$0") number=$1 out=$2 title=$3
shift 3
if ! command -v gnuplot >/dev/null 2>&1; then
    echo "draw.sh: gnuplot is missing, and draws the plots. Type: apt-get install gnuplot-nox" >&2
    exit 3
fi
for csv; do
    [ -r "$csv" ] || { echo "draw.sh: cannot read $csv" >&2; exit 3; }
done
trap 'rm -f "$out.part" "$out.raw"' EXIT
log=$(gnuplot -c "$folder/$number.gp" "$@" "$out.raw" 2>&1) && [ -s "$out.raw" ] || {
    echo "draw.sh: gnuplot could not draw plot $number from $*:" >&2
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
