// counted_others.cu - kernels as other people write them, counted as the samples are (counted.sh): tiles,
// transpositions, histograms, stencils, scans, structs, atomics of all kinds, loops of which each lane has its own
// number of rounds.
//   counted_others N EDGE   arrays of N elements, matrices of EDGE x EDGE
// Each kernel's result is compared with the host's. Exit status: 0 all right, 1 not, 2 not understood, 77 no GPU.
#include <cooperative_groups.h>

#include "counted.cuh"

namespace cg = cooperative_groups;

constexpr int bins = 64;

// ---- products of matrices --------------------------------------------------------------------------------

__global__ void product_naive(const float* a, const float* b, float* c, int width) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= width || column >= width) return;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) sum += a[row * width + k] * b[k * width + column];
    c[row * width + column] = sum;
}

template <int TILE>
__device__ void product_tile(const float* a, const float* b, float* c, int width) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < (width + TILE - 1) / TILE; ++m) {
        if (row < width && m * TILE + tx < width)
            as[ty][tx] = a[row * width + m * TILE + tx];
        else
            as[ty][tx] = 0.0f;
        if (column < width && m * TILE + ty < width)
            bs[ty][tx] = b[(m * TILE + ty) * width + column];
        else
            bs[ty][tx] = 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < width && column < width) c[row * width + column] = sum;
}
__global__ void product_16(const float* a, const float* b, float* c, int width) {
    product_tile<16>(a, b, c, width);
}
__global__ void product_32(const float* a, const float* b, float* c, int width) {
    product_tile<32>(a, b, c, width);
}

// a is stored by columns, and its tile is read by columns, too: conflicts.
__global__ void product_column(const float* a, const float* b, float* c, int width) {
    __shared__ float as[16][16], bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int first = 0; first < width; first += 16) {
        as[tx][ty] = row < width && first + tx < width ? a[(first + tx) * width + row] : 0;
        bs[ty][tx] = column < width && first + ty < width ? b[(first + ty) * width + column] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) sum += as[k][ty] * bs[k][tx];
        __syncthreads();
    }
    if (row < width && column < width) c[row * width + column] = sum;
}

void products() {
    const auto right = [](int i) {
        const int row = i / edge, column = i % edge;
        return sum_of(0, edge, [&](int k) { return floats[row * edge + k] * floats[most + k * edge + column]; });
    };
    const auto by_columns = [](int i) {
        const int row = i / edge, column = i % edge;
        return sum_of(0, edge, [&](int k) { return floats[k * edge + row] * floats[most + k * edge + column]; });
    };
    const float *a = d_floats, *b = d_floats + most;
    const dim3 by_16(blocks(edge, 16), blocks(edge, 16)), by_32(blocks(edge, 32), blocks(edge, 32));
    product_naive<<<by_16, dim3(16, 16)>>>(a, b, d_result, edge);
    expect("product_naive", d_result, edge * edge, right);
    product_16<<<by_16, dim3(16, 16)>>>(a, b, d_result, edge);
    expect("product_16", d_result, edge * edge, right);
    product_32<<<by_32, dim3(32, 32)>>>(a, b, d_result, edge);
    expect("product_32", d_result, edge * edge, right);
    product_column<<<by_16, dim3(16, 16)>>>(a, b, d_result, edge);
    expect("product_column", d_result, edge * edge, by_columns);
}

// A warp for each row.
__global__ void rows_by_warps(const float* matrix, const float* x, float* y, int width) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= width) return;
    float sum = 0;
    for (int i = lane; i < width; i += 32) sum += matrix[row * width + i] * x[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}

// A sparse matrix: row i has its elements from first[i] on.
__global__ void sparse(const int* first, const int* columns, const float* values, const float* x, float* y,
                       int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = first[row]; i < first[row + 1]; ++i) sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}

void vectors_times_matrices() {
    rows_by_warps<<<blocks(32 * edge), threads>>>(d_floats, d_floats + most, d_result, edge);
    expect("rows_by_warps", d_result, edge,
           [](int i) { return sum_of(0, edge, [&](int k) { return floats[i * edge + k] * floats[most + k]; }); });
    const int rows = n / 8;
    std::vector<int> first{0}, columns;
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < ints[i] % 13; ++k) columns.push_back(ints[8 * i + k] % rows);
        first.push_back(int(columns.size()));
    }
    int* d_first;
    int* d_columns;
    cudaMalloc(&d_first, first.size() * sizeof(int));
    cudaMalloc(&d_columns, (columns.size() + 1) * sizeof(int));
    cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice);
    sparse<<<blocks(rows, 128), 128>>>(d_first, d_columns, d_floats, d_floats + most, d_result, rows);
    expect("sparse", d_result, rows, [&](int i) {
        return sum_of(first[i], first[i + 1], [&](int k) { return floats[k] * floats[most + columns[k]]; });
    });
    cudaFree(d_first);
    cudaFree(d_columns);
}

// ---- transpositions: blocks of 32 x 8, four rows a thread -------------------------------------------------

__global__ void transpose_naive(float* out, const float* in, int width) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < width) out[x * width + y + j] = in[(y + j) * width + x];
}

template <int PAD>
__device__ void transpose_tile(float* out, const float* in, int width) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < width) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < width) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void transpose_conflicts(float* out, const float* in, int width) { transpose_tile<0>(out, in, width); }
__global__ void transpose_padding(float* out, const float* in, int width) { transpose_tile<1>(out, in, width); }

void transpositions() {
    const auto right = [](int i) { return floats[i % edge * edge + i / edge]; };
    const dim3 grid(blocks(edge, 32), blocks(edge, 32)), block(32, 8);
    transpose_naive<<<grid, block>>>(d_result, d_floats, edge);
    expect("transpose_naive", d_result, edge * edge, right);
    transpose_conflicts<<<grid, block>>>(d_result, d_floats, edge);
    expect("transpose_conflicts", d_result, edge * edge, right);
    transpose_padding<<<grid, block>>>(d_result, d_floats, edge);
    expect("transpose_padding", d_result, edge * edge, right);
}

// ---- histograms ------------------------------------------------------------------------------------------

__global__ void histogram_global(const int* in, int* counts, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomicAdd(&counts[in[i] % bins], 1);
}

__global__ void histogram_shared(const int* in, int* counts, int size) {
    __shared__ int local[bins];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i] % bins], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&counts[b], local[b]);
}

__global__ void histogram_warps(const int* in, int* counts, int size) {
    __shared__ int local[threads / 32][bins];
    int* const mine = local[threadIdx.x / 32];
    const int lane = threadIdx.x & 31;
    for (int b = lane; b < bins; b += 32) mine[b] = 0;
    __syncwarp();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomicAdd(&mine[in[i] % bins], 1);
    __syncthreads();
    if (threadIdx.x < bins) {
        int sum = 0;
        for (int w = 0; w < threads / 32; ++w) sum += local[w][threadIdx.x];
        if (sum > 0) atomicAdd(&counts[threadIdx.x], sum);
    }
}

void histograms() {
    const auto right = [](int b) {
        return std::count_if(ints.begin(), ints.begin() + n, [b](int v) { return v % bins == b; });
    };
    histogram_global<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("histogram_global", d_out, bins, right);
    histogram_shared<<<4, threads>>>(d_ints, d_out, n);
    expect("histogram_shared", d_out, bins, right);
    histogram_warps<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("histogram_warps", d_out, bins, right);
}

// ---- stencils: neighbours in shared memory ---------------------------------------------------------------

constexpr int radius = 3;

__global__ void stencil_1d(const float* in, float* out, int size) {
    __shared__ float temp[threads + 2 * radius];
    const int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + radius;
    temp[l] = g < size ? in[g] : 0;
    if (threadIdx.x < radius) {
        temp[l - radius] = g >= radius ? in[g - radius] : 0;
        temp[l + threads] = g + threads < size ? in[g + threads] : 0;
    }
    __syncthreads();
    float result = 0;
    for (int offset = -radius; offset <= radius; offset++) result += temp[l + offset];
    if (g < size) out[g] = result;
}

__global__ void stencil_2d(const float* in, float* out, int width) {
    __shared__ float tile[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool inside = x < width && y < width;
    if (inside) {
        tile[ty][tx] = in[y * width + x];
        if (threadIdx.x == 0) tile[ty][0] = x > 0 ? in[y * width + x - 1] : 0;
        if (threadIdx.x == 31 || x == width - 1) tile[ty][tx + 1] = x < width - 1 ? in[y * width + x + 1] : 0;
        if (threadIdx.y == 0) tile[0][tx] = y > 0 ? in[(y - 1) * width + x] : 0;
        if (threadIdx.y == 7 || y == width - 1) tile[ty + 1][tx] = y < width - 1 ? in[(y + 1) * width + x] : 0;
    }
    __syncthreads();
    if (inside)
        out[y * width + x] =
            0.2f * (tile[ty][tx] + tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}

__global__ void life(const unsigned char* in, unsigned char* out, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= width) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy) alive += in[(y + dy + width) % width * width + (x + dx + width) % width];
    out[y * width + x] = alive == 3 || (alive == 2 && in[y * width + x]);
}

void stencils() {
    stencil_1d<<<blocks(n), threads>>>(d_floats, d_result, n);
    expect("stencil_1d", d_result, n, [](int i) {
        return sum_of(std::max(0, i - radius), std::min(n - 1, i + radius) + 1, [&](int k) { return floats[k]; });
    });
    const auto at = [](int x, int y) {
        return x < 0 || y < 0 || x >= edge || y >= edge ? 0.0f : floats[y * edge + x];
    };
    stencil_2d<<<dim3(blocks(edge, 32), blocks(edge, 8)), dim3(32, 8)>>>(d_floats, d_result, edge);
    expect("stencil_2d", d_result, edge * edge, [&](int i) {
        const int x = i % edge, y = i / edge;
        return 0.2f * (at(x, y) + at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y));
    });
    std::vector<unsigned char> cells(size_t(edge) * edge);
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = ints[i] % 3 == 0;
    unsigned char* d_cells;
    cudaMallocManaged(&d_cells, 2 * cells.size());
    std::copy(cells.begin(), cells.end(), d_cells);
    life<<<dim3(blocks(edge, 20), blocks(edge, 10)), dim3(20, 10)>>>(d_cells, d_cells + cells.size(), edge);
    expect("life", d_cells + cells.size(), edge * edge, [&](int i) {
        int alive = 0;
        for (int k = 0; k < 9; ++k)
            if (k != 4)
                alive += cells[size_t((i / edge + k / 3 - 1 + edge) % edge * edge + (i + k % 3 - 1 + edge) % edge)];
        return alive == 3 || (alive == 2 && cells[size_t(i)]);
    });
    cudaFree(d_cells);
}

// ---- scans, of each block; dynamic shared memory ---------------------------------------------------------

__global__ void scan_hillis(const int* in, int* out, int size) {
    extern __shared__ int temp[];  // two buffers
    const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid, count = blockDim.x;
    int from = 0, to = 1;
    temp[tid] = i < size ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < count; offset *= 2) {
        if (tid >= offset)
            temp[to * count + tid] = temp[from * count + tid] + temp[from * count + tid - offset];
        else
            temp[to * count + tid] = temp[from * count + tid];
        __syncthreads();
        to = 1 - to;
        from = 1 - to;
    }
    if (i < size) out[i] = temp[from * count + tid];
}

// Up and down a tree; `padded` leaves out an element in 32, so that no bank is hit twice.
template <bool padded>
__device__ void scan_tree(const int* in, int* out) {
    extern __shared__ int tree[];
    const auto place = [](int i) { return padded ? i + (i >> 5) : i; };
    const int tid = threadIdx.x, count = 2 * blockDim.x, first = blockIdx.x * count;
    int offset = 1;
    tree[place(tid)] = in[first + tid];
    tree[place(tid + count / 2)] = in[first + tid + count / 2];
    for (int d = count >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            const int ai = place(offset * (2 * tid + 1) - 1), bi = place(offset * (2 * tid + 2) - 1);
            tree[bi] += tree[ai];
        }
        offset *= 2;
    }
    if (tid == 0) tree[place(count - 1)] = 0;
    for (int d = 1; d < count; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            const int ai = place(offset * (2 * tid + 1) - 1), bi = place(offset * (2 * tid + 2) - 1);
            const int t = tree[ai];
            tree[ai] = tree[bi];
            tree[bi] += t;
        }
    }
    __syncthreads();
    out[first + tid] = tree[place(tid)];
    out[first + tid + count / 2] = tree[place(tid + count / 2)];
}
__global__ void scan_blelloch(const int* in, int* out) { scan_tree<false>(in, out); }
__global__ void scan_blelloch_offset(const int* in, int* out) { scan_tree<true>(in, out); }

void scans() {
    const auto sum_before = [](int i, int block) {
        return sum_of(i / block * block, i, [&](int k) { return ints[k]; });
    };
    scan_hillis<<<blocks(n), threads, 2 * threads * sizeof(int)>>>(d_ints, d_out, n);
    expect("scan_hillis", d_out, n, [&](int i) { return sum_before(i, threads) + ints[i]; });
    const int grid = std::max(1, n / threads), shared = (threads + threads / 32) * int(sizeof(int));
    scan_blelloch<<<grid, threads / 2, shared>>>(d_ints, d_out);
    expect("scan_blelloch", d_out, grid * threads, [&](int i) { return sum_before(i, threads); });
    scan_blelloch_offset<<<grid, threads / 2, shared>>>(d_ints, d_out);
    expect("scan_blelloch_offset", d_out, grid * threads, [&](int i) { return sum_before(i, threads); });
}

// ---- compaction: an atomic for each warp -----------------------------------------------------------------

// One block, so that each warp's elements have a place of their own whoever comes first.
__global__ void compact_ballot(const int* in, int* out, int* count, int size) {
    const int i = threadIdx.x, lane = threadIdx.x % 32;
    const int value = i < size ? in[i] : 0;
    const bool keep = i < size && value % 3 == 0;
    const unsigned kept = __ballot_sync(0xffffffff, keep);
    int place = 0;
    if (lane == 0 && kept) place = atomicAdd(count + 2 * (threadIdx.x / 32), __popc(kept));
    place = __shfl_sync(0xffffffff, place, 0);
    if (keep) out[threadIdx.x / 32 * 32 + place + __popc(kept & ((1u << lane) - 1))] = value;
}

__global__ void compact_groups(const int* in, int* out, int* count, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size || in[i] % 3 != 0) return;
    const cg::coalesced_group active = cg::coalesced_threads();
    int place = 0;
    if (active.thread_rank() == 0) place = atomicAdd(&count[i / 32], active.size());
    place = active.shfl(place, 0);
    out[i / 32 * 32 + place + active.thread_rank()] = in[i];
}

void compactions() {
    const auto kept = [](int size) {
        std::vector<int> right(size_t(size + 31) / 32 * 32);
        std::vector<int> number(right.size() / 32);
        for (int i = 0; i < size; ++i)
            if (ints[i] % 3 == 0) right[size_t(i / 32 * 32 + number[size_t(i / 32)]++)] = ints[i];
        return right;
    };
    const std::vector<int> of_block = kept(std::min(n, threads)), of_all = kept(n);
    compact_ballot<<<1, threads>>>(d_ints, d_out, d_out + most, std::min(n, threads));
    expect("compact_ballot", d_out, int(of_block.size()), [&](int i) { return of_block[size_t(i)]; });
    compact_groups<<<blocks(n), threads>>>(d_ints, d_out, d_out + most, n);
    expect("compact_groups", d_out, int(of_all.size()), [&](int i) { return of_all[size_t(i)]; });
}

// ---- one element after another, and what lies apart ------------------------------------------------------

__global__ void saxpy(int size, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) y[i] = a * x[i] + y[i];
}

__global__ void saxpy_strides(int size, float a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_wide(int size, float a, const float4* x, float4* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const float4 u = x[i];
    float4 v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
}

struct Point {  // 12 bytes
    float x, y, z;
};
struct Particle {  // 16 bytes, but aligned to 4
    float x, y, z, mass;
};

__global__ void points(const Point* in, Point* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    Point p = in[i];
    p.x += 1;
    p.y += 2;
    p.z += 3;
    out[i] = p;
}

__global__ void points_apart(const float* x, const float* y, const float* z, float* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = x[i] + 2 * y[i] + 3 * z[i];
}

__global__ void particles(const Particle* in, float* energy, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) energy[i] = in[i].mass * (in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z);
}

__global__ void masses(Particle* p, int size, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) p[i].mass *= factor;
}

__global__ void length4(const float4* in, float* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = in[i].w * (in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z);
}

__global__ void offset_copy(float* out, const float* in, int offset, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + offset;
    if (i < size) out[i] = in[i];
}

__global__ void stride_copy(float* out, const float* in, int stride, int size) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < size) out[i] = in[i];
}

__global__ void gather(int* out, const int* in, const int* index, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = in[__ldg(&index[i]) % size];
}

void copies() {
    const auto start = [] { cudaMemcpy(d_result, d_floats, 4 * most * sizeof(float), cudaMemcpyDefault); };
    const auto axpy = [](int i) { return 2 * floats[most + i] + floats[i]; };
    const auto energy = [](int i) {
        const float* p = &floats[4 * i];
        return p[3] * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    };
    start();
    saxpy<<<blocks(n), threads>>>(n, 2, d_floats + most, d_result);
    expect("saxpy", d_result, n, axpy);
    start();
    saxpy_strides<<<3, 128>>>(n, 2, d_floats + most, d_result);
    expect("saxpy_strides", d_result, n, axpy);
    start();
    saxpy_wide<<<blocks(n / 4), threads>>>(n / 4, 2, reinterpret_cast<float4*>(d_floats + most),
                                           reinterpret_cast<float4*>(d_result));
    expect("saxpy_wide", d_result, n / 4 * 4, axpy);
    points<<<blocks(n), threads>>>(reinterpret_cast<Point*>(d_floats), reinterpret_cast<Point*>(d_result), n);
    expect("points", d_result, 3 * n, [](int i) { return floats[i] + float(i % 3 + 1); });
    points_apart<<<blocks(n), threads>>>(d_floats, d_floats + most, d_floats + 2 * most, d_result, n);
    expect("points_apart", d_result, n,
           [](int i) { return floats[i] + 2 * floats[most + i] + 3 * floats[2 * most + i]; });
    particles<<<blocks(n), threads>>>(reinterpret_cast<Particle*>(d_floats), d_result, n);
    expect("particles", d_result, n, energy);
    start();
    masses<<<blocks(n), threads>>>(reinterpret_cast<Particle*>(d_result), n, 0.5f);
    expect("masses", d_result, 4 * n, [](int i) { return i % 4 == 3 ? floats[i] / 2 : floats[i]; });
    length4<<<blocks(n), threads>>>(reinterpret_cast<float4*>(d_floats), d_result, n);
    expect("length4", d_result, n, energy);
    offset_copy<<<blocks(n), threads>>>(d_result, d_floats, 11, n);
    expect("offset_copy", d_result, n, [](int i) { return i < 11 ? 0 : floats[i]; });
    stride_copy<<<blocks(n), threads>>>(d_result, d_floats, 3, n);
    expect("stride_copy", d_result, n, [](int i) { return i % 3 ? 0 : floats[i]; });
    gather<<<blocks(n), threads>>>(d_out, d_ints, d_ints + most, n);
    expect("gather", d_out, n, [](int i) { return ints[ints[most + i] % n]; });
}

// ---- constant memory, arrays of a thread's own, other types ----------------------------------------------

__constant__ float filter[9];
__constant__ int table_of[32];

__global__ void filtered(const float* in, float* out, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= width - 1) return;
    float sum = 0;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) sum += filter[3 * j + i] * in[(y + j - 1) * width + x + i - 1];
    out[y * width + x] = sum;
}

__global__ void looked_up(const int* in, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = table_of[in[i] % 32];
}

__global__ void own_array(const int* in, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int digits[10], count = 0;
    for (int v = in[i]; v > 0; v /= 10) digits[count++] = v % 10;
    int reversed = 0;
    for (int k = 0; k < count; ++k) reversed = 10 * reversed + digits[k];
    out[i] = reversed;
}

__global__ void norm(const double* in, double* sums, int size) {
    __shared__ double partial[threads];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) sum += in[i] * in[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (int(threadIdx.x) < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__global__ void negative(const unsigned char* in, unsigned char* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = 255 - in[i];
}

__global__ void gray(const uchar4* in, unsigned char* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const uchar4 p = in[i];
    out[i] = (unsigned char)((p.x + 2 * p.y + p.z) / 4);
}

__global__ void shorts(const short* in, short* out, int size) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < size) {
        out[i] = in[i + 1];
        out[i + 1] = in[i];
    }
}

void types() {
    std::vector<float> weights(9);
    std::vector<int> table(32);
    for (int i = 0; i < 9; ++i) weights[size_t(i)] = float(i) - 3;
    for (int i = 0; i < 32; ++i) table[size_t(i)] = i * i;
    cudaMemcpyToSymbol(filter, weights.data(), sizeof filter);
    cudaMemcpyToSymbol(table_of, table.data(), sizeof table_of);
    filtered<<<dim3(blocks(edge, 16), blocks(edge, 16)), dim3(16, 16)>>>(d_floats, d_result, edge);
    expect("filtered", d_result, edge * edge, [&](int i) {
        const int x = i % edge, y = i / edge;
        if (x < 1 || y < 1 || x >= edge - 1 || y >= edge - 1) return 0.0;
        return sum_of(0, 9,
                      [&](int k) { return weights[size_t(k)] * floats[(y + k / 3 - 1) * edge + x + k % 3 - 1]; });
    });
    looked_up<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("looked_up", d_out, n, [](int i) { return ints[i] % 32 * (ints[i] % 32); });
    own_array<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("own_array", d_out, n, [](int i) {
        int reversed = 0;
        for (int v = ints[i]; v; v /= 10) reversed = 10 * reversed + v % 10;
        return reversed;
    });
    double* d_doubles;
    cudaMallocManaged(&d_doubles, size_t(n + 8) * sizeof(double));
    double sum[4] = {};
    for (int i = 0; i < n; ++i) {
        d_doubles[i] = floats[i];
        sum[i / threads % 4] += d_doubles[i] * d_doubles[i];
    }
    norm<<<4, threads>>>(d_doubles, reinterpret_cast<double*>(d_result), n);
    expect("norm", reinterpret_cast<double*>(d_result), 4, [&](int i) { return sum[i]; });
    cudaFree(d_doubles);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(ints.data());
    const auto* const d_bytes = reinterpret_cast<const unsigned char*>(d_ints);
    negative<<<blocks(n), threads>>>(d_bytes, reinterpret_cast<unsigned char*>(d_out), n);
    expect("negative", reinterpret_cast<unsigned char*>(d_out), n, [&](int i) { return 255 - bytes[i]; });
    gray<<<blocks(n), threads>>>(reinterpret_cast<const uchar4*>(d_ints), reinterpret_cast<unsigned char*>(d_out),
                                 n);
    expect("gray", reinterpret_cast<unsigned char*>(d_out), n,
           [&](int i) { return (bytes[4 * i] + 2 * bytes[4 * i + 1] + bytes[4 * i + 2]) / 4; });
    shorts<<<blocks(n / 2), threads>>>(reinterpret_cast<const short*>(d_ints), reinterpret_cast<short*>(d_out), n);
    expect("shorts", reinterpret_cast<short*>(d_out), n / 2 * 2,
           [](int i) { return reinterpret_cast<const short*>(ints.data())[i ^ 1]; });
}

// ---- atomics ---------------------------------------------------------------------------------------------

__global__ void extremes(const int* in, int* least, int* greatest, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        atomicMin(least, in[i]);
        atomicMax(greatest, in[i]);
    }
}

__global__ void claimed(const int* in, int* owner, int* won, int size) {  // 64 words, the first who comes has one
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && atomicCAS(&owner[in[i] % bins], 0, i + 1) == 0) atomicAdd(won, 1);
}

__global__ void exchanged(int* in_out, int* olds, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) olds[i] = atomicExch(&in_out[i], -i);
}

__global__ void float_sum(const float* in, float* sum, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomicAdd(&sum[i % 4], in[i]);
}

__global__ void float_olds(float* sums, float* olds, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) olds[i] = atomicAdd(&sums[i], 0.5f);
}

__device__ void atomic_max_float(float* address, float value) {
    int old = __float_as_int(*address);
    while (__int_as_float(old) < value) {
        const int seen = old;
        old = atomicCAS(reinterpret_cast<int*>(address), seen, __float_as_int(value));
        if (old == seen) break;
    }
}
__global__ void float_max(const float* in, float* out, int size) {  // each its own word
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) atomic_max_float(&out[i], in[i]);
}

__global__ void bits(const int* in, unsigned* any, unsigned* all, int size) {
    __shared__ unsigned mine[2];
    if (threadIdx.x < 2) mine[threadIdx.x] = threadIdx.x ? ~0u : 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        atomicOr(&mine[0], unsigned(in[i]));
        atomicAnd(&mine[1], unsigned(in[i]));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicOr(any, mine[0]);
        atomicAnd(all, mine[1]);
    }
}

void atomics() {
    const auto first = ints.begin(), last = ints.begin() + n;
    d_out[0] = 1 << 30;
    extremes<<<blocks(n), threads>>>(d_ints, d_out, d_out + 1, n);
    expect("extremes", d_out, 2,
           [&](int i) { return i ? *std::max_element(first, last) : *std::min_element(first, last); });
    claimed<<<blocks(n), threads>>>(d_ints, d_out + 1, d_out, n);
    bool seen[bins] = {};
    std::for_each(first, last, [&](int v) { seen[v % bins] = true; });
    expect("claimed", d_out, 1, [&](int) { return std::count(seen, seen + bins, true); });
    for (int i = 0; i < n; ++i) d_out[i] = i + 5;
    exchanged<<<blocks(n), threads>>>(d_out, d_out + most, n);
    expect("exchanged", d_out + most, n, [](int i) { return i + 5; });
    float_sum<<<blocks(n), threads>>>(d_floats, d_result, n);
    expect("float_sum", d_result, 4, [](int i) {
        double sum = 0;
        for (int k = i; k < n; k += 4) sum += floats[k];
        return sum;
    });
    for (int i = 0; i < n; ++i) d_result[i] = floats[i];
    float_olds<<<blocks(n), threads>>>(d_result, d_result + most, n);
    expect("float_olds", d_result + most, n, [](int i) { return floats[i]; });
    for (int i = 0; i < n; ++i) d_result[i] = 8;
    float_max<<<blocks(n), threads>>>(d_floats, d_result, n);
    expect("float_max", d_result, n, [](int i) { return std::max(8.0f, floats[i]); });
    d_out[1] = -1;
    bits<<<blocks(n), threads>>>(d_ints, reinterpret_cast<unsigned*>(d_out), reinterpret_cast<unsigned*>(d_out) + 1,
                                 n);
    expect("bits", d_out, 2, [&](int i) {
        int any = 0, all = -1;
        std::for_each(first, last, [&](int v) {
            any |= v;
            all &= v;
        });
        return i ? all : any;
    });
}

// ---- groups, reductions, sorting -------------------------------------------------------------------------

__global__ void tiles_of_8(const int* in, int* sums, int size) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < size ? in[i] : 0;
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    if (tile.thread_rank() == 0 && i < size) sums[i / 8] = value;
}

__global__ void reduced(const int* in, int* sum, int size) {
    __shared__ int of_warps[32];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    int value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += blockDim.x * gridDim.x) value += in[i];
    for (int offset = 16; offset; offset /= 2) value += warp.shfl_xor(value, offset);
    if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = value;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        value = warp.thread_rank() < warp.meta_group_size() ? of_warps[warp.thread_rank()] : 0;
        for (int offset = 16; offset; offset /= 2) value += warp.shfl_xor(value, offset);
        if (warp.thread_rank() == 0) atomicAdd(sum, value);
    }
}

__global__ void reduced_volatile(const int* in, int* sums, int size) {
    extern __shared__ int cells[];
    const int tid = threadIdx.x, width = blockDim.x, i = blockIdx.x * width * 2 + tid;
    int sum = i < size ? in[i] : 0;
    if (i + width < size) sum += in[i + width];
    cells[tid] = sum;
    __syncthreads();
    for (int s = width / 2; s > 32; s >>= 1) {
        if (tid < s) cells[tid] += cells[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        volatile int* const v = cells;
        for (int s = 32; s > 0; s >>= 1) {
            const int other = v[tid + s];
            __syncwarp();
            v[tid] = v[tid] + other;
            __syncwarp();
        }
    }
    if (tid == 0) sums[blockIdx.x] = cells[0];
}

__global__ void bitonic(int* values) {  // sorts each block's
    __shared__ int mine[threads];
    const unsigned tid = threadIdx.x;
    mine[tid] = values[blockIdx.x * threads + tid];
    __syncthreads();
    for (unsigned k = 2; k <= threads; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            const unsigned other = tid ^ j;
            if (other > tid) {
                const bool up = (tid & k) == 0;
                if ((mine[tid] > mine[other]) == up) {
                    const int t = mine[tid];
                    mine[tid] = mine[other];
                    mine[other] = t;
                }
            }
            __syncthreads();
        }
    values[blockIdx.x * threads + tid] = mine[tid];
}

__global__ void softmax(const float* in, float* out, int width) {  // a block for each row
    __shared__ float cells[128];
    const float* const row = in + blockIdx.x * width;
    float greatest = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) greatest = fmaxf(greatest, row[i]);
    cells[threadIdx.x] = greatest;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (int(threadIdx.x) < s) cells[threadIdx.x] = fmaxf(cells[threadIdx.x], cells[threadIdx.x + s]);
        __syncthreads();
    }
    greatest = cells[0];
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - greatest);
    cells[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (int(threadIdx.x) < s) cells[threadIdx.x] += cells[threadIdx.x + s];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = expf(row[i] - greatest) / cells[0];
}

void groups() {
    const auto sum_between = [](int from, int to) {
        return sum_of(from, std::min(n, to), [&](int i) { return ints[i]; });
    };
    tiles_of_8<<<blocks(n, 128), 128>>>(d_ints, d_out, n);
    expect("tiles_of_8", d_out, (n + 7) / 8, [&](int i) { return sum_between(8 * i, 8 * i + 8); });
    reduced<<<4, threads>>>(d_ints, d_out, n);
    expect("reduced", d_out, 1, [&](int) { return sum_between(0, n); });
    reduced_volatile<<<blocks(n, 512), threads, threads * sizeof(int)>>>(d_ints, d_out, n);
    expect("reduced_volatile", d_out, blocks(n, 512), [&](int i) { return sum_between(512 * i, 512 * i + 512); });
    const int sorted = std::max(1, n / threads);
    std::vector<int> right(ints.begin(), ints.begin() + sorted * threads);
    for (int i = 0; i < sorted; ++i) std::sort(right.begin() + i * threads, right.begin() + (i + 1) * threads);
    std::copy(ints.begin(), ints.begin() + sorted * threads, d_out);
    bitonic<<<sorted, threads>>>(d_out);
    expect("bitonic", d_out, sorted * threads, [&](int i) { return right[size_t(i)]; });
    softmax<<<edge, 128>>>(d_floats, d_result, edge);
    expect("softmax", d_result, edge * edge, [](int i) {
        const float* const row = &floats[i / edge * edge];
        double sum = 0;
        for (int k = 0; k < edge; ++k) sum += std::exp(double(row[k]) - row[i % edge]);
        return 1 / sum;
    });
}

// ---- loops and branches that depend on the data, blocks of odd shapes -------------------------------------

__global__ void collatz(const int* in, int* steps, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int count = 0;
    for (unsigned v = unsigned(in[i]) + 1; v != 1; ++count) v = v % 2 ? 3 * v + 1 : v / 2;
    steps[i] = count;
}

__global__ void searched(const int* sorted, const int* wanted, int* found, int size, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int low = 0, high = size;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < wanted[i])
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low;
}

__global__ void chains(const int* next, int* lengths, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int at = i, length = 0;
    while (at % 7 != 0 && length < 20) {
        at = next[at] % size;
        ++length;
    }
    lengths[i] = length;
}

__global__ void operations(const int* in, int* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const int v = in[i];
    switch (v % 5) {
        case 0: out[i] = v; break;
        case 1: out[i] = in[i + 1] + v; break;
        case 2: out[i] = in[2 * i] - v; break;
        case 3: atomicAdd(&out[i], 7); break;
        default: return;
    }
}

__global__ void flat_20x5(const int* in, int* out, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < width) out[y * width + x] = in[y * width + x] + x;
}

__global__ void cube_7x5x3(const int* in, int* out, int width) {
    __shared__ int tile[3][5][7];
    const int x = blockIdx.x * 7 + threadIdx.x, y = blockIdx.y * 5 + threadIdx.y, z = threadIdx.z;
    const bool inside = x < width && y < width;
    if (inside) tile[threadIdx.z][threadIdx.y][threadIdx.x] = in[z * width * width + y * width + x];
    __syncthreads();
    if (inside && z == 0)
        out[y * width + x] = tile[0][threadIdx.y][threadIdx.x] + tile[1][threadIdx.y][threadIdx.x] +
                             tile[2][threadIdx.y][threadIdx.x];
}

// All bodies pull at each: a tile of them at a time.
__global__ void bodies(const float4* body, float4* force, int size) {
    __shared__ float4 tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = i < size ? body[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int first = 0; first < size; first += blockDim.x) {
        const int k = first + threadIdx.x;
        tile[threadIdx.x] = k < size ? body[k] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < 64; ++j) {
            const float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
            const float weight = tile[j].w / (x * x + y * y + z * z + 1);
            sum.x += weight * x;
            sum.y += weight * y;
            sum.z += weight * z;
        }
        __syncthreads();
    }
    if (i < size) force[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

void loops() {
    collatz<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("collatz", d_out, n, [](int i) {
        int count = 0;
        for (unsigned v = unsigned(ints[i]) + 1; v != 1; ++count) v = v % 2 ? 3 * v + 1 : v / 2;
        return count;
    });
    std::vector<int> sorted(ints.begin(), ints.begin() + n);
    std::sort(sorted.begin(), sorted.end());
    std::copy(sorted.begin(), sorted.end(), d_out + most);
    searched<<<blocks(n / 4), threads>>>(d_out + most, d_ints + most, d_out, n, n / 4);
    expect("searched", d_out, n / 4,
           [&](int i) { return std::lower_bound(sorted.begin(), sorted.end(), ints[most + i]) - sorted.begin(); });
    chains<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("chains", d_out, n, [](int i) {
        int length = 0;
        for (; i % 7 != 0 && length < 20; ++length) i = ints[i] % n;
        return length;
    });
    operations<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("operations", d_out, n, [](int i) {
        const int v = ints[i], results[] = {v, ints[i + 1] + v, ints[2 * i] - v, 7, 0};
        return results[v % 5];
    });
    flat_20x5<<<dim3(blocks(edge, 20), blocks(edge, 5)), dim3(20, 5)>>>(d_ints, d_out, edge);
    expect("flat_20x5", d_out, edge * edge, [](int i) { return ints[i] + i % edge; });
    cube_7x5x3<<<dim3(blocks(edge, 7), blocks(edge, 5)), dim3(7, 5, 3)>>>(d_ints, d_out, edge);
    expect("cube_7x5x3", d_out, edge * edge,
           [](int i) { return ints[i] + ints[edge * edge + i] + ints[2 * edge * edge + i]; });
    const int count = std::min(n, 500);
    bodies<<<blocks(count, 64), 64>>>(reinterpret_cast<float4*>(d_floats), reinterpret_cast<float4*>(d_result),
                                      count);
    expect("bodies", d_result, 4 * count, [&](int i) {
        double sum = 0;
        const float* const me = &floats[i / 4 * 4];
        for (int j = 0; j < count && i % 4 < 3; ++j) {
            const float* const b = &floats[4 * j];
            const double x = b[0] - me[0], y = b[1] - me[1], z = b[2] - me[2];
            sum += b[3] / (x * x + y * y + z * z + 1) * (b[i % 4] - me[i % 4]);
        }
        return sum;
    });
}

int main(int argc, char** argv) {
    return run(argc, argv,
               {products, vectors_times_matrices, transpositions, histograms, stencils, scans, compactions, copies,
                types, atomics, groups, loops});
}
