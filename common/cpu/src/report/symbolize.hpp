// symbolize.hpp - symbols by address.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

namespace cudacpu {

/// The symbol that contains the address, as `nm` lists it: {its name, its first address}.
std::pair<std::string, uintptr_t> symbol(const void* address);

}  // namespace cudacpu
