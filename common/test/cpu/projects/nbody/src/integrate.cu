#include "nbody/forces.cuh"
namespace nbody {
constexpr int TILE = 64;
__global__ void compute_forces(const Body* __restrict__ bodies, float3* __restrict__ acc, int n) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? bodies[i].pos : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += TILE) {
        if (base + threadIdx.x < n) tile[threadIdx.x] = bodies[base + threadIdx.x].pos;
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < TILE && base + j < n; ++j) a = body_body(me, tile[j], a);
        __syncthreads();
    }
    if (i < n) acc[i] = a;
}
static __global__ void kick_drift(Body* b, const float3* acc, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    b[i].vel.x += acc[i].x * dt;
    b[i].vel.y += acc[i].y * dt;
    b[i].vel.z += acc[i].z * dt;
    b[i].pos.x += b[i].vel.x * dt;
    b[i].pos.y += b[i].vel.y * dt;
    b[i].pos.z += b[i].vel.z * dt;
}
void step(Body* bodies, float3* acc, int n, float dt, cudaStream_t s) {
    int g = (n + TILE - 1) / TILE;
    compute_forces<<<g, TILE, 0, s>>>(bodies, acc, n);
    kick_drift<<<g, TILE, 0, s>>>(bodies, acc, n, dt);
}
}  // namespace nbody
