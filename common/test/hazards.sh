#!/bin/sh
# hazards.sh BUILD [JOBS]: runs every variant and every wrong twin of every sample under every detector of the CPU device, and
# prints one table. The detectors are the plain build in other orders of threads, AddressSanitizer, and the hazard build. Only
# the hazard build interrupts threads. Exit status: 0 if every detector finds every variant clean and at least one finds each
# twin, 1 if not, 3 if a build is missing.
. "$(dirname "$0")/lib.sh"
build=${1:?hazards.sh BUILD [JOBS]} jobs=${2:-$(nproc 2>/dev/null || echo 2)}
samples=$(cd "$build/cpu" 2>/dev/null && ls -d [0-9]* 2>/dev/null)
if [ -z "$samples" ]; then
    echo "There is no CPU device in $build/cpu. Type make doctor to see what is missing." >&2
    exit 3
fi

# try ORDER BINARY ARGUMENT...: one run. Sets $cell to the result of the first run that is not clean, and $found to the
# place that its first report names. Any text on stderr counts as a report, even if the result is right.
try() {
    LAB_ORDER=$1
    export LAB_ORDER
    shift
    run "$@"
    if [ $status = 0 ] && [ ! -s "$folder/err" ]; then return; fi
    said="status $status"
    if [ $status = 1 ] && grep -q '^FAILED: ' "$folder/out"; then said=wrong; fi
    if [ $status -le 1 ] && [ -s "$folder/err" ]; then said=report; fi
    if [ "$cell" = clean ]; then cell=$said; fi
    # The accesses that a report names come first, then other lines, such as the allocation.
    place=$( (grep -A 1 -E 'in kernel |runtime error' "$folder/err"; cat "$folder/err") | grep -oE '[A-Za-z0-9_]+\.cuh?:[0-9]+' |
        head -1)
    case $found in - | missed | "wrong result") found=${place:-wrong result} ;; esac
}

if [ "${3:-}" = --row ]; then # runs one kernel: hazards.sh BUILD JOBS --row FILE SAMPLE variant|twin NAME
    part=$parts/$4 kind=$6 kernel=$7 option=--only clean=ok row="" found=-
    sample "$build/cpu/$5"
    [ "$kind" = twin ] && option=--wrong clean=missed found=missed
    for column in forward reverse seeds asan hazards; do
        cell=clean
        case $column in
        seeds) for seed in 1 2 3; do try $seed "$binary" $small $option "$kernel"; done ;;
        asan | hazards) try forward "$build/$column/$name" $small $option "$kernel" ;;
        *) try $column "$binary" $small $option "$kernel" ;;
        esac
        [ "$cell" = clean ] && cell=$clean
        row="$row|$cell"
    done
    [ "$kind" = twin ] && kernel="$kernel (twin)"
    echo "$name: $kernel$row|$found" >"$part"
    [ -t 2 ] && printf '\r%s kernels done ' "$(ls "$(dirname "$part")" | grep -cv '\.')" >&2
    exit 0
fi

for sample in $samples; do
    for kind in asan hazards; do
        [ -x "$build/$kind/$sample" ] && continue
        echo "$build/$kind/$sample is missing. Type: make hazards" >&2
        exit 3
    done
done
for sample in $samples; do
    "$build/cpu/$sample" --list | grep -E '^(variant|twin) ' | awk -v sample="$sample" \
        '{ print sample "-" 100 + NR, sample, $1, $2 }'
    (sample "$build/cpu/$sample" && echo "$name|$small") >>"$folder/sizes.txt"
done >"$folder/list.txt"
kernels=$(wc -l <"$folder/list.txt")
[ -t 2 ] || echo "$kernels kernels, 7 runs each" >&2
parts=$folder xargs -L 1 -P "$jobs" sh "$0" "$build" "$jobs" --row <"$folder/list.txt"
[ -t 2 ] && printf '\r%40s\r' "" >&2

cat "$folder/sizes.txt" "$folder"/[0-9]* | awk -F'|' -v kernels="$kernels" -v build="$build" '
    BEGIN { split("kernel|forward|reverse|seeds|asan|hazards|found", header); for (c in header) see(c, header[c]) }
    function see(c, text) { if (length(text) > width[c]) width[c] = length(text) }
    function line(cells,   c) {
        for (c = 1; c < 7; ++c) printf "%-*s  ", width[c], cells[c]
        print cells[7]
    }
    # The command that reproduces it. It takes the last unexpected column, because the hazard build reports most.
    function command(c,   binary, order) {
        sub(/ \(twin\)$/, "", name[2])
        binary = build "/" (c > 4 ? header[c] : "cpu") "/" name[1]
        order = c == 3 ? "LAB_ORDER=reverse " : c == 4 ? "LAB_ORDER=1 " : ""
        return order binary (size[name[1]] ? " " size[name[1]] : "") (twin ? " --wrong " : " --only ") name[2]
    }
    NF == 2 { size[$1] = $2; next }
    {
        ++rows
        said = ""
        twin = $1 ~ / \(twin\)$/
        caught = 0
        split($1, name, ": ")
        of[rows] = name[1]
        for (c = 1; c <= 7; ++c) {
            cell = c == 1 ? "  " name[2] : $c
            if (c == 7 && index(cell, substr(name[1], 4) ".cu:") == 1) sub(/^[^:]*/, "", cell)  # leave out the name of the program itself
            table[rows, c] = cell
            see(c, cell)
        }
        for (c = 2; c <= 6; ++c) {
            if (!twin && $c != "ok") { said = said (said ? ", " : "") header[c] " says " $c; shows = command(c) }
            if ($c != "missed") caught = 1
        }
        if (twin && !caught) { said = "a wrong twin, and nothing finds it"; shows = command(6) }
        if (said) odd[++odds] = sprintf("%-62s # %s%s", shows, said, !twin && $7 ~ /:/ ? ": " $7 : "")
        twin ? ++twins : ++variants
    }
    END {
        line(header)
        for (r = 1; r <= rows; ++r) {
            if (of[r] != of[r - 1]) print of[r]
            for (c = 1; c <= 7; ++c) cells[c] = table[r, c]
            line(cells)
        }
        print "\nok        a variant is right, and nothing is reported"
        print "missed    a wrong twin is not noticed"
        print "wrong     the result is wrong"
        print "report    a detector reports it; the last column has the place"
        print "status N  the program ended with another exit status"
        print "-         a variant has nothing to find"
        print "The seeds are three random orders of the threads. forward, reverse and seeds\n" \
            "never interrupt a thread: only hazards shows a lost update."
        if (rows != kernels) odd[++odds] = "only " rows + 0 " of " kernels " kernels were run"
        printf "\n%d variants, %d wrong twins: %s\n", variants, twins, odds ? "not as expected" : "as expected"
        for (o = 1; o <= odds && o <= 30; ++o) print odd[o]
        if (odds > 30) print "... and " odds - 30 " more"
        exit odds != 0
    }'
