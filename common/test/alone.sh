#!/bin/sh
# alone.sh FILE.cu...: does the line that a sample's head gives to build it alone, `//   nvcc ... -o NAME`, build it as it
# stands? Only the program goes elsewhere, and where no GPU answers -arch=native is left out, as nvcc asks a GPU for it.
# Exit status: 0 yes, 1 no, 77 no nvcc, or a library's headers are not here.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v nvcc >/dev/null 2>&1 || PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin:/usr/local/cuda/bin
command -v nvcc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$top" || exit 1
native='s/^/ /'
nvidia-smi -L 2>/dev/null | grep -q '^GPU 0' || native='s/ -arch=native / /'
failed=0 left_out=0
for file; do
    line=$(sed -n 's|^// *\(nvcc .* -o [a-z0-9_]*.*\)|\1|p' "$file" | head -1)
    case $line in
    *" ${file#"$top/"} "*) ;;
    *)
        echo "FAIL: $file has no line //   nvcc ... ${file#"$top/"} ... -o NAME"
        failed=1
        continue
        ;;
    esac
    rm -f "$folder/program"
    command=$(echo "$line" | sed "$native; s|  *-o [a-z0-9_]*| -o '$folder/program'|")
    if sh -c "$command" >"$folder/out" 2>&1 && [ -x "$folder/program" ] && "$folder/program" --list >"$folder/list"; then
        echo "ok: $line"
    elif grep -E 'fatal error: .*(opencv|nccl).*No such file' "$folder/out"; then
        left_out=1
    else
        echo "FAIL: $line"
        tail -20 "$folder/out"
        failed=1
    fi
done
[ $failed = 1 ] && exit 1
[ $left_out = 1 ] && exit 77
exit 0
