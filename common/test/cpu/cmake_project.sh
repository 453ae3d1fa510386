#!/bin/sh
# cmake_project.sh CUDACPU CMAKE: tests that CMake takes cudacpu for its CUDA compiler. It configures, builds and tests a project in
# C++ and CUDA, first plain and then with --hazards.
# Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(realpath "$1") cmake=$2
export CMAKE_BUILD_PARALLEL_LEVEL=2
unset CUDACXX CUDAHOSTCXX CUDAFLAGS CUDA_PATH CUDAToolkit_ROOT
mkdir "$folder/the project" && cd "$folder/the project" || exit 1
cat >CMakeLists.txt <<'end'
cmake_minimum_required(VERSION 3.18)
project(sums LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 17)
find_package(CUDAToolkit REQUIRED)
enable_testing()
add_library(twice STATIC twice.cu)
target_include_directories(twice PUBLIC include)
add_executable(cuda main.cu sum.cu)
target_link_libraries(cuda PRIVATE twice)
set_target_properties(twice cuda PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES "75;80")
add_executable(mixed main.cpp sum.cu)
target_link_libraries(mixed PRIVATE twice CUDA::cudart)
add_test(NAME cuda COMMAND cuda)
add_test(NAME mixed COMMAND mixed)
end
mkdir include
echo '__device__ int twice(int x);' >include/twice.cuh
printf '#include "twice.cuh"\n__device__ int twice(int x) { return 2 * x; }\n' >twice.cu
cat >sum.cu <<'end'
#include "twice.cuh"
__global__ void sum(const int* in, int* out) {
    __shared__ int all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
#ifdef RACY
    all += twice(in[threadIdx.x]);
#else
    atomicAdd(&all, twice(in[threadIdx.x]));
#endif
    __syncthreads();
    if (threadIdx.x == 0) *out = all;
}
int sum_of(int n) {
    int* p;
    cudaMallocManaged(&p, (n + 1) * sizeof(int));
    for (int i = 0; i < n; ++i) p[i] = i;
    sum<<<1, n>>>(p, p + n);
    cudaDeviceSynchronize();
    const int result = p[n];
    cudaFree(p);
    return result;
}
end
cat >main.cpp <<'end'
#include <cuda_runtime_api.h>
int sum_of(int n);
int main() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) != cudaSuccess || devices != 1 || sum_of(64) != 63 * 64;
}
end
cp main.cpp main.cu
# built BUILD FLAGS: configures and builds the project
built() {
    ends 0 "$cmake" -S . -B "$1" -DCMAKE_CUDA_COMPILER="$cudacpu" -DCMAKE_CUDA_FLAGS="$2"
    must "the toolkit is the CPU device's" grep -q '^CUDA_CUDART:.*/cpu/toolkit/' "$1/CMakeCache.txt"
    ends 0 "$cmake" --build "$1"
}
built plain ""
ends 0 "$cmake" -E chdir plain ctest --output-on-failure
built hazards "--hazards -DRACY"
for program in cuda mixed; do
    ends 1 "hazards/$program"
    must "the race in $program is found" says 'hazard: race on element 0 of all'
done
ends 0 "$cudacpu" --version
must "the version is one of CUDA" says 'release [0-9.]*, V[0-9]'
finish
