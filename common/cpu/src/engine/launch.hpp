// launch.hpp - the kernel launch that runs.
#pragma once
#include <memory>
#include <vector>

#include "cuda_runtime.h"

namespace cudacpu {

struct Launch {
    dim3 grid, block;
    size_t dynamic_bytes;
    CUstream_st* stream;
    Where where;
    bool cooperative, early;  // early: it may begin before the kernel ahead of it in its stream has ended
    Kernel* kernel = nullptr;
    Body body{};
    std::shared_ptr<void> owner{};  // of the body's closure
    std::vector<Argument> arguments{};
};
extern const Launch* launch;  // the running launch
extern uint64_t block_number;
extern cudaError_t outcome;  // of the block
/// Runs all blocks. Returns the first block's error, after which the others do not run.
cudaError_t run_launch(const Launch& l);

}  // namespace cudacpu
