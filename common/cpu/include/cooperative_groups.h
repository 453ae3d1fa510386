// cooperative_groups.h - cooperative groups: groups within a block, and the whole grid.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

using cudacpu::ull;

// Base of all groups: a block, or some lanes of one warp. Ranks number the lanes from the lowest.
struct thread_group {
    unsigned mask = 0, meta_rank = 0, meta_size = 1;  // an empty mask: the block
    unsigned size() const { return mask ? __popc(mask) : blockDim.x * blockDim.y * blockDim.z; }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return mask ? __popc(mask & ((1u << cudacpu::lane()) - 1)) : cudacpu::rank; }
    CUDACPU_INLINE void sync(CUDACPU_HERE) const { mask ? __syncwarp(mask, where) : __syncthreads(where); }
};

struct thread_block : thread_group {
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }
template <unsigned Size = 1024> struct block_tile_memory {
    static_assert(Size > 1024, "tiles of more than 32 threads: the CPU device has none");
};

struct grid_group {
    void sync(CUDACPU_HERE) const { cudacpu::grid_barrier(where); }
    static bool is_valid() { return true; }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
    ull num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    ull block_rank() const { return blockIdx.x + gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z); }
    ull size() const { return num_blocks() * this_thread_block().size(); }
    ull num_threads() const { return size(); }
    ull thread_rank() const { return block_rank() * this_thread_block().size() + cudacpu::rank; }
};
inline grid_group this_grid() { return {}; }

template <class Group> void sync(const Group& group, CUDACPU_HERE) { group.sync(where); }
template <class Group> auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> auto group_size(const Group& group) { return group.size(); }

struct coalesced_group : thread_group {
    unsigned meta_group_rank() const { return meta_rank; }
    unsigned meta_group_size() const { return meta_size; }
    template <class T> T from(unsigned rank, const char* what, T value, cudacpu::Where where) const {
        const cudacpu::Lanes lanes(what, mask, value, where);
        unsigned rest = mask;
        while (rest && rank--) rest &= rest - 1;
        const int source_lane = rest ? __builtin_ctz(rest) : cudacpu::lane();  // its own if no lane has that rank
        const T result = lanes.get<T>(source_lane);
        cudacpu::took(&result, sizeof result, source_lane);
        return result;
    }
#define CUDACPU_FROM(rank, name, N) \
    template <class T> T name(T v, N n, CUDACPU_HERE) const { return from(rank, #name "()", v, where); }
    CUDACPU_FROM(unsigned(n) % size(), shfl, int)
    CUDACPU_FROM(thread_rank() - n, shfl_up, unsigned)
    CUDACPU_FROM(thread_rank() + n, shfl_down, unsigned)
    CUDACPU_FROM(thread_rank() ^ n, shfl_xor, unsigned)
    unsigned ranks(unsigned lanes) const {
        unsigned bits = 0, rest = mask;
        for (unsigned bit = 1; rest; bit *= 2, rest &= rest - 1) bits |= lanes & rest & -rest ? bit : 0;
        return bits;
    }
    int any(int p, CUDACPU_HERE) const { return __any_sync(mask, p, where); }
    int all(int p, CUDACPU_HERE) const { return __all_sync(mask, p, where); }
    unsigned ballot(int p, CUDACPU_HERE) const { return ranks(__ballot_sync(mask, p, where)); }
    template <class T> unsigned match_any(T v, CUDACPU_HERE) const {
        return ranks(__match_any_sync(mask, v, where));
    }
    template <class T> unsigned match_all(T v, int& all, CUDACPU_HERE) const {
        return ranks(__match_all_sync(mask, v, &all, where));
    }
};
inline coalesced_group coalesced_threads(CUDACPU_HERE) { return {{__activemask(where)}}; }

template <unsigned Size, class Parent = void> struct thread_block_tile : thread_block_tile<Size> {
    using thread_block_tile<Size>::thread_block_tile;
};
template <unsigned Size> struct thread_block_tile<Size, void> : coalesced_group {
    static_assert(Size <= 32 && cudacpu::is_power_of_2(Size), "a tile has 1, 2, 4, 8, 16 or 32 threads here");
    explicit thread_block_tile(coalesced_group part) : coalesced_group(part) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
};

// Tiles follow the parent's ranks. In a block, only the tiles of the thread's own warp matter.
inline coalesced_group tiled_partition(const thread_group& parent, unsigned n, CUDACPU_HERE) {
    if (n > 32 || !cudacpu::is_power_of_2(n))
        cudacpu::trap("tiled_partition() by a size but 1, 2, 4 ... 32", where);
    const unsigned rank = parent.thread_rank(), first = parent.mask ? 0 : rank - cudacpu::lane();
    unsigned rest = parent.mask ? parent.mask : ~0u >> (32 - min(32u, parent.size() - first)), tile = 0;
    for (unsigned r = first; rest; ++r, rest &= rest - 1) tile |= (r ^ rank) < n ? rest & -rest : 0;
    return {{tile, rank / n, (parent.size() + n - 1) / n}};
}
template <unsigned Size, class Parent> thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    return thread_block_tile<Size, Parent>(tiled_partition(parent, Size));
}
inline coalesced_group binary_partition(const coalesced_group& g, bool p, CUDACPU_HERE) {
    const unsigned yes = __ballot_sync(g.mask, p, where), mine = g.mask & (p ? yes : ~yes);
    return {{mine, p && mine != g.mask, 1u + (mine != g.mask)}};
}
template <class T> coalesced_group labeled_partition(const coalesced_group& g, T label, CUDACPU_HERE) {
    const unsigned mine = __match_any_sync(g.mask, label, where), first = mine & -mine;
    const unsigned firsts = __ballot_sync(g.mask, first == 1u << cudacpu::lane(), where);
    return {{mine, unsigned(__popc(firsts & (first - 1))), unsigned(__popc(firsts))}};
}

template <class Group, class F, class... A> void invoke_one(const Group& group, F&& f, A&&... a) {
    if (group.thread_rank() == 0) f(std::forward<A>(a)...);
}
/// Returns the first thread's result of f to all threads.
template <class F, class... A> auto invoke_one_broadcast(const coalesced_group& group, F&& f, A&&... a)
    -> decltype(f(a...)) {
    decltype(f(a...)) result{};
    if (group.thread_rank() == 0) result = f(std::forward<A>(a)...);
    return group.shfl(result, 0);
}

template <class T> struct plus : decltype(cudacpu::sum) {};
template <class T> struct less : decltype(cudacpu::least) {};
template <class T> struct greater : decltype(cudacpu::most) {};
template <class T> struct bit_and : decltype(cudacpu::bits_and) {};
template <class T> struct bit_or : decltype(cudacpu::bits_or) {};
template <class T> struct bit_xor : decltype(cudacpu::bits_xor) {};

}  // namespace cooperative_groups
