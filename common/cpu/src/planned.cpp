// planned.cpp - faults that a test plans: LAB_FAIL=K fails the K-th call, LAB_FLIP=K spoils the K-th copy to the
// host.
#include "internal.hpp"

#include <unistd.h>

#include <charconv>

namespace cudacpu {

namespace {

unsigned long number_in(const char* variable, const char* meaning) {  // 0: it is not set
    const char* number = getenv(variable);
    unsigned long k = 0;
    if (!number) return k;
    const auto [end, error] = std::from_chars(number, number + strlen(number), k);
    if (!k || *end || error != std::errc())
        say(text("cudacpu: %s=%s: say which %s, 1 or more", variable, number, meaning)), _exit(2);
    return k;
}

}  // namespace

cudaError_t planned_failure(const char* function, unsigned long call) {
    static const unsigned long k = number_in("LAB_FAIL", "call is to fail");
    if (call != k) return cudaSuccess;
    const std::string_view name = function;
    const bool allocation = name.starts_with("cudaMalloc") || name == "cudaHostAlloc";
    const cudaError_t error = allocation                  ? cudaErrorMemoryAllocation
                              : name == "a kernel launch" ? cudaErrorLaunchFailure
                                                          : cudaErrorInvalidValue;
    say(text("cudacpu: LAB_FAIL=%lu: %s fails with %s", k, function, describe(error, true)));
    return failed(error);
}

bool planned_flip(size_t bytes) {
    static const unsigned long k = number_in("LAB_FLIP", "copy to the host is to be spoiled");
    static unsigned long copies;
    if (++copies != k) return false;
    say(text("cudacpu: LAB_FLIP=%lu: byte %zu of the %zu bytes that %s brings has its lowest bit flipped", k,
             bytes / 2, bytes, api_function));
    return true;
}

}  // namespace cudacpu
