#!/bin/sh
# compilers.sh SOURCE: does every g++ from 12 and clang from 14 on that this machine has build the CPU device without a
# warning, and does the sample that it builds agree with the CPU? A line each. Exit status: 0 yes, 1 no, 77 there is only
# the compiler that builds the lab anyway.
set -u
source=$(cd "${1:?compilers.sh SOURCE}" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
compilers=$(echo "$PATH" | tr : '\n' | while read -r path; do ls "$path" 2>/dev/null; done |
    grep -xE 'g\+\+-(1[2-9]|[2-9][0-9])|clang\+\+-(1[4-9]|[2-9][0-9])' | sort -uV)
if ! echo "$compilers" | grep -vx "g++-$(c++ -dumpversion 2>/dev/null)" | grep -q .; then
    echo "left out: there is no other compiler than c++"
    exit 77
fi

failed=0
for compiler in $compilers; do
    build=$folder/$compiler
    verdict=
    {
        cmake -S "$source" -B "$build" -DLAB_GPU=OFF -DLAB_CHECKED=OFF -DCMAKE_CXX_COMPILER="$compiler" || verdict="CMake fails"
        cmake --build "$build" --parallel 2 --target cpu_03_dot_shared || verdict=${verdict:-"does not build"}
        "$build/cpu/03_dot_shared" --n 5003 || verdict=${verdict:-"runs with status $?"}
    } >"$folder/log" 2>&1
    if grep -q 'warning: ' "$folder/log"; then verdict=${verdict:-"warns"}; fi
    echo "$compiler: ${verdict:-builds, runs}"
    [ -z "$verdict" ] && continue
    tail -30 "$folder/log"
    failed=1
done
exit $failed
