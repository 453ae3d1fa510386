// text.hpp - formatted text, and the bytes of values.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace cudacpu {

/// What printf would print; at most 2000 bytes.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
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

/// The first eight bytes at the address, or fewer if there are fewer.
inline uint64_t value_at(const volatile void* address, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, const_cast<const void*>(address), std::min(bytes, sizeof value));
    return value;
}
/// A hash of the words so far, continued with one more word.
inline uint64_t mix(uint64_t mixed, uint64_t word) {
    mixed = (mixed ^ word) * 0x9e3779b97f4a7c15;
    return mixed ^ mixed >> 29;
}

}  // namespace cudacpu
