// source_lines.hpp - what the compiler driver has recorded of the program's source lines.
#pragma once
#include "cuda_runtime.h"

namespace cudacpu {

/// The facts of a line, as a bit mask of SourceLine::Fact; 0 if the line has none. The file may be given by its
/// whole name, or by the name that the compiler was given.
unsigned facts_of(const Where& line);

}  // namespace cudacpu
