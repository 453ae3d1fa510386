// Kernels that use what is the host's, and hosts that use what is a kernel's: nvcc rejects these programs, and so does cudacpu.
// Those that RUN: compiles names are right.
#include <algorithm>
#include <cstdio>
#include <string>
int on_host(int x) { return x + 1; }
__device__ int on_device(int x) { return x - 1; }
__host__ __device__ int on_both(int x) { return x; }
int of_host = 5, table_of_host[4];
const int known = 5;
__constant__ int constant = 3;
__global__ void kernel(int* p) { *p = on_both(known) + constant; }

#ifdef FUNCTION_LAUNCHED  // RUN: refused -DFUNCTION_LAUNCHED
int main() { on_host<<<1, 1>>>(3); }  // SAYS: error: on_host is not a kernel: write __global__ before it
#elif defined HOSTS_FUNCTION  // RUN: refused -DHOSTS_FUNCTION
__global__ void k(int* p) { *p = on_host(1); }  // SAYS: error: on_host is a function of the host, and a kernel cannot call it
#elif defined DIGRAPHS  // RUN: refused -DDIGRAPHS
%: define MOST 4
__global__ void k(int* p) <% p<:MOST - 1:> = on_host(1); %>  // SAYS: error: on_host is a function of the host, and a kernel cannot call it
#elif defined DEVICES_FUNCTION  // RUN: refused -DDEVICES_FUNCTION
int main() { return on_device(1); }  // SAYS: error: on_device is a __device__ function, and the host cannot call it
#elif defined HOSTS_VARIABLE  // RUN: refused -DHOSTS_VARIABLE
__global__ void k(int* p) { *p = of_host; }  // SAYS: error: of_host is a variable of the host, and a kernel cannot use it
#elif defined HOSTS_TABLE  // RUN: refused -DHOSTS_TABLE
__device__ int f(int i) {
    return table_of_host[i];  // SAYS: error: table_of_host is a variable of the host, and a __device__ function cannot use it
}
#elif defined STATIC_MEMBER  // RUN: refused -DSTATIC_MEMBER
struct Limits {
    static const int least = 1;
    inline static int most = 9;
};
__global__ void k(int* p) {
    *p = Limits::least;
    *p += Limits::most;  // SAYS: error: Limits::most is a variable of the host, and a kernel cannot use it
}
#elif defined CONSTANT_WRITTEN  // RUN: refused -DCONSTANT_WRITTEN
__global__ void k() { constant = 4; }  // SAYS: error: constant is __constant__: a kernel cannot write it
#elif defined HOSTS_LIBRARY  // RUN: refused -DHOSTS_LIBRARY
__global__ void k() { std::string s; }  // SAYS: error: std::string is of the host's library, and a kernel cannot use it
#elif defined HOSTS_STRING  // RUN: refused -DHOSTS_STRING
__global__ void greet(const char* name) { printf("%s\n", name); }
int main() {
    greet<<<1, 1>>>("world");  // SAYS: error: a kernel cannot read a string of the host
    return cudaDeviceSynchronize();
}
#elif defined HOSTS_LAMBDA  // RUN: refused -DHOSTS_LAMBDA
template <class F> __global__ void k(F f) { f(); }
int main() { k<<<1, 1>>>([] {}); }  // SAYS: error: a kernel cannot call a lambda of the host
#elif defined MEMBER  // RUN: refused -DMEMBER
struct Box {
    int v;
    int get() const { return v; }
};
__global__ void k(Box b, int* p) {
    *p = b.get();  // SAYS: error: get is a function of the host, and a kernel cannot call it
}
#elif defined DEFAULT_CONSTRUCTOR  // RUN: refused -DDEFAULT_CONSTRUCTOR
struct Sum {
    float v;
    Sum() : v(0) {}
};
__device__ float f() {
    Sum s;  // SAYS: error: the constructor of Sum is a function of the host, and a __device__ function cannot call it
    return s.v;
}
#elif defined CONSTRUCTOR  // RUN: refused -DCONSTRUCTOR
struct Point {
    float x, y;
    Point(float a, float b) : x(a), y(b) {}
};
__global__ void k(Point* p) {
    Point q(1, 2);  // SAYS: error: the constructor of Point is a function of the host, and a kernel cannot call it
    *p = q;
}
#elif defined SAME_NAMES  // RUN: compiles -DSAME_NAMES
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
#elif defined SAME_MEMBERS  // RUN: compiles -DSAME_MEMBERS
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
#elif defined ADDRESSES  // RUN: compiles -DADDRESSES
__device__ int twice(int x) { return 2 * x; }
__global__ void calls(int (*f)(int), int* p) { *p = f(*p); }
template <int f(int)> __global__ void with_its_name(int* p) { *p = f(*p); }
struct Once {
    static __device__ int more(int x) { return x + 1; }
    static __host__ __device__ int less(int x) { return x - 1; }
};
template <class F> void launch(int* p) {
    calls<<<1, 1>>>(&F::more, p);  // SAYS: warning: F::more is a __device__ function
}
int main() {
    int* p;
    cudaMallocManaged(&p, sizeof *p);
    calls<<<1, 1>>>(twice, p);  // SAYS: warning: twice is a __device__ function: a kernel on a GPU cannot call the address
    with_its_name<twice><<<1, 1>>>(p);
    with_its_name<&Once::more><<<1, 1>>>(p);
    int (*f)(int) = &Once::less;
    calls<<<1, 1>>>(&Once::more, p);  // SAYS: warning: Once::more is a __device__ function
    launch<Once>(p);
    return f(1) + cudaDeviceSynchronize();
}
#endif
