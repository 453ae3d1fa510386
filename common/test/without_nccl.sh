#!/bin/sh
# without_nccl.sh BINARY: --only for each variant of a sample but all_gpus, whose NCCL takes seconds to set up; nothing
# where a sample has no such variant.
list=$("$1" --list) || exit 1
if echo "$list" | grep -q '^variant all_gpus$'; then
    echo "$list" | sed -n '/^variant all_gpus$/d; s/^variant /--only /p'
fi
