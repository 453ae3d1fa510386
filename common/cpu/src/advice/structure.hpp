// structure.hpp - the statements and the text of a source file, as the advice needs them.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advice/statement_tree.hpp"

namespace cudacpu {

/// The atomic that does what a statement such as `x += y` does; "" if there is none. `exchange`: accept x = y.
std::string as_atomic(const std::string& statement, bool exchange);

class Source : public Code {
    std::vector<size_t> starts{0, 0};  // first characters of the lines, whose numbers begin at 1
    std::string written;               // the text with its literals
    friend int statement_tree(const char* file, const char* text, const char* tree);

public:
    /// The source file, whose statements the program contains; null if it does not.
    static const Source* of(const std::string& file);

    const Function* holder_of(const Function& f) const;  // the function that holds a lambda, else null
    int line_at(size_t at) const;
    std::string line(int number) const;  // the text of a line
    std::string original(size_t begin, size_t end) const { return written.substr(begin, end - begin); }
    std::string code_of(const Statement& s) const;         // without its semicolon
    size_t spot(int line, const std::string& name) const;  // where the line uses the name
    std::string name_at(size_t at) const;                  // the name that begins here, or ""
    /// Of `s->items[i].size`: where size begins, and what follows it.
    std::pair<size_t, size_t> last_member(size_t at) const;
    /// The type that the function declares for a variable, if it declares it once; "" for a parameter.
    std::optional<std::string> definition(const Function& f, const std::string& name) const;
    /// The expression that steps a variable, such as `++left[i]`, and the atomic that returns the same value; "" if
    /// there is none. Without a name: a member.
    std::pair<std::string, std::string> step_at(const std::string& name, size_t from, size_t to) const;
    /// The place, and the places that call its function.
    std::vector<std::pair<const Function*, size_t>> callers(size_t at) const;
    void waiting_loops(const Statement& s, Path& found) const;  // loops that only poll
    bool holds_barrier(const Statement& s) const;               // in a branch or loop, so all threads reach it
    bool declares(const Statement& block, size_t to) const;     // declares a variable before that place
    enum Array { of_structs = 1, of_blocks = 2, of_threads = 4, of_program = 8 };
    unsigned indexed(int line) const;  // bit mask: which of these the line indexes as arrays, not pointers
    enum Lock { no_lock, takes, gives };
    Lock lock_of(const Function& f) const;  // whether a function waits for an atomic, or only executes one
};

}  // namespace cudacpu
