// exercise.cpp - the checks that all exercises share, and their messages. It is compiled once.
#include "exercise.cuh"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace lab {
namespace {

int now_n;
long long checked_calls;

template <class T>
bool untouched(const T& value) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&value);
    return std::all_of(bytes, bytes + sizeof(T), [](unsigned char byte) { return byte == 0xfe; });
}
// Did a thread add to an int that was never written, or double it? In a float this is not visible: a float of these
// bytes does not change when a number is added.
template <class T>
bool made_of_nothing(const T& got, const T& wanted) {
    if (!std::is_same_v<T, int>) return false;
    const auto nothing = static_cast<unsigned>(unwritten), added = static_cast<unsigned>(got) - nothing;
    return added == static_cast<unsigned>(wanted) || added < 1'000'000 || added == nothing;
}
template <class T>
std::string shown(const T& value) {
    char text[40] = "-";
    if (untouched(value)) return text;
    if constexpr (std::is_floating_point_v<T>)
        std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    else
        std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
    return text;
}

}  // namespace

bool other_numbers;

const char* words(const char* english, const char* chinese) {
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
        if (const char* language = std::getenv(name); language && *language)
            return std::strncmp(language, "zh", 2) == 0 ? chinese : english;
    return english;
}

template <class T>
bool compare(const char* name, const T* got, const T* wanted, int n) {
    int wrong = 0, first = 0;
    for (int i = n - 1; i >= 0; --i) {
        if (got[i] == wanted[i]) continue;
        ++wrong;
        first = i;
    }
    if (wrong == 0) return true;
    const auto say_why = [&](const std::string& element) {
        if (untouched(got[first]))
            std::printf(std::is_floating_point_v<T> || atomics().value > 0
                            ? words("  -: %s was never written, or was changed before it was set\n",
                                    "  -：%s 没有写过，或者没设初值就改了\n")
                            : words("  -: no thread has written %s\n", "  -：没有线程写过 %s\n"),
                        element.c_str());
        else if (untouched(wanted[first]))
            std::printf(words("  -: %s must not be written\n", "  -：%s 不该写\n"), element.c_str());
        else if (made_of_nothing(got[first], wanted[first]))
            std::printf(words("  %s was used before it was set\n", "  %s 还没设初值就用了\n"), element.c_str());
        return false;
    };
    if (n == 1) {
        std::printf(words("n = %d: %s is %s, wanted %s\n", "n = %d：%s 是 %s，应为 %s\n"), now_n, name,
                    shown(*got).c_str(), shown(*wanted).c_str());
        return say_why(name);
    }
    std::printf(words(wrong == 1 ? "n = %d: %d of %d elements is wrong, %s[%d]\n"
                                 : "n = %d: %d of %d elements are wrong, the first is %s[%d]\n",
                      "n = %d：%d 个元素不对（共 %d 个），第一个是 %s[%d]\n"),
                now_n, wrong, n, name, first);
    const int from = std::max(0, std::min(first - 2, n - 5)), to = std::min(n, from + 5);
    std::string lines[3] = {words("  element", "  元素   "), words("  got    ", "  得到   "),
                            words("  wanted ", "  应为   ")};
    for (int i = from; i < to; ++i) {
        const std::string cells[3] = {std::to_string(i), shown(got[i]), shown(wanted[i])};
        const size_t width = std::max({cells[0].size(), cells[1].size(), cells[2].size()}) + 3;
        for (int k = 0; k < 3; ++k) lines[k] += std::string(width - cells[k].size(), ' ') + cells[k];
    }
    for (const std::string& line : lines) std::puts(line.c_str());
    return say_why(std::string(name) + "[" + std::to_string(first) + "]");
}
template bool compare(const char*, const int*, const int*, int);
template bool compare(const char*, const unsigned*, const unsigned*, int);
template bool compare(const char*, const long long*, const long long*, int);
template bool compare(const char*, const float*, const float*, int);
template bool compare(const char*, const double*, const double*, int);

bool has_ended() {
    const cudaError_t call = cudaGetLastError(), end = cudaDeviceSynchronize();
    const bool is_legal = call == cudaSuccess || call == cudaErrorNotReady;  // cudaStreamQuery() returns the latter
    if (is_legal && end == cudaSuccess) return true;
    if (end != cudaSuccess) {
        std::printf(words("n = %d: the kernel failed with %s\n", "n = %d：核函数运行失败：%s\n"), now_n,
                    cudaGetErrorName(end));
    } else if (call == cudaErrorInvalidConfiguration) {
        std::printf(words("n = %d: the launch failed: 0 blocks, or too many threads per block?\n",
                          "n = %d：启动失败：线程块数是 0，还是一块里的线程太多？\n"),
                    now_n);
    } else {
        std::printf(words("n = %d: a call failed with %s: wrong pointer or size?\n",
                          "n = %d：有一个调用失败：%s。指针和大小对吗？\n"),
                    now_n, cudaGetErrorName(call));
    }
    return false;
}

bool right_by_a_kernel() {
    if (has_run()) return true;
    std::printf(words("n = %d: the result is right, but no kernel thread has accessed memory\n",
                      "n = %d：结果正确，但没有核函数的线程访问过内存\n"),
                now_n);
    return false;
}

void called(cudaError_t status, const char* call, const char* file, int line) {
    ++checked_calls;
    if (status == cudaSuccess) return;
    std::printf(words("CHECK in line %d ends the program. This call failed:\n  %s\n  %s: %s\n",
                      "第 %d 行的 CHECK 结束了程序。失败的调用：\n  %s\n  %s：%s\n"),
                line, call, cudaGetErrorName(status), cudaGetErrorString(status));
    check_cuda(status, call, file, line);
}

#ifdef CUDACPU
void begin_counts();
extern bool has_exited;
void note_host_loops(std::FILE* file);
#else
static void begin_counts() {}
bool has_run() { return true; }
bool host_waited() { return true; }
long long bytes_of_device_memory() { return 0; }
bool has_read_clock(long long) { return true; }
static constexpr bool has_exited = false;
static void note_host_loops(std::FILE*) {}
#endif
// The file is made only if main() returns; after a call of exit() it is not.
void note_end() {
    std::atexit([] {
        const char* const file = has_exited ? nullptr : std::getenv("LAB_END");
        if (std::FILE* const made = file ? std::fopen(file, "w") : nullptr) {
            note_host_loops(made);
            std::fclose(made);
        }
    });
}
bool begin(int n) {
    int devices = 0;
    now_n = n;
    checked_calls = 0;
    begin_counts();
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

}  // namespace lab

bool check_kept(const Array<int>& in, const Array<int>& out, const Array<int>& count) {
    if (!lab::has_ended()) return false;
    std::sort(out.begin(), out.begin() + std::clamp(*count, 0, out.size()));
    std::vector<int> kept;
    std::copy_if(in.begin(), in.end(), std::back_inserter(kept), [](int x) { return x >= 2; });
    std::sort(kept.begin(), kept.end());
    const int wanted = static_cast<int>(kept.size());
    kept.resize(out.size(), unwritten);
    return check("count", count, [&](int) { return wanted; }) &&
           check("sorted out", out, [&](int i) { return kept[i]; });
}

bool predicted(const char* name, double typed, double counted) {
    if (typed == counted) return true;
    std::printf(counted < typed ? lab::words("%s is %.9g: in the run it is less\n", "%s 填的是 %.9g：实际更小\n")
                                : lab::words("%s is %.9g: in the run it is more\n", "%s 填的是 %.9g：实际更大\n"),
                name, typed);
    return false;
}

lab::Count checked() { return {"calls in CHECK", "CHECK 里的调用", lab::checked_calls}; }
bool read_from_clock(const char* name, long long value) {
    if (lab::has_read_clock(value)) return true;
    std::printf(lab::words("n = %d: %s is %lld, but no thread has read it from its clock\n",
                           "n = %d：%s 是 %lld，没有线程从时钟读到过这个值\n"),
                lab::now_n, name, value);
    return false;
}

#ifndef CUDACPU
lab::Count in_device_memory() { return {}; }
lab::Count requests() { return {}; }
lab::Count dynamic_bytes() { return {}; }
lab::Count fences() { return {}; }
lab::Count events() { return {}; }
lab::Count copies_beside_kernels() { return {}; }
bool prefetched(const char*, const void*, size_t, bool) { return true; }
lab::Count barriers() { return {}; }
lab::Count atomics() { return {}; }
lab::Count global_atomics() { return {}; }
lab::Count compares() { return {}; }
lab::Count beside_each_other() { return {}; }
lab::Count sectors() { return {}; }
lab::Count in_shared() { return {}; }
lab::Count conflicts() { return {}; }
lab::Count accesses() { return {}; }
#endif
bool at_most(long long most, const lab::Count& count) {
    if (count.value <= most) return true;
    std::printf(lab::words("n = %d: the result is right, but\n  %s: %lld, allowed: %lld\n",
                           "n = %d：结果正确，但\n  %s：%lld，最多 %lld\n"),
                lab::now_n, lab::words(count.english, count.chinese), count.value, most);
    return false;
}
bool at_least(long long least, const lab::Count& count) {
    if (!lab::counts || count.value >= least) return true;
    std::printf(lab::words("n = %d: the result is right, but\n  %s: %lld, needed: %lld\n",
                           "n = %d：结果正确，但\n  %s：%lld，至少 %lld\n"),
                lab::now_n, lab::words(count.english, count.chinese), count.value, least);
    return false;
}

int scattered(int i) {
    uint64_t x = 0x9e3779b97f4a7c15 * (static_cast<uint64_t>(i) + (lab::other_numbers ? 1'000'000 : 1));
    x ^= x >> 32;
    return static_cast<int>(x * 0xd6e8feb86659fd93 >> 40);
}

#ifndef CUDACPU
void beside(const char* name, library::Function of_library, library::Function yours, int n) {
    const Array<int> in(n, [](int i) { return scattered(i) % 10; }), out(n + 1, [](int) { return 0; });
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    const auto ms_of = [&](library::Function run, int size) {
        CHECK(cudaEventRecord(start));
        run(in, size, out);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return ms;
    };
    ms_of(of_library, n);  // the arrays move to the GPU
    int size = std::min(n, 1 << 12);
    ms_of(yours, size);
    while (size < n && ms_of(yours, size) < 1) size = std::min(n, 4 * size);
    double us[2];
    for (int which = 0; which < 2; ++which) {
        const auto run = which == 0 ? yours : of_library;
        std::vector<float> ms(20);
        ms_of(run, size);
        for (float& time : ms) time = ms_of(run, size);
        std::sort(ms.begin(), ms.end());
        us[which] = 1000 * ms[10];
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    std::printf(lab::words("%d elements: yours %.1f us, %s %.1f us\n", "%d 个元素：你的 %.1f us，%s %.1f us\n"),
                size, us[0], name, us[1]);
}
#endif
