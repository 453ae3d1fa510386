// runtime_options.cpp - run-time options of a program of the counters' or the hazard build: it takes them from the
// command line before main sees it, and writes the output files at the end. The linker calls __wrap_main in place
// of main
// (--wrap=main).
#include "api/runtime_options.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "api/errors.hpp"
#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/observer.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"

// A shared library has no main, and is not where the program's is looked for.
extern "C" __attribute__((weak)) int __real_main(int argc, char** argv, char** environment);
extern "C" __attribute__((visibility("hidden"))) int __wrap_main(int argc, char** argv, char** environment);

namespace cudacpu::warp {

Asked asked CUDACPU_LASTING;

namespace {

constexpr char several_blocks[] = "--trace-blocks";
const char* const options[] = {"--trace",       "--trace-kernel", "--trace-launch",
                               "--trace-block", "--trace-warp",   several_blocks,
#ifdef CUDACPU_COUNTERS
                               "--counters-csv"
#endif
};
const char* const usage =
    "type --trace FILE.html [--trace-kernel NAME] [--trace-launch N]\n"
    "  [--trace-block N] [--trace-warp N] [--trace-blocks]"
#ifdef CUDACPU_COUNTERS
    " [--counters-csv FILE.csv]"
#endif
    ;

[[noreturn]] void reject(const std::string& what) {
    print_report("cudacpu: " + what + "\n  " + usage);
    _exit(2);
}

template <class T>
T number(const std::string& option, const std::string& value, T least, T most = std::numeric_limits<T>::max()) {
    T n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (value.empty() || *end || error != std::errc() || n < least || n > most)
        reject(text("%s %s: give a whole number from %lu to %lu", option.c_str(), value.c_str(),
                    static_cast<unsigned long>(least), static_cast<unsigned long>(most)));
    return n;
}

/// Why the file cannot be written, as far as this is known without writing; otherwise "".
std::string problem_of(const std::string& file) {
    struct stat status {};
    const bool exists = !stat(file.c_str(), &status);
    if (!exists && errno != ENOENT) return strerror(errno);
    if (exists && !S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) return "it is no file";
    const size_t slash = file.rfind('/');
    const std::string folder = slash == file.npos ? "." : file.substr(0, slash + 1);
    if (file.empty()) return "it has no name";
    return access((exists ? file : folder).c_str(), W_OK) ? strerror(errno) : "";
}

void set_option(const std::string& option, const std::string& value) {
    if (option == "--trace") asked.trace = value;
    else if (option == "--counters-csv") asked.csv = value;
    else if (option == "--trace-kernel") asked.kernel = value;
    else if (option == "--trace-launch") asked.launch = number(option, value, 1u);
    else if (option == "--trace-block") asked.block = number(option, value, uint64_t{0});
    else asked.warp = number(option, value, 0u, 31u);  // up to 1024 threads
    if (option != "--trace" && option != "--counters-csv") return;
    if (const std::string problem = problem_of(value); !problem.empty())
        reject(option + ": cannot write '" + value + "': " + problem);
}

// For programs that are started by others: LAB_TRACE=FILE.html means --trace FILE.html.
void set_options_from_environment() {
    for (const char* option : options) {
        std::string name = std::string("LAB") + (option + 1);
        for (char& c : name) c = c == '-' ? '_' : char(toupper(c));
        const char* const value = getenv(name.c_str());
        if (!value || !*value) continue;
        if (!strcmp(option, several_blocks)) asked.blocks = strcmp(value, "0");
        else set_option(option, value);
    }
}

bool is_option(const std::string& word) {
    return std::find(std::begin(options), std::end(options), word) != std::end(options);
}

}  // namespace

static int write_files() {
    int status = 0;
    const auto write = [&](const std::string& file, const std::string& contents) {
        if (file.empty() || write_whole(file, contents)) return;
        print_report("cudacpu: cannot write '" + file + "': " + strerror(errno) +
                     "; give a file on a disk with room");
        status = 2;
    };
    if constexpr (counters_build) {
        if (const std::string s = table(); !s.empty()) {
            print_report("cudacpu: what the warps did, a line of the source each" + s);
            write(asked.csv, csv());
        } else if (!asked.csv.empty()) {
            print_report("cudacpu: no kernel ran: '" + asked.csv + "' is not written");
        }
    }
    if (asked.trace.empty()) return status;
    if (!nothing_is_drawn()) {
        write(asked.trace, trace_page());
    } else if (const std::string ran = kernels_that_ran(); ran.empty()) {
        print_report("cudacpu: no kernel ran: '" + asked.trace + "' is not written");
    } else {
        print_report("cudacpu: there was no such launch: '" + asked.trace +
                     "' is not written; what ran, and how often:\n  " + ran);
        status = 2;
    }
    return status;
}

// ---- termination by a signal: what was recorded so far is still written ---------------------------------

namespace {

volatile sig_atomic_t ended_by;  // the signal number

void end_now() {
    alarm(0);
    const std::string why = text("the program was ended (%s)", strsignal(ended_by));
    print_report("cudacpu: " + why + ": what ran so far");
    lockstep_observer.launch_stops(why.c_str());
    write_files();
    fflush(nullptr);
    raise(ended_by);
}

// Restores the system's handler, so that a second Ctrl-C ends the program at once. In a kernel the page's text may
// be inconsistent, so the kernel is left at its next step. If there is none in ten seconds, the alarm ends the
// program.
void on_end(int signal) {
    ended_by = signal;
    if (signal == SIGABRT || !runs_works) end_now();
    else alarm(10);
}

void prepare_for_end() {
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGABRT}) {
        struct sigaction action {
        }, before{};
        sigaction(s, nullptr, &before);
        action.sa_handler = on_end;
        action.sa_flags = int(SA_RESETHAND) | SA_NODEFER | SA_RESTART;
        if (before.sa_handler == SIG_DFL) sigaction(s, &action, nullptr);
    }
}

}  // namespace

static void end_if_asked() {
    if (ended_by) end_now();
}

static const struct OutputAtEnd {
    OutputAtEnd() { write_output_files = write_files, lockstep_observer.at_switch = end_if_asked; }
} output_at_end CUDACPU_LASTING;

}  // namespace cudacpu::warp

extern "C" int __wrap_main(int argc, char** argv, char** environment) {
    using namespace cudacpu::warp;
    set_options_from_environment();
    int kept = 0;
    for (int i = 0; i < argc; ++i) {
        const std::string word = argv[i], option = word.substr(0, word.find('='));
        if (word == "--") std::copy(argv + i, argv + argc, argv + kept), kept += argc - std::exchange(i, argc);
        else if (!i || !is_option(option)) argv[kept++] = argv[i];
        else if (option == several_blocks) asked.blocks = true;
        else if (option != word) set_option(option, word.substr(option.size() + 1));
        else if (i + 1 < argc) set_option(option, argv[++i]);
        else reject(option + " wants a value");
    }
    argv[kept] = nullptr;
    if (cudacpu::counters_build || !asked.trace.empty()) prepare_for_end();
    return __real_main(kept, argv, environment);
}
