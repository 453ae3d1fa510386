#!/bin/sh
# moved_source.sh CUDACPU: tests that verdicts about array bounds and barriers are the same when the program's source is gone.
# Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/../lib.sh"
cudacpu=$(realpath "$1")
mkdir "$folder/source" && cd "$folder/source" || exit 1
cat >bounds.cu <<'end'
#include <cstdio>
#define ELEMENT(array, i) array[i]
__device__ int table[4];
__global__ void past_local(int* p, int i) {
    int mine[4] = {p[0], p[1], p[2], p[3]};
    p[0] = mine[i];
}
__global__ void past_global(int* p, int i) { p[0] = ELEMENT(table, i); }
__global__ void another(int* p) {  // whose arrays have the same names
    __shared__ int mine[4];
    mine[threadIdx.x] = p[threadIdx.x];
}
__global__ void a_row_as_an_array(int* p, int i) {
    __shared__ int tile[2][4];
    tile[threadIdx.x / 4][threadIdx.x % 4] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[0][i + threadIdx.x];
}
__global__ void in_loop(int n) {
    for (int i = 0; i < n; ++i)
        if (threadIdx.x % 2) __syncthreads();
    __syncthreads();
}
int main(int count, char** words) {
    int* p;
    cudaMallocManaged(&p, 32);
    for (int i = 0; i < 8; ++i) p[i] = i;
    switch (words[1][0] - '0') {
    case 0: past_local<<<1, 1>>>(p, 5); break;
    case 1: past_global<<<1, 1>>>(p, 5); break;
    case 2: a_row_as_an_array<<<1, 8>>>(p, 0); break;
    case 3: in_loop<<<1, 8>>>(3); break;
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
end
"$cudacpu" bounds.cu -o "$folder/bounds" --hazards || exit 1
verdicts() {
    ends 1 "$folder/bounds" 0
    must "past a local array" says "element 5 of an array 'int \[4\]'"
    ends 1 "$folder/bounds" 1
    must "past a variable of the device, in a macro" says "element 5 of an array 'int \[4\]'"
    ends 0 "$folder/bounds" 2
    ends 1 "$folder/bounds" 3
    must "different barriers" says "divergent barrier"
}
verdicts
mv "$folder/source" "$folder/moved"
cd "$folder" || exit 1
verdicts
must "the barrier is in a branch in a loop" says "branch, and let all take as many rounds"
finish
