// Mistakes in code as libraries have it: templates, helper functions, structs; fences, locks, streams, warps.
// RUN: slow fix
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <utility>

#include "planted.cuh"

template <int BLOCK>
__device__ void warp_tail_reduce(int* smem, int lane) {
#pragma unroll
    for (int delta = 16; delta > 0; delta >>= 1) {
        if (lane < delta) smem[lane] += smem[lane + delta];
    }
}
template <int BLOCK>
__global__ void warp_tail_kernel(const int* __restrict__ input, int* __restrict__ output) {
    __shared__ int smem[BLOCK];
    const int tid = threadIdx.x;
    smem[tid] = input[blockIdx.x * BLOCK + tid];
    __syncthreads();
#pragma unroll
    for (int s = BLOCK / 2; s >= 32; s >>= 1) {
        if (tid < s) smem[tid] += smem[tid + s];
        __syncthreads();
    }
    if (tid < 32) warp_tail_reduce<BLOCK>(smem, tid);
    if (tid == 0) output[blockIdx.x] = smem[0];
}
PLANT(warp_tail) {
    int* out = zeros(2);
    warp_tail_kernel<256><<<2, 256>>>(filled(512), out);
    wants(out, 2, [](int b) {
        int s = 0;
        for (int k = 0; k < 256; ++k) s += in_at(b * 256 + k);
        return s;
    });
}

__global__ void half_warp_max(const int* in, int* out) {
    const unsigned lane = threadIdx.x & 31;
    int v = in[threadIdx.x];
    if (lane < 16) {
        for (int d = 8; d > 0; d >>= 1) {
            int o = __shfl_down_sync(0xffffffffu, v, d, 16);  // FIXED: int o = __shfl_down_sync(0xffffu, v, d, 16);
            v = v > o ? v : o;
        }
        if (lane == 0) out[threadIdx.x / 32] = v;
    }
}
PLANT(shuffle_mask) {
    int* out = zeros(2);
    half_warp_max<<<1, 64>>>(filled(64), out);
    wants(out, 2, [](int w) {
        int m = 0;
        for (int k = 0; k < 16; ++k) m = max(m, in_at(32 * w + k));
        return m;
    });
}

struct Stats {
    int peak;
    int pad[7];
};
__device__ __forceinline__ void note_peak(Stats* stats, int v) {
    if (v > stats->peak) stats->peak = v;
}
__global__ void find_peak(const int* samples, Stats* stats, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) note_peak(stats, samples[i]);
}
PLANT(running_max) {
    Stats* stats = zeros<Stats>(1);
    find_peak<<<4, 64>>>(filled(1000), stats, 1000);
    wants(&stats->peak, 1, [](int) { return 101; });
}

__device__ double atomic_add_double(double* address, double val) {
    unsigned long long* word = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *word, assumed;
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    return __longlong_as_double(old);
}
__global__ void energy(const double* e, double* sum) {
    atomic_add_double(sum, e[blockIdx.x * blockDim.x + threadIdx.x]);
}
PLANT(cas_once) {  // MISS cas_once
    double* sum = zeros<double>(1);
    energy<<<2, 64>>>(filled<double>(128), sum);
    wants(sum, 1, [](int) {
        int s = 0;
        for (int k = 0; k < 128; ++k) s += in_at(k);
        return s;
    });
}

struct Mailbox {
    int payload[32];
    int ready;
};
__device__ void post(Mailbox* box, int value) {
    box->payload[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&box->ready, 1);
}
__device__ int receive(Mailbox* box) {
    if (threadIdx.x == 0) {
        while (atomicAdd(&box->ready, 0) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    return box->payload[31 - threadIdx.x];
}
__global__ void exchange(Mailbox* box, const int* in, int* out) {
    if (blockIdx.x == 0)
        post(box, in[threadIdx.x]);
    else
        out[threadIdx.x] = receive(box);
}
PLANT(flag_without_fence) {
    int* out = zeros(32);
    exchange<<<2, 32>>>(zeros<Mailbox>(1), filled(32), out);
    wants(out, 32, [](int i) { return in_at(31 - i); });
}

__device__ unsigned int blocks_done = 0;
template <typename T>
__global__ void single_pass_sum(const T* in, volatile T* partials, T* result) {
    __shared__ T s[64];
    __shared__ bool am_last;
    s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = s[0];
        unsigned int ticket = atomicInc(&blocks_done, gridDim.x);
        am_last = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (am_last && threadIdx.x == 0) {
        T t = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) t += partials[b];
        *result = t;
        blocks_done = 0;
    }
}
PLANT(last_block) {
    int* out = zeros(1);
    single_pass_sum<int><<<8, 64>>>(filled(512), zeros(8), out);
    wants(out, 1, [](int) {
        int s = 0;
        for (int k = 0; k < 512; ++k) s += in_at(k);
        return s;
    });
}

class SpinLock {
public:
    __device__ void lock() {
        while (atomicCAS(&state, 0, 1) != 0) {
        }
        __threadfence();
    }
    __device__ void unlock() {
        atomicExch(&state, 0);
    }
    int state;
};
struct Account {
    SpinLock mutex;
    int balance;
    int transactions;
};
__global__ void deposit(Account* account, const int* amounts) {
    if (threadIdx.x == 0) {
        account->mutex.lock();
        account->balance += amounts[blockIdx.x];
        account->transactions++;
        account->mutex.unlock();
    }
}
PLANT(spin_lock) {
    Account* a = zeros<Account>(1);
    deposit<<<16, 32>>>(a, filled(16));
    wants(&a->balance, 2, [](int i) {
        int s = 0;
        for (int k = 0; k < 16; ++k) s += i ? 1 : in_at(k);
        return s;
    });
}

enum { SCAN_INVALID = 0, SCAN_READY = 2 };
__global__ void chained_scan(const int* in, int* out, volatile int* inclusive, volatile int* status) {
    __shared__ int tile[32];
    __shared__ int prefix;
    const int b = blockIdx.x, t = threadIdx.x;
    tile[t] = in[b * 32 + t];
    __syncthreads();
    for (int d = 1; d < 32; d *= 2) {
        int add = t >= d ? tile[t - d] : 0;
        __syncthreads();
        tile[t] += add;
        __syncthreads();
    }
    if (t == 0) {
        int before = 0;
        if (b > 0) {
            while (status[b - 1] != SCAN_READY) {
            }
            __threadfence();
            before = inclusive[b - 1];
        }
        inclusive[b] = before + tile[31];
        status[b] = SCAN_READY;
        prefix = before;
    }
    __syncthreads();
    out[b * 32 + t] = prefix + tile[t];
}
PLANT(look_back) {
    int* out = zeros(128);
    chained_scan<<<4, 32>>>(filled(128), out, zeros(4), zeros(4));
    wants(out, 128, [](int i) {
        int s = 0;
        for (int k = 0; k <= i; ++k) s += in_at(k);
        return s;
    });
}

namespace signal {
__device__ inline void publish(int* slot, int value, int* flag) {
    *slot = value;
    __threadfence_block();
    *(volatile int*)flag = 1;
}
__device__ inline int await_value(const int* slot, int* flag) {
    while (*(volatile int*)flag != 1) {
    }
    __threadfence();
    return *slot;
}
}  // namespace signal
__global__ void ping(int* slot, int* flag, int* result) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) signal::publish(slot, 42, flag);
    if (blockIdx.x == 0) *result = signal::await_value(slot, flag);
}
PLANT(block_fence) {
    int* result = zeros(1);
    ping<<<2, 32>>>(zeros(1), zeros(1), result);
    wants(result, 1, [](int) { return 42; });
}

__global__ void produce(float* x) { x[threadIdx.x] = threadIdx.x * 0.5f; }
__global__ void consume(const float* x, float* y) { y[threadIdx.x] = x[63 - threadIdx.x] + 1; }
PLANT(two_streams) {
    float *x = zeros<float>(64), *y = zeros<float>(64);
    cudaStream_t upstream, downstream;
    cudaStreamCreateWithFlags(&upstream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&downstream, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    produce<<<1, 64, 0, upstream>>>(x);
    consume<<<1, 64, 0, downstream>>>(x, y);  // FIXED: cudaStreamSynchronize(upstream); consume<<<1, 64, 0, downstream>>>(x, y);
    cudaDeviceSynchronize();
    wants(y, 64, [](int i) { return (63 - i) * 0.5f + 1; });
    cudaStreamDestroy(upstream);
    cudaStreamDestroy(downstream);
}

__global__ void mirrored(const int* in, int* out, int tiles) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier met;
    __shared__ int tile[96];
    if (!threadIdx.x) init(&met, blockDim.x);
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        tile[threadIdx.x] = in[k * 96 + threadIdx.x];
        auto arrived = met.arrive();
        int v = tile[95 - threadIdx.x];
        met.wait(std::move(arrived));
        out[k * 96 + threadIdx.x] = v;
        met.arrive_and_wait();
    }
}
PLANT(read_between_arrive_and_wait) {  // SAYS: put __syncthreads() after line
    int* out = zeros(96 * 3);
    mirrored<<<1, 96>>>(filled(96 * 3), out, 3);
    wants(out, 96 * 3, [](int i) { return in_at(i / 96 * 96 + 95 - i % 96); });
}

template <unsigned WIDTH>
__device__ int suffix_sum(const cooperative_groups::thread_block_tile<WIDTH>& lanes, int* own, int x) {
    const unsigned r = lanes.thread_rank();
    own[r] = x;
    lanes.sync();
    for (unsigned step = 1; step < WIDTH; step *= 2) {
        int other = r + step < WIDTH ? own[r + step] : 0;
        own[r] = x += other;
        lanes.sync();
    }
    return x;
}
__global__ void suffix_sums(const int* in, int* out) {
    __shared__ int sums[128];
    auto lanes = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    out[threadIdx.x] = suffix_sum(lanes, sums + lanes.meta_group_rank() * 16, in[threadIdx.x]);
}
PLANT(tile_step_without_sync) {  // SAYS: put __syncwarp() after line
    int* out = zeros(128);
    suffix_sums<<<1, 128>>>(filled(128), out);
    wants(out, 128, [](int i) {
        int sum = 0;
        for (int k = i; k < i / 16 * 16 + 16; ++k) sum += in_at(k);
        return sum;
    });
}

class Uploader {
    int* pinned;
    cudaStream_t own;

public:
    explicit Uploader(int n) { cudaMallocHost(&pinned, n * sizeof(int)), cudaStreamCreate(&own); }
    ~Uploader() { cudaStreamSynchronize(own), cudaStreamDestroy(own), cudaFreeHost(pinned); }
    void add(int* to, int first, int n) {
        for (int i = 0; i < n; ++i) {
            pinned[i] = in_at(first + i);  // FIXED: cudaStreamSynchronize(own); pinned[i] = in_at(first + i);  // #refilled
        }
        cudaMemcpyAsync(to + first, pinned, n * sizeof(int), cudaMemcpyHostToDevice, own);  // #uploads
    }
};
PLANT(buffer_refilled) {  // SAYS: put cudaStreamSynchronize(), with the stream of line @#uploads, before line @#refilled
    int* a = zeros(1024);
    {
        Uploader up(256);
        for (int first = 0; first < 1024; first += 256) up.add(a, first, 256);
    }
    wants(a, 1024, in_at);
}

struct Stages {
    cudaStream_t first, second;
    cudaEvent_t between;
};
PLANT(event_recorded_too_early) {  // SAYS: records the event before line @#produced queues its work
    float *x = zeros<float>(64), *y = zeros<float>(64);
    Stages s;
    cudaStreamCreateWithFlags(&s.first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&s.second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&s.between, cudaEventDisableTiming);
    cudaDeviceSynchronize();
    cudaEventRecord(s.between, s.first);
    produce<<<1, 64, 0, s.first>>>(x);  // #produced
    cudaStreamWaitEvent(s.second, s.between, 0);
    consume<<<1, 64, 0, s.second>>>(x, y);
    cudaDeviceSynchronize();
    wants(y, 64, [](int i) { return (63 - i) * 0.5f + 1; });
}

template <int STAGES>
__global__ void ring_sums(const int* in, int* out, int rows) {
    __shared__ int ring[STAGES][64];
    auto fetch = [&](int row) {
        if (row < rows) __pipeline_memcpy_async(&ring[row % STAGES][threadIdx.x], &in[row * 64 + threadIdx.x], 4);
        __pipeline_commit();
    };
    for (int row = 0; row < STAGES - 1; ++row) fetch(row);
    int sum = 0;
    for (int row = 0; row < rows; ++row) {
        __pipeline_wait_prior(STAGES - 1);  // FIXED: __pipeline_wait_prior(STAGES - 2);  // #waits
        __syncthreads();
        sum += ring[row % STAGES][63 - threadIdx.x];
        fetch(row + STAGES - 1);
    }
    out[threadIdx.x] = sum;
}
PLANT(waits_for_too_few) {  // SAYS: the wait in line @#waits leaves 2 batches unfinished, and may leave at most 1: lower its number by 1
    int* out = zeros(64);
    ring_sums<3><<<1, 64>>>(filled(64 * 5), out, 5);
    wants(out, 64, [](int i) {
        int sum = 0;
        for (int row = 0; row < 5; ++row) sum += in_at(row * 64 + 63 - i);
        return sum;
    });
}

template <class T>
struct Ranks {
    int counts[4 * 64];
    T sorted[64];
};
__device__ int counted_before(const Ranks<int>& r, int digit) {
    int sum = 0;
    for (int i = 0; i < digit * 64 + int(threadIdx.x); ++i) sum += r.counts[i];
    return sum;
}
__global__ void rank_keys(int* keys, int passes) {
    __shared__ Ranks<int> ranks;
    int key = keys[threadIdx.x];
    for (int p = 0; p < passes; ++p) {
        const int digit = key >> 2 * p & 3;
        for (int d = 0; d < 4; ++d) ranks.counts[d * 64 + threadIdx.x] = d == digit;
        __syncthreads();
        const int rank = counted_before(ranks, digit);
        ranks.sorted[rank] = key;
        key = ranks.sorted[threadIdx.x];
    }
    keys[threadIdx.x] = key;
}
PLANT(ranks_from_a_race) {  // SAYS-NOT: check the index
    int* keys = filled(64);
    rank_keys<<<1, 64>>>(keys, 4);
    wants(keys, 64, [](int i) {
        int number = 0;
        for (int value = 0;; ++value)
            for (int k = 0; k < 64; ++k)
                if (in_at(k) == value && number++ == i) return value;
    });
}

__global__ void staged_reverse(const int4* in, int4* out) {
    extern __shared__ int4 stage[];
    __pipeline_memcpy_async(&stage[threadIdx.x], &in[blockIdx.x * blockDim.x + threadIdx.x], sizeof(int4));
    __pipeline_commit();
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = stage[blockDim.x - 1 - threadIdx.x];  // FIXED: __pipeline_wait_prior(0); __syncthreads(); out[blockIdx.x * blockDim.x + threadIdx.x] = stage[blockDim.x - 1 - threadIdx.x];
}
PLANT(async_copy) {
    int4* out = zeros<int4>(64);
    staged_reverse<<<2, 32, 32 * sizeof(int4)>>>(reinterpret_cast<int4*>(filled(256)), out);
    wants(reinterpret_cast<int*>(out), 256, [](int i) {
        int block = i / 128, t = i % 128 / 4;
        return in_at(block * 128 + (31 - t) * 4 + i % 4);
    });
}

template <typename T>
__global__ void block_reverse(T* data) {
    extern __shared__ unsigned char raw[];
    T* cache = reinterpret_cast<T*>(raw);
    const int base = blockIdx.x * blockDim.x;
    cache[threadIdx.x] = data[base + threadIdx.x];
    __syncthreads();
    data[base + threadIdx.x] = cache[blockDim.x - 1 - threadIdx.x];
}
PLANT(shared_too_small) {
    float* data = filled<float>(256);
    const int threads = 128;
    block_reverse<float><<<2, threads, threads>>>(data);  // FIXED: block_reverse<float><<<2, threads, threads * sizeof(float)>>>(data);
    wants(data, 256, [](int i) { return in_at(i / 128 * 128 + 127 - i % 128); });
}

template <class T, int kThreads>
struct BlockReduce {
    T storage[kThreads];
    __device__ T sum(T x) {
        storage[threadIdx.x] = x;
        __syncthreads();
        for (int d = kThreads / 2; d > 0; d /= 2) {
            if (threadIdx.x < d) storage[threadIdx.x] += storage[threadIdx.x + d];
            __syncthreads();
        }
        return storage[0];
    }
};
__global__ void sum_pairs(const int* in, int* out, int n) {
    __shared__ BlockReduce<int, 64> reduce;
    const int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    int x = 0;
    if (i < n) x = in[i] + in[i + blockDim.x];  // FIXED: if (i < n) x = in[i] + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    const int s = reduce.sum(x);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}
PLANT(reduction_tail) {  // SAYS: check the index of `in[i]` and `in[i + blockDim.x]`
    int* out = zeros(3);
    sum_pairs<<<3, 64>>>(filled(300), out, 300);
    wants(out, 3, [](int b) {
        int s = 0;
        for (int k = b * 128; k < min(300, b * 128 + 128); ++k) s += in_at(k);
        return s;
    });
}

template <int TILE>
__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    const int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(y0 + ty) * cols + x0 + tx];
    __syncthreads();
    out[(x0 + ty) * cols + y0 + tx] = tile[tx][ty];  // FIXED: out[(x0 + ty) * rows + y0 + tx] = tile[tx][ty];
}
PLANT(transposed_write) {  // SAYS: the length of this array's rows
    const int rows = 16, cols = 48;
    float* out = zeros<float>(rows * cols);
    transpose_tiles<16><<<dim3(cols / 16, rows / 16), dim3(16, 16)>>>(filled<float>(rows * cols), out, rows, cols);
    wants(out, rows * cols, [](int i) { return in_at(i % 16 * 48 + i / 16); });
}

class Counter {
    volatile unsigned* value_;

public:
    __device__ explicit Counter(unsigned* value) : value_(value) {}
    __device__ void increment() { ++*value_; }
};
__global__ void count_even(const int* keys, unsigned* hits) {
    Counter c(hits);
    if (keys[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0) c.increment();
}
PLANT(volatile_counter) {  // SAYS: atomicAdd((unsigned*)value_, 1)
    unsigned* hits = zeros<unsigned>(1);
    count_even<<<4, 64>>>(filled(256), hits);
    wants(hits, 1, [](int) {
        int s = 0;
        for (int k = 0; k < 256; ++k) s += in_at(k) % 2 == 0;
        return s;
    });
}

struct Snapshot {
    unsigned version;
    int lo, hi;
};
__device__ void seq_write(volatile Snapshot* s, int lo, int hi) {
    unsigned v = s->version;
    s->version = v + 1;
    s->lo = lo;
    s->hi = hi;
    s->version = v + 2;
}
__device__ int seq_read(volatile Snapshot* s) {
    for (;;) {
        unsigned before = s->version;
        __threadfence();
        int lo = s->lo;
        int hi = s->hi;
        __threadfence();
        if (!(before & 1) && s->version == before) return hi - lo;
    }
}
__global__ void seq_kernel(Snapshot* s, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i <= 50; ++i) seq_write(s, i, 2 * i);
    } else {
        int last = 0;
        while (last < 50) last = seq_read(s);
        *out = last;
    }
}
PLANT(seqlock) {
    int* out = zeros(1);
    seq_kernel<<<2, 32>>>(zeros<Snapshot>(1), out);
    wants(out, 1, [](int) { return 50; });
}

template <int N>
__global__ void pipelined_sum(const int* __restrict__ in, int* __restrict__ out, int chunks) {
    __shared__ int buf[2][N];
    int current = 0, acc = 0;
    buf[current][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int c = 0; c < chunks; ++c) {
        const int next = current ^ 1;
        if (c + 1 < chunks) buf[next][threadIdx.x] = in[(c + 1) * N + threadIdx.x];
        acc += buf[current][(threadIdx.x + c) % N];
        current = next;
    }
    out[threadIdx.x] = acc;
}
PLANT(double_buffer) {
    int* out = zeros(64);
    pipelined_sum<64><<<1, 64>>>(filled(64 * 5), out, 5);
    wants(out, 64, [](int t) {
        int s = 0;
        for (int c = 0; c < 5; ++c) s += in_at(c * 64 + (t + c) % 64);
        return s;
    });
}

__device__ __forceinline__ int warp_reduce(int x) {
    for (int m = 16; m >= 1; m >>= 1) x += __shfl_xor_sync(~0u, x, m);
    return x;
}
__global__ void block_totals(const int* in, int* out) {
    __shared__ int warp_sums[32];
    const int lane = threadIdx.x % warpSize;
    const int warp = threadIdx.x / warpSize;
    const int s = warp_reduce(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (lane == 0) warp_sums[lane] = s;  // FIXED: if (lane == 0) warp_sums[warp] = s;
    __syncthreads();
    if (warp == 0) {
        int x = lane < blockDim.x / warpSize ? warp_sums[lane] : 0;
        x = warp_reduce(x);
        if (lane == 0) out[blockIdx.x] = x;
    }
}
PLANT(warp_lane) {  // SAYS: check the index: two threads write this element
    int* out = zeros(2);
    block_totals<<<2, 128>>>(filled(256), out);
    wants(out, 2, [](int b) {
        int s = 0;
        for (int k = 0; k < 128; ++k) s += in_at(b * 128 + k);
        return s;
    });
}

__global__ void triple(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] *= 3; }
PLANT(read_before_copy_ends) {
    const int n = 512;
    int *host, *device = filled(n);
    cudaMallocHost(&host, n * sizeof(int));
    memset(host, 0, n * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    triple<<<4, 128, 0, stream>>>(device);
    cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    for (int i = 0; i < n; ++i) wants_value(i, host[i], 3 * in_at(i));  // FIXED: cudaDeviceSynchronize(); for (int i = 0; i < n; ++i) wants_value(i, host[i], 3 * in_at(i));
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
}

__global__ void drain(unsigned* head, const int* items, int* results, unsigned count) {
    __shared__ unsigned item;
    __shared__ int half_sums[2];
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(head, 1u);
        __syncthreads();
        if (item >= count) break;
        if (threadIdx.x < 2) half_sums[threadIdx.x] = items[item] * (threadIdx.x + 1);
        __syncthreads();
        if (threadIdx.x == 32) results[item] = half_sums[0] + half_sums[1];
    }
}
PLANT(work_queue) {
    int* results = zeros(40);
    drain<<<2, 64>>>(zeros<unsigned>(1), filled(40), results, 40);
    wants(results, 40, [](int i) { return 3 * in_at(i); });
}
