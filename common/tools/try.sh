#!/bin/sh
# try.sh BUILD FILE [ARGUMENT...]: compiles anybody's .cu file for the CPU device, plain and with hazards, runs both with
# the arguments, and says what was found. FILE may be several files, in one word. Exit status: 0 if both runs end with 0,
# 1 if one does not, or if it does not compile, 2 for a file that cannot be read, 3 if the CPU device is missing.
build=$1 files=$2
shift 2
cd "$(dirname "$0")/../.." || exit
if [ -z "$files" ]; then
    echo "Which file? Type make try FILE=path/to/yours.cu, with ARGS=\"...\" what the program is to be given" >&2
    exit 2
fi
for file in $files; do
    case $file in *.cu | *.cpp | *.cc | *.c) ;; *) echo "'$file' is no .cu file; type make try FILE=path/to/yours.cu" >&2 && exit 2 ;; esac
    if [ ! -f "$file" ] || [ ! -r "$file" ]; then
        echo "There is no file '$file' that can be read; its path counts from $PWD" >&2
        exit 2
    fi
done
sh common/tools/build.sh "$build" lab || exit
known=$(${CMAKE:-cmake} --build "$build" --target help)
if ! echo "$known" | grep -q cudacpu_hazards; then
    echo "The CPU device is missing. Type make doctor to see why." >&2
    exit 3
fi
sh common/tools/build.sh "$build" cudacpu_plain cudacpu_hazards plain_precompiled hazards_precompiled || exit
mkdir -p "$build/try" || exit

# What a copy of a sample needs. A header of this name beside the file comes first.
needs=""
if grep -qE '^ *# *include *["<](error|lab)\.cuh' $files; then needs=" -Icommon $build/liblab.a"; fi
if grep -qE '^ *# *include *["<]opencv2/' $files; then
    needs="$needs -isystem /usr/include/opencv4 -lopencv_core -lopencv_imgcodecs"
fi
name=$(basename "${files%% *}") name=${name%.*} wrong=""

for kind in plain hazards; do
    program=$build/try/$name
    [ $kind = plain ] || program=${program}_hazards
    command="$build/cpu/cudacpu $files$needs -o $program"
    [ $kind = plain ] || command="$command --hazards"
    echo "\$ $command && $program${*:+ $*}"
    if ! $command; then
        echo
        echo "WRONG: $files does not compile for the CPU device. What it has and lacks: common/cpu/README.md"
        exit 1
    fi
    "$program" "$@"
    status=$?
    echo
    [ $status = 0 ] || wrong="$wrong $kind: exit status $status."
done
if [ -z "$wrong" ]; then
    echo "RIGHT so far: $name ends with exit status 0, and nothing races. Other orders: LAB_ORDER=reverse $build/try/$name"
    exit 0
fi
echo "WRONG: $name.$wrong What is to be done stands with each report above."
exit 1
