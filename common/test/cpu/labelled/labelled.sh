#!/bin/sh
# labelled.sh BUILD [--all] [GROUP...]: runs every labelled kernel, or those of GROUP.cu, under the hazard build, and prints a
# table. A mistake counts as found if a report names a line with its label: a race (race), an access out of bounds (bounds), an
# error between streams or with the host (host), or two writes of one value (equal, reported as a note). A false alarm is any
# hazard in a right kernel, except a note about equal values. --all: sizes 5, 33 and 200 in four orders; by default size 5.
# Exit status: 0 if all mistakes are found without a false alarm, 1 if not, 3 if the programs are missing.
. "$(dirname "$0")/../../lib.sh"
build=${1:?labelled.sh BUILD [--all] [GROUP...] [KERNEL...]} sizes=5 orders=forward
shift
if [ "${1:-}" = --all ]; then
    sizes="5 33 200" orders="forward reverse 1 2"
    shift
fi
sources=$(cd "$(dirname "$0")" && pwd) groups=""
while [ $# -gt 0 ] && [ -f "$sources/$1.cu" ]; do
    groups="$groups $1"
    shift
done
groups=${groups:-scopes blocks graphs streams patterns grids mixed types guards}

for group in $groups; do
    program=$build/hazards/labelled_$group
    [ -x "$program" ] || { echo "$program is missing. Type: cmake --build $build --target labelled" >&2; exit 3; }
    "$program" --list | sed "s/\$/ $group/"
done >"$folder/list"
for n in $sizes; do
    for order in $orders; do
        for group in $groups; do
            LAB_ORDER=$order
            export LAB_ORDER
            run "$build/hazards/labelled_$group" --each "$n"
            echo "::: $n $order $group"
            cat "$folder/err"
        done
    done
done >"$folder/said"
# Reads the labels in the sources first, then the list, then the reports.
for group in $groups; do sed "s|^|$group |" "$sources/$group.cu" | awk '{ print NR, $0 }'; done |
    awk '{ if ($2 != group) { group = $2; first = $1 - 1 } $1 -= first }
    match($0, /\/\/ (race|bounds|host|equal) /) {
        $0 = $1 " " $2 " " substr($0, RSTART + 3)
        for (i = 4; i <= NF; ++i) print $3, $i, $1
    }' >"$folder/labels"
awk -v hidden=" $* " '
    FILENAME ~ /labels$/ { line_of[$2, $3] = 1; next }
    FILENAME ~ /list$/ { label[$2] = $1; order[++names] = $2; group_of[$2] = $3; next }
    /^::: / { run = $2 " " $3; runs[++turns] = run; group = $4; if (seen[run]++) --turns; next }
    /^=== / { name = $2; came[run, name] = 1; hazard = note = 0; next }
    /^cudacpu: note: race, but of equal/ { note = 1; hazard = 0 }
    /^cudacpu: (hazard: |the host )/ { hazard = 1; note = 0; alarm[run, name] = 1 }
    /^cudacpu: hazards were found/ { name = "" }
    hazard || note {
        rest = $0
        if (match(rest, /^ *[0-9]+ \|/)) rest = group ".cu:" substr(rest, 1, RLENGTH) rest
        gsub(/\.cu: +/, ".cu:", rest)
        while (match(rest, group "\\.cu:[0-9]+")) {
            line = substr(rest, RSTART, RLENGTH)
            sub(/.*:/, "", line)
            meant = (name, line) in line_of && (label[name] == "equal") == note
            if (meant && !((run, name) in found)) found[run, name] = line
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    END {
        printf "%-32s %-7s line named, for each size and order\n", "kernel", "label"
        for (i = 1; i <= names; ++i) {
            name = order[i]; row = ""
            for (t = 1; t <= turns; ++t) {
                key = runs[t] SUBSEP name
                if (label[name] == "right") {
                    ++rights
                    bad = (key in alarm) || !(key in came)
                    alarms += bad
                    said = bad ? "ALARM" : "-"
                } else {
                    ++total
                    said = (key in found) ? found[key] : index(hidden, " " name " ") ? "hidden" : "MISSED"
                    if (label[name] == "equal" && (key in alarm)) said = "ALARM"
                    got += said ~ /^[0-9]|hidden/
                }
                row = row " " said
            }
            printf "%-32s %-7s%s\n", name, label[name], row
        }
        printf "\n%d of %d mistakes found, ", got, total
        printf "%d false alarms in %d runs of what is right\n", alarms, rights
        exit got != total || alarms > 0
    }' "$folder/labels" "$folder/list" "$folder/said"
