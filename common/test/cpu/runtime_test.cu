// The runtime API: memory, copies, symbols, streams, events, errors, properties.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

__global__ void add(int* p, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += value;
}
__global__ void fail(int* p) { p[1 << 20] = 1; }
__device__ int device_variable = 3;
__constant__ float table[4];
__managed__ int managed_variable;
__global__ void use_symbols(float* out) {
    out[threadIdx.x] = table[threadIdx.x] + device_variable;
    managed_variable = 17;
}

TEST(Memory, CopiesThereAndBack) {
    int *p, back[10], host[10];
    for (int i = 0; i < 10; ++i) host[i] = i;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&p, sizeof host));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    add<<<1, 32>>>(p, 10, 5);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(back, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(i + 5, back[i]);
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpy(p, host, 100, cudaMemcpyHostToDevice));
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpy(p, host, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(cudaSuccess, cudaFree(p));
    EXPECT_EQ(cudaErrorInvalidValue, cudaFree(p));
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
    EXPECT_EQ(cudaSuccess, cudaGetLastError());
}

TEST(Memory, StartsPoisoned) {
    unsigned char *p, c = 0;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&p, 100));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(&c, p + 99, 1, cudaMemcpyDefault));
    EXPECT_EQ(0xff, c);
    EXPECT_EQ(cudaSuccess, cudaFree(p));
}

TEST(Memory, TwoDimensions) {
    size_t pitch;
    char *p, host[3][5], back[3][5];
    memset(host, 7, sizeof host);
    ASSERT_EQ(cudaSuccess, cudaMallocPitch(&p, &pitch, 5, 3));
    EXPECT_EQ(cudaSuccess, cudaMemcpy2D(p, pitch, host, 5, 5, 3, cudaMemcpyHostToDevice));
    EXPECT_EQ(cudaSuccess, cudaMemset2D(p, pitch, 9, 2, 3));
    EXPECT_EQ(cudaSuccess, cudaMemcpy2D(back, 5, p, pitch, 5, 3, cudaMemcpyDeviceToHost));
    EXPECT_EQ(9, back[2][1]);
    EXPECT_EQ(7, back[2][2]);
    EXPECT_EQ(cudaSuccess, cudaFree(p));
}

TEST(Memory, HostMemoryOfEveryKind) {
    int *pinned, *mapped, *seen, own[4] = {};
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&pinned, 16));
    ASSERT_EQ(cudaSuccess, cudaHostAlloc(&mapped, 16, cudaHostAllocMapped));
    ASSERT_EQ(cudaSuccess, cudaHostGetDevicePointer(&seen, mapped, 0));
    ASSERT_EQ(cudaSuccess, cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
    memset(pinned, 0, 16), memset(mapped, 0, 16);
    for (int* p : {pinned, seen, own}) add<<<1, 4>>>(p, 4, 2);
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(6, pinned[3] + mapped[3] + own[3]);
    cudaPointerAttributes a;
    EXPECT_EQ(cudaSuccess, cudaPointerGetAttributes(&a, pinned));
    EXPECT_EQ(cudaMemoryTypeHost, a.type);
    EXPECT_EQ(cudaErrorInvalidValue, cudaFree(pinned));
    EXPECT_EQ(cudaSuccess, cudaHostUnregister(own));
    EXPECT_EQ(cudaSuccess, cudaFreeHost(pinned));
    EXPECT_EQ(cudaSuccess, cudaFreeHost(mapped));
    cudaGetLastError();
}

TEST(Memory, ManagedAdviceOfBothKinds) {
    int* p;
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&p, 400));
    EXPECT_EQ(cudaSuccess, cudaMemPrefetchAsync(p, 400, 0));
    EXPECT_EQ(cudaSuccess, cudaMemPrefetchAsync(p, 400, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
    EXPECT_EQ(cudaSuccess, cudaMemAdvise(p, 400, cudaMemAdviseSetReadMostly, 0));
    EXPECT_EQ(0, p[99]);
    EXPECT_EQ(cudaSuccess, cudaFree(p));
}

TEST(Memory, MoreThanThereIs) {
    size_t free, total;
    void* p;
    ASSERT_EQ(cudaSuccess, cudaMemGetInfo(&free, &total));
    EXPECT_EQ(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
    EXPECT_EQ(nullptr, p);
    EXPECT_EQ(cudaErrorMemoryAllocation, cudaGetLastError());
}

TEST(Symbols, CopiesAndManaged) {
    float host[] = {1, 2, 3, 4}, back[4], *out;
    int eight = 8, read = 0;
    ASSERT_EQ(cudaSuccess, cudaMemcpyToSymbol(table, host, sizeof host));
    ASSERT_EQ(cudaSuccess, cudaMemcpyToSymbol(device_variable, &eight, sizeof eight));
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, host, sizeof host, 4));
    ASSERT_EQ(cudaSuccess, cudaMalloc(&out, sizeof host));
    use_symbols<<<1, 4>>>(out);
    ASSERT_EQ(cudaSuccess, cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT_EQ(12, back[3]);
    EXPECT_EQ(17, managed_variable);
    EXPECT_EQ(cudaSuccess, cudaMemcpyFromSymbol(&read, device_variable, sizeof read));
    EXPECT_EQ(8, read);
    cudaFree(out);
    cudaGetLastError();
}

TEST(Streams, WorkWaitsForTheHost) {
    int *p, *q;
    cudaStream_t a, b;
    cudaEvent_t e;
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&p, 4));
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&q, 4));
    ASSERT_EQ(cudaSuccess, cudaStreamCreate(&a));
    ASSERT_EQ(cudaSuccess, cudaStreamCreate(&b));
    ASSERT_EQ(cudaSuccess, cudaEventCreate(&e));
    *p = *q = 0;
    add<<<1, 1, 0, a>>>(p, 1, 1);
    add<<<1, 1, 0, b>>>(q, 1, 1);
    EXPECT_EQ(0, *p);  // nothing runs before somebody waits
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(b));
    EXPECT_EQ(0, *p);  // another stream
    EXPECT_EQ(1, *q);
    EXPECT_EQ(cudaSuccess, cudaEventRecord(e, a));
    EXPECT_EQ(cudaSuccess, cudaStreamWaitEvent(b, e));
    add<<<1, 1, 0, b>>>(q, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(b));
    EXPECT_EQ(1, *p);  // b waited for a
    EXPECT_EQ(2, *q);
    cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(e), cudaFreeHost(p), cudaFreeHost(q);
}

TEST(Events, MeasureTime) {
    cudaEvent_t a, b;
    float ms = -1;
    cudaEventCreate(&a), cudaEventCreate(&b);
    EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
    cudaEventRecord(a);
    add<<<1, 1>>>(nullptr, 0, 0);
    cudaEventRecord(b);
    EXPECT_EQ(cudaErrorNotReady, cudaEventElapsedTime(&ms, a, b));
    EXPECT_EQ(cudaSuccess, cudaEventSynchronize(b));
    EXPECT_EQ(cudaSuccess, cudaEventElapsedTime(&ms, a, b));
    EXPECT_GE(ms, 0);
    cudaEventDestroy(a), cudaEventDestroy(b);
    cudaGetLastError();
}

TEST(Errors, BadLaunches) {
    add<<<1, 2048>>>(nullptr, 0, 0);
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError());
    add<<<0, 32>>>(nullptr, 0, 0);
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError());
    add<<<1, 32, 60 << 10>>>(nullptr, 0, 0);
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
    EXPECT_EQ(cudaSuccess, cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
    add<<<1, 32, 60 << 10>>>(nullptr, 0, 0);
    EXPECT_EQ(cudaSuccess, cudaGetLastError());
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(cudaErrorInvalidValue,
              cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    cudaGetLastError();
}

TEST(Errors, StickUntilReset) {
    int* p;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&p, 4));
    testing::internal::CaptureStderr();
    fail<<<1, 1>>>(p);
    EXPECT_EQ(cudaSuccess, cudaGetLastError());  // the launch itself was good
    EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_EQ(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_EQ(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
    EXPECT_EQ(cudaSuccess, cudaDeviceReset());
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_STREQ("cudaErrorIllegalAddress", cudaGetErrorName(cudaErrorIllegalAddress));
    EXPECT_STREQ("an illegal memory access was encountered", cudaGetErrorString(cudaErrorIllegalAddress));
}

TEST(Device, DescribesItself) {
    cudaDeviceProp p;
    int n = 0, blocks = 0, sms = 0;
    ASSERT_EQ(cudaSuccess, cudaGetDeviceProperties(&p, 0));
    EXPECT_STREQ("CPU device", p.name);
    EXPECT_EQ(8, p.major);
    EXPECT_EQ(32, p.warpSize);
    EXPECT_EQ(cudaSuccess, cudaGetDeviceCount(&n));
    EXPECT_EQ(1, n);
    EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(1));
    EXPECT_EQ(cudaSuccess, cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT_EQ(p.multiProcessorCount, sms);
    EXPECT_EQ(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    EXPECT_EQ(8, blocks);
    cudaGetLastError();
}
