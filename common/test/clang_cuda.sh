#!/bin/sh
# clang_cuda.sh [CUDA]: tests that clang accepts every sample as CUDA C++, for the host and for the device. It generates no
# code. clang 19 is required: it accepts the headers of CUDA 13.0 and of CUB once the declarations below are added.
# Exit status: 0 if all are accepted, 1 if not, 77 if clang 19 or the CUDA Toolkit is missing.
. "$(dirname "$0")/lib.sh"
cuda=${1:-/usr/local/cuda} clang=clang++-19
cd "$top" || exit 1
for needed in "$(command -v $clang)" "$cuda/include/cuda_runtime.h"; do
    [ -e "$needed" ] || skip "$clang or the CUDA Toolkit is missing"
done

# clang includes a header that CUDA 13 has dropped. Its replacement includes CUDA's header with __ldcs() and similar functions,
# which clang lacks. The macros rename the functions that clang already defines.
for name in __ldg __funnelshift_l __funnelshift_r __funnelshift_lc __funnelshift_rc; do
    echo "#define $name cuda_$name"
    echo "#undef $name" >>"$folder/undef"
done >"$folder/define"
{ cat "$folder/define"; echo '#include "sm_32_intrinsics.h"'; cat "$folder/undef"; } >"$folder/texture_fetch_functions.h"

for file in [0-9]*/*.cu common/test/cpu/same.cu; do
    for side in host device; do
        # 12.5 is the last version that clang 19 knows. With it, a launch calls functions that CUDA 13 also has.
        run $clang -x cuda -std=c++17 -fsyntax-only --cuda-$side-only --cuda-gpu-arch=sm_80 --cuda-path="$cuda" -nocudalib \
            -Xclang -target-sdk-version=12.5 -Wno-unknown-cuda-version -Wall -Wextra -Werror -I common \
            -isystem "$folder" -isystem "$cuda/include/cccl" -isystem /usr/include/opencv4 "$file"
        if [ $status = 0 ]; then continue; fi
        if grep 'fatal error: .opencv2/' "$folder/err" | sed 's/^/left out: /' | grep .; then continue; fi
        fail "$file, $side"
    done
done
finish
