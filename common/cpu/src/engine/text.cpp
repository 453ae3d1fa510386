// text.cpp - formatted text.
#include "engine/text.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cudacpu {

std::string text(const char* format, ...) {
    char buffer[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

bool in_chinese() {
    static const bool chinese = [] {
        for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
            if (const char* value = getenv(name); value && *value) return strncmp(value, "zh", 2) == 0;
        return false;
    }();
    return chinese;
}

}  // namespace cudacpu
