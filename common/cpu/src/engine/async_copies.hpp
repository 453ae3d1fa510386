// async_copies.hpp - asynchronous copies that are under way.
#pragma once
#include <optional>

#include "cuda_runtime.h"

namespace cudacpu {

/// A copy that is under way, and the last wait of its thread. The wait let `left` batches be under way, and
/// `needed` would have ended this copy: as many as were committed after it.
struct LateCopy {
    Where waited{};  // no line: the thread has not waited since it committed the copy
    size_t left = 0, needed = 0;
};
/// The copy to this address that a thread of the running block has begun and not waited for; nothing if there is
/// none.
std::optional<LateCopy> copy_under_way(const void* address);
void block_forgets_copies();  // it has ended

}  // namespace cudacpu
