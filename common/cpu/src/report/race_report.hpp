// race_report.hpp - the findings of the race detector, as the advice needs them.
#pragma once
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/text.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

struct Line {
    std::string place, file;  // "sum.cu:12", "sum.cu"
    int number;
};
const Line& line_of(uint64_t site);

struct Pair {  // all races between two lines
    Line a, b;
    Race race;  // one of them: the one between the most distant threads
    bool adds, both_write, equal;
    std::string name;  // the name of the array
};

struct Sentence {
    const char *english, *chinese;
};
/// Whether LC_ALL, else LC_MESSAGES, else LANG begins with zh.
bool in_chinese();
inline const char* as_argument(const std::string& s) { return s.c_str(); }
template <class T>
requires(!std::is_same_v<T, std::string>) T as_argument(T x) { return x; }

/// The sentence in the user's language.
template <class... T> std::string say(const Sentence& s, const T&... arguments) {
    const char* const words = in_chinese() ? s.chinese : s.english;
    if constexpr (sizeof...(T) == 0) return words;
    else return text(words, as_argument(arguments)...);
}

struct Edit {
    std::string words;      // "put __syncthreads() after \1"; \1: the lines
    std::set<int> lines{};  // edits with the same words are one
};
struct Advice {
    std::string reason;
    std::vector<Edit> edits{};
    int ends_loop = 0;      // the advice ends each iteration of the loop in that line
    int after_loop = 0;     // the advice goes after the loop in that line
    bool lockstep = false;  // it orders two lanes of a warp
    bool empty() const { return reason.empty() && edits.empty(); }
    bool only_puts() const { return reason.empty() && !edits.empty(); }
    void add(const Edit& edit);
    void merge(const Advice& other);  // with the same key
    std::string key() const;          // the same for advice that differs only in the lines of its edits
    std::string words() const;
};

}  // namespace cudacpu::race
