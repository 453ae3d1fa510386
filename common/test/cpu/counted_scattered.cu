// counted_scattered.cu - kernels as other people write them, written before any was counted, counted as the samples
// are (counted.sh): compaction, sorting, sparse matrices, structs and narrow types, atomics, branches and loops
// that depend on the data, blocks of odd shapes.
//   counted_scattered N EDGE   arrays of N elements, matrices of EDGE x EDGE
// Each kernel's result is compared with the host's. Exit status: 0 all right, 1 not, 2 not understood, 77 no GPU.
#include <set>

#include "counted.cuh"

constexpr unsigned full = 0xffffffff;

// An array of the device's own with the values of a vector.
template <class T>
struct Copy {
    T* data;
    explicit Copy(const std::vector<T>& values) {
        cudaMallocManaged(&data, (values.size() + 1) * sizeof(T));
        std::copy(values.begin(), values.end(), data);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    ~Copy() { cudaFree(data); }
    operator T*() const { return data; }
};

// ---- compaction and sorting, of each block ------------------------------------------------------------------

__global__ void filter_scan(const int* in, int* out, int* counts, int size) {
    __shared__ int place[threads];
    const int tid = threadIdx.x, i = blockIdx.x * threads + tid;
    const int keep = i < size && in[i] % 4 == 1;
    place[tid] = keep;
    __syncthreads();
    for (int d = 1; d < threads; d *= 2) {
        const int add = tid >= d ? place[tid - d] : 0;
        __syncthreads();
        place[tid] += add;
        __syncthreads();
    }
    if (keep) out[blockIdx.x * threads + place[tid] - 1] = in[i];
    if (tid == threads - 1) counts[blockIdx.x] = place[tid];
}

// Those with the bit go behind the others: a step of a radix sort.
__global__ void split_by_bit(unsigned* values, int bit) {
    __shared__ int ones_before[threads / 32];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const unsigned value = values[blockIdx.x * threads + tid];
    const bool one = value >> bit & 1;
    const unsigned ballot = __ballot_sync(full, one);
    if (lane == 0) ones_before[warp] = __popc(ballot);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < threads / 32; w++) {
        if (w < warp) before += ones_before[w];
        all += ones_before[w];
    }
    before += __popc(ballot & ((1u << lane) - 1));
    const int to = one ? threads - all + before : tid - before;
    __syncthreads();
    values[blockIdx.x * threads + to] = value;
}

__global__ void odd_even_sort(int* values, int size) {
    __shared__ int s[128];
    const int tid = threadIdx.x, i = blockIdx.x * 128 + tid;
    s[tid] = i < size ? values[i] : 1 << 30;
    __syncthreads();
    for (int round = 0; round < 128; ++round) {
        const int left = 2 * tid + (round & 1);
        if (left + 1 < 128 && s[left] > s[left + 1]) {
            const int t = s[left];
            s[left] = s[left + 1];
            s[left + 1] = t;
        }
        __syncthreads();
    }
    if (i < size) values[i] = s[tid];
}

// Keys with their values; 2 * blockDim.x of them.
__global__ void bitonic_pairs(unsigned int* keys, unsigned int* vals) {
    __shared__ unsigned int s_key[512];
    __shared__ unsigned int s_val[512];
    keys += blockIdx.x * 512 + threadIdx.x;
    vals += blockIdx.x * 512 + threadIdx.x;
    s_key[threadIdx.x] = keys[0];
    s_val[threadIdx.x] = vals[0];
    s_key[threadIdx.x + 256] = keys[256];
    s_val[threadIdx.x + 256] = vals[256];
    for (unsigned int size = 2; size < 512; size <<= 1) {
        unsigned int up = (threadIdx.x & (size / 2)) != 0;
        for (unsigned int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            if ((s_key[pos] > s_key[pos + stride]) != up) {
                unsigned int k = s_key[pos], v = s_val[pos];
                s_key[pos] = s_key[pos + stride];
                s_val[pos] = s_val[pos + stride];
                s_key[pos + stride] = k;
                s_val[pos + stride] = v;
            }
        }
    }
    for (unsigned int stride = 256; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        if (s_key[pos] > s_key[pos + stride]) {
            unsigned int k = s_key[pos], v = s_val[pos];
            s_key[pos] = s_key[pos + stride];
            s_val[pos] = s_val[pos + stride];
            s_key[pos + stride] = k;
            s_val[pos + stride] = v;
        }
    }
    __syncthreads();
    keys[0] = s_key[threadIdx.x];
    vals[0] = s_val[threadIdx.x];
    keys[256] = s_key[threadIdx.x + 256];
    vals[256] = s_val[threadIdx.x + 256];
}

// How many are smaller? That is where the element goes.
__global__ void rank_sort(const int* in, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const int mine = in[i];
    int rank = 0;
    for (int k = 0; k < size; k++)
        if (in[k] < mine || (in[k] == mine && k < i)) rank++;
    out[rank] = mine;
}

// Two sorted halves: each element looks in the other half for its place.
__global__ void merge_halves(const int* in, int* out, int half) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * half) return;
    const bool second = i >= half;
    const int* const other = second ? in : in + half;
    const int value = in[i];
    int low = 0, high = half;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (other[middle] < value || (second && other[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    out[(second ? i - half : i) + low] = value;
}

void sorting() {
    std::vector<int> kept(size_t(blocks(n)) * threads);
    std::vector<int> numbers(size_t(blocks(n)));
    for (int i = 0; i < n; ++i)
        if (ints[i] % 4 == 1) kept[size_t(i / threads * threads + numbers[size_t(i / threads)]++)] = ints[i];
    filter_scan<<<blocks(n), threads>>>(d_ints, d_out, d_out + most, n);
    expect("filter_scan", d_out, int(kept.size()), [&](int i) { return kept[size_t(i)]; });
    const int whole = n / threads * threads;
    std::vector<int> halves(ints.begin(), ints.begin() + whole);
    for (int b = 0; b < whole; b += threads)
        std::stable_partition(halves.begin() + b, halves.begin() + b + threads, [](int v) { return !(v & 4); });
    std::copy(ints.begin(), ints.begin() + whole, d_out);
    split_by_bit<<<whole / threads, threads>>>(reinterpret_cast<unsigned*>(d_out), 2);
    expect("split_by_bit", d_out, whole, [&](int i) { return halves[size_t(i)]; });
    std::vector<int> sorted(ints.begin(), ints.begin() + n);
    for (int b = 0; b < n; b += 128) std::sort(sorted.begin() + b, sorted.begin() + std::min(n, b + 128));
    std::copy(ints.begin(), ints.begin() + n, d_out);
    odd_even_sort<<<blocks(n, 128), 128>>>(d_out, n);
    expect("odd_even_sort", d_out, n, [&](int i) { return sorted[size_t(i)]; });
    const int of_512 = n / 512 * 512;
    std::vector<int> keys(ints.begin(), ints.begin() + of_512);
    for (int b = 0; b < of_512; b += 512) std::sort(keys.begin() + b, keys.begin() + b + 512);
    for (int i = 0; i < of_512; ++i) {
        d_out[i] = ints[i];
        d_out[most + i] = i;
    }
    bitonic_pairs<<<of_512 / 512, 256>>>(reinterpret_cast<unsigned*>(d_out),
                                         reinterpret_cast<unsigned*>(d_out + most));
    cudaDeviceSynchronize();
    for (int i = 0; i < of_512; ++i)
        if (ints[d_out[most + i]] != d_out[i]) d_out[i] = -1;
    expect("bitonic_pairs", d_out, of_512, [&](int i) { return keys[size_t(i)]; });
    const int few = std::min(n, 700);
    std::vector<int> ranked(ints.begin(), ints.begin() + few);
    std::sort(ranked.begin(), ranked.end());
    rank_sort<<<blocks(few, 96), 96>>>(d_ints, d_out, few);
    expect("rank_sort", d_out, few, [&](int i) { return ranked[size_t(i)]; });
    const int half = n / 2;
    std::vector<int> two(ints.begin(), ints.begin() + 2 * half);
    std::sort(two.begin(), two.begin() + half);
    std::sort(two.begin() + half, two.end());
    const Copy<int> d_two(two);
    std::sort(two.begin(), two.end());
    merge_halves<<<blocks(2 * half), threads>>>(d_two, d_out, half);
    expect("merge_halves", d_out, 2 * half, [&](int i) { return two[size_t(i)]; });
}

// ---- sparse matrices and graphs -------------------------------------------------------------------------------

__global__ void spmv_csr_scalar(int num_rows, const int* __restrict__ ptr, const int* __restrict__ indices,
                                const float* __restrict__ data, const float* __restrict__ x,
                                float* __restrict__ y) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < num_rows) {
        float dot = 0;
        int row_start = ptr[row];
        int row_end = ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++) dot += data[jj] * x[indices[jj]];
        y[row] = dot;
    }
}

__global__ void spmv_csr_vector(int num_rows, const int* ptr, const int* indices, const float* data, const float* x,
                                float* y) {
    __shared__ float vals[128];
    int thread_id = blockDim.x * blockIdx.x + threadIdx.x;
    int warp_id = thread_id / 32;
    int lane = thread_id & (32 - 1);
    int row = warp_id;
    if (row < num_rows) {
        int row_start = ptr[row];
        int row_end = ptr[row + 1];
        vals[threadIdx.x] = 0;
        for (int jj = row_start + lane; jj < row_end; jj += 32) vals[threadIdx.x] += data[jj] * x[indices[jj]];
        for (int d = 16; d > 0; d /= 2) {
            __syncwarp();
            if (lane < d) vals[threadIdx.x] += vals[threadIdx.x + d];
        }
        if (lane == 0) y[row] = vals[threadIdx.x];
    }
}

__global__ void spmv_ell(int num_rows, int per_row, const int* indices, const float* data, const float* x,
                         float* y) {
    const int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= num_rows) return;
    float dot = 0;
    for (int k = 0; k < per_row; k++) {
        const int column = indices[num_rows * k + row];
        const float value = data[num_rows * k + row];
        if (value != 0) dot += value * x[column];
    }
    y[row] = dot;
}

__global__ void spmv_coo(int count, const int* rows, const int* columns, const float* data, const float* x,
                         float* y) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) atomicAdd(&y[rows[i]], data[i] * x[columns[i]]);
}

// A level of a breadth-first search: who is in it visits its neighbours.
__global__ void bfs_level(const int* first, const int* targets, int* levels, int* changed, int level, int count) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count || levels[v] != level) return;
    for (int e = first[v]; e < first[v + 1]; ++e) {
        const int to = targets[e];
        if (levels[to] < 0) {
            levels[to] = level + 1;
            *changed = 1;
        }
    }
}

__global__ void degrees(const int* targets, int edges, int* in_degree) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += blockDim.x * gridDim.x)
        atomicAdd(in_degree + targets[e], 1);
}

void graphs() {
    const int rows = n / 16, per_row = 9;
    std::vector<int> first{0}, columns, row_of;
    std::vector<float> values;
    std::vector<int> ell_columns(size_t(rows) * per_row);
    std::vector<float> ell(ell_columns.size());
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < ints[i] % (per_row + 1); ++k) {
            columns.push_back(ints[16 * i + k] % rows);
            values.push_back(1 + floats[16 * i + k]);
            row_of.push_back(i);
            ell_columns[size_t(rows * k + i)] = columns.back();
            ell[size_t(rows * k + i)] = values.back();
        }
        first.push_back(int(columns.size()));
    }
    const Copy<int> d_first(first), d_columns(columns), d_rows(row_of), d_ell_columns(ell_columns);
    const Copy<float> d_values(values), d_ell(ell);
    const auto right = [&](int i) {
        return sum_of(first[size_t(i)], first[size_t(i) + 1],
                      [&](int k) { return values[size_t(k)] * floats[columns[size_t(k)]]; });
    };
    spmv_csr_scalar<<<blocks(rows, 128), 128>>>(rows, d_first, d_columns, d_values, d_floats, d_result);
    expect("spmv_csr_scalar", d_result, rows, right);
    spmv_csr_vector<<<blocks(32 * rows, 128), 128>>>(rows, d_first, d_columns, d_values, d_floats, d_result);
    expect("spmv_csr_vector", d_result, rows, right);
    spmv_ell<<<blocks(rows), threads>>>(rows, per_row, d_ell_columns, d_ell, d_floats, d_result);
    expect("spmv_ell", d_result, rows, right);
    const int count = int(columns.size());
    spmv_coo<<<blocks(count), threads>>>(count, d_rows, d_columns, d_values, d_floats, d_result);
    expect("spmv_coo", d_result, rows, right);
    std::vector<int> levels(size_t(rows), -1);
    for (int i = 0; i < rows; i += 3) levels[size_t(i)] = 4;
    for (int i = 0; i < rows; ++i) d_out[i] = levels[size_t(i)];
    for (int i = 0; i < rows; i += 3)
        for (int k = first[size_t(i)]; k < first[size_t(i) + 1]; ++k) {
            int& level = levels[size_t(columns[size_t(k)])];
            if (level < 0) level = 5;
        }
    bfs_level<<<blocks(rows, 64), 64>>>(d_first, d_columns, d_out, d_out + most, 4, rows);
    expect("bfs_level", d_out, rows, [&](int i) { return levels[size_t(i)]; });
    degrees<<<3, 128>>>(d_columns, count, d_out);
    expect("degrees", d_out, rows, [&](int i) { return std::count(columns.begin(), columns.end(), i); });
}

// ---- structs, narrow and wide types, what lies apart ------------------------------------------------------------

struct Body {  // 24 bytes
    float3 position, velocity;
};
struct Sample {  // 16 bytes, aligned to 8
    int id;
    double weight;
};
struct alignas(16) Quad {
    short a, b;
    int c;
    float d, e;
};

__global__ void drift(Body* bodies, int size, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    bodies[i].position.x += dt * bodies[i].velocity.x;
    bodies[i].position.y += dt * bodies[i].velocity.y;
    bodies[i].position.z += dt * bodies[i].velocity.z;
}

__global__ void drift_apart(float* px, float* py, float* pz, const float* vx, const float* vy, const float* vz,
                            int size, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    px[i] += dt * vx[i];
    py[i] += dt * vy[i];
    pz[i] += dt * vz[i];
}

__global__ void weigh(Sample* samples, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && samples[i].id % 2) samples[i].weight *= 2;
}

__global__ void quads(const Quad* in, Quad* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        Quad q = in[i];
        q.c += q.a - q.b;
        q.d *= q.e;
        out[i] = q;
    }
}

__global__ void rgb_to_gray(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < width && y < height) {
        int grayOffset = y * width + x;
        int rgbOffset = grayOffset * 3;
        unsigned char r = rgb[rgbOffset];
        unsigned char g = rgb[rgbOffset + 1];
        unsigned char b = rgb[rgbOffset + 2];
        gray[grayOffset] = (unsigned char)((r * 77 + g * 150 + b * 29) >> 8);
    }
}

__global__ void upper_case(char* text, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && text[i] >= 'a' && text[i] <= 'z') text[i] -= 32;
}

__global__ void mix_short2(const short2* in, short2* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        out[i].x = in[i].y;
        out[i].y = short(in[i].x + 1);
    }
}

__global__ void axpy_double2(double a, const double2* x, double2* y, int size) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < size; i += stride) {
        double2 u = x[i], v = y[i];
        v.x += a * u.x;
        v.y += a * u.y;
        y[i] = v;
    }
}

// Sixteen bytes at once, from an odd multiple of sixteen on; the rest one by one.
__global__ void copy_wide(float* out, const float* in, int offset, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4* const from = reinterpret_cast<const float4*>(in + offset);
    if (i < size / 4) reinterpret_cast<float4*>(out)[i] = from[i];
    if (i < size % 4) out[size / 4 * 4 + i] = in[offset + size / 4 * 4 + i];
}

__global__ void four_in_a_row(const float* in, float* out, int size) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= size)
        for (int k = 0; k < 4; ++k) out[i + k] = 2 * in[i + k + 1];
}

template <int STRIDE>
__device__ void copy_every(int* out, const int* in, int size) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * STRIDE;
    if (i < size) out[i / STRIDE] = in[i];
}
__global__ void copy_every_2(int* out, const int* in, int size) { copy_every<2>(out, in, size); }
__global__ void copy_every_5(int* out, const int* in, int size) { copy_every<5>(out, in, size); }
__global__ void copy_every_33(int* out, const int* in, int size) { copy_every<33>(out, in, size); }

__global__ void permute(const int* in, const int* to, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[to[i]] = in[i];
}

__global__ void embedding(const float4* table, const int* tokens, float4* out, int count, int width4) {
    const int token = blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= count) return;
    const float4* const row = table + tokens[token] % 64 * width4;
    for (int i = threadIdx.x; i < width4; i += blockDim.x) out[token * width4 + i] = row[i];
}

__global__ void add_pitched(const char* a, const char* b, char* c, size_t pitch, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float* const row_a = (const float*)(a + y * pitch);
    const float* const row_b = (const float*)(b + y * pitch);
    float* const row_c = (float*)(c + y * pitch);
    row_c[x] = row_a[x] + row_b[x];
}

__global__ void interleave(const int* a, const int* b, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        out[2 * i] = a[i];
        out[2 * i + 1] = b[i];
    }
}

void structs() {
    const auto start = [] { cudaMemcpy(d_result, d_floats, 4 * most * sizeof(float), cudaMemcpyDefault); };
    start();
    drift<<<blocks(n), threads>>>(reinterpret_cast<Body*>(d_result), n, 0.5f);
    expect("drift", d_result, 6 * n, [](int i) { return i % 6 < 3 ? floats[i] + floats[i + 3] / 2 : floats[i]; });
    start();
    drift_apart<<<blocks(n), threads>>>(d_result, d_result + n, d_result + 2 * n, d_floats + 3 * n,
                                        d_floats + 4 * n, d_floats + 5 * n, n, 0.5f);
    expect("drift_apart", d_result, 3 * n, [](int i) { return floats[i] + floats[3 * n + i] / 2; });
    std::vector<Sample> samples(size_t(n), Sample{0, 0});
    for (int i = 0; i < n; ++i) samples[size_t(i)] = {ints[i], floats[i]};
    const Copy<Sample> d_samples(samples);
    weigh<<<blocks(n), threads>>>(d_samples, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) d_result[i] = float(d_samples[i].weight);
    expect("weigh", d_result, n, [](int i) { return ints[i] % 2 ? 2 * floats[i] : floats[i]; });
    std::vector<Quad> in(size_t(n), Quad{});
    for (int i = 0; i < n; ++i) in[size_t(i)] = {short(i % 100), short(ints[i] % 100), i, floats[i], 3};
    const Copy<Quad> d_in(in);
    const Copy<Quad> d_quads(in);
    quads<<<blocks(n), threads>>>(d_in, d_quads, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) d_result[i] = d_quads[i].d + float(d_quads[i].c);
    expect("quads", d_result, n,
           [](int i) { return 3 * floats[i] + float(i) + float(i % 100) - float(ints[i] % 100); });
    const auto* const bytes = reinterpret_cast<const unsigned char*>(ints.data());
    auto* const d_bytes = reinterpret_cast<unsigned char*>(d_out);
    rgb_to_gray<<<dim3(blocks(edge, 16), blocks(edge, 16)), dim3(16, 16)>>>(
        reinterpret_cast<const unsigned char*>(d_ints), d_bytes, edge, edge);
    expect("rgb_to_gray", d_bytes, edge * edge,
           [&](int i) { return (bytes[3 * i] * 77 + bytes[3 * i + 1] * 150 + bytes[3 * i + 2] * 29) >> 8; });
    std::copy(ints.begin(), ints.begin() + n, d_out);
    upper_case<<<blocks(n), threads>>>(reinterpret_cast<char*>(d_out), n);
    expect("upper_case", d_bytes, n,
           [&](int i) { return bytes[i] >= 'a' && bytes[i] <= 'z' ? bytes[i] - 32 : bytes[i]; });
    mix_short2<<<blocks(n), threads>>>(reinterpret_cast<const short2*>(d_ints), reinterpret_cast<short2*>(d_out),
                                       n);
    const auto* const shorts = reinterpret_cast<const short*>(ints.data());
    expect("mix_short2", reinterpret_cast<const short*>(d_out), 2 * n,
           [&](int i) { return short(shorts[i ^ 1] + i % 2); });
    std::vector<double> x(size_t(n / 2 * 2));
    for (size_t i = 0; i < x.size(); ++i) x[i] = floats[i];
    const Copy<double> d_x(x), d_y(x);
    axpy_double2<<<4, 96>>>(2, reinterpret_cast<double2*>(d_x.data), reinterpret_cast<double2*>(d_y.data), n / 2);
    expect("axpy_double2", d_y.data, n / 2 * 2, [](int i) { return 3 * floats[i]; });
    copy_wide<<<blocks(n, 4 * 128), 128>>>(d_result, d_floats, 12, n);
    expect("copy_wide", d_result, n, [](int i) { return floats[i + 12]; });
    four_in_a_row<<<blocks(n, 4 * 64), 64>>>(d_floats, d_result, n);
    expect("four_in_a_row", d_result, n / 4 * 4, [](int i) { return 2 * floats[i + 1]; });
    copy_every_2<<<blocks(n, 2 * threads), threads>>>(d_out, d_ints, n);
    expect("copy_every_2", d_out, n / 2, [](int i) { return ints[2 * i]; });
    copy_every_5<<<blocks(n, 5 * threads), threads>>>(d_out, d_ints, n);
    expect("copy_every_5", d_out, n / 5, [](int i) { return ints[5 * i]; });
    copy_every_33<<<blocks(n, 33 * threads), threads>>>(d_out, d_ints, n);
    expect("copy_every_33", d_out, n / 33, [](int i) { return ints[33 * i]; });
    std::vector<int> order(size_t(n), 0);
    for (int i = 0; i < n; ++i) order[size_t(i)] = i;
    for (int i = n - 1; i > 0; --i) std::swap(order[size_t(i)], order[size_t(ints[i] % (i + 1))]);
    const Copy<int> d_order(order);
    permute<<<blocks(n), threads>>>(d_ints, d_order, d_out, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) d_out[most + i] = d_out[order[size_t(i)]];
    expect("permute", d_out + most, n, [](int i) { return ints[i]; });
    const int tokens = n / 40, width4 = 9;
    embedding<<<blocks(tokens, 4), dim3(32, 4)>>>(reinterpret_cast<float4*>(d_floats), d_ints,
                                                  reinterpret_cast<float4*>(d_result), tokens, width4);
    expect("embedding", d_result, tokens * 4 * width4,
           [&](int i) { return floats[ints[i / 36] % 64 * 36 + i % 36]; });
    char *a, *b, *c;
    size_t pitch;
    cudaMallocPitch(&a, &pitch, size_t(edge) * sizeof(float), size_t(edge));
    cudaMallocPitch(&b, &pitch, size_t(edge) * sizeof(float), size_t(edge));
    cudaMallocPitch(&c, &pitch, size_t(edge) * sizeof(float), size_t(edge));
    const size_t row = size_t(edge) * sizeof(float);
    cudaMemcpy2D(a, pitch, d_floats, row, row, size_t(edge), cudaMemcpyDefault);
    cudaMemcpy2D(b, pitch, d_floats + most, row, row, size_t(edge), cudaMemcpyDefault);
    add_pitched<<<dim3(blocks(edge, 32), blocks(edge, 4)), dim3(32, 4)>>>(a, b, c, pitch, edge, edge);
    cudaMemcpy2D(d_result, row, c, pitch, row, size_t(edge), cudaMemcpyDefault);
    expect("add_pitched", d_result, edge * edge, [](int i) { return floats[i] + floats[most + i]; });
    for (char* p : {a, b, c}) cudaFree(p);
    interleave<<<blocks(n), threads>>>(d_ints, d_ints + most, d_out, n);
    expect("interleave", d_out, 2 * n, [](int i) { return i % 2 ? ints[most + i / 2] : ints[i / 2]; });
}

// ---- atomics
// ------------------------------------------------------------------------------------------------------

// The published way to add doubles; here each thread has a word of its own, so that nobody tries twice.
__device__ double atomic_add_by_cas(double* address, double val) {
    unsigned long long int* address_as_ull = (unsigned long long int*)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void add_own(double* sums, const double* in, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomic_add_by_cas(&sums[i], in[i]);
}

__global__ void shared_extremes(const int* in, int* result, int size) {
    __shared__ int least, greatest;
    if (threadIdx.x == 0) {
        least = 1 << 30;
        greatest = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        atomicMin(&least, in[i]);
        atomicMax(&greatest, in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(&result[0], least);
    if (threadIdx.x == 32) atomicMax(&result[1], greatest);
}

__global__ void shared_floats(const float* in, float* sums, int size) {  // one word a lane, so that none waits
    __shared__ float of_lane[32];
    if (threadIdx.x < 32) of_lane[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomicAdd(&of_lane[threadIdx.x % 32], in[i]);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&sums[threadIdx.x], of_lane[threadIdx.x]);
}

__global__ void add_doubles(const float* in, double* sums, int size) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += blockDim.x * gridDim.x)
        atomicAdd(&sums[i % 50], double(in[i]));
}

__global__ void add_64(const int* in, unsigned long long* sum, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long v = i < size ? in[i] : 0;
    for (int offset = 16; offset; offset >>= 1) v += __shfl_down_sync(full, v, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}

__global__ void mark(const int* in, unsigned* bitmap, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomicOr(&bitmap[in[i] / 32], 1u << in[i] % 32);
}

__global__ void tickets(const int* in, int* out, unsigned* next, int size) {  // each warp a counter of its own
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && in[i] % 5 == 0) {
        const unsigned place = atomicInc(&next[i / 32], 1000);
        out[i / 32 * 32 + place] = 1;
    }
}

__global__ void linked(const int* in, int* heads, int* nexts, int size) {  // a list for each remainder
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) nexts[i] = atomicExch(&heads[in[i] % 97], i);
}

__global__ void hash_insert(const int* keys, int* table, int slots, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const int key = keys[i] + 1;
    for (unsigned slot = unsigned(key) * 2654435761u % slots;; slot = (slot + 1) % slots) {
        const int old = atomicCAS(&table[slot], 0, key);
        if (old == 0 || old == key) return;
    }
}

void atomics() {
    const auto first = ints.begin(), last = ints.begin() + n;
    std::vector<double> doubles(floats.begin(), floats.begin() + n);
    const Copy<double> d_in(doubles), d_sums(doubles);
    add_own<<<blocks(n), threads>>>(d_sums, d_in, n);
    expect("add_own", d_sums.data, n, [](int i) { return 2 * floats[i]; });
    d_out[0] = 1 << 30;
    shared_extremes<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("shared_extremes", d_out, 2,
           [&](int i) { return i ? *std::max_element(first, last) : *std::min_element(first, last); });
    shared_floats<<<blocks(n), threads>>>(d_floats, d_result, n);
    expect("shared_floats", d_result, 32, [](int lane) {
        double sum = 0;
        for (int i = lane; i < n; i += 32) sum += floats[i];
        return sum;
    });
    add_doubles<<<5, 160>>>(d_floats, reinterpret_cast<double*>(d_result), n);
    expect("add_doubles", reinterpret_cast<double*>(d_result), 50, [](int k) {
        double sum = 0;
        for (int i = k; i < n; i += 50) sum += floats[i];
        return sum;
    });
    add_64<<<blocks(n), threads>>>(d_ints, reinterpret_cast<unsigned long long*>(d_out), n);
    expect("add_64", reinterpret_cast<unsigned long long*>(d_out), 1, [&](int) {
        double sum = 0;
        std::for_each(first, last, [&](int v) { sum += v; });
        return sum;
    });
    mark<<<blocks(n), threads>>>(d_ints, reinterpret_cast<unsigned*>(d_out), n);
    std::vector<unsigned> bitmap(320);
    std::for_each(first, last, [&](int v) { bitmap[size_t(v / 32)] |= 1u << v % 32; });
    expect("mark", reinterpret_cast<unsigned*>(d_out), 320, [&](int i) { return bitmap[size_t(i)]; });
    tickets<<<blocks(n), threads>>>(d_ints, d_out, reinterpret_cast<unsigned*>(d_out + most), n);
    expect("tickets", d_out, n, [](int i) {
        const int warp = i / 32 * 32;
        return i % 32 < std::count_if(ints.begin() + warp, ints.begin() + std::min(n, warp + 32),
                                      [](int v) { return v % 5 == 0; });
    });
    std::fill(d_out, d_out + 97, -1);
    linked<<<blocks(n), threads>>>(d_ints, d_out, d_out + most, n);
    cudaDeviceSynchronize();
    for (int k = 0; k < 97; ++k) {
        int count = 0;
        for (int i = d_out[k]; i >= 0 && count <= n; i = d_out[most + i]) ++count;
        d_out[k] = count;
    }
    expect("linked", d_out, 97,
           [&](int k) { return std::count_if(first, last, [k](int v) { return v % 97 == k; }); });
    const int keys = std::min(n, 4000), slots = 9973;
    hash_insert<<<blocks(keys), threads>>>(d_ints, d_out, slots, keys);
    cudaDeviceSynchronize();
    d_out[0] = slots - int(std::count(d_out, d_out + slots, 0));
    expect("hash_insert", d_out, 1, [&](int) { return std::set<int>(ints.begin(), ints.begin() + keys).size(); });
}

// ---- branches and loops, blocks of odd shapes
// -----------------------------------------------------------------------

__global__ void triangle(const float* in, float* out, int width) {  // the sums of a lower triangle's rows
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= width) return;
    float sum = 0;
    for (int x = 0; x <= row; x++) sum += in[row * width + x];
    out[row] = sum;
}

__global__ void mandelbrot(int* out, int width, int most_rounds) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= width) return;
    const float cx = -2.0f + 3.0f * float(px) / float(width), cy = -1.5f + 3.0f * float(py) / float(width);
    float x = 0, y = 0;
    int rounds = 0;
    while (rounds < most_rounds && x * x + y * y < 4) {
        const float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        rounds++;
    }
    out[py * width + px] = rounds > most_rounds ? 0 : rounds;
}

__global__ void search_text(const char* text, int size, const char* word, int length, int* found) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length > size) return;
    int k = 0;
    for (; k < length; ++k)
        if (text[i + k] != word[k]) break;
    if (k == length) found[i] = 1;
}

__global__ void calculator(const int* code, const int* a, const int* b, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int result = -1;
    switch (code[i] % 6) {
        case 0: result = a[i] + b[i]; break;
        case 1: result = a[i] - b[i]; break;
        case 2: result = a[i] * 3; break;
        case 3:
            if (b[i] > 5000) return;
            result = b[i];
            break;
        case 4: result = max(a[i], b[i]); break;
    }
    out[i] = result;
}

__global__ void clamp_select(const int* in, const int* low, const int* high, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        const int v = in[i];
        out[i] = v < low[i] ? low[i] : v > high[i] ? high[i] : v;
    }
}

__global__ void runs(const int* in, int* lengths, int size) {  // how long does a run of even numbers go on?
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int length = 0;
    while (i + length < size && in[i + length] % 2 == 0) ++length;
    lengths[i] = length;
}

__global__ void fnv(const unsigned char* records, unsigned* hashes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned hash = 2166136261u;
    for (int k = 0; k < 16; ++k) hash = (hash ^ records[16 * i + k]) * 16777619u;
    hashes[i] = hash % 1000003;
}

__global__ void nearest(const float* points, const float* centres, int* which, int size, int k) {
    extern __shared__ float c[];
    for (int i = threadIdx.x; i < 2 * k; i += blockDim.x) c[i] = centres[i];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const float x = points[2 * i], y = points[2 * i + 1];
    float best = 1e30f;
    int at = 0;
    for (int j = 0; j < k; j++) {
        const float dx = x - c[2 * j], dy = y - c[2 * j + 1];
        const float d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            at = j;
        }
    }
    which[i] = at;
}

__global__ void forces(const float* x, const float* y, const float* mass, float* fx, int size) {
    __shared__ float sx[64], sy[64], sm[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float mx = i < size ? x[i] : 0, my = i < size ? y[i] : 0;
    float sum = 0;
    for (int tile = 0; tile < size; tile += 64) {
        const int j = tile + threadIdx.x;
        sx[threadIdx.x] = j < size ? x[j] : 0;
        sy[threadIdx.x] = j < size ? y[j] : 0;
        sm[threadIdx.x] = j < size ? mass[j] : 0;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 64; ++k) {
            const float dx = sx[k] - mx, dy = sy[k] - my;
            sum += sm[k] * dx / (dx * dx + dy * dy + 1);
        }
        __syncthreads();
    }
    if (i < size) fx[i] = sum;
}

__global__ void floyd(int* distance, int width, int k) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= width) return;
    const int through = distance[y * width + k] + distance[k * width + x];
    if (through < distance[y * width + x]) distance[y * width + x] = through;
}

__global__ void max_pool(const float* in, float* out, int width) {
    const int half = width / 2;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= half || y >= half) return;
    float greatest = -1e30f;
    for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx) greatest = fmaxf(greatest, in[(2 * y + dy) * width + 2 * x + dx]);
    out[y * half + x] = greatest;
}

__global__ void layer_norm(const float* in, float* out, int width) {  // a block a row
    __shared__ float total, squares;
    if (threadIdx.x == 0) total = squares = 0;
    __syncthreads();
    const float* const row = in + blockIdx.x * width;
    float sum = 0, sum2 = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        sum += row[i];
        sum2 += row[i] * row[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(full, sum, offset);
        sum2 += __shfl_down_sync(full, sum2, offset);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&total, sum);
        atomicAdd(&squares, sum2);
    }
    __syncthreads();
    const float mean = total / float(width), deviation = sqrtf(squares / float(width) - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = (row[i] - mean) / deviation;
}

__global__ void grid_2d(const float* in, float* out, int width) {  // strides both ways
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < width; y += blockDim.y * gridDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += blockDim.x * gridDim.x)
            out[y * width + x] = sqrtf(in[y * width + x]);
}

// Steps of a Fourier transform's butterflies on 128 numbers a block.
__global__ void butterflies(const float2* in, float2* out) {
    __shared__ float2 s[128];
    const int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 128 + tid];
    s[tid + 64] = in[blockIdx.x * 128 + tid + 64];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        const int low = tid / half * 2 * half + tid % half;
        const float2 a = s[low], b = s[low + half];
        s[low] = make_float2(a.x + b.x, a.y + b.y);
        s[low + half] = make_float2(a.x - b.x, a.y - b.y);
    }
    __syncthreads();
    out[blockIdx.x * 128 + tid] = s[tid];
    out[blockIdx.x * 128 + tid + 64] = s[tid + 64];
}

void loops() {
    triangle<<<blocks(edge, 32), 32>>>(d_floats, d_result, edge);
    expect("triangle", d_result, edge,
           [](int row) { return sum_of(0, row + 1, [&](int x) { return floats[row * edge + x]; }); });
    mandelbrot<<<dim3(blocks(edge, 16), blocks(edge, 16)), dim3(16, 16)>>>(d_out, edge, 30);
    cudaDeviceSynchronize();  // rounding decides some of the points at the border, so only the inside is compared
    expect("mandelbrot", d_out + edge / 2 * edge + edge * 2 / 3, 1, [](int) { return 30; });
    const char* const d_text = reinterpret_cast<const char*>(d_ints);
    const char* const text = reinterpret_cast<const char*>(ints.data());
    search_text<<<blocks(n), threads>>>(d_text, n, d_text + 401, 3, d_out);
    expect("search_text", d_out, n,
           [&](int i) { return i + 3 <= n && std::equal(text + 401, text + 404, text + i); });
    calculator<<<blocks(n), threads>>>(d_ints, d_ints + most, d_ints + 2 * most, d_out, n);
    expect("calculator", d_out, n, [](int i) {
        const int a = ints[most + i], b = ints[2 * most + i];
        const int results[] = {a + b, a - b, 3 * a, b > 5000 ? 0 : b, std::max(a, b), -1};
        return results[ints[i] % 6];
    });
    for (int i = 0; i < n; ++i) d_out[most + i] = ints[most + i] + 3000;
    clamp_select<<<blocks(n), threads>>>(d_ints, d_ints + most, d_out + most, d_out, n);
    expect("clamp_select", d_out, n,
           [](int i) { return std::clamp(ints[i], ints[most + i], ints[most + i] + 3000); });
    runs<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("runs", d_out, n, [](int i) {
        int length = 0;
        while (i + length < n && ints[i + length] % 2 == 0) ++length;
        return length;
    });
    const auto* const bytes = reinterpret_cast<const unsigned char*>(ints.data());
    fnv<<<blocks(n / 4, 64), 64>>>(reinterpret_cast<const unsigned char*>(d_ints),
                                   reinterpret_cast<unsigned*>(d_out), n / 4);
    expect("fnv", d_out, n / 4, [&](int i) {
        unsigned hash = 2166136261u;
        for (int k = 0; k < 16; ++k) hash = (hash ^ bytes[16 * i + k]) * 16777619u;
        return hash % 1000003;
    });
    nearest<<<blocks(n / 2), threads, 2 * 10 * sizeof(float)>>>(d_floats, d_floats + most, d_out, n / 2, 10);
    expect("nearest", d_out, n / 2, [](int i) {
        int at = 0;
        float best = 1e30f;
        for (int j = 0; j < 10; ++j) {
            const float dx = floats[2 * i] - floats[most + 2 * j],
                        dy = floats[2 * i + 1] - floats[most + 2 * j + 1];
            if (dx * dx + dy * dy < best) {
                best = dx * dx + dy * dy;
                at = j;
            }
        }
        return at;
    });
    const int count = std::min(n, 600);
    forces<<<blocks(count, 64), 64>>>(d_floats, d_floats + most, d_floats + 2 * most, d_result, count);
    expect("forces", d_result, count, [&](int i) {
        double sum = 0;
        for (int j = 0; j < count; ++j) {
            const double dx = floats[j] - floats[i], dy = floats[most + j] - floats[most + i];
            sum += floats[2 * most + j] * dx / (dx * dx + dy * dy + 1);
        }
        return sum;
    });
    std::copy(ints.begin(), ints.begin() + edge * edge, d_out);
    for (int i = 0; i < edge; ++i) d_out[i * edge + i] = 0;
    std::vector<int> before(d_out, d_out + edge * edge);
    floyd<<<dim3(blocks(edge, 33), blocks(edge, 3)), dim3(33, 3)>>>(d_out, edge, 5);
    expect("floyd", d_out, edge * edge, [&](int i) {
        return std::min(before[size_t(i)],
                        before[size_t(i / edge * edge + 5)] + before[size_t(5 * edge + i % edge)]);
    });
    max_pool<<<dim3(blocks(edge / 2, 8), blocks(edge / 2, 8)), dim3(8, 8)>>>(d_floats, d_result, edge);
    expect("max_pool", d_result, edge / 2 * (edge / 2), [](int i) {
        const int half = edge / 2, at = 2 * (i / half) * edge + 2 * (i % half);
        return std::max({floats[at], floats[at + 1], floats[at + edge], floats[at + edge + 1]});
    });
    layer_norm<<<edge, 96>>>(d_floats, d_result, edge);
    expect("layer_norm", d_result, edge * edge, [](int i) {
        const float* const row = &floats[i / edge * edge];
        double sum = 0, squares = 0;
        for (int k = 0; k < edge; ++k) {
            sum += row[k];
            squares += row[k] * row[k];
        }
        const double mean = sum / edge;
        return (row[i % edge] - mean) / std::sqrt(squares / edge - mean * mean + 1e-5);
    });
    grid_2d<<<dim3(2, 3), dim3(32, 4)>>>(d_floats, d_result, edge);
    expect("grid_2d", d_result, edge * edge, [](int i) { return std::sqrt(floats[i]); });
    butterflies<<<n / 256, 64>>>(reinterpret_cast<const float2*>(d_floats), reinterpret_cast<float2*>(d_result));
    std::vector<float> sums(floats.begin(), floats.begin() + n / 256 * 256);
    for (int b = 0; b < int(sums.size()); b += 256)
        for (int half = 64; half > 0; half /= 2)
            for (int i = 0; i < 128; ++i)
                if (i % (2 * half) < half)
                    for (int part = 0; part < 2; ++part) {
                        float& low = sums[size_t(b + 2 * i + part)];
                        float& high = sums[size_t(b + 2 * (i + half) + part)];
                        const float sum = low + high;
                        high = low - high;
                        low = sum;
                    }
    expect("butterflies", d_result, int(sums.size()), [&](int i) { return sums[size_t(i)]; });
}

int main(int argc, char** argv) { return run(argc, argv, {sorting, graphs, structs, atomics, loops}); }
