#!/bin/sh
# mistakes.sh CUDACPU FILE.cu: does cudacpu say of each CASE what the file says that it must, at its line, and take those that
# are right? And what g++ says of a line that was rewritten, does it point to where no mistake is? Exit status: 0 yes, 1 no.
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

cat >"$folder/rewritten.cu" <<'end'
#define TWICE(x) ((x) + (x))
__global__ void kernel(float* a, int n) {
    if (n < m) a[0] = 1;
    a[TWICE(1)] = b;
}
int main() {
    kernel<<<1, 32>>>(32);
    int x = y;
}
end
ends 1 "$cudacpu" "$folder/rewritten.cu" -o "$folder/rewritten"
mark() { awk -v "line=$1" '$1 == line && $2 == "|" { on = 1; next } on { print; exit }' "$folder/err"; }
must "a column and a mark, where the line is as it was" says "rewritten.cu:3:13: " &&
    must "and in the host's code" test "$(mark 8)" = "      |             ^"
must "no column where it is not" says "rewritten.cu:4: " && must "nor at a launch" says "rewritten.cu:7: "
must "and no mark" test "$(mark 7 | grep -c '^  *[|]')" = 0
if says lambda; then fail "no lambda, as the file has none"; else ok "no lambda, as the file has none"; fi
finish
