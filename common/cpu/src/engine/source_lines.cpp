// source_lines.cpp - what the compiler driver has recorded of the program's source lines.
//
// A verdict must be the same if the source has been edited, moved or deleted since the program was compiled, so no
// verdict reads it.
#include "engine/source_lines.hpp"

#include <algorithm>
#include <string_view>

namespace cudacpu {

const SourceFile* SourceFile::last;

SourceFile::SourceFile(const char* name_, const SourceLine* lines_, size_t count_)
    // cppcheck-suppress [noCopyConstructor, noOperatorEq, noDestructor]
    : name(name_), lines(lines_), count(count_), before(last) {
    last = this;
}

unsigned facts_of(const Where& line) {
    const std::string_view file = line.file;
    unsigned facts = 0;
    for (const SourceFile* f = SourceFile::last; f; f = f->before) {  // a header has a table in each of its units
        const std::string_view name = f->name;
        if (!name.ends_with(file) || (name.size() > file.size() && name[name.size() - file.size() - 1] != '/'))
            continue;
        const SourceLine* const end = f->lines + f->count;
        const auto is_before = [](const SourceLine& l, int number) { return l.number < number; };
        const SourceLine* const at = std::lower_bound(f->lines, end, line.line, is_before);
        if (at != end && at->number == line.line) facts |= at->facts;
    }
    return facts;
}

}  // namespace cudacpu
