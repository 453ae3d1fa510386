// formats.hpp - the formats in which findings are reported: text for people, gcc's for editors, SARIF for CI
// services.
#pragma once
#include "engine/reporting.hpp"

namespace cudacpu {

/// Whether reports are printed as text: unless LAB_REPORT asks for gcc's format or for SARIF on stderr.
bool reports_are_text();
/// Prints the finding in gcc's format, or adds it to the SARIF log, as LAB_REPORT asks.
void record(const Finding& finding);

}  // namespace cudacpu
