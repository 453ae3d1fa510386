// locks_and_queues.cu - labelled kernels: look-back scans, locks, grid barriers, queues, hash tables, union-find,
// CAS loops and seqlocks, as authors of libraries write them.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

typedef unsigned long long u64;

__device__ int load(const volatile int* p) { return *p; }
__device__ void store(volatile int* p, int value) { *p = value; }
// Spins until *p is `value`; false if it never is.
__device__ bool await_equal(const volatile int* p, int value) {
    for (int spin = 0; spin < patience; ++spin)
        if (*p == value) return true;
    return false;
}

// ---- decoupled look-back: a tile publishes its sum (state 1), then its inclusive prefix (state 2) -------------

__device__ int draw_tile(int* next) { return atomicAdd(next, 1); }

template <bool PrefixFenced, class Value>
__device__ void lookback(int* next, int* state, Value* sum, Value* prefix, int* out) {
    if (threadIdx.x) return;
    const int tile = draw_tile(next);
    const int mine = tile + 1;
    sum[tile] = mine;
    __threadfence();
    store(&state[tile], 1);
    int before = 0;
    for (int t = tile - 1; t >= 0;) {
        int seen = 0;
        for (int spin = 0; spin < patience && !seen; ++spin) seen = load(&state[t]);
        if (!seen) return;
        __threadfence();
        if (seen == 2) {
            before += prefix[t];  // RACE lookback_prefix_unfenced lookback_volatile_prefix_unfenced
            break;
        }
        before += sum[t--];
    }
    prefix[tile] = before + mine;  // RACE lookback_prefix_unfenced lookback_volatile_prefix_unfenced
    if (PrefixFenced) __threadfence();
    store(&state[tile], 2);
    out[tile] = before;
}
__global__ void lookback_three_states(int* next, int* state, int* sum, int* prefix, int* out) {
    lookback<true>(next, state, sum, prefix, out);
}
__global__ void lookback_volatile(int* next, int* state, volatile int* sum, volatile int* prefix, int* out) {
    lookback<true>(next, state, sum, prefix, out);
}
// The sum is published behind a fence, the prefix is not.
__global__ void lookback_prefix_unfenced(int* next, int* state, int* sum, int* prefix, int* out) {
    lookback<false>(next, state, sum, prefix, out);
}
__global__ void lookback_volatile_prefix_unfenced(int* next, int* state, volatile int* sum, volatile int* prefix,
                                                  int* out) {
    lookback<false>(next, state, sum, prefix, out);
}
// The tile's number goes to the block through shared memory, and nobody waits for it.
__global__ void lookback_tile_unsynced(int* next, int* out) {
    __shared__ int tile;
    if (threadIdx.x == 0) tile = draw_tile(next);       // RACE lookback_tile_unsynced
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile;  // RACE lookback_tile_unsynced
}
// The next tile is drawn into the same variable while slow threads still use the last one.
__global__ void tile_loop_one_barrier(int* next, int* data, int n) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = draw_tile(next);  // RACE tile_loop_one_barrier
        __syncthreads();
        if (tile >= n) break;                        // RACE tile_loop_one_barrier
        data[tile * blockDim.x + threadIdx.x] += 1;  // RACE tile_loop_one_barrier
    }
}
__global__ void tile_loop_two_barriers(int* next, int* data, int n) {
    __shared__ int tile;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) tile = draw_tile(next);
        __syncthreads();
        const int mine = tile;
        if (mine >= n) break;
        data[mine * blockDim.x + threadIdx.x] += 1;
    }
}

// ---- ticket locks and queue locks ------------------------------------------------------------------------------

struct TicketLock {
    int next, serving;
};
__global__ void ticket_lock(TicketLock* lock, int* total) {
    if (threadIdx.x) return;
    const int mine = atomicAdd(&lock->next, 1);
    if (!await_equal(&lock->serving, mine)) return;
    __threadfence();
    *total += mine;
    __threadfence();
    store(&lock->serving, mine + 1);
}
// The fence comes after the next one is let in.
__global__ void ticket_lock_late_fence(TicketLock* lock, int* total) {
    if (threadIdx.x) return;
    const int mine = atomicAdd(&lock->next, 1);
    if (!await_equal(&lock->serving, mine)) return;
    __threadfence();
    *total += mine;  // RACE ticket_lock_late_fence
    store(&lock->serving, mine + 1);
    __threadfence();
}
// The total is read again after the lock is released.
__global__ void ticket_lock_reads_after(TicketLock* lock, int* total, int* out) {
    if (threadIdx.x) return;
    const int mine = atomicAdd(&lock->next, 1);
    if (!await_equal(&lock->serving, mine)) return;
    __threadfence();
    *total += 1;  // RACE ticket_lock_reads_after
    __threadfence();
    atomicAdd(&lock->serving, 1);
    out[blockIdx.x] = *total;  // RACE ticket_lock_reads_after
}

struct Node {
    int next, waits;
};
// The queue lock of Mellor-Crummey and Scott. Nodes have numbers from 1; 0 is nobody.

__global__ void mcs_lock(int* tail, Node* nodes, int* total) {
    if (threadIdx.x) return;
    const int me = blockIdx.x + 1;
    store(&nodes[me].next, 0);
    store(&nodes[me].waits, 1);
    __threadfence();
    const int before = atomicExch(tail, me);
    if (before) {
        __threadfence();
        atomicExch(&nodes[before].next, me);
        if (!await_equal(&nodes[me].waits, 0)) return;
    }
    __threadfence();
    *total += me;
    __threadfence();
    if (atomicAdd(&nodes[me].next, 0) == 0) {
        if (atomicCAS(tail, me, 0) == me) return;
        for (int spin = 0; spin < patience && atomicAdd(&nodes[me].next, 0) == 0; ++spin) {}
    }
    const int after = atomicAdd(&nodes[me].next, 0);
    __threadfence();
    if (after) store(&nodes[after].waits, 0);
}
__global__ void mcs_lock_volatile(int* tail, volatile Node* nodes, int* total) {
    if (threadIdx.x) return;
    const int me = blockIdx.x + 1;
    nodes[me].next = 0;
    nodes[me].waits = 1;
    __threadfence();
    const int before = atomicExch(tail, me);
    if (before) {
        __threadfence();
        nodes[before].next = me;
        if (!await_equal(&nodes[me].waits, 0)) return;
    }
    __threadfence();
    *total += me;
    __threadfence();
    if (nodes[me].next == 0) {
        if (atomicCAS(tail, me, 0) == me) return;
        for (int spin = 0; spin < patience && nodes[me].next == 0; ++spin) {}
    }
    const int after = nodes[me].next;
    __threadfence();
    if (after) nodes[after].waits = 0;
}
// The exchange has no fence after it: the link may reach the node before the node's own first 0 does.
__global__ void mcs_lock_link_unfenced(int* tail, volatile Node* nodes, int* total) {
    if (threadIdx.x) return;
    const int me = blockIdx.x + 1;
    nodes[me].next = 0;  // RACE mcs_lock_link_unfenced
    nodes[me].waits = 1;
    __threadfence();
    const int before = atomicExch(tail, me);
    if (before) {
        nodes[before].next = me;  // RACE mcs_lock_link_unfenced
        if (!await_equal(&nodes[me].waits, 0)) return;
    }
    __threadfence();
    *total += me;
    __threadfence();
    if (nodes[me].next == 0) {
        if (atomicCAS(tail, me, 0) == me) return;
        for (int spin = 0; spin < patience && nodes[me].next == 0; ++spin) {}
    }
    const int after = nodes[me].next;
    __threadfence();
    if (after) nodes[after].waits = 0;
}
// A block that had to wait enters the section without a fence.
__global__ void mcs_lock_waiter_unfenced(int* tail, Node* nodes, int* total) {
    if (threadIdx.x) return;
    const int me = blockIdx.x + 1;
    store(&nodes[me].next, 0);
    store(&nodes[me].waits, 1);
    __threadfence();
    const int before = atomicExch(tail, me);
    if (before) {
        __threadfence();
        atomicExch(&nodes[before].next, me);
        if (!await_equal(&nodes[me].waits, 0)) return;
    } else {
        __threadfence();
    }
    *total += me;  // RACE mcs_lock_waiter_unfenced
    __threadfence();
    if (atomicAdd(&nodes[me].next, 0) == 0) {
        if (atomicCAS(tail, me, 0) == me) return;
        for (int spin = 0; spin < patience && atomicAdd(&nodes[me].next, 0) == 0; ++spin) {}
    }
    const int after = atomicAdd(&nodes[me].next, 0);
    __threadfence();
    if (after) store(&nodes[after].waits, 0);
}
// The node is prepared by plain stores and queued without a fence.
__global__ void mcs_lock_node_unfenced(int* tail, Node* nodes, int* total) {
    if (threadIdx.x) return;
    const int me = blockIdx.x + 1;
    nodes[me].next = 0;   // RACE mcs_lock_node_unfenced
    nodes[me].waits = 1;  // RACE mcs_lock_node_unfenced
    const int before = atomicExch(tail, me);
    if (before) {
        __threadfence();
        atomicExch(&nodes[before].next, me);
        if (!await_equal(&nodes[me].waits, 0)) return;
    }
    __threadfence();
    *total += me;
    __threadfence();
    if (atomicAdd(&nodes[me].next, 0) == 0) {
        if (atomicCAS(tail, me, 0) == me) return;
        for (int spin = 0; spin < patience && atomicAdd(&nodes[me].next, 0) == 0; ++spin) {}
    }
    const int after = atomicAdd(&nodes[me].next, 0);
    __threadfence();
    if (after) store(&nodes[after].waits, 0);
}

// A lock for each bucket; the wrong twin updates the neighbouring bucket, too.
__global__ void striped_locks(int* locks, int* bucket, int buckets) {
    if (threadIdx.x) return;
    const int b = blockIdx.x % buckets;
    if (!take(&locks[b])) return;
    __threadfence();
    bucket[b] += 1;
    __threadfence();
    atomicExch(&locks[b], 0);
}
__global__ void striped_locks_neighbour(int* locks, int* bucket, int buckets) {
    if (threadIdx.x) return;
    const int b = blockIdx.x % buckets;
    if (!take(&locks[b])) return;
    __threadfence();
    bucket[b] += 1;                  // RACE striped_locks_neighbour
    bucket[(b + 1) % buckets] -= 1;  // RACE striped_locks_neighbour
    __threadfence();
    atomicExch(&locks[b], 0);
}

// ---- hand-made grid barriers ------------------------------------------------------------------------------------

__global__ void sense_barrier(int* count, int* generation, int* a, int* b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        const int old = load(generation);
        __threadfence();
        if (atomicAdd(count, 1) == int(gridDim.x) - 1) {
            atomicExch(count, 0);
            __threadfence();
            store(generation, old + 1);
        } else {
            await_equal(generation, old + 1);
        }
        __threadfence();
    }
    __syncthreads();
    b[i] = a[n - 1 - i];
}
__device__ void rising_barrier(int* count, int round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        for (int spin = 0; spin < patience; ++spin)
            if (atomicAdd(count, 0) >= round * int(gridDim.x)) break;
        __threadfence();
    }
    __syncthreads();
}
__global__ void rising_barrier_rounds(int* count, int* a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    rising_barrier(count, 1);
    const int other = a[(i + blockDim.x) % n];
    rising_barrier(count, 2);
    a[i] = other;
}
// The second round waits for the first round's number, which is reached already.
__global__ void rising_barrier_same_round(int* count, int* a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    rising_barrier(count, 1);
    const int other = a[(i + blockDim.x) % n];  // RACE rising_barrier_same_round
    rising_barrier(count, 1);
    a[i] = other;  // RACE rising_barrier_same_round
}
// Only thread 0's own writes are published: the others may not have written yet.
__global__ void grid_barrier_no_entry_sync(int* count, int* a, int* b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;  // RACE grid_barrier_no_entry_sync
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        await_equal(count, gridDim.x);
        __threadfence();
    }
    __syncthreads();
    b[i] = a[n - 1 - i];  // RACE grid_barrier_no_entry_sync
}
// Only thread 0 waits.
__global__ void grid_barrier_no_exit_sync(int* count, int* a, int* b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;  // RACE grid_barrier_no_exit_sync
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        await_equal(count, gridDim.x);
        __threadfence();
    }
    b[i] = a[n - 1 - i];  // RACE grid_barrier_no_exit_sync
}

// ---- ring buffers and queues
// --------------------------------------------------------------------------------------

constexpr int ring_size = 4;
struct Ring {
    int slot[ring_size];
    int head, tail;  // written so far, read so far
};
// Block 0 writes, block 1 reads.
__global__ void ring_one_to_one(Ring* ring, int* out, int n) {
    if (threadIdx.x) return;
    for (int i = 0; i < n; ++i) {
        bool ready = false;
        if (blockIdx.x == 0) {
            for (int spin = 0; spin < patience && !ready; ++spin) ready = i - load(&ring->tail) < ring_size;
            if (!ready) return;
            __threadfence();
            ring->slot[i % ring_size] = i;
            __threadfence();
            store(&ring->head, i + 1);
        } else {
            for (int spin = 0; spin < patience && !ready; ++spin) ready = load(&ring->head) > i;
            if (!ready) return;
            __threadfence();
            out[i] = ring->slot[i % ring_size];
            __threadfence();
            store(&ring->tail, i + 1);
        }
    }
}
// The ring is taken for full one element too late.
__global__ void ring_full_too_late(Ring* ring, int* out, int n) {
    if (threadIdx.x) return;
    for (int i = 0; i < n; ++i) {
        bool ready = false;
        if (blockIdx.x == 0) {
            for (int spin = 0; spin < patience && !ready; ++spin) ready = i - load(&ring->tail) <= ring_size;
            if (!ready) return;
            __threadfence();
            ring->slot[i % ring_size] = i;  // RACE ring_full_too_late
            __threadfence();
            store(&ring->head, i + 1);
        } else {
            for (int spin = 0; spin < patience && !ready; ++spin) ready = load(&ring->head) > i;
            if (!ready) return;
            __threadfence();
            out[i] = ring->slot[i % ring_size];  // RACE ring_full_too_late
            __threadfence();
            store(&ring->tail, i + 1);
        }
    }
}
// The reader gives the slot back without a fence: its read may come later.
__global__ void ring_slot_given_back_unfenced(Ring* ring, int* out, int n) {
    if (threadIdx.x) return;
    for (int i = 0; i < n; ++i) {
        bool ready = false;
        if (blockIdx.x == 0) {
            for (int spin = 0; spin < patience && !ready; ++spin) ready = i - load(&ring->tail) < ring_size;
            if (!ready) return;
            __threadfence();
            ring->slot[i % ring_size] = i;  // RACE ring_slot_given_back_unfenced
            __threadfence();
            store(&ring->head, i + 1);
        } else {
            for (int spin = 0; spin < patience && !ready; ++spin) ready = load(&ring->head) > i;
            if (!ready) return;
            __threadfence();
            out[i] = ring->slot[i % ring_size];  // RACE ring_slot_given_back_unfenced
            store(&ring->tail, i + 1);
        }
    }
}

// A bounded queue with a number in each cell (Vyukov). Even blocks put, odd ones get.
struct Cell {
    int turn, value;
};
__global__ void numbered_queue(Cell* cells, int* put, int* get, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x % 2 == 0) {
        const int at = atomicAdd(put, 1);
        Cell* const cell = &cells[at % ring_size];
        if (!await_equal(&cell->turn, 2 * (at / ring_size))) return;
        __threadfence();
        cell->value = at;
        __threadfence();
        atomicExch(&cell->turn, 2 * (at / ring_size) + 1);
    } else {
        const int at = atomicAdd(get, 1);
        Cell* const cell = &cells[at % ring_size];
        if (!await_equal(&cell->turn, 2 * (at / ring_size) + 1)) return;
        __threadfence();
        out[at] = cell->value;
        __threadfence();
        atomicExch(&cell->turn, 2 * (at / ring_size) + 2);
    }
}
__global__ void numbered_queue_number_first(Cell* cells, int* put, int* get, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x % 2 == 0) {
        const int at = atomicAdd(put, 1);
        Cell* const cell = &cells[at % ring_size];
        if (!await_equal(&cell->turn, 2 * (at / ring_size))) return;
        __threadfence();
        atomicExch(&cell->turn, 2 * (at / ring_size) + 1);
        cell->value = at;  // RACE numbered_queue_number_first
        __threadfence();
    } else {
        const int at = atomicAdd(get, 1);
        Cell* const cell = &cells[at % ring_size];
        if (!await_equal(&cell->turn, 2 * (at / ring_size) + 1)) return;
        __threadfence();
        out[at] = cell->value;  // RACE numbered_queue_number_first
        __threadfence();
        atomicExch(&cell->turn, 2 * (at / ring_size) + 2);
    }
}

// A work list that grows: a slot is reserved, filled, and marked as filled.
__global__ void worklist_marked(int* tail, int* head, int* items, int* filled, int* out) {
    const int at = atomicAdd(tail, 1);
    items[at] = threadIdx.x + 7;
    __threadfence();
    atomicExch(&filled[at], 1);
    const int mine = atomicAdd(head, 1);
    if (!await_equal(&filled[mine], 1)) return;
    __threadfence();
    out[mine] = items[mine];
}
// Readers take a reserved slot for a filled one.
__global__ void worklist_reserved_only(int* tail, int* head, int* items, int* out) {
    if (blockIdx.x % 2 == 0) {
        const int at = atomicAdd(tail, 1);
        items[at] = threadIdx.x + 7;  // RACE worklist_reserved_only
        __threadfence();
        return;
    }
    const int mine = atomicAdd(head, 1);
    if (mine < load(tail)) out[mine] = items[mine];  // RACE worklist_reserved_only
}
// Work is taken from the list's end by CAS; nothing is added meanwhile.
__global__ void worklist_pop_by_cas(int* count, const int* items, int* out) {
    int seen = load(count);
    while (seen > 0) {
        const int found = atomicCAS(count, seen, seen - 1);
        if (found == seen) {
            out[seen - 1] = items[seen - 1] + 1;
            return;
        }
        seen = found;
    }
}
// A stack of free slots: a link is published without a fence.
__global__ void free_list_plain_links(int* top, int* link, int n) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (me > n) return;
    for (int spin = 0; spin < patience && me % 2; ++spin) {  // odd threads push
        const int old = load(top);
        link[me] = old;  // RACE free_list_plain_links
        if (atomicCAS(top, old, me) == old) return;
    }
    for (int spin = 0; spin < patience; ++spin) {  // the others pop
        const int old = load(top);
        if (old == 0) break;
        const int below = link[old];  // RACE free_list_plain_links
        if (atomicCAS(top, old, below) == old) break;
    }
}

// ---- hash tables and union-find
// --------------------------------------------------------------------------------------

__global__ void hash_count(int* keys, int* counts, int slots) {
    const int key = 1 + (blockIdx.x * blockDim.x + threadIdx.x) % 7;
    for (int probe = 0, at = key * 31 % slots; probe < slots; ++probe, at = (at + 1) % slots) {
        const int found = atomicCAS(&keys[at], 0, key);
        if (found == 0 || found == key) {
            atomicAdd(&counts[at], 1);
            return;
        }
    }
}
// The value is written after its key can be found.
__global__ void hash_value_after_key(int* keys, int* values, int* out, int slots) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = 1 + i % 7;
    for (int probe = 0, at = key * 31 % slots; probe < slots; ++probe, at = (at + 1) % slots) {
        const int found = atomicCAS(&keys[at], 0, key);
        if (found == 0) {
            values[at] = 100 + i;  // RACE hash_value_after_key
            return;
        }
        if (found == key) {
            out[i] = values[at];  // RACE hash_value_after_key
            return;
        }
    }
}
__global__ void hash_packed_pairs(u64* table, int* out, int slots) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const u64 key = 1 + i % 7;
    for (int probe = 0, at = key * 31 % slots; probe < slots; ++probe, at = (at + 1) % slots) {
        u64 old = *(volatile u64*)&table[at];
        if (old == 0) old = atomicCAS(&table[at], 0, key << 32 | unsigned(i));
        if (old == 0 || old >> 32 == key) {
            out[i] = int(old);
            return;
        }
    }
}
// A free slot is claimed by a plain store.
__global__ void hash_claim_plainly(int* keys, int slots) {
    const int key = 1 + (blockIdx.x * blockDim.x + threadIdx.x) / 2;
    for (int probe = 0, at = key * 31 % slots; probe < slots; ++probe, at = (at + 1) % slots)
        if (keys[at] == 0) {  // RACE hash_claim_plainly
            keys[at] = key;   // RACE hash_claim_plainly
            return;
        }
}

__device__ int root_of(int* parent, int x) {
    for (int up = load(&parent[x]); up != x; up = load(&parent[x])) x = up;
    return x;
}
__global__ void join_by_cas(int* parent, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = i, b = (i * 5 + 3) % n;
    for (int spin = 0; spin < patience; ++spin) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b) return;
        if (a < b) {
            const int t = a;
            a = b, b = t;
        }
        if (atomicCAS(&parent[a], a, b) == a) return;
    }
}
// Paths are shortened by plain stores beside the CAS of others.
__global__ void join_plain_halving(int* parent, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = i, b = (i * 5 + 3) % n;
    for (int spin = 0; spin < patience; ++spin) {
        while (parent[a] != a) {            // RACE join_plain_halving
            parent[a] = parent[parent[a]];  // RACE join_plain_halving
            a = parent[a];                  // RACE join_plain_halving
        }
        b = root_of(parent, b);
        if (a == b) return;
        if (a < b) {
            const int t = a;
            a = b, b = t;
        }
        if (atomicCAS(&parent[a], a, b) == a) return;
    }
}

// ---- optimistic reads before a CAS
// -----------------------------------------------------------------------------------

__device__ void raise_from(int* p, int seen, int value) {
    while (seen < value) {
        const int found = atomicCAS(p, seen, value);
        if (found == seen) return;
        seen = found;
    }
}
__global__ void cas_first_read_by_caller(int* p) { raise_from(p, *p, blockIdx.x * blockDim.x + threadIdx.x + 1); }

__global__ void cas_with_goto(int* p) {
    int seen = *p, found;
again:
    found = atomicCAS(p, seen, seen + 3);
    if (found != seen) {
        seen = found;
        goto again;
    }
}
template <class Change>
__device__ void change(int* p, Change f) {
    for (int seen = *p, found;; seen = found)
        if ((found = atomicCAS(p, seen, f(seen))) == seen) break;
}
__global__ void cas_by_lambda(int* p) {
    const int mine = threadIdx.x;
    change(p, [=](int old) { return old > 1000 ? mine : old + mine + 1; });
}
struct Saturated {
    int value;
    __device__ bool add(int by, int most) {
        int old = value;
        do {
            if (old + by > most) return false;
            const int found = atomicCAS(&value, old, old + by);
            if (found == old) return true;
            old = found;
        } while (true);
    }
};
__global__ void cas_in_struct(Saturated* s, int* added) {
    if (s->add(1 + threadIdx.x % 3, 50)) atomicAdd(added, 1);
}

// The result is read once more, plainly, after the loop.
__global__ void cas_then_plain_result(int* p, int* out) {
    int seen = *p, found;
    while ((found = atomicCAS(p, seen, seen + 1)) != seen) seen = found;
    out[blockIdx.x * blockDim.x + threadIdx.x] = *p;  // RACE cas_then_plain_result
}
// The new value depends on a second word, which others change as well.
__global__ void cas_uses_other_word(int* p) {
    int seen = p[0], found;
    for (;;) {
        const int step = p[1] & 3;  // RACE cas_uses_other_word
        if ((found = atomicCAS(&p[0], seen, seen + step + 1)) == seen) break;
        seen = found;
    }
    atomicAdd(&p[1], 1);
}
// A plain read decides that nothing remains to be done, and its value is stored. The detector shows each thread the
// value before the first CAS, so every thread of the run takes the other branch, where the CAS compares the value.
__global__ void cas_skipped_on_stale(int* best, int* loser, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int old = *best;  // MISS cas_skipped_on_stale
    if (old >= i + 1)
        loser[i] = old;
    else
        raise_from(best, old, i + 1);
}
__global__ void cas_ternary(int* p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int old = *p, next; (next = old < n ? old + 1 : 0), true;) {
        const int found = atomicCAS(p, old, next);
        old = found == old ? -1 : found;
        if (old < 0) break;
    }
    (void)i;
}

// ---- seqlocks
// ----------------------------------------------------------------------------------------------------------

struct Sequenced {
    int version, x, y;
};

__global__ void sequenced_pair(Sequenced* s, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 1) {
        for (int i = 1; i < 6; ++i) {
            store(&s->version, 2 * i - 1);
            __threadfence();
            store(&s->x, i);
            store(&s->y, -i);
            __threadfence();
            store(&s->version, 2 * i);
        }
        return;
    }
    for (int spin = 0; spin < patience; ++spin) {
        const int before = load(&s->version);
        __threadfence();
        const int x = load(&s->x), y = load(&s->y);
        __threadfence();
        if (load(&s->version) != before || before % 2) continue;
        out[blockIdx.x] = x + y;
        return;
    }
}
// Version and fences are right, but the pair is read and written by plain accesses.
__global__ void sequenced_pair_plain(Sequenced* s, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 1) {
        for (int i = 1; i < 6; ++i) {
            store(&s->version, 2 * i - 1);
            __threadfence();
            s->x = i;   // RACE sequenced_pair_plain
            s->y = -i;  // RACE sequenced_pair_plain
            __threadfence();
            store(&s->version, 2 * i);
        }
        return;
    }
    for (int spin = 0; spin < patience; ++spin) {
        const int before = load(&s->version);
        __threadfence();
        const int x = s->x, y = s->y;  // RACE sequenced_pair_plain
        __threadfence();
        if (load(&s->version) != before || before % 2) continue;
        out[blockIdx.x] = x + y;
        return;
    }
}
// The writer does not keep the odd version in front of its data.
__global__ void sequenced_pair_writer_unfenced(volatile Sequenced* s, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 1) {
        for (int i = 1; i < 6; ++i) {
            s->version = 2 * i - 1;  // RACE sequenced_pair_writer_unfenced
            s->x = i;                // RACE sequenced_pair_writer_unfenced
            s->y = -i;               // RACE sequenced_pair_writer_unfenced
            __threadfence();
            s->version = 2 * i;
        }
        return;
    }
    for (int spin = 0; spin < patience; ++spin) {
        const int before = s->version;  // RACE sequenced_pair_writer_unfenced
        __threadfence();
        const int x = s->x, y = s->y;  // RACE sequenced_pair_writer_unfenced
        __threadfence();
        if (s->version != before || before % 2) continue;
        out[blockIdx.x] = x + y;
        return;
    }
}

// ---- the programs
// --------------------------------------------------------------------------------------------------------

__global__ void own_roots(int* parent, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) parent[i] = i;
}
template <class Kernel>
void run_look_back(Kernel kernel, int n) {
    kernel<<<n, 32>>>(zeros<int>(1), zeros<int>(n), zeros<int>(n), zeros<int>(n), zeros<int>(n));
}
template <class Kernel>
void run_mcs(Kernel kernel, int n) {
    kernel<<<n, 32>>>(zeros<int>(1), zeros<Node>(n + 1), zeros<int>(1));
}
int few(int n) { return n < 16 ? n : 16; }
int many(int n) { return n < 40 ? 40 : n; }  // enough that threads meet in any order
template <class Kernel>
void run_grid(Kernel kernel, int n) {
    kernel<<<few(n), 64>>>(zeros<int>(1), zeros<int>(64 * few(n)), zeros<int>(64 * few(n)));
}
template <class Kernel>
void run_join(Kernel kernel, int n) {
    int* parent = zeros<int>(n);
    own_roots<<<(n + 63) / 64, 64>>>(parent, n);
    kernel<<<(n + 63) / 64, 64>>>(parent, n);
}
#define LOOK_BACK(name) [](int n) { run_look_back(name, n); }
#define MCS(name) [](int n) { run_mcs(name, many(n)); }
#define GRID(name) [](int n) { run_grid(name, n); }
#define RING(name) [](int n) { name<<<2, 32>>>(zeros<Ring>(1), zeros<int>(many(n)), many(n)); }
#define QUEUE(name)                                                                                         \
    [](int n) {                                                                                             \
        name<<<2 * few(n), 32>>>(zeros<Cell>(ring_size), zeros<int>(1), zeros<int>(1), zeros<int>(few(n))); \
    }
#define TICKET(name) [](int n) { name<<<few(n), 32>>>(zeros<TicketLock>(1), zeros<int>(1)); }
#define ONE_WORD(name) [](int n) { name < <<3, n<64 ? n : 64>>>(zeros<int>(2)); }
#define JOIN(name) [](int n) { run_join(name, many(n)); }
#define PAIR(name) [](int) { name<<<16, 32>>>(zeros<Sequenced>(1), zeros<int>(16)); }

int main(int argc, char** argv) {
    const Case cases[] = {
        {"right", "lookback_three_states", LOOK_BACK(lookback_three_states)},
        {"race", "lookback_prefix_unfenced", LOOK_BACK(lookback_prefix_unfenced)},
        {"right", "lookback_volatile", LOOK_BACK(lookback_volatile)},
        {"race", "lookback_volatile_prefix_unfenced", LOOK_BACK(lookback_volatile_prefix_unfenced)},
        {"race", "lookback_tile_unsynced",
         [](int n) { lookback_tile_unsynced<<<n, 64>>>(zeros<int>(1), zeros<int>(64 * n)); }},
        {"race", "tile_loop_one_barrier",
         [](int n) { tile_loop_one_barrier<<<2, 64>>>(zeros<int>(1), zeros<int>(64 * n), n); }},
        {"right", "tile_loop_two_barriers",
         [](int n) { tile_loop_two_barriers<<<2, 64>>>(zeros<int>(1), zeros<int>(64 * n), n); }},
        {"right", "ticket_lock", TICKET(ticket_lock)},
        {"race", "ticket_lock_late_fence", TICKET(ticket_lock_late_fence)},
        {"race", "ticket_lock_reads_after",
         [](int n) {
             ticket_lock_reads_after<<<few(n), 32>>>(zeros<TicketLock>(1), zeros<int>(1), zeros<int>(few(n)));
         }},
        {"right", "mcs_lock", MCS(mcs_lock)},
        {"right", "mcs_lock_volatile", MCS(mcs_lock_volatile)},
        {"race", "mcs_lock_link_unfenced", MCS(mcs_lock_link_unfenced)},
        {"race", "mcs_lock_waiter_unfenced", MCS(mcs_lock_waiter_unfenced)},
        {"race", "mcs_lock_node_unfenced", MCS(mcs_lock_node_unfenced)},
        {"right", "striped_locks", [](int n) { striped_locks<<<n, 32>>>(zeros<int>(3), zeros<int>(3), 3); }},
        {"race", "striped_locks_neighbour",
         [](int n) { striped_locks_neighbour<<<n, 32>>>(zeros<int>(3), zeros<int>(3), 3); }},
        {"right", "sense_barrier",
         [](int n) {
             const int all = 64 * few(n);
             sense_barrier<<<few(n), 64>>>(zeros<int>(1), zeros<int>(1), zeros<int>(all), zeros<int>(all));
         }},
        {"right", "rising_barrier_rounds",
         [](int n) { rising_barrier_rounds<<<few(n), 64>>>(zeros<int>(1), zeros<int>(64 * few(n))); }},
        {"race", "rising_barrier_same_round",
         [](int n) { rising_barrier_same_round<<<few(n), 64>>>(zeros<int>(1), zeros<int>(64 * few(n))); }},
        {"race", "grid_barrier_no_entry_sync", GRID(grid_barrier_no_entry_sync)},
        {"race", "grid_barrier_no_exit_sync", GRID(grid_barrier_no_exit_sync)},
        {"right", "ring_one_to_one", RING(ring_one_to_one)},
        {"race", "ring_full_too_late", RING(ring_full_too_late)},
        {"race", "ring_slot_given_back_unfenced", RING(ring_slot_given_back_unfenced)},
        {"right", "numbered_queue", QUEUE(numbered_queue)},
        {"race", "numbered_queue_number_first", QUEUE(numbered_queue_number_first)},
        {"right", "worklist_marked",
         [](int n) {
             worklist_marked<<<n, 32>>>(zeros<int>(1), zeros<int>(1), zeros<int>(32 * n), zeros<int>(32 * n),
                                        zeros<int>(32 * n));
         }},
        {"race", "worklist_reserved_only",
         [](int n) {
             worklist_reserved_only<<<n, 32>>>(zeros<int>(1), zeros<int>(1), zeros<int>(32 * n),
                                               zeros<int>(32 * n));
         }},
        {"right", "worklist_pop_by_cas",
         [](int n) {
             int* count = zeros<int>(1);
             cudaMemcpy(count, &n, sizeof n, cudaMemcpyHostToDevice);
             worklist_pop_by_cas<<<(n + 63) / 64 + 1, 64>>>(count, zeros<int>(n), zeros<int>(n));
         }},
        {"race", "free_list_plain_links",
         [](int n) { free_list_plain_links<<<(n + 31) / 32, 32>>>(zeros<int>(1), zeros<int>(n + 1), n); }},
        {"right", "hash_count", [](int n) { hash_count<<<n, 32>>>(zeros<int>(16), zeros<int>(16), 16); }},
        {"race", "hash_value_after_key",
         [](int n) { hash_value_after_key<<<n, 32>>>(zeros<int>(16), zeros<int>(16), zeros<int>(32 * n), 16); }},
        {"right", "hash_packed_pairs",
         [](int n) { hash_packed_pairs<<<n, 32>>>(zeros<u64>(16), zeros<int>(32 * n), 16); }},
        {"race", "hash_claim_plainly",
         [](int n) { hash_claim_plainly < <<2, n<64 ? n : 64>>>(zeros<int>(256), 256); }},
        {"right", "join_by_cas", JOIN(join_by_cas)},
        {"race", "join_plain_halving", JOIN(join_plain_halving)},
        {"right", "cas_first_read_by_caller", ONE_WORD(cas_first_read_by_caller)},
        {"right", "cas_with_goto", ONE_WORD(cas_with_goto)},
        {"right", "cas_by_lambda", ONE_WORD(cas_by_lambda)},
        {"right", "cas_in_struct", [](int) { cas_in_struct<<<3, 32>>>(zeros<Saturated>(1), zeros<int>(1)); }},
        {"right", "cas_ternary", [](int n) { cas_ternary < <<3, n<64 ? n : 64>>>(zeros<int>(1), n); }},
        {"race", "cas_then_plain_result",
         [](int n) { cas_then_plain_result<<<n, 32>>>(zeros<int>(1), zeros<int>(32 * n)); }},
        {"race", "cas_uses_other_word", ONE_WORD(cas_uses_other_word)},
        {"race", "cas_skipped_on_stale",
         [](int n) { cas_skipped_on_stale<<<(n + 31) / 32, 32>>>(zeros<int>(1), zeros<int>(n), n); }},
        {"right", "sequenced_pair", PAIR(sequenced_pair)},
        {"race", "sequenced_pair_plain", PAIR(sequenced_pair_plain)},
        {"race", "sequenced_pair_writer_unfenced", PAIR(sequenced_pair_writer_unfenced)},
    };
    return choose(cases, argc, argv);
}
