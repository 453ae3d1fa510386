// async_copies.hpp - asynchronous copies that are under way.
#pragma once

namespace cudacpu {

/// Whether a thread of the running block has begun a copy to this address and has not waited for it.
bool copy_under_way(const void* address);
void block_forgets_copies();  // it has ended

}  // namespace cudacpu
