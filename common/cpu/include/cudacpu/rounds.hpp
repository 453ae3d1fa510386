// rounds.hpp - for the counters: executes the iterations of a loop in the order of nvcc's code. A lane with one
// iteration more than its neighbour executes it first or last, and is then not in lockstep with it.
//
// The order is LLVM's for a loop whose iterations can be counted in advance (LoopUnroll, isEpilogProfitable): four
// at once. The remainder follows if a variable of the loop begins as a known integer; otherwise it comes first. If
// ptxas can count the groups of four, it then takes four of them together: 16 iterations at a time, then 8, then 4.
#pragma once

#include "engine.hpp"

namespace cudacpu::rounds {

struct Form {
    bool down;         // i > to, and the step is negative
    bool to_the_last;  // i <= to
    uint64_t step;     // 0: unknown
    bool rest_last;    // the remainder comes last
};
constexpr unsigned parts = 5;  // remainder, 16, 8, 4, remainder: all lanes execute each, maybe with no iteration

/// Whether the iterations can be counted. An unsigned sum could wrap around to 0. If it then meets the same values
/// again, as with a power of 2, nvcc assumes that it does not wrap. Sum: the type of i + step.
template <class Sum> constexpr bool countable(Form f) {
    return std::is_signed_v<Sum> || (f.step && !(f.step & (f.step - 1)) && !f.to_the_last);
}

/// The number of iterations of for (I i = from; i < to; i += step).
template <class I, class To>
CUDACPU_QUIET __attribute__((const, noinline)) uint64_t count(uint64_t from, To to, uint64_t step, Form f) {
    using Both = std::common_type_t<I, To>;
    const Both i = Both(I(from)), n = Both(to);
    const uint64_t by = f.down ? -step : step,
                   apart = f.down ? uint64_t(i) - uint64_t(n) : uint64_t(n) - uint64_t(i);
    if (i == n) return f.to_the_last;
    if (f.down ? i < n : n < i) return 0;
    return int64_t(by) > 0 ? (apart - !f.to_the_last) / by + 1 : ~uint64_t{0};
}

/// The number of iterations in this part, after `done` of them.
template <bool countable>
CUDACPU_QUIET __attribute__((const, noinline)) inline uint64_t of_part(uint64_t part, uint64_t all, uint64_t done,
                                                                       Form f) {
    if (!countable) return part ? 0 : all;
    const uint64_t rest = all % 4, fours = all - done - (f.rest_last ? rest : 0);
    const bool by_16 = f.rest_last || f.step;
    if (part == (f.rest_last ? 4 : 0)) return rest;
    if (part == 3) return fours;
    return part == 1 && by_16 ? fours / 16 * 16 : part == 2 && by_16 ? fours / 8 * 8 : 0;
}

// Four iterations that load adjacent words of shared memory are one load of 16 bytes. They are two loads of 8 bytes
// if the address of the first is not known at compile time (a row). This tells memory_counters.cpp which of the
// four a lane is in: 1 to 4, in a row 5 to 8, 0 for none. g++ must not see the store, so that it keeps its
// knowledge of memory.
CUDACPU_QUIET inline void note(uint64_t of_four) {
#if defined(__x86_64__)
    asm volatile("movl %0, cudacpu_round(%%rip)" ::"r"(unsigned(of_four)));
#else
    asm volatile("adrp x16, cudacpu_round\n\tstr %w0, [x16, :lo12:cudacpu_round]" ::"r"(unsigned(of_four)) : "x16");
#endif
}
CUDACPU_QUIET inline void note(Form f, bool row, uint64_t part, uint64_t done) {
    note(f.rest_last && part < 4 ? 4 * row + done % 4 + 1 : 0);
}

}  // namespace cudacpu::rounds

namespace cudacpu {
/// Makes the compiler discard what it knows of memory.
CUDACPU_QUIET inline void forget() { asm volatile("" ::: "memory"); }
}  // namespace cudacpu
