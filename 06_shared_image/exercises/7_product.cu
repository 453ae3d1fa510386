// 06.7  A tiled matrix product
//
// c = a * b, all n x n: c[y][x] is the sum of a[y][k] * b[k][x] over k. As
// delivered, a block of 16 x 16 threads loads 512 sectors for 16 steps of k,
// many of them repeatedly. Load a tile of a and a tile of b, 16 x 16 each, into
// shared memory: 64 sectors. Each thread adds 16 products from the tiles. Then
// come the next two tiles. n need not be a multiple of 16.
#include "exercise.cuh"

// ---- your part
__global__ void product(const float* a, const float* b, float* c, int n) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= n || y >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

// ---- the check
int main() {
    return exercise({16, 32, 1, 21}, [](int n) {
        Array<float> a(n * n, [](int i) { return scattered(i) % 10; });
        Array<float> b(n * n, [](int i) { return i % 7; }), c(n * n);
        const int tiles = (n + 15) / 16;
        product<<<dim3(tiles, tiles), dim3(16, 16)>>>(a, b, c, n);
        const int row = n % 8 == 0 ? 2 : 3;  // sectors of 16 floats; a row may begin inside a sector
        return check("c", c, [&](int i) {
            float sum = 0;  // exact: float does not round small whole numbers
            for (int k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
            return sum;
        }) && at_most(tiles * tiles * 16 * row * (2 * tiles + 1), sectors()) &&
               at_most(0, conflicts());
    });
}
