// reports.cpp - how a report is worded: what happened, in which thread, at which line, and who waits where.
#include "internal.hpp"

#include <link.h>
#include <unistd.h>

#include <cstdarg>
#include <filesystem>

extern "C" const ElfW(Ehdr) __ehdr_start;  // from the linker: where the program begins

namespace cudacpu {

std::string text(const char* format, ...) {
    char buffer[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

void say(const std::string& message) {
    std::string s = message + "\n";
    std::error_code none;
    const std::string folder = std::filesystem::current_path(none).string() + "/";
    for (size_t i = 0; (i = s.find(folder, i)) != s.npos;)  // files below the working folder are named from there
        if (i && !isspace(s[i - 1])) ++i;
        else s.erase(i, folder.size());
    fflush(stdout);
    fputs(s.c_str(), stderr);
}

std::string source_line(Where where) { return text("%s:%d", where.file, where.line); }

std::string source_line(const void* pc) {
    if (!is_global(pc)) return "";
    uintptr_t address = uintptr_t(pc);
    if (__ehdr_start.e_type == ET_DYN) address -= uintptr_t(&__ehdr_start);
    FILE* pipe = popen(text("addr2line -i -e /proc/%d/exe %#lx 2>/dev/null", getpid(), address).c_str(), "r");
    if (!pipe) return "";
    std::string found;
    char line[4096];
    while (fgets(line, sizeof line, pipe)) {  // innermost first; the program's own line is wanted
        std::string s(line, strcspn(line, "\n"));
        s.resize(std::min(s.size(), s.find(" (")));
        if (found.empty() && s[0] != '?' && s.back() != '?' && !s.starts_with("/usr/") &&
            !s.starts_with(CUDACPU_FOLDER "/"))
            found = s;
    }
    pclose(pipe);
    return found;
}

std::string thread_name() {
    const uint3 b = blockIdx, t = threadIdx;
    return text("block (%u,%u,%u), thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z);
}

// "threads 0-127 wait in __syncthreads() at sum.cu:18\n  threads 128-255 have ended"
std::string who_waits_where() {
    auto position = [](unsigned i) -> std::string {
        const Thread& t = running_block.threads[i];
        if (t.at) return text("wait in %s at %s:%d", t.at->what, t.where.file, t.where.line);
        return running_block.has_ended(i) ? "have ended" : "run";
    };
    std::string all;
    for (unsigned first = 0, i = 1, lines = 0; i <= running_block.size; ++i) {
        const std::string where = position(first);
        if (i < running_block.size && position(i) == where) continue;
        if (++lines > 6) return all + "\n  ...";
        all += text("\n  threads %u-%u %s", first, i - 1, where.c_str());
        first = i;
    }
    return all;
}

std::string compose_report(const std::string& what, const std::string& mend, const std::string& line) {
    std::string s = "cudacpu: " + what;
    if (launch) s += text("\n  in kernel %s, %s", launch->kernel->name, thread_name().c_str());
    if (!line.empty()) s += (launch ? ", at " : "\n  at ") + line;
    if (launch) {
        const dim3 g = launch->grid, b = launch->block;
        s += text("\n  launched at %s:%d as <<<(%u,%u,%u), (%u,%u,%u)>>>", launch->where.file, launch->where.line,
                  g.x, g.y, g.z, b.x, b.y, b.z);
    }
    return s + (mend.empty() ? "" : "\n  " + mend);
}

}  // namespace cudacpu
