// hazards.hpp - what the hazard build has seen (hazards.cpp) and words (advice.cpp).
#pragma once
#include "internal.hpp"

namespace cudacpu::hazards {

enum Access : uint8_t {  // flag: volatile; narrow: an atomic of the block's scope
    reads = 0, writes = 1, atomic = 2, flag = 4, narrow = 8, compares = at_compares, exchanges = at_exchanges };

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
    bool adds;           // a thread reads a value, and writes it after others have
    bool equal = false;  // both write the same value
    bool seen = false;   // the later one wrote a volatile word, and had read what the other had written
};
enum class Mistake { foreign, out_of_bounds, unwritten };  // of one thread

inline bool is_shared(const Region* r) { return r && (r->kind == Kind::shared || r->kind == Kind::dynamic); }
int distance(const Race& race);  // between its threads: 0 in a warp, 1 in a block, 2 between blocks

// What they say on stderr, once a place, they also make the program's exit status.
void report(const Race& race);
void report(Mistake what, const char* address, size_t bytes, const Party& who);

}  // namespace cudacpu::hazards
