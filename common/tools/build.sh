#!/bin/sh
# build.sh BUILD [TARGET...]: installs missing packages, and builds the targets, or all of them. If another process builds in the
# folder, it waits. A build folder that was moved or copied is rebuilt. On a terminal it shows the progress. It reads $CMAKE,
# $CMAKE_FLAGS (split by words.sh) and $JOBS. Exit status: the build's, 2 for a wrong value, 3 if the folder cannot be written.
build=$1
shift
. "$(dirname "$0")/folder.sh"
cd -P "$top" || exit
case ${JOBS:=2} in 0* | *[!0-9]*) echo "JOBS is '$JOBS'; type a number from 1 on, such as JOBS=2" >&2 && exit 2 ;; esac
writable "$build" || exit
folder=$(cd -P "$build" && pwd)
case $PWD/ in "$folder"/*)
    echo "BUILD is '$build', a folder with the sources; type another folder, such as BUILD=build" >&2
    exit 2
    ;;
esac
alone "$folder/lock" "build in $build" # each command below closes file 9: a server that it starts would keep the lock

case "$*" in '' | all* | *_samples*) anew=yes ;; *) anew=no ;; esac # to build one sample after an edit, CMake need not run again
# CMake's cache has the folders of the sources and of the build, or links to them.
cached() { cd -P "$(sed -n "s/^CMAKE_$1:INTERNAL=//p" "$folder/CMakeCache.txt")" 2>/dev/null && pwd; }
clean=""
if [ ! -f "$folder/CMakeCache.txt" ]; then
    anew=yes
elif [ "$(cached HOME_DIRECTORY)" != "$PWD" ] || [ "$(cached CACHEFILE_DIR)" != "$folder" ]; then
    echo "This folder was moved or copied: rebuilding."
    anew=yes clean=--clean-first
    for part in CMakeCache.txt CMakeFiles common gpu cpu hazards asan counters; do rm -rf "${folder:?}/$part"; done
fi
failed() { # failed STATUS: reports a full disk if there is one
    room=100000000 # the size of a precompiled header
    writable "$folder" "${TMPDIR:-/tmp}" || exit
    exit "$1"
}
if [ $anew = yes ] || [ -n "$CMAKE_FLAGS" ]; then
    BUILD=$folder sh common/tools/doctor.sh --install 9>&-
    # On stdout CMake prints only its progress; its errors are on stderr.
    sh common/tools/words.sh CMAKE_FLAGS "${CMAKE:-cmake}" --log-level=NOTICE -S . -B "$folder" >/dev/null 9>&- || failed $?
fi
[ $# -gt 0 ] || set -- all
shows=no
if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then shows=yes; fi
{
    "${CMAKE:-cmake}" --build "$folder" --parallel "$JOBS" $clean --target "$@" 9>&-
    echo "status $?"
} | { # a loop of the shell, because some awks do not read a pipe line by line
    status=1
    while IFS= read -r line; do
        case $line in
        'status '*) status=${line#status } ;;
        '['*'%]'*) [ $shows = no ] || printf '\r\033[K%.78s' "$line" >&2 ;;
        esac
    done
    [ $shows = no ] || printf '\r\033[K' >&2
    exit "$status"
} || failed $?
