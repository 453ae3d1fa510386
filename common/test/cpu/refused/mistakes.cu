// Programs that nvcc refuses, one for each CASE; `//!` says what cudacpu must say of that line. A case without it is right, and
// must be taken: ../mistakes.sh tries them all.
#include <cstdio>
#include <string>
int on_host(int x) { return x + 1; }
__device__ int on_device(int x) { return x - 1; }
__host__ __device__ int on_both(int x) { return x; }
int of_host = 5, table_of_host[4];
const int known = 5;
__constant__ int constant = 3;
__global__ void kernel(int* p) { *p = on_both(known) + constant; }

#if CASE == 1
int main() { on_host<<<1, 1>>>(3); }  //! on_host is not a kernel: write __global__ before it
#elif CASE == 2
__global__ int k(int* p) { return *p; }  //! a kernel returns nothing: write `__global__ void k(...)`
#elif CASE == 3
__global__ void k(int* p) { *p = on_host(1); }  //! on_host is a function of the host, and a kernel cannot call it
#elif CASE == 4
int main() { return on_device(1); }  //! on_device is a __device__ function, and the host cannot call it
#elif CASE == 5
__global__ void k(int* p) { *p = of_host; }  //! of_host is a variable of the host, and a kernel cannot use it
#elif CASE == 6
__device__ int f(int i) {
    return table_of_host[i];  //! table_of_host is a variable of the host, and a __device__ function cannot use it
}
#elif CASE == 7
__global__ void k() { constant = 4; }  //! constant is __constant__: a kernel cannot write it
#elif CASE == 8
struct S {
    static __global__ void k() {}  //! a kernel cannot be a member of a class
};
#elif CASE == 9
__global__ void k(const int* p) { if (!p) throw 1; }  //! a kernel cannot throw or catch
#elif CASE == 10
__global__ void k() { std::string s; }  //! std::string is of the host's library, and a kernel cannot use it
#elif CASE == 11
__global__ void k(int* p, int n) {
    int a[n];  //! a: an array of a kernel needs a size that is known
    *p = a[0];
}
#elif CASE == 12
__global__ __device__ void k() {}  //! a kernel is neither __device__ nor __host__
#elif CASE == 13
template <class F> __global__ void k(F f) { f(); }
int main() { k<<<1, 1>>>([] {}); }  //! a kernel cannot call a lambda of the host
#elif CASE == 14
int main() {
    __constant__ int c = 3;  //! __constant__ belongs outside of functions
    return c;
}
#elif CASE == 15
__global__ void k(int* p, ...) { *p = 1; }  //! a kernel takes no `...`
#elif CASE == 17
struct Limits {
    static const int least = 1;
    inline static int most = 9;
};
__global__ void k(int* p) {
    *p = Limits::least;
    *p += Limits::most;  //! Limits::most is a variable of the host, and a kernel cannot use it
}
#elif CASE == 16  // other things of the same names, and a library's function
struct Table {
    static constexpr int rows = 2;
    static int made;
    int of_host, n;
    static __host__ __device__ int twice(int x) { return x * rows; }
    __device__ int sum() const { return of_host + n; }
};
int umin(int a, int b) { return a < b ? a : b; }
template <int table_of_host> __global__ void k(int* p, int constant, Table t) {
    constant = 2;
    int of_host[2] = {1, 2}, n = table_of_host;
    auto on_host = [](int x) { return x; };
    for (int i = 0; i < n; ++i) p[i] = on_host(of_host[i]) + t.of_host + umin(i, constant);
    p[0] = Table::rows + Table::twice(n);
}
template <class F> __global__ void calls(F f) { f(); }
__global__ void letter(char c, int* p) { *p = c; }
void with_lambdas(int* p) {
    letter<<<1, 1>>>('a', p);
    auto f = [=] __device__ { *p = on_device(1); };
    calls<<<1, 1>>>(f);
    calls<<<1, 1>>>([=] __host__ __device__ { *p = 1; });
    kernel<<<1, 1>>>(std::max({p}, [](int* a, int* b) { return a < b; }));
}
int Table::made = 1;
int main() {
    Table::made += 1;
    auto on_device = [](int x) { return x + of_host; };
    void (*chosen)(int*) = kernel;
    chosen<<<1, 1>>>(nullptr);
    return on_device(on_both(table_of_host[0])) + on_host(1);
}
#elif CASE == 31  // no declarations
__global__ void k(int* p, int n) {
    if (p[0]) p[1] = 0;
    else p[n] = 1;
    if (n == 0) do p[n] = 2; while (p[n] != 2);
    switch (n) {
        default: p[blockDim.x] = 3;
    }
    again: p[n] = 4;
    if (n == 1) goto again;
}
#elif CASE == 18  // what is called like something that the CPU device lacks is taken
__global__ void cudaGraphColor(int* cudaArray) { *cudaArray = 1; }
void barrier_wait(int n) { on_host(n); }
int main() {
    int* cudaArray = nullptr;
    cudaGraphColor<<<1, 1>>>(cudaArray);
    barrier_wait(3);
}
#elif CASE == 19
int main() {
    cudaGraph_t graph;  //! cudaGraph_t: the CPU device has no graphs
}
#elif CASE == 20
int main() {
    cudaStreamCaptureStatus now;  //! cudaStreamCaptureStatus: the CPU device has no graphs
}
#elif CASE == 21
struct Box {
    int v;
    int get() const { return v; }
};
__global__ void k(Box b, int* p) {
    *p = b.get();  //! get is a function of the host, and a kernel cannot call it
}
#elif CASE == 22
struct Sum {
    float v;
    Sum() : v(0) {}
};
__device__ float f() {
    Sum s;  //! the constructor of Sum is a function of the host, and a __device__ function cannot call it
    return s.v;
}
#elif CASE == 23
struct Point {
    float x, y;
    Point(float a, float b) : x(a), y(b) {}
};
__global__ void k(Point* p) {
    Point q(1, 2);  //! the constructor of Point is a function of the host, and a kernel cannot call it
    *p = q;
}
#elif CASE == 24  // what is called like the host's function, and constructors that call none
template <class F> struct Functor {
    F map;
    __host__ __device__ int run(int x) const { return map(x); }
};
struct Host {
    int n;
    Host() : n(1) {}
    int map(int x) { return x; }
    int run() { return n; }
    int kept() { return n; }
    __host__ __device__ Host(int a, int b) : n(a + b) {}
};
struct Plain {
    int n = 0;
    Plain() = default;
    explicit Plain(int a) : n(a) {}
};
struct Named {
    int kept;
    constexpr Named() : kept(2) {}
};
template <class F> __global__ void k(Functor<F> f, Host h, Host* all, int* p) {
    Host copy = h, other(h), sum(1, 2);
    Plain plain;
    Named named;
    *p = f.run(1) + f.map(2) + copy.n + other.n + sum.n + plain.n + named.kept + all[0].n;
}
#elif CASE == 25
__device__ float of_a_call = sqrtf(2);  //! of_a_call is a variable of the device: what it begins with must be known
#elif CASE == 26
constexpr int at_once(int x) { return x + 1; }
__device__ int of_no_call = at_once(2), *address = &of_no_call;
__constant__ float inverse = 1.0f / float(3), pi = float(3.14);
#elif CASE == 27
__device__ void f(int* p) { kernel<<<1, 1>>>(p); }  //! a kernel is launched from a kernel
#elif CASE == 28
__global__ void k1() { extern __shared__ float s[]; s[0] = 1; }
__global__ void k2() { extern __shared__ int s[]; s[0] = 1; }  //! extern __shared__ s is of type float above
#elif CASE == 29
namespace first {
__global__ void k() { extern __shared__ float s[]; s[0] = 1; }
}
__global__ void k() { extern __shared__ int s[]; s[0] = 1; }
template <int n, class T> __global__ void sized(T* p) { *p = n; }
int main() { sized<1 << 3, int><<<1, 1>>>((int*)nullptr); }
#elif CASE == 30
__global__ void k(int* p) { __nv_atomic_fetch_add(p, 1, 0, 0); }  //! __nv_atomic_fetch_add: the CPU device has no atomics of this kind
#elif CASE == 32  // digraphs
%: define MOST 4
__global__ void digraphs(int* p) <% p<:MOST - 1:> = on_host(1); %>  //! on_host is a function of the host, and a kernel cannot call it
#else
#error "no such case"
#endif
