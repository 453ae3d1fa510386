// rendezvous.hpp - block barriers, warp collectives and `__activemask()`.
#pragma once
#include <vector>

#include "cuda_runtime.h"

namespace cudacpu {

extern std::vector<Rendezvous*> open_rendezvous[33];  // of each warp, and at [32] of the whole block
extern unsigned long syncs[33];                       // of each warp: how often its threads have synchronized
extern Where last_met[33];  // the last barrier or __syncwarp() of each warp; at [32] the block's last barrier
/// Resumes the threads of each rendezvous at which all its threads have arrived. Lanes in __activemask() wait until
/// no thread can run, so that as many as possible are active together.
bool complete_rendezvous(bool nobody_can_run);

}  // namespace cudacpu
