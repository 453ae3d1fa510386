#!/bin/sh
# clang_cuda.sh [CUDA]: is every sample CUDA C++ to clang as well, for the host and for the device? Nothing is generated.
# clang 19 is the version that takes the headers of CUDA 13.0, with CUB, and lacks only what is handed in below.
# Exit status: 0 yes, 1 no, 77 no clang 19 or no CUDA Toolkit.
set -u
cuda=${1:-/usr/local/cuda} clang=clang++-19
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
for needed in "$(command -v $clang)" "$cuda/include/cuda_runtime.h"; do
    if ! [ -e "$needed" ]; then
        echo "left out: $clang or the CUDA Toolkit is missing"
        exit 77
    fi
done

# clang asks for a header that CUDA 13 has no more. In its place: __ldcs() and its kind, which clang has not, from
# CUDA's own header, without the functions that clang has.
for name in __ldg __funnelshift_l __funnelshift_r __funnelshift_lc __funnelshift_rc; do
    echo "#define $name cuda_$name"
    echo "#undef $name" >>"$folder/undef"
done >"$folder/define"
{ cat "$folder/define"; echo '#include "sm_32_intrinsics.h"'; cat "$folder/undef"; } >"$folder/texture_fetch_functions.h"

failed=0
for file in [0-9]*/*.cu common/test/cpu/same.cu; do
    for side in host device; do
        # Told of version 12.5, the last that it knows, clang has a launch call what CUDA 13 has.
        $clang -x cuda -std=c++17 -fsyntax-only --cuda-$side-only --cuda-gpu-arch=sm_80 --cuda-path="$cuda" -nocudalib \
            -Xclang -target-sdk-version=12.5 -Wno-unknown-cuda-version -Wall -Wextra -Werror -I common \
            -isystem "$folder" -isystem "$cuda/include/cccl" -isystem /usr/include/opencv4 "$file" >"$folder/out" 2>&1 &&
            continue
        if grep 'fatal error: .opencv2/' "$folder/out" | sed 's/^/left out: /' | grep .; then continue; fi
        echo "FAIL: $file, $side"
        cat "$folder/out"
        failed=1
    done
done
exit $failed
