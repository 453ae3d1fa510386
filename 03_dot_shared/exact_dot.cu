// 03_exact_dot - what does it cost to have none of float's rounding errors?
//
// dot_shared.cu's first kernel, and its fastest for large n, in float and in double. A product of two floats, which
// keep 24 bits each, is exact in a double, which keeps 53; a sum errs by a 2^-53th, at most.
//   tutorial           a tree in shared memory, then the host    slow: a small grid, and 4-byte loads
//   vectorised         16-byte loads, the last block adds up     the memory's speed
//   tutorial_double    the same, in double                       slow: each element is converted, too
//   vectorised_double  the same, in double                       the memory's speed: the loads are the same
//   03_exact_dot --data random            whole numbers of 24 bits with signs; or --wrong float_product, a mistake
//   nvcc -std=c++17 -arch=native -Icommon 03_dot_shared/exact_dot.cu common/lab.cpp common/write_file.cpp -o exact_dot
#include <numeric>
#include "lab.cuh"

constexpr int ramp = 33 * 1024;  // the tutorial's a[i] = b[i] = i runs from 0 to here, and starts again
constexpr int tutorial_blocks = 64, tutorial_threads = 64, most_threads = 1024, warp = 32;
constexpr int fast_threads = 512, pack = 4, in_flight = 4, streamed = 8;  // of vectorised: see dot_shared.cu
constexpr unsigned all_lanes = 0xffffffff;
static_assert(ramp <= 1 << 24, "every element must be a whole number that float keeps exactly");
__extension__ typedef __int128 Wide;  // 2^33 products of 48 bits need 81

// ---- the answer, slowly ----------------------------------------------------------------------------------------

struct Exact {
    Wide sum = 0, magnitude = 0;  // of a[i] * b[i]; of |a[i] * b[i]|, which errors are relative to
};
// All elements are whole numbers, so that the dot product is one, too, and integers hold it exactly.
Exact on_the_cpu(const std::vector<float>& a, const std::vector<float>& b) {
    Exact dot;
    for (size_t i = 0; i < a.size(); ++i) {
        const int64_t product = int64_t(a[i]) * int64_t(b[i]);
        dot.sum += product;
        dot.magnitude += std::abs(product);
    }
    return dot;
}

// 0 + 1 + 4 + ... + (m-1)^2 for every ramp, whole or begun: what the tutorial's data must give.
Wide closed_form(int64_t n) {
    const auto squares = [](Wide m) { return (m - 1) * m * (2 * m - 1) / 6; };
    return n / ramp * squares(ramp) + squares(n % ramp);
}

// ---- the rungs -------------------------------------------------------------------------------------------------

template <class Real> constexpr double unit = std::numeric_limits<Real>::epsilon() / 2;  // 2^-24, 2^-53
int64_t in_tree(int threads) { return std::ilogb(threads); }  // the tree's steps: threads is a power of 2
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
template <class Real> struct Job {  // what a launch needs
    const lab::Sample& sample;
    int64_t n;
    int blocks, threads;  // the tutorial's 64 and 64, or --blocks and --threads
    const float *a, *b;
    Real* c;  // the blocks' sums; c[0] may become the result
    // vectorised's: no more blocks than tiles, unless --blocks says so; and the roundings of its longest chain.
    int64_t few(int64_t most, int64_t tiles) const { return sample.blocks() ? most : std::min(most, tiles); }
    int64_t in_wide(int64_t tiles, int64_t blocks) const {
        return in_flight * ceil_div(tiles, blocks) + 3 + ceil_div(blocks, fast_threads) + 2 * in_tree(fast_threads);
    }
};
template <class Real> struct Result {  // what a launch returns
    double roundings;       // of the longest chain: the sum of their units
    const Real* on_device;  // where the result is, or
    double on_host = 0;     // what it is, if it is nowhere on the device
};

// The tutorial's kernel. The factors are widened, not their product: it has up to 48 bits.
template <class Real> __global__ void tutorial(const float* a, const float* b, Real* c, int64_t n) {
    __shared__ Real cache[most_threads];
    const int tid = threadIdx.x;
    Real sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + tid; i < n; i += int64_t(gridDim.x) * blockDim.x)
        sum += Real(a[i]) * Real(b[i]);
    cache[tid] = sum;
    __syncthreads();  // all of the block's sums are in the cache
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) cache[tid] += cache[tid + stride];
        __syncthreads();  // this step's sums are there for the next step
    }
    if (tid == 0) c[blockIdx.x] = cache[0];
}
// Its end, timed, too: the copy waits for the kernel, and the host adds up in double.
template <class Real> Result<Real> add_on_host(const Job<Real>& job) {
    std::vector<Real> of_block(job.blocks);
    CHECK(cudaMemcpy(of_block.data(), job.c, of_block.size() * sizeof(Real), cudaMemcpyDeviceToHost));
    const double sum = std::accumulate(of_block.begin(), of_block.end(), 0.0);
    const int64_t in_block = ceil_div(job.n, int64_t(job.blocks) * job.threads) + in_tree(job.threads);
    return {double(in_block) * unit<Real> + job.blocks * unit<double>, nullptr, sum};
}
template <class Real> Result<Real> launch_tutorial(const Job<Real>& job) {
    tutorial<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return add_on_host(job);
}

template <class Real> __device__ Real fold_warp(Real value) {
    for (int offset = warp / 2; offset > 0; offset /= 2) value += __shfl_down_sync(all_lanes, value, offset);
    return value;
}
// One sum a warp goes through shared memory. Thread 0 gets the block's sum.
template <class Real> __device__ Real fold_block(Real value) {
    __shared__ Real of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    value = fold_warp(value);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have left their sums
    if (tid < warp) value = fold_warp(tid < warps ? of_warp[tid] : Real(0));
    return value;
}

__device__ unsigned finished;  // how many blocks of this launch have left their sums; the last makes it 0 again
// 16-byte loads, a last block that adds up: dot_shared.cu says why. The loads are the same for float and double.
template <class Real, bool streaming>
__global__ void __launch_bounds__(fast_threads, 2) vectorised(const float* a, const float* b, Real* c, int64_t n) {
    __shared__ bool last;
    const float4 *packs_a = reinterpret_cast<const float4*>(a), *packs_b = reinterpret_cast<const float4*>(b);
    const int64_t packs = n / pack, tile = int64_t(in_flight) * blockDim.x, tid = threadIdx.x;
    const int64_t tail = pack * packs + int64_t(blockIdx.x) * blockDim.x + tid;
    Real x = tail < n ? Real(a[tail]) * Real(b[tail]) : Real(0), y = 0, z = 0, w = 0;
    const auto add = [&](const float4& p, const float4& q) {
        x += Real(p.x) * Real(q.x);
        y += Real(p.y) * Real(q.y);
        z += Real(p.z) * Real(q.z);
        w += Real(p.w) * Real(q.w);
    };
    for (int64_t first = blockIdx.x * tile; first < packs; first += gridDim.x * tile) {
        if (first + tile <= packs) {
            float4 p[in_flight], q[in_flight];
            for (int k = 0; k < in_flight; ++k) {
                const int64_t i = first + k * blockDim.x + tid;
                p[k] = streaming ? __ldcs(packs_a + i) : packs_a[i];
                q[k] = streaming ? __ldcs(packs_b + i) : packs_b[i];
            }
            for (int k = 0; k < in_flight; ++k) add(p[k], q[k]);
        } else {
            for (int64_t i = first + tid; i < packs; i += blockDim.x) add(packs_a[i], packs_b[i]);
        }
    }
    Real sum = fold_block((x + y) + (z + w));
    if (tid == 0) {
        c[blockIdx.x] = sum;
        __threadfence();  // the sum is in memory before the block counts as finished
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread of the block knows whether it is the last
    if (!last) return;
    sum = 0;
    for (unsigned i = tid; i < gridDim.x; i += blockDim.x) sum += __ldcg(c + i);
    sum = fold_block(sum);
    if (tid == 0) c[0] = sum;
}
template <class Real> Result<Real> launch_vectorised(const Job<Real>& job) {
    const bool small = 8 * job.n <= int64_t(streamed) * job.sample.properties().l2CacheSize;
    const auto kernel = small ? vectorised<Real, true> : vectorised<Real, false>;
    const int64_t tiles = ceil_div(job.n, pack * in_flight * fast_threads);
    const int64_t blocks = job.few(job.sample.blocks_to_fill(kernel, fast_threads), tiles);
    kernel<<<blocks, fast_threads>>>(job.a, job.b, job.c, job.n);
    return {double(job.in_wide(tiles, blocks)) * unit<Real>, job.c};
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The sums are double, and each product is rounded to 24 bits before it is widened.
__global__ void float_product(const float* a, const float* b, double* c, int64_t n) {
    double sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
        sum += a[i] * b[i];
    sum = fold_block(sum);
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
}
Result<double> launch_float_product(const Job<double>& job) {
    float_product<<<job.blocks, job.threads>>>(job.a, job.b, job.c, job.n);
    return add_on_host(job);
}

// ---- the table -------------------------------------------------------------------------------------------------

template <class Real> struct Variant {
    const char* name;
    const char* how;
    Result<Real> (*launch)(const Job<Real>&);
    int least_threads = 1;
};
constexpr Variant<float> in_float[] = {
    {"tutorial", "float: shared memory, then the host", launch_tutorial},
    {"vectorised", "float: 16-byte loads, four pairs in flight, 512 threads", launch_vectorised},
};
constexpr Variant<double> in_double[] = {
    {"tutorial_double", "tutorial, added up in double", launch_tutorial},
    {"vectorised_double", "vectorised, added up in double", launch_vectorised},
};
constexpr Variant<double> twins[] = {{"float_product", "float products", launch_float_product, lab::whole_warps}};

// ---- run, check, time ------------------------------------------------------------------------------------------

// A rounding multiplies by 1 + d, |d| <= u, and a chain of them by less than e^(the sum of the u).
void row(lab::Sample& sample, const Exact& want, const char* name, double got, double ms, double roundings,
         lab::Kind kind = lab::Kind::variant) {
    const double magnitude = double(std::max<Wide>(1, want.magnitude)), bound = std::expm1(roundings);
    const double error = double(std::fabs(got - (long double)want.sum)) / magnitude;
    const bool right = error <= bound && std::fabs(got) < lab::poisoned<float>() / 2;
    const std::string wrong = right ? "" : lab::text("got %.17g, wanted %.17g", got, double(want.sum));
    sample.row({name, lab::text("%.15g", got), ms, 8.0 * double(sample.n()), wrong, kind,
                {lab::text("%.1e", error), lab::text("%.1e", bound)}});
}

template <class Real, class Table>
void run(lab::Sample& sample, const Exact& want, const Table& table, const float* a, const float* b) {
    const int blocks = sample.blocks() ? sample.blocks() : tutorial_blocks;
    lab::DeviceArray<Real> d_c(std::max(blocks, 1 << 16));  // no GPU holds more blocks at once
    const Job<Real> job{sample, sample.n(), blocks, sample.threads(), a, b, d_c.get()};
    for (const auto& v : table) {
        if (!sample.wants(v.name)) continue;
        Result<Real> result{};
        const double ms = sample.time([&] { d_c.poison(); }, [&] { result = v.launch(job); });
        Real sum = 0;
        if (result.on_device) CHECK(cudaMemcpy(&sum, result.on_device, sizeof sum, cudaMemcpyDeviceToHost));
        row(sample, want, v.name, result.on_device ? double(sum) : result.on_host, ms, result.roundings);
    }
}
int main(int argc, char** argv) {
    lab::Sample sample("03_exact_dot", "What does it cost to have none of float's rounding errors?");
    std::string data = "ramp";
    sample.defaults(ramp, 0, tutorial_threads, "elements", "blocks (default: 64, or what fills the GPU)");
    sample.option("--data", data, {"ramp", "random"}, "the tutorial's a[i] = b[i] = i, or random whole numbers");
    sample.variants(in_float, in_double);
    sample.twins(twins);
    sample.start(argc, argv);
    const int64_t n = sample.n();
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(float), sizeof(double) * (sample.blocks() + 2e6));
    std::vector<float> a(n), b(n);
    for (int64_t i = 0; i < n; ++i) {  // random: the 24 bits that float keeps, and a sign
        a[i] = data == "random" ? float(int64_t(lab::random_bits(sample.seed(), 2 * i)) >> 39) : float(i % ramp);
        b[i] = data == "random" ? float(int64_t(lab::random_bits(sample.seed(), 2 * i + 1)) >> 39) : a[i];
    }
    const Exact want = on_the_cpu(a, b);
    sample.new_table(lab::text("dot product of %s floats: %.15g", lab::with_commas(n).c_str(), double(want.sum)));
    sample.columns({"error", "bound"});
    sample.limit_row(lab::Sample::Limit::read, 8 * n);
    const lab::DeviceArray<float> d_a(a), d_b(b);
    run<float>(sample, want, in_float, d_a.get(), d_b.get());
    run<double>(sample, want, in_double, d_a.get(), d_b.get());
    run<double>(sample, want, twins, d_a.get(), d_b.get());
    if (sample.wants_all()) {
        const float in_order = std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
        row(sample, want, "one float on CPU", in_order, lab::not_timed, double(n) * unit<float>, lab::Kind::shown);
        if (data == "ramp") row(sample, want, "closed form", double(closed_form(n)), lab::not_timed, unit<double>);
        sample.say("error and bound are relative to the sum of |a[i] * b[i]|");
    }
    return sample.verdict();
}
