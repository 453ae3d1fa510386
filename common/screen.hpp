// screen.hpp - output and input of lab.cpp: wrapped lines, colour, progress, numbers, and suggestions for mistyped
// names.
#pragma once
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// Quotes a word for a shell: in single quotes if it has a blank or another special character.
inline std::string shell_word(const std::string& word) {
    const auto plain = [](unsigned char c) {
        return c >= 0x80 || std::isalnum(c) || std::strchr("/._-+=:,@%^", c);
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

/// Breaks each line at spaces so that it fits. Continuation lines are indented by `hanging` more columns. A word is
/// never broken, and neither is text in single quotes, because it may be a path to copy.
inline std::string wrapped(const std::string& text, size_t hanging = 2, size_t most = prose_width) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        const size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const std::string indent(begin + hanging, ' ');
        for (size_t least = begin; width_of(line) > most; least = indent.size()) {
            size_t space = std::string::npos;  // the last space up to which the line fits
            for (size_t s = least, word = least; s < line.size(); ++s) {
                const size_t close = line[s] == '\'' ? line.find('\'', s + 1) : std::string::npos;
                const auto before = static_cast<unsigned char>(s ? line[s - 1] : ' ');
                if (line[s] == '\\') {
                    ++s;  // 'it'\''s': the apostrophe belongs to the word
                } else if (close != std::string::npos && before < 0x80 && !std::isalnum(before)) {
                    s = close;
                } else if (line[s] == ' ') {
                    const bool typed = line[word] == '-' || line.compare(word, s - word, "type") == 0;
                    word = s + 1;
                    if (typed) continue;  // a command to type is not broken
                    if (space == std::string::npos || width_of(line.substr(0, s)) <= most) space = s;
                }
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

/// Does this stream show colour? Only terminals do, unless the user has set NO_COLOR.
inline bool shows_colour(int stream) {
    const char *none = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
    return ::isatty(stream) && !(none && *none) && term && *term && std::string_view(term) != "dumb";
}

/// A verdict in its colour: green if right, red if wrong, otherwise yellow.
inline std::string coloured(const std::string& verdict) {
    if (!shows_colour(1)) return verdict;
    const char* colour = verdict == "ok" || verdict == "PASSED"      ? "32"
                         : verdict == "WRONG" || verdict == "FAILED" ? "1;31"
                         : verdict == "limit" || verdict == "shown"  ? ""
                                                                     : "33";
    return *colour ? std::string("\033[") + colour + "m" + verdict + "\033[0m" : verdict;
}

/// If nothing has been printed for two seconds, shows on a terminal's stderr what is running, and for how long. The
/// next output overwrites this line. A separate thread prints it, because the main thread is busy.
class Progress {
public:
    /// Sets the text of the line from now on ("": no line), and erases the line on the screen.
    static void says(const std::string& line) {
        if (!::isatty(2)) return;
        State& s = state();
        const std::lock_guard<std::mutex> hold(s.mutex);
        if (s.shown) std::fputs("\r\033[K", stderr);
        s.shown = false;
        s.words = line;
        s.since = clock::now();
        if (line.empty() || s.started) return;
        s.started = true;
        sigset_t all, before;
        sigfillset(&all);  // signals go to the main thread
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread(watch).detach();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

private:
    using clock = std::chrono::steady_clock;
    struct State {
        std::mutex mutex;
        std::string words;
        clock::time_point since;
        bool shown = false, started = false;
    };
    static State& state() {
        static auto* const s = new State;  // outlives main(), as the thread does
        return *s;
    }
    [[noreturn]] static void watch() {
        State& s = state();
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            const std::lock_guard<std::mutex> hold(s.mutex);
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - s.since).count();
            if (s.words.empty() || seconds < 2) continue;
            std::fprintf(stderr, "\r\033[K%s, for %lld s\r", s.words.c_str(), static_cast<long long>(seconds));
            std::fflush(stderr);
            s.shown = true;
        }
    }
};

/// Reads a whole number that is written as digits, 2.5e6 or 2^20. Returns the largest uint64_t if the number is
/// larger, and nothing if the text is not a whole number.
inline std::optional<uint64_t> whole(const std::string& written) {
    constexpr uint64_t largest = std::numeric_limits<uint64_t>::max();
    const auto consists_of = [](const std::string& s, const char* letters) {  // and begins and ends with a digit
        return !s.empty() && s.find_first_not_of(letters) == std::string::npos &&
               std::isdigit(static_cast<unsigned char>(s.front())) &&
               std::isdigit(static_cast<unsigned char>(s.back()));
    };
    const size_t hat = written.find('^'), point = written.find('.');
    const std::string base = written.substr(0, hat), power = hat < written.size() ? written.substr(hat + 1) : "1";
    const char* const digits = "0123456789";
    uint64_t exact = 0;
    if (hat == std::string::npos && consists_of(written, digits)) {
        const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), exact);
        return error == std::errc() ? exact : largest;
    }
    if (!consists_of(base, hat < written.size() ? digits : "0123456789.eE+") || !consists_of(power, digits) ||
        (point < base.size() && !consists_of(base.substr(point + 1, 1), digits)))
        return std::nullopt;
    char* end = nullptr;
    const long double number = std::strtold(base.c_str(), &end);
    const long double value = std::pow(number, std::strtold(power.c_str(), nullptr));
    if (*end != '\0' || value != std::floor(value)) return std::nullopt;
    return value < 0x1p64L ? static_cast<uint64_t>(value) : largest;
}

/// Returns the name that was probably meant: one that begins with the typed text, or the nearest one, if few
/// letters are missing, added, wrong or exchanged.
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
