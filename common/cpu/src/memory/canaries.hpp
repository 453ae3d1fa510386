// canaries.hpp - canaries around each piece of memory, in the pages that hold it.
#pragma once
#include "memory/address_space.hpp"

namespace cudacpu {

void write_canaries(const Region& r);
void check_canaries(const Region& r);  // reports a write that has hit one

}  // namespace cudacpu
