// guards.cu - labelled kernels: what a lock, a version or a flag guards, and when it no longer does. At the end
// pointers to rows in shared memory.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

__device__ unsigned arrivals;
__device__ unsigned part() { return atomicInc(&arrivals, gridDim.x - 1); }
__device__ int lock;
__device__ void give_back() {
    __threadfence();
    atomicExch(&lock, 0);
}

// ---- behind a lock: two sections that share nothing order nothing ---------------

__global__ void read_behind(int* data, int* out) {
    if (threadIdx.x || !take(&lock)) return;
    __threadfence();
    if (blockIdx.x == 1) *data = 9;  // RACE read_behind
    give_back();
    if (blockIdx.x != 1) out[blockIdx.x] = *data;  // RACE read_behind
}
__global__ void written_behind(int* data) {
    if (threadIdx.x || !take(&lock)) return;
    __threadfence();
    if (blockIdx.x) *data += 1;  // RACE written_behind
    give_back();
    if (!blockIdx.x) *data += 1;  // RACE written_behind
}
__global__ void read_before(int* data, int* out) {
    if (threadIdx.x) return;
    out[blockIdx.x] = blockIdx.x ? 0 : *data;  // RACE read_before
    if (!take(&lock)) return;
    __threadfence();
    if (blockIdx.x) *data += 1;  // RACE read_before
    give_back();
}
__global__ void warps_read_behind(int* out) {
    __shared__ int held, word;
    if (threadIdx.x == 0) held = word = 0;
    __syncthreads();
    if (threadIdx.x % 32 || !take(&held)) return;
    __threadfence_block();
    if (threadIdx.x == 64) word = 9;  // RACE warps_read_behind
    __threadfence_block();
    atomicExch(&held, 0);
    if (threadIdx.x != 64) out[threadIdx.x / 32] = word;  // RACE warps_read_behind
}
__global__ void last_reads_behind(int* count, int* out) {  // all others have been there
    if (threadIdx.x || !take(&lock)) return;
    __threadfence();
    const int came = ++*count;
    give_back();
    if (came == int(gridDim.x)) *out = *count;
}
__global__ void popped_behind(int* queue, int* ends, int n, int* out) {  // the ends tell which are in the queue
    if (threadIdx.x) return;
    for (int k = 0; k < n; ++k) {
        if (!take(&lock)) return;
        __threadfence();
        int i = -1;
        if (blockIdx.x % 2)
            queue[ends[1]++] = k + 1;
        else if (ends[0] < ends[1])
            i = ends[0]++;
        give_back();
        if (i >= 0) out[i] = queue[i];
    }
}
__global__ void first_fills(int* filled, int* table, int n, int* out) {
    if (threadIdx.x || !take(&lock)) return;
    __threadfence();
    for (int i = 0; i < n && !*filled; ++i) table[i] = 3 * i;
    *filled = 1;
    give_back();
    for (int i = 0; i < n; ++i) out[blockIdx.x] += table[i];
}
__global__ void waits_for_the_lock(volatile int* begun, int* data, int* out) {  // nothing lies under it
    if (threadIdx.x) return;
    const bool first = part() == 0;
    if (first) {
        if (!take(&lock)) return;
        __threadfence();
        *begun = 1;
        *data = 5;
        give_back();
    } else if (wait_for(begun, 1) && take(&lock)) {
        __threadfence();
        give_back();
        out[blockIdx.x] = *data;
    }
}
__global__ void one_for_the_block(int* data, int n) {
    __shared__ bool mine;
    if (threadIdx.x == 0) mine = take(&lock);
    __syncthreads();
    if (!mine) return;
    __threadfence();
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) data[i] += 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&lock, 0);
}
__global__ void one_for_the_warp(int* data) {
    const int lane = int(threadIdx.x % 32);
    const bool mine = __shfl_sync(~0u, lane == 0 && take(&lock), 0);
    if (!mine) return;
    __threadfence();
    __syncwarp();
    data[lane] += lane;
    __syncwarp();
    if (lane == 0) give_back();
}
__global__ void next_lock_first(int* locks, int* value, int n) {  // a step has a lock, and is left for the next
    if (threadIdx.x || !take(locks)) return;
    for (int i = 0; i < n; ++i) {
        __threadfence();
        value[i] += 1;
        if (i + 1 < n && !take(locks + i + 1)) return;
        __threadfence();
        atomicExch(locks + i, 0);
    }
}

// ---- words that a version guards ---------------

enum Fences { fenced, none_in, none_out, none_after_look, none_before_look, one_look, in_block };
template <Fences F>
__device__ void versioned(unsigned* version, volatile int* words, int n, int* out) {
    if (threadIdx.x) return;
    const bool first = part() == 0;
    for (int i = 1; i < n + 20; ++i) {
        if (first) {
            atomicAdd(version, 1);
            if (F == in_block)
                __threadfence_block();
            else if (F != none_in)
                __threadfence();
            words[0] = i;  // RACE version_not_fenced version_late version_early
            words[1] = i;  // RACE version_not_fenced version_late version_early version_unchecked version_once
            words[2] = i;  // RACE version_unchecked version_once version_block version_late version_early
            if (F != none_out) __threadfence();
            atomicAdd(version, 1);
            continue;
        }
        const unsigned seen = atomicAdd(version, 0);
        if (F != none_after_look) __threadfence();
        const int sum = words[0] + words[1] - words[2];
        if (F != none_before_look) __threadfence();
        if (F != one_look && (seen % 2 || atomicAdd(version, 0) != seen)) continue;
        if (seen % 2 == 0) *out = sum;
        return;
    }
}
#define VERSIONED(name, fences)                                                     \
    __global__ void name(unsigned* version, volatile int* words, int n, int* out) { \
        versioned<fences>(version, words, n, out);                                  \
    }
VERSIONED(version_right, fenced)
VERSIONED(version_not_fenced, none_in)
VERSIONED(version_late, none_out)
VERSIONED(version_early, none_after_look)
VERSIONED(version_unchecked, none_before_look)
VERSIONED(version_once, one_look)
VERSIONED(version_block, in_block)
__global__ void version_in_block(int n, int* out) {
    __shared__ volatile unsigned version;
    __shared__ volatile int words[3];
    if (threadIdx.x == 0) version = 0, words[0] = words[1] = words[2] = 0;
    __syncthreads();
    if (threadIdx.x % 32) return;
    for (int i = 1; i <= n; ++i) {
        const unsigned seen = version;
        if (threadIdx.x == 0) version = seen + 1;
        __threadfence_block();
        int sum = 0;
        for (int k = 0; k < 3; ++k)
            if (threadIdx.x == 0)
                words[k] = i;
            else
                sum += words[k];
        __threadfence_block();
        if (threadIdx.x == 0)
            version = seen + 2;
        else if (seen % 2 == 0 && version == seen)
            out[threadIdx.x / 32] = sum;
    }
}
__global__ void three_flags(int* data, volatile int* flags,
                            int* out) {  // behind one fence, and looked at once a round
    if (threadIdx.x) return;
    const bool first = part() == 0;
    for (int r = 1; r < 20; ++r) {
        if (first) {
            data[r] = r;
            __threadfence();
            for (int c = 0; c < 3; ++c) flags[c] = r;
        } else {
            const int c = flags[2], b = flags[1], a = flags[0];
            __threadfence();
            *out = data[min(a, min(b, c))];
        }
    }
}

// ---- flags that are looked at once, and slots that are given back ---------------

template <bool Before, bool After>
__device__ void once(volatile int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE once_not_published once_not_acquired
        if (Before) __threadfence();
        *flag = 1;       // RACE once_not_published once_not_acquired
    } else if (*flag) {  // RACE once_not_published once_not_acquired
        if (After) __threadfence();
        out[blockIdx.x] = *data;  // RACE once_not_published once_not_acquired
    }
}
__global__ void once_right(volatile int* flag, int* data, int* out) { once<true, true>(flag, data, out); }
__global__ void once_not_published(volatile int* flag, int* data, int* out) { once<false, true>(flag, data, out); }
__global__ void once_not_acquired(volatile int* flag, int* data, int* out) { once<true, false>(flag, data, out); }

template <bool Early>
__device__ void ring(volatile int* head, volatile int* tail, int* slots, int n, int* out) {
    if (threadIdx.x) return;
    const bool first = part() == 0;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < patience && (first ? i - *tail >= 4 : *head <= i); ++k) {}
        __threadfence();
        if (!first && Early) *tail = i + 1;
        if (first)
            slots[i % 4] = i;  // RACE slot_given_back_early
        else
            out[i] = slots[i % 4];  // RACE slot_given_back_early
        __threadfence();
        if (first)
            *head = i + 1;
        else if (!Early)
            *tail = i + 1;
    }
}
__global__ void slot_given_back(volatile int* head, volatile int* tail, int* slots, int n, int* out) {
    ring<false>(head, tail, slots, n, out);
}
__global__ void slot_given_back_early(volatile int* head, volatile int* tail, int* slots, int n, int* out) {
    ring<true>(head, tail, slots, n, out);
}

// ---- pointers to rows, in shared memory ---------------

template <bool Wait>
__device__ void by_rows(int* out) {
    __shared__ float tile[8][32], (*rows)[32];
    __shared__ float(*both[2])[32];
    if (threadIdx.x == 0) rows = tile + 4, both[0] = tile + 4, both[1] = tile + 5;
    __syncthreads();
    const int y = int(threadIdx.x / 32), x = int(threadIdx.x % 32);
    rows[y][x] = float(threadIdx.x);  // RACE rows_no_barrier
    if (Wait) __syncthreads();
    out[threadIdx.x] = int(both[1 - y][0][x]);  // RACE rows_no_barrier
}
__global__ void rows_right(int* out) { by_rows<true>(out); }
__global__ void rows_no_barrier(int* out) { by_rows<false>(out); }

// ---- lanes that hand on together, readers that go away again, a flag that ends a loop ----------------------

__global__ void warp_hands_on(int n, int* out) {
    __shared__ volatile int flag;
    __shared__ int data[256];
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    const int lane = int(threadIdx.x % 32);
    if (threadIdx.x < 32) {
        for (int k = lane; k < n; k += 32) data[k] = 3 * k;
        __threadfence_block();
        __syncwarp();
        if (lane == 0) flag = 1;
    } else if (wait_for(&flag, 1)) {
        __threadfence_block();
        for (int k = lane; k < n; k += 32) out[k] = data[n - 1 - k];
    }
}
__device__ bool read_in(int* users) {  // below 0: a writer is in
    for (int t = 0; t < patience; ++t) {
        if (atomicAdd(users, 1) >= 0) return __threadfence(), true;
        atomicSub(users, 1);
    }
    return false;
}
__global__ void reader_goes_away(int* users, int* pair, int* torn) {
    if (blockIdx.x % 3 == 1) {
        bool in = false;
        for (int t = 0; t < patience && !in; ++t) in = atomicCAS(users, 0, -1000) == 0;
        __threadfence();
        if (!in) return;
        pair[0] += 1;
        pair[1] += 1;
        __threadfence();
        atomicAdd(users, 1000);
    } else if (read_in(users)) {
        if (pair[0] != pair[1]) atomicAdd(torn, 1);
        __threadfence();
        atomicSub(users, 1);
    }
}
__global__ void stops_when_found(int n, volatile int* stop, int* looked) {
    for (int k = int(blockIdx.x * blockDim.x + threadIdx.x); k < n; k += int(gridDim.x * blockDim.x)) {
        if (*stop) return;
        atomicAdd(looked, 1);
        if (k == n / 2) *stop = 1;
    }
}
template <bool Waits>
__device__ void relax(int n, int* label, volatile int* changed) {
    const int i = int(threadIdx.x);
    label[i] = i / 2;
    for (int round = 0; round < n; ++round) {
        if (Waits) __syncthreads();
        if (i == 0) *changed = 0;  // RACE looked_at_too_late
        __syncthreads();
        const bool lower = i && i < n && label[i - 1] < label[i];
        __syncthreads();
        if (lower) --label[i], *changed = 1;
        __syncthreads();
        if (!*changed) return;  // RACE looked_at_too_late
    }
}
__global__ void until_nothing_changes(int n, int* label, int* changed) { relax<true>(n, label, changed); }
__global__ void looked_at_too_late(int n, int* label, int* changed) { relax<false>(n, label, changed); }

int main(int argc, char** argv) {
#define Z zeros<int>
#define RUN(label, blocks, threads, name, ...)      \
    {                                               \
        label, #name, [](int n) {                   \
            name<<<blocks, threads>>>(__VA_ARGS__); \
            (void)n;                                \
        }                                           \
    }
    const Case cases[] = {
        RUN("race", 3, 32, read_behind, Z(1), Z(3)),
        RUN("race", 3, 32, written_behind, Z(1)),
        RUN("race", 3, 32, read_before, Z(1), Z(3)),
        RUN("race", 1, 128, warps_read_behind, Z(4)),
        RUN("right", 3, 32, last_reads_behind, Z(1), Z(1)),
        RUN("right", 4, 32, popped_behind, Z(2 * n), Z(2), n, Z(2 * n)),
        RUN("right", 3, 32, first_fills, Z(1), Z(n), n, Z(3)),
        RUN("right", 3, 32, waits_for_the_lock, Z(1), Z(1), Z(3)),
        RUN("right", 3, 64, one_for_the_block, Z(n), n),
        RUN("right", 3, 64, one_for_the_warp, Z(32)),
        RUN("right", 3, 32, next_lock_first, Z(n), Z(n), n),
        RUN("right", 2, 32, version_right, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("race", 2, 32, version_not_fenced, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("race", 2, 32, version_late, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("race", 2, 32, version_early, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("race", 2, 32, version_unchecked, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("race", 2, 32, version_once, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("race", 2, 32, version_block, zeros<unsigned>(1), Z(3), n, Z(1)),
        RUN("right", 1, 96, version_in_block, n, Z(3)),
        RUN("right", 2, 32, three_flags, Z(20), Z(3), Z(1)),
        RUN("right", 3, 32, once_right, Z(1), Z(1), Z(3)),
        RUN("race", 3, 32, once_not_published, Z(1), Z(1), Z(3)),
        RUN("race", 3, 32, once_not_acquired, Z(1), Z(1), Z(3)),
        RUN("right", 2, 32, slot_given_back, Z(1), Z(1), Z(4), n + 20, Z(n + 20)),
        RUN("race", 2, 32, slot_given_back_early, Z(1), Z(1), Z(4), n + 20, Z(n + 20)),
        RUN("right", 1, 64, rows_right, Z(64)),
        RUN("race", 1, 64, rows_no_barrier, Z(64)),
        RUN("right", 1, 64, warp_hands_on, n, Z(n)),
        RUN("right", 5, 1, reader_goes_away, Z(1), Z(2), Z(1)),
        RUN("right", 2, 4, stops_when_found, n, Z(1), Z(1)),
        RUN("right", 1, 64, until_nothing_changes, n < 40 ? n : 40, Z(64), Z(1)),
        RUN("race", 1, 64, looked_at_too_late, n < 40 ? n : 40, Z(64), Z(1)),
    };
    return choose(cases, argc, argv);
}
