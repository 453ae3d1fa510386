// counted_classics.cu - the kernels that every course has, written before any was counted, counted as the samples
// are (counted.sh): products with tiles, transpositions, histograms, stencils with a halo, scans; sizes that no
// tile divides.
//   counted_classics N EDGE   arrays of N elements, matrices and grids of about EDGE
// Each kernel's result is compared with the host's. Exit status: 0 all right, 1 not, 2 not understood, 77 no GPU.
#include <numeric>

#include "counted.cuh"

// ---- products: C (M x N) = A (M x K) B (K x N), each edge another --------------------------------------------

#define TILE_WIDTH 16

__global__ void MatrixMulKernel(float* A, float* B, float* C, int numARows, int numAColumns, int numBColumns) {
    __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
    __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Cvalue = 0.0;
    for (int t = 0; t < (numAColumns - 1) / TILE_WIDTH + 1; ++t) {
        if (Row < numARows && t * TILE_WIDTH + tx < numAColumns)
            ds_A[ty][tx] = A[Row * numAColumns + t * TILE_WIDTH + tx];
        else
            ds_A[ty][tx] = 0.0;
        if (t * TILE_WIDTH + ty < numAColumns && Col < numBColumns)
            ds_B[ty][tx] = B[(t * TILE_WIDTH + ty) * numBColumns + Col];
        else
            ds_B[ty][tx] = 0.0;
        __syncthreads();
        for (int i = 0; i < TILE_WIDTH; ++i) Cvalue += ds_A[ty][i] * ds_B[i][tx];
        __syncthreads();
    }
    if (Row < numARows && Col < numBColumns) C[Row * numBColumns + Col] = Cvalue;
}

// Only as many products as there are, at the ragged end, too.
__global__ void mm_ragged(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[8][8], b[8][8];
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += 8) {
        const int left = min(8, K - first);
        if (row < M && first + threadIdx.x < K) a[threadIdx.y][threadIdx.x] = A[row * K + first + threadIdx.x];
        if (col < N && first + threadIdx.y < K) b[threadIdx.y][threadIdx.x] = B[(first + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < left; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// The tiles' edge is that of the block; their memory is the launch's.
__global__ void mm_dynamic(const float* A, const float* B, float* C, int M, int K, int N) {
    extern __shared__ float tiles[];
    const int edge_of_tile = blockDim.x;
    float* const a = tiles;
    float* const b = tiles + edge_of_tile * edge_of_tile;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * edge_of_tile + ty, col = blockIdx.x * edge_of_tile + tx;
    float sum = 0;
    for (int t = 0; t < K; t += edge_of_tile) {
        a[ty * edge_of_tile + tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0;
        b[ty * edge_of_tile + tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < edge_of_tile; ++k) sum += a[ty * edge_of_tile + k] * b[k * edge_of_tile + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// Two tiles: while the one is used, the next is loaded.
template <int T>
__global__ void mm_double(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                          int K, int N) {
    __shared__ float a[2][T][T];
    __shared__ float b[2][T][T + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    a[0][ty][tx] = row < M && tx < K ? A[row * K + tx] : 0;
    b[0][ty][tx] = ty < K && col < N ? B[ty * N + col] : 0;
    __syncthreads();
    const int tiles = (K + T - 1) / T;
    for (int t = 0; t < tiles; ++t) {
        const int now = t & 1, next = (t + 1) * T;
        if (t + 1 < tiles) {
            a[now ^ 1][ty][tx] = row < M && next + tx < K ? A[row * K + next + tx] : 0;
            b[now ^ 1][ty][tx] = next + ty < K && col < N ? B[(next + ty) * N + col] : 0;
        }
#pragma unroll
        for (int k = 0; k < T; ++k) sum += a[now][ty][k] * b[now][k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// 128 threads; each has eight results of a column: a tile of 32 x 32.
__global__ void mm_column_of_8(const float* A, const float* B, float* C, int M, int K, int N) {
    constexpr int BM = 32, BN = 32, BK = 8, TM = 8;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
    float threadResults[TM] = {0.0f};
    for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += 128) {
            const int r = blockIdx.y * BM + i / BK, c = bkIdx + i % BK;
            As[i] = r < M && c < K ? A[r * K + c] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += 128) {
            const int r = bkIdx + i / BN, c = blockIdx.x * BN + i % BN;
            Bs[i] = r < K && c < N ? B[r * N + c] : 0.0f;
        }
        __syncthreads();
        for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
            const float tmpB = Bs[dotIdx * BN + threadCol];
            for (int resIdx = 0; resIdx < TM; ++resIdx)
                threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
        }
        __syncthreads();
    }
    for (int resIdx = 0; resIdx < TM; ++resIdx) {
        const int r = blockIdx.y * BM + threadRow * TM + resIdx, c = blockIdx.x * BN + threadCol;
        if (r < M && c < N) C[r * N + c] = threadResults[resIdx];
    }
}

// A matrix with a vector, a block a row.
__global__ void mv_block_a_row(const float* A, const float* x, float* y, int columns) {
    __shared__ float partial[128];
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += A[blockIdx.x * columns + c] * x[c];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

void products() {
    const int M = edge, K = edge + 5, N = edge - 3;
    float *const A = d_floats, *const B = d_floats + most;
    const auto right = [&](int i) {
        return sum_of(0, K, [&](int k) { return double(floats[i / N * K + k]) * floats[most + k * N + i % N]; });
    };
    MatrixMulKernel<<<dim3(blocks(N, 16), blocks(M, 16)), dim3(16, 16)>>>(A, B, d_result, M, K, N);
    expect("MatrixMulKernel", d_result, M * N, right);
    mm_ragged<<<dim3(blocks(N, 8), blocks(M, 8)), dim3(8, 8)>>>(A, B, d_result, M, K, N);
    expect("mm_ragged", d_result, M * N, right);
    mm_dynamic<<<dim3(blocks(N, 12), blocks(M, 12)), dim3(12, 12), 2 * 12 * 12 * sizeof(float)>>>(A, B, d_result, M,
                                                                                                  K, N);
    expect("mm_dynamic", d_result, M * N, right);
    mm_double<16><<<dim3(blocks(N, 16), blocks(M, 16)), dim3(16, 16)>>>(A, B, d_result, M, K, N);
    expect("mm_double", d_result, M * N, right);
    mm_column_of_8<<<dim3(blocks(N, 32), blocks(M, 32)), 128>>>(A, B, d_result, M, K, N);
    expect("mm_column_of_8", d_result, M * N, right);
    mv_block_a_row<<<M, 128>>>(A, B, d_result, K);
    expect("mv_block_a_row", d_result, M, [&](int row) {
        return sum_of(0, K, [&](int k) { return double(floats[row * K + k]) * floats[most + k]; });
    });
}

// ---- transpositions, of a matrix that is wider than high -------------------------------------------------------

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transposeCoalesced(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transposeNoBankConflicts(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <int pad>
__device__ void transpose_16(const int* in, int* out, int width, int height) {
    __shared__ int block[16][16 + pad];
    unsigned int xIndex = blockIdx.x * 16 + threadIdx.x;
    unsigned int yIndex = blockIdx.y * 16 + threadIdx.y;
    if (xIndex < width && yIndex < height) block[threadIdx.y][threadIdx.x] = in[yIndex * width + xIndex];
    __syncthreads();
    xIndex = blockIdx.y * 16 + threadIdx.x;
    yIndex = blockIdx.x * 16 + threadIdx.y;
    if (xIndex < height && yIndex < width) out[yIndex * height + xIndex] = block[threadIdx.x][threadIdx.y];
}
__global__ void transpose_16x16(const int* in, int* out, int width, int height) {
    transpose_16<0>(in, out, width, height);
}
__global__ void transpose_16x17(const int* in, int* out, int width, int height) {
    transpose_16<1>(in, out, width, height);
}

// A block of 1024, a whole tile of doubles.
__global__ void transpose_doubles(const double* in, double* out, int width, int height) {
    __shared__ double tile[32][33];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
    if (tx < height && ty < width) out[ty * height + tx] = tile[threadIdx.x][threadIdx.y];
}

void transpositions() {
    const int width = edge + 7, height = edge - 2;
    const dim3 by_32(blocks(width, 32), blocks(height, 32)), by_16(blocks(width, 16), blocks(height, 16));
    const auto from = [&](int i) { return i % height * width + i / height; };
    transposeCoalesced<<<by_32, dim3(TILE_DIM, BLOCK_ROWS)>>>(d_result, d_floats, width, height);
    expect("transposeCoalesced", d_result, width * height, [&](int i) { return floats[from(i)]; });
    transposeNoBankConflicts<<<by_32, dim3(TILE_DIM, BLOCK_ROWS)>>>(d_result, d_floats, width, height);
    expect("transposeNoBankConflicts", d_result, width * height, [&](int i) { return floats[from(i)]; });
    transpose_16x16<<<by_16, dim3(16, 16)>>>(d_ints, d_out, width, height);
    expect("transpose_16x16", d_out, width * height, [&](int i) { return ints[from(i)]; });
    transpose_16x17<<<by_16, dim3(16, 16)>>>(d_ints, d_out, width, height);
    expect("transpose_16x17", d_out, width * height, [&](int i) { return ints[from(i)]; });
    double* d_doubles;
    cudaMallocManaged(&d_doubles, width * height * sizeof(double));
    std::copy(floats.begin(), floats.begin() + width * height, d_doubles);
    transpose_doubles<<<by_32, dim3(32, 32)>>>(d_doubles, reinterpret_cast<double*>(d_result), width, height);
    expect("transpose_doubles", reinterpret_cast<double*>(d_result), width * height,
           [&](int i) { return floats[from(i)]; });
    cudaFree(d_doubles);
}

// ---- histograms ------------------------------------------------------------------------------------------------

#define NUM_BINS 96

__global__ void histo_naive(const int* input, unsigned int* bins, unsigned int num_elements) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num_elements) atomicAdd(&bins[input[i] % NUM_BINS], 1);
}

__global__ void histo_privatized(const int* input, unsigned int* bins, unsigned int num_elements) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) histo_s[bin] = 0u;
    __syncthreads();
    unsigned int tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned int i = tid; i < num_elements; i += blockDim.x * gridDim.x)
        atomicAdd(&histo_s[input[i] % NUM_BINS], 1);
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if (binValue > 0) atomicAdd(&bins[bin], binValue);
    }
}

// What is the same as before is added up first.
__global__ void histo_aggregated(const int* input, unsigned int* bins, unsigned int num_elements) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) histo_s[bin] = 0u;
    __syncthreads();
    unsigned int accumulator = 0;
    int prevBin = -1;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < num_elements; i += blockDim.x * gridDim.x) {
        int bin = input[i] / 64 % NUM_BINS;
        if (bin == prevBin) {
            ++accumulator;
        } else {
            if (accumulator > 0) atomicAdd(&histo_s[prevBin], accumulator);
            accumulator = 1;
            prevBin = bin;
        }
    }
    if (accumulator > 0) atomicAdd(&histo_s[prevBin], accumulator);
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) atomicAdd(&bins[bin], histo_s[bin]);
}

// A copy for each warp, the bins of all of them side by side.
__global__ void histo_copies(const int* input, int* bins, int n) {
    constexpr int copies = 8, all = 32;
    __shared__ int h[all][copies];
    const int w = threadIdx.x / 32;
    for (int b = threadIdx.x; b < all * copies; b += blockDim.x) h[b / copies][b % copies] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&h[input[i] % all][w], 1);
    __syncthreads();
    if (threadIdx.x < all) {
        int sum = 0;
        for (int c = 0; c < copies; ++c) sum += h[threadIdx.x][c];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

// A histogram of each block in global memory, then their sums.
__global__ void histo_of_blocks(const int* input, int* partial, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(partial + blockIdx.x * NUM_BINS + input[i] % NUM_BINS, 1);
}
__global__ void histo_merge(const int* partial, int* bins, int parts) {
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= NUM_BINS) return;
    int sum = 0;
    for (int p = 0; p < parts; ++p) sum += partial[p * NUM_BINS + b];
    bins[b] = sum;
}

void histograms() {
    auto* const bins = reinterpret_cast<unsigned int*>(d_out);
    const auto counted = [](int divisor, int all) {
        return [=](int b) {
            return std::count_if(ints.begin(), ints.begin() + n, [=](int v) { return v / divisor % all == b; });
        };
    };
    histo_naive<<<blocks(n), threads>>>(d_ints, bins, n);
    expect("histo_naive", bins, NUM_BINS, counted(1, NUM_BINS));
    histo_privatized<<<10, threads>>>(d_ints, bins, n);
    expect("histo_privatized", bins, NUM_BINS, counted(1, NUM_BINS));
    histo_aggregated<<<6, 64>>>(d_ints, bins, n);
    expect("histo_aggregated", bins, NUM_BINS, counted(64, NUM_BINS));
    histo_copies<<<5, threads>>>(d_ints, d_out, n);
    expect("histo_copies", d_out, 32, counted(1, 32));
    histo_of_blocks<<<7, 128>>>(d_ints, d_out + NUM_BINS, n);
    histo_merge<<<2, 64>>>(d_out + NUM_BINS, d_out, 7);
    expect("histo_merge", d_out, NUM_BINS, counted(1, NUM_BINS));
}

// ---- stencils --------------------------------------------------------------------------------------------------

#define RADIUS 3
#define BLOCK_SIZE 128

__global__ void stencil_radius(int* in, int* out, int size) {
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;
    temp[lindex] = gindex < size ? in[gindex] : 0;
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = gindex >= RADIUS ? in[gindex - RADIUS] : 0;
        temp[lindex + BLOCK_SIZE] = gindex + BLOCK_SIZE < size ? in[gindex + BLOCK_SIZE] : 0;
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    if (gindex < size) out[gindex] = result;
}

// The same from global memory, the ends looked after by a clamp.
__global__ void stencil_clamped(const float* in, float* out, int size, int radius) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    float sum = 0;
    for (int k = -radius; k <= radius; ++k) sum += in[min(max(i + k, 0), size - 1)];
    out[i] = sum / (2 * radius + 1);
}

// The block's own elements are in shared memory, its neighbours' come from global memory.
__global__ void convolution_cached(const float* N, float* P, int width) {
    __shared__ float tile[BLOCK_SIZE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < width ? N[i] : 0;
    __syncthreads();
    if (i >= width) return;
    const int first = blockIdx.x * blockDim.x, end = first + blockDim.x;
    float sum = 0;
    for (int j = 0; j < 5; j++) {
        const int at = i - 2 + j;
        if (at >= 0 && at < width) sum += (at >= first && at < end ? tile[threadIdx.x + j - 2] : N[at]) * (j + 1);
    }
    P[i] = sum;
}

// 16 x 16 threads load a tile with its halo and have 12 x 12 results.
__constant__ float filter[5][5] = {
    {1, 2, 3, 2, 1}, {2, 4, 6, 4, 2}, {3, 6, 9, 6, 3}, {2, 4, 6, 4, 2}, {1, 2, 3, 2, 1}};
__global__ void convolution_tiled_2D(const float* N, float* P, int width, int height) {
    __shared__ float N_s[16][16];
    const int col = blockIdx.x * 12 + threadIdx.x - 2, row = blockIdx.y * 12 + threadIdx.y - 2;
    if (row >= 0 && row < height && col >= 0 && col < width)
        N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
    else
        N_s[threadIdx.y][threadIdx.x] = 0.0;
    __syncthreads();
    const int tileCol = threadIdx.x - 2, tileRow = threadIdx.y - 2;
    if (col >= 0 && col < width && row >= 0 && row < height)
        if (tileCol >= 0 && tileCol < 12 && tileRow >= 0 && tileRow < 12) {
            float Pvalue = 0.0f;
            for (int fRow = 0; fRow < 5; fRow++)
                for (int fCol = 0; fCol < 5; fCol++)
                    Pvalue += filter[fRow][fCol] * N_s[tileRow + fRow][tileCol + fCol];
            P[row * width + col] = Pvalue;
        }
}

// The threads at the block's edge load the halo, too.
__global__ void jacobi_halo(const float* u, float* next, int nx, int ny) {
    __shared__ float s[8 + 2][32 + 2];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (x < nx && y < ny) {
        s[j][i] = u[y * nx + x];
        if (threadIdx.x == 0 && x > 0) s[j][0] = u[y * nx + x - 1];
        if (threadIdx.x == 31 && x + 1 < nx) s[j][33] = u[y * nx + x + 1];
        if (threadIdx.y == 0 && y > 0) s[0][i] = u[(y - 1) * nx + x];
        if (threadIdx.y == 7 && y + 1 < ny) s[9][i] = u[(y + 1) * nx + x];
    }
    __syncthreads();
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
        next[y * nx + x] = 0.25f * (s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i]);
}

#define IN_TILE_DIM 8
#define OUT_TILE_DIM 6

__global__ void stencil_7_tiled(float* in, float* out, unsigned int N) {
    int i = blockIdx.z * OUT_TILE_DIM + threadIdx.z - 1;
    int j = blockIdx.y * OUT_TILE_DIM + threadIdx.y - 1;
    int k = blockIdx.x * OUT_TILE_DIM + threadIdx.x - 1;
    __shared__ float in_s[IN_TILE_DIM][IN_TILE_DIM][IN_TILE_DIM];
    if (i >= 0 && i < N && j >= 0 && j < N && k >= 0 && k < N)
        in_s[threadIdx.z][threadIdx.y][threadIdx.x] = in[i * N * N + j * N + k];
    __syncthreads();
    if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1 && k >= 1 && k < N - 1)
        if (threadIdx.z >= 1 && threadIdx.z < IN_TILE_DIM - 1 && threadIdx.y >= 1 &&
            threadIdx.y < IN_TILE_DIM - 1 && threadIdx.x >= 1 && threadIdx.x < IN_TILE_DIM - 1)
            out[i * N * N + j * N + k] =
                0.5f * in_s[threadIdx.z][threadIdx.y][threadIdx.x] +
                in_s[threadIdx.z][threadIdx.y][threadIdx.x - 1] + in_s[threadIdx.z][threadIdx.y][threadIdx.x + 1] +
                in_s[threadIdx.z][threadIdx.y - 1][threadIdx.x] + in_s[threadIdx.z][threadIdx.y + 1][threadIdx.x] +
                in_s[threadIdx.z - 1][threadIdx.y][threadIdx.x] + in_s[threadIdx.z + 1][threadIdx.y][threadIdx.x];
}

// Three planes in shared memory go along z.
__global__ void stencil_7_planes(float* in, float* out, unsigned int N) {
    int iStart = blockIdx.z * OUT_TILE_DIM;
    int j = blockIdx.y * OUT_TILE_DIM + threadIdx.y - 1;
    int k = blockIdx.x * OUT_TILE_DIM + threadIdx.x - 1;
    __shared__ float inPrev_s[IN_TILE_DIM][IN_TILE_DIM];
    __shared__ float inCurr_s[IN_TILE_DIM][IN_TILE_DIM];
    __shared__ float inNext_s[IN_TILE_DIM][IN_TILE_DIM];
    if (iStart - 1 >= 0 && iStart - 1 < N && j >= 0 && j < N && k >= 0 && k < N)
        inPrev_s[threadIdx.y][threadIdx.x] = in[(iStart - 1) * N * N + j * N + k];
    if (iStart >= 0 && iStart < N && j >= 0 && j < N && k >= 0 && k < N)
        inCurr_s[threadIdx.y][threadIdx.x] = in[iStart * N * N + j * N + k];
    for (int i = iStart; i < iStart + OUT_TILE_DIM; ++i) {
        if (i + 1 >= 0 && i + 1 < N && j >= 0 && j < N && k >= 0 && k < N)
            inNext_s[threadIdx.y][threadIdx.x] = in[(i + 1) * N * N + j * N + k];
        __syncthreads();
        if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1 && k >= 1 && k < N - 1)
            if (threadIdx.y >= 1 && threadIdx.y < IN_TILE_DIM - 1 && threadIdx.x >= 1 &&
                threadIdx.x < IN_TILE_DIM - 1)
                out[i * N * N + j * N + k] =
                    0.5f * inCurr_s[threadIdx.y][threadIdx.x] + inCurr_s[threadIdx.y][threadIdx.x - 1] +
                    inCurr_s[threadIdx.y][threadIdx.x + 1] + inCurr_s[threadIdx.y + 1][threadIdx.x] +
                    inCurr_s[threadIdx.y - 1][threadIdx.x] + inPrev_s[threadIdx.y][threadIdx.x] +
                    inNext_s[threadIdx.y][threadIdx.x];
        __syncthreads();
        inPrev_s[threadIdx.y][threadIdx.x] = inCurr_s[threadIdx.y][threadIdx.x];
        inCurr_s[threadIdx.y][threadIdx.x] = inNext_s[threadIdx.y][threadIdx.x];
    }
}

// A thread a column of the grid; what it has just used stays in registers.
__global__ void wave_3d(const float* __restrict__ now, const float* __restrict__ before, float* __restrict__ next,
                        int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;
    const int stride = nx * ny;
    int i = y * nx + x;
    float below = now[i], here = now[i + stride];
    for (int z = 1; z < nz - 1; ++z) {
        i += stride;
        const float above = now[i + stride];
        next[i] = 2 * here - before[i] +
                  0.1f * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] + below + above - 6 * here);
        below = here;
        here = above;
    }
}

void stencils() {
    const auto at = [](int i) { return i >= 0 && i < n ? ints[i] : 0; };
    stencil_radius<<<blocks(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_ints, d_out, n);
    expect("stencil_radius", d_out, n,
           [&](int i) { return sum_of(-RADIUS, RADIUS + 1, [&](int k) { return at(i + k); }); });
    stencil_clamped<<<blocks(n, 192), 192>>>(d_floats, d_result, n, 4);
    expect("stencil_clamped", d_result, n, [&](int i) {
        double sum = 0;
        for (int k = -4; k <= 4; ++k) sum += floats[std::clamp(i + k, 0, n - 1)];
        return sum / 9;
    });
    convolution_cached<<<blocks(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_floats, d_result, n);
    expect("convolution_cached", d_result, n, [&](int i) {
        return sum_of(0, 5, [&](int j) { return i + j >= 2 && i + j - 2 < n ? floats[i + j - 2] * (j + 1) : 0; });
    });
    const int width = edge + 3, height = edge - 3;
    const float weights[] = {1, 2, 3, 2, 1};
    convolution_tiled_2D<<<dim3(blocks(width, 12), blocks(height, 12)), dim3(16, 16)>>>(d_floats, d_result, width,
                                                                                        height);
    expect("convolution_tiled_2D", d_result, width * height, [&](int i) {
        double sum = 0;
        for (int r = -2; r <= 2; ++r)
            for (int c = -2; c <= 2; ++c) {
                const int x = i % width + c, y = i / width + r;
                if (x >= 0 && y >= 0 && x < width && y < height)
                    sum += weights[r + 2] * weights[c + 2] * floats[y * width + x];
            }
        return sum;
    });
    jacobi_halo<<<dim3(blocks(width, 32), blocks(height, 8)), dim3(32, 8)>>>(d_floats, d_result, width, height);
    expect("jacobi_halo", d_result, width * height, [&](int i) {
        const int x = i % width, y = i / width;
        if (x == 0 || y == 0 || x == width - 1 || y == height - 1) return 0.0f;
        return 0.25f * (floats[i - 1] + floats[i + 1] + floats[i - width] + floats[i + width]);
    });
    const int side = edge / 5 + 4;
    const auto inside = [&](int i) {
        const int k = i % side, j = i / side % side, l = i / side / side;
        return k > 0 && j > 0 && l > 0 && k < side - 1 && j < side - 1 && l < side - 1;
    };
    const auto neighbours = [&](int i) {
        return floats[i - 1] + floats[i + 1] + floats[i - side] + floats[i + side] + floats[i - side * side] +
               floats[i + side * side];
    };
    const auto seven = [&](int i) { return inside(i) ? 0.5f * floats[i] + neighbours(i) : 0; };
    const int by_6 = blocks(side, OUT_TILE_DIM);
    stencil_7_tiled<<<dim3(by_6, by_6, by_6), dim3(IN_TILE_DIM, IN_TILE_DIM, IN_TILE_DIM)>>>(d_floats, d_result,
                                                                                             side);
    expect("stencil_7_tiled", d_result, side * side * side, seven);
    stencil_7_planes<<<dim3(by_6, by_6, by_6), dim3(IN_TILE_DIM, IN_TILE_DIM)>>>(d_floats, d_result, side);
    expect("stencil_7_planes", d_result, side * side * side, seven);
    wave_3d<<<dim3(blocks(side, 32), blocks(side, 4)), dim3(32, 4)>>>(d_floats, d_floats + most, d_result, side,
                                                                      side, side);
    expect("wave_3d", d_result, side * side * side, [&](int i) {
        return inside(i) ? 2 * floats[i] - floats[most + i] + 0.1f * (neighbours(i) - 6 * floats[i]) : 0;
    });
}

// ---- scans -----------------------------------------------------------------------------------------------------

#define SECTION_SIZE 256

__global__ void Kogge_Stone_scan_kernel(float* X, float* Y, unsigned int N) {
    __shared__ float XY[SECTION_SIZE];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        XY[threadIdx.x] = X[i];
    else
        XY[threadIdx.x] = 0.0f;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float temp;
        if (threadIdx.x >= stride) temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
        __syncthreads();
        if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
    }
    if (i < N) Y[i] = XY[threadIdx.x];
}

// Two rows by turns; the sum of those before each.
__global__ void scan_two_rows(int* g_odata, const int* g_idata, int size) {
    extern __shared__ int temp[];
    const int thid = threadIdx.x, at = blockIdx.x * blockDim.x + thid, block = blockDim.x;
    int pout = 0, pin = 1;
    temp[pout * block + thid] = thid > 0 && at - 1 < size ? g_idata[at - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < block; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * block + thid] = temp[pin * block + thid] + temp[pin * block + thid - offset];
        else
            temp[pout * block + thid] = temp[pin * block + thid];
        __syncthreads();
    }
    if (at < size) g_odata[at] = temp[pout * block + thid];
}

// Up the tree and down again, two elements a thread.
__global__ void prescan(float* g_odata, const float* g_idata, int n) {
    extern __shared__ float tree_of_floats[];
    float* temp = tree_of_floats;
    int thid = threadIdx.x;
    int offset = 1;
    temp[2 * thid] = g_idata[blockIdx.x * n + 2 * thid];
    temp[2 * thid + 1] = g_idata[blockIdx.x * n + 2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[blockIdx.x * n + 2 * thid] = temp[2 * thid];
    g_odata[blockIdx.x * n + 2 * thid + 1] = temp[2 * thid + 1];
}

// A tree over one element a thread, by index; inclusive at the end.
__global__ void scan_up_down(const int* in, int* out, int size) {
    __shared__ int s[256];
    const int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    const int mine = i < size ? in[i] : 0;
    s[tid] = mine;
    __syncthreads();
    for (int stride = 1; stride < 256; stride <<= 1) {
        const int at = (tid + 1) * stride * 2 - 1;
        if (at < 256) s[at] += s[at - stride];
        __syncthreads();
    }
    if (tid == 0) s[255] = 0;
    __syncthreads();
    for (int stride = 128; stride > 0; stride >>= 1) {
        const int at = (tid + 1) * stride * 2 - 1;
        if (at < 256) {
            const int left = s[at - stride];
            s[at - stride] = s[at];
            s[at] += left;
        }
        __syncthreads();
    }
    if (i < size) out[i] = s[tid] + mine;
}

__device__ int warp_scan(int value) {
    const int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d <<= 1) {
        const int other = __shfl_up_sync(0xffffffff, value, d);
        if (lane >= d) value += other;
    }
    return value;
}

// Of each warp by shuffles, then of the warps' sums by the first warp. Leaves the block's sum.
__global__ void scan_by_warps(const int* in, int* out, int* sums, int size) {
    __shared__ int of_warps[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int value = warp_scan(i < size ? in[i] : 0);
    if (lane == 31) of_warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const int sum = lane < blockDim.x / 32 ? of_warps[lane] : 0;
        of_warps[lane] = warp_scan(sum);
    }
    __syncthreads();
    const int result = value + (warp > 0 ? of_warps[warp - 1] : 0);
    if (i < size) out[i] = result;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = result;
}
__global__ void scan_sums(int* sums, int count) {  // one block
    __shared__ int s[512];
    s[threadIdx.x] = threadIdx.x < count ? sums[threadIdx.x] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = 0;
        if (threadIdx.x >= d) v = s[threadIdx.x - d];
        __syncthreads();
        s[threadIdx.x] += v;
        __syncthreads();
    }
    if (threadIdx.x < count) sums[threadIdx.x] = s[threadIdx.x];
}
__global__ void add_sums(int* out, const int* sums, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < size) out[i] += sums[blockIdx.x - 1];
}

// Begins again where a flag is set.
__global__ void scan_segments(const int* in, int* out, int size) {
    __shared__ int values[128];
    __shared__ bool flags[128];
    const int tid = threadIdx.x, i = blockIdx.x * 128 + tid;
    values[tid] = i < size ? in[i] : 0;
    flags[tid] = tid == 0 || (i < size && in[i] % 8 == 0);
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int value = values[tid];
        bool flag = flags[tid];
        if (tid >= d && !flag) {
            value += values[tid - d];
            flag = flags[tid - d];
        }
        __syncthreads();
        values[tid] = value;
        flags[tid] = flag;
        __syncthreads();
    }
    if (i < size) out[i] = values[tid];
}

void scans() {
    const auto sum_before = [](const auto& v, int i, int block) {
        return std::accumulate(v.begin() + i / block * block, v.begin() + i, 0.0);
    };
    Kogge_Stone_scan_kernel<<<blocks(n, SECTION_SIZE), SECTION_SIZE>>>(d_floats, d_result, n);
    expect("Kogge_Stone_scan_kernel", d_result, n,
           [&](int i) { return sum_before(floats, i, SECTION_SIZE) + floats[i]; });
    scan_two_rows<<<blocks(n, 128), 128, 2 * 128 * sizeof(int)>>>(d_out, d_ints, n);
    expect("scan_two_rows", d_out, n, [&](int i) { return sum_before(ints, i, 128); });
    const int whole = std::max(1, n / 512);
    prescan<<<whole, 256, 512 * sizeof(float)>>>(d_result, d_floats, 512);
    expect("prescan", d_result, whole * 512, [&](int i) { return sum_before(floats, i, 512); });
    scan_up_down<<<blocks(n), 256>>>(d_ints, d_out, n);
    expect("scan_up_down", d_out, n, [&](int i) { return sum_before(ints, i, 256) + ints[i]; });
    int* const sums = d_out + 2 * most;
    scan_by_warps<<<blocks(n), threads>>>(d_ints, d_out, sums, n);
    scan_sums<<<1, 512>>>(sums, blocks(n));
    add_sums<<<blocks(n), threads>>>(d_out, sums, n);
    expect("scan_by_warps", d_out, n,
           [&](int i) { return i % 997 ? d_out[i] : std::accumulate(ints.begin(), ints.begin() + i + 1, 0); });
    scan_segments<<<blocks(n, 128), 128>>>(d_ints, d_out, n);
    expect("scan_segments", d_out, n, [&](int i) {
        int sum = ints[i];
        while (i % 128 && ints[i] % 8) sum += ints[--i];
        return sum;
    });
}

int main(int argc, char** argv) { return run(argc, argv, {products, transpositions, histograms, stencils, scans}); }
