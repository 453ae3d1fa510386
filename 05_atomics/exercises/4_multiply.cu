// 05.4  An atomic operation that CUDA lacks
//
// There is no atomicMul. But atomicCAS(p, expected, value) stores value if *p
// is still equal to expected, and returns the old value of *p. So a thread can
// read, compute, and try to store. If another thread was faster, it tries
// again. multiply() must do *p *= x as one operation, and return the old value.
#include "exercise.cuh"

// ---- your part
__device__ unsigned multiply(unsigned* p, unsigned x) {
    const unsigned old = *p;
    atomicCAS(p, old, old * x);
    return old;
}

// ---- the check
__global__ void product(const unsigned* in, unsigned* p, unsigned* old) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    old[i] = multiply(p, in[i]);
}

int main() {
    return exercise({32, 1024}, [](int n) {
        Array<unsigned> in(n, [](int i) { return 2u * scattered(i) + 3; });
        Array<unsigned> p(1, [](int) { return 1u; }), old(n);
        product<<<1, n>>>(in, p, old);
        if (!lab::has_ended()) return false;
        Array<int> bits(1, [&](int) { return int(*p); });
        Array<int> found_one(1, [&](int) { return std::count(old.begin(), old.end(), 1u); });
        unsigned wanted = 1;
        for (unsigned x : in) wanted *= x;
        return check("the product", bits, [&](int) { return int(wanted); }) &&
               check("the number of threads that found the 1", found_one, [](int) { return 1; });
    });
}
