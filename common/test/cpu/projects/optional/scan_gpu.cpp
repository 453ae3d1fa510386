#include <vector>
#include <cuda_runtime.h>
__global__ void scan(int* v) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = v[t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int x = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += x;
        __syncthreads();
    }
    v[t] = s[t];
}
bool gpu_scan(std::vector<int>& v) {
    int* d;
    if (cudaMalloc(&d, v.size() * sizeof(int)) != cudaSuccess) return false;
    cudaMemcpy(d, v.data(), v.size() * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<1, v.size(), v.size() * sizeof(int)>>>(d);
    bool ok = cudaMemcpy(v.data(), d, v.size() * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(d);
    return ok;
}
