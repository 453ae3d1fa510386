// intrinsics.cpp - other device functions of kernels: atomics, fences, time, special registers and traps.

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"
#include "engine/watchdog.hpp"

namespace cudacpu {

void about_to_do_atomic(void* address, unsigned bytes, unsigned kind, Where where, const void* expected) {
    if (!in_kernel()) return;
    last_access = __builtin_return_address(0);
    last_atomic = where;
    if (sample_requested) take_sample(last_access, address, bytes);
    if (on_own_stack(address)) {
        const std::string what =
                              say({"an atomic on a variable of the thread's own", "对线程自己的变量执行原子操作"}),
                          mend = say({"a GPU stops there, and no other thread sees the variable: write = or +=",
                                      "GPU 会在那里停止，别的线程也看不到这个变量：写 = 或 +="});
        if (!hazard_build) fault(cudaErrorLaunchFailure, what, mend, &where);
        report_bug(what, mend, source_line(where));
    }
    if (++waits_in_a_row > 1000) give_way();  // a thread that spins on an atomic waits for another thread
    if constexpr (plain_build) return;        // nobody observes it
    lockstep_observer.at_atomic(address, bytes, kind, where, expected);
    race_observer.at_atomic(address, bytes, kind, where, expected);
}

long double scaled_erfc(double x) {  // erfc(x) * exp(x * x)
    const long double square = static_cast<long double>(x) * x;
    if (x < 30) return expl(square) * erfcl(x);
    long double series = 1;  // asymptotic series
    for (int k = 15; k > 0; k -= 2) series = 1 - k / (2 * square) * series;
    return series / (sqrtl(M_PIl) * x);
}

/// The x with erf(x) = e and erfc(x) = c: Newton's method, from an approximation by Winitzki.
long double erf_inverse(long double e, long double c) {
    if (e < 0) return -erf_inverse(-e, 2 - c);
    if (e == 0) return e;
    if (!(c > 0)) return c < 0 || isnan(c) ? NAN : INFINITY;
    const bool near_0 = e < 0.5l;
    const long double l = near_0 ? log1pl(-e * e) : logl(c * (1 + e)), t = 2 / (M_PIl * 0.147l) + l / 2;
    long double x = sqrtl(sqrtl(t * t - l / 0.147l) - t);
    for (int i = 0; i < 3; ++i) {
        const long double tail = erfcl(x), distance = near_0 ? e - erfl(x) : logl(tail / c) * tail;
        x += distance * (sqrtl(M_PIl) / 2) * expl(x * x);
    }
    return x;
}

double length(float x, float y, float z, float w) {
    return double(length(double(x), double(y), double(z), double(w)));
}
long double length(double x, double y, double z, double w) {
    const auto square = [](long double v) { return v * v; };
    if (isinf(x) || isinf(y) || isinf(z) || isinf(w)) return INFINITY;  // also beside NaN
    return sqrtl(square(x) + square(y) + square(z) + square(w));
}

void fence(bool block_only, unsigned sides) { race_observer.at_fence(block_only, sides); }
void grid_dependency_wait() { race_observer.grid_dependency_met(); }

void trap(const char* what, Where where) {
    fault(cudaErrorLaunchFailure, say({"%s was called", "调用了 %s"}, what),
          say({"it ends the kernel: see what led there", "它会结束核函数：看看是什么走到了那里"}), &where);
}

long long clock_ticks() {  // in nanoseconds; no two calls return the same value
    static long long last;
    static const void* asked;  // repeated calls are a wait, as are those of all threads of a block together
    if (in_kernel() && std::exchange(asked, self) == self && (waits_in_a_row += 16) > 1000) give_way();
    const long long now = std::chrono::steady_clock::now().time_since_epoch().count();
    return last = std::max(now, last + 1);
}

unsigned long long special_register(const char* name) {
    const unsigned bit = 1u << lane();
    // clang-format off
    const std::pair<std::string_view, unsigned long long> registers[] = {
        {"laneid", lane()}, {"warpid", rank / 32}, {"nwarpid", 64}, {"smid", block_number % sm_count}, {"nsmid", sm_count},
        {"clock", unsigned(clock_ticks())}, {"clock64", clock_ticks()},
        {"globaltimer", std::chrono::system_clock::now().time_since_epoch().count()},
        {"lanemask_lt", bit - 1}, {"lanemask_le", bit | (bit - 1)}, {"lanemask_eq", bit},
        {"tid.x", threadIdx.x}, {"tid.y", threadIdx.y}, {"tid.z", threadIdx.z},
        {"ntid.x", blockDim.x}, {"ntid.y", blockDim.y}, {"ntid.z", blockDim.z},
        {"ctaid.x", blockIdx.x}, {"ctaid.y", blockIdx.y}, {"ctaid.z", blockIdx.z},
        {"nctaid.x", gridDim.x}, {"nctaid.y", gridDim.y}, {"nctaid.z", gridDim.z},
        {"lanemask_ge", -bit}, {"lanemask_gt", -bit ^ bit}};
    // clang-format on
    for (const auto& [known, value] : registers)
        if (known == name) return value;
    return 0;  // the translator rejects all others
}

}  // namespace cudacpu

// A function of the C library that does something else in a kernel.
extern "C" clock_t clock() noexcept {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return cudacpu::in_kernel() ? cudacpu::clock_ticks() : t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / 1000;
}
