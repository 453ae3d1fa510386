// dependent_launch.cu - labelled kernels: programmatic dependent launch. A secondary kernel may start as soon as
// all blocks of its primary have triggered or ended. A thread is ordered after the primary once its own
// cudaGridDependencySynchronize() returns; the trigger publishes nothing, and neither does a primary that ends
// without one. Barriers, fences and flags order the rest, as within one kernel.
// Needs compute capability 9.0. One kernel is labelled NOTE. It is the third in a chain and waits for the second,
// but no thread of the second waits for the first. NVIDIA's documents do not say whether it is ordered after the
// first.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

#define ID int(blockIdx.x * blockDim.x + threadIdx.x)
constexpr int threads = 64;
int blocks(int n) { return n / threads + 2; }

// Launches `kernel` so that it may start before the kernel ahead of it in the stream has ended.
template <class... P, class... A>
void launch_early(void (*kernel)(P...), int n, A... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks(n));
    config.blockDim = dim3(threads);
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, kernel, arguments...) != cudaSuccess) exit(4);
}

// ---- primaries ---------------

__global__ void fill(int* a) {
    a[ID] = ID + 1;
    cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void fill_late(int* a) {
    cudaTriggerProgrammaticLaunchCompletion();
    a[ID] = ID + 1;
}
__global__ void fill_no_trigger(int* a) { a[ID] = ID + 1; }
__global__ void fill_after_wait(int* a) {  // its wait has no effect on the secondary
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    a[ID] = ID + 1;
}
__global__ void double_into(const int* a, int* out) {
    cudaTriggerProgrammaticLaunchCompletion();
    out[ID] = 2 * a[ID];
}
__global__ void count(int* counter) {
    cudaTriggerProgrammaticLaunchCompletion();
    atomicAdd(counter, 1);
}
__device__ int total;
__global__ void count_in_variable() {
    cudaTriggerProgrammaticLaunchCompletion();
    atomicAdd(&total, 1);
}
template <bool Fence>
__global__ void fill_and_flag(int* a, volatile int* flags) {  // a flag for each thread
    cudaTriggerProgrammaticLaunchCompletion();
    a[ID] = ID + 1;
    if (Fence) __threadfence();
    flags[ID] = 1;
}
template <bool Wait>
__global__ void fill_and_flag_block(int* a, volatile int* flags) {  // a flag for each block
    cudaTriggerProgrammaticLaunchCompletion();
    a[ID] = ID + 1;
    if (Wait) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
__global__ void publish_in_one_word(volatile int* words) {
    cudaTriggerProgrammaticLaunchCompletion();
    words[ID] = ID + 1;
}

// ---- secondaries that are wrong beside some primary ---------------

__global__ void copy(const int* a, int* out) {
    out[ID] = a[ID] + 1;  // RACE no_wait no_trigger_no_wait trigger_before_write_no_wait primary_waits_instead
}
__global__ void read_before_wait(const int* a, int* out) {
    const int mine = a[ID];  // RACE read_before_wait
    cudaGridDependencySynchronize();
    out[ID] = mine;
}
__global__ void overwrite_input(int* a) {
    a[ID] = -ID;  // RACE overwrites_input
    cudaGridDependencySynchronize();
}
__global__ void overwrite_output(int* out) {
    out[ID] = -ID;  // RACE overwrites_output
    cudaGridDependencySynchronize();
    out[ID] += 1;
}
__global__ void one_thread_waits(const int* a, int* out) {
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    out[ID] = a[ID];  // RACE one_thread_waits
}
__global__ void one_warp_waits(const int* a, int* out) {
    if (threadIdx.x < 32) cudaGridDependencySynchronize();
    __syncwarp();
    out[ID] = a[ID];  // RACE one_warp_waits
}
__global__ void one_block_waits(const int* a, int* out) {
    if (blockIdx.x == 0) cudaGridDependencySynchronize();
    __syncthreads();
    out[ID] = a[ID];  // RACE one_block_waits
}
__global__ void barrier_before_wait(const int* a, int* out) {
    __syncthreads();
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    out[ID] = a[ID];  // RACE barrier_before_wait
}
__global__ void barrier_is_no_wait(const int* a, int* out) {
    __threadfence();
    __syncthreads();
    out[ID] = a[ID];  // RACE barrier_is_no_wait
}
__global__ void odd_threads_wait(const int* a, int* out) {
    if (ID % 2) cudaGridDependencySynchronize();
    out[ID] = a[ID];  // RACE odd_threads_wait
}
__global__ void waits_in_second_turn(const int* a, int* out) {
    int sum = 0;
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == 1) cudaGridDependencySynchronize();
        sum += a[ID];  // RACE waits_in_second_turn
    }
    out[ID] = sum;
}
__global__ void counter_read_plainly(const int* counter, int* out) {
    out[ID] = *counter;  // RACE counter_read_plainly
}
__global__ void counter_reset_early(int* counter) {
    if (ID == 0) *counter = 0;  // RACE counter_reset_early
    cudaGridDependencySynchronize();
}
__global__ void adds_early(int* a) {
    atomicAdd(a + ID, 1);  // RACE adds_early
    cudaGridDependencySynchronize();
}
__global__ void variable_read_early(int* out) {
    out[ID] = total;  // RACE variable_read_early
    cudaGridDependencySynchronize();
}
__device__ void load_tile(int* tile, const int* a) {
    tile[threadIdx.x] = a[ID];  // RACE tile_loaded_early
}
template <bool Early>
__global__ void reverse_tile(const int* a, int* out) {
    __shared__ int tile[threads];
    if (Early) load_tile(tile, a);
    cudaGridDependencySynchronize();
    if (!Early) load_tile(tile, a);
    __syncthreads();
    out[ID] = tile[threads - 1 - threadIdx.x];
}
template <bool Fence>
__device__ void copy_when_flagged(const int* a, volatile int* flags, int* out) {
    if (!wait_for(flags + ID, 1)) return;
    if (Fence) __threadfence();
    out[ID] = a[ID];  // RACE flag_without_release flag_without_acquire
}
__global__ void wait_for_flag(const int* a, volatile int* f, int* out) { copy_when_flagged<true>(a, f, out); }
__global__ void wait_without_fence(const int* a, volatile int* f, int* out) { copy_when_flagged<false>(a, f, out); }
__global__ void wait_for_block_flag(const int* a, volatile int* flags, int* out) {
    if (!wait_for(flags + blockIdx.x, 1)) return;
    __threadfence();
    out[ID] = a[ID];  // RACE flag_of_one_thread
}
template <int Overlap>
__global__ void write_second_half(int* out, int half) {
    out[half + ID - Overlap] = ID + 7;  // RACE slices_overlap
    cudaGridDependencySynchronize();
}

// ---- secondaries that are right ---------------

__global__ void wait_and_copy(const int* a, int* out) {
    cudaGridDependencySynchronize();
    out[ID] = a[ID] + 1;
}
__global__ void wait_twice(const int* a, int* out) {
    cudaGridDependencySynchronize();
    const int mine = a[ID];
    cudaGridDependencySynchronize();
    out[ID] = mine + a[ID];
}
__device__ void wait_in_helper() { cudaGridDependencySynchronize(); }
__global__ void helper_waits(const int* a, int* out) {
    wait_in_helper();
    out[ID] = a[ID];
}
__global__ void thread_waits_for_block(const int* a, int* out) {
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    __syncthreads();
    out[ID] = a[ID];
}
__global__ void warp_waits_for_block(const int* a, int* out) {
    if (threadIdx.x < 32) cudaGridDependencySynchronize();
    __syncthreads();
    out[ID] = a[ID];
}
__global__ void lane_waits_for_warp(const int* a, int* out) {
    if (threadIdx.x % 32 == 0) cudaGridDependencySynchronize();
    __syncwarp();
    out[ID] = a[ID];
}
__global__ void thread_waits_and_flags(const int* a, int* out) {
    __shared__ volatile int waited;
    if (threadIdx.x == 0) waited = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        cudaGridDependencySynchronize();
        __threadfence_block();
        waited = 1;
    } else if (threadIdx.x >= 32 && wait_for(&waited, 1)) {
        __threadfence_block();
        out[ID] = a[ID];
    }
}
__global__ void constants_early(const int* constants, const int* a, int* out) {
    __shared__ int tile[threads];
    tile[threadIdx.x] = constants[ID];
    __syncthreads();
    const int other = tile[threads - 1 - threadIdx.x];
    cudaGridDependencySynchronize();
    out[ID] = a[ID] + other;
}
__global__ void own_buffer_early(int* own, const int* a, int* out) {
    own[ID] = 3 * ID;
    cudaGridDependencySynchronize();
    out[ID] = own[ID] + a[ID];
}
__global__ void both_only_read(const int* a, int* out) { out[ID] = a[ID]; }
__global__ void count_too(int* counter) { atomicAdd(counter, 2); }
__global__ void progress_by_atomic(int* counter, int* out) { out[ID] = atomicAdd(counter, 0); }
__global__ void take_from_one_word(volatile int* words, int* out) {
    if (wait_for(words + ID, ID + 1)) out[ID] = words[ID];
}

// ---- three kernels ---------------

template <bool Wait>
__global__ void step(const int* from, int* to) {
    cudaTriggerProgrammaticLaunchCompletion();
    if (Wait) cudaGridDependencySynchronize();
    to[ID] = from[ID] + 1;  // RACE middle_reads_early
}
__global__ void step_in_one_thread(const int* from, int* to) {  // only the thread that waits reads
    cudaTriggerProgrammaticLaunchCompletion();
    if (ID == 0) {
        cudaGridDependencySynchronize();
        to[0] = from[0] + 1;
    }
}
__global__ void refill_early(int* a) {
    a[ID] = -ID;  // RACE third_refills_early
    cudaGridDependencySynchronize();
}
__global__ void unrelated(int* own) {
    cudaTriggerProgrammaticLaunchCompletion();
    own[ID] = ID;
}
__global__ void third_reads_both(const int* a, const int* b, int* out) {
    cudaGridDependencySynchronize();
    out[ID] = a[ID] + b[ID];  // EQUAL middle_does_not_wait
}
__global__ void wait_for_all_and_copy(const int* a, const int* b, int* out) {
    cudaGridDependencySynchronize();
    out[ID] = a[ID] + b[ID];
}
__global__ void read_first_early(const int* a, int* out) {  // the second kernel has triggered before it waited
    out[ID] = a[ID];                                        // RACE third_reads_first_early
    cudaGridDependencySynchronize();
}

int main(int argc, char** argv) {
#define Z(n) zeros<int>(threads * blocks(n))
#define FIRST(name, ...) name<<<blocks(n), threads>>>(__VA_ARGS__)
#define NEXT(name, ...) launch_early(name, n, __VA_ARGS__)
    const Case cases[] = {
        {"race", "no_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(copy, a, out);
         }},
        {"race", "no_trigger_no_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_no_trigger, a);
             NEXT(copy, a, out);
         }},
        {"race", "trigger_before_write_no_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(copy, a, out);
         }},
        {"race", "primary_waits_instead",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_after_wait, a);
             NEXT(copy, a, out);
         }},
        {"race", "read_before_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(read_before_wait, a, out);
         }},
        {"race", "overwrites_input",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(double_into, a, out);
             NEXT(overwrite_input, a);
         }},
        {"race", "overwrites_output",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(double_into, a, out);
             NEXT(overwrite_output, out);
         }},
        {"race", "one_thread_waits",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(one_thread_waits, a, out);
         }},
        {"race", "one_warp_waits",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(one_warp_waits, a, out);
         }},
        {"race", "one_block_waits",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(one_block_waits, a, out);
         }},
        {"race", "barrier_before_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(barrier_before_wait, a, out);
         }},
        {"race", "barrier_is_no_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(barrier_is_no_wait, a, out);
         }},
        {"race", "odd_threads_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(odd_threads_wait, a, out);
         }},
        {"race", "waits_in_second_turn",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(waits_in_second_turn, a, out);
         }},
        {"race", "counter_read_plainly",
         [](int n) {
             int *counter = Z(n), *out = Z(n);
             FIRST(count, counter);
             NEXT(counter_read_plainly, counter, out);
         }},
        {"race", "counter_reset_early",
         [](int n) {
             int* counter = Z(n);
             FIRST(count, counter);
             NEXT(counter_reset_early, counter);
         }},
        {"race", "adds_early",
         [](int n) {
             int* a = Z(n);
             FIRST(fill_late, a);
             NEXT(adds_early, a);
         }},
        {"race", "variable_read_early",
         [](int n) {
             int* out = Z(n);
             FIRST(count_in_variable);
             NEXT(variable_read_early, out);
         }},
        {"race", "tile_loaded_early",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(reverse_tile<true>, a, out);
         }},
        {"race", "flag_without_release",
         [](int n) {
             int *a = Z(n), *flags = Z(n), *out = Z(n);
             FIRST(fill_and_flag<false>, a, flags);
             NEXT(wait_for_flag, a, flags, out);
         }},
        {"race", "flag_without_acquire",
         [](int n) {
             int *a = Z(n), *flags = Z(n), *out = Z(n);
             FIRST(fill_and_flag<true>, a, flags);
             NEXT(wait_without_fence, a, flags, out);
         }},
        {"race", "flag_of_one_thread",
         [](int n) {
             int *a = Z(n), *flags = Z(n), *out = Z(n);
             FIRST(fill_and_flag_block<false>, a, flags);
             NEXT(wait_for_block_flag, a, flags, out);
         }},
        {"race", "slices_overlap",
         [](int n) {
             int *a = Z(n), *out = Z(2 * n + 2 * threads);
             FIRST(double_into, a, out);
             NEXT(write_second_half<1>, out, blocks(n) * threads);
         }},
        {"race", "middle_reads_early",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(step<false>, a, b);
             NEXT(wait_and_copy, b, out);
         }},
        {"race", "third_refills_early",
         [](int n) {
             int *a = Z(n), *b = Z(n);
             FIRST(fill, a);
             NEXT(step<true>, a, b);
             NEXT(refill_early, a);
         }},
        {"race", "third_reads_first_early",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(step<true>, a, b);
             NEXT(read_first_early, a, out);
         }},
        {"note", "middle_does_not_wait",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(unrelated, b);
             NEXT(third_reads_both, a, b, out);
         }},
        {"right", "every_thread_waits",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill, a);
             NEXT(wait_and_copy, a, out);
         }},
        {"right", "trigger_before_write_and_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(wait_and_copy, a, out);
         }},
        {"right", "no_trigger_and_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_no_trigger, a);
             NEXT(wait_and_copy, a, out);
         }},
        {"right", "waits_twice",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(wait_twice, a, out);
         }},
        {"right", "waits_in_a_helper",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(helper_waits, a, out);
         }},
        {"right", "thread_waits_then_barrier",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(thread_waits_for_block, a, out);
         }},
        {"right", "warp_waits_then_barrier",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(warp_waits_for_block, a, out);
         }},
        {"right", "lane_waits_then_warp_barrier",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(lane_waits_for_warp, a, out);
         }},
        {"right", "thread_waits_then_flag",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(thread_waits_and_flags, a, out);
         }},
        {"right", "reads_constants_early",
         [](int n) {
             int *constants = Z(n), *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(constants_early, constants, a, out);
         }},
        {"right", "fills_its_own_buffer_early",
         [](int n) {
             int *own = Z(n), *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(own_buffer_early, own, a, out);
         }},
        {"right", "tile_loaded_after_wait",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(reverse_tile<false>, a, out);
         }},
        {"right", "different_buffers",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(copy, b, out);
         }},
        {"right", "slices_apart",
         [](int n) {
             int *a = Z(n), *out = Z(2 * n + 2 * threads);
             FIRST(double_into, a, out);
             NEXT(write_second_half<0>, out, blocks(n) * threads);
         }},
        {"right", "both_only_read",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(double_into, a, b);
             NEXT(both_only_read, a, out);
         }},
        {"right", "both_add_by_atomics",
         [](int n) {
             int* counter = Z(n);
             FIRST(count, counter);
             NEXT(count_too, counter);
         }},
        {"right", "progress_read_by_atomic",
         [](int n) {
             int *counter = Z(n), *out = Z(n);
             FIRST(count, counter);
             NEXT(progress_by_atomic, counter, out);
         }},
        {"right", "flag_with_fences",
         [](int n) {
             int *a = Z(n), *flags = Z(n), *out = Z(n);
             FIRST(fill_and_flag<true>, a, flags);
             NEXT(wait_for_flag, a, flags, out);
         }},
        {"right", "flag_of_a_block",
         [](int n) {
             int *a = Z(n), *flags = Z(n), *out = Z(n);
             FIRST(fill_and_flag_block<true>, a, flags);
             NEXT(wait_for_block_flag, a, flags, out);
         }},
        {"right", "value_is_the_flag",
         [](int n) {
             int *words = Z(n), *out = Z(n);
             FIRST(publish_in_one_word, words);
             NEXT(take_from_one_word, words, out);
         }},
        {"right", "ordinary_launch",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             FIRST(copy, a, out);
         }},
        {"right", "host_waits_between",
         [](int n) {
             int *a = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             cudaDeviceSynchronize();
             NEXT(copy, a, out);
         }},
        {"right", "ordinary_third",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(unrelated, b);
             FIRST(wait_for_all_and_copy, a, b, out);
         }},
        {"right", "host_reads_at_the_end",
         [](int n) {
             int *a = Z(n), *b = Z(n), last = 0;
             FIRST(fill_late, a);
             NEXT(unrelated, b);
             cudaMemcpy(&last, a + n, sizeof last, cudaMemcpyDeviceToHost);
             if (last != n + 1) exit(4);
         }},
        {"right", "chain_of_three",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(step<true>, a, b);
             NEXT(wait_for_all_and_copy, a, b, out);
         }},
        {"right", "one_thread_of_the_middle_waits",
         [](int n) {
             int *a = Z(n), *b = Z(n), *out = Z(n);
             FIRST(fill_late, a);
             NEXT(step_in_one_thread, a, b);
             NEXT(wait_for_all_and_copy, a, b, out);
         }},
        {"right", "two_buffers_in_turn",
         [](int n) {
             int *a = Z(n), *b = Z(n);
             FIRST(fill_late, a);
             for (int turn = 0; turn < 2; ++turn) {
                 NEXT(step<true>, a, b);
                 NEXT(step<true>, b, a);
             }
         }},
    };
    return choose(cases, argc, argv);
}
