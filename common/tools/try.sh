#!/bin/sh
# try.sh BUILD FILE [ARGUMENT...]: compiles anybody's .cu file for the CPU device, plain and with hazards, runs both with
# the arguments, in the file's folder, and says what was found; where that took few seconds, in two other orders of the
# threads, too. FILE may be several files, in one word, then without blanks in their names. A run is ended after $LIMIT
# seconds (300). Exit status: 0 if all runs end with 0, 1 if one does not, or if it does not compile, 2 for a file that
# cannot be read, 3 if the CPU device is missing.
build=$1 files=$2
shift 2
cd "$(dirname "$0")/../.." || exit
tools=$PWD/common/tools
if [ -z "$files" ]; then
    echo "Which file? Type make try FILE=path/to/yours.cu (ARGS=\"...\" for its arguments)" >&2
    exit 2
fi
newline='
'
[ -f "$files" ] || files=$(printf '%s\n' $files) # a file's name may have blanks; of several none has
IFS=$newline
for file in $files; do
    case $file in *.cu | *.cpp | *.cc | *.c) ;; *) echo "'$file' is no .cu file; type make try FILE=path/to/yours.cu" >&2 && exit 2 ;; esac
    if [ ! -f "$file" ] || [ ! -r "$file" ]; then
        echo "There is no file '$file' that can be read; its path counts from $PWD" >&2
        exit 2
    fi
done
sh common/tools/build.sh "$build" lab || exit
if [ ! -f "$build/cpu/cudacpu" ]; then
    echo "The CPU device is missing. Type make doctor to see why." >&2
    exit 3
fi
sh common/tools/build.sh "$build" cudacpu_plain cudacpu_hazards plain_precompiled hazards_precompiled || exit
mkdir -p "$build/try" || exit

# What is said about a file is short in its own folder, and its program finds the data that lie there.
first=${files%%$newline*} common=common
folder=$(cd "$(dirname "$first")" && pwd) || exit
if [ "$folder" != "$PWD" ]; then
    build=$(cd "$build" && pwd) common=$PWD/common given=$files files=""
    for file in $given; do
        of=$(cd "$(dirname "$file")" && pwd)/
        [ "$of" != "$folder/" ] || of=""
        files="$files${files:+$newline}$of$(basename "$file")"
    done
    cd "$folder" || exit
    echo "\$ cd $folder"
fi

# What a copy of a sample needs. A header of this name beside the file comes first.
lab="" opencv=""
if grep -qE '^ *# *include *["<](error|lab)\.cuh' $files; then lab=" -I$common $build/liblab.a"; fi
if grep -qE '^ *# *include *["<]opencv2/' $files; then
    opencv="-isystem${newline}/usr/include/opencv4${newline}-lopencv_core${newline}-lopencv_imgcodecs"
fi
words() { # a line of them, as a shell would read it
    for word; do
        case $word in '' | *[!-A-Za-z0-9_./=,:+%@]*) word="'$(printf '%s' "$word" | sed "s/'/'\\\\''/g")'" ;; esac
        printf '%s' "${line:+ }$word" && line=begun
    done
}
compile() { # compile [--hazards]
    echo "\$ $(words "$build/cpu/cudacpu" $files)$lab $(words $opencv -o "$program" "$@")"
    [ -z "$lab" ] || set -- "-I$common" "$build/liblab.a" "$@"
    "$build/cpu/cudacpu" $files $opencv -o "$program" "$@" && return
    echo
    echo "WRONG: $(words $files) does not compile for the CPU device."
    grep -qw main $files || echo "There is no main() in it: a kernel alone does not run."
    echo "Mend the first error first. What the device has and lacks:"
    echo "$common/cpu/README.md"
    exit 1
}
name=$(basename "$first") name=${name%.*} wrong="" started=$(date +%s) limit=${LIMIT:-300} before=""
run() {
    echo "\$ ${order:+LAB_ORDER=$order }$(words "$program" "$@")"
    watched "$@"
    ended=$?
    echo
    case $ended in
    0) ;;
    124) wrong="$wrong $kind: it had not ended after $limit seconds." ;;
    *) wrong="$wrong $kind${order:+, LAB_ORDER=$order}: exit status $ended." ;;
    esac
    before=$out
}
watched() {
    out=$program${order:+.$order}.out
    LAB_ORDER=${order:-forward} perl "$tools/watched.pl" "$limit" "$out" "$before" "$program" "$@"
}

order=""
for kind in plain hazards; do
    program=$build/try/$name
    [ $kind = plain ] || program=${program}_hazards
    if [ $kind = plain ]; then compile; else compile --hazards; fi
    run "$@"
    [ $ended != 124 ] || break
done
orders=""
if [ -z "$wrong" ] && [ $(($(date +%s) - started)) -lt 10 ]; then
    kind=plain program=$build/try/$name orders=" in three orders of its threads"
    for order in reverse 1; do
        watched "$@" >/dev/null 2>&1 </dev/null || { [ -n "$wrong" ] || run "$@"; }
    done
fi
if [ -z "$wrong" ]; then
    echo "RIGHT so far: $name ends with exit status 0$orders, and nothing races." \
        "Whether its results are right, only the program itself can say." | fold -s -w 80
    exit 0
fi
echo "WRONG: $name.$wrong"
if [ $ended = 124 ]; then
    echo "Look at the loop where it was. If it is only slow, give it less work, or more"
    echo "time: make try ... LIMIT=$((limit * 10))"
    exit 1
fi
echo "Each report above says what to do. Without one the program itself ended so,"
[ $# -gt 0 ] || set -- no arguments
echo "given $(IFS=" " && echo "$*") (ARGS=\"...\"), in $PWD."
exit 1
