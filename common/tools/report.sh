#!/bin/sh
# report.sh BUILD auto|gpu|cpu FOLDER: runs the samples, draws their plots and writes FOLDER/index.html, a single self-contained
# file. Its data stay in FOLDER/data. Each sample's report.txt says what to run and to show; without it, the program runs once
# with its defaults:
#   program NAME                  the following lines are about this program (the folder's own before any such line)
#   run NAME ARGUMENT...          a run; the first is called `run`. `gpu run ...` is a run for GPUs only
#   beside NAME TAG               results/h200_TAG.csv has its figures, if the file is not called NAME (`run`: default)
#   plot TITLE | NAME NAME...     on a GPU, plot.gp gets the CSV files of these runs; a sequel's run is named by its TAG
#   results TITLE | TAG TAG...    the same for results/h200.svg, see plots.sh
#   picture CAPTION | ARGUMENT... a picture that the program writes with these arguments and --out
#   twin NAME                     the wrong twin whose race the page shows; the default is the first with a race
#   trace NAME ARGUMENT...        traces/NN_NAME.html shows this variant step by step, if there is a counters build; also the race
# claims.txt in the same folder lists the tutorial's claims: claim | what was measured | why. {COLUMN:VARIANT} is a cell of the
# run's CSV file, {COLUMN:VARIANT:COLUMN=VALUE} the cell in the row with this value, {NAME/...} a cell of another run (of a
# sequel: its TAG), {A / B} a ratio, and {printed:WORDS} the text after WORDS at the start of a line of the first run's output.
# Times get their unit. A row that a run left out becomes a dash.
# Exit status: 0 all pass, 1 a sample does not (the report says which), 2 or 3 there is no report.
set -u
build=$1 folder=$3
. "$(dirname "$0")/folder.sh"
chosen=$(sh "$top/common/tools/device.sh" "$build" "$2") || exit
device=$(echo "$chosen" | head -1)
if [ $device = gpu ] && ! command -v gnuplot >/dev/null 2>&1; then
    echo "make report needs gnuplot to draw the plots, and gnuplot is not installed." >&2
    echo "Type: apt-get install gnuplot-nox" >&2
    exit 3
fi
echo "$chosen" | tail -1
rm -rf "$folder/data" "$folder/traces" && mkdir -p "$folder/data" || exit 3
failed=0

# measure NAME ARGUMENT...: runs the program once, and writes NAME.csv and NAME.txt
measure() {
    file=$data/$1
    shift
    "$path" "$@" --csv "$file.csv" >"$file.txt" 2>&1 </dev/null
    status=$?
    [ $status = 0 ] && return
    grep -q '^FAILED' "$file.txt" || echo "FAILED: $program${*:+ $*} ended with status $status" >>"$file.txt"
    [ "$file" = "$data/run" ] || grep '^FAILED' "$file.txt" | fold -s -w 80
    failed=1
}
asked() { settings "$top/$sample/report.txt" "$program" "$1"; }

# csv_of NAME: the CSV file of this program's run NAME, or of a sequel's run with `beside RUN NAME`
csv_of() {
    if [ -f "$data/$1.csv" ]; then echo "$data/$1.csv"; return; fi
    awk -v tag="$1" -v data="$folder/data" '$1 == "program" { at = $2 }
        $1 == "beside" && $3 == tag { print data "/" at "/" $2 ".csv" }' "$top/$sample/report.txt"
}

# shellcheck disable=SC2086,SC2046 # arguments and names are words
run_program() {
    asked run >"$data/runs"
    [ $device = cpu ] || asked gpu | sed -n 's/^run *//p' >>"$data/runs"
    grep -q '^run\( \|$\)' "$data/runs" || measure run
    while read -r name arguments; do measure "$name" $arguments; done <"$data/runs"

    plot=$(asked plot)
    if [ $device = gpu ] && [ -n "$plot" ] && [ -s "$data/run.csv" ]; then
        title="${plot%|*}"
        title="${title% }, on $(sed -n '2s/^[^"]*"\([^:"]*\).*/\1/p' "$data/run.csv")"
        set --
        for name in ${plot##*|}; do set -- "$@" "$(csv_of "$name")"; done
        sh "$top/common/tools/draw.sh" "$top/$sample" "$data/plot.svg" "$title" "$@" || failed=1
    fi

    number=0
    asked picture | sed 's/.*|//' >"$data/pictures"
    while read -r arguments; do
        number=$((number + 1))
        picture=$data/picture$number
        "$path" $arguments --out "$picture.png" >"$picture.txt" 2>&1 </dev/null
        [ ! -s "$picture.png" ] || base64 <"$picture.png" | tr -d '\n' >"$picture.png.base64"
    done <"$data/pictures"

    counters=$build/counters/$program number=${program%%_*}
    asked trace >"$data/traced"
    [ ! -x "$counters" ] || mkdir -p "$folder/traces"
    while [ -x "$counters" ] && read -r name arguments; do
        "$counters" --only "$name" $arguments --trace "$folder/traces/${number}_$name.html" >"$data/trace.txt" 2>&1 </dev/null ||
            { rm -f "$folder/traces/${number}_$name.html"; echo "no trace of $name: $(head -1 "$data/trace.txt")" | fold -s -w 80; }
    done <"$data/traced"

    # The first wrong twin for which the hazard build reports a hazard
    hazards=$build/hazards/$program small=""
    [ -x "$hazards" ] || return
    "$hazards" --list >"$data/list"
    if grep -qx 'takes --n' "$data/list"; then small="--n 5003"; fi
    if grep -qx 'takes --width' "$data/list"; then small="--width 70 --height 37"; fi
    for twin in $(asked twin) $(sed -n 's/^twin //p' "$data/list"); do
        "$hazards" $small --wrong "$twin" 2>&1 >/dev/null </dev/null | sed "s|$top/||g" |
            awk '/^cudacpu: hazard/ { if (race) exit; race = /: race /; keep = race || !n++; if (keep) text = "" }
                keep { text = text $0 "\n" }
                END { printf "%s", text }' >"$data/hazard.txt" # the first race, else the first hazard
        [ ! -s "$data/hazard.txt" ] || break
    done
    [ -s "$data/hazard.txt" ] || return
    echo "$build/hazards/$program $small --wrong $twin" >"$data/command.txt"
    [ ! -x "$counters" ] || "$hazards" $small --wrong "$twin" --trace "$folder/traces/${number}_$twin.html" >"$data/trace.txt" 2>&1
}

# Sequels come first, because a sample's plot and claims may name their runs.
order() {
    for program in $(programs "$build/$device"); do [ -d "$top/$program" ] || echo "$program"; done
    for program in $(programs "$build/$device"); do [ ! -d "$top/$program" ] || echo "$program"; done
}
count=$(programs "$build/$device" | wc -l) i=0
for program in $(order); do
    path=$build/$device/$program data=$folder/data/$program sample=$(folder_of "$program") i=$((i + 1))
    mkdir -p "$data" || exit 3
    printf '[%d/%d] %-22s ' $i $((count)) "$program"
    run_program
    grep -E '^(PASSED|FAILED)' "$data/run.txt" | tail -1 | sed "s/: $program: /: /" | fold -s -w 49
done
"$build/report_page" "$folder/data" "$top" "$device" "$folder/index.html" || exit 3
echo
echo "The report is in $folder/index.html."
exit $failed
