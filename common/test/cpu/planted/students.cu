// Mistakes in the programs that courses set: groups, functors, lambdas, sorts, scans, loops over a grid.
// RUN: slow fix
#include "planted.cuh"

namespace cg = cooperative_groups;

__global__ void bitonic(int* g) {
    __shared__ int a[64];
    const unsigned t = threadIdx.x;
    a[t] = g[t];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            const unsigned other = t ^ j;
            if (other > t) {
                if ((t & k) == 0) {
                    if (a[t] > a[other]) { int x = a[t]; a[t] = a[other]; a[other] = x; }
                } else {
                    if (a[t] < a[other]) { int x = a[t]; a[t] = a[other]; a[other] = x; }
                }
            }
        }
        __syncthreads();
    }
    g[t] = a[t];
}
PLANT(merged_without_barrier) { bitonic<<<1, 64>>>(filled(64)); }  // SAYS-COUNT-1: cudacpu: hazard:

__global__ void sweeps(int* g, int n) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    int offset = 1;
    s[2 * t] = g[2 * t];
    s[2 * t + 1] = g[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        if (t < d) {
            const int l = offset * (2 * t + 1) - 1, r = offset * (2 * t + 2) - 1;
            const int left = s[l];
            s[l] = s[r];
            s[r] += left;
        }
    }
    __syncthreads();
    g[2 * t] = s[2 * t];
    g[2 * t + 1] = s[2 * t + 1];
}
PLANT(down_without_barrier) { sweeps<<<1, 64, 128 * sizeof(int)>>>(filled(128), 128); }

__global__ void blur(const int* in, int* out, int n) {
    __shared__ int s[66];
    for (int i = threadIdx.x; i < 66; i += 64) s[i] = in[min(max(int(blockIdx.x * 64) + i - 1, 0), n - 1)];
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    out[i] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}
PLANT(barrier_before_who_leaves) { blur<<<2, 64>>>(filled(100), zeros(100), 100); }

__device__ int sum_of(cg::thread_group g, int* part, int x) {
    const int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        part[lane] = x;
        g.sync();
        if (lane < i) x += part[lane + i];
    }
    return x;
}
__global__ void grouped(const int* in, int* out) {
    extern __shared__ int part[];
    const int sum = sum_of(cg::this_thread_block(), part, in[threadIdx.x]);
    if (threadIdx.x == 0) *out = sum;
}
PLANT(group_of_the_block) { grouped<<<1, 128, 128 * sizeof(int)>>>(filled(128), zeros(1)); }

__global__ void rotated(int* a) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ int s[128];
    s[block.thread_rank()] = a[block.thread_rank()];
    tile.sync();
    a[block.thread_rank()] = s[(block.thread_rank() + 1) % 128];
}
PLANT(tile_waits_for_the_block) { rotated<<<1, 128>>>(filled(128)); }

__global__ void relaxed(float* u, float* v, int n, int steps) {
    const cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank();
    for (int s = 0; s < steps; ++s) {
        if (i < n) v[i] = (i ? u[i - 1] : 0) + (i + 1 < n ? u[i + 1] : 0);
        grid.sync();
        if (i < n) u[i] = v[i] / 2;  // FIXED: if (i < n) u[i] = v[i] / 2; grid.sync();
    }
}
PLANT(grid_in_a_loop) {
    float *u = filled<float>(100), *v = zeros<float>(100);
    int n = 100, steps = 4;
    void* arguments[] = {&u, &v, &n, &steps};
    cudaLaunchCooperativeKernel((const void*)relaxed, 4, 32, arguments, 0, nullptr);
}

template <class F>
__global__ void for_each(int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}
struct CountAbove {
    const int* x;
    int* count;
    __device__ void operator()(int i) const {
        if (x[i] > 20) (*count)++;  // FIXED: if (x[i] > 20) atomicAdd(count, 1);
    }
};
PLANT(functor_counts) { for_each<<<2, 64>>>(100, CountAbove{filled(100), zeros(1)}); }

PLANT(lambda_adds) {
    const int* x = filled(100);
    unsigned long long* sum = zeros<unsigned long long>(1);
    auto add = [=] __device__(int i) {
        sum[0] = sum[0] + x[i];
    };
    for_each<<<2, 64>>>(100, add);
}

__global__ void swapped(int* a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = a[t]; a[t] = s[t ^ 33]; }  // FIXED: __global__ void swapped(int* a) { __shared__ int s[64]; int t = threadIdx.x; s[t] = a[t]; __syncthreads(); a[t] = s[t ^ 33]; }
PLANT(all_on_one_line) { swapped<<<1, 64>>>(filled(64)); }

__global__ void selected(const int* in, int* out, int* n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 3 == 0) {
        int pos = *n;  // FIXED: int pos = atomicAdd(n, 1);
        *n += 1;  // FIXED: ;
        out[pos] = in[i];
    }
}
PLANT(place_then_count) { selected<<<2, 64>>>(filled(128), zeros(128), zeros(1)); }

__global__ void kept(const int* in, int* out, int* count) {
    const int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (x > 50) {
        int p = (*count)++;
        out[p] = x;
    }
}
PLANT(pointer_stepped) { kept<<<2, 64>>>(filled(128), zeros(128), zeros(1)); }

class Sum {
    int* slot;

public:
    explicit Sum(int* s) : slot(s) {}
    __device__ void operator+=(int x) {
        *slot = *slot + x;
    }
};
__global__ void summed(const int* x, Sum sum) { sum += x[blockIdx.x * blockDim.x + threadIdx.x]; }
PLANT(operator_adds) { summed<<<2, 64>>>(filled(128), Sum(zeros(1))); }

struct Stack {
    int top, items[128];
    __device__ void push(int x) { items[top++] = x; }  // FIXED: __device__ void push(int x) { items[atomicAdd(&top, 1)] = x; }
};
__global__ void pushed(const int* in, Stack* s) { s->push(in[blockIdx.x * blockDim.x + threadIdx.x]); }
PLANT(member_stepped) { pushed<<<2, 64>>>(filled(128), zeros<Stack>(1)); }

__global__ void added(int* y, const int* x, int n) {
    int stride = blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)  // FIXED: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride * gridDim.x)
        y[i] += x[i];
}
PLANT(stride_of_one_block) { added<<<2, 64>>>(zeros(200), filled(200), 200); }

__global__ void reversed(int* a) {
    extern __shared__ int s[]; s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(bytes_for_elements) {  // SAYS: the third argument of <<<>>> in line @#third gives 64 bytes, and the accesses need 256: if 64 is a number of elements, multiply it by 4
    reversed<<<1, 64, 64>>>(filled(64));  // FIXED: reversed<<<1, 64, 64 * sizeof(int)>>>(filled(64));  // #third
}
