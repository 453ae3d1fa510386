// 06.5  A tile without bank conflicts
//
// This transpose uses a tile, and reads and writes along rows. But when the
// lanes of a warp read a column of the tile, their words are 32 apart. All are
// in one bank, so the access takes 32 turns. Remove the conflicts. Changing one
// number is enough.
#include "exercise.cuh"

// ---- your part
__global__ void transpose(const int* in, int* out, int width) {
    __shared__ int tile[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = in[(top + ty + k) * width + left + tx];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) out[(left + ty + k) * width + top + tx] = tile[tx][ty + k];
}

// ---- the check
void launch(const int* in, int n, int* out) {
    const int width = int(std::sqrt(double(n)));
    transpose<<<dim3(width / 32, width / 32), dim3(32, 8)>>>(in, out, width);
}

int main() {
    return exercise({64, 32}, [](int width) {
        Array<int> in(width * width, scattered), out(width * width);
        launch(in, width * width, out);
        return check("out", out, [&](int i) { return in[i % width * width + i / width]; }) &&
               at_most(width * width / 4, sectors()) && at_most(0, conflicts());
    }, [] { beside("copy", library::copy, launch, 4096 * 4096); });
}
