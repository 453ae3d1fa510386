#!/bin/sh
# include_directions.sh [FOLDER]: checks that each layer of the CPU device includes only the layers below it.
# Exit status: 0 if it is so, 1 if not; a line on stdout for each wrong #include.
cd "${1:-$(dirname "$0")/../../cpu/src}" || exit 3
awk -F '[/"]' '
    BEGIN {
        below["engine"] = " "; below["memory"] = " engine "; below["api"] = " engine memory "
        below["race"] = below["warp"] = " engine memory api "
        below["report"] = below["race"] "race warp "; below["advice"] = below["report"] "report "
    }
    FNR == 1 { split(FILENAME, path, "/"); layer = path[1]; if (!(layer in below)) print FILENAME ": is in no layer" }
    /^#include "/ && NF == 3 && $2 !~ /^cuda_[a-z_]*[.]h$/ { print FILENAME ":" FNR ": includes " $2 ", which names no layer" }
    /^#include "/ && NF == 4 && $2 != layer && index(below[layer], " " $2 " ") == 0 {
        print FILENAME ":" FNR ": " layer " includes " $2 "/" $3
    }' $(find . -name '*.[ch]pp' | sed 's,^\./,,') | sort | grep . && exit 1
exit 0
