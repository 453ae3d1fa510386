#!/bin/sh
# readme.sh BUILD JOBS PAGE...: tests that the pages (paths from the top folder) describe the programs correctly. It runs each
# command that a page names, compares the quoted output with what the command prints, and follows each link; see readme.pl.
# Exit status: 0 if all is as written, 1 if not, 77 if the CPU device is not built.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) || exit 1
[ -d "$build/cpu" ] || skip "no CPU device in $build"
jobs=$2
shift 2
cd "$top" || exit 1
perl -CSDA "$here/readme.pl" "$build" "$jobs" "$folder" $*
