#!/bin/sh
# alone.sh FILE.cu...: does the line that a sample's head gives to build it alone, `//   nvcc ... -o NAME`, build it as it
# stands? Only the program goes elsewhere, and where no GPU answers -arch=native is left out, as nvcc asks a GPU for it.
# Exit status: 0 yes, 1 no, 77 no nvcc, or a library's headers are not here.
. "$(dirname "$0")/lib.sh"
patience=280
command -v nvcc >/dev/null 2>&1 || PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin:/usr/local/cuda/bin
command -v nvcc >/dev/null 2>&1 || skip "no nvcc"
cd "$top" || exit 1
native='s/^/ /'
nvidia-smi -L 2>/dev/null | grep -q '^GPU 0' || native='s/ -arch=native / /'
left_out=""
for file; do
    line=$(sed -n 's|^// *\(nvcc .* -o [a-z0-9_]*.*\)|\1|p' "$file" | head -1)
    case $line in
    *" ${file#"$top/"} "*) ;;
    *)
        fail "$file has no line //   nvcc ... ${file#"$top/"} ... -o NAME"
        continue
        ;;
    esac
    rm -f "$folder/program"
    run env LC_ALL=C program="$folder/program" sh -c "$(echo "$line" | sed "$native; s|  *-o [a-z0-9_]*| -o \"\$program\"|")"
    if [ $status = 0 ] && [ -x "$folder/program" ] && "$folder/program" --list >"$folder/list"; then
        ok "$line"
    elif says 'fatal error: .*(opencv|nccl).*No such file'; then
        left_out="a library's headers: $line"
    else
        fail "$line"
    fi
done
if [ $failed = 0 ] && [ -n "$left_out" ]; then skip "$left_out"; fi
finish
