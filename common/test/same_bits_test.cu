// same_bits_test.cu - tests which kernels of 03 and 04 give the same bits in every run, against their tables.
// The sums of its random floats depend on the order of the additions. Each grid runs 100 times. Kernels without the
// promise may vary; on a GPU one must. Exit status: 0 if the tables are right, 1 if not, 77 if there is no GPU.
#include <set>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <functional>
#include <limits>
#include <numeric>
#include "lab.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#endif
#if defined(__CUDACC__) && !defined(CUDACPU) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif
#define main main_of_the_sample
namespace dots {
#include "../../03_dot_shared/dot_shared.cu"
}
namespace sums {
#include "../../04_reduction_variants/any_type.cu"
}
#undef main

namespace {

int wrong = 0, varied = 0;
// Collects the results of each grid: pairs of the grid and the bits of the sum.
template <class Run>
void try_out(const char* name, bool promised, Run run) {
    std::set<std::pair<int, unsigned>> seen;
    const std::vector<int> grids = {1, 3, 16, 64, 200};
    for (const int blocks : grids)
        for (int k = 0; k < (lab::gpu ? 100 : 2); ++k) {
            const float result = run(blocks);
            unsigned bits;
            std::memcpy(&bits, &result, sizeof bits);
            seen.insert({blocks, bits});
        }
    const bool same = seen.size() == grids.size();
    wrong += promised && !same;
    varied += !promised && !same;
    std::printf("%-14s %s: %zu results on %zu grids%s\n", name, promised ? "the same bits" : "any order    ",
                seen.size(), grids.size(), promised && !same ? ", WRONG" : "");
}

}  // namespace

int main() {
    int devices = 0;
    if (lab::means_no_device(cudaGetDeviceCount(&devices)) && devices == 0) return lab::no_device;
    const int64_t n = lab::gpu ? 1'000'003 : 20'011;
    std::vector<float> a(n);
    for (int64_t i = 0; i < n; ++i) a[i] = float(int64_t(lab::random_bits(7, i)) >> 40) * 0x1p-20f;
    const lab::DeviceArray<float> d_a(a);
    lab::DeviceArray<float> c(1 << 16), there(1 << 16);
    const auto on_grid = [&](int blocks, auto use) {
        lab::Sample sample("same_bits_test", "");
        const std::string text = std::to_string(blocks);
        const char* line[] = {"same_bits_test", "--blocks", text.c_str(), nullptr};
        sample.defaults(n, 0, 512, "", "");
        sample.read(3, const_cast<char**>(line));
        use(sample);
    };
    for (const lab::Variant<dots::Job>& v : dots::variants)
        try_out(v.name, std::string(dots::same_bits(v.name)) == "yes", [&](int blocks) {
            const lab::DeviceArray<float> two(std::vector<float>(2));
            float result = 0;
            on_grid(blocks, [&](lab::Sample& sample) {
                dots::Job job{sample, n, d_a.get(), d_a.get(), c, {two.get(), two.get() + 1}, 0};
                v.launch(job);
                result = float(job.host_result);
                if (job.result) CHECK(cudaMemcpy(&result, job.result, sizeof result, cudaMemcpyDeviceToHost));
            });
            return result;
        });
    const lab::DeviceArray<unsigned> tickets(std::vector<unsigned>(1));
    for (const auto& v : sums::variants<float, sums::Sum<float>>)
        try_out(v.name, sums::fixed_order(v.name), [&](int blocks) {
            const lab::DeviceArray<float> two(std::vector<float>(2));
            float result = 0;
            on_grid(blocks, [&](lab::Sample& sample) {
                sums::Job<float> job{sample,        n,        d_a.get(), 0, c.size(), {c.get(), there.get()},
                                     tickets.get(), two.get()};
                v.launch(job);
                CHECK(cudaMemcpy(&result, job.result, sizeof result, cudaMemcpyDeviceToHost));
            });
            return result;
        });
    if (lab::gpu && !varied) std::printf("nothing shows that the order of additions counts\n");
    return wrong || (lab::gpu && !varied) ? 1 : 0;
}
