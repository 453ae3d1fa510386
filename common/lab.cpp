// lab.cpp - the command line (CLI11), the table, the CSV file and the verdict of every sample.
#include "lab.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <numeric>
#include <new>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "screen.hpp"

namespace lab {

namespace {

std::string vtext(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    std::string s(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
    std::vsnprintf(s.data(), s.size() + 1, format, again);
    va_end(again);
    return s;
}

constexpr int64_t most_typed = int64_t{1} << 50;  // larger numbers are cut to this; no machine has so much memory

/// Accepts whole numbers from `least` to `most`. Otherwise the error suggests `instead`, which is always valid.
/// With `kept`, the upper bound is checked later, because it depends on other options. `kept` receives the number
/// as it was typed.
CLI::Validator whole_number(const char* option, int64_t least, int64_t most, int64_t instead,
                            std::string* kept = nullptr) {
    auto check = [=, name = std::string(option)](std::string& s) -> std::string {
        const std::optional<uint64_t> value = whole(s);
        if (!value) return "'" + s + "' is not a whole number; type digits, 1e6 or 2^20";
        const bool limited = kept == nullptr;
        if (*value < static_cast<uint64_t>(least) || (limited && *value > static_cast<uint64_t>(most)))
            return "'" + s +
                   (limited ? "' is not a number from " + std::to_string(least) + " to " + std::to_string(most)
                            : "' is less than " + std::to_string(least)) +
                   "; type " + name + " " + std::to_string(instead);
        if (kept) *kept = s;
        s = std::to_string(std::min(*value, static_cast<uint64_t>(most)));
        return "";
    };
    return CLI::Validator(check, "NUMBER");
}

bool among(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Accepts one of `choices`. The error also recognizes a name in `others`, which belongs to the option `other`.
CLI::Validator one_of(const std::string& option, const std::vector<std::string>& choices,
                      const std::string& other = "", const std::vector<std::string>& others = {}) {
    auto check = [=](std::string& s) -> std::string {
        if (among(choices, s)) return "";
        if (among(others, s)) return "'" + s + "' goes with " + other + "; type " + other + " " + s;
        constexpr size_t few = 6;  // the message lists at most so many names
        std::string known, meant = nearest(s, choices), with = option;
        for (const std::string& c : choices) known += (known.empty() ? "" : ", ") + c;
        if (choices.size() > few) known = "the names that --list prints";
        if (meant.empty()) {
            meant = nearest(s, others);
            with = other;
        }
        return "'" + s + "' is not one of " + known +
               (meant.empty() ? "" : "; did you mean " + with + " " + meant + "?");
    };
    return CLI::Validator(check, "NAME");
}

/// Accepts the threads per block: a power of two, because tree reductions halve them.
CLI::Validator power_of_two() {
    auto check = [](std::string& s) {
        const std::optional<uint64_t> value = whole(s);
        if (!value || *value == 0 || *value > 1024 || (*value & (*value - 1)) != 0)
            return "'" + s + "' is not a power of two from 1 to 1024; type --threads 256";
        s = std::to_string(*value);
        return std::string();
    };
    return CLI::Validator(check, "THREADS");
}

/// Accepts the name of a file. A later check finds out whether it can be written.
CLI::Validator file_name() {
    auto check = [](std::string& path) {
        if (path.empty()) return std::string("the file name is empty; type a name such as out.csv");
        if (path[0] == '-') return "'" + path + "' looks like an option; type ./" + path + " if it is a file name";
        return std::string();
    };
    return CLI::Validator(check, "FILE");
}

std::string csv_field(const std::string& field) {  // quoted as RFC 4180 requires
    if (field.find_first_of(",\"\n") == std::string::npos) return field;
    std::string s = "\"";
    for (char c : field) s += c == '"' ? "\"\"" : std::string(1, c);
    return s + "\"";
}

/// errno of the first line that could not be written to stdout; 0 if there is none.
int lost = 0;
bool flushed() {
    errno = 0;
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return true;
    if (!lost) lost = errno;
    return false;
}

/// Returns `status`. If output to stdout was lost, prints the reason on stderr and returns system_error.
Status printed(Status status) {
    if (flushed()) return status;
    std::fprintf(stderr, "cannot write to standard output: %s; type > FILE with a file on a disk with free space\n",
                 lost ? std::strerror(lost) : "an earlier line was lost");
    return system_error;
}

[[noreturn]] void end(const Ended& ended) {
    Progress::says("");
    std::fflush(stdout);
    std::fputs(ended.text.c_str(), ended.status == all_agree ? stdout : stderr);
    std::exit(ended.status == all_agree ? printed(all_agree) : ended.status);
}

/// Handles an uncaught exception, such as std::bad_alloc: prints it, and ends the program with system_error.
[[noreturn]] void nobody_caught() {
    std::string why = "an exception";
    try {
        if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        why = "the host is out of memory; type a smaller --n";
    } catch (const std::exception& e) {
        why = e.what();
    } catch (...) {}
    std::fflush(stdout);
    std::fprintf(stderr, "the program cannot continue: %s\n", why.c_str());
    std::_Exit(system_error);
}

}  // namespace

struct Lab::CommandLine {
    CLI::App app;
    CommandLine() { app.option_defaults()->always_capture_default(); }  // the help shows the defaults
};

Lab::Lab(const char* name, const char* question)
    : name_(name), question_(question), line_(std::make_unique<CommandLine>()) {
    std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f`, write() fails instead of raising a signal
    std::set_terminate(nobody_caught);
    for (int file : {0, 1, 2})  // otherwise the next file that is opened could take the place of a closed stdout
        if (::fcntl(file, F_GETFD) < 0) ::open("/dev/null", file == 1 ? O_RDONLY : O_RDWR);
}
Lab::~Lab() = default;

void Lab::defaults(int64_t n, int blocks, int threads, const char* n_help, const char* blocks_help) {
    n_ = n;
    blocks_ = blocks;
    threads_ = threads;
    n_help_ = n_help;
    blocks_help_ = blocks_help;
}
void Lab::variant(const char* variant, const char* how, int least_threads) {
    entries_.push_back({variant, how, least_threads, false});
}
void Lab::twin(const char* twin, const char* mistake, int least_threads) {
    entries_.push_back({twin, mistake, least_threads, true});
}
void Lab::slow(const char* variant) { slow_.emplace_back(variant); }
void Lab::columns(std::vector<std::string> names, size_t least, size_t of_result) {
    columns_ = std::move(names);
    least_width_ = least;
    result_width_ = of_result;
}

void Lab::option(const char* option, std::string& value, const std::vector<std::string>& choices,
                 const char* help) {
    line_->app.add_option(option, value, help)->check(one_of(option, choices));
    choices_.emplace_back(option);
    for (const std::string& c : choices) choices_.back() += " " + c;
}
void Lab::option(const char* option, int64_t& value, int64_t least, int64_t most, const char* help) {
    line_->app.add_option(option, value, help)
        ->transform(whole_number(option, least, most, value < least ? std::min<int64_t>(most, 1024) : value))
        ->default_str(value < least ? "" : std::to_string(value));
}
void Lab::option(const char* option, bool& value, const char* help) { line_->app.add_flag(option, value, help); }
void Lab::file_option(const char* option, std::string& path, const char* help) {
    line_->app.add_option(option, path, help)->check(file_name());
    files_.emplace_back(option, &path);
}

void Lab::parse(int argc, char** argv) {
    if (const auto ended = read(argc, argv)) end(*ended);
}

std::optional<Ended> Lab::read(int argc, char** argv) {
    CLI::App& app = line_->app;
    path_ = argv[0];
    app.name(name_);
    for (const char* type : {"INT:NUMBER", "UINT:NUMBER", "INT:THREADS", "TEXT:NAME", "TEXT:FILE"})
        app.get_formatter()->label(type, std::strchr(type, ':') + 1);
    app.description(name_ + ": " + question_);
    std::string footer;
    const auto names_of = [&](bool twins, const char* title) {
        std::vector<std::string> names;
        footer += title;
        for (const Entry& entry : entries_) {
            if (entry.twin != twins) continue;
            names.push_back(entry.name);
            footer += text("  %-*s  %s\n", static_cast<int>(longest_name()), entry.name.c_str(), entry.how.c_str());
        }
        return names;
    };
    const auto variants = names_of(false, "variants (for --only):\n");
    const auto twins = names_of(true, "wrong twins (for --wrong):\n");
    app.footer(footer +
               "exit status: 0 all results agree, 1 a result is wrong, 2 bad command line, 3 CUDA or system error, "
               "77 no CUDA device");

    bool list = false;
    if (!n_help_.empty())
        app.add_option("--n", n_, n_help_)->transform(whole_number("--n", 1, most_typed, 1000, &typed_n_));
    if (!blocks_help_.empty())
        app.add_option("--blocks", blocks_, blocks_help_)
            ->transform(whole_number("--blocks", 1, most_typed, 64, &typed_blocks_))
            ->default_str(blocks_ ? std::to_string(blocks_) : "");
    if (threads_)
        app.add_option("--threads", threads_, "threads per block; variants that need more are left out")
            ->transform(power_of_two());
    app.add_option("--seed", seed_, "the seed of the random input and of the poison in unwritten outputs")
        ->transform(whole_number("--seed", 0, std::numeric_limits<int64_t>::max(), 42));
    app.add_option("--repeats", repeats_,
                   "timed runs, of which the median is printed (default 1; on a GPU 20 or more, until the median "
                   "is known to 0.5 %)")
        ->transform(whole_number("--repeats", 1, most_typed, 20, &typed_repeats_))
        ->default_str("");
    app.add_flag("--warm", warm_, "do not flush the L2 cache before each run");
    const CLI::Option* const only = app.add_option("--only", only_, "run only this variant; may be repeated")
                                        ->check(one_of("--only", variants, "--wrong", twins))
                                        ->expected(1)
                                        ->allow_extra_args(false)  // no [a,b]
                                        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                                        ->default_str("");
    app.add_option("--wrong", wrong_, "run this wrong twin instead of the variants")
        ->check(one_of("--wrong", twins, "--only", variants));
    file_option("--csv", csv_, "also write the rows to this CSV file");
    app.add_flag("--verbose", verbose_, "also print the predicted times");
    app.add_flag("--list", list, "print the names that --only, --wrong and the options take, and exit");
    for (int i = 1; i < argc; ++i) {  // CLI11 accepts --n= 5 and --warm=no; a sample does not
        const std::string word = argv[i], name = word.substr(0, word.find('='));
        const CLI::Option* const o = name == word ? nullptr : app.get_option_no_throw(name);
        if (o && o->get_items_expected_max() == 0)
            return refusal(text("%s takes no value; type it alone", name.c_str()));
        if (o && word.size() == name.size() + 1)
            return refusal(text("%s= has no value; type it after the =", name.c_str()));
    }
    std::string problem;
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::istringstream lines(app.help());
        std::string help, line;
        while (std::getline(lines, line)) {  // continuation lines are indented below their text
            const size_t under = line.compare(0, 3, "  -") == 0  ? 28
                                 : line.compare(0, 2, "  ") == 0 ? longest_name() + 2
                                                                 : 2;
            help += wrapped(line, under) + "\n";
        }
        return Ended{all_agree, help};
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> words = app.remaining(), options;
        for (const std::string& word : words) problem += (problem.empty() ? "not understood: " : " ") + word;
        for (const CLI::Option* o : app.get_options()) options.push_back("--" + o->get_lnames().front());
        const std::string meant = nearest(words.front().substr(0, words.front().find('=')), options);
        const bool traces = words.front().rfind("--trace", 0) == 0;
        if (traces || words.front().rfind("--counters-csv", 0) == 0)
            problem +=
                "; build/counters/" + name_ + (traces ? " and build/hazards/" + name_ + " take it" : " takes it");
        else if (!meant.empty())
            problem += "; did you mean " + meant + "?";
    } catch (const CLI::ArgumentMismatch& e) {
        const std::string words = e.what();
        problem = words.substr(0, words.find(':')) + " has no value; type one after it";
    } catch (const CLI::Error& e) {
        problem = e.what();
    }
    for (const CLI::Option* o : app.get_options())
        if (o->count() > 1 && o != only)
            problem = text("%s is given %zu times; type it once", o->get_name().c_str(), o->count());
    if (!problem.empty()) return refusal(problem);
    if (!wrong_.empty() && !only_.empty())
        return refusal("--only and --wrong exclude each other; type one of them");
    for (const Entry& entry : entries_)
        if (too_few_threads(entry) && (entry.name == wrong_ || among(only_, entry.name)))
            return refusal(text("%s does not run with --threads %d; type --threads %d or more", entry.name.c_str(),
                                threads(), entry.least_threads));
    if (list) {
        std::string names;
        for (const std::string& v : variants) names += "variant " + v + "\n";
        for (const std::string& t : twins) names += "twin " + t + "\n";
        for (const std::string& s : slow_) names += "slow " + s + "\n";
        for (const std::string& c : choices_) names += "choice " + c + "\n";
        for (const auto& [option, path] : files_) names += "file " + option + "\n";
        for (const CLI::Option* o : app.get_options()) names += "takes " + o->get_name() + "\n";
        if (threads_) names += "takes --threads 1 2 4 8 16 32 64 128 256 512 1024\n";
        return Ended{all_agree, names};
    }
    namespace fs = std::filesystem;
    std::map<fs::path, std::string> taken;
    for (const auto& [option, path] : files_) {
        std::error_code error;
        if (path->empty() || fs::is_other(*path, error)) continue;
        const fs::path place = fs::weakly_canonical(fs::absolute(*path, error), error);
        const std::string& first = taken.emplace(error ? fs::path(option) : place, option).first->second;
        if (first != option)
            return refusal(text("%s and %s name the same file; type two names", first.c_str(), option.c_str()));
    }
    for (const auto& [option, path] : files_)
        if (const std::string why = path->empty() ? "" : cannot_write(*path); !why.empty())
            return Ended{system_error, wrapped(text("%s: %s: %s\n", name_.c_str(), option.c_str(), why.c_str()))};
    return std::nullopt;
}

size_t Lab::longest_name() const {
    size_t longest = 0;
    for (const Entry& entry : entries_) longest = std::max(longest, entry.name.size());
    return longest;
}

Ended Lab::refusal(const std::string& problem) const {
    return {bad_command_line, wrapped(name_ + ": " + printable(problem) + "\nType " + shell_word(printable(path_)) +
                                      " --help for the options.\n")};
}

void Lab::refuse(const char* format, ...) const {
    va_list arguments;
    va_start(arguments, format);
    const std::string problem = vtext(format, arguments);
    va_end(arguments);
    end(refusal(problem));
}

void Lab::at_most(const char* option, int64_t most, const char* why) { own_limits_[option] = {most, why}; }

void Lab::require_blocks(int per_thread) const {
    constexpr int64_t most = std::numeric_limits<int>::max();
    const int64_t least_threads = ((n_ - 1) / per_thread / most) + 1;
    if (threads_ >= least_threads) return;
    int64_t enough = threads_;
    while (enough < least_threads) enough *= 2;
    refuse(
        "--n %lld with --threads %lld needs more than %lld blocks, the limit of a grid; type --threads %lld or "
        "more",
        static_cast<long long>(n_), static_cast<long long>(threads_), static_cast<long long>(most),
        static_cast<long long>(enough));
}

int& Lab::known_occupancy(const void* kernel, int threads, size_t shared_bytes) const {
    return resident_[{kernel, threads, shared_bytes}];
}

static double middle_half(const std::vector<double>& values) {
    return quantile(values, 0.75) - quantile(values, 0.25);
}

bool Lab::enough_times() const {
    if (times_.size() < static_cast<size_t>(repeats())) return false;
    constexpr double most_ms = 500;
    constexpr size_t most_runs = 500;
    if (!on_gpu_ || typed("--repeats") || times_.size() >= most_runs ||
        std::accumulate(times_.begin(), times_.end(), 0.0) > most_ms)
        return true;
    // The standard error of a median of k values is about 1.25 sigma / sqrt(k). The middle half of normally
    // distributed values is 1.35 sigma wide.
    const double error = 1.25 / 1.35 * middle_half(times_) / std::sqrt(static_cast<double>(times_.size()));
    return error < 0.005 * median(times_);
}

void Lab::keep_time(double ms, double ghz, double highest_ghz) {
    ++runs_;
    if (ghz < 0.75 * highest_ghz && 10 * repeated_ < runs_)
        ++repeated_;
    else
        times_.push_back(ms);
}

Time Lab::median_time(double back_to_back) const {
    Time time = median(times_);
    if (on_gpu_) time.spread = 50 * middle_half(times_) / time.ms;
    time.back_to_back = back_to_back;
    return time;
}

// A command that an error message suggests must run, so all limits are computed before the first message.
void Lab::require_room(double free, double per_element, double fixed, Room room) const {
    if (!room.cost) room.cost = n_;
    if (!room.smaller) room.smaller = [](int64_t most) { return "--n " + std::to_string(most) + " or less"; };
    const auto own = [&](const char* option, int64_t otherwise, const char* why) {
        const auto it = own_limits_.find(option);
        return it == own_limits_.end() ? OwnLimit{otherwise, why} : it->second;
    };
    const auto number = [](const std::string& typed, int64_t value) {
        return typed.empty() ? std::to_string(value) : typed;
    };
    const int64_t variants = std::max<int64_t>(wanted_count(), 1);
    // On the CPU device all runs together may process `most` elements; a run counts as `least` elements or more.
    constexpr int64_t most = 10 << 24, least = 1 << 17;
    const int64_t for_one = on_gpu_ ? most_typed : most / std::min(repeats_, most);  // for one variant
    const int64_t for_all = on_gpu_ ? most_typed : for_one / variants;

    const OwnLimit blocks = own("--blocks", std::numeric_limits<int>::max(), "are more than a grid can have");
    const int64_t threads = std::max<int64_t>(threads_, 1);  // each of which processes several elements
    const int64_t in_time = on_gpu_ ? most_typed : std::max<int64_t>(for_all / (4 * threads), 1);
    if (blocks_ > std::min(in_time, blocks.most))
        refuse("--blocks %s, of %lld threads each, %s; type --blocks %lld or less",
               number(typed_blocks_, blocks_).c_str(), static_cast<long long>(threads),
               in_time < blocks.most ? "take too long on the CPU device" : blocks.why,
               static_cast<long long>(std::min(in_time, blocks.most)));

    const OwnLimit elements = own("--n", most_typed, "");
    const double bytes = 0.9 * free - fixed;  // a tenth is for the L2 flush and the driver
    const auto in_memory = static_cast<int64_t>(std::min(0x1p50, std::max(0.0, bytes) / per_element));
    const int64_t fit = std::min(elements.most, in_memory), enough = std::min(for_all, fit);
    const std::string typed =
        room.elements_are + " " + number(room.elements_are == "--n" ? typed_n_ : std::string(), n_);
    std::string why = std::string("is too much: ") + elements.why;
    if (in_memory < elements.most)
        why = "needs " + bytes_text(static_cast<double>(n_) * per_element + fixed) + " of device memory, but " +
              bytes_text(free) + " are free";
    if (n_ > fit && enough >= 1 && (on_gpu_ || for_all >= least))
        refuse("%s %s; type %s", typed.c_str(), why.c_str(), room.smaller(enough).c_str());
    if (n_ > fit && on_gpu_)
        refuse("%s %s; type --blocks 1024, or type nvidia-smi to see which programs hold the memory", typed.c_str(),
               why.c_str());
    if (on_gpu_ && repeats_ > most_repeats)
        refuse("--repeats %s is too many; type --repeats %lld or less", typed_repeats_.c_str(),
               static_cast<long long>(most_repeats));
    const auto in_a_run = static_cast<double>(std::max(room.cost, least)) * static_cast<double>(repeats_);
    if (on_gpu_ || (in_a_run * static_cast<double>(variants) <= most && repeats_ <= most_repeats)) return;

    std::vector<std::string> instead;
    const int64_t fewer = std::min(most_repeats, most / variants / std::clamp(room.cost, least, most));
    if (for_all >= least && repeats_ <= most_repeats) instead.push_back(room.smaller(enough));
    if (fewer >= 1 && fewer < repeats_ && n_ <= fit)
        instead.push_back("--repeats " + std::to_string(fewer) + " or less");
    if (variants > 1 && for_one >= least && repeats_ <= most_repeats)
        instead.push_back("--only one variant" +
                          (in_a_run <= most && n_ <= fit ? "" : " and " + room.smaller(std::min(for_one, fit))));
    if (instead.empty())  // one change alone is not enough
        instead.push_back(room.smaller(std::min(least, fit)) + " and --repeats " +
                          std::to_string(most / variants / least));
    std::string advice;
    for (const std::string& one : instead) advice += (advice.empty() ? "" : ", or ") + one;
    refuse("%s, --repeats %s and %lld variant%s take too long on the CPU device; type %s, or use a GPU",
           typed.c_str(), number(typed_repeats_, repeats_).c_str(), static_cast<long long>(variants),
           variants == 1 ? "" : "s", advice.c_str());
}

bool Lab::typed(const char* option) const {
    const CLI::Option* const o = line_->app.get_option_no_throw(option);
    return o && o->count() > 0;
}

void Lab::leave_out(const std::string& variant, const char* why, const char* instead) {
    if (among(only_, variant)) refuse("%s is left out, because %s; type %s", variant.c_str(), why, instead);
    if (wants(variant)) say("%s: left out, because %s", variant.c_str(), why);
    left_out_.push_back(variant);
}

bool Lab::wants(const std::string& variant) const {
    if (among(left_out_, variant)) return false;
    if (!wrong_.empty()) return variant == wrong_;
    if (!only_.empty()) return among(only_, variant);
    return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.name == variant && (entry.twin || too_few_threads(entry));
    });
}

int64_t Lab::wanted_count() const {
    return std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return wants(entry.name); });
}

void Lab::runs_on(std::string device, bool gpu, const char* remark) {
    device_ = std::move(device);
    on_gpu_ = gpu;
    if (!repeats_) repeats_ = gpu ? 20 : 1;
    say("%s: %s", name_.c_str(), question_.c_str());
    say("on %s%s", device_.c_str(), remark);
    std::map<int, std::string> left_out;  // by the threads that they need
    for (const Entry& entry : entries_)
        if (wants_all() && !entry.twin && too_few_threads(entry))
            left_out[entry.least_threads] += ", " + entry.name;
    std::string line;
    for (const auto& [least, names] : left_out)
        line +=
            text("; %s (%d or more%s)", names.c_str() + 2, least, least == whole_warps ? ", for whole warps" : "");
    if (!line.empty()) say("left out because they need more --threads: %s", line.c_str() + 2);
}

void Lab::predict(double launch_ms, double bytes_per_ms) {
    launch_ms_ = launch_ms;
    nominal_bytes_per_ms_ = bytes_per_ms;
    if (verbose_)
        say("predicted: %.2f us for an empty launch, plus the bytes at the nominal %.0f GB/s", launch_ms * 1e3,
            bytes_per_ms / 1e6);
}

void Lab::print(const std::string& line) {
    Progress::says("");
    std::printf("%s\n", line.c_str());
    flushed();
    if (!device_.empty())
        Progress::says(text("%s: row %zu of %zu", name_.c_str(), rows_ + 1,
                            std::max(static_cast<size_t>(wanted_count()), rows_ + 1)));
}

void Lab::say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(wrapped(vtext(format, arguments)));
    va_end(arguments);
}

void Lab::new_table(const std::string& title, bool predicted) {
    title_ = title;
    predicted_ = predicted;
    header_due_ = true;
    limit_bytes_per_ms_ = library_ms_ = 0;
    columns({});
    waiting_.clear();
}

/// Where to break a heading into two lines so that it is as narrow as possible.
static size_t heading_break(const std::string& heading) {
    size_t best = std::string::npos;
    for (size_t s = heading.find(' '); s != std::string::npos; s = heading.find(' ', s + 1))
        if (best == std::string::npos || std::max(s, heading.size() - s) < std::max(best, heading.size() - best))
            best = s;
    return best;
}

// A column is as wide as its cells in the first rows, and at least as wide as the sample has asked for. A longer
// cell below takes space from its neighbours. Columns that do not fit on the screen are only in the CSV file.
void Lab::plan(const Cells& row) {
    const size_t most = on_gpu_ ? gpu_table_width : prose_width;
    plan_ = row;
    bool split = false;
    const auto layout = [&] {
        size_t width = 0;
        for (Cell& cell : plan_) {
            const size_t at = split ? heading_break(cell.heading) : std::string::npos;
            const size_t heading =
                at == std::string::npos ? cell.heading.size() : std::max(at, cell.heading.size() - at - 1);
            size_t widest = std::max({cell.least, heading, width_of(cell.text)});
            for (const Cells& limit : waiting_)
                for (const Cell& of : limit)
                    if (of.heading == cell.heading) widest = std::max(widest, width_of(of.text));
            width += (width ? 2 : 0) + widest;
            cell.end = width;
        }
        return width + 2 + std::string("verdict").size();
    };
    split = layout() > most;
    std::string dropped;
    while (layout() > most) {  // the most dispensable one, of several the last
        auto out = plan_.begin();
        for (auto it = plan_.begin(); it != plan_.end(); ++it)
            if (it->dispensable >= out->dispensable) out = it;
        if (out->dispensable == 0) break;
        if (!dropped.empty()) dropped.insert(0, ", ");
        dropped.insert(0, out->heading);
        plan_.erase(out);
    }
    if (!title_.empty()) print("\n" + wrapped(title_));
    if (!dropped.empty()) say("(the screen is too narrow; only in the --csv file: %s)", dropped.c_str());
    std::string above, below;
    for (const Cell& cell : plan_) {
        const size_t at = split ? heading_break(cell.heading) : std::string::npos;
        const std::string first = at == std::string::npos ? "" : cell.heading.substr(0, at);
        const std::string last = at == std::string::npos ? cell.heading : cell.heading.substr(at + 1);
        const bool left = &cell == &plan_.front();
        if (!first.empty()) above += std::string(cell.end - above.size() - first.size(), ' ') + first;
        below += left ? last + std::string(cell.end - last.size(), ' ')
                      : std::string(cell.end - below.size() - last.size(), ' ') + last;
    }
    if (!above.empty()) print(above);
    print(below + "  verdict");
    header_due_ = false;
}

void Lab::print_row(const Cells& cells) {
    std::string line;
    const auto add = [&](size_t end, const std::string& cell) {  // always to the right of the cells before it
        const size_t width = width_of(cell), used = width_of(line);
        line += std::string(used ? std::max(used + 2, end > width ? end - width : 0) - used : 0, ' ') + cell;
    };
    for (const Cell& place : plan_) {
        const auto cell =
            std::find_if(cells.begin(), cells.end(), [&](const Cell& one) { return one.heading == place.heading; });
        add(place.end, cell == cells.end() ? "-" : cell->text);
    }
    const size_t used = width_of(line), end = plan_.back().end;
    print(line + std::string(std::max(end, used) + 2 - used, ' ') + coloured(cells.back().text));
}

void Lab::row(const Row& row) {
    const bool timed = std::isfinite(row.ms) && row.ms > 0;
    const double rate = timed ? row.bytes / row.ms : 0;  // bytes per millisecond
    if (row.kind == Kind::limit) limit_bytes_per_ms_ = rate;
    if (row.kind == Kind::library && library_ms_ == 0) library_ms_ = row.ms;  // the first, if it has two modes

    std::vector<std::pair<std::string, std::string>> fields = {
        {"sample", name_},
        {"device", device_},
        {"n", std::to_string(n_)},
        {"threads", threads_ ? std::to_string(threads_) : ""},
        {"seed", std::to_string(seed_)},
        {"variant", row.variant},
        {"result", row.result}};
    size_t name_width = 12;
    for (const Entry& entry : entries_)
        if (wants(entry.name) && entry.name != "whole_program")
            name_width = std::max(name_width, entry.name.size());
    const std::string name = row.variant + (row.version.empty() ? "" : " " + row.version);
    if (!row.version.empty()) fields.emplace_back("version", row.version);
    Cells cells = {{"variant", name, name_width}, {"result", row.result, result_width_}};
    for (size_t i = 0; i < columns_.size(); ++i) {
        const std::string value = i < row.columns.size() ? row.columns[i] : "-";
        cells.push_back({columns_[i], value, least_width_, 1});
        fields.emplace_back(columns_[i], value == "-" ? "" : value);
    }
    const auto figure = [&](const char* column, const std::string& heading, const std::string& value,
                            bool shown = false, size_t least = 0, int dispensable = 0) {
        fields.emplace_back(column, value);
        if (shown) cells.push_back({heading, value.empty() ? "-" : value, least, dispensable});
    };
    const auto number = [](bool known, const char* format, double value) {
        return known ? text(format, value) : "";
    };
    if (on_gpu_) {
        const Time& t = row.ms;
        const double nominal = nominal_bytes_per_ms_, limit = limit_bytes_per_ms_;
        const bool predicts = predicted_ && row.bytes > 0 && nominal > 0;
        figure("predicted_us", "predicted us", number(predicts, "%.2f", (launch_ms_ + row.bytes / nominal) * 1e3),
               verbose_ && predicted_, 9, 2);
        figure("time_us", "time us", number(timed, "%.2f", t.ms * 1e3), true, 10);
        figure("spread", "+- %", number(std::isfinite(t.spread), "%.1f", t.spread), true, 4, 2);
        figure("back_to_back_us", "back to back us",
               number(std::isfinite(t.back_to_back), "%.2f", t.back_to_back * 1e3), true, 7, 2);
        figure("gb_per_s", "GB/s", number(rate > 0, "%.1f", rate / 1e6), true, 6, 3);
        figure("percent_of_limit", "% limit", number(limit > 0 && rate > 0, "%.1f", 100 * rate / limit), limit > 0,
               5, 1);
        figure("times_library", "x library", number(library_ms_ > 0 && timed, "%.2f", library_ms_ / t.ms),
               library_ms_ > 0, 5, 1);
        figure("nominal_gb_per_s", "", text("%.0f", nominal / 1e6));
    } else {
        figure("cpu_device_ms", "", number(timed, "%.2f", row.ms.ms));
    }
    const char* verdict = row.kind == Kind::limit   ? "limit"
                          : !row.wrong.empty()      ? "WRONG"
                          : row.kind == Kind::shown ? "shown"
                                                    : "ok";
    if (row.kind == Kind::shown && !row.wrong.empty()) verdict = "shown wrong";
    cells.push_back({"verdict", verdict});
    fields.emplace_back("verdict", verdict);
    records_.push_back(std::move(fields));
    if (row.kind == Kind::variant || row.kind == Kind::library) {
        ++checked_;
        ++rows_;
        wrong_count_ += !row.wrong.empty();
        if (!row.wrong.empty() && !among(wrong_rows_, row.variant)) wrong_rows_.push_back(row.variant);
    }
    if (header_due_ && row.kind == Kind::limit)
        return waiting_.push_back(std::move(cells));  // printed when a variant's row sets the widths
    if (header_due_) {
        plan({cells.begin(), cells.end() - 1});
        for (const Cells& limit : waiting_) print_row(limit);
    }
    print_row(cells);
    if (!row.wrong.empty()) say("    %s: %s", row.variant.c_str(), row.wrong.c_str());
}

void Lab::program(bool (*whole_program)()) {
    say("\nthe tutorial's whole program, on its own sizes");
    Progress::says("");  // the program prints its own output
    const bool right = whole_program();
    print(coloured(right ? "ok" : "WRONG"));
    ++checked_;
    ++rows_;
    wrong_count_ += !right;
    if (!right) wrong_rows_.emplace_back("whole_program");
}

void Lab::record(std::vector<std::pair<std::string, std::string>> fields) {
    fields.insert(fields.begin(), {"sample", name_});  // without the device: there may be thousands of records
    records_.push_back(std::move(fields));
}

int Lab::verdict() {
    if (!csv_.empty()) {
        std::vector<std::string> header;
        for (const auto& fields : records_)
            for (const auto& [column, value] : fields)
                if (!among(header, column)) header.push_back(column);
        std::string csv;
        for (const std::string& column : header) csv += (csv.empty() ? "" : ",") + csv_field(column);
        for (const auto& fields : records_) {
            std::map<std::string, std::string> value(fields.begin(), fields.end());
            csv += "\n";
            for (const std::string& column : header)
                csv += (&column == &header.front() ? "" : ",") + csv_field(value[column]);
        }
        write_file(csv_, csv + "\n");
    }
    device_.clear();  // print() shows no progress line any more
    if (repeated_) say("%d of %d runs were repeated because the SMs' clock was low", repeated_, runs_);
    print("");
    std::string word = status() == all_agree ? "PASSED" : "FAILED", why;
    const char* const plural = checked_ == 1 ? "" : "s";
    if (checked_ == 0) {
        why = "nothing was checked";
    } else if (wrong_count_) {
        why = text("%d of %d result%s differ%s from the CPU's", wrong_count_, checked_, plural,
                   wrong_count_ == 1 ? "s" : "");
    } else if (!wrong_.empty()) {
        word += ", by luck";
        why = wrong_ + " came out right this time; it is still wrong";
    } else {
        why = text("%d result%s agree%s with the CPU's", checked_, plural, checked_ == 1 ? "s" : "");
    }
    print(coloured(word) + wrapped(word + ": " + name_ + ": " + why).substr(word.size()));
    if (!wrong_.empty() || wrong_count_) say_what_shows_more();
    return printed(status());
}

extern "C" const char lab_gives_advice = 1;  // tells the CPU device to print no advice of its own

// Prints the commands that show the mistake of the wrong twin, or of the first wrong row.
void Lab::say_what_shows_more() {
    namespace fs = std::filesystem;
    const std::string of = !wrong_.empty() ? " --wrong " + wrong_ : " --only " + wrong_rows_.front();
    std::string rest;  // the other options, except files; and no sizes for a GPU, too large for the hazard build
    for (const CLI::Option* o : line_->app.get_options()) {
        const std::string option = o->get_name();
        static const std::vector<std::string> left = {"--only",    "--wrong",   "--csv",  "--out",
                                                      "--cpu-out", "--show",    "--warm", "--repeats",
                                                      "--list",    "--verbose", "--sweep"};
        if (o->count() == 0 || among(left, option) ||
            (on_gpu_ && o->get_type_name().find("NUMBER") != std::string::npos))
            continue;
        rest += " " + option + (o->get_items_expected_max() == 0 ? "" : " " + o->as<std::string>());
    }
    const fs::path program(path_),
        folder = program.has_parent_path() ? program.parent_path() : fs::path("build/cpu");
    const std::string file = program.filename().string();
    const std::string hazards = (folder / ".." / "hazards" / file).lexically_normal().string();
    const bool in_hazards = fs::absolute(folder).filename() == "hazards";
    const auto hint = [&](const char* what, const std::string& command) {
        say("%s", what);
        std::string lines =
            wrapped("  " + command, 2, prose_width - 2);  // a backslash ends each line, so that it can be copied
        for (size_t end = 0; (end = lines.find('\n', end)) != std::string::npos; end += 3) lines.insert(end, " \\");
        print(lines);
    };
    const std::string arguments = of + rest, path = shell_word(path_);
    const bool has_hazards = !in_hazards && ::access(hazards.c_str(), X_OK) == 0;
    if (has_hazards)
        hint("To see the lines that race or access memory out of bounds:", shell_word(hazards) + arguments);
    else if (on_gpu_)
        hint("To see races in shared memory:", "compute-sanitizer --tool racecheck " + path + arguments);
    if (!on_gpu_ && (!has_hazards || wrong_.empty() || !wrong_count_))
        hint("To run the threads in another order:",
             text("LAB_ORDER=%s ", std::getenv("LAB_ORDER") ? "forward" : "reverse") + path + arguments);
    if (wrong_.empty() && n_ > 100 && of != " --only whole_program" && !typed("--n") && !typed("--width"))
        hint("To try it on a few elements:", path_ + arguments + " --n 33");
}

std::string with_commas(int64_t value) {
    std::string s = std::to_string(value);
    for (size_t at = s.size(); at > 3 + (s[0] == '-');) s.insert(at -= 3, ",");
    return s;
}

std::string bytes_text(double bytes) {
    static const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    return text(unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

std::string printable(const std::string& words) {
    std::string out;
    for (size_t i = 0; i < words.size();) {
        const auto byte = [&](size_t k) {
            return i + k < words.size() ? static_cast<unsigned char>(words[i + k]) : 0u;
        };
        const unsigned first = byte(0);
        const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        unsigned code = length == 1 ? first : first & (0x7fu >> length);
        bool good = first < 0x80 || (first >= 0xc2 && first < 0xf5);
        for (size_t k = 1; k < length; ++k) {
            good = good && (byte(k) & 0xc0) == 0x80;
            code = code << 6 | (byte(k) & 0x3f);
        }
        good = good && (length < 3 || code >= (length == 3 ? 0x800u : 0x10000u)) && code <= 0x10ffff;
        good = good && (code < 0xd800 || code > 0xdfff);                 // halves of UTF-16
        good = good && code >= 0x20 && !(code >= 0x7f && code <= 0x9f);  // no control characters
        out += good ? words.substr(i, length) : text("\\x%02x", first);
        i += good ? length : 1;
    }
    constexpr size_t end = 1000;  // bytes that are kept at each end
    if (out.size() <= 2 * end) return out;
    size_t head = end, tail = out.size() - end;
    while ((out[head] & 0xc0) == 0x80) --head;
    while ((out[tail] & 0xc0) == 0x80) ++tail;
    return out.substr(0, head) + " ... " + out.substr(tail);
}

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const size_t below = static_cast<size_t>(at), above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}
std::vector<int> sorted(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    return values;
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }

std::string wanted(const std::string& got, const std::string& want, bool left, bool added, bool wrapped) {
    return "got " + got + ", wanted " + want +
           (left && added ? ": the value from before the launch; was the word written, was it reset?"
            : left        ? ": the value from before the launch; was the word written?"
            : added       ? ": the right result plus the old value; was the word reset?"
            : wrapped     ? ": off by a multiple of 2^32; did an int overflow?"
                          : "");
}

std::string text(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string s = vtext(format, arguments);
    va_end(arguments);
    return s;
}

}  // namespace lab
