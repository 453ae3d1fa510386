// symbolize.hpp - symbols by address.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cudacpu {

/// The symbol that contains the address, as `nm` lists it: {its name, its first address}.
std::pair<std::string, uintptr_t> symbol(const void* address);

/// "line 12 (called from line 44)", with the file if the running launch is in another one; "" if no line is known.
std::string in_lines(const std::vector<void*>& callers);
/// The same of one place, "sum.cu:12".
std::string in_line(const std::string& place);

}  // namespace cudacpu
