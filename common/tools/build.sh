#!/bin/sh
# build.sh BUILD [TARGET...]: sets up what is missing and builds all, or the targets. One process at a time builds in a folder;
# the others wait. A build that was moved or copied here is made anew. Says what is wrong; on a terminal it shows how far it
# is. Uses $CMAKE, $CMAKE_FLAGS (words, as words.sh reads them) and $JOBS. Exit status: the build's, 2 for a wrong value, 3 if
# nothing can be written.
build=$1
shift
. "$(dirname "$0")/folder.sh"
cd -P "$top" || exit
case ${JOBS:=2} in 0* | *[!0-9]*) echo "JOBS is '$JOBS'; type a number from 1 on, such as JOBS=2" >&2 && exit 2 ;; esac
writable "$build" || exit
folder=$(cd -P "$build" && pwd)
case $PWD/ in "$folder"/*)
    echo "BUILD is '$build', which has the sources in it; type the name of a new folder, such as BUILD=build" >&2
    exit 2
    ;;
esac
alone "$folder/lock" "build in $build" # file 9 is closed for each command below, because a server that it starts would keep the lock

case "$*" in '' | all* | *_samples*) anew=yes ;; *) anew=no ;; esac # one sample, after an edit, is not set up anew
# CMake keeps in its cache for which sources it builds, and where: a folder, or a link that leads to it.
cached() { cd -P "$(sed -n "s/^CMAKE_$1:INTERNAL=//p" "$folder/CMakeCache.txt")" 2>/dev/null && pwd; }
clean=""
if [ ! -f "$folder/CMakeCache.txt" ]; then
    anew=yes
elif [ "$(cached HOME_DIRECTORY)" != "$PWD" ] || [ "$(cached CACHEFILE_DIR)" != "$folder" ]; then
    echo "This folder was moved or copied: building anew."
    anew=yes clean=--clean-first
    for part in CMakeCache.txt CMakeFiles common gpu cpu hazards asan counters; do rm -rf "${folder:?}/$part"; done
fi
failed() { # failed STATUS: blames a full disk before the source
    room=100000000 # a precompiled header takes that
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
} | { # line by line as they come, which not every awk does
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
