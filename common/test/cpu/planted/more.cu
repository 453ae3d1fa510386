// More mistakes, each of them found in somebody's first kernels.
// RUN: slow fix
#include "planted.cuh"

__device__ int block_total(int x) {
    __shared__ int sums[8];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    int all = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) all += sums[w];
    return all;
}
__global__ void total_twice(const int* in, int* out) {
    const int mean = block_total(in[threadIdx.x]) / 128;
    out[threadIdx.x] = block_total(abs(in[threadIdx.x] - mean));
}
PLANT(helper_called_twice) { total_twice<<<1, 128>>>(filled(128), zeros(128)); }

__global__ void any_work(const int* in, int* out) {
    __shared__ int left;
    int mine = in[threadIdx.x] % 4;
    for (;;) {
        if (threadIdx.x == 0) left = 0;
        __syncthreads();
        if (mine > 0) --mine, atomicAdd(&left, 1);
        __syncthreads();
        const bool done = left == 0;
        if (done) break;
    }
    out[threadIdx.x] = mine;
}
PLANT(count_cleared_early) { any_work<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void transposed(const int* in, int* out) {
    __shared__ int tile[8][33];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + x];
    out[x * 8 + y] = tile[y][31 - x] + tile[7 - y][x];
}
PLANT(tile_of_two_dimensions) { transposed<<<1, dim3(32, 8)>>>(filled(256), zeros(256)); }

__global__ void by_struct(int2* pairs, const int* in) {
    pairs[threadIdx.x].x = in[threadIdx.x];
    if (threadIdx.x < 63) pairs[threadIdx.x].y = pairs[threadIdx.x + 1].x;
}
PLANT(member_of_the_next) { by_struct<<<1, 64>>>(zeros<int2>(64), filled(64)); }

__global__ void slots(const int* in, int* slot) {
    const int h = in[threadIdx.x] % 8;
    if (slot[h] == 0) slot[h] = threadIdx.x + 1;  // FIXED: atomicCAS(slot + h, 0, threadIdx.x + 1);
}
PLANT(slot_if_free) { slots<<<1, 64>>>(filled(64), zeros(8)); }  // SAYS: atomic

__global__ void bits(unsigned* words, const int* in) {
    const int i = threadIdx.x;
    if (in[i] % 2) words[i / 32] |= 1u << i % 32;
}
PLANT(bits_set_plainly) { bits<<<1, 64>>>(zeros<unsigned>(2), filled(64)); }

__global__ void least_of_rows(const int* in, int* least) {
    const int row = threadIdx.x / 16;
    least[row] = min(least[row], in[threadIdx.x]);
}
PLANT(least_of_rows) { least_of_rows<<<1, 64>>>(filled(64), filled(4)); }

__global__ void rows_of_shared(float* out) {
    extern __shared__ float rows[];
    float* const mine = rows + blockDim.x * threadIdx.y;
    mine[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x + blockDim.x * threadIdx.y] = rows[threadIdx.x + blockDim.x * ((threadIdx.y + 1) % 4)];
}
PLANT(rows_of_other_warps) { rows_of_shared<<<1, dim3(32, 4), 4 * 128>>>(zeros<float>(128)); }

__global__ void pipelined(const int* in, int* out) {
    __shared__ int stage[2][64];
    const int t = threadIdx.x;
    stage[0][t] = in[t];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        if (k < 3) stage[(k + 1) % 2][t] = in[64 * (k + 1) + t];
        sum += stage[k % 2][63 - t];
    }
    out[t] = sum;
}
PLANT(stages_without_a_barrier) { pipelined<<<1, 64>>>(filled(256), zeros(64)); }

template <class T>
__device__ T* row_of(T (&m)[4][64], int i) {
    return m[i];
}
__global__ void by_pointer(const int* in, int* out) {
    __shared__ int m[4][64];
    int* const row = row_of(m, threadIdx.x % 4);
    row[threadIdx.x] = in[threadIdx.x];
    int* const next = row_of(m, (threadIdx.x + 1) % 64 % 4);
    out[threadIdx.x] = next[(threadIdx.x + 1) % 64];
}
PLANT(row_by_pointer) { by_pointer<<<1, 64>>>(filled(64), zeros(64)); }

__global__ void flagged(int* done, int* data, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *data = 9;
            atomicExch(done, 1);
        }
    } else if (threadIdx.x == 0) {
        while (atomicAdd(done, 0) == 0) {}
        *out = *data;
    }
}
PLANT(flag_by_atomics_no_fences) { flagged<<<2, 32>>>(zeros(1), zeros(1), zeros(1)); }

__global__ void in_one_word(unsigned char* bytes, const int* in) {
    bytes[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    if (threadIdx.x % 4 == 0) *(int*)(bytes + (threadIdx.x + 4) % 64) ^= 0x01010101;
}
PLANT(words_over_bytes) { in_one_word<<<1, 64>>>(zeros<unsigned char>(64), filled(64)); }

__global__ void norm(const float* in, float* out) {
    __shared__ float largest;
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float m = 0;
        for (int i = 0; i < 64; ++i) m = fmaxf(m, s[i]);
        largest = m;
    }
    s[threadIdx.x] /= largest;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(largest_read_early) { norm<<<1, 64>>>(filled<float>(64), zeros<float>(64)); }

__global__ void wait_in_a_branch(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (in[t] > 30) {
        s[t] = in[t];
        __syncthreads();  // FIXED: 
    } else {
        s[t] = 0;
        __syncthreads();  // FIXED: 
    }
#ifdef CURED
    __syncthreads();
#endif
    out[t] = s[63 - t];
}
PLANT(barrier_in_both_branches) { wait_in_a_branch<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: out of the branch

__global__ void column_sums(const int* m, int* sums) {
    for (int row = threadIdx.y; row < 16; row += blockDim.y) sums[threadIdx.x] += m[row * 32 + threadIdx.x];
}
PLANT(column_sums) { column_sums<<<1, dim3(32, 4)>>>(filled(512), zeros(32)); }
