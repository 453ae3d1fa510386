// 05_atomics - what is an atomic for, and what does contention cost?
//
// `*p += x` reads, adds and writes; what another thread writes to *p in between is lost. An atomic does all three
// as one step, and returns the old value that it found: with it, threads share out places among themselves.
//
// The sum of n numbers 0 .. 3, in one word
//   race_sum       the tutorial's: *sum += x                           wrong, and shown beside the right ones
//   atomic_sum     the tutorial's: atomicAdd for each element          slow: one queue, even for a warp's folded adds
//   local_sum      the tutorial's: the thread adds up first            slow: an atomic a warp, on a large grid
//   block_sum      the block adds up first, one atomicAdd a block      slow: 4-byte loads; a memset for sum = 0
//   vector_sum     16-byte loads; the old value tells who is last      nearly the memory's speed
// A few of them by atomicCAS, of which anything can be built
//   cas_sum        a loop for each element, until it succeeds          slow: of all threads that try, one succeeds
//   cas_local_sum, cas_product, cas_float_sum   the tutorial's         slow: fewer try, and still one succeeds
// A filter keeps the elements >= 2
//   push_back      the tutorial's: out[atomicAdd(count, 1)] = x        slow: one queue; ordered_filter.cu goes on
// Every atomic on one word, with all old values checked: add sub and or xor min max exch cas
//
//   05_atomics --wrong new_value     a classic mistake; or --only max: one atomic
//   nvcc -std=c++17 -arch=native -Icommon 05_atomics/atomics.cu common/lab.cpp common/write_file.cpp -o atomics
#include <numeric>
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int most_n = 1 << 30;
constexpr unsigned turns = 8;  // for cas
constexpr int scratch = 1 << 18, loads = 4;  // ints, more than CUB asks for; of vector_sum, before the first is used
static_assert(2u * most_n - 1 <= 0x7fffffff, "an element's index + all threads of a grid must fit into an int");
static_assert(3u * most_n <= 0xffffffff, "the largest sum must fit into the 32 bits that vector_sum has for it");

// ---- the answer, slowly ----------------------------------------------------------------------------------------

int sum_on_the_cpu(const int* in, int n) { return std::accumulate(in, in + n, 0); }

unsigned product_on_the_cpu(const int* in, int n) {
    unsigned product = 1;
    for (int i = 0; i < n; ++i) product *= in[i] | 1;
    return product;
}

using Words = std::vector<int>;
Words distinct(Words values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Operation i says that it found old[i], so it left made[i]. Is there an order of the operations in which each finds
// what the one before it left? That is a path from `start` to `end` along all edges old[i] -> made[i], and Euler knew
// when there is one: if every value is found as often as it is left, and all edges hang together.
std::string no_order(int start, int end, const Words& old, const Words& made) {
    Words values = {start, end};
    values.insert(values.end(), old.begin(), old.end());
    values.insert(values.end(), made.begin(), made.end());
    values = distinct(values);
    const auto place = [&](int value) { return std::lower_bound(values.begin(), values.end(), value) - values.begin(); };
    Words left(values.size()), parent(values.size());  // how often left, less how often found; a union-find forest
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int k) {
        while (parent[k] != k) k = parent[k] = parent[parent[k]];
        return k;
    };
    ++left[place(start)];
    --left[place(end)];
    for (size_t i = 0; i < old.size(); ++i) {
        const int from = place(old[i]), to = place(made[i]);
        ++left[to];
        --left[from];
        parent[root(from)] = root(to);
    }
    for (size_t k = 0; k < values.size(); ++k) {
        if (left[k] != 0) return lab::text("%d was not found as often as left", values[k]);
        if (root(k) != root(place(start))) return lab::text("no way leads to the old value %d", values[k]);
    }
    return "";
}

// ---- the tutorial's kernels ------------------------------------------------------------------------------------

// What a launch needs.
struct Job {
    const lab::Sample& sample;
    int n, threads;
    const int* in;
    int* word;  // the one that all want
    int* out;   // what a filter keeps; the old values

    int one_each(int block) const { return sample.blocks() ? sample.blocks() : (n - 1) / block + 1; }
    int few() const { return sample.blocks() ? sample.blocks() : std::max(1, n / 4096); }  // the tutorial's n / 4096
    int few_loops() const { return std::min(few(), 32); }  // of atomicCAS: their time grows with the square
    template <class Kernel> int fill(Kernel kernel) const { return sample.blocks_to_fill(kernel, threads); }
    int* zeroed_word() const {
        CHECK(cudaMemsetAsync(word, 0, sizeof *word));
        return word;
    }
};

// `+=` is three steps: read, add, write. Most threads read the same old value, and the last to write wins.
// Differs: the word is set to 0 before each launch. The tutorial's lies in managed memory, which begins as 0.
__global__ void race_sum(const int* in, int* sum, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) *sum += in[i];
}
void launch_race_sum(const Job& job) {
    race_sum<<<job.one_each(128), 128>>>(job.in, job.zeroed_word(), job.n);  // rounded up, as n is any number
}

// With an atomic, the three steps are one.
__global__ void atomic_sum(const int* in, int* sum, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, in[i]);
}
void launch_atomic_sum(const Job& job) { atomic_sum<<<job.one_each(128), 128>>>(job.in, job.zeroed_word(), job.n); }

// The old value is a place that no other thread gets. Differs: one element in four is 0 .. 3, the rest is any int.
__global__ void push_back(const int* in, int* out, int* count, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (in[i] < 2) continue;
        const int place = atomicAdd(count, 1);
        out[place] = in[i];
    }
}
void launch_push_back(const Job& job) { push_back<<<job.few(), 512>>>(job.in, job.out, job.zeroed_word(), job.n); }

// An addition made of atomicCAS, which stores guess + x if the word still holds the guess, and tells what it found: if
// that is something else, another thread came first, and it is the next guess.
__device__ int add_by_cas(int* word, int x) {
    int guess = *word;
    while (true) {
        const int found = atomicCAS(word, guess, guess + x);
        if (found == guess) return found;
        guess = found;
    }
}
__global__ void cas_local_sum(const int* in, int* sum, int n) {
    int local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) local += in[i];
    add_by_cas(sum, local);
}
void launch_cas_local_sum(const Job& job) {
    cas_local_sum<<<job.few_loops(), 512>>>(job.in, job.zeroed_word(), job.n);
}

// No atomic multiplies. The kernel is ours: odd factors, as every even one drives the product closer to 0.
__device__ int multiply_by_cas(int* word, int x) {
    int guess = *word;
    while (true) {
        const int found = atomicCAS(word, guess, int(unsigned(guess) * x));  // unsigned: it may overflow
        if (found == guess) return found;
        guess = found;
    }
}
__global__ void cas_product(const int* in, int* product, int n) {
    unsigned local = 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) local *= in[i] | 1;
    multiply_by_cas(product, local);
}
void launch_cas_product(const Job& job) {
    const int one = 1;
    CHECK(cudaMemcpyAsync(job.word, &one, sizeof one, cudaMemcpyHostToDevice));
    cas_product<<<job.few_loops(), 512>>>(job.in, job.word, job.n);
}

// atomicCAS takes integers, so it is given the bits of the floats. The kernel is ours.
// Differs: the old float is returned, not its bits as an int.
__device__ float float_add_by_cas(float* word, float x) {
    int guess = __float_as_int(*word);
    while (true) {
        const int sum = __float_as_int(__int_as_float(guess) + x);
        const int found = atomicCAS(reinterpret_cast<int*>(word), guess, sum);
        if (found == guess) return __int_as_float(found);
        guess = found;
    }
}
__global__ void cas_float_sum(const int* in, float* sum, int n) {
    float local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) local += in[i];
    float_add_by_cas(sum, local);
}
void launch_cas_float_sum(const Job& job) {
    cas_float_sum<<<job.few_loops(), 512>>>(job.in, reinterpret_cast<float*>(job.zeroed_word()), job.n);
}

// The thread adds up in a variable of its own, and asks for one atomic. n / 4096 blocks of 512: 8 elements a thread.
__global__ void local_sum(const int* in, int* sum, int n) {
    int local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) local += in[i];
    atomicAdd(sum, local);
}
void launch_local_sum(const Job& job) { local_sum<<<job.few(), 512>>>(job.in, job.zeroed_word(), job.n); }

// ---- the tutorial's whole program ------------------------------------------------------------------------------

// With atomic_sum, and the C library's numbers: glibc's give the tutorial's result, 98229.
// Differs: device memory and copies, where the tutorial has managed memory.
bool whole_program() {
    const int n = 65536;
    std::vector<int> in(n);
    for (int& x : in) x = std::rand() % 4;
    int *d_in, *d_sum;
    CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CHECK(cudaMalloc(&d_sum, sizeof(int)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sum, 0, sizeof(int)));  // a kernel returns nothing: the result lies where a pointer points
    atomic_sum<<<n / 128, 128>>>(d_in, d_sum, n);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    int sum = 0;
    CHECK(cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_sum));
    const int want = sum_on_the_cpu(in.data(), n);
    std::printf("the device's sum: %d, the CPU's: %d\n", sum, want);
    return sum == want;
}

// ---- the rungs, slow to fast -----------------------------------------------------------------------------------

// Without the local sum: one CAS loop for each element.
__global__ void cas_sum(const int* in, int* sum, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) add_by_cas(sum, in[i]);
}
void launch_cas_sum(const Job& job) {
    cas_sum<<<job.one_each(job.threads), job.threads>>>(job.in, job.zeroed_word(), job.n);
}

// The atomic that CUDA has for floats since compute capability 2.0 (for doubles since 6.0).
__global__ void float_sum(const int* in, float* sum, int n) {
    float local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) local += in[i];
    atomicAdd(sum, local);
}
void launch_float_sum(const Job& job) {
    float_sum<<<job.few(), 512>>>(job.in, reinterpret_cast<float*>(job.zeroed_word()), job.n);
}

// Shared memory has atomics, too, and a queue for each block. Returns the block's sum.
__device__ int add_up_block(int local) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();  // the sum is 0
    atomicAdd(&sum, local);
    __syncthreads();  // all threads have added
    return sum;
}
__global__ void block_sum(const int* in, int* sum, int n) {
    const int step = gridDim.x * blockDim.x;  // an int cannot wrap: now nvcc unrolls the loop, with many loads in flight
    int local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) local += in[i];
    local = add_up_block(local);
    if (threadIdx.x == 0) atomicAdd(sum, local);
}
void launch_block_sum(const Job& job) {
    block_sum<<<job.fill(block_sum), job.threads>>>(job.in, job.zeroed_word(), job.n);
}

// Upper half: how many blocks have come by; lower half: the sum of what they brought. One atomicAdd does both, and
// whoever comes last, by its old value, delivers the sum and leaves 0 for the next launch.
__device__ unsigned long long progress = 0;

__global__ void __launch_bounds__(1024, 2) vector_sum(const int* in, int* sum, int n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int tid = threadIdx.x, count = n / 4, tail = 4 * count + blockIdx.x * blockDim.x + tid;
    const int64_t tile = int64_t(loads) * blockDim.x;
    int local = tail < n ? in[tail] : 0;
    const auto add = [&](const int4& pack) { local += pack.x + pack.y + pack.z + pack.w; };
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            int4 pack[loads];
            for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * blockDim.x + tid];
            for (int k = 0; k < loads; ++k) add(pack[k]);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x) add(packs[i]);
        }
    }
    local = add_up_block(local);
    if (threadIdx.x > 0) return;
    const unsigned long long old = atomicAdd(&progress, 1ull << 32 | unsigned(local));
    if (old >> 32 != gridDim.x - 1) return;
    *sum = int(unsigned(old)) + local;
    progress = 0;
}
void launch_vector_sum(const Job& job) {
    vector_sum<<<job.fill(vector_sum), job.threads>>>(job.in, job.word, job.n);
}

// Every atomic of the tutorial's table, on one word, with the old values kept. x is any number.
using U = unsigned;
__device__ U add(U* word, U x) { return atomicAdd(word, x); }
U after_add(U old, U x) { return old + x; }  // for the CPU
__device__ U sub(U* word, U x) { return atomicSub(word, x); }
__device__ U bit_and(U* word, U x) { return atomicAnd(word, ~(1u << x % 32)); }
__device__ U bit_or(U* word, U x) { return atomicOr(word, 1u << x % 32); }
__device__ U bit_xor(U* word, U x) { return atomicXor(word, x); }
__device__ U smaller(U* word, U x) { return atomicMin(reinterpret_cast<int*>(word), int(x)); }
__device__ U larger(U* word, U x) { return atomicMax(reinterpret_cast<int*>(word), int(x)); }
U after_max(U old, U x) { return std::max<int>(old, x); }  // for the CPU
__device__ U exch(U* word, U x) { return atomicExch(word, x); }
__device__ U cas(U* word, U x) { return atomicCAS(word, x % turns, (x + 1) % turns); }
template <U (*atomic)(U*, U)> __global__ void keep_old(const int* in, int* word, int* old, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        old[i] = atomic(reinterpret_cast<U*>(word), in[i]);
}
template <U (*atomic)(U*, U)> void launch_old(const Job& job) {
    keep_old<atomic><<<job.one_each(job.threads), job.threads>>>(job.in, job.word, job.out, job.n);
}
struct Variant {
    const char* name;
    const char* how;
    void (*launch)(const Job&);
    int least_threads = 1;
};
// And the CPU's view: the word's start, what it holds after an operation that found `old`, and whether every order of
// the operations ends with the same word.
struct Atomic : Variant {
    U start;
    U (*after)(U old, U x);
    bool one_end = true;
};
constexpr Atomic atomics[] = {
    {{"add", "atomicAdd: old + x", launch_old<add>}, 0, after_add},
    {{"sub", "atomicSub: old - x", launch_old<sub>}, 0, [](U old, U x) { return old - x; }},
    {{"and", "atomicAnd: a bit less", launch_old<bit_and>}, ~0u, [](U old, U x) { return old & ~(1u << x % 32); }},
    {{"or", "atomicOr: a bit more", launch_old<bit_or>}, 0, [](U old, U x) { return old | 1u << x % 32; }},
    {{"xor", "atomicXor", launch_old<bit_xor>}, 0, [](U old, U x) { return old ^ x; }},
    {{"min", "atomicMin of ints", launch_old<smaller>}, 0x7fffffff, [](U old, U x) { return U(std::min<int>(old, x)); }},
    {{"max", "atomicMax of ints", launch_old<larger>}, 0x80000000, after_max},
    {{"exch", "atomicExch: the old values link a list", launch_old<exch>}, 0, [](U, U x) { return x; }, false},
    {{"cas", "atomicCAS: who has the turn, 0 .. 7, hands it on", launch_old<cas>}, 0,
     [](U old, U x) { return old == x % turns ? (x + 1) % turns : old; }, false},
};

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// block_sum, added to what the word holds.
void launch_not_reset(const Job& job) { block_sum<<<job.fill(block_sum), job.threads>>>(job.in, job.word, job.n); }

// The new count instead of the old one: place 0 stays empty.
__global__ void new_value(const int* in, int* out, int* count, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] >= 2) out[atomicAdd(count, 1) + 1] = in[i];
}
void launch_new_value(const Job& job) { new_value<<<job.few(), 512>>>(job.in, job.out, job.zeroed_word(), job.n); }

// Counts in a word of its own, and leaves the result there: all old values are right, and *word is not.
void launch_own_word(const Job& job) {
    Job own = job;
    own.word = job.out + job.n;
    CHECK(cudaMemsetAsync(own.word, 0, sizeof *own.word));
    launch_old<add>(own);
}

__device__ U no_retry(U* word, U x) { return atomicCAS(word, *word, *word + x); }  // once, done or not
__device__ U unsigned_max(U* word, U x) { return atomicMax(word, x); }  // takes negative numbers for large ones
__device__ U new_for_old(U* word, U x) { return atomicAdd(word, x) + x; }  // returns the new value

// ---- the table -------------------------------------------------------------------------------------------------

constexpr Variant sums[] = {
    {"atomic_sum", "sum: atomicAdd for each element", launch_atomic_sum},
    {"local_sum", "sum: atomicAdd for each thread, n / 4096 blocks of 512", launch_local_sum},
    {"block_sum", "sum: atomicAdd for each block", launch_block_sum},
    {"vector_sum", "sum: 16-byte loads; the last block delivers", launch_vector_sum, 4},  // for n % 4
};
constexpr Variant race[] = {{"race_sum", "the tutorial's *sum += x: lost updates", launch_race_sum}};
constexpr Variant sum_twins[] = {race[0], {"not_reset", "block_sum, with *sum as it was before", launch_not_reset}};
constexpr Variant cas_sums[] = {
    {"cas_sum", "CAS: a loop for each element", launch_cas_sum},
    {"cas_local_sum", "CAS: a loop for each thread, n / 4096 blocks of 512", launch_cas_local_sum},
};
constexpr Variant cas_products[] = {{"cas_product", "CAS: a product, modulo 2^32", launch_cas_product}};
constexpr Variant float_sums[] = {
    {"cas_float_sum", "CAS: a sum of floats", launch_cas_float_sum},
    {"float_sum", "a sum of floats by atomicAdd", launch_float_sum},
};
constexpr Variant filters[] = {{"push_back", "filter: out[atomicAdd(count, 1)] = x", launch_push_back}};
constexpr Variant filter_twins[] = {{"new_value", "push_back to the new count, not to the old one", launch_new_value}};
constexpr Atomic atomic_twins[] = {
    {{"own_word", "adds in a word of its own, never copied to the result", launch_own_word}, 0, after_add},
    {{"no_retry", "an addition by atomicCAS, tried once", launch_old<no_retry>}, 0, after_add},
    {{"unsigned_max", "max of ints taken for unsigned", launch_old<unsigned_max>}, 0x80000000, after_max},
    {{"new_for_old", "an addition: the new value for the old", launch_old<new_for_old>}, 0, after_add},
};

// ---- run, check, time ------------------------------------------------------------------------------------------

void poison(const Job& job) {
    CHECK(cudaMemsetAsync(job.word, lab::poison_byte, sizeof(int)));
    CHECK(cudaMemsetAsync(job.out, lab::poison_byte, (job.n + 1) * sizeof(int)));
}

template <class T = int> std::vector<T> download(const int* words, int64_t n) {
    std::vector<T> host(n);
    CHECK(cudaMemcpy(host.data(), words, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

template <class T, class Table>
void run_words(lab::Sample& sample, const Table& table, const Job& job, T want, lab::Kind kind = lab::Kind::variant) {
    for (const Variant& v : table) {
        if (kind == lab::Kind::variant && !sample.wants(v.name)) continue;
        const lab::Time ms = sample.time([&] { poison(job); }, [&] { v.launch(job); });
        const T got = download<T>(job.word, 1)[0];
        sample.row({v.name, lab::with_commas(int64_t(got)), ms, 4.0 * job.n, got == want ? "" : lab::wanted(got, want), kind});
    }
}

void run_sums(lab::Sample& sample, Job job, const Words& in, int few) {
    const int sum = sum_on_the_cpu(in.data(), job.n);
    sample.new_table(lab::text("the sum of %s numbers in one word", lab::with_commas(job.n).c_str()));
    sample.limit_row(lab::Sample::Limit::read, int64_t(4) * job.n);
#ifdef CUB_VERSION
    const Variant library[] = {{"CUB", "NVIDIA's library", [](const Job& of) {
        size_t room = scratch * sizeof(int);
        CHECK(cub::DeviceReduce::Sum(of.out, room, of.in, of.word, of.n));
    }}};
    if (sample.wants_all()) run_words(sample, library, job, sum, lab::Kind::library);
#endif
    if (sample.wants_all()) run_words(sample, race, job, sum, lab::Kind::shown);
    run_words(sample, sums, job, sum);
    run_words(sample, sum_twins, job, sum);
    job.n = std::min(job.n, few);
    const int few_sum = sum_on_the_cpu(in.data(), job.n);
    sample.new_table(lab::text("the first %s of them, by atomicCAS", lab::with_commas(job.n).c_str()));
    run_words(sample, cas_sums, job, few_sum);
    run_words(sample, cas_products, job, int(product_on_the_cpu(in.data(), job.n)));
    run_words(sample, float_sums, job, float(few_sum));
}

template <class Table> void run_atomics(lab::Sample& sample, const Table& table, const Job& job, const Words& x) {
    for (const Atomic& v : table) {
        if (!sample.wants(v.name)) continue;
        const auto prepare = [&] {
            poison(job);
            CHECK(cudaMemcpy(job.word, &v.start, sizeof v.start, cudaMemcpyHostToDevice));
        };
        const lab::Time ms = sample.time(prepare, [&] { v.launch(job); });
        const int end = download(job.word, 1)[0];
        const Words old = download(job.out, job.n);
        Words made(job.n);
        U want = v.start;
        for (int i = 0; i < job.n; ++i) {
            made[i] = int(v.after(old[i], x[i]));
            want = v.after(want, x[i]);
        }
        std::string wrong = no_order(int(v.start), end, old, made);
        if (v.one_end && end != int(want)) wrong = lab::wanted(end, int(want)) + (wrong.empty() ? "" : "; " + wrong);
        sample.row({v.name, lab::with_commas(end), ms, 8.0 * job.n, wrong, lab::Kind::variant,
                    {lab::with_commas(distinct(old).size())}});
    }
}

// Any order is right: both `kept` and the output are sorted.
template <class Table> void run_filters(lab::Sample& sample, const Table& table, const Job& job, const Words& kept) {
    for (const Variant& v : table) {
        if (!sample.wants(v.name)) continue;
        const lab::Time ms = sample.time([&] { poison(job); }, [&] { v.launch(job); });
        const int count = download(job.word, 1)[0], want = int(kept.size());
        Words out = download(job.out, want);
        std::sort(out.begin(), out.end());
        const auto differ = std::mismatch(out.begin(), out.end(), kept.begin());
        std::string wrong = count == want ? "" : lab::wanted(count, want) + " elements";
        if (differ.first != out.end())
            wrong += (wrong.empty() ? "" : "; ") + lab::text("element %d in ascending order: ", int(differ.first - out.begin())) +
                     lab::wanted(*differ.first, *differ.second);
        sample.row({v.name, lab::with_commas(count), ms, 4.0 * (double(job.n) + want), wrong});
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("05_atomics", "What is an atomic for, and what does contention cost?");
    int64_t few = 16'384, least = 0;
    sample.defaults(lab::gpu ? 1 << 24 : 65'536, 0, 512, "elements, at most 2^30",
                    "blocks of every grid (default: the tutorial's, a thread an element, or what fills the GPU)");
    sample.option("--few", few, 1, 65'536, "most numbers for atomicCAS: twice as many take up to four times as long");
    sample.option("--least", least, 0, 1, "the smallest number, 0 or 1: with 1, every addition changes the word");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(sums, cas_sums, cas_products, float_sums, atomics, filters);
    sample.twins(sum_twins, atomic_twins, filter_twins);
    sample.start(argc, argv);
    sample.at_most("--n", most_n >> least, "the sum of so many might not fit into an int");
    sample.at_most("--blocks", most_n / std::max(512, sample.threads()), "are more than 2^30 threads");
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(int), scratch * sizeof(int));
    if (sample.wants("whole_program")) sample.program(whole_program);
    const int n = int(sample.n());
    Words numbers(n), bits(std::min(n, int(few))), elements(n), kept;
    for (int i = 0; i < n; ++i) {
        const uint64_t random = lab::random_bits(sample.seed(), i);
        numbers[i] = int(least + random % (4 - least));
        if (i < few) bits[i] = int(random);
        elements[i] = random % 4 ? int(random >> 32) : int(random >> 62);
        if (elements[i] >= 2) kept.push_back(elements[i]);
    }
    std::sort(kept.begin(), kept.end());
    lab::DeviceArray<int> d_in(numbers), d_word(1), d_out(int64_t(n) + scratch);  // new_value, too, goes past n
    Job job{sample, n, sample.threads(), d_in.get(), d_word.get(), d_out.get()};
    run_sums(sample, job, numbers, int(few));

    job.n = int(bits.size());
    CHECK(cudaMemcpy(d_in.get(), bits.data(), job.n * sizeof(int), cudaMemcpyHostToDevice));
    sample.new_table(lab::text("%d operations on one word, and the old values that they return", job.n));
    sample.columns({"old values"});
    run_atomics(sample, atomics, job, bits);
    run_atomics(sample, atomic_twins, job, bits);

    job.n = n;
    d_in.upload(elements);
    sample.new_table(lab::text("a filter: which of %s elements are >= 2", lab::with_commas(n).c_str()));
    sample.limit_row(lab::Sample::Limit::copy, int64_t(2) * (n + int64_t(kept.size())));
    run_filters(sample, filters, job, kept);
    run_filters(sample, filter_twins, job, kept);
    return sample.verdict();
}
