#!/bin/sh
# build.sh BUILD [TARGET...]: sets up what is missing and builds all, or the targets. Says what is wrong; on a terminal it
# shows how far it is. Uses $CMAKE, $CMAKE_FLAGS and $JOBS. Exit status: the build's.
build=$1
shift
cd "$(dirname "$0")/../.." || exit
case "$*" in '' | all* | *_samples) anew=yes ;; *) anew=no ;; esac # one sample, after an edit, is not set up anew
if [ $anew = yes ] || [ ! -f "$build/CMakeCache.txt" ] || [ -n "$CMAKE_FLAGS" ]; then
    sh common/tools/doctor.sh --install
    # CMake tells on stdout that it is done, on stderr what a reader wants to know. Flags are several words.
    ${CMAKE:-cmake} --log-level=NOTICE -S . -B "$build" $CMAKE_FLAGS >/dev/null || exit
fi
[ $# -gt 0 ] || set -- all
shows=0
if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then shows=1; fi
{
    ${CMAKE:-cmake} --build "$build" --parallel "${JOBS:-2}" --target "$@"
    echo "status $?"
} | awk -v shows=$shows '
    /^status [0-9]+$/ { status = $2; next }
    shows && /^\[ *[0-9]+%\]/ { printf "\r\033[K%.78s", $0 > "/dev/stderr"; fflush() }
    END { if (shows) printf "\r\033[K" > "/dev/stderr"; exit status }'
