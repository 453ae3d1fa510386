// 01.11  Find a failed call with CHECK
//
// Two calls fail here, but the program does not notice. A call only returns its
// error, and a launch returns nothing. Put all six calls into CHECK( ), and add
// CHECK(cudaGetLastError()) after the launch. Each run then names the first
// call that fails. Mend both.
#include "exercise.cuh"

__global__ void square(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

// ---- your part
void square_all(const int* in, int* out, int n) {
    int *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_out, n * sizeof(int));
    cudaMemcpy(d_in, in, n * sizeof(int), cudaMemcpyDeviceToHost);
    square<<<1, n>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
}

// ---- the check
int main() {
    return exercise({100, 3000, 1}, [](int n) {
        std::vector<int> in(n), result(n, unwritten);
        for (int i = 0; i < n; ++i) in[i] = scattered(i) % 1000;
        square_all(in.data(), result.data(), n);
        Array<int> out(n, [&](int i) { return result[i]; });
        return check("out", out, [&](int i) { return in[i] * in[i]; }) && at_least(7, checked());
    });
}
