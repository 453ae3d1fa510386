#include <concepts>
#include <span>
template <std::floating_point T>
__global__ void fill(T* p, int n) {
    if (int i = threadIdx.x; i < n) p[i] = T(2) * i;
}
struct Args {
    int n;
    int grid;
};
int run(float* p, int n) {
    Args a{.n = n, .grid = 1};
    fill<float><<<a.grid, a.n>>>(p, n);
    cudaDeviceSynchronize();
    for (int i = 0; auto v : std::span(p, n))
        if (v != 2.f * i++) return 1;
    return 0;
}
