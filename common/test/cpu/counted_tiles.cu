// counted_tiles.cu - kernels as other people write them, written before any was counted, counted as the samples are
// (counted.sh): products with tiles of all kinds, transpositions, histograms, stencils, scans and reductions.
//   counted_tiles N EDGE   arrays of N elements, matrices of EDGE x EDGE
// Each kernel's result is compared with the host's. Exit status: 0 all right, 1 not, 2 not understood, 77 no GPU.
#include "counted.cuh"

// ---- products of matrices: padded with zeros to a multiple of 64 ------------------------------------------

#define TILE 8

__global__ void matmul_8(const float* A, const float* B, float* C, int N) {
    __shared__ float sA[TILE][TILE];
    __shared__ float sB[TILE][TILE];
    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = by * TILE + ty;
    int col = bx * TILE + tx;
    float acc = 0.0f;
    for (int t = 0; t < (N - 1) / TILE + 1; t++) {
        sA[ty][tx] = (row < N && t * TILE + tx < N) ? A[row * N + t * TILE + tx] : 0.0f;
        sB[ty][tx] = (t * TILE + ty < N && col < N) ? B[(t * TILE + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) acc += sA[ty][k] * sB[k][tx];
        __syncthreads();
    }
    if (row < N && col < N) C[row * N + col] = acc;
}

// 32 x 8 threads; each has four elements of a column.
__global__ void matmul_32x8(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                            int width) {
    __shared__ float as[32][32], bs[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int column = blockIdx.x * 32 + tx;
    float sum[4] = {0, 0, 0, 0};
    for (int tile = 0; tile < width; tile += 32) {
        for (int j = 0; j < 32; j += 8) {
            const int row = blockIdx.y * 32 + ty + j;
            as[ty + j][tx] = row < width && tile + tx < width ? a[row * width + tile + tx] : 0;
            bs[ty + j][tx] = tile + ty + j < width && column < width ? b[(tile + ty + j) * width + column] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; ++k)
            for (int j = 0; j < 4; ++j) sum[j] += as[ty + 8 * j][k] * bs[k][tx];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        const int row = blockIdx.y * 32 + ty + 8 * j;
        if (row < width && column < width) c[row * width + column] = sum[j];
    }
}

// 16 x 16 threads, a tile of 32 x 32: each has four elements, 16 apart.
__global__ void matmul_2x2(const float* a, const float* b, float* c, int width) {
    __shared__ float as[32][16];
    __shared__ float bs[16][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const float* const rows = a + 32 * blockIdx.y * width;
    const float* const columns = b + 32 * blockIdx.x;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    for (int k0 = 0; k0 < width; k0 += 16) {
        as[ty][tx] = rows[ty * width + k0 + tx];
        as[ty + 16][tx] = rows[(ty + 16) * width + k0 + tx];
        bs[ty][tx] = columns[(k0 + ty) * width + tx];
        bs[ty][tx + 16] = columns[(k0 + ty) * width + tx + 16];
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const float a0 = as[ty][k], a1 = as[ty + 16][k];
            const float b0 = bs[k][tx], b1 = bs[k][tx + 16];
            c00 += a0 * b0;
            c01 += a0 * b1;
            c10 += a1 * b0;
            c11 += a1 * b1;
        }
        __syncthreads();
    }
    float* const out = c + (32 * blockIdx.y + ty) * width + 32 * blockIdx.x + tx;
    out[0] = c00;
    out[16] = c01;
    out[16 * width] = c10;
    out[16 * width + 16] = c11;
}

// 256 threads, a tile of 64 x 64, 4 x 4 neighbours a thread: "register tiling".
template <int BM, int BN, int BK, int TM, int TN>
__device__ void block_tiled(int width, const float* a, const float* b, float* c) {
    __shared__ float as[BM * BK];
    __shared__ float bs[BK * BN];
    const int thread_col = threadIdx.x % (BN / TN);
    const int thread_row = threadIdx.x / (BN / TN);
    a += blockIdx.y * BM * width;
    b += blockIdx.x * BN;
    c += blockIdx.y * BM * width + blockIdx.x * BN;
    const int inner_row_a = threadIdx.x / BK, inner_col_a = threadIdx.x % BK;
    const int inner_row_b = threadIdx.x / BN, inner_col_b = threadIdx.x % BN;
    constexpr int stride_a = 256 / BK, stride_b = 256 / BN;
    float results[TM * TN] = {0.0f};
    float reg_m[TM];
    float reg_n[TN];
    for (int bk = 0; bk < width; bk += BK) {
        for (int offset = 0; offset < BM; offset += stride_a)
            as[(inner_row_a + offset) * BK + inner_col_a] = a[(inner_row_a + offset) * width + inner_col_a];
        for (int offset = 0; offset < BK; offset += stride_b)
            bs[(inner_row_b + offset) * BN + inner_col_b] = b[(inner_row_b + offset) * width + inner_col_b];
        __syncthreads();
        a += BK;
        b += BK * width;
        for (int dot = 0; dot < BK; ++dot) {
            for (int i = 0; i < TM; ++i) reg_m[i] = as[(thread_row * TM + i) * BK + dot];
            for (int i = 0; i < TN; ++i) reg_n[i] = bs[dot * BN + thread_col * TN + i];
            for (int m = 0; m < TM; ++m)
                for (int k = 0; k < TN; ++k) results[m * TN + k] += reg_m[m] * reg_n[k];
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m)
        for (int k = 0; k < TN; ++k) c[(thread_row * TM + m) * width + thread_col * TN + k] = results[m * TN + k];
}
__global__ void matmul_4x4(int width, const float* a, const float* b, float* c) {
    block_tiled<64, 64, 8, 4, 4>(width, a, b, c);
}

// Four neighbours of both tiles with one load; a's tile is stored by columns.
__global__ void matmul_float4(int width, const float* a, const float* b, float* c) {
    __shared__ float as[16][64];
    __shared__ float bs[16][64];
    const int row_a = threadIdx.x / 4, col_a = threadIdx.x % 4 * 4;
    const int row_b = threadIdx.x / 16, col_b = threadIdx.x % 16 * 4;
    const int ty = threadIdx.x / 16 * 4, tx = threadIdx.x % 16 * 4;
    a += blockIdx.y * 64 * width;
    b += blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < width; k0 += 16) {
        const float4 x = *reinterpret_cast<const float4*>(&a[row_a * width + k0 + col_a]);
        as[col_a + 0][row_a] = x.x;
        as[col_a + 1][row_a] = x.y;
        as[col_a + 2][row_a] = x.z;
        as[col_a + 3][row_a] = x.w;
        *reinterpret_cast<float4*>(&bs[row_b][col_b]) =
            *reinterpret_cast<const float4*>(&b[(k0 + row_b) * width + col_b]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float4 u = *reinterpret_cast<const float4*>(&as[k][ty]);
            const float4 v = *reinterpret_cast<const float4*>(&bs[k][tx]);
            const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += us[i] * vs[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const float4 row = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        *reinterpret_cast<float4*>(&c[(blockIdx.y * 64 + ty + i) * width + blockIdx.x * 64 + tx]) = row;
    }
}

// A thread for each row; x goes through shared memory piece by piece.
__global__ void gemv_shared(const float* m, const float* x, float* y, int rows, int columns) {
    __shared__ float piece[128];
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < columns; first += 128) {
        if (first + int(threadIdx.x) < columns) piece[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        const int count = min(128, columns - first);
        if (row < rows)
            for (int k = 0; k < count; ++k) sum += m[row * columns + first + k] * piece[k];
        __syncthreads();
    }
    if (row < rows) y[row] = sum;
}

__global__ void outer(const double* u, const double* v, double* out, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < width) out[y * width + x] = u[y] * v[x];
}

void products() {
    const int width = (edge + 63) / 64 * 64;
    std::vector<float> a(size_t(width) * width), b(a.size());
    for (int y = 0; y < edge; ++y)
        for (int x = 0; x < edge; ++x) {
            a[size_t(y * width + x)] = floats[y * edge + x];
            b[size_t(y * width + x)] = floats[most + y * edge + x];
        }
    float* d_padded;
    cudaMallocManaged(&d_padded, 2 * a.size() * sizeof(float));
    std::copy(a.begin(), a.end(), d_padded);
    std::copy(b.begin(), b.end(), d_padded + a.size());
    const auto padded = [&](int i) {
        return sum_of(0, edge,
                      [&](int k) { return a[size_t(i / width * width + k)] * b[size_t(k * width + i % width)]; });
    };
    const auto right = [](int i) {
        return sum_of(0, edge,
                      [&](int k) { return floats[i / edge * edge + k] * floats[most + k * edge + i % edge]; });
    };
    matmul_8<<<dim3(blocks(edge, 8), blocks(edge, 8)), dim3(8, 8)>>>(d_floats, d_floats + most, d_result, edge);
    expect("matmul_8", d_result, edge * edge, right);
    matmul_32x8<<<dim3(blocks(edge, 32), blocks(edge, 32)), dim3(32, 8)>>>(d_floats, d_floats + most, d_result,
                                                                           edge);
    expect("matmul_32x8", d_result, edge * edge, right);
    matmul_2x2<<<dim3(width / 32, width / 32), dim3(16, 16)>>>(d_padded, d_padded + a.size(), d_result, width);
    expect("matmul_2x2", d_result, width * width, padded);
    matmul_4x4<<<dim3(width / 64, width / 64), 256>>>(width, d_padded, d_padded + a.size(), d_result);
    expect("matmul_4x4", d_result, width * width, padded);
    matmul_float4<<<dim3(width / 64, width / 64), 256>>>(width, d_padded, d_padded + a.size(), d_result);
    expect("matmul_float4", d_result, width * width, padded);
    cudaFree(d_padded);
    gemv_shared<<<blocks(edge, 128), 128>>>(d_floats, d_floats + most, d_result, edge, edge);
    expect("gemv_shared", d_result, edge,
           [](int i) { return sum_of(0, edge, [&](int k) { return floats[i * edge + k] * floats[most + k]; }); });
    double* d_doubles;
    cudaMallocManaged(&d_doubles, size_t(edge + 2) * edge * sizeof(double));
    for (int i = 0; i < 2 * edge; ++i) d_doubles[i] = floats[i];
    outer<<<dim3(blocks(edge, 8), blocks(edge, 4)), dim3(8, 4)>>>(d_doubles, d_doubles + edge, d_doubles + 2 * edge,
                                                                  edge);
    expect("outer", d_doubles + 2 * edge, edge * edge,
           [](int i) { return floats[i / edge] * floats[edge + i % edge]; });
    cudaFree(d_doubles);
}

// ---- transpositions ---------------------------------------------------------------------------------------

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;

// The blocks go along diagonals; width is a multiple of 32.
__global__ void transposeDiagonal(float* odata, const float* idata, int width) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int blockIdx_y = blockIdx.x;
    int blockIdx_x = (blockIdx.x + blockIdx.y) % gridDim.x;
    int xIndex = blockIdx_x * TILE_DIM + threadIdx.x;
    int yIndex = blockIdx_y * TILE_DIM + threadIdx.y;
    int index_in = xIndex + yIndex * width;
    xIndex = blockIdx_y * TILE_DIM + threadIdx.x;
    yIndex = blockIdx_x * TILE_DIM + threadIdx.y;
    int index_out = xIndex + yIndex * width;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * width];
    __syncthreads();
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        odata[index_out + i * width] = tile[threadIdx.x][threadIdx.y + i];
}

// No padding: the column is mixed with the row instead.
__global__ void transpose_swizzled(float* out, const float* in, int width) {
    __shared__ float tile[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x ^ y] = in[(blockIdx.y * 32 + y) * width + blockIdx.x * 32 + x];
    __syncthreads();
    out[(blockIdx.x * 32 + y) * width + blockIdx.y * 32 + x] = tile[x][x ^ y];
}

__global__ void transpose_float2(float2* out, const float2* in, int width) {
    __shared__ float2 tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < width) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < width && y < width) out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

// In place: the blocks on and above the diagonal change two tiles.
__global__ void transpose_in_place(int* m, int width) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ int upper[16][17], lower[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    const int mirrored_x = blockIdx.y * 16 + tx, mirrored_y = blockIdx.x * 16 + ty;
    if (x < width && y < width) upper[ty][tx] = m[y * width + x];
    if (mirrored_x < width && mirrored_y < width) lower[ty][tx] = m[mirrored_y * width + mirrored_x];
    __syncthreads();
    if (x < width && y < width) m[y * width + x] = lower[tx][ty];
    if (blockIdx.x != blockIdx.y && mirrored_x < width && mirrored_y < width)
        m[mirrored_y * width + mirrored_x] = upper[tx][ty];
}

void transpositions() {
    const int width = edge / 32 * 32;
    const auto right = [&](int i) { return floats[i % width * width + i / width]; };
    const dim3 grid(width / 32, width / 32);
    transposeDiagonal<<<grid, dim3(32, 8)>>>(d_result, d_floats, width);
    expect("transposeDiagonal", d_result, width * width, right);
    transpose_swizzled<<<grid, dim3(32, 32)>>>(d_result, d_floats, width);
    expect("transpose_swizzled", d_result, width * width, right);
    const dim3 by_16(blocks(edge, 16), blocks(edge, 16));
    transpose_float2<<<by_16, dim3(16, 16)>>>(reinterpret_cast<float2*>(d_result),
                                              reinterpret_cast<const float2*>(d_floats), edge);
    expect("transpose_float2", d_result, 2 * edge * edge,
           [](int i) { return floats[2 * (i / 2 % edge * edge + i / 2 / edge) + i % 2]; });
    std::copy(ints.begin(), ints.begin() + edge * edge, d_out);
    transpose_in_place<<<by_16, dim3(16, 16)>>>(d_out, edge);
    expect("transpose_in_place", d_out, edge * edge, [](int i) { return ints[i % edge * edge + i / edge]; });
}

// ---- histograms -------------------------------------------------------------------------------------------

typedef unsigned char uchar;
typedef unsigned int uint;

__global__ void histogram256(const uchar* data, uint size, uint* bins) {
    __shared__ uint smem[256];
    for (uint i = threadIdx.x; i < 256; i += blockDim.x) smem[i] = 0;
    __syncthreads();
    uint stride = blockDim.x * gridDim.x;
    for (uint i = threadIdx.x + blockIdx.x * blockDim.x; i < size; i += stride) atomicAdd(&smem[data[i]], 1);
    __syncthreads();
    for (uint i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], smem[i]);
}

__global__ void histogram_uchar4(const uchar4* data, int size, uint* bins) {
    __shared__ uint smem[4][64];
    smem[threadIdx.x / 64][threadIdx.x % 64] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += blockDim.x * gridDim.x) {
        const uchar4 v = data[i];
        atomicAdd(&smem[0][v.x >> 2], 1u);
        atomicAdd(&smem[1][v.y >> 2], 1u);
        atomicAdd(&smem[2][v.z >> 2], 1u);
        atomicAdd(&smem[3][v.w >> 2], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        const uint sum = smem[0][threadIdx.x] + smem[1][threadIdx.x] + smem[2][threadIdx.x] + smem[3][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

// Each thread has 16 counters of a byte each.
__global__ void histogram_private(const int* data, int size, int* bins) {
    __shared__ uchar counts[16 * 128];
    for (int b = 0; b < 16; b++) counts[b * 128 + threadIdx.x] = 0;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (int i = first; i < first + 16 && i < size; i++) counts[data[i] % 16 * 128 + threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x < 16) {
        int sum = 0;
        for (int t = 0; t < 128; t++) sum += counts[threadIdx.x * 128 + t];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

// One lane adds for all that have the same bin.
__global__ void histogram_match(const int* data, int size, int* bins) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool valid = i < size;
    const unsigned active = __ballot_sync(0xffffffff, valid);
    if (!valid) return;
    const int bin = data[i] & 7;
    const unsigned same = __match_any_sync(active, bin);
    if (int(threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&bins[bin], __popc(same));
}

void histograms() {
    const auto* const bytes = reinterpret_cast<const uchar*>(ints.data());
    const auto* const d_bytes = reinterpret_cast<const uchar*>(d_ints);
    auto* const d_bins = reinterpret_cast<uint*>(d_out);
    histogram256<<<6, 192>>>(d_bytes, uint(n), d_bins);
    expect("histogram256", d_bins, 256, [&](int b) { return std::count(bytes, bytes + n, b); });
    histogram_uchar4<<<4, 256>>>(reinterpret_cast<const uchar4*>(d_ints), n, d_bins);
    expect("histogram_uchar4", d_bins, 64,
           [&](int b) { return std::count_if(bytes, bytes + 4 * n, [b](uchar v) { return v >> 2 == b; }); });
    const auto first = ints.begin(), last = ints.begin() + n;
    histogram_private<<<blocks(n, 16 * 128), 128>>>(d_ints, n, d_out);
    expect("histogram_private", d_out, 16,
           [&](int b) { return std::count_if(first, last, [b](int v) { return v % 16 == b; }); });
    histogram_match<<<blocks(n), threads>>>(d_ints, n, d_out);
    expect("histogram_match", d_out, 8,
           [&](int b) { return std::count_if(first, last, [b](int v) { return v % 8 == b; }); });
}

// ---- stencils and filters ---------------------------------------------------------------------------------

#define IDX(i, j) ((i)*N + (j))

__global__ void heat(const float* old_grid, float* new_grid, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < N - 1 && j < N - 1)
        new_grid[IDX(i, j)] = 0.25f * (old_grid[IDX(i - 1, j)] + old_grid[IDX(i + 1, j)] + old_grid[IDX(i, j - 1)] +
                                       old_grid[IDX(i, j + 1)]);
}

__global__ void laplace_3d(const float* in, float* out, int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    const int c = x + nx * (y + ny * z);
    out[c] = in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + in[c - nx * ny] + in[c + nx * ny] - 6 * in[c];
}

// Goes along z: the layer lies in shared memory, those before and behind it in registers.
__global__ void laplace_march(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float layer[8 + 2][16 + 2];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool inside = x < nx && y < ny;
    const int plane = nx * ny;
    int c = x + nx * y;
    float behind = 0, here = inside ? in[c] : 0, ahead = inside ? in[c + plane] : 0;
    for (int z = 1; z < nz - 1; ++z) {
        c += plane;
        behind = here;
        here = ahead;
        ahead = inside ? in[c + plane] : 0;
        __syncthreads();
        layer[ty][tx] = here;
        if (threadIdx.x == 0 && x > 0 && inside) layer[ty][0] = in[c - 1];
        if (threadIdx.x == 15 && x < nx - 1 && inside) layer[ty][17] = in[c + 1];
        if (threadIdx.y == 0 && y > 0 && inside) layer[0][tx] = in[c - nx];
        if (threadIdx.y == 7 && y < ny - 1 && inside) layer[9][tx] = in[c + nx];
        __syncthreads();
        if (inside && x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
            out[c] = layer[ty][tx - 1] + layer[ty][tx + 1] + layer[ty - 1][tx] + layer[ty + 1][tx] + behind +
                     ahead - 6 * here;
    }
}

// Neighbours come by shuffles; only the lanes at the ends load.
__global__ void stencil_shuffle(const float* in, float* out, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    const float v = i < size ? in[i] : 0;
    float left = __shfl_up_sync(0xffffffffu, v, 1), right = __shfl_down_sync(0xffffffffu, v, 1);
    if (lane == 0) left = i > 0 && i <= size ? in[i - 1] : 0;
    if (lane == 31) right = i + 1 < size ? in[i + 1] : 0;
    if (i < size) out[i] = 0.25f * left + 0.5f * v + 0.25f * right;
}

// All threads of a 16 x 16 block fill the 18 x 18 tile, one after the other.
__global__ void blur_halo(const float* in, float* out, int width) {
    __shared__ float tile[18 * 18];
    const int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
    for (int t = threadIdx.y * 16 + threadIdx.x; t < 18 * 18; t += 256) {
        const int x = x0 + t % 18, y = y0 + t / 18;
        tile[t] = x >= 0 && y >= 0 && x < width && y < width ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= width || y >= width) return;
    float sum = 0;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) sum += tile[(threadIdx.y + dy) * 18 + threadIdx.x + dx];
    out[y * width + x] = sum / 9;
}

__global__ void box_clamped(const float* in, float* out, int width, int r) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= width) return;
    float sum = 0;
    for (int v = -r; v <= r; v++)
        for (int u = -r; u <= r; u++)
            sum += in[min(max(y + v, 0), width - 1) * width + min(max(x + u, 0), width - 1)];
    out[y * width + x] = sum / float((2 * r + 1) * (2 * r + 1));
}

#define MASK_WIDTH 7
__constant__ float M[MASK_WIDTH];

__global__ void convolution_1D(const float* N, float* P, int width) {
    __shared__ float N_ds[128 + MASK_WIDTH - 1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = MASK_WIDTH / 2;
    int halo_left = (int(blockIdx.x) - 1) * int(blockDim.x) + int(threadIdx.x);
    if (threadIdx.x >= blockDim.x - r) N_ds[threadIdx.x - (blockDim.x - r)] = halo_left < 0 ? 0 : N[halo_left];
    N_ds[r + threadIdx.x] = i < width ? N[i] : 0;
    int halo_right = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
    if (int(threadIdx.x) < r) N_ds[r + blockDim.x + threadIdx.x] = halo_right >= width ? 0 : N[halo_right];
    __syncthreads();
    float Pvalue = 0;
    for (int j = 0; j < MASK_WIDTH; j++) Pvalue += N_ds[threadIdx.x + j] * M[j];
    if (i < width) P[i] = Pvalue;
}

__global__ void sobel(const uchar* in, uchar* out, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= width - 1) return;
    const uchar *up = in + (y - 1) * width + x, *mid = up + width, *down = mid + width;
    const int gx = up[1] + 2 * mid[1] + down[1] - up[-1] - 2 * mid[-1] - down[-1];
    const int gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
    const int g = abs(gx) + abs(gy);
    out[y * width + x] = uchar(g > 255 ? 255 : g);
}

__global__ void life_tile(const int* in, int* out, int width) {
    __shared__ int cells[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int ty = threadIdx.y; ty < 10; ty += 8)
        for (int tx = threadIdx.x; tx < 34; tx += 32) {
            const int gx = (int(blockIdx.x) * 32 + tx - 1 + width) % width;
            const int gy = (int(blockIdx.y) * 8 + ty - 1 + width) % width;
            cells[ty][tx] = in[gy * width + gx] % 3 == 0;
        }
    __syncthreads();
    if (x >= width || y >= width) return;
    int neighbours = -cells[threadIdx.y + 1][threadIdx.x + 1];
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) neighbours += cells[threadIdx.y + j][threadIdx.x + i];
    if (neighbours == 3)
        out[y * width + x] = 1;
    else if (neighbours == 2)
        out[y * width + x] = cells[threadIdx.y + 1][threadIdx.x + 1];
    else
        out[y * width + x] = 0;
}

void stencils() {
    const auto at = [](int x, int y) {
        return x < 0 || y < 0 || x >= edge || y >= edge ? 0.0f : floats[y * edge + x];
    };
    const auto border = [](int i) {
        const int x = i % edge, y = i / edge;
        return x == 0 || y == 0 || x == edge - 1 || y == edge - 1;
    };
    heat<<<dim3(blocks(edge, 33), blocks(edge, 3)), dim3(33, 3)>>>(d_floats, d_result, edge);
    expect("heat", d_result, edge * edge, [&](int i) {
        return border(i) ? 0 : (floats[i - edge] + floats[i + edge] + floats[i - 1] + floats[i + 1]) / 4;
    });
    const int nz = std::min(6, 2 * most / edge / edge), plane = edge * edge;
    const auto laplace = [&](int i) {
        if (border(i % plane) || i < plane || i >= (nz - 1) * plane) return 0.0f;
        return floats[i - 1] + floats[i + 1] + floats[i - edge] + floats[i + edge] + floats[i - plane] +
               floats[i + plane] - 6 * floats[i];
    };
    laplace_3d<<<dim3(blocks(edge, 8), blocks(edge, 4), blocks(nz, 4)), dim3(8, 4, 4)>>>(d_floats, d_result, edge,
                                                                                         edge, nz);
    expect("laplace_3d", d_result, nz * plane, laplace);
    laplace_march<<<dim3(blocks(edge, 16), blocks(edge, 8)), dim3(16, 8)>>>(d_floats, d_result, edge, edge, nz);
    expect("laplace_march", d_result, nz * plane, laplace);
    stencil_shuffle<<<blocks(n), threads>>>(d_floats, d_result, n);
    expect("stencil_shuffle", d_result, n,
           [](int i) { return (i ? floats[i - 1] : 0) / 4 + floats[i] / 2 + (i + 1 < n ? floats[i + 1] : 0) / 4; });
    const dim3 by_16(blocks(edge, 16), blocks(edge, 16));
    blur_halo<<<by_16, dim3(16, 16)>>>(d_floats, d_result, edge);
    expect("blur_halo", d_result, edge * edge, [&](int i) {
        double sum = 0;
        for (int k = 0; k < 9; ++k) sum += at(i % edge + k % 3 - 1, i / edge + k / 3 - 1);
        return sum / 9;
    });
    box_clamped<<<by_16, dim3(16, 16)>>>(d_floats, d_result, edge, 2);
    expect("box_clamped", d_result, edge * edge, [&](int i) {
        double sum = 0;
        for (int k = 0; k < 25; ++k)
            sum += at(std::clamp(i % edge + k % 5 - 2, 0, edge - 1), std::clamp(i / edge + k / 5 - 2, 0, edge - 1));
        return sum / 25;
    });
    const float mask[] = {1, 2, 3, 4, 3, 2, 1};
    cudaMemcpyToSymbol(M, mask, sizeof mask);
    convolution_1D<<<blocks(n, 128), 128>>>(d_floats, d_result, n);
    expect("convolution_1D", d_result, n, [&](int i) {
        double sum = 0;
        for (int k = 0; k < 7; ++k)
            if (i + k >= 3 && i + k < n + 3) sum += mask[k] * floats[i + k - 3];
        return sum;
    });
    const auto* const bytes = reinterpret_cast<const uchar*>(ints.data());
    sobel<<<dim3(blocks(edge, 16), blocks(edge, 8)), dim3(16, 8)>>>(reinterpret_cast<const uchar*>(d_ints),
                                                                    reinterpret_cast<uchar*>(d_out), edge);
    expect("sobel", reinterpret_cast<const uchar*>(d_out), edge * edge, [&](int i) {
        if (border(i)) return 0;
        const uchar *up = bytes + i - edge, *mid = bytes + i, *down = mid + edge;
        const int gx = up[1] + 2 * mid[1] + down[1] - up[-1] - 2 * mid[-1] - down[-1];
        const int gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
        return std::min(255, std::abs(gx) + std::abs(gy));
    });
    life_tile<<<dim3(blocks(edge, 32), blocks(edge, 8)), dim3(32, 8)>>>(d_ints, d_out, edge);
    expect("life_tile", d_out, edge * edge, [](int i) {
        int alive = 0;
        for (int k = 0; k < 9; ++k)
            if (k != 4) {
                const int x = (i % edge + k % 3 - 1 + edge) % edge, y = (i / edge + k / 3 - 1 + edge) % edge;
                alive += ints[y * edge + x] % 3 == 0;
            }
        return alive == 3 || (alive == 2 && ints[i] % 3 == 0);
    });
}

// ---- scans, of each block -----------------------------------------------------------------------------------

__global__ void scan_warps(const int* in, int* out, int size) {
    __shared__ int warp_sums[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int value = i < size ? in[i] : 0;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const int t = __shfl_up_sync(0xffffffff, value, d);
        if (lane >= d) value += t;
    }
    if (lane == 31) warp_sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < int(blockDim.x) / 32 ? warp_sums[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            const int t = __shfl_up_sync(0xffffffff, sum, d);
            if (lane >= d) sum += t;
        }
        warp_sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value += warp_sums[warp - 1];
    if (i < size) out[i] = value;
}

#define SECTION_SIZE 512
__global__ void Brent_Kung_scan_kernel(const float* X, float* Y, unsigned int N) {
    __shared__ float XY[SECTION_SIZE];
    unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) XY[threadIdx.x] = X[i];
    if (i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
        if (index < SECTION_SIZE) XY[index] += XY[index - stride];
    }
    for (int stride = SECTION_SIZE / 4; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
        if (index + stride < SECTION_SIZE) XY[index + stride] += XY[index];
    }
    __syncthreads();
    if (i < N) Y[i] = XY[threadIdx.x];
    if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// Four elements a thread: added up alone, then the threads' sums, then added to the four.
__global__ void scan_coarse(const int* in, int* out, int size) {
    __shared__ int values[4 * 128];
    __shared__ int sums[128];
    const int tid = threadIdx.x, first = blockIdx.x * 512;
    for (int k = 0; k < 4; ++k)
        values[k * 128 + tid] = first + k * 128 + tid < size ? in[first + k * 128 + tid] : 0;
    __syncthreads();
    for (int k = 1; k < 4; ++k) values[4 * tid + k] += values[4 * tid + k - 1];
    sums[tid] = values[4 * tid + 3];
    __syncthreads();
    for (int stride = 1; stride < 128; stride *= 2) {
        const int left = tid >= stride ? sums[tid - stride] : 0;
        __syncthreads();
        sums[tid] += left;
        __syncthreads();
    }
    const int before = tid > 0 ? sums[tid - 1] : 0;
    for (int k = 0; k < 4; ++k) values[4 * tid + k] += before;
    __syncthreads();
    for (int k = 0; k < 4; ++k)
        if (first + k * 128 + tid < size) out[first + k * 128 + tid] = values[k * 128 + tid];
}

// Two buffers, one barrier a step; the greatest so far.
__global__ void running_max(const int* in, int* out, int size) {
    __shared__ int buffer[2][threads];
    const int tid = threadIdx.x, i = blockIdx.x * threads + tid;
    int from = 0;
    buffer[0][tid] = i < size ? in[i] : -1;
    __syncthreads();
    for (int offset = 1; offset < threads; offset <<= 1) {
        const int to = from ^ 1;
        buffer[to][tid] = tid >= offset ? max(buffer[from][tid], buffer[from][tid - offset]) : buffer[from][tid];
        from = to;
        __syncthreads();
    }
    if (i < size) out[i] = buffer[from][tid];
}

// Each block waits for the sum of those before it.
__global__ void scan_chained(const int* in, volatile int* sums, volatile int* ready, int* out, int size) {
    __shared__ int tile[threads];
    __shared__ int before;
    const int tid = threadIdx.x, block = blockIdx.x, i = block * threads + tid;
    tile[tid] = i < size ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < threads; offset *= 2) {
        int v = 0;
        if (tid >= offset) v = tile[tid - offset];
        __syncthreads();
        tile[tid] += v;
        __syncthreads();
    }
    if (tid == 0) {
        before = 0;
        if (block > 0) {
            while (ready[block - 1] == 0) {}
            __threadfence();
            before = sums[block - 1];
        }
        sums[block] = before + tile[threads - 1];
        __threadfence();
        ready[block] = 1;
    }
    __syncthreads();
    if (i < size) out[i] = before + tile[tid];
}

void scans() {
    const auto sum_to = [](const auto& of, int i, int block) {
        return sum_of(i / block * block, i + 1, [&](int k) { return of[size_t(k)]; });
    };
    scan_warps<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("scan_warps", d_out, n, [&](int i) { return sum_to(ints, i, threads); });
    Brent_Kung_scan_kernel<<<blocks(n, 512), 256>>>(d_floats, d_result, unsigned(n));
    expect("Brent_Kung_scan_kernel", d_result, n, [&](int i) { return sum_to(floats, i, 512); });
    scan_coarse<<<blocks(n, 512), 128>>>(d_ints, d_out, n);
    expect("scan_coarse", d_out, n, [&](int i) { return sum_to(ints, i, 512); });
    running_max<<<blocks(n), threads>>>(d_ints, d_out, n);
    expect("running_max", d_out, n,
           [](int i) { return *std::max_element(ints.begin() + i / threads * threads, ints.begin() + i + 1); });
    scan_chained<<<blocks(n), threads>>>(d_ints, d_out + most, d_out + 2 * most, d_out, n);
    expect("scan_chained", d_out, n, [&](int i) { return sum_to(ints, i, most); });
}

// ---- reductions ---------------------------------------------------------------------------------------------

// Where is the first that fits? Blocks leave when one before them has found it.
__global__ void find_first(const int* in, int size, int wanted, int* where) {
    for (int first = blockIdx.x * blockDim.x; first < size; first += gridDim.x * blockDim.x) {
        const int i = first + threadIdx.x;
        const bool found = i < size && in[i] == wanted;
        if (found) atomicMin(where, i);
        if (__syncthreads_or(found)) return;
    }
}

// The greatest, and where it is; the first of several.
__global__ void arg_max(const float* in, int size, float* values, int* places) {
    __shared__ float best[threads / 32];
    __shared__ int best_at[threads / 32];
    float value = -1;
    int at = -1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        if (in[i] > value) {
            value = in[i];
            at = i;
        }
    for (int offset = 16; offset > 0; offset >>= 1) {
        const float other = __shfl_down_sync(0xffffffff, value, offset);
        const int other_at = __shfl_down_sync(0xffffffff, at, offset);
        if (other > value || (other == value && other_at < at)) {
            value = other;
            at = other_at;
        }
    }
    if (threadIdx.x % 32 == 0) {
        best[threadIdx.x / 32] = value;
        best_at[threadIdx.x / 32] = at;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < threads / 32; ++w)
            if (best[w] > value || (best[w] == value && best_at[w] < at)) {
                value = best[w];
                at = best_at[w];
            }
        values[blockIdx.x] = value;
        places[blockIdx.x] = at;
    }
}

template <unsigned int blockSize>
__global__ void reduce6(const int* g_idata, int* g_odata, unsigned int size) {
    __shared__ int sdata[blockSize];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    int mySum = 0;
    while (i < size) {
        mySum += g_idata[i];
        if (i + blockSize < size) mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();
    if (blockSize >= 512) {
        if (tid < 256) sdata[tid] = mySum = mySum + sdata[tid + 256];
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) {
        mySum += sdata[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2) mySum += __shfl_down_sync(0xffffffff, mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

__global__ void count_even(const int* in, int size, int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int count = __syncthreads_count(i < size && in[i] % 2 == 0);
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

__global__ void column_sums(const float* m, float* sums, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    float sum = 0;
    for (int y = 0; y < width; ++y) sum += m[y * width + x];
    sums[x] = sum;
}

// Mean and variance of each row: a warp a row, rows of a block beside each other.
__global__ void row_moments(const float* m, float2* out, int width) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= width) return;
    float sum = 0, squares = 0;
    for (int x = threadIdx.x; x < width; x += 32) {
        const float v = m[row * width + x];
        sum += v;
        squares += v * v;
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, mask);
        squares += __shfl_xor_sync(0xffffffff, squares, mask);
    }
    const float mean = sum / float(width);
    if (threadIdx.x == 0) out[row] = make_float2(mean, squares / float(width) - mean * mean);
}

__global__ void dot_double2(const double2* a, const double2* b, double* sums, int size) {
    __shared__ double cache[128];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        sum += a[i].x * b[i].x + a[i].y * b[i].y;
    cache[threadIdx.x] = sum;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (int(threadIdx.x) < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = cache[0];
}

// 1,023 threads: the last warp has 31.
__global__ void reduce_1023(const int* in, int* out, int size) {
    extern __shared__ int shared[];
    const int tid = threadIdx.x;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + tid; i < size; i += gridDim.x * blockDim.x) sum += in[i];
    shared[tid] = sum;
    __syncthreads();
    for (int count = blockDim.x; count > 1;) {
        const int half = (count + 1) / 2;
        if (tid + half < count) shared[tid] += shared[tid + half];
        count = half;
        __syncthreads();
    }
    if (tid == 0) atomicAdd(out, shared[0]);
}

void reductions() {
    d_out[0] = n;
    find_first<<<3, 128>>>(d_ints, n, ints[size_t(n * 2 / 3)], d_out);
    expect("find_first", d_out, 1,
           [](int) { return std::find(ints.begin(), ints.end(), ints[size_t(n * 2 / 3)]) - ints.begin(); });
    arg_max<<<4, threads>>>(d_floats, n, d_result, d_out);
    cudaDeviceSynchronize();
    const float greatest = *std::max_element(d_result, d_result + 4);
    int first = n;
    for (int b = 0; b < 4; ++b)
        if (d_result[b] == greatest) first = std::min(first, d_out[b]);
    d_out[0] = first;
    expect("arg_max", d_out, 1,
           [](int) { return std::max_element(floats.begin(), floats.begin() + n) - floats.begin(); });
    reduce6<128><<<5, 128>>>(d_ints, d_out, unsigned(n));
    expect("reduce6<128>", d_out, 5,
           [](int b) { return sum_of(0, n, [&](int i) { return i / 256 % 5 == b ? ints[i] : 0; }); });
    reduce6<512><<<3, 512>>>(d_ints, d_out, unsigned(n));
    expect("reduce6<512>", d_out, 3,
           [](int b) { return sum_of(0, n, [&](int i) { return i / 1024 % 3 == b ? ints[i] : 0; }); });
    count_even<<<blocks(n), threads>>>(d_ints, n, d_out);
    expect("count_even", d_out, blocks(n), [](int b) {
        return std::count_if(ints.begin() + b * threads, ints.begin() + std::min(n, (b + 1) * threads),
                             [](int v) { return v % 2 == 0; });
    });
    column_sums<<<blocks(edge, 64), 64>>>(d_floats, d_result, edge);
    expect("column_sums", d_result, edge,
           [](int x) { return sum_of(0, edge, [&](int y) { return floats[y * edge + x]; }); });
    row_moments<<<blocks(edge, 4), dim3(32, 4)>>>(d_floats, reinterpret_cast<float2*>(d_result), edge);
    expect("row_moments", d_result, 2 * edge, [](int i) {
        double sum = 0, squares = 0;
        for (int k = 0; k < edge; ++k) {
            const double v = floats[i / 2 * edge + k];
            sum += v;
            squares += v * v;
        }
        return i % 2 ? squares / edge - sum / edge * (sum / edge) : sum / edge;
    });
    double* d_doubles;
    cudaMallocManaged(&d_doubles, 2 * size_t(n) * sizeof(double));
    for (int i = 0; i < 2 * n; ++i) d_doubles[i] = floats[i];
    const int pairs = n / 2;
    double sums[4] = {};
    for (int i = 0; i < 2 * pairs; ++i) sums[i / 2 / 128 % 4] += double(floats[i]) * floats[2 * pairs + i];
    dot_double2<<<4, 128>>>(reinterpret_cast<const double2*>(d_doubles),
                            reinterpret_cast<const double2*>(d_doubles) + pairs,
                            reinterpret_cast<double*>(d_result), pairs);
    expect("dot_double2", reinterpret_cast<const double*>(d_result), 4, [&](int b) { return sums[b]; });
    cudaFree(d_doubles);
    reduce_1023<<<2, 1023, 1023 * sizeof(int)>>>(d_ints, d_out, n);
    expect("reduce_1023", d_out, 1, [](int) { return sum_of(0, n, [&](int i) { return ints[i]; }); });
}

int main(int argc, char** argv) {
    return run(argc, argv, {products, transpositions, histograms, stencils, scans, reductions});
}
