// 03_exact_dot - what does it cost to have none of float's rounding errors?
//
// dot_shared.cu's kernel for large n, with its last_block's end and with other sums. exact gives the float that is nearest
// to the exact result, whatever the data and the grid, and so the same bits on every device:
//   vectorised         adds up in float                                 errs a little more with each addition
//   vectorised_double  adds up in double                                a sum errs by 2^-53, so it is nearly always right
//   exact              keeps what each addition in double loses, too, and proves that nothing else matters; else the
//                      last block adds up once more, in a number so wide that nothing is lost
//   exact_sum          the same for a sum of floats
//   twofold_double     exact's sums for factors in double: nothing is proved, but an error bound is known
//   03_exact_dot --data hostile           what needs the wide number; or --wrong float_product, a mistake
//   nvcc -std=c++17 -arch=native -Icommon 03_dot_shared/exact_dot.cu common/lab.cpp common/write_file.cpp -lcublas -o exact_dot
#include <limits>
#include "lab.cuh"
#if defined(__CUDACC__) && !defined(CUDACPU) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

constexpr int ramp = 33 * 1024;  // the tutorial's elements, a[i] = b[i] = i, are below this
constexpr int pack = 4, warp = 32;  // float4
// Threads of a block, and pairs of packs that each has in flight.
struct Large {  // of vectorised: see dot_shared.cu
    static constexpr int threads = 512, in_flight = 4;
};
struct Small {  // where a thread gets few packs, it is the last steps that take time, with fewer warps less
    static constexpr int threads = 256, in_flight = 2;
};
struct Tiny {  // where no SM has enough to do, more of them share the additions in double
    static constexpr int threads = 128, in_flight = 1;
};
constexpr int64_t small = 1 << 25, tiny = 1 << 16;  // elements, at most
constexpr unsigned all_lanes = 0xffffffff;
constexpr int most_blocks = 1 << 16;  // no GPU holds more at once

// ---- the answer, slowly ----------------------------------------------------------------------------------------

// So wide that 2^33 products of floats add up exactly: digit k counts 2^(32 k - 352). A digit has 64 bits, so that carries
// can wait (Kulisch's long accumulator). Three more words count what is infinite or no number.
struct Wide {
    static constexpr int digits = 21, lowest = -352, positive = digits, negative = digits + 1, nan = digits + 2;
    int64_t word[digits + 3] = {};

    // x is 0, no number, or a multiple of 2^-350, below 2^289.
    __host__ __device__ void add(double x) {
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
    __host__ __device__ void carry() {  // then all digits but the highest are from 0 to 2^32 - 1
        for (int k = 0; k + 1 < digits; ++k) {
            word[k + 1] += word[k] >> 32;
            word[k] &= 0xffffffff;
        }
    }
    __host__ __device__ int bit(int i) const { return word[i / 32] >> i % 32 & 1; }
    // To the nearest, and to an even one in the middle. Real keeps `kept` bits, and none below 2^least.
    template <class Real, int kept, int least> __host__ __device__ Real rounded() const {
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
        return Real(ldexp(double(minus ? -result : result), last + lowest));
    }
    __host__ __device__ float nearest_float() const { return rounded<float, 24, -149>(); }
    double nearest_double() const { return rounded<double, 53, -1074>(); }
};

// ---- the sums --------------------------------------------------------------------------------------------------

// A product of two floats, which keep 24 bits each, is exact in double, which keeps 53.
template <class Real> struct Plain {
    Real sum = 0;
    __device__ void add(float a, float b) { sum += Real(a) * Real(b); }
    __device__ void add(const Plain& other) { sum += other.sum; }
};

// sum + lost is what was added; that `lost` is rounded is all that can go wrong. How far depends on the magnitudes' sum,
// which is also what no number and what is infinite shows in.
struct Twofold {
    double sum = 0, lost = 0, magnitude = 0;
    // Knuth's TwoSum: the error of an addition in double is a double, and five more additions find it.
    __device__ void keep(double x) {
        const double before = sum;
        sum += x;
        const double added = sum - before;
        lost += (before - (sum - added)) + (x - added);
    }
    __device__ void add(float a, float b) {
        const double product = double(a) * double(b);
        keep(product);
        magnitude += fabs(product);
    }
    __device__ void add(const Twofold& other) {
        keep(other.sum);
        lost += other.lost;
        magnitude += other.magnitude;
    }
};

template <class Sum> __device__ Sum from_lane(Sum sum, int offset) {
    unsigned words[sizeof(Sum) / sizeof(unsigned)];
    memcpy(words, &sum, sizeof sum);
    for (unsigned& word : words) word = __shfl_down_sync(all_lanes, word, offset);
    memcpy(&sum, words, sizeof sum);
    return sum;
}
template <int lanes, class Sum> __device__ Sum fold_warp(Sum sum) {
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum.add(from_lane(sum, offset));
    return sum;
}
// One sum a warp goes through shared memory. Thread 0 gets the block's sum.
template <int threads, class Sum> __device__ Sum fold_block(Sum sum) {
    __shared__ Sum of_warp[threads / warp];
    const int tid = threadIdx.x;
    sum = fold_warp<warp>(sum);
    if (tid % warp == 0) of_warp[tid / warp] = sum;
    __syncthreads();  // all warps have left their sums
    if (tid < warp) sum = fold_warp<threads / warp>(tid < threads / warp ? of_warp[tid] : Sum());
    return sum;
}

// Another block's sum, from the L2.
template <class Sum> __device__ Sum from_memory(const Sum* from) {
    Sum sum;
    unsigned words[sizeof(Sum) / sizeof(unsigned)];
    for (unsigned k = 0; k < sizeof words / sizeof words[0]; ++k) words[k] = __ldcg(reinterpret_cast<const unsigned*>(from) + k);
    memcpy(&sum, words, sizeof sum);
    return sum;
}
constexpr int fetched = 4;  // sums that a thread of the last block has in flight

__device__ unsigned finished;  // how many blocks of this launch have left their sums; the last makes it 0 again
// Leaves the block's sum. In the last block that does so thread 0 gets the sum of all, and every thread gets true.
template <int threads, class Sum> __device__ bool last_block_has(Sum& sum, Sum* of_block) {
    __shared__ bool last;
    sum = fold_block<threads>(sum);
    if (threadIdx.x == 0) {
        of_block[blockIdx.x] = sum;
        __threadfence();  // the sum is in memory before the block counts as finished
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread of the block knows whether it is the last
    if (!last) return false;
    const bool few = gridDim.x <= fetched * warp;  // then one warp fetches them all at once, and needs no barrier
    if (few && threadIdx.x >= warp) return true;
    sum = Sum();
    const unsigned step = few ? warp : threads;
    for (unsigned first = threadIdx.x; first < gridDim.x; first += fetched * step) {
        Sum other[fetched];
        for (int k = 0; k < fetched; ++k)
            if (first + k * step < gridDim.x) other[k] = from_memory(of_block + first + k * step);
        for (int k = 0; k < fetched; ++k) sum.add(other[k]);
    }
    sum = few ? fold_warp<warp>(sum) : fold_block<threads>(sum);
    return true;
}

// A thread's share: 16-byte loads, some pairs of them in flight; dot_shared.cu says why. Without b it is a sum.
template <class Shape, class Sum, bool dot> __device__ Sum share(const float* a, const float* b, int64_t n) {
    constexpr int threads = Shape::threads, in_flight = Shape::in_flight;
    const auto load = [](const float* from, int64_t i) { return reinterpret_cast<const float4*>(from)[i]; };
    const auto factor = [&](int64_t i) { return dot ? load(b, i) : make_float4(1, 1, 1, 1); };
    const int64_t packs = n / pack, tile = int64_t(in_flight) * threads, tid = threadIdx.x;
    const int64_t tail = pack * packs + int64_t(blockIdx.x) * threads + tid;
    Sum even, odd;  // one need not wait for the other
    if (tail < n) even.add(a[tail], dot ? b[tail] : 1);
    const auto add = [&](const float4& p, const float4& q) {
        even.add(p.x, q.x);
        odd.add(p.y, q.y);
        even.add(p.z, q.z);
        odd.add(p.w, q.w);
    };
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[in_flight], q[in_flight];
            for (int k = 0; k < in_flight; ++k) {
                p[k] = load(a, first + k * threads + tid);
                q[k] = factor(first + k * threads + tid);
            }
            for (int k = 0; k < in_flight; ++k) add(p[k], q[k]);
        } else {
#pragma unroll 1  // code comes from memory, too, and this is not where time goes
            for (int64_t i = first + tid; i < packs; i += threads) add(load(a, i), factor(i));
        }
    }
    even.add(odd);
    return even;
}

// ---- the rungs -------------------------------------------------------------------------------------------------

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// A term goes through so many additions at most, two for each step of a tree. No tile has more than 4 packs a thread.
template <class Shape> double chain(int64_t n, int64_t blocks) {
    const int64_t shares = ceil_div(n, pack * Shape::threads * blocks);
    return double(pack / 2 * 4 * shares + 2 * ceil_div(blocks, Shape::threads) + 64);
}
struct Job {  // what a launch needs
    lab::Sample& sample;
    int64_t n;
    const float *a, *b;
    const double *c, *d;  // twofold_double's factors
    Twofold* of_block;    // the blocks' sums
    double* out;          // the result
    unsigned* wide;       // how many launches needed the wide number, of
    int launches = 0;     // so many
    // As many blocks as fill the GPU, but no more than there are tiles, unless --blocks says so.
    template <class Shape, class Kernel> int blocks(Kernel kernel, int per_thread = pack * Shape::in_flight) const {
        const int most = sample.blocks_to_fill(kernel, Shape::threads);
        return sample.blocks() ? most : int(std::min<int64_t>(most, ceil_div(n, per_thread * Shape::threads)));
    }
};

template <class Real>
__global__ void __launch_bounds__(Large::threads, 2) vectorised(const float* a, const float* b, Plain<Real>* of_block, double* out, int64_t n) {
    auto sum = share<Large, Plain<Real>, true>(a, b, n);
    if (last_block_has<Large::threads>(sum, of_block) && threadIdx.x == 0) *out = sum.sum;
}
template <class Real> double launch_vectorised(const Job& job) {
    const int blocks = job.blocks<Large>(vectorised<Real>);
    vectorised<<<blocks, Large::threads>>>(job.a, job.b, reinterpret_cast<Plain<Real>*>(job.of_block), job.out, job.n);
    return std::expm1(chain<Large>(job.n, blocks) * std::numeric_limits<Real>::epsilon() / 2);
}

// The float that every number within `off` of sum + lost is rounded to; false if they are rounded to more than one.
__device__ bool nearest(const Twofold& exact, double off, double* result) {
    Twofold all;
    all.sum = exact.sum;
    all.keep(exact.lost);
    const float least = float(__dadd_rd(all.sum, __dadd_rd(all.lost, -off)));
    const float most = float(__dadd_ru(all.sum, __dadd_ru(all.lost, off)));
    *result = most + 0.0f;  // -0 becomes 0
    return least == most;
}
// One block, and every term goes into a wide number: very slow, and always right.
template <int threads> __device__ __noinline__ float add_wide(const float* a, const float* b, int64_t n) {
    constexpr int words = sizeof(Wide) / sizeof(int64_t);
    __shared__ unsigned long long total[words];
    Wide mine;
    for (int64_t i = threadIdx.x; i < n; i += threads) mine.add(double(a[i]) * (b ? b[i] : 1));
    mine.carry();  // each digit of all threads together, too, has room in 64 bits
    if (threadIdx.x < words) total[threadIdx.x] = 0;
    __syncthreads();  // all words are 0
    for (int k = 0; k < words; ++k) atomicAdd(total + (k + threadIdx.x) % words, mine.word[(k + threadIdx.x) % words]);
    __syncthreads();  // every thread has added its words
    for (int k = 0; k < words; ++k) mine.word[k] = int64_t(total[k]);
    return mine.nearest_float();
}
// `lost` is a sum of errors, each at most 2^-53 of a sum, and so are its own roundings: with `roundings` = 2^-53 for each
// addition on the longest way, what is lost for good is at most roundings^2 of the magnitudes' sum (Ogita, Rump and Oishi,
// "Accurate sum and dot product", 2005). loss() is twice that.
constexpr double loss(double chain) { return 2 * (chain * 0x1p-53) * (chain * 0x1p-53); }
template <class Shape, bool dot>
__global__ void __launch_bounds__(Shape::threads, 1024 / Shape::threads) exact(
    const float* a, const float* b, Twofold* of_block, double* out, unsigned* wide, int64_t n, double loss) {
    __shared__ bool proved;
    auto sum = share<Shape, Twofold, dot>(a, b, n);
    if (!last_block_has<Shape::threads>(sum, of_block)) return;
    if (threadIdx.x == 0) proved = nearest(sum, loss * sum.magnitude, out);
    __syncthreads();  // every thread knows whether the result is proved
    if (proved) return;
    const float result = add_wide<Shape::threads>(a, dot ? b : nullptr, n);
    if (threadIdx.x != 0) return;
    *out = result;
    ++*wide;
}
template <class Shape, bool dot> double launch_shape(const Job& job) {
    const int blocks = job.blocks<Shape>(exact<Shape, dot>);
    exact<Shape, dot><<<blocks, Shape::threads>>>(job.a, job.b, job.of_block, job.out, job.wide, job.n, loss(chain<Shape>(job.n, blocks)));
    return 0;
}
template <bool dot> double launch_exact(const Job& job) {
    if (job.n <= tiny) return launch_shape<Tiny, dot>(job);
    return job.n <= small ? launch_shape<Small, dot>(job) : launch_shape<Large, dot>(job);
}

// The error of a product of doubles is a double, too, and a fused multiply-add finds it.
__global__ void twofold_double(const double* c, const double* d, Twofold* of_block, double* out, int64_t n) {
    Twofold sum;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x) {
        const double product = __dmul_rn(c[i], d[i]);
        sum.keep(product);
        sum.lost += fma(c[i], d[i], -product);
    }
    if (last_block_has<Large::threads>(sum, of_block) && threadIdx.x == 0) *out = sum.sum + sum.lost;
}
double launch_twofold_double(const Job& job) {
    const int blocks = job.blocks<Large>(twofold_double, 1);
    twofold_double<<<blocks, Large::threads>>>(job.c, job.d, job.of_block, job.out, job.n);
    return loss(pack * chain<Large>(job.n, blocks));
}

// ---- a wrong twin: what goes wrong first -----------------------------------------------------------------------

// The sums are double, and each product is rounded to 24 bits before it is widened.
struct RoundedFirst : Plain<double> {
    using Plain::add;
    __device__ void add(float a, float b) { sum += a * b; }
};
__global__ void float_product(const float* a, const float* b, RoundedFirst* of_block, double* out, int64_t n) {
    auto sum = share<Large, RoundedFirst, true>(a, b, n);
    if (last_block_has<Large::threads>(sum, of_block) && threadIdx.x == 0) *out = sum.sum;
}
double launch_float_product(const Job& job) {
    const int blocks = job.blocks<Large>(float_product);
    float_product<<<blocks, Large::threads>>>(job.a, job.b, reinterpret_cast<RoundedFirst*>(job.of_block), job.out, job.n);
    return std::expm1(chain<Large>(job.n, blocks) * 0x1p-53);
}

// ---- the table -------------------------------------------------------------------------------------------------

struct Variant {
    const char* name;
    const char* how;
    double (*launch)(const Job&);  // returns how far the result may be off, relative to the sum of the magnitudes
    int bytes = 8;  // of an element: of a and b, of a alone, of c and d
    bool is_exact = false;
    int least_threads = 1;
};
constexpr Variant variants[] = {
    {"vectorised", "added up in float", launch_vectorised<float>},
    {"vectorised_double", "added up in double", launch_vectorised<double>},
    {"exact", "the nearest float, whatever the data", launch_exact<true>, 8, true},
    {"exact_sum", "the same for the sum of a", launch_exact<false>, 4, true},
    {"twofold_double", "factors in double, added up in twice its precision", launch_twofold_double, 16},
};
constexpr Variant twins[] = {{"float_product", "float products, added up in double", launch_float_product}};

// ---- run, check, time ------------------------------------------------------------------------------------------

// What the result should be, and the sum of the magnitudes, which bounds are relative to; errors to that or the result.
struct Answer {
    Wide sum;
    double magnitude = 0;
    bool of_result = false;
    void add(double x) {
        sum.add(x);
        magnitude += std::fabs(x);
    }
    double relative(double error) const {
        const double to = of_result ? std::fabs(sum.nearest_double()) : magnitude;
        return error == 0 ? 0 : std::fabs(error) / to;
    }
};

void run(Job job, const Answer& want, const Variant& v, std::string name, lab::Kind kind = lab::Kind::variant) {
    double off = 0, got = 0;
    unsigned wide = 0;
    CHECK(cudaMemset(job.wide, 0, sizeof wide));
    const auto prepare = [&] {
        CHECK(cudaMemsetAsync(job.out, lab::poison_byte, sizeof got));
        CHECK(cudaMemsetAsync(job.of_block, lab::poison_byte, sizeof(Twofold) * most_blocks));
    };
    const lab::Time ms = job.sample.time(prepare, [&] {
        off = v.launch(job);
        ++job.launches;
    });
    CHECK(cudaMemcpy(&got, job.out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&wide, job.wide, sizeof wide, cudaMemcpyDeviceToHost));
    if (kind == lab::Kind::library) {
        float narrow;
        std::memcpy(&narrow, &got, sizeof narrow);
        got = narrow;
    }
    const double wanted = v.is_exact ? want.sum.nearest_float() : want.sum.nearest_double();
    const double error = want.relative(got - wanted), half_a_bit = want.relative(wanted) * 0x1p-53;
    const double bound = v.is_exact ? 0 : want.relative(off * want.magnitude) + 2 * half_a_bit;  // of the result, and of wanted
    const bool right = got == wanted || error <= bound || (std::isnan(got) && std::isnan(wanted));
    const std::string passes = v.is_exact ? lab::text("%u of %d", wide, job.launches) : "-";
    job.sample.row({name, lab::text("%.15g", got), ms, v.bytes * double(job.n),
                    right ? "" : lab::text("got %.17g, wanted %.17g", got, wanted), kind,
                    {lab::text("%.1e", error), lab::text("%.1e", bound), passes}});
}

#if CUBLAS_VERSION >= 120000
void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
    CHECK(status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown);
}
cublasHandle_t cublas;
double launch_cublas(const Job& job) {  // the result is a float, and it does not say how it adds: a thread may add all
    check(cublasSdot_64(cublas, job.n, job.a, 1, job.b, 1, reinterpret_cast<float*>(job.out)));
    return std::expm1(double(job.n) * 0x1p-24);
}
#endif

// --data: whole numbers in the tutorial's range, as in dot_shared.cu; 24 random bits, a sign and exponents of -8 to 7; or pairs that cancel, with exponents of -49 to
// 49, all but what the smallest pairs leave.
float element(const std::string& data, uint64_t seed, int64_t i, int64_t n, bool of_b) {
    if (data == "whole") return float(lab::random_bits(seed, 2 * i + of_b) % ramp);
    const bool second = data == "hostile" && i >= (n + 1) / 2;
    const uint64_t bits = lab::random_bits(seed, 2 * (second ? n - 1 - i : i) + of_b);
    const int exponent = data == "random" ? int(bits % 16) - 8 : int(bits % 99) - 49;
    const float x = std::ldexp(float(int64_t(bits) >> 39) / 0x1p24f, exponent);
    if (!second) return x;
    return of_b ? x : -(exponent < -40 ? std::nextafter(x, 0.0f) : x);
}

void new_table(lab::Sample& sample, const std::string& title, int64_t bytes) {
    sample.new_table(title);
    sample.columns({"error", "bound", "wide"});
    sample.limit_row(lab::Sample::Limit::read, bytes);
}

// Pairs that cancel, and one element more: the result, whatever it takes to find it. With m pairs the condition number, which
// is the sum of the magnitudes over the result, is about m / 2 over that element.
void of_doubles(lab::Sample& sample, Job job) {
    std::vector<double> c(job.n), d(job.n);
    Answer pairs;
    pairs.of_result = true;
    for (int64_t i = 1; i < job.n; ++i) {
        const int64_t j = std::min(i, job.n - i);
        c[i] = double(lab::random_bits(sample.seed(), 2 * j) >> 11) * (i > j ? -0x1p-53 : 0x1p-53) * (2 * j == job.n ? 0 : 1);
        d[i] = double(lab::random_bits(sample.seed(), 2 * j + 1) >> 11) * 0x1p-53;
        pairs.magnitude += std::fabs(c[i] * d[i]);
    }
    const lab::DeviceArray<double> d_c(c), d_d(d);
    job.c = d_c.get();
    job.d = d_d.get();
    new_table(sample, "dot products of doubles; error and bound are relative to the result", 16 * job.n);
    for (const int digits : {0, 8, 16, 24, 32}) {
        const double result = std::pow(10.0, -digits) * std::max(1.0, pairs.magnitude), one = 1;
        CHECK(cudaMemcpy(const_cast<double*>(job.c), &result, sizeof result, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(const_cast<double*>(job.d), &one, sizeof one, cudaMemcpyHostToDevice));
        Answer want = pairs;
        want.add(result);
        run(job, want, variants[4], digits ? lab::text("condition 1e%d", digits) : variants[4].name);
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("03_exact_dot", "What does it cost to have none of float's rounding errors?");
    std::string data = "whole";
    sample.defaults(ramp, 0, 0, "elements", "blocks (default: what fills the GPU, at most)");
    sample.option("--data", data, {"whole", "random", "hostile"},
                  "whole numbers below 33 * 1024; any random numbers; or numbers that cancel almost wholly");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(float) + 2 * sizeof(double), sizeof(Twofold) * most_blocks);
    std::vector<float> a(n), b(n);
    Answer dot, sum;
    for (int64_t i = 0; i < n; ++i) {
        a[i] = element(data, sample.seed(), i, n, false);
        b[i] = element(data, sample.seed(), i, n, true);
        dot.add(double(a[i]) * double(b[i]));
        sum.add(a[i]);
    }
    const lab::DeviceArray<float> d_a(a), d_b(b);
    const lab::DeviceArray<Twofold> of_block(most_blocks);
    const lab::DeviceArray<double> out(1);
    const lab::DeviceArray<unsigned> wide(1);
    Job job{sample, n, d_a.get(), d_b.get(), nullptr, nullptr, of_block.get(), out.get(), wide.get()};
    new_table(sample, lab::text("dot product of floats: %.15g", dot.sum.nearest_double()), 8 * n);
#if CUBLAS_VERSION >= 120000
    if (sample.wants_all()) {
        check(cublasCreate(&cublas));
        check(cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE));  // it need not wait for the result
        run(job, dot, {"", "", launch_cublas}, "cublasSdot", lab::Kind::library);
        check(cublasDestroy(cublas));
    }
#endif
    for (const Variant& v : variants)
        if (v.bytes == 8 && sample.wants(v.name)) run(job, dot, v, v.name);
    for (const Variant& v : twins)
        if (sample.wants_twin(v.name)) run(job, dot, v, v.name);
    if (sample.wants("exact_sum")) {
        new_table(sample, lab::text("sum of floats: %.15g", sum.sum.nearest_double()), 4 * n);
        run(job, sum, variants[3], "exact_sum");
    }
    if (sample.wants("twofold_double")) of_doubles(sample, job);
    if (sample.wants_all()) {
        sample.say("floats: error and bound are relative to the sum of the magnitudes; exact's error is from the nearest float.");
        sample.say("wide: launches that needed the wide number, of all.");
    }
    return sample.verdict();
}
