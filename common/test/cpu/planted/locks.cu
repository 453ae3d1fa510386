// Locks and flags: who takes one needs a fence behind that, who gives it back one before.
// RUN: fix
#include "planted.cuh"

__device__ int lock_1;
__global__ void no_fences(int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_1, 0, 1) != 0) continue;
        *counter += 1;
        atomicExch(&lock_1, 0);
    }
}
PLANT(lock_without_fences) { no_fences<<<4, 32>>>(zeros(1)); }

__device__ int lock_2;
__global__ void no_release(int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_2, 0, 1) != 0) continue;
        __threadfence();
        *counter += 1;
        atomicExch(&lock_2, 0);
    }
}
PLANT(lock_without_release) { no_release<<<4, 32>>>(zeros(1)); }

__device__ int lock_3;
__global__ void no_acquire(int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_3, 0, 1) != 0) continue;
        *counter += 1;
        __threadfence();
        atomicExch(&lock_3, 0);
    }
}
PLANT(lock_without_acquire) { no_acquire<<<4, 32>>>(zeros(1)); }

__device__ int lock_4;
__global__ void plain_unlock(int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_4, 0, 1) != 0) continue;
        __threadfence();
        *counter += 1;
        lock_4 = 0;  // FIXED: __threadfence(); atomicExch(&lock_4, 0);
    }
}
PLANT(lock_given_back_plainly) { plain_unlock<<<4, 32>>>(zeros(1)); }  // SAYS: by atomicExch() after __threadfence()

__device__ int lock_5;
__global__ void try_lock(int* counter) {
    for (bool done = false; !done;) {
        if (atomicCAS(&lock_5, 0, 1) == 0) {
            *counter += threadIdx.x;
            atomicExch(&lock_5, 0);
            done = true;
        }
    }
}
PLANT(try_lock_without_fences) { try_lock<<<2, 32>>>(zeros(1)); }

__device__ int lock_6;
__device__ void take(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) continue;
}
__device__ void give(int* lock) {
    atomicExch(lock, 0);
}
__global__ void by_functions(int* counter) {
    if (threadIdx.x == 0) {
        take(&lock_6);
        *counter += 1;
        give(&lock_6);
    }
}
PLANT(lock_in_functions) { by_functions<<<4, 32>>>(zeros(1)); }

__global__ void flag_no_fence(volatile int* flag, int* data, int* out) {
    if (threadIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (!*flag) __nanosleep(1);
        *out = *data;
    }
}
PLANT(flag_without_fences) { flag_no_fence<<<1, 2>>>(zeros(1), zeros(1), zeros(1)); }

__global__ void flag_no_release(volatile int* flag, int* data, int* out) {
    if (threadIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (!*flag) __nanosleep(1);
        __threadfence();
        *out = *data;
    }
}
PLANT(flag_without_release) { flag_no_release<<<1, 2>>>(zeros(1), zeros(1), zeros(1)); }

__global__ void flag_no_acquire(volatile int* flag, int* data, int* out) {
    if (threadIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (!*flag) __nanosleep(1);
        *out = *data;
    }
}
PLANT(flag_without_acquire) { flag_no_acquire<<<1, 2>>>(zeros(1), zeros(1), zeros(1)); }

__device__ int lock_7;
__global__ void no_lock_at_all(int* counter) {
    if (threadIdx.x == 0) *counter += 1;
}
PLANT(no_lock) { no_lock_at_all<<<4, 32>>>(zeros(1)); }

__device__ int lock_8;
__global__ void lock_of_a_block(int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS_block(&lock_8, 0, 1) != 0) continue;  // FIXED: while (atomicCAS(&lock_8, 0, 1) != 0) continue;
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch_block(&lock_8, 0);  // FIXED: atomicExch(&lock_8, 0);
    }
}
PLANT(lock_of_a_block) { lock_of_a_block<<<4, 32>>>(zeros(1)); }  // SAYS: has the scope of one block

struct Lock {
    int* mutex;
    __device__ void lock() {
        while (atomicCAS(mutex, 0, 1) != 0)
            ;
    }
    __device__ void unlock() { atomicExch(mutex, 0); }
};
__global__ void by_a_struct(Lock lock, int* sum, const int* in) {
    if (threadIdx.x == 0) {
        lock.lock();
        *sum = *sum + in[blockIdx.x];
        lock.unlock();
    }
}
PLANT(lock_in_a_struct) { by_a_struct<<<4, 32>>>(Lock{zeros(1)}, zeros(1), filled(4)); }  // SAYS: put __threadfence

__device__ int lock_9;
__global__ void two_values(int* least, int* where, const int* in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool waits = true;
    while (waits) {
        if (!atomicExch(&lock_9, 1)) {
            if (in[i] < *least) {
                *least = in[i];
                *where = i;
            }
            atomicExch(&lock_9, 0);
            waits = false;
        }
    }
}
PLANT(least_and_where) { two_values<<<2, 32>>>(filled(1), zeros(1), filled(64)); }  // SAYS: put __threadfence

__global__ void stages(volatile int* ready, int* data, int* out) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) {
        data[lane] = lane * lane;
        __syncwarp();
        if (lane == 0) {
            __threadfence();
            ready[0] = 1;
        }
    } else {
        while (ready[0] == 0) __nanosleep(1);
        out[lane] = data[31 - lane];
    }
}
PLANT(two_warps) { stages<<<1, 64>>>(zeros(1), zeros(32), zeros(32)); }  // SAYS: put __threadfence

__global__ void plain_flag(int* flag, int* data, int* out) {
    if (threadIdx.x == 0) {
        *data = 7;
        __threadfence();
        *flag = 1;  // FIXED: atomicExch(flag, 1);
    } else if (threadIdx.x == 32) {
        while (*flag == 0) __nanosleep(10);  // FIXED: while (atomicAdd(flag, 0) == 0) __nanosleep(10);
        __threadfence();
        *out = *data;
    }
}
PLANT(flag_is_plain) { plain_flag<<<1, 64>>>(zeros(1), zeros(1), zeros(1)); }  // SAYS: by atomicAdd(&x, 0), not by a plain read

__global__ void lock_by_variable(int* lock, int* sum) {
    if (threadIdx.x == 0) {
        int prev = atomicCAS(lock, 0, 1);
        while (prev != 0) {
            prev = atomicCAS(lock, 0, 1);
        }
        *sum = *sum * 3 + 1;
        atomicExch(lock, 0);
    }
}
PLANT(lock_by_variable) { lock_by_variable<<<4, 32>>>(zeros(1), zeros(1)); }

__global__ void lock_by_flag(int* lock, int* sum) {
    bool done = false;
    while (!done) {
        int prev = atomicCAS(lock, 0, 1);
        if (prev == 0) {
            *sum = *sum * 3 + 1;
            atomicExch(lock, 0);
            done = true;
        }
    }
}
PLANT(lock_by_flag) { lock_by_flag<<<4, 32>>>(zeros(1), zeros(1)); }

__device__ int turns;
__global__ void lock_counted(int* lock, int* sum) {
    if (threadIdx.x) return;
    int tries = 0, got = atomicExch(lock, 1);
    while (got == 1) {
        ++tries;
        got = atomicExch(lock, 1);
    }
    *sum = *sum * 3 + 1;
    __threadfence();
    *lock = 0;  // FIXED: atomicExch(lock, 0);
    atomicAdd(&turns, tries);
}
PLANT(lock_counted) { lock_counted<<<4, 32>>>(zeros(1), zeros(1)); }

__device__ void spin_until_taken(volatile int* lock) {
    while (atomicCAS((int*)lock, 0, 1) != 0);
}
__device__ void set_free(volatile int* lock) {
    *lock = 0;
    __threadfence();
}
__global__ void fenced_too_late(int* sum, int rounds, volatile int* lock) {
    if (threadIdx.x > 3) return;
    for (int i = 0; i < rounds; ++i) {
        spin_until_taken(lock);
        *sum += 1;
        set_free(lock);
    }
}
PLANT(lock_fenced_too_late) { fenced_too_late<<<2, 32>>>(zeros(1), 2, zeros(1)); }  // SAYS: put __threadfence

__device__ void free_plainly(int* lock) { *lock = 0; }  // FIXED: __device__ void free_plainly(int* lock) { __threadfence(); atomicExch(lock, 0); }
__device__ void take_and_fence(int* lock) {
    while (atomicExch(lock, 1)) continue;
    __threadfence();
}
__global__ void freed_in_a_function(int* sum, int* lock) {
    if (threadIdx.x == 0) {
        take_and_fence(lock);
        *sum = 3 * *sum + 1;
        free_plainly(lock);
    }
}
PLANT(lock_freed_plainly) { freed_in_a_function<<<4, 32>>>(zeros(1), zeros(1)); }  // SAYS: not by a plain store cudacpu: {{[^h]}}

__global__ void volatile_lock(int* sum, volatile int* lock) {
    if (threadIdx.x == 0) {
        while (atomicCAS((int*)lock, 0, 1)) continue;
        *sum = 3 * *sum + 1;
        *lock = 0;
    }
}
PLANT(lock_is_volatile) { volatile_lock<<<4, 32>>>(zeros(1), zeros(1)); }  // SAYS: put __threadfence

__device__ void grab(int* lock) {
    while (atomicCAS(lock, 0, 1)) continue;
}
__global__ void freed_by_the_kernel(int* sum, int* lock) {
    if (threadIdx.x == 0) {
        grab(lock);
        *sum = 3 * *sum + 1;
        *lock = 0;  // FIXED: __threadfence(); atomicExch(lock, 0);
    }
}
PLANT(lock_freed_by_the_kernel) { freed_by_the_kernel<<<3, 32>>>(zeros(1), zeros(1)); }

__device__ void let_go(int* lock) { *(volatile int*)lock = 0; }
__global__ void freed_as_volatile(int* sum, int* lock) {
    if (threadIdx.x == 0) {
        grab(lock);
        *sum = 3 * *sum + 1;
        let_go(lock);
    }
}
PLANT(lock_freed_as_volatile) { freed_as_volatile<<<3, 32>>>(zeros(1), zeros(1)); }

__device__ int lock_taken_again;
__global__ void two_sections(int* sum) {
    while (atomicCAS(&lock_taken_again, 0, 1) != 0)
        __threadfence();
    sum[0] += 3;
    __threadfence();
    atomicExch(&lock_taken_again, 0);
    while (atomicCAS(&lock_taken_again, 0, 1) != 0)
        __threadfence();
    sum[0] *= 2;
    __threadfence();
    atomicExch(&lock_taken_again, 0);
}
PLANT(fence_within_the_wait) { two_sections<<<2, 1>>>(zeros(1)); }

__device__ int lock_of_both, last_seen;
__global__ void behind_the_lock(volatile int* data, int* go) {
    if (blockIdx.x == 0) {
        while (atomicCAS(&lock_of_both, 0, 1) != 0) continue;
        __threadfence();
        last_seen = data[0];
        __threadfence();
        atomicExch(&lock_of_both, 0);
        data[0] = 1;
        atomicExch(go, 1);
    } else {
        while (atomicAdd(go, 0) == 0) continue;
        while (atomicCAS(&lock_of_both, 0, 1) != 0) continue;
        __threadfence();
        last_seen = data[0];
        __threadfence();
        atomicExch(&lock_of_both, 0);
    }
}
PLANT(written_behind_the_lock) { behind_the_lock<<<2, 1>>>(zeros(1), zeros(1)); }

struct Entry { int key, count; };
__device__ Entry entries[8];
__device__ int used, slots[8];  // 0: free, -1: being filled, else the number of the entry and 1
__global__ void count_keys(const int* data) {
    const int key = data[blockIdx.x * blockDim.x + threadIdx.x] % 8;
    for (bool done = false; !done;) {
        const int slot = atomicCAS(&slots[key], 0, -1);
        if (slot == 0) {
            const int i = atomicAdd(&used, 1);
            entries[i].key = key;
            entries[i].count = 1;
            __threadfence();
            atomicExch(&slots[key], i + 1);
            done = true;
        }
        else if (slot > 0) {
            if (entries[slot - 1].key != key) __trap();
            atomicAdd(&entries[slot - 1].count, 1);
            done = true;
        }
    }
}
PLANT(published_without_acquire) { count_keys<<<8, 32>>>(filled(256)); }  // SAYS: put __threadfence() after line

__device__ int at_once[8];
__global__ void count_at_once(const int* data) {
    const int key = data[blockIdx.x * blockDim.x + threadIdx.x] % 8;
    int old = 0;
    while ((old = atomicCAS(&at_once[key], 0, -1)) < 0) continue;
    if (old == 0) {
        entries[key].count = 1;
        __threadfence();
        atomicExch(&at_once[key], 1);
    } else {
        atomicAdd(&entries[key].count, 1);
    }
}
PLANT(published_at_once) { count_at_once<<<8, 1>>>(filled(256)); }  // SAYS: put __threadfence() after line
