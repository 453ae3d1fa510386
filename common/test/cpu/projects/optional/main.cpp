#include <cstdio>
#include <numeric>
#include <vector>
#ifdef USE_CUDA
bool gpu_scan(std::vector<int>& v);
#endif
int main() {
    std::vector<int> v(256, 1), r(256);
    std::partial_sum(v.begin(), v.end(), r.begin());
#ifdef USE_CUDA
    if (!gpu_scan(v)) return 2;
    std::printf("gpu %d\n", v.back());
#else
    return 3;
#endif
    return v != r;
}
