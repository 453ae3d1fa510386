// What kernels can do: barriers, warps, shared memory, atomics, cooperative groups, intrinsics.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>
#include <gtest/gtest.h>
#include <math_constants.h>

#include <climits>
#include <vector>

namespace cg = cooperative_groups;

template <class T>
struct Managed {
    T* p;
    explicit Managed(int n) { EXPECT_EQ(cudaSuccess, cudaMallocManaged(&p, n * sizeof(T))); }
    ~Managed() { EXPECT_EQ(cudaSuccess, cudaFree(p)); }
    operator T*() const { return p; }
};
#define WAIT() ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize())

__global__ void rotate(int* out, int turns) {
    __shared__ int a[2][128];
    a[0][threadIdx.x] = threadIdx.x;
    for (int i = 0; i < turns; ++i) {
        __syncthreads();
        a[(i + 1) % 2][threadIdx.x] = a[i % 2][(threadIdx.x + 1) % blockDim.x];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a[turns % 2][threadIdx.x];
}
TEST(Barrier, OrdersSharedMemory) {
    Managed<int> out(3 * 128);
    rotate<<<3, 128>>>(out, 11);
    WAIT();
    for (int i = 0; i < 3 * 128; ++i) EXPECT_EQ((i + 11) % 128, out[i]);
}

__global__ void votes(int* out) {
    const int t = threadIdx.x;
    out[3 * t] = __syncthreads_count(t % 3 == 0);
    out[3 * t + 1] = __syncthreads_or(t == 70);
    out[3 * t + 2] = __syncthreads_and(t != 70);
}
TEST(Barrier, Votes) {
    Managed<int> out(300);
    votes<<<1, 100>>>(out);
    WAIT();
    for (int t = 0; t < 100; ++t) {
        EXPECT_EQ(34, out[3 * t]);
        EXPECT_NE(0, out[3 * t + 1]);
        EXPECT_EQ(0, out[3 * t + 2]);
    }
}

__global__ void ids(unsigned* out) {
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[b * blockDim.x * blockDim.y * blockDim.z + t] += 1 + t;
}
TEST(Launch, ThreeDimensionalGrid) {
    Managed<unsigned> out(24 * 30);
    ids<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(out);
    WAIT();
    for (unsigned i = 0; i < 24 * 30; ++i) EXPECT_EQ(1 + i % 30, out[i]);
}

__global__ void say_hello() { printf("%d of %u\n", threadIdx.x, blockDim.x); }
TEST(Launch, PrintsWhenTheHostWaits) {
    testing::internal::CaptureStdout();
    say_hello<<<1, 3>>>();
    printf("host first\n");
    WAIT();
    std::string lines = testing::internal::GetCapturedStdout();
    EXPECT_EQ("host first\n", lines.substr(0, 11));
    for (const char* line : {"0 of 3\n", "1 of 3\n", "2 of 3\n"}) EXPECT_NE(std::string::npos, lines.find(line));
}

__global__ void count_values(int* out) {
    out[0] = printf("%d and %d\n", 1, 2);
    if (printf("none\n") == 0) out[1] = 1;
}
TEST(Launch, PrintfCountsItsValues) {
    Managed<int> out(2);
    count_values<<<1, 1>>>(out);
    WAIT();
    EXPECT_EQ(2, out[0]);
    EXPECT_EQ(1, out[1]);
    EXPECT_EQ(5, printf("host\n"));
}

template <int scale, class F>
__global__ void __launch_bounds__(64) scaled(float4* __restrict__ out, F f, int add = 1) {
    const float x = f(float(threadIdx.x));
    out[threadIdx.x] = make_float4(x, scale * x, float(add), float(make_int2(3, 4).y));
}
struct Square {
    __device__ float operator()(float x) const { return x * x; }
};
TEST(Launch, TemplatesFunctorsVectorsAndDefaultArguments) {
    Managed<float4> out(64);
    scaled<3><<<1, 64>>>((float4*)out, Square());
    WAIT();
    EXPECT_EQ(25, out[5].x);
    EXPECT_EQ(75, out[5].y);
    EXPECT_EQ(1, out[5].z);
    EXPECT_EQ(4, out[5].w);
    EXPECT_EQ(16u, alignof(float4));
    EXPECT_EQ(12u, sizeof(int3));
}

// Twenty operations of 64 threads; the hash is what an NVIDIA H200 gives.
__global__ void warps(int* out) {
    const int lane = threadIdx.x % 32, full = -1;
    const int v = 3 * threadIdx.x + 1;
    int* o = out + threadIdx.x * 20;
    o[0] = __shfl_sync(full, v, 5);
    o[1] = __shfl_sync(full, v, lane + 7, 8);
    o[2] = __shfl_up_sync(full, v, 3);
    o[3] = __shfl_down_sync(full, v, 3);
    o[4] = __shfl_xor_sync(full, v, 9);
    o[5] = __shfl_down_sync(full, v, 2, 4);
    o[6] = __ballot_sync(full, lane % 3 == 0);
    o[7] = __any_sync(full, lane == 31) + 2 * __all_sync(full, lane < 31);
    o[8] = __reduce_add_sync(full, unsigned(v));
    o[9] = __reduce_max_sync(full, -v);
    o[10] = __match_any_sync(full, lane % 4);
    o[11] = __syncthreads_count(threadIdx.x % 5 == 0);
    o[12] = __syncthreads_or(threadIdx.x == 63) + 2 * __syncthreads_and(threadIdx.x < 63);
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    o[13] = cg::reduce(tile, v, cg::plus<int>());
    o[14] = tile.shfl_down(v, 1) + tile.thread_rank() + tile.meta_group_rank();
    o[15] = tile.ballot(lane % 2);
    if (lane < 16)
        o[16] = __shfl_xor_sync(0x0000ffff, v, 1);
    else
        o[16] = __shfl_xor_sync(0xffff0000, v, 2);
    __syncwarp();
    int scan = v;
    for (int d = 1; d < 32; d *= 2) {
        int below = __shfl_up_sync(full, scan, d);
        if (lane >= d) scan += below;
    }
    o[17] = scan;
    cg::sync(block);
    o[18] = __clz(v) + 100 * __ffs(v) + 10000 * __popc(v);
    o[19] = max(min(v, 50), 20);
}
TEST(Warp, GivesWhatAnH200Gives) {
    Managed<int> out(64 * 20);
    warps<<<1, 64>>>(out);
    WAIT();
    unsigned long long hash = 1469598103934665603ull;
    for (int i = 0; i < 64 * 20; ++i) hash = (hash ^ unsigned(out[i])) * 1099511628211ull;
    EXPECT_EQ(0xe0f307d2a8b5eec7ull, hash);
}

__global__ void more_warps(long long* out) {
    const int lane = threadIdx.x;
    if (lane >= 24) return;  // ended lanes are not waited for
    out[lane] = __shfl_sync(0xffffffff, 1ll << lane, 23);
    int all;
    out[32 + lane] = __match_all_sync(0xffffffff, 7, &all) + all;
    out[64 + lane] = lane % 2 ? __popc(__activemask()) : 100;
    out[96 + lane] = int(__shfl_up_sync(0xffffffff, 1.5, 1));
}

// Lanes that wait behind a branch or a loop are asked when the others have come.
__global__ void questions(unsigned* out) {
    const unsigned lane = threadIdx.x;
    unsigned inside = 0, rounds = 0;
    if (lane < 16) inside = __activemask();
    out[lane] = __activemask();
    for (unsigned i = 0; i < lane % 4; ++i) rounds += __popc(__activemask());
    out[32 + lane] = __activemask();
    out[64 + lane] = inside;
    out[96 + lane] = rounds;
}
TEST(Warp, FirstQuestionIsAnsweredFirst) {
    Managed<unsigned> out(128);
    questions<<<1, 32>>>(out);
    WAIT();
    for (unsigned lane : {0, 1, 15, 16, 31}) {
        EXPECT_EQ(0xffffffff, out[lane]);
        EXPECT_EQ(0xffffffff, out[32 + lane]);
        EXPECT_EQ(lane < 16 ? 0xffffu : 0, out[64 + lane]);
        EXPECT_EQ(lane % 4 * 24 - lane % 4 * (lane % 4 - 1) * 4, out[96 + lane]);
    }
}
TEST(Warp, EndedLanesActiveMaskWideTypes) {
    Managed<long long> out(128);
    more_warps<<<1, 32>>>(out);
    WAIT();
    EXPECT_EQ(1ll << 23, out[3]);
    EXPECT_EQ(0xffffffll + 1, out[32 + 3]);
    EXPECT_EQ(12, out[64 + 3]);
    EXPECT_EQ(1, out[96 + 3]);
}

__global__ void segments(int* out) {
    const int lane = threadIdx.x, full = -1;
    int* o = out + 8 * lane;
    o[0] = __shfl_xor_sync(full, lane, 8, 8);   // lower segments can be read
    o[1] = __shfl_xor_sync(full, lane, 16, 8);  // higher ones cannot
    o[2] = __shfl_up_sync(full, lane, 3, 8);
    o[3] = __shfl_sync(full, lane, -1, 16);
    o[4] = __shfl_down_sync(full, lane, 40, 16);                // by 40 modulo 32
    const auto wraps = static_cast<unsigned char>(200 + lane);  // promoted to int: the sum is not cut to 8 bits
    o[5] = __shfl_sync(full, wraps, 5) + 100;
    o[6] = __match_any_sync(full, lane < 4 ? CUDART_NAN_F : lane < 8 ? -0.0f : 0.0f);
    o[7] = __reduce_min_sync(full, lane - 9) + 100 * __reduce_xor_sync(full, lane == 3 ? 6 : 0);
}
TEST(Warp, WidthsPromotionAndBits) {
    Managed<int> out(8 * 32);
    segments<<<1, 32>>>(out);
    WAIT();
    for (int t = 0; t < 32; ++t) {
        const int* o = out + 8 * t;
        EXPECT_EQ((t ^ 8) < (t | 7) ? t ^ 8 : t, o[0]);
        EXPECT_EQ((t ^ 16) < (t | 7) ? t ^ 16 : t, o[1]);
        EXPECT_EQ(t % 8 < 3 ? t : t - 3, o[2]);
        EXPECT_EQ(t | 15, o[3]);
        EXPECT_EQ(t % 16 < 8 ? t + 8 : t, o[4]);
        EXPECT_EQ(305, o[5]);
        EXPECT_EQ(t < 4 ? 0xf : t < 8 ? 0xf0 : 0xffffff00, unsigned(o[6]));
        EXPECT_EQ(-9 + 600, o[7]);
    }
}

template <class T, int N>
__global__ void statics(T* out) {
    __shared__ T a[N], b;
    __shared__ __align__(16) volatile T c[N][2];
    a[threadIdx.x] = threadIdx.x;
    c[threadIdx.x][1] = 2 * threadIdx.x;
    if (threadIdx.x == 0) b = 5;
    __syncthreads();
    out[threadIdx.x] = a[N - 1 - threadIdx.x] + b + c[threadIdx.x][1];
}
TEST(Shared, StaticTemplatedSeveralNames) {
    Managed<double> out(48);
    statics<double, 48><<<2, 48>>>(out);
    WAIT();
    for (int i = 0; i < 48; ++i) EXPECT_EQ(47 - i + 5 + 2 * i, out[i]);
}

extern __shared__ float everywhere[];
__shared__ int counter_of_block;
__device__ float of_dynamic(int i) { return everywhere[i]; }
__global__ void dynamics(float* out) {
    extern __shared__ float mine[];
    mine[threadIdx.x] = float(threadIdx.x);
    if (threadIdx.x == 0) counter_of_block = 0;
    __syncthreads();
    atomicAdd(&counter_of_block, 1);
    __syncthreads();
    float4* four = reinterpret_cast<float4*>(everywhere);
    out[threadIdx.x] = of_dynamic(blockDim.x - 1 - threadIdx.x) + four[1].y + float(counter_of_block);
}
TEST(Shared, DynamicInFunctionAndOutside) {
    Managed<float> out(64);
    dynamics<<<2, 64, 64 * sizeof(float)>>>(out);
    WAIT();
    for (int i = 0; i < 64; ++i) EXPECT_EQ(63 - i + 5 + 64, out[i]);
}

__global__ void see_poison(unsigned char* out) {
    __shared__ unsigned char a[4];
    out[blockIdx.x] = a[threadIdx.x];
    a[0] = 1;
}
TEST(Shared, IsFreshForEachBlock) {
    Managed<unsigned char> out(3);
    see_poison<<<3, 1>>>(out);
    WAIT();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(0xff, out[i]);
}

__global__ void each_atomic(int* v, unsigned* u, unsigned long long* l, float* f, double* d, int* old) {
    int i = threadIdx.x;
    old[i] = atomicAdd(v, 1);
    atomicSub(v + 1, 2);
    old[64 + i] = atomicExch(v + 2, i);
    atomicMin(v + 3, -i), atomicMax(v + 4, i), atomicAnd(v + 5, ~(1 << i % 32)), atomicOr(v + 6, 1 << i % 32);
    atomicXor(v + 7, i);
    atomicInc(u, 9), atomicDec(u + 1, 9);
    atomicMax(l, i * 1ull << 40), atomicAdd(l + 1, 1ull << 33);
    atomicAdd(f, 0.5f), atomicAdd(d, 0.25);
    int assumed, now = v[8];
    do now = atomicCAS(v + 8, assumed = now, now + i);
    while (now != assumed);
}
TEST(Atomics, EachWithItsResult) {
    Managed<int> v(9), old(128);
    Managed<unsigned> u(2);
    Managed<unsigned long long> l(2);
    Managed<float> f(1);
    Managed<double> d(1);
    v[2] = 64, v[5] = -1;
    each_atomic<<<1, 64>>>(v, u, l, f, d, old);
    WAIT();
    const int want[] = {64, -128, v[2], -63, 63, 0, -1, 0, 63 * 32};
    for (int i = 0; i < 9; ++i) EXPECT_EQ(want[i], v[i]) << i;
    EXPECT_EQ(4u, u[0]);
    EXPECT_EQ(6u, u[1]);
    EXPECT_EQ(63ull << 40, l[0]);
    EXPECT_EQ(64ull << 33, l[1]);
    EXPECT_EQ(32, *f);
    EXPECT_EQ(16, *d);
    std::vector<int> seen(64), chain(65);
    for (int i = 0; i < 64; ++i) ++seen[old[i]], ++chain[old[64 + i]];
    ++chain[v[2]];
    for (int n : seen) EXPECT_EQ(1, n);
    for (int n : chain) EXPECT_EQ(1, n);
}

__global__ void scoped_atomics(int* v, unsigned* u, unsigned short* h) {
    atomicAdd_block(v, 1), atomicAdd_system(v, 1), atomicMax_block(v + 1, int(threadIdx.x));
    atomicInc(u, 2), atomicDec_system(u + 1, 2);
    unsigned short seen = *h, assumed;
    do seen = atomicCAS(h, assumed = seen, seen + 3);
    while (seen != assumed);
    atomicCAS_block(v + 2, 7, 9);
}
TEST(Atomics, ScopesWrapsAnd16Bits) {
    Managed<int> v(3);
    Managed<unsigned> u(2);
    Managed<unsigned short> h(1);
    v[0] = INT_MAX, v[2] = 7, u[0] = 50, u[1] = 50;
    scoped_atomics<<<1, 32>>>(v, u, h);
    WAIT();
    EXPECT_EQ(INT_MIN + 63, v[0]);
    EXPECT_EQ(31, v[1]);
    EXPECT_EQ(9, v[2]);
    EXPECT_EQ(31u % 3, u[0]);      // first 50 becomes 0
    EXPECT_EQ(2 - 31u % 3, u[1]);  // first 50 becomes 2
    EXPECT_EQ(96, *h);
}

struct alignas(16) Two {
    unsigned long long low, high;
};
__global__ void wide_atomics(float2* f, float4* g, Two* sum, Two* last) {
    atomicAdd(f, make_float2(1, 2));
    if (atomicAdd_system(g, make_float4(1, 2, 3, 4)).w == 0) g->x += 1000;
    Two seen = *sum, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(sum, assumed, Two{assumed.low + 1, assumed.high + 2});
    } while (seen.low != assumed.low || seen.high != assumed.high);
    const Two before = atomicExch_block(last, Two{threadIdx.x, threadIdx.x});
    if (before.low != before.high) last->low = 99;
}
TEST(Atomics, VectorsAndSixteenBytes) {
    Managed<float2> f(1);
    Managed<float4> g(1);
    Managed<Two> two(2);
    wide_atomics<<<2, 32>>>(f, g, two, two + 1);
    WAIT();
    EXPECT_EQ(64, f[0].x);
    EXPECT_EQ(128, f[0].y);
    EXPECT_EQ(1064, g[0].x);
    EXPECT_EQ(256, g[0].w);
    EXPECT_EQ(64u, two[0].low);
    EXPECT_EQ(128u, two[0].high);
    EXPECT_EQ(two[1].low, two[1].high);
}

__global__ void spin_for_another(int* p) {
    if (threadIdx.x == 0)
        while (atomicAdd(p, 0) == 0) {}
    else
        atomicExch(p, 1);
}
TEST(Atomics, SpinningThreadGivesWay) {
    Managed<int> p(1);
    spin_for_another<<<1, 2>>>(p);
    WAIT();
}

__global__ void groups(int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int* o = out + 8 * block.thread_rank();
    o[0] = cg::reduce(tile, int(tile.thread_rank()), cg::plus<int>());
    o[1] = tile.shfl(int(block.thread_rank()), 3);
    o[2] = tile.any(tile.thread_rank() == 15);
    o[3] = cg::tiled_partition<4>(tile).meta_group_rank();
    if (threadIdx.x % 3 == 0) {
        auto active = cg::coalesced_threads();
        o[4] = active.size();
        o[5] = active.thread_rank();
        o[6] = active.shfl(int(threadIdx.x), 1);
    }
    block.sync();
    o[7] = int(cg::this_grid().thread_rank());
}
TEST(CooperativeGroups, TilesAndCoalescedThreads) {
    Managed<int> out(8 * 64);
    groups<<<1, 64>>>(out);
    WAIT();
    for (int t = 0; t < 64; ++t) {
        const int* o = out + 8 * t;
        EXPECT_EQ(120, o[0]);
        EXPECT_EQ(t / 16 * 16 + 3, o[1]);
        EXPECT_EQ(1, o[2]);
        EXPECT_EQ(t % 16 / 4, o[3]);
        EXPECT_EQ(t, o[7]);
        if (t % 3) continue;
        EXPECT_EQ(t < 32 ? 11 : 11 - 1 + (33 % 3 == 0), o[4]);
        EXPECT_EQ(t < 32 ? t / 3 : (t - 33) / 3, o[5]);
        EXPECT_EQ(t < 32 ? 3 : 36, o[6]);
    }
}

__global__ void scans(int* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int t = int(threadIdx.x);
    const auto thirds = cg::labeled_partition(warp, t % 3);
    int* o = out + 8 * t;
    o[0] = cg::inclusive_scan(warp, t);
    o[1] = cg::exclusive_scan(thirds, t);
    o[2] = cg::inclusive_scan(thirds, 40 - t, cg::less<int>());
    o[3] = cg::exclusive_scan(warp, 1 << t % 4, cg::bit_or<int>());
    o[4] = int(thirds.match_any(t / 9));
    int alike;
    o[5] = int(warp.match_all(7, alike)) + alike;
    cg::invoke_one(
        thirds, [=](int n) { out[6] += n; }, 5);
}
TEST(CooperativeGroups, Scans) {
    Managed<int> out(8 * 32);
    out[6] = 0;
    scans<<<1, 32>>>(out);
    WAIT();
    for (int t = 0; t < 32; ++t) {
        const int *o = out + 8 * t, rank = t / 3;
        EXPECT_EQ(t * (t + 1) / 2, o[0]);
        EXPECT_EQ(rank * (t % 3) + 3 * rank * (rank - 1) / 2, o[1]);
        EXPECT_EQ(40 - t, o[2]);
        EXPECT_EQ(t < 4 ? (1 << t) - 1 : 15, o[3]);
        EXPECT_EQ((t % 3 == 2 && t / 9 == 3 ? 1 : t / 9 == 3 ? 3 : 7) << 3 * (t / 9), o[4]);
        EXPECT_EQ(0, o[5]);
    }
    EXPECT_EQ(15, out[6]);
}

// Takes any group, as NVIDIA's introduction to cooperative groups has it.
__device__ int reduce_sum(cg::thread_group g, int* temp, int val) {
    const int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[lane] = val;
        g.sync();
        if (lane < i) val += temp[lane + i];
        cg::sync(g);
    }
    return val;
}
template <int N>
__device__ int tile_sum(cg::thread_block_tile<N> g, int val) {
    for (int i = g.size() / 2; i > 0; i /= 2) val += g.shfl_down(val, i);
    return val;
}
__global__ void any_group(int* out) {
    __shared__ int temp[128];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_group warp = cg::tiled_partition(block, 32);
    const cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
    int* o = out + 8 * threadIdx.x;
    o[0] = reduce_sum(block, temp, threadIdx.x);
    block.sync();
    o[1] = reduce_sum(warp, temp + threadIdx.x / 32 * 32, threadIdx.x);
    block.sync();
    o[2] = reduce_sum(cg::tiled_partition(warp, 4), temp + threadIdx.x / 4 * 4, 1);
    o[3] = tile_sum<8>(eight, threadIdx.x) + 1000 * eight.meta_group_rank() + 100000 * eight.meta_group_size();
    o[4] = eight.shfl_xor(int(threadIdx.x), 1) + eight.shfl(int(threadIdx.x), 9);
    o[5] = eight.shfl_up(int(threadIdx.x), 2);
}
TEST(CooperativeGroups, OneTypeForAnyGroup) {
    Managed<int> out(8 * 128);
    any_group<<<1, 128>>>(out);
    WAIT();
    for (int t = 0; t < 128; ++t) {
        const int *o = out + 8 * t, first = t & ~31, eight = t & ~7;
        if (t == 0) EXPECT_EQ(127 * 64, o[0]);
        if (t % 32 == 0) EXPECT_EQ(32 * first + 31 * 16, o[1]);
        if (t % 4 == 0) EXPECT_EQ(4, o[2]);
        if (t % 8 == 0) EXPECT_EQ(8 * eight + 28 + t / 8 * 1000 + 16 * 100000, o[3]);
        EXPECT_EQ((t ^ 1) + eight + 1, o[4]);
        EXPECT_EQ(t % 8 < 2 ? t : t - 2, o[5]);
    }
}

__global__ void partitions(int* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int* o = out + 8 * threadIdx.x;
    const auto thirds = cg::labeled_partition(warp, threadIdx.x % 3);
    o[0] = thirds.size() + 100 * thirds.thread_rank() + 10000 * thirds.meta_group_rank();
    o[1] = cg::reduce(thirds, int(threadIdx.x), cg::greater<int>());
    const auto half = cg::binary_partition(warp, threadIdx.x >= 20);
    o[2] = half.size() + 100 * half.thread_rank() + 10000 * half.meta_group_rank();
    o[3] = thirds.ballot(threadIdx.x < 9);
    const auto pairs = cg::tiled_partition(thirds, 2);  // of the ranks, not of the lanes
    o[4] = pairs.shfl(int(threadIdx.x), 0) + 100 * pairs.size();
    o[5] = pairs.any(threadIdx.x == 3) + 2 * pairs.all(threadIdx.x < 4);
    o[6] = cg::invoke_one_broadcast(
        pairs, [](int x) { return x + int(threadIdx.x); }, 100);
    o[7] = cg::thread_rank(pairs) + 10 * cg::group_size(pairs);
}
TEST(CooperativeGroups, Partitions) {
    Managed<int> out(8 * 32);
    partitions<<<1, 32>>>(out);
    WAIT();
    for (int t = 0; t < 32; ++t) {
        const int *o = out + 8 * t, size = t % 3 == 2 ? 10 : 11;
        EXPECT_EQ(size + t / 3 * 100 + t % 3 * 10000, o[0]);
        EXPECT_EQ(29 + (t % 3 + 1) % 3, o[1]);
        EXPECT_EQ(t < 20 ? 20 + 100 * t : 12 + 100 * (t - 20) + 10000, o[2]);
        EXPECT_EQ(7, o[3]);
        const int low = t / 6 * 6 + t % 3;
        EXPECT_EQ(low + (low + 3 < 32 ? 200 : 100), o[4]);
        EXPECT_EQ((low == 0) + 2 * (low + 3 < 4 || (low + 3 >= 32 && low < 4)), o[5]);
        EXPECT_EQ(100 + low, o[6]);
        EXPECT_EQ((t != low) + (low + 3 < 32 ? 20 : 10), o[7]);
    }
}

__global__ void time(long long* out) {
    out[0] = clock64();
    out[1] = clock();
    out[2] = clock64();
    unsigned sm;
    unsigned long long ns;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    unsigned threads;
    asm("mov.u32 %0, %%ntid.y;" : "=r"(threads));
    out[3] = sm;
    out[4] = ns;
    out[5] = threads;
}
__global__ void delays(long long* begin, long long* end) {
    begin[threadIdx.x] = clock64();
    while (clock64() - begin[threadIdx.x] < 20000000) continue;
    end[threadIdx.x] = clock64();
}
TEST(Time, ThreadsOfABlockWaitAtOnce) {
    Managed<long long> begin(32), end(32);
    delays<<<1, 32>>>(begin, end);
    WAIT();
    EXPECT_LT(begin[31], end[0]);
}
__global__ void staged(const int* in, int* out, int n) {
    __shared__ int tile[64];
    extern __shared__ int first_of_dynamic;
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof(int) * n);
    if (threadIdx.x == 0) __pipeline_memcpy_async(&first_of_dynamic, in + 1, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    cg::wait(block);
    out[threadIdx.x] = tile[n - 1 - threadIdx.x] + first_of_dynamic;
    const int mine = 0;
    if (threadIdx.x == 0)
        out[n] = __isShared(tile) + 2 * __isLocal(&mine) + 4 * __isGlobal(in) + 8 * __isGlobal(tile);
}
TEST(CooperativeGroups, CopyTogether) {
    Managed<int> in(64), out(65);
    for (int i = 0; i < 64; ++i) in[i] = 3 * i;
    staged<<<1, 64, 4>>>(in, out, 64);
    WAIT();
    for (int i = 0; i < 64; ++i) EXPECT_EQ(3 * (63 - i) + 3, out[i]);
    EXPECT_EQ(7, out[64]);
}

TEST(Time, ClockRisesAndRegistersAreRead) {
    Managed<long long> out(6);
    time<<<1, dim3(1, 3)>>>(out);
    WAIT();
    EXPECT_LT(out[0], out[1]);
    EXPECT_LT(out[1], out[2]);
    EXPECT_LT(out[3], 4);
    EXPECT_EQ(3, out[5]);
    EXPECT_GT(out[4], 1'000'000'000'000'000'000);
    EXPECT_LT(clock(), 1'000'000'000);  // the host's clock() still counts processor time
}

TEST(Intrinsics, Bits) {
    EXPECT_EQ(0x80000000u, __brev(1));
    EXPECT_EQ(0x44332211u, __byte_perm(0x11223344, 0, 0x0123));
    EXPECT_EQ(0x23456789u, __funnelshift_l(0x90000000, 0x12345678, 4));
    EXPECT_EQ(0x12u, __funnelshift_r(0x12345678, 0, 24));
    EXPECT_EQ(-1, __mulhi(-1, 1));
    EXPECT_EQ(0xfffffffeu, __umulhi(~0u, ~0u));
    EXPECT_EQ(32, __clz(0));
    EXPECT_EQ(0, __ffs(0));
    EXPECT_EQ(1 * 5 + 2 * 6 + 3 * 7 + 4 * 8 + 9, __dp4a(0x04030201, 0x08070605, 9));
    EXPECT_EQ(255u + 3, __dp4a(0x000000ffu, 0x00000001u, 3u));
    EXPECT_EQ(0x807f8080u, __byte_perm(0x00007f80, 0, 0x8908));  // bit 3 of a selector means nothing
    EXPECT_EQ(1ull << 63, __brevll(1));
    EXPECT_EQ(64, __clzll(0));
    EXPECT_EQ(33, __ffsll(1ll << 32));
    EXPECT_EQ(32, __popc(-1));
    EXPECT_EQ(-2, __mul24(0x1ffffff, 0x7f000002));
    EXPECT_EQ(1u, __umul24(0xff000001, 0xff000001));
    EXPECT_EQ(~0ull - 1, __umul64hi(~0ull, ~0ull));
    EXPECT_EQ(1.0f, __int_as_float(0x3f800000));
    EXPECT_EQ(-1.0, __longlong_as_double(__double_as_longlong(-1.0)));
}
TEST(Intrinsics, Conversions) {
    EXPECT_EQ(INT_MAX, __float2int_rz(1e20f));
    EXPECT_EQ(INT_MIN, __float2int_rz(-1e20f));
    EXPECT_EQ(2, __float2int_rn(2.5f));
    EXPECT_EQ(3, __float2int_ru(2.1f));
    EXPECT_EQ(-3, __float2int_rd(-2.1f));
    EXPECT_EQ(-2, __float2int_rz(-2.9f));
    EXPECT_EQ(0u, __float2uint_rn(-5));
    EXPECT_EQ(~0u, __double2uint_rn(1e10));
    EXPECT_EQ(0, __float2int_rn(CUDART_NAN_F));
    EXPECT_EQ(INT_MIN, __double2int_rn(CUDART_NAN));
    EXPECT_EQ(LLONG_MIN, __float2ll_rn(CUDART_NAN_F));
    EXPECT_EQ(LLONG_MAX, __double2ll_rz(CUDART_INF));
    EXPECT_EQ(16777216.0f, __int2float_rn(16777217));
}
TEST(Intrinsics, PartsOfAWord) {
    EXPECT_EQ(0x80000002, __vadd2(0x7fff0001, 0x00010001));
    EXPECT_EQ(0x7fff0002, __vaddss2(0x7fff0001, 0x00010001));
    EXPECT_EQ(0xff112233, __vaddus4(0xf0102030, 0x20010203));
    EXPECT_EQ(0x02030304, __vavgu4(0x01020304, 0x03030303));
    EXPECT_EQ(0xffff0000, __vcmpgts2(0x0001ffff, 0xffff0001));
    EXPECT_EQ(1, __vsetgtu2(0x0001ffff, 0xffff0001));
    EXPECT_EQ(134, __vsads4(0x01ff0380, 0xff010100));
    EXPECT_EQ(0x00018000, __vabs2(0xffff8000));
    EXPECT_EQ(0x7f01fffe, __vnegss4(0x80ff0102));
    EXPECT_EQ(-5, __vimin3_s32(3, -5, 4));
    EXPECT_EQ(4, __viaddmax_s32(3, -5, 4));
    EXPECT_EQ(0x00030002, __vimax3_s16x2(0x00010002, 0x0003ffff, 0x00020001));
    bool first = true;
    EXPECT_EQ(7, __vibmax_s32(3, 7, &first));
    EXPECT_FALSE(first);
    EXPECT_EQ(0x00030000, __viaddmax_s16x2_relu(0x0001ffff, 0x0002fffe, 0x0000fff0));
    bool high = true, low = false;
    EXPECT_EQ(0x00020005, __vibmax_s16x2(0x00010005, 0x0002fff0, &high, &low));
    EXPECT_FALSE(high);
    EXPECT_TRUE(low);
    EXPECT_EQ(1 - 3 * 2 + 2 * 1, __dp2a_lo(0x0002fffd, 0x7f7f0102, 1));
    EXPECT_EQ(1u + 3 * 2 + 2 * 255, __dp2a_hi(0x00020003u, 0xff020000u, 1u));
    EXPECT_EQ(0x04030201u, __nv_bswap32(0x01020304));
    EXPECT_EQ(5, __fns(0xf0, 0, 2));
    EXPECT_EQ(1, __funnelshift_lc(1, 2, 40));
    EXPECT_EQ(0, __rhadd(-3, 2));
}

TEST(Intrinsics, DirectedRounding) {
    EXPECT_EQ(1, __fadd_rd(1, 1e-10f));
    EXPECT_EQ(nextafterf(1, 2), __fadd_ru(1, 1e-10f));
    EXPECT_EQ(nextafterf(1, 0), __fsub_rz(1, 1e-10f));
    EXPECT_EQ(nextafter(1.0 / 3, 1), __ddiv_ru(1, 3));
    EXPECT_EQ(16777216, __ll2float_rd(16777217));
    EXPECT_EQ(16777218, __ll2float_ru(16777217));
    EXPECT_EQ(nextafterf(1, 2), __fmaf_ieee_ru(1, 1, 1e-10f));
    EXPECT_EQ(32u, alignof(double4_32a));
    EXPECT_EQ(1.5, __hiloint2double(0x3ff80000, 0));
    EXPECT_EQ(0.5, rcbrt(8));
}

// References of 40 digits, rounded.
TEST(Intrinsics, InverseErrorFunctions) {
    EXPECT_DOUBLE_EQ(27.073153719853041, erfcinv(1e-320));
    EXPECT_DOUBLE_EQ(6.6015806223551426, erfcinv(1e-20));
    EXPECT_DOUBLE_EQ(0.73286907795921687, erfcinv(0.3));
    EXPECT_DOUBLE_EQ(0.2724627147267544, erfcinv(0.7));
    EXPECT_DOUBLE_EQ(-2.3267537655135466, erfcinv(1.999));
    EXPECT_DOUBLE_EQ(4.3785427828571914e-324, erfinv(5e-324));
    EXPECT_DOUBLE_EQ(8.8622692545275805e-11, erfinv(1e-10));
    EXPECT_DOUBLE_EQ(0.27246271472675435, erfinv(0.3));
    EXPECT_DOUBLE_EQ(-0.47693627620446987, erfinv(-0.5));
    EXPECT_DOUBLE_EQ(5.8635847487551679, erfinv(0x1.fffffffffffffp-1));
    EXPECT_DOUBLE_EQ(-38.467405617144346, normcdfinv(5e-324));
    EXPECT_DOUBLE_EQ(-9.2623400897984076, normcdfinv(1e-20));
    EXPECT_DOUBLE_EQ(-7.0344838253011319, normcdfinv(1e-12));
    EXPECT_DOUBLE_EQ(-0.52440051270804082, normcdfinv(0.3));
    EXPECT_DOUBLE_EQ(1.9599639845400539, normcdfinv(0.975));
    EXPECT_DOUBLE_EQ(7.6577249314905684e+293, erfcx(-26));
    EXPECT_DOUBLE_EQ(0.61569034419292587, erfcx(0.5));
    EXPECT_DOUBLE_EQ(0.022639987776049506, erfcx(24.9));
    EXPECT_DOUBLE_EQ(0.018795888861416751, erfcx(30));
    EXPECT_DOUBLE_EQ(0.011281536265323773, erfcx(50));
    EXPECT_DOUBLE_EQ(5.641895835477563e-201, erfcx(1e200));
    EXPECT_DOUBLE_EQ(6.601599854326768e-323, normcdf(-38.4));
    EXPECT_DOUBLE_EQ(2.7536241186062337e-89, normcdf(-20));
    EXPECT_DOUBLE_EQ(0.6914624612740131, normcdf(0.5));
    EXPECT_FLOAT_EQ(9.5692053f, erfcinvf(1e-41f));
    for (double outside : {-1e-300, 2.0000000000000004, double(NAN)}) EXPECT_TRUE(isnan(erfcinv(outside)));
    for (double outside : {-1.1, 1.1, double(NAN)}) EXPECT_TRUE(isnan(erfinv(outside)));
    EXPECT_EQ(INFINITY, erfcinv(0));
    EXPECT_EQ(-INFINITY, erfcinv(2));
    EXPECT_EQ(-INFINITY, erfinv(-1));
    EXPECT_EQ(INFINITY, normcdfinv(1));
    EXPECT_TRUE(signbit(erfinv(-0.0)));
    EXPECT_EQ(0, erfcx(INFINITY));
    EXPECT_EQ(INFINITY, erfcx(-27));
}

TEST(Intrinsics, Lengths) {
    const double large[] = {3e200, 4e200}, small[] = {3e-320, 4e-320}, both[] = {NAN, -INFINITY};
    const float large_float[] = {3e30f, 4e30f};
    EXPECT_DOUBLE_EQ(5e200, norm(2, large));
    EXPECT_DOUBLE_EQ(2e-201, rnorm(2, large));
    EXPECT_DOUBLE_EQ(5e-320, norm(2, small));
    EXPECT_EQ(INFINITY, norm(2, both));
    EXPECT_EQ(0, norm(0, both));
    EXPECT_TRUE(isnan(norm(1, both)));
    EXPECT_FLOAT_EQ(5e30f, normf(2, large_float));
    EXPECT_FLOAT_EQ(3e-45f, norm3df(1e-45f, 2e-45f, 2e-45f));
    EXPECT_FLOAT_EQ(1 / 6e38, rnorm4df(3e38f, 3e38f, 3e38f, 3e38f));
    EXPECT_DOUBLE_EQ(5.2057920629535356e-309, rhypot(1.2e308, 1.5e308));
    EXPECT_EQ(INFINITY, norm3d(NAN, 1, INFINITY));
    EXPECT_TRUE(isnan(norm4d(1, NAN, 1, 1)));
    EXPECT_EQ(INFINITY, rnorm3d(0, 0, 0));
    EXPECT_EQ(0, rnorm3d(INFINITY, NAN, 0));
}

TEST(Intrinsics, Mathematics) {
    EXPECT_EQ(1, min(CUDART_NAN_F, 1.0f));
    EXPECT_EQ(1, max(1.0f, CUDART_NAN));
    volatile float nan = CUDART_NAN_F, one = 1, less = -2;
    for (float extremum : {fminf(nan, one), fminf(one, nan), fmaxf(nan, one), fmaxf(one, nan), fmaxf(less, one),
                           float(fmin(nan, one)), float(fmin(one, nan)), float(fmax(one, less))})
        EXPECT_EQ(1, extremum);
    EXPECT_EQ(-2, fminf(one, less));
    EXPECT_EQ(-2, fmin(less, one));
    EXPECT_TRUE(isnan(fmaxf(nan, nan)));
    EXPECT_EQ(1u, min(-1, 1u));
    EXPECT_EQ(-1, min(-1, 1));
    EXPECT_EQ(1.5f, abs(-1.5f));
    EXPECT_EQ(0.5f, rsqrtf(4));
    EXPECT_EQ(0, sinpif(3));
    EXPECT_EQ(-1, sinpi(1.5));
    EXPECT_EQ(0, cospi(1e6 + 0.5));
    EXPECT_EQ(-1, cospif(1e6f + 1));
    EXPECT_DOUBLE_EQ(sin(CUDART_PI * 0.3), sinpi(0.3 - 1e-16 + 1e-16));
    EXPECT_NEAR(-sin(CUDART_PI * 0.3), sinpi(101.3), 1e-13);
    float s, c;
    sincospif(0.25f, &s, &c);
    EXPECT_EQ(s, c);
    EXPECT_EQ(0, __saturatef(CUDART_NAN_F));
    EXPECT_EQ(1, __saturatef(7));
    EXPECT_EQ(0, __fdividef(1, 2e38f));
    EXPECT_FLOAT_EQ(exp10f(2), __exp10f(2));
    EXPECT_EQ(-1, __fma_rn(1, 1, -2));
}

__global__ void nothing(int* p) {
    if (p) __syncthreads();
}
TEST(Speed, LaunchesDoNotGrowMemory) {
    auto resident = [] {
        long pages = 0;
        FILE* f = fopen("/proc/self/statm", "r");
        EXPECT_EQ(1, fscanf(f, "%*d %ld", &pages));
        fclose(f);
        return pages;
    };
    for (int i = 0; i < 100; ++i) nothing<<<4, 256>>>(nullptr), cudaDeviceSynchronize();
    const long before = resident();
    for (int i = 0; i < 1000; ++i) nothing<<<4, 256>>>(nullptr), cudaDeviceSynchronize();
    EXPECT_LT(resident() - before, 100);
}
