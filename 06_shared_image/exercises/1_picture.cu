// 06.1  Two dimensions
//
// Blocks and grids can have a width and a height: threadIdx.x and .y,
// blockIdx.x and .y. A block of 16 x 16 threads draws 16 x 16 pixels. The pixel
// in column x and row y is element y * width + x of the picture. Its brightness
// must be x ^ y. The sides of the picture need not be multiples of 16.
#include "exercise.cuh"

// ---- your part
__global__ void draw(int* picture, int width, int height) {
    const int x = threadIdx.x, y = threadIdx.y;
    picture[y * width + x] = x ^ y;
}

// ---- the check
int main() {
    return exercise({16, 48, 37}, [](int width) {
        const int height = width + 5;
        Array<int> picture(width * height);
        draw<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(picture, width, height);
        return check("picture", picture, [&](int i) { return (i % width) ^ (i / width); }) &&
               at_most(4, accesses());
    });
}
