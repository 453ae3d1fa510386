// race.hpp - the races and mistakes that the detector finds and report/ describes.
#pragma once
#include <cstdint>

#include "engine/rendezvous.hpp"

namespace cudacpu::race {

enum Access : uint8_t {  // flag: volatile; narrow: an atomic of block scope
    reads = 0,
    writes = 1,
    atomic = 2,
    flag = 4,
    narrow = 8,
    compares = at_compares,
    exchanges = at_exchanges,
    stores = at_stores
};

struct Accessor {   // one access, and the thread that made it
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    uint64_t block;
    unsigned rank, step;  // step: number of accesses of its thread since the last barrier
    uint8_t access;
};
uint64_t last_wait();  // the site of the running thread's last atomic or read of a flag; 0: none in this block
struct Race {
    Accessor before, after;
    char* address;
    size_t bytes;
    bool adds;  // a thread reads a value, and writes it after others have written it
    // What the block, and the warp of the running thread, passed last.
    Where block_met = last_met[32], warp_met = last_met[rank / 32];
    uint64_t waited = last_wait();  // of the later one
    bool equal = false;             // both write the same value: a note that does not change the exit status
    bool lacks_fence = false;  // the later thread has read what the earlier one released, without a fence since
};
/// Between its threads: 0 in a warp, 1 in a block, 2 between blocks.
inline int distance(const Race& r) {
    return r.before.block != r.after.block ? 2 : r.before.rank / 32 != r.after.rank / 32;
}
// A mistake of one thread. past_heap and freed: memory from malloc() and new in a kernel. under_way: a value that
// an asynchronous copy has not brought yet is read, or what was written meanwhile is lost at the copy's end.
enum class Mistake { foreign, past_heap, freed, others_stack, out_of_bounds, unwritten, under_way };

}  // namespace cudacpu::race
