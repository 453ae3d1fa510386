#!/bin/sh
# report.sh BUILD auto|gpu|cpu FOLDER: runs the samples, draws their plots and writes FOLDER/index.html, one file
# that needs nothing else. What it was made from stays in FOLDER/data. Exit status: 0 all pass, 1 a sample does not
# (the report says which), 2 or 3 there is no report.
set -u
build=$1 folder=$3 top=$(cd "$(dirname "$0")/.." && pwd)
chosen=$(sh "$top/common/device.sh" "$build" "$2") || exit
device=$(echo "$chosen" | head -1) why=$(echo "$chosen" | tail -1)
if [ $device = gpu ] && ! command -v gnuplot >/dev/null 2>&1; then
    echo "report.sh: gnuplot is missing, and draws the plots. Type: apt-get install gnuplot-nox" >&2
    exit 3
fi
echo "Running on the $device: $why."
rm -rf "$folder/data" && mkdir -p "$folder/data" || exit 3
failed=0

# measure FILE ARGUMENT...: one run of the sample, into FILE.csv and FILE.txt
measure() {
    file=$data/$1
    shift
    "$build/$device/$sample" "$@" --csv "$file.csv" >"$file.txt" 2>&1
    status=$?
    [ $status = 0 ] && return 0
    grep -q '^FAILED' "$file.txt" || echo "FAILED: $sample${*:+ $*} ended with status $status" >>"$file.txt"
    [ "$file" = "$data/run" ] || grep '^FAILED' "$file.txt"
    failed=1
    return 1
}
plot() { # plot TITLE CSV...
    title="$1, on $(awk -F'"' 'NR == 2 { sub(/:.*/, "", $2); print $2 }' "$data/run.csv")"
    shift
    sh "$top/common/plots/draw.sh" "${sample%%_*}" "$data/plot.svg" "$title" "$@" || failed=1
}

count=$(ls -d "$build/$device"/[0-9]* | wc -l) i=0
for path in "$build/$device"/[0-9]*; do
    sample=$(basename "$path") data=$folder/data/$(basename "$path") i=$((i + 1))
    mkdir -p "$data" || exit 3
    printf '[%d/%d] %-22s ' $i $((count)) "$sample"
    case $sample in
    02*) measure run --timeline ;;
    *) measure run ;;
    esac
    if [ $device = gpu ] && [ -s "$data/run.csv" ]; then
        csv=$data/run.csv
        case $sample in
        01*) plot "Time by the kind of memory the ints lie in" "$csv" ;;
        02*) plot "Clocks of a block by the number of blocks, and when each block ran" "$csv" "$csv" ;;
        03*) plot "Error and time of each dot product" "$csv" ;;
        04*) measure sizes --sweep && plot "Bandwidth of each reduction by the number of ints" "$data/sizes.csv" ;;
        05*) measure addresses --addresses && plot "Increments in a nanosecond by the number of words" "$data/addresses.csv" ;;
        06*) measure large --width 16384 && plot "Time to draw a small and a large picture" "$csv" "$data/large.csv" ;;
        esac
    fi
    case $sample in
    06*)
        "$path" --width 256 --only tutorial --out "$data/right.png" >/dev/null 2>&1
        "$path" --width 256 --wrong no_barrier --out "$data/wrong.png" >"$data/wrong.txt" 2>&1
        for png in "$data/right.png" "$data/wrong.png"; do
            [ -s "$png" ] && base64 <"$png" | tr -d '\n' >"$png.base64"
        done
        ;;
    esac
    # The first wrong twin that the hazard build has something to say about, where there is a hazard build.
    hazards=$build/hazards/$sample small="--n 5003"
    [ "${sample%%_*}" = 06 ] && small="--width 70 --height 37"
    if [ -x "$hazards" ]; then
        for twin in $("$hazards" --list | sed -n 's/^twin //p'); do
            "$hazards" $small --wrong "$twin" 2>&1 >/dev/null | sed "s|$top/||g" |
                awk '/^cudacpu: hazard/ && n++ { exit } { print }' >"$data/hazard.txt"
            [ -s "$data/hazard.txt" ] && break
        done
        [ -s "$data/hazard.txt" ] && echo "build/hazards/$sample $small --wrong $twin" >"$data/command.txt"
    fi
    grep -E '^(PASSED|FAILED)' "$data/run.txt" | tail -1
done
"$build/report_page" "$folder/data" "$top" "$device" "$folder/index.html" || exit 3
echo
echo "The report is $folder/index.html."
exit $failed
