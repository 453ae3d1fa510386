// reporting.hpp - the interface of report/, which every layer calls.
//
// report/ includes all layers whose state it words, so it is above them. Its functions are declared here, below
// them all, and report/ defines them.
#pragma once
#include <string>
#include <vector>

#include "cuda_runtime.h"

/// Does nothing: a debugger stops here when an error of the program was found (cudacpu-gdb.py), soon after the
/// access or in the call that made it. By default, the error has just been reported. `what` names an error of a
/// hazard build, which is reported when the launch ends. `earlier` and `later` are its accesses (Accessor,
/// race/race.hpp).
extern "C" void cudacpu_hazard_found(const char* what = nullptr, const void* address = nullptr,
                                     const void* earlier = nullptr, const void* later = nullptr);

namespace cudacpu {

// ---- report/diagnostics.cpp

struct Report;
void print_report(const std::string& message);  // on stderr, after flushing stdout
void print_report(const Report& report);        // in the format that LAB_REPORT asks for
void print_report_once(const Report& report);   // at most once in the whole program
extern bool has_reported;                       // whether anything was printed
std::string from_here(std::string files);       // file names relative to the working folder, for files below it
std::string wrapped(const std::string& words);  // broken to the terminal's width; `code` is kept together
std::string opening(const std::string& words);  // the first lines of a report: "cudacpu: " and the words, broken to
                                                // the terminal's width
/// "\n  before at place", on two lines if one would be too wide.
std::string on_a_line(const std::string& before, const std::string& place);
struct Remark {
    std::string place, words;  // "sum.cu:12", "thread 3 reads"
    std::string name = {};     // the part that must stay visible if the line is too long
};
/// Each line as in its file, with the words beside or below it; unknown lines are left out. Lines of the same
/// file that the advice names are added, as far as there is room. If the remarks take more than `at_most` lines,
/// the words are beside the code, which is shortened, and the last lines are left out.
std::string listing(std::vector<Remark> remarks, const std::string& mend = "", size_t at_most = 4);
struct Finding {
    std::string kind;            // an identifier that stays the same: "race", "cudaErrorIllegalAddress"
    std::string message;         // begins with "note: " or "notice: " if it is no error
    std::vector<Remark> places;  // the first one is the finding's, the others belong to it
    std::string advice;
};
struct Report {
    std::string text;
    Finding finding;
};
/// What happened, in which thread of which launch, at which line, and how to mend it.
Report compose_report(const std::string& what, const std::string& mend, const std::string& line,
                      const std::string& kind = "advice");
/// Reports a wrong call of the API, with its line and how to mend it.
void report_misuse(const std::string& words, const std::string& mend = "");
std::string who_waits_where();  // one line for each run of threads
/// "byte 400 of the 400 bytes that ... allocated", or "".
std::string explain(const void* address, size_t bytes = 4);
struct Element {
    std::string name;             // the running kernel's name for the array, or ""
    const char* start = nullptr;  // of the array
    size_t bytes;                 // of an element: as its pointer says, else those of the access
    long number = 0;
    std::string words;  // "element 19 of cache (sum.cu:8)"
};
Element element_at(const void* address, size_t bytes_accessed);
std::string in_words(const std::string& words_of_element);  // in the user's language

// ---- report/symbolize.cpp

std::string source_line(const void* pc);  // "sum.cu:12", from the debug information
std::string source_line(Where where);
/// with_callers: each followed by the lines that its inlined function is called from, and a line break after each.
std::vector<std::string> source_lines(const std::vector<const void*>& pcs, bool with_callers = false);
/// The lines of a file as compiled, or as found from the working folder; empty if it is missing.
const std::vector<std::string>& source_text(const std::string& file);
using Callers = std::vector<void*>;
Callers callers(int frames);                     // the callers of this function, the innermost first
std::string first_line(const Callers& callers);  // the first line of the program's own code; "" if there is none
std::string kernel_name();                       // of the running launch, with template arguments

// ---- report/crash.cpp

extern int exit_status;  // for a program that would otherwise end with 0
/// Reports an error at a line and how to mend it; then the kernel, or the program, ends with the error.
[[noreturn]] void fault(cudaError_t error, const std::string& what, const std::string& mend, const Where* where,
                        const void* pc = nullptr);
/// Reports, once for each line, a bug after which the kernel or the program can continue. The exit status shows it.
void report_bug(const std::string& what, const std::string& mend, const std::string& line,
                const std::string& kind = "bug");

// ---- report/formats.cpp

/// Writes the file completely or leaves it as it is; false, and errno, if it cannot be written.
bool write_whole(const std::string& file, const std::string& contents);
void end_reports();  // what LAB_REPORT asks for at the program's end

}  // namespace cudacpu
