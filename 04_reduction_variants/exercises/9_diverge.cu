// 04.9  Divergence
//
// Elements with an even index go up, elements with an odd index go down. At the
// `if` the lanes of a warp diverge. The warp takes one branch while half of its
// lanes wait, then the other branch. Each step of each branch is a request to
// memory. Let all lanes of a warp take the same branch: 10 requests per warp
// instead of 19. A block has 64 threads for 64 elements; you may choose which
// thread takes which.
#include "exercise.cuh"

// ---- your part
__global__ void walk(const int* in, const int* up, const int* down, int* out, int n) {
    const int i = 64 * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    int x = in[i];
    if (i % 2 == 0) {
        for (int step = 0; step < 8; ++step) x = up[x];
        out[i] = x;
    } else {
        for (int step = 0; step < 8; ++step) x = down[x];
        out[i] = -x;
    }
}

// ---- the check
int main() {
    return exercise({64, 1, 1000, 63}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 50; }), out(n);
        Array<int> up(50, [](int i) { return (7 * i + 3) % 50; });
        Array<int> down(50, [](int i) { return (i + 49) % 50; });
        walk<<<(n + 63) / 64, 64>>>(in, up, down, out, n);
        return check("out", out, [&](int i) {
            int x = in[i];
            for (int step = 0; step < 8; ++step) x = i % 2 ? down[x] : up[x];
            return i % 2 ? -x : x;
        }) && at_most((n + 63) / 64 * 20, requests()) && at_most(10, accesses());
    });
}
