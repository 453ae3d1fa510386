// lockstep.hpp - the lanes of a warp advance together.
#pragma once
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "cuda_runtime.h"

namespace cudacpu::warp {

enum Kind : uint8_t { path, load, store, atomic, barrier, syncwarp, shuffle, vote, leaves, diverges };
constexpr const char* names_of_kinds[] = {"",         "load",    "store", "atomic", "barrier",
                                          "syncwarp", "shuffle", "vote",  "exit",   "divergence"};
struct Access {
    Kind kind;
    const volatile void* address = nullptr;
    size_t bytes = 0;
    size_t piece = 0;       // how many of them one request can take
    bool may_spin = false;  // an atomic, or an access to volatile data
};
struct Code {       // a lane's position in the code
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    uintptr_t pc;
    const void* frame;   // of two functions, the one called later comes first
    unsigned block = 0;  // number of the basic block, in the order chosen by cudacpu
    unsigned base = 0;   // accesses with the same number compute their addresses from one register; 0: unknown
    unsigned place = 0;  // accesses with the same number are one place in the source, in several iterations of an
                         // unrolled loop; 0: unknown
};
struct LanePosition : Access, Code {  // where a lane waits for its turn
    size_t depth;                     // of its stack
    unsigned round;                   // which of the four iterations that nvcc executes together: 1 to 4; 0: none
};
extern LanePosition lane_positions[1024];  // of the threads of the block
struct WarpInstruction {                   // what lanes of a warp execute together
    Kind kind;
    uint64_t site;
    unsigned warp, mask;
    const char* what = "";
    const LanePosition& position(unsigned lane) const { return lane_positions[32 * warp + lane]; }
    const LanePosition& first() const { return position(std::countr_zero(mask)); }
};
/// The running thread waits until the lanes of its warp that also come here have arrived.
void stop_lane(const Access& access, const Code& code);
/// The same for the compiler's call before an access. An access to the thread's own memory, or to a GPU register,
/// does not count.
void stop_before_access(const Access& access, const Code& code);
/// "/home/me/sum.cu:12" of each site in the program's own files; "" if unknown.
std::map<uint64_t, std::string> source_places(const std::set<uint64_t>& sites);
template <class F> void for_lanes(unsigned mask, F f) {
    for (; mask; mask &= mask - 1) f(unsigned(std::countr_zero(mask)));
}

}  // namespace cudacpu::warp
