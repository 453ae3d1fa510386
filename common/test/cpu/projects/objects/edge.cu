extern __device__ int at(const int* p, int i, int n);
__device__ unsigned edges;
__global__ void edge_kernel(const int* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && at(in, i + 1, n) - at(in, i, n) > 10) atomicInc(&edges, ~0u);
}
unsigned count_edges(const int* in, int n) {
    unsigned zero = 0, r;
    cudaMemcpyToSymbol(edges, &zero, sizeof zero);
    edge_kernel<<<(n + 63) / 64, 64>>>(in, n);
    cudaMemcpyFromSymbol(&r, edges, sizeof r);
    return r;
}
