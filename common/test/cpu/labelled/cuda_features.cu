// cuda_features.cu - labelled kernels: cuda::atomic, cuda::barrier, asynchronous copies, cooperative groups,
// partial warps, streams, dependent launches, the device heap, variables, and accesses of different sizes.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>

#include "labelled.cuh"

namespace cg = cooperative_groups;
using Device = cuda::atomic<int, cuda::thread_scope_device>;
using System = cuda::atomic<int, cuda::thread_scope_system>;
using Block = cuda::atomic<int, cuda::thread_scope_block>;
constexpr auto relaxed = cuda::memory_order_relaxed;
constexpr auto acquire = cuda::memory_order_acquire;
constexpr auto release = cuda::memory_order_release;
constexpr auto acq_rel = cuda::memory_order_acq_rel;

// ---- cuda::atomic: a message from block 0 to the others
// -----------------------------------------------------------

template <class Flag>
__device__ bool await_set(Flag& flag, cuda::memory_order order) {
    for (int spin = 0; spin < patience; ++spin)
        if (flag.load(order)) return true;
    return false;
}
__global__ void atomic_message(Device* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;
        flag->store(1, release);
    } else if (await_set(*flag, acquire)) {
        out[blockIdx.x] = *data;
    }
}
__global__ void atomic_message_seq_cst(System* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;
        *flag = 1;
    } else if (await_set(*flag, cuda::memory_order_seq_cst)) {
        out[blockIdx.x] = *data;
    }
}
__global__ void atomic_message_relaxed_store(Device* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;  // RACE atomic_message_relaxed_store
        flag->store(1, relaxed);
    } else if (await_set(*flag, acquire)) {
        out[blockIdx.x] = *data;  // RACE atomic_message_relaxed_store
    }
}
__global__ void atomic_message_relaxed_load(Device* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;  // RACE atomic_message_relaxed_load
        flag->store(1, release);
    } else if (await_set(*flag, relaxed)) {
        out[blockIdx.x] = *data;  // RACE atomic_message_relaxed_load
    }
}
__global__ void atomic_message_block_scope(Block* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;                           // RACE atomic_message_block_scope
        flag->store(1, release);             // RACE atomic_message_block_scope
    } else if (await_set(*flag, acquire)) {  // RACE atomic_message_block_scope
        out[blockIdx.x] = *data;             // RACE atomic_message_block_scope
    }
}
__global__ void atomic_ref_message(int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*flag);
    if (blockIdx.x == 0) {
        *data = 5;
        ref.store(1, release);
    } else if (await_set(ref, acquire)) {
        out[blockIdx.x] = *data;
    }
}
__global__ void atomic_fences(Device* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;
        cuda::atomic_thread_fence(release, cuda::thread_scope_device);
        flag->store(1, relaxed);
    } else if (await_set(*flag, relaxed)) {
        cuda::atomic_thread_fence(acquire, cuda::thread_scope_device);
        out[blockIdx.x] = *data;
    }
}
__global__ void atomic_fence_of_block(Device* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;  // RACE atomic_fence_of_block
        cuda::atomic_thread_fence(release, cuda::thread_scope_block);
        flag->store(1, relaxed);
    } else if (await_set(*flag, relaxed)) {
        cuda::atomic_thread_fence(acquire, cuda::thread_scope_device);
        out[blockIdx.x] = *data;  // RACE atomic_fence_of_block
    }
}
// The last block to arrive adds what all have left.
__global__ void last_arrival_acq_rel(Device* arrived, int* part, int* sum) {
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x + 1;
    if (arrived->fetch_add(1, acq_rel) != int(gridDim.x) - 1) return;
    for (unsigned b = 0; b < gridDim.x; ++b) *sum += part[b];
}
__global__ void last_arrival_release_only(Device* arrived, int* part, int* sum) {
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x + 1;  // RACE last_arrival_release_only
    if (arrived->fetch_add(1, release) != int(gridDim.x) - 1) return;
    for (unsigned b = 0; b < gridDim.x; ++b) *sum += part[b];  // RACE last_arrival_release_only
}
__global__ void atomic_spin_lock(Device* lock, int* total) {
    if (threadIdx.x) return;
    for (int spin = 0, free = 0; spin < patience; ++spin, free = 0)
        if (lock->compare_exchange_weak(free, 1, acquire, relaxed)) {
            *total += 1;
            lock->store(0, release);
            return;
        }
}
__global__ void atomic_spin_lock_relaxed_take(Device* lock, int* total) {
    if (threadIdx.x) return;
    for (int spin = 0, free = 0; spin < patience; ++spin, free = 0)
        if (lock->compare_exchange_weak(free, 1, relaxed, relaxed)) {
            *total += 1;  // RACE atomic_spin_lock_relaxed_take
            lock->store(0, release);
            return;
        }
}
// Two hops: block 0 tells block 1, and block 1 tells block 2.
__global__ void atomic_relay(Device* flags, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 9;
        flags[0].store(1, release);
    } else if (blockIdx.x == 1) {
        if (await_set(flags[0], acquire)) flags[1].store(1, release);
    } else if (await_set(flags[1], acquire)) {
        *out = *data;
    }
}
// A release operation is no acquire: block 1 knows nothing of the data.
__global__ void atomic_relay_relaxed_middle(Device* flags, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 9;  // RACE atomic_relay_relaxed_middle
        flags[0].store(1, release);
    } else if (blockIdx.x == 1) {
        if (await_set(flags[0], relaxed)) flags[1].store(1, release);
    } else if (await_set(flags[1], acquire)) {
        *out = *data;  // RACE atomic_relay_relaxed_middle
    }
}

__global__ void atomic_released_elsewhere(Device* flags, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 9;  // RACE atomic_released_elsewhere
        flags[0].store(1, release);
        flags[1].store(1, relaxed);
    } else if (blockIdx.x == 1 && await_set(flags[1], acquire)) {
        *out = *data;  // RACE atomic_released_elsewhere
    }
}
__global__ void atomic_acquired_elsewhere(Device* flags, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 9;  // RACE atomic_acquired_elsewhere
        flags[0].store(1, release);
    } else if (blockIdx.x == 1 && await_set(flags[0], relaxed)) {
        flags[1].load(acquire);
        *out = *data;  // RACE atomic_acquired_elsewhere
    }
}
__global__ void atomic_released_then_raised(Device* flags, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 9;
        flags[0].store(1, release);
        flags[0].fetch_add(1, relaxed);
    } else if (blockIdx.x == 1 && await_set(flags[0], relaxed)) {
        flags[0].load(acquire);
        *out = *data;
    }
}

// ---- cuda::barrier and asynchronous copies
// ---------------------------------------------------------------------------

using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void split_barrier(int* out) {
    __shared__ Barrier barrier;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    auto token = barrier.arrive();
    const int own = threadIdx.x * 3;
    barrier.wait(std::move(token));
    out[threadIdx.x] = own + s[blockDim.x - 1 - threadIdx.x];
}
__global__ void split_barrier_late_write(int* out) {
    __shared__ Barrier barrier;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    auto token = barrier.arrive();
    s[threadIdx.x] = threadIdx.x;  // RACE split_barrier_late_write
    barrier.wait(std::move(token));
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  // RACE split_barrier_late_write
}
__global__ void split_barrier_early_read(int* out) {
    __shared__ Barrier barrier;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;  // RACE split_barrier_early_read
    auto token = barrier.arrive();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  // RACE split_barrier_early_read
    barrier.wait(std::move(token));
}
__global__ void staged_copy(const int* in, int* out) {
    __shared__ int s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
// Each thread waits for its own copies only.
__global__ void staged_copy_no_barrier(const int* in, int* out) {
    __shared__ int s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));  // RACE staged_copy_no_barrier
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  // RACE staged_copy_no_barrier
}
// The second of two batches is still under way after wait_prior(1).
__global__ void staged_copy_waits_for_first(const int* in, int* out) {
    __shared__ int s[2][128];
    for (int stage = 0; stage < 2; ++stage) {
        __pipeline_memcpy_async(&s[stage][threadIdx.x], &in[threadIdx.x], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    const int other = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x] = s[0][other] + s[1][other];  // BOUNDS staged_copy_waits_for_first
}
// Two buffers in turn: one is filled while the other is read.
__global__ void two_stages(const int* in, int* out, int rounds) {
    __shared__ int s[2][128];
    const int other = blockDim.x - 1 - threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    for (int r = 0; r < rounds; ++r) {
        if (r + 1 < rounds) __pipeline_memcpy_async(&s[(r + 1) % 2][threadIdx.x], &in[threadIdx.x], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[r % 2][other];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
// The buffer is filled anew while others still read it.
__global__ void two_stages_one_barrier(const int* in, int* out, int rounds) {
    __shared__ int s[2][128];
    const int other = blockDim.x - 1 - threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], sizeof(int));  // RACE two_stages_one_barrier
    __pipeline_commit();
    for (int r = 0; r < rounds; ++r) {
        if (r + 1 < rounds)
            __pipeline_memcpy_async(&s[(r + 1) % 2][threadIdx.x], &in[threadIdx.x],
                                    sizeof(int));  // RACE two_stages_one_barrier
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[r % 2][other];  // RACE two_stages_one_barrier
    }
    out[threadIdx.x] = sum;
}

// The last elements are set, not copied, but after the copy has begun.
__global__ void destination_padded(const int* in, int* out) {
    __shared__ int s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));  // RACE destination_padded
    __pipeline_commit();
    if (threadIdx.x >= 120) s[threadIdx.x] = 0;  // RACE destination_padded
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void destination_padded_before(const int* in, int* out) {
    __shared__ int s[128];
    s[threadIdx.x] = 0;
    if (threadIdx.x < 120) __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    s[threadIdx.x] += 1;
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
// The barriers order the write after the start of the copy, but the copy has not ended.
__global__ void destination_written_by_other(const int* in, int* out) {
    __shared__ int s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));  // RACE destination_written_by_other
    __pipeline_commit();
    __syncthreads();
    if (threadIdx.x == 5) s[40] = 1;  // RACE destination_written_by_other
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void source_overwritten(int* in, int* out) {
    __shared__ int s[128];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));  // MISS source_overwritten
    __pipeline_commit();
    in[threadIdx.x] = 7;  // MISS source_overwritten
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x];
}
__global__ void group_copies(const int* in, int* out) {
    __shared__ int s[2][64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], in, sizeof s[0]);
    cg::memcpy_async(block, s[1], in + 64, sizeof s[1]);
    cg::wait_prior<1>(block);
    out[threadIdx.x] = s[0][63 - threadIdx.x % 64];
    cg::wait(block);
    out[threadIdx.x] += s[1][63 - threadIdx.x % 64];
}
__global__ void group_copy_not_awaited(const int* in, int* out) {
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s);
    block.sync();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  // BOUNDS group_copy_not_awaited
    cg::wait(block);
}
__global__ void group_copy_of_the_last(const int* in, int* out) {
    __shared__ int s[2][64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], in, sizeof s[0]);
    cg::memcpy_async(block, s[1], in + 64, sizeof s[1]);
    cg::wait_prior<1>(block);
    out[threadIdx.x] = s[1][threadIdx.x % 64];  // BOUNDS group_copy_of_the_last
    cg::wait(block);
}
__global__ void tiles_copy(const int* in, int* out) {
    __shared__ int s[128];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int first = threadIdx.x / 16 * 16;
    cg::memcpy_async(tile, s + first, in + first, 16 * sizeof(int));
    cg::wait(tile);
    out[threadIdx.x] = s[threadIdx.x ^ 15];
}
__global__ void tiles_copy_reach_out(const int* in, int* out) {
    __shared__ int s[128];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int first = threadIdx.x / 16 * 16;
    cg::memcpy_async(tile, s + first, in + first, 16 * sizeof(int));  // RACE tiles_copy_reach_out
    cg::wait(tile);
    out[threadIdx.x] = s[threadIdx.x ^ 16];  // RACE tiles_copy_reach_out
}
__global__ void barrier_copy(const int* in, int* out) {
    __shared__ int s[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void barrier_copy_not_awaited(const int* in, int* out) {
    __shared__ int s[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);  // MISS barrier_copy_not_awaited
    auto token = barrier.arrive();
    out[threadIdx.x] = s[threadIdx.x];  // MISS barrier_copy_not_awaited
    barrier.wait(std::move(token));
}
// The CUDA guide's producer and consumer, with two barriers for each of two buffers. The consumer says that it is
// ready, then reads: arrive() of the producer does not acquire what the consumer does meanwhile.
template <bool ReadsFirst>
__device__ void produce_and_consume(int* out) {
    __shared__ int buffer[2][64];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2], filled[2];
    if (threadIdx.x < 2) init(&ready[threadIdx.x], 128), init(&filled[threadIdx.x], 128);
    __syncthreads();
    const int lane = threadIdx.x % 64;
    if (threadIdx.x >= 64) (void)ready[0].arrive(), (void)ready[1].arrive();
    for (int i = 0; i < 5; ++i)
        if (threadIdx.x < 64) {
            ready[i % 2].arrive_and_wait();
            buffer[i % 2][lane] = 100 * i + lane;  // RACE consumer_reads_late
            (void)filled[i % 2].arrive();
        } else {
            filled[i % 2].arrive_and_wait();
            if (ReadsFirst) out[lane] = buffer[i % 2][63 - lane];
            (void)ready[i % 2].arrive();
            if (!ReadsFirst) out[lane] = buffer[i % 2][63 - lane];  // RACE consumer_reads_late
        }
}
__global__ void consumer_reads_late(int* out) { produce_and_consume<false>(out); }
__global__ void consumer_reads_first(int* out) { produce_and_consume<true>(out); }

// ---- double buffers in shared memory
// --------------------------------------------------------------------------------

__global__ void smooth_two_buffers(int* out, int steps) {
    __shared__ int s[2][128];
    const int t = threadIdx.x, n = blockDim.x;
    s[0][t] = t;
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        s[(k + 1) % 2][t] = s[k % 2][(t + 1) % n] + s[k % 2][t];
        __syncthreads();
    }
    out[t] = s[steps % 2][t];
}
__global__ void smooth_one_buffer(int* out, int steps) {
    __shared__ int s[128];
    const int t = threadIdx.x, n = blockDim.x;
    s[t] = t;
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        s[t] = s[(t + 1) % n] + s[t];  // RACE smooth_one_buffer
        __syncthreads();
    }
    out[t] = s[t];
}

// ---- tiles and partial warps
// -------------------------------------------------------------------------------------------

__global__ void tiles_of_eight(int* out) {
    __shared__ int s[128];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 7];
}
__global__ void tiles_of_eight_reach_out(int* out) {
    __shared__ int s[128];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;  // RACE tiles_of_eight_reach_out
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 8];  // RACE tiles_of_eight_reach_out
}
__global__ void half_warps(int* out) {
    __shared__ int s[128];
    const unsigned half = threadIdx.x & 16 ? 0xffff0000u : 0x0000ffffu;
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(half);
    out[threadIdx.x] = s[threadIdx.x ^ 15];
}
__global__ void half_warps_cross(int* out) {
    __shared__ int s[128];
    const unsigned half = threadIdx.x & 16 ? 0xffff0000u : 0x0000ffffu;
    s[threadIdx.x] = threadIdx.x;  // RACE half_warps_cross
    __syncwarp(half);
    out[threadIdx.x] = s[threadIdx.x ^ 16];  // RACE half_warps_cross
}
// A warp compacts its values: the leader reserves the places, each lane writes its own.
__global__ void compact_by_ballot(int* count, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool keep = i < n && i % 3 == 0;
    const unsigned votes = __ballot_sync(0xffffffff, keep);
    int base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = i;
}
// The base travels through shared memory; a vote is not a barrier.
__global__ void compact_base_in_shared(int* count, int* out, int n) {
    __shared__ int base;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool keep = i < n && i % 3 != 1;
    const unsigned votes = __ballot_sync(0xffffffff, keep);
    if (lane == 0) base = atomicAdd(count, __popc(votes));  // RACE compact_base_in_shared
    __any_sync(0xffffffff, keep);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = i;  // RACE compact_base_in_shared
}
// The coalesced threads of a branch exchange through shared memory.
__global__ void coalesced_branch(int* out) {
    __shared__ int s[128];
    if (threadIdx.x % 2 == 0) {
        auto group = cg::coalesced_threads();
        s[threadIdx.x] = threadIdx.x;
        group.sync();
        const int warp = threadIdx.x / 32 * 32;
        out[threadIdx.x] = s[warp + (threadIdx.x + 2) % 32];
    }
}

// ---- the device heap and variables
// ----------------------------------------------------------------------------------

struct Item {
    int value;
    Item* next;
};
__global__ void heap_list_fill(Item** list) {
    Item* const item = (Item*)malloc(sizeof(Item));
    if (!item) return;
    item->value = threadIdx.x;
    auto* const word = (unsigned long long*)list;
    unsigned long long old = *(volatile unsigned long long*)word, found;
    for (;; old = found) {
        item->next = (Item*)old;
        if ((found = atomicCAS(word, old, (unsigned long long)item)) == old) return;
    }
}
__global__ void heap_list_sum_and_free(Item** list, int* sum) {
    for (Item* item = *list; item;) {
        Item* const next = item->next;
        *sum += item->value;
        free(item);
        item = next;
    }
}
__global__ void heap_node_unfenced(Item** list, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        Item* const item = (Item*)malloc(sizeof(Item));
        if (!item) return;
        item->value = 3;  // RACE heap_node_unfenced
        atomicExch((unsigned long long*)list, (unsigned long long)item);
        return;
    }
    Item* item = nullptr;
    for (int spin = 0; spin < patience && !item; ++spin) item = *(Item* volatile*)list;
    __threadfence();
    if (item) out[blockIdx.x] = item->value;  // RACE heap_node_unfenced
}

__device__ int last_seen;
__global__ void device_variable_shared(int* out) {
    last_seen = blockIdx.x * blockDim.x + threadIdx.x;       // RACE device_variable_shared
    out[blockIdx.x * blockDim.x + threadIdx.x] = last_seen;  // RACE device_variable_shared
}
__device__ unsigned rounds_done;
__global__ void device_variable_last_resets(int* out) {
    if (threadIdx.x) return;
    __threadfence();
    if (atomicInc(&rounds_done, gridDim.x - 1) == gridDim.x - 1) *out += 1;
}
__constant__ int weights[4];
__global__ void weighted(int* out) { out[threadIdx.x] += weights[threadIdx.x % 4]; }

// ---- accesses of different sizes
// --------------------------------------------------------------------------------------

__global__ void bytes_of_own(unsigned char* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = i;
}
__global__ void shorts_read_in_pairs(short* a, int* out, int n) {
    const int i = threadIdx.x;
    if (i < 2 * n) a[i] = i;                 // RACE shorts_read_in_pairs
    if (i < n) out[i] = ((const int*)a)[i];  // RACE shorts_read_in_pairs
}
__global__ void pixels_and_channel(uchar4* pixels, unsigned char* out, int n) {
    const int i = threadIdx.x;
    if (i < n) pixels[i] = make_uchar4(i, i + 1, i + 2, i + 3);  // RACE pixels_and_channel
    if (i < n) out[i] = pixels[n - 1 - i].y;                     // RACE pixels_and_channel
}
__global__ void vectors_by_rows(float4* a, float* out, int n) {
    const int i = threadIdx.x;
    if (i < n) a[i] = make_float4(i, 1, 2, 3);
    __syncthreads();
    if (i < n) out[i] = ((const float*)a)[4 * (n - 1 - i) + i % 4];
}
// The counters are 16 bits wide, two in a word, and each thread increments its own by adding to the whole word.
__global__ void half_counters_by_word(int* words, int n) {
    const int i = threadIdx.x;
    if (i < n) words[i / 2] += i % 2 ? 1 << 16 : 1;  // RACE half_counters_by_word
}
__global__ void half_counters_by_half(short* halves, int n) {
    const int i = threadIdx.x;
    if (i < n) halves[i] += 1;
}
// The last element of a pair belongs to the neighbour as well.
__global__ void pairs_overlap(int* a, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    int pair[2] = {i + 1, i + 100};
    memcpy(a + i, pair, i + 1 < n ? 8 : 4);  // RACE pairs_overlap
}

// ---- streams, events, dependent launches
// --------------------------------------------------------------------------------

__global__ void fill(int* a, int n, int value) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[i] = value + i;  // RACE event_too_early wrong_stream_waited side_stream
}
__global__ void add(const int* a, int* b, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        b[i] += a[n - 1 - i];  // RACE event_too_early wrong_stream_waited side_stream
}
void event_chain(int n) {
    int *a = zeros<int>(n), *b = zeros<int>(n), *c = zeros<int>(n);
    cudaStream_t s[3];
    for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaEvent_t filled, added;
    cudaEventCreate(&filled), cudaEventCreate(&added);
    fill<<<1, 64, 0, s[0]>>>(a, n, 1);
    cudaEventRecord(filled, s[0]);
    cudaStreamWaitEvent(s[1], filled, 0);
    add<<<1, 64, 0, s[1]>>>(a, b, n);
    cudaEventRecord(added, s[1]);
    cudaStreamWaitEvent(s[2], added, 0);
    add<<<1, 64, 0, s[2]>>>(b, c, n);
    fill<<<1, 64, 0, s[2]>>>(a, n, 5);
}
void event_too_early(int n) {
    int *a = zeros<int>(n), *b = zeros<int>(n);
    cudaStream_t s[2];
    for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaEvent_t filled;
    cudaEventCreate(&filled);
    cudaEventRecord(filled, s[0]);
    fill<<<1, 64, 0, s[0]>>>(a, n, 1);
    cudaStreamWaitEvent(s[1], filled, 0);
    add<<<1, 64, 0, s[1]>>>(a, b, n);
}
void wrong_stream_waited(int n) {
    int *a = zeros<int>(n), *b = zeros<int>(n);
    cudaStream_t s[3];
    for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    fill<<<1, 64, 0, s[0]>>>(a, n, 1);
    cudaStreamSynchronize(s[2]);
    add<<<1, 64, 0, s[1]>>>(a, b, n);
}
void right_stream_waited(int n) {
    int *a = zeros<int>(n), *b = zeros<int>(n);
    cudaStream_t s[2];
    for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    fill<<<1, 64, 0, s[0]>>>(a, n, 1);
    while (cudaStreamQuery(s[0]) == cudaErrorNotReady) {}
    add<<<1, 64, 0, s[1]>>>(a, b, n);
}
void blocking_streams(int n) {
    int *a = zeros<int>(n), *b = zeros<int>(n);
    cudaStream_t s[2];
    for (auto& one : s) cudaStreamCreate(&one);
    fill<<<1, 64, 0, s[0]>>>(a, n, 1);
    add<<<1, 64>>>(a, b, n);
    fill<<<1, 64, 0, s[1]>>>(a, n, 2);
}
void side_stream(int n) {
    int *a = zeros<int>(n), *b = zeros<int>(n);
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    fill<<<1, 64, 0, side>>>(a, n, 1);
    add<<<1, 64>>>(a, b, n);
}
// The weights are replaced in one stream while a kernel of another uses them.
__global__ void weighted_meanwhile(int* out) {
    out[threadIdx.x] += weights[threadIdx.x % 4];  // RACE weights_replaced
}
void weights_replaced(int) {
    int* out = zeros<int>(32);
    int* now;
    cudaMallocHost((void**)&now, 4 * sizeof(int));
    for (int i = 0; i < 4; ++i) now[i] = i + 1;
    cudaMemcpyToSymbol(weights, now, 4 * sizeof(int));
    cudaStream_t s[2];
    for (auto& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    weighted_meanwhile<<<1, 32, 0, s[0]>>>(out);
    cudaMemcpyToSymbolAsync(weights, now, 4 * sizeof(int), 0, cudaMemcpyHostToDevice,
                            s[1]);  // RACE weights_replaced
    cudaDeviceSynchronize();
    cudaFreeHost(now);
}
void weights_between(int) {
    int* out = zeros<int>(32);
    for (int round = 1; round < 4; ++round) {
        const int now[4] = {round, 2, 3, 4};
        cudaMemcpyToSymbol(weights, now, sizeof now);
        weighted<<<1, 32>>>(out);
    }
}

template <class... Parameters, class... Arguments>
void launch_dependent(void (*kernel)(Parameters...), Arguments... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) != cudaSuccess) exit(4);
}
__global__ void produce(int* a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = i;  // RACE size_read_early
    cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void consume(const int* a, int* out, int n) {
    __shared__ int table[64];
    table[threadIdx.x] = threadIdx.x * 2;
    cudaGridDependencySynchronize();
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a[n - 1 - i] + table[i % 64];
}
// A helper in front of the wait reads what the primary writes.
__global__ void size_read_early(const int* a, int* out, int n) {
    const int limit = a[n / 2] + 1;  // RACE size_read_early
    cudaGridDependencySynchronize();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < limit) out[i] = a[i];
}
void dependent(int n, void (*kernel)(const int*, int*, int)) {
    int *a = zeros<int>(n), *out = zeros<int>(n);
    cudaDeviceSynchronize();
    produce<<<2, 64>>>(a, n);
    launch_dependent(kernel, a, out, n);
}

// ---- the programs
// --------------------------------------------------------------------------------------------------------

template <class T>
T* atomics(int n) {
    static_assert(sizeof(T) == sizeof(int), "the flags start as 0");
    return (T*)zeros<int>(n);
}
int few(int n) { return n < 16 ? n : 16; }
int in_block(int n) { return n < 64 ? n : 64; }
#define MESSAGE(name, Flag) [](int n) { name<<<few(n), 32>>>(atomics<Flag>(1), zeros<int>(1), zeros<int>(few(n))); }
#define RELAY(name) [](int) { name<<<3, 32>>>(atomics<Device>(2), zeros<int>(1), zeros<int>(1)); }
#define IN_BLOCK(name) [](int) { name<<<1, 128>>>(zeros<int>(128)); }
#define COPY(name) [](int) { name<<<1, 128>>>(zeros<int>(128), zeros<int>(128)); }
#define ROUNDS(name) [](int n) { name<<<1, 128>>>(zeros<int>(128), zeros<int>(128), few(n)); }

int main(int argc, char** argv) {
    const Case cases[] = {
        {"right", "atomic_message", MESSAGE(atomic_message, Device)},
        {"right", "atomic_message_seq_cst", MESSAGE(atomic_message_seq_cst, System)},
        {"race", "atomic_message_relaxed_store", MESSAGE(atomic_message_relaxed_store, Device)},
        {"race", "atomic_message_relaxed_load", MESSAGE(atomic_message_relaxed_load, Device)},
        {"race", "atomic_message_block_scope", MESSAGE(atomic_message_block_scope, Block)},
        {"right", "atomic_ref_message", MESSAGE(atomic_ref_message, int)},
        {"right", "atomic_fences", MESSAGE(atomic_fences, Device)},
        {"race", "atomic_fence_of_block", MESSAGE(atomic_fence_of_block, Device)},
        {"right", "last_arrival_acq_rel",
         [](int n) { last_arrival_acq_rel<<<n, 32>>>(atomics<Device>(1), zeros<int>(n), zeros<int>(1)); }},
        {"race", "last_arrival_release_only",
         [](int n) { last_arrival_release_only<<<n, 32>>>(atomics<Device>(1), zeros<int>(n), zeros<int>(1)); }},
        {"right", "atomic_spin_lock",
         [](int n) { atomic_spin_lock<<<n, 32>>>(atomics<Device>(1), zeros<int>(1)); }},
        {"race", "atomic_spin_lock_relaxed_take",
         [](int n) { atomic_spin_lock_relaxed_take<<<n, 32>>>(atomics<Device>(1), zeros<int>(1)); }},
        {"right", "atomic_relay", RELAY(atomic_relay)},
        {"race", "atomic_relay_relaxed_middle", RELAY(atomic_relay_relaxed_middle)},
        {"race", "atomic_released_elsewhere", RELAY(atomic_released_elsewhere)},
        {"race", "atomic_acquired_elsewhere", RELAY(atomic_acquired_elsewhere)},
        {"right", "atomic_released_then_raised", RELAY(atomic_released_then_raised)},
        {"right", "split_barrier", IN_BLOCK(split_barrier)},
        {"race", "split_barrier_late_write", IN_BLOCK(split_barrier_late_write)},
        {"race", "split_barrier_early_read", IN_BLOCK(split_barrier_early_read)},
        {"right", "staged_copy", COPY(staged_copy)},
        {"race", "staged_copy_no_barrier", COPY(staged_copy_no_barrier)},
        {"bounds", "staged_copy_waits_for_first", COPY(staged_copy_waits_for_first)},
        {"right", "two_stages", ROUNDS(two_stages)},
        {"race", "two_stages_one_barrier", ROUNDS(two_stages_one_barrier)},
        {"race", "destination_padded", COPY(destination_padded)},
        {"right", "destination_padded_before", COPY(destination_padded_before)},
        {"race", "destination_written_by_other", COPY(destination_written_by_other)},
        {"race", "source_overwritten", COPY(source_overwritten)},
        {"right", "group_copies", COPY(group_copies)},
        {"bounds", "group_copy_not_awaited", COPY(group_copy_not_awaited)},
        {"bounds", "group_copy_of_the_last", COPY(group_copy_of_the_last)},
        {"right", "tiles_copy", COPY(tiles_copy)},
        {"race", "tiles_copy_reach_out", COPY(tiles_copy_reach_out)},
        {"right", "barrier_copy", COPY(barrier_copy)},
        {"race", "barrier_copy_not_awaited", COPY(barrier_copy_not_awaited)},
        {"race", "consumer_reads_late", IN_BLOCK(consumer_reads_late)},
        {"right", "consumer_reads_first", IN_BLOCK(consumer_reads_first)},
        {"right", "smooth_two_buffers", [](int n) { smooth_two_buffers<<<1, 128>>>(zeros<int>(128), few(n)); }},
        {"race", "smooth_one_buffer", [](int n) { smooth_one_buffer<<<1, 128>>>(zeros<int>(128), few(n)); }},
        {"right", "tiles_of_eight", IN_BLOCK(tiles_of_eight)},
        {"race", "tiles_of_eight_reach_out", IN_BLOCK(tiles_of_eight_reach_out)},
        {"right", "half_warps", IN_BLOCK(half_warps)},
        {"race", "half_warps_cross", IN_BLOCK(half_warps_cross)},
        {"right", "compact_by_ballot",
         [](int n) { compact_by_ballot<<<(n + 63) / 64, 64>>>(zeros<int>(1), zeros<int>(n), n); }},
        {"race", "compact_base_in_shared",
         [](int n) { compact_base_in_shared<<<(n + 31) / 32, 32>>>(zeros<int>(1), zeros<int>(n), n); }},
        {"right", "coalesced_branch", IN_BLOCK(coalesced_branch)},
        {"right", "heap_list",
         [](int n) {
             Item** list = zeros<Item*>(1);
             heap_list_fill<<<2, in_block(n)>>>(list);
             heap_list_sum_and_free<<<1, 1>>>(list, zeros<int>(1));
         }},
        {"race", "heap_node_unfenced", [](int) { heap_node_unfenced<<<2, 32>>>(zeros<Item*>(1), zeros<int>(2)); }},
        {"race", "device_variable_shared",
         [](int n) { device_variable_shared<<<2, in_block(n)>>>(zeros<int>(128)); }},
        {"right", "device_variable_last_resets",
         [](int n) {
             int* out = zeros<int>(1);
             for (int round = 0; round < 3; ++round) device_variable_last_resets<<<n, 32>>>(out);
         }},
        {"right", "bytes_of_own", [](int n) { bytes_of_own<<<(n + 31) / 32, 32>>>(zeros<unsigned char>(n), n); }},
        {"race", "shorts_read_in_pairs",
         [](int n) { shorts_read_in_pairs<<<1, 128>>>(zeros<short>(128), zeros<int>(64), in_block(n)); }},
        {"race", "pixels_and_channel",
         [](int n) { pixels_and_channel<<<1, 64>>>(zeros<uchar4>(64), zeros<unsigned char>(64), in_block(n)); }},
        {"right", "vectors_by_rows",
         [](int n) { vectors_by_rows<<<1, 64>>>(zeros<float4>(64), zeros<float>(64), in_block(n)); }},
        {"race", "half_counters_by_word",
         [](int n) { half_counters_by_word<<<1, 64>>>(zeros<int>(32), in_block(n)); }},
        {"right", "half_counters_by_half",
         [](int n) { half_counters_by_half<<<1, 64>>>(zeros<short>(64), in_block(n)); }},
        {"race", "pairs_overlap", [](int n) { pairs_overlap<<<1, 64>>>(zeros<int>(64), in_block(n)); }},
        {"right", "event_chain", event_chain},
        {"race", "event_too_early", event_too_early},
        {"race", "wrong_stream_waited", wrong_stream_waited},
        {"right", "right_stream_waited", right_stream_waited},
        {"right", "blocking_streams", blocking_streams},
        {"race", "side_stream", side_stream},
        {"race", "weights_replaced", weights_replaced},
        {"right", "weights_between", weights_between},
        {"right", "prologue_of_own", [](int n) { dependent(n, consume); }},
        {"race", "size_read_early", [](int n) { dependent(n, size_read_early); }},
    };
    return choose(cases, argc, argv);
}
