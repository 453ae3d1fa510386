// Forms of kernels and launches that the translator must understand.
#include "translator_test.cuh"

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
}
