// mixed.cu - labelled kernels: queues, locks, messages, graphs by rows, worklists, and arrays that are used again.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

__device__ bool await(int* word, int value) {
    for (int i = 0; i < patience; ++i)
        if (atomicAdd(word, 0) >= value) return true;
    return false;
}
__device__ int everyone() { return int(blockIdx.x * blockDim.x + threadIdx.x); }

// ---- queues ---------------

template <bool Before, bool After>
__device__ void hand_over(int* written, int* items, int n, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < n; ++i) {
            items[i] = 3 * i + 1;  // RACE handed_no_fence handed_reader_no_fence
            if (Before) __threadfence();
            atomicExch(written + i, 1);
        }
        return;
    }
    for (int i = int(blockIdx.x) - 1; i < n; i += int(gridDim.x) - 1) {
        if (!await(written + i, 1)) return;
        if (After) __threadfence();
        out[i] = items[i];  // RACE handed_no_fence handed_reader_no_fence
    }
}
__global__ void handed(int* written, int* items, int n, int* out) { hand_over<true, true>(written, items, n, out); }
__global__ void handed_no_fence(int* written, int* items, int n, int* out) {
    hand_over<false, true>(written, items, n, out);
}
__global__ void handed_reader_no_fence(int* written, int* items, int n, int* out) {
    hand_over<true, false>(written, items, n, out);
}

// ---- atomics of the block's scope ---------------

__global__ void most_of_the_block(const int* in, int n, int* most) {  // one word a block
    for (int i = everyone(); i < n; i += int(gridDim.x * blockDim.x)) atomicMax_block(most + blockIdx.x, in[i] + i);
}
__global__ void most_of_all_in_block_scope(const int* in, int n, int* most) {
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        atomicMax_block(most, in[i] + i);  // RACE most_of_all_in_block_scope
}
__global__ void last_by_block_ticket(unsigned* ticket, int* part, int* out) {
    if (threadIdx.x) return;
    part[blockIdx.x] = int(blockIdx.x) + 1;  // RACE last_by_block_ticket
    __threadfence();
    if (atomicInc_block(ticket, gridDim.x - 1) != gridDim.x - 1) return;  // RACE last_by_block_ticket
    __threadfence();
    for (unsigned b = 0; b < gridDim.x; ++b) *out += part[b];  // RACE last_by_block_ticket
}
__global__ void bins_of_a_block(const int* in, int n, int* all) {  // in global memory, but a row for each block
    int* const mine = all + 4 * blockIdx.x;
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) atomicAdd_block(mine + (in[i] + i) % 4, 1);
    __syncthreads();
    if (threadIdx.x == 0) mine[0] += mine[1] + mine[2] + mine[3];
}

// ---- locks ---------------

__global__ void exchanged_lock(int* lock, int* data) {
    if (threadIdx.x % 32) return;
    for (int i = 0; i < patience; ++i) {
        if (atomicExch(lock, 1)) continue;
        __threadfence();
        *data += 1;
        __threadfence();
        atomicExch(lock, 0);
        return;
    }
}
__global__ void unlocked_by_volatile(int* lock, int* data) {
    if (threadIdx.x % 32 || !take(lock)) return;
    __threadfence();
    *data += 1;
    __threadfence();
    *(volatile int*)lock = 0;
}
__global__ void unlocked_by_plain_store(int* lock, int* data) {
    if (threadIdx.x % 32 || !take(lock)) return;  // RACE unlocked_by_plain_store
    __threadfence();
    *data += 1;
    __threadfence();
    *lock = 0;  // RACE unlocked_by_plain_store
}
__global__ void fence_after_unlocking(int* lock, int* data) {
    if (threadIdx.x % 32 || !take(lock)) return;
    __threadfence();
    *data += 1;  // RACE fence_after_unlocking
    atomicExch(lock, 0);
    __threadfence();
}
__global__ void fence_before_locking(int* lock, int* data) {
    if (threadIdx.x % 32) return;
    __threadfence();
    if (!take(lock)) return;
    *data += 1;  // RACE fence_before_locking
    __threadfence();
    atomicExch(lock, 0);
}
__global__ void narrow_fence_leaving(int* lock, int* data) {
    if (threadIdx.x || !take(lock)) return;
    __threadfence();
    *data += 1;  // RACE narrow_fence_leaving
    __threadfence_block();
    atomicExch(lock, 0);
}
__global__ void wide_fence_leaving(int* lock, int* data) {
    if (threadIdx.x || !take(lock)) return;
    __threadfence_system();
    *data += 1;
    __threadfence_system();
    atomicExch(lock, 0);
}
__device__ bool try_both(int* first, int* second) {
    for (int i = 0; i < patience; ++i) {
        if (atomicCAS(first, 0, 1)) continue;
        if (atomicCAS(second, 0, 1) == 0) return true;
        atomicExch(first, 0);
    }
    return false;
}
__global__ void crosswise(int* locks, int* data) {  // two locks, in either order: nobody holds one for long
    if (threadIdx.x % 32) return;
    const int f = int(blockIdx.x) % 2;
    if (!try_both(locks + f, locks + 1 - f)) return;
    __threadfence();
    *data += 1;
    __threadfence();
    atomicExch(locks, 0);
    atomicExch(locks + 1, 0);
}
__global__ void crosswise_one_each(int* locks, int* data) {
    if (threadIdx.x % 32 || !take(locks + blockIdx.x % 2)) return;
    __threadfence();
    *data += 1;  // RACE crosswise_one_each
    __threadfence();
    atomicExch(locks + blockIdx.x % 2, 0);
}
__global__ void lock_of_a_bit(unsigned* bits, int* data) {
    if (threadIdx.x % 32) return;
    const unsigned bit = 1u << threadIdx.x / 32;
    for (int i = 0; i < patience; ++i) {
        if (atomicOr(bits, bit) & bit) continue;
        __threadfence();
        data[threadIdx.x / 32] += 1;
        __threadfence();
        atomicAnd(bits, ~bit);
        return;
    }
}
template <int Locks>
__device__ void into_bucket(int* locks, int* sum, int i) {
    const int b = i % 4;
    for (bool done = false; !done;) {
        if (atomicCAS(locks + i % Locks, 0, 1)) continue;
        __threadfence();
        sum[b] += i;  // RACE bucket_of_another_lock
        __threadfence();
        atomicExch(locks + i % Locks, 0);
        done = true;
    }
}
__global__ void bucket_locks(int* locks, int* sum, int n) {
    if (everyone() < n) into_bucket<4>(locks, sum, everyone());
}
__global__ void bucket_of_another_lock(int* locks, int* sum, int n) {
    if (everyone() < n) into_bucket<3>(locks, sum, everyone());
}
template <bool LooksAtReaders>
__device__ void read_or_write(int* readers, int* lock, int* data, int* out) {
    if (threadIdx.x % 32) return;
    if (threadIdx.x) {
        if (!take(lock)) return;
        atomicAdd(readers, 1);
        atomicExch(lock, 0);
        __threadfence();
        out[everyone() / 32] = *data;  // RACE writer_ignores_readers
        __threadfence();
        atomicSub(readers, 1);
        return;
    }
    if (!take(lock)) return;
    for (int i = 0; LooksAtReaders && i < patience && atomicAdd(readers, 0); ++i) {}
    __threadfence();
    *data += 1;  // RACE writer_ignores_readers
    __threadfence();
    atomicExch(lock, 0);
}
__global__ void readers_and_writer(int* readers, int* lock, int* data, int* out) {
    read_or_write<true>(readers, lock, data, out);
}
__global__ void writer_ignores_readers(int* readers, int* lock, int* data, int* out) {
    read_or_write<false>(readers, lock, data, out);
}

// ---- messages within a block ---------------

template <bool Fence>
__device__ void there_and_back(int* out) {
    __shared__ volatile int turn;
    __shared__ int ball;
    if (threadIdx.x == 0) turn = ball = 0;
    __syncthreads();
    if (threadIdx.x % 32) return;
    const int me = int(threadIdx.x / 32);
    for (int k = 0; k < 3; ++k) {
        if (!wait_for(&turn, 2 * k + me)) return;
        __threadfence_block();
        ball += me + 1;  // RACE there_and_back_no_fence
        if (Fence) __threadfence_block();
        turn = 2 * k + me + 1;
    }
    if (me) *out = ball;
}
__global__ void there_and_back_right(int* out) { there_and_back<true>(out); }
__global__ void there_and_back_no_fence(int* out) { there_and_back<false>(out); }
template <bool Waits>
__device__ void round_the_warps(int* out) {  // warp w writes its box, and reads that of the warp before
    __shared__ int box[4], full[4];
    const int w = int(threadIdx.x / 32);
    if (threadIdx.x < 4) full[threadIdx.x] = box[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32) return;
    for (int k = 1; k <= 9; ++k) {
        if (Waits && !await(full + w, 2 * (k - 1))) return;
        __threadfence_block();
        box[w] = 10 * k + w;  // RACE box_filled_again
        __threadfence_block();
        atomicAdd(full + w, 1);
        const int of = (w + 3) % 4;
        if (!await(full + of, 2 * k - 1)) return;
        __threadfence_block();
        out[4 * k + w] = box[of];  // RACE box_filled_again
        __threadfence_block();
        if (Waits)
            atomicAdd(full + of, 1);
        else
            atomicAdd(full + w, 1);
    }
}
__global__ void boxes(int* out) { round_the_warps<true>(out); }
__global__ void box_filled_again(int* out) { round_the_warps<false>(out); }

// ---- warps ---------------

template <bool Sync>
__device__ void parted_and_met(int* out) {
    __shared__ int a[32];
    const int t = int(threadIdx.x);
    if (t < 16)
        a[t] = t;  // RACE parted_not_met
    else
        a[t] = 2 * t;  // RACE parted_not_met
    if (Sync) __syncwarp();
    out[t] = a[31 - t];  // RACE parted_not_met
}
__global__ void parted(int* out) { parted_and_met<true>(out); }
__global__ void parted_not_met(int* out) { parted_and_met<false>(out); }
__global__ void packed_by_ballot(const int* in, int n, int* out) {
    __shared__ int row[32];
    const int t = int(threadIdx.x);
    const bool keep = t < n && (in[t] + t) % 3 != 0;
    const unsigned kept = __ballot_sync(~0u, keep);
    if (keep) row[__popc(kept & ((1u << t) - 1))] = t;
    __syncwarp();
    if (t < __popc(kept)) out[t] = row[t];
}
__global__ void synced_by_its_mask(int* out) {  // only those that are named have met
    __shared__ int a[32];
    const int t = int(threadIdx.x);
    a[t] = t;  // RACE synced_by_its_mask
    if (t < 24) __syncwarp(0x00ffffff);
    out[t] = a[(t + 4) % 32];  // RACE synced_by_its_mask
}
__global__ void one_for_the_warp(int* count, int* out) {
    const unsigned all = __activemask();
    const int first = __ffs(int(all)) - 1, lane = int(threadIdx.x % 32);
    int at = 0;
    if (lane == first) at = atomicAdd(count, __popc(all));
    at = __shfl_sync(all, at, first);
    out[at + __popc(all & ((1u << lane) - 1))] = 1;
}

// ---- arrays that are used again ---------------

__global__ void three_buffers(const int* in, int n, int* out) {  // one barrier a step is enough
    __shared__ int a[3][32];
    const int t = int(threadIdx.x);
    int sum = 0;
    for (int i = 0, b = 0; i < n; i += 32, b = (b + 1) % 3) {
        a[b][t] = i + t < n ? in[i + t] + i : 0;
        __syncthreads();
        sum += a[b][31 - t];
    }
    out[t] = sum;
}
__global__ void two_buffers_one_index(const int* in, int n, int* out) {  // which one is not changed
    __shared__ int a[2][64];
    const int t = int(threadIdx.x), b = 0;
    int sum = 0;
    for (int i = 0; i < n + 64; i += 64) {
        a[b][t] = i + t < n ? in[i + t] + i : 1;  // RACE two_buffers_one_index
        __syncthreads();
        sum += a[b][63 - t];  // RACE two_buffers_one_index
    }
    out[t] = sum;
}
template <bool Wait>
__device__ void ints_then_floats(int* out, float* f) {
    __shared__ int room[64];
    const int t = int(threadIdx.x);
    room[t] = t;
    __syncthreads();
    const int x = room[63 - t];  // RACE room_used_again
    if (Wait) __syncthreads();
    float* const as_floats = (float*)room;
    as_floats[t] = float(t) / 2;  // RACE room_used_again
    __syncthreads();
    out[t] = x;
    f[t] = as_floats[(t + 1) % 64];
}
__global__ void room(int* out, float* f) { ints_then_floats<true>(out, f); }
__global__ void room_used_again(int* out, float* f) { ints_then_floats<false>(out, f); }
__global__ void any_is_a_barrier(const int* in, int n, int* out) {
    __shared__ int a[64];
    const int t = int(threadIdx.x);
    a[t] = t < n ? in[t] + t : -1;
    const int some = __syncthreads_or(t < n && in[t] > 0), many = __syncthreads_count(t < n);
    out[t] = a[63 - t] + some + many;
}

// ---- memory that a kernel gets while it runs ---------------

template <bool Wait>
__device__ void reversed_on_the_heap(int* out) {
    __shared__ int* a;
    if (threadIdx.x == 0) a = new int[64];
    __syncthreads();
    a[threadIdx.x] = int(threadIdx.x);  // RACE heap_no_barrier
    if (Wait) __syncthreads();
    out[threadIdx.x] = a[63 - threadIdx.x];  // RACE heap_no_barrier
    __syncthreads();
    if (threadIdx.x == 0) delete[] a;
}
__global__ void heap(int* out) { reversed_on_the_heap<true>(out); }
__global__ void heap_no_barrier(int* out) { reversed_on_the_heap<false>(out); }
__global__ void heap_again(int* out) {  // what one block gives back, another gets
    int* const mine = static_cast<int*>(malloc(2 * sizeof(int)));
    mine[0] = everyone();
    atomicAdd(mine, 1);
    out[everyone()] = mine[0];
    free(mine);
}
struct Link {
    int value;
    Link* next;
};
template <bool Fence>
__device__ void chain(Link** first, int* out) {
    if (threadIdx.x % 32) return;
    typedef unsigned long long Word;
    Link* const mine = new Link;
    mine->value = everyone();  // RACE chain_no_fence
    Link *seen = nullptr, *found = nullptr;
    do {
        seen = found;
        mine->next = seen;
        if (Fence) __threadfence();
        found = (Link*)atomicCAS((Word*)first, (Word)seen, (Word)mine);
    } while (found != seen);
    if (!seen) return;
    __threadfence();
    atomicAdd(out, seen->value);  // RACE chain_no_fence
}
__global__ void chained(Link** first, int* out) { chain<true>(first, out); }
__global__ void chain_no_fence(Link** first, int* out) { chain<false>(first, out); }

// ---- graphs: row r has the edges from starts[r] to starts[r + 1] ---------------

struct Graph {
    const int *starts, *ends;
    int rows;
};
__global__ void pull(Graph g, const int* old, int* now) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x)) {
        int sum = 1;
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e) sum += old[g.ends[e]];
        now[r] = sum;
    }
}
__global__ void pull_in_place(Graph g, int* x) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x)) {
        int sum = r + 1;
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e) sum += x[g.ends[e]];  // RACE pull_in_place
        x[r] = sum;                                                               // RACE pull_in_place
    }
}
__global__ void push(Graph g, const int* x, int* to) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e) atomicAdd(to + g.ends[e], x[r] + 1);
}
__global__ void push_plain(Graph g, const int* x, int* to) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e) to[g.ends[e]] += x[r] + 1;  // RACE push_plain
}
__global__ void push_odd_edges(Graph g, int* to) {  // only some edges
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (e % 2) to[g.ends[e]] += r + 1;  // RACE push_odd_edges
}
__global__ void push_least(Graph g, int* least) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (-r - 1 < least[g.ends[e]]) least[g.ends[e]] = -r - 1;  // RACE push_least
}
__global__ void push_least_atomic(Graph g, int* least) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e) atomicMin(least + g.ends[e], -r - 1);
}
__global__ void looked_first_plain(Graph g, int* least) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (least[g.ends[e]] > -r - 1) atomicMin(least + g.ends[e], -r - 1);  // RACE looked_first_plain
}
__global__ void looked_first_volatile(Graph g, int* least) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (((volatile int*)least)[g.ends[e]] > -r - 1) atomicMin(least + g.ends[e], -r - 1);
}
__global__ void level(Graph g, int* depth, int now) {  // all write the same
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x)) {
        if (r % 2 != 0) continue;
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (g.ends[e] % 2) depth[g.ends[e]] = now + 1;  // EQUAL level
    }
}
__global__ void level_claimed(Graph g, int* depth, int* next, int* count, int now) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (atomicCAS(depth + g.ends[e], 0, now + 1) == 0) next[atomicAdd(count, 1)] = g.ends[e];
}
__global__ void level_claimed_twice(Graph g, int* depth, int* next, int* count, int now) {
    for (int r = everyone(); r < g.rows; r += int(gridDim.x * blockDim.x))
        for (int e = g.starts[r]; e < g.starts[r + 1]; ++e)
            if (depth[g.ends[e]] == 0) {         // RACE level_claimed_twice
                depth[g.ends[e]] = now + 1 + r;  // RACE level_claimed_twice
                next[atomicAdd(count, 1)] = g.ends[e];
            }
}

// ---- worklists that end early ---------------

__global__ void out_when_done(int* done, const int* in, int n) {
    for (int i = everyone(); i < n; i += int(gridDim.x * blockDim.x)) {
        if (*done) return;              // RACE out_when_done
        if (in[i] == 0) *done = i + 1;  // RACE out_when_done
    }
}
__global__ void out_when_done_atomic(int* done, const int* in, int n) {
    for (int i = everyone(); i < n; i += int(gridDim.x * blockDim.x)) {
        if (atomicAdd(done, 0)) return;
        if (in[i] == 0) atomicCAS(done, 0, i + 1);
    }
}
__global__ void rounds_of_a_list(int* list, int* count,
                                 int n) {  // barriers between taking, and adding for the next
    __shared__ int left, next;
    if (threadIdx.x == 0) left = n, next = 0;
    __syncthreads();
    while (left > 0) {
        for (int i = int(threadIdx.x); i < left; i += int(blockDim.x))
            if (list[i] < 3) list[n + atomicAdd(&next, 1)] = list[i] + 1;
        __syncthreads();
        for (int i = int(threadIdx.x); i < next; i += int(blockDim.x)) list[i] = list[n + i];
        __syncthreads();
        if (threadIdx.x == 0) left = next, next = 0, *count += 1;
        __syncthreads();
    }
}
__global__ void rounds_without_the_last_barrier(int* list, int* count, int n) {
    __shared__ int left, next;
    if (threadIdx.x == 0) left = n, next = 0;
    __syncthreads();
    while (left > 0) {  // RACE rounds_without_the_last_barrier
        for (int i = int(threadIdx.x); i < left; i += int(blockDim.x))
            if (list[i] < 3) list[n + atomicAdd(&next, 1)] = list[i] + 1;  // RACE rounds_without_the_last_barrier
        __syncthreads();
        for (int i = int(threadIdx.x); i < next; i += int(blockDim.x)) list[i] = list[n + i];
        __syncthreads();
        if (threadIdx.x == 0) left = next, next = 0, *count += 1;  // RACE rounds_without_the_last_barrier
    }
}

// ---- off by one ---------------

__global__ void one_too_many(const int* in, int n, int* out) {
    for (int i = everyone(); i <= n; i += int(gridDim.x * blockDim.x))
        if (in[i] == 7) atomicAdd(out, 1);  // BOUNDS one_too_many
}
__global__ void neighbour_of_the_last(const int* in, int n, int* out) {
    const int i = everyone();
    if (i < n) out[i] = in[i] + in[i + 1];  // BOUNDS neighbour_of_the_last
}
__global__ void rows_without_the_end(const int* starts, int rows, int* out) {
    const int r = everyone();
    if (r < rows) out[r] = starts[r + 1] - starts[r];  // BOUNDS rows_without_the_end
}
__global__ void bin_of_the_highest(const int* in, int n, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        atomicAdd(bins + (in[i] + i * 2) % 9, 1);  // BOUNDS bin_of_the_highest
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

// A ring with chords: row r leads to its neighbours and to (7 r + 3) % n. Each row is the end of several edges.
Graph ring_with_chords(int n) {
    int* const starts = zeros<int>(n + 1);
    int* const ends = zeros<int>(3 * n);
    int* const host = new int[3 * n + 1];
    for (int r = 0; r <= n; ++r) host[r] = 3 * r;
    cudaMemcpy(starts, host, (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    for (int r = 0; r < n; ++r) {
        host[3 * r] = (r + 1) % n;
        host[3 * r + 1] = (r + n - 1) % n;
        host[3 * r + 2] = (7 * r + 3) % n;
    }
    cudaMemcpy(ends, host, 3 * n * sizeof(int), cudaMemcpyHostToDevice);
    delete[] host;
    return {starts, ends, n};
}

int main(int argc, char** argv) {
#define RUN(label, blocks, threads, name, ...)      \
    {                                               \
        label, #name, [](int n) {                   \
            name<<<blocks, threads>>>(__VA_ARGS__); \
            (void)n;                                \
        }                                           \
    }
#define INTS(n) zeros<int>(n)
    const Case cases[] = {
        RUN("right", 3, 32, handed, INTS(n), INTS(n), n, INTS(n)),
        RUN("race", 3, 32, handed_no_fence, INTS(n), INTS(n), n, INTS(n)),
        RUN("race", 3, 32, handed_reader_no_fence, INTS(n), INTS(n), n, INTS(n)),
        RUN("right", 3, 32, most_of_the_block, INTS(n), n, INTS(3)),
        RUN("race", 3, 32, most_of_all_in_block_scope, INTS(n), n, INTS(1)),
        RUN("race", 3, 32, last_by_block_ticket, zeros<unsigned>(1), INTS(3), INTS(1)),
        RUN("right", 2, 64, bins_of_a_block, INTS(n), n, INTS(8)),
        RUN("right", 3, 64, exchanged_lock, INTS(1), INTS(1)),
        RUN("right", 3, 64, unlocked_by_volatile, INTS(1), INTS(1)),
        RUN("race", 3, 64, unlocked_by_plain_store, INTS(1), INTS(1)),
        RUN("race", 3, 64, fence_after_unlocking, INTS(1), INTS(1)),
        RUN("race", 3, 64, fence_before_locking, INTS(1), INTS(1)),
        RUN("race", 3, 64, narrow_fence_leaving, INTS(1), INTS(1)),
        RUN("right", 3, 64, wide_fence_leaving, INTS(1), INTS(1)),
        RUN("right", 3, 64, crosswise, INTS(2), INTS(1)),
        RUN("race", 3, 64, crosswise_one_each, INTS(2), INTS(1)),
        RUN("right", 3, 64, lock_of_a_bit, zeros<unsigned>(1), INTS(2)),
        RUN("right", n / 64 + 1, 64, bucket_locks, INTS(4), INTS(4), n),
        RUN("race", n / 64 + 1, 64, bucket_of_another_lock, INTS(4), INTS(4), n),
        RUN("right", 2, 96, readers_and_writer, INTS(1), INTS(1), INTS(1), INTS(6)),
        RUN("race", 2, 96, writer_ignores_readers, INTS(1), INTS(1), INTS(1), INTS(6)),
        RUN("right", 1, 64, there_and_back_right, INTS(1)),
        RUN("race", 1, 64, there_and_back_no_fence, INTS(1)),
        RUN("right", 1, 128, boxes, INTS(40)),
        RUN("race", 1, 128, box_filled_again, INTS(40)),
        RUN("right", 1, 32, parted, INTS(32)),
        RUN("race", 1, 32, parted_not_met, INTS(32)),
        RUN("right", 1, 32, packed_by_ballot, INTS(n), n, INTS(32)),
        RUN("race", 1, 32, synced_by_its_mask, INTS(32)),
        RUN("right", 2, 40, one_for_the_warp, INTS(1), INTS(80)),
        RUN("right", 1, 32, three_buffers, INTS(n), n, INTS(32)),
        RUN("race", 1, 64, two_buffers_one_index, INTS(n), n, INTS(64)),
        RUN("right", 1, 64, room, INTS(64), zeros<float>(64)),
        RUN("race", 1, 64, room_used_again, INTS(64), zeros<float>(64)),
        RUN("right", 1, 64, any_is_a_barrier, INTS(n), n, INTS(64)),
        RUN("right", 1, 64, heap, INTS(64)),
        RUN("race", 1, 64, heap_no_barrier, INTS(64)),
        RUN("right", 3, 64, heap_again, INTS(192)),
        RUN("right", 3, 64, chained, zeros<Link*>(1), INTS(1)),
        RUN("race", 3, 64, chain_no_fence, zeros<Link*>(1), INTS(1)),
        RUN("right", 2, 64, pull, ring_with_chords(n), INTS(n), INTS(n)),
        RUN("race", 2, 64, pull_in_place, ring_with_chords(n), INTS(n)),
        RUN("right", 2, 64, push, ring_with_chords(n), INTS(n), INTS(n)),
        RUN("race", 2, 64, push_plain, ring_with_chords(n), INTS(n), INTS(n)),
        RUN("race", 2, 64, push_odd_edges, ring_with_chords(n), INTS(n)),
        RUN("race", 2, 64, push_least, ring_with_chords(n), INTS(n)),
        RUN("right", 2, 64, push_least_atomic, ring_with_chords(n), INTS(n)),
        RUN("race", 2, 64, looked_first_plain, ring_with_chords(n), INTS(n)),
        RUN("right", 2, 64, looked_first_volatile, ring_with_chords(n), INTS(n)),
        RUN("equal", 2, 64, level, ring_with_chords(n), INTS(n), 1),
        RUN("right", 2, 64, level_claimed, ring_with_chords(n), INTS(n), INTS(n), INTS(1), 1),
        RUN("race", 2, 64, level_claimed_twice, ring_with_chords(n), INTS(n), INTS(3 * n), INTS(1), 1),
        RUN("race", 2, 64, out_when_done, INTS(1), INTS(n), n),
        RUN("right", 2, 64, out_when_done_atomic, INTS(1), INTS(n), n),
        RUN("right", 1, 64, rounds_of_a_list, INTS(2 * n), INTS(1), n),
        RUN("race", 1, 64, rounds_without_the_last_barrier, INTS(2 * n), INTS(1), n),
        RUN("bounds", 2, 64, one_too_many, INTS(n), n, INTS(1)),
        RUN("bounds", n / 64 + 1, 64, neighbour_of_the_last, INTS(n), n, INTS(n)),
        RUN("bounds", n / 64 + 1, 64, rows_without_the_end, INTS(n), n, INTS(n)),
        RUN("bounds", 1, 64, bin_of_the_highest, INTS(n), n, INTS(8)),
    };
    return choose(cases, argc, argv);
}
