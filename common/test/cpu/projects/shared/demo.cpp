#include <vecops.h>
#include <cstdio>
#include <vector>
int main() {
    std::vector<float> a(1000, 1.f), b(1000, 2.f);
    float d = vecops::dot(a.data(), b.data(), 1000);
    std::printf("%s %g\n", vecops::version(), d);
    return d != 2000.f;
}
