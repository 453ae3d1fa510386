__device__ int twice(int x) { return 2 * x; }
__global__ void kernel(int (*f)(int), int* p) { *p = f(*p); }
template <int f(int)> __global__ void with_its_name(int* p) { *p = f(*p); }
struct Once {
    static __device__ int more(int x) { return x + 1; }
    static __host__ __device__ int less(int x) { return x - 1; }
};
template <class F> void launch(int* p) { kernel<<<1, 1>>>(&F::more, p); }
int main() {
    int* p;
    cudaMallocManaged(&p, sizeof *p);
    kernel<<<1, 1>>>(twice, p);
    with_its_name<twice><<<1, 1>>>(p);
    with_its_name<&Once::more><<<1, 1>>>(p);
    int (*f)(int) = &Once::less;
    kernel<<<1, 1>>>(&Once::more, p);
    launch<Once>(p);
    return f(1) + cudaDeviceSynchronize();
}
