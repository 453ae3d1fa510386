// handovers.cu - labelled kernels: data that one thread hands to another by a flag, a pointer, a counter or a
// scope.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include <cuda/atomic>

#include "labelled.cuh"

#define GLOBAL_ID int(blockIdx.x * blockDim.x + threadIdx.x)
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
using Word = cuda::atomic<int, cuda::thread_scope_device>;

template <class A, class T>
__device__ bool await(A& flag, T value, cuda::memory_order order = memory_order_acquire) {
    for (int i = 0; i < patience; ++i)
        if (flag.load(order) == value) return true;
    return false;
}

// ---- pointers that are published (RCU) ---------------

struct Config {
    int scale, offset;
};
__global__ void rcu_right(Config* fresh, Config** current, int* out) {
    if (GLOBAL_ID == 0) {
        fresh->scale = 3;
        fresh->offset = 1;
        __threadfence();
        atomicExch((unsigned long long*)current, (unsigned long long)fresh);
    } else if (threadIdx.x == 1) {
        Config* seen = nullptr;
        for (int i = 0; i < patience && !seen; ++i) seen = *(Config* volatile*)current;
        __threadfence();
        if (seen) out[GLOBAL_ID] = seen->scale + seen->offset;
    }
}
// PTX orders no weak read after the read that its address comes from
__global__ void rcu_by_dependency(Config* fresh, Config** current, int* out) {
    if (GLOBAL_ID == 0) {
        fresh->scale = 3;
        __threadfence();
        atomicExch((unsigned long long*)current, (unsigned long long)fresh);
    } else if (threadIdx.x == 1) {
        Config* seen = nullptr;
        for (int i = 0; i < patience && !seen; ++i) seen = *(Config* volatile*)current;
        if (seen) out[GLOBAL_ID] = seen->scale;  // RACE rcu_by_dependency
    }
}
// the writer goes on to change what it has published
__global__ void rcu_changed_in_place(Config* fresh, Config** current, int* out) {
    if (GLOBAL_ID == 0) {
        fresh->scale = 3;
        __threadfence();
        atomicExch((unsigned long long*)current, (unsigned long long)fresh);
        fresh->scale = 4;  // RACE rcu_changed_in_place
    } else if (threadIdx.x == 1) {
        Config* seen = nullptr;
        for (int i = 0; i < patience && !seen; ++i) seen = *(Config* volatile*)current;
        __threadfence();
        if (seen) out[GLOBAL_ID] = seen->scale;  // RACE rcu_changed_in_place
    }
}
// a mailbox: atomicExch takes the pointer away, so that one thread owns it at a time
__global__ void mailbox_right(int** box, int* letters, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        letters[0] = 7;
        __threadfence();
        atomicExch((unsigned long long*)box, (unsigned long long)letters);
        return;
    }
    for (int i = 0; i < patience; ++i)
        if (int* got = (int*)atomicExch((unsigned long long*)box, 0ull)) {
            __threadfence();
            got[0] += 1;
            out[0] = got[0];
            __threadfence();
            atomicExch((unsigned long long*)box, (unsigned long long)got);
            return;
        }
}
// each owner puts the pointer back before it has read all
__global__ void mailbox_put_back_early(int** box, int* letters, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        letters[0] = 7;
        __threadfence();
        atomicExch((unsigned long long*)box, (unsigned long long)letters);
        return;
    }
    for (int i = 0; i < patience; ++i)
        if (int* got = (int*)atomicExch((unsigned long long*)box, 0ull)) {
            __threadfence();
            got[0] += 1;  // RACE mailbox_put_back_early
            __threadfence();
            atomicExch((unsigned long long*)box, (unsigned long long)got);
            out[blockIdx.x] = got[0];  // RACE mailbox_put_back_early
            return;
        }
}

// ---- initialization by one thread ---------------

__global__ void double_checked_right(int* lock, int* ready, int* table, int* out) {
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*ready);
    if (!r.load(memory_order_acquire)) {
        if (!take(lock)) return;
        __threadfence();
        if (!r.load(memory_order_relaxed)) {
            table[0] = 42;
            r.store(1, memory_order_release);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = table[0];
}
// the fast path looks by a relaxed load: whoever takes it has not acquired
__global__ void double_checked_relaxed(int* lock, int* ready, int* table, int* out) {
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*ready);
    if (!r.load(memory_order_relaxed)) {
        if (!take(lock)) return;
        __threadfence();
        if (!r.load(memory_order_relaxed)) {
            table[0] = 42;  // RACE double_checked_relaxed
            r.store(1, memory_order_release);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = table[0];  // RACE double_checked_relaxed
}
enum Stage { untouched, busy, finished };
__global__ void once_right(int* stage, int* table, int* out) {
    if (atomicCAS(stage, untouched, busy) == untouched) {
        for (int i = 0; i < 4; ++i) table[i] = i * i;
        __threadfence();
        atomicExch(stage, finished);
    } else if (!wait_for(stage, finished)) {
        return;
    }
    __threadfence();
    out[GLOBAL_ID] = table[GLOBAL_ID % 4];
}

// ---- one thread speaks for its block ---------------

// every thread fences, none waits for the others
__global__ void all_fence_none_waits(int* data, int* flag, int* out) {
    const int i = threadIdx.x;
    if (blockIdx.x == 0) {
        data[i] = i + 1;  // RACE all_fence_none_waits
        __threadfence();
        if (i == 0) *(volatile int*)flag = 1;
    } else {
        if (i == 0) wait_for(flag, 1);
        __threadfence();
        __syncthreads();
        out[i] = data[i];  // RACE all_fence_none_waits
    }
}
// the fence is another warp's
__global__ void fence_of_other_warp(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) data[0] = 5;  // RACE fence_of_other_warp
        if (threadIdx.x >= 32) __threadfence();
        if (threadIdx.x == 0) *(volatile int*)flag = 1;
    } else if (threadIdx.x == 0 && wait_for(flag, 1)) {
        __threadfence();
        out[0] = data[0];  // RACE fence_of_other_warp
    }
}

// ---- release sequences, three threads ---------------

// the middle's relaxed RMW carries the first one's release on
__global__ void relaxed_rmw_carries_right(Word* word, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        word->store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        int one = 1;
        for (int i = 0; i < patience && !word->compare_exchange_weak(one, 2, memory_order_relaxed); ++i) one = 1;
    } else if (await(*word, 2, memory_order_acquire)) {
        out[0] = data[0];
    }
}
// a relaxed store starts anew (word 1 keeps the reader from seeing the released value)
__global__ void relaxed_store_ends(Word* word, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE relaxed_store_ends
        word->store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (await(word[0], 1, memory_order_relaxed)) word[0].store(2, memory_order_relaxed);
        word[1].store(1, memory_order_relaxed);
    } else if (await(word[1], 1, memory_order_relaxed) && await(word[0], 2)) {
        out[0] = data[0];  // RACE relaxed_store_ends
    }
}
// the middle's own data is not published by its relaxed RMW
__global__ void middle_is_relaxed(Word* word, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        word->fetch_add(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        data[1] = 2;  // RACE middle_is_relaxed
        word->fetch_add(2, memory_order_relaxed);
    } else if (await(*word, 3, memory_order_acquire)) {
        out[0] = data[0] + data[1];  // RACE middle_is_relaxed
    }
}
// an acq_rel RMW in the middle: cumulative
__global__ void relay_by_acq_rel_right(Word* a, Word* b, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        a->store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        for (int i = 0; i < patience; ++i)
            if (a->fetch_add(0, memory_order_acquire) == 1) {
                b->fetch_add(5, memory_order_acq_rel);
                break;
            }
    } else if (await(*b, 5, memory_order_acquire)) {
        out[0] = data[0];
    }
}
// the relay acquires, but publishes by a relaxed store
__global__ void relay_does_not_release(Word* a, Word* b, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE relay_does_not_release
        a->store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (await(*a, 1, memory_order_acquire)) b->store(1, memory_order_relaxed);
    } else if (await(*b, 1, memory_order_acquire)) {
        out[0] = data[0];  // RACE relay_does_not_release
    }
}
// block scope within the first block, device scope from there: causality order is transitive
__global__ void block_then_device_right(int* data, int* flags, int* out) {
    __shared__ int local;
    if (threadIdx.x == 0) local = 0;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        data[0] = 1;
        __threadfence_block();
        atomicExch_block(&local, 1);
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        if (!wait_for(&local, 1)) return;
        __threadfence_block();
        __threadfence();
        atomicExch(flags, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 0 && wait_for(flags, 1)) {
        __threadfence();
        out[0] = data[0];
    }
}
// block scope everywhere: the last hop leaves the block
__global__ void block_fence_on_last_hop(int* data, int* flags, int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        data[0] = 1;  // RACE block_fence_on_last_hop
        __threadfence();
        atomicExch(flags, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 0 && wait_for(flags, 1)) {
        __threadfence_block();
        atomicExch(flags + 1, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 32 && wait_for(flags + 1, 1)) {
        __threadfence();
        out[0] = data[0];  // RACE block_fence_on_last_hop
    }
}
// the lane that waited tells its neighbour by a shuffle
__global__ void told_by_shuffle(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 1;  // RACE told_by_shuffle
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    int seen = 0;
    if (threadIdx.x == 0) {
        seen = wait_for(flag, 1);
        __threadfence();
    }
    seen = __shfl_sync(~0u, seen, 0);
    if (threadIdx.x == 7 && seen) out[0] = data[0];  // RACE told_by_shuffle
}
__global__ void told_by_shuffle_then_syncwarp_right(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 1;
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    int seen = 0;
    if (threadIdx.x == 0) {
        seen = wait_for(flag, 1);
        __threadfence();
    }
    __syncwarp();
    seen = __shfl_sync(~0u, seen, 0);
    if (threadIdx.x == 7 && seen) out[0] = data[0];
}

// ---- scopes ---------------

template <class Flag>
__device__ void message(Flag* flag, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        flag->store(1, memory_order_release);
    } else if (await(*flag, 1, memory_order_acquire)) {
        out[0] = data[0];
    }
}
__global__ void message_of_device_right(Word* flag, int* data, int* out) { message(flag, data, out); }
__global__ void message_of_system_right(cuda::atomic<int>* flag, int* data, int* out) { message(flag, data, out); }
__global__ void loaded_at_block_scope(int* flag, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE loaded_at_block_scope
        cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, memory_order_release);
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_block> narrow(*flag);
        if (await(narrow, 1, memory_order_acquire)) out[0] = data[0];  // RACE loaded_at_block_scope
    }
}
// a counter a block, then a total of device scope
__global__ void counters_of_two_scopes_right(int* of_block, int* total, int* out) {
    atomicAdd_block(of_block + blockIdx.x, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, of_block[blockIdx.x]);
    __syncthreads();
    if (threadIdx.x == 1) out[blockIdx.x] = of_block[blockIdx.x];
}
__global__ void fence_of_scope_block(int* flag, int* data, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE fence_of_scope_block
        cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_block);
        f.store(1, memory_order_relaxed);
    } else if (await(f, 1, memory_order_relaxed)) {
        cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
        out[0] = data[0];  // RACE fence_of_scope_block
    }
}
__global__ void atomic_not_yet_constructed(Word* count, int* out) {
    if (GLOBAL_ID == 0) new (count) Word(0);  // RACE atomic_not_yet_constructed
    out[GLOBAL_ID] = count->fetch_add(1);     // RACE atomic_not_yet_constructed
}

// ---- counters and the last ---------------

__global__ void last_by_barrier_first_right(int* partial, unsigned* tickets, int* out) {
    __shared__ bool last;
    partial[GLOBAL_ID] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) out[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + (gridDim.x - 1) * blockDim.x];
}
// the ticket is drawn before the block has written
__global__ void ticket_before_barrier(int* partial, unsigned* tickets, int* out) {
    __shared__ bool last;
    partial[GLOBAL_ID] = 1;  // RACE ticket_before_barrier
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    __threadfence();
    if (last)
        for (int i = threadIdx.x; i < int(gridDim.x * blockDim.x); i += blockDim.x)
            out[i] = partial[(i + 1) % (gridDim.x * blockDim.x)];  // RACE ticket_before_barrier
}
// the last resets a counter that others still look at
__global__ void reset_while_polled(int* arrived, int* out) {
    if (threadIdx.x != 0) return;
    const bool last = atomicAdd(arrived, 1) == int(gridDim.x) - 1;
    if (last)
        *arrived = 0;  // RACE reset_while_polled
    else
        out[blockIdx.x] = wait_for(arrived, int(gridDim.x));  // RACE reset_while_polled
}
// the last ticket of one counter, the reset of another
__global__ void resets_other_counter(int* a, int* b) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(a, 1);
    if (ticket == int(gridDim.x) - 1) *b = 0;  // RACE resets_other_counter
    atomicAdd(b, 1);                           // RACE resets_other_counter
}
// each thread draws two tickets: the last of the first round is not the last
__global__ void reset_in_first_round(int* tickets, int* out) {
    if (atomicAdd(tickets, 1) == int(gridDim.x * blockDim.x) - 1) *tickets = 0;  // MISS reset_in_first_round
    out[GLOBAL_ID] = atomicAdd(tickets, 1);                                      // MISS reset_in_first_round
}
// a latch: counted down by all, one waits
__global__ void latch_right(int* latch, int* data, int* out) {
    data[GLOBAL_ID] = 1;
    __threadfence();
    atomicSub(latch, 1);
    if (GLOBAL_ID == 0 && wait_for(latch, -int(gridDim.x * blockDim.x))) {
        __threadfence();
        for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) out[0] += data[i];
    }
}

// ---- chained scans ---------------

// state and sum in one word: no fence needed
__global__ void look_back_packed_right(unsigned long long* state, int* out) {
    if (threadIdx.x != 0) return;
    const unsigned b = blockIdx.x;
    unsigned long long before = 0;
    if (b > 0)
        for (int i = 0; i < patience && !(before >> 32); ++i)
            before = *(volatile unsigned long long*)(state + b - 1);
    const unsigned sum = unsigned(before) + b;
    *(volatile unsigned long long*)(state + b) = 1ull << 32 | sum;
    out[b] = sum;
}
struct State {
    int sum, ready;
};
// two volatile words in one struct: volatile orders nothing
__global__ void look_back_volatile_sum(volatile State* state, int* out) {
    if (threadIdx.x != 0) return;
    const int b = blockIdx.x;
    int before = 0;
    if (b > 0) {
        for (int i = 0; i < patience && !state[b - 1].ready; ++i) {}
        before = state[b - 1].sum;  // RACE look_back_volatile_sum
    }
    state[b].sum = before + b;  // RACE look_back_volatile_sum
    state[b].ready = 1;
    out[b] = before + b;
}
// aggregate first, inclusive prefix later in the same word of data, one state word: the reader of state 1 may find
// the prefix
struct Descriptor {
    int state, value;
};
__global__ void look_back_value_replaced(Descriptor* d, int* out) {
    if (threadIdx.x != 0) return;
    const int b = blockIdx.x;
    d[b].value = 10;  // MISS look_back_value_replaced
    __threadfence();
    atomicExch(&d[b].state, 1);
    int sum = 0;
    for (int i = b - 1; i >= 0; --i) {
        int state = 0;
        for (int k = 0; k < patience && !state; ++k) state = atomicAdd(&d[i].state, 0);
        __threadfence();
        sum += d[i].value;  // MISS look_back_value_replaced
        if (state == 2) break;
    }
    d[b].value = sum + 10;  // MISS look_back_value_replaced
    __threadfence();
    atomicExch(&d[b].state, 2);
    out[b] = sum;
}

// ---- several words, equal writes ---------------

__global__ void set_then_cleared(int* changed, const int* data) {
    if (GLOBAL_ID == 0) *changed = 0;        // MISS set_then_cleared
    if (data[GLOBAL_ID] == 0) *changed = 1;  // MISS set_then_cleared
}

// ---- store buffers: two threads, two words ---------------

// Dekker: with seq_cst at most one of the two enters
__global__ void dekker_right(Word* wants, int* data) {
    if (threadIdx.x != 0) return;
    const int me = blockIdx.x;
    wants[me].store(1, memory_order_seq_cst);
    if (wants[1 - me].load(memory_order_seq_cst) == 0) data[0] += me + 1;
}
// with relaxed accesses both may enter; none in this run
__global__ void dekker_relaxed(Word* wants, int* data) {
    if (threadIdx.x != 0) return;
    const int me = blockIdx.x;
    wants[me].store(1, memory_order_relaxed);
    if (wants[1 - me].load(memory_order_relaxed) == 0) data[0] += me + 1;  // MISS dekker_relaxed
}

// ---- memory of the kernel's own, and of the host ---------------

__global__ void heap_pointer_unfenced(int** slot, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        int* p = (int*)malloc(16);
        if (!p) return;
        p[0] = 5;  // RACE heap_pointer_unfenced
        *(int* volatile*)slot = p;
    } else {
        int* p = nullptr;
        for (int i = 0; i < patience && !p; ++i) p = *(int* volatile*)slot;
        if (p) out[0] = p[0];  // RACE heap_pointer_unfenced
    }
}
__global__ void heap_pointer_right(int** slot, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        int* p = (int*)malloc(16);
        if (!p) return;
        p[0] = 5;
        __threadfence();
        *(int* volatile*)slot = p;
    } else {
        int* p = nullptr;
        for (int i = 0; i < patience && !p; ++i) p = *(int* volatile*)slot;
        __threadfence();
        if (!p) return;
        out[0] = p[0];
        free(p);
    }
}

// ---- relays ---------------

// acquire load, fence, relaxed store
__global__ void relay_by_fence_right(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        w[0].store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (!await(w[0], 1)) return;
        cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
        w[1].store(1, memory_order_relaxed);
    } else if (await(w[1], 1)) {
        out[0] = data[0];
    }
}
// relaxed load, one fence, relaxed store: the fence does both
__global__ void relay_by_one_fence_right(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        w[0].store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (!await(w[0], 1, memory_order_relaxed)) return;
        cuda::atomic_thread_fence(memory_order_acq_rel, cuda::thread_scope_device);
        w[1].store(1, memory_order_relaxed);
    } else if (await(w[1], 1)) {
        out[0] = data[0];
    }
}
// the relay's own word is set by a relaxed RMW after an acquire
__global__ void relay_by_relaxed_rmw(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE relay_by_relaxed_rmw
        w[0].store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (await(w[0], 1)) w[1].fetch_add(1, memory_order_relaxed);
    } else if (await(w[1], 1)) {
        out[0] = data[0];  // RACE relay_by_relaxed_rmw
    }
}
// a relaxed look, then a release: the look never became an acquire
__global__ void relay_releases_only(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE relay_releases_only
        w[0].store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (await(w[0], 1, memory_order_relaxed)) w[1].store(1, memory_order_release);
    } else if (await(w[1], 1)) {
        out[0] = data[0];  // RACE relay_releases_only
    }
}
// it reads the data itself
__global__ void looks_then_releases(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE looks_then_releases
        w[0].store(1, memory_order_release);
    } else if (await(w[0], 1, memory_order_relaxed)) {
        w[1].store(1, memory_order_release);
        out[0] = data[0];  // RACE looks_then_releases
    }
}
__global__ void relay_over_a_barrier_relaxed(Word* w, int* data, int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        data[0] = 1;  // RACE relay_over_a_barrier_relaxed
        w[0].store(1, memory_order_release);
    } else if (blockIdx.x == 1) {
        if (threadIdx.x == 0) await(w[0], 1);
        __syncthreads();
        if (threadIdx.x == 40) w[1].store(1, memory_order_relaxed);
    } else if (blockIdx.x == 2 && threadIdx.x == 0 && await(w[1], 1)) {
        out[0] = data[0];  // RACE relay_over_a_barrier_relaxed
    }
}

// ---- the wrong side ---------------

__global__ void publishes_by_acquire(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE publishes_by_acquire
        w->fetch_add(1, memory_order_acquire);
    } else if (await(*w, 1)) {
        out[0] = data[0];  // RACE publishes_by_acquire
    }
}
__global__ void last_releases_only(Word* tickets, int* partial, int* out) {
    if (threadIdx.x) return;
    partial[blockIdx.x] = 1;  // RACE last_releases_only
    if (tickets->fetch_add(1, memory_order_release) == int(gridDim.x) - 1)
        for (unsigned i = 0; i < gridDim.x; ++i) out[0] += partial[i];  // RACE last_releases_only
}
__global__ void last_acquires_only(Word* tickets, int* partial, int* out) {
    if (threadIdx.x) return;
    partial[blockIdx.x] = 1;  // RACE last_acquires_only
    if (tickets->fetch_add(1, memory_order_acquire) == int(gridDim.x) - 1)
        for (unsigned i = 0; i < gridDim.x; ++i) out[0] += partial[i];  // RACE last_acquires_only
}
__global__ void last_does_both_right(Word* tickets, int* partial, int* out) {
    if (threadIdx.x) return;
    partial[blockIdx.x] = 1;
    if (tickets->fetch_add(1, memory_order_acq_rel) == int(gridDim.x) - 1) {
        for (unsigned i = 0; i < gridDim.x; ++i) out[0] += partial[i];
        tickets->store(0, memory_order_relaxed);
    }
}
// releases only, but the last one executes a fence
__global__ void last_fences_right(Word* tickets, int* partial, int* out) {
    if (threadIdx.x) return;
    partial[blockIdx.x] = 1;
    if (tickets->fetch_add(1, memory_order_release) == int(gridDim.x) - 1) {
        cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
        for (unsigned i = 0; i < gridDim.x; ++i) out[0] += partial[i];
    }
}

// ---- stores ---------------

// PTX: a release followed by a strong write of the same thread to the word is a release pattern
__global__ void stored_again_by_same_thread_right(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        w->store(1, memory_order_release);
        w->store(2, memory_order_relaxed);
    } else if (await(*w, 2)) {
        out[0] = data[0];
    }
}
// data written between the two stores is not published
__global__ void written_between_two_stores(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        w->store(1, memory_order_release);
        data[0] = 1;  // RACE written_between_two_stores
        w->store(2, memory_order_relaxed);
    } else if (await(*w, 2)) {
        out[0] = data[0];  // RACE written_between_two_stores
    }
}
// a flag that goes back and forth
__global__ void to_and_fro_right(Word* w, int* data) {
    if (threadIdx.x) return;
    const int me = blockIdx.x;
    for (int i = 0; i < 4; ++i) {
        if (!await(*w, me)) return;
        data[0] = 2 * data[0] + me;
        w->store(1 - me, memory_order_release);
    }
}
__global__ void to_and_fro_relaxed(Word* w, int* data) {
    if (threadIdx.x) return;
    const int me = blockIdx.x;
    for (int i = 0; i < 4; ++i) {
        if (!await(*w, me)) return;
        data[0] = 2 * data[0] + me;  // RACE to_and_fro_relaxed
        w->store(1 - me, me ? memory_order_release : memory_order_relaxed);
    }
}

// ---- locks ---------------

template <class Enter, class Leave>
__device__ void locked(Word* lock, int* data, Enter enter, Leave leave) {
    if (threadIdx.x) return;
    for (int i = 0; i < patience; ++i)
        if (enter(*lock)) {
            data[0] = 2 * data[0] + 1;  // RACE lock_entered_by_release lock_left_by_relaxed
            leave(*lock);
            return;
        }
}
__global__ void lock_by_cas_right(Word* lock, int* data) {
    locked(
        lock, data,
        [](Word& l) {
            int free = 0;
            return l.compare_exchange_weak(free, 1, memory_order_acquire, memory_order_relaxed);
        },
        [](Word& l) { l.store(0, memory_order_release); });
}
__global__ void lock_entered_by_release(Word* lock, int* data) {
    locked(
        lock, data, [](Word& l) { return !l.exchange(1, memory_order_release); },
        [](Word& l) { l.store(0, memory_order_release); });
}
__global__ void lock_left_by_relaxed(Word* lock, int* data) {
    locked(
        lock, data, [](Word& l) { return !l.exchange(1, memory_order_acquire); },
        [](Word& l) { l.store(0, memory_order_relaxed); });
}

// ---- an order of another word ---------------

// the second word is not the one that released
__global__ void another_word_relaxed(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE another_word_relaxed
        w[0].store(1, memory_order_release);
        w[1].store(1, memory_order_relaxed);
    } else if (await(w[1], 1)) {
        out[0] = data[0];  // RACE another_word_relaxed
    }
}
// the acquire belongs to another word
__global__ void another_word_acquired(Word* w, int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 1;  // RACE another_word_acquired
        w[0].store(1, memory_order_release);
    } else if (await(w[0], 1, memory_order_relaxed)) {
        w[1].load(memory_order_acquire);
        out[0] = data[0];  // RACE another_word_acquired
    }
}

int main(int argc, char** argv) {
#define Z zeros<int>
#define W(n) zeros<Word>(n)
#define RUN(label, blocks, threads, name, ...)                            \
    {                                                                     \
        label, #name, [](int) { name<<<blocks, threads>>>(__VA_ARGS__); } \
    }
    const Case cases[] = {
        RUN("right", 3, 32, rcu_right, zeros<Config>(1), zeros<Config*>(1), Z(96)),
        RUN("race", 3, 32, rcu_by_dependency, zeros<Config>(1), zeros<Config*>(1), Z(96)),
        RUN("race", 3, 32, rcu_changed_in_place, zeros<Config>(1), zeros<Config*>(1), Z(96)),
        RUN("right", 4, 32, mailbox_right, zeros<int*>(1), Z(1), Z(1)),
        RUN("race", 4, 32, mailbox_put_back_early, zeros<int*>(1), Z(1), Z(4)),
        RUN("right", 4, 32, double_checked_right, Z(1), Z(1), Z(1), Z(4)),
        RUN("race", 4, 32, double_checked_relaxed, Z(1), Z(1), Z(1), Z(4)),
        RUN("right", 3, 32, once_right, Z(1), Z(4), Z(96)),
        RUN("race", 2, 64, all_fence_none_waits, Z(64), Z(1), Z(64)),
        RUN("race", 2, 64, fence_of_other_warp, Z(1), Z(1), Z(1)),
        RUN("right", 3, 32, relaxed_rmw_carries_right, W(1), Z(1), Z(1)),
        RUN("race", 3, 32, relaxed_store_ends, W(2), Z(1), Z(1)),
        RUN("race", 3, 32, middle_is_relaxed, W(1), Z(2), Z(1)),
        RUN("right", 3, 32, relay_by_acq_rel_right, W(1), W(1), Z(1), Z(1)),
        RUN("race", 3, 32, relay_does_not_release, W(1), W(1), Z(1), Z(1)),
        RUN("right", 2, 64, block_then_device_right, Z(1), Z(1), Z(1)),
        RUN("race", 2, 64, block_fence_on_last_hop, Z(1), Z(2), Z(1)),
        RUN("race", 2, 32, told_by_shuffle, Z(1), Z(1), Z(1)),
        RUN("right", 2, 32, told_by_shuffle_then_syncwarp_right, Z(1), Z(1), Z(1)),
        RUN("right", 2, 32, message_of_device_right, W(1), Z(1), Z(1)),
        RUN("right", 2, 32, message_of_system_right, zeros<cuda::atomic<int>>(1), Z(1), Z(1)),
        RUN("race", 2, 32, loaded_at_block_scope, Z(1), Z(1), Z(1)),
        RUN("right", 3, 64, counters_of_two_scopes_right, Z(3), Z(1), Z(3)),
        RUN("race", 2, 32, fence_of_scope_block, Z(1), Z(1), Z(1)),
        RUN("race", 2, 32, atomic_not_yet_constructed, W(1), Z(64)),
        RUN("right", 3, 64, last_by_barrier_first_right, Z(192), zeros<unsigned>(1), Z(64)),
        RUN("race", 3, 64, ticket_before_barrier, Z(192), zeros<unsigned>(1), Z(192)),
        RUN("race", 4, 32, reset_while_polled, Z(1), Z(4)),
        RUN("race", 4, 32, resets_other_counter, Z(1), Z(1)),
        RUN("race", 2, 32, reset_in_first_round, Z(1), Z(64)),
        RUN("right", 2, 32, latch_right, Z(1), Z(64), Z(1)),
        RUN("right", 4, 32, look_back_packed_right, zeros<unsigned long long>(4), Z(4)),
        RUN("race", 4, 32, look_back_volatile_sum, zeros<State>(4), Z(4)),
        RUN("race", 4, 32, look_back_value_replaced, zeros<Descriptor>(4), Z(4)),
        RUN("race", 2, 64, set_then_cleared, Z(1), Z(128)),
        RUN("right", 2, 32, dekker_right, W(2), Z(1)),
        RUN("race", 2, 32, dekker_relaxed, W(2), Z(1)),
        RUN("race", 2, 32, heap_pointer_unfenced, zeros<int*>(1), Z(1)),
        RUN("right", 2, 32, heap_pointer_right, zeros<int*>(1), Z(1)),
        RUN("right", 3, 32, relay_by_fence_right, W(2), Z(1), Z(1)),
        RUN("right", 3, 32, relay_by_one_fence_right, W(2), Z(1), Z(1)),
        RUN("race", 3, 32, relay_by_relaxed_rmw, W(2), Z(1), Z(1)),
        RUN("race", 3, 32, relay_releases_only, W(2), Z(1), Z(1)),
        RUN("race", 2, 32, looks_then_releases, W(2), Z(1), Z(1)),
        RUN("race", 3, 64, relay_over_a_barrier_relaxed, W(2), Z(1), Z(1)),
        RUN("race", 2, 32, publishes_by_acquire, W(1), Z(1), Z(1)),
        RUN("race", 4, 32, last_releases_only, W(1), Z(4), Z(1)),
        RUN("race", 4, 32, last_acquires_only, W(1), Z(4), Z(1)),
        RUN("right", 4, 32, last_does_both_right, W(1), Z(4), Z(1)),
        RUN("right", 4, 32, last_fences_right, W(1), Z(4), Z(1)),
        RUN("right", 2, 32, stored_again_by_same_thread_right, W(1), Z(1), Z(1)),
        RUN("race", 2, 32, written_between_two_stores, W(1), Z(1), Z(1)),
        RUN("right", 2, 32, to_and_fro_right, W(1), Z(1)),
        RUN("race", 2, 32, to_and_fro_relaxed, W(1), Z(1)),
        RUN("right", 4, 32, lock_by_cas_right, W(1), Z(1)),
        RUN("race", 4, 32, lock_entered_by_release, W(1), Z(1)),
        RUN("race", 4, 32, lock_left_by_relaxed, W(1), Z(1)),
        RUN("race", 2, 32, another_word_relaxed, W(2), Z(1), Z(1)),
        RUN("race", 2, 32, another_word_acquired, W(2), Z(1), Z(1)),
    };
    return choose(cases, argc, argv);
}
