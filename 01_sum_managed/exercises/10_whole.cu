// 01.10  Allocate, copy, launch and free
//
// With managed memory no copies are needed. Most programs copy; do the same.
// Allocate two arrays in device memory. Copy `in` to the first, and launch
// `square` with 128 threads per block. Ask cudaGetLastError() whether the
// launch was valid. Copy the result to `out`, and free both arrays. in and out
// are in host memory. Put each call into CHECK( ), which ends the program if
// the call fails.
#include "exercise.cuh"

__global__ void square(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

// ---- your part
void square_all(const int* in, int* out, int n) {
}

// ---- the check
int main() {
    return exercise({100, 1, 128, 3000}, [](int n) {
        std::vector<int> in(n), result(n, unwritten);
        for (int i = 0; i < n; ++i) in[i] = scattered(i) % 1000;
        const long long before = lab::bytes_of_device_memory();
        square_all(in.data(), result.data(), n);
        const long long kept = lab::bytes_of_device_memory() - before;
        Array<int> out(n, [&](int i) { return result[i]; });
        Array<int> not_freed(1, [&](int) { return kept; });
        return check("out", out, [&](int i) { return in[i] * in[i]; }) &&
               at_least(2 * n, in_device_memory()) &&
               check("the number of bytes that are not freed", not_freed, [](int) { return 0; }) &&
               at_least(7, checked());
    });
}
