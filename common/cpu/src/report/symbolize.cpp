// symbolize.cpp - source lines, source text, symbols and callers by address.
#include "report/symbolize.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"

namespace cudacpu {

const std::vector<std::string>& source_text(const std::string& file) {
    static auto& known = *new std::map<std::string, std::vector<std::string>>;
    const auto [lines, is_new] = known.try_emplace(file);
    for (std::string name = file; is_new && lines->second.empty();) {
        std::ifstream in(name);
        for (std::string line; std::getline(in, line);) lines->second.push_back(line);
        const size_t folder = name.find('/', name[0] == '/');  // the rest may exist below the working folder
        if (folder == name.npos) break;
        name.erase(0, folder + 1);
    }
    return lines->second;
}

Callers callers(int frames) {
    Callers all(frames);
    all.resize(backtrace(all.data(), frames));
    return all;
}
std::string first_line(const Callers& callers) {
    for (void* const caller : callers)
        if (std::string s = source_line(static_cast<char*>(caller) - 1); !s.empty()) return s;
    return "";
}

std::string in_line(const std::string& place) {
    const size_t colon = place.rfind(':');
    return colon != place.npos && launch && place.substr(0, colon) == launch->where.file
               ? say({"line %s", "第 %s 行"}, place.substr(colon + 1))
               : place;
}
std::string in_lines(const Callers& callers) {
    std::vector<const void*> pcs;
    for (void* const caller : callers) pcs.push_back(static_cast<char*>(caller) - 1);
    std::vector<std::string> places;
    for (const std::string& lines : source_lines(pcs, true))
        for (size_t from = 0, end; from < lines.size(); from = end + 1) {
            end = lines.find('\n', from);
            const std::string place = lines.substr(from, end - from);
            if (places.empty() || place != places[0]) places.push_back(place);
        }
    return places.empty() ? ""
           : places.size() == 1
               ? in_line(places[0])
               : say({"%s (called from %s)", "%s（由%s调用）"}, in_line(places[0]), in_line(places[1]));
}

namespace {

// What is added to the addresses in the module's file when it is loaded.
uintptr_t base_of(const Module& m) {
    return reinterpret_cast<const ElfW(Ehdr)*>(m.start)->e_type == ET_DYN ? uintptr_t(m.start) : 0;
}
// The module's file, for a shell. The program's own also if it was deleted, and in an emulator, whose own file is
// /proc/PID/exe.
std::string file_of(const Module& m) {
    const auto headers = uintptr_t(m.start) + reinterpret_cast<const ElfW(Ehdr)*>(m.start)->e_phoff;
    Dl_info library;
    if (headers == getauxval(AT_PHDR) || !dladdr(m.start, &library)) {
        static const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        return text("/proc/%d/fd/%d", getpid(), file);
    }
    std::string quoted = "'";
    for (const char* c = library.dli_fname; *c; ++c) quoted += *c == '\'' ? "'\\''" : std::string(1, *c);
    return quoted + "'";
}

}  // namespace

// The symbol that contains the address, as `nm` lists it: {its name, its first address}.
std::pair<std::string, uintptr_t> symbol(const void* address) {
    const Module* const module = module_of(address);
    if (!module) return {};
    const uintptr_t base = base_of(*module), at = uintptr_t(address) - base;
    FILE* pipe = popen(("nm -CS " + file_of(*module) + " 2>/dev/null").c_str(), "r");
    if (!pipe) return {};
    std::pair<std::string, uintptr_t> found;
    char line[8192];
    while (fgets(line, sizeof line, pipe)) {
        unsigned long begin, size;
        int name = 0;
        if (sscanf(line, "%lx %lx %*c %n", &begin, &size, &name) == 2 && name && begin <= at && at < begin + size)
            found = {std::string(line + name, strcspn(line + name, "\n")), begin + base};
    }
    pclose(pipe);
    return found;
}

std::string kernel_name() {
    static auto& known = *new std::map<const void*, std::string>;
    std::string& s = known[reinterpret_cast<void*>(launch->body.run)];
    if (!s.empty()) return s;
    // "void cudacpu::run_closure<k<float>(int*)::{lambda()#1}>(void const*)"
    s = symbol(reinterpret_cast<void*>(launch->body.run)).first;
    const std::string name = launch->kernel->name;
    const size_t i = s.find(name + "<");
    if (i == s.npos) return s = name;
    size_t end = i + name.size();
    for (int depth = 0; end < s.size() && (depth || end == i + name.size()); ++end)
        depth += s[end] == '<' ? 1 : s[end] == '>' ? -1 : 0;
    s = s.substr(i, end - i);
    // "k<&(f(int*, int))>": a function among the arguments is identified by its name
    for (size_t open; (open = s.find("&(")) != s.npos;) {
        const size_t inner = s.find('(', open + 2), close = s.find("))", open);
        if (close == s.npos) break;
        s.erase(std::min(inner, close), close + 2 - std::min(inner, close)).erase(open, 2);
    }
    return s;
}

std::string source_line(Where where) { return text("%s:%d", where.file, where.line); }

// The lines of the addresses that are in the module.
static void find_lines(const Module& module, const std::vector<const void*>& pcs, std::vector<std::string>& found,
                       bool with_callers) {
    const uintptr_t base = base_of(module);
    constexpr size_t at_once = 1000;
    for (size_t first = 0; first < pcs.size(); first += at_once) {
        std::string command = "addr2line -a -i -e " + file_of(module);
        for (size_t i = first; i < std::min(pcs.size(), first + at_once); ++i)
            command += text(" %#lx", module_of(pcs[i]) == &module ? uintptr_t(pcs[i]) - base : 0);
        FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
        if (!pipe) return;
        char line[4096];
        size_t i = first - 1;  // an address precedes its lines, innermost first; the program's own is needed
        while (fgets(line, sizeof line, pipe)) {
            std::string s(line, strcspn(line, "\n"));
            s.resize(std::min(s.size(), s.rfind(" (discriminator ")));
            if (s.starts_with("0x")) ++i;
            else if ((found[i].empty() || with_callers) && s[0] != '?' && s.back() != '?' &&
                     !s.starts_with("/usr/") && !s.starts_with(CUDACPU_FOLDER "/include/") &&
                     !s.starts_with(CUDACPU_FOLDER "/src/"))
                found[i] += s + (with_callers ? "\n" : "");
        }
        pclose(pipe);
    }
}

std::vector<std::string> source_lines(const std::vector<const void*>& pcs, bool with_callers) {
    std::vector<std::string> found(pcs.size());
    for (const Module* m = Module::last; m; m = m->before) find_lines(*m, pcs, found, with_callers);
    return found;
}

std::string source_line(const void* pc) { return is_global(pc) ? source_lines({pc})[0] : ""; }

}  // namespace cudacpu
