// lab.cpp - the command line (CLI11), the table, the CSV file and the verdict of every sample.
#include "lab.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <new>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

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

/// Takes whole numbers from least to most, in digits alone; says so otherwise. Leading zeros go: CLI11 would take
/// them for octal.
CLI::Validator whole_number(int64_t least, int64_t most) {
    auto check = [=](std::string& s) {
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
        if (error != std::errc() || end != s.data() + s.size() || value < static_cast<uint64_t>(least) ||
            value > static_cast<uint64_t>(most))
            return "'" + s + "' is not a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most);
        s = std::to_string(value);
        return std::string();
    };
    return CLI::Validator(check, "NUMBER");
}

bool among(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// `others` are what another option takes.
CLI::Validator one_of(const std::vector<std::string>& choices, const char* what = "NAME",
                      const std::vector<std::string>& others = {}, const char* option = "") {
    auto check = [=](std::string& s) {
        if (among(choices, s)) return std::string();
        if (among(others, s)) return "'" + s + "' goes with " + option + "; type " + option + " " + s;
        std::string known;
        for (const std::string& c : choices) known += (known.empty() ? "" : ", ") + c;
        return "'" + s + "' is none of " + known;
    };
    return CLI::Validator(check, what);
}

/// The name of a file; whether it can be written is asked later.
CLI::Validator file_name() {
    auto check = [](std::string& path) {
        if (path.empty()) return std::string("an empty file name; type a name such as out.csv");
        if (path[0] == '-')
            return "'" + path + "' looks like an option; type ./" + path + " if it is a file's name";
        return std::string();
    };
    return CLI::Validator(check, "FILE");
}

std::string csv_field(const std::string& field) {  // as RFC 4180 has it
    if (field.find_first_of(",\"\n") == std::string::npos) return field;
    std::string s = "\"";
    for (char c : field) s += c == '"' ? "\"\"" : std::string(1, c);
    return s + "\"";
}

/// The status to end with: system_error, and a word on stderr, if what was printed did not reach stdout.
Status printed(Status status) {
    errno = 0;
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
    std::fprintf(stderr, "cannot write to standard output: %s; type > FILE on a disk with room, or nothing\n",
                 errno ? std::strerror(errno) : "an earlier line is lost");
    return system_error;
}

[[noreturn]] void end(const Ended& ended) {
    std::fflush(stdout);
    std::fputs(ended.text.c_str(), ended.status == all_agree ? stdout : stderr);
    std::exit(ended.status == all_agree ? printed(all_agree) : ended.status);
}

/// What nobody catches, such as the want of host memory, ends the program like any other failure of the system.
[[noreturn]] void nobody_caught() {
    std::string why = "an exception";
    try {
        if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        why = "the host's memory is exhausted; type a smaller --n";
    } catch (const std::exception& e) {
        why = e.what();
    } catch (...) {}
    std::fflush(stdout);
    std::fprintf(stderr, "the program cannot go on: %s\n", why.c_str());
    std::_Exit(system_error);
}

}  // namespace

struct Lab::CommandLine {
    CLI::App app;
    CommandLine() { app.option_defaults()->always_capture_default(); }  // the help shows the defaults
};

Lab::Lab(const char* name, const char* question)
    : name_(name), question_(question), line_(std::make_unique<CommandLine>()) {
    std::signal(SIGXFSZ, SIG_IGN);  // what grows above `ulimit -f` is an error of write(), stdout, too
    std::set_terminate(nobody_caught);
    for (int file : {0, 1, 2})  // where one is closed, the next file that is opened would get what is printed
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
    variants_.push_back({variant, how, least_threads});
}
void Lab::twin(const char* twin, const char* mistake, int least_threads) {
    twins_.push_back({twin, mistake, least_threads});
}

void Lab::option(const char* option, std::string& value, const std::vector<std::string>& choices,
                 const char* help) {
    line_->app.add_option(option, value, help)->check(one_of(choices));
    choices_.emplace_back(option);
    for (const std::string& c : choices) choices_.back() += " " + c;
}
void Lab::option(const char* option, int64_t& value, int64_t least, int64_t most, const char* help) {
    line_->app.add_option(option, value, help)
        ->transform(whole_number(least, most))
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
    app.name(name_);
    app.description(name_ + ": " + question_);
    std::string footer;
    const auto names_of = [&](const std::vector<Entry>& entries, const char* title) {
        std::vector<std::string> names;
        footer += title;
        for (const Entry& entry : entries) {
            names.push_back(entry.name);
            footer += text("  %-*s  %s\n", longest_name(), entry.name.c_str(), entry.how.c_str());
        }
        return names;
    };
    const auto variants = names_of(variants_, "variants (for --only):\n");
    const auto twins = names_of(twins_, "wrong twins (for --wrong):\n");
    std::vector<std::string> powers_of_two;
    for (int64_t t = 1; t <= 1024; t *= 2) powers_of_two.push_back(std::to_string(t));
    app.footer(footer +
               "exit status: 0 all agree, 1 a result is wrong, 2 bad command line, 3 CUDA or system error, "
               "77 no CUDA device");

    constexpr int64_t most = int64_t(1) << 50;
    bool list = false;
    if (!n_help_.empty()) app.add_option("--n", n_, n_help_)->transform(whole_number(1, most));
    if (!blocks_help_.empty())
        app.add_option("--blocks", blocks_, blocks_help_)
            ->transform(whole_number(1, std::numeric_limits<int>::max()))
            ->default_str(blocks_ ? std::to_string(blocks_) : "");
    if (threads_)
        app.add_option("--threads", threads_, "threads a block; with few, what needs more is left out")
            ->check(one_of(powers_of_two, "THREADS"));
    app.add_option("--seed", seed_, "the seed of random input and of poisoned outputs")
        ->transform(whole_number(0, std::numeric_limits<int64_t>::max()));
    app.add_option("--repeats", repeats_, "timed runs; their median counts (default 20 on a GPU, else 1)")
        ->transform(whole_number(1, 100000))
        ->default_str("");
    app.add_flag("--warm", warm_, "leave the L2 cache as the last run left it; else it is flushed before each run");
    const CLI::Option* const only = app.add_option("--only", only_, "run only this variant; may be repeated")
                                        ->check(one_of(variants, "NAME", twins, "--wrong"))
                                        ->allow_extra_args(false);  // one name each, and no [a,b]
    app.add_option("--wrong", wrong_, "run this wrong twin instead of the variants")
        ->check(one_of(twins, "NAME", variants, "--only"));
    file_option("--csv", csv_, "write the rows to this file, too");
    app.add_flag("--list", list, "print the names that --only, --wrong and the options take, and end");
    for (int i = 1; i < argc; ++i) {  // what CLI11 takes, and should not: --n= 5, --warm=no
        const std::string word = argv[i], name = word.substr(0, word.find('='));
        const CLI::Option* const o = name == word ? nullptr : app.get_option_no_throw(name);
        if (o && o->get_items_expected_max() == 0)
            return refusal(text("%s takes no value; type it alone", name.c_str()));
        if (o && word.size() == name.size() + 1)
            return refusal(text("%s= has no value; type it behind the =", name.c_str()));
    }
    std::string problem;
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return Ended{all_agree, app.help()};
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> words = app.remaining();
        for (const std::string& word : words) problem += (problem.empty() ? "not understood: " : " ") + word;
    } catch (const CLI::ArgumentMismatch& e) {
        const std::string words = e.what();
        problem = words.substr(0, words.find(':')) + " has no value; type one behind it";
    } catch (const CLI::Error& e) {
        problem = e.what();
    }
    for (const CLI::Option* o : app.get_options())
        if (o->count() > 1 && o != only)
            problem = text("%s is given %zu times; type it once", o->get_name().c_str(), o->count());
    if (!problem.empty()) return refusal(problem);
    if (!wrong_.empty() && !only_.empty())
        return refusal("--only and --wrong exclude each other; type one of them");
    for (const auto* entries : {&variants_, &twins_})
        for (const Entry& entry : *entries)
            if (too_few_threads(entry) && (entry.name == wrong_ || among(only_, entry.name)))
                return refusal(text("%s does not run with --threads %d; type --threads %d or more",
                                    entry.name.c_str(), threads(), entry.least_threads));
    if (list) {
        std::string names;
        for (const std::string& v : variants) names += "variant " + v + "\n";
        for (const std::string& t : twins) names += "twin " + t + "\n";
        for (const std::string& s : slow_) names += "slow " + s + "\n";
        for (const std::string& c : choices_) names += "choice " + c + "\n";
        for (const CLI::Option* o : app.get_options()) names += "takes " + o->get_name() + "\n";
        if (threads_) {
            names += "takes --threads";
            for (const std::string& p : powers_of_two) names += " " + p;
            names += "\n";
        }
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
            return refusal(text("%s and %s name one file; type two", first.c_str(), option.c_str()));
    }
    for (const auto& [option, path] : files_)
        if (const std::string why = path->empty() ? "" : cannot_write(*path); !why.empty())
            return Ended{system_error, text("%s: %s: %s\n", name_.c_str(), option.c_str(), why.c_str())};
    return std::nullopt;
}

int Lab::longest_name() const {
    size_t longest = 0;
    for (const auto* entries : {&variants_, &twins_})
        for (const Entry& entry : *entries) longest = std::max(longest, entry.name.size());
    return static_cast<int>(longest);
}

Ended Lab::refusal(const std::string& problem) const {
    return {bad_command_line,
            name_ + ": " + printable(problem) + "\nType " + name_ + " --help for the options and their values.\n"};
}

void Lab::refuse(const char* format, ...) const {
    va_list arguments;
    va_start(arguments, format);
    const std::string problem = vtext(format, arguments);
    va_end(arguments);
    end(refusal(problem));
}

void Lab::require_time(int64_t n, const char* option) const {
    constexpr int64_t most = 10 << 24, least = 1 << 17;  // elements in all runs; a run counts as so many at least
    if (on_gpu_) return;
    int64_t variants = !wrong_.empty();
    for (const Entry& entry : variants_) variants += wants(entry.name);
    if (!variants) return;
    const std::string runs = text("with --repeats %d of %lld variant%s takes long on the CPU device", repeats(),
                                  static_cast<long long>(variants), variants == 1 ? "" : "s");
    const char* const instead = "or less, --only one VARIANT, or run on a GPU";
    const int64_t room = most / repeats_ / variants, threads = std::max<int64_t>(threads_, 1);
    if (room < least)
        refuse("a run %s; type --repeats %lld %s", runs.c_str(), static_cast<long long>(most / least / variants),
               instead);
    if (n > room)
        refuse("%s %lld %s; type %s %lld %s", option, static_cast<long long>(n), runs.c_str(), option,
               static_cast<long long>(room), instead);
    const int64_t most_blocks = std::max<int64_t>(room / (4 * threads), 1);  // a thread takes more than an element
    if (blocks_ > most_blocks)
        refuse("--blocks %d of %lld threads %s; type --blocks %lld %s", blocks(), static_cast<long long>(threads),
               runs.c_str(), static_cast<long long>(most_blocks), instead);
}

bool Lab::typed(const char* option) const { return line_->app.count(option) > 0; }

bool Lab::wants(const std::string& variant) const {
    if (!wrong_.empty()) return variant == wrong_;
    if (std::any_of(twins_.begin(), twins_.end(), [&](const Entry& twin) { return twin.name == variant; }))
        return false;
    if (!only_.empty()) return among(only_, variant);
    return std::none_of(variants_.begin(), variants_.end(),
                        [&](const Entry& entry) { return entry.name == variant && too_few_threads(entry); });
}

void Lab::runs_on(std::string device, bool gpu) {
    device_ = std::move(device);
    on_gpu_ = gpu;
    if (!repeats_) repeats_ = gpu ? 20 : 1;
    std::printf("%s: %s\non %s\n", name_.c_str(), question_.c_str(), device_.c_str());
    std::map<int, std::string> left_out;  // by the threads that they need
    for (const Entry& entry : variants_)
        if (wants_all() && too_few_threads(entry)) left_out[entry.least_threads] += ", " + entry.name;
    std::string line;
    for (const auto& [least, names] : left_out)
        line +=
            text("; %s (%d or more%s)", names.c_str() + 2, least, least == whole_warps ? ", for whole warps" : "");
    if (!line.empty()) say("left out, as they need more --threads: %s", line.c_str() + 2);
}

void Lab::predict(double launch_ms, double bytes_per_ms) {
    launch_ms_ = launch_ms;
    nominal_bytes_per_ms_ = bytes_per_ms;
    say("predicted: %.2f us for an empty launch, and the bytes at the nominal %.0f GB/s", launch_ms * 1e3,
        bytes_per_ms / 1e6);
}

void Lab::say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::printf("%s\n", vtext(format, arguments).c_str());
    va_end(arguments);
    std::fflush(stdout);
}

void Lab::new_table(const std::string& title, bool predicted) {
    title_ = title;
    predicted_ = predicted;
    header_due_ = true;
    limit_bytes_per_ms_ = library_ms_ = 0;
    columns_.clear();
}

namespace {
constexpr int result_width = 20, column_width = 13;
}

void Lab::header() {
    name_width_ = std::max(22, longest_name());
    std::string line = text("%-*s  %*s", name_width_, "variant", result_width, "result");
    for (const std::string& c : columns_) line += text("  %*s", column_width, c.c_str());
    if (on_gpu_) {
        line += text("  %12s  %10s  %7s  %9s  %9s", "predicted us", "time us", "GB/s", "% limit", "x library");
    } else {
        line += text("  %13s", "CPU-device ms");
    }
    if (!title_.empty()) std::printf("\n%s\n", title_.c_str());
    std::printf("%s  verdict\n", line.c_str());
    header_due_ = false;
}

void Lab::row(const Row& row) {
    if (header_due_) header();
    const bool timed = std::isfinite(row.ms) && row.ms > 0;
    const double rate = timed ? row.bytes / row.ms : 0;  // bytes per millisecond
    if (row.kind == Kind::limit) limit_bytes_per_ms_ = rate;
    if (row.kind == Kind::library) library_ms_ = row.ms;

    std::vector<std::pair<std::string, std::string>> fields = {
        {"sample", name_},
        {"device", device_},
        {"n", std::to_string(n_)},
        {"threads", threads_ ? std::to_string(threads_) : ""},
        {"seed", std::to_string(seed_)},
        {"variant", row.variant},
        {"result", row.result}};
    std::string line = text("%-*s  %*s", name_width_, row.variant.c_str(), result_width, row.result.c_str());
    for (size_t i = 0; i < columns_.size(); ++i) {
        const std::string value = i < row.more.size() ? row.more[i] : "-";
        line += text("  %*s", column_width, value.c_str());
        fields.emplace_back(columns_[i], value == "-" ? "" : value);
    }
    const std::string percent =
        limit_bytes_per_ms_ > 0 && rate > 0 ? text("%.1f", 100 * rate / limit_bytes_per_ms_) : "";
    const std::string times = library_ms_ > 0 && timed ? text("%.2f", library_ms_ / row.ms) : "";
    const auto or_dash = [](const std::string& s) { return s.empty() ? "-" : s.c_str(); };
    const std::string speed = rate > 0 ? text("%.1f", rate / 1e6) : "";
    if (on_gpu_) {
        const std::string time = timed ? text("%.2f", row.ms * 1e3) : "";
        const bool known = predicted_ && row.bytes > 0 && nominal_bytes_per_ms_ > 0;
        const std::string predicted =
            known ? text("%.2f", (launch_ms_ + row.bytes / nominal_bytes_per_ms_) * 1e3) : "";
        line += text("  %12s  %10s  %7s  %9s  %9s", or_dash(predicted), or_dash(time), or_dash(speed),
                     or_dash(percent), or_dash(times));
        fields.insert(fields.end(), {{"predicted_us", predicted},
                                     {"time_us", time},
                                     {"gb_per_s", speed},
                                     {"percent_of_limit", percent},
                                     {"times_library", times},
                                     {"nominal_gb_per_s", text("%.0f", nominal_bytes_per_ms_ / 1e6)}});
    } else {
        const std::string time = timed ? text("%.2f", row.ms) : "";
        line += text("  %13s", or_dash(time));
        fields.emplace_back("cpu_device_ms", time);
    }
    const char* verdict = row.kind == Kind::limit   ? "limit"
                          : !row.wrong.empty()      ? "WRONG"
                          : row.kind == Kind::shown ? "shown"
                                                    : "ok";
    if (row.kind == Kind::shown && !row.wrong.empty()) verdict = "shown wrong";
    std::printf("%s  %s\n", line.c_str(), verdict);
    if (!row.wrong.empty()) std::printf("    %s: %s\n", row.variant.c_str(), row.wrong.c_str());
    std::fflush(stdout);
    fields.emplace_back("verdict", verdict);
    records_.push_back(std::move(fields));
    if (row.kind == Kind::variant || row.kind == Kind::library) {
        ++checked_;
        wrong_count_ += !row.wrong.empty();
    }
}

void Lab::program(bool (*whole_program)()) {
    say("\nthe tutorial's whole program, on its own sizes");
    const bool right = whole_program();
    say("%s", right ? "ok" : "WRONG");
    ++checked_;
    wrong_count_ += !right;
}

void Lab::record(std::vector<std::pair<std::string, std::string>> fields) {
    fields.insert(fields.begin(), {"sample", name_});  // not the device: there may be thousands of them
    records_.push_back(std::move(fields));
}

int Lab::verdict() {
    if (!csv_.empty()) {
        std::vector<std::string> header;
        for (const auto& fields : records_)
            for (const auto& [column, value] : fields)
                if (std::find(header.begin(), header.end(), column) == header.end()) header.push_back(column);
        std::string csv;
        for (size_t i = 0; i < header.size(); ++i) csv += (i ? "," : "") + csv_field(header[i]);
        for (const auto& fields : records_) {
            const std::map<std::string, std::string> value(fields.begin(), fields.end());
            csv += "\n";
            for (size_t i = 0; i < header.size(); ++i) {
                const auto it = value.find(header[i]);
                csv += (i ? "," : "") + (it == value.end() ? "" : csv_field(it->second));
            }
        }
        write_file(csv_, csv + "\n");
    }
    if (checked_ == 0)
        std::printf("\nFAILED: %s: nothing was checked\n", name_.c_str());
    else if (wrong_count_)
        std::printf("\nFAILED: %s: %d of %d results differ from the CPU's\n", name_.c_str(), wrong_count_,
                    checked_);
    else if (!wrong_.empty())
        std::printf("\nPASSED, by luck: %s: %s came out right this time; it is still wrong\n", name_.c_str(),
                    wrong_.c_str());
    else
        std::printf("\nPASSED: %s: %d result%s agree%s with the CPU's\n", name_.c_str(), checked_,
                    checked_ == 1 ? "" : "s", checked_ == 1 ? "s" : "");
    return printed(status());
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
        good = good && code >= 0x20 && !(code >= 0x7f && code <= 0x9f);  // what a terminal obeys
        out += good ? words.substr(i, length) : text("\\x%02x", first);
        i += good ? length : 1;
    }
    constexpr size_t end = 1000;  // as much of either end stays
    if (out.size() <= 2 * end) return out;
    size_t head = end, tail = out.size() - end;
    while ((out[head] & 0xc0) == 0x80) --head;
    while ((out[tail] & 0xc0) == 0x80) ++tail;
    return out.substr(0, head) + " ... " + out.substr(tail);
}

std::string text(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string s = vtext(format, arguments);
    va_end(arguments);
    return s;
}

}  // namespace lab
