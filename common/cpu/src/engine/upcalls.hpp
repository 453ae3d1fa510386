// upcalls.hpp - what the engine calls of the layers above it. It declares the functions, and these layers define
// them.
#pragma once
#include <memory>
#include <string>

#include "cuda_runtime.h"
#include "engine/build.hpp"

namespace cudacpu {

// ---- memory/shared_memory.cpp

void begin_shared_memory(size_t dynamic_bytes);  // of the next block
std::shared_ptr<void> keep_shared_memory();      // of a paused block
void restore_shared_memory(const std::shared_ptr<void>& kept);

// ---- warp/

namespace warp {
extern bool drawing;  // a block, or a part of it
inline bool in_lockstep() { return counters_build || (hazard_build && drawing); }
}  // namespace warp

// ---- advice

enum class Around { branch, loop };
bool stands_in(Where barrier, Around kind);  // whether the source text has it in a branch, or in a loop

}  // namespace cudacpu
