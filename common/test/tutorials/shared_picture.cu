// A picture: each block computes its part in shared memory, and the host shows it in a window.
#include <cuda_runtime.h>

#include <iostream>

#include "book.h"

#include <opencv2/opencv.hpp>

using namespace cv;
using namespace std;

#define SIDE 64

__global__ void paint(uchar* out) {
    __shared__ float tile[16][16];
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    tile[threadIdx.y][threadIdx.x] = 255 * (sinf(x * 0.1f) + 1) * (cosf(y * 0.1f) + 1) / 4;
    __syncthreads();
    out[x + y * gridDim.x * blockDim.x] = tile[15 - threadIdx.y][15 - threadIdx.x];
}

int main() {
    Mat picture(SIDE, SIDE, CV_8UC1, Scalar::all(0));
    uchar* pixels;
    HANDLE_ERROR(cudaMalloc((void**)&pixels, SIDE * SIDE));
    dim3 blocks(SIDE / 16, SIDE / 16);
    dim3 threads(16, 16);
    paint<<<blocks, threads>>>(pixels);
    HANDLE_ERROR(cudaMemcpy(picture.data, pixels, SIDE * SIDE, cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaFree(pixels));
    cout << "the mean is " << mean(picture)[0] << endl;
    namedWindow("Picture", 0);
    imshow("Picture", picture);
    waitKey(0);
    return 0;
}
