#!/bin/sh
# action.sh: compiles CUDA C++ with cudacpu --hazards, runs it, and reports what is found as annotations of GitHub on stdout and
# in one SARIF log. The variables are inputs of action.yml:
#   FILES    the .cu files and cudacpu's options, in a shell's notation; empty: RUN compiles, and cudacpu is in the PATH
#   RUN      the command that runs the program (./program)
#   SARIF    the log (cudacpu.sarif)
#   CUDACPU  an installed cudacpu; empty: it is built, and what the build needs is installed with apt-get
# Exit status: the compiler's or RUN's; 1 if that is 0 and an error was reported; 3 if there is no cudacpu.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 3
reports=$(mktemp -d) || exit 3
trap 'rm -rf "$reports"' EXIT
trap 'exit 130' INT TERM

build() {
    folder=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cudacpu-build
    configure() { cmake -S "$here" -B "$folder" -DCMAKE_BUILD_TYPE=Release; }
    if ! configure >"$reports/log" 2>&1 && command -v apt-get >/dev/null; then
        sudo=$(test "$(id -u)" = 0 || echo sudo)
        $sudo apt-get update && $sudo apt-get install -y --no-install-recommends cmake make g++ perl libboost-context-dev &&
            configure
    fi >"$reports/log" 2>&1
    cmake --build "$folder" -j "$(nproc)" --target cudacpu >>"$reports/log" 2>&1 || {
        cat "$reports/log" >&2
        echo "action.sh: cudacpu was not built. It needs cmake, make, g++, perl and Boost.Context" >&2
        exit 3
    }
    CUDACPU=$folder/cpu/cudacpu
}
if [ -z "${CUDACPU:-}" ]; then build; fi
PATH=$(cd "$(dirname "$CUDACPU")" && pwd):$PATH || exit 3

export PATH LAB_REPORT="sarif:$reports/%p.sarif"
status=0
if [ -n "${FILES-*.cu}" ]; then eval "cudacpu --hazards ${FILES-*.cu} -o program" || status=$?; fi
if [ $status = 0 ]; then sh -c "${RUN:-./program}" || status=$?; fi
perl "$here/driver/annotate.pl" "$reports" "${SARIF:-cudacpu.sarif}" || test $status != 0 || status=1
exit $status
