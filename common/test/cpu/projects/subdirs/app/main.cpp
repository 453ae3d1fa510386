#include "matmul.h"
#include <cmath>
#include <cstdio>
#include <vector>
int main() {
    const int n = 37;
    std::vector<float> a(n * n), b(n * n), c(n * n), r(n * n);
    for (int i = 0; i < n * n; ++i) a[i] = float(i % 7), b[i] = float(i % 5);
    if (matmul_gpu(a.data(), b.data(), c.data(), n)) return 2;
    matmul_ref(a.data(), b.data(), r.data(), n);
    for (int i = 0; i < n * n; ++i)
        if (std::fabs(c[i] - r[i]) > 1e-3f) {
            std::printf("wrong at %d\n", i);
            return 1;
        }
    std::puts("ok");
    return 0;
}
