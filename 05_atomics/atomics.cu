// 05_atomics - what is an atomic for, and what does contention cost?
//
// `*p += x` reads, adds and writes, and what another thread writes to *p in between is lost. An
// atomic does it in one step, and returns the old value: with it, threads share out places.
//
// The sum of n numbers 0 .. 3, in one word
//   race_sum       the tutorial's: *sum += x                     wrong: the others are right
//   atomic_sum     the tutorial's: atomicAdd for each element    slow: one queue for all warps
//   local_sum      the tutorial's: the thread adds up first      slow: still an atomic a warp
//   block_sum      the block adds up first, one atomicAdd each   slow: 4-byte loads and a memset
//   vector_sum     16-byte loads; the old value tells the last   nearly the memory's speed
// Some of them by atomicCAS, of which any atomic can be built
//   cas_sum        a loop for each element, until it succeeds    slow: one succeeds, all retry
//   cas_local_sum, cas_product, cas_float_sum   the tutorial's   slow: fewer threads, that retry
// A filter keeps the elements >= 2
//   push_back      the tutorial's: out[atomicAdd(count, 1)] = x   slow: one queue
// Every atomic on one word, with all old values checked: add sub and or xor min max exch cas
//
// ordered_filter.cu goes on with the filter; managed_vector.cu has the tutorial's own programs.
//
//   05_atomics --wrong new_value     a classic mistake; or --only max: one atomic
//   nvcc -std=c++17 -arch=native -Icommon 05_atomics/atomics.cu
//       common/lab.cpp common/write_file.cpp -o atomics
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif

constexpr int most_n = 1 << 30;
constexpr int scratch = 1 << 18;  // ints, more than CUB asks for
static_assert(2u * most_n - 1 <= 0x7fffffff,
              "an index + all threads of a grid must fit into an int");
static_assert(3u * most_n <= 0xffffffff, "the largest sum must fit into vector_sum's 32 bits");

// ---- CPU reference ------------------------------------------------------------------------------

int cpu_reference(const int* in, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

unsigned cpu_product(const int* in, int n) {
    unsigned product = 1;
    for (int i = 0; i < n; ++i) product *= in[i] | 1;
    return product;
}

// ---- the tutorial's kernels ---------------------------------------------------------------------

// `*sum += in[i]` is four steps: read the word, read the element, add, write the word. Two threads:
//   thread 0   reads *sum: 0             reads in[0]: 3             adds: 3   writes *sum = 3
//   thread 1             reads *sum: 0             reads in[1]: 2             adds: 2   writes *sum
//   = 2
// Both have read the same old value, the last to write wins, and the 3 is lost.
__global__ void race_sum(const int* in, int* sum, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        *sum += in[i];
}

// An atomic reads the word, adds and writes it as one step.
__global__ void atomic_sum(const int* in, int* sum, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(sum, in[i]);
}

// The old value is a place that no other thread gets.
__global__ void push_back(const int* in, int* out, int* count, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (in[i] < 2) continue;
        const int place = atomicAdd(count, 1);
        out[place] = in[i];
    }
}

// An addition made of atomicCAS, which stores guess + x if the word still holds the guess, and
// returns what it found. If that is something else, another thread came first, and its value is
// the next guess.
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
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local += in[i];
    add_by_cas(sum, local);
}

// CUDA has no atomic that multiplies. The tutorial has this function and no kernel that calls it.
__device__ int multiply_by_cas(int* word, int x) {
    int guess = *word;
    while (true) {
        const int found = atomicCAS(word, guess, int(unsigned(guess) * x));  // it may overflow
        if (found == guess) return found;
        guess = found;
    }
}
__global__ void cas_product(const int* in, int* product, int n) {
    unsigned local = 1;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local *= in[i] | 1;  // odd factors: each even one would drive the product closer to 0
    multiply_by_cas(product, local);
}

// atomicCAS compares integers, so it gets the bits of the floats. Differs from the tutorial: the
// function returns the old float, not its bits. The kernel is ours.
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
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local += in[i];
    float_add_by_cas(sum, local);
}

// The atomic that CUDA has for floats since compute capability 2.0 (for doubles since 6.0).
__global__ void float_sum(const int* in, float* sum, int n) {
    float local = 0;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local += in[i];
    atomicAdd(sum, local);
}

// A thread adds up its elements in a variable of its own, and asks for one atomic. The smaller the
// grid (gridDim and blockDim), the more elements a thread has, and the fewer atomics there are.
// With n / 4096 blocks of 512 threads, an atomic is for 8 elements.
__global__ void local_sum(const int* in, int* sum, int n) {
    int local = 0;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        local += in[i];
    atomicAdd(sum, local);
}

// ---- the tutorial's whole program ---------------------------------------------------------------

// With atomic_sum, and the C library's numbers: glibc's give the tutorial's result, 98229. Differs
// from the tutorial: device memory and copies. managed_vector.cu has its std::vector.
bool whole_program() {
    const int n = 65536;
    std::vector<int> in(n);
    for (int& x : in) x = std::rand() % 4;
    int *d_in, *d_sum;
    CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CHECK(cudaMalloc(&d_sum, sizeof(int)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sum, 0, sizeof(int)));  // a kernel returns nothing: its result is in memory
    atomic_sum<<<n / 128, 128>>>(d_in, d_sum, n);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    int sum = 0;
    CHECK(cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_sum));
    const int want = cpu_reference(in.data(), n);
    std::printf("the device's sum: %d, the CPU's: %d\n", sum, want);
    return sum == want;
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Atomic;  // a row of the tutorial's table of atomics, below
struct Job {    // what a launch needs
    const lab::Sample& sample;
    int n;
    const int* in;
    int* word;                       // that all threads want
    int* out;                        // what a filter keeps; the old values
    const int* host_in;              // for the check: the same numbers,
    const int* kept;                 // what a filter must keep, in ascending order,
    int want = 0;                    // and the CPU's result; a filter's is how many it keeps
    const Atomic* atomic = nullptr;  // which one is running

    int threads() const { return sample.threads(); }
    int one_each(int block) const {
        return sample.blocks() ? sample.blocks() : (n - 1) / block + 1;
    }
    // The tutorial's n / 4096 blocks, but one at least.
    int small_grid() const { return sample.blocks() ? sample.blocks() : std::max(1, n / 4096); }
    int cas_grid() const { return std::min(small_grid(), 32); }  // their time grows with the square
};

// The tutorial's word is managed memory, and begins as 0.
void reset(const Job& job) { CHECK(cudaMemsetAsync(job.word, 0, sizeof *job.word)); }

void launch_race_sum(Job& job) {
    reset(job);
    race_sum<<<job.one_each(128), 128>>>(job.in, job.word, job.n);
}
void launch_atomic_sum(Job& job) {
    reset(job);
    atomic_sum<<<job.one_each(128), 128>>>(job.in, job.word, job.n);
}
void launch_local_sum(Job& job) {
    reset(job);
    local_sum<<<job.small_grid(), 512>>>(job.in, job.word, job.n);
}
void launch_push_back(Job& job) {
    reset(job);
    push_back<<<job.small_grid(), 512>>>(job.in, job.out, job.word, job.n);
}
void launch_cas_local_sum(Job& job) {
    reset(job);
    cas_local_sum<<<job.cas_grid(), 512>>>(job.in, job.word, job.n);
}
void launch_cas_product(Job& job) {
    const int one = 1;
    CHECK(cudaMemcpyAsync(job.word, &one, sizeof one, cudaMemcpyHostToDevice));
    cas_product<<<job.cas_grid(), 512>>>(job.in, job.word, job.n);
}
void launch_cas_float_sum(Job& job) {
    reset(job);
    cas_float_sum<<<job.cas_grid(), 512>>>(job.in, reinterpret_cast<float*>(job.word), job.n);
}
void launch_float_sum(Job& job) {
    reset(job);
    float_sum<<<job.small_grid(), 512>>>(job.in, reinterpret_cast<float*>(job.word), job.n);
}

// This thread's number in the grid, and how many threads the grid has. The kernels below loop like
// the tutorial's: from global_index() in steps of threads_in_grid(), which works for any grid.
__device__ int global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int threads_in_grid() { return gridDim.x * blockDim.x; }

// cas_local_sum without the local sum: one CAS loop for each element.
__global__ void cas_sum(const int* in, int* sum, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) add_by_cas(sum, in[i]);
}
void launch_cas_sum(Job& job) {
    reset(job);
    cas_sum<<<job.one_each(job.threads()), job.threads()>>>(job.in, job.word, job.n);
}

// The sum of this thread's share. The tutorial's step is unsigned and may wrap. This one is an int,
// which cannot, so that nvcc unrolls the loop: many loads are in flight.
__device__ int strided_sum(const int* in, int n) {
    int sum = 0;
    for (int i = global_index(); i < n; i += threads_in_grid()) sum += in[i];
    return sum;
}

// The sum over a block's threads, in all of them. Shared memory also has atomics, and a queue for
// each block.
__device__ int reduce_block(int local) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();  // the sum is 0
    atomicAdd(&sum, local);
    __syncthreads();  // all threads have added
    return sum;
}

__global__ void block_sum(const int* in, int* sum, int n) {
    const int local = reduce_block(strided_sum(in, n));
    if (threadIdx.x == 0) atomicAdd(sum, local);
}
void launch_block_sum(Job& job) {
    reset(job);
    const int blocks = job.sample.blocks_to_fill(block_sum, job.threads());
    block_sum<<<blocks, job.threads()>>>(job.in, job.word, job.n);
}

// The sum of this thread's share. The blocks read in tiles: four loads of 16 bytes a thread are in
// flight before the first value is used. The first threads of the grid add the last n % 4 numbers.
constexpr int loads = 4;
static_assert(sizeof(int4) == 4 * sizeof(int), "one load must bring four ints");
__device__ int sum_of(int4 pack) { return pack.x + pack.y + pack.z + pack.w; }
__device__ int wide_sum(const int* in, int n) {
    const int4* packs = reinterpret_cast<const int4*>(in);
    const int tid = threadIdx.x, count = n / 4, tail = 4 * count + global_index();
    const int64_t tile = int64_t(loads) * blockDim.x;
    int sum = tail < n ? in[tail] : 0;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            int4 pack[loads];
            for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * blockDim.x + tid];
            for (int k = 0; k < loads; ++k) sum += sum_of(pack[k]);
        } else {
            for (int64_t i = first + tid; i < count; i += blockDim.x) sum += sum_of(packs[i]);
        }
    }
    return sum;
}

// Upper half: how many blocks have come by; lower half: the sum of what they brought. One atomicAdd
// does both. The block that comes last, by its old value, stores the sum and leaves 0 for the next
// launch. All travels in one word, so no fence is needed.
__device__ unsigned long long progress = 0;
__global__ void __launch_bounds__(1024, 2) vector_sum(const int* in, int* sum, int n) {
    const int local = reduce_block(wide_sum(in, n));
    if (threadIdx.x > 0) return;
    const unsigned long long old = atomicAdd(&progress, 1ull << 32 | unsigned(local));
    if (old >> 32 != gridDim.x - 1) return;
    *sum = int(unsigned(old)) + local;
    progress = 0;
}
void launch_vector_sum(Job& job) {
    const int blocks = job.sample.blocks_to_fill(vector_sum, job.threads());
    vector_sum<<<blocks, job.threads()>>>(job.in, job.word, job.n);
}

// ---- the tutorial's table of atomics ------------------------------------------------------------

// Each one on one word, and each thread keeps the old value that it gets. The function after a
// kernel is for the CPU: what the word holds after an operation that found `old`.
__global__ void atomic_add(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) old[i] = atomicAdd(word, in[i]);
}
int after_add(int old, int x) { return int(unsigned(old) + x); }  // unsigned: it may overflow

__global__ void atomic_sub(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) old[i] = atomicSub(word, in[i]);
}
int after_sub(int old, int x) { return int(unsigned(old) - x); }

__host__ __device__ int one_bit(int x) { return int(1u << (x & 31)); }
__global__ void atomic_and(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        old[i] = atomicAnd(word, ~one_bit(in[i]));
}
int after_and(int old, int x) { return old & ~one_bit(x); }

__global__ void atomic_or(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        old[i] = atomicOr(word, one_bit(in[i]));
}
int after_or(int old, int x) { return old | one_bit(x); }

__global__ void atomic_xor(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) old[i] = atomicXor(word, in[i]);
}
int after_xor(int old, int x) { return old ^ x; }

__global__ void atomic_min(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) old[i] = atomicMin(word, in[i]);
}
int after_min(int old, int x) { return std::min(old, x); }

__global__ void atomic_max(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) old[i] = atomicMax(word, in[i]);
}
int after_max(int old, int x) { return std::max(old, x); }

// The host's counterpart is std::atomic's exchange(). Differs from what the tutorial says: an
// exchange does read, and returns what it found.
__global__ void atomic_exch(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid()) old[i] = atomicExch(word, in[i]);
}
int after_exch(int, int x) { return x; }

// The word says whose turn it is, 0 .. 7. The thread with the turn hands it on; others leave
// the word as it is.
__host__ __device__ int turn(int x) { return x & 7; }
__global__ void atomic_cas(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        old[i] = atomicCAS(word, turn(in[i]), turn(turn(in[i]) + 1));
}
int after_cas(int old, int x) { return old == turn(x) ? turn(turn(x) + 1) : old; }

void launch_atomic(Job& job);
struct Atomic {
    const char* name;
    const char* how;
    void (*kernel)(const int* in, int* word, int* old, int n);
    int start;                     // what the word holds before the launch
    int (*after)(int old, int x);  // see above
    bool one_end = true;           // does every order of the operations leave the same word?
    void (*launch)(Job&) = launch_atomic;
    int least_threads = 1;
};
void launch_atomic(Job& job) {
    const int threads = job.threads(), blocks = job.one_each(threads);
    job.atomic->kernel<<<blocks, threads>>>(job.in, job.word, job.out, job.n);
}
constexpr Atomic atomics[] = {
    {"add", "atomicAdd: old + x", atomic_add, 0, after_add},
    {"sub", "atomicSub: old - x", atomic_sub, 0, after_sub},
    {"and", "atomicAnd: a bit less", atomic_and, ~0, after_and},
    {"or", "atomicOr: a bit more", atomic_or, 0, after_or},
    {"xor", "atomicXor", atomic_xor, 0, after_xor},
    {"min", "atomicMin of ints", atomic_min, 0x7fffffff, after_min},
    {"max", "atomicMax of ints", atomic_max, int(0x80000000), after_max},
    {"exch", "atomicExch: the old values link a list", atomic_exch, 0, after_exch, false},
    {"cas", "atomicCAS: who has the turn, 0 .. 7, hands it on", atomic_cas, 0, after_cas, false},
};

// ---- the check of old values --------------------------------------------------------------------

// Where a value is in a sorted array: its first place. (std::lower_bound does the same. The CPU
// device's build does not inline it, and would spend more than half of this sample's time there.)
int index_of(const std::vector<int>& sorted, int value) {
    const int* values = sorted.data();
    int low = 0, high = int(sorted.size());  // the place is in between
    while (low < high) {
        const int middle = (low + high) / 2;
        if (values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int count_distinct(const std::vector<int>& values) {
    const std::vector<int> sorted = lab::sorted(values);
    int count = 0;
    for (size_t k = 0; k < sorted.size(); ++k) count += k == 0 || sorted[k] != sorted[k - 1];
    return count;
}

// Union-find: each value has a parent, and connected values have the same root.
int root_of(std::vector<int>& parent, int k) {
    while (parent[k] != k) k = parent[k] = parent[parent[k]];  // and the way becomes shorter
    return k;
}

// Operation i says that it found old[i], so it left new_values[i]. Is there an order of the
// operations in which each finds what the one before it left? That is a path from `start` to `end`
// along all edges old[i] -> new_values[i], an Eulerian path. It exists if every value is found
// as often as it is left, and all edges are connected. Returns what is wrong.
std::string no_order(int start, int end, const std::vector<int>& old,
                     const std::vector<int>& new_values) {
    std::vector<int> values = old;
    for (int value : new_values) values.push_back(value);
    values.push_back(start);
    values.push_back(end);
    values = lab::sorted(values);
    const int count = int(values.size());
    std::vector<int> left(count), parent(count);  // how often left, less how often found
    for (int k = 0; k < count; ++k)
        parent[k] = k > 0 && values[k] == values[k - 1] ? parent[k - 1] : k;
    ++left[index_of(values, start)];
    --left[index_of(values, end)];
    for (size_t i = 0; i < old.size(); ++i) {
        const int from = index_of(values, old[i]), to = index_of(values, new_values[i]);
        --left[from];
        ++left[to];
        parent[root_of(parent, from)] = root_of(parent, to);
    }
    const int root = root_of(parent, index_of(values, start));
    for (int k = 0; k < count; ++k) {
        if (left[k] != 0) return lab::text("%d was not found as often as left", values[k]);
        if (root_of(parent, k) != root)
            return lab::text("no way leads to the old value %d", values[k]);
    }
    return "";
}

// Operation i was that of x[i], and says that it found old[i]. The word ended as `end`.
std::string check_old_values(const Atomic& atomic, const int* x, const std::vector<int>& old,
                             int end) {
    std::vector<int> new_values;
    int want = atomic.start;
    for (size_t i = 0; i < old.size(); ++i) {
        new_values.push_back(atomic.after(old[i], x[i]));
        want = atomic.after(want, x[i]);
    }
    const std::string wrong = no_order(atomic.start, end, old, new_values);
    if (!atomic.one_end || end == want) return wrong;
    return lab::wanted(end, want) + (wrong.empty() ? "" : "; " + wrong);
}

// Before each launch: outputs that no thread has written are then visible.
void prepare(Job& job) {
    CHECK(cudaMemsetAsync(job.word, lab::poison_byte, sizeof(int)));
    CHECK(cudaMemsetAsync(job.out, lab::poison_byte, (job.n + 1) * sizeof(int)));
}
void prepare_atomic(Job& job) {
    prepare(job);
    CHECK(cudaMemcpy(job.word, &job.atomic->start, sizeof(int), cudaMemcpyHostToDevice));
}

std::vector<int> download(const int* words, int count) {
    std::vector<int> host(count);
    CHECK(cudaMemcpy(host.data(), words, count * sizeof(int), cudaMemcpyDeviceToHost));
    return host;
}

void check_atomic(Job& job, lab::Row& row) {
    const int end = download(job.word, 1)[0];
    const std::vector<int> old = download(job.out, job.n);
    row.wrong = check_old_values(*job.atomic, job.host_in, old, end);
    row.result = lab::with_commas(end);
    row.bytes = 8.0 * job.n;
    row.columns = {lab::with_commas(count_distinct(old))};
}

// Each atomic begins with a word of its own, and has a CPU's view of its own.
void run_atomic(lab::Sample& sample, Job& job, const Atomic& atomic) {
    if (!sample.wants(atomic.name)) return;
    lab::Row row;
    row.variant = atomic.name;
    job.atomic = &atomic;
    row.ms = sample.time(job, prepare_atomic, atomic.launch);
    check_atomic(job, row);
    sample.row(row);
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// block_sum, added to what the word held before.
void launch_not_reset(Job& job) {
    const int blocks = job.sample.blocks_to_fill(block_sum, job.threads());
    block_sum<<<blocks, job.threads()>>>(job.in, job.word, job.n);
}

// The new count instead of the old one: place 0 stays empty.
__global__ void new_value(const int* in, int* out, int* count, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        if (in[i] >= 2) out[atomicAdd(count, 1) + 1] = in[i];
}
void launch_new_value(Job& job) {
    reset(job);
    new_value<<<job.small_grid(), 512>>>(job.in, job.out, job.word, job.n);
}

// The sum is in a word of its own and stays there: all old values are right, and *word is not.
void launch_own_word(Job& job) {
    int* own = job.out + job.n;
    CHECK(cudaMemsetAsync(own, 0, sizeof *own));
    const int threads = job.threads(), blocks = job.one_each(threads);
    atomic_add<<<blocks, threads>>>(job.in, own, job.out, job.n);
}

// atomicCAS once, whether it succeeds or not.
__global__ void no_retry(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        old[i] = atomicCAS(word, *word, int(unsigned(*word) + in[i]));
}

// Negative numbers are taken for large ones.
__global__ void unsigned_max(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        old[i] = atomicMax(reinterpret_cast<unsigned*>(word), unsigned(in[i]));
}

// The new value instead of the old one.
__global__ void new_for_old(const int* in, int* word, int* old, int n) {
    for (int i = global_index(); i < n; i += threads_in_grid())
        old[i] = int(unsigned(atomicAdd(word, in[i])) + in[i]);
}

constexpr Atomic atomic_twins[] = {
    {"own_word", "adds in a word of its own, never copied to the result", atomic_add, 0, after_add,
     true, launch_own_word},
    {"no_retry", "an addition by atomicCAS, tried once", no_retry, 0, after_add},
    {"unsigned_max", "max of ints taken for unsigned", unsigned_max, int(0x80000000), after_max},
    {"new_for_old", "an addition: the new value for the old", new_for_old, 0, after_add},
};

// ---- check, table, main -------------------------------------------------------------------------

using Variant = lab::Variant<Job>;
constexpr Variant race[] = {
    {"race_sum", "the tutorial's *sum += x: lost updates", launch_race_sum}};
constexpr Variant sums[] = {
    {"atomic_sum", "sum: atomicAdd for each element", launch_atomic_sum},
    {"local_sum", "sum: atomicAdd for each thread, n / 4096 blocks of 512", launch_local_sum},
    {"block_sum", "sum: atomicAdd for each block", launch_block_sum},
    {"vector_sum", "sum: 16-byte loads; the last block delivers", launch_vector_sum, 4},  // n % 4
};
constexpr Variant sum_twins[] = {
    {"not_reset", "block_sum, with *sum as it was before", launch_not_reset}};
constexpr Variant cas_sums[] = {
    {"cas_sum", "CAS: a loop for each element", launch_cas_sum},
    {"cas_local_sum", "CAS: a loop for each thread, n / 4096 blocks of 512", launch_cas_local_sum},
};
constexpr Variant products[] = {{"cas_product", "CAS: a product, modulo 2^32", launch_cas_product}};
constexpr Variant float_sums[] = {
    {"cas_float_sum", "CAS: a sum of floats", launch_cas_float_sum},
    {"float_sum", "a sum of floats by atomicAdd", launch_float_sum},
};
constexpr Variant filters[] = {
    {"push_back", "filter: out[atomicAdd(count, 1)] = x", launch_push_back}};
constexpr Variant filter_twins[] = {
    {"new_value", "push_back to the new count, not to the old one", launch_new_value}};

template <class T>
void check_sum(Job& job, lab::Row& row) {
    T got = 0;
    CHECK(cudaMemcpy(&got, job.word, sizeof got, cudaMemcpyDeviceToHost));
    row.result = lab::with_commas(int64_t(got));
    row.bytes = 4.0 * job.n;
    row.wrong = got == T(job.want) ? "" : lab::wanted(got, T(job.want));
}

// Any order is right, so the output is sorted like what the filter must keep.
void check_filter(Job& job, lab::Row& row) {
    const int count = download(job.word, 1)[0];
    const std::vector<int> out = lab::sorted(download(job.out, job.want));
    row.result = lab::with_commas(count);
    row.bytes = 4.0 * (double(job.n) + job.want);
    row.wrong = count == job.want ? "" : lab::wanted(count, job.want) + " elements";
    for (int k = 0; k < job.want; ++k) {
        if (out[k] == job.kept[k]) continue;
        row.wrong += row.wrong.empty() ? "" : "; ";
        row.wrong += lab::text("element %d in ascending order: ", k);
        row.wrong += lab::wanted(out[k], job.kept[k]);
        return;
    }
}

#ifdef CUB_VERSION
void launch_cub(Job& job) {
    size_t bytes = scratch * sizeof(int);
    CHECK(cub::DeviceReduce::Sum(job.out, bytes, job.in, job.word, job.n));
}
#endif

int main(int argc, char** argv) {
    lab::Sample sample("05_atomics", "What is an atomic for, and what does contention cost?");
    int64_t cas_n = 16'384, least = 0;
    sample.defaults(lab::gpu ? 1 << 24 : 65'536, 0, 512, "elements, at most 2^30",
                    "blocks of every grid (default: the tutorial's, a thread an element, or what "
                    "fills the GPU)");
    sample.option("--few", cas_n, 1, 65'536,
                  "most numbers for atomicCAS: twice as many take up to four times as long");
    sample.option("--least", least, 0, 1,
                  "the smallest number, 0 or 1: with 1, every addition changes the word");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(sums, cas_sums, products, float_sums, atomics, filters);
    sample.twins(race, sum_twins, atomic_twins, filter_twins);
    sample.start(argc, argv);
    sample.at_most("--n", most_n >> least, "the sum of so many might not fit into an int");
    sample.at_most("--blocks", most_n / std::max(512, sample.threads()),
                   "are more than 2^30 threads");
    sample.require_memory((sample.shows_limit() ? 4 : 2) * sizeof(int), scratch * sizeof(int));
    if (sample.wants("whole_program")) sample.program(whole_program);

    // The sums get numbers 0 .. 3, and the atomics any bits. For the filter, one element in four is
    // 0 .. 3, and the others are any int.
    const int n = int(sample.n()), small_n = std::min(n, int(cas_n));
    std::vector<int> numbers(n), bits(small_n), elements(n), kept;
    for (int i = 0; i < n; ++i) {
        const uint64_t random = lab::random_bits(sample.seed(), i);
        numbers[i] = int(least + random % (4 - least));
        if (i < small_n) bits[i] = int(random);
        elements[i] = random % 4 ? int(random >> 32) : int(random >> 62);
        if (elements[i] >= 2) kept.push_back(elements[i]);
    }
    kept = lab::sorted(kept);
    lab::DeviceArray<int> in(numbers), word(1), out(int64_t(n) + scratch);  // new_value goes past n
    Job job{sample, n, in.get(), word.get(), out.get(), bits.data(), kept.data()};

    job.want = cpu_reference(numbers.data(), n);
    sample.new_table("the sum of " + lab::with_commas(n) + " numbers in one word");
    sample.limit_row(lab::Limit::read, int64_t(4) * n);
#ifdef CUB_VERSION
    sample.library_row("CUB", lab::library_version(CUB_VERSION), job, launch_cub, prepare,
                       check_sum<int>);
#endif
    sample.rows(job, race, prepare, check_sum<int>, lab::Kind::shown);
    sample.rows(job, sums, prepare, check_sum<int>);
    sample.rows(job, race, prepare, check_sum<int>);
    sample.rows(job, sum_twins, prepare, check_sum<int>);

    job.n = small_n;
    job.want = cpu_reference(numbers.data(), small_n);
    sample.new_table("the first " + lab::with_commas(small_n) + " of them, by atomicCAS");
    sample.rows(job, cas_sums, prepare, check_sum<int>);
    job.want = int(cpu_product(numbers.data(), small_n));
    sample.rows(job, products, prepare, check_sum<int>);
    job.want = cpu_reference(numbers.data(), small_n);
    sample.rows(job, float_sums, prepare, check_sum<float>);

    CHECK(cudaMemcpy(in.get(), bits.data(), small_n * sizeof(int), cudaMemcpyHostToDevice));
    sample.new_table(
        lab::text("%d operations on one word, and the old values that they return", small_n));
    sample.columns({"old values"});
    for (const Atomic& atomic : atomics) run_atomic(sample, job, atomic);
    for (const Atomic& atomic : atomic_twins) run_atomic(sample, job, atomic);

    job.n = n;
    job.want = int(kept.size());
    in.upload(elements);
    sample.new_table("a filter: which of " + lab::with_commas(n) + " elements are >= 2");
    sample.limit_row(lab::Limit::copy, int64_t(2) * (n + int64_t(kept.size())));
    sample.rows(job, filters, prepare, check_filter);
    sample.rows(job, filter_twins, prepare, check_filter);
    return sample.verdict();
}
