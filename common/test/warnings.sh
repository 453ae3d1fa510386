#!/bin/sh
# warnings.sh BUILD COMPILER [NVCC]: does the host code of common/ compile without a warning of -Wall -Wextra
# -Wconversion -Wshadow? Headers are compiled where they are used: in common's tests, and in the samples, whose own lines
# may have warnings of the last two. Exit status: 0 none, 1 some.
set -u
cudacpu=$(cd "${1:?warnings.sh BUILD COMPILER [NVCC]}" && pwd)/cpu/cudacpu compiler=${2:?} nvcc=${3:-}
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
flags="-Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -fsyntax-only -I common"
files=0 failed=0

try() { # try FILE COMMAND...: a file whose library is not here is left out
    file=$1
    shift
    "$@" "$file" >"$folder/out" 2>&1
    status=$?
    if grep -E 'fatal error: .?(opencv2|benchmark|gtest)/' "$folder/out" | sed 's/^/left out: /' | grep .; then return; fi
    files=$((files + 1))
    if [ $status = 0 ] && ! grep -qE '^common/.*warning: ' "$folder/out"; then return; fi
    echo "FAIL: $* $file"
    grep -A 2 -E '^common/.*(warning|error): ' "$folder/out" || cat "$folder/out"
    failed=1
}
for file in common/*.cpp common/test/*.cpp common/test/cpu/*.cpp; do
    try "$file" "$compiler" -std=c++17 $flags -isystem common/cpu/include
done
for file in common/cpu/src/*.cpp; do
    try "$file" "$compiler" -std=c++20 $flags -I common/cpu/include -DCUDACPU_HAZARDS -DCUDACPU_FOLDER='""'
done
# -iquote: else the CPU device's headers are a system's, which g++ is silent about. But now GoogleTest's macros, which
# have a dangling else, are not.
for file in common/test/*.cu common/test/cpu/*.cu [0-9]*/*.cu; do
    try "$file" "$cudacpu" $flags -iquote common/cpu/include -Wno-dangling-else -c -o "$folder/o"
done
if [ -n "$nvcc" ]; then
    set -- [0-9]*/*.cu
    try "$1" "$nvcc" -std=c++17 -I common -Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow -c -o "$folder/o"
fi
echo "$files files compiled"
exit $failed
