// 01.10  All that a program does
//
// Managed memory hides five steps. Take them yourself, as most CUDA programs
// do: allocate two arrays of the device's own memory; copy `in` there; launch
// `square` with 128 threads a block; ask cudaGetLastError() whether the launch
// was legal; copy the result to `out`; free both. in and out are the host's.
// Put each call into CHECK( ), which ends the program if the call fails.
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
        return check("out", out, [&](int i) { return in[i] * in[i]; }) && at_least(2 * n, in_device_memory()) &&
               check("the number of bytes that are not freed", Array<int>(1, [&](int) { return kept; }),
                     [](int) { return 0; }) && at_least(7, checked());
    });
}
