// patterns.cu - labelled kernels: indirect indices, queues and rings, scans and sorts, loops that end early, tiles
// and warps that share work, and a grid that reads what its other blocks write.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include <cooperative_groups.h>

#include "labelled.cuh"

namespace cg = cooperative_groups;

#define THREAD const int i = int(blockIdx.x * blockDim.x + threadIdx.x)

// ---- indices that lie in memory
__global__ void scatter(const int* index, int* out, int n) {
    THREAD;
    if (i < n) out[index[i]] = i;
}
__global__ void scatter_twice(const int* index, int* out, int n) {
    THREAD;
    if (i < n) out[index[i] / 2] = i;  // RACE scatter_twice
}
__global__ void gather_in_place(const int* index, int* a, int n) {
    THREAD;
    if (i < n) a[i] = a[index[i]] + 1;  // RACE gather_in_place
}
__global__ void swap_pairs(const int* index, int* a, int n) {  // index is its own inverse
    THREAD;
    if (i >= n || i >= index[i]) return;
    const int kept = a[i];
    a[i] = a[index[i]];
    a[index[i]] = kept;
}
__global__ void swap_both(const int* index, int* a, int n) {
    THREAD;
    if (i >= n || i == index[i]) return;
    const int kept = a[i];   // RACE swap_both
    a[i] = a[index[i]];      // RACE swap_both
    a[index[i]] = kept + 1;  // RACE swap_both
}
__global__ void insert_by_cas(const int* keys, int* table, int n) {
    THREAD;
    if (i >= n) return;
    int slot = keys[i] % (2 * n);
    while (atomicCAS(table + slot, 0, keys[i] + 1) != 0) slot = (slot + 1) % (2 * n);
}
__global__ void insert_after_a_look(const int* keys, int* table, int n) {
    THREAD;
    if (i >= n) return;
    int slot = keys[i] / 4;
    while (table[slot] != 0) slot = (slot + 1) % (2 * n);  // RACE insert_after_a_look
    table[slot] = keys[i] + 1;                             // RACE insert_after_a_look
}
__global__ void list_by_exchange(int* head, int* next, int n) {
    THREAD;
    if (i < n) next[i] = atomicExch(head, i);
}
__global__ void list_plain(int* head, int* next, int n) {
    THREAD;
    if (i >= n) return;
    next[i] = *head;  // RACE list_plain
    *head = i;        // RACE list_plain
}
__global__ void segments(const int* a, int* sum, int n, int each, bool inclusive) {
    THREAD;
    for (int k = i * each; k < n && k < (i + 1) * each + inclusive; ++k) sum[k] += a[k];  // RACE segments_inclusive
}
__global__ void short_rows(int* out, int width) {
    out[threadIdx.y * width + threadIdx.x] += threadIdx.y + 1;  // RACE short_rows
}
__global__ void stride_of_a_block(int* a, int n) {
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) a[i] += 1;  // RACE stride_of_a_block
}

// ---- counters and variables of the program
__device__ int made, lost;
__global__ void count_in_variable(int n) {
    THREAD;
    if (i < n) atomicAdd(&made, 1);
}
__global__ void lose_in_variable(int n) {
    THREAD;
    if (i < n) ++lost;  // RACE lose_in_variable
}
__global__ void found_plain(const int* a, int n, int* found, int* looked) {
    THREAD;
    if (i >= n || *found) return;  // RACE found_plain
    looked[i] = 1;
    if (a[i] >= 0) *found = 1;  // RACE found_plain
}
__global__ void byte_beside_cas(unsigned* word, int n) {
    THREAD;
    if (i >= n) return;
    if (i == 1)
        reinterpret_cast<unsigned char*>(word)[3] = 7;  // RACE byte_beside_cas
    else
        atomicOr(word, 1u << i % 8);  // RACE byte_beside_cas
}
__global__ void wide_and_narrow(float* a, float4* sums) {
    const int i = int(threadIdx.x);
    if (i % 4 == 0) sums[i / 4] = reinterpret_cast<float4*>(a)[i / 4];  // RACE gcc wide_and_narrow
    if (i % 4 == 1) a[i] = 3;                                           // RACE gcc wide_and_narrow
}

// ---- queues: a place for each warp or block is taken at once
__global__ void push_warp(const int* a, int n, int* list, int* size) {
    THREAD;
    const unsigned who = __ballot_sync(~0u, i < n && a[i] % 3 == 0);
    const int lane = int(threadIdx.x % 32);
    int base = 0;
    if (who && lane == __ffs(int(who)) - 1) base = atomicAdd(size, __popc(who));
    base = __shfl_sync(~0u, base, who ? __ffs(int(who)) - 1 : 0);
    if (who >> lane & 1) list[base + __popc(who & ((1u << lane) - 1))] = i;
}
__global__ void push_warp_shared(const int* a, int n, int* list, int* size, bool step) {
    __shared__ int base[32];
    THREAD;
    const unsigned who = __ballot_sync(~0u, i < n && a[i] % 3 == 0);
    const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
    if (lane == 31) base[warp] = atomicAdd(size, __popc(who));  // RACE push_warp_unsynchronised
    if (step) __syncwarp();
    if (who >> lane & 1) list[base[warp] + __popc(who & ((1u << lane) - 1))] = i;  // RACE push_warp_unsynchronised
}
__global__ void push_block(const int* a, int n, int* list, int* size, bool twice) {
    __shared__ int mine, base;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    THREAD;
    int place = -1;
    if (i < n && a[i] % 2 == 0) place = atomicAdd(&mine, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(size, mine);  // RACE push_block_early
    if (twice) __syncthreads();
    if (place >= 0) list[base + place] = i;  // RACE push_block_early
}
__global__ void counter_begun_late(int* out, bool wait) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;  // RACE counter_begun_late
    if (wait) __syncthreads();
    atomicAdd(&count, 1);  // RACE counter_begun_late
    __syncthreads();
    out[threadIdx.x] = count;
}
__global__ void flag_by_exchange(int* a) {  // which is no lock
    __shared__ int again, sum;
    if (threadIdx.x == 0) again = sum = 0;
    __syncthreads();
    for (int turn = 0; turn < 2; ++turn) {
        if (threadIdx.x == 0) {
            atomicExch(&again, 1);
            sum += int(blockIdx.x) + 1;
        }
        __syncthreads();
        if (again) a[32 * blockIdx.x + threadIdx.x] += sum;
        __syncthreads();
        if (threadIdx.x == 0) again = 0;
    }
}
// Warp 0 fills a ring of four places, warp 1 empties it.
__global__ void ring(int* out, int n, bool fences) {
    __shared__ int place[4];
    __shared__ volatile int filled, emptied;
    if (threadIdx.x == 0) filled = emptied = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < n; ++k) {
            for (int turn = 0; k - emptied >= 4; ++turn)
                if (turn > patience) return;
            if (fences) __threadfence_block();
            place[k % 4] = k + 1;  // RACE ring_no_fence
            if (fences) __threadfence_block();
            filled = k + 1;
        }
    if (threadIdx.x == 32)
        for (int k = 0; k < n; ++k) {
            for (int turn = 0; filled <= k; ++turn)
                if (turn > patience) return;
            if (fences) __threadfence_block();
            out[k] = place[k % 4];  // RACE ring_no_fence
            if (fences) __threadfence_block();
            emptied = k + 1;
        }
}
// Each block in its turn, by a ticket.
#define TICKET_LOCK(name, entered, left)                               \
    __global__ void name(int* next, volatile int* serving, int* sum) { \
        if (threadIdx.x) return;                                       \
        const int mine = atomicAdd(next, 1);                           \
        for (int turn = 0; *serving != mine; ++turn)                   \
            if (turn > patience) return;                               \
        entered;                                                       \
        *sum += mine + 1;                                              \
        left;                                                          \
        *serving = mine + 1;                                           \
    }
TICKET_LOCK(ticket_lock, __threadfence(), __threadfence())
TICKET_LOCK(ticket_lock_no_fence, , __threadfence())        // RACE ticket_lock_no_fence
TICKET_LOCK(ticket_lock_released_early, __threadfence(), )  // RACE ticket_lock_released_early

// ---- the last block adds up, thread 0 says whether it is the last
__global__ void last_block_flag(int* part, int* ticket, int* out, bool wait) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = int(blockIdx.x) + 1;
        __threadfence();
        last = atomicAdd(ticket, 1) == int(gridDim.x) - 1;  // RACE last_block_flag_early
    }
    if (wait) __syncthreads();
    if (!last) return;  // RACE last_block_flag_early
    __threadfence();
    if (threadIdx.x == 0)
        for (int b = 0; b < int(gridDim.x); ++b) *out += part[b];
}
// All blocks of a grid write, and read their neighbours' in the same kernel, or in the next.
__global__ void write_row(int* a, int n) {
    THREAD;
    if (i < n) a[i] = i + 1;
}
__global__ void read_next(const int* a, int* out, int n) {
    THREAD;
    if (i < n) out[i] = a[(i + 1) % n];
}
__global__ void write_and_read_next(int* a, int* out, int n) {
    THREAD;
    if (i < n) a[i] = i + 1;  // RACE grid_in_one_kernel
    __syncthreads();
    if (i < n) out[i] = a[(i + 1) % n];  // RACE grid_in_one_kernel
}
__global__ void barrier_of_some_blocks(int* out) {
    __shared__ int a[32];
    if (blockIdx.x % 2 == 0) {
        a[threadIdx.x] = int(threadIdx.x);
        __syncthreads();
        out[32 * blockIdx.x + threadIdx.x] = a[31 - threadIdx.x];
    }
}

// ---- scans, sorts and loops that end early, in shared memory
__global__ void scan(int* a, bool twice) {
    __shared__ int s[64];
    const int t = int(threadIdx.x);
    s[t] = a[t] + 1;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        const int left = t >= d ? s[t - d] : 0;  // RACE scan_one_barrier
        if (twice) __syncthreads();
        s[t] += left;  // RACE scan_one_barrier
        __syncthreads();
    }
    a[t] = s[t];
}
__global__ void scan_two_rows(int* a, bool other) {
    __shared__ int s[2][64];
    const int t = int(threadIdx.x);
    s[0][t] = a[t] + 1;
    __syncthreads();
    int from = 0;
    for (int d = 1; d < 64; d *= 2, from = other ? 1 - from : from) {
        const int to = other ? 1 - from : from;
        s[to][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);  // RACE scan_same_row
        __syncthreads();
    }
    a[t] = s[from][t];
}
__global__ void odd_even_sort(int* a, bool wait) {
    __shared__ int s[64];
    const int t = int(threadIdx.x);
    s[2 * t] = a[2 * t];
    s[2 * t + 1] = a[2 * t + 1];
    for (int turn = 0; turn < 64; ++turn) {
        if (wait || turn == 0) __syncthreads();
        const int k = 2 * t + turn % 2;
        if (k + 1 < 64 && s[k] > s[k + 1]) {  // RACE odd_even_no_barrier
            const int larger = s[k];          // RACE odd_even_no_barrier
            s[k] = s[k + 1];                  // RACE odd_even_no_barrier
            s[k + 1] = larger;                // RACE odd_even_no_barrier
        }
    }
    __syncthreads();
    a[2 * t] = s[2 * t];
    a[2 * t + 1] = s[2 * t + 1];
}
__global__ void until_unchanged(int* a, int n, bool wait) {  // the largest value spreads
    __shared__ int s[64];
    const int t = int(threadIdx.x);
    s[t] = t < n ? a[t] : 0;
    __syncthreads();
    bool changed;
    do {
        const int most = max(s[t], s[(t + 1) % 64]);  // RACE until_unchanged_early
        if (wait) __syncthreads();
        changed = most != s[t];
        if (changed) s[t] = most;  // RACE until_unchanged_early
    } while (__syncthreads_or(changed));
    if (t < n) a[t] = s[t];
}
__global__ void until_done(const int* a, int* out, int n, bool twice) {
    __shared__ bool done;
    int turn = 0;
    for (;; ++turn) {
        if (threadIdx.x == 0) done = turn >= n % 7;  // RACE until_done_one_barrier
        __syncthreads();
        if (done) break;  // RACE until_done_one_barrier
        if (twice) __syncthreads();
    }
    out[threadIdx.x] = turn + a[0];
}
__global__ void count_at_barrier(int* a) {
    __shared__ int s[64];
    const int t = int(threadIdx.x);
    s[t] = a[t] + t;
    const int even = __syncthreads_count(s[t] % 2 == 0);
    a[t] = s[63 - t] + even;
}
__global__ void pointers_exchanged(int* a, bool wait) {
    __shared__ int s[2][64];
    __shared__ int *from, *to;
    const int t = int(threadIdx.x);
    if (t == 0) from = s[0], to = s[1];
    s[0][t] = a[t];
    __syncthreads();
    for (int turn = 0; turn < 3; ++turn) {
        to[t] = from[(t + 1) % 64] + 1;  // RACE pointers_exchanged_early
        if (wait) __syncthreads();
        if (t == 0) {
            int* const kept = from;
            from = to;  // RACE pointers_exchanged_early
            to = kept;  // RACE pointers_exchanged_early
        }
        __syncthreads();
    }
    a[t] = from[t];
}
__global__ void first_then_changed(int* a, bool wait) {
    __shared__ int s[64];
    const int t = int(threadIdx.x);
    s[t] = a[t] + 1;
    __syncthreads();
    const int first = s[0];  // RACE first_changed_early
    if (wait) __syncthreads();
    s[t] -= first;  // RACE first_changed_early
    a[t] = s[t];
}
__global__ void two_in_one(int* a, int n, int begin) {  // two arrays in the dynamic shared memory
    extern __shared__ int both[];
    int *x = both, *y = both + begin;
    const int t = int(threadIdx.x);
    if (t < n) x[t] = a[t] + 1;  // RACE two_in_one_overlap
    if (t < n) y[t] = a[t] + 2;  // RACE two_in_one_overlap
    __syncthreads();
    if (t < n) a[t] = x[n - 1 - t] + y[n - 1 - t];
}
// The next tile is loaded while this one is used.
__global__ void tiles_ahead(const int* a, int tiles, int* out, int buffers) {
    __shared__ int tile[2][64];
    const int t = int(threadIdx.x);
    int sum = 0;
    tile[0][t] = a[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) tile[(k + 1) % buffers][t] = a[64 * (k + 1) + t];  // RACE tiles_ahead_one_buffer
        sum += tile[k % buffers][63 - t];                                     // RACE tiles_ahead_one_buffer
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void words_then_floats(int* a, bool wait) {
    __shared__ union {
        int word[64];
        float number[64];
    } s;
    const int t = int(threadIdx.x);
    s.word[t] = a[t] + t;
    __syncthreads();
    const int other = s.word[63 - t];  // RACE words_then_floats_early
    if (wait) __syncthreads();
    s.number[t] = float(other);  // RACE words_then_floats_early
    __syncthreads();
    a[t] = int(s.number[t]);
}

// ---- warps and tiles
__global__ void warp_sums(int* a, int* out, bool wait) {
    __shared__ int sums[4];
    const int t = int(threadIdx.x);
    int sum = a[t] + 1;
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (t % 32 == 0) sums[t / 32] = sum;  // RACE warp_sums_early
    if (wait) __syncthreads();
    if (t == 0) *out = sums[0] + sums[1] + sums[2] + sums[3];  // RACE warp_sums_early
}
__global__ void tile_neighbours(int* a, bool across) {
    __shared__ int s[64];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int t = int(threadIdx.x), r = int(tile.thread_rank());
    s[t] = a[t] + 1;  // RACE tile_across
    tile.sync();
    a[t] = s[across ? (t + 1) % 64 : t - r + (r + 1) % 16];  // RACE tile_across
}
__global__ void part_of_a_warp(int* a, unsigned mask) {  // the lower half works, lane 0 adds up
    __shared__ int s[16];
    const int t = int(threadIdx.x);
    if (t >= 16) return;
    s[t] = a[t] + 1;  // RACE part_of_a_warp_alone
    if (mask >> t & 1) __syncwarp(mask);
    if (t == 0)
        for (int k = 0; k < 16; ++k) a[0] += s[k];  // RACE part_of_a_warp_alone
}
__global__ void threads_of_a_group(int* a, int* out, int n) {
    const auto active = cg::coalesced_threads();
    THREAD;
    if (i >= n) return;
    if (active.thread_rank() == 0) atomicAdd(out, int(active.size()));
    a[i] = int(active.thread_rank());
}
__global__ void columns(const int* a, int* out, int width, int height) {
    THREAD;
    for (int y = 0; i < width && y < height; ++y) out[i] += a[y * width + i];
}
__global__ void columns_by_rows(const int* a, int* out, int width) {
    const int x = int(threadIdx.x), y = int(threadIdx.y);
    if (x < width) out[x] += a[y * width + x] + 1;  // RACE columns_by_rows
}
__global__ void halo_written(int* a, int n) {
    THREAD;
    if (i < n) a[i + 1] = i;
    if (threadIdx.x == 0 && i < n) a[i] = -1;  // RACE halo_written
}

int* numbers(int n, int (*f)(int, int)) {
    int *host = (int*)malloc(n * sizeof(int)), *p = zeros<int>(n);
    for (int i = 0; i < n; ++i) host[i] = f(i, n);
    cudaMemcpy(p, host, n * sizeof(int), cudaMemcpyHostToDevice);
    free(host);
    return p;
}
int counted(int i, int) { return i; }
int turned(int i, int n) { return n - 1 - i; }
int mixed(int i, int n) { return (i * 7 + 3) % (n + 2); }
#define ZEROS(n) zeros<int>(n)
#define GRID(n) (n) / 32 + 1, 32

int main(int argc, char** argv) {
    const Case cases[] = {
        {"right", "scatter", [](int n) { scatter<<<GRID(n)>>>(numbers(n, turned), ZEROS(n), n); }},
        {"race", "scatter_twice", [](int n) { scatter_twice<<<GRID(n)>>>(numbers(n, turned), ZEROS(n), n); }},
        {"race", "gather_in_place", [](int n) { gather_in_place<<<GRID(n)>>>(numbers(n, turned), ZEROS(n), n); }},
        {"right", "swap_pairs", [](int n) { swap_pairs<<<GRID(n)>>>(numbers(n, turned), ZEROS(n), n); }},
        {"race", "swap_both", [](int n) { swap_both<<<GRID(n)>>>(numbers(n, turned), numbers(n, mixed), n); }},
        {"right", "insert_by_cas", [](int n) { insert_by_cas<<<GRID(n)>>>(numbers(n, mixed), ZEROS(2 * n), n); }},
        {"race", "insert_after_a_look",
         [](int n) { insert_after_a_look<<<GRID(n)>>>(numbers(n, counted), ZEROS(2 * n), n); }},
        {"right", "list_by_exchange", [](int n) { list_by_exchange<<<GRID(n)>>>(ZEROS(1), ZEROS(n), n); }},
        {"race", "list_plain", [](int n) { list_plain<<<GRID(n)>>>(ZEROS(1), ZEROS(n), n); }},
        {"right", "segments", [](int n) { segments<<<1, 64>>>(numbers(n, mixed), ZEROS(n), n, n / 3 + 1, false); }},
        {"race", "segments_inclusive",
         [](int n) { segments<<<1, 64>>>(numbers(n, mixed), ZEROS(n), n, n / 3 + 1, true); }},
        {"race", "short_rows", [](int) { short_rows<<<1, dim3(8, 4)>>>(ZEROS(32), 6); }},
        {"race", "stride_of_a_block", [](int n) { stride_of_a_block<<<2, 32>>>(ZEROS(n), n); }},
        {"right", "count_in_variable", [](int n) { count_in_variable<<<GRID(n)>>>(n); }},
        {"race", "lose_in_variable", [](int n) { lose_in_variable<<<GRID(n)>>>(n); }},
        {"race", "found_plain", [](int n) { found_plain<<<GRID(n)>>>(ZEROS(n), n, ZEROS(1), ZEROS(n)); }},
        {"race", "byte_beside_cas", [](int n) { byte_beside_cas<<<GRID(n)>>>(zeros<unsigned>(1), n); }},
        {"race", "wide_and_narrow", [](int) { wide_and_narrow<<<1, 32>>>(zeros<float>(32), zeros<float4>(8)); }},
        {"right", "push_warp", [](int n) { push_warp<<<GRID(n)>>>(numbers(n, counted), n, ZEROS(n), ZEROS(1)); }},
        {"right", "push_warp_shared",
         [](int n) { push_warp_shared<<<GRID(n)>>>(numbers(n, counted), n, ZEROS(n), ZEROS(1), true); }},
        {"race", "push_warp_unsynchronised",
         [](int n) { push_warp_shared<<<GRID(n)>>>(numbers(n, counted), n, ZEROS(n), ZEROS(1), false); }},
        {"right", "push_block",
         [](int n) { push_block<<<GRID(n)>>>(numbers(n, counted), n, ZEROS(n), ZEROS(1), true); }},
        {"race", "push_block_early",
         [](int n) { push_block<<<GRID(n)>>>(numbers(n, counted), n, ZEROS(n), ZEROS(1), false); }},
        {"right", "counter_begun", [](int) { counter_begun_late<<<1, 64>>>(ZEROS(64), true); }},
        {"race", "counter_begun_late", [](int) { counter_begun_late<<<1, 64>>>(ZEROS(64), false); }},
        {"right", "flag_by_exchange", [](int) { flag_by_exchange<<<3, 32>>>(ZEROS(96)); }},
        {"right", "ring", [](int n) { ring<<<1, 64>>>(ZEROS(n), n, true); }},
        {"race", "ring_no_fence", [](int n) { ring<<<1, 64>>>(ZEROS(n), n, false); }},
        {"right", "ticket_lock", [](int n) { ticket_lock<<<n, 32>>>(ZEROS(1), ZEROS(1), ZEROS(1)); }},
        {"race", "ticket_lock_no_fence",
         [](int n) { ticket_lock_no_fence<<<n, 32>>>(ZEROS(1), ZEROS(1), ZEROS(1)); }},
        {"race", "ticket_lock_released_early",
         [](int n) { ticket_lock_released_early<<<n, 32>>>(ZEROS(1), ZEROS(1), ZEROS(1)); }},
        {"right", "last_block_flag", [](int n) { last_block_flag<<<n, 64>>>(ZEROS(n), ZEROS(1), ZEROS(1), true); }},
        {"race", "last_block_flag_early",
         [](int n) { last_block_flag<<<n, 64>>>(ZEROS(n), ZEROS(1), ZEROS(1), false); }},
        {"right", "grid_in_two_kernels",
         [](int n) {
             int* const a = ZEROS(n);
             write_row<<<GRID(n)>>>(a, n);
             read_next<<<GRID(n)>>>(a, ZEROS(n), n);
         }},
        {"race", "grid_in_one_kernel",
         [](int n) { write_and_read_next<<<(n + 3) / 4, 4>>>(ZEROS(n), ZEROS(n), n); }},
        {"right", "barrier_of_some_blocks", [](int) { barrier_of_some_blocks<<<4, 32>>>(ZEROS(128)); }},
        {"right", "scan", [](int) { scan<<<1, 64>>>(ZEROS(64), true); }},
        {"race", "scan_one_barrier", [](int) { scan<<<1, 64>>>(ZEROS(64), false); }},
        {"right", "scan_two_rows", [](int) { scan_two_rows<<<1, 64>>>(ZEROS(64), true); }},
        {"race", "scan_same_row", [](int) { scan_two_rows<<<1, 64>>>(ZEROS(64), false); }},
        {"right", "odd_even_sort", [](int) { odd_even_sort<<<1, 32>>>(numbers(64, mixed), true); }},
        {"race", "odd_even_no_barrier", [](int) { odd_even_sort<<<1, 32>>>(numbers(64, mixed), false); }},
        {"right", "until_unchanged", [](int n) { until_unchanged<<<1, 64>>>(numbers(n, mixed), n, true); }},
        {"race", "until_unchanged_early", [](int n) { until_unchanged<<<1, 64>>>(numbers(n, mixed), n, false); }},
        {"right", "until_done", [](int n) { until_done<<<1, 64>>>(ZEROS(1), ZEROS(64), n, true); }},
        {"race", "until_done_one_barrier", [](int n) { until_done<<<1, 64>>>(ZEROS(1), ZEROS(64), n, false); }},
        {"right", "count_at_barrier", [](int) { count_at_barrier<<<1, 64>>>(ZEROS(64)); }},
        {"right", "pointers_exchanged", [](int) { pointers_exchanged<<<1, 64>>>(ZEROS(64), true); }},
        {"race", "pointers_exchanged_early", [](int) { pointers_exchanged<<<1, 64>>>(ZEROS(64), false); }},
        {"right", "first_then_changed", [](int) { first_then_changed<<<1, 64>>>(ZEROS(64), true); }},
        {"race", "first_changed_early", [](int) { first_then_changed<<<1, 64>>>(ZEROS(64), false); }},
        {"right", "two_in_one",
         [](int n) { two_in_one<<<1, 256, 2 * n * sizeof(int)>>>(numbers(n, mixed), n, n); }},
        {"race", "two_in_one_overlap",
         [](int n) { two_in_one<<<1, 256, 2 * n * sizeof(int)>>>(numbers(n, mixed), n, n - 1); }},
        {"right", "tiles_ahead", [](int) { tiles_ahead<<<1, 64>>>(ZEROS(256), 4, ZEROS(64), 2); }},
        {"race", "tiles_ahead_one_buffer",
         [](int) { tiles_ahead<<<1, 64>>>(numbers(256, counted), 4, ZEROS(64), 1); }},
        {"right", "words_then_floats", [](int) { words_then_floats<<<1, 64>>>(ZEROS(64), true); }},
        {"race", "words_then_floats_early", [](int) { words_then_floats<<<1, 64>>>(ZEROS(64), false); }},
        {"right", "warp_sums", [](int) { warp_sums<<<1, 128>>>(ZEROS(128), ZEROS(1), true); }},
        {"race", "warp_sums_early", [](int) { warp_sums<<<1, 128>>>(ZEROS(128), ZEROS(1), false); }},
        {"right", "tile_neighbours", [](int) { tile_neighbours<<<1, 64>>>(ZEROS(64), false); }},
        {"race", "tile_across", [](int) { tile_neighbours<<<1, 64>>>(ZEROS(64), true); }},
        {"right", "part_of_a_warp", [](int) { part_of_a_warp<<<1, 32>>>(ZEROS(32), 0xffff); }},
        {"race", "part_of_a_warp_alone", [](int) { part_of_a_warp<<<1, 32>>>(ZEROS(32), 0xff); }},
        {"right", "threads_of_a_group", [](int n) { threads_of_a_group<<<GRID(n)>>>(ZEROS(n), ZEROS(1), n); }},
        {"right", "columns", [](int n) { columns<<<1, 64>>>(ZEROS(8 * n), ZEROS(n), n, 8); }},
        {"race", "columns_by_rows", [](int) { columns_by_rows<<<1, dim3(8, 4)>>>(ZEROS(32), ZEROS(8), 8); }},
        {"race", "halo_written", [](int n) { halo_written<<<n / 4 + 1, 4>>>(ZEROS(n + 1), n); }},
    };
    return choose(cases, argc, argv);
}
