// The host and memory that the device has not written yet, or that is not the host's. With clang, the line of some
// accesses is unknown: see common/cpu/README.md.
#include "case.cuh"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void set(int* p, int value) { p[threadIdx.x] = value; }
template <class T>
__global__ void number(T* p) {
    p[threadIdx.x] = T(threadIdx.x);
}

// ---- memory of the device, and out of bounds

// RUN: gcc plain host_touch
// STATUS: 3
// SAYS: the host touched device memory: byte 4 of the 16 bytes allocated by cudaMalloc at case.cuh:{{[0-9]+}} at
// SAYS: host_access.cu:@#host_touch
CASE(host_touch) {
    int* p = device<int>(4);
    p[1] = 5;  // #host_touch
    return 0;
}

// RUN: plain host_touches_one
// STATUS: 3
// SAYS: the host touched device memory: byte 8 of the 64 bytes
// SAYS: at host_access.cu:@#host_touches_one
CASE(host_touches_one) {
    int* many[20];
    for (int*& one : many) cudaMalloc(&one, 64);
    set<<<1, 16>>>(many[3], 5);
    if (result()) return 98;
    return many[3][2];  // #host_touches_one
}

// RUN: plain host_overrun
// STATUS: 3
// SAYS: the host touched memory out of bounds: byte 132 of the 128 bytes
// SAYS: check the index against the size
// RUN: gcc plain host_overrun_at
// STATUS: 3
// SAYS: byte 128 of the 128 bytes
// SAYS: at host_access.cu:@#host_overrun
CASE(host_overrun) { return managed<int>(32)[33]; }
CASE(host_overrun_at) {
    int* p = managed<int>(32);
    p[32] = 5;  // #host_overrun
    return 0;
}

// ---- too early

// RUN: plain managed_early
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write byte 20 of the 128 bytes
// SAYS: at host_access.cu:@#managed_early
// SAYS: bugs were found
CASE(managed_early) {
    int* p = managed<int>(32);
    set<<<1, 32>>>(p, 5);
    volatile int early = p[5];  // #managed_early
    return early + result();
}

// The first element stays what it is: the second is read too early.
// RUN: plain sum_early
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write byte 4 of the 4096 bytes
// SAYS: at host_access.cu:@#sum_early
CASE(sum_early) {
    int* const p = managed<int>(1024);
    int status = 0;
    number<<<1, 32>>>(p);
    for (int i = 0; i < 32; ++i) status |= p[i];  // #sum_early
    return status;
}

// Half of each double stays what it is.
// RUN: plain double_early
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write byte 8 of the 4096 bytes
// SAYS: at host_access.cu:@#double_early
CASE(double_early) {
    double* const p = managed<double>(512);
    number<<<1, 32>>>(p);
    return p[1] != 0;  // #double_early
}

// RUN: plain variable_early
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write element 0 of variable
// SAYS: at host_access.cu:@#variable_early
__managed__ int variable;
__global__ void set_variable(int x) { variable = x; }
CASE(variable_early) {
    set_variable<<<1, 1>>>(5);
    return variable != 0;  // #variable_early
}

// The host may use the part between two parts that the device uses.
// RUN: plain another_part
CASE(another_part) {
    int* const p = managed<int>(1024);
    p[20] = 3;
    set<<<1, 16>>>(p, 5);
    for (int i = 16; i < 32; ++i) p[i] += p[i - 1 + (i == 16)];
    set<<<1, 16>>>(p + 100, 6);
    return result(p, 5) || p[31] != 3;
}

// The host may use one array while the device uses another.
// RUN: plain another_array
CASE(another_array) {
    int *const p = managed<int>(1024), *const other = managed<int>(1024);
    set<<<1, 32>>>(p, 5);
    other[3] = 1;
    set<<<1, 32>>>(other, 9);
    return result(p, 5);
}

// ---- pinned memory

static int* pinned(int n) {
    int* p;
    cudaMallocHost(&p, n * sizeof(int));
    std::memset(p, 0, n * sizeof(int));
    return p;
}
// Sets elements of the device's memory, and copies them to pinned memory without waiting.
static int* copied_to_pinned() {
    int *const p = managed<int>(1024), *const copy = pinned(1024);
    set<<<1, 32>>>(p, 5);
    cudaMemcpyAsync(copy, p, 128, cudaMemcpyDefault);
    return copy;
}

// RUN: plain pinned_early
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write byte 12 of the 4096 bytes of pinned host memory
// SAYS: at host_access.cu:@#pinned_early
CASE(pinned_early) {
    int* const copy = copied_to_pinned();
    const int status = copy[3] != 0;  // #pinned_early
    return result(), cudaFreeHost(copy), status;
}

// RUN: plain pinned_beside
CASE(pinned_beside) {
    int* const copy = copied_to_pinned();
    copy[100] = 1;
    const int status = result(copy, 5);
    return cudaFreeHost(copy), status;
}

// The second copy begins after the first, and the host does not touch the memory between them.
// RUN: plain to_and_fro
CASE(to_and_fro) {
    int *const copy = copied_to_pinned(), *const p = managed<int>(1024);
    cudaMemcpyAsync(p, copy, 128, cudaMemcpyDefault);
    const int status = result(copy, 5) || p[31] != 5;
    return cudaFreeHost(copy), status;
}

// One page after the other, for longer than the time after which the device goes on while the host waits.
// RUN: plain pinned_walk
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write byte 0 of the 262144 bytes of pinned host memory
// SAYS: at host_access.cu:@#pinned_walk
CASE(pinned_walk) {
    constexpr int pages = 64, page = 1024;
    int *const p = pinned(pages * page), *const all = device<int>(pages * page);
    int status = 0;
    cudaMemset(all, 5, pages * page * sizeof(int));
    cudaMemcpyAsync(p, all, pages * page * sizeof(int), cudaMemcpyDefault);
    for (int i = 0; i < pages; ++i) {
        status |= p[page * i] != 0;  // #pinned_walk
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return result(), cudaFreeHost(p), status;
}

// RUN: plain mapped_early
// STATUS: 1
// SAYS: the host read memory too early, the device had yet to write byte 12 of the 4096 bytes of pinned host memory
// SAYS: at host_access.cu:@#mapped_early
CASE(mapped_early) {
    int* const mapped = pinned(1024);
    set<<<1, 32>>>(mapped, 5);
    int status = mapped[3] == 7;  // #mapped_early
    if (result(mapped, 5)) status = 3;
    return cudaFreeHost(mapped), status;
}

// ---- a host that waits in its own way

// A host that asks whether the stream is done knows that the value may not be there yet.
// RUN: plain progress
CASE(progress) {
    int* const mapped = pinned(1024);
    set<<<1, 32>>>(mapped, 5);
    while (cudaStreamQuery(0) == cudaErrorNotReady)
        if (mapped[3] == 5) break;
    const int status = mapped[3] == 7 || result(mapped, 5);
    return cudaFreeHost(mapped), status;
}

// RUN: plain host_polls
CASE(host_polls) {
    int* const p = managed<int>(1024);
    set<<<1, 32>>>(p, 5);
    while (*const_cast<volatile int*>(p + 3) != 5) std::atomic_thread_fence(std::memory_order_seq_cst);
    return result(p, 5);
}

// By atomics, while the kernel may run.
// RUN: plain host_counts_too
__global__ void count(int* p) { atomicAdd(p, 1); }
CASE(host_counts_too) {
    int* const p = managed<int>(1024);
    count<<<1, 32>>>(p);
    __atomic_fetch_add(p, 10, __ATOMIC_SEQ_CST);
    return result(p, 42);
}

// RUN: plain callback
CASE(callback) {
    static std::atomic<bool> done;
    int* const p = managed<int>(1024);
    set<<<1, 32>>>(p, 5);
    cudaLaunchHostFunc(
        nullptr, [](void*) { done = true; }, nullptr);
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return result(p, 5);
}

// ---- a value that nobody has written yet, because the streams are in the wrong order

__global__ void twice(const int* p, int* q) { q[threadIdx.x] = 2 * p[threadIdx.x]; }
// RUN: hazards reads_before_it_is_written
// STATUS: 1
// SAYS: a race between streams on byte 0 of the 128 bytes
// SAYS: let line @#written wait for line @#read: cudaEventRecord() after line @#read
// SAYS-NOT: nobody has written
CASE(reads_before_it_is_written) {
    int *p, *q;
    for (int** memory : {&p, &q}) cudaMalloc(memory, 32 * sizeof(int));
    cudaStream_t one, two;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    twice<<<1, 32, 0, one>>>(p, q);  // #read
    set<<<1, 32, 0, two>>>(p, 5);    // #written
    return result();
}
// RUN: hazards reads_what_is_never_written
// STATUS: 1
// SAYS: a value that nobody has written: element 0 of p
// SAYS-NOT: race
CASE(reads_what_is_never_written) {
    int *p, *q, *r;
    for (int** memory : {&p, &q, &r}) cudaMalloc(memory, 32 * sizeof(int));
    cudaStream_t one, two;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    twice<<<1, 32, 0, one>>>(p, q);
    set<<<1, 32, 0, two>>>(r, 5);
    return result();
}
