// upcalls.hpp - what race/ calls of warp/, and of the layers above both. It declares the functions, and these
// layers define them.
#pragma once
#include <string>
#include <vector>

#include "engine/reporting.hpp"
#include "race/race.hpp"
#include "race/stream_order.hpp"

namespace cudacpu::race {

// ---- report/race_report.cpp: mistakes and races are reported when the launch has ended, those with one cause
// together, once per program

/// A report of at most twelve lines; `head` is printed after what happened. A harmless finding does not change the
/// exit status.
Report finding(const std::string& kind, const std::string& what, const std::vector<Remark>& lines,
               const std::string& mend, bool harmless = false, const std::string& head = "");
void note(Mistake what, char* address, size_t bytes, const Accessor& who);
void report(const std::vector<Race>& races);
void explain_early_reads(const char* address);  // another stream writes there: no reports of unwritten values
void report_early_reads();                      // all queued works have ended

// ---- report/work_report.cpp: once for each pair of lines

void report(WorkRace kind, const Work& before, const Epoch& its, const Work& after, const Epoch& mine,
            const char* address);
/// Prints the races between streams, when all works have ended: one that an order of two other works settles is
/// left out.
void report_unordered_works();
/// callback: nullptr if it was the host
void report_changed_source(const Work& copy, const CopySource& source, const Work* callback);
/// A kernel has read what the host wrote after the kernel was queued.
void report_late_read(const Work& kernel, const Epoch& read, const char* address, const void* host_writes);
/// A copy gives the host bytes that nobody has written. count: how many of first to last; all: the copy has no
/// others
void report_unwritten_copy(const Work& copy, const Region& r, size_t first, size_t last, size_t count, bool all);

}  // namespace cudacpu::race
