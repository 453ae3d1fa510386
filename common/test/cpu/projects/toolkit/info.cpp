#include <cuda_runtime_api.h>
#include <iostream>
int main() {
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) return 1;
    cudaDeviceProp p;
    for (int i = 0; i < n; ++i) {
        cudaGetDeviceProperties(&p, i);
        std::cout << p.name << " " << p.major << "." << p.minor << "\n";
    }
    return n < 1;
}
