__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
void run_twice(int* p, int n) { twice<<<1, n>>>(p); }
