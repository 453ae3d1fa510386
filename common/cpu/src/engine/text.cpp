// text.cpp - formatted text.
#include "engine/text.hpp"

#include <cstdarg>
#include <cstdio>

namespace cudacpu {

std::string text(const char* format, ...) {
    char buffer[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

}  // namespace cudacpu
