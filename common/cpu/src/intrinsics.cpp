// intrinsics.cpp - what else kernels ask of the device: atomics, fences, the time, special registers, an end.
#include "internal.hpp"

#include <chrono>

namespace cudacpu {

void about_to_do_atomic(void* address, unsigned bytes, unsigned kind, Where where, const void* expected) {
    if (!in_kernel()) return;
    last_access = __builtin_return_address(0);
    last_atomic = where;
    if (look_asked) look(last_access, address, bytes);
    if (on_own_stack(address)) {
        const std::string what = "an atomic on a variable of the thread's own",
                          mend = "a GPU stops there, and no other thread sees the variable: write = or +=";
        if (!hazard_build) fault(cudaErrorLaunchFailure, what, mend, &where);
        bug(what, mend, source_line(where));
    }
    if (++waits_in_a_row > 1000) give_way();  // a thread that spins on an atomic waits for another one
    steps::at_atomic(address, bytes, where);
    hazards::at_atomic(address, bytes, kind, where, expected);
}

Space space_of(const void* p) {
    if (is_shared(find(p))) return Space::shared;
    return on_own_stack(p) ? Space::local : Space::global;
}

void fence(bool block_only) { hazards::at_fence(block_only); }

void trap(const char* what, Where where) {
    fault(cudaErrorLaunchFailure, std::string(what) + " was called", "it ends the kernel: see what led there",
          &where);
}

long long clock_ticks() {  // nanoseconds, and no two alike
    static long long last;
    static const void* asked;  // who asks again and again waits: so do all threads of a block at once
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
    return 0;  // the translator lets no other through
}

}  // namespace cudacpu

// Of the C library; in a kernel it does something else.
extern "C" clock_t clock() noexcept {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return cudacpu::in_kernel() ? cudacpu::clock_ticks() : t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / 1000;
}
