#include "nbody/forces.cuh"
namespace nbody {
__constant__ float softening2 = 0.01f;
__device__ float3 body_body(const float4& bi, const float4& bj, float3 a) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float d2 = r.x * r.x + r.y * r.y + r.z * r.z + softening2;
    float inv = rsqrtf(d2);
    float s = bj.w * inv * inv * inv;
    a.x += r.x * s;
    a.y += r.y * s;
    a.z += r.z * s;
    return a;
}
void set_softening(float s) {
    float s2 = s * s;
    cudaMemcpyToSymbol(softening2, &s2, sizeof(float));
}
}  // namespace nbody
