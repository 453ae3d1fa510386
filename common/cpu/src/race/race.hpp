// race.hpp - the races and mistakes that the detector finds and report/ describes.
#pragma once
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

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
/// A fence or a __syncthreads() that is missing before or after the access of that site.
struct Gap {
    enum What { fence_before, fence_before_plain, fence_after, barrier_before, barrier_after } what;
    uint64_t site;
    static What before(unsigned access) { return access & (atomic | flag) ? fence_before : fence_before_plain; }
    bool operator<(const Gap& o) const { return std::pair(what, site) < std::pair(o.what, o.site); }
};
/// A word that the earlier thread of a race, or its block, sets, and the later one reads before its access.
struct HandOver {
    const char* word = nullptr;
    uint64_t wait = 0, set = 0;  // where it is read and set; set may be 0 if the word is a version
    bool late = false;           // the later thread of the race sets it
    bool exclusive = false;      // the two threads use it, and the later one no other such word in between
    bool plain = false;          // it is read by a plain access
    bool too_early = false;      // it is set before the access of which it should tell
    uint64_t narrow = 0;         // where an atomic of block scope sets or reads it for another block
    bool looks_once = false;     // a version that the reader does not read again
    std::set<Gap> gaps{};
};
struct Race {
    Accessor before, after;
    char* address;
    size_t bytes;
    bool adds;  // a thread reads a value, and writes it after others have written it
    // What the block, and the warp of the running thread, passed last.
    Where block_met = last_met[32], warp_met = last_met[rank / 32];
    bool equal = false;                  // both write the same value: a note that does not change the exit status
    std::vector<HandOver> hand_overs{};  // the best one first
};
/// Between its threads: 0 in a warp, 1 in a block, 2 between blocks.
inline int distance(const Race& r) {
    return r.before.block != r.after.block ? 2 : r.before.rank / 32 != r.after.rank / 32;
}
// A mistake of one thread. past_heap and freed: memory from malloc() and new in a kernel. under_way: a value that
// an asynchronous copy has not brought yet is read, or what was written meanwhile is lost at the copy's end.
enum class Mistake { foreign, past_heap, freed, others_stack, out_of_bounds, unwritten, under_way };

}  // namespace cudacpu::race
