// structure.hpp - the source text as the advice needs it: functions, their statements, and which threads reach
// them.
#pragma once
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cudacpu {

/// A statement, from its first character to the one after its last.
struct Statement {
    enum Kind { simple, block, branch, loop } kind;
    size_t begin, end;
    size_t head = 0, head_end = 0;  // of a branch or loop: its parentheses
    std::vector<Statement> parts;   // of a block; other statements hold one or two
    bool holds(size_t at) const { return begin <= at && at < end; }
    /// Skips the braces around a single statement.
    const Statement& bare() const { return kind == block && parts.size() == 1 ? parts[0] : *this; }
};
struct Function {
    std::string name, parameters;
    Statement body;
    std::set<std::string> own;    // variables that differ from thread to thread
    std::set<std::string> warps;  // variables that differ only from warp to warp
};

/// The atomic that does what a statement such as `x += y` does; "" if there is none. `exchange`: accept x = y.
std::string as_atomic(const std::string& statement, bool exchange);

/// Whether the character can be part of a name.
inline bool in_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t skip_space(const std::string& s, size_t at);
std::string word_at(const std::string& s, size_t at);
/// The position after the bracket that closes the one at `at`.
size_t closed(const std::string& s, size_t at);

class Source {
    std::vector<size_t> starts;  // first characters of the lines
    std::string written;         // without comments and directives
    std::vector<Function> all;
    Statement statement(size_t& at) const;
    void read_functions();
    void read_variables(Function& f) const;

public:
    std::string text;  // without literals as well: white space replaces all these
    Source(const std::vector<std::string>& lines, const std::set<int>& left_out);
    /// The source file; null if it cannot be found.
    static const Source* of(const std::string& file);

    const std::vector<Function>& functions() const { return all; }
    const Function* function_at(size_t at) const;
    const Function* holder_of(const Function& f) const;  // the function that holds a lambda, else null
    int line_at(size_t at) const;
    std::string line(int number) const;  // the text of a line
    std::string original(size_t begin, size_t end) const { return written.substr(begin, end - begin); }
    std::string code_of(const Statement& s) const;                           // without its semicolon
    size_t spot(int line, const std::string& name) const;                    // where the line uses the name
    size_t word(const std::string& name, size_t from, size_t to) const;      // npos: it is not there
    size_t variable(const std::string& name, size_t from, size_t to) const;  // the same, but no member s.name
    std::vector<size_t> words(const std::string& name, size_t from, size_t to) const;  // all of them
    std::vector<size_t> variables(const std::string& name, size_t from, size_t to) const;
    std::vector<size_t> calls(const std::string& name, size_t from,
                              size_t to) const;  // except uses of a variable with this name
    size_t first_of(std::initializer_list<const char*> words, size_t from, size_t to) const;
    bool has(std::initializer_list<const char*> words, size_t from, size_t to) const {
        return first_of(words, from, to) != std::string::npos;
    }
    std::string name_at(size_t at) const;  // the name that begins here, or ""
    /// Of `s->items[i].size`: where size begins, and what follows it.
    std::pair<size_t, size_t> last_member(size_t at) const;
    size_t head(const Function& f) const;  // where its parameters begin
    /// The type that the function declares for a variable, if it declares it once; "" for a parameter.
    std::optional<std::string> definition(const Function& f, const std::string& name) const;
    /// The expression that steps a variable, such as `++left[i]`, and the atomic that returns the same value; "" if
    /// there is none. Without a name: a member.
    std::pair<std::string, std::string> step_at(const std::string& name, size_t from, size_t to) const;
    /// The place, and the places that call its function.
    std::vector<std::pair<const Function*, size_t>> callers(size_t at) const;
    void waiting_loops(const Statement& s, std::vector<const Statement*>& found) const;  // loops that only poll
    bool holds_barrier(const Statement& s) const;            // in a branch or loop, so all threads reach it
    bool declares(const Statement& block, size_t to) const;  // declares a variable before that place
    /// The statements that contain the character, the function's body first.
    static std::vector<const Statement*> path(const Function& f, size_t at);
    enum Lock { no_lock, takes, gives };
    Lock lock_of(const Function& f) const;  // whether a function waits for an atomic, or only executes one
    enum Who { everybody, whole_warps, some };
    Who who_enters(const Function& f, const Statement& s) const;  // of a branch or loop
    /// The threads that leave an iteration early, by break or continue.
    Who who_leaves(const Function& f, const Statement& loop) const;
};

}  // namespace cudacpu
