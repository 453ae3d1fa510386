// errors.hpp - the errors of the API.
#pragma once
#include <atomic>

namespace cudacpu {

extern std::atomic<unsigned long> api_calls;  // how many calls have passed the gate

}  // namespace cudacpu
