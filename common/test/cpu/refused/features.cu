// Features that the CPU device lacks, one for each name: they are rejected with an error that names them.
#ifdef PTX  // RUN: refused -DPTX
__global__ void k(int* p) {
    int x = *p;
    asm("add.s32 %0, %1, 1;" : "=r"(*p) : "r"(x));  // SAYS: error: inline PTX: the CPU device cannot run "add.s32
}
#elif defined DYNAMIC_PARALLELISM  // RUN: refused -DDYNAMIC_PARALLELISM
__global__ void k() {}
__global__ void parent() {
    k<<<1, 1>>>();  // SAYS: error: a kernel is launched from a kernel
}
#elif defined IN_A_FUNCTION  // RUN: refused -DIN_A_FUNCTION
__global__ void k(int* p) { *p = 1; }
__device__ void f(int* p) { k<<<1, 1>>>(p); }  // SAYS: error: a kernel is launched from a kernel
#elif defined CUBLAS  // RUN: refused -DCUBLAS
#include <cublas_v2.h>
#include <curand.h>
int main() {
    cublasHandle_t handle;  // SAYS: error: cublasHandle_t: the CPU device has no cublas: CUDA's libraries
    return cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
}
#elif defined CURAND_HOST  // RUN: refused -DCURAND_HOST
#include <curand.h>
int main() {
    curandGenerator_t g;  // SAYS: error: curandGenerator_t: the CPU device has no cuRAND for the host: use curand_init()
    return curandDestroyGenerator(g) != CURAND_STATUS_SUCCESS;
}
#elif defined CURAND_OTHERS  // RUN: refused -DCURAND_OTHERS
#include <curand_kernel.h>
__global__ void k(curandStateMRG32k3a* s) {}  // SAYS: error: curandStateMRG32k3a: the CPU device has no random numbers of this kind
#elif defined WMMA  // RUN: refused -DWMMA
#include <mma.h>  // SAYS: error: the CPU device has no mma.h
#elif defined CUB_HEADER  // RUN: refused -DCUB_HEADER
#include <cub/agent/agent_reduce.cuh>  // SAYS: agent_reduce.cuh: include cub/cub.cuh
#elif defined CUB_CLASS  // RUN: refused -DCUB_CLASS
#include <cub/cub.cuh>
int main() {
    size_t bytes = 0;
    return cub::DeviceSegmentedReduce::Sum(nullptr, bytes);  // SAYS: error: cub::DeviceSegmentedReduce: the CPU device's CUB has
}
#elif defined SAMPLES_HEADER  // RUN: refused -DSAMPLES_HEADER
#include <helper_cuda.h>  // SAYS: error: there is no helper_cuda.h here: it is one of NVIDIA's samples' headers
#elif defined ARRAYS  // RUN: refused -DARRAYS
int main() {
    cudaArray_t a;  // SAYS: error: cudaArray_t: the CPU device has no textures over arrays and no surfaces
}
#elif defined TEXTURE_2D  // RUN: refused -DTEXTURE_2D
__global__ void k(cudaTextureObject_t t, float* p) {
    *p = tex2D<float>(t, 0, 0);  // SAYS: error: tex2D: the CPU device has no textures over arrays
}
#elif defined PITCHED  // RUN: refused -DPITCHED
int main() {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypePitch2D;  // SAYS: error: cudaResourceTypePitch2D: the CPU device has no textures over arrays
}
#elif defined TEXTURE_REFERENCE  // RUN: refused -DTEXTURE_REFERENCE
texture<float> t;  // SAYS: error: texture: the CPU device has no texture references: create a texture object
int main() { return cudaBindTexture(nullptr, t, nullptr, 0); }
#elif defined GRAPHS  // RUN: refused -DGRAPHS
int main() {
    int g;
    cudaGraphCreate(&g, 0);  // SAYS: error: cudaGraphCreate: the CPU device has no graphs
}
#elif defined GRAPHS_TYPE  // RUN: refused -DGRAPHS_TYPE
int main() {
    cudaGraph_t graph;  // SAYS: error: cudaGraph_t: the CPU device has no graphs
}
#elif defined CAPTURE  // RUN: refused -DCAPTURE
int main() {
    cudaStreamCaptureStatus now;  // SAYS: error: cudaStreamCaptureStatus: the CPU device has no graphs
}
#elif defined LARGE_TILES  // RUN: refused -DLARGE_TILES
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k() {
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());  // SAYS: error: tiled_partition: the CPU device has no tiles of more than 32
    tile.sync();
}
#elif defined CLUSTERS  // RUN: refused -DCLUSTERS
__global__ void __cluster_dims__(2, 1, 1) k() {}  // SAYS: error: __cluster_dims__: the CPU device has no clusters
#elif defined NV_ATOMIC  // RUN: refused -DNV_ATOMIC
__global__ void k(int* p) {
    __nv_atomic_fetch_add(p, 1, 0, 0);  // SAYS: error: __nv_atomic_fetch_add: the CPU device has no atomics of this kind
}
#elif defined OLD_CALLS  // RUN: compiles -DOLD_CALLS
int main() {
    cudaThreadSetLimit(cudaLimitMallocHeapSize, 1 << 20);  // SAYS: use cudaDeviceSetLimit
    return cudaThreadSynchronize();  // SAYS: use cudaDeviceSynchronize
}
#elif defined SIMILAR_NAMES  // RUN: compiles -DSIMILAR_NAMES
void on_host(int n) { (void)n; }
__global__ void cudaGraphColor(int* cudaArray) { *cudaArray = 1; }
void barrier_wait(int n) { on_host(n); }
int main() {
    int* cudaArray = nullptr;
    cudaGraphColor<<<1, 1>>>(cudaArray);
    barrier_wait(3);
}
#elif defined ARCH  // RUN: compiles -DARCH
__host__ __device__ int f() {
#if __CUDA_ARCH__ >= 600  // SAYS: warning: __CUDA_ARCH__ is not defined here
    return 1;
#else
    return 0;
#endif
}
#endif
