#!/bin/sh
# readme.sh BUILD JOBS PAGE...: do the pages (their paths from the top folder) say what the programs do? Each command that a
# page names is run, what it quotes is looked for in what the command printed, each link is followed; see readme.pl.
# Exit status: 0 all as written, 1 not, 77 no CPU device.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) || exit 1
[ -d "$build/cpu" ] || skip "no CPU device in $build"
jobs=$2
shift 2
cd "$top" || exit 1
perl -CSDA "$here/readme.pl" "$build" "$jobs" "$folder" $*
