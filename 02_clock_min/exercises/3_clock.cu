// 02.3  The end of a block
//
// Thread 0 reads the clock when its block begins and when it ends: the
// difference is the time of the block. But it reads the second time when its
// own work is done, while other threads still have much to do. Correct it:
// `end` must not be earlier than `latest`, the latest of all threads' clocks.
#include "exercise.cuh"

// ---- your part
__global__ void timed(long long* begin, long long* end, long long* latest) {
    __shared__ long long done[256];
    const int tid = threadIdx.x;
    if (tid == 0) *begin = clock64();
    for (volatile int i = 0; i < 10 * tid; ++i) continue;  // the work
    done[tid] = clock64();
    if (tid == 0) *end = clock64();
    if (tid == 0) {
        *latest = 0;
        for (int i = 0; i < blockDim.x; ++i) *latest = max(*latest, done[i]);
    }
}

// ---- the check
int main() {
    return exercise({64, 256}, [](int n) {
        Array<long long> begin(1), end(1), latest(1);
        timed<<<1, n>>>(begin, end, latest);
        return check("end", end, [&](int) { return std::max(*end, *latest); }) &&
               check("begin", begin, [&](int) { return std::min(*begin, *latest); }) && at_least(1, barriers()) &&
               read_from_clock("end", *end) && read_from_clock("latest", *latest);
    });
}
