// case.cuh - programs of many small cases: CASE(name) { ... } defines one, and the command line names the one to
// run. The value that it returns is the exit status.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Case {
    const char* name;
    int (*run)();
    Case* next;
    Case(const char* of, int (*f)()) : name(of), run(f), next(all) { all = this; }
    static inline Case* all = nullptr;
};
#define CASE(name)                                     \
    static int name##_case();                          \
    static Case name##_registered(#name, name##_case); \
    static int name##_case()

// Waits for the device. Returns 0, or 200 + (error - 700) % 100 if CUDA reports an error.
inline int result() {
    const cudaError_t e = cudaDeviceSynchronize();
    return e == cudaSuccess ? 0 : 200 + (e - 700) % 100;
}
// The same; 1 if CUDA reports no error and *p is not `wanted`.
template <class T>
int result(const T* p, T wanted) {
    const int status = result();
    return status ? status : *p != wanted;
}

// n zeros in device memory or managed memory. They are freed when the case returns.
inline void* allocated[40];
inline int allocations;
template <class T>
T* device(int n) {
    T* p;
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) exit(99);
    cudaMemset(p, 0, n * sizeof(T));
    allocated[allocations++] = p;
    return p;
}
template <class T>
T* managed(int n) {
    T* p;
    if (cudaMallocManaged(&p, n * sizeof(T)) != cudaSuccess) exit(99);
    std::memset(p, 0, n * sizeof(T));
    allocated[allocations++] = p;
    return p;
}

int main(int argc, char** argv) {
    for (const Case* c = Case::all; c; c = c->next)
        if (argc == 2 && !std::strcmp(c->name, argv[1])) {
            const int status = c->run();
            while (allocations) cudaFree(allocated[--allocations]);
            return status;
        }
    return 99;
}
