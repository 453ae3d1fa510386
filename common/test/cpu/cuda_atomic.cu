// cuda_atomic.cu - cuda::atomic, cuda::atomic_ref and cuda::barrier: their results, and what orders accesses in the
// hazard build. Argument: the name of a test; none: the first one.
#include <cstdio>
#include <cstring>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/std/atomic>

using Device = cuda::atomic<int, cuda::thread_scope_device>;
using Block = cuda::atomic<int, cuda::thread_scope_block>;
__device__ Device counter{5};
__device__ Device flag, ticket;
__device__ Block narrow;
__device__ int data, result[256];

// ---- results ----

#define EXPECT(condition)                                                                  \
    do                                                                                     \
        if (!(condition)) printf("wrong: line %d: %s\n", __LINE__, #condition), ++*failed; \
    while (0)

struct Two {
    short x, y;
};
__global__ void operations(int* failed, float* f, unsigned long long* u) {
    cuda::atomic<unsigned, cuda::thread_scope_thread> a(7);
    Device* const c = &counter;
    if (threadIdx.x == 0) {
        EXPECT(c->load() == 5 && c->exchange(7) == 5 && *c == 7 && (*c = 8) == 8);
        EXPECT((*c += 2) == 10 && (*c -= 3) == 7 && (*c &= 6) == 6 && (*c |= 1) == 7 && (*c ^= 2) == 5);
        EXPECT(++*c == 6 && (*c)++ == 6 && --*c == 6 && (*c)-- == 6);
        EXPECT(c->fetch_max(9) == 5 && c->fetch_min(-3) == 9 && c->fetch_and(0xff) == -3 && *c == 253);
        int expected = 1;
        EXPECT(!c->compare_exchange_strong(expected, 2) && expected == 253);
        EXPECT(c->compare_exchange_weak(expected, 2, cuda::memory_order_acq_rel, cuda::memory_order_relaxed));
        c->store(0, cuda::std::memory_order_release);
        EXPECT(c->load(cuda::memory_order_acquire) == 0 && c->is_lock_free());
    }
    __syncthreads();
    c->fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*f).fetch_add(0.5f, cuda::memory_order_relaxed);
    cuda::atomic_ref<float>(f[1]).fetch_max(float(threadIdx.x));
    cuda::std::atomic_ref<unsigned long long> wide(*u);
    wide.fetch_sub(1);
    cuda::atomic_ref<Two, cuda::thread_scope_device> pair(reinterpret_cast<Two*>(f)[2]);
    for (Two old = pair.load(); !pair.compare_exchange_weak(old, {short(old.x + 1), short(old.y - 1)});) {}
    __shared__ int elements[4];
    __shared__ cuda::std::atomic<int*> next;
    if (threadIdx.x == 0) next.store(elements);
    __syncthreads();
    if (threadIdx.x < 4) *next.fetch_add(1) = 1;
    __syncthreads();
    if (threadIdx.x == 0) EXPECT(next.load() == elements + 4 && elements[3] == 1 && *c == 64);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
}

int test_operations() {
    int* failed;
    float* f;
    unsigned long long* u;
    cudaMallocManaged(&failed, sizeof *failed);
    cudaMallocManaged(&f, 3 * sizeof *f);
    cudaMallocManaged(&u, sizeof *u);
    *failed = 0, f[0] = 0, f[1] = -1, *u = 2, reinterpret_cast<Two*>(f)[2] = {0, 0};
    operations<<<1, 64>>>(failed, f, u);
    cudaDeviceSynchronize();
    const Two pair = reinterpret_cast<Two*>(f)[2];
    if (f[0] != 32 || f[1] != 63 || *u != -62ull || pair.x != 64 || pair.y != -64) ++*failed;
    cuda::atomic<int> host(1);
    host.fetch_add(2), ++host;
    cuda::std::atomic_thread_fence(cuda::std::memory_order_seq_cst);
    if (host != 4 || cuda::ceil_div(7, 2) != 4) ++*failed;
    const int result = *failed || cudaGetLastError();
    cudaFree(failed);
    cudaFree(f);
    cudaFree(u);
    return result;
}

// ---- order: block 0 writes and tells, block 1 waits and reads ----

template <cuda::memory_order telling, cuda::memory_order waiting>
__device__ void pass_on() {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data = 1;  // #data
        flag.store(1, telling);
    } else {
        while (flag.load(waiting) == 0) {}
        result[0] = data;  // #read
    }
}
__global__ void released() { pass_on<cuda::memory_order_release, cuda::memory_order_acquire>(); }
__global__ void sequential() { pass_on<cuda::memory_order_seq_cst, cuda::memory_order_seq_cst>(); }
__global__ void not_released() { pass_on<cuda::memory_order_relaxed, cuda::memory_order_acquire>(); }
__global__ void not_acquired() { pass_on<cuda::memory_order_release, cuda::memory_order_relaxed>(); }
__global__ void fenced() {
    if (blockIdx.x == 0) {
        data = 1;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_relaxed) == 0) {}
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        result[0] = data;
    }
}
__global__ void fenced_in_block() {
    if (blockIdx.x == 0) {
        data = 1;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0) {}
        result[0] = data;
    }
}
__global__ void too_narrow() { narrow.fetch_add(1); }
__global__ void plain_too() {
    if (blockIdx.x == 0)
        ticket.fetch_add(1, cuda::memory_order_relaxed);  // #add
    else
        result[0] = *reinterpret_cast<int*>(&ticket);  // #look
}
__global__ void relaxed_counter() { ticket.fetch_add(1, cuda::memory_order_relaxed); }
__global__ void relaxed_reader() {
    if (blockIdx.x == 0)
        ticket.store(3, cuda::memory_order_relaxed);
    else
        result[0] = ticket.load(cuda::memory_order_relaxed);
}
__global__ void last_block() {
    result[blockIdx.x] = blockIdx.x;
    if (ticket.fetch_add(1, cuda::memory_order_acq_rel) != int(gridDim.x) - 1) return;
    for (unsigned i = 0; i < gridDim.x; ++i) data += result[i];
}
__global__ void spin_lock() {  // flag is the lock
    while (flag.exchange(1, cuda::memory_order_acquire)) {}
    ++data;
    flag.store(0, cuda::memory_order_release);
}
__global__ void spin_lock_unreleased() {
    while (flag.exchange(1, cuda::memory_order_acquire)) {}
    ++data;
    flag.store(0, cuda::memory_order_relaxed);
}
template <cuda::memory_order taking>
__device__ void lock_by_cas() {
    for (int free = 0; !flag.compare_exchange_weak(free, 1, taking, cuda::memory_order_relaxed);) free = 0;
    ++data;
    flag.store(0, cuda::memory_order_release);
}
__global__ void cas_lock() { lock_by_cas<cuda::memory_order_acquire>(); }
__global__ void cas_lock_unacquired() { lock_by_cas<cuda::memory_order_relaxed>(); }
__global__ void waits() {
    if (blockIdx.x == 0) {
        data = 7;
        flag.store(1);
        flag.notify_all();
    } else {
        flag.wait(0);
        result[0] = data;
    }
}

// ---- barriers ----

using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void rotate() {  // 100 phases, without __syncthreads() between them
    __shared__ Barrier bar;
    __shared__ int ring[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    ring[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = 0; i < 10; ++i) {
        const int value = ring[(threadIdx.x + 1) % 64];
        bar.arrive_and_wait();
        ring[threadIdx.x] = value;
        bar.arrive_and_wait();
    }
    result[threadIdx.x] = ring[threadIdx.x];
}
__global__ void rotate_once_too_few() {
    __shared__ Barrier bar;
    __shared__ int ring[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    ring[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const int value = ring[(threadIdx.x + 1) % 64];  // #ring
    Barrier::arrival_token token = bar.arrive();
    ring[threadIdx.x] = value;  // #before_wait
    bar.wait(std::move(token));
    result[threadIdx.x] = ring[threadIdx.x];
}
__global__ void producer_and_consumer() {  // one warp fills a buffer, the other reads it
    __shared__ Barrier ready, filled;
    __shared__ int buffer[32];
    if (threadIdx.x == 0) init(&ready, 64), init(&filled, 64);
    __syncthreads();
    for (int i = 0; i < 5; ++i)
        if (threadIdx.x < 32) {
            ready.arrive_and_wait();
            buffer[threadIdx.x] = i * 100 + threadIdx.x;
            (void)filled.arrive();
        } else {
            (void)ready.arrive();
            filled.arrive_and_wait();
            result[threadIdx.x] = buffer[63 - threadIdx.x];
        }
}
struct Count {
    int* phases;
    __device__ void operator()() { ++*phases; }
};
__global__ void dropped() {
    using Counting = cuda::barrier<cuda::thread_scope_block, Count>;
    __shared__ int phases;
    __shared__ char bytes[sizeof(Counting)];
    alignas(16) __shared__ int copied[64];
    Counting& bar = *reinterpret_cast<Counting*>(bytes);
    if (threadIdx.x == 0) phases = 0, init(&bar, blockDim.x, Count{&phases});
    __syncthreads();
    cuda::memcpy_async(&copied[threadIdx.x], &result[threadIdx.x], sizeof(int), bar);
    if (threadIdx.x >= 32) return bar.arrive_and_drop();
    for (int i = 0; i < 3; ++i) bar.arrive_and_wait();
    result[threadIdx.x] = phases + copied[threadIdx.x + 32];
}

struct Test {
    const char* name;
    void (*kernel)();
    int blocks, threads;
} const tests[] = {{"released", released, 2, 1},
                   {"sequential", sequential, 2, 1},
                   {"not_released", not_released, 2, 1},
                   {"not_acquired", not_acquired, 2, 1},
                   {"fenced", fenced, 2, 1},
                   {"fenced_in_block", fenced_in_block, 2, 1},
                   {"too_narrow", too_narrow, 2, 1},
                   {"plain_too", plain_too, 2, 1},
                   {"relaxed_counter", relaxed_counter, 4, 64},
                   {"relaxed_reader", relaxed_reader, 2, 1},
                   {"last_block", last_block, 8, 1},
                   {"spin_lock", spin_lock, 8, 1},
                   {"spin_lock_unreleased", spin_lock_unreleased, 8, 1},
                   {"cas_lock", cas_lock, 8, 1},
                   {"cas_lock_unacquired", cas_lock_unacquired, 8, 1},
                   {"waits", waits, 2, 1},
                   {"rotate", rotate, 1, 64},
                   {"rotate_once_too_few", rotate_once_too_few, 1, 64},
                   {"producer_and_consumer", producer_and_consumer, 1, 64},
                   {"dropped", dropped, 1, 64}};

// RUN: plain,hazards,asan operations
// RUN: hazards LAB_ORDER={forward,reverse,1} {released,sequential,fenced,relaxed_counter,relaxed_reader,waits}
// SAYS: no error
// RUN: plain,hazards,asan last_block
// SAYS: 28 0
// SAYS: no error
// RUN: hazards LAB_ORDER=reverse last_block
// SAYS: 28 0
// RUN: plain,hazards,asan spin_lock
// SAYS: 8 0
// SAYS: no error
// RUN: hazards LAB_ORDER=reverse spin_lock
// SAYS: 8 0
// RUN: plain,hazards,asan cas_lock
// SAYS: 8 0
// SAYS: no error
// RUN: hazards LAB_ORDER=reverse cas_lock
// SAYS: 8 0
// RUN: plain,hazards,asan rotate
// SAYS: 0 10
// SAYS: no error
// RUN: hazards LAB_ORDER=reverse rotate
// SAYS: 0 10
// RUN: plain,hazards,asan producer_and_consumer
// SAYS: 0 0 431
// SAYS: no error
// RUN: hazards LAB_ORDER=reverse producer_and_consumer
// SAYS: 0 0 431
// RUN: plain,hazards,asan dropped
// SAYS: 0 3
// SAYS: no error
// RUN: hazards LAB_ORDER=reverse dropped
// SAYS: 0 3
// RUN: hazards {not_released,not_acquired}
// STATUS: 1
// SAYS: race on element 0 of data
// SAYS: @#data
// SAYS: @#read
// RUN: hazards {fenced_in_block,spin_lock_unreleased,cas_lock_unacquired}
// STATUS: 1
// SAYS: race on element 0 of data
// RUN: hazards too_narrow
// STATUS: 1
// SAYS: race on
// SAYS: narrow
// RUN: hazards plain_too
// STATUS: 1
// SAYS: race on
// SAYS: @#add
// SAYS: @#look
// RUN: hazards rotate_once_too_few
// STATUS: 1
// SAYS: race on element
// SAYS: @#ring
// SAYS: @#before_wait
int main(int, char** arguments) {
    if (!strcmp(arguments[1], "operations")) return test_operations();
    for (const Test& t : tests)
        if (!strcmp(arguments[1], t.name)) t.kernel<<<t.blocks, t.threads>>>();
    const cudaError_t error = cudaDeviceSynchronize();
    int sum, some[64];
    cudaMemcpyFromSymbol(&sum, data, sizeof sum);
    cudaMemcpyFromSymbol(some, result, sizeof some);
    printf("%d %d %d\n%s\n", sum, some[0], some[32], cudaGetErrorString(error));
}
