#!/bin/sh
# alone.sh NVCC: does the command in each sample's header build the sample alone, as it stands there?
# Exit status: 0 yes, 1 no.
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1
PATH=$(dirname "$1"):$PATH patience=600
for file in [0-9]*/*.cu; do
    command=$(sed -n "s|^// *\(nvcc .*$file.*\) -o .*|\1|p" "$file")
    if [ -z "$command" ]; then
        fail "$file has no line that builds it alone: //   nvcc ... $file ... -o NAME"
        continue
    fi
    run $command -o "$folder/program"
    if grep -E 'fatal error: .?(opencv2|nccl)' "$folder/err" | sed 's/^/left out: /' | grep .; then continue; fi
    must "$command" test $status = 0
done
finish
