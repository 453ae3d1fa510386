#!/bin/sh
# report.sh BUILD: makes the report on the CPU device, and one of a GPU's figures (those in results/, as if they were of
# this run), and checks both pages. Exit status: 0 as promised, 1 not, 77 no CPU device or no gnuplot.
set -u
build=$1 top=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
must() { # must DESCRIPTION COMMAND...
    what=$1
    shift
    "$@" && { echo "ok    $what"; return; }
    echo "FAIL  $what"
    failed=1
}
lacks() { ! grep -qE -e "$1" "$2"; }
count() { test "$(grep -o -e "$2" "$3" | wc -l)" = "$1"; }

# Is each tag closed, by its own name and in turn?
closed() {
    tr '\n' ' ' <"$1" | sed 's/<style>.*<\/style>//; s/>/>\n/g' | sed -n 's/.*</</p' | awk '
        /^<!/ || /\/>$/ { next }
        { name = $1; gsub(/[<\/>]/, "", name) }
        /^<\// { if (depth < 1 || open[depth--] != name) { print "closed out of turn: " $0; exit bad = 1 }; next }
        { open[++depth] = name }
        END { if (!bad && depth) { print "never closed: " open[depth]; bad = 1 } exit bad }'
}

page() { # page FILE: what holds for every report
    must "every tag is closed" closed "$1"
    if command -v xmllint >/dev/null 2>&1; then must "xmllint" xmllint --noout "$1"; fi
    must "it loads nothing" lacks '(src|href)="[^#d]|url\(|@import|https?:' "$1"
    must "no nan or inf, but in the pictures" test -z "$(sed 's/base64,[^"]*//g' "$1" | grep -iowE 'nan|inf')"
    must "no place is left to fill in" test -z "$(sed '/<style>/,/<\/style>/d' "$1" | grep -E '[{@][a-zA-Z]')"
    must "one h1" count 1 '<h1>' "$1"
    must "no id twice" test -z "$(grep -oE " id=[\"'][^\"']*" "$1" | sort | uniq -d)"
    for sample in $samples; do
        must "heading $sample" grep -q "<h2 id=\"s$sample\">$sample</h2>" "$1"
        must "verdict $sample" grep -qE "PASSED: $sample: [0-9]+ results? agrees? with" "$1"
        must "link to $sample" grep -q "<a href=\"#s$sample\">$sample</a>" "$1"
    done
    number=$(for sample in $samples; do ls -d "$top/$sample/results/h200.svg" 2>/dev/null; done | wc -l | tr -d ' ')
    must "$number plots with a title" count "$number" '<svg role="img"' "$1"
    must "every table header has a scope" lacks '<th(>| [^s])' "$1"
}

if ! [ -d "$build/cpu" ] || ! command -v gnuplot >/dev/null 2>&1; then exit 77; fi
samples=$(cd "$build/cpu" && ls -d [0-9]*)
must "the report on the CPU device" sh "$top/common/tools/report.sh" "$build" cpu "$folder/cpu"
page "$folder/cpu/index.html"
must "no time of this machine" lacks 'time µs|cpu_device_ms|CPU-device ms' "$folder/cpu/index.html"
must "the H200 is named" grep -q 'Measured on an <strong>NVIDIA H200</strong>' "$folder/cpu/index.html"
[ -d "$build/hazards" ] && must "hazards" grep -q 'cudacpu: hazard: race' "$folder/cpu/index.html"

cp -r "$top"/[0-9]* "$folder" && mkdir "$folder/common" && cp -r "$top/common/tools" "$folder/common"
must "the plots of results/" sh "$top/common/tools/plots.sh" "$folder"
settings() { sed -n "/^program /q; s/^$2  *//p" "$folder/$1/report.txt" 2>/dev/null; } # of the folder's own program
measured=""
for sample in $samples; do
    results=$folder/$sample/results data=$folder/gpu/$sample
    [ -e "$results/h200.svg" ] || continue
    measured="$measured $sample"
    mkdir -p "$data"
    for run in run $(settings "$sample" 'gpu run' | sed 's/ .*//'); do
        tag=$(settings "$sample" "beside $run")
        [ -n "$tag" ] || { [ "$run" = run ] && tag=default || tag=$run; }
        cp "$results/h200_$tag.csv" "$data/$run.csv" 2>/dev/null
        cp "$results/h200_$tag.txt" "$data/$run.txt" 2>/dev/null
    done
    mv "$results/h200.svg" "$data/plot.svg"
done
samples=$measured
must "the page of a GPU's figures" "$build/report_page" "$folder/gpu" "$folder" gpu "$folder/gpu.html"
page "$folder/gpu.html"
must "times" grep -q 'time µs' "$folder/gpu.html"

# Bad input is refused, and leaves the page alone.
first=${samples# } first=${first%% *}
echo "1,2" >>"$folder/gpu/$first/run.csv"
"$build/report_page" "$folder/gpu" "$folder" gpu "$folder/bad.html" 2>"$folder/err"
must "a broken line of a CSV file is named" grep -q 'run.csv, line [0-9]*: 2 fields' "$folder/err"
must "no page of it" test ! -e "$folder/bad.html"
echo "nonsense" >"$folder/none.csv"
sh "$top/common/tools/draw.sh" "$top/$first" "$folder/bad.svg" x "$folder/none.csv" 2>"$folder/err"
must "a CSV file without figures is refused" grep -q "could not draw .*/$first/plot.gp" "$folder/err"
must "no plot of it" test -z "$(ls "$folder" | grep '^bad')"
exit $failed
