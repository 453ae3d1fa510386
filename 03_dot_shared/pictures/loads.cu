// loads.cu - what sectors.svg is drawn from: a warp loads 32 neighbours, and one field of 32 records of 32 bytes.
#include <cstdio>

__global__ void neighbours(const float* a, float* out) { out[threadIdx.x] = a[threadIdx.x]; }
__global__ void apart(const float* a, float* out) { out[threadIdx.x] = a[8 * threadIdx.x]; }

int main() {
    float *a, *out;
    cudaMallocManaged(&a, 8 * 32 * sizeof(float));
    cudaMallocManaged(&out, 32 * sizeof(float));
    for (int i = 0; i < 8 * 32; ++i) a[i] = i;
    neighbours<<<1, 32>>>(a, out);
    cudaDeviceSynchronize();
    const float first = out[31];
    apart<<<1, 32>>>(a, out);
    cudaDeviceSynchronize();
    std::printf("lane 31 has loaded %g, then %g\n", first, out[31]);
    const bool right = first == 31 && out[31] == 8 * 31;
    cudaFree(a);
    cudaFree(out);
    return right ? 0 : 1;
}
