// 05.1  A histogram of digits
//
// in holds n digits, 0 to 9. Count in bins[d] how often digit d occurs, with
// one thread for each element of in. All bins are 0 at the beginning.
#include "exercise.cuh"

// ---- your part
__global__ void count(const int* in, int n, int* bins) {
}

// ---- the check
void launch(const int* in, int n, int* bins) { count<<<(n + 255) / 256, 256>>>(in, n, bins); }

int main() {
    return exercise({1, 256, 1000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 10; }), bins(10, [](int) { return 0; });
        launch(in, n, bins);
        return check("bins", bins, [&](int digit) { return std::count(in.begin(), in.end(), digit); }) &&
               at_most(200, accesses());
    }, [] { beside("CUB", library::histogram, launch, 1 << 24); });
}
