// exact_test.cu - tests that 03_exact_dot's `exact` returns the float nearest to the exact result, for any input.
//   exact_test [COUNT] [SEED]: COUNT small inputs of each kind, each on its own grid
// The reference shares no code with the sample's wide number. It keeps the sum as doubles that do not overlap
// (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997), and
// computes on which side of the midpoint of two floats the sum is. If the sum is nearer to a midpoint than the
// error of 64 roundings, the fast path cannot prove its result: each such sum must need the wide number.
// Exit status: 0 if all results are right, 1 if not, 77 if there is no GPU.
#define main sample_main
#include "../../03_dot_shared/exact_dot.cu"
#undef main
#include <numeric>
#include <random>

namespace {

// An exact sum: its parts, the smallest first, have no bits in common.
struct Parts {
    std::vector<double> parts;
    void add(double x) {
        std::vector<double> kept;
        for (double part : parts) {
            const double sum = x + part, of_part = sum - x;
            const double error = (x - (sum - of_part)) + (part - of_part);
            if (error != 0) kept.push_back(error);
            x = sum;
        }
        if (x != 0) kept.push_back(x);
        parts = kept;
    }
    double about() const { return std::accumulate(parts.rbegin(), parts.rend(), 0.0); }
    int side_of(double middle) const {  // -1 if the sum is below it, 0 if equal, 1 above
        Parts difference = *this;
        difference.add(-middle);
        return difference.parts.empty() ? 0 : difference.parts.back() > 0 ? 1 : -1;
    }
};
double value(float x) { return std::isinf(x) ? std::copysign(0x1p128, x) : x; }
bool is_even(float x) {
    unsigned bits;
    std::memcpy(&bits, &x, sizeof x);
    return bits % 2 == 0;
}
float nearest_to(const Parts& sum) {
    float result = float(sum.about());
    for (const float towards : {INFINITY, -INFINITY}) {
        const float next = std::nextafter(result, towards);
        const int side = next == result ? 0 : sum.side_of((value(result) + value(next)) / 2);
        const bool beyond = towards > 0 ? side > 0 : side < 0;
        const bool middle = next != result && side == 0 && !is_even(result);
        if (beyond || middle) result = next;
    }
    return result + 0.0f;
}
float reference(const std::vector<float>& a, const std::vector<float>& b) {
    Parts sum;
    bool above = false, below = false, none = false;
    for (size_t i = 0; i < a.size(); ++i) {
        const double term = double(a[i]) * double(b[i]);
        none |= std::isnan(term);
        above |= term == INFINITY;
        below |= term == -INFINITY;
        if (std::isfinite(term)) sum.add(term);
    }
    if (none || (above && below)) return NAN;
    if (above || below) return above ? INFINITY : -INFINITY;
    return nearest_to(sum);
}

std::mt19937_64 bits;
int within(int least, int most) { return least + int(bits() % uint64_t(most - least + 1)); }
float any(int least, int most) {  // any 24 bits, a sign, and an exponent
    return std::ldexp(float(int64_t(bits()) >> 40) / 0x1p23f, within(least, most));
}
const char* const kinds[] = {"ordinary",
                             "pairs that cancel",
                             "ill conditioned",
                             "products below every float",
                             "about the greatest float",
                             "infinities and NaNs",
                             "the middle of two floats",
                             "too near the middle"};
constexpr int middle = 6, too_near = 7;
void make(int kind, std::vector<float>& a, std::vector<float>& b) {
    const size_t n = a.size();
    for (size_t i = 0; i < n; ++i) {
        const int wide = kind == 1 ? 60 : kind == 3 ? 0 : 10;
        a[i] = kind == 3 ? any(-149, -60) : any(-wide, wide);
        b[i] = kind == 3 ? any(-149, -60) : any(-wide, wide);
        if (kind == 4) a[i] = any(60, 64), b[i] = any(60, 63);
        if (kind == 5 && within(0, int(n)) == 0) a[i] = within(0, 2) ? std::copysign(INFINITY, a[i]) : NAN;
        if (kind == 5 && within(0, int(n)) == 0) b[i] = 0;
    }
    if (kind == 1)
        for (size_t i = 0; i < n / 2; ++i) {
            a[n - 1 - i] = -a[i];
            b[n - 1 - i] = within(0, 9) ? b[i] : std::nextafter(b[i], 0.0f);
        }
    // Ill conditioned: each further term cancels the sum of the ones before (Ogita, Rump and Oishi, algorithm 6.1).
    if (kind == 2) {
        Parts sum;
        for (size_t i = 0; i < n; ++i) {
            const int size = int(60 - 120 * i / n);
            a[i] = any(size / 2, size / 2);
            b[i] = any(size / 2, size / 2);
            if (i >= n / 2 && a[i] != 0) b[i] = float((double(any(size, size)) - sum.about()) / a[i]);
            if (!std::isfinite(b[i])) b[i] = 0;
            sum.add(double(a[i]) * double(b[i]));
        }
    }
    if (kind >= middle) {  // 2^k + half of its last bit, and perhaps the smallest product, or (2^6 u)^2
        std::fill(a.begin(), a.end(), 0.0f);
        std::fill(b.begin(), b.end(), 1.0f);
        const int k = kind == middle ? within(-120, 120) : within(-50, 120);
        a[0] = std::ldexp(1.0f + float(within(kind == middle ? 0 : 1, 3)) * 0x1p-23f, k);
        if (n > 1) a[n / 2] = std::copysign(std::ldexp(1.0f, k - 24), within(0, 1) ? 1.0f : -1.0f);
        const float sign = within(0, 1) ? 1.0f : -1.0f;
        if (kind == middle && n > 2 && within(0, 1)) a[n - 1] = b[n - 1] = std::copysign(0x1p-149f, sign);
        if (kind == too_near) a[n - 1] = std::copysign(std::ldexp(1.0f, k + 2 * (6 - 53)), sign);
    }
    for (size_t i = n; i > 1; --i) {
        const size_t j = bits() % i;
        std::swap(a[i - 1], a[j]);
        std::swap(b[i - 1], b[j]);
    }
}
bool same(float x, float y) { return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0; }

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    if (lab::means_no_device(cudaGetDeviceCount(&devices)) && devices == 0) return lab::no_device;
    const int64_t count = argc > 1 ? std::atoll(argv[1]) : 1000;
    bits.seed(argc > 2 ? std::atoll(argv[2]) : 1);
    constexpr int most = 700, most_grid = 200, batch = 500;
    const lab::DeviceArray<float> d_a(int64_t(batch) * most), d_b(int64_t(batch) * most);
    const lab::DeviceArray<Twofold> of_block(most_grid);
    const lab::DeviceArray<double> out(batch);
    const lab::DeviceArray<unsigned> wide(std::vector<unsigned>(1));
    int64_t wrong = 0;
    for (int kind = 0; kind < int(std::size(kinds)); ++kind) {
        unsigned before = wide.download()[0];
        for (int64_t done = 0; done < count; done += batch) {
            const int here = int(std::min<int64_t>(batch, count - done));
            std::vector<std::vector<float>> a(here), b(here);
            std::vector<float> all_a(int64_t(batch) * most), all_b(int64_t(batch) * most);
            for (int k = 0; k < here; ++k) {
                const int n = within(kind == too_near ? 3 : 1, within(0, 3) ? 40 : most);
                a[k].resize(n);
                b[k].resize(n);
                make(kind, a[k], b[k]);
                std::copy(a[k].begin(), a[k].end(), all_a.begin() + int64_t(k) * most);
                std::copy(b[k].begin(), b[k].end(), all_b.begin() + int64_t(k) * most);
            }
            CHECK(cudaMemcpy(d_a.get(), all_a.data(), d_a.bytes(), cudaMemcpyHostToDevice));
            CHECK(cudaMemcpy(d_b.get(), all_b.data(), d_b.bytes(), cudaMemcpyHostToDevice));
            for (int k = 0; k < here; ++k) {
                const int64_t at = int64_t(k) * most, n = int64_t(a[k].size());
                const bool is_sum = k % 4 == 3;
                const int grid = within(0, 63) ? within(1, 4) : within(1, most_grid);
                const auto launch = [&](auto shape) {
                    using Shape = decltype(shape);
                    const auto kernel = is_sum ? exact<Shape, false> : exact<Shape, true>;
                    kernel<<<grid, Shape::threads>>>(d_a.get() + at, d_b.get() + at, of_block.get(), out.get() + k,
                                                     wide.get(), n, loss(longest_way(n, 1, Shape::threads)));
                };
                if (k % 8 < 4)
                    launch(Large());
                else if (k % 16 < 8)
                    launch(Small());
                else
                    launch(Tiny());
                CHECK(cudaGetLastError());
                if (k % 4 == 3) b[k].assign(b[k].size(), 1);
            }
            const std::vector<double> got = out.download();
            for (int k = 0; k < here; ++k) {
                const float want = reference(a[k], b[k]);
                if (same(float(got[k]), want) || ++wrong > 5) continue;
                std::printf("%s, %zu elements: got %.9g, wanted %.9g\n", kinds[kind], a[k].size(), got[k], want);
            }
        }
        const unsigned now = wide.download()[0];
        std::printf("%-26s %8lld inputs, %5.1f %% of them needed the wide number\n", kinds[kind], (long long)count,
                    100.0 * (now - before) / double(count));
        if (kind == too_near && now - before != count) ++wrong;
    }
    std::printf(wrong ? "%lld are WRONG\n" : "all are right\n", (long long)wrong);
    return wrong ? 1 : 0;
}
