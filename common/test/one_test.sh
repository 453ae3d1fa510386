#!/bin/sh
# one_test.sh BUILD [all]: does make NN (common/tools/one.sh) find nothing wrong with any sample as it is, and a wrong twin
# in both builds? Without `all` it runs every variant of two samples, of the others the last one.
# Exit status: 0 yes, 1 no, 77 there is no hazard build.
. "$(dirname "$0")/lib.sh"
build=${1:?one_test.sh BUILD [all]} all=${2:-}
looks() { ends "$1" sh "$top/common/tools/one.sh" --checks "$build/cpu/$name" "$build/hazards/$name" $2; }

for binary in "$build"/hazards/[0-9]*; do
    sample "$binary"
    [ -d "$top/$name" ] || continue
    only=""
    case $all$name in 0[!34]*) only="--only $(words variant | tail -1)" ;; esac
    looks 0 "$only"
    if takes --width; then looks 0 "--n 100 $only"; fi # which excludes --width
    for twin in $(words twin); do
        if excused twin "$twin"; then continue; fi
        looks 1 "--wrong $twin"
        says '^Not right, in a run' && says '^What the hazard build says:$' || fail "one build finds nothing"
        break
    done
done
finish
