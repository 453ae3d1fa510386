#pragma once
#define LAUNCH(kernel, n, ...) kernel<<<(n + 31) / 32, 32>>>(__VA_ARGS__)

namespace included {
template <class T>
__global__ void fill(T* p, int n, T value = T(3)) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = value;
}
inline void fill_by_function(int* p, int n) { fill<<<(n + 63) / 64, 64>>>(p, n, 9); }
}  // namespace included
__global__ void defined_elsewhere(int* p);
