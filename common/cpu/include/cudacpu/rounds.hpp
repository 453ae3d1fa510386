// rounds.hpp - the rounds of a loop in the order in which nvcc leaves them, for the counters: a lane that has a round
// more than its neighbour does it first, or last, and is then not in step with it.
//
// As LLVM unrolls a loop whose number of rounds can be computed before it begins (LoopUnroll, isEpilogProfitable): four
// at once, and what is left over after them if a variable of the loop begins as an integer that is known, else before.
// ptxas then takes four of these at once, if it can count them: 16 rounds at a time, then 8, then 4.
#pragma once
#include "engine.hpp"

namespace cudacpu {

/// for (Rounds r(i, to, step, ...); r.more();) for (I i = r.first(); r.next(); i += step) does what
/// for (; i < to; i += step) does. `down`: i > to, and the step is taken away; `to_the_last`: i <= to.
template <class I, class To, class Step> class Rounds {
    using Both = std::common_type_t<I, To>;
    static constexpr unsigned phases = 5;  // left over, 16, 8, 4, left over
    uint64_t begin, step, total, done = 0, left = 0;
    unsigned phase = 0;
    bool at_once, rest_last, by_16;

public:
    struct Form {
        bool down, to_the_last, by_one, constant_step, rest_last;
    };
    CUDACPU_INLINE constexpr Rounds(I from, To to, Step by, Form f)
        : begin(uint64_t(from)),
          step(f.down ? -uint64_t(by) : uint64_t(by)),
          total(0),
          at_once(std::is_signed_v<decltype(from + by)> || (f.by_one && !f.to_the_last)),
          rest_last(f.rest_last),
          by_16(f.rest_last || f.constant_step) {
        const Both i = Both(from), n = Both(to);
        const uint64_t apart = f.down ? uint64_t(i) - uint64_t(n) : uint64_t(n) - uint64_t(i);
        if (f.down ? i > n : i < n) total = by > Step(0) ? (apart - !f.to_the_last) / uint64_t(by) + 1 : ~uint64_t{0};
        if (f.to_the_last && i == n) total = 1;
    }
    /// Is there another part of the rounds? All lanes have the same parts, some of them without a round.
    CUDACPU_INLINE constexpr bool more() {
        const uint64_t rest = total % 4, fours = total - done - (rest_last || !phase ? rest : 0);
        const unsigned now = phase++;
        if (!at_once) {
            left = total;
            return now == 0;
        }
        if (now == 0) left = rest_last ? 0 : rest;
        else if (now == 4) left = rest_last ? rest : 0;
        else if (now == 3) left = fours;
        else left = !by_16 ? 0 : now == 1 ? fours / 16 * 16 : fours / 8 * 8;
        return now < phases;
    }
    CUDACPU_INLINE constexpr I first() const { return I(begin + done * step); }
    CUDACPU_INLINE constexpr bool next() {
        if (!left) return false;
        --left;
        ++done;
        return true;
    }
};

}  // namespace cudacpu
