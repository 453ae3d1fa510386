// errors.hpp - the errors of the API.
#pragma once
#include <atomic>

namespace cudacpu {

extern std::atomic<unsigned long> api_calls;  // how many calls have passed the gate
/// Writes the files that --trace and --counters-csv name; runtime_options.cpp sets it. Returns the exit status.
extern int (*write_output_files)();

}  // namespace cudacpu
