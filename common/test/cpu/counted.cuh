// counted.cuh - what the programs of kernels as other people write them share (counted_others.cu and
// its like): their arrays, the sizes, and the verdict.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int threads = 256, most = 1 << 16;

inline int n, edge, failed;
inline int *d_ints, *d_out;  // each array has room for four times as many elements as a kernel touches
inline float *d_floats, *d_result;
inline std::vector<int> ints;      // what is in d_ints
inline std::vector<float> floats;  // what is in d_floats

inline int blocks(int elements, int block = threads) { return (elements + block - 1) / block; }

/// f(from) + f(from + 1) + ... + f(to - 1)
template <class F>
double sum_of(int from, int to, F f) {
    double sum = 0;
    for (int k = from; k < to; ++k) sum += f(k);
    return sum;
}

inline void clear() {
    cudaMemset(d_out, 0, 4 * most * sizeof(int));
    cudaMemset(d_result, 0, 4 * most * sizeof(float));
}

/// Compares `count` elements of the result with what want(i) says, and clears it for the next kernel.
template <class T, class F>
void expect(const char* kernel, const T* result, int count, F want) {
    const cudaError_t error = cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < count && !error && !wrong; ++i) {
        const double difference = std::fabs(double(result[i]) - double(want(i)));
        if (!(difference <= 1e-4 * (1 + std::fabs(double(want(i)))))) wrong = i + 1;
    }
    if (error) std::printf("%s: %s\n", kernel, cudaGetErrorString(error));
    if (wrong)
        std::printf("%s: element %d is %g, not %g\n", kernel, wrong - 1, double(result[wrong - 1]),
                    double(want(wrong - 1)));
    failed |= error || wrong;
    clear();
}

/// Runs the parts on arrays of the sizes that the command line gives: N EDGE. Returns the exit status: 0 all right,
/// 1 not, 2 not understood, 77 no GPU.
template <size_t parts>
int run(int argc, char** argv, void (*const (&all)[parts])()) {
    n = argc == 3 ? std::atoi(argv[1]) : 0;
    edge = argc == 3 ? std::atoi(argv[2]) : 0;
    if (n < threads || n > most / 2 || edge < 8 || edge > 140) {
        std::fprintf(stderr, "type %s N EDGE: N from %d to %d, EDGE from 8 to 140\n", argv[0], threads, most / 2);
        return 2;
    }
    const size_t bytes = 4 * most * sizeof(int);
    if (cudaMallocManaged(&d_ints, bytes) || cudaMallocManaged(&d_out, bytes) ||
        cudaMallocManaged(&d_floats, bytes) || cudaMallocManaged(&d_result, bytes))
        return 77;
    unsigned seed = 1;
    for (int i = 0; i < 4 * most; ++i) {
        seed = seed * 1664525 + 1013904223;
        ints.push_back(int(seed >> 16) % 10007);
        floats.push_back(float(seed >> 20 & 63) / 4);
    }
    std::copy(ints.begin(), ints.end(), d_ints);
    std::copy(floats.begin(), floats.end(), d_floats);
    clear();
    cudaDeviceSynchronize();
    for (const auto part : all) part();
    for (void* p : {static_cast<void*>(d_ints), static_cast<void*>(d_out), static_cast<void*>(d_floats),
                    static_cast<void*>(d_result)})
        cudaFree(p);
    std::puts(failed ? "FAILED" : "PASSED");
    return failed;
}
