// lab.cpp - the command line (CLI11), the table, the CSV file and the verdict of every sample.
#include "lab.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace lab {

namespace {

constexpr int64_t least_threads = 32;  // the warp operations want whole warps

std::string vtext(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    std::string s(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
    std::vsnprintf(s.data(), s.size() + 1, format, again);
    va_end(again);
    return s;
}

/// Takes whole numbers from least to most; says so otherwise.
CLI::Validator whole_number(int64_t least, int64_t most) {
    auto check = [=](std::string& s) {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
        if (error == std::errc() && end == s.data() + s.size() && value >= least && value <= most)
            return std::string();
        return "'" + s + "' is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    };
    return CLI::Validator(check, "NUMBER");
}

CLI::Validator power_of_two(int64_t least, int64_t most) {
    auto check = [=](std::string& s) {
        std::string known;
        for (int64_t p = least; p <= most; p *= 2) {
            if (s == std::to_string(p)) return std::string();
            known += (known.empty() ? "" : ", ") + std::to_string(p);
        }
        return "'" + s + "' is none of " + known;
    };
    return CLI::Validator(check, "THREADS");
}

CLI::Validator one_of(const std::vector<std::string>& choices) {
    auto check = [=](std::string& s) {
        if (std::find(choices.begin(), choices.end(), s) != choices.end()) return std::string();
        std::string known;
        for (const std::string& c : choices) known += (known.empty() ? "" : ", ") + c;
        return "'" + s + "' is none of " + known;
    };
    return CLI::Validator(check, "NAME");
}

/// A path that a file can be written to: a device, or a file whose neighbour PATH.part can be made.
CLI::Validator writable() {
    auto check = [](std::string& path) {
        struct stat status;
        if (path.empty()) return std::string("an empty file name; type a name such as out.csv");
        const bool exists = ::stat(path.c_str(), &status) == 0;
        if (exists && S_ISDIR(status.st_mode)) return "'" + path + "' is a folder; type a file name";
        if (!exists || S_ISREG(status.st_mode)) {
            const int file = ::open((path + ".part").c_str(), O_WRONLY | O_CREAT, 0666);
            if (file < 0)
                return "cannot write '" + path + "': " + std::strerror(errno) +
                       "; type a file in a folder of yours";
            ::close(file);
            ::unlink((path + ".part").c_str());
        }
        if (exists && ::access(path.c_str(), W_OK) != 0)
            return "cannot write '" + path + "': " + std::strerror(errno);
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

}  // namespace

struct Lab::CommandLine {
    CLI::App app;
    CommandLine() { app.option_defaults()->always_capture_default(); }  // the help shows the defaults
};

Lab::Lab(const char* name, const char* question)
    : name_(name), question_(question), line_(std::make_unique<CommandLine>()) {}
Lab::~Lab() = default;

void Lab::defaults(int64_t n, int blocks, int threads, const char* n_help, const char* blocks_help) {
    n_ = n;
    blocks_ = blocks;
    threads_ = threads;
    n_help_ = n_help;
    blocks_help_ = blocks_help;
}
void Lab::most_threads(int threads) { most_threads_ = threads; }
void Lab::variant(const char* variant, const char* how) { variants_.emplace_back(variant, how); }
void Lab::twin(const char* twin, const char* mistake) { twins_.emplace_back(twin, mistake); }

void Lab::option(const char* option, std::string& value, const std::vector<std::string>& choices,
                 const char* help) {
    line_->app.add_option(option, value, help)->check(one_of(choices));
    choices_.emplace_back(option);
    for (const std::string& c : choices) choices_.back() += " " + c;
}
void Lab::option(const char* option, int64_t& value, int64_t least, int64_t most, const char* help) {
    line_->app.add_option(option, value, help)
        ->check(whole_number(least, most))
        ->default_str(value < least ? "" : std::to_string(value));
}
void Lab::option(const char* option, bool& value, const char* help) { line_->app.add_flag(option, value, help); }
void Lab::file_option(const char* option, std::string& path, const char* help) {
    line_->app.add_option(option, path, help)->check(writable());
}

void Lab::parse(int argc, char** argv) {
    CLI::App& app = line_->app;
    app.name(name_);
    app.description(name_ + ": " + question_);
    std::vector<std::string> variants, twins;
    std::string footer = "variants (for --only):\n";
    size_t width = 0;
    for (const auto* list : {&variants_, &twins_})
        for (const auto& [name, how] : *list) width = std::max(width, name.size());
    const int pad = static_cast<int>(width);
    for (const auto& [name, how] : variants_) {
        variants.push_back(name);
        footer += text("  %-*s  %s\n", pad, name.c_str(), how.c_str());
    }
    footer += "wrong twins (for --wrong):\n";
    for (const auto& [name, mistake] : twins_) {
        twins.push_back(name);
        footer += text("  %-*s  %s\n", pad, name.c_str(), mistake.c_str());
    }
    app.footer(footer +
               "exit status: 0 all agree, 1 a result is wrong, 2 bad command line, 3 CUDA or system error, "
               "77 no CUDA device");

    constexpr int64_t most = int64_t(1) << 50;
    bool list = false;
    if (!n_help_.empty()) app.add_option("--n", n_, n_help_)->check(whole_number(1, most));
    if (!blocks_help_.empty())
        app.add_option("--blocks", blocks_, blocks_help_)
            ->check(whole_number(1, std::numeric_limits<int>::max()))
            ->default_str(blocks_ ? std::to_string(blocks_) : "");
    if (threads_)
        app.add_option("--threads", threads_, "threads a block")->check(power_of_two(least_threads, most_threads_));
    app.add_option("--seed", seed_, "the random input's seed")
        ->check(whole_number(0, std::numeric_limits<int64_t>::max()));
    app.add_option("--repeats", repeats_, "timed runs; their median counts (default 20 on a GPU, else 1)")
        ->check(whole_number(1, 100000))
        ->default_str("");
    app.add_flag("--warm", warm_, "leave the L2 cache as the last run left it; else it is flushed before each run");
    app.add_option("--only", only_, "run only this variant; may be repeated")->check(one_of(variants));
    app.add_option("--wrong", wrong_, "run this wrong twin instead of the variants")->check(one_of(twins));
    app.add_option("--csv", csv_, "write the rows to this file, too")->check(writable());
    app.add_flag("--list", list, "print the names that --only, --wrong and the options take, and end");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::printf("%s", app.help().c_str());
        std::exit(all_agree);
    } catch (const CLI::Error& e) {
        refuse("%s", e.what());
    }
    if (!wrong_.empty() && !only_.empty()) refuse("--only and --wrong exclude each other");
    if (!list) return;
    for (const std::string& v : variants) std::printf("variant %s\n", v.c_str());
    for (const std::string& t : twins) std::printf("twin %s\n", t.c_str());
    for (const std::string& c : choices_) std::printf("choice %s\n", c.c_str());
    for (const CLI::Option* o : app.get_options()) std::printf("takes %s\n", o->get_name().c_str());
    if (threads_) {
        std::printf("takes --threads");
        for (int64_t t = least_threads; t <= most_threads_; t *= 2) std::printf(" %lld", static_cast<long long>(t));
        std::printf("\n");
    }
    std::exit(all_agree);
}

void Lab::refuse(const char* format, ...) const {
    va_list arguments;
    va_start(arguments, format);
    const std::string problem = vtext(format, arguments);
    va_end(arguments);
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\nType %s --help for the options and their values.\n", name_.c_str(),
                 problem.c_str(), name_.c_str());
    std::exit(bad_command_line);
}

bool Lab::wants(const std::string& variant) const {
    return wrong_.empty() && (only_.empty() || std::find(only_.begin(), only_.end(), variant) != only_.end());
}

void Lab::runs_on(std::string device, bool gpu) {
    device_ = std::move(device);
    on_gpu_ = gpu;
    if (!repeats_) repeats_ = gpu ? 20 : 1;
    std::printf("%s: %s\non %s\n", name_.c_str(), question_.c_str(), device_.c_str());
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
    std::printf("\n%s\n", title.c_str());
    predicted_ = predicted;
    header_due_ = true;
    limit_bytes_per_ms_ = library_ms_ = 0;
    columns_.clear();
}

namespace {
constexpr int result_width = 20, column_width = 13;
}

void Lab::header() {
    size_t width = 22;
    for (const auto* list : {&variants_, &twins_})
        for (const auto& [name, how] : *list) width = std::max(width, name.size());
    name_width_ = static_cast<int>(width);
    std::string line = text("%-*s  %*s", name_width_, "variant", result_width, "result");
    for (const std::string& c : columns_) line += text("  %*s", column_width, c.c_str());
    if (on_gpu_) {
        line += text("  %12s  %10s  %7s  %9s  %9s", "predicted us", "time us", "GB/s", "% limit", "x library");
    } else {
        line += text("  %13s", "CPU-device ms");
    }
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

void Lab::record(std::vector<std::pair<std::string, std::string>> fields) {
    fields.insert(fields.begin(), {{"sample", name_}, {"device", device_}});
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
    if (checked_ == 0) {
        std::printf("\nFAILED: %s: nothing was checked\n", name_.c_str());
        return result_wrong;
    }
    if (wrong_count_) {
        std::printf("\nFAILED: %s: %d of %d results differ from the CPU's\n", name_.c_str(), wrong_count_,
                    checked_);
        return result_wrong;
    }
    if (!wrong_.empty()) {
        std::printf("\nPASSED, by luck: %s: %s came out right this time; it is still wrong\n", name_.c_str(),
                    wrong_.c_str());
        return all_agree;
    }
    std::printf("\nPASSED: %s: %d result%s agree%s with the CPU's\n", name_.c_str(), checked_,
                checked_ == 1 ? "" : "s", checked_ == 1 ? "s" : "");
    return all_agree;
}

void write_file(const std::string& path, const std::string& contents) {
    struct stat status;
    const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);  // a pipe, a terminal
    const std::string target = special ? path : path + ".part";
    std::ofstream out(target, std::ios::binary | std::ios::trunc);
    out << contents;
    out.close();
    if (out && (special || std::rename(target.c_str(), path.c_str()) == 0)) return;
    const std::string reason = std::strerror(errno);
    if (!special) std::remove(target.c_str());
    std::fflush(stdout);
    std::fprintf(stderr, "cannot write %s: %s\n", path.c_str(), reason.c_str());
    std::exit(system_error);
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

std::string text(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string s = vtext(format, arguments);
    va_end(arguments);
    return s;
}

}  // namespace lab
