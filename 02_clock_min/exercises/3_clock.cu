// 02.3  When is a block done?
//
// To time its block, thread 0 reads the clock when the block begins and when it
// ends. But it reads the second time as soon as its own work is done. Other
// threads are still working, some of them for long. Mend it: `end` must not be
// earlier than `latest`, the latest clock of all threads.
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
