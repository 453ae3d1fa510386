// fault_injection.cpp - fault injection for tests: LAB_FAIL=K fails the K-th call, LAB_FLIP=COPY:WHAT falsifies a
// copy to the host.
#include "api/fault_injection.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/reporting.hpp"
#include "engine/text.hpp"

namespace cudacpu {

namespace {

// The number at the beginning of an environment variable, and the text after it; 0 if it is not set.
std::pair<unsigned long, std::string> order_in(const char* variable, const char* form) {
    const char* const order = getenv(variable);
    if (!order) return {};
    unsigned long k = 0;
    long bit = 0;
    const char* const last = order + strlen(order);
    const auto [end, error] = std::from_chars(order, last, k);
    const std::string what = *end == ':' ? end + 1 : "";
    const auto [rest, no_bit] = std::from_chars(last - what.size(), last, bit);
    const bool is_what = what == "ones" || what == "swap" || (!*rest && no_bit == std::errc());
    if (!k || error != std::errc() || (strchr(form, ':') ? !is_what : *end != 0))
        print_report(text("cudacpu: %s=%s: say which %s", variable, order, form)), _exit(2);
    return {k, what};
}

}  // namespace

cudaError_t injected_failure(const char* function, unsigned long call) {
    static const unsigned long k = order_in("LAB_FAIL", "call is to fail, 1 or more").first;
    if (call != k) return cudaSuccess;
    const std::string_view name = function;
    const bool allocation = name.starts_with("cudaMalloc") || name == "cudaHostAlloc";
    const cudaError_t error = allocation                  ? cudaErrorMemoryAllocation
                              : name == "a kernel launch" ? cudaErrorLaunchFailure
                                                          : cudaErrorInvalidValue;
    print_report(text("cudacpu: LAB_FAIL=%lu: %s fails with %s", k, function, describe(error, true)));
    return failed(error);
}

const std::string* injected_flip() {
    static const auto planned =
        order_in("LAB_FLIP", "copy to the host, 1 or more, and what of it: 1:0, 1:-32, 1:ones, 1:swap");
    static unsigned long copies;
    return ++copies == planned.first ? &planned.second : nullptr;
}

void corrupt(const std::string& what, char* to, size_t bytes, const void* from) {
    const std::string before(to, bytes);
    if (what == "ones") {
        memset(to, 0xff, bytes);
    } else if (what == "swap") {
        if (bytes >= 8) std::swap_ranges(to, to + 4, to + bytes - 4);
    } else {
        const long bits = static_cast<long>(bytes) * 8,
                   bit = (strtol(what.c_str(), nullptr, 10) % bits + bits) % bits;
        to[bit / 8] = static_cast<char>(to[bit / 8] ^ 1 << bit % 8);
    }
    print_report(text("cudacpu: LAB_FLIP=%s: %zu bytes %s: %s", getenv("LAB_FLIP"), bytes,
                      before.compare(0, bytes, to, bytes) ? "are changed" : "stay the same",
                      explain(from).c_str()));
}

}  // namespace cudacpu
