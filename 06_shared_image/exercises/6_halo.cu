// 06.6  A tile with a halo
//
// out[i] = in[i - 1] + in[i] + in[i + 1]; elements outside the array count as
// 0. Three threads use each element. So a block of 128 threads loads 130 ints
// into its tile, one more on each side: its halo. Read all three from the tile:
// for 1024 ints at most 128 sectors of loads, 128 of stores and 64 for the
// halos. (The counter here has no cache. On a GPU the L1 cache serves most
// repeated loads.)
#include "exercise.cuh"

// ---- your part
__global__ void blur(const int* in, int n, int* out) {
    __shared__ int tile[130];
}

// ---- the check
void launch(const int* in, int n, int* out) { blur<<<(n + 127) / 128, 128>>>(in, n, out); }

int main() {
    return exercise({1024, 128, 1, 129, 1000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), out(n);
        launch(in, n, out);
        const auto at = [&](int i) { return i < 0 || i >= n ? 0 : in[i]; };
        return check("out", out, [&](int i) { return at(i - 1) + at(i) + at(i + 1); }) &&
               at_most((n + 7) / 8 * 2 + (n + 127) / 128 * 8, sectors());
    }, [] { beside("copy", library::copy, launch, 1 << 24); });
}
