#!/bin/sh
# alone.sh FILE.cu...: tests that the command in a sample's header, `//   nvcc ... -o NAME`, builds the sample. Further comment
# lines continue the command if they are indented further. The script writes the program to another folder. If no GPU is
# present, it removes -arch=native, because nvcc reads the architecture from the GPU.
# Exit status: 0 if all are built, 1 if not, 77 if nvcc or the headers of a library are missing.
. "$(dirname "$0")/lib.sh"
patience=280
command -v nvcc >/dev/null 2>&1 || PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin:/usr/local/cuda/bin
command -v nvcc >/dev/null 2>&1 || skip "no nvcc"
cd "$top" || exit 1
native='s/^/ /'
nvidia-smi -L 2>/dev/null | grep -q '^GPU 0' || native='s/ -arch=native / /'
left_out=""
for file; do
    line=$(awk '
        match($0, /^\/\/ +/) {
            text = substr($0, RLENGTH + 1)
            if (line != "" && RLENGTH > indent) { line = line " " text; next }
            if (line == "" && text ~ /^nvcc /) { line = text; indent = RLENGTH; next }
        }
        line != "" { exit }
        END { if (line ~ / -o [a-z0-9_]+/) print line }' "$file")
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
