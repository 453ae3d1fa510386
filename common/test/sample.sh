#!/bin/sh
# sample.sh GROUP BINARY: one group of a sample's tests, a line a case. What the sample takes, it says itself (--list).
# Exit status: 0 all as promised, 1 not, 77 no device to run on.
set -u
group=$1 binary=$2
device=$(basename "$(dirname "$binary")")
list=$("$binary" --list) || { echo "FAIL: $binary --list"; exit 1; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# attempt STATUS ARGUMENT...: the binary must end with one of the statuses (a pattern such as 2|3) within two minutes.
attempt() {
    wanted=$1
    shift
    timeout 120 "$binary" "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    if echo "$status" | grep -qxE "$wanted"; then
        echo "ok    status $status  $*"
        return 0
    fi
    echo "FAIL  status $status, wanted $wanted: $binary $*"
    sed 's/^/      | /' "$folder/out" "$folder/err" | tail -25
    failed=1
    return 1
}
must() { # must DESCRIPTION COMMAND...
    what=$1
    shift
    "$@" && return 0
    echo "FAIL  $what"
    sed 's/^/      | /' "$folder/out" "$folder/err" | tail -25
    failed=1
}
takes() { echo "$list" | grep -q "^takes $1\( \|\$\)"; }
words() { echo "$list" | sed -n "s/^$1 //p"; }
silent() { ! grep -q . "$folder/err"; }

timeout 120 "$binary" --only "$(words variant | head -1)" >"$folder/out" 2>"$folder/err"
if [ $? = 77 ]; then
    cat "$folder/err"
    exit 77
fi

small="" # for the slow builds and for many runs
takes --n && small="--n 5003"
takes --width && small="--width 70 --height 37"

case $group in
run)
    attempt 0 && must "no verdict on the last line" grep -q '^PASSED: ' "$folder/out" && must "something on stderr" silent
    for variant in $(words variant); do attempt 0 $small --only "$variant"; done
    attempt 0 $small --repeats 3 # a launch must leave everything ready for the next one,
    attempt 0 --n 3 --repeats 3  # and where numbers are small, rounding hides nothing
    attempt 0 --seed 7
    attempt 0 --help
    ;;
sizes)
    for n in 1 2 31 32 33 255 257 1000 65537 1000003; do attempt 0 --n $n; done
    if takes --width; then
        for size in "1 1" "1 100000" "1000 1" "15 17" "16 16" "33 257" "65536 17"; do
            attempt 0 --width ${size% *} --height ${size#* }
        done
    fi
    ;;
threads)
    for threads in $(words "takes --threads"); do
        attempt 0 --threads "$threads" --n 300007
        attempt 0 --threads "$threads" --n 1000
    done
    ;;
blocks)
    if takes --blocks; then
        for blocks in 1 3 1000; do
            attempt 0 --blocks $blocks --n 100003
            attempt 0 --blocks $blocks --n 257
        done
    fi
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
    for line in $lines; do
        attempt 0 $small $(echo "$line" | tr ',' ' ' | cut -s -d' ' -f2-)
    done
    for flag in --addresses --sweep; do # more words, more sizes
        takes $flag && attempt 0 $flag --n 5003
    done
    ;;
orders) # the CPU device runs the threads and blocks in the order asked for
    for order in forward reverse 1 2 3; do
        LAB_ORDER=$order
        export LAB_ORDER
        attempt 0 $small && echo "      with LAB_ORDER=$order"
    done
    ;;
twins)
    for twin in $(words twin); do
        case $device in
        gpu) # a race may come out right by luck
            attempt '0|1' --wrong "$twin"
            grep -hE '^(FAILED|PASSED)' "$folder/out" | sed 's/^/      /'
            ;;
        hazards) attempt 1 $small --wrong "$twin" ;;
        *) # a missing atomic shows only where threads are preempted
            timeout 120 "$binary" --wrong "$twin" >"$folder/out" 2>"$folder/err"
            if [ $? = 1 ]; then
                must "no FAILED line for $twin" grep -q '^FAILED: ' "$folder/out" && echo "ok    status 1  --wrong $twin"
            elif grep -q '^PASSED, by luck' "$folder/out"; then
                echo "ok    needs preemption: --wrong $twin, see the hazard build"
            else
                must "--wrong $twin" false
            fi
            ;;
        esac
    done
    ;;
right) # no false alarm, no error; a race that a plain run shows on purpose is no variant
    for order in forward 1; do
        LAB_ORDER=$order
        export LAB_ORDER
        for variant in $(words variant); do
            attempt 0 $small --only "$variant" && must "something on stderr" silent
            # several blocks, where a small input fills only one; and next to no input
            takes --blocks && attempt 0 $small --blocks 3 --only "$variant" && must "something on stderr" silent
            takes --width || { attempt 0 --n 3 --only "$variant" && must "something on stderr" silent; }
        done
    done
    ;;
refusals)
    refuse() { # refuse [-3] ARGUMENT...
        wanted=2
        [ "$1" = -3 ] && wanted=3 && shift
        attempt $wanted "$@" || return
        must "no word on what to type" grep -qi 'type ' "$folder/err"
        must "a verdict or a row in spite of a refusal" test -z "$(grep -E '^(PASSED|FAILED)| verdict$' "$folder/out")"
    }
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
    refuse --only "$(words variant | head -1)" --wrong "$(words twin | head -1)"
    for n in 0 -1 abc '' 1.5 99999999999999999999 1125899906842624; do refuse --n "$n"; done
    if takes --threads; then
        for threads in 0 48 2048 x; do refuse --threads $threads; done
        for variant in $("$binary" --threads 1 $small | sed -n '/^left out/{s/.*--threads: //;s/([^)]*)//g;s/[,;]/ /g;p;}'); do
            refuse --threads 1 --only "$variant"
        done
    fi
    if takes --blocks; then for blocks in 0 -1 x 99999999999; do refuse --blocks $blocks; done; fi
    takes --type && refuse --op max $(words variant | sed 's/^/--only /') # some only sum
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
        refuse --n 33554433
        refuse --repeats 1000
        if takes --blocks; then refuse --blocks 2147483647; fi
        if takes --width; then refuse --width 6000; fi
        if takes --sweep; then refuse --sweep --n 33554433; fi
    fi
    must "files left behind" test "$(ls "$folder" | tr '\n' ' ')" = "err out "
    ;;
*)
    echo "sample.sh: no group '$group'" >&2
    exit 2
    ;;
esac
exit $failed
