#!/bin/sh
# draw.sh SAMPLE OUT.svg TITLE CSV...: draws the plot of the folder SAMPLE. Its plot.gp gets the CSV files and the SVG file as
# arguments, and the path of style.gp as `style`. The SVG is then adapted for pages: text in the page's colour (in a separate SVG
# file, a grey that is readable on light and dark pages), a title for screen readers, and names that are unique on the page. The
# file is written completely or not at all.
set -eu
folder=$1 style=$(cd "$(dirname "$0")" && pwd)/style.gp out=$2 title=$3
number=$(basename "$folder" | sed 's/_.*//')
shift 3
if ! command -v gnuplot >/dev/null 2>&1; then
    echo "draw.sh: gnuplot is not installed. Type: apt-get install gnuplot-nox" >&2
    exit 3
fi
for csv; do # a plot.gp has each name in single quotes, in a command
    [ -r "$csv" ] || { echo "draw.sh: cannot read $csv" >&2; exit 3; }
    shift
    set -- "$@" "$(printf '%s' "$csv" | sed "s/'/'\\\\''/g")"
done
trap 'rm -f "$out.part" "$out.raw"' EXIT
quoted=$(printf '%s' "$style" | sed "s/'/''/g") # as gnuplot wants it
log=$(gnuplot -e "style = '$quoted'" -c "$folder/plot.gp" "$@" "$out.raw" 2>&1) && [ -s "$out.raw" ] || {
    echo "draw.sh: gnuplot could not draw $folder/plot.gp from $*:" >&2
    echo "$log" >&2
    exit 3
}
title=$(printf '%s' "$title" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/[\\&|]/\\&/g')
both() { printf '%s:light-dark(%s,%s)' "$1" "$2" "$3"; } # both NAME LIGHT DARK
colours="color-scheme:light dark;$(both color '#50565e' '#a8adb3');$(both --page '#fff' '#0d1117')"
colours="$colours;$(both --blue '#1a6fb0' '#5fa8e6');$(both --orange '#b84a00' '#ff9b57')"
colours="$colours;$(both --green '#0a7150' '#45c895');$(both --purple '#93457b' '#d893bd');$(both --grey '#646a73' '#9aa1a9')"
# The picture has the light colours, for viewers without CSS variables; the rules replace them by the page's colours.
rules="" && for pair in 1a6fb0,blue b84a00,orange 0a7150,green 93457b,purple 646a73,grey; do
    rules="$rules[stroke=\"#${pair%,*}\"]{stroke:var(--${pair#*,})}[fill=\"#${pair%,*}\"]{fill:var(--${pair#*,})}[color=\"#${pair%,*}\"]{color:var(--${pair#*,})}"
done
sed -e '/^<?xml/d' -e '/^<desc>/d' -e "/^$/d" -e 's/xlink:href/href/g' -e '/xmlns:xlink/d' \
    -e 's/\(<g id="[^"]*" *>\)<title>[^<]*<\/title>/\1/' \
    -e "s|^<title>.*|<title id=\"p$number-title\">$title</title><style>$rules</style><rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#fff\" style=\"fill:var(--page)\" />|" \
    -e "s|^<svg *\$|<svg role=\"img\" aria-labelledby=\"p$number-title\" style=\"$colours\"|" \
    -e "s|<g onmousemove=\"[^(]*(evt,'\([^\"]*\)')\"[^>]*><title> </title>|<g><title>\1</title>|" \
    -e 's/ color="black"//; s/\([a-z]\)="black"/\1="currentColor"/g' -e "s/'black'/'currentColor'/g; s/rgb( *0, *0, *0)/currentColor/g" \
    -e 's/rgb( *31, *131, *196)/#1a6fb0/g; s/rgb( *213, *94, *0)/#b84a00/g; s/rgb( *0, *144, *106)/#0a7150/g' \
    -e 's/rgb( *184, *100, *143)/#93457b/g; s/rgb( *127, *127, *127)/#646a73/g' \
    -e "s/<tspan font-family=\"sans-serif\" >\([^<]*\)<\/tspan>/\1/g" \
    -e "s/gp\([PD]\)/p$number-\1/g" -e "s/id=\"gnuplot_/id=\"p$number-/; s/id='\([a-z]*box\)'/id='p$number-\1'/" \
    -e 's/[ 	]*$//' "$out.raw" | sed '/^<g [^>]*>$/{N;/\n<\/g>$/d;P;D}' >"$out.part"
mv "$out.part" "$out"
