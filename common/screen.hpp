// screen.hpp - what lab.cpp knows about screens and typing: wrapping, colour, progress, numbers, names nearly
// right.
#pragma once
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace lab {

/// The widest line of prose; tables of a GPU may be wider.
constexpr size_t prose_width = 80, gpu_table_width = 100;

/// The columns that UTF-8 text takes on a screen; letters of East Asia take two.
inline size_t width_of(const std::string& text) {
    size_t width = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xc0) == 0x80) continue;
        const bool wide = (byte >= 0xe3 && byte <= 0xed) || byte == 0xef || byte >= 0xf0;
        width += wide ? 2 : 1;
    }
    return width;
}

/// Breaks each line at spaces so that it fits; what goes on in the next line is set in by `hanging` columns more
/// than the line. A word is never broken, as it may be a path to copy.
inline std::string wrapped(const std::string& text, size_t hanging = 2, size_t most = prose_width) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        const size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const std::string indent(begin + hanging, ' ');
        for (size_t least = begin; width_of(line) > most; least = indent.size()) {
            size_t space = std::string::npos;  // the last one before which all fits
            for (size_t s = line.find(' ', least); s != std::string::npos; s = line.find(' ', s + 1)) {
                const std::string before = line.substr(line.rfind(' ', s - 1) + 1, s - line.rfind(' ', s - 1) - 1);
                if (before[0] == '-' || before == "type") continue;  // what is to be typed stays in one piece
                if (space == std::string::npos || width_of(line.substr(0, s)) <= most) space = s;
            }
            if (space == std::string::npos) break;
            out += line.substr(0, line.find_last_not_of(' ', space) + 1) + "\n";
            line.replace(0, std::min(line.find_first_not_of(' ', space), line.size()), indent);
        }
        out += line + (end < text.size() ? "\n" : "");
        at = end + 1;
    }
    return out;
}

/// Does this stream show colour? Neither pipes and files do, nor terminals whose user has asked for none.
inline bool shows_colour(int stream) {
    const char *none = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
    return ::isatty(stream) && !(none && *none) && term && *term && std::string_view(term) != "dumb";
}

/// A verdict in its colour: green, red, or yellow for what is neither.
inline std::string coloured(const std::string& verdict) {
    if (!shows_colour(1)) return verdict;
    const char* colour = verdict == "ok" || verdict == "PASSED"      ? "32"
                         : verdict == "WRONG" || verdict == "FAILED" ? "1;31"
                         : verdict == "limit" || verdict == "shown"  ? ""
                                                                     : "33";
    return *colour ? std::string("\033[") + colour + "m" + verdict + "\033[0m" : verdict;
}

/// While nothing has been printed for two seconds, a line on a terminal's stderr says what is being worked on, and
/// for how long; it is overwritten. A thread of its own, as nobody else is free to do so.
class Progress {
public:
    /// What the line is to say, from now on; "" for none. What was on the screen is wiped.
    static void says(const std::string& line) {
        if (!::isatty(2)) return;
        const std::lock_guard<std::mutex> hold(mutex());
        if (shown()) std::fputs("\r\033[K", stderr);
        shown() = false;
        words() = line;
        since() = clock::now();
        if (line.empty() || started()) return;
        started() = true;
        sigset_t all, before;
        sigfillset(&all);  // signals are for the program's own thread
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread(watch).detach();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

private:
    using clock = std::chrono::steady_clock;
    [[noreturn]] static void watch() {
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            const std::lock_guard<std::mutex> hold(mutex());
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - since()).count();
            if (words().empty() || seconds < 2) continue;
            std::fprintf(stderr, "\r\033[K%s, for %lld s\r", words().c_str(), static_cast<long long>(seconds));
            std::fflush(stderr);
            shown() = true;
        }
    }
    // They outlive main(), as the thread does.
    static std::mutex& mutex() {
        static auto* const m = new std::mutex;
        return *m;
    }
    static std::string& words() {
        static auto* const s = new std::string;
        return *s;
    }
    static clock::time_point& since() {
        static clock::time_point t;
        return t;
    }
    static bool& shown() {
        static bool is = false;
        return is;
    }
    static bool& started() {
        static bool is = false;
        return is;
    }
};

/// The whole number that is written as digits, 2.5e6 or 2^20; the largest there is if it is larger; nothing if it
/// is none.
inline std::optional<uint64_t> whole(const std::string& written) {
    static constexpr uint64_t largest = std::numeric_limits<uint64_t>::max();
    const auto digits_of = [](const std::string& s) -> std::optional<uint64_t> {
        if (s.empty() || s.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
        return error == std::errc() ? value : largest;
    };
    if (const size_t hat = written.find('^'); hat != std::string::npos) {
        const auto base = digits_of(written.substr(0, hat)), power = digits_of(written.substr(hat + 1));
        if (!base || !power) return std::nullopt;
        uint64_t value = 1;
        for (uint64_t k = 0; k < *power && *base != 1 && value != 0 && value != largest; ++k)
            value = *base != 0 && value > largest / *base ? largest : value * *base;
        return value;
    }
    const size_t e = std::min(written.find_first_of("eE"), written.size());
    std::string digits = written.substr(0, e), power = e < written.size() ? written.substr(e + 1) : "0";
    if (power.size() > 1 && power[0] == '+') power.erase(0, 1);
    size_t behind = 0;  // digits behind the point
    if (const size_t point = digits.find('.'); point != std::string::npos) {
        behind = digits.size() - point - 1;
        if (behind == 0 || point == 0) return std::nullopt;
        digits.erase(point, 1);
    }
    const auto exponent = digits_of(power);
    if (!exponent || !digits_of(digits)) return std::nullopt;
    if (digits.find_first_not_of('0') == std::string::npos) return 0;
    if (*exponent >= behind) {
        if (*exponent - behind > 19) return largest;
        digits.append(*exponent - behind, '0');
    } else {
        const size_t kept = digits.size() - (behind - *exponent);
        if (digits.find_first_not_of('0', kept) != std::string::npos) return std::nullopt;
        digits.erase(kept);
    }
    return digits_of(digits);
}

/// The name that was probably meant: the nearest one, if few letters are missing, too many, others or exchanged; or
/// the one that begins so.
inline std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
    std::string best;
    size_t least = 2 + typed.size() / 5;
    for (const std::string& name : names) {
        if (name.size() > 100 || typed.size() > 100) continue;
        std::vector<std::vector<size_t>> steps(typed.size() + 1, std::vector<size_t>(name.size() + 1));
        for (size_t i = 0; i <= typed.size(); ++i)
            for (size_t k = 0; k <= name.size(); ++k) {
                steps[i][k] = i == 0 ? k : i;
                if (i == 0 || k == 0) continue;
                steps[i][k] = std::min({steps[i - 1][k] + 1, steps[i][k - 1] + 1,
                                        steps[i - 1][k - 1] + (typed[i - 1] != name[k - 1])});
                if (i > 1 && k > 1 && typed[i - 1] == name[k - 2] && typed[i - 2] == name[k - 1])
                    steps[i][k] = std::min(steps[i][k], steps[i - 2][k - 2] + 1);
            }
        const bool begins = typed.size() > 2 && name.compare(0, typed.size(), typed) == 0;
        const size_t away = begins ? 1 : steps[typed.size()][name.size()];
        if (away < least && away < std::max(typed.size(), name.size()) / 2 + 1) {
            best = name;
            least = away;
        }
    }
    return best;
}

}  // namespace lab
