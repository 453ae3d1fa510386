int main() {
    cudaThreadSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    return cudaThreadSynchronize();
}
