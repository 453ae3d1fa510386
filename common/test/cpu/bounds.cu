// Accesses outside of an array, an allocation, the memory of the device or the variables of the thread.
#include "case.cuh"

// RUN: plain illegal_address
// STATUS: 200
// SAYS: illegal memory access
// SAYS: byte 64 of the 64 bytes
// SAYS: at bounds.cu:@#oob
// SAYS: check the index against the size: if (i < n)
__global__ void illegal_address(int* p) {
    p[threadIdx.x] = 1;  // #oob
}
CASE(illegal_address) { return illegal_address<<<1, 17>>>(device<int>(16)), result(); }

// RUN: plain one_of_many
// STATUS: 200
// SAYS: illegal memory access at {{0x[0-9a-f]+}}: byte 64 of the 64 bytes allocated by cudaMalloc at bounds.cu:@#one_of_many
__global__ void touch(int* p) { p[threadIdx.x] = threadIdx.x; }
CASE(one_of_many) {
    int* many[20];
    for (int*& one : many) cudaMalloc(&one, 64);  // #one_of_many
    touch<<<1, 16>>>(many[3]);
    touch<<<1, 17>>>(many[7]);
    return result();
}

// RUN: plain shared_overrun
// STATUS: 200
// SAYS: of the 128 bytes of the __shared__ variable
// SAYS: at bounds.cu:@#shared_overrun
__global__ void shared_overrun(int* p) {
    __shared__ int a[32];
    a[threadIdx.x + 1] = 1;  // #shared_overrun
    p[0] = a[1];
}
CASE(shared_overrun) { return shared_overrun<<<1, 32>>>(device<int>(1)), result(); }

// RUN: plain dynamic_overrun
// STATUS: 200
// SAYS: byte 256 of the 256 bytes of dynamic shared memory
// SAYS: let the launch at bounds.cu:{{[0-9]+}} give enough bytes
__global__ void dynamic_overrun() {
    extern __shared__ char raw[];
    raw[threadIdx.x] = 1;
}
CASE(dynamic_overrun) { return dynamic_overrun<<<1, 257, 256>>>(), result(); }

// RUN: plain unsigned_below_zero
// STATUS: 200
// SAYS: element -1, or 4294967295 as an unsigned number, before byte 0 of the 128 bytes of the __shared__ variable
// SAYS: at bounds.cu:@#below_zero
// SAYS: take an int
__global__ void unsigned_below_zero(int* p) {
    __shared__ int a[32];
    a[threadIdx.x] = 1;
    p[threadIdx.x] = a[threadIdx.x - 1];  // #below_zero
}
CASE(unsigned_below_zero) { return unsigned_below_zero<<<1, 32>>>(device<int>(32)), result(); }

// RUN: plain unset_pointer
// STATUS: 200
// SAYS: illegal memory access at 0x3 in kernel
// SAYS: at bounds.cu:@#unset_pointer
// SAYS: nobody has set it
__global__ void unset_pointer(int* p) {
    __shared__ int* row;
    row[threadIdx.x + 1] = p[threadIdx.x];  // #unset_pointer
}
CASE(unset_pointer) { return unset_pointer<<<1, 32>>>(device<int>(32)), result(); }

// RUN: hazards null_field
// STATUS: 200
// SAYS: illegal memory access at 0x8 in kernel null_field, block (0,0,0), thread (0,0,0), at bounds.cu:@#null_field
struct Pair {
    int *a, *b;
};
__global__ void null_field(const Pair* p, int* out) {
    *out = p->b == nullptr;  // #null_field
}
CASE(null_field) { return null_field<<<1, 1>>>(nullptr, device<int>(1)), result(); }

// RUN: plain use_after_free
// STATUS: 200
// SAYS: freed since
// SAYS: free memory only after its last use
CASE(use_after_free) {
    int* p;
    cudaMalloc(&p, 400);
    cudaFree(p);
    touch<<<1, 1>>>(p);
    return result();
}

// RUN: hazards out_of_bounds
// STATUS: 1
// SAYS: an access out of bounds: element 17 of p (case.cuh:{{[0-9]+}}), which has 17 in kernel
// SAYS: @#bounds | p[threadIdx.x] = 1;
// SAYS: thread 17 writes
// SAYS: 18 threads, and no condition compares it
__global__ void out_of_bounds(unsigned char* p) {
    p[threadIdx.x] = 1;  // #bounds
}
CASE(out_of_bounds) { return out_of_bounds<<<1, 18>>>(device<unsigned char>(17)), result(); }

// An error of the memory itself is not also reported as a hazard.
// RUN: hazards far_away
// STATUS: 200
// SAYS: illegal memory access
// SAYS-NOT: hazard: an access
__global__ void far_away(int* p) { p[threadIdx.x + (1 << 26)] = 1; }
CASE(far_away) { return far_away<<<1, 1>>>(device<int>(1)), result(); }

// An element past a __shared__ array is not also reported as one past an array of the thread.
// RUN: hazards past_shared_array
// STATUS: 1
// SAYS: element 4 of a (bounds.cu:@#shared_array)
// SAYS-NOT: of an array
__global__ void past_shared_array(int* p, int i) {
    __shared__ int a[4], b[4];  // #shared_array
    a[threadIdx.x] = 1;
    b[threadIdx.x] = 2;
    __syncthreads();
    p[0] = a[i];
}
CASE(past_shared_array) { return past_shared_array<<<1, 4>>>(device<int>(1), 4), result(); }

// RUN: hazards past_argument
// STATUS: 1
// SAYS: element 4 of an array
// SAYS: at bounds.cu:@#past_argument
struct Table {
    int first[4], second[4];
};
__global__ void past_argument(Table t, int* p, int i) {
    p[0] = t.first[i];  // #past_argument
}
CASE(past_argument) { return past_argument<<<1, 1>>>(Table{}, device<int>(1), 4), result(); }

// RUN: hazards hidden_host_pointer
// STATUS: 1
// SAYS: an access to memory that is not the device's
// SAYS: @#hidden | *p.a = *p.b;
__global__ void hidden_host_pointer(Pair p) {
    *p.a = *p.b;  // #hidden
}
CASE(hidden_host_pointer) {
    int* host = (int*)calloc(1, 4);
    return hidden_host_pointer<<<1, 1>>>(Pair{device<int>(1), host}), result();
}

// RUN: hazards others_variable
// STATUS: 1
// SAYS: a variable of another thread
// SAYS: @#others | if (threadIdx.x == 1) *p = *of_another;
__device__ int* of_another;
__global__ void others_variable(int* p) {
    int own = 100 + threadIdx.x;
    if (threadIdx.x == 0) of_another = &own;
    __syncthreads();
    if (threadIdx.x == 1) *p = *of_another;  // #others
    __syncthreads();
    p[1 + threadIdx.x] = own;
}
CASE(others_variable) { return others_variable<<<1, 4>>>(device<int>(5)), result(); }

// RUN: slow asan shared_inside_page
// STATUS: 200
// SAYS: index 5 out of bounds
// SAYS: in kernel shared_inside_page, block (0,0,0), thread (5,0,0)
__global__ void shared_inside_page(int* p) {
    __shared__ int a[5];
    a[threadIdx.x] = 1;
    p[threadIdx.x] = a[threadIdx.x];
}
CASE(shared_inside_page) { return shared_inside_page<<<1, 6>>>(device<int>(6)), result(); }

// RUN: hazards unwritten
// STATUS: 1
// SAYS: a value that nobody has written: element {{[0-9]+}} of in (bounds.cu:@#fresh)
// SAYS: @#unwritten | out[threadIdx.x] = in[threadIdx.x];{{.*}}reads
__global__ void unwritten(int* out, const int* in) {
    out[threadIdx.x] = in[threadIdx.x];  // #unwritten
}
CASE(unwritten) {
    int* p;
    cudaMalloc(&p, 128);  // #fresh
    return unwritten<<<1, 32>>>(device<int>(32), p), result();
}

// Between two accesses the plain build sees nothing. It looks at the bytes around an allocation when the host uses
// it.
// RUN: plain written_before
// STATUS: 1
// SAYS: something wrote beyond its memory: byte -4 of the 20 bytes allocated by cudaMalloc at bounds.cu:@#five
// SAYS: bugs were found
// RUN: plain written_behind
// STATUS: 1
// SAYS: something wrote beyond its memory: byte 20 of the 20 bytes allocated by cudaMalloc at bounds.cu:@#five
// SAYS: bugs were found
// RUN: plain written_and_kept
// STATUS: 1
// SAYS: something wrote beyond its memory: byte 20 of the 20 bytes allocated by cudaMalloc at bounds.cu:@#five
// SAYS: bugs were found
__global__ void beside(int* a, int at) { atomicAdd(a + at, 7); }
static int* five_with_a_change(int at) {
    int* five;
    cudaMalloc(&five, 5 * sizeof(int));  // #five
    cudaMemset(five, 0, 5 * sizeof(int));
    beside<<<1, 1>>>(five, at);
    return five;
}
CASE(written_before) {
    int copy[5];
    return cudaMemcpy(copy, five_with_a_change(-1), sizeof copy, cudaMemcpyDeviceToHost);
}
CASE(written_behind) { return cudaFree(five_with_a_change(5)); }
CASE(written_and_kept) { return five_with_a_change(5), result(); }

// RUN: plain written_to_the_end
CASE(written_to_the_end) {
    char* some;
    for (size_t bytes = 1; bytes < 40; ++bytes) {
        cudaMallocManaged(&some, bytes);
        memset(some, 1, bytes);
        cudaMemset(some, 2, bytes);
        cudaFree(some);
    }
    return 0;
}

// RUN: plain goes_beyond
// SAYS: cudaMemset of 4097 bytes goes beyond its memory: byte 0 of the 4096 bytes
// SAYS: cudaMemcpyToSymbol of 20 bytes from byte 0 on goes beyond the variable's 16 bytes
__constant__ int constants[4];
CASE(goes_beyond) {
    int five[5] = {};
    return cudaMemset(managed<char>(4096), 0, 4097) == cudaSuccess ||
           cudaMemcpyToSymbol(constants, five, sizeof five) == cudaSuccess;
}

// RUN: plain copy_of_nothing
// SAYS: cudaMemcpy: the source is a null pointer
CASE(copy_of_nothing) {
    return cudaMemcpy(managed<int>(1), nullptr, 4, cudaMemcpyDefault) != cudaErrorInvalidValue;
}
