#include "reduce.hpp"
#include "reduce.cuh"
#include <stdexcept>
#include <string>
#define CUDA_CHECK(call)                                                                                     \
    do {                                                                                                     \
        cudaError_t err = (call);                                                                            \
        if (err != cudaSuccess) throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorName(err)); \
    } while (false)
namespace {
struct Deleter {
    void operator()(void* p) const { cudaFree(p); }
};
__global__ void reduce_kernel(const int* in, unsigned long long* out, std::size_t n) {
    long long s = 0;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += std::size_t(gridDim.x) * blockDim.x)
        s += in[i];
    s = warp_sum(s);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, static_cast<unsigned long long>(s));
}
}  // namespace
long long reduce_sum(const std::vector<int>& v) {
    if (v.empty()) throw std::invalid_argument("empty");
    int* in;
    unsigned long long* out;
    long long r;
    CUDA_CHECK(cudaMalloc(&in, v.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&out, sizeof *out));
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    CUDA_CHECK(cudaMemcpy(in, v.data(), v.size() * sizeof(int), cudaMemcpyHostToDevice));
    reduce_kernel<<<8, 256>>>(in, out, v.size());
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(in));
    CUDA_CHECK(cudaFree(out));
    return r;
}
