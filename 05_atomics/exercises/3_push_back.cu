// 05.3  The old value of an atomic
//
// An atomic operation returns the value that the word had before. Let each
// thread whose number is 2 or more append it to out, without gaps and in any
// order. At the end *count is the number of elements in out. It is 0 at the
// beginning.
#include "exercise.cuh"

// ---- your part
__global__ void keep(const int* in, int n, int* out, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] >= 2) {
        atomicAdd(count, 1);
        out[*count] = in[i];
    }
}

// ---- the check
void launch(const int* in, int n, int* out, int* count) { keep<<<(n + 255) / 256, 256>>>(in, n, out, count); }
void timed(const int* in, int n, int* out) {
    CHECK(cudaMemsetAsync(out + n, 0, sizeof(int)));
    launch(in, n, out, out + n);
}

int main() {
    return exercise({1, 256, 1000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 5; });
        Array<int> out(n), count(1, [](int) { return 0; });
        launch(in, n, out, count);
        return check_kept(in, out, count) && at_most(8, accesses());
    }, [] { beside("CUB", library::filter, timed, 1 << 24); });
}
