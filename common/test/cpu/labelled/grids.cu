// grids.cu - labelled kernels: blocks that wait for each other, in both directions, and barriers of all blocks.
//
// All blocks of these grids fit on a GPU at once. Who waits in vain gives up, and touches nothing.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include <cooperative_groups.h>

#include "labelled.cuh"

namespace cg = cooperative_groups;

constexpr int blocks = 6;

__device__ bool await(int* word, int value) {
    for (int i = 0; i < patience; ++i)
        if (atomicAdd(word, 0) >= value) return true;
    return false;
}

// ---- a look-back that goes forward: each block waits for the one that begins after it ----------------------

template <bool Before, bool After>
__device__ void sum_from_the_end(volatile int* ready, int* total, const int* in, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += int(gridDim.x * blockDim.x))
        atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    const int b = int(blockIdx.x);
    int behind = 0;
    if (b + 1 < int(gridDim.x)) {
        if (!wait_for(ready + b + 1, 1)) return;
        if (After) __threadfence();
        behind = total[b + 1];  // RACE look_ahead_no_fence look_ahead_reader_unfenced
    }
    total[b] = behind + sum;  // RACE look_ahead_no_fence look_ahead_reader_unfenced
    if (Before) __threadfence();
    ready[b] = 1;
}
__global__ void look_ahead(volatile int* ready, int* total, const int* in, int n) {
    sum_from_the_end<true, true>(ready, total, in, n);
}
__global__ void look_ahead_no_fence(volatile int* ready, int* total, const int* in, int n) {
    sum_from_the_end<false, true>(ready, total, in, n);
}
__global__ void look_ahead_reader_unfenced(volatile int* ready, int* total, const int* in, int n) {
    sum_from_the_end<true, false>(ready, total, in, n);
}
// Each block begins to use its shared memory when the one behind it has used its own.
__global__ void shared_after_a_wait(int* ready, int* out) {
    const int b = int(blockIdx.x), t = int(threadIdx.x);
    if (t == 0 && b + 1 < int(gridDim.x)) await(ready + b + 1, 1);
    __syncthreads();
    __shared__ int late[32];
    late[t] = b + t;
    __syncthreads();
    out[32 * b + t] = late[31 - t];
    __syncthreads();
    if (t == 0) atomicExch(ready + b, 1);
}
// The value and its flag are one word: no fence is needed.
__global__ void look_ahead_packed(volatile unsigned long long* state, int* out) {
    if (threadIdx.x) return;
    const unsigned b = blockIdx.x;
    unsigned long long behind = 0;
    for (int i = 0; b + 1 < gridDim.x && i < patience && !(behind >> 32); ++i) behind = state[b + 1];
    const unsigned sum = unsigned(behind) + b;
    state[b] = 1ull << 32 | sum;
    out[b] = int(sum);
}

// ---- a pipeline: block b hands its items on to block b + 1, through one slot -------------------------------

template <bool Fill, bool Empty, bool Early>
__device__ void pass_items_on(int* full, int* slot, const int* in, int n, int* out) {
    if (threadIdx.x) return;
    const int b = int(blockIdx.x), last = int(gridDim.x) - 1;
    for (int i = 0; i < n && i < 12; ++i) {
        int x = b == 0 ? in[i] : 0;
        if (b > 0) {
            if (!await(full + b, 2 * i + 1)) return;
            if (Early) atomicAdd(full + b, 1);
            __threadfence();
            x = slot[b];  // RACE pipeline_no_fence_filling pipeline_no_fence_emptying pipeline_emptied_early
            if (Empty) __threadfence();
            if (!Early) atomicAdd(full + b, 1);
        }
        if (b == last) {
            out[i] = x + b;
            continue;
        }
        if (!await(full + b + 1, 2 * i)) return;
        __threadfence();
        slot[b + 1] = x + b;  // RACE pipeline_no_fence_filling pipeline_no_fence_emptying pipeline_emptied_early
        if (Fill) __threadfence();
        atomicAdd(full + b + 1, 1);
    }
}
__global__ void pipeline(int* full, int* slot, const int* in, int n, int* out) {
    pass_items_on<true, true, false>(full, slot, in, n, out);
}
__global__ void pipeline_no_fence_filling(int* full, int* slot, const int* in, int n, int* out) {
    pass_items_on<false, true, false>(full, slot, in, n, out);
}
__global__ void pipeline_no_fence_emptying(int* full, int* slot, const int* in, int n, int* out) {
    pass_items_on<true, false, false>(full, slot, in, n, out);
}
__global__ void pipeline_emptied_early(int* full, int* slot, const int* in, int n, int* out) {
    pass_items_on<true, true, true>(full, slot, in, n, out);
}

// ---- a barrier of the grid, by hand ---------------

template <bool First, bool Fence, bool Last>
__device__ bool all_blocks(int* arrived, int times) {
    if (First) __syncthreads();
    bool came = true;
    if (threadIdx.x == 0) {
        if (Fence) __threadfence();
        atomicAdd(arrived, 1);
        came = await(arrived, times * int(gridDim.x));
        if (Fence) __threadfence();
    }
    return Last ? __syncthreads_and(came) : came;
}
__global__ void barrier_by_hand(int* arrived, int* a, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    for (int k = 0; k < 3; ++k) {
        a[i] = k + i;
        if (!all_blocks<true, true, true>(arrived, 2 * k + 1)) return;
        out[i] += a[n - 1 - i];
        if (!all_blocks<true, true, true>(arrived, 2 * k + 2)) return;
    }
}
__global__ void barrier_by_hand_no_fence(int* arrived, int* a, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = i;  // RACE barrier_by_hand_no_fence
    if (!all_blocks<true, false, true>(arrived, 1)) return;
    out[i] += a[n - 1 - i];  // RACE barrier_by_hand_no_fence
}
__global__ void barrier_by_hand_no_first(int* arrived, int* a, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = i;  // RACE barrier_by_hand_no_first
    if (!all_blocks<false, true, true>(arrived, 1)) return;
    out[i] += a[n - 1 - i];  // RACE barrier_by_hand_no_first
}
__global__ void barrier_by_hand_no_last(int* arrived, int* a, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = i;  // RACE barrier_by_hand_no_last
    if (!all_blocks<true, true, false>(arrived, 1)) return;
    out[i] += a[n - 1 - i];  // RACE barrier_by_hand_no_last
}
__global__ void barrier_by_hand_once(int* arrived, int* a, int* out) {  // the next round's writes need another
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    for (int k = 0; k < 3; ++k) {
        a[i] = k + i;  // RACE barrier_by_hand_once
        if (!all_blocks<true, true, true>(arrived, k + 1)) return;
        out[i] += a[n - 1 - i];  // RACE barrier_by_hand_once
    }
}
// The last to come turns the sense; the others look at it.
template <bool Fence>
__device__ bool turn_sense(unsigned* arrived, volatile int* sense, int mine) {
    __syncthreads();
    bool came = true;
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1) {
            if (Fence) __threadfence();
            *sense = mine;
        } else {
            came = wait_for(sense, mine);
        }
        __threadfence();
    }
    return __syncthreads_and(came);
}
__global__ void barrier_by_sense(unsigned* arrived, volatile int* sense, int* a, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = i;
    if (!turn_sense<true>(arrived, sense, 1)) return;
    out[i] = a[n - 1 - i];
    if (!turn_sense<true>(arrived, sense, 2)) return;
    a[i] = out[n - 1 - i];
}
__global__ void barrier_by_sense_last_unfenced(unsigned* arrived, volatile int* sense, int* a, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = i;  // RACE barrier_by_sense_last_unfenced
    if (!turn_sense<false>(arrived, sense, 1)) return;
    out[i] = a[n - 1 - i];  // RACE barrier_by_sense_last_unfenced
}

// ---- grid.sync() ---------------

__global__ void grid_sync(int* a, int* out) {
    const cg::grid_group grid = cg::this_grid();
    const int i = int(grid.thread_rank()), n = int(grid.size());
    for (int k = 0; k < 3; ++k) {
        a[i] = i + k;
        grid.sync();
        out[i] += a[n - 1 - i];
        grid.sync();
    }
}
__global__ void grid_sync_once(int* a, int* out) {
    const cg::grid_group grid = cg::this_grid();
    const int i = int(grid.thread_rank()), n = int(grid.size());
    for (int k = 0; k < 3; ++k) {
        a[i] = i + k;  // RACE grid_sync_once
        grid.sync();
        out[i] += a[n - 1 - i];  // RACE grid_sync_once
    }
}
__global__ void block_sync_for_grid(int* a, int* out) {
    const cg::grid_group grid = cg::this_grid();
    const int i = int(grid.thread_rank()), n = int(grid.size());
    a[i] = i;  // RACE block_sync_for_grid
    cg::this_thread_block().sync();
    out[i] = a[n - 1 - i];  // RACE block_sync_for_grid
    grid.sync();
}
__global__ void relax_two_rows(int* a, int* b, int n) {  // the classic Jacobi
    const cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < 4; ++k) {
        for (int i = int(grid.thread_rank()) + 1; i < n - 1; i += int(grid.size()))
            b[i] = (a[i - 1] + a[i + 1]) / 2 + 1;
        grid.sync();
        int* const t = a;
        a = b;
        b = t;
    }
}
__global__ void relax_in_place(int* a, int n) {
    const cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < 4; ++k) {
        for (int i = int(grid.thread_rank()) + 1; i < n - 1; i += int(grid.size()))
            a[i] = (a[i - 1] + a[i + 1]) / 2 + 1 + k;  // RACE relax_in_place
        grid.sync();
    }
}
__global__ void grid_sum(const int* in, int n, int* partial, int* out) {
    __shared__ int sum;
    const cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = int(grid.thread_rank()); i < n; i += int(grid.size())) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    grid.sync();
    if (grid.thread_rank() > 0) return;
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
    *out = all;
}
__global__ void grid_sum_too_early(const int* in, int n, int* partial, int* out) {
    __shared__ int sum;
    const cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) sum = 0;
    grid.sync();
    for (int i = int(grid.thread_rank()); i < n; i += int(grid.size())) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;  // RACE grid_sum_too_early
    if (grid.thread_rank() > 0) return;
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];  // RACE grid_sum_too_early
    *out = all;
}

// ---- a word that goes round, there and back ---------------

template <bool Fence>
__device__ void go_round(volatile int* turn, int* data) {
    if (threadIdx.x) return;
    for (int k = 0; k < 3; ++k) {
        if (!wait_for(turn, k * int(gridDim.x) + int(gridDim.x - 1 - blockIdx.x))) return;
        if (Fence) __threadfence();
        *data = 2 * *data + int(blockIdx.x);  // RACE token_no_fence
        __threadfence();
        *turn = k * int(gridDim.x) + int(gridDim.x - blockIdx.x);
    }
}
__global__ void token(volatile int* turn, int* data) { go_round<true>(turn, data); }
__global__ void token_no_fence(volatile int* turn, int* data) { go_round<false>(turn, data); }

// Block 0 asks, block 1 answers, and each word is written by one of them only.
template <bool Ask, bool Answer>
__device__ void ask_and_answer(volatile int* asked, volatile int* answered, int* question, int* answer, int* out) {
    if (threadIdx.x || blockIdx.x > 1) return;
    for (int k = 1; k <= 4; ++k) {
        if (blockIdx.x == 0) {
            *question = 3 * k;  // RACE ask_no_fence answer_no_fence
            if (Ask) __threadfence();
            *asked = k;
            if (!wait_for(answered, k)) return;
            __threadfence();
            out[k] = *answer;  // RACE answer_no_fence
        } else {
            if (!wait_for(asked, k)) return;
            __threadfence();
            *answer = *question + 1;  // RACE ask_no_fence answer_no_fence
            if (Answer) __threadfence();
            *answered = k;
        }
    }
}
__global__ void question(volatile int* a, volatile int* b, int* q, int* r, int* out) {
    ask_and_answer<true, true>(a, b, q, r, out);
}
__global__ void ask_no_fence(volatile int* a, volatile int* b, int* q, int* r, int* out) {
    ask_and_answer<false, true>(a, b, q, r, out);
}
__global__ void answer_no_fence(volatile int* a, volatile int* b, int* q, int* r, int* out) {
    ask_and_answer<true, false>(a, b, q, r, out);
}

// ---- a queue: who takes an item may add another ---------------

template <bool Fence>
__device__ void work_off(int* head, int* tail, int* written, int* items, int n, int* out) {
    if (threadIdx.x) return;
    for (;;) {
        const int at = atomicAdd(head, 1);
        if (at >= 2 * n || !await(written + at, 1)) return;
        __threadfence();
        const int item = items[at];  // RACE queue_of_blocks_no_fence
        atomicAdd(out, item);
        if (at >= n) continue;
        const int to = n + atomicAdd(tail, 1);
        items[to] = item + 1;  // RACE queue_of_blocks_no_fence
        if (Fence) __threadfence();
        atomicExch(written + to, 1);
    }
}
__global__ void queue_of_blocks(int* head, int* tail, int* written, int* items, int n, int* out) {
    work_off<true>(head, tail, written, items, n, out);
}
__global__ void queue_of_blocks_no_fence(int* head, int* tail, int* written, int* items, int n, int* out) {
    work_off<false>(head, tail, written, items, n, out);
}

// ---- a stack ---------------

template <bool Push, bool Pop>
__device__ void push_or_take_all(int* head, int* next, int* value, int* out) {
    if (threadIdx.x) return;
    const int b = int(blockIdx.x);
    if (b % 2 == 0) {
        value[b] = 10 + b;  // RACE pushed_no_fence taken_no_fence
        for (int seen = atomicAdd(head, 0), last = -1; seen != last;) {
            next[b] = last = seen;  // RACE pushed_no_fence taken_no_fence
            if (Push) __threadfence();
            seen = atomicCAS(head, last, b + 1);
        }
        return;
    }
    int sum = 0, at = atomicExch(head, 0);
    if (Pop) __threadfence();
    for (; at > 0; at = next[at - 1]) sum += value[at - 1];  // RACE pushed_no_fence taken_no_fence
    out[b] = sum;
}
__global__ void stack(int* head, int* next, int* value, int* out) {
    push_or_take_all<true, true>(head, next, value, out);
}
__global__ void pushed_no_fence(int* head, int* next, int* value, int* out) {
    push_or_take_all<false, true>(head, next, value, out);
}
__global__ void taken_no_fence(int* head, int* next, int* value, int* out) {
    push_or_take_all<true, false>(head, next, value, out);
}

int* ones(int n, int of) {
    int* const p = zeros<int>(of);
    for (int i = 0; i < n; ++i) {
        const int one = 1;
        cudaMemcpy(p + i, &one, sizeof one, cudaMemcpyHostToDevice);
    }
    return p;
}

int main(int argc, char** argv) {
#define GRID(label, name, ...)                 \
    {                                          \
        label, #name, [](int n) {              \
            name<<<blocks, 32>>>(__VA_ARGS__); \
            (void)n;                           \
        }                                      \
    }
#define TOGETHER(label, name, ...)                                                    \
    {                                                                                 \
        label, #name, [](int n) {                                                     \
            auto run = [&](auto... a) {                                               \
                void* p[] = {&a...};                                                  \
                cudaLaunchCooperativeKernel((void*)name, dim3(4), dim3(32), p, 0, 0); \
            };                                                                        \
            run(__VA_ARGS__);                                                         \
            (void)n;                                                                  \
        }                                                                             \
    }
    const Case cases[] = {
        GRID("right", look_ahead, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n),
        GRID("race", look_ahead_no_fence, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n),
        GRID("race", look_ahead_reader_unfenced, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n),
        GRID("right", shared_after_a_wait, zeros<int>(blocks), zeros<int>(32 * blocks)),
        GRID("right", look_ahead_packed, zeros<unsigned long long>(blocks), zeros<int>(blocks)),
        GRID("right", pipeline, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n, zeros<int>(n)),
        GRID("race", pipeline_no_fence_filling, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n,
             zeros<int>(n)),
        GRID("race", pipeline_no_fence_emptying, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n,
             zeros<int>(n)),
        GRID("race", pipeline_emptied_early, zeros<int>(blocks), zeros<int>(blocks), zeros<int>(n), n,
             zeros<int>(n)),
        GRID("right", barrier_by_hand, zeros<int>(1), zeros<int>(32 * blocks), zeros<int>(32 * blocks)),
        GRID("race", barrier_by_hand_no_fence, zeros<int>(1), zeros<int>(32 * blocks), zeros<int>(32 * blocks)),
        GRID("race", barrier_by_hand_no_first, zeros<int>(1), zeros<int>(32 * blocks), zeros<int>(32 * blocks)),
        GRID("race", barrier_by_hand_no_last, zeros<int>(1), zeros<int>(32 * blocks), zeros<int>(32 * blocks)),
        GRID("race", barrier_by_hand_once, zeros<int>(1), zeros<int>(32 * blocks), zeros<int>(32 * blocks)),
        GRID("right", barrier_by_sense, zeros<unsigned>(1), zeros<int>(1), zeros<int>(32 * blocks),
             zeros<int>(32 * blocks)),
        GRID("race", barrier_by_sense_last_unfenced, zeros<unsigned>(1), zeros<int>(1), zeros<int>(32 * blocks),
             zeros<int>(32 * blocks)),
        TOGETHER("right", grid_sync, zeros<int>(128), zeros<int>(128)),
        TOGETHER("race", grid_sync_once, zeros<int>(128), zeros<int>(128)),
        TOGETHER("race", block_sync_for_grid, zeros<int>(128), zeros<int>(128)),
        TOGETHER("right", relax_two_rows, zeros<int>(n), zeros<int>(n), n),
        TOGETHER("race", relax_in_place, zeros<int>(n), n),
        TOGETHER("right", grid_sum, (const int*)zeros<int>(n), n, zeros<int>(4), zeros<int>(1)),
        TOGETHER("race", grid_sum_too_early, (const int*)zeros<int>(n), n, zeros<int>(4), zeros<int>(1)),
        GRID("right", token, zeros<int>(1), zeros<int>(1)),
        GRID("race", token_no_fence, zeros<int>(1), zeros<int>(1)),
        GRID("right", question, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(5)),
        GRID("race", ask_no_fence, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(5)),
        GRID("race", answer_no_fence, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(5)),
        GRID("right", queue_of_blocks, zeros<int>(1), zeros<int>(1), ones(n, 2 * n), zeros<int>(2 * n), n,
             zeros<int>(1)),
        // Of at most 50: who has taken a number since, behind a fence, has handed on what was written before, too,
        // and in a long queue nearly everybody has.
        GRID("race", queue_of_blocks_no_fence, zeros<int>(1), zeros<int>(1), ones(std::min(n, 50), 100),
             zeros<int>(100), std::min(n, 50), zeros<int>(1)),
        {"right", "stack",
         [](int) { stack<<<12, 32>>>(zeros<int>(1), zeros<int>(12), zeros<int>(12), zeros<int>(12)); }},
        {"race", "pushed_no_fence",
         [](int) { pushed_no_fence<<<12, 32>>>(zeros<int>(1), zeros<int>(12), zeros<int>(12), zeros<int>(12)); }},
        {"race", "taken_no_fence",
         [](int) { taken_no_fence<<<12, 32>>>(zeros<int>(1), zeros<int>(12), zeros<int>(12), zeros<int>(12)); }},
    };
    return choose(cases, argc, argv);
}
