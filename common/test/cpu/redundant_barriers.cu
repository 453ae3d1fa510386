// redundant_barriers.cu - --hazards=all notes a barrier by which alone no conflict of the run was ordered.
// OPTIONS: --hazards=all
#include <cuda_runtime.h>

#include "case.cuh"

#define T int(threadIdx.x)

// ---- a barrier that the run did not need ---------------

// RUN: hazards own_element
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#own_element
__global__ void own_element(int* a) {
    a[T] += 1;
    __syncthreads();  // #own_element
    a[T] += 2;
}
CASE(own_element) { return own_element<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards at_the_end
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#at_the_end
__global__ void at_the_end(int* a) {
    __shared__ int s[64];
    s[T] = T;
    __syncthreads();
    a[T] = s[63 - T];
    __syncthreads();  // #at_the_end
}
CASE(at_the_end) { return at_the_end<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards twice
// SAYS-COUNT-2: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#twice_a
// SAYS: alone at redundant_barriers.cu:@#twice_b
__global__ void twice(int* a) {
    __shared__ int s[64];
    s[T] = T;
    __syncthreads();  // #twice_a
    __syncthreads();  // #twice_b
    a[T] = s[63 - T];
}
CASE(twice) { return twice<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards reads_only
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#reads_only
__global__ void reads_only(const int* in, int* a) {
    const int x = in[T];
    __syncthreads();  // #reads_only
    a[T] = x + in[63 - T];
}
CASE(reads_only) { return reads_only<<<1, 64>>>(device<int>(64), device<int>(64)), result(); }
// RUN: hazards other_arrays
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#other_arrays
__global__ void other_arrays(int* a, int* b) {
    a[T] = 1;
    __syncthreads();  // #other_arrays
    b[T] = 2;
}
CASE(other_arrays) { return other_arrays<<<1, 64>>>(device<int>(64), device<int>(64)), result(); }
// RUN: hazards before_the_tile
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#before_the_tile
__global__ void before_the_tile(const int* in, int* a) {
    __shared__ int s[64];
    const int x = in[T];
    __syncthreads();  // #before_the_tile
    s[T] = x;
    __syncthreads();
    a[T] = s[63 - T];
}
CASE(before_the_tile) { return before_the_tile<<<1, 64>>>(device<int>(64), device<int>(64)), result(); }
// RUN: hazards double_buffer
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#double_buffer
__global__ void double_buffer(int* a) {  // two buffers: the second barrier of a turn is not needed
    __shared__ int s[2][64];
    for (int k = 0; k < 4; ++k) {
        s[k % 2][T] = k;
        __syncthreads();
        a[T] += s[k % 2][63 - T];
        __syncthreads();  // #double_buffer
    }
}
CASE(double_buffer) { return double_buffer<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards registers
// SAYS-COUNT-1: note: in this run no conflict was ordered by this barrier alone
// SAYS: alone at redundant_barriers.cu:@#registers
__global__ void registers(int* a) {
    int x = T;
    __syncthreads();  // #registers
    x *= 2;
    a[T] = x;
}
CASE(registers) { return registers<<<1, 64>>>(device<int>(64)), result(); }

// ---- barriers that all are needed: no note ---------------

// RUN: hazards reverse
__global__ void reverse(int* a) {
    __shared__ int s[64];
    s[T] = a[T];
    __syncthreads();
    a[63 - T] = s[63 - T] + s[T];
}
CASE(reverse) { return reverse<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards reused_tile
__global__ void reused_tile(int* a) {
    __shared__ int s[64];
    for (int k = 0; k < 3; ++k) {
        s[T] = k;
        __syncthreads();
        a[T] += s[63 - T];
        __syncthreads();
    }
}
CASE(reused_tile) { return reused_tile<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards one_reader_is_the_writer
__global__ void one_reader_is_the_writer(int* a) {  // thread 0 reads and writes; the others only read before
    __shared__ int x;
    if (T == 0) x = 1;
    __syncthreads();
    a[T] = x;
    __syncthreads();
    if (T == 0) x = 2;
    __syncthreads();
    a[T] += x;
}
CASE(one_reader_is_the_writer) { return one_reader_is_the_writer<<<1, 64>>>(device<int>(64)), result(); }
__device__ unsigned ticket;
// RUN: hazards last_block
__global__ void last_block(int* part, int* out) {  // the barrier carries all threads' writes to the ticket
    __shared__ bool last;
    part[blockIdx.x * 64 + T] = T;
    __threadfence();
    __syncthreads();
    if (T == 0) last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    int sum = 0;
    for (int i = T; i < int(gridDim.x) * 64; i += 64) sum += part[(i + 64) % (gridDim.x * 64)];
    out[T] = sum;
}
CASE(last_block) { return last_block<<<2, 64>>>(device<int>(128), device<int>(128)), result(); }
// RUN: hazards votes
__global__ void votes(int* a) { a[T] = __syncthreads_count(T % 3 == 0); }
CASE(votes) { return votes<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards tree
__global__ void tree(int* a) {
    __shared__ int s[64];
    s[T] = a[T];
    __syncthreads();
    for (int d = 32; d; d /= 2) {
        if (T < d) s[T] += s[T + d];
        __syncthreads();
    }
    a[T] = s[0];
}
CASE(tree) { return tree<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards freed_after_use
__global__ void freed_after_use(int* a) {
    __shared__ int* p;
    if (T == 0) p = new int[64];
    __syncthreads();
    p[T] = T;
    a[T] = p[T];
    __syncthreads();
    if (T == 0) delete[] p;
}
CASE(freed_after_use) { return freed_after_use<<<1, 64>>>(device<int>(64)), result(); }
// RUN: hazards read_again_then_written
__global__ void read_again_then_written(int* a) {  // read before the barrier, read and written after it by one
    __shared__ int s[64];
    s[T] = T;
    __syncthreads();
    int x = s[63 - T];
    __syncthreads();
    x += s[T];
    s[T] = x;
    a[T] = x;
}
CASE(read_again_then_written) { return read_again_then_written<<<1, 64>>>(device<int>(64)), result(); }
