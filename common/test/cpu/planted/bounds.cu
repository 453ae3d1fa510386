// Indices, values that nobody has written, and barriers or masks that not all reach.
// RUN: slow fix
#include "planted.cuh"

__global__ void past_the_end(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];  // FIXED: if (i < n) out[i] = in[i];
}
PLANT(no_guard) { past_the_end<<<4, 64>>>(filled(250), zeros(250), 250); }  // SAYS: the launch has 256 threads, and no condition compares it

__global__ void guard_too_late(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = 1;  // FIXED: if (i < n) out[i] = 1;
}
PLANT(guard_with_equal) { guard_too_late<<<4, 64>>>(zeros(200), 200); }  // SAYS: which has 200

__global__ void set_all(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
PLANT(elements_for_bytes) {  // SAYS: line @#size gives 250 bytes, and the accesses need 1000: if 250 is a number of elements, multiply it by 4
    int* out;
    cudaMalloc(&out, 250);  // FIXED: cudaMalloc(&out, 250 * sizeof(int));  // #size
    set_all<<<4, 64>>>(out, 250);
}

__global__ void shared_end(int* out) {
    __shared__ int a[64];
    a[threadIdx.x + 1] = 1;  // FIXED: a[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x & 1 ? threadIdx.x : threadIdx.x | 1];
}
PLANT(shared_past_the_end) { shared_end<<<1, 64>>>(zeros(64)); }  // SAYS: elements up to number 64

__global__ void left_neighbour(const int* in, int* out) {
    const int i = threadIdx.x;
    out[i] = in[i] - in[i - 1];  // FIXED: out[i] = i > 0 ? in[i] - in[i - 1] : in[i];
}
PLANT(before_the_beginning) { left_neighbour<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: check the index

__global__ void stride(const int* in, int* out, int n) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i + blockDim.x];  // FIXED: for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
    out[threadIdx.x] = sum;
}
PLANT(stride_past_the_end) { stride<<<1, 64>>>(filled(256), zeros(64), 256); }  // SAYS: check the index

__global__ void unset_sum(const int* in, int* sum) {
    *sum = *sum + in[0];  // FIXED: *sum = in[0];
}
PLANT(sum_never_set) {  // SAYS: nobody has written
    int* sum;
    cudaMalloc(&sum, sizeof(int));
    unset_sum<<<1, 1>>>(filled(1), sum);
}

__global__ void unset_shared(const int* in, int* out) {
    __shared__ int a[65];
    a[threadIdx.x] = in[threadIdx.x];  // #set_a
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x + 1];  // FIXED: out[threadIdx.x] = threadIdx.x < 63 ? a[threadIdx.x + 1] : 0;
}
PLANT(halo_never_set) { unset_shared<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: no thread sets element 64 (line @#set_a: others)

__global__ void unset_bins(const int* in, int* out) {
    __shared__ int bins[8];
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);  // FIXED: if (threadIdx.x < 8) bins[threadIdx.x] = 0; __syncthreads(); atomicAdd(&bins[in[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
PLANT(bins_never_set) { unset_bins<<<1, 128>>>(filled(128), zeros(8)); }  // SAYS: after line 66, where it is declared, let the threads set all 8

__global__ void half_a_barrier(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) { __syncthreads(); }  // FIXED: __syncthreads();
    else { __syncthreads(); }                   // FIXED: 
    out[threadIdx.x] = a[63 - threadIdx.x];
}
PLANT(barrier_in_branches) { half_a_barrier<<<1, 64>>>(zeros(64)); }  // SAYS: out of the branch

__global__ void lane_not_in_mask(int* out) {
    const int v = __shfl_sync(0xffff, int(threadIdx.x), 1);  // FIXED: const int v = __shfl_sync(0xffffffff, int(threadIdx.x), 1);
    out[threadIdx.x] = v;
}
PLANT(mask_too_small) { lane_not_in_mask<<<1, 32>>>(zeros(32)); }  // SAYS: mask

__global__ void lanes_missing(int* out) {
    int v = 1;
    if (threadIdx.x < 16) {
        v += __shfl_down_sync(0xffffffff, v, 8);  // FIXED: v += __shfl_down_sync(0xffff, v, 8);
    } else {
        __syncwarp();  // FIXED: __syncwarp(0xffff0000);
    }
    out[threadIdx.x] = v;
}
PLANT(lanes_not_there) { lanes_missing<<<1, 32>>>(zeros(32)); }  // SAYS: every lane in the mask

__global__ void misaligned(const char* in, int* out) {
    out[threadIdx.x] = *(const int*)(in + 4 * threadIdx.x + 1);  // FIXED: out[threadIdx.x] = *(const int*)(in + 4 * threadIdx.x);
}
PLANT(one_byte_off) { misaligned<<<1, 8>>>(filled<char>(64), zeros(8)); }  // SAYS: align

__global__ void host_pointer(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }
PLANT(pointer_of_the_host) {  // SAYS: cudaMalloc
    int* in = new int[8]{};
#ifdef CURED
    in = filled(8);
#endif
    host_pointer<<<1, 8>>>(zeros(8), in);
}

__global__ void one_element(int* out) {
    *out = 1;  // FIXED: *reinterpret_cast<char*>(out) = 1;
}
PLANT(bytes_for_an_int) {  // SAYS: which has 1 of its 4 bytes{{.*}}multiply it by 4
    one_element<<<1, 1>>>(reinterpret_cast<int*>(zeros<char>(1)));
}

__global__ void steps(const int* in, int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i + 1] - in[i];  // FIXED: out[i] = i + 1 < n ? in[i + 1] - in[i] : 0;
}
PLANT(next_of_the_last) {
    int* out = zeros(200);
    steps<<<2, 32>>>(filled(200), out, 200);
    wants(out, 199, [](int i) { return in_at(i + 1) - in_at(i); });
}

__global__ void from_the_left(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = in[i - 1];  // FIXED: out[i] = i > 0 ? in[i - 1] : 0;
}
PLANT(one_before_the_first) { from_the_left<<<2, 32>>>(filled(50), zeros(50), 50); }

__global__ void small_tile(const int* in, int* out) {
    __shared__ int s[64 + 2];  // FIXED: __shared__ int s[68];
    const int t = threadIdx.x;
    s[t + 2] = in[t];
    if (t < 2) s[t] = in[t], s[66 + t] = in[62 + t];
    __syncthreads();
    for (int k = -2; k <= 2; ++k) out[t] += s[t + 2 + k];
}
PLANT(tile_without_one_halo) { small_tile<<<1, 64>>>(filled(64), zeros(64)); }  // SAYS: elements up to number 67

__global__ void no_bytes(const int* in, int* out) {
    extern __shared__ int bytes_forgotten[];
    bytes_forgotten[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = bytes_forgotten[threadIdx.x ^ 1];
}
PLANT(dynamic_bytes_forgotten) {  // SAYS: <<<blocks, threads, bytes>>>
    no_bytes<<<1, 32>>>(filled(32), zeros(32));  // FIXED: no_bytes<<<1, 32, 128>>>(filled(32), zeros(32));
}

__global__ void whitened(unsigned char* map, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y > h) return;  // FIXED: if (x >= w || y >= h) return;
    map[y * w + x] = map[y * w + x] ? 255 : 0;
}
PLANT(one_row_too_many) { whitened<<<dim3(2, 2), dim3(16, 8)>>>(filled<unsigned char>(160), 20, 8); }

__global__ void sums_of_three(const float* in, float* out, int n) {
    extern __shared__ float strip[];
    int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 1;
    strip[l] = g < n ? in[g] : 0;
    if (threadIdx.x == 0) strip[0] = g > 0 ? in[g - 1] : 0;
    if (threadIdx.x == blockDim.x - 1) strip[l + 1] = g + 1 < n ? in[g + 1] : 0;
    __syncthreads();
    if (g < n) out[g] = strip[l - 1] + strip[l] + strip[l + 1];
}
PLANT(launch_counts_elements) {  // SAYS: the third argument of <<<>>> in line @#strip gives 66 bytes, and the accesses need 264: if 66 is a number of elements, multiply it by 4
    const int n = 200, threads = 64, shared = threads + 2;
    float* out = zeros<float>(n);
    sums_of_three<<<4, threads, shared>>>(filled<float>(n), out, n);  // FIXED: sums_of_three<<<4, threads, shared * sizeof(float)>>>(filled<float>(n), out, n);  // #strip
    wants(out, n, [](int i) { return (i ? in_at(i - 1) : 0) + in_at(i) + (i < 199 ? in_at(i + 1) : 0); });
}

__global__ void counts_up(double* acc, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) acc[i] += 1;
}
PLANT(memset_counts_elements) {  // SAYS: cudaMemset in line @#cleared (called from {{.*}}) wrote 100 of the 800 bytes: the size counts bytes, multiply it by 8
    struct {
        double* data;
        int n;
    } box;
    box.n = 100;
    cudaMalloc((void**)&box.data, box.n * sizeof(double));
    cudaMemset(box.data, 0, box.n);  // FIXED: cudaMemset(box.data, 0, box.n * sizeof(double));  // #cleared
    counts_up<<<2, 64>>>(box.data, box.n);
    wants(box.data, 100, [](int) { return 1; });
}

__global__ void window(const float* src, float* dst, int count) {
    __shared__ float win[64 + 2];
    int pos = blockIdx.x * blockDim.x + threadIdx.x;
    win[threadIdx.x + 1] = (pos < count) ? src[pos] : 0.0f;  // FIXED: win[threadIdx.x + 1] = (pos < count) ? src[pos] : 0.0f; if (threadIdx.x == 0) win[0] = pos > 0 ? src[pos - 1] : 0.0f; if (threadIdx.x == 63) win[65] = pos + 1 < count ? src[pos + 1] : 0.0f;  // #window
    __syncthreads();
    if (pos < count) dst[pos] = win[threadIdx.x] + win[threadIdx.x + 1] + win[threadIdx.x + 2];
}
PLANT(no_halo_loaded) {  // SAYS: no thread sets element 0 and element 65 (line @#window: others)
    float* out = zeros<float>(190);
    window<<<3, 64>>>(filled<float>(190), out, 190);
    wants(out, 190, [](int i) { return (i ? in_at(i - 1) : 0) + in_at(i) + (i < 189 ? in_at(i + 1) : 0); });
}

__global__ void by_vectors(int* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (n + 3) / 4) return;
    int4 v = reinterpret_cast<int4*>(x)[i];  // FIXED: if (i == n / 4) { for (int k = 4 * i; k < n; ++k) x[k] *= 2; return; } int4 v = reinterpret_cast<int4*>(x)[i];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    reinterpret_cast<int4*>(x)[i] = v;
}
PLANT(rest_of_a_vector) {  // SAYS: only n / 4 whole ones are there
    int* x = filled(250);
    by_vectors<<<1, 64>>>(x, 250);
    wants(x, 250, [](int i) { return 2 * in_at(i); });
}

__global__ void by_guarded_vectors(int* x, int n) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    int4 v = *reinterpret_cast<int4*>(x + i);  // FIXED: if (i + 3 >= n) { for (int k = i; k < n; ++k) x[k] *= 2; return; } int4 v = *reinterpret_cast<int4*>(x + i);
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    *reinterpret_cast<int4*>(x + i) = v;
}
PLANT(guard_of_a_vector) {  // SAYS: let the guard ask for the last of them (i + 3 < n)
    int* x = filled(250);
    by_guarded_vectors<<<1, 64>>>(x, 250);
    wants(x, 250, [](int i) { return 2 * in_at(i); });
}

__global__ void in_second_half(int* x, int n) {
    int* half = x + n * sizeof(int);  // FIXED: int* half = x + n;
    half[threadIdx.x] = 1;
}
PLANT(bytes_in_a_pointer) {  // SAYS: + counts elements, not bytes
    int* x = zeros(128);
    in_second_half<<<1, 64>>>(x, 64);
    wants(x, 128, [](int i) { return i / 64; });
}

__global__ void doubled(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
PLANT(copied_too_late) {  // SAYS: cudaMemcpy in line @#late {{.*}}writes it after this launch: move that before line @#early
    int host[100], *in, *out = zeros(100);
    for (int i = 0; i < 100; ++i) host[i] = in_at(i);
    cudaMalloc(&in, sizeof host);
    doubled<<<2, 64>>>(in, out, 100);  // FIXED: cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice); doubled<<<2, 64>>>(in, out, 100);  // #early
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);  // #late
    wants(out, 100, [](int i) { return 2 * in_at(i); });
}

template <class T> T* on_the_device(const T* host, int n) {
    T* p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice);  // FIXED: cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);  // #pointer
    return p;
}
PLANT(size_of_the_pointer) {  // SAYS: cudaMemcpy in line @#pointer (called from line @#uploaded) wrote 8 of the 400 bytes: 8 is the size of a pointer: pass the number of elements times 4
    int host[100], *out = zeros(100);
    for (int i = 0; i < 100; ++i) host[i] = in_at(i);
    int* in = on_the_device(host, 100);  // #uploaded
    doubled<<<2, 64>>>(in, out, 100);
    wants(out, 100, [](int i) { return 2 * in_at(i); });
}

__global__ void counted_up(int* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;  // FIXED: for (int k = i; k < n; k += blockDim.x * gridDim.x) x[k] = k;  // #fills
}
PLANT(filled_by_too_few) {  // SAYS: 36 of the 100 elements are not written, the first is number 64: others are written in line @#fills
    int *in, *out = zeros(100);
    cudaMalloc(&in, 100 * sizeof(int));
    counted_up<<<100 / 64, 64>>>(in, 100);
    doubled<<<2, 64>>>(in, out, 100);
    wants(out, 100, [](int i) { return 2 * i; });
}

struct Memory {
    int* p;
    Memory() { cudaMalloc(&p, 64 * sizeof(int)), cudaMemset(p, 0, 64 * sizeof(int)); }
    ~Memory() { cudaFree(p); }  // #freed
};
void doubles(const Memory* m, int* out) { doubled<<<1, 64>>>(m->p, out, 64); }
void doubles(Memory m, int* out) { doubles(&m, out); }
PLANT(freed_by_a_copy) {  // SAYS: line @#freed (called from line @#passed) frees it
    Memory m;
    doubles(m, zeros(64));  // FIXED: doubles(&m, zeros(64));  // #passed
    doubled<<<1, 64>>>(m.p, zeros(64), 64);
}

struct Row {
    int* first;
};
__global__ void cleared_row(const Row* row) { row->first[threadIdx.x] = 0; }
PLANT(pointer_in_a_struct) {  // SAYS: copying a struct copies its pointers only
    Row host{new int[64]}, *row;
    cudaMalloc(&row, sizeof host);
#ifdef CURED
    host.first = zeros(64);
#endif
    cudaMemcpy(row, &host, sizeof host, cudaMemcpyHostToDevice);
    cleared_row<<<1, 64>>>(row);
}
