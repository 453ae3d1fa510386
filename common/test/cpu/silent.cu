// What a GPU may pass over in silence and the plain build must not, and what it must let pass: one a name.
// Ends with 200 + (error - 700) % 100 if CUDA reports an error, else with 0 if the result is what the code says.
#include <cooperative_groups.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace cudacpu {
extern int patience;  // in seconds
}

__global__ void misaligned(const char* p, int* out) {
    *out = *reinterpret_cast<const int*>(p + 1);  // @misaligned
}
__global__ void misaligned_vector(const float* p, float4* out) {
    *out = *reinterpret_cast<const float4*>(p + 1);  // @misaligned_vector
}
__global__ void beside(int* a, int at) { atomicAdd(a + at, 7); }
__global__ void upper_half_gone(int* out) {
    int v = 1;
    if (threadIdx.x < 16) v += __shfl_down_sync(~0u, v, 16);  // @upper_half_gone
    out[threadIdx.x] = v;
}
__global__ void left_early(int* out, int n) {
    int v = 1;
    if (int(threadIdx.x) >= n) return;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);  // @left_early
    out[threadIdx.x] = v;
}
__global__ void vote_of_the_rest(int* out, int n) {
    if (int(threadIdx.x) >= n) return;
    out[threadIdx.x] = __popc(__ballot_sync(~0u, 1));  // @vote_of_the_rest
}
__global__ void half_a_warp(int* out) {
    int v = 1;
    if (threadIdx.x >= 16) return;
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffff, v, d);  // @half_a_warp
    if (threadIdx.x == 0) *out = v;
}
template <int KB>
__global__ void local_array(int* out, int i) {  // @much_too_large
    volatile char a[KB << 10];
    for (int k = 0; k < 4; ++k) a[i + k * (KB << 8)] = 1;
    out[threadIdx.x] = 4 + a[i];
}
__device__ void fold_in_step(volatile int* a, int i) {
    a[i] += a[i + 32];
    a[i] += a[i + 16];  // @in_step
    a[i] += a[i + 8];
    a[i] += a[i + 4];
    a[i] += a[i + 2];
    a[i] += a[i + 1];
}
__global__ void in_step(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < 32) fold_in_step(a, threadIdx.x);
    if (threadIdx.x == 0) *out = a[0];
}
__global__ void in_step_global(int* a) {
    volatile int* const b = a;
    fold_in_step(b, threadIdx.x);
}
__device__ volatile int row[64];
__global__ void in_step_variable() { fold_in_step(row, threadIdx.x); }
// Two lanes that wait for each other, and lanes that take over what a neighbour has found: nobody counts on steps.
__device__ void take_turns(volatile int* flags, int* out) {
    for (int i = 1; i <= 5; ++i)
        if (threadIdx.x == 0) {
            flags[0] = i;
            while (flags[1] != i) continue;
        } else {
            while (flags[0] != i) continue;
            *out += i;
            __threadfence();
            flags[1] = i;
        }
}
__global__ void lanes_take_turns(int* a, int* out) {
    __shared__ int flags[2];
    if (threadIdx.x == 0) flags[0] = flags[1] = 0;
    __syncthreads();
    take_turns(flags, out);
    take_turns(a, out);
}
__global__ void neighbours_relax(volatile int* a, int* out) {
    const int i = threadIdx.x;
    a[i] = min(a[i + 1], a[i + 2]) + 1;
    atomicMax(out, 7);
}
__global__ void step_by_step(int* out) {
    __shared__ volatile int a[32];
    a[threadIdx.x] = 1;
    __syncwarp();
    for (unsigned d = 16; d > 0; d /= 2) {
        if (threadIdx.x < d) a[threadIdx.x] += a[threadIdx.x + d];
        __syncwarp();
    }
    if (threadIdx.x == 0) *out = a[0];
}
__global__ void flag_in_shared(int* out) {
    __shared__ volatile int stop, turn;
    if (threadIdx.x == 0) stop = turn = 0;
    __syncthreads();
    for (int i = 0; i < 100 && !stop; ++i)
        if (i == int(threadIdx.x)) stop = 1;
    while (turn != int(threadIdx.x)) {}
    turn = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = turn;
}
__global__ void own_atomic(int* out, int n) {
    int bins[4] = {};
    for (int i = 0; i < n; ++i) atomicAdd(&bins[i % 4], 1);  // @own_atomic
    *out = bins[0];
}
__global__ void together_again(unsigned* out) {
    if (threadIdx.x < 16) out[32 + threadIdx.x] = __activemask();
    out[threadIdx.x] = __activemask();
}
__global__ void set(int* p, int value) { p[threadIdx.x] = value; }
__managed__ int variable;
__global__ void set_variable(int x) { variable = x; }
template <class T>
__global__ void number(T* p) {
    p[threadIdx.x] = T(threadIdx.x);
}
__global__ void set_one(int& element, int value) { element = value; }
__global__ void __launch_bounds__(64) at_most_64(int* p) { *p = 1; }
__global__ void overrun_heap(int bytes) {
    char* const p = static_cast<char*>(malloc(bytes));
    for (int i = 0; i < 4 * bytes; ++i) p[i] = -1;
    free(p);
}
__device__ int* of_a_kernel;
__global__ void make_one() { of_a_kernel = new int(5); }
__global__ void unmake_one() { delete of_a_kernel; }
__host__ __device__ void launch_one(int* p) { set_one<<<1, 1>>>(*p, 5); }  // @launched_from_kernel
__global__ void launch_from_kernel(int* p) { launch_one(p); }
__host__ __device__ void meet() { __syncthreads(); }    // @barrier_on_host
__global__ void fill_heap(int* taken, char** pieces) {  // one half of it by malloc(), one by new
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
struct Counter {
    int n;
    __device__ Counter() : n(5) {}
};
struct Bare {
    int n;
    __device__ Bare() {}
};
__global__ void constructed(int* out) {
    __shared__ Counter counter;  // @constructed
    *out = counter.n;
}
__global__ void bare(int* out) {
    __shared__ Bare b[2];
    if (threadIdx.x == 0) b[1].n = 5;
    __syncthreads();
    *out = b[1].n;
}
__global__ void count(int* p) { atomicAdd(p, 1); }
__global__ void later_block(volatile int* flag, int* out) {  // the first waits for the last
    __shared__ int mine[64];
    mine[threadIdx.x] = int(blockIdx.x) + 1;
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        *out = 3;
        __threadfence();
        *flag = 1;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (*flag == 0) continue;
        __threadfence();
        *out += mine[63];
    }
}
__global__ void grid_barriers(int* a, int* out) {
    const auto grid = cooperative_groups::this_grid();
    const int i = int(grid.thread_rank()), n = int(grid.size());
    for (int turn = 1; turn <= 3; ++turn) {
        a[i] = turn;
        grid.sync();
        if (a[n - 1 - i] == turn) atomicAdd(out, 1);
        grid.sync();
    }
}
__global__ void grid_barrier_missed() {
    if (blockIdx.x > 0) cooperative_groups::this_grid().sync();  // @grid_barrier_missed
}
__global__ void meets_again(int* out, int rounds) {
    for (int i = 0; i < rounds; ++i) __syncthreads();  // @meets_again
    if (threadIdx.x == 0) *out = 1;
}
__global__ void long_computation(int* out, long long nanoseconds) {
    unsigned x = 1;
    for (const long long start = clock64(); clock64() - start < nanoseconds;)
        for (int i = 0; i < 1000; ++i) x = x * 1664525 + 1013904223;
    *out = x != 0;
}

__constant__ int table[4];

struct Shape {
    int side;
    __host__ __device__ Shape(int s) : side(s) {}
    __host__ __device__ virtual int area() const { return side; }
};
struct Square : Shape {
    __host__ __device__ Square(int s) : Shape(s) {}
    __host__ __device__ int area() const override { return side * side; }
};
__global__ void area_of(const Shape* s, int* out) { *out = s->area(); }
static const char* const of_no_class[] = {"one", "two"};

static int* memory;
static int of_the_host[32];
static int result(int want, int* p = memory) {
    const cudaError_t e = cudaDeviceSynchronize();
    return e != cudaSuccess ? 200 + (e - 700) % 100 : *p != want;
}

int main(int, char** argv) {
    auto is = [&](const char* name) { return !std::strcmp(argv[1], name); };
    cudaMallocManaged(&memory, 4096);
    int status = 98;
    if (is("misaligned")) misaligned<<<1, 1>>>(reinterpret_cast<char*>(memory), memory), status = result(0);
    if (is("misaligned_vector"))
        misaligned_vector<<<1, 1>>>(reinterpret_cast<float*>(memory), reinterpret_cast<float4*>(memory + 8)),
            status = result(0);
    if (is("upper_half_gone")) upper_half_gone<<<1, 32>>>(memory), status = result(0);
    if (is("left_early")) left_early<<<1, 32>>>(memory, 20), status = result(31);
    if (is("vote_of_the_rest")) vote_of_the_rest<<<1, 32>>>(memory, 20), status = result(20);
    if (is("half_a_warp")) half_a_warp<<<1, 32>>>(memory), status = result(16);
    if (is("in_step")) in_step<<<1, 64>>>(memory), status = result(64) & 0;
    if (is("in_step_global")) in_step_global<<<1, 32>>>(memory), status = result(0) & 0;
    if (is("in_step_variable")) in_step_variable<<<1, 32>>>(), status = result(0);
    if (is("lanes_take_turns")) lanes_take_turns<<<1, 2>>>(memory + 8, memory), status = result(30);
    if (is("neighbours_relax")) neighbours_relax<<<1, 32>>>(memory + 8, memory), status = result(7);
    if (is("step_by_step")) step_by_step<<<1, 32>>>(memory), status = result(32);
    if (is("flag_in_shared")) flag_in_shared<<<1, 64>>>(memory), status = result(64);
    if (is("own_atomic")) own_atomic<<<1, 1>>>(memory, 10), status = result(3);
    if (is("together_again"))
        together_again<<<1, 32>>>(reinterpret_cast<unsigned*>(memory)), status = result(-1) || memory[32] != 0xffff;
    if (is("virtual_copied")) {
        const Square square(3);
        Square* copy;
        cudaMalloc(&copy, sizeof square);
        cudaMemcpy(copy, &square, sizeof square, cudaMemcpyHostToDevice);  // @virtual_copied
        area_of<<<1, 1>>>(copy, memory), status = result(9);
        cudaFree(copy);
    }
    if (is("addresses_copied")) {
        const void* addresses[] = {of_no_class, &memory, argv, *argv, nullptr};
        for (const void*& p : addresses) cudaMemcpy(memory, &p, sizeof p, cudaMemcpyHostToDevice);
        status = 0;
    }
    if (is("goes_beyond")) {
        int five[5] = {};
        status = cudaMemset(memory, 0, 4097) == cudaSuccess || cudaMemcpyToSymbol(table, five, 20) == cudaSuccess;
    }
    if (is("hosts_array")) set<<<1, 32>>>(of_the_host, 5), status = result(0);  // @hosts_array
    if (is("hosts_element")) set_one<<<1, 1>>>(status, 5), status = result(0);  // @hosts_element
    if (is("managed_element")) set_one<<<1, 1>>>(*memory, 5), status = result(5);
    if (is("read_early")) {
        set<<<1, 32>>>(memory, 5);
        status = memory[3] != 0;  // @read_early
    }
    if (is("sum_early")) {  // the first one stays what it is
        number<<<1, 32>>>(memory);
        status = 0;
        for (int i = 0; i < 32; ++i) status |= memory[i];  // @sum_early
    }
    if (is("double_early")) {  // half of each double, too
        double* const doubles = reinterpret_cast<double*>(memory);
        number<<<1, 32>>>(doubles);
        status = doubles[1] != 0;  // @double_early
    }
    if (is("another_part")) {  // what lies between may be used
        memory[20] = 3;
        set<<<1, 16>>>(memory, 5);
        for (int i = 16; i < 32; ++i) memory[i] += memory[i - 1 + (i == 16)];
        set<<<1, 16>>>(memory + 100, 6);
        status = result(5) || memory[31] != 3;
    }
    if (is("another_array")) {  // the host may use one while the device uses another
        int* other;
        cudaMallocManaged(&other, 4096);
        set<<<1, 32>>>(memory, 5);
        other[3] = 1;
        set<<<1, 32>>>(other, 9);
        status = result(5);
        cudaFree(other);
    }
    if (is("pinned_early") || is("pinned_beside")) {
        int* pinned;
        cudaMallocHost(&pinned, 4096);
        std::memset(pinned, 0, 4096);
        set<<<1, 32>>>(memory, 5);
        cudaMemcpyAsync(pinned, memory, 128, cudaMemcpyDefault);
        if (is("pinned_early"))
            status = pinned[3] != 0;  // @pinned_early
        else
            pinned[100] = 1;
        const int after = result(5, pinned);
        if (is("pinned_beside")) status = after;
        cudaFreeHost(pinned);
    }
    if (is("to_and_fro")) {  // the second copy comes behind the first, and the host touches nothing between
        int* pinned;
        cudaMallocHost(&pinned, 4096);
        std::memset(pinned, 0, 4096);
        set<<<1, 32>>>(memory, 5);
        cudaMemcpyAsync(pinned, memory, 128, cudaMemcpyDefault);
        cudaMemcpyAsync(memory + 32, pinned, 128, cudaMemcpyDefault);
        status = result(5, pinned);
        cudaFreeHost(pinned);
    }
    if (is("pinned_walk")) {  // page after page, and for longer than a host that waits is left alone
        constexpr int pages = 64, page = 1024;
        int *pinned, *all;
        cudaMallocHost(&pinned, pages * page * sizeof(int));
        cudaMalloc(&all, pages * page * sizeof(int));
        std::memset(pinned, 0, pages * page * sizeof(int));
        cudaMemset(all, 5, pages * page * sizeof(int));
        cudaMemcpyAsync(pinned, all, pages * page * sizeof(int), cudaMemcpyDefault);
        status = 0;
        for (int i = 0; i < pages; ++i) {
            status |= pinned[page * i] != 0;  // @pinned_walk
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        }
        cudaDeviceSynchronize();
        cudaFree(all);
        cudaFreeHost(pinned);
    }
    if (is("host_polls")) {  // without a call of the API
        set<<<1, 32>>>(memory, 5);
        while (*const_cast<volatile int*>(memory + 3) != 5) std::atomic_thread_fence(std::memory_order_seq_cst);
        status = result(5);
    }
    if (is("mapped_early") || is("progress")) {  // who asks first knows that it is not there yet
        int* mapped;
        cudaMallocHost(&mapped, 4096);
        mapped[3] = 0;
        set<<<1, 32>>>(mapped, 5);
        while (is("progress") && cudaStreamQuery(0) == cudaErrorNotReady)
            if (mapped[3] == 5) break;
        status = mapped[3] == 7;  // @mapped_early
        if (result(5, mapped)) status = 3;
        cudaFreeHost(mapped);
    }
    if (is("variable_early")) {
        set_variable<<<1, 1>>>(5);
        status = variable != 0;  // @variable_early
    }
    if (is("callback")) {
        static std::atomic<bool> done;
        set<<<1, 32>>>(memory, 5);
        cudaLaunchHostFunc(
            nullptr, [](void*) { done = true; }, nullptr);
        while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        status = result(5);
    }
    if (is("fault_while_polled")) {
        set<<<1, 32>>>(nullptr, 5);
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        status = result(0);
    }
    if (is("fault_ignored")) {
        set<<<1, 32>>>(nullptr, 5);  // @fault_ignored
        cudaDeviceSynchronize();
        status = 0;
    }
    if (is("copy_forgotten")) {
        cudaMemset(memory, 0, 4097);
        status = 0;
    }
    if (is("one_of_many") || is("host_touches_one")) {
        int* many[20];
        for (int*& one : many) cudaMalloc(&one, 64);
        set<<<1, 16>>>(many[3], 5);
        if (is("one_of_many")) set<<<1, 17>>>(many[7], 5);
        status = result(0);
        if (is("host_touches_one")) status = many[3][2];  // @host_touches_one
    }
    if (is("written_before") || is("written_behind") || is("written_and_kept")) {
        int* five;
        cudaMalloc(&five, 5 * sizeof(int));  // @five
        cudaMemset(five, 0, 5 * sizeof(int));
        beside<<<1, 1>>>(five, is("written_before") ? -1 : 5);
        status = is("written_before")   ? cudaMemcpy(memory, five, 5 * sizeof(int), cudaMemcpyDeviceToHost)
                 : is("written_behind") ? cudaFree(five)
                                        : cudaDeviceSynchronize();
    }
    if (is("written_to_the_end")) {
        char* some;
        for (size_t bytes = 1; bytes < 40; ++bytes) {
            cudaMallocManaged(&some, bytes);
            memset(some, 1, bytes);
            cudaMemset(some, 2, bytes);
            cudaFree(some);
        }
        status = 0;
    }
    if (is("heap_overrun")) overrun_heap<<<2, 64>>>(100), status = result(0);
    if (is("heap_of_the_kernel")) {
        int* p;
        make_one<<<1, 1>>>();
        cudaMemcpyFromSymbol(&p, of_a_kernel, sizeof p);
        if (cudaMemcpy(memory, p, sizeof *p, cudaMemcpyDeviceToHost) != cudaErrorInvalidValue) return 4;
        status = *p;  // @heap_of_the_kernel
    }
    if (is("heap_given_back_twice")) {
        make_one<<<1, 1>>>();
        for (int i = 0; i < 2; ++i) unmake_one<<<1, 1>>>();
        status = result(0);
    }
    if (is("heap_given_back_by_host")) {
        int* p;
        make_one<<<1, 1>>>();
        cudaMemcpyFromSymbol(&p, of_a_kernel, sizeof p);
        delete p;
        status = result(0);
    }
    if (is("launched_from_kernel")) launch_from_kernel<<<1, 1>>>(memory), status = result(0);
    if (is("barrier_on_host")) meet();
    if (is("heap_limit")) {
        size_t limit = 0;
        cudaDeviceSetLimit(cudaLimitMallocHeapSize, 10 << 20);
        for (int i = 0; i < 2; ++i) {
            *memory = 0;
            fill_heap<<<1, 32>>>(memory, reinterpret_cast<char**>(memory + 2));
            empty_heap<<<1, 32>>>(reinterpret_cast<char**>(memory + 2));
            status = result(10);
        }
        cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
        status |=
            limit != 10 << 20 || cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) != cudaErrorInvalidValue;
    }
    if (is("large_array")) local_array<500><<<1, 32>>>(memory, 0), status = result(5);
    if (is("much_too_large")) local_array<700><<<1, 32>>>(memory, 0), status = result(5);
    if (is("found_wrong")) {
        set<<<1, 32>>>(memory, 5);
        status = result(6);
    }
    if (is("constructed")) constructed<<<1, 32>>>(memory), status = result(-1);
    if (is("bare")) bare<<<1, 32>>>(memory), status = result(5);
    if (is("freed_twice")) cudaFree(memory), status = cudaFree(memory) != cudaErrorInvalidValue;  // @freed_twice
    if (is("copy_of_nothing")) status = cudaMemcpy(memory, nullptr, 4, cudaMemcpyDefault) != cudaErrorInvalidValue;
    if (is("fault_forgotten") || is("fault_told")) {
        set<<<1, 32>>>(nullptr, 5);
        if (is("fault_told")) cudaGetErrorString(cudaDeviceSynchronize());
        cudaDeviceReset();
        return 0;
    }
    if (is("too_many_threads")) {
        set_one<<<1, 2048>>>(*memory, 5);
        cudaDeviceSynchronize();
        status = 0;
    }
    if (is("too_many_to_wait")) {
        cudaLaunchCooperativeKernel(grid_barrier_missed, 4096, 256, nullptr);
        cudaDeviceSynchronize();
        status = 0;
    }
    if (is("bounds_exceeded")) at_most_64<<<1, 65>>>(memory), status = cudaGetLastError() != cudaErrorInvalidValue;
    if (is("later_block")) later_block<<<5, 64>>>(memory + 1, memory), status = result(4);
    if (is("grid_barriers")) {
        int* a = memory + 1;
        void* arguments[] = {&a, &memory};
        cudaLaunchCooperativeKernel(grid_barriers, 8, 32, arguments);
        status = result(3 * 256);
    }
    if (is("grid_barrier_missed")) {
        cudaLaunchCooperativeKernel(grid_barrier_missed, 3, 32, nullptr);
        status = result(0);
    }
    if (is("grid_barrier_plain")) grid_barriers<<<8, 32>>>(memory + 1, memory), status = result(0);
    if (is("host_launched")) {
        void (*kernel)(int*, int) = [](int* p, int value) { *p = value; };
        kernel<<<1, 1>>>(memory, 4);  // @host_launched
        set<<<1, 1>>>(memory, 5), status = result(5);
    }
    if (is("no_blocks")) {
        set_one<<<31 / 32, 32>>>(*memory, 5);
        return 0;
    }
    if (is("long_computation"))  // longer than a spin may last
        long_computation<<<1, 1>>>(memory, 13'000'000'000), status = result(1);
    if (is("meets_again")) {
        cudacpu::patience = 1;
        meets_again<<<1, 32>>>(memory, 5'000'000), status = result(1);
    }
    if (is("host_counts_too")) {  // by atomics, while the kernel may run
        count<<<1, 32>>>(memory);
        __atomic_fetch_add(memory, 10, __ATOMIC_SEQ_CST);
        status = result(42);
    }
    if (is("never_called")) {
        cudaLaunchHostFunc(
            nullptr, [](void*) { puts("called"); }, nullptr);
        return 0;
    }
    if (is("never_waited")) return set<<<1, 32>>>(memory, 5), 0;
    if (is("never_waited_long")) return long_computation<<<1, 1>>>(memory, 1'500'000'000), 0;
    cudaFree(memory);
    return status;
}
