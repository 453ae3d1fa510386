// planted.cuh - what the planted mistakes share: each is a plant() with a name, which the command line chooses.
#pragma once
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Plant {
    const char* name;
    void (*run)();
    Plant* next;
};
static Plant* plants;
struct Planted {
    Planted(Plant& p) { p.next = plants, plants = &p; }
};
#define PLANT(name)                                      \
    static void name##_run();                            \
    static Plant name##_plant{#name, name##_run, nullptr}; \
    static Planted name##_planted(name##_plant);         \
    static void name##_run()

// n elements of the device, none of them 0 and in no order.
inline int in_at(int i) { return (i * 37 + 11) % 101 + 1; }
template <class T = int>
T* filled(int n) {
    T* p = nullptr;
    T* host = new T[n];
    for (int i = 0; i < n; ++i) host[i] = T(in_at(i));
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
    delete[] host;
    return p;
}
template <class T = int>
T* zeros(int n) {
    T* p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}


// Has that come out which had to? If the program has been mended, it has to.
#ifdef CURED
constexpr bool cured = true;
#else
constexpr bool cured = false;
#endif
template <class T>
void wants_value(int i, T is, T wanted) {
    if (is == wanted) return;
    printf("element %d: %g, wanted %g\n", i, double(is), double(wanted));
    if (cured) exit(1);
}
template <class T, class F>
void wants(const T* p, int n, F f) {
    T* host = new T[n];
    cudaMemcpy(host, p, n * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) wants_value(i, host[i], T(f(i)));
    delete[] host;
}

int main(int argc, char** argv) {
    for (Plant* p = plants; p; p = p->next) {
        if (argc < 2) puts(p->name);
        else if (!strcmp(argv[1], p->name)) p->run();
    }
    const cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) printf("%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
