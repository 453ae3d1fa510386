#include <optional>
#include <string_view>
template <typename T>
__global__ void fill(T* p, int n) {
    if constexpr (sizeof(T) == 4) {
        if (int i = threadIdx.x; i < n) p[i] = 2.f * i;
    } else {
        p[0] = 0;
    }
}
inline constexpr std::string_view name = "fill";
int run(float* p, int n) {
    std::optional<int> first;
    fill<<<1, n>>>(p, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i)
        if (p[i] != 2.f * i) first = i;
    return first.has_value();
}
