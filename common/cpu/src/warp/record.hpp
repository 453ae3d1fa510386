// record.hpp - what the warps of a kernel did, step by step: memory counters (memory_counters.cpp) and the trace
// (trace_recorder.cpp).
//
//   lockstep.cpp      lockstep: the lanes of a warp advance together; what they do together is one instruction
//   memory_counters.cpp   sums of the operations for each source line: the table, and the CSV file
//   trace_recorder.cpp      records the operations of a few warps (trace_recorder.hpp)
//   trace_page.cpp       writes them into the page in trace/, in the format below
//   runtime_options.cpp    takes --trace and related options from the command line before the program sees it
//
// The page contains <script type="application/json" id="trace">@trace@</script>. The writer replaces @trace@ by
// this (on one line, every < as \u003c):
//
// { "format": 1,
//   "program": "04_reduction_variants",
//   "build": "counters",            or "hazards"; a hazard build runs lanes in lockstep only at accesses
//   "files": [{"name": "reduction_variants.cu", "lines": ["// 04_...", ...]}],    whole, [] if not found
//   "launches": [{
//     "kernel": "modulo<int, Sum<int> >",
//     "launch": 1,                  the kernel's first
//     "at": [0, 320],               where it is launched: number of the file, line (from 1)
//     "grid": [196, 1, 1], "block": [512, 1, 1],
//     "columns": [{"block": 0, "warp": 0, "lanes": 32}, ...],   one for each warp drawn, from left to right: up
//                                   to 4 warps of a block, or one warp of each of up to 8 blocks; lanes: 0 to 31
//     "cut": ["12 more warps of block 0", "195 more blocks"],   what ran but is not recorded, in words
//     "rows": 412,                  time goes down: row 0, 1, ... of each column; a barrier is in one row for all
//                                   the columns of its block
//     "arrays": [{"name": "tile",   as in the source, or "" if it has no name
//                 "space": "shared",    or "global", or "constant"
//                 "bytes": 4096,    of all of it
//                 "element": 4,     bytes of an element: the narrowest access to it
//                 "type": "int",    or "float": guessed from the values, because only bytes are recorded
//                 "offset": 0}],    of a shared array, in the block's shared memory: bank of element e is
//                                   (offset + e * element) / 4 % 32
//     "events": [{                  sorted by row, then by column
//       "row": 17, "column": 0,
//       "kind": "load",             or store, atomic, barrier, syncwarp, shuffle, vote, exit
//       "at": [0, 214],             file and line; not for exit
//       "mask": 4294967295,         the lanes that take part: bit 0 is lane 0
//       "what": "__shfl_down_sync()",     the operation's name, for barrier, syncwarp, shuffle and vote
//       The next are for load, store and atomic. Lists have an entry for each lane of mask, from the lowest on.
//       "array": 1,                 number in arrays
//       "bytes": 4,                 of one lane's access
//       "elements": [0, 1, 2],      the first one that it accesses, in units of the array's `element`
//       "values": [7, "0.5 1 2 3"], what is there after the access: a number, or a text if there are several
//       elements or
//                                   if JSON cannot express the number (nan). Of a shuffle or vote: what the lane
//                                   gets
//       "olds": [6],                of store and atomic: what was there before
//       "from": [16, 17],           of a shuffle: the lane that it takes the value from
//       "sectors": 4,               of 32 bytes, of a global access
//       "conflicts": 31             of a shared access: extra wavefronts; constant memory has neither
//     }],
//     "races": [{"a": [12, 3],      of the hazard build: number in events, and lane; a came first
//                "b": [15, 4],
//                "text": "race on element 19 of tile"}]
//   }]
// }
#pragma once
#include <map>
#include <optional>

#include "internal.hpp"

namespace cudacpu::warp {

// ---- lockstep.cpp -------------------------------------------------------------------------------------------

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
struct WarpInstruction {                   // an operation that lanes of a warp execute together
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

// ---- memory_counters.cpp ----------------------------------------------------------------------------------------

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
std::string table();
std::string csv();

// ---- trace_recorder.cpp
// -------------------------------------------------------------------------------------------

extern bool drawing_launch;  // the running launch is drawn
void draw_launch();
void draw_block();
std::shared_ptr<void> keep_drawing();  // the state of a paused block
void resume_drawing(const std::shared_ptr<void>& kept);
void draw(const WarpInstruction& o);
void draw_barrier();                // of the whole block: its columns continue in one row
void note_before(unsigned thread);  // before the thread resumes: saves the current value
void note_after(unsigned thread);   // after the thread has run
void note_taken(unsigned thread, const void* value, unsigned bytes, int from);
struct Part {  // one side of a race
    uint64_t block;
    unsigned thread;
    uint64_t site;
};
void draw_conflict(const Part& a, const Part& b, const char* address,
                   size_t bytes);  // it may be a race; a came first
void draw_race(const Part& a, const Part& b, const std::string& words,
               const std::string& where);  // it is a race of this launch
std::string trace_page();
bool nothing_is_drawn();
std::string kernels_that_ran();  // "scan (1), sum (3)": how often each was launched

// ---- runtime_options.cpp
// -----------------------------------------------------------------------------------------

struct Asked {
    std::string trace, csv;  // file names; "": none
    std::string kernel;      // "": all kernels
    unsigned launch = 1;
    uint64_t block = 0;
    std::optional<unsigned> warp;  // not set: 0, or in a hazard build the warps that race
    bool blocks = false;           // one warp of several blocks instead of several warps of one block
};
extern Asked asked;

}  // namespace cudacpu::warp
