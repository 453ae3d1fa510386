#include "nbody/forces.cuh"
#include <cstdio>
__global__ void self_force(float3* out) {
    *out = nbody::body_body(make_float4(0, 0, 0, 1), make_float4(1, 0, 0, 1), make_float3(0, 0, 0));
}
int main() {
    float3* out;
    cudaMallocManaged(&out, sizeof *out);
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventRecord(a);
    self_force<<<1, 1>>>(out);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    std::printf("%f\n", out->x);
    int bad = !(out->x > 0.9f && out->x < 1.1f);
    cudaEventDestroy(a);
    cudaEventDestroy(b);
    cudaFree(out);
    return bad;
}
