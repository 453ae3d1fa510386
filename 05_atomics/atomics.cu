// 05_atomics - what is an atomic for, and what does contention cost?
//
// `*p += x` reads, adds and writes; what another thread writes to *p in between is lost. An atomic does all three
// as one, and returns the old value that it found: with it, threads share out places among themselves.
//
// The sum of n numbers 0 .. 3, in one word                   (race_sum, the plain *p += x, is shown and not judged)
//   cas_sum         atomicCAS for each element until it succeeds      slow: of all threads that try, one succeeds
//   cas_local_sum   the thread adds up first, one such loop a thread  slow: fewer try, and still one succeeds
//   atomic_sum      atomicAdd for each element                        slow: one queue; the compiler folds a warp's adds
//   warp_sum        the warp adds up first, one atomicAdd a warp      as slow: what the compiler did for atomic_sum
//   local_sum       the thread adds up first, one atomicAdd a thread  slow: every thread of the grid queues once
//   block_sum       the block adds up first, one atomicAdd a block    slow: 4-byte loads; a memset for sum = 0
//   vector_sum      16-byte loads; the old value tells who is last    the memory's speed
// A filter: the elements >= 2 moved together, each to a place that an old value gave
//   push_back       out[atomicAdd(count, 1)] = x                      slow: one queue, though the compiler folds a warp
//   warp_filter     the warp asks for its places by one atomicAdd     slow: a wait for 32 elements; 4-byte loads
//   block_filter    staged in shared memory, one atomic for 4096      the memory's speed; the order is lost
//   ordered_filter  the same, counting on from the tiles before       a wait for these; the order is kept
// n increments, spread over 1 .. 2^20 words
//   spread          atomicAdd for each element                        slow while the words are few
//   spread_match    lanes with the same word add up first             slow once the words are many
//   spread_shared   counts in shared memory first                     fast while the words fit there
// Every atomic on one word, with all old values checked: add sub exch min max inc dec cas and or xor, and the
// operations cas_add, cas_mul, cas_float_add that atomicCAS builds (no atomic multiplies).
//
//   05_atomics --op max                              one atomic
//   05_atomics --wrong new_value                     a classic mistake
//   05_atomics --addresses --csv addresses.csv       all numbers of words, for a plot
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstring>
#include <numeric>

#include "lab.cuh"
#if __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#endif

using ull = unsigned long long;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int loads = 4;                        // 16-byte loads that a thread has in flight
constexpr int share = loads * 4 * warp;         // elements that a warp takes at once
constexpr int most_staged = 256;                // threads of a block that stages its elements in shared memory
constexpr int looks = 4;                        // times 32 tiles that an ordered filter looks at at once
constexpr int streamed = 8;                     // inputs of up to so many times the L2 are read past it
constexpr int most_shared_words = 4096;
constexpr int ring = 1000, turns = 8;           // for inc and dec, for cas
constexpr int index_bits = 30;                  // the filter's elements: 0 .. 3 on top, their own index below
constexpr int64_t narrow_n = int64_t(1) << index_bits;  // up to here, 32 bits hold the index, all sums and counts
constexpr int64_t most_n = 8'000'000'000;               // up to here, 32 bits hold how many a filter keeps
static_assert(3 * uint64_t(narrow_n) <= 0xffffffff, "the largest sum must fit into 32 bits");
static_assert(most_n / narrow_n < 255, "check_filter counts in a byte how often a value is kept");
static_assert(loads <= 4 && 4 * warp <= 255, "what a warp keeps of each load is counted in one byte of a word");

__host__ __device__ bool keep(unsigned x) { return x >> index_bits >= 2; }
struct Keep { __host__ __device__ bool operator()(unsigned x) const { return keep(x); } };  // as CUB wants it

// ---- the answer, slowly ----------------------------------------------------------------------------------------

/// What is done to one word. The last five are mistakes.
enum class Op { add, sub, exch, min, max, inc, dec, cas, and_, or_, xor_, cas_add, cas_mul, cas_float_add,
                plain_add, cas_once, unsigned_max, inc_past, new_value };

float as_float(unsigned bits) { float x; return std::memcpy(&x, &bits, sizeof(x)), x; }
unsigned as_bits(float x) { unsigned bits; return std::memcpy(&bits, &x, sizeof(x)), bits; }

/// What the word is after an operation with x that found `old` there.
unsigned after(Op op, unsigned old, unsigned x) {
    switch (op) {
        case Op::sub: return old - x;
        case Op::exch: return x;
        case Op::min: return std::min(int(old), int(x));
        case Op::max: return std::max(int(old), int(x));
        case Op::inc: return old >= x ? 0 : old + 1;
        case Op::dec: return old == 0 || old > x ? x : old - 1;
        case Op::cas: return old == x ? (x + 1) % turns : old;
        case Op::and_: return old & x;
        case Op::or_: return old | x;
        case Op::xor_: return old ^ x;
        case Op::cas_mul: return old * x;
        case Op::cas_float_add: return as_bits(as_float(old) + as_float(x));
        default: return old + x;
    }
}

using Words = std::vector<unsigned>;

/// Operation i says that it found old[i], so it left made[i]. Is there an order of the operations in which each
/// finds what the one before it left? That is a path from `start` to `end` along all edges old[i] -> made[i], and
/// Euler knew when there is one: if every value is found as often as it is left, and all edges hang together.
std::string no_order(unsigned start, unsigned end, const Words& old, const Words& made) {
    Words found = old, left = made;
    found.push_back(end), left.push_back(start);
    std::sort(found.begin(), found.end()), std::sort(left.begin(), left.end());
    const auto differ = std::mismatch(found.begin(), found.end(), left.begin());
    if (differ.first != found.end()) {
        const unsigned value = std::min(*differ.first, *differ.second);
        const auto times = [&](const auto& in) { return int(std::count(in.begin(), in.end(), value)); };
        return lab::text("the value %d was found %d times, left %d times", int(value), times(found), times(left));
    }
    found.erase(std::unique(found.begin(), found.end()), found.end());
    const auto place = [&](unsigned v) { return std::lower_bound(found.begin(), found.end(), v) - found.begin(); };
    std::vector<int64_t> up(found.size());  // leads to the same root for all values that hang together
    std::iota(up.begin(), up.end(), 0);
    const auto root = [&](int64_t i) { while (up[i] != i) i = up[i] = up[up[i]]; return i; };
    for (size_t i = 0; i < old.size(); ++i) up[root(place(old[i]))] = root(place(made[i]));
    for (unsigned v : found)
        if (root(place(v)) != root(place(start))) return lab::text("no way leads to the old value %d", int(v));
    return "";
}

// ---- operations on one word ------------------------------------------------------------------------------------

// Makes an atomic of any function f: atomicCAS stores f(old) if the word is still `old`, and tells what it
// found. If that was something else, another thread came first: try again with it.
template <class F>
__device__ unsigned by_cas(unsigned* p, F f) {
    for (unsigned old = *p, found;; old = found)
        if ((found = atomicCAS(p, old, f(old))) == old) return old;
}

/// Does the operation and returns the value that it found.
template <Op op>
__device__ unsigned change(unsigned* p, unsigned x) {
    if constexpr (op == Op::add) return atomicAdd(p, x);
    else if constexpr (op == Op::sub) return atomicSub(p, x);
    else if constexpr (op == Op::exch) return atomicExch(p, x);
    else if constexpr (op == Op::min) return atomicMin(reinterpret_cast<int*>(p), int(x));
    else if constexpr (op == Op::max) return atomicMax(reinterpret_cast<int*>(p), int(x));
    else if constexpr (op == Op::inc) return atomicInc(p, x);  // 0 1 2 ... x 0 1 ...
    else if constexpr (op == Op::dec) return atomicDec(p, x);
    else if constexpr (op == Op::cas) return atomicCAS(p, x, (x + 1) % turns);  // whose turn it is hands on
    else if constexpr (op == Op::and_) return atomicAnd(p, x);
    else if constexpr (op == Op::or_) return atomicOr(p, x);
    else if constexpr (op == Op::xor_) return atomicXor(p, x);
    else if constexpr (op == Op::cas_add) return by_cas(p, [=](unsigned old) { return old + x; });
    else if constexpr (op == Op::cas_mul) return by_cas(p, [=](unsigned old) { return old * x; });
    else if constexpr (op == Op::cas_float_add)  // atomicCAS takes integers: the bits of the float
        return by_cas(p, [=](unsigned old) { return __float_as_uint(__uint_as_float(old) + __uint_as_float(x)); });
    else if constexpr (op == Op::plain_add) {
        const unsigned old = *p;
        return *p = old + x, old;  // wipes out what others have added since
    } else if constexpr (op == Op::cas_once) return atomicCAS(p, *p, *p + x);
    else if constexpr (op == Op::unsigned_max) return atomicMax(p, x);
    else if constexpr (op == Op::inc_past) return atomicInc(p, x + 1);
    else return atomicAdd(p, x) + x;
}

__device__ int64_t my_first() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ int64_t all_threads() { return int64_t(gridDim.x) * blockDim.x; }

template <Op op>
__global__ void keep_old(const unsigned* in, unsigned* word, unsigned* old, int64_t n) {
    for (int64_t i = my_first(); i < n; i += all_threads()) old[i] = change<op>(word, in[i]);
}

// ---- the sum, slow to fast -------------------------------------------------------------------------------------

template <Op op>
__global__ void per_element(const unsigned* in, unsigned* sum, int64_t n) {
    for (int64_t i = my_first(); i < n; i += all_threads()) change<op>(sum, in[i]);
}

__device__ unsigned fold_warp(unsigned x) {  // one instruction since compute capability 8.0, shuffles before
    namespace cg = cooperative_groups;
    return cg::reduce(cg::tiled_partition<warp>(cg::this_thread_block()), x, cg::plus<unsigned>());
}

__global__ void per_warp(const unsigned* in, unsigned* sum, int64_t n) {
    const int lane = threadIdx.x % warp;
    for (int64_t i = my_first(); i - lane < n; i += all_threads()) {  // all 32 lanes or none
        const unsigned x = fold_warp(i < n ? in[i] : 0);
        if (lane == 0) atomicAdd(sum, x);
    }
}

template <Op op>
__global__ void per_thread(const unsigned* in, unsigned* sum, int64_t n) {
    unsigned local = 0;
    for (int64_t i = my_first(); i < n; i += all_threads()) local += in[i];
    change<op>(sum, local);
}

__device__ unsigned fold_block(unsigned x) {  // thread 0 has the result
    __shared__ unsigned of_warp[warp];
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp, warps = blockDim.x / warp;
    x = fold_warp(x);
    if (lane == 0) of_warp[w] = x;
    __syncthreads();  // all warps have left their sums
    return w == 0 ? fold_warp(lane < warps ? of_warp[lane] : 0) : 0;
}

__global__ void per_block(const unsigned* in, unsigned* sum, int64_t n) {
    unsigned local = 0;
    for (int64_t i = my_first(); i < n; i += all_threads()) local += in[i];
    local = fold_block(local);
    if (threadIdx.x == 0) atomicAdd(sum, local);
}

union Four { uint4 bits; unsigned v[4]; };

// A warp's share of in[begin ..): in load k, lane by lane, four neighbours each. What lies beyond n is 0. Streaming
// loads leave the lines in the L2 where they are: good until the input is so large that those have to go anyway.
template <bool streaming>
__device__ void load_share(Four (&x)[loads], const unsigned* in, int64_t begin, int64_t n) {
    const int lane = threadIdx.x % warp;
    const uint4* fours = reinterpret_cast<const uint4*>(in + begin) + lane;
    const int64_t left = n - begin - 4 * lane;
    if (begin + share <= n)
        for (int k = 0; k < loads; ++k) x[k].bits = streaming ? __ldcs(fours + k * warp) : fours[k * warp];
    else
        for (int k = 0, at = 0; k < loads; ++k, at += 4 * warp)
            for (int j = 0; j < 4; ++j) x[k].v[j] = at + j < left ? in[begin + 4 * lane + at + j] : 0;
}

// Upper half: how many have come by; lower half: the sum of what they brought. One atomicAdd does both, and whoever
// comes last, by its old value, finishes the work and leaves 0 for the next launch. A sum that may overflow lies in
// the upper half (sum_bit = 32), where it carries into nothing.
__device__ ull progress = 0;

template <bool streaming, int sum_bit = 0>  // at most 32 registers a thread: an SM has room for two blocks of 1024
__global__ void __launch_bounds__(1024, 2) vectorised(const unsigned* in, unsigned* sum, int64_t n) {
    unsigned local = 0;
    for (int64_t begin = my_first() / warp * share; begin < n; begin += all_threads() / warp * share) {
        Four x[loads];
        load_share<streaming>(x, in, begin, n);
        for (const Four& four : x)
            for (unsigned value : four.v) local += value;
    }
    local = fold_block(local);
    if (threadIdx.x > 0) return;
    const ull old = atomicAdd(&progress, ull(1) << (32 - sum_bit) | ull(local) << sum_bit);
    if (old << sum_bit >> 32 == gridDim.x - 1) *sum = unsigned(old >> sum_bit) + local, progress = 0;
}

// ---- the filter, slow to fast ----------------------------------------------------------------------------------

template <Op op>
__global__ void push_back(const unsigned* in, unsigned* out, unsigned* count, int64_t n) {
    for (int64_t i = my_first(); i < n; i += all_threads())
        if (keep(in[i])) out[change<op>(count, 1)] = in[i];
}

// Lane 0 asks for as many places as the warp needs; a lane takes the one after those of the keepers before it.
__global__ void warp_aggregated(const unsigned* in, unsigned* out, unsigned* count, int64_t n) {
    const int lane = threadIdx.x % warp;
    for (int64_t i = my_first(); i - lane < n; i += all_threads()) {
        const unsigned x = i < n ? in[i] : 0, keepers = __ballot_sync(all_lanes, keep(x));
        unsigned first = 0;
        if (lane == 0 && keepers) first = atomicAdd(count, __popc(keepers));
        first = __shfl_sync(all_lanes, first, 0);
        if (keep(x)) out[first + __popc(keepers & ((1u << lane) - 1))] = x;
    }
}

__device__ unsigned scan_warp(unsigned x) {  // the sum over lane 0 .. this lane
    for (int offset = 1; offset < warp; offset *= 2) {
        const unsigned before = __shfl_up_sync(all_lanes, x, offset);
        if (int(threadIdx.x % warp) >= offset) x += before;
    }
    return x;
}

// How many the warp keeps of its share, and where a lane's keepers go: those of load k to at[k] and on. A lane's
// counts for its four loads are the bytes of one word, so that one scan does for all.
__device__ unsigned count_share(unsigned (&at)[loads], const Four (&x)[loads]) {
    unsigned counts = 0, kept = 0;
    for (int k = 0; k < loads; ++k)
        for (unsigned value : x[k].v) counts += unsigned(keep(value)) << 8 * k;
    const unsigned up_to = scan_warp(counts), totals = __shfl_sync(all_lanes, up_to, warp - 1);
    for (int k = 0; k < loads; ++k) {
        at[k] = kept + ((up_to - counts) >> 8 * k & 255);
        kept += totals >> 8 * k & 255;
    }
    return kept;
}

// What a tile tells the later ones is one word, number and meaning: no reader sees one without the other, and no
// fence is needed. narrow_n does not fit beside the meaning in an unsigned State, but only the last tile could say
// so, and to nobody; for more elements State is ull.
enum : unsigned { unknown, of_this_tile, up_to_this_tile };
template <class State>
__device__ void publish(State* state, unsigned kept, unsigned what) { atomicExch(state, State(kept) << 2 | what); }

// How many the tiles before this one keep: a warp adds up what they have published, back to one that knows its own
// answer (Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). Hundreds of tiles
// are under way: the words of 32 * looks travel together.
template <class State>
__device__ unsigned look_back(const volatile State* states, int64_t tile) {
    unsigned before = 0;
    for (int64_t mine = tile - 1 - threadIdx.x % warp;; mine -= looks * warp) {
        State state[looks];
        for (int k = 0; k < looks; ++k)
            state[k] = mine >= k * warp ? states[mine - k * warp] : State{up_to_this_tile};  // nothing is before tile 0
        for (int k = 0; k < looks; ++k) {
            while (__any_sync(all_lanes, (state[k] & 3) == unknown))
                if ((state[k] & 3) == unknown) state[k] = states[mine - k * warp];
            const unsigned complete = __ballot_sync(all_lanes, (state[k] & 3) == up_to_this_tile);
            const bool counts = !complete || int(threadIdx.x % warp) < __ffs(complete);
            before += fold_warp(counts ? unsigned(state[k] >> 2) : 0);
            if (complete) return before;
        }
    }
}

// Each warp counts and stages its share of a tile, warp 0 asks for the places of all, each copies its own, with the
// next tile on its way. If ordered, tiles are drawn in order: count[1] is the next one, and from count[2] on lie
// their states. All later tiles wait for one that is drawn: its block must wait for no other until it has published
// what the tile keeps, so it draws one only when its last look-back is over.
template <bool ordered, class State = unsigned>
__global__ void staged(const unsigned* in, unsigned* out, unsigned* count, int64_t n) {
    extern __shared__ unsigned stage[];
    __shared__ unsigned kept_by[warp], first;
    __shared__ int64_t next;
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp, warps = blockDim.x / warp;
    const int64_t tiles = (n + warps * share - 1) / (warps * share);
    unsigned* const my_stage = stage + w * share;
    State* const states = reinterpret_cast<State*>(count + 2);
    if (threadIdx.x == 0) next = ordered ? atomicAdd(count + 1, 1) : blockIdx.x;
    __syncthreads();  // the block's first tile is known
    int64_t tile = next;
    Four x[loads];
    if (tile < tiles) load_share<false>(x, in, (tile * warps + w) * share, n);
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
            for (unsigned value : x[k].v)
                if (keep(value)) my_stage[at[k]++] = value;
        const unsigned before = ordered && w == 0 ? look_back(states, tile) : 0;
        if (threadIdx.x == 0) {
            if constexpr (ordered) {
                publish(states + tile, before + total, up_to_this_tile);
                first = before;
                next = atomicAdd(count + 1, 1);
                if (tile == tiles - 1) *count = before + total;
            } else {
                const ull old = atomicAdd(&progress, ull(1) << 32 | total);  // one old value: place and next tile
                first = unsigned(old);
                next = gridDim.x + int64_t(old >> 32);
                if (int64_t(old >> 32) == tiles - 1) *count = unsigned(old) + total, progress = 0;
            }
        }
        __syncthreads();  // the stage is filled, its place and the next tile are known
        tile = next;
        if (tile < tiles) load_share<false>(x, in, (tile * warps + w) * share, n);
        unsigned* to = out + first + my_place;
        for (unsigned i = lane; i < kept; i += warp) __stcs(to + i, my_stage[i]);
    }
}

// ---- n increments: element x increments word x % words, a power of two -----------------------------------------

__global__ void spread(const unsigned* in, unsigned* out, int64_t n, unsigned words) {
    for (int64_t i = my_first(); i < n; i += all_threads()) atomicAdd(out + (in[i] & (words - 1)), 1);
}

__global__ void spread_match(const unsigned* in, unsigned* out, int64_t n, unsigned words) {
    const int lane = threadIdx.x % warp;
    for (int64_t i = my_first(); i - lane < n; i += all_threads()) {
        const unsigned at = i < n ? in[i] & (words - 1) : words;
        const unsigned peers = __match_any_sync(all_lanes, at);  // the lanes with the same word
        if (i < n && lane == __ffs(peers) - 1) atomicAdd(out + at, __popc(peers));
    }
}

__global__ void spread_shared(const unsigned* in, unsigned* out, int64_t n, unsigned words) {
    __shared__ unsigned counts[most_shared_words];
    for (unsigned k = threadIdx.x; k < words; k += blockDim.x) counts[k] = 0;
    __syncthreads();  // all counts are 0
    for (int64_t i = my_first(); i < n; i += all_threads()) atomicAdd(counts + (in[i] & (words - 1)), 1);
    __syncthreads();  // the block has counted
    for (unsigned k = threadIdx.x; k < words; k += blockDim.x)
        if (counts[k]) atomicAdd(out + k, counts[k]);
}

// ---- the tables of variants ------------------------------------------------------------------------------------

enum class Per { element, warp, thread, block };  // one atomic for each of these
enum : int { usual = 0, wrong = 1, shown = 2, first_few = 4, no_reset = 8, in_order = 16, tiled = 32,
             warps = 64 };  // warps: needs whole ones

template <class Kernel>
struct Variant {
    const char* name;
    Kernel* kernel;
    Per per;
    int traits;
    const char* how;
};
constexpr Variant<void(const unsigned*, unsigned*, int64_t)> sums[] = {
    {"not_reset", per_block, Per::block, wrong | no_reset | warps, "block_sum, with *sum as the last run left it"},
    {"race_sum", per_element<Op::plain_add>, Per::element, wrong | shown,
     "*sum += x: lost updates, where threads run at once or interrupt each other"},
    {"cas_sum", per_element<Op::cas_add>, Per::element, first_few, "sum: an atomicCAS loop for each element"},
    {"cas_local_sum", per_thread<Op::cas_add>, Per::thread, first_few, "sum: an atomicCAS loop for each thread"},
    {"atomic_sum", per_element<Op::add>, Per::element, usual, "sum: atomicAdd for each element"},
    {"warp_sum", per_warp, Per::warp, warps, "sum: atomicAdd for each warp and step"},
    {"local_sum", per_thread<Op::add>, Per::thread, usual, "sum: atomicAdd for each thread"},
    {"block_sum", per_block, Per::block, warps, "sum: atomicAdd for each block"},
    {"vector_sum", vectorised<true>, Per::block, no_reset | tiled | warps,
     "sum: 16-byte loads; the last block finishes"},
};
constexpr Variant<void(const unsigned*, unsigned*, unsigned*, int64_t)> filters[] = {
    {"push_back", push_back<Op::add>, Per::element, usual, "filter: out[atomicAdd(count, 1)] = x"},
    {"warp_filter", warp_aggregated, Per::warp, warps, "filter: one atomicAdd for the places of a warp"},
    {"block_filter", staged<false>, Per::block, no_reset | warps,
     "filter: staged in shared memory, one atomic a tile"},
    {"ordered_filter", staged<true>, Per::block, in_order | warps,
     "filter: staged, and in the order of the input"},
    {"race_filter", push_back<Op::plain_add>, Per::element, wrong, "push_back with (*count)++: see race_sum"},
    {"new_value", push_back<Op::new_value>, Per::element, wrong, "push_back to the new count, not to the old one"},
};
constexpr Variant<void(const unsigned*, unsigned*, int64_t, unsigned)> spreads[] = {
    {"spread", spread, Per::element, usual, "many words: atomicAdd for each element"},
    {"spread_match", spread_match, Per::warp, warps, "many words: lanes with the same word add up first"},
    {"spread_shared", spread_shared, Per::block, usual, "many words: counts in shared memory first"},
};
struct Atomic {
    const char* name;
    void (*kernel)(const unsigned*, unsigned*, unsigned*, int64_t);
    Op op;
    unsigned start;
    int traits;
    const char* how;
};
constexpr Atomic atomics[] = {
    {"add", keep_old<Op::add>, Op::add, 0, usual, "atomicAdd: old + x"},
    {"sub", keep_old<Op::sub>, Op::sub, 0, usual, "atomicSub: old - x"},
    {"exch", keep_old<Op::exch>, Op::exch, ~0u, usual, "atomicExch: x; with x = i, the old values link a list"},
    {"min", keep_old<Op::min>, Op::min, 0x7fffffff, usual, "atomicMin of signed numbers"},
    {"max", keep_old<Op::max>, Op::max, 0x80000000, usual, "atomicMax of signed numbers"},
    {"inc", keep_old<Op::inc>, Op::inc, 0, usual, "atomicInc: places in a ring of 1000, upwards"},
    {"dec", keep_old<Op::dec>, Op::dec, 0, usual, "atomicDec: places in a ring of 1000, downwards"},
    {"cas", keep_old<Op::cas>, Op::cas, 0, usual, "atomicCAS: who has the turn, 0 .. 7, hands it on"},
    {"and", keep_old<Op::and_>, Op::and_, ~0u, usual, "atomicAnd: each takes one bit away"},
    {"or", keep_old<Op::or_>, Op::or_, 0, usual, "atomicOr: each sets one bit"},
    {"xor", keep_old<Op::xor_>, Op::xor_, 0, usual, "atomicXor with random bits"},
    {"cas_add", keep_old<Op::cas_add>, Op::cas_add, 0, usual, "an addition by atomicCAS"},
    {"cas_mul", keep_old<Op::cas_mul>, Op::cas_mul, 1, usual, "a multiplication by atomicCAS, modulo 2^32"},
    {"cas_float_add", keep_old<Op::cas_float_add>, Op::cas_float_add, 0, usual, "a float addition by atomicCAS"},
    {"no_retry", keep_old<Op::cas_once>, Op::cas_add, 0, wrong, "atomicCAS once, done or not: see race_sum"},
    {"unsigned_max", keep_old<Op::unsigned_max>, Op::max, 0x80000000, wrong, "max of signed numbers as unsigned"},
    {"inc_past", keep_old<Op::inc_past>, Op::inc, 0, wrong, "atomicInc(&place, 1000) for 1000 places"},
};

/// The x of operation i: random, but such that the operation has something to do.
unsigned operand(Op op, uint64_t bits, unsigned i) {
    switch (op) {
        case Op::exch: return i;
        case Op::inc: case Op::dec: return ring - 1;
        case Op::cas: return bits % turns;
        case Op::and_: return ~(1u << bits % 32);
        case Op::or_: return 1u << bits % 32;
        case Op::cas_mul: return bits | 1;  // a factor of 2 too many and all is 0
        case Op::cas_float_add: return as_bits(bits % 4);  // whole numbers: every order gives the same sum
        default: return bits;
    }
}

// ---- run, check, time ------------------------------------------------------------------------------------------

template <class V>
bool asked(const lab::Sample& sample, const V& v) {
    return v.traits & wrong ? sample.wants_twin(v.name) : sample.wants(v.name);
}

/// One thread an element, or a grid that fills the GPU once and loops.
template <class V>
int blocks_for(const lab::Sample& sample, const V& v, int64_t n, int threads, size_t shared_bytes = 0) {
    const bool loops = sample.blocks() || v.per == Per::thread || v.per == Per::block;
    return loops ? sample.blocks_to_fill(v.kernel, threads, shared_bytes) : (n + threads - 1) / threads;
}

template <class F>
Words make_input(const lab::Sample& sample, int64_t n, F f) {
    Words in(n);
    for (int64_t i = 0; i < n; ++i) in[i] = f(lab::random_bits(sample.seed(), i), i);
    return in;
}

/// What the tables say of sums and counts that may overflow: the word holds them modulo 2^32, and so does the check.
const char* modulo(int64_t n) { return n > narrow_n ? ", modulo 2^32" : ""; }

#ifdef CUB_VERSION
constexpr bool cub_takes(int64_t n) { return CUB_VERSION >= 300000 || n <= narrow_n; }  // older ones count in ints
#endif

void run_sums(lab::Sample& sample, int64_t few) {
    const int64_t n = sample.n();
    const Words in = make_input(sample, n, [](uint64_t bits, int64_t) { return bits % 4; });
    const lab::DeviceArray<unsigned> d_in(in);
    lab::DeviceArray<unsigned> d_sum(1);
    const auto poison = [&] { d_sum.poison(); };
    const auto row = [&](const char* name, int64_t m, const std::string& atomics, double ms, lab::Kind kind) {
        const int64_t got = d_sum.download()[0], want = std::accumulate(in.begin(), in.begin() + m, 0u);
        const std::string lost = lab::with_commas(want - got), sum = lab::with_commas(got);
        const std::string problem = got == want ? "" : "got " + sum + ", wanted " + lab::with_commas(want);
        sample.row({name, sum, ms, 4.0 * m, problem, kind, {lab::with_commas(m), atomics, lost}});
    };

    sample.new_table(lab::text("the sum of %s numbers 0 .. 3 in one word%s", lab::with_commas(n).c_str(),
                               modulo(n)));
    sample.columns({"elements", "atomics", "lost"});
    sample.limit_row(lab::Sample::Limit::read, 4 * n);
#ifdef CUB_VERSION
    if (sample.wants_all() && cub_takes(n)) {
        size_t room = 0;
        const auto sum = [&](void* d_room) {
            if (n > narrow_n) CHECK(cub::DeviceReduce::Sum(d_room, room, d_in.get(), d_sum.get(), n));
            else CHECK(cub::DeviceReduce::Sum(d_room, room, d_in.get(), d_sum.get(), int(n)));
        };
        sum(nullptr);
        lab::DeviceArray<char> d_room(std::max<int64_t>(room, 1));
        row("CUB", n, "-", sample.time(poison, [&] { sum(d_room.get()); }), lab::Kind::library);
    }
#endif
    for (const auto& v : sums) {
        const bool show = v.traits & shown && sample.wants_all(), loop = v.traits & first_few;
        if (!asked(sample, v) && !show) continue;
        const int threads = sample.threads();
        const int64_t m = loop && v.per == Per::element ? std::min(n, few) : n;
        int64_t blocks = blocks_for(sample, v, m, threads);
        if (loop) blocks = std::min(blocks, std::max<int64_t>(1, few / threads));
        const bool past_l2 = v.traits & tiled && 4 * n > streamed * int64_t(sample.properties().l2CacheSize);
        const bool overflows = v.traits & tiled && n > narrow_n;
        const auto kernel = overflows ? vectorised<false, 32> : past_l2 ? vectorised<false> : v.kernel;
        if (v.traits & tiled && !sample.blocks()) blocks = std::min(blocks, (n - 1) / (4 * loads * threads) + 1);
        const double ms = sample.time(poison, [&] {
            if (!(v.traits & no_reset)) CHECK(cudaMemsetAsync(d_sum.get(), 0, d_sum.bytes()));
            kernel<<<blocks, threads>>>(d_in.get(), d_sum.get(), m);
        });
        const int64_t atomics = v.traits & shown ? 0 : v.per == Per::element ? m : v.per == Per::block ? blocks
                              : v.per == Per::warp ? (m + warp - 1) / warp : blocks * threads;
        const std::string at_least = loop ? ">= " : "";  // a failed attempt is one, too
        row(v.name, m, at_least + lab::with_commas(atomics), ms, show ? lab::Kind::shown : lab::Kind::variant);
    }
}

void run_atomics(lab::Sample& sample, const std::string& only, int64_t few) {
    const int64_t n = std::min(sample.n(), few);
    sample.new_table(lab::text("%s operations on one word: what they leave, and every old value that they return",
                               lab::with_commas(n).c_str()));
    sample.columns({"old values"});
    lab::DeviceArray<unsigned> d_in(n), d_word(1), d_old(n);
    for (const Atomic& v : atomics) {
        if (!asked(sample, v) || (only != "all" && only != v.name)) continue;
        const auto in = make_input(sample, n, [&](uint64_t bits, int64_t i) { return operand(v.op, bits, i); });
        d_in.upload(in);
        const int blocks = sample.blocks() ? sample.blocks() : (n + sample.threads() - 1) / sample.threads();
        const double ms = sample.time([&] { d_old.poison(), d_word.upload({v.start}); }, [&] {
            v.kernel<<<blocks, sample.threads()>>>(d_in.get(), d_word.get(), d_old.get(), n);
        });
        const unsigned end = d_word.download()[0];
        Words old = d_old.download(), made(n);
        unsigned want = v.start;
        for (int64_t i = 0; i < n; ++i) made[i] = after(v.op, old[i], in[i]), want = after(v.op, want, in[i]);
        const bool is_float = v.op == Op::cas_float_add, one_answer = v.op != Op::exch && v.op != Op::cas;
        const auto text = [&](unsigned x) { return lab::with_commas(is_float ? int(as_float(x)) : int(x)); };
        std::string problem = no_order(v.start, end, old, made);  // exch and cas: any order's answer is right
        if (one_answer && end != want) problem = "got " + text(end) + ", wanted " + text(want) + "; " + problem;
        std::sort(old.begin(), old.end());
        const int64_t different = std::unique(old.begin(), old.end()) - old.begin();
        sample.row({v.name, text(end), ms, 8.0 * n, problem, lab::Kind::variant, {lab::with_commas(different)}});
    }
}

/// Are these the elements that must be kept, each as often? In which order, an unordered filter may choose.
std::string check_filter(const Words& in, int64_t kept, int64_t count, const lab::DeviceArray<unsigned>& d_out,
                         bool ordered) {
    if (count != kept) return "kept " + lab::with_commas(count) + ", wanted " + lab::with_commas(kept);
    const Words out = d_out.download(kept);
    const auto at = [&](int64_t i, const std::string& what) {
        return "out[" + lab::with_commas(i) + lab::text("] is 0x%08x, ", out[i]) + what;
    };
    if (ordered) {
        for (int64_t i = 0, from = 0; i < kept; ++i, ++from) {
            while (!keep(in[from])) ++from;
            if (out[i] != in[from]) return at(i, lab::text("wanted 0x%08x", in[from]));
        }
        return "";
    }
    const auto slot = [](unsigned x) { return 2 * (x % narrow_n) + (x >> index_bits & 1); };  // of 2 and 3
    std::vector<uint8_t> left(2 * std::min<int64_t>(in.size(), narrow_n));  // how often each is still to come
    for (unsigned x : in) left[slot(x)] += keep(x);
    for (int64_t i = 0; i < kept; ++i) {
        if (keep(out[i]) && slot(out[i]) < int64_t(left.size()) && left[slot(out[i])]-- > 0) continue;
        const bool known = keep(out[i]) && std::find(in.begin(), in.end(), out[i]) != in.end();
        return at(i, known ? "too often" : "none of the elements to be kept");
    }
    return "";
}

void run_filters(lab::Sample& sample) {
    const int64_t n = sample.n();
    const bool wide = n > narrow_n;
    const auto in = make_input(sample, n, [](uint64_t bits, int64_t i) { return bits << index_bits | i % narrow_n; });
    const int64_t kept = std::count_if(in.begin(), in.end(), keep);
    const lab::DeviceArray<unsigned> d_in(in);
    lab::DeviceArray<unsigned> d_out(n + 1), d_count(2 + (n / share + 1) * (wide ? 2 : 1));  // new_value goes past n
    const double bytes = 4.0 * (n + kept);
    const auto poison = [&] { d_out.poison(), d_count.poison(); };
    const auto row = [&](const char* name, bool ordered, double ms, lab::Kind kind) {
        const int64_t count = d_count.download(1)[0];
        sample.row({name, lab::with_commas(count), ms, bytes, check_filter(in, kept, count, d_out, ordered), kind});
    };

    sample.new_table(lab::text("a filter: which of %s elements are >= 2", lab::with_commas(n).c_str()));
    sample.limit_row(lab::Sample::Limit::copy, bytes / 2);
#ifdef CUB_VERSION
    if (sample.wants_all() && cub_takes(n)) {
        size_t room = 0;
        const auto select = [&](void* d_room) {
            CHECK(cub::DeviceSelect::If(d_room, room, d_in.get(), d_out.get(), d_count.get(), n, Keep()));
        };
        select(nullptr);
        lab::DeviceArray<char> d_room(std::max<int64_t>(room, 1));
        row("CUB", true, sample.time(poison, [&] { select(d_room.get()); }), lab::Kind::library);
    }
#endif
    for (const auto& v : filters) {
        if (!asked(sample, v)) continue;
        const bool stages = v.per == Per::block, ordered = v.traits & in_order;
        const int threads = stages ? std::min(sample.threads(), most_staged) : sample.threads();
        const size_t stage = stages ? threads / warp * share * sizeof(unsigned) : 0;
        const int blocks = blocks_for(sample, v, n, threads, stage);
        const auto kernel = ordered && wide ? staged<true, ull> : v.kernel;
        const double ms = sample.time(poison, [&] {
            if (!(v.traits & no_reset)) CHECK(cudaMemsetAsync(d_count.get(), 0, ordered ? d_count.bytes() : 4));
            kernel<<<blocks, threads, stage>>>(d_in.get(), d_out.get(), d_count.get(), n);
        });
        row(v.name, ordered, ms, lab::Kind::variant);
    }
}

void run_spreads(lab::Sample& sample, bool all_numbers) {
    const int64_t n = sample.n();
    const auto in = make_input(sample, n, [](uint64_t bits, int64_t) { return unsigned(bits); });
    const lab::DeviceArray<unsigned> d_in(in);
    sample.new_table(lab::text("%s increments, spread over more and more words%s", lab::with_commas(n).c_str(),
                               modulo(n)));
    sample.columns({"words", "per ns"});
    for (unsigned words = 1; words <= 1 << 20; words *= all_numbers ? 2 : 32) {
        Words want(words);
        for (unsigned x : in) ++want[x & (words - 1)];
        lab::DeviceArray<unsigned> d_out(words);
        for (const auto& v : spreads) {
            if (!asked(sample, v) || (v.per == Per::block && words > most_shared_words)) continue;
            const int blocks = blocks_for(sample, v, n, sample.threads());
            const double ms = sample.time([&] { d_out.poison(); }, [&] {
                CHECK(cudaMemsetAsync(d_out.get(), 0, d_out.bytes()));
                v.kernel<<<blocks, sample.threads()>>>(d_in.get(), d_out.get(), n, words);
            });
            const Words got = d_out.download();
            const int64_t k = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
            const std::string problem =
                k == words ? "" : lab::text("word %d: got %u, wanted %u", int(k), got[k], want[k]);
            const std::string rate = lab::gpu ? lab::text("%.2f", n / ms / 1e6) : "-";
            const std::string total = lab::with_commas(std::accumulate(got.begin(), got.end(), int64_t(0)));
            sample.row({v.name, total, ms, 4.0 * n, problem, lab::Kind::variant, {lab::with_commas(words), rate}});
        }
    }
}

int main(int argc, char** argv) {
    lab::Sample sample("05_atomics", "What is an atomic for, and what does contention cost?");
    int64_t few = 16'384;
    std::string op = "all";
    bool addresses = false;
    std::vector<std::string> ops = {op};
    for (const Atomic& v : atomics)
        if (v.op < Op::cas_add && !(v.traits & wrong)) ops.push_back(v.name);
    sample.defaults(lab::gpu ? 1 << 24 : 65'536, 0, 512, "elements, at most 8,000,000,000",
                    "blocks of every grid (default: one thread an element, or as many as fill the GPU once)");
    sample.option("--op", op, ops, "check only this atomic and its old values");
    sample.option("--few", few, 1, 65'536,
                  "most atomicCAS loops on one word: with twice as many, up to four times the time");
    sample.option("--addresses", addresses, "only the increments, spread over 1, 2, 4, ... 2^20 words");
    const auto tell = [&](const auto& table) {
        for (const auto& v : table) {
            const int least_threads = v.traits & warps ? lab::whole_warps : 1;
            v.traits & wrong ? sample.twin(v.name, v.how, least_threads)
                             : sample.variant(v.name, v.how, least_threads);
        }
    };
    tell(sums), tell(filters), tell(spreads), tell(atomics);
    sample.start(argc, argv);
    if (sample.n() > most_n)
        sample.refuse("more than 2^32 might be kept; type --n %lld or less", (long long)most_n);
    if (op != "all" && (addresses || !sample.wants_all()))
        sample.refuse("--op excludes --only, --wrong, --addresses");
    sample.require_memory(15, 1 << 23);  // the filter's input, output, states, and what the copy's row copies
    if (!sample.blocks()) sample.require_blocks();

    const bool tables = op == "all" && !(addresses && sample.wants_all());
    const auto any_asked = [&](const auto& table) {
        return std::any_of(std::begin(table), std::end(table), [&](const auto& v) { return asked(sample, v); });
    };
    if (tables && any_asked(sums)) run_sums(sample, few);
    if ((tables || op != "all") && any_asked(atomics)) run_atomics(sample, op, few);
    if (tables && any_asked(filters)) run_filters(sample);
    if ((tables || addresses) && any_asked(spreads)) run_spreads(sample, addresses);
    return sample.verdict();
}
