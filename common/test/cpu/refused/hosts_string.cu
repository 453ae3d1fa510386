#include <cstdio>
__global__ void greet(const char* name) { printf("%s\n", name); }
int main() {
    greet<<<1, 1>>>("world");
    return cudaDeviceSynchronize();
}
