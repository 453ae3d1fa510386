#!/bin/sh
# readme.sh BUILD [JOBS]: do the pages say what the programs do? Each command that a page names is run, what it quotes is
# looked for in what the command printed, each link is followed; see readme.pl.
# Exit status: 0 all as written, 1 not, 77 no CPU device.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) || exit 1
[ -d "$build/cpu" ] || skip "no CPU device in $build"
cd "$top" || exit 1
perl "$here/readme.pl" "$build" "${2:-2}" "$folder" README*.md [0-9]*/*.md common/*/README*.md
