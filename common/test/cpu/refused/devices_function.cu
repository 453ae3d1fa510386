__device__ int twice(int x) { return 2 * x; }
__global__ void kernel(int (*f)(int), int* p) { *p = f(*p); }
template <int f(int)> __global__ void with_its_name(int* p) { *p = f(*p); }
int main() {
    int* p;
    cudaMallocManaged(&p, sizeof *p);
    kernel<<<1, 1>>>(twice, p);
    with_its_name<twice><<<1, 1>>>(p);
    return cudaDeviceSynchronize();
}
