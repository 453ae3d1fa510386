// upcalls.hpp - what race/ calls of warp/, and of the layers above both. It declares the functions, and these
// layers define them.
#pragma once
#include <string>
#include <vector>

#include "race/race.hpp"

namespace cudacpu::race {

// ---- report/race_report.cpp: mistakes and races are reported when the launch has ended, those with one cause
// together, once per program

/// A report of at most twelve lines; `head` is printed after what happened. A harmless finding does not change the
/// exit status.
Report finding(const std::string& kind, const std::string& what, const std::vector<Remark>& lines,
               const std::string& mend, bool harmless = false, const std::string& head = "");
void note(Mistake what, char* address, size_t bytes, const Accessor& who);
void report(const std::vector<Race>& races);

}  // namespace cudacpu::race
