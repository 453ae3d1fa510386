// Pointers to host memory, and objects of the host, in a kernel.
#include "case.cuh"

// RUN: plain host_pointer
// STATUS: 200
// SAYS: kernel take_pointer is given a pointer to host memory, as argument 2 (data) at host_pointers.cu:@#host_pointer
__global__ void take_pointer(int n, const int* data, int* out) { *out = data[n]; }
CASE(host_pointer) {
    int* host = (int*)malloc(100);
    take_pointer<<<1, 1>>>(3, host, device<int>(1));  // #host_pointer
    return result();
}

// RUN: plain hosts_array
// STATUS: 200
// SAYS: kernel set is given a pointer to host memory, as argument 1 (p) at host_pointers.cu:@#hosts_array
__global__ void set(int* p, int value) { p[threadIdx.x] = value; }
static int of_the_host[32];
CASE(hosts_array) {
    set<<<1, 32>>>(of_the_host, 5);  // #hosts_array
    return result();
}

// RUN: plain hosts_element
// STATUS: 200
// SAYS: kernel set_one is given a pointer to host memory, as argument 1 (element) at host_pointers.cu:@#hosts_element
__global__ void set_one(int& element, int value) { element = value; }
CASE(hosts_element) {
    int local = 0;
    set_one<<<1, 1>>>(local, 5);  // #hosts_element
    return result();
}

// RUN: plain managed_element
CASE(managed_element) {
    int* const p = managed<int>(1);
    set_one<<<1, 1>>>(*p, 5);
    return result(p, 5);
}

// RUN: plain virtual_copied
// SAYS: notice: cudaMemcpy: class Square has virtual functions, and the host has made this object
// SAYS: at host_pointers.cu:@#virtual_copied
struct Shape {
    int side;
    __host__ __device__ Shape(int s) : side(s) {}
    __host__ __device__ virtual int area() const { return side; }
};
struct Square : Shape {
    __host__ __device__ Square(int s) : Shape(s) {}
    __host__ __device__ int area() const override { return side * side; }
};
__global__ void area_of(const Shape* s, int* out) { *out = s->area(); }
CASE(virtual_copied) {
    const Square square(3);
    Square* const copy = reinterpret_cast<Square*>(device<char>(sizeof square));
    int* const out = managed<int>(1);
    cudaMemcpy(copy, &square, sizeof square, cudaMemcpyHostToDevice);  // #virtual_copied
    area_of<<<1, 1>>>(copy, out);
    return result(out, 9);
}

// Other addresses of the host are not those of virtual functions.
// RUN: plain addresses_copied
static const char* const of_no_class[] = {"one", "two"};
CASE(addresses_copied) {
    void* const p = managed<char>(4096);
    const void* addresses[] = {of_no_class, &allocated, of_no_class[0], addresses, nullptr};
    for (const void*& a : addresses) cudaMemcpy(p, &a, sizeof a, cudaMemcpyHostToDevice);
    return 0;
}
