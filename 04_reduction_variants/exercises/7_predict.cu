// 04.7  How many turns does an access take?
//
// Each of the 32 lanes of a warp reads one word from shared memory, where word
// w is in bank w % 32. How many turns does this take if lane k reads word
// 2 * k; word 32 * k; word 33 * k; and if all lanes read word 5? Fill in the
// four numbers.
#include "exercise.cuh"

// ---- your part
constexpr int every_second = 0;
constexpr int every_32nd = 0;
constexpr int every_33rd = 0;
constexpr int all_the_same = 0;

// ---- the check
__global__ void read(int step, int first, int* out) {
    __shared__ int tile[33 * 32];
    for (int i = threadIdx.x; i < 33 * 32; i += 32) tile[i] = i;
    __syncwarp();
    out[threadIdx.x] = tile[first + step * threadIdx.x];
}

bool turns(const char* name, int typed, int step, int first) {
    Array<int> out(32);
    lab::begin(step);
    read<<<1, 32>>>(step, first, out);
    return check("out", out, [&](int i) { return first + step * i; }) &&
           (!lab::counts || predicted(name, typed, 1 + conflicts().value));
}

int main() {
    return exercise({32}, [](int) {
        return turns("every_second", every_second, 2, 0) && turns("every_32nd", every_32nd, 32, 0) &&
               turns("every_33rd", every_33rd, 33, 0) && turns("all_the_same", all_the_same, 0, 5);
    });
}
