// 03_dot_shared - what does shared memory buy a dot product, and what does float cost it?
//
// Every thread multiplies and adds its share of two arrays; then the threads' sums must meet. In the tutorial they
// meet in shared memory, 64 threads at a time, and the 64 blocks' sums meet on the host.
//
//   tutorial           a tree in shared memory, then the host         slow: the blocks' sums travel to the host
//   no_shared          an atomic add for every thread                 slow: thousands of adds wait in line
//   atomics            the tutorial's tree, an atomic add a block     slow: somebody must zero the result first
//   last_block         the block that finishes last adds the rest     slow: 64 small blocks leave the GPU idle
//   shuffle            a grid that fills the GPU, sums in registers   slow: 4-byte loads, four times as many
//   vectorised         16-byte loads, four pairs in flight            slow: barriers and a ticket, if n is small
//   warp_atomics       an atomic add a warp, no barrier, no reset     slow: thousands of adds again, if n is large
//   tutorial_double    the tutorial's kernel, added up in double
//   vectorised_double  the kernel for large n, added up in double
//
// A float keeps 24 bits, so every addition may err by a 2^-24th of its result. The table shows each variant's
// error, and the bound that its longest chain of roundings promises.
//
//   03_dot_shared --n 16777216                      more data: the tutorial's, over and over
//   03_dot_shared --data random --seed 7            whole numbers of 24 bits with signs
//   03_dot_shared --only tutorial --blocks 1        fewer threads, longer chains, larger errors
//   03_dot_shared --wrong no_barrier                a classic mistake
#include <cmath>

#include "lab.cuh"
#if defined(__NVCC__) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

constexpr int ramp = 33 * 1024;       // the tutorial's a[i] = b[i] = i runs from 0 to here, and starts again
constexpr int tutorial_blocks = 64;   // its grid
constexpr int tutorial_threads = 64;  // its blocks
constexpr int fast_threads = 512;     // the vectorised kernels' blocks: large ones, so that few sums are left over
constexpr int small_threads = 256;    // warp_atomics' blocks: small ones, so that small arrays reach many SMs
constexpr int in_flight = 4;          // 16-byte loads of each array on their way before the first is used
constexpr int64_t streamed = 8;       // arrays of up to so many times the L2 are read past it, see share_of_packs
constexpr int apart = 64;             // elements between two sums that must not share a cache line
constexpr int most_threads = 1024, warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
static_assert(most_threads <= warp * warp, "one warp must be able to fold the sums of all warps of a block");
static_assert(ramp <= 1 << 24, "every element must be a whole number that float keeps exactly");

// ---- the answer, exactly ---------------------------------------------------------------------------------------

__extension__ typedef __int128 Wide;  // 2^33 products of 48 bits need 81

struct Exact {
    Wide sum = 0, magnitude = 0;  // of a[i] * b[i], and of its absolute value: what the bounds are relative to
};

/// All elements are whole numbers, so that the dot product is one, too, and integers hold it exactly.
Exact on_the_cpu(const std::vector<float>& a, const std::vector<float>& b) {
    Exact dot;
    for (size_t i = 0; i < a.size(); ++i) {
        const int64_t product = int64_t(a[i]) * int64_t(b[i]);
        dot.sum += product;
        dot.magnitude += std::abs(product);
    }
    return dot;
}

/// 0 + 1 + 4 + ... + (m-1)^2 for every ramp, whole or begun: what the tutorial's data must give.
Wide closed_form(int64_t n) {
    const auto squares = [](Wide m) { return (m - 1) * m * (2 * m - 1) / 6; };
    return n / ramp * squares(ramp) + squares(n % ramp);
}

// ---- what rounding may cost ------------------------------------------------------------------------------------
// A product or sum that is rounded errs by a factor of 1 + d, |d| <= u. If no a[i] * b[i] goes through more than k
// roundings on its way into the result, the result errs by k u / (1 - k u) times the sum of |a[i] * b[i]| at most,
// whatever the order (N. Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1).

template <class Real>
constexpr double unit = std::numeric_limits<Real>::epsilon() / 2;  // u: 2^-24 in float, 2^-53 in double

template <class Real>
double rounding_bound(int64_t k) {
    const double ku = double(k) * unit<Real>;
    return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

// ---- the kernels, slow to fast ---------------------------------------------------------------------------------
// Real is the type that they add in; a product of two floats is exact in double.

// The tutorial's kernel comes as two functions, since its neighbours keep one or both of them. First, a thread's
// share: neighbouring threads take neighbouring elements, as far as the grid reaches, then jump ahead by the grid.
template <class Real>
__device__ Real share(const float* a, const float* b, int64_t n) {
    Real sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        sum += Real(a[i]) * b[i];
    return sum;
}

// Second, the tree that folds the threads' sums into the block's, and tells every thread.
template <class Real>
__device__ Real fold_tree(Real* cache, Real sum) {
    const int tid = threadIdx.x;
    cache[tid] = sum;
    __syncthreads();  // all of the block's sums are in the cache
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) cache[tid] += cache[tid + stride];
        __syncthreads();  // this step's sums are there for the next step, and after the last one for every thread
    }
    return cache[0];
}

// The tutorial's: c has one sum a block. Thread 2 writes it, as in the tutorial, or the last of fewer: any may.
template <class Real>
__global__ void tutorial(const float* a, const float* b, Real* c, int64_t n) {
    __shared__ Real cache[most_threads];
    const Real sum = fold_tree(cache, share<Real>(a, b, n));
    if (threadIdx.x == min(2u, blockDim.x - 1)) c[blockIdx.x] = sum;
}

// Without shared memory: the sums of all threads meet at one address.
template <class Real>
__global__ void no_shared(const float* a, const float* b, Real* c, int64_t n) {
    atomicAdd(c, share<Real>(a, b, n));
}

// The blocks' sums meet at one address.
template <class Real>
__global__ void atomics(const float* a, const float* b, Real* c, int64_t n) {
    __shared__ Real cache[most_threads];
    const Real sum = fold_tree(cache, share<Real>(a, b, n));
    if (threadIdx.x == 0) atomicAdd(c, sum);
}

__device__ unsigned finished;  // how many blocks of this launch have left their sums; the last makes it 0 again

// Leaves the block's sum in c[blockIdx.x]. Is this the last block to do so? Then all sums are in memory, and `sum`
// becomes the thread's share of them.
template <class Real>
__device__ bool last_to_finish(Real& sum, Real* c) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        c[blockIdx.x] = sum;
        __threadfence();  // the sum is in memory before the block counts as finished
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread of the block knows whether it is the last
    if (!last) return false;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += __ldcg(c + i);
    return true;
}

// One launch, and nothing to zero: the result is in c[0], in place of block 0's sum.
template <class Real>
__global__ void last_block(const float* a, const float* b, Real* c, int64_t n) {
    __shared__ Real cache[most_threads];
    Real sum = fold_tree(cache, share<Real>(a, b, n));
    if (!last_to_finish(sum, c)) return;
    sum = fold_tree(cache, sum);
    if (threadIdx.x == 0) c[0] = sum;
}

// A warp's 32 values fold through registers, without shared memory and without a barrier; lane 0 has the sum.
template <class Real>
__device__ Real fold_warp(Real value) {
    for (int offset = warp / 2; offset > 0; offset /= 2) value += __shfl_down_sync(all_lanes, value, offset);
    return value;
}

// fold_tree with one barrier: only one sum a warp goes through shared memory. Thread 0 gets the block's sum.
template <class Real>
__device__ Real fold_block(Real value) {
    __shared__ Real of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    value = fold_warp(value);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have left their sums
    if (tid < warp) value = fold_warp(tid < warps ? of_warp[tid] : Real(0));
    return value;
}

// last_block's end with that fold.
template <class Real>
__device__ void finish(Real sum, Real* c) {
    sum = fold_block(sum);
    if (!last_to_finish(sum, c)) return;
    sum = fold_block(sum);
    if (threadIdx.x == 0) c[0] = sum;
}

template <class Real>
__global__ void shuffle(const float* a, const float* b, Real* c, int64_t n) {
    finish(share<Real>(a, b, n), c);
}

// share, 16 bytes at a time. The blocks go through tiles of loads * blockDim.x float4 of each array; a thread has
// all its loads of a full tile on their way before it uses the first. Streaming loads leave the lines in the L2 as
// they are, which pays until the arrays are so much larger than the L2 that those have to go anyway. The tail of
// fewer than four elements goes to the first threads of the grid.
template <int loads, bool streaming, class Real>
__device__ Real share_of_packs(const float* a, const float* b, int64_t n) {
    const float4 *packs_a = reinterpret_cast<const float4*>(a), *packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / 4, tile = int64_t(loads) * blockDim.x;
    const int64_t tid = threadIdx.x, tail = 4 * packs + int64_t(blockIdx.x) * blockDim.x + tid;
    Real x = tail < n ? Real(a[tail]) * b[tail] : Real(0), y = 0, z = 0, w = 0;
    const auto add = [&](const float4& p, const float4& q) {
        x += Real(p.x) * q.x, y += Real(p.y) * q.y, z += Real(p.z) * q.z, w += Real(p.w) * q.w;
    };
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[loads], q[loads];
#pragma unroll
            for (int k = 0; k < loads; ++k) {
                const int64_t i = first + k * blockDim.x + tid;
                p[k] = streaming ? __ldcs(packs_a + i) : packs_a[i];
                q[k] = streaming ? __ldcs(packs_b + i) : packs_b[i];
            }
#pragma unroll
            for (int k = 0; k < loads; ++k) add(p[k], q[k]);
        } else {
            for (int64_t i = first + tid; i < packs; i += blockDim.x) add(packs_a[i], packs_b[i]);
        }
    }
    return (x + y) + (z + w);
}

// 128 bytes of loads in flight a thread. The launch bounds leave it the registers for that; else the compiler may
// save them, and load less at a time.
template <bool streaming, class Real>
__global__ void __launch_bounds__(fast_threads, 2) vectorised(const float* a, const float* b, Real* c, int64_t n) {
    finish(share_of_packs<in_flight, streaming, Real>(a, b, n), c);
}

// For arrays so small that the sums' way takes longer than the loads: no warp waits for another, and none for its
// atomic. Two sums take turns: this launch adds to one, and clears the other for the next launch. A plain loop keeps
// the code short, which counts when it has to come from memory, too. The order of the additions, and so the last
// digits, may vary from run to run.
template <class Real>
__global__ void warp_atomics(const float* a, const float* b, Real* sum, Real* next, int64_t n) {
    const float4 *packs_a = reinterpret_cast<const float4*>(a), *packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / 4, step = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, tail = 4 * packs + first;
    if (first == 0) *next = 0;
    Real mine = tail < n ? Real(a[tail]) * b[tail] : Real(0);
    for (int64_t i = first; i < packs; i += step) {
        const float4 p = __ldcs(packs_a + i), q = __ldcs(packs_b + i);
        mine += (Real(p.x) * q.x + Real(p.y) * q.y) + (Real(p.z) * q.z + Real(p.w) * q.w);
    }
    mine = fold_warp(mine);
    if (threadIdx.x % warp == 0) atomicAdd(sum, mine);
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The tutorial's tree without the barrier in the loop: a thread adds what its partner has not summed up yet.
__global__ void no_barrier(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    const int tid = threadIdx.x;
    cache[tid] = share<float>(a, b, n);
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2)
        if (tid < stride) cache[tid] += cache[tid + stride];
    if (tid == 2) c[blockIdx.x] = cache[0];
}

// Thread 2 writes for the block, and writes its own element: the block's sum is in cache[0], whoever writes it.
__global__ void own_element(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float cache[most_threads];
    fold_tree(cache, share<float>(a, b, n));
    if (threadIdx.x == 2) c[blockIdx.x] = cache[threadIdx.x];
}

// odd_halving is the tutorial's kernel with three quarters of --threads: 48 halve to 24, 12, 6, 3, 1, and of those
// three the last is dropped. no_reset is `atomics` without zeroing the result: it adds to what was there before.

// ---- the table of variants -------------------------------------------------------------------------------------

enum class Finish { on_host, thread_atomics, block_atomics, unset_atomics, warp_atomics, last_block };
enum class Grid { tutorial, odd, full, tiles, packs };  // the last three: as many blocks as fill the GPU, at most

template <class Real>
struct Variant {
    using Kernel = void (*)(const float*, const float*, Real*, int64_t);
    const char* name;
    const char* how;
    Kernel kernel;
    Finish finish;
    Grid grid;
    int least_threads = 1;
    Kernel for_large = nullptr;  // instead of `kernel`, for arrays much larger than the L2
    void (*in_turns)(const float*, const float*, Real* sum, Real* next, int64_t) = nullptr;  // with two sums
};
constexpr Variant<float> in_float[] = {
    {"tutorial", "shared memory, then the host", tutorial, Finish::on_host, Grid::tutorial},
    {"no_shared", "an atomicAdd for every thread", no_shared, Finish::thread_atomics, Grid::tutorial},
    {"atomics", "shared memory, then an atomicAdd a block", atomics, Finish::block_atomics, Grid::tutorial},
    {"last_block", "shared memory, then the last block", last_block, Finish::last_block, Grid::tutorial},
    {"shuffle", "a grid that fills the GPU, warp shuffles", shuffle, Finish::last_block, Grid::full,
     lab::whole_warps},
    {"vectorised", "16-byte loads, four pairs in flight, 512 threads", vectorised<true>, Finish::last_block,
     Grid::tiles, 1, vectorised<false>},
    {"warp_atomics", "one atomic a warp, no barrier; each launch clears the next one's sum", nullptr,
     Finish::warp_atomics, Grid::packs, 1, nullptr, warp_atomics},
};
constexpr Variant<double> in_double[] = {
    {"tutorial_double", "tutorial, added up in double", tutorial, Finish::on_host, Grid::tutorial},
    {"vectorised_double", "vectorised, added up in double", vectorised<true>, Finish::last_block, Grid::tiles, 1,
     vectorised<false>},
};
constexpr Variant<float> twins[] = {
    {"no_barrier", "the tree without its barrier", no_barrier, Finish::on_host, Grid::tutorial, 4},
    {"own_element", "thread 2 writes its own element", own_element, Finish::on_host, Grid::tutorial, 4},
    {"odd_halving", "3/4 of --threads, which do not halve evenly", tutorial, Finish::on_host, Grid::odd, 4},
    {"no_reset", "adds to what was there before", atomics, Finish::unset_atomics, Grid::tutorial},
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How many elements of each array a thread takes at a time.
constexpr int at_a_time(Grid grid) { return grid == Grid::tiles ? 4 * in_flight : grid == Grid::packs ? 4 : 1; }

struct Launch {
    int blocks, threads;
};

template <class Real>
Launch launch_of(const lab::Sample& sample, const Variant<Real>& v) {
    const int threads = v.grid == Grid::tiles ? fast_threads : v.grid == Grid::packs ? small_threads
                        : v.grid == Grid::odd ? sample.threads() / 4 * 3 : sample.threads();
    if (sample.blocks()) return {sample.blocks(), threads};
    if (v.grid < Grid::full) return {tutorial_blocks, threads};
    const int fill = v.in_turns ? sample.blocks_to_fill(v.in_turns, threads)
                                : sample.blocks_to_fill(v.kernel, threads);
    return {int(std::min<int64_t>(fill, ceil_div(sample.n(), at_a_time(v.grid) * threads))), threads};
}

/// A product's longest way into the result: its own rounding and the additions in a thread, of which the first, to
/// 0, is exact (packs add a tail, x + y and z + w, too); in a block's tree; and of the sums that are left.
template <class Real>
double bound_of(const Variant<Real>& v, const Launch& l, int64_t n) {
    const int64_t all_threads = int64_t(l.blocks) * l.threads, tree = int64_t(std::ceil(std::log2(l.threads)));
    const int64_t at_once = at_a_time(v.grid), rounds = ceil_div(n, at_once * all_threads);
    const int64_t in_thread = at_once > 1 ? at_once / 4 * rounds + 3 : rounds;
    switch (v.finish) {
        case Finish::on_host: return rounding_bound<Real>(in_thread + tree) + rounding_bound<double>(l.blocks);
        case Finish::thread_atomics: return rounding_bound<Real>(in_thread + all_threads);
        case Finish::warp_atomics: return rounding_bound<Real>(in_thread + 5 + all_threads / warp);  // 2^5 lanes
        case Finish::last_block: return rounding_bound<Real>(in_thread + 2 * tree + ceil_div(l.blocks, l.threads));
        default: return rounding_bound<Real>(in_thread + tree + l.blocks);
    }
}

// ---- run, check, time ------------------------------------------------------------------------------------------

struct Problem {
    const lab::DeviceArray<float>&a, &b;
    int64_t n;
    Exact want;
};

void row(lab::Sample& sample, const Problem& p, const char* name, double got, double ms, double bound,
         lab::Kind kind) {
    const long double magnitude = (long double)p.want.magnitude, miss = std::fabs(got - (long double)p.want.sum);
    const std::string wrong = miss <= bound * magnitude ? ""
                              : lab::text("got %.15g, wanted %.15g, give or take %.3g", got, double(p.want.sum),
                                          double(bound * magnitude));
    const double error = double(magnitude > 0 ? miss / magnitude : miss);
    sample.row({name, lab::text("%.15g", got), ms, 8.0 * double(p.n), wrong, kind,
                {lab::text("%.1e", error), lab::text("%.1e", bound)}});
}

template <class Real>
void run(lab::Sample& sample, const Problem& p, const Variant<Real>& v) {
    const Launch l = launch_of(sample, v);
    const bool large = 8 * p.n > streamed * sample.properties().l2CacheSize;
    const auto kernel = large && v.for_large ? v.for_large : v.kernel;
    lab::DeviceArray<Real> c(std::vector<Real>(std::max(l.blocks, 2 * apart)));  // zeros
    Real *sum = c.get(), *next = sum + apart;  // `next` is what the launch before has cleared
    double got = 0;
    const auto poison = [&] { CHECK(cudaMemsetAsync(sum, 0xff, v.in_turns ? sizeof(Real) : c.bytes())); };
    const double ms = sample.time(poison, [&] {
        if (v.finish == Finish::thread_atomics || v.finish == Finish::block_atomics)
            CHECK(cudaMemsetAsync(sum, 0, sizeof(Real)));
        if (v.in_turns) std::swap(sum, next);
        if (v.in_turns) v.in_turns<<<l.blocks, l.threads>>>(p.a.get(), p.b.get(), sum, next, p.n);
        else kernel<<<l.blocks, l.threads>>>(p.a.get(), p.b.get(), sum, p.n);
        if (v.finish == Finish::on_host) {  // the time holds the way to the host and the additions there
            got = 0;
            for (Real of_block : c.download(l.blocks)) got += of_block;
        }
    });
    if (v.finish != Finish::on_host) got = c.download()[sum - c.get()];
    row(sample, p, v.name, got, ms, bound_of(v, l, p.n), lab::Kind::variant);
}

// The vendor's library, where there is one. It does not say how it adds: it may err as the tutorial's kernel may.
void run_library(lab::Sample& sample, const Problem& p, double bound) {
#ifdef CUBLAS_VERSION
    constexpr int64_t most = std::numeric_limits<int>::max();
    if (!sample.wants_all() || (CUBLAS_VERSION < 120000 && p.n > most)) return;
    const auto check = [](cublasStatus_t status) {
        if (status == CUBLAS_STATUS_SUCCESS) return;
        std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
        std::exit(lab::system_error);
    };
    lab::DeviceArray<float> c(1);
    cublasHandle_t handle;
    check(cublasCreate(&handle));
    check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));  // it need not wait for the result
    const double ms = sample.time([&] { c.poison(); }, [&] {
#if CUBLAS_VERSION >= 120000  // from there on it counts in 64 bits, too
        if (p.n > most) return check(cublasSdot_64(handle, p.n, p.a.get(), 1, p.b.get(), 1, c.get()));
#endif
        check(cublasSdot(handle, int(p.n), p.a.get(), 1, p.b.get(), 1, c.get()));
    });
    row(sample, p, "cublasSdot", c.download()[0], ms, bound, lab::Kind::library);
    check(cublasDestroy(handle));
#else
    (void)sample, (void)p, (void)bound;
#endif
}

void run_all(lab::Sample& sample, bool random) {
    const int64_t n = sample.n();
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(float), sizeof(double) * (sample.blocks() + 1e6));
    std::vector<float> a(n), b(n);
    for (int64_t i = 0; i < n; ++i) {  // random: the 24 bits that float keeps, and a sign
        a[i] = random ? float(int64_t(lab::random_bits(sample.seed(), 2 * i)) >> 39) : float(i % ramp);
        b[i] = random ? float(int64_t(lab::random_bits(sample.seed(), 2 * i + 1)) >> 39) : float(i % ramp);
    }
    const lab::DeviceArray<float> d_a(a), d_b(b);
    const Problem p{d_a, d_b, n, on_the_cpu(a, b)};

    sample.new_table(lab::text("dot product of 2 x %s floats (%s); the exact result is %.15g",
                               lab::with_commas(n).c_str(), lab::bytes_text(8.0 * double(n)).c_str(),
                               double(p.want.sum)));
    sample.columns({"error", "bound"});
    sample.limit_row(lab::Sample::Limit::read, 8 * n);
    run_library(sample, p, bound_of(in_float[0], launch_of(sample, in_float[0]), n));
    for (const auto& v : in_float)
        if (sample.wants(v.name)) run(sample, p, v);
    for (const auto& v : in_double)
        if (sample.wants(v.name)) run(sample, p, v);
    for (const auto& v : twins)
        if (sample.wants_twin(v.name)) run(sample, p, v);
    if (sample.wants_all()) {
        float in_order = 0;
        for (int64_t i = 0; i < n; ++i) in_order += a[i] * b[i];
        row(sample, p, "one float on CPU", in_order, lab::not_timed, rounding_bound<float>(n), lab::Kind::shown);
        if (!random)
            row(sample, p, "closed form", double(closed_form(n)), lab::not_timed, unit<double>, lab::Kind::variant);
        sample.say("error and bound are relative to the sum of |a[i] * b[i]|");
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("03_dot_shared", "What does shared memory buy a dot product, and what does float cost it?");
    std::string data = "ramp";
    sample.defaults(ramp, 0, tutorial_threads, "elements of each array",
                    "blocks (default: the tutorial's 64; from shuffle on as many as fill the GPU once, at most)");
    sample.option("--data", data, {"ramp", "random"}, "the tutorial's a[i] = b[i] = i, or random whole numbers");
    for (const auto& v : in_float) sample.variant(v.name, v.how, v.least_threads);
    for (const auto& v : in_double) sample.variant(v.name, v.how);
    for (const auto& v : twins) sample.twin(v.name, v.how, v.least_threads);
    sample.start(argc, argv);

    run_all(sample, data == "random");
    return sample.verdict();
}
