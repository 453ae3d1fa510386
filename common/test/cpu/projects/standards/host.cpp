#include <cuda_runtime.h>
#include <cstdio>
int run(float* p, int n);
int main() {
    float* p = nullptr;
    if (cudaMallocManaged(reinterpret_cast<void**>(&p), 64 * sizeof(float)) != cudaSuccess) return 2;
    int bad = run(p, 64);
    std::printf("C++%ld: %s\n", __cplusplus, bad ? "bad" : "good");
    cudaFree(p);
    return bad;
}
