#!/bin/sh
# alone.sh FILE.cu...: does the command in a sample's header, `//   nvcc ... -o NAME`, build the sample as it is? The command
# goes on in the next comment lines if these are indented further. The program is written to another folder, and where no GPU
# answers -arch=native is left out, because nvcc asks a GPU for it.
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
