#!/bin/sh
# warnings.sh BUILD COMPILER [NVCC]: tests that the host code of common/ compiles without a warning of -Wall -Wextra
# -Wconversion -Wshadow. Headers are compiled in the files that include them: the tests of common/, and the samples. The
# samples' own lines may have warnings of the last two. Exit status: 0 if there is no warning, 1 if there is one.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(cd "${1:?warnings.sh BUILD COMPILER [NVCC]}" && pwd)/cpu/cudacpu compiler=${2:?} nvcc=${3:-}
cd "$top" || exit 1
flags="-Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -fsyntax-only -I common -isystem /usr/include/opencv4 -DLAB_IMGCODECS=\"\""
files=0

try() { # try FILE COMMAND...: compiles the file, or leaves it out if its library is missing
    file=$1
    shift
    run "$@" "$file"
    if grep -E 'fatal error: .?(opencv2|benchmark|gtest)/' "$folder/err" | sed 's/^/left out: /' | grep .; then return; fi
    files=$((files + 1))
    if [ $status != 0 ] || says '^common/[^.]*[.][^.]*: warning: '; then fail "$* $file"; fi
}
include=$(dirname "$(find common/cpu -name cuda_runtime.h)") # the headers of the CPU device
for file in $(find common -name '*.cpp' ! -path 'common/cpu/*' ! -name 'exercise*'); do
    try "$file" "$compiler" -std=c++17 $flags -isystem "$include"
done
for file in $(find common/cpu -name '*.cpp') common/exercise*.cpp; do
    try "$file" "$compiler" -std=c++20 $flags -I common/cpu/src -I "$include" -DCUDACPU_HAZARDS -DCUDACPU_FOLDER='""' -DCUDACPU_PAGE='""'
done
# -iquote: otherwise the CPU device's headers count as system headers, and g++ gives no warnings for these. GoogleTest's
# macros then no longer count as system headers, and they have a dangling else.
for file in common/test/*.cu common/test/cpu/*.cu [0-9]*/*.cu; do
    as_written=""
    case $file in
    */counted_classics.cu) as_written="-Wno-sign-compare -Wno-shadow -Wno-conversion" ;; # as in courses
    */rounds.cu) as_written=-Wno-shadow ;;                                               # one name in two scopes
    esac
    try "$file" "$cudacpu" $flags -iquote "$include" -Wno-dangling-else $as_written -c -o "$folder/o"
done
if [ -n "$nvcc" ]; then
    set -- [0-9]*/*.cu
    try "$1" "$nvcc" -std=c++17 -I common -Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow -c -o "$folder/o"
fi
echo "$files files compiled"
finish
