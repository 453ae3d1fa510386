#!/bin/sh
# racecheck.sh [N [GROUP...]]: runs the labelled kernels under NVIDIA's racecheck, on N elements (200 by default). It builds them
# with nvcc for the GPU of this machine, runs each under compute-sanitizer, and writes racecheck.txt beside this script. If
# GROUPs are given, it only prints the result.
# Exit status: 0 if the table is complete, 77 if nvcc, compute-sanitizer or a GPU is missing.
. "$(dirname "$0")/../../lib.sh"
n=${1:-200} sources=$(cd "$(dirname "$0")" && pwd) result=$sources/racecheck.txt
if [ $# -gt 0 ]; then shift; fi
if [ $# -gt 0 ]; then result=/dev/null; else set -- scopes blocks graphs streams patterns grids mixed types guards; fi
for tool in nvcc compute-sanitizer nvidia-smi; do
    command -v $tool >/dev/null || skip "there is no $tool"
done
nvidia-smi >/dev/null 2>&1 || skip "there is no GPU"

look() { # look GROUP LABEL PROGRAM: runs the kernel under racecheck
    timeout "$patience" compute-sanitizer --tool racecheck "$folder/$1" "$3" "$n" >"$folder/$3.out" 2>&1
    status=$?
    case $(sed -n 's/^=* RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$folder/$3.out" | head -1) in
    "") said="status $status" ;;
    0) said=- ;;
    *) said=found ;;
    esac
    echo "$3 $2 $said" >"$folder/$3.said"
}
for group; do
    nvcc -std=c++17 -arch=native -lineinfo "$sources/$group.cu" -o "$folder/$group" &
done
wait
for group; do
    "$folder/$group" --list >"$folder/names" || exit 1
    sed "s/^/$group /" "$folder/names" >>"$folder/list"
done
running=0
while read -r group label name; do
    look "$group" "$label" "$name" &
    running=$((running + 1))
    if [ $((running % 16)) = 0 ]; then wait; fi
done <"$folder/list"
wait
{
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
    echo "# racecheck $(compute-sanitizer --version | sed -n 's/^Version //p') on $gpu, $n elements"
    while read -r group label name; do cat "$folder/$name.said"; done <"$folder/list"
} >"$folder/table" || exit 1
awk '/^#/ { print; next } { printf "%-32s %-7s %s\n", $1, $2, substr($0, length($1 $2) + 3) }
    $2 == "right" { ++rights; alarms += $3 == "found"; next } { ++all; found += $3 == "found" }
    END {
        printf "\n%d of %d mistakes found, ", found, all
        printf "%d false alarms in %d runs of what is right\n", alarms, rights
    }
    ' "$folder/table" | tee "$result"
