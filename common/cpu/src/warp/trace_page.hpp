// trace_page.hpp - the page that shows a trace, and the format of its data.
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
#include <string>
#include <vector>

#include "warp/trace_recorder.hpp"

namespace cudacpu::warp {

std::string page_of(const std::vector<Drawn>& launches);

}  // namespace cudacpu::warp
