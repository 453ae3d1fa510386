// blocks.cu - labelled kernels: shared memory, warps, barriers, and what looks odd within a block.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include <cooperative_groups.h>

#include "labelled.cuh"

namespace cg = cooperative_groups;

__global__ void reverse(int* out, bool wait) {
    __shared__ int a[64];
    a[threadIdx.x] = int(threadIdx.x);  // RACE reverse_no_barrier
    if (wait) __syncthreads();
    out[threadIdx.x] = a[63 - threadIdx.x];  // RACE reverse_no_barrier
}
__global__ void tree(const int* in, int n, int* out) {
    __shared__ int a[128];
    const int t = int(threadIdx.x);
    a[t] = t < n ? in[t] : 0;
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) a[t] += a[t + d];
    }
    if (t == 0) *out = a[0];
}
__global__ void tree_no_barrier(const int* in, int n, int* out) {
    __shared__ int a[128];
    const int t = int(threadIdx.x);
    a[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2)
        if (t < d) a[t] += a[t + d];  // RACE tree_no_barrier
    if (t == 0) *out = a[0];
}
__global__ void warp_volatile(const int* in, int n, int* out) {  // since a warp runs in step, it was once said
    __shared__ volatile int a[64];
    const int t = int(threadIdx.x);
    a[t] = t < n ? in[t] : 0;
    __syncthreads();
    if (t < 32) {
        a[t] += a[t + 32];  // RACE warp_volatile
        a[t] += a[t + 16];  // RACE warp_volatile
        a[t] += a[t + 8];   // RACE warp_volatile
        a[t] += a[t + 4];   // RACE warp_volatile
        a[t] += a[t + 2];   // RACE warp_volatile
        a[t] += a[t + 1];   // RACE warp_volatile
    }
    if (t == 0) *out = a[0];
}
__global__ void warp_step(int* out, bool wait) {
    __shared__ int a[32];
    const int t = int(threadIdx.x);
    a[t] = t;  // RACE warp_step_unsynchronised
    if (wait) __syncwarp();
    out[t] = a[(t + 1) % 32];  // RACE warp_step_unsynchronised
}
__global__ void warp_halves(int* out) {  // two halves of a warp synchronise each for itself
    __shared__ int a[32];
    const int t = int(threadIdx.x), half = t / 16;
    a[t] = t;  // RACE warp_halves
    __syncwarp(half ? 0xffff0000u : 0x0000ffffu);
    out[t] = a[(t + 8) % 32];  // RACE warp_halves
}
__global__ void warp_halves_right(int* out) {
    __shared__ int a[32];
    const int t = int(threadIdx.x), half = t / 16;
    a[t] = t;
    __syncwarp(half ? 0xffff0000u : 0x0000ffffu);
    out[t] = a[16 * half + (t + 8) % 16];
}
__global__ void shuffle_is_no_barrier(int* out) {
    __shared__ int a[32];
    const int t = int(threadIdx.x);
    a[t] = t;  // RACE shuffle_is_no_barrier
    const int x = __shfl_sync(0xffffffff, t, 0);
    out[t] = a[31 - t] + x;  // RACE shuffle_is_no_barrier
}
__global__ void shuffle_sum(const int* in, int n, int* out) {
    const int t = int(threadIdx.x);
    int x = t < n ? in[t] : 0;
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (t % 32 == 0) atomicAdd(out, x);
}
__global__ void two_buffers(int* out) {
    __shared__ int a[2][64];
    const int t = int(threadIdx.x);
    int from = 0;
    a[0][t] = t;
    for (int d = 1; d < 64; d *= 2, from = 1 - from) {
        __syncthreads();
        a[1 - from][t] = a[from][t] + (t >= d ? a[from][t - d] : 0);
    }
    __syncthreads();
    out[t] = a[from][63 - t];
}
__global__ void one_buffer(int* out) {
    __shared__ int a[64];
    const int t = int(threadIdx.x);
    a[t] = t;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        const int x = t >= d ? a[t - d] : 0;  // RACE one_buffer
        a[t] += x;                            // RACE one_buffer
        __syncthreads();
    }
    out[t] = a[t];
}
__global__ void tile_again(const int* in, int n, int* out, bool wait) {
    __shared__ int tile[64];
    const int t = int(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < n; i += 64) {
        tile[t] = i + t < n ? in[i + t] : 0;  // RACE tile_no_second_barrier
        __syncthreads();
        sum += tile[63 - t];  // RACE tile_no_second_barrier
        if (wait) __syncthreads();
    }
    out[t] = sum;
}
__global__ void stencil_in_place(int* a, int n) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i > 0 && i < n - 1) a[i] = a[i - 1] + a[i + 1] + 1;  // RACE stencil_in_place
}
__global__ void stencil(const int* a, int* b, int n) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
}
__global__ void early_exit(int* out, int n) {
    __shared__ int a[128];
    const int t = int(threadIdx.x);
    if (t >= n) return;
    a[t] = t;
    __syncthreads();
    out[t] = a[n < 128 ? n - 1 - t : 127 - t];
}
__global__ void shared_histogram(const int* in, int n, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) atomicAdd(bins + in[i] % 8, 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
__global__ void shared_histogram_lost(const int* in, int n, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) ++bins[in[i] % 8];  // RACE shared_histogram_lost
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
__global__ void histogram_not_zeroed_in_time(const int* in, int n, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;  // RACE histogram_not_zeroed_in_time
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        atomicAdd(bins + in[i] % 8, 1);  // RACE histogram_not_zeroed_in_time
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
__global__ void same_value(int* found) {
    if (threadIdx.x % 3 == 0) *found = 1;  // EQUAL same_value
}
__global__ void same_value_in_block(int* out) {
    __shared__ int any;
    any = 0;  // EQUAL same_value_in_block
    __syncthreads();
    if (threadIdx.x > 7) any = 1;  // EQUAL same_value_in_block
    __syncthreads();
    out[threadIdx.x] = any;
}
__global__ void other_value(int* found) {
    if (threadIdx.x % 32 == 0) *found = int(threadIdx.x);  // RACE other_value
}
__global__ void counter_read_early(int* count, int* out, int n) {
    if (*count < n / 2) out[threadIdx.x] = 1;  // RACE counter_read_early
    atomicAdd(count, 1);                       // RACE counter_read_early
}
__global__ void reset_beside_atomics(int* count) {
    if (threadIdx.x == 0) *count = 0;  // RACE reset_beside_atomics
    atomicAdd(count, 1);               // RACE reset_beside_atomics
}
__global__ void cas_loop(float* p) { max_by_cas(p, float(blockIdx.x * blockDim.x + threadIdx.x)); }
__global__ void cas_of_one(float* p, unsigned one) {  // all others only look
    if (threadIdx.x % 32 == 0) max_by_cas(p, blockIdx.x == one && threadIdx.x == 64);
}
__global__ void dropped_exchange(int* p) { atomicExch(p, int(threadIdx.x)); }
__global__ void new_and_delete(int* out) {
    int* const mine = new int[4];
    for (int i = 0; i < 4; ++i) mine[i] = int(threadIdx.x) + i;
    out[threadIdx.x] = mine[3];
    delete[] mine;
}
__global__ void tiles_of_a_group(int* out) {
    __shared__ int a[64];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int* const mine = a + 16 * (threadIdx.x / 16);
    const int i = int(tile.thread_rank());
    mine[i] = 1;
    for (int d = 8; d > 0; d /= 2) {
        tile.sync();
        if (i < d) mine[i] += mine[i + d];
    }
    if (i == 0) atomicAdd(out, mine[0]);
}
__global__ void group_barrier(int* out) {
    __shared__ int a[96];
    const cg::thread_block block = cg::this_thread_block();
    a[threadIdx.x] = int(threadIdx.x);
    block.sync();
    out[threadIdx.x] = a[95 - threadIdx.x];
}
__global__ void half_barrier(int* out, int n) {  // only some pass the barrier between
    __shared__ int a[64];
    const int t = int(threadIdx.x);
    if (t == 0) a[0] = n;  // RACE half_barrier
    for (int i = 0; i < 2; ++i) {
        if (i == 1) __syncthreads();
        if (i == 0 && t >= 32) out[t] = a[0];  // RACE half_barrier
    }
}
__global__ void bytes_of_a_word(unsigned char* p) { p[threadIdx.x] = (unsigned char)threadIdx.x; }
struct Pixel {
    short x, y;
    int z;
};
__global__ void fields_of_a_struct(Pixel* p) {
    if (threadIdx.x == 0) p->x = 1;
    if (threadIdx.x == 32) p->y = 2;
    if (threadIdx.x == 64) p->z = 3;
}
__global__ void struct_and_field(Pixel* p, Pixel* out) {
    if (threadIdx.x == 0) p->y = 7;    // RACE struct_and_field
    if (threadIdx.x == 32) *out = *p;  // RACE struct_and_field
}
__global__ void overlapping_blocks(int* out) {
    out[blockIdx.x * (blockDim.x - 1) + threadIdx.x] = int(blockIdx.x);  // RACE overlapping_blocks
}
__global__ void producer_warp(const int* in, int* out) {
    __shared__ int buffer[2][32];
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int i = 0; i <= 8; ++i) {
        if (threadIdx.x < 32 && i < 8) buffer[i % 2][lane] = in[32 * i + lane];
        if (threadIdx.x >= 32 && i > 0) sum += buffer[(i - 1) % 2][31 - lane];
        __syncthreads();
    }
    if (threadIdx.x >= 32) atomicAdd(out, sum);
}
__global__ void producer_warp_one_buffer(const int* in, int* out) {
    __shared__ int buffer[32];
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int i = 0; i <= 8; ++i) {
        if (threadIdx.x < 32 && i < 8) buffer[lane] = in[32 * i + lane] + i;  // RACE producer_warp_one_buffer
        if (threadIdx.x >= 32 && i > 0) sum += buffer[31 - lane];             // RACE producer_warp_one_buffer
        __syncthreads();
    }
    if (threadIdx.x >= 32) atomicAdd(out, sum);
}
__global__ void flag_in_shared(int* out) {  // between warps
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 5;
        __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 32 && wait_for(&ready, 1)) {
        __threadfence_block();
        *out = data;
    }
}
__global__ void flag_in_shared_no_fence(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 5;  // RACE flag_in_shared_no_fence
        ready = 1;
    } else if (threadIdx.x == 32 && wait_for(&ready, 1)) {
        *out = data;  // RACE flag_in_shared_no_fence
    }
}
__global__ void local_array(int* out, int n) {
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = i;
    out[threadIdx.x] = mine[threadIdx.x % 8] + n;
}
__global__ void past_local_array(int* out, int n) {
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = i * n;
    mine[(threadIdx.x + n) % 9] = n;  // BOUNDS gcc past_local_array
    out[threadIdx.x] = mine[threadIdx.x % 8];
}
__global__ void rows_as_one(int* out) {  // a matrix used as one row
    __shared__ int m[8][8];
    m[0][threadIdx.x] = int(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = m[threadIdx.x % 8][threadIdx.x / 8];
}
__global__ void one_round_too_many(const int* a, int n, int* out) {
    int window[8];
    const int i = int(threadIdx.x);
    for (int k = 0; k <= 8; ++k) window[k] = a[(i + k) % n];  // BOUNDS one_round_too_many
    int best = 0;
    for (int k = 0; k < 8; ++k) best = max(best, window[(k * 5 + i) % 8]);
    out[i] = best;
}
__device__ int first_table[4], second_table[64];
__global__ void past_a_table(int* out) {
    out[threadIdx.x] = first_table[threadIdx.x % 5] + second_table[threadIdx.x];  // BOUNDS past_a_table
}
__global__ void past_the_end(int* a) {
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // BOUNDS past_the_end
}
__global__ void past_shared(int* out) {
    __shared__ int a[64];
    a[threadIdx.x + 1] = 1;  // BOUNDS past_shared
    __syncthreads();
    out[threadIdx.x] = a[63];
}
__global__ void before_the_start(const int* a, int* out, int n) {
    const int i = int(threadIdx.x);
    if (i < n) out[i] = a[i - 1];  // BOUNDS before_the_start
}
__global__ void past_the_end_and_race(const int* in, int n, int* sum) {  // the race comes behind the access
    int x = 0;
    for (int i = int(threadIdx.x); i <= n; i += int(blockDim.x)) x += in[i];
    *sum += x + int(threadIdx.x);  // RACE past_the_end_and_race
}
__global__ void past_the_end_far(int* a, int n, int* sum) {
    a[int(threadIdx.x) * n] = 1;
    *sum += int(threadIdx.x);  // RACE past_the_end_far
}

int main(int argc, char** argv) {
#define OUT(name, ...) [](int) { name<<<1, 64>>>(__VA_ARGS__); }
    const Case cases[] = {
        {"right", "reverse", OUT(reverse, zeros<int>(64), true)},
        {"race", "reverse_no_barrier", OUT(reverse, zeros<int>(64), false)},
        {"right", "tree", [](int n) { tree<<<1, 128>>>(zeros<int>(n), n, zeros<int>(1)); }},
        {"race", "tree_no_barrier", [](int n) { tree_no_barrier<<<1, 128>>>(zeros<int>(n), n, zeros<int>(1)); }},
        {"race", "warp_volatile", [](int n) { warp_volatile<<<1, 64>>>(zeros<int>(n), n, zeros<int>(1)); }},
        {"right", "warp_step", [](int) { warp_step<<<1, 32>>>(zeros<int>(32), true); }},
        {"race", "warp_step_unsynchronised", [](int) { warp_step<<<1, 32>>>(zeros<int>(32), false); }},
        {"race", "warp_halves", [](int) { warp_halves<<<1, 32>>>(zeros<int>(32)); }},
        {"right", "warp_halves_right", [](int) { warp_halves_right<<<1, 32>>>(zeros<int>(32)); }},
        {"race", "shuffle_is_no_barrier", [](int) { shuffle_is_no_barrier<<<1, 32>>>(zeros<int>(32)); }},
        {"right", "shuffle_sum", [](int n) { shuffle_sum<<<1, 64>>>(zeros<int>(n), n, zeros<int>(1)); }},
        {"right", "two_buffers", OUT(two_buffers, zeros<int>(64))},
        {"race", "one_buffer", OUT(one_buffer, zeros<int>(64))},
        {"right", "tile_again", [](int n) { tile_again<<<1, 64>>>(zeros<int>(n), n, zeros<int>(64), true); }},
        {"race", "tile_no_second_barrier",
         [](int n) { tile_again<<<1, 64>>>(zeros<int>(n + 64), n + 64, zeros<int>(64), false); }},
        {"race", "stencil_in_place", [](int n) { stencil_in_place<<<n / 64 + 1, 64>>>(zeros<int>(n), n); }},
        {"right", "stencil", [](int n) { stencil<<<n / 64 + 1, 64>>>(zeros<int>(n), zeros<int>(n), n); }},
        {"right", "early_exit", [](int n) { early_exit<<<1, 128>>>(zeros<int>(128), n); }},
        {"right", "shared_histogram", [](int n) { shared_histogram<<<2, 64>>>(zeros<int>(n), n, zeros<int>(8)); }},
        {"race", "shared_histogram_lost",
         [](int n) { shared_histogram_lost<<<1, 64>>>(zeros<int>(n), n, zeros<int>(8)); }},
        {"race", "histogram_not_zeroed_in_time",
         [](int n) { histogram_not_zeroed_in_time<<<1, 128>>>(zeros<int>(n + 64), n + 64, zeros<int>(8)); }},
        {"equal", "same_value", [](int) { same_value<<<2, 32>>>(zeros<int>(1)); }},
        {"equal", "same_value_in_block", OUT(same_value_in_block, zeros<int>(64))},
        {"race", "other_value", OUT(other_value, zeros<int>(1))},
        {"race", "counter_read_early",
         [](int n) { counter_read_early<<<1, 64>>>(zeros<int>(1), zeros<int>(64), n); }},
        {"race", "reset_beside_atomics", OUT(reset_beside_atomics, zeros<int>(1))},
        {"right", "cas_of_one", [](int n) { cas_of_one<<<5, 96>>>(zeros<float>(1), unsigned(n) % 5); }},
        {"right", "cas_loop", [](int) { cas_loop<<<4, 64>>>(zeros<float>(1)); }},
        {"right", "dropped_exchange",
         [](int) {
             int* p;
             cudaMalloc((void**)&p, sizeof *p);
             dropped_exchange<<<2, 32>>>(p);
         }},
        {"right", "new_and_delete", OUT(new_and_delete, zeros<int>(64))},
        {"right", "tiles_of_a_group", OUT(tiles_of_a_group, zeros<int>(1))},
        {"right", "group_barrier", [](int) { group_barrier<<<1, 96>>>(zeros<int>(96)); }},
        {"race", "half_barrier", [](int n) { half_barrier<<<1, 64>>>(zeros<int>(64), n); }},
        {"right", "bytes_of_a_word", OUT(bytes_of_a_word, zeros<unsigned char>(64))},
        {"right", "fields_of_a_struct", [](int) { fields_of_a_struct<<<1, 96>>>(zeros<Pixel>(1)); }},
        {"race", "struct_and_field", OUT(struct_and_field, zeros<Pixel>(1), zeros<Pixel>(1))},
        {"race", "overlapping_blocks", [](int) { overlapping_blocks<<<2, 64>>>(zeros<int>(128)); }},
        {"right", "producer_warp", OUT(producer_warp, zeros<int>(256), zeros<int>(1))},
        {"race", "producer_warp_one_buffer", OUT(producer_warp_one_buffer, zeros<int>(256), zeros<int>(1))},
        {"right", "flag_in_shared", OUT(flag_in_shared, zeros<int>(1))},
        {"race", "flag_in_shared_no_fence", OUT(flag_in_shared_no_fence, zeros<int>(1))},
        {"right", "local_array", [](int n) { local_array<<<1, 64>>>(zeros<int>(64), n); }},
        {"bounds", "past_local_array", [](int n) { past_local_array<<<1, 64>>>(zeros<int>(64), n); }},
        {"right", "rows_as_one", OUT(rows_as_one, zeros<int>(64))},
        {"bounds", "one_round_too_many",
         [](int n) { one_round_too_many<<<1, 32>>>(zeros<int>(n), n, zeros<int>(32)); }},
        {"bounds", "past_a_table", [](int) { past_a_table<<<1, 32>>>(zeros<int>(32)); }},
        {"bounds", "past_the_end", [](int n) { past_the_end<<<n / 64 + 1, 64>>>(zeros<int>(n)); }},
        {"bounds", "past_shared", OUT(past_shared, zeros<int>(64))},
        {"bounds", "before_the_start", [](int n) { before_the_start<<<1, 64>>>(zeros<int>(n), zeros<int>(n), n); }},
        {"race", "past_the_end_and_race",
         [](int n) { past_the_end_and_race<<<1, 64>>>(zeros<int>(n), n, zeros<int>(1)); }},
        {"race", "past_the_end_far", [](int n) { past_the_end_far<<<1, 64>>>(zeros<int>(n), n, zeros<int>(1)); }},
    };
    return choose(cases, argc, argv);
}
