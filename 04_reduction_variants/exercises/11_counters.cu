// 04.11  Read a table of counters
//
// A build with --counters prints this table for the four lines below, launched
// with one block of 128 threads. Four numbers are missing. a and b are sectors;
// c is the number of bank conflicts; d is the average number of lanes that take
// part. Fill them in. Then choose the line that wastes the most sectors: 5, 6,
// 7 or 8.
#include "exercise.cuh"

// The four lines of the kernel, each with its row of the table:
//                              requests  lanes  sectors  a request  conflicts
// 5  int x = in[t];
//        global load                  4   32.0        a       4.00
// 6  x += in[8 * t];
//        global load                  4   32.0        b      32.00
// 7  tile[4 * t] = x;
//        shared store                 4   32.0                              c
// 8  if (t % 4 == 0) out[t] = x;
//        global store                 4      d       16       4.00
__global__ void kernel(int line, const int* in, int* out) {  // executes one of these lines
    __shared__ int tile[512];
    const int t = threadIdx.x;
    if (line == 5 && in[t] < 0) out[0] = 1;
    if (line == 6 && in[8 * t] < 0) out[0] = 1;
    if (line == 7) tile[4 * t] = t;
    if (line == 8 && t % 4 == 0) out[t] = t;
    if (line == 0) out[t] = tile[t];  // never executed: nvcc would remove a tile without a load
}

// ---- your part
constexpr int a = 0, b = 0, c = 0;
constexpr double d = 0;
constexpr int worst_line = 0;

// ---- the check
int main() {
    return exercise({1024}, [](int n) {
        Array<int> in(n, scattered), out(n, [](int) { return 0; });
        long long counted[4], waste[4];
        for (int line = 5; line <= 8; ++line) {
            lab::begin(n);
            kernel<<<1, 128>>>(line, in, out);
            if (!lab::has_ended()) return false;
            counted[line - 5] = line == 7 ? conflicts().value : sectors().value;
            waste[line - 5] = line == 7 ? 0 : sectors().value - 16;  // 128 ints are 16 sectors
        }
        // + 1: thread 0 stores a 0.
        const auto lanes = std::count_if(out.begin(), out.end(), [](int x) { return x != 0; }) + 1;
        const int worst = 5 + static_cast<int>(std::max_element(waste, waste + 4) - waste);
        if (!lab::counts) return lanes == 32;  // on a GPU, ncu counts
        return predicted("a", a, counted[0]) && predicted("b", b, counted[1]) &&
               predicted("c", c, counted[2]) && predicted("d", d, lanes / 4.0) &&
               predicted("worst_line", worst_line, worst);
    });
}
