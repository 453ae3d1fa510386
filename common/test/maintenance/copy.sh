#!/bin/sh
# copy.sh FOLDER: copies the lab there: the files that git tracks, and new ones that it does not ignore.
cd "$(dirname "$0")/../../.." || exit
{ git ls-files -zco --exclude-standard 2>/dev/null || find . \( -name .git -o -name 'build*' \) -prune -o -type f -print0; } |
    tar -cf - --null -T - | tar -xf - -C "$1"
