// Blocks that wait for each other: each program has one mistake, which the run tells better than the text.
// RUN: slow fix
#include <cuda/atomic>

#include "planted.cuh"

// a lock that takes a function, entered without a fence
__device__ int mutex;
template <class F>
__device__ void exclusively(F&& body) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    body();
    __threadfence();
    atomicExch(&mutex, 0);
}
__global__ void largest_pair(const int* in, int* best) {
    if (threadIdx.x) return;
    exclusively([&] {  // SAYS: put __threadfence() after line
        if (in[blockIdx.x] > best[0]) {
            best[0] = in[blockIdx.x];
            best[1] = blockIdx.x;
        }
    });
}
PLANT(lock_with_a_function) {
    int* best = zeros(2);
    largest_pair<<<16, 32>>>(filled(16), best);
    wants(best, 1, [](int) { int most = 0; for (int i = 0; i < 16; ++i) most = in_at(i) > most ? in_at(i) : most; return most; });
}

// a table that the first block fills, and the others use without a fence
struct Table {
    int state, entry[8];
    __device__ const int* get() {
        const int seen = atomicCAS(&state, 0, 1);
        if (seen == 0) {
            for (int i = 0; i < 8; ++i) entry[i] = i * i + 1;
            __threadfence();
            atomicExch(&state, 2);
        } else {
            while (atomicAdd(&state, 0) != 2) {
            }
        }
        return entry;
    }
};
__global__ void look_up(Table* table, int* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = table->get()[blockIdx.x % 8];
}
PLANT(filled_once) {  // SAYS: put __threadfence() after line
    int* out = zeros(24);
    look_up<<<24, 32>>>(zeros<Table>(1), out);
    wants(out, 24, [](int i) { return i % 8 * (i % 8) + 1; });
}

// a look-back scan whose second state is set without a fence
__device__ int sum_before(volatile int* state, volatile int* sum, volatile int* prefix, int tile) {
    int all = 0;
    for (int t = tile - 1; t >= 0;) {
        const int seen = state[t];
        if (!seen) continue;
        __threadfence();
        if (seen == 2) return all + prefix[t];
        all += sum[t--];
    }
    return all;
}
__global__ void scan_tiles(const int* in, int* next, volatile int* state, volatile int* sum, volatile int* prefix) {
    if (threadIdx.x) return;
    const int tile = atomicAdd(next, 1);
    sum[tile] = in[tile];
    __threadfence();
    state[tile] = 1;
    const int before = sum_before(state, sum, prefix, tile);
    prefix[tile] = before + in[tile];
    state[tile] = 2;
}
PLANT(second_state_unfenced) {  // SAYS: put __threadfence() before line
    int* prefix = zeros(16);
    scan_tiles<<<16, 32>>>(filled(16), zeros(1), zeros(16), zeros(16), prefix);
    wants(prefix, 16, [](int i) { int sum = 0; for (int k = 0; k <= i; ++k) sum += in_at(k); return sum; });
}

// a queue whose reader waits for the tail, not for the slot
struct Queue {
    int slots[32], ready[32], head, tail;
    __device__ void push(int value) {
        const int at = atomicAdd(&tail, 1);
        slots[at] = value;
        __threadfence();
        atomicExch(&ready[at], 1);
    }
    __device__ int pop() {
        const int at = atomicAdd(&head, 1);
        while (atomicAdd(&tail, 0) <= at) {  // FIXED: while (atomicAdd(&ready[at], 0) == 0) {
        }
        __threadfence();
        return slots[at];
    }
};
__global__ void push_and_pop(Queue* queue, int* sum) {
    if (threadIdx.x) return;
    if (blockIdx.x % 2 == 0) queue->push(blockIdx.x + 1);
    else atomicAdd(sum, queue->pop());
}
PLANT(waits_for_the_tail) {  // SAYS: sets the word too early
    int* sum = zeros(1);
    push_and_pop<<<32, 32>>>(zeros<Queue>(1), sum);
    wants(sum, 1, [](int) { return 256; });
}

// an atomic of the library with the scope of a block
__global__ void count_odd(const int* in, int* count) {
    const int own = in[blockIdx.x * blockDim.x + threadIdx.x] % 2;
    cuda::atomic_ref<int, cuda::thread_scope_block>(*count).fetch_add(own);  // FIXED: cuda::atomic_ref<int, cuda::thread_scope_device>(*count).fetch_add(own);
}
PLANT(reference_of_a_block) {  // SAYS: cuda::thread_scope_device
    int* count = zeros(1);
    count_odd<<<4, 64>>>(filled(256), count);
    wants(count, 1, [](int) { int odd = 0; for (int i = 0; i < 256; ++i) odd += in_at(i) % 2; return odd; });
}

// a barrier of the grid that a block enters before all of its threads have written
__device__ void grid_wait(unsigned* count, volatile unsigned* round) {
    if (threadIdx.x == 0) {
        const unsigned mine = *round;
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            *count = 0;
            __threadfence();
            *round = mine + 1;
        } else {
            while (*round == mine) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}
__global__ void tree_of_the_grid(int* v, int n, unsigned* count, unsigned* round) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    for (int d = 1; d < n; d *= 2) {
        const int left = 2 * d * id;
        if (left + d < n) v[left] += v[left + d];
        grid_wait(count, round);
    }
}
PLANT(grid_entered_early) {  // SAYS: put __syncthreads() after line
    int* v = filled(256);
    tree_of_the_grid<<<2, 64>>>(v, 256, zeros<unsigned>(1), zeros<unsigned>(1));
    wants(v, 1, [](int) { int sum = 0; for (int i = 0; i < 256; ++i) sum += in_at(i); return sum; });
}

// a loop over the grid that goes on by one block
__global__ void lower(int* level, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) {  // FIXED: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        level[i] -= 40;
        if (level[i] < 0) level[i] = 0;
    }
}
PLANT(step_of_a_block) {  // SAYS: the step is blockDim.x * gridDim.x
    int* level = filled(400);
    lower<<<4, 64>>>(level, 400);
    wants(level, 400, [](int i) { return in_at(i) < 40 ? 0 : in_at(i) - 40; });
}

// a tree over blocks that wait for nothing
__global__ void tree_of_blocks(int* v, int n) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    for (int d = 1; d < n; d *= 2) {
        const int left = 2 * d * id;
        if (left + d < n) v[left] += v[left + d];  // FIXED: if (d == 1 && id == 0) for (int i = 1; i < n; ++i) v[0] += v[i];
    }
}
PLANT(tree_of_blocks) {  // SAYS: launch the kernel once a round
    int* v = filled(256);
    tree_of_blocks<<<2, 64>>>(v, 256);
    wants(v, 1, [](int) { int sum = 0; for (int i = 0; i < 256; ++i) sum += in_at(i); return sum; });
}

// a version that the reader reads only once
__global__ void reads_version_once(volatile int* version, volatile int* x, volatile int* y, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i < 4; ++i) {
            *version = *version + 1;
            __threadfence();
            *x = i;
            *y = i;
            __threadfence();
            *version = *version + 1;
        }
    } else {
        int a, b, v;
        do v = *version;  // FIXED: int again; do { do v = *version;
        while (v % 2);
        __threadfence();
        a = *x;
        b = *y;  // FIXED: b = *y; __threadfence(); again = *version; } while (again != v);
        out[0] = a == b;
    }
}
PLANT(reads_version_once) {  // SAYS: may read a mix of old and new values
    int* out = zeros(1);
    reads_version_once<<<2, 32>>>(zeros(1), zeros(1), zeros(1), out);
    wants(out, 1, [](int) { return 1; });
}
