#!/bin/sh
# one.sh BUILD DEVICE NN [ARGUMENT...]: builds only sample NN (04), or program NN_name (a sequel), and runs it with the
# arguments. Then it runs further checks: few elements, odd sizes, other orders of the threads, races. On the CPU device the
# first run is stopped after $LIMIT seconds (default 300). Exit status: 0 if nothing is wrong, 1 if something is, 3 if no
# verdict is possible; otherwise the status of device.sh or of the build.
# one.sh --checks CPU_BINARY HAZARDS_BINARY [ARGUMENT...]: runs only the further checks, and prints what is wrong.
. "$(dirname "$0")/folder.sh"
cd "$top" || exit
log=$(mktemp) || exit 1
trap 'rm -f "$log" ${copy:+"$copy"}' EXIT
trap 'exit 130' HUP INT TERM

# understand ARGUMENT...: reads the user's arguments. Sets $options; $on_purpose, the wrong twin that is run; and $arguments,
# the arguments for the checks, quoted for a shell. They omit output files, because a check must not overwrite them.
understand() {
    list=$("$cpu" --list 2>/dev/null)
    arguments="" options=" " on_purpose="" option=""
    for word; do
        case $word in --*) option=${word%%=*} options="$options${word%%=*} " ;; esac
        [ "$option" != --wrong ] || on_purpose=${word#*=}
        echo "$list" | grep -qx -e "file $option" || arguments="$arguments $(words "$word")"
    done
}
typed() { case $options in *" $1 "*) ;; *) false ;; esac; }
has() { echo "$list" | grep -qE "^takes $1( |\$)"; }
fits() { # fits OPTION: the sample takes it, and the user has typed neither it nor what excludes it
    if [ "$1" = --n ] && has --width; then return 1; fi
    case $1 in --width | --height) ! typed --n || return 1 ;; esac
    has "$1" && ! typed "$1"
}

noted='(note: |notice: .* never freed)' # these are mistakes even if the results are right
# one ORDER BINARY OPTION VALUE...: a run that must end with status 0 and without a note. It uses the options that fit. Some
# variants allow only some options: if the sample rejects the command line, it runs without --only, or not at all.
one() {
    order=$1 binary=$2
    shift 2
    asked=$* given=""
    while [ $# -gt 0 ]; do
        if fits "$1"; then given="$given $1 $2"; fi
        shift 2
    done
    command="$(words "$binary")$given$arguments"
    for selected in "$quick" ""; do
        eval "LAB_ORDER=$order timeout 60 $command \$selected" </dev/null >"$log" 2>&1
        ended=$?
        [ $ended = 2 ] || break
    done
    [ "$order" = forward ] || command="LAB_ORDER=$order $command"
    case $ended in
    0) grep -qE "^cudacpu: $noted" "$log" || return 0 ;;
    2) return 0 ;;
    3) writable "$build" "${TMPDIR:-/tmp}" || exit 3 ;; # a CUDA call has failed, or the disk is full
    12[567]) no_verdict ;;
    124) echo "the program was stopped after a minute" >>"$log" ;;
    esac
    false
}
no_verdict() { # the command could not be run, which is not a mistake of the sample
    printf '\nNo verdict on %s: this command could not be run (exit status %s):\n  %s\n' "$name" $ended "$command"
    tail -4 "$log"
    exit 3
}
plain() {
    one forward "$cpu" --n 5003 --width 70 --height 37 --blocks 3 --repeats 3 || return
    for order in reverse 1; do
        one $order "$cpu" --n 5003 --width 70 --height 37 --blocks 3 || return
    done
    one forward "$cpu" --n 20011 --width 33 --height 257 --blocks 2 --threads 64 || return # blocks that loop,
    one 1 "$cpu" --n 5003 --width 80 --height 37 --blocks 4 --threads 1024 || return # the most warps per block,
    one reverse "$cpu" --n 20011 --width 33 --height 257 --blocks 40 --threads 32 || return # and more blocks than threads
    for n in 1 3 1000; do one reverse "$cpu" --n $n --width $n --height 17 --repeats 2 || return; done
    set -- $(echo "$list" | awk '$1 == "choice" { print $2, $NF }')
    if [ -z "$quick" ] || [ $# = 0 ]; then return; fi
    most=$quick quick="" # some variants are for some choices only
    one 1 "$cpu" --n 5003 "$@" || return
    shift 2
    for choice in $(echo "$list" | awk '$1 == "choice" { for (i = 3; i <= NF; ++i) print $2 "=" $i; exit }'); do
        for seed in 1 3; do # one element, below and above 0: is the initial value neutral?
            one reverse "$cpu" --n 1 --seed $seed "${choice%=*}" "${choice#*=}" "$@" || return
        done
    done
    quick=$most
}
races() {
    most=$quick quick=$all
    one forward "$hazards" --n 5003 --width 70 --height 37 || return
    quick=$most
    one 1 "$hazards" --n 5003 --width 70 --height 37 --blocks 3 &&
        one forward "$hazards" --n 3 --width 3 --height 5 --threads 64
}
# fewest: finds a wrong run with few elements, where a mistake is easiest to see; false if there is none
fewest() {
    fits --n || fits --width || return
    for n in 1 2 3 4 5 8 9 16 17 32 33 64 65 128 129 256 257 512 513 1024 1025; do
        one forward "$cpu" --n $n --width $n --height $n || return 0
    done
    false
}
# unseen_twins: prints the wrong twins that the sample's own check accepts, except those that its excused.txt allows to come
# out right. A check that accepts one may accept any mistake.
unseen_twins() {
    most=$quick typed=$arguments quick="" arguments=""
    for twin in $(echo "$list" | sed -n 's/^twin //p'); do
        if grep -qE "^twin $twin( |\$)" "$(folder_of "$name")/excused.txt" 2>/dev/null; then continue; fi
        if one forward "$cpu" --wrong "$twin" --n 5003 --width 70 --height 37; then echo "$twin: $command"; fi
    done
    quick=$most arguments=$typed
}
# reports WHICH: the reports in the log whose first line matches WHICH, each complete, in about 20 lines
reports() {
    awk '/^[^ ]/ { on = '"$1"'; reports += on }
        on { report[reports] = report[reports] $0 "\n"; ++lines[reports] }
        END {
            while (shown < reports && (!shown || of_all + lines[shown + 1] <= 20)) {
                of_all += lines[++shown]
                printf "%s", report[shown]
            }
            if (shown < reports) print "and " reports - shown " more; the command above shows them all"
        }' "$log"
}
# say TITLE: prints the command, and of its output the first complete reports, or else the first wrong row
say() {
    if [ $ended != 0 ]; then why=""; elif [ $wrong = 0 ]; then why=": $(note_in "$log" "$noted")"; fi
    wrong=1
    printf '\n%s:\n  %s\n' "$1" "$command"
    shown=$(reports '/^cudacpu: / && !/^cudacpu: (not|(hazards|bugs) were )/ || /^cudacpu: note: a barrier/')
    [ -n "$shown" ] || shown=$(reports '/^cudacpu: not/')
    if [ -z "$shown" ] && [ $right = 0 ] && [ "$command" != "${command#*"$hazards"}" ]; then
        shown="no race, no access out of bounds, no read of uninitialized memory: check what
is computed, the indices, the launches, and what the host does"
    fi
    [ -n "$shown" ] || shown=$(grep -m 1 -A 2 ' WRONG$' "$log")
    [ -n "$shown" ] || shown=$(grep -v '^ok$' "$log" | tail -4)
    echo "$shown"
}
checks() {
    quick="" all="" wrong=0 why=""
    if ! typed --only && ! typed --wrong; then # without the tutorial's whole program, which has its own sizes
        quick=$(echo "$list" | sed -n '/whole_program/d; s/^variant /--only /p')
        all=$quick # --only also omits rows outside the verdict, such as a race on purpose
        if echo "$list" | grep -qx 'variant whole_program'; then all="$quick --only whole_program"; fi
    fi
    right=1 failed=""
    [ $status = 0 ] || right=0
    if [ $right = 1 ] && ! plain; then
        right=0 failed=$asked failed_in=$order
        if [ $ended = 0 ]; then say "The results are right, but there is a mistake"; else say "Wrong with another size or another order of the threads"; fi
    fi
    if [ $right = 0 ] && ! grep -q '^cudacpu: ' "$log" && fewest; then say "With few elements"; fi
    if [ $right = 1 ] && ! typed --only && ! typed --wrong; then
        unseen=$(unseen_twins) || exit
        if [ -n "$unseen" ]; then
            wrong=1 why=""
            printf '\nThe check of the results accepts wrong twins:\n%s\n' "$(echo "$unseen" | sed 's/^/  /')"
            checked=$(grep -n '^// ---- check' "$file" | cut -d: -f1)
            echo "The check begins at $file:$checked"
        fi
    fi
    [ -x "$hazards" ] || return 0
    raced=yes
    ! races || raced=no
    if [ -n "$failed" ] && ! grep -q '^cudacpu: ' "$log" && ! one "$failed_in" "$hazards" $failed; then raced=yes; fi
    [ $raced = no ] || say "The hazard build reports"
}

# changed BEFORE SINCE: prints the lines of the sample that differ from the file BEFORE. The common start of two wide lines is
# left out, so that the difference is not cut off.
changed() {
    lines=$(diff --old-line-format='      - |  %L' --new-line-format='%7dn |  %L' --unchanged-line-format= "$1" "$file" |
        sed 's/|  */|  /')
    [ -n "$lines" ] || return 0
    printf '\nChanged since %s:\n' "$2"
    echo "$lines" | awk '
        function common(a, b,   n) { while (n < length(a) && substr(a, n + 1, 1) == substr(b, n + 1, 1)) ++n; return n }
        NR <= 8 { head[NR] = substr($0, 1, 11); code[NR] = substr($0, 12) }
        END {
            for (i = 1; i in code; ++i) {
                alike = 0
                for (k = 1; k in code; ++k) if (k != i && common(code[i], code[k]) > alike) alike = common(code[i], code[k])
                text = length(code[i]) > 69 && alike > 30 ? "..." substr(code[i], alike - 26) : code[i]
                print substr(head[i] text, 1, 80)
            }
            if (NR > 8) print "and " NR - 8 " more lines"
        }'
}
# not_right HOW: prints the verdict, and what the learner has changed since the sample was right
not_right() {
    if [ -n "$on_purpose" ]; then
        how="the mistake is shown above"
        [ $status != 0 ] || [ "${wrong:-1}" = 1 ] || how="none of these runs shows the mistake"
        ! grep -q '^cudacpu: hazard: race' "$log" || how="the lines that race are shown above"
        printf '\n%s\n' "${red}WRONG$usual: $on_purpose is wrong on purpose; $how."
        return
    fi
    if [ -f "$build/right/$source" ]; then changed "$build/right/$source" "it was right"
    elif git show "HEAD:./$file" >"$log" 2>/dev/null; then changed "$log" "the last commit"; fi
    echo
    echo "${red}WRONG$usual: $name$1, see above." | fold -s -w 80
    printf 'Correct %s, then type\n  make %s\n' "$source" "$number"
}

if [ "$1" = --checks ]; then
    cpu=$2 hazards=$3 name=${2##*/} status=0 build=$(dirname "$(dirname "$2")")
    file=$(folder_of "$name")/${name#*_}.cu
    shift 3
    understand "$@"
    checks
    exit $wrong
fi
build=$1 device=$2 number=$3
case $3 in *_*) name=$3 ;; *) name=$(folder_of "$3") ;; esac
shift 3
source=${name#*_}.cu file=$(folder_of "$name")/${name#*_}.cu
limited || exit
[ -f "$build/CMakeCache.txt" ] || sh common/tools/build.sh "$build" lab || exit
targets=""
[ ! -d "$build/CMakeFiles/cpu_$name.dir" ] || targets=$name
if [ "$device" != cpu ] && a_gpu_answers && [ -d "$build/CMakeFiles/gpu_$name.dir" ]; then targets="$targets gpu_$name"; fi
if [ -z "$targets" ]; then
    echo "$name cannot be built here. Type make doctor to see what is missing." >&2
    exit 3
fi
cpu=$build/cpu/$name hazards=$build/hazards/$name copy=$build/right/$source.$$
# The lock keeps two runs from checking each other's program. The copy is needed because the file may be edited meanwhile.
{ mkdir -p "$build/right" 2>/dev/null && alone "$build/right/$name.lock" "make $number" && cp "$file" "$copy"; } ||
    { writable "$build"; exit 3; }
echo "Building $name."
sh common/tools/build.sh "$build" $targets || {
    status=$?
    [ $status != 3 ] || exit 3
    not_right " was not built: correct the first error first"
    exit $status
}
chosen=$(sh common/tools/device.sh "$build" "$device") || exit
binary=$build/$(echo "$chosen" | head -1)/$name

if [ "$binary" = "$cpu" ]; then # on SIGQUIT the CPU device prints where it is
    timeout --foreground -s QUIT -k 5 "$limit" "$binary" "$@"
else
    "$binary" "$@"
fi
status=$?
understand "$@"
case $status in
0 | 1) ;;
2 | 77) exit $status ;; # a wrong command line, or no device: the program has printed it
3) [ "${arguments# }" = "$(words "$@")" ] || { quick="" && ! one forward "$binary"; } || exit 3 ;; # could a file not be written?
12[567]) ended=$status command=$(words "$binary" "$@") && no_verdict ;;
124 | 137) not_right " was stopped after $limit s" && exit 1 ;;
esac
case $status in 0 | 1) ;; *) not_right " ended with status $status" && exit $status ;; esac
wrong=0 why=""
[ ! -x "$cpu" ] || checks
if [ $status = 0 ] && [ $wrong = 0 ] && [ -z "$on_purpose" ]; then
    [ $# -gt 0 ] || mv "$copy" "$build/right/$source"
    said="on this device"
    [ ! -x "$cpu" ] || said="also with other sizes and thread orders"
    [ ! -x "$hazards" ] || said="$said; no races"
    echo
    echo "${green}RIGHT${usual}: $name, $said."
    echo "Next: change a line of $file, then type"
    echo "  make $number"
    exit 0
fi
not_right "$why"
exit 1
