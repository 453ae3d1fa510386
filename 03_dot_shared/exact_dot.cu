// 03_exact_dot - what does it cost to have none of float's rounding errors?
//
// dot_shared.cu's kernel for large n, with the end of its last_block, and with other sums:
//   vectorised         adds in float                      an addition errs by 2^-24 of its result
//   vectorised_double  adds in double                     errs by 2^-53; nearly always right
//   wide               adds in a number of 672 bits       the float nearest to the result, always
//   exact              two doubles; wide for what they    the same, and faster
//                      lose
//   exact_sum          the same for a sum of floats       the same
//   twofold_double     two doubles, factors in double     no bit is proved, but a bound is known
// wide and exact lose nothing: integers add up to the same result in any order. So it is the same on
// every grid and every device, to the last bit.
//
//   03_exact_dot --data hostile           data for which two doubles are not enough
//   03_exact_dot --wrong float_product    a mistake
//   nvcc -std=c++17 -arch=native -Icommon 03_dot_shared/exact_dot.cu
//       common/lab.cpp common/write_file.cpp -lcublas -o exact_dot
#include <limits>
#include "lab.cuh"
#if defined(__CUDACC__) && !defined(CUDACPU) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

constexpr int tutorial_n = 33 * 1024;  // the tutorial's elements, a[i] = b[i] = i, are below it
constexpr int pack = 4;                // floats of a 16-byte load
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int most_blocks = 1 << 16;  // no GPU holds more at once
static_assert(sizeof(float4) == pack * sizeof(float), "one load must bring `pack` floats");

// Threads of a block, and pairs of packs that each has in flight.
template <int threads_, int in_flight_>
struct Shape {
    static constexpr int threads = threads_, in_flight = in_flight_;
};
using Large = Shape<512, 4>;  // as in dot_shared.cu
using Big = Shape<128, 4>;
using Small = Shape<128, 2>;
using Tiny = Shape<128, 1>;
constexpr int64_t most_for_small = 1 << 25, most_for_tiny = 1 << 16;  // elements

// ---- the sums -----------------------------------------------------------------------------------

// A product of two floats, which keep 24 bits each, is exact in double, which keeps 53.
template <class Real>
struct Plain {
    Real sum = 0;
    __device__ void add(float a, float b) { sum += Real(a) * Real(b); }
    __device__ void add(const Plain& other) { sum += other.sum; }
};
template <class Real>
__device__ Plain<Real> from_lane_above(const Plain<Real>& x, int offset) {
    return {__shfl_down_sync(all_lanes, x.sum, offset)};
}

// Adds x to sum, and returns the rounding error of this addition: Knuth's TwoSum. The error is a
// double. Five more additions find it.
__device__ double add_to(double& sum, double x) {
    const double before = sum;
    sum += x;
    const double added = sum - before;
    return (before - (sum - added)) + (x - added);
}

// sum + lost is what was added, except for what add() returns: the rounding errors of `lost`.
struct Twofold {
    double sum = 0, lost = 0;
    __device__ double add(double x) { return add_to(lost, add_to(sum, x)); }
    __device__ void add(const Twofold& other) {
        add(other.sum);
        lost += other.lost;
    }
};
__device__ Twofold from_lane_above(const Twofold& x, int offset) {
    return {__shfl_down_sync(all_lanes, x.sum, offset),
            __shfl_down_sync(all_lanes, x.lost, offset)};
}

// ---- from all threads to one sum ----------------------------------------------------------------

// The sum over the first `lanes` lanes of a warp, in lane 0.
template <int lanes, class Sum>
__device__ Sum reduce_warp(Sum sum) {
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum.add(from_lane_above(sum, offset));
    return sum;
}

// The sum over a block's threads, in thread 0: one value a warp goes through shared memory, and the
// first warp adds those.
template <int threads, class Sum>
__device__ Sum reduce_block(Sum sum) {
    __shared__ Sum of_warp[threads / warp];
    const int tid = threadIdx.x;
    sum = reduce_warp<warp>(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have stored their sums
    if (tid < warp) sum = reduce_warp<threads / warp>(tid < threads / warp ? of_warp[tid] : Sum());
    return sum;
}

// Is this block the last one to come here? dot_shared.cu explains the two fences.
__device__ unsigned tickets;  // the last block makes it 0 again
__device__ bool is_last_block() {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();  // release: whoever sees this ticket drawn can see the block's sum
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();  // acquire: from here on the other blocks' sums can be seen
    }
    __syncthreads();  // all threads of the block know whether it is the last
    return last;
}

// The sum over the blocks' sums, in thread 0 of the last block. A thread has several loads in
// flight. If one warp can load all sums at once it does so alone, and needs no barrier.
template <int threads, class Sum>
__device__ Sum reduce_grid(const Sum* of_block) {
    constexpr int at_once = 4;
    const bool one_warp = gridDim.x <= at_once * warp;
    Sum sum;
    if (one_warp && threadIdx.x >= warp) return sum;
    const unsigned step = one_warp ? warp : threads;
    for (unsigned first = threadIdx.x; first < gridDim.x; first += at_once * step) {
        Sum other[at_once];
        for (int k = 0; k < at_once; ++k)
            if (first + k * step < gridDim.x) other[k] = of_block[first + k * step];
        for (int k = 0; k < at_once; ++k) sum.add(other[k]);
    }
    return one_warp ? reduce_warp<warp>(sum) : reduce_block<threads>(sum);
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Reference;
struct Job {  // what a launch needs, and what it leaves
    const lab::Sample& sample;
    int64_t n;
    const float *a, *b;
    Twofold* of_block;                        // the blocks' sums
    double* out;                              // the result
    unsigned* wide;                           // launches of exact that needed the wide number
    int launches = 0;                         // all launches of exact
    const double *c = nullptr, *d = nullptr;  // twofold_double's factors
    const Reference* want = nullptr;          // the CPU's result
    double bytes = 0;                         // that a kernel reads

    // A launch leaves how far its result may be off, relative to the sum of the magnitudes. 0 means
    // that it must be the float nearest to the exact result.
    double allowed_error = 0;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many blocks as fill the GPU, but no block without work. --blocks replaces this number.
int grid_size(const Job& job, int to_fill, int elements_per_block) {
    if (job.sample.blocks()) return job.sample.blocks();
    return int(std::min<int64_t>(to_fill, ceil_div(job.n, elements_per_block)));
}

__device__ float4 load_pack(const float* from, int64_t i) {
    return reinterpret_cast<const float4*>(from)[i];
}

// Two sums, so that one addition need not wait for the other.
template <class Sum>
struct EvenOdd {
    Sum even, odd;
    __device__ void add(float a, float b) { even.add(a, b); }
    __device__ void add(const float4& p, const float4& q) {
        even.add(p.x, q.x);
        odd.add(p.y, q.y);
        even.add(p.z, q.z);
        odd.add(p.w, q.w);
    }
    __device__ void end_tile() {}
};

// Adds this thread's share of the products to `sums`, like dot_shared.cu's wide_dot. Without `dot`,
// b is not read, and the terms are the elements of a.
template <class Shape, bool dot, class Sums>
__device__ void add_share(const float* a, const float* b, int64_t n, Sums& sums) {
    constexpr int threads = Shape::threads, in_flight = Shape::in_flight;
    const float4 ones = {1, 1, 1, 1};
    const int64_t packs = n / pack, tile = int64_t(in_flight) * threads, tid = threadIdx.x;
    const int64_t tail = pack * packs + int64_t(blockIdx.x) * threads + tid;
    if (tail < n) sums.add(a[tail], dot ? b[tail] : 1);
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[in_flight], q[in_flight];
            for (int k = 0; k < in_flight; ++k) {
                p[k] = load_pack(a, first + k * threads + tid);
                q[k] = dot ? load_pack(b, first + k * threads + tid) : ones;
            }
#pragma unroll
            for (int k = 0; k < in_flight; ++k) sums.add(p[k], q[k]);
        } else {
#pragma unroll 1  // code also comes from memory, and this loop takes little time
            for (int64_t i = first + tid; i < packs; i += threads)
                sums.add(load_pack(a, i), dot ? load_pack(b, i) : ones);
        }
        sums.end_tile();
    }
}

// The sum over a block's products, in thread 0.
template <class Shape, class Sum>
__device__ Sum block_dot(const float* a, const float* b, int64_t n) {
    EvenOdd<Sum> sums;
    add_share<Shape, true>(a, b, n, sums);
    sums.even.add(sums.odd);
    return reduce_block<Shape::threads>(sums.even);
}

// The additions on the longest way of a term, at most: 2 for each step of a tree, because a Twofold
// adds twice. No thread has more than 4 packs of a tile.
double longest_way(int64_t n, int64_t blocks, int threads) {
    const int64_t shares = ceil_div(n, pack * threads * blocks);
    return double(pack / 2 * 4 * shares + 2 * ceil_div(blocks, threads) + 64);
}

// The most by which so many roundings change the result, relative to the sum of the magnitudes.
// Each rounding errs by `unit` of its own result. (dot_shared.cu derives the bound.)
double error_bound(double roundings, double unit) { return std::expm1(roundings * unit); }

template <class Real>
__global__ void __launch_bounds__(Large::threads, 2)
    vectorised(const float* a, const float* b, Plain<Real>* of_block, double* out, int64_t n) {
    const auto sum = block_dot<Large, Plain<Real>>(a, b, n);
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const auto total = reduce_grid<Large::threads>(of_block);
    if (threadIdx.x == 0) *out = total.sum;
}
template <class Real>
void launch_vectorised(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(vectorised<Real>, Large::threads);
    const int blocks = grid_size(job, to_fill, pack * Large::in_flight * Large::threads);
    auto* of_block = reinterpret_cast<Plain<Real>*>(job.of_block);
    vectorised<<<blocks, Large::threads>>>(job.a, job.b, of_block, job.out, job.n);
    const double unit = std::numeric_limits<Real>::epsilon() / 2;
    job.allowed_error = error_bound(longest_way(job.n, blocks, Large::threads), unit);
}

// ---- a number so wide that nothing is lost ------------------------------------------------------

// 2^33 products of floats add up exactly in 672 bits (Kulisch's accumulator): digit k counts
// 2^(32 k - 371). Lane k of a warp holds digit k in 64 bits, so that carries can wait. One more
// lane counts the results that are infinite or NaN, another one the blocks that used their bins.
namespace wide_number {
constexpr int digits = 21, kinds = digits, users = kinds + 1, words = digits + 2;
constexpr int lowest = -371, copies = 8;
constexpr int64_t positive = 1, negative = 1 << 21, nan = int64_t(1) << 42;
__device__ unsigned long long total[copies * warp];  // the last block makes it 0 again

__device__ int exponent(double x) { return __double2hiint(x) >> 20 & 2047; }
__device__ int sign(double x) { return __double2hiint(x) >> 31; }  // 0 or -1
// x is +- significand(x) * 2^(exponent(x) - 1075). 0 must be handled by the caller.
__device__ uint64_t significand(double x) {
    return uint64_t((__double2hiint(x) & 0xfffff) | 0x100000) << 32 | unsigned(__double2loint(x));
}

// What x adds to this lane's digit. x is 0, infinite, NaN, or a multiple of 2^-298.
__device__ int64_t part_of(double x, int lane) {
    if (exponent(x) == 2047) return lane != kinds ? 0 : x != x ? nan : x > 0 ? positive : negative;
    const int shift = exponent(x) - 1075 - lowest - 32 * lane;  // to the left
    if (shift <= -53 || shift >= 32 || lane >= digits) return 0;
    const uint64_t m = significand(x);
    const int64_t part = unsigned(shift >= 0 ? m << shift : m >> -shift);
    return x < 0 ? -part : part;
}

// Afterwards all digits but the highest are from 0 to 2^32 - 1.
__device__ int64_t carried(int64_t digit, int lane) {
    bool more = true;
    while (__any_sync(all_lanes, more)) {
        const int64_t carry = lane < digits - 1 ? digit >> 32 : 0;
        const int64_t below = __shfl_up_sync(all_lanes, carry, 1);
        digit -= carry << 32;
        if (lane > 0 && lane < digits) digit += below;
        more = lane < digits - 1 && digit >> 32 != 0;
    }
    return digit;
}

// The float nearest to the number; in the middle of two, the even one.
__device__ float nearest_float(int64_t digit, int lane) {
    const int64_t special = __shfl_sync(all_lanes, digit, kinds);
    if (special >= nan || (special % negative && special / negative)) return NAN;
    if (special) return special % negative ? INFINITY : -INFINITY;
    digit = carried(digit, lane);
    const bool minus = __shfl_sync(all_lanes, digit, digits - 1) < 0;
    if (minus) digit = carried(-digit, lane);
    const unsigned not_zero = __ballot_sync(all_lanes, lane < digits && digit != 0);
    if (not_zero == 0) return 0;
    const int top = 31 - __clz(not_zero);  // at least 1: no term has a bit below 2^-298
    const uint64_t high = __shfl_sync(all_lanes, digit, top);
    uint64_t bits = high << 32 | uint64_t(__shfl_sync(all_lanes, digit, top - 1));
    const int unused = __clzll(bits);
    bits <<= unused;
    // 53 bits, of which the last one says whether anything is below the others. So the float is
    // rounded right, though it is rounded from a double.
    const bool more = bits % 2048 || not_zero & ((1u << (top - 1)) - 1);
    const double m = double(int64_t(bits / 2048 | more));
    const int power = lowest + 32 * (top - 1) + 11 - unused;
    const float result = float(m * __hiloint2double((power + 1023) << 20, 0));
    return (minus ? -result : result) + 0.0f;  // -0 becomes 0
}
}  // namespace wide_number

// A thread's own wide number in shared memory, where no other thread adds. There are 18 bins, and
// bin k is for doubles from 2^(32 k - 319) up to 2^(32 k - 287). All of them are multiples of
// 2^(32 k - 371) below 2^84 of it, so 96 bits hold the sum of 2^11. Neighbouring words belong to
// neighbouring threads, so there are no bank conflicts.
template <int threads>
struct Bins {
    static constexpr int bins = 18, words = 3, rows = bins * words, lowest = 22, most = 1 << 11;
    unsigned* mine;

    __device__ void clear() const {
        for (int row = 0; row < rows; ++row) mine[row * threads] = 0;
    }
    // Returns false if x is 0, infinite or NaN, or too large.
    __device__ bool add(double x) const {
        const unsigned high = __double2hiint(x), bin = (high >> 25 & 63) - lowest;
        if (bin >= bins) return false;
        const int64_t sign = int(high) >> 31;
        const int64_t m = (int64_t(wide_number::significand(x)) ^ sign) - sign;
        const unsigned shift = high >> 20 & 31, middle = m >> 32;
        unsigned* const word = mine + bin * words * threads;
        uint64_t sum = uint64_t(word[0]) + (unsigned(m) << shift);
        word[0] = unsigned(sum);
        sum = (sum >> 32) + word[threads] + __funnelshift_l(unsigned(m), middle, shift);
        word[threads] = unsigned(sum);
        word[2 * threads] += unsigned(sum >> 32) + __funnelshift_l(middle, unsigned(sign), shift);
        return true;
    }
};

// Adds up the bins of all threads of a block. Returns digit k in thread k. `word` is shared.
template <int threads>
__device__ int64_t merge_bins(unsigned* word) {
    constexpr int rows = Bins<threads>::rows, parts = threads / 64, columns = threads / parts;
    const int tid = threadIdx.x, row = tid / parts, part = tid % parts;
    __syncthreads();  // all threads have added to their bins
    int64_t sum = 0;
    if (row < rows) {
        for (int i = 0; i < columns; ++i) {  // each lane reads another bank
            const unsigned x = word[row * threads + part * columns + (i + tid) % columns];
            sum += row % 3 == 2 ? int64_t(int(x)) : int64_t(x);
        }
    }
    __syncthreads();  // all bins have been read: now there is room for the sums
    int64_t* const of_part = reinterpret_cast<int64_t*>(word);
    if (row < rows) of_part[tid] = sum;
    __syncthreads();  // all sums are stored
    int64_t digit = 0;
    for (int k = 0; k < 3; ++k) {
        const int bin = tid - k;
        if (bin < 0 || bin >= Bins<threads>::bins) continue;
        for (int i = 0; i < parts; ++i) digit += of_part[(3 * bin + k) * parts + i];
    }
    __syncthreads();  // the bins may be used again
    return digit;
}

// What a thread of wide or exact adds up.
template <class Shape, bool in_registers>
struct Exact {
    static constexpr int threads = Shape::threads;
    static constexpr int most_tiles = Bins<threads>::most / (pack * Shape::in_flight) - 8;
    unsigned* word;  // the block's bins
    Twofold even, odd;
    bool used = false;  // the bins of this thread
    int tiles = 0;

    __device__ Bins<threads> bins() const { return {word + threadIdx.x}; }
    __device__ bool keep(double x) {
        if (!used) bins().clear();
        used = true;
        return bins().add(x);
    }
    __device__ void add(double x) {
        if (!in_registers && !keep(x)) even.sum += x;  // infinite or NaN
        if (in_registers) keep_unless_0(even.add(x));
    }
    __device__ void keep_unless_0(double x) {
        if (x != 0) keep(x);
    }
    __device__ void add(float a, float b) { add(double(a) * double(b)); }
    __device__ void add(const float4& p, const float4& q) {
        const double x = double(p.x) * double(q.x), y = double(p.y) * double(q.y);
        const double z = double(p.z) * double(q.z), w = double(p.w) * double(q.w);
        if (!in_registers) {
            add(x);
            add(y);
            add(z);
            add(w);
            return;
        }
        const double rest[pack] = {even.add(x), odd.add(y), even.add(z), odd.add(w)};
        if (rest[0] != 0 || rest[1] != 0 || rest[2] != 0 || rest[3] != 0)
            for (int k = 0; k < pack; ++k) keep(rest[k]);
    }
    __device__ void add(const Twofold& other) {
        if (in_registers) {
            keep_unless_0(even.add(other.sum));
            keep_unless_0(add_to(even.lost, other.lost));
        } else
            even.sum += other.sum;
    }
    // Adds the bins of all threads of the block, and one more number, to the total.
    __device__ void pour(int64_t digit = 0) {
        if (__syncthreads_or(used)) {
            if (!used) bins().clear();
            digit += merge_bins<threads>(word) + (threadIdx.x == wide_number::users);
            used = false;
        }
        if (threadIdx.x < wide_number::words && digit != 0)
            atomicAdd(wide_number::total + blockIdx.x % wide_number::copies * warp + threadIdx.x,
                      digit);
    }
    __device__ void end_tile() {
        if (++tiles % most_tiles == 0) pour();
    }
};

template <class Shape, bool dot, bool in_registers>
__global__ void __launch_bounds__(Shape::threads, 1024 / Shape::threads)
    exact(const float* a, const float* b, double* out, unsigned* wide, int64_t n) {
    using namespace wide_number;
    constexpr int warps = Shape::threads / warp;
    __shared__ uint64_t word[Bins<Shape::threads>::rows * Shape::threads / 2];
    __shared__ Twofold of_warp[warps];
    const int tid = threadIdx.x;
    Exact<Shape, in_registers> sums{reinterpret_cast<unsigned*>(word), {}, {}};
    add_share<Shape, dot>(a, b, n, sums);
    sums.add(sums.odd);
#pragma unroll
    for (int offset = warp / 2; offset > 0; offset /= 2) {
        const Twofold other = from_lane_above(sums.even, offset);
        if (tid % warp < offset) sums.add(other);  // what other lanes lose must not be kept
    }
    if (tid % warp == 0) of_warp[tid / warp] = sums.even;
    __syncthreads();  // all warps have stored their sums
    if (tid == 0)
        for (int k = 1; k < warps; ++k) sums.add(of_warp[k]);
    int64_t digit = 0;
    if (tid < warp) {
        const double sum = __shfl_sync(all_lanes, sums.even.sum, 0);
        const double lost = __shfl_sync(all_lanes, sums.even.lost, 0);
        digit = part_of(sum, tid) + (isfinite(sum) ? part_of(lost, tid) : 0);
    }
    sums.pour(digit);
    __syncwarp();  // thread 0 publishes what its warp has added
    if (!is_last_block() || tid >= warp) return;
    digit = 0;
    if (tid < words)
        for (int k = 0; k < copies; ++k) digit += int64_t(atomicExch(total + k * warp + tid, 0));
    const float result = nearest_float(digit, tid);
    if (tid == 0) *out = result;
    if (tid == users && digit) ++*wide;
}

template <class Shape, bool dot, bool in_registers>
void launch_shape(Job& job) {
    const auto kernel = exact<Shape, dot, in_registers>;
    const int to_fill = job.sample.blocks_to_fill(kernel, Shape::threads);
    const int blocks = grid_size(job, to_fill, pack * Shape::in_flight * Shape::threads);
    kernel<<<blocks, Shape::threads>>>(job.a, job.b, job.out, job.wide, job.n);
    job.allowed_error = 0;
    ++job.launches;
}
template <bool dot, bool in_registers>
void launch_exact(Job& job) {
    if (job.n <= most_for_tiny)
        launch_shape<Tiny, dot, in_registers>(job);
    else if (job.n <= most_for_small)
        launch_shape<Small, dot, in_registers>(job);
    else
        launch_shape<Big, dot, in_registers>(job);
}

// The most that a Twofold's sum loses for good, relative to the sum of the magnitudes. `lost` is a sum
// of errors, each at most 2^-53 of a sum, and so are its own roundings. With r, which is 2^-53 for
// each addition on the longest way, that is r^2 (Ogita, Rump and Oishi, "Accurate sum and dot
// product", 2005). This is twice that, to be safe.
double loss(double additions) { return 2 * (additions * 0x1p-53) * (additions * 0x1p-53); }

// The error of a product of doubles is also a double, and a fused multiply-add finds it.
__global__ void twofold_double(const double* c, const double* d, Twofold* of_block, double* out,
                               int64_t n) {
    Twofold share;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < n; i += int64_t(gridDim.x) * blockDim.x) {
        const double product = __dmul_rn(c[i], d[i]);
        share.add(product);
        share.lost += fma(c[i], d[i], -product);
    }
    const Twofold sum = reduce_block<Large::threads>(share);
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const Twofold total = reduce_grid<Large::threads>(of_block);
    if (threadIdx.x == 0) *out = total.sum + total.lost;
}
void launch_twofold_double(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(twofold_double, Large::threads);
    const int blocks = grid_size(job, to_fill, Large::threads);
    twofold_double<<<blocks, Large::threads>>>(job.c, job.d, job.of_block, job.out, job.n);
    job.allowed_error = loss(pack * longest_way(job.n, blocks, Large::threads));
}

// ---- CPU reference ------------------------------------------------------------------------------

// 2^33 products of floats add up exactly in it (Kulisch's long accumulator): digit k counts
// 2^(32 k - 352). A digit has 64 bits, so that carries can wait. Three more words count the terms
// that are infinite or NaN.
struct Wide {
    static constexpr int digits = 21, lowest = -352;
    static constexpr int positive = digits, negative = digits + 1, nan = digits + 2;
    int64_t word[digits + 3] = {};

    // x is 0, infinite, NaN, or a multiple of 2^-350 below 2^289.
    void add(double x) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof x);
        const int exponent = bits >> 52 & 2047;
        if (exponent == 2047) {
            word[nan] += x != x;
            word[x > 0 ? positive : negative] += x == x;
        }
        if (x == 0 || exponent == 2047) return;
        int64_t significand = (bits & ((1ull << 52) - 1)) | 1ull << 52;
        if (x < 0) significand = -significand;
        const int at = exponent - 1075 - lowest, shift = at % 32;
        const uint64_t low = uint64_t(significand) << shift;
        word[at / 32] += int64_t(low & 0xffffffff);
        word[at / 32 + 1] += int64_t(low >> 32);
        word[at / 32 + 2] += significand >> 1 >> (63 - shift);
    }
    // Afterwards all digits but the highest are from 0 to 2^32 - 1.
    void carry() {
        for (int k = 0; k + 1 < digits; ++k) {
            word[k + 1] += word[k] >> 32;
            word[k] &= 0xffffffff;
        }
    }
    int bit(int i) const { return word[i / 32] >> i % 32 & 1; }
    // The nearest number with `kept` bits, but no bit below 2^least; in the middle, an even one.
    double rounded(int kept, int least) const {
        if (word[nan] || (word[positive] && word[negative])) return NAN;
        if (word[positive] || word[negative]) return word[positive] ? INFINITY : -INFINITY;
        Wide x = *this;
        x.carry();
        const bool minus = x.word[digits - 1] < 0;
        for (int k = 0; minus && k < digits; ++k) x.word[k] = -x.word[k];
        x.carry();
        int top = 32 * digits - 1, i = 0;
        while (top > 0 && !x.bit(top)) --top;
        int last = least - lowest > 1 ? least - lowest : 1;
        if (top - kept + 1 > last) last = top - kept + 1;
        int64_t result = 0;
        for (int k = top; k >= last; --k) result = 2 * result + x.bit(k);
        while (i < last - 1 && !x.bit(i)) ++i;  // is there anything below the half?
        if (x.bit(last - 1) && (i < last - 1 || result % 2)) ++result;
        if (result == 0) return 0;
        return ldexp(double(minus ? -result : result), last + lowest);
    }
    float nearest_float() const { return float(rounded(24, -149)); }
    double nearest_double() const { return rounded(53, -1074); }
};

struct Reference {
    Wide sum;              // the exact result
    double magnitude = 0;  // the sum of the terms' magnitudes
    bool of_result = false;

    void add(double x) {
        sum.add(x);
        magnitude += std::fabs(x);
    }
    // Errors and bounds are shown relative to the magnitudes' sum, or to the result.
    double relative(double error) const {
        const double to = of_result ? std::fabs(sum.nearest_double()) : magnitude;
        return error == 0 ? 0 : std::fabs(error) / to;
    }
};

// ---- data, harmless and hostile -----------------------------------------------------------------

// Element i of array 0 or 1. whole: whole numbers in the tutorial's range, as in dot_shared.cu.
// random: 24 random bits, a sign, and exponents of -8 to 7. hostile: pairs that cancel, with
// exponents of -49 to 49. Only the smallest pairs leave a remainder.
float element(const std::string& data, uint64_t seed, int64_t i, int64_t n, int array) {
    if (data == "whole") return float(lab::random_bits(seed, 2 * i + array) % tutorial_n);
    const bool second = data == "hostile" && i >= (n + 1) / 2;  // of a pair
    const uint64_t bits = lab::random_bits(seed, 2 * (second ? n - 1 - i : i) + array);
    const int exponent = data == "random" ? int(bits % 16) - 8 : int(bits % 99) - 49;
    const float x = std::ldexp(float(int64_t(bits) >> 39) / 0x1p24f, exponent);
    if (!second || array == 1) return x;
    return -(exponent < -40 ? std::nextafter(x, 0.0f) : x);
}

double random_double(uint64_t seed, int64_t i) {  // from 0 up to 1
    return double(lab::random_bits(seed, i) >> 11) * 0x1p-53;
}

// The products of elements i and n - i cancel. Element 0 is left for what the result shall be.
Reference doubles_that_cancel(uint64_t seed, std::vector<double>& c, std::vector<double>& d) {
    const int64_t n = int64_t(c.size());
    Reference pairs;
    pairs.of_result = true;
    for (int64_t i = 1; i < n; ++i) {
        const int64_t pair = std::min(i, n - i);
        const int sign = 2 * pair == n ? 0 : i == pair ? 1 : -1;  // 0: it has no partner
        c[i] = sign * random_double(seed, 2 * pair);
        d[i] = random_double(seed, 2 * pair + 1);
        pairs.magnitude += std::fabs(c[i] * d[i]);
    }
    return pairs;
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// The sums are double, but each product is rounded to 24 bits before it is widened.
struct RoundedFirst {
    double sum = 0;
    __device__ void add(float a, float b) { sum += a * b; }
    __device__ void add(const RoundedFirst& other) { sum += other.sum; }
};
__device__ RoundedFirst from_lane_above(const RoundedFirst& x, int offset) {
    return {__shfl_down_sync(all_lanes, x.sum, offset)};
}
__global__ void float_product(const float* a, const float* b, RoundedFirst* of_block, double* out,
                              int64_t n) {
    const auto sum = block_dot<Large, RoundedFirst>(a, b, n);
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const auto total = reduce_grid<Large::threads>(of_block);
    if (threadIdx.x == 0) *out = total.sum;
}
void launch_float_product(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(float_product, Large::threads);
    const int blocks = grid_size(job, to_fill, pack * Large::in_flight * Large::threads);
    auto* of_block = reinterpret_cast<RoundedFirst*>(job.of_block);
    float_product<<<blocks, Large::threads>>>(job.a, job.b, of_block, job.out, job.n);
    job.allowed_error = error_bound(longest_way(job.n, blocks, Large::threads), 0x1p-53);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> dots[] = {
    {"vectorised", "added up in float", launch_vectorised<float>},
    {"vectorised_double", "added up in double", launch_vectorised<double>},
    {"wide", "the nearest float: all products in a wide number", launch_exact<true, false>},
    {"exact", "the nearest float: two doubles before the wide number", launch_exact<true, true>},
};
constexpr lab::Variant<Job> sums[] = {
    {"exact_sum", "the same for the sum of a", launch_exact<false, true>},
};
constexpr lab::Variant<Job> dots_of_doubles[] = {
    {"twofold_double", "factors in double, added up in twice its precision", launch_twofold_double},
};
constexpr lab::Variant<Job> twins[] = {
    {"float_product", "float products, added up in double", launch_float_product},
};

void prepare(Job& job) {
    CHECK(cudaMemsetAsync(job.out, lab::poison_byte, sizeof *job.out));
    CHECK(cudaMemsetAsync(job.of_block, lab::poison_byte, sizeof(Twofold) * most_blocks));
}

void check(Job& job, lab::Row& row) {
    const Reference& want = *job.want;
    double got = 0;
    unsigned wide = 0;
    CHECK(cudaMemcpy(&got, job.out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&wide, job.wide, sizeof wide, cudaMemcpyDeviceToHost));
    if (row.kind == lab::Kind::library) {  // it stores a float
        float stored;
        std::memcpy(&stored, &got, sizeof stored);
        got = stored;
    }
    const bool is_exact = job.allowed_error == 0;
    const double wanted = is_exact ? want.sum.nearest_float() : want.sum.nearest_double();
    const double error = want.relative(got - wanted);
    const double half_a_bit = want.relative(wanted) * 0x1p-53;  // of the result, and of `wanted`
    const double allowed = want.relative(job.allowed_error * want.magnitude);
    const double bound = is_exact ? 0 : allowed + 2 * half_a_bit;
    const bool right = got == wanted || error <= bound || (std::isnan(got) && std::isnan(wanted));
    row.result = lab::text("%.15g", got);
    row.bytes = job.bytes;
    row.wrong = right ? "" : lab::text("got %.17g, wanted %.17g", got, wanted);
    row.columns = {lab::text("%.1e", error), lab::text("%.1e", bound),
                   is_exact ? lab::text("%u of %d", wide, job.launches) : "-"};
    job.launches = 0;  // the next row counts anew
    CHECK(cudaMemset(job.wide, 0, sizeof wide));
}

void new_table(lab::Sample& sample, Job& job, const std::string& title, int64_t bytes) {
    job.bytes = double(bytes);
    sample.new_table(title);
    sample.columns({"error", "bound", "wide"});
    sample.limit_row(lab::Limit::read, bytes);
}

#if CUBLAS_VERSION >= 120000  // the first that counts in 64 bits
void check_cublas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
    CHECK(status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown);
}
cublasHandle_t cublas;
void launch_cublas(Job& job) {  // it does not say how it adds: one thread may add everything
    float* out = reinterpret_cast<float*>(job.out);
    check_cublas(cublasSdot_64(cublas, job.n, job.a, 1, job.b, 1, out));
    job.allowed_error = error_bound(double(job.n), 0x1p-24);
}
void cublas_row(lab::Sample& sample, Job& job) {
    if (!sample.wants_all()) return;
    check_cublas(cublasCreate(&cublas));
    check_cublas(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE));  // no wait for a result
    sample.library_row("cublasSdot", "", job, launch_cublas, prepare, check);
    check_cublas(cublasDestroy(cublas));
}
#endif

// The same pairs with five results. The condition number is the sum of the magnitudes over the
// result.
void doubles_table(lab::Sample& sample, Job& job) {
    std::vector<double> c(job.n), d(job.n);
    const Reference pairs = doubles_that_cancel(sample.seed(), c, d);
    const lab::DeviceArray<double> d_c(c), d_d(d);
    job.c = d_c.get();
    job.d = d_d.get();
    new_table(sample, job, "dot products of doubles; error and bound are relative to the result",
              2 * sizeof(double) * job.n);
    for (const int digits : {0, 8, 16, 24, 32}) {
        const double result = std::pow(10.0, -digits) * std::max(1.0, pairs.magnitude), one = 1;
        CHECK(cudaMemcpy(d_c.get(), &result, sizeof result, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_d.get(), &one, sizeof one, cudaMemcpyHostToDevice));
        Reference want = pairs;
        want.add(result);
        job.want = &want;
        lab::Row row;
        row.variant = digits ? lab::text("condition 1e%d", digits) : "twofold_double";
        row.ms = sample.time(job, prepare, launch_twofold_double);
        check(job, row);
        sample.row(row);
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("03_exact_dot",
                       "What does it cost to have none of float's rounding errors?");
    std::string data = "whole";
    sample.defaults(tutorial_n, 0, 0, "elements", "blocks (default: what fills the GPU, at most)");
    sample.option("--data", data, {"whole", "random", "hostile"},
                  "whole numbers below 33 * 1024; any random numbers; or numbers that cancel "
                  "almost wholly");
    sample.variants(dots, sums, dots_of_doubles);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(float) + 2 * sizeof(double),
                          sizeof(Twofold) * most_blocks);

    std::vector<float> a(n), b(n);
    Reference dot, sum;
    for (int64_t i = 0; i < n; ++i) {
        a[i] = element(data, sample.seed(), i, n, 0);
        b[i] = element(data, sample.seed(), i, n, 1);
        dot.add(double(a[i]) * double(b[i]));
        sum.add(a[i]);
    }
    const lab::DeviceArray<float> d_a(a), d_b(b);
    const lab::DeviceArray<Twofold> of_block(most_blocks);
    const lab::DeviceArray<double> out(1);
    const lab::DeviceArray<unsigned> wide(std::vector<unsigned>(1));
    Job job{sample, n, d_a.get(), d_b.get(), of_block.get(), out.get(), wide.get()};

    job.want = &dot;
    new_table(sample, job, lab::text("dot product of floats: %.15g", dot.sum.nearest_double()),
              2 * sizeof(float) * n);
#if CUBLAS_VERSION >= 120000
    cublas_row(sample, job);
#endif
    sample.rows(job, dots, prepare, check);
    sample.rows(job, twins, prepare, check);

    job.want = &sum;
    new_table(sample, job, lab::text("sum of floats: %.15g", sum.sum.nearest_double()),
              sizeof(float) * n);
    sample.rows(job, sums, prepare, check);
    if (sample.wants("twofold_double")) doubles_table(sample, job);
    if (sample.wants_all()) {
        const char* relative = "error and bound are relative to the sum of the magnitudes";
        sample.say("floats: %s; exact's error is from the nearest float.", relative);
        sample.say("wide: launches that needed the wide number, of all.");
    }
    return sample.verdict();
}
