// Kernels and variables that are declared wrongly: nvcc rejects these programs, and so does cudacpu. Those that RUN: compiles
// names are right.
#ifdef RETURNS  // RUN: refused -DRETURNS
__global__ int k(int* p) { return *p; }  // SAYS: error: a kernel returns nothing: write `__global__ void k(...)`
#elif defined TWO_KINDS  // RUN: refused -DTWO_KINDS
__global__ __device__ void k() {}  // SAYS: error: a kernel is neither __device__ nor __host__
#elif defined MEMBER  // RUN: refused -DMEMBER
struct S {
    static __global__ void k() {}  // SAYS: error: a kernel cannot be a member of a class
};
#elif defined ELLIPSIS  // RUN: refused -DELLIPSIS
__global__ void k(int* p, ...) { *p = 1; }  // SAYS: error: a kernel takes no `...`
#elif defined THROWS  // RUN: refused -DTHROWS
__global__ void k(const int* p) { if (!p) throw 1; }  // SAYS: error: a kernel cannot throw or catch
#elif defined LAUNCH  // RUN: refused -DLAUNCH
__global__ void k() {}
int main() {
    k<<<1, 1>>>;  // SAYS: error: <<< is not understood
}
#elif defined ARRAY_OF_N  // RUN: refused -DARRAY_OF_N
__global__ void k(int* p, int n) {
    int a[n];  // SAYS: error: a: an array of a kernel needs a size that is known
    *p = a[0];
}
#elif defined LOCAL_CONSTANT  // RUN: refused -DLOCAL_CONSTANT
int main() {
    __constant__ int c = 3;  // SAYS: error: __constant__ belongs outside of functions
    return c;
}
#elif defined SHARED_VALUE  // RUN: refused -DSHARED_VALUE
__global__ void k() {
    __shared__ int x = 3;  // SAYS: error: this declaration of __shared__ memory is not understood
}
#elif defined TWO_TYPES  // RUN: refused -DTWO_TYPES
__global__ void k1() { extern __shared__ float s[]; s[0] = 1; }
__global__ void k2() { extern __shared__ int s[]; s[0] = 1; }  // SAYS: error: extern __shared__ s is of type float above
#elif defined TWO_NAMESPACES  // RUN: compiles -DTWO_NAMESPACES
namespace first {
__global__ void k() { extern __shared__ float s[]; s[0] = 1; }
}
__global__ void k() { extern __shared__ int s[]; s[0] = 1; }
template <int n, class T> __global__ void sized(T* p) { *p = n; }
int main() { sized<1 << 3, int><<<1, 1>>>((int*)nullptr); }
#elif defined SET_BY_CALL  // RUN: refused -DSET_BY_CALL
__device__ float of_a_call = sqrtf(2);  // SAYS: error: of_a_call is a variable of the device: what it begins with must be known
#elif defined SET_BY_CONSTEXPR  // RUN: compiles -DSET_BY_CONSTEXPR
constexpr int at_once(int x) { return x + 1; }
__device__ int of_no_call = at_once(2), *address = &of_no_call;
__constant__ float inverse = 1.0f / float(3), pi = float(3.14);
#elif defined SYMBOL_IN_QUOTES  // RUN: refused -DSYMBOL_IN_QUOTES
__device__ int counter;
int main() {
    void* p;
    return cudaGetSymbolAddress(&p, "counter");  // SAYS: error: "counter" is a string, and since CUDA 5 the variable itself is wanted: write counter without the quotes
}
#elif defined SIZES  // RUN: refused -DSIZES
// SAYS: __constant__ memory has 64 KB: more table
// SAYS: has 2 GB for variables of the device: much too_much
// SAYS: a kernel takes at most 32764 bytes of arguments
__constant__ float table[10000], more[7000];
__device__ char much[1500000000], too_much[800000000];
struct Big {
    char bytes[33000];
};
__global__ void k(Big b, char* out) { *out = b.bytes[0] + char(table[0] + more[0]); }
#elif defined NO_DECLARATIONS  // RUN: compiles -DNO_DECLARATIONS
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

// A variable of the device may have a constructor only if it is constexpr or empty. The compiler decides that.
#elif defined SET  // RUN: refused -DSET={1,2,3,4,5,6,7}
struct Set {
    int x;
    __host__ __device__ Set(int y = 4) : x(y) {}
};
using Other = Set;
#define FORM_1 Set a
#define FORM_2 static Set a
#define FORM_3 Set a{}
#define FORM_4 Set a(3)
#define FORM_5 Set a = Set(1)
#define FORM_6 Other a
#define FORM_7 auto a = Set()
#define PASTE(n) FORM_##n
#define FORM(n) PASTE(n)
__device__ FORM(SET);  // SAYS: error: {{.*}}write constexpr
#elif defined CONSTRUCTORS  // RUN: compiles -DCONSTRUCTORS
struct Set {
    int x;
    __host__ __device__ Set(int y = 4) : x(y) {}
};
struct Known {
    int x;
    constexpr Known() : x(5) {}
};
struct Empty {
    int x;
    __device__ Empty() {}
};
struct Holds {
    Empty e;
};
struct Plain {
    int x = 5;
};
__device__ Known a, b[2];
__constant__ Known c;
__managed__ Known d;
__constant__ Empty e;
__device__ Holds f;
__device__ Plain g;
extern __device__ Set h;
__device__ Set* i;
__device__ int j = sizeof(Set);
#endif
