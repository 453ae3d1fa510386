__host__ __device__ int f() {
#if __CUDA_ARCH__ >= 600
    return 1;
#else
    return 0;
#endif
}
