// conflict.hpp - one race, and where its two lines are in the statements of the program.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advice/sentences.hpp"
#include "advice/source.hpp"
#include "report/race_report.hpp"

namespace cudacpu::race {

using std::string;

/// `x += y`: x, "+" and y. `++x`, `x = x + y`, `x = max(x, y)` and `x = x < y ? y : x` (sign "max") also are.
struct Assignment {
    string target, sign, value;
};
Assignment assignment(const string& code);
bool has_name(const string& s, const string& name);  // a name, or an expression
/// "in line 5 write `code` for" the statement; drops it.
Edit write_instead(const Source& src, const string& code, const Statement& s);
Edit drop(const Source& src, const Statement& s);
Edit write(int line, const string& code, const string& old);

// How two threads use the same element in one iteration: one writes it and the other reads it, or both write it.
enum class Meeting { unknown, none, of_readers, of_writers };
Meeting meeting(const Source& src, const Function& f, const string& written, const std::vector<string>& read,
                const std::vector<string>& conditions);

// `if (i < n) s[i] += s[i + d];`: an element that is computed from others of its array.
struct Update {
    Path path;                       // to the assignment
    size_t level = 0;                // of the outermost `if` in it that tests elements
    string base, index;              // s, i
    std::vector<string> others;      // s[i + d]
    std::vector<string> indices;     // i + d
    std::vector<string> guards;      // other conditions of the `if`
    std::vector<string> conditions;  // all conditions on the path
    Meeting meets = Meeting::unknown;
};

struct Conflict {
    const Pair& pair;
    const Source& src;
    const int far;                // 0: two threads of a warp, 1: of a block, 2: of two blocks
    const Function* f = nullptr;  // holds both lines, or calls
    size_t a, b;                  // the two places; a comes before b
    size_t met = string::npos;    // the barrier that the threads passed last
    bool a_writes = false;
    Path pa, pb;
    size_t common = 0;                  // how many statements contain both
    const Statement* around = nullptr;  // the innermost loop that contains both

    Conflict(const Pair& p, const Source& source);
    bool same() const { return common == pa.size() && common == pb.size(); }  // statement or condition
    bool both_write() const { return pair.race.before.access & pair.race.after.access & writes; }
    bool one_atomic() const { return (pair.race.before.access ^ pair.race.after.access) & race::atomic; }
    const Accessor& plain() const {
        return pair.race.before.access & race::atomic ? pair.race.after : pair.race.before;
    }
    std::optional<string> computed(string expression) const;

    // ---- barrier.cpp
    size_t in_function(size_t at) const;  // the place here from which that one is reached; npos if none
    Who who_comes(const Function& g, const Path& path, size_t n, int depth = 0) const;
    bool all_come(const Path& path, size_t n) const { return who_comes(*f, path, n) == everybody; }
    bool unconditional(size_t at) const;  // each thread that reaches the two lines comes there
    bool is_tile(const string& group) const;
    string grid_sync() const;  // the function's own call, if the two threads are of different blocks; else ""
    bool barrier_between(size_t from, size_t to) const;
    string barrier_at(const Path& path, size_t n) const;  // that can be put there; "" if not all threads come
    bool goes_round() const;  // no barrier on the way from the second around the loop to the first
    bool all_come_round() const;
    bool swaps() const;
    Edit put(const string& what, const Path& path, size_t n) const;  // after the n-th statement of the path
    Path before_second(size_t n) const;
    Path last_in_turn() const;
    Advice ending() const;  // a barrier at the end of the loop
    Advice same_round() const;
    Advice split(size_t n) const;
    Advice barrier() const;
    Advice stay(const Advice& v) const;                            // the same barrier, but all threads reach it
    const Statement& outermost(size_t at, size_t not_this) const;  // contains one place and not the other

    // ---- update.cpp
    string type_of(const string& array, bool* is_volatile = nullptr) const;  // of its elements
    string type_at(const string& pointer, bool* is_volatile = nullptr) const;
    /// The call that does what an assignment does; "" if there is none. exchange: accept x = y.
    string atomic(const Assignment& s, bool exchange) const;
    string cas_loop(const Assignment& s) const;
    std::pair<string, string> step_in(const string& code) const;
    Update update(Path path) const;
    Advice take_old_value() const;
    Advice all_read_first(const Update& u) const;
    Advice an_atomic(const Path& path) const;
    Advice read_atomically(int line) const;

    // ---- fence.cpp
    bool fenced(size_t from, size_t to) const;
    bool fenced_inside(size_t from, size_t to, bool after) const;
    size_t next_use(const string& name, size_t from) const;
    int line_after(const Statement& s, size_t at) const;
    int line_before(size_t give, size_t at) const;
};

// ---- the rules: each returns its advice, or none if it does not apply

using Rule = Advice(const Conflict&);
Rule own_variable, wrong_index, equal_writes;                                 // index.cpp
Rule narrow_scope_rule, handover, plain_flag, seqlock_rule, two_blocks_rule;  // fence.cpp
Rule in_place, exchanged_twice, test_and_set, old_value_rule, update_rule;    // update.cpp

}  // namespace cudacpu::race
