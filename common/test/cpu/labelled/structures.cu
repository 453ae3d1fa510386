// structures.cu - labelled kernels: locks, queues, lists, tables and trees that many threads change.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include <cuda/atomic>

#include "labelled.cuh"

#define GLOBAL_ID int(blockIdx.x * blockDim.x + threadIdx.x)
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
using Word = cuda::atomic<int, cuda::thread_scope_device>;

// ---- queue locks ---------------

struct Waiter {
    Word next, locked;  // next: the index of the next waiter + 1
};
// MCS: each thread waits at a word of its own
struct McsLock {
    Word tail;
    __device__ bool acquire(Waiter* w, int me, cuda::memory_order order) {
        w[me].next.store(0, memory_order_relaxed);
        w[me].locked.store(1, memory_order_relaxed);
        const int before = tail.exchange(me + 1, cuda::memory_order_acq_rel);
        if (!before) return true;
        w[before - 1].next.store(me + 1, memory_order_release);
        for (int i = 0; i < patience; ++i)
            if (!w[me].locked.load(order)) return true;
        return false;
    }
    __device__ void release(Waiter* w, int me, cuda::memory_order order) {
        int next = w[me].next.load(memory_order_acquire), expected = me + 1;
        if (!next) {
            if (tail.compare_exchange_strong(expected, 0, memory_order_release, memory_order_relaxed)) return;
            for (int i = 0; i < patience && !next; ++i) next = w[me].next.load(memory_order_acquire);
            if (!next) return;
        }
        w[next - 1].locked.store(0, order);
    }
};
__global__ void mcs_right(McsLock* lock, Waiter* w, int* data) {
    if (threadIdx.x != 0) return;
    if (!lock->acquire(w, blockIdx.x, memory_order_acquire)) return;
    data[0] = 2 * data[0] + 1;
    lock->release(w, blockIdx.x, memory_order_release);
}
// the hand-over is relaxed
__global__ void mcs_relaxed_hand_over(McsLock* lock, Waiter* w, int* data) {
    const int me = blockIdx.x;
    if (threadIdx.x != 0) return;
    if (!lock->acquire(w, me, memory_order_relaxed)) return;
    for (int i = 0; i < 1000 && !w[me].next.load(memory_order_relaxed); ++i) {}
    data[0] = 2 * data[0] + 1;  // RACE mcs_relaxed_hand_over
    lock->release(w, me, memory_order_relaxed);
}
// CLH: each thread waits at the word of the thread before it
template <bool Fenced>
__device__ void clh(int* tail, int* busy, int* data) {
    if (threadIdx.x != 0) return;
    const int me = blockIdx.x + 1;
    *(volatile int*)(busy + me) = 1;
    __threadfence();
    const int before = atomicExch(tail, me);
    if (Fenced) __threadfence();
    if (!wait_for(busy + before, 0)) return;
    __threadfence();
    data[0] += me;  // MISS clh_looks_too_early
    __threadfence();
    *(volatile int*)(busy + me) = 0;
}
__global__ void clh_right(int* tail, int* busy, int* data) { clh<true>(tail, busy, data); }
// no fence after the exchange: the first look may find the word as it was before its owner set it
__global__ void clh_looks_too_early(int* tail, int* busy, int* data) { clh<false>(tail, busy, data); }
// its own word is released before the data is written
__global__ void clh_released_early(int* tail, int* busy, int* data) {
    if (threadIdx.x != 0) return;
    const int me = blockIdx.x + 1;
    *(volatile int*)(busy + me) = 1;
    __threadfence();
    const int before = atomicExch(tail, me);
    __threadfence();
    if (!wait_for(busy + before, 0)) return;
    __threadfence();
    const int x = data[0];  // RACE clh_released_early
    __threadfence();
    *(volatile int*)(busy + me) = 0;
    data[0] = x + me;  // RACE clh_released_early
}
// ticket lock
struct TicketLock {
    unsigned next, serving;
};
template <bool fences>
__device__ bool enter(TicketLock* t) {
    const unsigned mine = atomicAdd(&t->next, 1);
    for (int i = 0; i < patience; ++i)
        if (*(volatile unsigned*)&t->serving == mine) {
            if (fences) __threadfence();
            return true;
        }
    return false;
}
template <bool fences>
__device__ void leave(TicketLock* t) {
    if (fences) __threadfence();
    atomicAdd(&t->serving, 1);
}
__global__ void ticket_lock_right(TicketLock* t, int* data) {
    if (threadIdx.x != 0 || !enter<true>(t)) return;
    data[0] = 3 * data[0] + 1;
    leave<true>(t);
}
__global__ void ticket_lock_leaves_unfenced(TicketLock* t, int* data) {
    if (threadIdx.x != 0 || !enter<true>(t)) return;
    data[0] = 3 * data[0] + 1;  // RACE ticket_lock_leaves_unfenced
    leave<false>(t);
}
__global__ void ticket_lock_enters_unfenced(TicketLock* t, int* data) {
    if (threadIdx.x != 0 || !enter<false>(t)) return;
    data[0] = 3 * data[0] + 1;  // RACE ticket_lock_enters_unfenced
    leave<true>(t);
}

// ---- readers and writers, semaphores ---------------

constexpr int writing = 1 << 20;
__device__ bool start_reading(int* lock) {
    for (int i = 0; i < patience; ++i) {
        if (atomicAdd(lock, 1) < writing) {
            __threadfence();
            return true;
        }
        atomicSub(lock, 1);
    }
    return false;
}
__device__ bool start_writing(int* lock) {
    for (int i = 0; i < patience; ++i)
        if (atomicCAS(lock, 0, writing) == 0) {
            __threadfence();
            return true;
        }
    return false;
}
__global__ void readers_and_writers_right(int* lock, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2) {
        if (!start_writing(lock)) return;
        data[0] += 1;
        data[1] += 1;
        __threadfence();
        atomicSub(lock, writing);
    } else {
        if (!start_reading(lock)) return;
        out[blockIdx.x] = data[0] - data[1];
        __threadfence();
        atomicSub(lock, 1);
    }
}
// a reader writes
__global__ void writes_as_reader(int* lock, int* data) {
    if (threadIdx.x != 0 || !start_reading(lock)) return;
    atomicAdd(data + 1, 1);
    wait_for(data + 1, 2);
    data[0] += 1;  // RACE writes_as_reader
    __threadfence();
    atomicSub(lock, 1);
}
// a reader leaves without a fence: its reads may come after the next write
__global__ void reader_leaves_unfenced(int* lock, int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2) {
        if (!start_writing(lock)) return;
        data[0] += 1;  // RACE reader_leaves_unfenced
        __threadfence();
        atomicSub(lock, writing);
    } else {
        if (!start_reading(lock)) return;
        out[blockIdx.x] = data[0];  // RACE reader_leaves_unfenced
        atomicSub(lock, 1);
    }
}
__device__ bool down(int* semaphore) {
    for (int i = 0; i < patience; ++i) {
        const int left = *(volatile int*)semaphore;
        if (left > 0 && atomicCAS(semaphore, left, left - 1) == left) {
            __threadfence();
            return true;
        }
    }
    return false;
}
__device__ void up(int* semaphore) {
    __threadfence();
    atomicAdd(semaphore, 1);
}
__global__ void fill(int* p, int value) { p[GLOBAL_ID] = value; }
// a semaphore of 2 lets two in
__global__ void semaphore_of_two(int* semaphore, int* data) {
    if (threadIdx.x != 0 || !down(semaphore)) return;
    data[0] += 1;  // MISS semaphore_of_two
    up(semaphore);
}
__global__ void semaphore_of_one_right(int* semaphore, int* data) {
    if (threadIdx.x != 0 || !down(semaphore)) return;
    data[0] += 1;
    up(semaphore);
}
// two places, and a word of bits that tells which are free
__device__ void with_a_place(unsigned* used, int* places) {
    for (int i = 0; i < patience; ++i) {
        const unsigned seen = atomicOr(used, 0u), free_bit = ~seen & 3u;
        if (!free_bit) continue;
        const int place = __ffs(int(free_bit)) - 1;
        if (atomicOr(used, 1u << place) >> place & 1) continue;
        __threadfence();
        places[place] += 1;
        __threadfence();
        atomicAnd(used, ~(1u << place));
        return;
    }
}
__global__ void places_right(unsigned* used, int* places) {
    if (threadIdx.x == 0) with_a_place(used, places);
}
__global__ void places_given_back_unfenced(unsigned* used, int* places) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < patience; ++i) {
        if (atomicOr(used, 1u) & 1) continue;
        __threadfence();
        places[0] += 1;  // RACE places_given_back_unfenced
        atomicAnd(used, ~1u);
        return;
    }
}
// one word, a lock in each bit: the wrong bit guards
__global__ void wrong_bit_guards(unsigned* bits, int* data) {
    if (threadIdx.x != 0) return;
    const unsigned bit = 1u << blockIdx.x;
    for (int i = 0; i < patience; ++i) {
        if (atomicOr(bits, bit) & bit) continue;
        __threadfence();
        data[0] += 1;  // MISS wrong_bit_guards
        __threadfence();
        atomicAnd(bits, ~bit);
        return;
    }
}
// unlocked by a weak store
__global__ void unlocked_by_plain_store(int* lock, int* data) {
    if (threadIdx.x != 0 || !take(lock)) return;  // RACE unlocked_by_plain_store
    __threadfence();
    data[0] += 1;
    __threadfence();
    *lock = 0;  // RACE unlocked_by_plain_store
}
// one thread takes the lock for its block; the others leave the section late
__global__ void block_lock_right(int* lock, int* data) {
    if (threadIdx.x == 0) {
        take(lock);
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
__global__ void block_lock_left_early(int* lock, int* data) {
    if (threadIdx.x == 0) {
        take(lock);
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] += 1;  // RACE block_lock_left_early
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
// sorted locks, two accounts a transfer
__global__ void transfers_right(int* locks, int* money) {
    if (threadIdx.x != 0) return;
    const int a = blockIdx.x % 3, b = (blockIdx.x + 1) % 3;
    if (!take(locks + min(a, b))) return;
    if (take(locks + max(a, b))) {
        __threadfence();
        money[a] -= 1;
        money[b] += 1;
        __threadfence();
        atomicExch(locks + max(a, b), 0);
    }
    __threadfence();
    atomicExch(locks + min(a, b), 0);
}
// the second account is changed after its lock is given back
__global__ void transfers_late(int* locks, int* money) {
    if (threadIdx.x != 0) return;
    const int a = blockIdx.x % 3, b = (blockIdx.x + 1) % 3;
    if (!take(locks + min(a, b))) return;
    if (take(locks + max(a, b))) {
        __threadfence();
        money[min(a, b)] -= 1;
        __threadfence();
        atomicExch(locks + max(a, b), 0);
        money[max(a, b)] += 1;  // RACE transfers_late
    }
    __threadfence();
    atomicExch(locks + min(a, b), 0);
}

// ---- versions ---------------

struct Versioned {
    unsigned version;
    int a, b;
};
__device__ void write_versioned(volatile Versioned* v, int x) {
    v->version = v->version + 1;
    __threadfence();
    v->a = x;
    v->b = -x;
    __threadfence();
    v->version = v->version + 1;
}
// the reader accepts an odd version that does not change
__global__ void seqlock_odd_accepted(volatile Versioned* v, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        for (int x = 1; x < 4; ++x) {
            v->version = v->version + 1;
            __threadfence();
            v->a = x;   // MISS seqlock_odd_accepted
            v->b = -x;  // MISS seqlock_odd_accepted
            __threadfence();
            v->version = v->version + 1;
        }
        return;
    }
    for (int i = 0; i < patience; ++i) {
        const unsigned before = v->version;
        __threadfence();
        const int a = v->a, b = v->b;  // MISS seqlock_odd_accepted
        __threadfence();
        if (v->version == before) {
            out[blockIdx.x] = a + b;
            return;
        }
    }
}
// two writers without a lock
__global__ void seqlock_two_writers(volatile Versioned* v) {
    if (threadIdx.x != 0) return;
    v->version = v->version + 1;  // MISS seqlock_two_writers
    __threadfence();
    v->a = blockIdx.x;  // MISS seqlock_two_writers
    v->b = blockIdx.x;  // MISS seqlock_two_writers
    __threadfence();
    v->version = v->version + 1;  // MISS seqlock_two_writers
}
// writers take turns by a CAS on the version: odd means locked
__global__ void seqlock_cas_writers_right(unsigned* version, volatile int* pair) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < patience; ++i) {
        const unsigned v = *(volatile unsigned*)version;
        if (v % 2 || atomicCAS(version, v, v + 1) != v) continue;
        __threadfence();
        pair[0] = pair[0] + 1;
        pair[1] = pair[1] - 1;
        __threadfence();
        atomicExch(version, v + 2);
        return;
    }
}

// ---- rings and queues ---------------

struct Ring {
    Word head, tail;
    int slot[4];
};
__global__ void spsc_right(Ring* r, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 12; ++i) {
            for (int k = 0; k < patience && i - r->head.load(memory_order_acquire) == 4; ++k) {}
            r->slot[i % 4] = i;
            r->tail.store(i + 1, memory_order_release);
        }
    } else {
        for (int i = 0; i < 12; ++i) {
            for (int k = 0; k < patience && r->tail.load(memory_order_acquire) == i; ++k) {}
            out[i] = r->slot[i % 4];
            r->head.store(i + 1, memory_order_release);
        }
    }
}
// the producer looks whether the ring is full by a relaxed load
__global__ void spsc_full_seen_relaxed(Ring* r, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 12; ++i) {
            for (int k = 0; k < patience && i - r->head.load(memory_order_relaxed) == 4; ++k) {}
            r->slot[i % 4] = i;  // RACE spsc_full_seen_relaxed
            r->tail.store(i + 1, memory_order_release);
        }
    } else {
        for (int i = 0; i < 12; ++i) {
            for (int k = 0; k < patience && r->tail.load(memory_order_acquire) == i; ++k) {}
            out[i] = r->slot[i % 4];  // RACE spsc_full_seen_relaxed
            r->head.store(i + 1, memory_order_release);
        }
    }
}
// work queue: a slot has a flag of its own
__global__ void work_queue_right(int* ends, int* items, int* ready, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2 == 0) {
        for (int i = 0; i < 3; ++i) {
            const int at = atomicAdd(ends, 1);
            items[at] = 10 * blockIdx.x + i;
            __threadfence();
            atomicExch(ready + at, 1);
        }
        return;
    }
    for (int i = 0; i < 3; ++i) {
        const int at = atomicAdd(ends + 1, 1);
        if (!wait_for(ready + at, 1)) return;
        __threadfence();
        out[at] = items[at];
    }
}
// the end of the queue counts, although the slot may not be written yet
__global__ void work_queue_by_tail(int* ends, int* items, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2 == 0) {
        for (int i = 0; i < 3; ++i) {
            const int at = atomicAdd(ends, 1);
            items[at] = 10 * blockIdx.x + i;  // RACE work_queue_by_tail
            __threadfence();
        }
        return;
    }
    for (int i = 0; i < 3; ++i) {
        const int at = atomicAdd(ends + 1, 1);
        for (int k = 0; k < patience && *(volatile int*)ends <= at; ++k) {}
        __threadfence();
        out[at] = items[at];  // RACE work_queue_by_tail
    }
}
// a count of the slots that are written: with two producers it may count the other's
__global__ void work_queue_by_count(int* ends, int* items, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2 == 0) {
        const int at = atomicAdd(ends, 1);
        if (at == 0) wait_for(ends + 2, 1);
        items[at] = 10 * blockIdx.x;  // MISS work_queue_by_count
        __threadfence();
        atomicAdd(ends + 2, 1);
        return;
    }
    const int at = atomicAdd(ends + 1, 1);
    for (int k = 0; k < patience && *(volatile int*)(ends + 2) <= at; ++k) {}
    __threadfence();
    out[at] = items[at];  // MISS work_queue_by_count
}
// persistent blocks draw tasks until none is left; the barrier keeps `task` until all have read it
__global__ void persistent_right(int* next, int* out, int tasks) {
    __shared__ int task;
    while (true) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);
        __syncthreads();
        const int t = task;
        __syncthreads();
        if (t >= tasks) return;
        out[t * blockDim.x + threadIdx.x] = t;
    }
}
__global__ void persistent_task_overwritten(int* next, int* out, int tasks) {
    __shared__ int task;
    while (true) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);  // RACE persistent_task_overwritten
        __syncthreads();
        if (task >= tasks) return;                    // RACE persistent_task_overwritten
        out[task * blockDim.x + threadIdx.x] = task;  // RACE persistent_task_overwritten
    }
}
// a deque of Chase and Lev: the owner takes at the bottom, thieves at the top
struct Deque {
    Word top, bottom;
    int task[16];
};
__device__ void push(Deque* d, int x) {
    const int b = d->bottom.load(memory_order_relaxed);
    d->task[b] = x;
    d->bottom.store(b + 1, memory_order_release);
}
__device__ int steal(Deque* d) {
    int t = d->top.load(memory_order_seq_cst);
    if (t >= d->bottom.load(memory_order_seq_cst)) return -1;
    const int x = d->task[t];
    return d->top.compare_exchange_strong(t, t + 1, memory_order_seq_cst) ? x : -1;
}
__global__ void deque_right(Deque* d, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0)
        for (int i = 0; i < 8; ++i) push(d, i);
    else
        for (int i = 0, got = 0; i < patience && got < 2; ++i) {
            const int x = steal(d);
            if (x >= 0) out[x] = x, ++got;
        }
}
__global__ void deque_bottom_relaxed(Deque* d, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 8; ++i) {
            d->task[i] = i;  // RACE deque_bottom_relaxed
            d->bottom.store(i + 1, memory_order_relaxed);
        }
        return;
    }
    for (int i = 0, got = 0; i < patience && got < 2; ++i) {
        int t = d->top.load(memory_order_acquire);
        if (t >= d->bottom.load(memory_order_acquire)) continue;
        const int x = d->task[t];  // RACE deque_bottom_relaxed
        if (d->top.compare_exchange_strong(t, t + 1, memory_order_seq_cst)) out[x] = x, ++got;
    }
}

// ---- lists, tables, trees ---------------

struct Node {
    int value, next;  // index + 1
};
// a list grows at its head while others walk it
__device__ void prepend(int* head, Node* nodes, int i) {
    nodes[i].value = i;
    int old = *(volatile int*)head, assumed;
    do {
        assumed = old;
        nodes[i].next = assumed;
        __threadfence();
        old = atomicCAS(head, assumed, i + 1);
    } while (old != assumed);
}
__global__ void walked_while_growing_right(int* head, Node* nodes, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2 == 0) {
        prepend(head, nodes, blockIdx.x);
        return;
    }
    int at = 0, sum = 0;
    for (int i = 0; i < patience && !at; ++i) at = *(volatile int*)head;
    __threadfence();
    for (; at; at = nodes[at - 1].next) sum += nodes[at - 1].value;
    out[blockIdx.x] = sum;
}
// the head is published first, the link after it
__global__ void linked_after_publication(int* head, Node* nodes, int* out) {
    const int i = blockIdx.x;
    if (threadIdx.x != 0) return;
    nodes[i].value = i;
    __threadfence();
    nodes[i].next = atomicExch(head, i + 1);  // RACE linked_after_publication
    __threadfence();
    int sum = 0;
    for (int at = i + 1; at; at = nodes[at - 1].next) sum += 1;  // RACE linked_after_publication
    out[i] = sum;
}
// an insertion by atomicExch, walked by the next kernel
__global__ void linked_by_exchange_right(int* head, Node* nodes) {
    const int i = GLOBAL_ID;
    nodes[i].value = i;
    nodes[i].next = atomicExch(head, i + 1);
}
// two pops and a push between: the node popped is written again
__global__ void popped_and_pushed_again(int* head, Node* nodes, int* out) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < patience; ++i) {
        const int at = *(volatile int*)head;
        if (!at) return;
        __threadfence();
        const int next = nodes[at - 1].next;  // MISS popped_and_pushed_again
        if (atomicCAS(head, at, next) != at) continue;
        out[blockIdx.x] = nodes[at - 1].value;
        nodes[at - 1].next = 0;  // MISS popped_and_pushed_again
        return;
    }
}
__global__ void popped_right(int* head, Node* nodes, int* out) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < patience; ++i) {
        const int at = *(volatile int*)head;
        if (!at) return;
        __threadfence();
        if (atomicCAS(head, at, nodes[at - 1].next) != at) continue;
        out[blockIdx.x] = nodes[at - 1].value;
        return;
    }
}
// the lock of a bucket is the top bit of the key's word
constexpr unsigned key_lock = 1u << 31;
__device__ bool lock_key(unsigned* key) {
    for (int i = 0; i < patience; ++i)
        if (!(atomicOr(key, key_lock) & key_lock)) {
            __threadfence();
            return true;
        }
    return false;
}
// a look-up reads key and value without the lock
__global__ void bit_in_key_looked_up(unsigned* keys, int* values, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        if (!lock_key(keys)) return;
        values[0] += 5;  // RACE bit_in_key_looked_up
        __threadfence();
        atomicAnd(keys, ~key_lock);
    } else {
        if ((*(volatile unsigned*)keys & ~key_lock) == 0) out[blockIdx.x] = values[0];  // RACE bit_in_key_looked_up
    }
}
// the new key is stored and the lock given back by one atomicExch
__global__ void bit_in_key_exchanged_right(unsigned* keys, int* values) {
    const int bucket = blockIdx.x % 3;
    if (threadIdx.x != 0 || !lock_key(keys + bucket)) return;
    values[bucket] += 1;
    __threadfence();
    atomicExch(keys + bucket, blockIdx.x + 1);
}
// key and value in one 64-bit word
__global__ void key_and_value_in_a_word_right(unsigned long long* table, int* out) {
    const unsigned key = GLOBAL_ID % 16 + 1;
    unsigned slot = key * 7 % 32;
    unsigned long long old = 0;
    for (int i = 0; i < 32; ++i, slot = (slot + 1) % 32) {
        old = atomicCAS(table + slot, 0ull, (unsigned long long)key << 32 | key * 10);
        if (old == 0 || old >> 32 == key) break;
    }
    out[GLOBAL_ID] = old ? int(unsigned(old)) : int(key * 10);
}
// union-find, all accesses relaxed; halving a path by a relaxed store loses nothing
__device__ int root_of(int* parent, int x) {
    using Ref = cuda::atomic_ref<int, cuda::thread_scope_device>;
    int p = Ref(parent[x]).load(memory_order_relaxed);
    while (p != x) {
        const int above = Ref(parent[p]).load(memory_order_relaxed);
        Ref(parent[x]).store(above, memory_order_relaxed);
        x = p;
        p = above;
    }
    return x;
}
__global__ void union_find_right(int* parent, int n) {
    const int i = GLOBAL_ID;
    if (i + 1 >= n) return;
    for (int t = 0; t < patience; ++t) {
        int a = root_of(parent, i), b = root_of(parent, i + 1);
        if (a == b) return;
        const int low = min(a, b), high = max(a, b);
        if (atomicCAS(parent + high, high, low) == high) return;
    }
}
__global__ void iota(int* p) { p[GLOBAL_ID] = GLOBAL_ID; }
// paths are halved by plain accesses
__global__ void union_find_plain(int* parent, int n) {
    const int i = GLOBAL_ID;
    if (i + 1 >= n) return;
    for (int t = 0; t < patience; ++t) {
        int a = i, b = i + 1;
        while (parent[a] != a) a = parent[a] = parent[parent[a]];  // RACE union_find_plain
        while (parent[b] != b) b = parent[b] = parent[parent[b]];  // RACE union_find_plain
        if (a == b) return;
        if (atomicCAS(parent + max(a, b), max(a, b), min(a, b)) == max(a, b)) return;  // RACE union_find_plain
    }
}
// a tree: the second child to come adds both (flags by atomicAdd)
__global__ void tree_up_right(int* sum, int* came, int leaves) {
    int at = leaves + GLOBAL_ID;
    sum[at] = 1;
    while (at > 1) {
        at /= 2;
        __threadfence();
        if (atomicAdd(came + at, 1) == 0) return;
        __threadfence();
        sum[at] = sum[2 * at] + sum[2 * at + 1];
    }
}
// fence of the second child only: the first one's sum is not published
__global__ void tree_up_unfenced(int* sum, int* came, int leaves) {
    int at = leaves + GLOBAL_ID;
    sum[at] = 1;  // RACE tree_up_unfenced
    while (at > 1) {
        at /= 2;
        if (atomicAdd(came + at, 1) == 0) return;
        __threadfence();
        sum[at] = sum[2 * at] + sum[2 * at + 1];  // RACE tree_up_unfenced
    }
}
// reclaimed memory: the reader names the node that it reads, the writer waits for it
__global__ void hazard_pointer_right(Word* current, Word* hazard, int* nodes, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        const int old = current->exchange(1, memory_order_seq_cst);
        for (int i = 0; i < patience; ++i)
            if (hazard->load(memory_order_seq_cst) != old + 1) {
                nodes[old] = -1;
                return;
            }
    } else {
        for (int i = 0; i < patience; ++i) {
            const int at = current->load(memory_order_seq_cst);
            hazard->store(at + 1, memory_order_seq_cst);
            if (current->load(memory_order_seq_cst) == at) {
                out[0] = nodes[at];
                hazard->store(0, memory_order_release);
                return;
            }
        }
    }
}

int main(int argc, char** argv) {
#define Z zeros<int>
#define U zeros<unsigned>
#define RUN(label, blocks, threads, name, ...)                            \
    {                                                                     \
        label, #name, [](int) { name<<<blocks, threads>>>(__VA_ARGS__); } \
    }
    const Case cases[] = {
        RUN("right", 4, 32, mcs_right, zeros<McsLock>(1), zeros<Waiter>(4), Z(1)),
        RUN("race", 4, 32, mcs_relaxed_hand_over, zeros<McsLock>(1), zeros<Waiter>(4), Z(1)),
        RUN("right", 4, 32, clh_right, Z(1), Z(5), Z(1)),
        RUN("race", 4, 32, clh_released_early, Z(1), Z(5), Z(1)),
        RUN("race", 4, 32, clh_looks_too_early, Z(1), Z(5), Z(1)),
        RUN("right", 4, 32, ticket_lock_right, zeros<TicketLock>(1), Z(1)),
        RUN("race", 4, 32, ticket_lock_leaves_unfenced, zeros<TicketLock>(1), Z(1)),
        RUN("race", 4, 32, ticket_lock_enters_unfenced, zeros<TicketLock>(1), Z(1)),
        RUN("right", 5, 32, readers_and_writers_right, Z(1), Z(2), Z(5)),
        RUN("race", 2, 32, writes_as_reader, Z(1), Z(2)),
        RUN("race", 4, 32, reader_leaves_unfenced, Z(1), Z(1), Z(4)),
        {"race", "semaphore_of_two",
         [](int) {
             int* s = Z(1);
             fill<<<1, 1>>>(s, 2);
             semaphore_of_two<<<4, 32>>>(s, Z(1));
         }},
        {"right", "semaphore_of_one_right",
         [](int) {
             int* s = Z(1);
             fill<<<1, 1>>>(s, 1);
             semaphore_of_one_right<<<4, 32>>>(s, Z(1));
         }},
        RUN("right", 4, 32, places_right, U(1), Z(2)),
        RUN("race", 4, 32, places_given_back_unfenced, U(1), Z(1)),
        RUN("race", 4, 32, wrong_bit_guards, U(1), Z(1)),
        RUN("race", 4, 32, unlocked_by_plain_store, Z(1), Z(1)),
        RUN("right", 3, 64, block_lock_right, Z(1), Z(64)),
        RUN("race", 3, 64, block_lock_left_early, Z(1), Z(64)),
        RUN("right", 6, 32, transfers_right, Z(3), Z(3)),
        RUN("race", 6, 32, transfers_late, Z(3), Z(3)),
        RUN("race", 3, 32, seqlock_odd_accepted, zeros<Versioned>(1), Z(3)),
        RUN("race", 3, 32, seqlock_two_writers, zeros<Versioned>(1)),
        RUN("right", 4, 32, seqlock_cas_writers_right, U(1), Z(2)),
        RUN("right", 2, 32, spsc_right, zeros<Ring>(1), Z(12)),
        RUN("race", 2, 32, spsc_full_seen_relaxed, zeros<Ring>(1), Z(12)),
        RUN("right", 4, 32, work_queue_right, Z(2), Z(6), Z(6), Z(6)),
        RUN("race", 4, 32, work_queue_by_tail, Z(2), Z(6), Z(6)),
        RUN("race", 4, 32, work_queue_by_count, Z(3), Z(2), Z(2)),
        RUN("right", 2, 64, persistent_right, Z(1), Z(5 * 64), 5),
        RUN("race", 2, 64, persistent_task_overwritten, Z(1), Z(5 * 64), 5),
        RUN("right", 3, 32, deque_right, zeros<Deque>(1), Z(16)),
        RUN("race", 3, 32, deque_bottom_relaxed, zeros<Deque>(1), Z(16)),
        RUN("right", 6, 32, walked_while_growing_right, Z(1), zeros<Node>(6), Z(6)),
        RUN("race", 4, 32, linked_after_publication, Z(1), zeros<Node>(4), Z(4)),
        {"race", "popped_and_pushed_again",
         [](int) {
             int* head = Z(1);
             Node* nodes = zeros<Node>(64);
             linked_by_exchange_right<<<1, 64>>>(head, nodes);
             popped_and_pushed_again<<<4, 32>>>(head, nodes, Z(4));
         }},
        {"right", "popped_right",
         [](int) {
             int* head = Z(1);
             Node* nodes = zeros<Node>(64);
             linked_by_exchange_right<<<1, 64>>>(head, nodes);
             popped_right<<<4, 32>>>(head, nodes, Z(4));
         }},
        RUN("race", 4, 32, bit_in_key_looked_up, U(1), Z(1), Z(4)),
        RUN("right", 6, 32, bit_in_key_exchanged_right, U(3), Z(3)),
        RUN("right", 2, 32, key_and_value_in_a_word_right, zeros<unsigned long long>(32), Z(64)),
        {"right", "union_find_right",
         [](int n) {
             int* parent = Z(n + 64);
             iota<<<n / 64 + 1, 64>>>(parent);
             union_find_right<<<n / 64 + 1, 64>>>(parent, n);
         }},
        {"race", "union_find_plain",
         [](int n) {
             int* parent = Z(n + 64);
             iota<<<n / 64 + 1, 64>>>(parent);
             union_find_plain<<<n / 64 + 1, 64>>>(parent, n);
         }},
        RUN("right", 2, 32, tree_up_right, Z(128), Z(64), 64),
        RUN("race", 2, 32, tree_up_unfenced, Z(128), Z(64), 64),
        RUN("right", 2, 32, hazard_pointer_right, zeros<Word>(1), zeros<Word>(1), Z(2), Z(1)),
    };
    return choose(cases, argc, argv);
}
