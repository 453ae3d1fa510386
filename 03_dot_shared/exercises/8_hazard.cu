// 03.8  Find two races in a longer program
//
// The report of --hazards names two lines, the threads, and the element of
// tile. One thread still executes the first line while another thread is at the
// second, so a barrier is missing between the two lines. Find both places. Two
// more barriers for each row are enough. (With a second array none would be
// needed: why?)
#include "exercise.cuh"

// ---- your part
// Returns the sum of tile to all 64 threads.
__device__ int sum_of(int* tile) {
    const int t = threadIdx.x;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) tile[t] += tile[t + d];
    }
    __syncthreads();
    return tile[0];
}

// Returns the maximum of tile to all 64 threads.
__device__ int largest_of(int* tile) {
    const int t = threadIdx.x;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) tile[t] = max(tile[t], tile[t + d]);
    }
    __syncthreads();
    return tile[0];
}

// Writes the distance of each number from the mean of its row, in percent of the largest distance.
__global__ void spread(const int* in, int* out, int rows) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const int x = in[64 * row + t];
        tile[t] = x;
        const int mean = sum_of(tile) / 64;
        const int distance = abs(x - mean);
        tile[t] = distance;
        const int farthest = largest_of(tile);
        out[64 * row + t] = farthest > 0 ? 100 * distance / farthest : 0;
    }
}

// ---- the check
int main() {
    return exercise({5, 1, 2}, [](int rows) {
        Array<int> in(64 * rows, [](int i) { return scattered(i) % 1000; }), out(64 * rows);
        spread<<<2, 64>>>(in, out, rows);
        return check("out", out, [&](int i) {
            const int* const row = in + i / 64 * 64;
            const int mean = std::accumulate(row, row + 64, 0) / 64;
            int farthest = 0;
            for (int k = 0; k < 64; ++k) farthest = std::max(farthest, std::abs(row[k] - mean));
            return farthest > 0 ? 100 * std::abs(in[i] - mean) / farthest : 0;
        }) && at_most((rows + 1) / 2 * 16, barriers()) && at_most((rows + 1) / 2 * 60, accesses());
    });
}
