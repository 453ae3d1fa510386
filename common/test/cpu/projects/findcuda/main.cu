#include <stdio.h>
void run_twice(int* p, int n);
int main() {
    int h[32], *d;
    for (int i = 0; i < 32; ++i) h[i] = i;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    run_twice(d, 32);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%d\n", h[31]);
    return h[31] != 62;
}
