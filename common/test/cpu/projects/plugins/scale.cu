__global__ void scale_kernel(float* p, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= f;
}
void scale(float* p, float f, int n) { scale_kernel<<<(n + 63) / 64, 64>>>(p, f, n); }
