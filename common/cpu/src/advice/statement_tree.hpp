// statement_tree.hpp - the statements of a source file. driver/statement_tree.cpp parses the file when the program
// is compiled, and the program contains the result: advice needs neither a parser nor the source file.
//
// The form in the program is two strings. The first is the text without comments and directives. The second has
// words separated by blanks: the number of functions, and for each its name, the place and the end of its
// parameters, and its body. A statement is its kind, begin, end, head, head_end, and the number of its parts, which
// follow. A place is a number of characters from the beginning.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudacpu {

/// A statement, from its first character to the one after its last.
struct Statement {
    enum Kind { simple, block, branch, loop } kind;
    size_t begin, end;
    size_t head = 0, head_end = 0;   // of a branch or loop: its parentheses
    std::vector<Statement> parts{};  // of a block; other statements hold one or two
    bool holds(size_t at) const { return begin <= at && at < end; }
    bool asks(size_t at) const { return head <= at && at < head_end; }
    /// Skips the braces around a single statement.
    const Statement& bare() const { return kind == block && parts.size() == 1 ? parts[0] : *this; }
};
using Path = std::vector<const Statement*>;  // statements that contain a place, the function's body first

struct Function {
    std::string name;
    size_t head, head_end;  // its parameters
    Statement body;
    Path path(size_t at) const {
        Path found{&body};
        for (;;) {
            const auto& parts = found.back()->parts;
            const auto part = std::ranges::find_if(parts, [&](const Statement& s) { return s.holds(at); });
            if (part == parts.end()) return found;
            found.push_back(&*part);
        }
    }
};

/// Whether the character can be part of a name.
inline bool in_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }

inline size_t skip_space(const std::string& s, size_t at) {
    while (at < s.size() && isspace(static_cast<unsigned char>(s[at]))) ++at;
    return at;
}

inline std::string word_at(const std::string& s, size_t at) {
    size_t end = at;
    while (end < s.size() && in_word(s[end])) ++end;
    return at < s.size() ? s.substr(at, end - at) : "";
}

/// The position after the bracket that closes the one at `at`.
inline size_t closed(const std::string& s, size_t at) {
    int depth = 0;
    for (; at < s.size(); ++at) {
        depth += strchr("([{", s[at]) ? 1 : strchr(")]}", s[at]) ? -1 : 0;
        if (!depth) return at + 1;
    }
    return s.size();
}

/// Splits a text at its commas, except those in brackets.
inline std::vector<std::string> listed(const std::string& list) {
    std::vector<std::string> parts;
    for (size_t from = 0, end; from < list.size(); from = end + 1) {
        from = skip_space(list, from);
        for (end = from; end < list.size() && list[end] != ',';)
            end = strchr("([{", list[end]) ? closed(list, end) : end + 1;
        parts.push_back(list.substr(from, end - from));
    }
    return parts;
}

}  // namespace cudacpu
