// 05.2  One race, three solutions
//
// Each kernel adds up 256 numbers with one block of 256 threads, and each has
// the same race. Mend a with an atomic and without a barrier. Mend b with
// barriers and without an atomic. Mend c with neither: use shuffles or
// __reduce_add_sync. For c, in has only 32 numbers for one warp.
#include "exercise.cuh"

// ---- your part
__global__ void a(const int* in, int* sum) {
    *sum += in[threadIdx.x];
}
__global__ void b(const int* in, int* sum) {
    *sum += in[threadIdx.x];
}
__global__ void c(const int* in, int* sum) {
    *sum += in[threadIdx.x];
}

// ---- the check
bool right(const char* name, void (*kernel)(const int*, int*), int n, int most_barriers, int most_atomics) {
    lab::begin(n);
    Array<int> in(n, [](int i) { return scattered(i) % 100; }), sum(1, [](int) { return 0; });
    kernel<<<1, n>>>(in, sum);
    return check(name, sum, [&](int) { return std::accumulate(in.begin(), in.end(), 0); }) &&
           at_most(most_barriers, barriers()) && at_most(most_atomics, atomics());
}

int main() {
    return exercise({256}, [](int) {
        return right("a's sum", a, 256, 0, 256 * 256) && at_most(200, accesses()) &&
               right("b's sum", b, 256, 256, 0) && at_least(1, barriers()) &&
               right("c's sum", c, 32, 0, 0) && at_most(8, accesses());
    });
}
