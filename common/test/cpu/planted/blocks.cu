// Between the blocks of a launch.
// RUN: slow fix
#include "planted.cuh"

__global__ void total(const int* in, int* sum) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[0] += in[i];
}
PLANT(sum_of_blocks) { total<<<4, 64>>>(filled(256), zeros(1)); }

__global__ void total_by_first(const int* in, int* sum) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *sum = *sum + s;
}
PLANT(sum_of_sums) { total_by_first<<<4, 64>>>(filled(256), zeros(1)); }

__global__ void histogram(const int* in, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) bins[in[i] % 16] += 1;
}
PLANT(global_bins) { histogram<<<4, 64>>>(filled(1024), zeros(16), 1024); }

__global__ void letters(const char* line, int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    counts[(line[i] + 'z' - 'a') % 26]++;
}
PLANT(letters_of_a_line) { letters<<<4, 64>>>(filled<char>(256), zeros(26)); }

__global__ void average(float* a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float left = i > 0 ? a[i - 1] : 0;
    __syncthreads();
    a[i] = (left + a[i]) / 2;  // FIXED: a[i + 256] = (left + a[i]) / 2;
}
PLANT(stencil_in_place) { average<<<4, 64>>>(filled<float>(512)); }  // SAYS: write into another array

__global__ void average_line(float* a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) a[i] = (a[i] + a[i + 1]) / 2;  // FIXED: if (i + 1 < n) a[i + n] = (a[i] + a[i + 1]) / 2;
}
PLANT(stencil_in_a_line) { average_line<<<4, 64>>>(filled<float>(512), 256); }  // SAYS: {{another array|second kernel}}

__global__ void two_phases(const int* in, int* squares, int* out, int n, int phase = 2) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (phase != 1) squares[i] = in[i] * in[i];
    if (phase != 0) out[i] = squares[n - 1 - i];
}
PLANT(two_phases) {  // SAYS: second kernel
    int *in = filled(256), *squares = zeros(256), *out = zeros(256);
#ifdef CURED
    two_phases<<<4, 64>>>(in, squares, out, 256, 0);
    two_phases<<<4, 64>>>(in, squares, out, 256, 1);
#else
    two_phases<<<4, 64>>>(in, squares, out, 256);
#endif
}

__device__ int of_block(const int* in) { return in[blockIdx.x * blockDim.x + threadIdx.x]; }  // no narrow atomic
__global__ void reset_inside(const int* in, int* sum) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *sum = 0;  // FIXED: 
    if (blockIdx.x > 0) atomicAdd(sum, of_block(in));
}
PLANT(reset_in_the_kernel) { reset_inside<<<4, 64>>>(filled(256), filled(1)); }  // SAYS: before the launch

__global__ void read_inside(const int* in, int* sum, int* out) {
    atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = *sum;  // FIXED: if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(sum, 0);
}
PLANT(read_while_adding) { read_inside<<<4, 64>>>(filled(256), zeros(1), zeros(4)); }  // SAYS: or read it in the next kernel or by atomicAdd(&x, 0)

__global__ void place_by_hand(const int* in, int* out, int* count) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        if (in[i] % 3 == 0) continue;
        const int place = *count;  // FIXED: const int place = atomicAdd(count, 1);
        atomicAdd(count, 1);  // FIXED: ;
        out[place] = in[i];
    }
}
PLANT(old_value_by_hand) { place_by_hand<<<1, 64>>>(filled(256), zeros(256), zeros(1)); }  // SAYS: the old value that an atomic returns

__global__ void no_block_index(const int* in, int* out) {
    out[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];  // FIXED: out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}
PLANT(index_without_block) { no_block_index<<<4, 64>>>(filled(256), zeros(256)); }  // SAYS: a thread's own number is blockIdx.x * blockDim.x + threadIdx.x

__global__ void overlapping(int* out) {
    out[blockIdx.x * (blockDim.x - 1) + threadIdx.x] = blockIdx.x + 1;  // FIXED: out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
PLANT(overlapping_blocks) { overlapping<<<4, 64>>>(zeros(256)); }  // SAYS: check the index

__device__ unsigned tickets;
__global__ void last_block(const int* in, int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        if (threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0) partial[0] = *out;
    }
}
PLANT(last_block_without_fence) { last_block<<<4, 32>>>(filled(4), zeros(4), zeros(1)); }  // SAYS-COUNT-1: cudacpu: hazard:

__device__ unsigned tickets_2;
__global__ void last_block_of_all(const int* in, int* all, int* out) {
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    all[i] = 2 * in[i];
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(&tickets_2, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) atomicAdd(out, all[k]);
}
PLANT(last_block_without_barrier) { last_block_of_all<<<4, 64>>>(filled(256), zeros(256), zeros(1)); }

__device__ unsigned tickets_3;
__global__ void last_block_flag(const int* in, int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&tickets_3, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    if (!last) return;
    if (threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}
PLANT(last_flag_without_barrier) { last_block_flag<<<4, 64>>>(filled(4), zeros(4), zeros(1)); }  // SAYS-COUNT-1: cudacpu: hazard:

__global__ void narrow(const int* in, int* sum) {
    atomicAdd_block(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);  // FIXED: atomicAdd(sum, in[threadIdx.x]);
}
PLANT(atomic_of_a_block) { narrow<<<4, 64>>>(filled(256), zeros(1)); }  // SAYS: has the scope of one block

__device__ unsigned tickets_4;
__global__ void narrow_fence(const int* in, int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence_block();  // FIXED: __threadfence();
        last = atomicInc(&tickets_4, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    __threadfence();
    if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}
PLANT(fence_of_a_block) { narrow_fence<<<4, 32>>>(filled(4), zeros(4), zeros(1)); }  // SAYS: has the scope of one block

__global__ void column(const int* in, int* sums, int w, int h) {
    const int x = threadIdx.x, y = blockIdx.x;
    if (y < h) sums[x] += in[y * w + x];
}
PLANT(columns) { column<<<8, 32>>>(filled(256), zeros(32), 32, 8); }

__global__ void both_halves(const int* in, int* mid, int* out, int n) {
    auto grid = cooperative_groups::this_grid();
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) mid[i] = 3 * in[i];  // FIXED: for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) mid[i] = 3 * in[i]; grid.sync();
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) out[i] = mid[n - 1 - i];
}
PLANT(never_met_in_the_grid) {
    int n = 200, *in = filled(n), *mid = zeros(n), *out = zeros(n);
    void* arguments[] = {&in, &mid, &out, &n};
    cudaLaunchCooperativeKernel((const void*)both_halves, 4, 32, arguments, 0, nullptr);
    wants(out, n, [](int i) { return 3 * in_at(199 - i); });
}

__global__ void relax(float* a, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < 2 && x + 1 < n; ++k)
        a[x + y * n] =  // FIXED: a[x + y * n + n * n] =
            (a[x + y * n] +
             a[x + 1 + y * n]) / 2;
}
PLANT(relaxed_in_place) {  // SAYS: let line {{[0-9]+}} write into another array
    relax<<<dim3(4, 4), dim3(8, 8)>>>(filled<float>(2 * 32 * 32), 32);
}

__global__ void find(const int* in, int* where) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (*where == 0 && in[i] % 8 == 7) {  // FIXED: if (in[i] % 8 == 7) {
        *where = i;  // FIXED: atomicCAS(where, 0, i);
    }
}
PLANT(found_by_two) { find<<<4, 32>>>(filled(128), zeros(1)); }  // SAYS: add `&& atomicCAS(&*where, old, i) == old` to the condition

__global__ void doubled(int* data) {
    data[blockIdx.x * gridDim.x + threadIdx.x] *= 2;  // FIXED: data[blockIdx.x * blockDim.x + threadIdx.x] *= 2;  // #doubled
}
PLANT(grid_for_block) {  // SAYS: check the index `blockIdx.x * gridDim.x + threadIdx.x` in line @#doubled
    int* data = filled(512);
    doubled<<<8, 64>>>(data);
    wants(data, 512, [](int i) { return in_at(i) * 2; });
}
