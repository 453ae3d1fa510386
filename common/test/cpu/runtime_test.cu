// The runtime API: memory, copies, symbols, streams, events, errors, properties.
#include <cuda.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <cuda/cmath>
#include <thread>
#include <vector>

__global__ void add(int* p, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += value;
}
__global__ void fail(int* p) { p[4] = 1; }  // behind 16 bytes lies an inaccessible page
__device__ int device_variable = 3;
__device__ volatile int watched_variable;
__constant__ float table[4];
__managed__ int managed_variable;
__global__ void use_symbols(float* out) {
    out[threadIdx.x] = table[threadIdx.x] + float(device_variable);
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

TEST(Memory, ThreeDimensions) {
    const cudaExtent all = make_cudaExtent(5, 3, 4), some = make_cudaExtent(2, 2, 3);
    char host[4][3][5], back[4][3][5];
    for (int i = 0; i < 60; ++i) host[0][0][i] = char(i);
    cudaPitchedPtr p, q;
    ASSERT_EQ(cudaSuccess, cudaMalloc3D(&p, all));
    ASSERT_EQ(cudaSuccess, cudaMalloc3D(&q, all));
    EXPECT_EQ(3u, p.ysize);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 5, 5, 3);
    copy.dstPtr = p;
    copy.extent = all;
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
    EXPECT_EQ(cudaSuccess, cudaMemset3D(q, 77, all));
    copy.srcPtr = p;
    copy.srcPos = make_cudaPos(2, 1, 1);
    copy.dstPtr = q;
    copy.extent = some;
    copy.kind = cudaMemcpyDeviceToDevice;
    EXPECT_EQ(cudaSuccess, cudaMemcpy3DAsync(&copy));
    copy.srcPtr = q;
    copy.srcPos = {};
    copy.dstPtr = make_cudaPitchedPtr(back, 5, 5, 3);
    copy.extent = all;
    copy.kind = cudaMemcpyDeviceToHost;
    EXPECT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 5; ++x)
                EXPECT_EQ(z < 3 && y < 2 && x < 2 ? host[z + 1][y + 1][x + 2] : 77, back[z][y][x]);
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
    EXPECT_EQ(cudaSuccess, cudaMemcpyPeer(q.ptr, 0, p.ptr, 0, 5));
    EXPECT_EQ(cudaErrorInvalidDevice, cudaMemcpyPeer(q.ptr, 1, p.ptr, 0, 5));
    cudaGetLastError();
    EXPECT_EQ(cudaSuccess, cudaFree(p.ptr));
    EXPECT_EQ(cudaSuccess, cudaFree(q.ptr));
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

TEST(Memory, Pools) {
    cudaMemPool_t standard, other;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    ASSERT_EQ(cudaSuccess, cudaDeviceGetDefaultMemPool(&standard, 0));
    ASSERT_EQ(cudaSuccess, cudaMemPoolCreate(&other, &props));
    uint64_t threshold = UINT64_MAX, used = 0;
    EXPECT_EQ(cudaSuccess, cudaMemPoolSetAttribute(other, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_EQ(cudaSuccess, cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_EQ(0u, threshold);
    int *p, out[4];
    ASSERT_EQ(cudaSuccess, cudaMallocFromPoolAsync(&p, sizeof out, other, 0));
    EXPECT_EQ(cudaSuccess, cudaMemPoolGetAttribute(other, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT_EQ(sizeof out, used);
    EXPECT_EQ(cudaSuccess, cudaMemsetAsync(p, 1, sizeof out));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT_EQ(0x01010101, out[3]);
    EXPECT_EQ(cudaSuccess, cudaFreeAsync(p, 0));
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemPoolDestroy(standard));
    EXPECT_EQ(cudaSuccess, cudaMemPoolDestroy(other));
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

TEST(Memory, NothingAndNowhere) {
    int* p = reinterpret_cast<int*>(1);
    EXPECT_EQ(cudaSuccess, cudaMalloc(&p, 0));
    EXPECT_EQ(nullptr, p);
    EXPECT_EQ(cudaSuccess, cudaMallocHost(&p, 0));
    EXPECT_EQ(cudaSuccess, cudaMallocManaged(&p, 0));
    EXPECT_EQ(cudaErrorInvalidValue, cudaMallocManaged(&p, 4, cudaHostAllocDefault));
    EXPECT_EQ(cudaSuccess, cudaFree(nullptr));
    EXPECT_EQ(cudaSuccess, cudaFreeHost(nullptr));
    EXPECT_EQ(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(nullptr));
    EXPECT_EQ(cudaSuccess, cudaMemset(nullptr, 0, 0));
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpy(nullptr, &p, 4, cudaMemcpyDefault));
    EXPECT_EQ(cudaErrorInvalidMemcpyDirection, cudaMemcpy(&p, &p, 4, cudaMemcpyKind(7)));
    EXPECT_EQ(cudaErrorInvalidMemcpyDirection, cudaGetLastError());
}

TEST(Memory, ANeighbourOfRegisteredMemoryIsNone) {
    alignas(64) int both[2][4] = {};
    cudaPointerAttributes a;
    ASSERT_EQ(cudaSuccess, cudaHostRegister(both[0], sizeof both[0], cudaHostRegisterDefault));
    EXPECT_EQ(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(both[0] + 1, 4));
    EXPECT_EQ(cudaSuccess, cudaPointerGetAttributes(&a, both[1]));
    EXPECT_EQ(cudaMemoryTypeUnregistered, a.type);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(both[0], both[1], sizeof both[0], cudaMemcpyDefault));
    EXPECT_EQ(cudaSuccess, cudaHostUnregister(both[0]));
    cudaGetLastError();
}

TEST(Memory, CopiesLaterTakeOrdinaryMemoryAtOnce) {
    int *p, *pinned, host = 1;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&p, 8));
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&pinned, 8));
    *pinned = 1;
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(p, &host, 4, cudaMemcpyHostToDevice));
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(p + 1, pinned, 4, cudaMemcpyHostToDevice));
    host = *pinned = 2;
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(pinned, p, 8, cudaMemcpyDeviceToHost));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(0));
    EXPECT_EQ(1, pinned[0]);
    EXPECT_EQ(2, pinned[1]);
    cudaFree(p), cudaFreeHost(pinned);
}

// "API synchronization behavior": the host waits where memory that it sees is set, and between host memory. Global
// arrays are ordinary memory, too.
TEST(Memory, TheHostWaitsWhereCUDASaysSo) {
    static int global_array[2] = {1, 1};
    int *p, *pinned, *managed;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&p, 8));
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&pinned, 8));
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&managed, 8));
    for (int* visible : {pinned, managed}) {
        visible[0] = visible[1] = 1;
        EXPECT_EQ(cudaSuccess, cudaMemset(visible, 0, 8));
        visible[1] = 5;
        EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
        EXPECT_EQ(0, visible[0]);
        EXPECT_EQ(5, visible[1]);
        EXPECT_EQ(cudaSuccess, cudaMemset2D(visible, 8, 7, 4, 1));
        EXPECT_EQ(0x07070707, visible[0]);
    }
    EXPECT_EQ(cudaSuccess, cudaMemsetAsync(pinned, 0, 8));
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(pinned, managed, 4, cudaMemcpyDefault));
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(pinned + 1, global_array, 4, cudaMemcpyHostToHost));
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(pinned, pinned + 1, 4, cudaMemcpyHostToHost));
    EXPECT_EQ(pinned[0], pinned[1]);
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(p, global_array, 8, cudaMemcpyHostToDevice));
    global_array[0] = global_array[1] = 9;
    EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(global_array, p, 8, cudaMemcpyDeviceToHost));
    EXPECT_EQ(1, global_array[1]);
    cudaFree(p), cudaFree(managed), cudaFreeHost(pinned);
}

TEST(Memory, ManyAllocations) {
    for (int i = 0; i < 100'000; ++i) {
        char* p;
        ASSERT_EQ(cudaSuccess, cudaMalloc(&p, 100));
        ASSERT_EQ(cudaSuccess, cudaFree(p));
    }
}

__global__ void add_to_rows(int** rows) { rows[blockIdx.x][threadIdx.x] += int(blockIdx.x); }
clock_t time_of_copies(const std::vector<int*>& rows) {
    const clock_t begin = clock();
    const int host[4] = {};
    for (int i = 0; i < 200; ++i) cudaMemcpy(rows[i % rows.size()], host, sizeof host, cudaMemcpyHostToDevice);
    return clock() - begin;
}
TEST(Memory, AsManyPiecesAsRows) {  // what nobody touches costs nothing
    std::vector<int*> few(20), many(2000);
    for (int*& row : few) ASSERT_EQ(cudaSuccess, cudaMalloc(&row, 16));
    const clock_t short_time = time_of_copies(few);
    for (int*& row : many) ASSERT_EQ(cudaSuccess, cudaMalloc(&row, 16));
    EXPECT_LT(time_of_copies(many), 10 * short_time + CLOCKS_PER_SEC / 5);
    int **rows, back[4];
    ASSERT_EQ(cudaSuccess, cudaMalloc(&rows, many.size() * sizeof *rows));
    cudaMemcpy(rows, many.data(), many.size() * sizeof *rows, cudaMemcpyHostToDevice);
    for (int* row : many) cudaMemset(row, 0, 16);
    add_to_rows<<<2000, 4>>>(rows);
    for (size_t i = 0; i < many.size(); ++i) {
        EXPECT_EQ(cudaSuccess, cudaMemcpy(back, many[i], 16, cudaMemcpyDeviceToHost));
        EXPECT_EQ(int(i), back[3]);
    }
    for (int* row : few) EXPECT_EQ(cudaSuccess, cudaFree(row));
    for (int* row : many) EXPECT_EQ(cudaSuccess, cudaFree(row));
    EXPECT_EQ(cudaSuccess, cudaFree(rows));
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
    read = 0;
    EXPECT_EQ(cudaSuccess, cudaMemcpyToSymbol(watched_variable, &eight, sizeof eight));
    EXPECT_EQ(cudaSuccess, cudaMemcpyFromSymbol(&read, watched_variable, sizeof read));
    EXPECT_EQ(8, read);
    EXPECT_EQ(cudaErrorInvalidValue,
              cudaMemcpyToSymbol(device_variable, &eight, sizeof eight, 0, cudaMemcpyDeviceToHost));
    int* address;
    size_t size;
    EXPECT_EQ(cudaSuccess, cudaGetSymbolAddress(&address, device_variable));
    EXPECT_EQ(&device_variable, address);
    volatile int* watched;
    EXPECT_EQ(cudaSuccess, cudaGetSymbolAddress(&watched, watched_variable));
    EXPECT_EQ(&watched_variable, watched);
    EXPECT_EQ(cudaSuccess, cudaGetSymbolSize(&size, table));
    EXPECT_EQ(sizeof table, size);
    cudaFree(out);
    cudaGetLastError();
}

// By an atomic, as who looks at memory while a kernel may change it.
static int look(int* p) { return __atomic_fetch_add(p, 0, __ATOMIC_SEQ_CST); }

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
    EXPECT_EQ(0, look(p));  // nothing runs before somebody waits
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(b));
    EXPECT_EQ(0, look(p));  // another stream
    EXPECT_EQ(1, look(q));
    EXPECT_EQ(cudaSuccess, cudaEventRecord(e, a));
    EXPECT_EQ(cudaSuccess, cudaStreamWaitEvent(b, e));
    add<<<1, 1, 0, b>>>(q, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(b));
    EXPECT_EQ(1, look(p));  // b waited for a
    EXPECT_EQ(2, look(q));
    cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(e), cudaFreeHost(p), cudaFreeHost(q);
}

TEST(Streams, OnlyWhatIsWaitedForRuns) {
    int* p;  // [0] a before the event, [1] a after it, [2] b, [3] c, [4] the default stream
    cudaStream_t a, b, c;
    cudaEvent_t e;
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&p, 20));
    memset(p, 0, 20);
    cudaStreamCreate(&a), cudaStreamCreate(&b), cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    add<<<1, 1, 0, a>>>(p, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaEventRecord(e, a));
    add<<<1, 1, 0, a>>>(p + 1, 1, 1);
    add<<<1, 1, 0, c>>>(p + 3, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaStreamWaitEvent(b, e));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(b));
    EXPECT_EQ(1, look(p + 0));
    EXPECT_EQ(0, look(p + 1));  // after the event
    add<<<1, 1>>>(p + 4, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaStreamDestroy(a));
    EXPECT_EQ(0, look(p + 1));  // a stream that is destroyed still does its work, but nobody waits for it
    EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(a));
    add<<<1, 1, 0, b>>>(p + 2, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(b));
    EXPECT_EQ(1, look(p + 4));  // b waited for the default stream,
    EXPECT_EQ(1, look(p + 1));  // which waited for a,
    EXPECT_EQ(0, look(p + 3));  // but not for c
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(0));
    EXPECT_EQ(0, look(p + 3));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(1, look(p + 3));
    cudaStreamDestroy(b), cudaStreamDestroy(c), cudaEventDestroy(e), cudaFreeHost(p);
    EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaStreamDestroy(b));
    EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventRecord(e));
    cudaGetLastError();
}

TEST(Streams, OfSeveralThreadsOfTheHost) {
    std::atomic<int> right = 0;
    const auto use = [&right](int value) {
        cudaStream_t s;
        int *p, *pinned;
        cudaStreamCreate(&s), cudaMalloc(&p, 400), cudaMallocHost(&pinned, 400);
        for (int i = 0; i < 20; ++i) {
            cudaMemsetAsync(p, 0, 400, s);
            for (int k = 0; k < 3; ++k) add<<<4, 32, 0, s>>>(p, 100, value);
            cudaMemcpyAsync(pinned, p, 400, cudaMemcpyDeviceToHost, s);
            right += cudaStreamSynchronize(s) == cudaSuccess && pinned[0] == 3 * value && pinned[99] == 3 * value;
        }
        cudaStreamDestroy(s), cudaFree(p), cudaFreeHost(pinned);
    };
    std::thread threads[] = {std::thread(use, 1), std::thread(use, 2), std::thread(use, 3)};
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(60, right);
}

TEST(Streams, PrioritiesAndNamedStreams) {
    cudaStream_t s;
    int priority;
    unsigned flags;
    ASSERT_EQ(cudaSuccess, cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -99));
    EXPECT_EQ(cudaSuccess, cudaStreamGetPriority(s, &priority));
    EXPECT_EQ(-5, priority);
    EXPECT_EQ(cudaSuccess, cudaStreamGetFlags(s, &flags));
    EXPECT_EQ(cudaStreamNonBlocking, flags);
    unsigned long long id, default_id;
    EXPECT_EQ(cudaSuccess, cudaStreamGetId(s, &id));
    EXPECT_EQ(cudaSuccess, cudaStreamGetId(nullptr, &default_id));
    EXPECT_NE(id, default_id);
    EXPECT_EQ(cudaSuccess, cudaStreamDestroy(s));
    int* p;
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&p, 4));
    *p = 0;
    add<<<1, 1, 0, cudaStreamPerThread>>>(p, 1, 1);
    add<<<1, 1, 0, cudaStreamLegacy>>>(p, 1, 1);
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));  // it waits for the default stream
    EXPECT_EQ(2, *p);
    cudaFreeHost(p);
}

TEST(Streams, Callbacks) {
    static int* p;
    static cudaError_t inside;
    static int seen[2];
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&p, 4));
    add<<<1, 1>>>(p, 1, 5);
    EXPECT_EQ(cudaSuccess, cudaLaunchHostFunc(
                               nullptr,
                               [](void* data) {
                                   seen[0] = *p + *static_cast<int*>(data);
                                   inside = cudaDeviceSynchronize();
                               },
                               &seen[1]));
    EXPECT_EQ(cudaSuccess, cudaStreamAddCallback(
                               nullptr, [](cudaStream_t, cudaError_t e, void*) { seen[1] = 7 + e; }, nullptr, 0));
    EXPECT_EQ(0, seen[0]);
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(nullptr));
    EXPECT_EQ(5, seen[0]);
    EXPECT_EQ(7, seen[1]);
    EXPECT_EQ(cudaErrorNotPermitted, inside);  // CUDA lets no callback call it
    cudaFree(p);
    cudaGetLastError();
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

TEST(Events, WhatWaitsForNothingIsThere) {  // in a stream that nobody waits for
    cudaEvent_t a, b, c;
    cudaStream_t idle, s;
    float ms = -1;
    cudaEventCreate(&a), cudaEventCreate(&b), cudaEventCreate(&c);
    cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaEventRecord(a, idle);
    add<<<1, 1, 0, idle>>>(nullptr, 0, 0);
    cudaEventRecord(c, idle);
    add<<<1, 1, 0, s>>>(nullptr, 0, 0);
    cudaEventRecord(b, s);
    EXPECT_EQ(cudaSuccess, cudaEventQuery(a));
    EXPECT_EQ(cudaErrorNotReady, cudaEventElapsedTime(&ms, a, b));
    EXPECT_EQ(cudaSuccess, cudaEventSynchronize(b));
    EXPECT_EQ(cudaSuccess, cudaEventElapsedTime(&ms, a, b));
    EXPECT_GE(ms, 0);
    EXPECT_EQ(cudaErrorNotReady, cudaEventElapsedTime(&ms, a, c));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    cudaEventDestroy(a), cudaEventDestroy(b), cudaEventDestroy(c), cudaStreamDestroy(idle), cudaStreamDestroy(s);
    cudaGetLastError();
}

TEST(Events, AskingEnds) {
    cudaEvent_t e;
    int* p;
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&p, 4));
    *p = 0;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    EXPECT_EQ(cudaSuccess, cudaEventQuery(e));   // never recorded
    EXPECT_EQ(cudaSuccess, cudaStreamQuery(0));  // nothing is queued
    add<<<1, 1>>>(p, 1, 1);
    cudaEventRecord(e);
    EXPECT_EQ(cudaErrorNotReady, cudaEventQuery(e));
    while (cudaEventQuery(e) == cudaErrorNotReady) {}
    EXPECT_EQ(1, *p);
    for (int i = 0; i < 5; ++i) {  // more is queued while it asks: what it asked for comes first
        add<<<1, 1>>>(p, 1, 1);
        EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(0));
        EXPECT_EQ(1 + i, *p);
    }
    EXPECT_EQ(cudaSuccess, cudaStreamQuery(0));
    EXPECT_EQ(6, *p);
    float ms;
    EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, e));
    cudaEventDestroy(e), cudaFreeHost(p);
    cudaGetLastError();
}

TEST(Errors, BadLaunches) {
    add<<<1, 2048>>>(nullptr, 0, 0);
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError());
    add<<<0, 32>>>(nullptr, 0, 0);
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError());
    add<<<dim3(1, 65536), 32>>>(nullptr, 0, 0);
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
    EXPECT_STREQ("invalid device symbol", cudaGetErrorString(cudaErrorInvalidSymbol));
    EXPECT_STREQ("unrecognized error code", cudaGetErrorString(cudaError_t(12345)));
}

TEST(Errors, ResetGivesAllMemoryBack) {
    const size_t before = cudacpu::bytes_in_use;
    void *device, *managed, *pinned;
    ASSERT_EQ(cudaSuccess, cudaMalloc(&device, 4));
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&managed, 4));
    ASSERT_EQ(cudaSuccess, cudaMallocHost(&pinned, 4));
    EXPECT_EQ(before + 12, cudacpu::bytes_in_use);
    EXPECT_EQ(cudaSuccess, cudaDeviceReset());
    EXPECT_EQ(0, cudacpu::bytes_in_use);
    EXPECT_EQ(cudaErrorInvalidValue, cudaFree(device));
    cudaGetLastError();
}

__device__ int counted = 3, many[5000];
__constant__ float factor = 0.5f;
__managed__ int seen_by_both = 4;
__global__ void change_all() {
    ++counted;
    many[4999] = int(factor * 10);
    ++seen_by_both;
}

TEST(Errors, ResetLetsVariablesBeginAnew) {
    const float two = 2;
    for (int i = 0; i < 2; ++i) {
        int c = 0, m = 0;
        change_all<<<1, 1>>>();
        ASSERT_EQ(cudaSuccess, cudaMemcpyToSymbol(factor, &two, sizeof two));
        ASSERT_EQ(cudaSuccess, cudaMemcpyFromSymbol(&c, counted, sizeof c));
        ASSERT_EQ(cudaSuccess, cudaMemcpyFromSymbol(&m, many, sizeof m, 4999 * sizeof m));
        EXPECT_EQ(4, c);
        EXPECT_EQ(5, m);
        EXPECT_EQ(5, seen_by_both);
        ASSERT_EQ(cudaSuccess, cudaDeviceReset());
        ASSERT_EQ(cudaSuccess, cudaMemcpyFromSymbol(&m, many, sizeof m, 4999 * sizeof m));
        EXPECT_EQ(0, m);
    }
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
    int can = 1;  // the one device has no peer, and is none of its own
    EXPECT_EQ(cudaSuccess, cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT_EQ(0, can);
    EXPECT_EQ(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
    EXPECT_EQ(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(0));
    EXPECT_EQ(cudaSuccess, cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT_EQ(p.multiProcessorCount, sms);
    EXPECT_EQ(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    EXPECT_EQ(8, blocks);
    EXPECT_EQ(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, size_t{1} << 32));
    EXPECT_EQ(0, blocks);
    int grid = 0, block = 0;
    EXPECT_EQ(cudaSuccess, cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
    EXPECT_EQ(1024, block);
    EXPECT_EQ(2 * sms, grid);
    EXPECT_EQ(cudaErrorInvalidValue, cudaDeviceGetAttribute(&n, cudaDeviceAttr(127), 0));
    EXPECT_EQ(cudaSuccess, cudaDeviceGetAttribute(&n, cudaDevAttrGpuOverlap, 0));
    EXPECT_EQ(1, n);
    EXPECT_EQ(cudaSuccess, cudaFuncSetAttribute(add, cudaFuncAttributePreferredSharedMemoryCarveout,
                                                cudaSharedmemCarveoutMaxShared));
    cudaSharedMemConfig banks;
    EXPECT_EQ(cudaSuccess, cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
    EXPECT_EQ(cudaSuccess, cudaDeviceGetSharedMemConfig(&banks));
    EXPECT_EQ(cudaSharedMemBankSizeFourByte, banks);
    cudaFuncAttributes f;
    EXPECT_EQ(cudaSuccess, cudaFuncGetAttributes(&f, add));
    EXPECT_EQ(1024, f.maxThreadsPerBlock);
    cudaGetLastError();
}

TEST(Device, IsReadyWithoutTheDriversInit) {
    EXPECT_EQ(CUDA_SUCCESS, cuInit(0));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuInit(1));
}

TEST(Device, TakesAProfilersRanges) {
    nvtxEventAttributes_t attributes = {};
    attributes.message.ascii = "division";
    nvtxRangePushEx(&attributes);
    EXPECT_EQ(4, cuda::ceil_div(100, 32));
    EXPECT_EQ(3u, cuda::ceil_div(96u, 32));
    nvtxRangePop();
}
TEST(Device, LaunchesAKernelByItsArguments) {
    int *p, n = 3, value = 4;
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&p, 12));
    void* arguments[] = {&p, &n, &value};
    EXPECT_EQ(cudaSuccess, cudaLaunchKernel(add, dim3(1), dim3(32), arguments));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(4, p[2]);
    cudaFree(p);
}

template <int N>
__global__ void with_shared(int* p) {
    __shared__ int a[N];
    if (threadIdx.x < 2) {
        __shared__ char b;
        b = 1;
        a[threadIdx.x] = b;
    }
    p[threadIdx.x] = a[threadIdx.x];
}
TEST(Device, KnowsSharedMemoryBeforeTheLaunch) {
    cudaFuncAttributes f;
    EXPECT_EQ(cudaSuccess, cudaFuncGetAttributes(&f, with_shared<10000>));
    EXPECT_EQ(40001u, f.sharedSizeBytes);
    int blocks, most;
    EXPECT_EQ(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared<10000>, 32, 0));
    EXPECT_EQ(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, add, 32, 0));
    EXPECT_EQ(5, blocks);
    EXPECT_EQ(32, most);
}

// Made before main() and maybe before the library's own objects.
static const struct Early {
    int* p[7];
    int sum = 0;
    Early() {
        for (int*& q : p) cudaMallocManaged(&q, 4);
        for (int* q : p) add<<<1, 1>>>(q, 1, 1);
        cudaDeviceSynchronize();
        for (int* q : p) sum += *q;
        for (int* q : p) cudaFree(q);
    }
} early;
TEST(Device, WorksInStaticConstructors) { EXPECT_EQ(7, early.sum); }

TEST(Device, LaunchesWithAttributes) {
    int* p;
    ASSERT_EQ(cudaSuccess, cudaMallocManaged(&p, 12));
    cudaLaunchAttribute cooperative;
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 32;
    EXPECT_EQ(cudaSuccess, cudaLaunchKernelEx(&config, add, p, 3, 5));
    config.attrs = &cooperative;
    config.numAttrs = 1;
    EXPECT_EQ(cudaSuccess, cudaLaunchKernelEx(&config, add, p, 3, 5));
    config.gridDim = 1 << 20;
    EXPECT_EQ(cudaErrorCooperativeLaunchTooLarge, cudaLaunchKernelEx(&config, add, p, 3, 5));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(10, p[2]);
    cudaFree(p);
    cudaGetLastError();
}
