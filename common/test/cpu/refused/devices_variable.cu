__device__ int sum, other;
__global__ void add() { sum += sizeof other; }
int main() {
    int zero = 0;
    cudaMemcpyToSymbol(sum, &zero, sizeof sum);
    cudaMemset(&sum, 0, sizeof sum);
    add<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
