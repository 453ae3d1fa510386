// Asynchronous copies into shared memory (__pipeline_memcpy_async): nobody reads what a thread has not waited for.
#include <cuda_pipeline.h>

#include "case.cuh"

constexpr int threads = 64;

// RUN: plain,hazards in_turn
// RUN: counters in_turn
// SAYS: global load             2    32.0             8       4.00
// SAYS: shared store            6    32.0                                   0
// Two tiles in turn: one is on its way while the other is read.
__global__ void in_turn(const int* in, int* out, int tiles) {
    __shared__ int tile[2][threads];
    const int i = threadIdx.x, other = threads - 1 - i;
    int sum = 0;
    __pipeline_memcpy_async(&tile[0][i], &in[i], sizeof(int));
    __pipeline_commit();
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) __pipeline_memcpy_async(&tile[(t + 1) % 2][i], &in[(t + 1) * threads + i], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[t % 2][other];
        __syncthreads();
    }
    out[i] = sum;
}
CASE(in_turn) {
    int *in = managed<int>(4 * threads), *out = managed<int>(threads);
    for (int i = 0; i < 4 * threads; ++i) in[i] = i;
    in_turn<<<1, threads>>>(in, out, 4);
    return result(out, 4 * (threads - 1) + 6 * threads);
}

// RUN: plain,hazards last_elements
// The rest of the last tile is filled with zeros.
__global__ void last_elements(const int4* in, int4* out, int n) {
    __shared__ int4 tile[threads];
    const int i = threadIdx.x, ints = n - 4 * i < 0 ? 0 : n - 4 * i < 4 ? n - 4 * i : 4;
    __pipeline_memcpy_async(&tile[i], in + (ints ? i : 0), sizeof(int4), 4 * (4 - ints));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[threads - 1 - i];
}
CASE(last_elements) {
    int *in = managed<int>(4 * threads), *out = managed<int>(4 * threads);
    for (int i = 0; i < 4 * threads; ++i) in[i] = out[i] = i + 1;
    last_elements<<<1, threads>>>(reinterpret_cast<int4*>(in), reinterpret_cast<int4*>(out), 101);
    if (result()) return 98;
    int wrong = 0;
    for (int i = 0; i < 4 * threads; ++i) {
        const int from = 4 * (threads - 1 - i / 4) + i % 4;
        wrong += out[i] != (from < 101 ? from + 1 : 0);
    }
    return wrong;
}

// Wrong kernels: each reads before the copy is there.
template <int wait, bool commit, bool barrier>
__global__ void reads_early(const int* in, int* out) {
    __shared__ int tile[2][threads];
    const int i = threadIdx.x;
    for (int k = 0; k < 2; ++k) {
        __pipeline_memcpy_async(&tile[k][i], &in[k * threads + i], sizeof(int));
        if (commit) __pipeline_commit();
    }
    if (wait >= 0) __pipeline_wait_prior(wait);
    if (barrier) __syncthreads();
    out[i] = tile[0][i] + tile[1][barrier ? threads - 1 - i : i];  // #read
}
template <int wait, bool commit, bool barrier>
int run() {
    int *in = managed<int>(2 * threads), *out = managed<int>(threads);
    reads_early<wait, commit, barrier><<<1, threads>>>(in, out);
    return result(out, 0);
}
// RUN: plain never_waits
// STATUS: 1
// RUN: hazards never_waits
// STATUS: 1
// SAYS: a value that an asynchronous copy has not brought yet: element
// SAYS: async_copies.cu:@#read
// SAYS: calls __pipeline_wait_prior(0)
CASE(never_waits) { return run<-1, true, true>(); }

// RUN: hazards waits_for_first
// STATUS: 1
// SAYS: a value that an asynchronous copy has not brought yet: element
CASE(waits_for_first) { return run<1, true, true>(); }

// RUN: hazards not_committed
// STATUS: 1
// SAYS: a value that an asynchronous copy has not brought yet: element
CASE(not_committed) { return run<0, false, true>(); }

// RUN: hazards own_element
// STATUS: 1
// SAYS: a value that an asynchronous copy has not brought yet: element
CASE(own_element) { return run<-1, true, false>(); }

// RUN: plain,hazards waits
CASE(waits) { return run<0, true, true>(); }

// RUN: hazards pads_early
// STATUS: 1
// SAYS: a write to the destination of an asynchronous copy that has not ended, which may be lost: element 60 of tile
// SAYS: async_copies.cu:@#started
// SAYS: calls __pipeline_wait_prior(0) first
__global__ void pads_early(const int* in, int* out) {
    __shared__ int tile[threads];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int));  // #started
    __pipeline_commit();
    if (i >= 60) tile[i] = 0;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[threads - 1 - i];
}
CASE(pads_early) { return pads_early<<<1, threads>>>(managed<int>(threads), managed<int>(threads)), result(); }

// A copy arrives late: whoever still reads the tile has to be waited for first.
// RUN: hazards filled_anew
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of tile
// SAYS-NOT: asynchronous
// SAYS:   __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int));
__global__ void filled_anew(const int* in, int* out) {
    __shared__ int tile[threads];
    const int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    out[i] = tile[threads - 1 - i];
    __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
CASE(filled_anew) { return filled_anew<<<1, threads>>>(managed<int>(threads), managed<int>(threads)), result(); }

// RUN: plain six_bytes
// STATUS: 219
// SAYS: __pipeline_memcpy_async() of other than 4, 8 or 16 bytes
__global__ void six_bytes(const int* in) {
    __shared__ int tile[2];
    __pipeline_memcpy_async(tile, in, 6);
}
CASE(six_bytes) { return six_bytes<<<1, 1>>>(managed<int>(2)), result(); }
