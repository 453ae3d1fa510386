// hazards.hpp - what the hazard build has seen (hazards.cpp) and words (advice.cpp).
#pragma once
#include "internal.hpp"

namespace cudacpu::hazards {

enum Access : uint8_t {  // flag: volatile; narrow: an atomic of the block's scope
    reads = 0,
    writes = 1,
    atomic = 2,
    flag = 4,
    narrow = 8,
    compares = at_compares,
    exchanges = at_exchanges
};

struct Party {      // one access, and who did it
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    uint64_t block;
    unsigned rank, step;  // step: how many accesses its thread has done since the last barrier
    uint8_t access;
};
struct Race {
    Party before, after;
    char* address;
    size_t bytes;
    bool adds;  // a thread reads a value, and writes it after others have
    // What the block, and the warp of the thread that now runs, have passed last.
    Where block_met = last_met[32], warp_met = last_met[rank / 32];
    bool equal = false;  // both write the same value: a note, the exit status stays
    bool seen = false;   // the later one wrote a volatile word, and had read what the other had written
};
// Of one thread. past_heap and freed: of what malloc() and new give in a kernel.
enum class Mistake { foreign, past_heap, freed, others_stack, out_of_bounds, unwritten };

/// How a report begins. What is harmless leaves the exit status as it is.
std::string finding(const std::string& what, bool harmless = false);
int distance(const Race& race);  // between its threads: 0 in a warp, 1 in a block, 2 between blocks

// Mistakes and races are said when the launch has ended: those of one cause together, once a program.
void note(Mistake what, char* address, size_t bytes, const Party& who);
void report(const std::vector<Race>& races);
/// Which byte of what a kernel has got from malloc() or new that is, and how many it has: "byte 64 of the 64
/// bytes".
std::string place_in_heap(const char* address);

}  // namespace cudacpu::hazards
