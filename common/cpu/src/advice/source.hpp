// source.hpp - the statements and the text of a source file, as the rules need them. driver/StatementTree.pm parses
// the file when the program is compiled, and the program contains the result as two strings.
//
// The first is the text without comments and directives. The second has words separated by blanks: the number of
// functions, and for each its name, the place and the end of its parameters, and its body. A statement is its kind,
// begin, end, head, head_end, and the number of its parts, which follow. A place is a number of characters from the
// beginning.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
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

enum Who { everybody, whole_warps, some };  // of the threads of a block

struct Value {  // of a variable
    const Function* f;
    size_t place;
    std::string code;
    bool sets = false;  // it does not depend on the value before
};

/// A source text and its functions. A search that finds nothing returns text.npos, or a place past its end.
class Source {
    std::vector<size_t> starts{0, 0};  // first characters of the lines, whose numbers begin at 1
    friend int statement_tree(const char* file, const char* text, const char* tree);

    bool holds_barrier(const Statement& s) const;
    std::vector<Value> values(const Function& f, const std::string& name) const;
    std::vector<Value> given(const Function& f, const std::string& name) const;

public:
    std::string text;
    std::vector<Function> functions;  // a lambda precedes the function that holds it

    /// The source file, whose statements the program contains; null if it does not.
    static const Source* of(const std::string& file);

    // ---- text
    std::string cut(size_t from, size_t to) const { return text.substr(from, to - from); }
    std::string code(size_t from, size_t to) const;  // with single blanks for white space
    std::string code(const Statement& s) const;      // without its semicolon
    std::string condition(const Statement& s) const { return code(s.head + 1, s.head_end - 1); }
    int line_at(size_t at) const;
    size_t start_of(int line) const { return line > 0 && size_t(line) < starts.size() ? starts[line] : text.npos; }
    std::string line(int number) const;                    // its text
    size_t spot(int line, const std::string& name) const;  // where the line uses the name
    size_t first_in(int line) const;                       // its first atomic, or its first statement

    // ---- names, as whole words
    size_t word(const std::string& name, size_t from, size_t to, bool members = true) const;
    std::vector<size_t> words(const std::string& name, size_t from, size_t to, bool members = true) const;
    size_t variable(const std::string& name, size_t from, size_t to) const { return word(name, from, to, false); }
    std::vector<size_t> variables(const std::string& name, size_t from, size_t to) const {
        return words(name, from, to, false);
    }
    std::vector<size_t> calls(const std::string& name, size_t from, size_t to) const;  // no launches
    bool has(std::initializer_list<const char*> names, size_t from, size_t to) const;
    bool has(std::initializer_list<const char*> names, const Statement& s) const {
        return has(names, s.begin, s.end);
    }
    std::string object_of(size_t member) const;  // tile of tile.sync(), by the place of sync

    // ---- functions and statements
    const Function* function_at(size_t at) const;
    /// The place, and the places that call its function.
    std::vector<std::pair<const Function*, size_t>> callers(size_t at) const;
    /// Where the function has the place, or calls what has it.
    size_t place_in(const Function* f, size_t at) const;
    /// The innermost statement where the line uses the name; nullptr if it is in no function.
    const Statement* statement_in(int line, const std::string& name) const;
    bool begins_with(const Statement& s, const char* name) const { return word_at(text, s.begin) == name; }
    bool ends_there(const Statement& s) const {
        return begins_with(s, "return") || begins_with(s, "break") || begins_with(s, "continue");
    }
    bool only_waits(const Statement& s) const;  // a loop whose body does nothing

    // ---- values
    /// What the function computes a variable from, if it sets it once; "" for a parameter.
    std::optional<std::string> definition(const Function& f, const std::string& name) const;
    /// The expression with its variables replaced by what they are computed from.
    std::string expanded(const Function& f, std::string expression) const;

    // ---- threads
    /// Which threads of a block have the same value of an expression.
    Who share(const Function& f, const std::string& expression, int depth = 0) const;
    Who enter(const Function& f, const Statement& s) const;     // a branch, or each iteration of a loop
    Who go_round(const Function& f, const Statement& s) const;  // enter, and do not break or continue
    /// Which threads enter all of the first n statements of a path.
    Who come(const Function& f, const Path& path, size_t n) const;
};

}  // namespace cudacpu
