// same.cu - prints what the warp operations, votes, atomics and intrinsics give, a line each: a hash of all
// threads' results, and the first four of them. "votes 3" is the third result that each thread of Votes leaves.
// same_h200.txt is what it printed on an NVIDIA H200; the CPU device and any other GPU must print the same. Inputs
// are fixed; where an order is open (who adds first), what is compared is sorted.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "error.cuh"
#include "noise.cuh"

namespace cg = cooperative_groups;

constexpr int threads = 96, cases = 24;  // three warps; every thread leaves `cases` results
constexpr unsigned all_lanes = 0xffffffff;

template <class T>
__device__ unsigned long long bits(T value) {
    if (value != value) return 0x7fffffff;  // a NaN's bits are open
    unsigned long long word = 0;
    memcpy(&word, &value, sizeof value);
    return word;
}

struct Out {
    unsigned long long* at;
    int count = 0;
    template <class T>
    __device__ void operator()(T value) {
        if (count < cases) at[count++] = bits(value);
    }
};

// ---- one struct an operation: what a thread does, and leaves ---------------------------------------------------

template <class T>
struct Shuffles {
    __device__ void operator()(Out out) const {
        const T mine = T(noise(threadIdx.x)) / T(4);
        for (int width = 32; width >= 2; width /= 2) {
            out(__shfl_sync(all_lanes, mine, int(noise(threadIdx.x + 7) % 40), width));
            out(__shfl_up_sync(all_lanes, mine, 3, width));
            out(__shfl_down_sync(all_lanes, mine, 5, width));
            out(__shfl_xor_sync(all_lanes, mine, 6, width));
        }
    }
};

struct Votes {
    __device__ void operator()(Out out) const {
        const unsigned x = noise(threadIdx.x), lane = threadIdx.x % 32;
        out(__ballot_sync(all_lanes, x % 3 == 0)), out(__any_sync(all_lanes, x == 5)),
            out(__any_sync(all_lanes, lane == 31));
        out(__all_sync(all_lanes, lane < 32)), out(__all_sync(all_lanes, lane < 31)), out(__activemask());
        if (lane < 16) out(__ballot_sync(0xffff, x & 1)), out(__all_sync(0xffff, lane < 16)), out(__activemask());
        __syncwarp();
        const unsigned even = 0x55555555;
        if (lane % 2 == 0)
            out(__ballot_sync(even, x & 2)), out(__shfl_sync(even, x, 30)), out(__any_sync(even, lane));
        __syncwarp(all_lanes);
        out(__syncthreads_count(x & 1)), out(__syncthreads_or(x == 1)), out(__syncthreads_and(threadIdx.x < 96));
    }
};

struct Matches {
    __device__ void operator()(Out out) const {
        int same = 7;
        out(__match_any_sync(all_lanes, threadIdx.x % 5)),
            out(__match_any_sync(all_lanes, float(noise(threadIdx.x) % 3)));
        out(__match_any_sync(all_lanes, 1ull << 40 | threadIdx.x / 7));
        out(__match_all_sync(all_lanes, threadIdx.x / 32, &same)), out(same);
        out(__match_all_sync(all_lanes, threadIdx.x, &same)), out(same);
        if (threadIdx.x % 32 >= 20) out(__match_any_sync(0xfff00000, threadIdx.x % 2));
    }
};

struct Reduces {
    __device__ void operator()(Out out) const {
        const unsigned x = noise(threadIdx.x);
        out(__reduce_add_sync(all_lanes, x)), out(__reduce_add_sync(all_lanes, int(x)));
        out(__reduce_min_sync(all_lanes, x)), out(__reduce_min_sync(all_lanes, int(x)));
        out(__reduce_max_sync(all_lanes, x)), out(__reduce_max_sync(all_lanes, int(x)));
        out(__reduce_and_sync(all_lanes, x | 0xff)), out(__reduce_or_sync(all_lanes, x & 0x1111)),
            out(__reduce_xor_sync(all_lanes, x));
        if (threadIdx.x % 32 < 9) out(__reduce_add_sync(0x1ff, x));
    }
};

struct Groups {
    __device__ void operator()(Out out) const {
        const int x = int(noise(threadIdx.x) % 1000);
        const auto block = cg::this_thread_block();
        const auto tile = cg::tiled_partition<8>(block);
        const auto warp = cg::tiled_partition<32>(block);
        out(block.thread_rank()), out(block.size()), out(tile.thread_rank()), out(tile.meta_group_rank());
        out(tile.shfl(x, 3)), out(tile.shfl_up(x, 2)), out(tile.shfl_down(x, 1)), out(tile.shfl_xor(x, 5));
        out(tile.ballot(x % 2)), out(tile.any(x < 100)), out(tile.all(x < 900));
        out(cg::reduce(tile, x, cg::plus<int>())), out(cg::reduce(warp, x, cg::less<int>()));
        out(cg::reduce(warp, x, cg::greater<int>()));
        if (threadIdx.x % 3 == 0) {
            const auto active = cg::coalesced_threads();
            out(active.size()), out(active.thread_rank()), out(active.shfl(x, 0)), out(active.ballot(x % 2));
        }
        block.sync();
    }
};

struct Bits {
    __device__ void operator()(Out out) const {
        const unsigned x = threadIdx.x < 4 ? threadIdx.x - 1 : noise(threadIdx.x), y = noise(x + 1);
        const unsigned long long z = (unsigned long long)x << 32 | y;
        out(__popc(x)), out(__popcll(z)), out(__clz(int(x))), out(__clzll((long long)z)), out(__ffs(int(x)));
        out(__ffsll((long long)z)), out(__brev(x)), out(__brevll(z)), out(__byte_perm(x, y, y & 0xffff));
        out(__funnelshift_l(x, y, x)), out(__funnelshift_r(x, y, y)), out(__mul24(int(x), int(y))),
            out(__umul24(x, y));
        out(__mulhi(int(x), int(y))), out(__umulhi(x, y));
        out(__umul64hi(z, z));
    }
};

struct Conversions {
    __device__ void operator()(Out out) const {
        const float special[] = {0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 3e9f, -3e9f, 5e18f, 1e30f, -1e30f, 0.0f, 1e-40f};
        const int which = threadIdx.x % 16;
        float x = which < 12 ? special[which] : float(int(noise(threadIdx.x))) / 1000;
        if (which == 12) x = __int_as_float(0x7fc00000);  // not a number
        if (which == 13) x = __int_as_float(0x7f800000);  // infinite
        const double d = double(x) * 1.0000001;
        out(__float2int_rn(x)), out(__float2int_rz(x)), out(__float2int_ru(x)), out(__float2int_rd(x));
        out(__float2uint_rn(x)), out(__float2uint_rz(x)), out(__float2ll_rz(x)), out(__double2int_rn(d));
        out(__double2uint_rz(d)), out(__double2ll_rn(d)), out(__float_as_uint(min(x, 7.0f)));
        out(__float_as_uint(max(x, 7.0f))), out(__saturatef(x)), out(min(int(threadIdx.x), 5u)), out(max(-3, 2));
        out(__fadd_rn(x, 0.1f)), out(__fmul_rn(x, 3.1f)), out(__fmaf_rn(x, 3.1f, 0.7f));
    }
};

// What all threads' atomics make of one word, and the old values that they return.
template <class T, class Op>
__global__ void on_one_word(T* word, T* old, T start, Op op) {
    __shared__ T shared;
    const unsigned i = threadIdx.x;
    if (i == 0) *word = shared = start;
    __syncthreads();
    old[i] = op(word, i);
    old[threads + 1 + i] = op(&shared, i);
    __syncthreads();
    if (i == 0) old[threads] = *word, old[2 * threads + 1] = shared;
}

template <class Operation>
__global__ void on_all_threads(unsigned long long* out) {
    Operation()(Out{out + threadIdx.x * cases});
}

// ---- printing --------------------------------------------------------------------------------------------------

template <class T>
void print(const char* name, const std::vector<T>& values) {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const T& value : values) {
        unsigned char bytes[sizeof(T)];
        memcpy(bytes, &value, sizeof value);
        for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    }
    std::printf("%-22s %016llx ", name, (unsigned long long)hash);
    for (size_t i = 0; i < std::min<size_t>(4, values.size()); ++i) std::printf(" %lld", (long long)values[i]);
    std::printf("\n");
}

template <class Operation>
void threads_do(const char* name) {
    std::vector<unsigned long long> host(threads * cases);
    unsigned long long* out = nullptr;
    CHECK(cudaMalloc(&out, host.size() * sizeof host[0]));
    CHECK(cudaMemset(out, 0, host.size() * sizeof host[0]));
    on_all_threads<Operation><<<1, threads>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host.data(), out, host.size() * sizeof host[0], cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
    for (int k = 0; k < cases; ++k) {  // the k-th result of all threads
        std::vector<unsigned long long> result;
        for (int i = 0; i < threads; ++i) result.push_back(host[i * cases + k]);
        print((name + (" " + std::to_string(k + 1))).c_str(), result);
    }
}

// `olds`: together with what is left at the end, the old values are the same in every order.
template <class T, class Op>
void atomics_do(const char* name, T start, Op op, bool olds) {
    std::vector<T> host(2 * (threads + 1));
    T *word = nullptr, *old = nullptr;
    CHECK(cudaMalloc(&word, sizeof(T)));
    CHECK(cudaMalloc(&old, host.size() * sizeof(T)));
    on_one_word<<<1, threads>>>(word, old, start, op);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host.data(), old, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(word));
    CHECK(cudaFree(old));
    if (!olds) return print(name, std::vector<T>{host[threads], host[2 * threads + 1]});
    for (auto part : {host.begin(), host.begin() + threads + 1}) std::sort(part, part + threads + 1);
    print(name, host);
}

#define ATOMIC(Name, expression)                          \
    struct Name {                                         \
        template <class T>                                \
        __device__ T operator()(T* p, unsigned i) const { \
            (void)i;                                      \
            return expression;                            \
        }                                                 \
    };
ATOMIC(Add, atomicAdd(p, T(3)))
ATOMIC(AddNoise, atomicAdd(p, T(noise(i) % 1024)))
ATOMIC(AddBlock, atomicAdd_block(p, T(5)))
ATOMIC(AddSystem, atomicAdd_system(p, T(7)))
ATOMIC(Sub, atomicSub(p, T(3)))
ATOMIC(Exch, atomicExch(p, T(i + 1)))
ATOMIC(Min, atomicMin(p, T(noise(i))))
ATOMIC(Max, atomicMax(p, T(noise(i))))
ATOMIC(And, atomicAnd(p, T(noise(i) | 0xff00f)))
ATOMIC(Or, atomicOr(p, T(noise(i) & 0x1010101)))
ATOMIC(Xor, atomicXor(p, T(noise(i))))
ATOMIC(Inc, atomicInc(p, T(41)))
ATOMIC(Dec, atomicDec(p, T(29)))
ATOMIC(Cas, atomicCAS(p, T(5), T(9)))

struct Multiply {  // by a loop around atomicCAS
    template <class T>
    __device__ T operator()(T* p, unsigned i) const {
        T old = *p, expected;
        do {
            expected = old;
            old = atomicCAS(p, expected, T(expected * (2 * i + 1)));
        } while (old != expected);
        return T(0);
    }
};

int main() {
    int devices = 0;
    cudaDeviceProp device;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
    CHECK(cudaGetDeviceProperties(&device, 0));
    if (device.major < 8) return 77;  // it has no reductions of warps
    using ull = unsigned long long;
    threads_do<Shuffles<int>>("shuffles int");
    threads_do<Shuffles<unsigned>>("shuffles unsigned");
    threads_do<Shuffles<long long>>("shuffles long long");
    threads_do<Shuffles<ull>>("shuffles ull");
    threads_do<Shuffles<float>>("shuffles float");
    threads_do<Shuffles<double>>("shuffles double");
    threads_do<Votes>("votes");
    threads_do<Matches>("matches");
    threads_do<Reduces>("reduces");
    threads_do<Groups>("groups");
    threads_do<Bits>("bits");
    threads_do<Conversions>("conversions");
    atomics_do<int>("add int", -7, Add(), true);
    atomics_do<unsigned>("add unsigned", ~0u - 8, Add(), true);
    atomics_do<ull>("add ull", 1ull << 40, Add(), true);
    atomics_do<float>("add float", 0.5f, Add(), true);
    atomics_do<double>("add double", 0.25, Add(), true);
    atomics_do<int>("add noise int", 1, AddNoise(), false);
    atomics_do<float>("add noise float", 0, AddNoise(), false);
    atomics_do<int>("add_block int", 0, AddBlock(), true);
    atomics_do<ull>("add_system ull", 0, AddSystem(), true);
    atomics_do<int>("sub int", 3, Sub(), true);
    atomics_do<unsigned>("sub unsigned", 3, Sub(), true);
    atomics_do<int>("exch int", 0, Exch(), true);
    atomics_do<ull>("exch ull", 0, Exch(), true);
    atomics_do<float>("exch float", 0, Exch(), true);
    atomics_do<int>("min int", 1 << 30, Min(), false);
    atomics_do<unsigned>("min unsigned", ~0u, Min(), false);
    atomics_do<long long>("min long long", 1ll << 40, Min(), false);
    atomics_do<ull>("min ull", 1ull << 40, Min(), false);
    atomics_do<int>("max int", -1, Max(), false);
    atomics_do<unsigned>("max unsigned", 0, Max(), false);
    atomics_do<long long>("max long long", -1, Max(), false);
    atomics_do<ull>("max ull", 0, Max(), false);
    atomics_do<int>("and int", -1, And(), false);
    atomics_do<ull>("and ull", ~0ull, And(), false);
    atomics_do<unsigned>("or unsigned", 0, Or(), false);
    atomics_do<ull>("or ull", 0, Or(), false);
    atomics_do<int>("xor int", 0, Xor(), false);
    atomics_do<ull>("xor ull", 0, Xor(), false);
    atomics_do<unsigned>("inc", 7, Inc(), true);
    atomics_do<unsigned>("dec", 100, Dec(), true);
    atomics_do<int>("cas int", 5, Cas(), true);
    atomics_do<ull>("cas ull", 5, Cas(), true);
    atomics_do<unsigned short>("cas unsigned short", 5, Cas(), true);
    atomics_do<unsigned>("multiply unsigned", 1, Multiply(), false);
    atomics_do<ull>("multiply ull", 1, Multiply(), false);
}
