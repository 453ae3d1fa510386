// curand.cu - the numbers of curand_kernel.h, compared with those of CUDA 13, and what the hazard build says of a
// state that threads share.
#include <curand.h>
#include <curand_kernel.h>

#include "case.cuh"

template <class State>
__device__ void print(unsigned long long seed, unsigned long long sequence, unsigned long long offset) {
    State s;
    curand_init(seed, sequence, offset, &s);
    const unsigned a = curand(&s);
    const float b = curand_uniform(&s);
    const double c = curand_uniform_double(&s);
    const float d = curand_normal(&s), e = curand_normal(&s);
    const double f = curand_normal_double(&s);
    skipahead(7, &s);
    skipahead_sequence(3, &s);
    const float g = curand_log_normal(&s, 1.f, .5f);
    printf("%08x %a %a %.5f %.5f %.12f %.5f %08x\n", a, b, c, d, e, f, g, curand(&s));
}
template <class State>
__global__ void numbers() {
    print<State>(1234, 0, 0);
    print<State>(1234, 77777, 5);
    print<State>(0x123456789abcdef, 0xfedcba9876543210, 0xffffffff1);
}
// RUN: plain,hazards xorwow
// SAYS: 253d5e15 0x1.bd5618p-2 0x1.d216d58cdb5e5p-2 -0.27491 -0.48254 0.514354587495 1.87137 7ac4dbc6
// SAYS: 1477bd3c 0x1.dc0e66p-1 0x1.e83aebc1edf14p-4 -0.07362 -0.08794 1.102475320115 3.12329 0413c862
// SAYS: 835e1412 0x1.940324p-1 0x1.451c58f004d0ep-1 -0.38628 -0.19464 -1.372736796194 2.17257 f4ae50ba
CASE(xorwow) { return numbers<curandState><<<1, 1>>>(), result(); }
// RUN: plain,hazards philox
// SAYS: 2090b348 0x1.b4f9e2p-1 0x1.100641cp-2 -0.46492 -0.48993 0.214941168577 2.70331 1ff24db4
// SAYS: fcc27e04 0x1.fa621ap-1 0x1.e7d5c5a4p-1 -0.16239 1.31196 0.400188217146 4.71490 441c70e7
// SAYS: 87bf6c3b 0x1.2766b6p-2 0x1.9b4104f6p-1 -0.95843 0.51841 0.311675307574 3.27292 709a268d
CASE(philox) { return numbers<curandStatePhilox4_32_10_t><<<1, 1>>>(), result(); }

// RUN: plain four
// SAYS: 56a1ccd8 fdf22653 0x1.494ac4p-3 0x1.07fe48p-4 0.02443 -1.14338
__global__ void four() {
    curandStatePhilox4_32_10_t s;
    curand_init(5, 6, 7, &s);
    const uint4 a = curand4(&s);
    const float4 b = curand_uniform4(&s), c = curand_normal4(&s);
    printf("%08x %08x %a %a %.5f %.5f\n", a.x, a.w, b.x, b.w, c.x, c.w);
}
CASE(four) { return four<<<1, 1>>>(), result(); }

// RUN: hazards own_state
__global__ void own_state(curandState_t* states, float* sum) {
    curandState_t& state = states[threadIdx.x];
    curand_init(42, threadIdx.x, 0, &state);
    atomicAdd(sum, curand_uniform(&state));
}
CASE(own_state) { return own_state<<<1, 64>>>(device<curandState_t>(64), device<float>(1)), result(); }

// RUN: hazards shared_state
// STATUS: 1
// SAYS: race on
// SAYS: curand.cu:@#shared
__global__ void shared_state(curandState_t* state, float* out) {
    out[threadIdx.x] = curand_uniform(state);  // #shared
}
CASE(shared_state) { return shared_state<<<1, 64>>>(device<curandState_t>(1), device<float>(64)), result(); }
