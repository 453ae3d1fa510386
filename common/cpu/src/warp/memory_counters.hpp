// memory_counters.hpp - sums of memory operations for each source line.
#pragma once
#include "memory/address_space.hpp"
#include "warp/lockstep.hpp"

namespace cudacpu::warp {

enum Space : uint8_t { global_memory, shared_memory, constant_memory };
constexpr const char* names_of_spaces[] = {"global", "shared", "constant"};
/// The address of an access on a GPU, where allocations begin at multiples of 256.
struct Place {
    Space space;
    bool counts;  // it is not a constant of the program
    const Region* region;
    uint64_t address;
};
Place place_of(const volatile void* address);
struct Request {  // a memory request of a warp
    uint64_t site;
    Kind kind;
    unsigned mask, bytes;  // bytes: per lane
    Space space;
    unsigned base, place, round;
    uint64_t at[32];  // per lane, as an address in a Place
};
/// The part of an operation that begins this many bytes after its addresses.
Request request_of(const WarpInstruction& o, unsigned behind);
/// The number of sectors of 32 bytes.
unsigned sectors(const Request& r);
/// The wavefronts that bank conflicts add.
unsigned extra_wavefronts(const Request& r);
void count_launch();
void count_instruction(const WarpInstruction& o);
void count_waiting(unsigned warp, unsigned round = 0);  // it has moved on to another part of the code

}  // namespace cudacpu::warp
