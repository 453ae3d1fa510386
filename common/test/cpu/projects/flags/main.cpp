#include <cstdio>
#include <numeric>
#include <vector>
void histogram(const unsigned char* in, unsigned* bins, int n);
int main() {
    std::vector<unsigned char> v(4096);
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<unsigned char>(i * 7);
    unsigned bins[32];
    histogram(v.data(), bins, 4096);
    std::printf("%s total %u\n", NAME, std::accumulate(bins, bins + 32, 0u));
}
