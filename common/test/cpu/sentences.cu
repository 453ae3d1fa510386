// sentences.cu - mistakes whose advice no program of planted/ shows, each a PLANT. sentences.pl runs them.
#include "planted/planted.cuh"
#include "sentences.cuh"

__global__ void between_files(int* out) {
    __shared__ int s[64];
    put(&s[threadIdx.x], 1);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(order_between_files) { between_files<<<1, 64>>>(zeros(64)); }

__global__ void blocks_between_files(int* data, int* out) {
    put(&data[blockIdx.x], 1);
    out[blockIdx.x] = data[1 - blockIdx.x];
}
PLANT(blocks_of_two_files) { blocks_between_files<<<2, 1>>>(zeros(2), zeros(2)); }

__global__ void added_in_two_files(int* sum) {
    raise(sum);
    *sum += 1;
}
PLANT(adds_in_two_files) { added_in_two_files<<<1, 64>>>(zeros(1)); }

__device__ void exchange_halves(int* s) {
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x] += s[63 - threadIdx.x] > 3;
}
__global__ void calls_for_some(int* out) {
    __shared__ int s[64];
    if (threadIdx.x % 3 != 1) exchange_halves(s);
    out[threadIdx.x] = 1;
}
PLANT(called_by_some) { calls_for_some<<<1, 64>>>(zeros(64)); }

__device__ void barrier_for_all() { __syncthreads(); }
__global__ void barrier_called_by_some(int* out) {
    if (threadIdx.x < 40) barrier_for_all();
    out[threadIdx.x] = 1;
}
PLANT(barrier_in_a_function) { barrier_called_by_some<<<1, 64>>>(zeros(64)); }

__global__ void rounds_differ(const int* in, int* out, int n) {
    __shared__ int s[64];
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        s[threadIdx.x] = in[k];
        __syncthreads();
        out[k] = s[threadIdx.x];
    }
}
PLANT(rounds_with_a_barrier) { rounds_differ<<<1, 64>>>(filled(100), zeros(100), 100); }

__global__ void rounds_by_data(int* out) {
    int k = threadIdx.x;
    while (k < 100) {
        out[k] = 1;
        __syncthreads();
        k += 64;
    }
}
PLANT(rounds_of_a_while) { rounds_by_data<<<1, 64>>>(zeros(128)); }

__global__ void bytes_counted(unsigned char* bins, const int* in) { bins[in[threadIdx.x] % 8]++; }
PLANT(bins_of_bytes) { bytes_counted<<<1, 64>>>(zeros<unsigned char>(8), filled(64)); }

__global__ void some_leave(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i >= n) return;
    int x = in[i];
    s[i] = x;
    out[i] = s[(i + 1) % n] + x;
}
PLANT(some_leave_before) { some_leave<<<1, 64>>>(filled(64), zeros(64), 50); }

__global__ void some_unset(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i >= n) return;
    s[i] = in[i];
    __syncthreads();
    out[i] = s[63 - i];
}
PLANT(unset_behind_a_return) { some_unset<<<1, 64>>>(filled(64), zeros(64), 50); }

__global__ void leaves_before_a_loop(int* out, int n) {
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i >= n) return;
    for (int k = i; k < 64; k += n) s[k] = k;
    __syncthreads();
    out[i] = s[63 - i];
}
PLANT(leaves_and_loops) { leaves_before_a_loop<<<1, 64>>>(zeros(64), 50); }

__global__ void some_set(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i < n) {
        s[i] = in[i];
        out[i] = 2;
    }
    __syncthreads();
    out[i] = s[63 - i];
}
PLANT(unset_in_a_branch) { some_set<<<1, 64>>>(filled(64), zeros(64), 50); }

__global__ void in_place_by_some(int* a, int n) {
    const int i = threadIdx.x;
    if (i < n) {
        const int half = a[i] / 2;
        a[i] = a[n - 1 - i] + half;
    }
}
PLANT(in_place_in_a_branch) { in_place_by_some<<<1, 64>>>(filled(64), 50); }

__global__ void last_block_wins(const int* in, int* out) { *out = in[blockIdx.x]; }
PLANT(one_word_for_blocks) { last_block_wins<<<2, 1>>>(filled(2), zeros(1)); }

__global__ void number_drawn(int* list, int* n) {
    const int at = *n;
    *n =  // a statement of two lines
        at + 1;
    list[at] = threadIdx.x;
}
PLANT(two_lines_dropped) { number_drawn<<<1, 64>>>(zeros(64), zeros(1)); }

__global__ void lanes_counted(const int* in, int* out, int* n) {
    if (in[threadIdx.x] % 2) return;
    const int lane = threadIdx.x % 32;
    int base = lane == 0 ? atomicAdd(n, __popc(0xffffffffu)) : 0;
    base = __shfl_sync(0xffffffffu, base, 0);
    out[base + lane] = in[threadIdx.x];
}
PLANT(mask_of_all_lanes) { lanes_counted<<<1, 32>>>(filled(32), zeros(64), zeros(1)); }

__global__ void two_parts(const double* in, double* out) {
    extern __shared__ unsigned char room[];
    double* value = reinterpret_cast<double*>(room);
    int* number = reinterpret_cast<int*>(room + blockDim.x);
    value[threadIdx.x] = in[threadIdx.x];
    number[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = value[63 - threadIdx.x] + number[threadIdx.x];
}
PLANT(parts_of_an_array) { two_parts<<<1, 64, 64 * 12>>>(filled<double>(64), zeros<double>(64)); }
