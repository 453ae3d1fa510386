// atomics_test.cu - tests the kernels of 05_atomics with values that its tables do not contain: sums of 2^31 and
// more, and NaN, a float that is not equal to itself. Exit status: 0 if all results are right, 1 if not.
#define main sample_main
#include "../../05_atomics/atomics.cu"
#undef main

__global__ void add_to_nan(float* word) { float_add_by_cas(word, 1); }

int main() {
    // As an int, the first block's sum is negative. This must not affect the count of blocks.
    const std::vector<int> numbers = {int(0x80000000), 1, 2, 3};
    const lab::DeviceArray<int> in(numbers);
    const lab::DeviceArray<int> sum(1);
    int wrong = 0;
    for (int run = 1; run <= 2; ++run) {  // the first run must reset the count
        vector_sum<<<2, 4>>>(in.get(), sum.get(), 4);
        CHECK(cudaGetLastError());
        const unsigned got = unsigned(sum.download()[0]);
        if (got == 0x80000006) continue;
        std::printf("vector_sum, run %d: got %u, wanted %u\n", run, got, 0x80000006);
        ++wrong;
    }

    // atomicCAS compares bits. A loop that compares floats would never end, because NaN is not equal to NaN.
    const lab::DeviceArray<float> word(std::vector<float>{NAN});
    add_to_nan<<<1, 1>>>(word.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    if (!std::isnan(word.download()[0])) std::printf("NaN + 1: got a number\n"), ++wrong;
    if (!wrong) std::printf("all are right\n");
    return wrong ? 1 : 0;
}
