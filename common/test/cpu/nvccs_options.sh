#!/bin/sh
# nvccs_options.sh CUDACPU: tests that cudacpu accepts the options that makefiles pass to nvcc.
# Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(realpath "$1")
cd "$folder" || exit 1
mkdir -p include "NVIDIA's" && touch "NVIDIA's/cuda_runtime.h" # cudacpu must use the CPU device's header instead
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
    ends 1 grep -q cublas unused.d # make would look for this file
done
# Stream 0 is the legacy stream, which waits for other streams, or a stream for each thread. Then the host reads too early.
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
cp kernel.o kernel.obj && ends 0 "$cudacpu" kernel.obj main.o -o program -Xcompiler -fopenmp
ends 0 "$cudacpu" -cuda main.cu && must "-cuda writes main.cu.cpp.ii" test -s main.cu.cpp.ii

# All code is in an included file. Reports and counters name that file, whichever debug information the options select.
printf '// 1\n// 2\n__global__ void race(int* p) {\n    *p += threadIdx.x;\n}\n' >race.cuh
printf '#include "race.cuh"\n__device__ int sum;\nint main() {\n    int* p;\n    cudaGetSymbolAddress((void**)&p, sum);
    race<<<1, 32>>>(p);\n    return cudaDeviceSynchronize();\n}\n' >race.cu
for debug in -w -g "-Xcompiler -gdwarf-5"; do
    ends 0 "$cudacpu" --hazards race.cu $debug -o program
    ends 1 ./program
    must "the race is in race.cuh" says 'race.cuh:4' && if says 'race.cu:'; then fail "none in race.cu"; fi
done
if [ -e "$(dirname "$cudacpu")/libcudacpu_counters.a" ]; then
    ends 0 "$cudacpu" --counters race.cu -o program
    ends 0 ./program
    must "counters name race.cuh" says '1 launch of .* in race.cuh'
    for pragma in 'unroll 2' 'GCC unroll 4' 'GCC ivdep' nounroll 'omp simd'; do
        printf '__global__ void k(int* p) {\n    int s = 0;\n#pragma %s\n    for (int i = 0; i < 4; ++i) s += p[i];
    _Pragma("%s") for (int i = 0; i < 4; ++i) s += p[i];\n    *p = s;\n}\n' "$pragma" "$pragma" >pragma.cu
        ends 0 "$cudacpu" --counters -Xcompiler -fopenmp -c pragma.cu -o pragma.o
    done
fi

# Files that nvcc passes to gcc as C: one in plain C, and one that calls the API and a function of a .cu file.
cat >sum.c <<'end'
#include <stdlib.h>
int sum(int n, const int a[restrict n]) {
    int *class = malloc(sizeof *class), all = *class = 0;
    for (int i = 0; i < n; ++i) all += a[i];
    free(class);
    return all;
}
end
cat >main.c <<'end'
#include <cuda_runtime.h>
#include <stdlib.h>
void launch(int* p);
int sum(int n, const int* a);
int main(void) {
    int *p, *copy = malloc(128);
    struct cudaDeviceProp properties;
    if (cudaMalloc((void**)&p, 128) != cudaSuccess || cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 2;
    launch(p);
    cudaMemcpy(copy, p, 128, cudaMemcpyDeviceToHost);
    cudaFree(p);
    const int all = sum(properties.warpSize, copy);
    free(copy);
    return all != 496;
}
end
cat >launch.cu <<'end'
__global__ void kernel(int* p) { p[threadIdx.x] = threadIdx.x; }
extern "C" void launch(int* p) { kernel<<<1, 32>>>(p); }
end
ends 0 "$cudacpu" launch.cu sum.c main.c -std=c++17 -o program
ends 0 ./program

# A literal and a table that are longer than Perl's limit for repeated groups; digraphs; a function of the program with the name
# of one that CUDA has dropped.
awk 'BEGIN {
    while (n++ < 7000) long = long "ten letter"
    while (m++ < 40000) table = table "{1, 2}, "
    print "%:include <cstdio>\n#include <nvtx3/nvToolsExtMem.h>"
    print "const char *plain = \"" long "{\", *raw = R\"d(" long "\")\" {)d\";\nstruct { int a, b; } const table[] = {" table "};"
}' >odd.cu
cat >>odd.cu <<'end'
__device__ float4 __shfl_down(float4 v, unsigned n) { return {__shfl_down_sync(~0u, v.x, n), 0, 0, 0}; }
__global__ void kernel(float4* p) <% p<:threadIdx.x:> = __shfl_down(p<:threadIdx.x:>, 1); %>
int main() <%
    float4* p;
    cudaMallocManaged(&p, 32 * sizeof *p);
    for (int i = 0; i < 32; ++i) p<:i:> = {float(i), 0, 0, 0};
    kernel<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf("%zu %zu %d %g\n", strlen(plain), strlen(raw), table<:39999:>.b, p<:30:>.x);
    nvtxMemHeapUnregister(nvtxDomainCreateA("d"), NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    cudaFree(p);
%>
end
ends 0 "$cudacpu" odd.cu -o program
ends 0 ./program
must "it prints what it should" says '^70001 70005 2 31$' && must "without a word" test ! -s "$folder/err"
finish
