#!/bin/sh
# try.sh BUILD FILE [ARGUMENT...]: compiles any .cu file for the CPU device, plain and as a hazard build, runs both with the
# arguments in the file's folder, and prints a verdict. If this takes less than ten seconds, it also runs two other orders of the
# threads. All runs read the same input as the first. FILE may be several files, in one word. $FLAGS are further options for
# cudacpu; a relative folder in them starts at the file's folder. A run is stopped after $LIMIT seconds (default 300).
# Exit status: 0 if all runs end with 0, 1 if a run does not or if the file does not compile, 2 if the file cannot be tried, 3 if
# the CPU device is missing or the build folder cannot be written.
build=$1 files=$2
shift 2
. "$(dirname "$0")/folder.sh"
cd "$top" || exit
tools=$PWD/common/tools
if [ -z "$files" ]; then
    echo "Which file? Type make try FILE=path/to/yours.cu (ARGS=\"...\" for its arguments)" >&2
    exit 2
fi
newline='
'
refuse() {
    echo "$*" | fold -s -w 80 >&2
    exit 2
}
# A name ends with .cu (or .cpp, .cc, .c) before a blank. The name of a single file may contain blanks.
[ -f "$files" ] || files=$(printf '%s' "$files" | sed -E 's/^[[:space:]]+//; s/(\.(cu|cpp|cc|c))[[:space:]]+/\1\n/g')
set -f
IFS=$newline
for file in $files; do
    case $file in *.cu | *.cpp | *.cc | *.c) ;; *) refuse "'$file' is not a .cu file; type make try FILE=path/to/yours.cu" ;; esac
    [ ! -d "$file" ] || refuse "'$file' is a folder; type make try FILE=path/to/yours.cu"
    [ -f "$file" ] && [ -r "$file" ] || refuse "There is no readable file '$file' (relative to $PWD)"
    LC_ALL=C tr -d '\000' <"$file" | cmp -s -- - "$file" || refuse "'$file' contains null bytes (UTF-16?): save it as UTF-8"
    if [ ! -f "$(dirname -- "$file")/exercise.cuh" ] && grep -q '^ *# *include *"exercise.cuh"' <"$file"; then
        refuse "'$(basename -- "$file")' is an exercise: type make learn EX=$(sed -n '1s,^// \([0-9.]*\) .*,\1,p' <"$file")"
    fi
done
limited || exit
sh common/tools/build.sh "$build" lab || exit
if [ ! -f "$build/cpu/cudacpu" ]; then
    echo "The CPU device is missing. Type make doctor to see why." >&2
    exit 3
fi
sh common/tools/build.sh "$build" cudacpu_plain cudacpu_hazards plain_precompiled hazards_precompiled || exit

# In the file's own folder, messages show short paths, and the program finds its data files.
first=${files%%$newline*} common=common
folder=$(cd -- "$(dirname -- "$first")" && pwd) || exit
name=$(basename -- "$first") own=$build/try/$name.$(printf '%s' "$folder" | cksum | cut -d' ' -f1)
# Files with the same name in different folders have separate programs. Runs of one file wait for each other.
{ mkdir -p "$own" 2>/dev/null && alone "$own/$name.lock" "make try of $name"; } || { writable "$own"; exit 3; }
own=$(cd "$own" && pwd)
if [ "$folder" != "$PWD" ]; then
    build=$(cd "$build" && pwd) common=$PWD/common given=$files files=""
    for file in $given; do
        of=$(cd -- "$(dirname -- "$file")" && pwd)/
        [ "$of" != "$folder/" ] || of=""
        files="$files${files:+$newline}$of$(basename -- "$file")"
    done
    cd "$folder" || exit
    echo "\$ cd $(words "$folder")"
else
    own=${own#"$folder/"}
fi
files=$(echo "$files" | sed 's,^-,./-,')

# The options that a copy of a sample needs. A header with this name in the file's folder comes first.
more=""
if grep -qE '^ *# *include *["<](error|lab)\.cuh' $files; then more="-I$common$newline$build/liblab.a$newline"; fi
more="$more$(sh "$tools/words.sh" FLAGS printf '%s\n')" || exit
[ -z "$more" ] || more=$more$newline
window=""
if grep -qE '^ *# *include *["<]opencv2/' $files; then
    more="$more-isystem$newline/usr/include/opencv4$newline-lopencv_core$newline-lopencv_imgcodecs$newline"
    if grep -qE '\<(imshow|namedWindow) *\(' $files; then
        more="$more-lopencv_highgui$newline"
        [ "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || window=none
    fi
fi
# Headers that the tutorials' programs include. A header of the user comes first.
if cat $files ./*.h ./*.cuh 2>/dev/null | grep -qE '^ *# *include *["<](book|helper_cuda|helper_functions|CudaAllocator|ticktock)\.h'; then
    more="$more-idirafter$newline$common/tutorials$newline"
fi
compile() { # compile [--hazards]
    echo "\$ $(words "$build/cpu/cudacpu" $files $more -o "$program" "$@")"
    # The errors of g++ about a kernel in a .cpp file are of no help, so they are hidden.
    host=$(grep -lE '^[^/]*(__global__|<<<)' $files | grep -v '\.cu$' | head -1)
    if [ -z "$host" ]; then
        "$build/cpu/cudacpu" $files $more -o "$program" "$@" 9>&- && return
    else
        "$build/cpu/cudacpu" $files $more -o "$program" "$@" 9>&- 2>/dev/null && return
    fi
    writable "$own" "${TMPDIR:-/tmp}" || exit 3
    [ -z "$host" ] || refuse "'$host' contains a kernel: rename it to $(basename "${host%.*}").cu"
    echo
    echo "WRONG: $(words $files) does not compile for the CPU device."
    grep -qw main $files || echo "It has no main(): a kernel needs a program that launches it."
    members $files
    echo "Correct the first error first. This page lists what the CPU device supports:"
    echo "$common/cpu/README.md"
    exit 1
}
name=${name%.*} wrong="" started=$(date +%s) before="" noted="" input=$own/$name.stdin keep=$own/$name.stdin
undefined='note: (a barrier that|.* names lanes that|.* takes the value of lane)' # undefined in CUDA
run() { # shows a run. If it does not end with status 0, $wrong receives how it ended
    with="" how="exit status 0"
    [ -z "$order" ] || with=" with LAB_ORDER=$order"
    [ $kind = plain ] || with=" with --hazards"
    echo "\$ ${order:+LAB_ORDER=$order }$(words "$program" "$@")"
    watched "$@"
    ended=$?
    echo
    if grep -q '^stdbuf: failed to run' "$out.err"; then
        echo "No verdict: the program could not be run." >&2
        exit 3
    fi
    case $ended in 0) ;; 124) how="stopped after $limit seconds" ;; *) how="exit status $ended" ;; esac
    if [ "$wrong" = "$how" ]; then wrong="$how, also$with"
    elif [ "$wrong" ] || [ $ended != 0 ]; then wrong="$wrong${wrong:+; }$how$with"; fi
    [ "$noted" ] || noted=$(note_in "$out.err" "$undefined")
    before=$out
}
watched() {
    out=$program${order:+.$order}.out
    [ "$keep" ] || exec <"$input"
    LAB_ORDER=${order:-forward} perl "$tools/watched.pl" "$limit" "$out" "$before" "$keep" "$program" "$@" 9>&-
    set -- $?
    keep=""
    return $1
}

(: <&0) 2>/dev/null || exec </dev/null
if [ -f /dev/stdin ]; then cat >"$input" && keep=""; fi
order="" errors=""
for kind in plain hazards; do
    program=$own/$name
    [ $kind = plain ] || program=${program}_hazards
    if [ $kind = plain ]; then compile; else compile --hazards; fi
    run "$@"
    errors="$errors$out.err$newline"
    [ $ended != 124 ] || break
done
orders=""
if [ -z "$wrong$noted" ] && [ $(($(date +%s) - started)) -lt 10 ]; then
    kind=plain program=$own/$name orders=" in three orders of its threads"
    for order in reverse 1; do
        { watched "$@" >/dev/null 2>&1 && [ -z "$(note_in "$out.err" "$undefined")" ]; } || [ "$wrong$noted" ] || run "$@"
    done
fi
if [ -z "$wrong$noted" ]; then
    races="there are no races"
    also=$(cat $errors | grep -c 'cudacpu: note: ')
    [ "$also" = 0 ] || races="the CPU device reports nothing except the note above"
    echo "RIGHT so far: $name ends with exit status 0$orders, and $races." \
        "This does not check its results: only the program itself can do that." | fold -s -w 80
    exit 0
fi
echo "WRONG: ${first##*/}: $wrong${wrong:+${noted:+; }}$noted." | fold -s -w 80
if [ $ended = 124 ]; then
    echo "Check the loop that it was executing. If the program is only slow, give it less"
    echo "work or more time: make try ... LIMIT=$((limit * 10))"
    exit 1
fi
if cat $errors | grep -v 'cudacpu: notice: ' | grep -q 'cudacpu: '; then
    echo "Each report above says what to do."
elif [ "$window" ]; then
    echo "There is no display here, but imshow() and namedWindow() need one. Write the"
    echo "picture to a file: imwrite(\"picture.png\", picture). Over ssh, type ssh -X."
else
    echo "The hazard build found no race, no access out of bounds, and no read of"
    echo "uninitialized memory. Check what is computed, and what the host does."
fi
if [ "$wrong" ]; then
    [ $# -gt 0 ] || set -- no arguments
    echo "The program ran with $(IFS=" " && echo "$*") (set ARGS=\"...\"), in $PWD"
fi
exit 1
