#!/bin/sh
# nvccs_options.sh CUDACPU: does it take the options that makefiles pass to nvcc? Exit status: 0 yes, 1 no.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(realpath "$1")
cd "$folder" || exit 1
mkdir -p include "NVIDIA's" && touch "NVIDIA's/cuda_runtime.h" # which must not be taken instead of the CPU device's
echo '__device__ inline int twice(int x) { return 2 * x; }' >include/twice.cuh
cat >kernel.cpp <<'end'
#include <cuda_runtime.h>
#include "twice.cuh"
__global__ void kernel(int* p) { *p = twice(P); }
end
cat >main.cu <<'end'
#include <cstdio>
#ifdef _OPENMP
__global__ void kernel(int* p);
#endif
int main() {
    int *p, h = 0;
    cudaMalloc(&p, 4);
    kernel<<<1, 1>>>(p);
    cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);
    cudaFree(p);
    return h != 42;
}
end
common="-std=c++11 -arch native -gencode=arch=compute_80,code=sm_80 --use_fast_math -I NVIDIA's -Werror all-warnings"
ends 0 "$cudacpu" -x cu kernel.cpp -dc --output-file kernel.o $common --include-path=include --define-macro P=21 -O1
ends 0 "$cudacpu" main.cu --compile -o main.o $common -Xcompiler -fopenmp,-Wall --ptxas-options -v -lineinfo --optimize=1
ends 0 "$cudacpu" -dlink kernel.o main.o -o linked.o -arch=sm_80
ends 0 "$cudacpu" kernel.o main.o linked.o -o program -L. -lcudart -lcublas -Xlinker -rpath,. -Xcompiler -fopenmp --cudart=shared
ends 0 ./program
for file in unused.cu unused.cpp; do
    printf '#include <cublas_v2.h>\nint main() {}\n' >$file
    ends 0 "$cudacpu" $file -c -o unused.o -MD -MF unused.d
    ends 1 grep -q cublas unused.d # make would look for it
done
# Stream 0 of the calls is the legacy one, which waits for other streams, or one of each thread: then the host reads too early.
cat >streams.cu <<'end'
#include <thread>
__global__ void set(int* p) { *p = 1; }
int main() {
    int *p, h = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocHost(&p, 8);
    p[0] = p[1] = 0;
    set<<<1, 1, 0, s>>>(p);
    std::thread([=] { set<<<1, 1>>>(p + 1); }).join();
    cudaStreamSynchronize(nullptr);
    h = p[0] + p[1];
    cudaDeviceSynchronize();
    cudaFreeHost(p);
    return h;
}
end
for kind in "2 --default-stream legacy" "1 --default-stream per-thread" "1 -DCUDA_API_PER_THREAD_DEFAULT_STREAM"; do
    ends 0 "$cudacpu" streams.cu -o streams ${kind#* }
    ends ${kind%% *} ./streams
done
ends 1 "$cudacpu" streams.cu -o streams --default-stream=perthread
must "a misspelt stream is refused" says "write --default-stream legacy or --default-stream per-thread"
ends 1 "$cudacpu" -ptx main.cu
must "-ptx is refused by name" says "-ptx: the CPU device makes programs"
finish
