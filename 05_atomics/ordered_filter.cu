// 05_ordered_filter - how fast can a filter be, and what does it cost to keep the order?
//
// A filter moves the elements >= 2 together, each to a place that the old value of an atomic gave.
// In atomics.cu, push_back asks for an atomic for each element, and all queue at one word.
//   block_filter    staged in shared memory, one atomic for 4096    the memory's speed; no order
//   ordered_filter  the same, counting on from the tiles before     waits for them; keeps the order
//
//   05_ordered_filter --wrong dropped_tail     a classic mistake
//   nvcc -std=c++17 -arch=native -Icommon 05_atomics/ordered_filter.cu
//       common/lab.cpp common/write_file.cpp -o ordered_filter
#include "lab.cuh"
#if __has_include(<cub/device/device_select.cuh>)
#include <cub/device/device_select.cuh>
#endif

constexpr int most_n = 1 << 30;
constexpr int warp = 32, threads = 256;  // of a warp; of a block
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;                 // 16-byte loads that a thread has in flight
constexpr int share = loads * 4 * warp;  // elements that a warp takes at once
constexpr int warps = threads / warp;    // of a block, which takes a tile of warps * share elements
constexpr int staged_bytes = warps * share * int(sizeof(int));  // shared memory for a tile
constexpr int looks = 4;  // times 32 tiles that an ordered filter looks at at once
static_assert(loads <= 4 && 4 * warp <= 255, "a warp counts each load in one byte of a word");
static_assert(warps <= warp, "one warp must be able to add up what all warps of a block keep");

// ---- CPU reference ------------------------------------------------------------------------------

__host__ __device__ bool keep(int x) { return x >= 2; }

std::vector<int> cpu_reference(const std::vector<int>& in) {
    std::vector<int> kept;
    for (int x : in)
        if (keep(x)) kept.push_back(x);
    return kept;
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Job {  // what a launch needs
    const lab::Sample& sample;
    int n;
    const int* in;
    int* out;
    unsigned* count;               // the result; then the next tile, and a state for each tile
    int64_t count_words;           // so many words in all
    const std::vector<int>& kept;  // the CPU's result
    char* memory;                  // for CUB to work in
    size_t memory_bytes;
};

union Four {
    int4 pack;
    int v[4];
};

// A warp's share of in[begin ..): in load k, lane by lane, four neighbours each. Past n it is 0.
__device__ void load_share(Four (&x)[loads], const int* in, int64_t begin, int n) {
    const int lane = threadIdx.x % warp;
    const int4* packs = reinterpret_cast<const int4*>(in + begin) + lane;
    const int64_t left = n - begin - 4 * lane;
    if (begin + share <= n) {
        for (int k = 0; k < loads; ++k) x[k].pack = packs[k * warp];
    } else {
        for (int k = 0; k < loads; ++k)
            for (int j = 0; j < 4; ++j) {
                const int i = k * 4 * warp + j;
                x[k].v[j] = i < left ? in[begin + 4 * lane + i] : 0;
            }
    }
}

// The sum over lane 0 .. this lane.
__device__ unsigned scan_warp(unsigned x) {
    for (int offset = 1; offset < warp; offset *= 2) {
        const unsigned before = __shfl_up_sync(all_lanes, x, offset);
        if (int(threadIdx.x % warp) >= offset) x += before;
    }
    return x;
}

// Returns how many the warp keeps of its share. A lane stores what it keeps of load k from at[k]
// on. A lane's counts for its four loads are the bytes of one word, so that one scan is enough for
// all.
__device__ unsigned count_share(unsigned (&at)[loads], const Four (&x)[loads]) {
    unsigned counts = 0;
    for (int k = 0; k < loads; ++k)
        for (int value : x[k].v) counts += unsigned(keep(value)) << 8 * k;
    const unsigned up_to = scan_warp(counts), totals = __shfl_sync(all_lanes, up_to, warp - 1);
    unsigned kept = 0;
    for (int k = 0; k < loads; ++k) {
        at[k] = kept + ((up_to - counts) >> 8 * k & 255);
        kept += totals >> 8 * k & 255;
    }
    return kept;
}

// A tile tells the later ones one word, number and meaning. No reader sees one without the
// other, and no fence is needed. 2^30 does not fit beside the meaning, but only the last tile could
// say so, and no tile reads that.
enum : unsigned { unknown, of_this_tile, up_to_this_tile };
__device__ void publish(unsigned* state, unsigned kept, unsigned what) {
    atomicExch(state, kept << 2 | what);
}

// Returns how many the tiles before this one keep. A warp adds up what they published, back to one
// that knows its own answer (Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", 2016). Hundreds of tiles are under way: the words of 32 * looks travel together.
__device__ unsigned look_back(const volatile unsigned* states, int64_t tile) {
    const int lane = threadIdx.x % warp;
    unsigned before = 0;
    for (int64_t mine = tile - 1 - lane;; mine -= looks * warp) {
        unsigned state[looks];
        for (int k = 0; k < looks; ++k)  // nothing is before tile 0
            state[k] = mine >= k * warp ? states[mine - k * warp] : up_to_this_tile;
        for (int k = 0; k < looks; ++k) {
            while (__any_sync(all_lanes, (state[k] & 3) == unknown))
                if ((state[k] & 3) == unknown) state[k] = states[mine - k * warp];
            const unsigned complete = __ballot_sync(all_lanes, (state[k] & 3) == up_to_this_tile);
            const bool counts = !complete || lane < __ffs(complete);
            before += __shfl_sync(all_lanes, scan_warp(counts ? state[k] >> 2 : 0), warp - 1);
            if (complete) return before;
        }
    }
}

// Upper half: how many tiles are done; lower half: what they keep. Back to 0 for the next launch.
__device__ unsigned long long progress = 0;

// Each warp counts and stages its share of a tile. Warp 0 asks for the places of all, and each warp
// copies its own, with the next tile on its way. If ordered, tiles are drawn in order from
// count[1]. All later ones wait for one that is drawn, so its block must not wait for another
// before it has published. It draws only when its last look-back is over.
template <bool ordered>
__global__ void staged(const int* in, int* out, unsigned* count, int n) {
    extern __shared__ int stage[];
    __shared__ unsigned kept_by[warp], first;
    __shared__ int64_t next;
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp;
    const int64_t tiles = (int64_t(n) + warps * share - 1) / (warps * share);
    int* const my_stage = stage + w * share;
    unsigned* const states = count + 2;
    if (threadIdx.x == 0) next = ordered ? atomicAdd(count + 1, 1) : blockIdx.x;
    __syncthreads();  // the block's first tile is known
    int64_t tile = next;
    Four x[loads];
    if (tile < tiles) load_share(x, in, (tile * warps + w) * share, n);
    while (tile < tiles) {
        unsigned at[loads];
        const unsigned kept = count_share(at, x);
        if (lane == 0) kept_by[w] = kept;
        __syncthreads();  // all warps have counted
        const unsigned up_to = scan_warp(lane < warps ? kept_by[lane] : 0);
        const unsigned total = __shfl_sync(all_lanes, up_to, warp - 1);
        const unsigned my_place = __shfl_sync(all_lanes, up_to, w) - kept;
        if (ordered && threadIdx.x == 0) publish(states + tile, total, of_this_tile);
        for (int k = 0; k < loads; ++k)
            for (int value : x[k].v)
                if (keep(value)) my_stage[at[k]++] = value;
        const unsigned before = ordered && w == 0 ? look_back(states, tile) : 0;
        if (threadIdx.x == 0) {
            if constexpr (ordered) {
                publish(states + tile, before + total, up_to_this_tile);
                first = before;
                next = atomicAdd(count + 1, 1);
                if (tile == tiles - 1) *count = before + total;
            } else {
                // the place and the next tile in one atomic
                const unsigned long long old = atomicAdd(&progress, 1ull << 32 | total);
                first = unsigned(old);
                next = gridDim.x + int64_t(old >> 32);
                if (int64_t(old >> 32) == tiles - 1) {
                    *count = unsigned(old) + total;
                    progress = 0;
                }
            }
        }
        __syncthreads();  // the stage is filled, its place and the next tile are known
        tile = next;
        if (tile < tiles) load_share(x, in, (tile * warps + w) * share, n);
        int* to = out + first + my_place;
        for (unsigned i = lane; i < kept; i += warp) __stcs(to + i, my_stage[i]);
    }
}
void launch_block_filter(Job& job) {
    const int blocks = job.sample.blocks_to_fill(staged<false>, threads, staged_bytes);
    staged<false><<<blocks, threads, staged_bytes>>>(job.in, job.out, job.count, job.n);
}
void launch_ordered_filter(Job& job) {
    const int blocks = job.sample.blocks_to_fill(staged<true>, threads, staged_bytes);
    CHECK(cudaMemsetAsync(job.count, 0, job.count_words * sizeof(unsigned)));
    staged<true><<<blocks, threads, staged_bytes>>>(job.in, job.out, job.count, job.n);
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// block_filter on whole shares of 512: the last elements, at least one, are never read.
void launch_dropped_tail(Job& job) {
    Job whole = job;
    whole.n = (job.n - 1) / share * share;
    launch_block_filter(whole);
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> unordered[] = {
    {"block_filter", "staged in shared memory, one atomic a tile", launch_block_filter},
};
constexpr lab::Variant<Job> ordered[] = {
    {"ordered_filter", "staged, and in the order of the input", launch_ordered_filter},
};
constexpr lab::Variant<Job> twins[] = {
    {"dropped_tail", "the last elements are never read", launch_dropped_tail},
};

// One element in four is 0 .. 3, the others are any int, some of them next to the limit. The
// index does not tell the value.
int element(uint64_t seed, int i) {
    const uint64_t random = lab::random_bits(seed, i);
    return random % 4 ? int(random >> 32) : int(random >> 62);
}

void prepare(Job& job) {
    CHECK(cudaMemsetAsync(job.out, lab::poison_byte, job.n * sizeof(int)));
    CHECK(cudaMemsetAsync(job.count, lab::poison_byte, job.count_words * sizeof(unsigned)));
}

// Equal for the same elements in any order. For other elements it differs, except with a chance of
// 1 in 2^64.
uint64_t fingerprint(const std::vector<int>& elements) {
    uint64_t sum = 0;
    for (int x : elements) sum += lab::random_bits(0, unsigned(x));
    return sum;
}

// The first element that differs, if one does.
std::string compare(const std::vector<int>& out, const std::vector<int>& kept, const char* order) {
    const auto differ = std::mismatch(out.begin(), out.end(), kept.begin());
    if (differ.first == out.end()) return "";
    return lab::text("element %d%s: ", int(differ.first - out.begin()), order) +
           lab::wanted(*differ.first, *differ.second);
}

// Returns the output, as many elements as must be kept. Fills in the row from the count.
std::vector<int> download(const Job& job, lab::Row& row) {
    unsigned count = 0;
    CHECK(cudaMemcpy(&count, job.count, sizeof count, cudaMemcpyDeviceToHost));
    std::vector<int> out(job.kept.size());
    CHECK(cudaMemcpy(out.data(), job.out, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
    const int got = int(count), want = int(out.size());
    row.result = lab::with_commas(got);
    row.bytes = 4.0 * (job.n + double(want));
    row.wrong = got == want ? "" : lab::wanted(got, want);
    return out;
}
void check_ordered(Job& job, lab::Row& row) {
    const std::vector<int> out = download(job, row);
    if (row.wrong.empty()) row.wrong = compare(out, job.kept, "");
}

// Each kept element must occur as often as in the input. Any order is right, so both are sorted to
// name the first that differs. Sorting half of 2^30 elements takes a minute, so right ones are
// recognised by their fingerprint.
void check_unordered(Job& job, lab::Row& row) {
    const std::vector<int> out = download(job, row);
    if (!row.wrong.empty() || fingerprint(out) == fingerprint(job.kept)) return;
    row.wrong = compare(lab::sorted(out), lab::sorted(job.kept), " in ascending order");
}

#ifdef CUB_VERSION
struct Keep {  // as CUB wants it
    __host__ __device__ bool operator()(int x) const { return keep(x); }
};
void launch_cub(Job& job) {
    size_t bytes = job.memory_bytes;
    CHECK(cub::DeviceSelect::If(job.memory, bytes, job.in, job.out, job.count, job.n, Keep()));
}
#endif

int main(int argc, char** argv) {
    lab::Sample sample("05_ordered_filter",
                       "How fast can a filter be, and what does it cost to keep the order?");
    sample.defaults(lab::gpu ? 1 << 24 : 65'536, 0, 0, "elements, at most 2^30",
                    "blocks (default: fill the GPU)");
    sample.variants(unordered, ordered);
    sample.twins(twins);
    sample.start(argc, argv);
    sample.at_most("--n", most_n, "it counts in an int");
    sample.require_memory(16, 1 << 21);  // in, out, states, and what the limit's row copies
    const int n = int(sample.n());
    std::vector<int> host_in(n);
    for (int i = 0; i < n; ++i) host_in[i] = element(sample.seed(), i);
    const std::vector<int> kept = cpu_reference(host_in);

    lab::DeviceArray<int> in(host_in), out(n);
    lab::DeviceArray<unsigned> count(3 + n / share);             // more states than tiles
    lab::DeviceArray<char> memory(int64_t(n) / 64 + (1 << 20));  // more than CUB asks for
    Job job{sample,       n,    in.get(),     out.get(),     count.get(),
            count.size(), kept, memory.get(), memory.bytes()};

    sample.new_table("a filter: which of " + lab::with_commas(n) + " elements are >= 2");
    sample.limit_row(lab::Limit::copy, int64_t(2) * (n + int64_t(kept.size())));
#ifdef CUB_VERSION
    sample.library_row("CUB", lab::library_version(CUB_VERSION), job, launch_cub, prepare,
                       check_ordered);
#endif
    sample.rows(job, unordered, prepare, check_unordered);
    sample.rows(job, ordered, prepare, check_ordered);
    sample.rows(job, twins, prepare, check_unordered);
    return sample.verdict();
}
