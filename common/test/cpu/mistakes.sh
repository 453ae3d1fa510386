#!/bin/sh
# mistakes.sh CUDACPU FILE.cu: tests the messages of cudacpu. For each wrong CASE of the file, it must print the message that the
# file states, at the CASE's line; it must accept the right ones. A message of g++ about a rewritten line must not
# point to a place without a mistake. Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/../lib.sh"
cudacpu=$1 file=$2
cases=$(sed -n 's/.*CASE == \([0-9]*\).*/\1/p' "$file")
for case in $cases; do
    wanted=$(awk -v "case=$case" '/^#/ { on = $4 == case } on && sub(/.*\/\/! /, "") { print NR ": error: " $0 }' "$file")
    run "$cudacpu" --translate "$file" "-DCASE=$case" -o "$folder/translated"
    if [ "$wanted" ]; then
        must "case $case is refused: $wanted" sh -c 'tr "\n" " " <"$1" | tr -s " " | grep -qF "$2"' - "$folder/err" "${file##*/}:$wanted"
        must "case $case: its lines have at most 80 columns" test "$(sed "s|$file|F.cu|" "$folder/err" | awk 'length > 80' | wc -l)" -eq 0
    else
        must "case $case is right" test $status -eq 0
    fi
done
must "there are cases" test "$(echo "$cases" | wc -l)" -gt 10

# The compiler decides these cases: a __device__ variable may have a constructor only if it is constexpr or empty.
classes='struct Set { int x; __host__ __device__ Set(int y = 4) : x(y) {} }; struct Known { int x; constexpr Known() : x(5) {} };
struct Empty { int x; __device__ Empty() {} }; struct Holds { Empty e; }; struct Plain { int x = 5; }; using Other = Set;'
for declared in 'Set a' 'static Set a' 'Set a{}' 'Set a(3)' 'Set a = Set(1)' 'Other a' 'auto a = Set()'; do
    printf '%s\n__device__ %s;\nint main() {}\n' "$classes" "$declared" >"$folder/made.cu"
    ends 1 "$cudacpu" -c "$folder/made.cu" -o "$folder/made.o"
    must "__device__ $declared is refused" says 'made.cu:3: error: '
    must "with what to type instead" says 'write constexpr'
done
printf '%s\n__device__ Known a, b[2]; __constant__ Known c; __managed__ Known d; __constant__ Empty e; __device__ Holds f;
__device__ Plain g; extern __device__ Set h; __device__ Set* i; __device__ int j = sizeof(Set); int main() {}\n' "$classes" >"$folder/made.cu"
ends 0 "$cudacpu" -c "$folder/made.cu" -o "$folder/made.o"

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
