// Right programs that look suspicious: none of them may cause a report.
#include <cooperative_groups.h>

#include "case.cuh"

#include <atomic>
#include <thread>
#include <utility>

constexpr int n = 1024, sum = n / 8 * 28;
// i % 8 for each i
static int* input() {
    int* const in = managed<int>(n);
    for (int i = 0; i < n; ++i) in[i] = i % 8;
    return in;
}
__device__ unsigned tickets;
__device__ int mutex_;

// ---- the last block reads what all blocks have written

// RUN: plain,hazards last_block
__global__ void last_block(const int* in, int* partial, int* out) {
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}
CASE(last_block) {
    int* const out = managed<int>(1);
    last_block<<<16, 64>>>(input(), managed<int>(16), out);
    return result(out, sum);
}

// RUN: plain,hazards last_block_of_all
__global__ void last_block_of_all(const int* in, int* copy, int* out, bool all_fence) {
    __shared__ bool last;
    copy[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (all_fence) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (!all_fence) __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last)
        for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) atomicAdd(out, copy[i]);
}
CASE(last_block_of_all) {
    int *const in = input(), *const copy = managed<int>(n), *const out = managed<int>(2);
    last_block_of_all<<<16, 64>>>(in, copy, out, true);
    last_block_of_all<<<16, 64>>>(in, copy, out + 1, false);
    return result(out, sum) || out[1] != sum;
}

// Each block adds what its predecessors have published: 1 its own sum, 2 the sum of all up to it. A block takes its
// number when it starts, so it waits only for blocks that have started.
// RUN: plain,hazards look_back
__global__ void look_back(const int* in, volatile int* state, int* own, int* upto) {
    __shared__ int sum, block;
    if (threadIdx.x == 0) sum = 0, block = atomicInc(&tickets, gridDim.x - 1);
    __syncthreads();
    atomicAdd(&sum, in[block * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        own[block] = sum;
        __threadfence();
        state[block] = 1;
        int before = 0, s = 0;
        for (int i = block - 1; i >= 0 && s != 2; --i) {
            while (!(s = state[i])) continue;
            __threadfence();
            before += s == 2 ? upto[i] : own[i];
        }
        upto[block] = before + sum;
        __threadfence();
        state[block] = 2;
    }
}
CASE(look_back) {
    int *const own = managed<int>(16), *const upto = managed<int>(16);
    look_back<<<16, 64>>>(input(), managed<int>(16), own, upto);
    return result(upto + 15, sum);
}

// ---- atomics

// RUN: plain,hazards cas_loop
__device__ void max_by_cas(float* address, float value) {
    int* bits = (int*)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS(bits, assumed, __float_as_int(value));
    } while (old != assumed);
}
__global__ void cas_loop(float* p) { max_by_cas(p, float(blockIdx.x * blockDim.x + threadIdx.x)); }
CASE(cas_loop) {
    float* const out = managed<float>(1);
    cas_loop<<<4, 64>>>(out);
    return result(out, 255.f);
}

// RUN: plain,hazards filter
__global__ void filter(const int* in, int n, int* out, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 3) out[atomicAdd(count, 1)] = in[i];
}
CASE(filter) {
    int* const count = managed<int>(1);
    filter<<<8, 128>>>(input(), 1000, managed<int>(n), count);
    return result(count, 500);
}

// RUN: plain,hazards warp_filter
__global__ void warp_filter(const int* in, int* out, int* count) {
    const int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (x <= 3) return;
    const unsigned active = __activemask();
    const int leader = __ffs(active) - 1, lane = threadIdx.x % 32;
    int first;
    if (lane == leader) first = atomicAdd(count, __popc(active));
    first = __shfl_sync(active, first, leader);
    out[first + __popc(active & ((1u << lane) - 1))] = x;
}
CASE(warp_filter) {
    int* const count = managed<int>(1);
    warp_filter<<<8, 128>>>(input(), managed<int>(n), count);
    return result(count, 512);
}

// RUN: plain,hazards grid_stride
__global__ void grid_stride(const int* in, int n, int* out) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    atomicAdd(out, sum);
}
CASE(grid_stride) {
    int* const out = managed<int>(1);
    grid_stride<<<3, 64>>>(input(), n, out);
    return result(out, sum);
}

// A node of the front already has its level: no CAS of a neighbour changes it while it is read.
// RUN: plain,hazards next_level
__global__ void next_level(const int* front, int n, int* level, int* next, int* size) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const int v = front[i], mine = level[v];
    for (int w = v + 1; w <= v + 2; ++w)
        if (atomicCAS(&level[w % 64], 0, mine + 1) == 0) next[atomicAdd(size, 1)] = w % 64;
}
CASE(next_level) {
    int *front = device<int>(64), *next = device<int>(64), *level = managed<int>(64), *size = managed<int>(1);
    level[0] = 1;
    for (*size = 1; *size; std::swap(front, next)) {
        next_level<<<1, 32>>>(front, std::exchange(*size, 0), level, next, size);
        if (result()) return 98;
    }
    return level[1] != 2 || level[62] != 32 || level[63] != 33;
}

// ---- locks

// RUN: plain,hazards lock
__global__ void lock(int* counter) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&mutex_, 0, 1) != 0) continue;
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch(&mutex_, 0);
    }
}
CASE(lock) {
    int* const counter = managed<int>(1);
    lock<<<4, 128>>>(counter);
    return result(counter, 16);
}

// The plain build does not preempt a spin on volatile data, so it cannot run this one.
// RUN: hazards volatile_under_lock
__global__ void volatile_under_lock(volatile int* counter) {
    if (threadIdx.x % 8 == 0) {
        while (atomicCAS(&mutex_, 0, 1) != 0) continue;
        __threadfence();
        *counter = *counter + 1;
        __threadfence();
        atomicExch(&mutex_, 0);
    }
}
CASE(volatile_under_lock) {
    int* const counter = managed<int>(1);
    volatile_under_lock<<<4, 64>>>(counter);
    return result(counter, 32);
}

// Every thread takes the lock.
// RUN: plain,hazards best
__device__ int best_index, best_value = -1;
__global__ void best(const int* in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (bool done = false; !done;) {
        if (atomicCAS(&mutex_, 0, 1) != 0) continue;
        __threadfence();
        if (in[i] > best_value) best_value = in[i], best_index = i;
        __threadfence();
        atomicExch(&mutex_, 0);
        done = true;
    }
}
CASE(best) {
    int value;
    best<<<4, 64>>>(input());
    cudaMemcpyFromSymbol(&value, best_value, sizeof value);
    return result(&value, 7);
}

// ---- volatile flags

// RUN: plain,hazards volatile_flag
__global__ void volatile_flag(volatile int* flag, int* data, int* out) {
    if (threadIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (!*flag) __nanosleep(1);
        __threadfence();
        *out = *data;
    }
}
CASE(volatile_flag) {
    int* const out = managed<int>(1);
    volatile_flag<<<1, 2>>>(managed<int>(1), managed<int>(1), out);
    return result(out, 42);
}

// No fence is needed, because the two threads share nothing but the flag.
// RUN: hazards ping_pong
__global__ void ping_pong(volatile int* turn, int* out) {
    for (int i = 0; i < 20; ++i) {
        while (*turn % 2 != int(threadIdx.x)) continue;
        *turn = *turn + 1;
    }
    if (threadIdx.x == 1) *out = *turn;
}
CASE(ping_pong) {
    int* const out = managed<int>(1);
    ping_pong<<<1, 2>>>(managed<int>(1), out);
    return result() || *out < 39;
}

// RUN: hazards stop_flag
__global__ void stop_flag(volatile int* stop, const int* in) {
    for (int i = threadIdx.x; i < n && !*stop; i += blockDim.x)
        if (in[i] == 7) *stop = 1;
}
CASE(stop_flag) {
    int* const stop = managed<int>(1);
    stop_flag<<<2, 64>>>(stop, input());
    return result(stop, 1);
}

// RUN: plain same_value
// RUN: hazards same_value
// SAYS: note: race, but of equal values, on element 0 of found
__global__ void same_value(bool* found) {
    if (threadIdx.x % 3 == 0) *found = true;
}
CASE(same_value) {
    bool* const found = managed<bool>(1);
    same_value<<<2, 64>>>(found);
    return result(found, true);
}

// ---- shared memory

// RUN: plain,hazards warp_sync
__global__ void warp_sync(int* out) {
    __shared__ int a[32];
    a[threadIdx.x] = 1;
    for (unsigned d = 16; d > 0; d /= 2) {
        __syncwarp();
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
    }
    if (threadIdx.x == 0) *out = a[0];
}
CASE(warp_sync) {
    int* const out = managed<int>(1);
    warp_sync<<<1, 32>>>(out);
    return result(out, 32);
}

// RUN: plain,hazards tile_sync
__global__ void tile_sync(int* out) {
    __shared__ int a[64];
    const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    int* mine = a + 16 * tile.meta_group_rank();
    const int i = tile.thread_rank();
    mine[i] = 1;
    for (int d = 8; d > 0; d /= 2) {
        tile.sync();
        if (i < d) mine[i] += mine[i + d];
    }
    if (i == 0) atomicAdd(out, mine[0]);
}
CASE(tile_sync) {
    int* const out = managed<int>(1);
    tile_sync<<<1, 64>>>(out);
    return result(out, 64);
}

// RUN: plain,hazards double_buffer
__global__ void double_buffer(int* out) {
    __shared__ int a[2][64];
    int from = 0;
    a[0][threadIdx.x] = threadIdx.x;
    for (int d = 1; d < 64; d *= 2, from = 1 - from) {
        __syncthreads();
        a[1 - from][threadIdx.x] = a[from][threadIdx.x] + (int(threadIdx.x) >= d ? a[from][threadIdx.x - d] : 0);
    }
    __syncthreads();
    out[threadIdx.x] = a[from][threadIdx.x];
}
CASE(double_buffer) {
    int* const out = managed<int>(64);
    double_buffer<<<1, 64>>>(out);
    return result(out + 63, 63 * 32);
}

// The first warp loads what the second one adds.
// RUN: plain,hazards producer
__global__ void producer(const int* in, int* out) {
    __shared__ int buffer[2][32];
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int i = 0; i <= 8; ++i) {
        if (threadIdx.x < 32 && i < 8) buffer[i % 2][lane] = in[32 * i + lane];
        if (threadIdx.x >= 32 && i > 0) sum += buffer[(i - 1) % 2][31 - lane];
        __syncthreads();
    }
    if (threadIdx.x >= 32) atomicAdd(out, sum);
}
CASE(producer) {
    int* const out = managed<int>(1);
    producer<<<1, 64>>>(input(), out);
    return result(out, 256 / 8 * 28);
}

// RUN: plain,hazards tile_reused
__global__ void tile_reused(const int* in, int* out) {
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        __syncthreads();
        tile[threadIdx.x] = in[64 * i + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
CASE(tile_reused) {
    int *const in = input(), *const out = managed<int>(64);
    tile_reused<<<1, 64>>>(in, out);
    return result(out, 4 * in[63]);
}

// The address of out[i] is computed between the check of the index and the access.
// RUN: plain,hazards rows_as_one
__global__ void rows_as_one(int* out) {
    __shared__ int rows[8][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = 1;
    __syncthreads();
    out[threadIdx.x] = rows[0][63 - threadIdx.x];
}
CASE(rows_as_one) {
    int* const out = managed<int>(64);
    rows_as_one<<<1, 64>>>(out);
    return result(out + 63, 1);
}

// Neighbouring bytes of one word.
// RUN: plain,hazards bytes
__global__ void bytes(unsigned char* p) { p[threadIdx.x] = static_cast<unsigned char>(threadIdx.x); }
CASE(bytes) {
    unsigned char* const p = managed<unsigned char>(256);
    bytes<<<1, 256>>>(p);
    return result() || p[200] != 200;
}

// ---- the host

// Several threads of the host execute fences while a kernel runs.
// RUN: hazards host_fences
__global__ void answers(volatile int* question, volatile int* reply, int n) {
    __shared__ int asked[32];
    for (int i = 1; i <= n; ++i) {
        while (*question < i) continue;
        __threadfence_system();
        asked[threadIdx.x] = i;
        __syncthreads();
        if (threadIdx.x == 0) *reply = asked[31];
        __syncthreads();
    }
}
CASE(host_fences) {
    int* words;
    cudaMallocHost(&words, 8);
    volatile int *question = words, *reply = words + 1;
    *question = *reply = 0;
    answers<<<1, 32>>>(question, reply, 150);
    std::atomic<bool> stop(false);
    auto fences = [&] {
        while (!stop) std::atomic_thread_fence(std::memory_order_seq_cst), std::this_thread::yield();
    };
    std::thread one(fences), another(fences), third(fences);
    for (int i = 1; i <= 150; ++i) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        *question = i;
        while (*reply != i) std::this_thread::yield();
    }
    stop = true;
    one.join(), another.join(), third.join();
    return result() || cudaFreeHost(words);
}
