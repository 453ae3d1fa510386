#include "reduce.cuh"
#include <gtest/gtest.h>
namespace {
__global__ void one_warp(int* out) {
    int s = warp_sum(int(threadIdx.x));
    if (threadIdx.x == 0) *out = s;
}
class DeviceTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(cudaSuccess, cudaMallocManaged(&p, sizeof(int))); }
    void TearDown() override { cudaFree(p); }
    int* p = nullptr;
};
}  // namespace
TEST_F(DeviceTest, WarpSum) {
    one_warp<<<1, 32>>>(p);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(*p, 496);
}
