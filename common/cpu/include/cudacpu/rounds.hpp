// rounds.hpp - the rounds of a loop in the order in which nvcc leaves them, for the counters: a lane that has a
// round more than its neighbour does it first, or last, and is then not in step with it.
//
// As LLVM unrolls a loop whose rounds can be counted before it begins (LoopUnroll, isEpilogProfitable): four at
// once, and what is left over after them if a variable of the loop begins as an integer that is known, else before.
// ptxas then takes four of these at once, if it can count them: 16 rounds at a time, then 8, then 4.
#pragma once

#include "engine.hpp"

namespace cudacpu::rounds {

struct Form {
    bool down;         // i > to, and the step is negative
    bool to_the_last;  // i <= to
    uint64_t step;     // 0: it is not known
    bool rest_last;    // what is left over comes last
};
constexpr unsigned parts = 5;  // left over, 16, 8, 4, left over: all lanes have each, some of them without a round

/// Can the rounds be counted? An unsigned sum could begin again at 0; where it then comes by the same places, as
/// with a power of 2, nvcc takes it that it does not. Sum: type of i + step.
template <class Sum> constexpr bool countable(Form f) {
    return std::is_signed_v<Sum> || (f.step && !(f.step & (f.step - 1)) && !f.to_the_last);
}

/// How often for (I i = from; i < to; i += step) goes round.
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

/// How many of them the part has, when so many are done.
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

// Four rounds whose loads lie side by side in shared memory are one load of 16 bytes, or two of 8 if they begin at
// a place that is not known before the program runs (a row): counters.cpp is told which of the four a lane is in (1
// to 4, of a row 5 to 8; 0: none). g++ must not see that this writes, so it does not forget what it knows.
CUDACPU_QUIET inline void note(uint64_t of_four) {
    asm volatile("movl %0, cudacpu_round(%%rip)" ::"r"(unsigned(of_four)));
}
CUDACPU_QUIET inline void note(Form f, bool row, uint64_t part, uint64_t done) {
    note(f.rest_last && part < 4 ? 4 * row + done % 4 + 1 : 0);
}

}  // namespace cudacpu::rounds

namespace cudacpu {
/// What the compiler knows of memory is no longer so.
CUDACPU_QUIET inline void forget() { asm volatile("" ::: "memory"); }
}  // namespace cudacpu
