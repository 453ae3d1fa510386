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

constexpr int large_threads = 512, large_in_flight = 4;  // as in dot_shared.cu's vectorised
#ifndef RES
#define RES 768
#endif
constexpr int resident=RES;
constexpr int threads = 128;            // of a block of wide and exact
constexpr int64_t most_for_one = 1 << 16;  // with more elements, a thread has 4 packs in flight

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

// sum + lost is what was added; NaN for `lost` says that it is not.
struct Twofold {
    double sum = 0, lost = 0;

    // Adds x, and what this loses to `lost` (Knuth's TwoSum: the error of an addition in double is a
    // double, and five more additions find it). Returns false if `lost` loses something.
    __device__ bool add(double x) {
        const double before = sum;
        sum += x;
        const double added = sum - before;
        return add_lost((before - (sum - added)) + (x - added));
    }
    // One of the two differences is exact: the one from which the larger term is subtracted.
    __device__ bool add_lost(double x) {
        const double before = lost;
        lost += x;
        return (lost - before == x) & (lost - x == before);
    }
    __device__ void add(const Twofold& other) {
        const bool kept = add(other.sum) & add_lost(other.lost);
        if (!kept) lost = NAN;
    }
    // The nearest float. Of the two doubles around the exact result, the one with an odd last bit is
    // rounded as the result is.
    __device__ float nearest_float() const {
        const double down = __dadd_rd(sum, lost), up = __dadd_ru(sum, lost);
        return float(__double2loint(down) % 2 ? down : up) + 0.0f;  // -0 becomes 0
    }
};
__device__ Twofold from_lane_above(const Twofold& x, int offset) {
    return {__shfl_down_sync(all_lanes, x.sum, offset), __shfl_down_sync(all_lanes, x.lost, offset)};
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
    const Reference* want = nullptr;          // the CPU's result
    double bytes = 0;                         // that a kernel reads

    // A launch leaves how far its result may be off, relative to the sum of the magnitudes. 0 means
    // that it must be the float nearest to the exact result.
    double allowed_error = 0;
};

__host__ __device__ int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many blocks as fill the GPU, but no block without work. --blocks replaces this number.
int grid_size(const Job& job, int to_fill, int elements_per_block) {
    if (job.sample.blocks()) return job.sample.blocks();
    return int(std::min<int64_t>(to_fill, ceil_div(job.n, elements_per_block)));
}

__device__ float4 load_pack(const float* from, int64_t i) {
    return reinterpret_cast<const float4*>(from)[i];
}

template <class Sum>
__device__ void add_products(Sum& even, Sum& odd, const float4& p, const float4& q) {
    even.add(p.x, q.x);
    odd.add(p.y, q.y);
    even.add(p.z, q.z);
    odd.add(p.w, q.w);
}

// Returns the dot product of this thread's share, like dot_shared.cu's wide_dot. It has two sums, so
// that one addition need not wait for the other.
template <class Sum>
__device__ Sum dot_of_share(const float* a, const float* b, int64_t n) {
    constexpr int threads = large_threads, in_flight = large_in_flight;
    const int64_t packs = n / pack, tile = int64_t(in_flight) * threads, tid = threadIdx.x;
    const int64_t tail = pack * packs + int64_t(blockIdx.x) * threads + tid;
    Sum even, odd;
    if (tail < n) even.add(a[tail], b[tail]);
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[in_flight], q[in_flight];
            for (int k = 0; k < in_flight; ++k) {
                p[k] = load_pack(a, first + k * threads + tid);
                q[k] = load_pack(b, first + k * threads + tid);
            }
            for (int k = 0; k < in_flight; ++k) add_products(even, odd, p[k], q[k]);
        } else {
#pragma unroll 1  // code also comes from memory, and this loop takes little time
            for (int64_t i = first + tid; i < packs; i += threads)
                add_products(even, odd, load_pack(a, i), load_pack(b, i));
        }
    }
    even.add(odd);
    return even;
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
__global__ void __launch_bounds__(large_threads, 2)
    vectorised(const float* a, const float* b, Plain<Real>* of_block, double* out, int64_t n) {
    const auto sum = reduce_block<large_threads>(dot_of_share<Plain<Real>>(a, b, n));
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const auto total = reduce_grid<large_threads>(of_block);
    if (threadIdx.x == 0) *out = total.sum;
}
template <class Real>
void launch_vectorised(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(vectorised<Real>, large_threads);
    const int blocks = grid_size(job, to_fill, pack * large_in_flight * large_threads);
    auto* of_block = reinterpret_cast<Plain<Real>*>(job.of_block);
    vectorised<<<blocks, large_threads>>>(job.a, job.b, of_block, job.out, job.n);
    const double unit = std::numeric_limits<Real>::epsilon() / 2;
    job.allowed_error = error_bound(longest_way(job.n, blocks, large_threads), unit);
}

// ---- a number so wide that nothing is lost ------------------------------------------------------

// Kulisch's accumulator: a fixed-point number that holds each bit of each product of floats, and of
// the sum of 2^33 of them. Lane k of a warp has digit k, which counts 2^(24 k - 347). It has 64 bits,
// so that carries can wait.
constexpr int digits = 27, digit_bits = 24, lowest = -347;
__device__ unsigned long long total[digits];  // of all blocks
__device__ float total_special;               // the sum of the terms that are infinite or NaN

// Returns digits from 0 to 2^24 - 1, except the highest.
__device__ int64_t carried(int64_t digit) {
    const int lane = threadIdx.x;
    bool more = true;
    while (__any_sync(all_lanes, more)) {
        const int64_t carry = lane < digits - 1 ? digit >> digit_bits : 0;
        const int64_t from_below = __shfl_up_sync(all_lanes, carry, 1);
        digit += (lane > 0 ? from_below : 0) - (carry << digit_bits);
        more = lane < digits - 1 && digit >> digit_bits != 0;
    }
    return digit;
}

// The nearest float; in the middle of two, the even one. The first warp calls it.
__device__ float nearest_float(int64_t digit) {
    digit = carried(digit);
    const bool minus = __shfl_sync(all_lanes, digit, digits - 1) < 0;
    if (minus) digit = carried(-digit);
    const unsigned not_zero = __ballot_sync(all_lanes, digit != 0);
    if (not_zero == 0) return 0;
    const int top = 31 - __clz(not_zero);  // 2 or more: no term has a bit below 2^-298
    const int64_t high = __shfl_sync(all_lanes, digit, top);
    const int64_t low = __shfl_sync(all_lanes, digit, top - 1);
    // 25 bits or more, and one that says whether any is below them: float() rounds only once.
    const bool below = not_zero & ((1u << (top - 1)) - 1);
    const int power = lowest + digit_bits * (top - 1) - 1;
    const double result = double((high << digit_bits | low) << 1 | below) *
                          __hiloint2double((power + 1023) << 20, 0);
    return float(minus ? -result : result) + 0.0f;  // -0 becomes 0
}

// The wide numbers of a block. Each thread has its own, in 12 bins: one for each 48 exponents or so.
// A term of bin k is `high` units and `low` 2^-48 units. `low` has the unit of bin k - 1's `high`.
struct Bin {
    int64_t high, low;
};
struct Bins {
    static constexpr int count = 12, first = 15, most_terms = 1 << 12;
    Bin* all;                 // bin k of the block's thread t is all[k * threads + t]
    bool used = false;        // by this thread
    float special = 0;        // the sum of this thread's terms that are infinite or NaN

    __device__ void use() {
        for (int k = 0; !used && k < count; ++k) all[k * threads + threadIdx.x] = {0, 0};
        used = true;
    }
    // Returns `count` or more for 0, infinity and NaN. 85 / 2^12 is about 1 / 48.
    __device__ static unsigned bin_of(double x) {
        return __umulhi(__double2hiint(x) & 0x7ff00000, 85) - first;
    }
    // x has at most 48 bits. Adding 1.5 * 2^52 units rounds x to whole units, and the last 52 bits
    // of the sum count them. So it is an integer addition that is needed, and no shift.
    __device__ void add(double x, unsigned k) {
        const int unit = (48 * (first + k) + 4) << 20, start = (52 << 20) + 0x80000;
        const double high_start = __hiloint2double(unit + start, 0);
        const double low_start = __hiloint2double(unit - (48 << 20) + start, 0);
        const double high = x + high_start, low = (x - (high - high_start)) + low_start;
        Bin& bin = all[k * threads + threadIdx.x];
        Bin sum = bin;
        sum.high += __double_as_longlong(high) - __double_as_longlong(high_start);
        sum.low += __double_as_longlong(low) - __double_as_longlong(low_start);
        bin = sum;
    }
    __device__ void add_any(double x) {
        const unsigned k = bin_of(x);
        if (k < count)
            add(x, k);
        else if (x != 0)
            special += float(x);
    }
    __device__ void add(const Twofold& x) {
        add_halves(x.sum);
        add_halves(x.lost);
    }
    __device__ void add_halves(double x) {  // of 21 and 32 bits
        const double high = __hiloint2double(__double2hiint(x), 0);
        add_any(high);
        add_any(x - high);
    }
    // Returns digit k of the sum of the block's numbers in thread k.
    __device__ int64_t merge() {
        __shared__ unsigned long long digit[digits];
        const int tid = threadIdx.x, k = tid % warp / 2, is_high = tid % 2;
        use();
        if (tid < digits) digit[tid] = 0;
        __syncthreads();  // all threads have added to their bins
        if (k < count) {  // each lane adds up one word of its warp's threads, each from another bank
            int64_t low = 0, high = 0;
            for (int i = 0; i < warp; ++i) {
                const Bin& bin = all[k * threads + tid / warp * warp + (i + k) % warp];
                const int64_t x = is_high ? bin.high : bin.low;
                low += x & ((int64_t(1) << 48) - 1);
                high += x >> 48;
            }
            unsigned long long* const to = digit + 2 * (k + is_high);
            atomicAdd(to, low & ((1 << digit_bits) - 1));
            atomicAdd(to + 1, low >> digit_bits);
            atomicAdd(to + 2, high);
        }
        __syncthreads();  // all sums are in the digits, and the bins can be used again
        used = false;
        return tid < digits ? digit[tid] : 0;
    }
    // Adds the block's numbers to the total.
    __device__ void pour() {
        const int64_t digit = merge();
        if (threadIdx.x < digits) atomicAdd(total + threadIdx.x, digit);
        if (special != 0) atomicAdd(&total_special, special);
        special = 0;
        __syncthreads();  // thread 0 can publish what all threads have added
    }
};

// Stores the total and a last number, and makes the total 0 again for the next launch.
__device__ void store_total(int64_t digit, double* out, unsigned* launches) {
    if (threadIdx.x >= warp) return;
    if (threadIdx.x < digits) digit += atomicExch(total + threadIdx.x, 0);
    const float result = nearest_float(digit);
    if (threadIdx.x != 0) return;
    const float special = atomicExch(&total_special, 0);
    *out = special != 0 ? special : result;
    ++*launches;
}

// A thread's elements of a tile. Without `dot`, b is not read, and the terms are the elements of a.
template <int in_flight, bool dot>
struct Tile {
    static constexpr int packs = in_flight * threads, terms = in_flight * pack;
    float4 p[in_flight], q[in_flight];

    // Elements from n on are 0.
    __device__ static float4 load(const float* from, int64_t i, int64_t n) {
        if (i < n / pack) return load_pack(from, i);
        float x[pack];
        for (int k = 0; k < pack; ++k) x[k] = pack * i + k < n ? from[pack * i + k] : 0;
        return {x[0], x[1], x[2], x[3]};
    }
    __device__ Tile(const float* a, const float* b, int64_t first, int64_t n) {
        const int64_t i = first + threadIdx.x;
        const bool whole = first + packs <= n / pack;
        for (int k = 0; k < in_flight; ++k) {
            p[k] = whole ? load_pack(a, i + k * threads) : load(a, i + k * threads, n);
            if (dot) q[k] = whole ? load_pack(b, i + k * threads) : load(b, i + k * threads, n);
        }
    }
    __device__ double term(int k) const {
        const double x = element(p[k / pack], k % pack);
        return dot ? x * double(element(q[k / pack], k % pack)) : x;
    }
    __device__ static float element(const float4& p, int k) {
        return k == 0 ? p.x : k == 1 ? p.y : k == 2 ? p.z : p.w;
    }
    __device__ void add_to(Bins& bins) const {
#pragma unroll
        for (int i = 0; i < terms; i += pack) {
            unsigned k[pack];
            for (int j = 0; j < pack; ++j) k[j] = bins.bin_of(term(i + j));
            if (max(max(k[0], k[1]), max(k[2], k[3])) < bins.count) {
                for (int j = 0; j < pack; ++j) bins.add(term(i + j), k[j]);
            } else {
                for (int j = 0; j < pack; ++j) bins.add_any(term(i + j));
            }
        }
    }
};

template <int in_flight, bool dot>
__global__ void __launch_bounds__(threads, resident / threads)
    wide(const float* a, const float* b, Twofold*, double* out, unsigned* launches, int64_t n) {
    using Tile = Tile<in_flight, dot>;
    constexpr int most_tiles = Bins::most_terms / Tile::terms;
    __shared__ Bin bin[Bins::count * threads];
    Bins bins{bin};
    bins.use();
    int tiles = 0;
    for (int64_t first = int64_t(blockIdx.x) * Tile::packs; first < ceil_div(n, pack);
         first += int64_t(gridDim.x) * Tile::packs) {
        if (++tiles % most_tiles == 0) {
            bins.pour();
            bins.use();
        }
        Tile(a, b, first, n).add_to(bins);
    }
    bins.pour();
    if (is_last_block()) store_total(0, out, launches);
}

// ---- two doubles, and the wide number for whatever they lose ------------------------------------

template <int in_flight, bool dot>
__global__ void __launch_bounds__(threads, resident / threads)
    exact(const float* a, const float* b, Twofold* of_block, double* out, unsigned* launches,
          int64_t n) {
    using Tile = Tile<in_flight, dot>;
    constexpr int most_tiles = Bins::most_terms / Tile::terms - 1;
    __shared__ Bin bin[Bins::count * threads];
    const int64_t packs = ceil_div(n, pack), step = int64_t(gridDim.x) * Tile::packs;
    Bins bins{bin};
    Twofold share;
    for (int64_t first = int64_t(blockIdx.x) * Tile::packs; first < packs;) {
        const int64_t end = min(packs, first + most_tiles * step);
        for (; first < end; first += step) {
            const Tile tile(a, b, first, n);
            Twofold sum = share;
            bool kept = true;
#pragma unroll
            for (int k = 0; k < Tile::terms; ++k) kept &= sum.add(tile.term(k));
            if (!__all_sync(all_lanes, kept && fabs(sum.sum) < 0x1p278)) break;
            share = sum;
        }
        if (first < end) bins.use();
        for (; first < end; first += step) Tile(a, b, first, n).add_to(bins);
        if (first < packs && __syncthreads_or(bins.used)) bins.pour();
    }
    Twofold sum = share;
    if (bins.used) sum.lost = NAN;
    sum = reduce_block<threads>(sum);
    if (__syncthreads_or(threadIdx.x == 0 && !(fabs(sum.sum + sum.lost) < 0x1p278))) {
        bins.use();
        bins.add(share);
        bins.pour();
        sum.lost = NAN;
    }
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    sum = reduce_grid<threads>(of_block);
    if (!__syncthreads_or(threadIdx.x == 0 && isnan(sum.lost))) {
        if (threadIdx.x == 0) *out = sum.nearest_float();
        return;
    }
    for (unsigned k = threadIdx.x; k < gridDim.x; k += threads) {
        const Twofold other = of_block[k];
        bins.use();
        if (!isnan(other.lost)) bins.add(other);
    }
    store_total(bins.merge(), out, launches);
}

// As many blocks as fill the GPU. --blocks replaces this number.
template <int in_flight>
void launch_with(Job& job, decltype(&exact<1, true>) kernel) {
    const int to_fill = job.sample.blocks_to_fill(kernel, threads);
    const int blocks = grid_size(job, to_fill, pack * in_flight * threads);
    kernel<<<blocks, threads>>>(job.a, job.b, job.of_block, job.out, job.wide, job.n);
    job.allowed_error = 0;
    ++job.launches;
}
void launch_wide(Job& job) {
    if (job.n <= most_for_one)
        launch_with<1>(job, wide<1, true>);
    else
        launch_with<4>(job, wide<4, true>);
}
template <bool dot>
void launch_exact(Job& job) {
    if (job.n <= most_for_one)
        launch_with<1>(job, exact<1, dot>);
    else
        launch_with<4>(job, exact<4, dot>);
}

// ---- CPU reference ------------------------------------------------------------------------------

// The exact sum, as doubles that have no bits in common, the smallest first (Shewchuk, "Adaptive
// precision floating-point arithmetic and fast robust geometric predicates", 1997).
struct Reference {
    std::vector<double> parts;
    double magnitude = 0;  // the sum of the terms' magnitudes

    void add(double x) {
        magnitude += std::fabs(x);
        size_t kept = 0;
        for (const double part : parts) {
            const double sum = x + part, added = sum - x;
            const double error = (x - (sum - added)) + (part - added);
            if (error != 0) parts[kept++] = error;
            x = sum;
        }
        parts.resize(kept);
        parts.push_back(x);
    }
    // The nearest double; and what is left, up to its last bits.
    double nearest_double(double* rest = nullptr) const {
        double sum = 0, left = 0;
        for (size_t k = parts.size(); k > 0 && left == 0; --k) {
            const double before = sum;
            sum += parts[k - 1];
            left = parts[k - 1] - (sum - before);
        }
        if (rest) *rest = left;
        return sum;
    }
    // If the sum is between two doubles, the one with an odd last bit is rounded as the sum is.
    float nearest_float() const {
        double left;
        const double sum = nearest_double(&left);
        int64_t bits;
        std::memcpy(&bits, &sum, sizeof bits);
        const bool between = left != 0 && bits % 2 == 0;
        return float(between ? std::nextafter(sum, left > 0 ? INFINITY : -INFINITY) : sum);
    }
    // Errors and bounds are shown relative to the magnitudes' sum.
    double relative(double error) const { return error == 0 ? 0 : std::fabs(error) / magnitude; }
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
    const auto sum = reduce_block<large_threads>(dot_of_share<RoundedFirst>(a, b, n));
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const auto total = reduce_grid<large_threads>(of_block);
    if (threadIdx.x == 0) *out = total.sum;
}
void launch_float_product(Job& job) {
    const int to_fill = job.sample.blocks_to_fill(float_product, large_threads);
    const int blocks = grid_size(job, to_fill, pack * large_in_flight * large_threads);
    auto* of_block = reinterpret_cast<RoundedFirst*>(job.of_block);
    float_product<<<blocks, large_threads>>>(job.a, job.b, of_block, job.out, job.n);
    job.allowed_error = error_bound(longest_way(job.n, blocks, large_threads), 0x1p-53);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> dots[] = {
    {"vectorised", "added up in float", launch_vectorised<float>},
    {"vectorised_double", "added up in double", launch_vectorised<double>},
    {"wide", "the nearest float: all products in a wide number", launch_wide},
    {"exact", "the nearest float: in two doubles, if they lose nothing", launch_exact<true>},
};
constexpr lab::Variant<Job> sums[] = {
    {"exact_sum", "the same for the sum of a", launch_exact<false>},
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
    const double wanted = is_exact ? want.nearest_float() : want.nearest_double();
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

int main(int argc, char** argv) {
    lab::Sample sample("03_exact_dot",
                       "What does it cost to have none of float's rounding errors?");
    std::string data = "whole";
    sample.defaults(tutorial_n, 0, 0, "elements", "blocks (default: what fills the GPU, at most)");
    sample.option("--data", data, {"whole", "random", "hostile"},
                  "whole numbers below 33 * 1024; any random numbers; or numbers that cancel "
                  "almost wholly");
    sample.variants(dots, sums);
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
    new_table(sample, job, lab::text("dot product of floats: %.15g", dot.nearest_double()),
              2 * sizeof(float) * n);
#if CUBLAS_VERSION >= 120000
    cublas_row(sample, job);
#endif
    sample.rows(job, dots, prepare, check);
    sample.rows(job, twins, prepare, check);

    job.want = &sum;
    new_table(sample, job, lab::text("sum of floats: %.15g", sum.nearest_double()),
              sizeof(float) * n);
    sample.rows(job, sums, prepare, check);
    if (sample.wants_all()) {
        const char* relative = "error and bound are relative to the sum of the magnitudes";
        sample.say("floats: %s; exact's error is from the nearest float.", relative);
        sample.say("wide: launches that needed the wide number, of all.");
    }
    return sample.verdict();
}
