// warps_and_indices.cu - labelled kernels: __syncwarp(mask) that names lanes which do not come, and indices that
// overflow. Each lane that a mask names must execute a __syncwarp() with this mask, unless the lane has ended. The
// calling lane must be named. Otherwise CUDA leaves the result undefined, and RACE marks the line of the
// __syncwarp(). Every lane ends, so a GPU does not wait for ever.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

#define ID int(blockIdx.x * blockDim.x + threadIdx.x)
#define LANE int(threadIdx.x % 32)
constexpr unsigned all_lanes = ~0u;

// ---- a warp barrier in a branch ---------------

template <bool Others>
__device__ void half_of_a_warp(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE + 1;  // RACE half_reads_the_other_half
    if (LANE < 16) {
        __syncwarp();                              // RACE half_comes half_reads_the_other_half
        out[LANE] = a[(Others ? 31 : 15) - LANE];  // RACE half_reads_the_other_half
    } else {
        out[LANE] = LANE;
    }
}
__global__ void half_comes(int* out) { half_of_a_warp<false>(out); }
__global__ void half_reads_the_other_half(int* out) { half_of_a_warp<true>(out); }
__global__ void half_is_named(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE + 1;
    if (LANE < 16) {
        __syncwarp(0x0000ffff);
        out[LANE] = a[15 - LANE];
    } else {
        out[LANE] = LANE;
    }
}
__global__ void barrier_in_the_guard(int* out, int n) {
    __shared__ int a[64];
    if (ID < n) {
        a[threadIdx.x] = ID;
        __syncwarp();  // RACE barrier_in_the_guard
        out[ID] = a[(ID ^ 1) < n ? threadIdx.x ^ 1 : threadIdx.x];
    } else {
        out[ID] = -1;
    }
}
__global__ void barrier_after_the_guard(int* out, int n) {
    __shared__ int a[64];
    if (ID < n) a[threadIdx.x] = ID;
    __syncwarp();
    if (ID < n) out[ID] = a[(ID ^ 1) < n ? threadIdx.x ^ 1 : threadIdx.x];
}
__global__ void returned_lanes_are_named(int* out, int n) {
    __shared__ int a[64];
    if (ID >= n) return;
    a[threadIdx.x] = ID;
    __syncwarp();
    out[ID] = a[(ID ^ 1) < n ? threadIdx.x ^ 1 : threadIdx.x];
}
template <bool Ballot>
__device__ void even_lanes(int* out) {
    __shared__ int a[32];
    const bool even = LANE % 2 == 0;
    const unsigned ballot = __ballot_sync(all_lanes, even);
    const unsigned mask = Ballot ? ballot : __activemask();  // normally the whole warp
    if (even) {
        a[LANE] = LANE + 1;
        __syncwarp(mask);  // RACE mask_asked_before_the_branch
        out[LANE] = a[(LANE + 2) % 32];
    } else {
        out[LANE] = -LANE;
    }
}
__global__ void ballot_of_the_branch(int* out) { even_lanes<true>(out); }
__global__ void mask_asked_before_the_branch(int* out) { even_lanes<false>(out); }
__global__ void ballot_of_another_branch(int* out) {
    __shared__ int a[32];
    const unsigned mask = __ballot_sync(all_lanes, LANE < 20);
    if (LANE < 12) {
        a[LANE] = LANE + 1;
        __syncwarp(mask);  // RACE ballot_of_another_branch
        out[LANE] = a[11 - LANE];
    } else {
        out[LANE] = -LANE;
    }
}
__global__ void mask_asked_in_the_branch(int* out) {  // reads only from lanes that its mask names
    __shared__ int a[32];
    if (LANE % 3 == 0) {
        const unsigned mask = __activemask();
        a[LANE] = LANE + 1;
        __syncwarp(mask);
        out[LANE] = a[31 - __clz(int(mask))];
    } else {
        out[LANE] = -LANE;
    }
}
__global__ void masks_differ(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE + 1;
    __syncwarp(LANE % 2 ? 0xaaaaaaaau : all_lanes);  // RACE masks_differ
    out[LANE] = a[(LANE + 2) % 32];
}
__global__ void masks_of_pairs(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE + 1;
    __syncwarp(3u << (LANE & ~1));
    out[LANE] = a[LANE ^ 1];
}
__global__ void calling_lane_not_named(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE + 1;
    __syncwarp(0x0000ffff);  // RACE calling_lane_not_named
    out[LANE] = a[LANE < 16 ? 15 - LANE : LANE];
}
__device__ int neighbour(int* a, int value, unsigned mask) {
    a[LANE] = value;
    __syncwarp(mask);  // RACE helper_in_a_branch
    const int other = a[LANE ^ 1];
    __syncwarp(mask);
    return other;
}
template <bool Named>
__device__ void helper_for_a_half(int* out) {
    __shared__ int a[32];
    if (LANE < 16)
        out[LANE] = neighbour(a, LANE, Named ? 0xffffu : all_lanes);
    else
        out[LANE] = -LANE;
}
__global__ void helper_with_the_mask(int* out) { helper_for_a_half<true>(out); }
__global__ void helper_in_a_branch(int* out) { helper_for_a_half<false>(out); }
__global__ void both_arms_come(int* out) {  // since compute capability 7.0 one barrier may have two places
    __shared__ int a[32];
    if (LANE < 16) {
        a[LANE] = LANE + 1;
        __syncwarp();
    } else {
        a[LANE] = 2 * LANE;
        __syncwarp();
    }
    out[LANE] = a[31 - LANE];
}
__global__ void one_of_three_arms_does_not_come(int* out) {
    __shared__ int a[32];
    a[LANE] = LANE + 1;
    switch (LANE % 3) {
        case 0:
            __syncwarp();  // RACE one_of_three_arms_does_not_come
            out[LANE] = a[LANE];
            break;
        case 1:
            __syncwarp();  // RACE one_of_three_arms_does_not_come
            out[LANE] = -a[LANE];
            break;
        default: out[LANE] = 0;
    }
}
__global__ void a_whole_warp_comes(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = int(threadIdx.x);
    if (threadIdx.x < 32) {
        __syncwarp();
        out[LANE] = a[31 - LANE];
    }
}

// ---- a warp barrier in a loop ---------------

template <bool All>
__device__ void turns_by_lane(int* out) {  // lane k has k + 1 turns
    __shared__ int a[32];
    int sum = 0;
    for (int k = 0; All ? k < 32 : k <= LANE; ++k) {
        if (k <= LANE) a[LANE] = k;
        __syncwarp();  // RACE lanes_leave_the_loop
        if (k <= LANE) sum += a[LANE];
    }
    out[LANE] = sum;
}
__global__ void all_have_as_many_turns(int* out) { turns_by_lane<true>(out); }
__global__ void lanes_leave_the_loop(int* out) { turns_by_lane<false>(out); }
template <bool EachTurn>
__device__ void mask_in_a_loop(int* out) {
    __shared__ int a[32];
    unsigned mask = all_lanes;
    int k = 0;
    while (true) {
        const bool more = k <= LANE;
        if (EachTurn) mask = __ballot_sync(mask, more);
        if (!more) break;
        a[LANE] = k++;
        __syncwarp(mask);  // RACE mask_from_before_the_loop
        out[LANE] += a[31];
        __syncwarp(mask);  // RACE mask_from_before_the_loop
    }
    out[LANE] -= k;
}
__global__ void ballot_in_each_turn(int* out) { mask_in_a_loop<true>(out); }
__global__ void mask_from_before_the_loop(int* out) { mask_in_a_loop<false>(out); }
__global__ void break_before_the_barrier(const int* in, int* out) {
    __shared__ int a[32];
    int k = 0;
    for (; k < 8; ++k) {
        if (in[LANE] + k > 4 + LANE % 4) break;
        a[LANE] = k;
        __syncwarp();  // RACE break_before_the_barrier
    }
    out[LANE] = a[LANE];
}
__global__ void continue_past_the_barrier(int* out) {
    __shared__ int a[32];
    int sum = 0;
    for (int k = 0; k < 6; ++k) {
        if (LANE % 3 == 0 && k % 2) continue;
        a[LANE] = k;
        __syncwarp();  // RACE continue_past_the_barrier
        sum += a[LANE];
    }
    out[LANE] = sum;
}
__global__ void until_the_lane_is_done(const int* in, int* out) {
    int left = in[LANE] + LANE % 5;
    while (left > 0) {
        --left;
        __syncwarp();  // RACE until_the_lane_is_done
    }
    out[LANE] = left;
}
__global__ void until_all_are_done(const int* in, int* out) {
    __shared__ int a[32];
    int left = in[LANE] + LANE % 5, sum = 0;
    while (__any_sync(all_lanes, left > 0)) {
        a[LANE] = left--;
        __syncwarp();
        sum += a[(LANE + 1) % 32];
        __syncwarp();
    }
    out[LANE] = sum;
}

// ---- indices: wrong in int, right in a wider or an unsigned type ---------------

template <class T>
__global__ void square(const int* a, int n, int* out) {
    const T i = 46341 + ID;
    out[ID] = a[i * i % n];  // BOUNDS square_int
}
template <class T>
__global__ void row_and_pitch(const int* a, int pitch, int n, int* out) {
    const T row = 60001 + ID;
    out[ID] = a[row * pitch % n];  // BOUNDS row_and_pitch_int
}
template <class T>
__global__ void cell_of_a_volume(const int* a, int width, int height, int n, int* out) {
    const T z = 48 + ID;
    const T cell = (z * height + 7) * width + ID;
    out[ID] = a[cell % n];  // BOUNDS cell_of_a_volume_int
}
template <class T>
__global__ void hashed(const int* a, T factor, int n, int* out) {
    const T hash = (ID + 1) * factor;
    out[ID] = a[hash % T(n)];  // BOUNDS hashed_int
}
template <class T>
__global__ void added_up(const int* a, int step, int n, int* out) {
    T at = ID;
    for (int k = 0; k < 3; ++k) at += step;
    out[ID] = a[at % n];  // BOUNDS added_up_int
}
template <class T>
__global__ void middle(const int* a, T low, T high, int n, int* out) {
    const T mid = (low + high + ID) / 2;
    out[ID] = a[mid % n];  // BOUNDS middle_int
}
template <class T>
__global__ void shifted(const int* a, T one, int n, int* out) {
    const T bit = one << (28 + ID % 4);
    out[ID] = a[bit % n];  // BOUNDS shifted_int
}
template <class T>
__global__ void absolute(const int* a, T hash, int n, int* out) {  // the most negative int has no absolute value
    const T positive = hash < 0 ? -hash : hash;
    out[ID] = a[positive % n];  // BOUNDS absolute_int
}
template <class T>
__global__ void narrow(const int* a, int* out) {
    const T i = T(3 * ID);
    out[ID] = a[i];  // BOUNDS narrow_char
}
template <class T>
__global__ void row_written(int* a, int pitch, int n) {  // each row by one thread
    const T row = T(70000 / n + 1) * n + ID;
    if (ID < n) a[row * (pitch / n * n + 1) % n] = ID;  // BOUNDS row_written_int
}

int main(int argc, char** argv) {
#define Z zeros<int>
#define WARP(label, name)                                 \
    {                                                     \
        label, #name, [](int) { name<<<1, 32>>>(Z(32)); } \
    }
#define READS(label, name)                                       \
    {                                                            \
        label, #name, [](int) { name<<<1, 32>>>(Z(32), Z(32)); } \
    }
#define INDEX(label, name, type, called, ...)                                                       \
    {                                                                                               \
        label, #name "_" #called, [](int n) { name<type><<<1, 64>>>(Z(n), __VA_ARGS__, n, Z(64)); } \
    }
    using wide = long long;
    const Case cases[] = {
        WARP("race", half_comes),
        WARP("race", half_reads_the_other_half),
        WARP("right", half_is_named),
        {"race", "barrier_in_the_guard", [](int n) { barrier_in_the_guard<<<n / 64 + 1, 64>>>(Z(n + 64), n); }},
        {"right", "barrier_after_the_guard", [](int n) { barrier_after_the_guard<<<n / 64 + 1, 64>>>(Z(n), n); }},
        {"right", "returned_lanes_are_named", [](int n) { returned_lanes_are_named<<<n / 64 + 1, 64>>>(Z(n), n); }},
        WARP("right", ballot_of_the_branch),
        WARP("race", mask_asked_before_the_branch),
        WARP("race", ballot_of_another_branch),
        WARP("right", mask_asked_in_the_branch),
        WARP("race", masks_differ),
        WARP("right", masks_of_pairs),
        WARP("race", calling_lane_not_named),
        WARP("right", helper_with_the_mask),
        WARP("race", helper_in_a_branch),
        WARP("right", both_arms_come),
        WARP("race", one_of_three_arms_does_not_come),
        {"right", "a_whole_warp_comes", [](int) { a_whole_warp_comes<<<1, 64>>>(Z(64)); }},
        WARP("right", all_have_as_many_turns),
        WARP("race", lanes_leave_the_loop),
        WARP("right", ballot_in_each_turn),
        WARP("race", mask_from_before_the_loop),
        READS("race", break_before_the_barrier),
        WARP("race", continue_past_the_barrier),
        READS("race", until_the_lane_is_done),
        READS("right", until_all_are_done),
        {"bounds", "square_int", [](int n) { square<int><<<1, 64>>>(Z(n), n, Z(64)); }},
        {"right", "square_wide", [](int n) { square<wide><<<1, 64>>>(Z(n), n, Z(64)); }},
        INDEX("bounds", row_and_pitch, int, int, 40000),
        INDEX("right", row_and_pitch, wide, wide, 40000),
        INDEX("bounds", cell_of_a_volume, int, int, 9000, 5000),
        INDEX("right", cell_of_a_volume, wide, wide, 9000, 5000),
        INDEX("bounds", hashed, int, int, 1103515245),
        INDEX("right", hashed, unsigned, unsigned, 1103515245u),
        INDEX("bounds", added_up, int, int, 1 << 30),
        INDEX("right", added_up, wide, wide, 1 << 30),
        INDEX("bounds", middle, int, int, (1 << 30) + 1, (1 << 30) + 1000),
        INDEX("right", middle, wide, wide, (1 << 30) + 1, (1 << 30) + 1000),
        INDEX("bounds", shifted, int, int, 1),
        INDEX("right", shifted, wide, wide, 1),
        INDEX("bounds", absolute, int, int, -2147483647 - 1),
        INDEX("right", absolute, wide, wide, -2147483647 - 1),
        {"bounds", "narrow_char", [](int) { narrow<signed char><<<1, 64>>>(Z(192), Z(64)); }},
        {"right", "narrow_unsigned_char", [](int) { narrow<unsigned char><<<1, 64>>>(Z(192), Z(64)); }},
        {"bounds", "row_written_int", [](int n) { row_written<int><<<n / 64 + 1, 64>>>(Z(n), 40000, n); }},
        {"right", "row_written_wide", [](int n) { row_written<wide><<<n / 64 + 1, 64>>>(Z(n), 40000, n); }},
    };
    return choose(cases, argc, argv);
}
