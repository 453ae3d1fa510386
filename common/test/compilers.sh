#!/bin/sh
# compilers.sh SOURCE [COMPILER...]: builds the CPU device with each COMPILER. The default is every g++ from 12 on and every
# clang from 14 on that is installed. The build must give no warning, and the sample that it builds must agree with the CPU.
# The script prints one line for each compiler. Exit status: 0 if all pass, 1 if not, 77 if the only compiler is the one that
# builds the lab anyway.
. "$(dirname "$0")/lib.sh"
source=$(cd "${1:?compilers.sh SOURCE}" && pwd) || exit 1
shift
sample=$(cd "$source" && ls -d 0[0-9]_* | sed -n 3p) patience=900
compilers=${*:-$(echo "$PATH" | tr : '\n' | while read -r path; do ls "$path" 2>/dev/null; done |
    grep -xE 'g\+\+-(1[2-9]|[2-9][0-9])|clang\+\+-(1[4-9]|[2-9][0-9])' | sort -uV)}
if [ $# = 0 ] && ! echo "$compilers" | grep -vx "g++-$(c++ -dumpversion 2>/dev/null)" | grep -q .; then
    skip "there is no other compiler than c++"
fi

for compiler in $compilers; do
    build=$folder/$compiler
    ends 0 cmake -S "$source" -B "$build" -DLAB_GPU=OFF -DCMAKE_CXX_COMPILER="$compiler" &&
        ends 0 cmake --build "$build" --parallel 2 --target "cpu_$sample" || continue
    if says 'warning: '; then fail "$compiler warns"; continue; fi
    ends 0 "$build/cpu/$sample" --n 5003 && ok "$compiler: builds, runs"
done
finish
