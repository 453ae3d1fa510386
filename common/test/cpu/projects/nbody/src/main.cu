#include "nbody/forces.cuh"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
namespace nbody {
void log(const std::string&);
}
int main(int argc, char** argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 128;
    std::vector<nbody::Body> h(n);
    for (int i = 0; i < n; ++i) h[i] = {make_float4(cosf(i), sinf(i), 0.1f * i, 1.0f), make_float4(0, 0, 0, 0)};
    nbody::Body* d;
    float3* acc;
    cudaMalloc(&d, n * sizeof(nbody::Body));
    cudaMalloc(&acc, n * sizeof(float3));
    cudaMemcpy(d, h.data(), n * sizeof(nbody::Body), cudaMemcpyHostToDevice);
    nbody::set_softening(0.1f);
    for (int k = 0; k < 3; ++k) nbody::step(d, acc, n, 0.001f);
    cudaMemcpy(h.data(), d, n * sizeof(nbody::Body), cudaMemcpyDeviceToHost);
    double px = 0, pz = 0;
    for (auto& b : h) px += b.vel.x, pz += b.vel.z;
    nbody::log("momentum " + std::to_string(px) + " " + std::to_string(pz));
    cudaFree(d);
    cudaFree(acc);
    return std::fabs(px) < 1e-2 && std::fabs(pz) < 1e-2 ? 0 : 1;
}
