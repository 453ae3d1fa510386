// shadow_memory.hpp - shadow memory: the last accesses to each word and byte of a region.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/address_space.hpp"

namespace cudacpu::race {

using Time = uint32_t;  // one clock, advanced by launches, blocks, barriers and fences
extern Time now;

struct Epoch {      // one access, and when it was made
    uint64_t site;  // the address of the code; for atomics that of the file's name, with the line in the upper bits
    Time time;      // 0: no access
    uint16_t rank;
    uint8_t step, bytes : 4, access : 4;  // step: number of accesses of its thread since the last barrier
};
// Fields that most accesses need are kept apart from the rest, so that little memory is read.
struct ShadowCell {  // a shadow cell: the last plain write and the last read
    Epoch write, read;
};
// A shadow cell for synchronization: the last atomic or volatile access, the last atomic of another thread, and
// another reader.
struct SyncCell {
    Epoch synced, other, read;
};
struct Word {
    ShadowCell& cell;
    SyncCell& sync;
    Time &sync_since, &reads_since;
};
struct Plane {  // a cell for each four bytes, or for each byte
    ShadowCell* cells;
    SyncCell* sync;
    Time sync_since, reads_since;  // when a SyncCell was last recorded, and when another reader was
    Word at(size_t i) { return {cells[i], sync[i], sync_since, reads_since}; }
};
// Accesses of adjacent threads to adjacent elements, usually by one warp at one line of the program.
struct Span {
    uint64_t site, rest;  // rest: time, rank of the thread at the first element, step, bytes of an element
    uint32_t done;        // one bit per element
    Time time() const { return Time(rest); }
    unsigned bytes() const { return unsigned(rest >> 56); }
};
constexpr size_t line_bytes = 128, short_line_bytes = 32;  // short: for elements of less than a word
struct alignas(64) ShadowLine {
    Span write, read;
    Time words, bytes;    // when an access was last recorded by itself, as words and as bytes
    uint32_t read_twice;  // bit mask: words that two readers of different warps or blocks had read then
    bool has_spans() const { return write.done | read.done; }
    Time noted() const { return std::max(words, bytes); }
    void words_noted() { words = now, read_twice = 0; }
};
struct PartialCopy {  // the last one, by cudaMemcpy or cudaMemset, that has not written the whole region
    unsigned long work = 0;
    std::string what;
    std::vector<void*> callers;
    size_t bytes = 0;
};
struct Shadow {          // of a region
    Plane words, bytes;  // an access of less than a word is recorded for each of its bytes
    ShadowLine *lines, *short_lines;
    Time since;        // of shared memory: when its block began to use it
    uint8_t* written;  // one flag per byte: 0; 1 once it is written; 2: not written, but its read was reported
    bool all_written;
    PartialCopy copied{};
};
void region_added(Region& r);
void region_fresh(Region& r);
void region_kept(Region& r, Shadow*& notes);
void region_restored(Region& r, Shadow* notes);
void region_gone(Region& r);
void forget_accesses(Region& r, size_t offset, size_t bytes);  // this part of it is new
void bytes_written(Region& r, size_t offset, size_t bytes);

}  // namespace cudacpu::race
