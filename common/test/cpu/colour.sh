#!/bin/sh
# colour.sh PROGRAM: tests that a hazard is printed in colour on a terminal, and without colour into a pipe, with NO_COLOR or with
# TERM=dumb. Exit status: 0 if so, 1 if not.
. "$(dirname "$0")/../lib.sh"
program=$(realpath "$1")
export program
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "no terminal that script could give a program"
colour=$(printf '\033')"\\[1;31mcudacpu: hazard: race "
# looks TERM NO_COLOR: prints what a terminal shows
looks() { TERM=$1 NO_COLOR=$2 script -qec '"$program" race_shared' /dev/null </dev/null >"$folder/out"; }
looks xterm ""
must "colour on a terminal" says "^$colour"
looks dumb ""
must "none with TERM=dumb" says "^cudacpu: hazard: race "
looks xterm 1
must "none with NO_COLOR" says "^cudacpu: hazard: race "
TERM=xterm run "$program" race_shared
must "none in a file" says "^cudacpu: hazard: race "
finish
