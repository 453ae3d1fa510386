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
Report finding(const std::string& kind, const std::string& what, const std::vector<Remark>& lines,
               const std::string& mend, bool harmless = false);
void note(Mistake what, char* address, size_t bytes, const Accessor& who);
void report(const std::vector<Race>& races);

// ---- advice/, which reads the source text

/// Whether the line is in the head of a loop that only waits, or writes what such a loop reads.
bool of_waiting_loop(uint64_t site);
/// Whether it decides if its thread executes another iteration of a loop.
bool ends_loop(uint64_t site);

}  // namespace cudacpu::race
