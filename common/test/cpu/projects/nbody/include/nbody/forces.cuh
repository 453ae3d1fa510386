#pragma once
#include <cuda_runtime.h>
namespace nbody {
struct Body {
    float4 pos;
    float4 vel;
};
__device__ float3 body_body(const float4& bi, const float4& bj, float3 acc);
extern __constant__ float softening2;
__global__ void compute_forces(const Body* __restrict__ bodies, float3* __restrict__ acc, int n);
void step(Body* bodies, float3* acc, int n, float dt, cudaStream_t s = 0);
void set_softening(float s);
}  // namespace nbody
