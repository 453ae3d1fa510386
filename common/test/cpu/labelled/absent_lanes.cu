// absent_lanes.cu - labelled kernels: warp operations whose mask names lanes that took another path, and lanes that
// left early. RACE marks the line of the operation.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {33,200}
#include "labelled.cuh"

#define ID int(blockIdx.x * blockDim.x + threadIdx.x)
#define LANE int(threadIdx.x % 32)
constexpr unsigned all_lanes = ~0u;

// ---- lanes that took another path ---------------

__global__ void shuffle_in_guard_then_else(int* out, int n) {  // shuffle: lanes >= n store instead
    if (ID < n)
        out[ID] = __shfl_xor_sync(all_lanes, ID, 1) & 1;  // RACE shuffle_in_guard_then_else
    else
        out[ID] = -1;
}
__global__ void reads_only_elsewhere(const int* in, int* out) {  // the other lanes only read, then add
    int v = 0;
    if (LANE < 20) {
        __syncwarp();  // RACE reads_only_elsewhere
        v = 1;
    } else {
        v = in[LANE] + in[31 - LANE];
    }
    if (v > 5) out[0] = v;
}
__global__ void atomic_elsewhere(int* out) {
    if (LANE & 1)
        atomicAdd(out, 1);
    else {
        __syncwarp();  // RACE atomic_elsewhere
        atomicAdd(out + 1, 1);
    }
}
__global__ void after_loop_exit(const int* in, int* out) {
    for (int i = 0; i < 3 + LANE / 8; ++i) {
        out[64 + LANE] = in[i];
        __syncwarp();  // RACE after_loop_exit
    }
    out[LANE] = 5;
}
__global__ void ballot_half(int* out) {
    if (LANE < 16)
        out[LANE] = int(__ballot_sync(all_lanes, 1));  // RACE ballot_half
    else
        out[LANE] = 7;
}
__global__ void one_lane_leaves_to_log(int* out, int* log) {
    __shared__ int a[32];
    a[LANE] = LANE;
    if (LANE == 13) {
        log[0] = 1;
        log[1] = 2;
        return;
    }
    __syncwarp();  // RACE one_lane_leaves_to_log
    out[LANE] = a[LANE ^ 16];
}
__global__ void other_mask_then_end(int* out) {  // odd lanes meet alone, the even ones name all
    if (LANE % 2)
        __syncwarp(0xaaaaaaaau);  // RACE other_mask_then_end
    else
        __syncwarp();  // RACE other_mask_then_end
    if (LANE == 0) out[0] = 1;
}
__global__ void second_of_two(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE;
    __syncwarp();  // RACE second_of_two
    if (LANE < 8) {
        a[LANE] += 1;
        __syncwarp();  // RACE second_of_two
        out[LANE] = a[7 - LANE];
    } else
        out[LANE] = a[LANE];
}
__device__ __noinline__ void deep(int* a, int i) {
    a[i] = i;
    __syncwarp();  // RACE noinline_helper
    a[i] += 1;
}
__global__ void noinline_helper(int* out) {
    if (LANE % 4 == 0)
        deep(out, LANE);
    else
        out[LANE] = 3;
}
__global__ void not_in_own_mask(int* out) {
    __syncwarp(~(1u << LANE));  // RACE not_in_own_mask
    out[LANE] = 1;
}
__global__ void mask_by_warp_index(int* out) {  // the second warp uses the first warp's lane count
    const unsigned mask = (1u << 20) - 1;
    if (threadIdx.x < 20 || (threadIdx.x >= 32 && threadIdx.x < 44)) {
        out[threadIdx.x] = 1;
        __syncwarp(mask);  // RACE mask_by_warp_index
    } else
        out[threadIdx.x] = 2;
}
__global__ void switch_default(const int* in, int* out) {
    switch (in[LANE] + LANE % 4) {
        case 0: out[LANE] = 0; break;
        case 1: out[LANE] = 1; break;
        default:
            out[LANE] = 9;
            __syncwarp();  // RACE switch_default
            out[LANE] += 1;
    }
}
__global__ void rows(int* out, int width) {  // 2-D block: a warp has two rows of 16
    if (int(threadIdx.x) < width) {
        out[threadIdx.y * 16 + threadIdx.x] = 1;
        __syncwarp();  // RACE rows
    } else
        out[threadIdx.y * 16 + threadIdx.x] = -1;
}
__global__ void reduce_in_branch(const int* in, int* out) {
    int v = in[LANE];
    if (LANE < 16) {
        for (int d = 8; d; d /= 2) v += __shfl_down_sync(all_lanes, v, d);  // RACE reduce_in_branch
        out[LANE] = v;
    } else
        out[LANE] = v * 2;
}
__global__ void grid_stride(const int* in, int* out, int n) {  // the tail's lanes write their sums first
    int sum = 0;
    for (int i = ID; i < n; i += 64) {
        sum += in[i];
        __syncwarp();  // RACE grid_stride
    }
    out[ID] = sum;
}

// ---- lanes that are not named, or left early ---------------

__global__ void return_after_read_right(const int* in, int* out) {
    const int v = in[LANE] + LANE;
    if (v > 20) return;
    __syncwarp();
    out[LANE] = v;
}
__global__ void return_after_tile_right(const int* in, int* out) {  // all load, some leave at once
    __shared__ int a[32];
    a[LANE] = in[LANE];
    if (LANE >= 24) return;
    __syncwarp();
    out[LANE] = a[23 - LANE];
}
__global__ void guard_around_all_right(int* out, int n) {
    __shared__ int a[64];
    if (ID < n) {
        a[threadIdx.x] = ID;
        __syncwarp();
        out[ID] = a[(ID ^ 1) < n ? threadIdx.x ^ 1 : threadIdx.x];
    }
}
__global__ void stride_loop_ends_right(int* out, int n) {
    for (int i = ID; i < n; i += 64) {
        out[i] = 1;
        __syncwarp();
        out[i] += 1;
    }
}
__global__ void named_by_ballot_right(const int* in, int* out) {
    const unsigned mask = __ballot_sync(all_lanes, in[LANE] + LANE < 9);
    if (in[LANE] + LANE < 9) {
        __syncwarp(mask);
        out[LANE] = 1;
    } else {
        out[LANE] = 2;
        __syncwarp(~mask);
        out[LANE] += 3;
    }
}
__global__ void partial_warp_right(int* out) {  // a block of 40 threads: the second warp has eight lanes
    __shared__ int a[40];
    a[threadIdx.x] = ID;
    __syncwarp();
    out[threadIdx.x] = a[threadIdx.x ^ 1];
}
__global__ void both_arms_differ_right(const int* in, int* out) {
    if (LANE % 2) {
        out[LANE] = in[LANE];
        __syncwarp();
        out[LANE] += 1;
    } else {
        out[LANE + 32] = 4;
        __syncwarp();
        out[LANE] = 2;
    }
}
__global__ void lane0_works_then_all_right(int* out) {
    __shared__ int x;
    if (LANE == 0) {
        x = 5;
        out[40] = 1;
    }
    __syncwarp();
    out[LANE] = x;
}
__global__ void different_trip_counts_right(int* out) {
    int s = 0;
    for (int k = 0; k < LANE; ++k) s += out[64 + k];
    out[LANE] = s;
    __syncwarp();
    out[32 + LANE] = out[31 - LANE];
}
__global__ void segments_right(int* out) {
    const unsigned mask = 0xffu << (LANE & ~7);
    int v = LANE;
    if (LANE < 16) {
        for (int d = 4; d; d /= 2) v += __shfl_xor_sync(mask, v, d);
        out[LANE] = v;
    } else
        out[LANE] = -v;
}
__global__ void first_warp_only_right(const int* in, int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= 32) return;
    a[threadIdx.x] += a[threadIdx.x + 32];
    __syncwarp();
    out[threadIdx.x] = a[31 - threadIdx.x];
}
__global__ void search_ends_right(const int* in, int* out) {  // each lane stops when it has found its element
    int i = 0;
    while (in[i] + i < LANE) ++i;
    __syncwarp();
    out[LANE] = i;
}
__global__ void warp_returns_early_right(int* out) {
    if (threadIdx.x / 32 == 1) {
        out[threadIdx.x] = 1;
        return;
    }
    __syncwarp();
    out[threadIdx.x] = 2;
}
__global__ void mask_at_the_end_of_data_right(const int* in, int* out, int n) {
    const int left = n - (ID & ~31);
    const unsigned mask = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;
    if (ID < n) {
        out[ID] = __shfl_down_sync(mask, in[ID], 1) & 0;
        __syncwarp(mask);
    } else
        out[ID] = -1;
}
__global__ void loop_with_vote_right(int* out) {
    int k = 0;
    while (__any_sync(all_lanes, k < LANE)) {
        if (k < LANE) out[LANE] = k++;
        __syncwarp();
    }
    out[LANE] += k;
}
int main(int argc, char** argv) {
#define Z zeros<int>
    const Case cases[] = {
        {"race", "shuffle_in_guard_then_else",
         [](int n) { shuffle_in_guard_then_else<<<n / 64 + 1, 64>>>(Z(n + 64), n | 1); }},
        {"race", "reads_only_elsewhere", [](int) { reads_only_elsewhere<<<1, 32>>>(Z(32), Z(32)); }},
        {"race", "atomic_elsewhere", [](int) { atomic_elsewhere<<<1, 32>>>(Z(32)); }},
        {"race", "after_loop_exit", [](int) { after_loop_exit<<<1, 32>>>(Z(32), Z(128)); }},
        {"race", "ballot_half", [](int) { ballot_half<<<1, 32>>>(Z(32)); }},
        {"race", "one_lane_leaves_to_log", [](int) { one_lane_leaves_to_log<<<1, 32>>>(Z(32), Z(2)); }},
        {"race", "other_mask_then_end", [](int) { other_mask_then_end<<<1, 32>>>(Z(32)); }},
        {"race", "second_of_two", [](int) { second_of_two<<<1, 32>>>(Z(32)); }},
        {"race", "noinline_helper", [](int) { noinline_helper<<<1, 32>>>(Z(32)); }},
        {"race", "not_in_own_mask", [](int) { not_in_own_mask<<<1, 32>>>(Z(32)); }},
        {"race", "mask_by_warp_index", [](int) { mask_by_warp_index<<<1, 64>>>(Z(64)); }},
        {"race", "switch_default", [](int) { switch_default<<<1, 32>>>(Z(32), Z(32)); }},
        {"race", "rows", [](int) { rows<<<1, dim3(16, 2)>>>(Z(32), 13); }},
        {"race", "reduce_in_branch", [](int) { reduce_in_branch<<<1, 32>>>(Z(32), Z(32)); }},
        {"race", "grid_stride", [](int) { grid_stride<<<1, 64>>>(Z(200), Z(64), 141); }},
        {"right", "return_after_read_right", [](int) { return_after_read_right<<<1, 32>>>(Z(32), Z(32)); }},
        {"right", "return_after_tile_right", [](int) { return_after_tile_right<<<1, 32>>>(Z(32), Z(32)); }},
        {"right", "guard_around_all_right", [](int n) { guard_around_all_right<<<n / 64 + 1, 64>>>(Z(n), n); }},
        {"right", "stride_loop_ends_right", [](int n) { stride_loop_ends_right<<<1, 64>>>(Z(n), n); }},
        {"right", "named_by_ballot_right", [](int) { named_by_ballot_right<<<1, 32>>>(Z(32), Z(32)); }},
        {"right", "partial_warp_right", [](int) { partial_warp_right<<<1, 40>>>(Z(40)); }},
        {"right", "both_arms_differ_right", [](int) { both_arms_differ_right<<<1, 32>>>(Z(32), Z(64)); }},
        {"right", "lane0_works_then_all_right", [](int) { lane0_works_then_all_right<<<1, 32>>>(Z(64)); }},
        {"right", "different_trip_counts_right", [](int) { different_trip_counts_right<<<1, 32>>>(Z(128)); }},
        {"right", "segments_right", [](int) { segments_right<<<1, 32>>>(Z(32)); }},
        {"right", "first_warp_only_right", [](int) { first_warp_only_right<<<1, 64>>>(Z(64), Z(32)); }},
        {"right", "search_ends_right", [](int) { search_ends_right<<<1, 32>>>(Z(64), Z(32)); }},
        {"right", "warp_returns_early_right", [](int) { warp_returns_early_right<<<1, 64>>>(Z(64)); }},
        {"right", "mask_at_the_end_of_data_right",
         [](int n) { mask_at_the_end_of_data_right<<<n / 64 + 1, 64>>>(Z(n), Z(n + 64), n); }},
        {"right", "loop_with_vote_right", [](int) { loop_with_vote_right<<<1, 32>>>(Z(32)); }},
    };
    return choose(cases, argc, argv);
}
