// upcalls.hpp - what race/ calls of warp/, and of the layers above both. It declares the functions, and these
// layers define them.
#pragma once
#include <string>
#include <vector>

#include "race/race.hpp"

namespace cudacpu::race {

// ---- report/race_report.cpp: mistakes and races are reported when the launch has ended, those with one cause
// together, once per program

/// The first words of a report. A harmless finding does not change the exit status.
std::string finding(const std::string& what, bool harmless = false);
void note(Mistake what, char* address, size_t bytes, const Accessor& who);
void report(const std::vector<Race>& races);

// ---- advice/, which reads the source text

/// Whether all arrays that the line indexes are __shared__.
bool indexes_only_arrays_of_blocks(const Where& line);
/// Whether all arrays that the line indexes, at least one, are of a thread or of the program.
bool indexes_only_own_arrays(const Where& line);

}  // namespace cudacpu::race
