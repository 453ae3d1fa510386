// rounds.cu - loops of all forms whose rounds a build with --counters puts in nvcc's order: each goes round as
// often and with the same values as it is written. Exit status: 0 all right, 1 not.
// RUN: counters
// SAYS: PASSED
// LABELS: counters
#include <cstdio>

constexpr int most = 100;

__device__ unsigned long long mixed(unsigned long long hash, long long i) {
    return hash + (i + 1000) * (i + 1000) * 7919;
}

// How often it goes round, and a sum over what i was. The other loop has a `break` and stays as it is.
#define COMPARE(type, from, than, to, count)                                     \
    {                                                                            \
        unsigned long long rounds[2] = {}, sum = 0, wanted = 0;                  \
        for (type i = from; i than to; count) {                                  \
            ++rounds[0];                                                         \
            sum = mixed(sum, i);                                                 \
        }                                                                        \
        for (type i = from; i than to; count) {                                  \
            if (rounds[1]++ == most) break;                                      \
            wanted = mixed(wanted, i);                                           \
        }                                                                        \
        if (rounds[0] != rounds[1] || sum != wanted) atomicAdd(wrong, __LINE__); \
    }

__global__ void loops(int* wrong, int n) {
    const int tid = threadIdx.x, step = blockDim.x / 4;
    const unsigned edge = 3;
    COMPARE(int, tid, <, n, ++i)
    COMPARE(int, tid, <=, n, i++)
    COMPARE(int, n, >, tid, --i)
    COMPARE(int, tid, <, n, i += 3)
    COMPARE(int, tid, <, n, i += step)
    COMPARE(int, n, >, tid, i -= step)
    COMPARE(int, n, >, tid, i -= blockDim.x / 8)
    COMPARE(long, tid - 5, <=, n, i += edge)
    COMPARE(unsigned, tid, <, unsigned(n), i += edge)
    COMPARE(unsigned, tid, <, unsigned(n), i += 16) {
        const unsigned edge = blockDim.x / 16;
        COMPARE(unsigned, tid, <, unsigned(n), i += edge)
    }
    COMPARE(unsigned long, tid, <, edge, ++i)
    COMPARE(int, -tid, <, n / 3, i += 2)
    COMPARE(short, 5, <, n, ++i)
    unsigned long long seen[1] = {}, wanted = 0;
    int i = tid;
    while (i < n) {
        seen[0] = mixed(seen[0], i);
        i += step;
    }
    int k = tid;
    for (; k < n; k += step) wanted = mixed(wanted, k);
    if (seen[0] != wanted || i != k) atomicAdd(wrong, __LINE__);
    for (int row = 0; row < 3; ++row) {
        int first = 0;
        for (int j = row; j < n - tid; ++j) seen[0] += j * first++;
        if (first != max(0, n - tid - row)) atomicAdd(wrong, __LINE__);
    }
}

int main() {
    int *wrong, all = 0;
    cudaMallocManaged(&wrong, sizeof(int));
    for (int n = 0; n < 40; ++n) {
        *wrong = 0;
        loops<<<1, 37>>>(wrong, n);
        const cudaError_t error = cudaDeviceSynchronize();
        if (*wrong || error) std::printf("n = %d: line %d, %s\n", n, *wrong, cudaGetErrorString(error));
        all += *wrong + error;
    }
    cudaFree(wrong);
    std::puts(all ? "FAILED" : "PASSED");
    return all != 0;
}
