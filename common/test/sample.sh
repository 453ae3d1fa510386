#!/bin/sh
# sample.sh GROUP BINARY: runs one group of a sample's tests, and prints a line for each case. The sample lists its options and
# variants itself (--list). Exit status: 0 if all cases pass, 1 if not, 77 if there is no device to run on.
. "$(dirname "$0")/lib.sh"
group=$1
sample "$2"

# While other tests use the GPU, its times never become steady, so each kernel runs once. A run without options is unchanged.
few() { case "$device $*" in *--repeats* | *--help*) ;; gpu\ ?*) echo --repeats 1 ;; esac; }
passes() { ends 0 "$binary" "$@" $(few "$@"); } # passes ARGUMENT...
# Runs the rungs without whole_program, which is the slowest and has its own sizes. If a rung is rejected (few threads), runs
# all variants, of which the sample leaves out some.
each_rung() {
    run "$binary" $rungs "$@" $(few "$@")
    if [ $status = 2 ] && [ "$rungs" ]; then passes "$@"; elif [ $status = 0 ]; then ok "status 0  $binary $*"; else fail "status $status, wanted 0: $binary $*"; fi
}
# need_warps: prints the variants that a run with few threads leaves out, one a line
need_warps() {
    "$binary" --threads 1 $small | sed -n '/^left out/,/^[^ l]/p' | sed '/^[^ l]/d' | tr '\n' ' ' |
        sed 's/.*--threads: //; s/([^)]*)//g' | tr -s ',; ' '\n'
}
quiet() { if grep -q . "$folder/err"; then fail "something on stderr"; fi; }
refuse() { # refuse [-3] ARGUMENT...
    refusal=2
    [ "$1" = -3 ] && refusal=3 && shift
    ends $refusal "$binary" "$@" || return
    # Non-ASCII letters and the program's path are removed first: lab_test counts their columns, with paths of any length.
    bad=$(folder=$folder LC_ALL=C awk '
        said && tolower($0) ~ /type / || /^Type$/ { typed = 1 }
        said && /^Type/ { said = 0 }
        said {
            if (at = index($0, ENVIRON["folder"])) $0 = substr($0, 1, at - 1) substr($0, at + length(ENVIRON["folder"]))
            gsub(/[^ -~]/, "")
            wide = length($0)
            for (i = 1; i <= NF; ++i) if (length($i) > 76) wide -= length($i)
        }
        said && wide > 80 { print "more than 80 columns" }
        !said && /^(PASSED|FAILED)| verdict$/ { print "a verdict or a row in spite of a refusal" }
        END { if (!typed) print "no word on what to type" }' said=1 "$folder/err" said=0 "$folder/out")
    [ -z "$bad" ] || fail "$bad"
}
# Runs the sample with each option that the refusal advises, instead of the rejected one. The option is accepted if the
# program still runs after a fifth of a second, because a refusal comes at once.
advised() { # advised ARGUMENT...
    refuse "$@"
    tr '\n' ' ' <"$folder/err" | sed 's/  */ /g; s/, or use a GPU.*//; s/ Type .*//; s/ or less//g; s/.*; type //; s/, or /\n/g' >"$folder/advice"
    while read -r advice || [ "$advice" ]; do
        line=$(printf '%s ' "$@")
        for option in $(echo "$advice" | grep -oE -- '--[a-z]+'); do line=$(echo "$line" | sed "s/$option [^ ]* *//"); done
        advice=$(echo "$advice" | sed "s/--only one variant/--only $(words variant | tail -1)/; s/ and / /g")
        ends '0|1|124' timeout 0.2 "$binary" $line $advice </dev/null
    done <"$folder/advice"
    [ -s "$folder/advice" ] || fail "no advice"
    rm -f "$folder/advice"
}

# The CPU device is much slower than a GPU, so only its slow groups, NAME_more, run the larger sizes.
case $group.$device in
*_more.* | *.gpu) most=1000003 more=100003 grid=1000 ;;
*) most=100003 more=20011 grid=300 ;;
esac

case $group in
run)
    passes
    must "the verdict is on the last line, and nothing on stderr" \
        test "$(tail -1 "$folder/out" | cut -c1-8)$(cat "$folder/err")" = "PASSED: "
    for variant in $(words variant); do passes $small --only "$variant"; done
    each_rung $small --repeats 3 # a launch must leave everything ready for the next one
    each_rung --n 3 --repeats 3  # sums of few numbers: rounding hides no error
    each_rung $small --seed 7
    passes --help
    ;;
sizes | sizes_more)
    numbers="1 2 31 32 33 255 257 1000 65537 $most"
    if takes --width; then
        numbers="1 257 65537"
        for size in "1 1" "1 100000" "1000 1" "15 17" "16 16" "33 257" "65536 17"; do
            each_rung --width ${size% *} --height ${size#* }
        done
    fi
    for n in $numbers; do each_rung --n $n; done
    ;;
threads | threads_more)
    takes --threads || finish
    every=$rungs for_few=$(echo "$rungs" | grep -vxF -e "$(need_warps | sed 's/^/--only /'; echo .)")
    for threads in $(words "takes --threads"); do
        rungs=$every
        [ "$threads" -ge 32 ] || rungs=$for_few
        for n in $more 1000; do each_rung --threads "$threads" --n $n; done
    done
    ;;
blocks | blocks_more)
    takes --blocks || finish
    for blocks in 1 3 $grid; do
        for n in $more 257; do each_rung --blocks $blocks --n $n; done
    done
    # more working blocks than the threads of one block that add their results
    if takes --threads; then each_rung --blocks $grid --threads 64 --n $((grid * 1100 + 3)); fi
    if [ "$group" = blocks_more ]; then each_rung --blocks 1000 --n 4300003; fi
    ;;
options) # all combinations of the choices of the sample's own options
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
orders) # the CPU device runs threads and blocks in the order of LAB_ORDER
    for LAB_ORDER in reverse 1 2 3; do # the other groups run forward
        export LAB_ORDER
        passes $small
    done
    ;;
twins)
    for twin in $(words twin); do
        case $device in
        gpu) ends '0|1' "$binary" --wrong "$twin" --repeats 1 ;; # a race may come out right by luck
        hazards) ends 1 "$binary" $small --wrong "$twin" ;;
        *) # no thread is preempted here, so the twins that excused.txt names may come out right
            if excused twin "$twin"; then
                ends '0|1' "$binary" --wrong "$twin"
            else
                ends 1 "$binary" --wrong "$twin"
            fi
            ;;
        esac
        says '^(FAILED: .{1,72}|PASSED, by luck: .{1,63})$' || fail "no verdict on $twin, or one of more than 80 columns"
    done
    ;;
right) # no false alarm and no error; a program that races on purpose is a twin, not a variant
    for variant in $(words variant); do
        LAB_ORDER=forward
        export LAB_ORDER
        passes $small --only "$variant" && quiet
        if [ "$variant" = whole_program ]; then continue; fi # it has its own sizes, and is slow
        # several blocks, even though a small input fills only one; and a tiny input
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
    refuse --trace x.html && must "it says which build takes it" grep -q "build/hazards/$name" "$folder/err"
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
    for n in 0 -1 abc '' 1.5 1e-3 2^; do refuse --n "$n"; done
    for n in 0 99999999999999999999 1e11 1125899906842624; do advised --n "$n"; done
    must "1e3, 2^10 and 1.5e3 are numbers" \
        test "$(for n in 1e3 2^10 1.5e3; do "$binary" --n $n --only "$(words variant | tail -1)" >/dev/null && echo $n; done | wc -l)" = 3
    variant=$(words variant | tail -1)
    refuse --only "${variant}x"
    must "what is nearly right is named" grep -q "did.*" "$folder/err"
    if takes --threads; then
        for threads in 0 48 2048 x; do refuse --threads $threads; done
        advised --threads 48
        for variant in $(need_warps); do refuse --threads 1 --only "$variant"; done
    fi
    if takes --blocks; then for blocks in 0 -1 x 99999999999; do refuse --blocks $blocks; done; fi
    if takes --type; then refuse --op max $(words variant | sed 's/^/--only /'); fi # some variants only sum
    if takes --out; then
        refuse -3 --out "$folder/none/x.png"
        refuse -3 --out "$folder"
        refuse --out ''
        refuse --out "$folder/x.png" --csv "$folder/x.png"
        refuse --out "$folder/picture.nonsense"
    fi
    if takes --width; then
        for width in 0 -1 x; do refuse --width "$width"; done
        for width in 999999999999 99999999 2^20; do advised --width $width; done
    fi
    for option in $(words choice | cut -d' ' -f1); do refuse "$option" nonsense; done
    if [ "$device" != gpu ]; then # runs that would look like a hang
        advised --n 167772161
        advised --repeats 2000
        advised --repeats 999999999
        advised --repeats 500 --n 5e6
        if takes --blocks; then advised --blocks 2147483647 && advised --blocks 99999999999; fi
        if takes --width; then advised --width 15000; fi
        if takes --sweep; then advised --sweep --n 167772161; fi
    fi
    must "no file is left behind" test "$(ls "$folder" | tr '\n' ' ')" = "err out "
    ;;
*)
    echo "sample.sh: no group '$group'" >&2
    exit 2
    ;;
esac
finish
