__device__ float total;
__global__ void sum_kernel(const float* p, int n) {
    __shared__ float part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? p[i] : 0;
#ifndef RACY
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        float s = 0;
        for (int k = 0; k < 64; ++k) s += part[k];
        atomicAdd(&total, s);
    }
}
float sum(const float* p, int n) {
    float r = 0;
    cudaMemcpyToSymbol(total, &r, 4);
    sum_kernel<<<(n + 63) / 64, 64>>>(p, n);
    cudaMemcpyFromSymbol(&r, total, 4);
    return r;
}
