// 05.9  Sort by counting
//
// Sort n numbers by their lowest byte, x & 255; numbers with equal bytes may
// come in any order. This is one step of a radix sort. Count the numbers with
// each byte (05.6). Scan the counts, so that first[b] is how many numbers have
// a byte below b (04.6). Each number gets its place from first[b] by an atomic,
// and is written there (05.3). Use one block of 256 threads.
#include "exercise.cuh"

// ---- your part
__global__ void sort(const int* in, int n, int* out) {
    __shared__ int first[256];
}

// ---- the check
int main() {
    return exercise({1000, 1, 256, 3000}, [](int n) {
        Array<int> in(n, [](int i) { return scattered(i) % (i % 3 ? 100'000 : 40); }), out(n);
        sort<<<1, 256>>>(in, n, out);
        if (!lab::has_ended()) return false;
        const auto byte = [](int x) { return x & 255; };
        std::vector<int> wanted(in.begin(), in.end());
        const auto less = [&](int a, int b) {
            return byte(a) != byte(b) ? byte(a) < byte(b) : a < b;
        };
        std::sort(wanted.begin(), wanted.end(), less);
        for (int i = 0, end; i < n; i = end) {  // numbers with equal bytes: any order
            for (end = i + 1; end < n && byte(wanted[end]) == byte(wanted[i]);) ++end;
            std::sort(out + i, out + end);
        }
        return check("out", out, [&](int i) { return wanted[i]; }) &&
               at_most((n + 255) / 256 * 5 + 70, accesses()) && at_most(2 * n + 256, atomics());
    });
}
