// 06.4  Transpose: rows become columns
//
// out[x][y] = in[y][x]. As delivered, each warp reads along a row and writes
// along a column: 32 sectors of 32 bytes for 32 ints. With a tile it can read
// and write along rows. 64 x 64 ints are 512 sectors, so loads and stores
// together are 1024. The block has 32 x 8 threads: each thread moves four ints.
#include "exercise.cuh"

// ---- your part
__global__ void transpose(const int* in, int* out, int width) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[x * width + y + k] = in[(y + k) * width + x];
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
               at_most(width * width / 4, sectors());
    }, [] { beside("copy", library::copy, launch, 4096 * 4096); });
}
