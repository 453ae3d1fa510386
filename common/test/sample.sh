#!/bin/sh
# sample.sh GROUP BINARY: one group of a sample's tests, a line a case. What the sample takes, it says itself (--list).
# Exit status: 0 all as promised, 1 not, 77 no device to run on.
. "$(dirname "$0")/lib.sh"
group=$1
sample "$2"
needs_device

passes() { ends 0 "$binary" "$@"; } # passes ARGUMENT...
# Many sizes do not change whole_program, which takes the longest. Where a rung is left out (few threads), all that is left runs.
each_rung() {
    run "$binary" $rungs "$@"
    if [ $status = 2 ] && [ "$rungs" ]; then passes "$@"; elif [ $status = 0 ]; then ok "status 0  $binary $*"; else fail "status $status, wanted 0: $binary $*"; fi
}
quiet() { if grep -q . "$folder/err"; then fail "something on stderr"; fi; }
refuse() { # refuse [-3] ARGUMENT...
    refusal=2
    [ "$1" = -3 ] && refusal=3 && shift
    ends $refusal "$binary" "$@" || return
    grep -qi 'type ' "$folder/err" || fail "no word on what to type"
    ! grep -qE '^(PASSED|FAILED)| verdict$' "$folder/out" || fail "a verdict or a row in spite of a refusal"
}

case $group in
run)
    passes
    must "the verdict is on the last line, and nothing on stderr" \
        test "$(tail -1 "$folder/out" | cut -c1-8)$(cat "$folder/err")" = "PASSED: "
    for variant in $(words variant); do passes $small --only "$variant"; done
    passes $small --repeats 3 # a launch must leave everything ready for the next one,
    passes --n 3 --repeats 3  # and where numbers are small, rounding hides nothing
    passes $small --seed 7
    passes --help
    ;;
sizes)
    numbers="1 2 31 32 33 255 257 1000 65537 1000003"
    if takes --width; then
        numbers="1 257 65537"
        for size in "1 1" "1 100000" "1000 1" "15 17" "16 16" "33 257" "65536 17"; do
            each_rung --width ${size% *} --height ${size#* }
        done
    fi
    for n in $numbers; do each_rung --n $n; done
    ;;
threads)
    for threads in $(words "takes --threads"); do
        for n in 100003 1000; do each_rung --threads "$threads" --n $n; done
    done
    ;;
blocks)
    takes --blocks || finish
    for blocks in 1 3 1000; do
        for n in 100003 257; do each_rung --blocks $blocks --n $n; done
    done
    # more blocks with work than a block has threads to add their results: of few threads here, of any number below
    if takes --threads; then each_rung --blocks 1000 --threads 64 --n 1100003; fi
    ;;
blocks_more)
    takes --blocks || finish
    each_rung --blocks 1000 --n 4300003
    ;;
options) # every choice of every option of the sample's own, each with each
    lines="x"
    for option in $(words choice | cut -d' ' -f1); do
        more=""
        for line in $lines; do
            for value in $(words "choice $option"); do more="$more $line,$option,$value"; done
        done
        lines=$more
    done
    for line in $lines; do each_rung $small $(echo "$line" | tr ',' ' ' | cut -s -d' ' -f2-); done
    if takes --sweep; then passes --sweep --n 5003; fi # more sizes
    ;;
orders) # the CPU device runs the threads and blocks in the order asked for
    for LAB_ORDER in forward reverse 1 2 3; do
        export LAB_ORDER
        passes $small
    done
    ;;
twins)
    for twin in $(words twin); do
        case $device in
        gpu) ends '0|1' "$binary" --wrong "$twin" ;; # a race may come out right by luck
        hazards) ends 1 "$binary" $small --wrong "$twin" ;;
        *) # so it may here, where no thread is preempted, but only those that the sample's folder names
            if excused twin "$twin"; then
                ends '0|1' "$binary" --wrong "$twin"
            else
                ends 1 "$binary" --wrong "$twin"
            fi
            ;;
        esac
        says '^(FAILED: |PASSED, by luck)' || fail "no verdict on $twin"
    done
    ;;
right) # no false alarm, no error; a race that a plain run shows on purpose is no variant
    for variant in $(words variant); do
        LAB_ORDER=forward
        export LAB_ORDER
        passes $small --only "$variant" && quiet
        if [ "$variant" = whole_program ]; then continue; fi # it has its own sizes, and takes long
        # several blocks, where a small input fills only one; and next to no input
        if takes --blocks; then passes $small --blocks 3 --only "$variant" && quiet; fi
        if ! takes --width; then passes --n 3 --only "$variant" && quiet; fi
        LAB_ORDER=1
        if [ "$device" = hazards ]; then passes $small --only "$variant" && quiet; fi
    done
    ;;
refusals)
    refuse --nonsense
    refuse stray
    refuse --only nonsense
    refuse --wrong nonsense
    refuse --seed -1
    refuse --seed x
    refuse --repeats 0
    refuse --only
    refuse --csv ''
    refuse --csv --warm
    refuse -3 --csv "$folder"
    refuse -3 --csv "$folder/none/x.csv"
    refuse -3 --csv /proc/x.csv
    refuse --warm=no
    refuse --seed 1 --seed 1
    refuse --seed= 1
    twin=$(words twin | head -1)
    if [ "$twin" ]; then refuse --only "$(words variant | head -1)" --wrong "$twin"; fi
    for n in 0 -1 abc '' 1.5 99999999999999999999 1125899906842624; do refuse --n "$n"; done
    if takes --threads; then
        for threads in 0 48 2048 x; do refuse --threads $threads; done
        for variant in $("$binary" --threads 1 $small | sed -n '/^left out/{s/.*--threads: //;s/([^)]*)//g;s/[,;]/ /g;p;}'); do
            refuse --threads 1 --only "$variant"
        done
    fi
    if takes --blocks; then for blocks in 0 -1 x 99999999999; do refuse --blocks $blocks; done; fi
    if takes --type; then refuse --op max $(words variant | sed 's/^/--only /'); fi # some only sum
    if takes --out; then
        refuse -3 --out "$folder/none/x.png"
        refuse -3 --out "$folder"
        refuse --out ''
        refuse --out "$folder/x.png" --csv "$folder/x.png"
        refuse --out "$folder/picture.nonsense"
    fi
    if takes --width; then for width in 0 -1 x 999999999999; do refuse --width "$width"; done; fi
    for option in $(words choice | cut -d' ' -f1); do refuse "$option" nonsense; done
    if [ "$device" != gpu ]; then # what would look like a hang
        refuse --n 167772161
        refuse --repeats 2000
        if takes --blocks; then refuse --blocks 2147483647; fi
        if takes --width; then refuse --width 6000; fi
        if takes --sweep; then refuse --sweep --n 167772161; fi
    fi
    must "no file is left behind" test "$(ls "$folder" | tr '\n' ' ')" = "err out "
    ;;
*)
    echo "sample.sh: no group '$group'" >&2
    exit 2
    ;;
esac
finish
