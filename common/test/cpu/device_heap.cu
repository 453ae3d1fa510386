// malloc(), new, free() and delete in a kernel; allocations of the host that are freed twice or never.
#include "case.cuh"

// RUN: hazards heap_past_end
// STATUS: 1
// SAYS: out of bounds: byte 64 of the 64 bytes from malloc() or new
// SAYS: @#heap_misused | m[where] = 2;
// RUN: hazards heap_before
// STATUS: 1
// SAYS: out of bounds: byte -4 of the 64 bytes
// SAYS: @#heap_misused | m[where] = 2;
// RUN: hazards heap_far
// STATUS: 1
// SAYS: out of bounds: byte 200000 of the 64 bytes
// SAYS: @#heap_misused | m[where] = 2;
__global__ void heap_misused(int* p, int where) {
    int* const m = static_cast<int*>(malloc(16 * sizeof(int)));
    m[0] = 1;
    m[where] = 2;  // #heap_misused
    *p = m[0];
    free(m);
}
CASE(heap_past_end) { return heap_misused<<<1, 1>>>(device<int>(1), 16), result(); }
CASE(heap_before) { return heap_misused<<<1, 1>>>(device<int>(1), -1), result(); }
CASE(heap_far) { return heap_misused<<<1, 1>>>(device<int>(1), 50000), result(); }

// RUN: hazards heap_unused
// STATUS: 1
// SAYS: out of bounds: byte 64 of the 64 bytes
// SAYS: @#heap_unused | m[where] = 2;
__global__ void heap_unused(int where) {
    int* const m = static_cast<int*>(malloc(16 * sizeof(int)));
    m[where] = 2;  // #heap_unused
    free(m);
}
CASE(heap_unused) { return heap_unused<<<1, 1>>>(16), result(); }

// RUN: hazards heap_unwritten
// STATUS: 1
// SAYS: a value that nobody has written: address {{0x[0-9a-f]+}}, from new
// SAYS: @#heap_unwritten | *p = m[0] + m[1];
__global__ void heap_unwritten(int* p) {
    int* const m = new int[4];
    m[0] = 1;
    *p = m[0] + m[1];  // #heap_unwritten
    delete[] m;
}
CASE(heap_unwritten) { return heap_unwritten<<<1, 1>>>(device<int>(1)), result(); }

// RUN: hazards heap_freed
// STATUS: 1
// SAYS: memory that was freed: byte 8 of the 64 bytes
// SAYS: @#heap_freed | *p = m[2];
__global__ void heap_freed(int* p) {
    int* const m = static_cast<int*>(malloc(16 * sizeof(int)));
    m[2] = 1;
    free(m);
    *p = m[2];  // #heap_freed
}
CASE(heap_freed) { return heap_freed<<<1, 1>>>(device<int>(1)), result(); }

// RUN: plain heap_overrun
// STATUS: 1
// SAYS: wrote beyond the 100 bytes that malloc() or new gave it in kernel overrun_heap
// SAYS: bugs were found
__global__ void overrun_heap(int bytes) {
    char* const p = static_cast<char*>(malloc(bytes));
    for (int i = 0; i < 4 * bytes; ++i) p[i] = -1;
    free(p);
}
CASE(heap_overrun) { return overrun_heap<<<2, 64>>>(100), result(); }

__device__ int* of_a_kernel;
__global__ void make_one() { of_a_kernel = new int(5); }
__global__ void unmake_one() { delete of_a_kernel; }
static int* made_by_a_kernel() {
    int* p;
    make_one<<<1, 1>>>();
    cudaMemcpyFromSymbol(&p, of_a_kernel, sizeof p);
    return p;
}

// RUN: plain heap_of_the_kernel
// STATUS: 3
// SAYS: the host touched device memory: memory that a kernel has got
// SAYS: at device_heap.cu:@#heap_of_the_kernel
CASE(heap_of_the_kernel) {
    int copy, *const p = made_by_a_kernel();
    if (cudaMemcpy(&copy, p, sizeof *p, cudaMemcpyDeviceToHost) != cudaErrorInvalidValue) return 4;
    return *p;  // #heap_of_the_kernel
}

// RUN: plain heap_given_back_twice
// STATUS: 1
// SAYS: has not got from malloc() or new, or given back before in kernel unmake_one
CASE(heap_given_back_twice) {
    made_by_a_kernel();
    for (int i = 0; i < 2; ++i) unmake_one<<<1, 1>>>();
    return result();
}

// RUN: plain heap_given_back_by_host
// STATUS: 1
// SAYS: the host gives back what a kernel got from malloc() or new
CASE(heap_given_back_by_host) {
    delete made_by_a_kernel();
    return result();
}

// Ten of 32 pieces fit, again and again. Half are from malloc(), half from new.
// RUN: plain heap_limit
__global__ void fill_heap(int* taken, char** pieces) {
    char* const p = threadIdx.x % 2 ? new char[1 << 20] : static_cast<char*>(malloc(1 << 20));
    if (p) atomicAdd(taken, 1);
    pieces[threadIdx.x] = p;
}
__global__ void empty_heap(char** pieces) {
    if (threadIdx.x % 2)
        delete[] pieces[threadIdx.x];
    else
        free(pieces[threadIdx.x]);
}
CASE(heap_limit) {
    size_t limit = 0;
    int status = 0, *const taken = managed<int>(1);
    char** const pieces = managed<char*>(32);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 10 << 20);
    for (int i = 0; i < 2; ++i) {
        *taken = 0;
        fill_heap<<<1, 32>>>(taken, pieces);
        empty_heap<<<1, 32>>>(pieces);
        status |= result(taken, 10);
    }
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    return status || limit != 10 << 20 ||
           cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) != cudaErrorInvalidValue;
}

// RUN: plain freed_twice
// SAYS: cudaFree: this memory was freed before: byte 0 of the {{[0-9]+}} bytes allocated
// SAYS: at device_heap.cu:@#freed_twice
CASE(freed_twice) {
    int* p;
    cudaMalloc(&p, 4096);
    cudaFree(p);
    return cudaFree(p) != cudaErrorInvalidValue;  // #freed_twice
}

// RUN: plain leak
// SAYS: 2 allocations, 200 bytes, never freed; the first at device_heap.cu:@#leak
CASE(leak) {
    void* p;
    cudaMalloc(&p, 100);  // #leak
    cudaMalloc(&p, 100);
    return 0;
}
