// 06.3  A barrier at the edge
//
// The pictures now have a side of 20, and the last tiles extend past the edge.
// The present guard is wrong: threads outside the picture return, and their
// tile stays incomplete. `in` counts as 0 outside, and every pixel of the
// picture must be drawn. Mend it.
#include "exercise.cuh"

// ---- your part
__global__ void turn(const int* in, int* out, int width) {
    __shared__ int tile[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    if (x >= width || y >= width) return;
    tile[ty][tx] = in[y * width + x];
    __syncthreads();
    out[y * width + x] = tile[15 - ty][15 - tx];
}

// ---- the check
int main() {
    return exercise({32, 20, 5}, [](int width) {
        Array<int> in(width * width, scattered), out(width * width);
        turn<<<dim3((width + 15) / 16, (width + 15) / 16), dim3(16, 16)>>>(in, out, width);
        const auto opposite = [](int x) { return x / 16 * 16 + 15 - x % 16; };
        return check("out", out, [&](int i) {
            const int x = opposite(i % width), y = opposite(i / width);
            return x < width && y < width ? in[y * width + x] : 0;
        }) && at_least(2 * width * width, in_shared());
    });
}
