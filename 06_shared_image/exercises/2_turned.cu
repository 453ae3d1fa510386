// 06.2  The opposite thread
//
// Each thread stores its pixel in the tile. Then it draws the pixel that the
// opposite thread stored, so that each tile of 16 x 16 is rotated by 180
// degrees. Threads do not run in lockstep: the kernel lacks something. Mend it.
#include "exercise.cuh"

// ---- your part
__global__ void turn(const int* in, int* out, int width) {
    __shared__ int tile[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int at = (blockIdx.y * 16 + ty) * width + blockIdx.x * 16 + tx;
    tile[ty][tx] = in[at];
    out[at] = tile[15 - ty][15 - tx];
}

// ---- the check
int main() {
    return exercise({16, 32}, [](int width) {
        Array<int> in(width * width, scattered), out(width * width);
        turn<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(in, out, width);
        const auto opposite = [](int x) { return x / 16 * 16 + 15 - x % 16; };
        const auto wanted = [&](int i) { return in[opposite(i / width) * width + opposite(i % width)]; };
        return check("out", out, wanted) && at_most(1, barriers()) && at_least(2 * width * width, in_shared());
    });
}
