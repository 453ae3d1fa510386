// source.hpp - the statements and the text of a source file, as the rules need them.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advice/statement_tree.hpp"

namespace cudacpu {

class Source : public Code {
    std::vector<size_t> starts{0, 0};  // first characters of the lines, whose numbers begin at 1
    friend int statement_tree(const char* file, const char* text, const char* tree);

public:
    /// The source file, whose statements the program contains; null if it does not.
    static const Source* of(const std::string& file);

    int line_at(size_t at) const;
    std::string line(int number) const;  // its text
    size_t start_of(int number) const {
        return number > 0 && size_t(number) < starts.size() ? starts[number] : text.npos;
    }
    std::string code(size_t from, size_t to) const;        // with single blanks for white space
    std::string code(const Statement& s) const;            // without its semicolon
    std::string condition(const Statement& s) const;       // between the parentheses of a branch or loop
    size_t spot(int line, const std::string& name) const;  // where the line uses the name
    size_t first_in(int line) const;                       // its first atomic, or its first statement
    std::string name_at(size_t at) const;                  // the name that begins here, or ""
    /// The innermost statement where the line uses the name; nullptr if it is in no function.
    const Statement* statement_in(int line, const std::string& name) const;
    /// What the function computes a variable from, if it sets it once; "" for a parameter.
    std::optional<std::string> definition(const Function& f, const std::string& name) const;
    /// The expression with its variables replaced by what they are computed from.
    std::string expanded(const Function& f, std::string expression) const;
    /// The place, and the places that call its function.
    std::vector<std::pair<const Function*, size_t>> callers(size_t at) const;
    /// Where the function has the place, or calls what has it; npos if it does not.
    size_t place_in(const Function* f, size_t at) const;
    std::string object_of(size_t member) const;    // tile of tile.sync(), by the place of sync
    bool holds_barrier(const Statement& s) const;  // a branch or loop, so all threads reach it
    bool alone_in_its_lines(const Statement& s) const;
    bool begins_with(const Statement& s, const char* name) const { return word_at(text, s.begin) == name; }
    bool ends_there(const Statement& s) const {
        return begins_with(s, "return") || begins_with(s, "break") || begins_with(s, "continue");
    }
};

}  // namespace cudacpu
