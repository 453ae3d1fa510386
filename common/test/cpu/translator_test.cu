// Forms of kernels and launches that the translator must understand.
#include "translator_test.cuh"

#include <cublas_v2.h>
#include <curand_kernel.h>  // neither is used
#include <gtest/gtest.h>

#include <utility>

void call_from_cpp(int* p);

__global__ void set(int* p, int value) { *p = value; }
__global__ void set(int* p, float value) { *p = int(value * 10); }  // an overload
static __global__ void __launch_bounds__(64, 2) bounded(int* __restrict__ p, const int n = 4) { p[0] = n; }
template <int A, class... T> __global__ void packed(int* p, T... rest) { *p = A + (rest + ... + 0); }
template <class F> __global__ void apply(int* p, F f) { *p = f(*p); }
struct Twice { __device__ int operator()(int x) const { return 2 * x; } };
struct Big { int a[8]; };
__global__ void take_struct(int* p, Big big, int (*)(int), int) { *p = big.a[7]; }
__global__ void change_parameters(int* p, int n) {
    if (threadIdx.x == 0) n = 100;
    atomicAdd(p, n);
}
extern "C" __global__ void unmangled(int* p) { *p = 77; }
__global__ void defined_elsewhere(int* p) { *p = 55; }
void from_another_file(int* p) { defined_elsewhere<<<1, 1>>>(p); }
[[maybe_unused]] __global__ void attributed(int* p, [[maybe_unused]] int unused) { *p = 6; }

template <class T> __global__ void generic(T* p, T value);
template <> __global__ void generic<int>(int* p, int value) { *p = value + 1; }
template <class T> __global__ void generic(T* p, T value) { *p = value; }
__launch_bounds__(32) __global__ void bounded_before(int* p) { *p = 12; }
__global__ void ask_for_architecture(int* p) {
#if __CUDA_ARCH__ >= 700
    *p = __CUDA_ARCH__;
#endif
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600  // comes out alike: no reason to warn
namespace deep::er {
inline __global__ void __launch_bounds__((sizeof(int) < 8 ? 32 : 64)) bounded_by_sum(int* p) { *p = 13; }
}
#endif
template <class T> void check(T) {}  // a name that the library's headers have, too
template <class T> __global__ void set_to(T* p, T const value) { *p = value; }
struct Launcher {
    template <class T> static constexpr auto member = set_to<T>;
    friend __global__ void its_friend(int* p, Launcher self);
    void (*field)(int*, int) = set;
    int value = 14;
    template <class T> void launch(T* p) { this->template run<T>(p); }
    template <class T> void run(T* p) {
        this->field<<<1, 1>>>(p, value);
        Launcher::template member<T><<<1, 1>>>(p + 1, 15);
    }
};
template <class L, class T> void launch_dependent(T* p) { L::template member<T><<<dim3{1}, dim3{1}>>>(p, 16); }
__global__ void its_friend(int* p, Launcher self) { *p = self.value; }
template <class T, int N> __global__ void unnamed(T* p, std::pair<int, T>, const T, int = N < 3 ? 1 : 2, unsigned long = 0) {
    *p = N;
}
template <class A, class B> struct Both {
    A first;
    B second;
};
__global__ void shared_forms(int* p) {
    __shared__ struct { int a, b; } s;
    float __shared__ f[2], g;
    const __shared__ int* __shared__ q;
    static __shared__ Both<int, int[2]> pairs[2][3];
    if (threadIdx.x == 0) {
        s.a = 1, s.b = 2, f[1] = 3, g = 4, q = p, pairs[1][2].second[1] = 5;
    }
    __syncthreads();
    if (threadIdx.x == 1 && q == p) *p = s.a + 10 * s.b + 100 * int(f[1]) + 1000 * int(g) + 10000 * pairs[1][2].second[1];
}
__device__ int doubled(int x) { return 2 * x; }
__global__ void shared_pointers(int* p) {
    __shared__ int tile[4][8], (*rows)[8], (*pairs[2])[8];
    __shared__ int (*call)(int);
    if (threadIdx.x == 0) rows = tile + 2, pairs[1] = tile + 3, call = doubled;
    __syncthreads();
    if (threadIdx.x == 1) rows[1][7] = 21, *p = call(pairs[1][0][7]);
}
template <class T> __global__ void shared_dynamic(T* p) {
    extern __shared__ __align__(128) unsigned char raw[];
    T* tile = reinterpret_cast<T*>(raw);
    tile[threadIdx.x] = T(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) *p = reinterpret_cast<size_t>(raw) % 128 ? T(-1) : tile[blockDim.x - 1];
}
__global__ void literals(int* p) {
    const char* text = R"x(a " ) { " <<< )" __shared__
#include <none> '")x";
    *p = text[2] == '"' && '{' == 123 && "}\"<<<"[1] == '"' ? 1'0'7 : 0;  // it's } "
}
__global__ void special(unsigned* p) {
    asm volatile("mov.u32 \t%0, %laneid;\n" : "=r"(p[0])::"memory");
#pragma unroll 4
    for (int i = 0; i < 2; ++i) asm("" ::: "memory");
}

class Translator : public testing::Test {
protected:
    int* p = nullptr;
    void SetUp() override { ASSERT_EQ(cudaSuccess, cudaMallocManaged(&p, 400)); }
    void TearDown() override { EXPECT_EQ(cudaSuccess, cudaFree(p)); }
    int value() { return cudaDeviceSynchronize() ? -1 : *p; }
};

TEST_F(Translator, Launches) {
    set<<<1, 1>>>(p, 1);
    EXPECT_EQ(1, value());
    set<<<1, 1>>>(p, 1.5f);
    EXPECT_EQ(15, value());
    set << <1, 1 >> >(p, 2);
    EXPECT_EQ(2, value());
    set<<<
        dim3(1, 1),
        1 << 0
    >>>(
        p,
        3);
    EXPECT_EQ(3, value());
    bounded<<<1, 1>>>(p);
    EXPECT_EQ(4, value());
    packed<3><<<1, 1>>>(p, 1, 1);
    EXPECT_EQ(5, value());
    packed<(8 > 4) ? 6 : 0, int><<<1, 1>>>(p, 0);
    EXPECT_EQ(6, value());
    apply<<<1, 1>>>(p, Twice{});
    EXPECT_EQ(12, value());
    void (*pointer)(int*, int) = set;
    (*pointer)<<<1, 1>>>(p, 7);
    EXPECT_EQ(7, value());
    pointer<<<1, 1>>>(p, 8);
    EXPECT_EQ(8, value());
    if (!p) set<<<1, 1>>>(p, 1);
    else (p ? pointer : nullptr)<<<1, 1>>>(p, 9);
    EXPECT_EQ(9, value());
    take_struct<<<1, 1>>>(p, {{0, 0, 0, 0, 0, 0, 0, 9}}, NULL, 0);
    EXPECT_EQ(9, value());
    unmangled<<<1, 1>>>(p);
    EXPECT_EQ(77, value());
    attributed<<<1, 1>>>(p, 1);
    EXPECT_EQ(6, value());
    if (value() == 6) set<<<1, 1>>>(p, 10);
    else set<<<1, 1>>>(p, 11);
    EXPECT_EQ(10, value());
}

TEST_F(Translator, MoreLaunches) {
    generic<<<1, 1>>>(p, 5);
    EXPECT_EQ(6, value());
    generic<unsigned><<<1, 1>>>(reinterpret_cast<unsigned*>(p), 7);
    EXPECT_EQ(7, value());
    deep::er::bounded_by_sum<<<1, 32, 0, 0>>>(p);
    EXPECT_EQ(13, value());
    ::deep::er::bounded_by_sum<<<1, 33>>>(p);
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
    bounded_before<<<1, 33>>>(p);
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
    Launcher{}.launch(p);
    EXPECT_EQ(14, value());
    EXPECT_EQ(15, p[1]);
    launch_dependent<Launcher>(p);
    EXPECT_EQ(16, value());
    its_friend<<<1, 1>>>(p, Launcher{});
    EXPECT_EQ(14, value());
    unnamed<int, 2><<<1, 1>>>(p, {1, 2}, 3);
    EXPECT_EQ(2, value());
    const auto by_lambda = [](int* q) { return ::set<<<1, 1>>>(q, 17); };
    by_lambda(p);
    EXPECT_EQ(17, value());
    const int n = 18;
    apply<<<1, 1>>>(p, [n] __device__(int x) { return x + n; });
    EXPECT_EQ(35, value());
    void (*const table[2][1])(int*, int) = {{set}, {set}};
    if (n) table[1][0]<<<1, 1>>>(p, 19);
    EXPECT_EQ(19, value());
    if (n) (*table[0][0])<<<1, 1>>>(p, 20);
    EXPECT_EQ(20, value());
    n < 18 ? set<<<1, 1>>>(p, 21) : ::set<<<1, 1>>>(p, 22);
    EXPECT_EQ(22, value());
    static_cast<void (*)(int*, float)>(set)<<<1, 1>>>(p, 2.3f), set<<<1, 1>>>(p + 1, n > 3 && n < 30);
    EXPECT_EQ(23, value());
    EXPECT_EQ(1, p[1]);
    for (int i = 0; i < 3; set<<<1, 1>>>(p, i), ++i);
    EXPECT_EQ(2, value());
    switch (n) {
        case 18: set<<<1, 1>>>(p, 24);
    }
    EXPECT_EQ(24, value());
    int line = 0;
    set<<<1,
          1>>>(p, 25); line = __LINE__;
    EXPECT_EQ(__LINE__ - 1, line);
}

TEST_F(Translator, SharedMemory) {
    shared_forms<<<1, 2>>>(p);
    EXPECT_EQ(54321, value());
    shared_pointers<<<1, 2>>>(p);
    EXPECT_EQ(42, value());
    shared_dynamic<<<1, 33, 33 * sizeof(int)>>>(p);
    EXPECT_EQ(32, value());
}

__global__ void keywords_of_20(int* p, int concept, int requires) { *p = concept + requires; }
TEST_F(Translator, LiteralsAndRegisters) {
    literals<<<1, 1>>>(p);
    EXPECT_EQ(107, value());
    special<<<1, 1>>>(reinterpret_cast<unsigned*>(p));
    EXPECT_EQ(0, value());
    const char* const letters = u8"\u00e9";  // as in C++17
    keywords_of_20<<<1, 1>>>(p, 3, letters[1] & 0xff);
    EXPECT_EQ(3 + 0xa9, value());
}

TEST_F(Translator, MacrosAndIncludedFiles) {
    LAUNCH(included::fill, 33, p, 33, 4);
    EXPECT_EQ(4, value());
    LAUNCH(included::fill<int>, 33, p, 33);
    EXPECT_EQ(3, value());
    included::fill_by_function(p, 70);
    EXPECT_EQ(9, value());
    EXPECT_EQ(9, p[69]);
    EXPECT_EQ(0, p[70]);
    call_from_cpp(p);
    EXPECT_EQ(55, value());
}

TEST_F(Translator, ParametersBelongToTheThread) {
    change_parameters<<<1, 3>>>(p, 1);
    EXPECT_EQ(102, value());
}

TEST_F(Translator, ArgumentsAreTakenAtTheLaunch) {
    int n = 5;
    set<<<1, 1>>>(p, n);
    n = 6;
    EXPECT_EQ(5, value());
}

TEST_F(Translator, TooManyThreadsForTheBounds) {
    bounded<<<1, 65>>>(p);
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
}

TEST_F(Translator, LaunchByFunction) {
    int v = 21;
    void* arguments[] = {&p, &v};
    void (*f)(int*, int) = set;
    EXPECT_EQ(cudaSuccess, cudaLaunchKernel(f, dim3(1), dim3(1), arguments, 0, 0));
    EXPECT_EQ(21, value());
    EXPECT_EQ(cudaSuccess, cudaLaunchKernel((const void*)bounded_before, dim3(1), dim3(1), arguments));
    EXPECT_EQ(12, value());
}

TEST_F(Translator, KernelsKnowTheArchitecture) {
    ask_for_architecture<<<1, 1>>>(p);
    EXPECT_EQ(800, value());
}

// ---- arguments that are more than bytes ----------------------------------------------------------------------------

struct Handle {  // as the locks of many textbooks: it owns memory, and is given to the kernel by value
    int* count;
    static inline int copied = 0, destroyed = 0;
    explicit Handle(int* at) : count(at) {}
    Handle(const Handle& other) : count(other.count) { ++copied; }
    ~Handle() { ++destroyed; }
};
__global__ void count_threads(Handle handle) { atomicAdd(handle.count, 1); }
__global__ void set_through_reference(int& value, const int& other) {
    if (threadIdx.x == 0) value = other + 1;
}

TEST(Arguments, AreCopiedOnTheHostAndNotDestroyedOnTheDevice) {
    int* count = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&count, sizeof(int)));
    {
        const Handle handle(count);
        count_threads<<<2, 64>>>(handle);
        ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    }
    EXPECT_EQ(128, *count);
    EXPECT_LE(Handle::copied, 2);  // the parameter, and what is kept for the device
    EXPECT_EQ(2, Handle::destroyed);
    cudaFree(count);
}

TEST(Arguments, ReferencesReachTheObject) {
    int* values = nullptr;
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&values, 2 * sizeof(int)));
    values[1] = 41;
    set_through_reference<<<1, 32>>>(values[0], values[1]);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(42, values[0]);
    cudaFree(values);
}

struct Signed {
    template <bool negative>
    __device__ int of(int x) const {
        return negative ? -x : x;
    }
};
template <class T>
__global__ void call_its_template(T t, int* out) {
    *out = t.of<true>(7);  // without `template`, as nvcc takes it
}
TEST(Templates, OfDependentTypes) {
    int* out;
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&out, sizeof *out));
    call_its_template<<<1, 1>>>(Signed(), out);
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(-7, *out);
    EXPECT_EQ(cudaSuccess, cudaFree(out));
}
