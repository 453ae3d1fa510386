// structure.hpp - the source text as advice needs it: functions, their statements, and which threads get there.
#pragma once
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cudacpu {

/// A statement, from its first character to behind its last.
struct Statement {
    enum Kind { simple, block, branch, loop } kind;
    size_t begin, end;
    size_t head = 0, head_end = 0;  // of a branch or loop: its parentheses
    std::vector<Statement> parts;   // of a block; of the others the one or two that they hold
    bool holds(size_t at) const { return begin <= at && at < end; }
    /// Braces around a single statement left out.
    const Statement& bare() const { return kind == block && parts.size() == 1 ? parts[0] : *this; }
};
struct Function {
    std::string name, parameters;
    Statement body;
    std::set<std::string> own;    // variables that differ from thread to thread
    std::set<std::string> warps;  // those that only differ from warp to warp
};

/// The call that does what a statement like `x += y` does; "" if there is none. `exchange`: x = y may be one, too.
std::string as_atomic(const std::string& statement, bool exchange);

/// Can it stand in a name?
inline bool in_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t skip_space(const std::string& s, size_t at);
std::string word_at(const std::string& s, size_t at);
/// Behind the bracket that closes the one at `at`.
size_t closed(const std::string& s, size_t at);

class Source {
    std::vector<size_t> starts;  // of the lines
    std::string written;         // without comments and directives
    std::vector<Function> all;
    Statement statement(size_t& at) const;
    void read_functions();
    void read_variables(Function& f) const;

public:
    std::string text;  // without literals, too: all these are white space
    Source(const std::vector<std::string>& lines, const std::set<int>& left_out);
    /// A source file that can be found; null if it cannot.
    static const Source* of(const std::string& file);

    const std::vector<Function>& functions() const { return all; }
    const Function* function_at(size_t at) const;
    const Function* holder_of(const Function& f) const;  // of a lambda, else null
    int line_at(size_t at) const;
    std::string line(int number) const;  // its text
    std::string original(size_t begin, size_t end) const { return written.substr(begin, end - begin); }
    std::string code_of(const Statement& s) const;                           // without its semicolon
    size_t spot(int line, const std::string& name) const;                    // where the line uses the name
    size_t word(const std::string& name, size_t from, size_t to) const;      // npos: it is not there
    size_t variable(const std::string& name, size_t from, size_t to) const;  // the same, but for members: s.name
    std::vector<size_t> words(const std::string& name, size_t from, size_t to) const;  // all of them
    std::vector<size_t> variables(const std::string& name, size_t from, size_t to) const;
    std::vector<size_t> calls(const std::string& name, size_t from,
                              size_t to) const;  // and no variables of this name
    size_t first_of(std::initializer_list<const char*> words, size_t from, size_t to) const;
    bool has(std::initializer_list<const char*> words, size_t from, size_t to) const {
        return first_of(words, from, to) != std::string::npos;
    }
    std::string name_at(size_t at) const;  // that begins here, or ""
    /// Of `s->items[i].size`: where size begins, and what is behind it.
    std::pair<size_t, size_t> last_member(size_t at) const;
    size_t head(const Function& f) const;  // where its parameters begin
    /// What the function says a variable is, if it says so once; "" for a parameter.
    std::optional<std::string> definition(const Function& f, const std::string& name) const;
    /// What steps a variable within an expression, `++left[i]`, and the atomic that gives the same value; "" if
    /// none. Without a name: a member.
    std::pair<std::string, std::string> step_at(const std::string& name, size_t from, size_t to) const;
    /// The place, and the places from which its function is called.
    std::vector<std::pair<const Function*, size_t>> callers(size_t at) const;
    void waiting_loops(const Statement& s, std::vector<const Statement*>& found) const;  // that do nothing but look
    bool holds_barrier(const Statement& s) const;            // of a branch or loop: then all threads come there
    bool declares(const Statement& block, size_t to) const;  // a variable, before that place
    enum Array { of_structs = 1, of_blocks = 2, of_threads = 4, of_program = 8 };
    unsigned indexed(int line) const;  // arrays that these have, and no pointers
    /// The statements that hold the character, the function's body first.
    static std::vector<const Statement*> path(const Function& f, size_t at);
    enum Lock { no_lock, takes, gives };
    Lock lock_of(const Function& f) const;  // what a function does that waits for an atomic, or only does one
    enum Who { everybody, whole_warps, some };
    Who who_enters(const Function& f, const Statement& s) const;  // a branch or loop
    /// Who leaves a round of a loop before its end, by break or continue.
    Who who_leaves(const Function& f, const Statement& loop) const;
};

}  // namespace cudacpu
