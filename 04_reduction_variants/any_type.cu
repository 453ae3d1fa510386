// 04_any_type - what changes when a reduction is not the sum of ints?
//
// reduction_variants.cu adds ints. Its best rungs are here for int, float and double, and for sums,
// products, minima and maxima. Three things are new:
//   - An operation is a struct: how two values become one, and its identity, which changes no
//     value. Threads past the end begin with the identity. Only for sums that is 0.
//   - One kernel template serves all types and operations. 16 bytes are 4 ints or 2 doubles.
//   - The result of floats depends on the order. "same bits" says whether a kernel has a fixed one.
//
//   sequential   the tutorial's second kernel, for scale     slow: a barrier after every step
//   vectorised   16-byte loads on a grid that fills the GPU  slow: a second launch
//   last_block   the block that finishes last does the rest  slow: store, fence, ticket, load
//   atomic_add   every block adds to one word                sums only, and in any order
//   one_block    a single block                              for up to some thousand elements
//
//   04_any_type --op max --type double --n 1000000    one size
//   04_any_type --wrong zero_identity                 a classic mistake
//   04_any_type --sweep --csv sizes.csv               all sizes, for a plot
//   nvcc -std=c++17 -arch=native -Icommon 04_reduction_variants/any_type.cu
//       common/lab.cpp common/write_file.cpp -o any_type
#include <functional>
#include <limits>
#include <numeric>
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int most_threads = 1024;  // of a block
constexpr int warp = 32;            // threads of a warp, called its lanes
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;  // in flight before the first is used
static_assert(most_threads <= warp * warp,
              "one warp must be able to combine the values of all warps");

// ---- CPU reference ------------------------------------------------------------------------------

// In 64 bits, then narrowed: integers modulo 2^64, whole numbers below 2^53 exactly in double.
template <class T>
T cpu_reference(const std::vector<T>& in, const std::string& op) {
    using Wide = std::conditional_t<std::is_integral_v<T>, unsigned long long, double>;
    if (op == "min") return *std::min_element(in.begin(), in.end());
    if (op == "max") return *std::max_element(in.begin(), in.end());
    if (op == "sum") return T(std::accumulate(in.begin(), in.end(), Wide(0)));
    return T(std::accumulate(in.begin(), in.end(), Wide(1), std::multiplies<Wide>()));
}

// Chosen so that every order gives the same result. int: any bits. Products: odd numbers, because
// 32 factors of 2 would give 0. float and double: sums of whole numbers -8 .. 8; products of 1 and
// -1, 40 twos and 40 halves.
template <class T>
std::vector<T> make_input(int64_t n, uint64_t seed, const std::string& op) {
    std::vector<T> in(n);
    const bool product = op == "prod", sum = op == "sum";
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = lab::random_bits(seed, i);
        if (std::is_integral_v<T>)
            in[i] = T(product ? bits | 1 : bits);
        else if (product && i < 40)
            in[i] = bits & 1 ? 2 : -2;
        else if (product)
            in[i] = T(bits & 1 ? 1 : -1) / (n - i <= 40 ? 2 : 1);
        else
            in[i] = sum ? T(int(bits % 17) - 8) : T(int32_t(bits)) / 1024;
    }
    return in;
}

// ---- the operations -----------------------------------------------------------------------------

// Integers add and multiply modulo 2^32, as the GPU does. C++ promises that for unsigned alone.
template <class T>
using Modular = std::conditional_t<std::is_integral_v<T>, unsigned, T>;

template <class T>
struct Sum {
    static constexpr T identity = 0;
    __host__ __device__ T operator()(T a, T b) const { return T(Modular<T>(a) + Modular<T>(b)); }
};
template <class T>
struct Product {
    static constexpr T identity = 1;
    __host__ __device__ T operator()(T a, T b) const { return T(Modular<T>(a) * Modular<T>(b)); }
};
template <class T>
struct Min {
    static constexpr T identity = std::numeric_limits<T>::max();
    __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
// lowest() is the least number. (So is min() for integers, but for floats min() is the smallest
// positive one.)
template <class T>
struct Max {
    static constexpr T identity = std::numeric_limits<T>::lowest();
    __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

// ---- the rungs, slow to fast --------------------------------------------------------------------

// 16 bytes of T, loaded by one instruction.
template <class T>
using Pack = std::conditional_t<std::is_same_v<T, int>, int4,
                                std::conditional_t<std::is_same_v<T, float>, float4, double2>>;
template <class T>
constexpr int pack_size = sizeof(Pack<T>) / sizeof(T);

template <class T>
struct Job {  // what a launch needs
    const lab::Sample& sample;
    int64_t n;
    const T* in;
    T want;                // the CPU's result
    int64_t partial_size;  // of each of the two arrays of partial results,
    T* partial[2];         // which take turns: a launch reads the one and writes the other
    unsigned* tickets;     // of last_block, 0 between launches
    T* sums;               // atomic_add's two results
    T* result = nullptr;   // where this launch leaves the result
    int current = 0;       // which of atomic_add's results is next

    int threads() const { return sample.threads(); }
    // As many blocks as fill the GPU, but at most one for each tile of wide loads; or --blocks.
    template <class Kernel>
    int grid_size_for(Kernel kernel) const {
        const int64_t tile = int64_t(threads()) * loads * pack_size<T>;
        const int full = sample.blocks_to_fill(kernel, threads());
        return sample.blocks() ? full : int(std::min<int64_t>(full, (n + tile - 1) / tile));
    }
};

// The number of this thread in the grid. It has 64 bits, because n may pass 2^31.
__device__ int64_t global_index() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// tutorial_halves for any n. It leaves one result a block.
template <class T, class Op>
__global__ void sequential(const T* in, T* out, int64_t n, Op op) {
    __shared__ T tile[most_threads];
    const int tid = threadIdx.x;
    const int64_t i = global_index();
    tile[tid] = i < n ? in[i] : T(Op::identity);
    __syncthreads();  // the whole tile is loaded
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) tile[tid] = op(tile[tid], tile[tid + stride]);
        __syncthreads();  // this step's results are there for the next
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
// It is launched again on its own results, until one is left.
template <class T, class Op>
void launch_sequential(Job<T>& job) {
    const T* in = job.in;
    int64_t n = job.n;
    T* out = job.partial[0];
    T* other = job.partial[1];
    do {
        const int64_t blocks = (n + job.threads() - 1) / job.threads();  // rounded up
        sequential<<<int(blocks), job.threads()>>>(in, out, n, Op());
        job.result = out;
        in = out;
        n = blocks;
        std::swap(out, other);
    } while (n > 1);
}

// Combines a warp's values, in lane 0. (reduction_variants.cu has one instruction instead of
// this loop. There is one for sums, minima and maxima of integers, but not for floats.)
template <class T, class Op>
__device__ T reduce_warp(T value, Op op) {
    for (int offset = warp / 2; offset > 0; offset /= 2)
        value = op(value, __shfl_down_sync(all_lanes, value, offset));
    return value;
}

// Combines a block's values, in thread 0: one value a warp goes through shared memory, and the
// first warp combines those. Two calls need a barrier between them: they use the same memory.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    __shared__ T of_warp[warp];
    const int tid = threadIdx.x, warps = blockDim.x / warp;
    value = reduce_warp(value, op);
    if (tid % warp == 0) of_warp[tid / warp] = value;
    __syncthreads();  // all warps have stored their values
    if (tid < warp) value = reduce_warp(tid < warps ? of_warp[tid] : T(Op::identity), op);
    return value;
}

template <class T, class Op>
__device__ T reduce_pack(T value, Pack<T> pack, Op op) {
    value = op(op(value, pack.x), pack.y);
    if constexpr (pack_size<T> == 4) value = op(op(value, pack.z), pack.w);
    return value;
}

// This thread's share of in[0 .. n), by 16-byte loads. The blocks go through tiles of loads *
// blockDim.x packs; all loads of a full tile are in flight before the first value is used. The
// first threads of the grid take what is left, fewer than 16 bytes.
template <class T, class Op>
__device__ T wide_reduce(const T* in, int64_t n, Op op) {
    const Pack<T>* packs = reinterpret_cast<const Pack<T>*>(in);
    const int64_t count = n / pack_size<T>, tile = int64_t(loads) * blockDim.x;
    const int tid = threadIdx.x;
    T value = Op::identity;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            Pack<T> pack[loads];
#pragma unroll
            for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * blockDim.x + tid];
#pragma unroll
            for (int k = 0; k < loads; ++k) value = reduce_pack(value, pack[k], op);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x)
                value = reduce_pack(value, packs[i], op);
        }
    }
    const int64_t tail = count * pack_size<T> + global_index();
    return tail < n ? op(value, in[tail]) : value;
}

template <class T, class Op>
__global__ void vectorised(const T* in, T* out, int64_t n, Op op) {
    const T value = reduce_block(wide_reduce(in, n, op), op);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}
template <class T, class Op>
void launch_vectorised(Job<T>& job) {
    const int blocks = job.sample.blocks_to_fill(vectorised<T, Op>, job.threads());
    job.result = job.partial[1];
    vectorised<<<blocks, job.threads()>>>(job.in, job.partial[0], job.n, Op());
    vectorised<<<1, job.threads()>>>(job.partial[0], job.result, blocks, Op());
}

// One launch. The block that draws the last ticket differs from run to run, but it combines the
// others' results in the same order. For the two fences see reduction_variants.cu.
template <class T, class Op>
__global__ void last_block(const T* in, T* partial, T* result, unsigned* tickets, int64_t n,
                           Op op) {
    __shared__ bool is_last;
    T value = reduce_block(wide_reduce(in, n, op), op);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
        __threadfence();  // release: the result is in memory before the ticket is drawn
        is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();  // acquire: the last block reads what the other blocks stored
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!is_last) return;
    value = Op::identity;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) value = op(value, partial[i]);
    value = reduce_block(value, op);
    if (threadIdx.x != 0) return;
    *result = value;
    *tickets = 0;  // for the next launch
}
template <class T, class Op>
void launch_last_block(Job<T>& job) {
    const int blocks = job.grid_size_for(last_block<T, Op>);
    job.result = job.partial[1];
    last_block<<<blocks, job.threads()>>>(job.in, job.partial[0], job.result, job.tickets, job.n,
                                          Op());
}

// The blocks add in the order in which they finish, so the last digits of a float may differ from
// run to run. There is no atomic product, and no atomic minimum of floats.
template <class T>
__global__ void atomic_add(const T* in, T* result, T* next, int64_t n) {
    const T value = reduce_block(wide_reduce(in, n, Sum<T>()), Sum<T>());
    if (threadIdx.x != 0) return;
    atomicAdd(result, value);
    if (blockIdx.x == 0) *next = 0;
}
template <class T>
void launch_atomic_add(Job<T>& job) {
    const int blocks = job.grid_size_for(atomic_add<T>);
    job.result = job.sums + job.current;
    job.current = 1 - job.current;
    atomic_add<<<blocks, job.threads()>>>(job.in, job.result, job.sums + job.current, job.n);
}

// It has no more warps than there are packs for.
template <class T, class Op>
__global__ void one_block(const T* in, T* result, int64_t n, Op op) {
    const int64_t count = n / pack_size<T>, tail = count * pack_size<T> + threadIdx.x;
    T value = tail < n ? in[tail] : T(Op::identity);
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        value = reduce_pack(value, reinterpret_cast<const Pack<T>*>(in)[i], op);
    value = reduce_block(value, op);
    if (threadIdx.x == 0) *result = value;
}
template <class T, class Op>
void launch_one_block(Job<T>& job) {
    const int64_t warps = (job.n / pack_size<T> + warp - 1) / warp;
    const int threads = warp * int(std::clamp<int64_t>(warps, 1, most_threads / warp));
    job.result = job.partial[0];
    one_block<<<1, threads>>>(job.in, job.result, job.n, Op());
}

// NVIDIA's library in its two modes, see reduction_variants.cu. The second is for sums.
#ifdef CUB_VERSION
template <class T, class Op>
void launch_cub(Job<T>& job) {
    size_t bytes = job.partial_size * sizeof(T);  // of partial[1], where it works
    void* memory = job.partial[1];
    T* result = job.result = job.partial[0];
    if constexpr (std::is_same_v<Op, Sum<T>>) {
        CHECK(cub::DeviceReduce::Sum(memory, bytes, job.in, result, job.n));
    } else if constexpr (std::is_same_v<Op, Min<T>>) {
        CHECK(cub::DeviceReduce::Min(memory, bytes, job.in, result, job.n));
    } else if constexpr (std::is_same_v<Op, Max<T>>) {
        CHECK(cub::DeviceReduce::Max(memory, bytes, job.in, result, job.n));
    } else {
        CHECK(cub::DeviceReduce::Reduce(memory, bytes, job.in, result, job.n, Op(), Op::identity));
    }
}
#if CUB_VERSION >= 300200
template <class T>
void launch_cub_any_order(Job<T>& job) {
    const auto any = cuda::execution::require(cuda::execution::determinism::not_guaranteed);
    job.result = job.partial[0];
    CHECK(cub::DeviceReduce::Sum(job.in, job.result, job.n, any));
}
#endif
#endif

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// Both are for floats. A product that begins with 0, as a sum does. It stays 0.
struct FromZero {
    static constexpr float identity = 0;
    __device__ float operator()(float a, float b) const { return a * b; }
};
void launch_zero_identity(Job<float>& job) { launch_vectorised<float, FromZero>(job); }

// A minimum of the floats' bits, read as ints, because there are more instructions for ints: right
// as long as no float is negative. Of two negative ones it takes the greater.
struct MinOfBits {
    static constexpr float identity = std::numeric_limits<float>::max();
    __device__ float operator()(float a, float b) const {
        return __float_as_int(b) < __float_as_int(a) ? b : a;
    }
};
void launch_bits_as_ints(Job<float>& job) { launch_vectorised<float, MinOfBits>(job); }

// ---- check, table, main -------------------------------------------------------------------------

template <class T, class Op>
constexpr lab::Variant<Job<T>> variants[] = {
    {"sequential", "the tutorial's second kernel, for any n", launch_sequential<T, Op>, 2},
    {"vectorised", "16-byte loads, four in flight", launch_vectorised<T, Op>, warp},
    {"last_block", "one launch: the last block does the rest", launch_last_block<T, Op>, warp},
    {"atomic_add", "every block adds to one word (sums)", launch_atomic_add<T>, warp},
    {"one_block", "one block, for some thousand elements", launch_one_block<T, Op>},
};
struct Twin {
    const char* name;
    const char* how;
    const char* op;  // that it gets wrong
    void (*launch)(Job<float>&);
    int least_threads = warp;
};
constexpr Twin twins[] = {
    {"zero_identity", "a product of floats that begins with 0", "prod", launch_zero_identity},
    {"bits_as_ints", "a minimum of floats, compared as ints", "min", launch_bits_as_ints},
};

// The order of operations is fixed: floats have the same bits in every run on the same grid.
bool fixed_order(const std::string& row) { return row != "atomic_add" && row != "CUB any order"; }

template <class T>
void prepare(Job<T>& job) {
    for (T* array : job.partial)
        CHECK(cudaMemsetAsync(array, lab::poison_byte, job.partial_size * sizeof(T)));
}

template <class T>
void check(Job<T>& job, lab::Row& row) {
    T got = 0;
    CHECK(cudaMemcpy(&got, job.result, sizeof got, cudaMemcpyDeviceToHost));
    row.result =
        std::is_integral_v<T> ? lab::with_commas(int64_t(got)) : lab::text("%.9g", double(got));
    row.bytes = double(job.n) * sizeof(T);
    row.wrong = got == job.want ? "" : lab::wanted(got, job.want);
    row.columns = {std::is_integral_v<T> || fixed_order(row.variant) ? "yes" : "no"};
}

#ifdef CUB_VERSION
template <class T, class Op>
void library_rows(lab::Sample& sample, Job<T>& job) {
    const std::string version = lab::library_version(CUB_VERSION);
    const bool counts_in_ints = CUB_VERSION < 300000;
    if (!counts_in_ints || job.n <= std::numeric_limits<int>::max())
        sample.library_row("CUB", version + " run_to_run", job, launch_cub<T, Op>, prepare<T>,
                           check<T>);
#if CUB_VERSION >= 300200
    if (!std::is_same_v<Op, Sum<T>>) return;
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;  // the pool keeps what it has, and need not fetch it again
    CHECK(cudaDeviceGetDefaultMemPool(&pool, sample.device()));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    sample.library_row("CUB any order", version + " not_guaranteed", job, launch_cub_any_order<T>,
                       prepare<T>, check<T>);
#endif
}
#endif

template <class T, class Op>
void run_op(lab::Sample& sample, const std::string& op) {
    const int64_t n = sample.n();
    const std::vector<T> data = make_input<T>(n, sample.seed(), op);
    const int64_t size = std::max<int64_t>({n / sample.threads() + 1, sample.blocks(), 1 << 16});
    const lab::DeviceArray<T> in(data), partial(size), other(size), sums(std::vector<T>(2));
    const lab::DeviceArray<unsigned> tickets(std::vector<unsigned>(1));
    Job<T> job{sample,        n,
               in.get(),      cpu_reference(data, op),
               size,          {partial.get(), other.get()},
               tickets.get(), sums.get()};
    sample.limit_row(lab::Limit::read, n * sizeof(T));
#ifdef CUB_VERSION
    library_rows<T, Op>(sample, job);
#endif
    sample.rows(job, variants<T, Op>, prepare<T>, check<T>);
    if constexpr (std::is_same_v<T, float>) sample.rows(job, twins, prepare<T>, check<T>);
}

template <class T>
void run_type(lab::Sample& sample, const std::string& op) {
    if (op == "sum") run_op<T, Sum<T>>(sample, op);
    if (op == "prod") run_op<T, Product<T>>(sample, op);
    if (op == "min") run_op<T, Min<T>>(sample, op);
    if (op == "max") run_op<T, Max<T>>(sample, op);
}

int main(int argc, char** argv) {
    lab::Sample sample("04_any_type", "What changes when a reduction is not the sum of ints?");
    std::string op = "sum", type = "float";
    bool sweep = false;
    sample.defaults(lab::gpu ? 10'000'000 : 100'003, 0, 512, "elements",
                    "blocks of the grids that loop (default: fill the GPU once)");
    sample.option("--op", op, {"sum", "min", "max", "prod"},
                  "the operation: sum, min, max or prod");
    sample.option("--type", type, {"int", "float", "double"},
                  "the type of the elements: int, float or double");
    sample.option("--sweep", sweep,
                  "all sizes from 2^10 elements to 2^28, or to --n if that is more");
    sample.variants(variants<float, Sum<float>>);
    sample.twins(twins);
    sample.start(argc, argv);
    for (const Twin& twin : twins) {
        if (!sample.wants_twin(twin.name)) continue;
        if (type != "float" || (sample.typed("--op") && op != twin.op))
            sample.refuse("%s is %s; type --type float --op %s", twin.name, twin.how, twin.op);
        op = twin.op;
    }
    if (op != "sum") sample.leave_out("atomic_add", "it only adds", "--op sum");

    std::vector<int64_t> sizes;
    const int64_t largest = std::max<int64_t>(sample.n(), lab::gpu ? 1 << 28 : 1 << 16);
    for (int64_t n = 1 << 10; n <= largest; n *= 4) sizes.push_back(n);
    if (!sweep) sizes = {sample.n()};
    sample.set_n(sizes.back());
    const double element = type == "double" ? sizeof(double) : sizeof(float);
    const double of_block = 2 * element;  // its partial result, in two arrays
    sample.require_memory((sample.shows_limit() ? 2 : 1) * element + of_block / sample.threads(),
                          of_block * std::max(sample.blocks(), 1 << 16));
    sample.require_blocks();

    for (const int64_t n : sizes) {
        sample.set_n(n);
        sample.new_table(op + " of " + lab::with_commas(n) + " " + type + "s (" +
                         lab::bytes_text(double(n) * element) + ")");
        sample.columns({"same bits"});
        if (type == "int") run_type<int>(sample, op);
        if (type == "float") run_type<float>(sample, op);
        if (type == "double") run_type<double>(sample, op);
    }
    return sample.verdict();
}
