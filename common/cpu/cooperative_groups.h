// cooperative_groups.h - the groups that live within one block.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

using cudacpu::Where;

struct thread_block {
    static void sync(Where where = Where::here()) { __syncthreads(where); }
    static unsigned thread_rank() { return cudacpu::rank; }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

struct grid_group {
    template <class T = void>
    void sync() const {
        static_assert(sizeof(T*) == 0,
                      "grid.sync(): the CPU device runs one block after another; use two kernels");
    }
    static unsigned long long block_rank() {
        return blockIdx.x + gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
    }
    static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + cudacpu::rank; }
    static unsigned long long size() { return num_blocks() * thread_block::size(); }
    static unsigned long long num_threads() { return size(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
};
inline grid_group this_grid() { return {}; }

// Some lanes of one warp. Ranks count the lanes of the mask from the lowest on.
class lanes_group {
protected:
    unsigned mask, meta_rank = 0, meta_size = 1;
    int lane_of(unsigned rank) const {
        unsigned rest = mask;
        while (rank-- && rest) rest &= rest - 1;
        return rest ? __ffs(rest) - 1 : cudacpu::lane;
    }
    template <class T>
    T from(const char* what, T value, int rank, Where w) const {
        const cudacpu::Lanes lanes(what, mask, value, w);
        return lanes.get<T>(rank >= 0 && rank < int(size()) ? lane_of(rank) : int(cudacpu::lane));
    }
    unsigned packed(unsigned lanes) const {  // as ranks of this group
        unsigned bits = 0;
        for (unsigned i = 0, rest = mask; rest; ++i, rest &= rest - 1)
            if (lanes & rest & -rest) bits |= 1u << i;
        return bits;
    }

public:
    lanes_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : mask(mask), meta_rank(meta_rank), meta_size(meta_size) {}
    unsigned thread_rank() const { return __popc(mask & ((1u << cudacpu::lane) - 1)); }
    unsigned size() const { return __popc(mask); }
    unsigned num_threads() const { return size(); }
    unsigned meta_group_rank() const { return meta_rank; }
    unsigned meta_group_size() const { return meta_size; }
    unsigned lanes() const { return mask; }
    void sync(Where w = Where::here()) const { __syncwarp(mask, w); }
    template <class T>
    T shfl(T v, int rank, Where w = Where::here()) const {
        return from("shfl()", v, (rank % int(size()) + size()) % size(), w);
    }
    template <class T>
    T shfl_up(T v, unsigned d, Where w = Where::here()) const {
        return from("shfl_up()", v, int(thread_rank()) - int(d), w);
    }
    template <class T>
    T shfl_down(T v, unsigned d, Where w = Where::here()) const {
        return from("shfl_down()", v, int(thread_rank() + d), w);
    }
    template <class T>
    T shfl_xor(T v, unsigned d, Where w = Where::here()) const {
        return from("shfl_xor()", v, int(thread_rank() ^ d), w);
    }
    unsigned ballot(int p, Where w = Where::here()) const { return packed(__ballot_sync(mask, p, w)); }
    int any(int p, Where w = Where::here()) const { return __any_sync(mask, p, w); }
    int all(int p, Where w = Where::here()) const { return __all_sync(mask, p, w); }
    template <class T>
    unsigned match_any(T v, Where w = Where::here()) const {
        return packed(__match_any_sync(mask, v, w));
    }
    template <class T>
    unsigned match_all(T v, int& all, Where w = Where::here()) const {
        return packed(__match_all_sync(mask, v, &all, w));
    }
};

template <unsigned Size, class Parent = void>
struct thread_block_tile : lanes_group {
    static_assert(Size && Size <= 32 && !(Size & (Size - 1)), "a tile has 1, 2, 4, 8, 16 or 32 threads here");
    thread_block_tile()
        : lanes_group(unsigned((1ull << Size) - 1) << (cudacpu::lane & ~(Size - 1)), cudacpu::rank / Size,
                      (thread_block::size() + Size - 1) / Size) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return cudacpu::lane % Size; }
};
template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

struct coalesced_group : lanes_group {
    using lanes_group::lanes_group;
};
inline coalesced_group coalesced_threads(Where w = Where::here()) { return {__activemask(w), 0, 1}; }
template <class Parent>
coalesced_group tiled_partition(const Parent& parent, unsigned n) {
    const unsigned first = cudacpu::lane & ~(n - 1);
    return {unsigned((1ull << n) - 1) << first, parent.thread_rank() / n, (parent.size() + n - 1) / n};
}
template <class T>
coalesced_group labeled_partition(const lanes_group& g, T label, Where w = Where::here()) {
    return {__match_any_sync(g.lanes(), label, w), 0, 1};
}
inline coalesced_group binary_partition(const lanes_group& g, bool p, Where w = Where::here()) {
    return labeled_partition(g, int(p), w);
}
using thread_group = coalesced_group;  // a block has a type of its own here

template <class Group>
void sync(const Group& group, Where where = Where::here()) {
    group.sync(where);
}

template <class T>
struct plus {
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
        else return a + b;  // integers wrap, as the GPU's adders do
    }
};
template <class T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};
template <class T, class Op>
T reduce(const lanes_group& g, T value, Op op, Where w = Where::here()) {
    return cudacpu::fold("cooperative_groups::reduce()", g.lanes(), value, op, w);
}
template <class T, class Op>
T inclusive_scan(const lanes_group& g, T value, Op op, Where w = Where::here()) {
    const cudacpu::Lanes lanes("inclusive_scan()", g.lanes(), value, w);
    T sum = value;
    for (int i = int(cudacpu::lane) - 1; i >= 0; --i)
        if (lanes.present() >> i & 1) sum = op(lanes.get<T>(i), sum);
    return sum;
}
template <class T>
T inclusive_scan(const lanes_group& g, T value, Where w = Where::here()) {
    return inclusive_scan(g, value, plus<T>(), w);
}
template <class T>
T exclusive_scan(const lanes_group& g, T value, Where w = Where::here()) {
    return inclusive_scan(g, value, plus<T>(), w) - value;
}

}  // namespace cooperative_groups
