// 02.6  Two streams
//
// Kernels in two streams may run at the same time. This uses parts of a GPU
// that would otherwise be idle. But `sum` needs the data that `twice` writes.
// After an event is recorded in one stream, another stream can wait for it
// (cudaStreamWaitEvent). Mend it, and let `square` still run at the same time
// as `twice`.
#include "exercise.cuh"

__global__ void twice(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void square(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }
__global__ void sum(const int* a, const int* b, int* out) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

// ---- your part
void launch(cudaStream_t one, cudaStream_t other, cudaEvent_t event, const int* in, int* a, int* b, int* out) {
    twice<<<1, 64, 0, one>>>(in, a);
    square<<<1, 64, 0, other>>>(in, b);
    sum<<<1, 64, 0, other>>>(a, b, out);
}

// ---- the check
int main() {
    return exercise({64}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % 100; }), a(n), b(n), out(n);
        cudaStream_t one, other;
        cudaEvent_t event;
        CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&event));
        launch(one, other, event, in, a, b, out);
        const bool waited = lab::counts && lab::has_run();  // a GPU runs kernels without being waited for
        const bool right = check("out", out, [&](int i) { return 2 * in[i] + in[i] * in[i]; });
        if (waited) std::puts(lab::words("launch() waits for a kernel", "launch() 在等核函数"));
        CHECK(cudaEventDestroy(event));
        CHECK(cudaStreamDestroy(one));
        CHECK(cudaStreamDestroy(other));
        return right && !waited && at_least(1, beside_each_other());
    });
}
