#!/bin/sh
# mistakes.sh CUDACPU FILE.cu: does cudacpu say of each CASE what the file says that it must, at its line, and take those that
# are right? Exit status: 0 yes, 1 no.
. "$(dirname "$0")/../lib.sh"
cudacpu=$1 file=$2
cases=$(sed -n 's/.*CASE == \([0-9]*\).*/\1/p' "$file")
for case in $cases; do
    wanted=$(awk -v "case=$case" '/^#/ { on = $4 == case } on && sub(/.*\/\/! /, "") { print NR ": error: " $0 }' "$file")
    run "$cudacpu" --translate "$file" "-DCASE=$case" -o "$folder/translated"
    if [ "$wanted" ]; then
        must "case $case is refused: $wanted" grep -qF "${file##*/}:$wanted" "$folder/err"
    else
        must "case $case is right" test $status -eq 0
    fi
done
must "there are cases" test "$(echo "$cases" | wc -l)" -gt 10
finish
