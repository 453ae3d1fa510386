// Races: two accesses that nothing orders, the two lines, and what orders them. See also labelled/ and planted/.
#include "case.cuh"

#include <algorithm>
#include <iterator>

// ---- a barrier is missing

// RUN: hazards race_shared
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of a (races.cu:@#race_array) in kernel race_shared, block 0, at
// SAYS: @#race_write | a[threadIdx.x] = threadIdx.x;{{.*}}writes
// SAYS: @#race_read | p[threadIdx.x] = a[63 - threadIdx.x];{{.*}}reads
// SAYS: put __syncthreads() after line @#race_write
__global__ void race_shared(int* p) {
    __shared__ int a[64];                  // #race_array
    a[threadIdx.x] = threadIdx.x;          // #race_write
    p[threadIdx.x] = a[63 - threadIdx.x];  // #race_read
}
CASE(race_shared) { return race_shared<<<1, 64>>>(device<int>(64)), result(); }

// RUN: hazards race_tree
// STATUS: 1
// SAYS: race on element
// SAYS: __syncthreads(); }`
__global__ void race_tree(int* out) {
    __shared__ int a[128];
    a[threadIdx.x] = 1;
    __syncthreads();
    for (unsigned d = 64; d > 0; d /= 2)
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];  // #tree
    if (threadIdx.x == 0) *out = a[0];
}
CASE(race_tree) { return race_tree<<<1, 128>>>(device<int>(1)), result(); }

// RUN: hazards race_warp_tree
// STATUS: 1
// SAYS: race on element
// SAYS: __syncwarp(); }`
__global__ void race_warp_tree(int* out) {
    __shared__ int a[32];
    a[threadIdx.x] = 1;
    __syncwarp();
    for (unsigned d = 16; d > 0; d /= 2)
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];  // #warp_tree
    if (threadIdx.x == 0) *out = a[0];
}
CASE(race_warp_tree) { return race_warp_tree<<<1, 32>>>(device<int>(1)), result(); }

// RUN: hazards race_volatile_warp
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of a (races.cu:
// SAYS: @#volatile_warp |
// SAYS: put __syncthreads() after line @#before_it
__global__ void race_volatile_warp(int* out) {
    __shared__ int a[32];
    volatile int* v = a;
    v[threadIdx.x] = 1;                                           // #before_it
    if (threadIdx.x < 16) v[threadIdx.x] += v[threadIdx.x + 16];  // #volatile_warp
    out[threadIdx.x] = v[threadIdx.x];
}
CASE(race_volatile_warp) { return race_volatile_warp<<<1, 32>>>(device<int>(32)), result(); }

// RUN: hazards race_tile_reused
// STATUS: 1
// SAYS: @#reused | tile[threadIdx.x] = in[64 * i + threadIdx.x];
// SAYS: @#folded | sum += tile[(threadIdx.x + 32) % 64];
// SAYS: after line @#folded, inside the loop
__global__ void race_tile_reused(const int* in, int* out) {
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[threadIdx.x] = in[64 * i + threadIdx.x];  // #reused
        __syncthreads();
        sum += tile[(threadIdx.x + 32) % 64];  // #folded
    }
    out[threadIdx.x] = sum;
}
CASE(race_tile_reused) { return race_tile_reused<<<1, 64>>>(device<int>(256), device<int>(64)), result(); }

// Other threads look for the root of a tree that one of them already changes.
// RUN: hazards race_roots
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of parent
// SAYS: put __syncthreads() after line @#roots_found
__device__ int root_of(const int* parent, int i) {
    while (i != parent[i]) i = parent[i];
    return i;
}
__global__ void all_roots(const int* parent, int* out) { out[threadIdx.x] = root_of(parent, threadIdx.x); }
__global__ void race_roots(int* parent) {
    const int a = root_of(parent, threadIdx.x);
    const int b = root_of(parent, (threadIdx.x + 1) % 32);  // #roots_found
    if (a != b) atomicExch(parent + max(a, b), min(a, b));
}
CASE(race_roots) {
    int *const parent = device<int>(32), roots[32];
    for (int i = 0; i < 32; ++i) roots[i] = i;
    cudaMemcpy(parent, roots, sizeof roots, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; ++i) {
        all_roots<<<1, 32>>>(parent, device<int>(32));
        race_roots<<<1, 32>>>(parent);
    }
    return result();
}

// The writing line copies by a function of the library or of the compiler.
// RUN: hazards race_memcpy
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of rows
// SAYS: @#memcpy | if (N == 1)
// SAYS: @#copied | out[threadIdx.x] = rows
// RUN: hazards race_copy
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of rows
// SAYS: @#copy | if (N == 2)
// SAYS: @#copied | out[threadIdx.x] = rows
// RUN: hazards race_memset
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of rows
// SAYS: @#memset | if (N == 3)
// SAYS: @#copied | out[threadIdx.x] = rows
// RUN: hazards race_memmove
// STATUS: 1
// SAYS: race on element {{[0-9]+}} of rows
// SAYS: @#memmove | if (N == 4)
// SAYS: @#copied | out[threadIdx.x] = rows
template <int N>
__global__ void race_copied(int* out) {
    __shared__ int rows[64][16];
    int own[16] = {};
    if (N == 1) __builtin_memcpy(rows[threadIdx.x], own, sizeof own);               // #memcpy
    if (N == 2) std::copy(std::begin(own), std::end(own), rows[threadIdx.x]);       // #copy
    if (N == 3) __builtin_memset(rows[threadIdx.x], int(threadIdx.x), sizeof own);  // #memset
    if (N == 4) __builtin_memmove(rows[threadIdx.x], own + 1, sizeof own / 2);      // #memmove
    out[threadIdx.x] = rows[63 - threadIdx.x][3];                                   // #copied
}
CASE(race_memcpy) { return race_copied<1><<<1, 64>>>(device<int>(64)), result(); }
CASE(race_copy) { return race_copied<2><<<1, 64>>>(device<int>(64)), result(); }
CASE(race_memset) { return race_copied<3><<<1, 64>>>(device<int>(64)), result(); }
CASE(race_memmove) { return race_copied<4><<<1, 64>>>(device<int>(64)), result(); }

// ---- an atomic is missing

// RUN: hazards race_blocks
// STATUS: 1
// SAYS: race on element 0 of p
// SAYS: in kernel race_blocks, blocks {{[0-3] and [0-3]}}, at
// SAYS: @#race_blocks | *p += 1;
// SAYS: write `atomicAdd(p, 1)`
__global__ void race_blocks(int* p) {
    *p += 1;  // #race_blocks
}
CASE(race_blocks) { return race_blocks<<<4, 1>>>(device<int>(1)), result(); }

// RUN: hazards race_histogram
// STATUS: 1
// SAYS: race on element {{[0-7]}} of bins (races.cu:
// SAYS: @#bins | ++bins[in[threadIdx.x]];
// SAYS: write `atomicAdd(&bins[in[threadIdx.x]], 1)`
__global__ void race_histogram(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    ++bins[in[threadIdx.x]];  // #bins
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
CASE(race_histogram) { return race_histogram<<<1, 256>>>(device<int>(256), device<int>(8)), result(); }

// The order of the threads is such that an update is lost.
// RUN: hazards lost_update
// STATUS: 1
// SAYS: lost 1
// SAYS: write `atomicAdd(&sum, 1)`
__global__ void lost_update(int* p) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = 0; i < 20; ++i) sum += 1;
    __syncthreads();
    if (threadIdx.x == 0) *p = sum;
}
CASE(lost_update) {
    int* p = managed<int>(1);
    lost_update<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    return printf("lost %d\n", *p < 64 * 20), 0;
}

// RUN: hazards race_volatile
// STATUS: 1
// SAYS: @#volatile | *p = *p + 1;{{.*}}write
// SAYS: write `atomicAdd((int*)p, 1)`
__global__ void race_volatile(volatile int* p) {
    *p = *p + 1;  // #volatile
}
CASE(race_volatile) { return race_volatile<<<1, 32>>>(device<int>(1)), result(); }

// RUN: hazards race_atomic_plain
// STATUS: 1
// SAYS: @#mixed_atomic | atomicAdd(p, 1);
// SAYS: does an atomic
// SAYS: uses no atomic
__global__ void race_atomic_plain(int* p) {
    if (threadIdx.x)
        atomicAdd(p, 1);  // #mixed_atomic
    else
        *p = 5;
}
CASE(race_atomic_plain) { return race_atomic_plain<<<1, 64>>>(device<int>(1)), result(); }

// RUN: hazards race_read_counter
// STATUS: 1
// SAYS: of count (case.cuh:
// SAYS: line @#read_counter uses no atomic
__global__ void race_read_counter(int* count, int* out) {
    if (*count < 40) out[threadIdx.x] = 1;  // #read_counter
    atomicAdd(count, 1);
}
CASE(race_read_counter) { return race_read_counter<<<2, 64>>>(device<int>(1), device<int>(64)), result(); }

// ---- a fence is missing, or the ticket is drawn too early

__device__ unsigned tickets;

// RUN: hazards race_no_fence
// STATUS: 1
// SAYS: race on element {{[0-7]}} of partial
// SAYS: blocks {{[0-7] and [0-7]}}, at
// SAYS: put __threadfence() before line
__global__ void race_no_fence(int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x;  // #unfenced
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}
CASE(race_no_fence) { return race_no_fence<<<8, 32>>>(device<int>(8), device<int>(1)), result(); }

// RUN: hazards race_early_ticket
// STATUS: 1
// SAYS: of all (case.cuh:
// SAYS: @#after_ticket | atomicAdd(out, all[i]);
// SAYS: put __syncthreads() after line @#all
__global__ void race_early_ticket(int* all, int* out) {
    __shared__ bool last;
    all[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // #all
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; last && i < gridDim.x * blockDim.x; i += blockDim.x)
        atomicAdd(out, all[i]);  // #after_ticket
}
CASE(race_early_ticket) { return race_early_ticket<<<8, 64>>>(device<int>(512), device<int>(1)), result(); }

// ---- an index is wrong

// RUN: hazards race_overlap
// STATUS: 1
// SAYS: of out (case.cuh:
// SAYS: block {{[01] thread [0-9]+ and block [01] thread [0-9]+}} write
// SAYS: check the index `blockIdx.x * (blockDim.x - 1) + threadIdx.x` in line @#overlap
// SAYS: let one thread write
__global__ void race_overlap(int* out) {
    out[blockIdx.x * (blockDim.x - 1) + threadIdx.x] = blockIdx.x;  // #overlap
}
CASE(race_overlap) { return race_overlap<<<2, 64>>>(device<int>(128)), result(); }

// RUN: hazards race_neighbour
// STATUS: 1
// SAYS: @#neighbour | const int next =
// SAYS: let line @#own write into another array
__global__ void race_neighbour(int* a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int next = a[(i + 1) % (gridDim.x * blockDim.x)];  // #neighbour
    __syncthreads();
    a[i] = next + 1;  // #own
}
CASE(race_neighbour) { return race_neighbour<<<2, 64>>>(device<int>(128)), result(); }

// clang before version 16 hides where a struct is copied.
// RUN: gcc hazards race_struct
// STATUS: 1
// SAYS: of all (case.cuh:
// SAYS: @#struct | *all = all[1 + threadIdx.x];
// SAYS: threads {{[0-9]+ and [0-9]+}} write
// SAYS: check the index of line @#struct
struct Vector {
    int x, y, z;
};
__global__ void race_struct(Vector* all) {
    *all = all[1 + threadIdx.x];  // #struct
}
CASE(race_struct) {
    Vector* all = managed<Vector>(65);
    for (int i = 0; i < 65; ++i) all[i] = {i, i, i};
    return race_struct<<<1, 64>>>(all), result();
}
