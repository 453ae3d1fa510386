// labelled.cuh - small kernels that say themselves whether they are racy: what the programs here share.
//
//     PROGRAM --list         a line a kernel: its label (race, bounds, host, right) and its name
//     PROGRAM NAME [N]       runs it on N elements, 200 if not given
//     PROGRAM --each [N]     runs all, each behind a line "=== NAME" on stderr
// A line that is at fault ends with "// LABEL NAME". No kernel waits for ever, so that all can run on a GPU, too.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Case {
    const char *label, *name;
    void (*run)(int n);
};

template <class T>
T* zeros(int n) {
    T* p = nullptr;
    if (cudaMalloc((void**)&p, n * sizeof(T)) != cudaSuccess) exit(4);
    if (cudaMemset(p, 0, n * sizeof(T)) != cudaSuccess) exit(4);
    return p;
}

constexpr int patience = 1 << 16;  // turns of a spin

__device__ inline bool wait_for(volatile int* flag, int value) {
    for (int i = 0; i < patience; ++i)
        if (*flag == value) return true;
    return false;
}
__device__ inline bool take(int* lock) {
    for (int i = 0; i < patience; ++i)
        if (atomicCAS(lock, 0, 1) == 0) return true;
    return false;
}
__device__ inline void max_by_cas(float* address, float value) {
    int* const bits = (int*)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS(bits, assumed, __float_as_int(value));
    } while (old != assumed);
}

template <int N>
int choose(const Case (&cases)[N], int argc, char** argv) {
    if (argc > 1 && !strcmp(argv[1], "--list")) {
        for (const Case& c : cases) printf("%s %s\n", c.label, c.name);
        return 0;
    }
    const int n = argc > 2 ? atoi(argv[2]) : 200;
    const bool each = argc > 1 && !strcmp(argv[1], "--each");
    int status = 2;
    for (const Case& c : cases) {
        if (argc < 2 || n < 1 || (!each && strcmp(argv[1], c.name))) continue;
        if (each) fprintf(stderr, "=== %s\n", c.name);
        c.run(n);
        const bool done = cudaDeviceSynchronize() == cudaSuccess;
        if (status == 2 || !done) status = done ? 0 : 5;
        cudaDeviceReset();
    }
    if (status == 2) fprintf(stderr, "type %s with --list, NAME [N], or --each [N]\n", argv[0]);
    return status;
}
