// source.hpp - the statements and the text of a source file, as the rules need them.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advice/statement_tree.hpp"

namespace cudacpu {

enum Who { everybody, whole_warps, some };  // of the threads of a block

struct Value {  // of a variable
    const Function* f;
    size_t place;
    std::string code;
    bool sets = false;  // it does not depend on the value before
};

/// A source text without comments and directives, and its functions. Places are numbers of characters from the
/// beginning; text.npos or the end of the searched part: there is none.
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
    std::string name_at(size_t at) const;        // the name that begins here, or ""
    std::string object_of(size_t member) const;  // tile of tile.sync(), by the place of sync

    // ---- functions and statements
    const Function* function_at(size_t at) const;
    /// The place, and the places that call its function.
    std::vector<std::pair<const Function*, size_t>> callers(size_t at) const;
    /// Where the function has the place, or calls what has it.
    size_t place_in(const Function* f, size_t at) const;
    /// The innermost statement where the line uses the name; nullptr if it is in no function.
    const Statement* statement_in(int line, const std::string& name) const;
    bool alone_in_its_lines(const Statement& s) const;
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
    /// Which threads arrive together behind the n first statements of a path.
    Who come(const Function& f, const Path& path, size_t n, int depth = 0) const;
};

}  // namespace cudacpu
