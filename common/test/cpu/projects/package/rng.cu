#include "rng.cuh"
__device__ uint32_t Pcg::next() {
    uint64_t old = state;
    state = old * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t x = uint32_t(((old >> 18u) ^ old) >> 27u), r = uint32_t(old >> 59u);
    return (x >> r) | (x << ((32 - r) & 31));
}
