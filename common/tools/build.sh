#!/bin/sh
# build.sh BUILD [TARGET...]: sets up what is missing and builds everything, with its progress; or the targets, and then
# only says what is wrong. Uses $CMAKE, $CMAKE_FLAGS and $JOBS. Exit status: the build's.
build=$1
shift
cd "$(dirname "$0")/../.." || exit
if [ $# = 0 ] || [ ! -f "$build/CMakeCache.txt" ] || [ -n "$CMAKE_FLAGS" ]; then
    sh common/tools/doctor.sh --install
    # CMake tells on stdout that it is done, on stderr what a reader wants to know. Flags are several words.
    ${CMAKE:-cmake} --log-level=NOTICE -S . -B "$build" $CMAKE_FLAGS >/dev/null || exit
fi
if [ $# = 0 ]; then exec ${CMAKE:-cmake} --build "$build" --parallel "${JOBS:-2}"; fi
exec ${CMAKE:-cmake} --build "$build" --parallel "${JOBS:-2}" --target "$@" >/dev/null
