// scopes.cu - labelled kernels: flags, locks, fences, and how far they reach.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

// Blocks take their parts as they come: so none waits for one that has not begun, in whatever order they run.
__device__ unsigned arrivals;
__device__ unsigned part() { return atomicInc(&arrivals, gridDim.x - 1); }

// ---- data that a flag publishes ---------------------------------------------------------------------------

__global__ void flag_right(volatile int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else if (wait_for(flag, 1)) {
        __threadfence();
        *out = *data;
    }
}
__global__ void flag_no_fence_before(volatile int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE flag_no_fence_before
        *flag = 1;
    } else if (wait_for(flag, 1)) {
        __threadfence();
        *out = *data;  // RACE flag_no_fence_before
    }
}
__global__ void flag_no_fence_after(volatile int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE flag_no_fence_after
        __threadfence();
        *flag = 1;
    } else if (wait_for(flag, 1)) {
        *out = *data;  // RACE flag_no_fence_after
    }
}
__global__ void flag_after_fence_too_early(volatile int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        __threadfence();
        *data = 42;  // RACE flag_after_fence_too_early
        *flag = 1;
    } else if (wait_for(flag, 1)) {
        __threadfence();
        *out = *data;  // RACE flag_after_fence_too_early
    }
}
__global__ void flag_block_fence(volatile int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE flag_block_fence
        __threadfence_block();
        *flag = 1;
    } else if (wait_for(flag, 1)) {
        __threadfence();
        *out = *data;  // RACE flag_block_fence
    }
}
__global__ void flag_block_fence_in_block(volatile int* flag, volatile int* data, int* out) {
    if (threadIdx.x == 0) {
        *data = 42;
        __threadfence_block();
        *flag = 1;
    } else if (threadIdx.x == 32 && wait_for(flag, 1)) {
        __threadfence_block();
        *out = *data;
    }
}
__global__ void volatile_data(volatile int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0)
        *data = 42;  // RACE volatile_data
    else
        *out = *data;  // RACE volatile_data
}
__global__ void volatile_data_two_writers(volatile int* data) {
    if (threadIdx.x % 32 == 0) *data = 1 + blockIdx.x * blockDim.x + threadIdx.x;  // RACE volatile_data_two_writers
}
__global__ void volatile_increment(volatile int* data) {
    *data = *data + 1;  // RACE volatile_increment
}
__global__ void volatile_behind_fence(volatile int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE volatile_behind_fence
        __threadfence();
    } else {
        __threadfence();
        *out = *data;  // RACE volatile_behind_fence
    }
}
__global__ void volatile_warp_to_warp(volatile int* data, int* out) {
    if (threadIdx.x == 0) data[0] = 7;        // RACE volatile_warp_to_warp
    if (threadIdx.x == 32) out[0] = data[0];  // RACE volatile_warp_to_warp
}
__global__ void barrier_between_warps(volatile int* data, int* out) {
    if (threadIdx.x == 0) data[0] = 7;
    __syncthreads();
    if (threadIdx.x == 32) out[0] = data[0];
}
__global__ void stop_flag(volatile int* stop, const int* in, int n) {
    for (int i = threadIdx.x; i < 1024 && !*stop; i += blockDim.x)
        if (in[i % n] == 0 && i > 70) *stop = 1;
}
__global__ void packed_look_back(volatile unsigned long long* state, int* out) {  // flag and value are one word
    if (threadIdx.x) return;
    const unsigned b = part();
    unsigned long long before = 0;
    for (int i = 0; b > 0 && i < patience && !(before >> 32); ++i) before = state[b - 1];
    const unsigned sum = unsigned(before) + b;
    state[b] = 1ull << 32 | sum;
    out[b] = int(sum);
}
__global__ void fenced_look_back(volatile int* state, int* sum) {
    if (threadIdx.x) return;
    const int b = int(part());
    int before = 0;
    if (b > 0) {
        if (!wait_for(state + b - 1, 1)) return;
        __threadfence();
        before = sum[b - 1];
    }
    sum[b] = before + b;
    __threadfence();
    state[b] = 1;
}
__global__ void look_back_no_fence(volatile int* state, int* sum) {
    if (threadIdx.x) return;
    const int b = int(part());
    int before = 0;
    if (b > 0) {
        if (!wait_for(state + b - 1, 1)) return;
        before = sum[b - 1];  // RACE look_back_no_fence
    }
    sum[b] = before + b;  // RACE look_back_no_fence
    __threadfence();
    state[b] = 1;
}
__global__ void progress(volatile int* step, int* data, int* out) {  // a flag that only grows
    if (threadIdx.x) return;
    const bool first = part() == 0;
    for (int i = 1; i <= 4; ++i) {
        if (first) {
            data[i] = i * i;
            __threadfence();
            *step = i;
        } else {
            int seen = 0;
            for (int t = 0; t < patience && seen < i; ++t) seen = *step;
            if (seen < i) return;
            __threadfence();
            out[i] = data[i];
        }
    }
}
__global__ void turn_about(volatile int* turn, int* data) {  // the turn is the only thing that is shared in a block
    if (threadIdx.x % 32) return;
    const int me = threadIdx.x / 32;
    for (int round = 0; round < 3; ++round) {
        if (!wait_for(turn, 2 * round + me)) return;
        __threadfence();
        *data += 1;
        __threadfence();
        *turn = 2 * round + me + 1;
    }
}
__global__ void turn_about_no_fence(volatile int* turn, int* data) {
    if (threadIdx.x % 32) return;
    const int me = threadIdx.x / 32;
    for (int round = 0; round < 3; ++round) {
        if (!wait_for(turn, 2 * round + me)) return;
        *data += 1;  // RACE turn_about_no_fence
        *turn = 2 * round + me + 1;
    }
}

template <bool Fences>
__device__ void petersons(volatile int* wants, volatile int* turn, int* data) {  // a lock for two blocks
    if (threadIdx.x) return;
    const int me = int(blockIdx.x), other = 1 - me;
    for (int round = 0; round < 3; ++round) {
        wants[me] = 1;
        if (Fences) __threadfence();
        *turn = other;
        if (Fences) __threadfence();
        for (int i = 0; i < patience && wants[other] && *turn == other; ++i) {}
        if (Fences) __threadfence();
        *data += me + 1;  // RACE petersons_lock_no_fence
        if (Fences) __threadfence();
        wants[me] = 0;
    }
}
__global__ void petersons_lock(int* words) { petersons<true>(words, words + 2, words + 3); }
__global__ void petersons_lock_no_fence(int* words) { petersons<false>(words, words + 2, words + 3); }

// ---- atomics as flags -------------------------------------------------------------------------------------

__global__ void atomic_flag_right(int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        int set = 0;
        for (int i = 0; i < patience && !set; ++i) set = atomicAdd(flag, 0);
        __threadfence();
        if (set) *out = *data;
    }
}
__global__ void atomic_flag_no_fence(int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE atomic_flag_no_fence
        __threadfence();
        atomicExch(flag, 1);
    } else {
        int set = 0;
        for (int i = 0; i < patience && !set; ++i) set = atomicAdd(flag, 0);
        if (set) *out = *data;  // RACE atomic_flag_no_fence
    }
}
__global__ void atomic_flag_block_scope(int* flag, int* data, int* out) {
    if (threadIdx.x) return;
    if (part() == 0) {
        *data = 42;  // RACE atomic_flag_block_scope
        __threadfence();
        atomicExch_block(flag, 1);
    } else {
        int set = 0;
        for (int i = 0; i < patience && !set; ++i) set = atomicAdd(flag, 0);
        __threadfence();
        if (set) *out = *data;  // RACE atomic_flag_block_scope
    }
}
__global__ void counter_block_scope(int* count) {
    atomicAdd_block(count, 1);  // RACE counter_block_scope
}
__global__ void counter_one_block(int* count) { atomicAdd_block(count, 1); }
__global__ void counter_two_scopes(int* count) {
    if (blockIdx.x == 0)
        atomicAdd_block(count, 1);  // RACE counter_two_scopes
    else
        atomicAdd(count, 1);
}
__global__ void counter_block_of_own(int* count) { atomicAdd_block(count + blockIdx.x, 1); }
__global__ void max_block_scope(int* most) {
    atomicMax_block(most, int(blockIdx.x * blockDim.x + threadIdx.x));  // RACE max_block_scope
}
__global__ void other_fences(int* data, int* counter, int* out) {  // somebody else's fence orders nothing
    if (threadIdx.x == 0) *data = int(blockIdx.x) + 1;             // RACE other_fences
    if (threadIdx.x == 32) {
        __threadfence();
        atomicAdd(counter, 1);
        __threadfence();
    }
    if (threadIdx.x == 64) out[blockIdx.x] = *data;  // RACE other_fences
}

// ---- locks ------------------------------------------------------------------------------------------------

__device__ int lock_a, lock_b;
__global__ void lock_right(int* data) {
    if (threadIdx.x % 32 || !take(&lock_a)) return;
    __threadfence();
    *data += 1;
    __threadfence();
    atomicExch(&lock_a, 0);
}
__global__ void lock_volatile_right(volatile int* data) {
    if (threadIdx.x % 32 || !take(&lock_a)) return;
    __threadfence();
    *data = *data + 1;
    __threadfence();
    atomicExch(&lock_a, 0);
}
__global__ void lock_no_fence_entering(int* data) {
    if (threadIdx.x % 32 || !take(&lock_a)) return;
    *data += 1;  // RACE lock_no_fence_entering
    __threadfence();
    atomicExch(&lock_a, 0);
}
__global__ void lock_no_fence_leaving(int* data) {
    if (threadIdx.x % 32 || !take(&lock_a)) return;
    __threadfence();
    *data += 1;  // RACE lock_no_fence_leaving
    atomicExch(&lock_a, 0);
}
__global__ void lock_first_enters_unfenced(volatile int* data) {  // whoever comes first
    if (threadIdx.x || !take(&lock_a)) return;
    if (blockIdx.x != 0) __threadfence();
    *data = int(blockIdx.x) + 5;  // RACE lock_first_enters_unfenced
    __threadfence();
    atomicExch(&lock_a, 0);
}
__global__ void lock_last_leaves_unfenced(volatile int* data) {
    if (threadIdx.x || !take(&lock_a)) return;
    __threadfence();
    *data = int(blockIdx.x) + 5;  // RACE lock_last_leaves_unfenced
    if (blockIdx.x + 1 != gridDim.x) __threadfence();
    atomicExch(&lock_a, 0);
}
__global__ void lock_block_fences(int* data) {
    if (threadIdx.x || !take(&lock_a)) return;
    __threadfence_block();
    *data += 1;  // RACE lock_block_fences
    __threadfence_block();
    atomicExch(&lock_a, 0);
}
__global__ void lock_block_scope(volatile int* data) {
    if (threadIdx.x) return;
    bool mine = false;
    for (int i = 0; i < patience && !mine; ++i)
        mine = atomicCAS_block(&lock_a, 0, 1) == 0;  // RACE lock_block_scope
    __threadfence();
    if (mine) *data = *data + 1;  // RACE lock_block_scope
    __threadfence();
    if (mine) atomicExch_block(&lock_a, 0);  // RACE lock_block_scope
}
__global__ void lock_block_scope_in_block(volatile int* data) {
    if (threadIdx.x % 32) return;
    bool mine = false;
    for (int i = 0; i < patience && !mine; ++i) mine = atomicCAS_block(&lock_a, 0, 1) == 0;
    __threadfence_block();
    if (mine) *data = *data + 1;
    __threadfence_block();
    if (mine) atomicExch_block(&lock_a, 0);
}
__global__ void lock_two_locks(int* data) {  // each half has a lock of its own
    int* const lock = blockIdx.x % 2 ? &lock_b : &lock_a;
    if (threadIdx.x || !take(lock)) return;
    __threadfence();
    *data += 1;  // RACE lock_two_locks
    __threadfence();
    atomicExch(lock, 0);
}
__global__ void lock_read_outside(int* data, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x % 2) {
        out[blockIdx.x] = *data;  // RACE lock_read_outside
    } else if (take(&lock_a)) {
        __threadfence();
        *data += 1;  // RACE lock_read_outside
        __threadfence();
        atomicExch(&lock_a, 0);
    }
}
__global__ void lock_by_exchange(int* data) {
    if (threadIdx.x % 32) return;
    for (int i = 0; i < patience; ++i)
        if (atomicExch(&lock_a, 1) == 0) {
            __threadfence();
            *data += 1;
            __threadfence();
            atomicExch(&lock_a, 0);
            return;
        }
}
__global__ void lock_freed_by_store(volatile int* lock, int* data) {
    if (threadIdx.x % 32 || !take((int*)lock)) return;
    __threadfence();
    *data += 1;
    __threadfence();
    *lock = 0;
}

// ---- tickets ----------------------------------------------------------------------------------------------

__device__ unsigned tickets;
#define TICKET(name, before, after)                                                \
    __global__ void name(int* partial, int* out) {                                 \
        __shared__ bool last;                                                      \
        if (threadIdx.x == 0) {                                                    \
            before;                                                                \
            partial[blockIdx.x] = int(blockIdx.x) + 1;                             \
            after;                                                                 \
            last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;            \
        }                                                                          \
        __syncthreads();                                                           \
        if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]); \
    }
TICKET(ticket_right, , __threadfence())
TICKET(ticket_no_fence, , )                                  // RACE ticket_no_fence
TICKET(ticket_block_fence, , __threadfence_block())          // RACE ticket_block_fence
TICKET(ticket_early_fence, __threadfence(), )                // RACE ticket_early_fence
__global__ void ticket_before_barrier(int* all, int* out) {  // only one thread's part is fenced
    __shared__ bool last;
    all[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // RACE ticket_before_barrier
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; last && i < gridDim.x * blockDim.x; i += blockDim.x)
        atomicAdd(out, all[i]);  // RACE ticket_before_barrier
}
__global__ void ticket_each_fences(int* all, int* out) {
    __shared__ bool last;
    all[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    for (unsigned i = threadIdx.x; last && i < gridDim.x * blockDim.x; i += blockDim.x) atomicAdd(out, all[i]);
}

int main(int argc, char** argv) {
#define FLAG(name) [](int) { name<<<2, 64>>>(zeros<int>(1), zeros<int>(8), zeros<int>(8)); }
#define ON(name, blocks, threads, words) [](int) { name<<<blocks, threads>>>(zeros<int>(words)); }
    const Case cases[] = {
        {"right", "flag_right", FLAG(flag_right)},
        {"race", "flag_no_fence_before", FLAG(flag_no_fence_before)},
        {"race", "flag_no_fence_after", FLAG(flag_no_fence_after)},
        {"race", "flag_after_fence_too_early", FLAG(flag_after_fence_too_early)},
        {"race", "flag_block_fence", FLAG(flag_block_fence)},
        {"right", "flag_block_fence_in_block",
         [](int) { flag_block_fence_in_block<<<1, 64>>>(zeros<int>(1), zeros<int>(1), zeros<int>(1)); }},
        {"race", "volatile_data", [](int) { volatile_data<<<2, 32>>>(zeros<int>(1), zeros<int>(1)); }},
        {"race", "volatile_data_two_writers", ON(volatile_data_two_writers, 1, 64, 1)},
        {"race", "volatile_increment", ON(volatile_increment, 2, 1, 1)},
        {"race", "volatile_behind_fence",
         [](int) { volatile_behind_fence<<<2, 32>>>(zeros<int>(1), zeros<int>(1)); }},
        {"race", "volatile_warp_to_warp",
         [](int) { volatile_warp_to_warp<<<1, 64>>>(zeros<int>(1), zeros<int>(1)); }},
        {"right", "barrier_between_warps",
         [](int) { barrier_between_warps<<<1, 64>>>(zeros<int>(1), zeros<int>(1)); }},
        {"right", "stop_flag", [](int n) { stop_flag<<<2, 64>>>(zeros<int>(1), zeros<int>(n), n); }},
        {"right", "packed_look_back",
         [](int n) { packed_look_back<<<n, 32>>>(zeros<unsigned long long>(n), zeros<int>(n)); }},
        {"right", "fenced_look_back", [](int n) { fenced_look_back<<<n, 32>>>(zeros<int>(n), zeros<int>(n)); }},
        {"race", "look_back_no_fence", [](int n) { look_back_no_fence<<<n, 32>>>(zeros<int>(n), zeros<int>(n)); }},
        {"right", "progress", FLAG(progress)},
        {"right", "turn_about", [](int) { turn_about<<<1, 64>>>(zeros<int>(1), zeros<int>(1)); }},
        {"race", "turn_about_no_fence", [](int) { turn_about_no_fence<<<1, 64>>>(zeros<int>(1), zeros<int>(1)); }},
        {"right", "petersons_lock", ON(petersons_lock, 2, 32, 4)},
        {"race", "petersons_lock_no_fence", ON(petersons_lock_no_fence, 2, 32, 4)},
        {"right", "atomic_flag_right", FLAG(atomic_flag_right)},
        {"race", "atomic_flag_no_fence", FLAG(atomic_flag_no_fence)},
        {"race", "atomic_flag_block_scope", FLAG(atomic_flag_block_scope)},
        {"race", "counter_block_scope", ON(counter_block_scope, 3, 32, 1)},
        {"right", "counter_one_block", ON(counter_one_block, 1, 96, 1)},
        {"race", "counter_two_scopes", ON(counter_two_scopes, 2, 1, 1)},
        {"right", "counter_block_of_own", ON(counter_block_of_own, 3, 32, 3)},
        {"race", "max_block_scope", ON(max_block_scope, 2, 32, 1)},
        {"race", "other_fences", [](int) { other_fences<<<2, 96>>>(zeros<int>(1), zeros<int>(1), zeros<int>(2)); }},
        {"right", "lock_right", ON(lock_right, 4, 64, 1)},
        {"right", "lock_volatile_right", ON(lock_volatile_right, 4, 64, 1)},
        {"race", "lock_no_fence_entering", ON(lock_no_fence_entering, 2, 64, 1)},
        {"race", "lock_no_fence_leaving", ON(lock_no_fence_leaving, 2, 64, 1)},
        {"race", "lock_first_enters_unfenced", ON(lock_first_enters_unfenced, 2, 32, 1)},
        {"race", "lock_last_leaves_unfenced", ON(lock_last_leaves_unfenced, 2, 32, 1)},
        {"race", "lock_block_fences", ON(lock_block_fences, 2, 32, 1)},
        {"race", "lock_block_scope", ON(lock_block_scope, 2, 32, 1)},
        {"right", "lock_block_scope_in_block", ON(lock_block_scope_in_block, 1, 128, 1)},
        {"race", "lock_two_locks", ON(lock_two_locks, 4, 32, 1)},
        {"race", "lock_read_outside", [](int) { lock_read_outside<<<4, 32>>>(zeros<int>(1), zeros<int>(4)); }},
        {"right", "lock_by_exchange", ON(lock_by_exchange, 3, 64, 1)},
        {"right", "lock_freed_by_store", [](int) { lock_freed_by_store<<<3, 64>>>(zeros<int>(1), zeros<int>(1)); }},
        {"right", "ticket_right", [](int) { ticket_right<<<8, 32>>>(zeros<int>(8), zeros<int>(1)); }},
        {"race", "ticket_no_fence", [](int) { ticket_no_fence<<<8, 32>>>(zeros<int>(8), zeros<int>(1)); }},
        {"race", "ticket_block_fence", [](int) { ticket_block_fence<<<8, 32>>>(zeros<int>(8), zeros<int>(1)); }},
        {"race", "ticket_early_fence", [](int) { ticket_early_fence<<<8, 32>>>(zeros<int>(8), zeros<int>(1)); }},
        {"race", "ticket_before_barrier",
         [](int) { ticket_before_barrier<<<4, 64>>>(zeros<int>(256), zeros<int>(1)); }},
        {"right", "ticket_each_fences", [](int) { ticket_each_fences<<<4, 64>>>(zeros<int>(256), zeros<int>(1)); }},
    };
    return choose(cases, argc, argv);
}
