#include <cuda_runtime_api.h>
#include <stdio.h>
int main(void) {
  int version = 0, driver = 0;
  struct cudaDeviceProp p;
  cudaError_t e = cudaRuntimeGetVersion(&version);
  if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); return 1; }
  cudaDriverGetVersion(&driver);
  cudaGetDeviceProperties(&p, 0);
  printf("%d %d %s\n", version, driver, p.name);
  return 0;
}
