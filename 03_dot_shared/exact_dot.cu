// 03_exact_dot - what does it cost to have none of float's rounding errors?
//
// dot_shared.cu's kernel for large n, with the end of its last_block, and with other sums:
//   vectorised         adds in float                      an addition errs by 2^-24 of its result
//   vectorised_double  adds in double                     errs by 2^-53; nearly always right
//   wide               adds whole numbers, of 648 bits    always the float nearest to the result
//   exact              in two doubles while they suffice  the same, and faster
//   exact_sum          the same for a sum of floats       the same
// wide and exact lose nothing: the result is the same on every grid and device, to the last bit.
//
//   03_exact_dot --data hostile           data for which two doubles are not enough
//   03_exact_dot --wrong float_product    a mistake
//   nvcc -std=c++17 -arch=native -Icommon 03_dot_shared/exact_dot.cu
//       common/lab.cpp common/write_file.cpp -lcublas -o exact_dot
#include "lab.cuh"
#if defined(__CUDACC__) && !defined(CUDACPU) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

constexpr int tutorial_n = 33 * 1024;  // the tutorial's elements, a[i] = b[i] = i, are below it
constexpr int pack = 4;                // floats of a 16-byte load
constexpr int most_blocks = 1 << 16;   // no GPU holds more at once
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
static_assert(sizeof(float4) == pack * sizeof(float), "one load must bring `pack` floats");

// Threads of a block: as in dot_shared.cu; and so few that every GPU has the shared memory.
constexpr int vector_threads = 512, exact_threads = 128;
constexpr int blocks_per_sm = 6;  // of wide and exact: a thread may have 80 registers

// ---- the sums -----------------------------------------------------------------------------------

// A product of two floats, which keep 24 bits each, is exact in double, which keeps 53.
template <class Real, class Factor>
struct Plain {
    Real sum = 0;
    __device__ void add(float a, float b) { sum += Factor(a) * Factor(b); }
    __device__ void add(const Plain& other) { sum += other.sum; }
};
template <class Real, class Factor>
__device__ Plain<Real, Factor> from_lane_above(const Plain<Real, Factor>& x, int offset) {
    return {__shfl_down_sync(all_lanes, x.sum, offset)};
}

// sum + lost is exactly what was added. If `lost` is NaN, something is missing. Both are aligned so
// that one instruction loads or stores them.
struct alignas(16) Twofold {
    double sum = 0, lost = 0;

    // Adds x, and what this loses to `lost` (Knuth's TwoSum: the error of an addition in double is
    // a double, and five more additions find it). Returns false if `lost` loses something.
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
        if (!(add(other.sum) & add_lost(other.lost))) lost = NAN;
    }
    // The nearest float. Of the two doubles around the exact result, the one with an odd last bit
    // is rounded as the result is.
    __device__ float nearest_float() const {
        const double down = __dadd_rd(sum, lost), up = __dadd_ru(sum, lost);
        return float(__double2loint(down) % 2 ? down : up) + 0.0f;  // -0 becomes 0
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
    Twofold* of_block;                // the blocks' sums
    double* out;                      // the result
    unsigned* wide;                   // launches of wide and exact that needed the wide number
    int launches = 0;                 // all launches of wide and exact
    const Reference* want = nullptr;  // the CPU's result
    double bytes = 0;                 // that a kernel reads
    // A launch leaves how far its result may be off, relative to the sum of the magnitudes. 0 means
    // that it must be the float nearest to the exact result.
    double allowed_error = 0;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many blocks as fill the GPU, but no block without work. --blocks replaces this number.
template <class Kernel>
int grid_size(const Job& job, Kernel kernel, int threads, int packs_per_block) {
    const int to_fill = job.sample.blocks_to_fill(kernel, threads);
    const int64_t tiles = ceil_div(job.n, pack * packs_per_block);
    return job.sample.blocks() ? to_fill : int(std::min<int64_t>(to_fill, tiles));
}

// A thread's share of a tile: `in_flight` packs of each array, which are loaded at once. Without
// `dot`, b is not read, and the terms are the elements of a.
template <int threads, int in_flight, bool dot>
struct Tile {
    static constexpr int packs = in_flight * threads, terms = in_flight * pack;
    float4 p[in_flight], q[in_flight];

    __device__ Tile(const float* a, const float* b, int64_t first, int64_t n) {
        const bool whole = first + packs <= n / pack;
#pragma unroll
        for (int k = 0; k < in_flight; ++k) {
            const int64_t i = first + k * threads + threadIdx.x;
            p[k] = whole ? load(a, i) : load_or_0(a, i, n);
            if (dot) q[k] = whole ? load(b, i) : load_or_0(b, i, n);
        }
    }
    __device__ static float4 load(const float* from, int64_t i) {
        return reinterpret_cast<const float4*>(from)[i];
    }
    __device__ static float4 load_or_0(const float* from, int64_t i, int64_t n) {
        if (i < n / pack) return load(from, i);
        float x[pack];  // elements from n on are 0
        for (int k = 0; k < pack; ++k) x[k] = pack * i + k < n ? from[pack * i + k] : 0;
        return {x[0], x[1], x[2], x[3]};
    }
    __device__ float x(int k) const { return reinterpret_cast<const float*>(p)[k]; }
    __device__ float y(int k) const { return dot ? reinterpret_cast<const float*>(q)[k] : 1; }
    __device__ double term(int k) const { return double(x(k)) * double(y(k)); }  // exact
};

// The dot product of a block's share, in thread 0. Each thread has two sums, so that one addition
// need not wait for the other.
using VectorTile = Tile<vector_threads, 4, true>;
template <class Sum>
__device__ Sum dot_of_block(const float* a, const float* b, int64_t n) {
    Sum even, odd;
    for (int64_t first = int64_t(blockIdx.x) * VectorTile::packs; first * pack < n;
         first += int64_t(gridDim.x) * VectorTile::packs) {
        const VectorTile tile(a, b, first, n);
#pragma unroll
        for (int k = 0; k < VectorTile::terms; k += 2) {
            even.add(tile.x(k), tile.y(k));
            odd.add(tile.x(k + 1), tile.y(k + 1));
        }
    }
    even.add(odd);
    return reduce_block<vector_threads>(even);
}

// No term takes part in more additions: 2 of each pack, in the trees, and some to spare. No thread
// has more than 4 packs of a tile.
double longest_way(int64_t n, int64_t blocks, int threads) {
    const int64_t shares = ceil_div(n, pack * threads * blocks);
    return double(pack / 2 * 4 * shares + 2 * ceil_div(blocks, threads) + 64);
}

// The most by which so many roundings change the result, relative to the sum of the magnitudes.
// Each rounding errs by `unit` of its own result. (dot_shared.cu derives the bound.)
double error_bound(double roundings, double unit) { return std::expm1(roundings * unit); }

template <class Real, class Factor>
__global__ void __launch_bounds__(vector_threads, 2)
    vectorised(const float* a, const float* b, Plain<Real, Factor>* of_block, double* out,
               int64_t n) {
    const auto sum = dot_of_block<Plain<Real, Factor>>(a, b, n);
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
    if (!is_last_block()) return;
    const auto total = reduce_grid<vector_threads>(of_block);
    if (threadIdx.x == 0) *out = total.sum;
}
template <class Real, class Factor = Real>
void launch_vectorised(Job& job) {
    const auto kernel = vectorised<Real, Factor>;
    const int blocks = grid_size(job, kernel, vector_threads, VectorTile::packs);
    auto* of_block = reinterpret_cast<Plain<Real, Factor>*>(job.of_block);
    kernel<<<blocks, vector_threads>>>(job.a, job.b, of_block, job.out, job.n);
    const double unit = std::numeric_limits<Real>::epsilon() / 2;
    job.allowed_error = error_bound(longest_way(job.n, blocks, vector_threads), unit);
}

// ---- a number so wide that nothing is lost ------------------------------------------------------

// Kulisch's accumulator: a fixed-point number that holds every bit of every product of floats, and
// of the sum of 2^33 of them. Lane k of a warp has digit k, which counts 2^(24 k - 347). A digit
// has 64 bits, so carries can wait.
constexpr int digits = 27, digit_bits = 24, lowest = -347;
__device__ unsigned long long total[digits];  // of all blocks; the last block makes it 0 again
__device__ float total_special;               // the sum of the terms that are infinite or NaN

// Returns the same number with digits from 0 to 2^24 - 1, except for the highest.
__device__ int64_t carried(int64_t digit) {
    const int lane = threadIdx.x;
    for (bool more = true; __any_sync(all_lanes, more);) {
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
    // 25 bits or more, and one that says whether any is below them: only float() rounds.
    const bool below = not_zero & ((1u << (top - 1)) - 1);
    const double bits = double((high << digit_bits | low) << 1 | below);
    const int power = lowest + digit_bits * (top - 1) - 1;
    const double result = bits * __hiloint2double((power + 1023) << 20, 0);
    return float(minus ? -result : result) + 0.0f;  // -0 becomes 0
}

// A thread's wide number has 12 bins of about 48 exponents each. A term is added to the bin of its
// exponent: whole units to `high`, and the rest, in 2^-48 units, to `low`. The unit of `low` is
// that of the next lower bin's `high`.
struct Bin {
    int64_t high, low;
};
struct Bins {
    static constexpr int count = 12, first = 15, most_terms = 1 << 12;
    Bin* of_block;      // in shared memory; bin k of thread t is of_block[k * exact_threads + t]
    bool used = false;  // by this thread
    float special = 0;  // the sum of this thread's terms that are infinite or NaN

    __device__ void use() {
        for (int k = 0; !used && k < count; ++k) of_block[k * exact_threads + threadIdx.x] = {0, 0};
        used = true;
    }
    // 85 / 2^12 is about 1 / 48. For 0, infinity and NaN there is no bin: the result is too large.
    __device__ static unsigned bin_of(double x) {
        return __umulhi(__double2hiint(x) & 0x7ff00000, 85) - first;
    }
    // x has at most 48 bits. x + 1.5 * 2^52 units is rounded to whole units, and its last bits
    // count them: no shift is needed, and no case for negative numbers.
    __device__ void add(double x, unsigned k) {
        const int unit = (48 * (first + k) + 4) << 20, start = (52 << 20) + 0x80000;
        const double high_start = __hiloint2double(unit + start, 0);
        const double low_start = __hiloint2double(unit - (48 << 20) + start, 0);
        const double high = x + high_start, low = (x - (high - high_start)) + low_start;
        Bin bin = of_block[k * exact_threads + threadIdx.x];  // no other thread uses it
        bin.high += __double_as_longlong(high) - __double_as_longlong(high_start);
        bin.low += __double_as_longlong(low) - __double_as_longlong(low_start);
        of_block[k * exact_threads + threadIdx.x] = bin;
    }
    __device__ void add(double x) {  // the same, whatever x is
        const unsigned k = bin_of(x);
        if (k < count) add(x, k);
        if (k >= count && x != 0) special += float(x);
    }
    template <class Tile>
    __device__ void add(const Tile& tile) {
        use();
#pragma unroll
        for (int i = 0; i < Tile::terms; i += pack) {
            unsigned k[pack];
            for (int j = 0; j < pack; ++j) k[j] = bin_of(tile.term(i + j));
            if (max(max(k[0], k[1]), max(k[2], k[3])) < count)  // all terms have a bin
                for (int j = 0; j < pack; ++j) add(tile.term(i + j), k[j]);
            else
                for (int j = 0; j < pack; ++j) add(tile.term(i + j));
        }
    }
    __device__ void take(Twofold& x) {  // leaves 0
        use();
        for (int k = 0; k < 2; ++k) {
            const double high = __hiloint2double(__double2hiint(x.sum), 0);  // 21 bits of 53
            add(high);
            add(x.sum - high);
            x = {x.lost, 0};
        }
    }
    // Returns digit k of the sum of the block's numbers in thread k. The bins are free again.
    __device__ int64_t merge() {
        __shared__ unsigned long long digit[digits];
        const int tid = threadIdx.x, k = tid % warp / 2, is_high = tid % 2;
        use();
        if (tid < digits) digit[tid] = 0;
        __syncthreads();  // all threads have added to their bins
        if (k < count) {  // two lanes add up bin k of a warp's threads: no bank conflicts
            int64_t low = 0, high = 0;
            for (int i = 0; i < warp; ++i) {
                const Bin& bin = of_block[k * exact_threads + tid / warp * warp + (i + k) % warp];
                const int64_t x = is_high ? bin.high : bin.low;
                low += x & ((int64_t(1) << 48) - 1);
                high += x >> 48;
            }
            unsigned long long* const to = digit + 2 * (k + is_high);
            atomicAdd(to, low & ((1 << digit_bits) - 1));
            atomicAdd(to + 1, low >> digit_bits);
            atomicAdd(to + 2, high);
        }
        __syncthreads();  // the digits are complete, and all bins have been read
        used = false;
        return tid < digits ? digit[tid] : 0;
    }
    __device__ void add_to_total() {
        const int64_t digit = merge();
        if (threadIdx.x < digits) atomicAdd(total + threadIdx.x, digit);
        if (special != 0) atomicAdd(&total_special, special);
        __syncthreads();  // all threads have added: thread 0 may draw a ticket
    }
};

// Stores the float nearest to the total and one more number.
__device__ void store_total(int64_t digit, double* out, unsigned* launches) {
    if (threadIdx.x >= warp) return;
    if (threadIdx.x < digits) digit += atomicExch(total + threadIdx.x, 0);
    const float result = nearest_float(digit);
    if (threadIdx.x != 0) return;
    const float special = atomicExch(&total_special, 0);
    *out = special != 0 ? special : result;
    ++*launches;
}

template <int in_flight>
__global__ void __launch_bounds__(exact_threads, blocks_per_sm)
    wide(const float* a, const float* b, Twofold*, double* out, unsigned* launches, int64_t n) {
    using Tile = Tile<exact_threads, in_flight, true>;
    constexpr int most_tiles = Bins::most_terms / Tile::terms;
    __shared__ Bin of_block[Bins::count * exact_threads];
    Bins bins{of_block};
    int tiles = 0;
    for (int64_t first = int64_t(blockIdx.x) * Tile::packs; first * pack < n;
         first += int64_t(gridDim.x) * Tile::packs) {
        bins.add(Tile(a, b, first, n));
        if (++tiles % most_tiles == 0) bins.add_to_total();
    }
    bins.add_to_total();
    if (is_last_block()) store_total(0, out, launches);
}

// ---- two doubles, as long as they lose nothing --------------------------------------------------

template <int in_flight, bool dot>
__global__ void __launch_bounds__(exact_threads, blocks_per_sm)
    exact(const float* a, const float* b, Twofold* of_blocks, double* out, unsigned* launches,
          int64_t n) {
    using Tile = Tile<exact_threads, in_flight, dot>;
    constexpr int most_tiles = Bins::most_terms / Tile::terms - 2;  // 8 terms are for `share`
    constexpr double most = 0x1p278;                                // that a bin is for
    __shared__ Bin of_block[Bins::count * exact_threads];
    const int64_t step = int64_t(gridDim.x) * Tile::packs, packs = (n + pack - 1) / pack;
    const bool is_first = threadIdx.x == 0;
    Bins bins{of_block};
    Twofold share;
    bool all_kept = true;
    for (int64_t first = int64_t(blockIdx.x) * Tile::packs; first < packs;) {
        const int64_t end = min(packs, first + most_tiles * step);
        for (; first < end; first += step) {
            const Tile tile(a, b, first, n);
            Twofold sum = share;
            bool kept = true;
#pragma unroll
            for (int k = 0; k < Tile::terms; ++k) kept &= sum.add(tile.term(k));
            if (!__all_sync(all_lanes, kept && fabs(sum.sum) < most)) break;
            share = sum;
        }
        if (first < end) bins.take(share);
        for (; first < end; first += step) bins.add(Tile(a, b, first, n));
        if (first < packs && __syncthreads_or(bins.used)) {
            bins.add_to_total();
            all_kept = false;
        }
    }
    Twofold sum = share;
    if (bins.used || !all_kept) sum.lost = NAN;
    sum = reduce_block<exact_threads>(sum);
    if (__syncthreads_or(is_first && !(fabs(sum.sum + sum.lost) < most))) {
        bins.take(share);
        bins.add_to_total();
        sum.lost = NAN;  // the block's sum is in the total
    }
    if (is_first) of_blocks[blockIdx.x] = sum;
    if (!is_last_block()) return;
    sum = reduce_grid<exact_threads>(of_blocks);
    if (__syncthreads_or(is_first && isnan(sum.lost))) {
        for (unsigned k = threadIdx.x; k < gridDim.x; k += exact_threads)
            if (!isnan(of_blocks[k].lost)) bins.take(of_blocks[k]);
        store_total(bins.merge(), out, launches);
    } else if (is_first)
        *out = sum.nearest_float();
}

using Kernel = void (*)(const float*, const float*, Twofold*, double*, unsigned*, int64_t);
void launch(Job& job, Kernel one, Kernel two, Kernel four) {  // packs in flight
    const int in_flight = job.n <= 1 << 16 ? 1 : job.n <= 1 << 25 ? 2 : 4;
    const Kernel kernel = in_flight == 1 ? one : in_flight == 2 ? two : four;
    const int blocks = grid_size(job, kernel, exact_threads, in_flight * exact_threads);
    kernel<<<blocks, exact_threads>>>(job.a, job.b, job.of_block, job.out, job.wide, job.n);
    job.allowed_error = 0;
    ++job.launches;
}
void launch_wide(Job& job) { launch(job, wide<1>, wide<2>, wide<4>); }
void launch_exact(Job& job) { launch(job, exact<1, true>, exact<2, true>, exact<4, true>); }
void launch_sum(Job& job) { launch(job, exact<1, false>, exact<2, false>, exact<4, false>); }

// ---- CPU reference and data ---------------------------------------------------------------------

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
};

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

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> dots[] = {
    {"vectorised", "added up in float", launch_vectorised<float>},
    {"vectorised_double", "added up in double", launch_vectorised<double>},
    {"wide", "the nearest float: all products in a wide number", launch_wide},
    {"exact", "the nearest float: in two doubles, if they lose nothing", launch_exact},
};
constexpr lab::Variant<Job> sums[] = {{"exact_sum", "the same for the sum of a", launch_sum}};
// The classic mistake: each product is rounded to 24 bits before it is widened.
constexpr lab::Variant<Job> twins[] = {
    {"float_product", "float products, added up in double", launch_vectorised<double, float>}};

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
    // Relative to the magnitudes' sum. The last bits of the result and of `wanted` may differ.
    const double magnitude = std::max(want.magnitude, std::numeric_limits<double>::min());
    const double error = got == wanted ? 0 : std::fabs(got - wanted) / magnitude;
    const double bound = is_exact ? 0 : job.allowed_error + 0x1p-52 * std::fabs(wanted) / magnitude;
    row.result = lab::text("%.15g", got);
    row.bytes = job.bytes;
    row.wrong = error <= bound ? "" : lab::text("got %.17g, wanted %.17g", got, wanted);
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
void check_cublas(cublasStatus_t status) { CHECK(status ? cudaErrorUnknown : cudaSuccess); }
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
                  "whole numbers below 33 * 1024, any random numbers, or pairs that cancel");
    sample.variants(dots, sums);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.require_memory(sample.shows_limit() ? 16 : 8, sizeof(Twofold) * most_blocks);

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
    if (sample.wants_all())
        sample.say("error, bound: of the magnitudes' sum. wide: launches that needed the number.");
    return sample.verdict();
}
