// crash.hpp - crash handling in kernels and on the host.
#pragma once
#include <string>

#include "memory/address_space.hpp"

namespace cudacpu {

std::string past_the_end(const Region* r);  // how to mend an access past its end

}  // namespace cudacpu
