// trace_recorder.hpp - the data of a launch that is drawn.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/upcalls.hpp"
#include "warp/memory_counters.hpp"

namespace cudacpu::warp {

struct Cell {
    int64_t offset = 0;
    unsigned char value[16] = {}, old[16] = {};
    int from = -1;
    bool has_value = false;
};
struct Event {
    unsigned row, column;
    Kind kind;
    uint64_t site;
    unsigned mask;
    std::string what;
    unsigned bytes = 0, taken = 0, sectors = 0, conflicts = 0;  // taken: bytes of a shuffle's value
    int array = -1;
    std::vector<Cell> cells{};
};
struct Array {
    const Region* region;
    std::string name;
    Space space;
    size_t bytes;
    const char* start;
    size_t offset;
    unsigned element = 16;
};
struct Column {
    uint64_t block;
    unsigned warp, lanes, row;
};
struct DrawnRace {  // a race between two sites
    Part a, b;
    std::optional<std::pair<size_t, size_t>> events;  // its two events, if they are drawn
    std::string words, where;                         // words: "" if it is not a race
};
struct Drawn {
    std::string kernel;
    unsigned number;
    Where where;
    dim3 grid, block;
    std::vector<Column> columns;
    std::vector<Array> arrays;
    std::vector<Event> events;
    std::map<std::pair<uint64_t, uint64_t>, DrawnRace> races;
    bool full = false;
    std::string stopped{};  // why it did not finish
};

void stopped(const char* why);  // the running kernel does not finish
void draw_launch();
void draw_block();
std::shared_ptr<void> keep_drawing();  // the state of a paused block
void resume_drawing(const std::shared_ptr<void>& kept);
void draw(const WarpInstruction& o);
void draw_barrier();                // of the whole block: its columns continue in one row
void note_before(unsigned thread);  // before the thread resumes: saves the current value
void note_after(unsigned thread);   // after the thread has run
void note_taken(unsigned thread, const void* value, unsigned bytes, int from);

}  // namespace cudacpu::warp
