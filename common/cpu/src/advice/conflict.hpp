// conflict.hpp - one race, and where its two lines are in the statements of the program.
#pragma once
#include <string>
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
/// Whether the text uses a name, or an expression; true if the name is not known.
bool has_name(const string& s, const string& name);
/// "in line 5 write `code` for" the statement.
Edit write_instead(const Source& src, const string& code, const Statement& s);
Edit write(int line, const string& code, const string& old);
/// The statement at the end of a path, without the branches and loops around it that hold nothing else.
const Statement& innermost(Path& path);

/// `if (i < n) s[i] += s[i + d];`: an element that is computed from others of its array.
struct Update {
    bool reads_others = false;  // other elements of the array
    bool is_tree = false;       // each thread reads what no thread writes in the same iteration
    bool is_near = false;       // what another thread writes, such as s[i - 1]
};

struct Conflict {
    const Pair& pair;
    const Source& src;
    const int far;                // 0: two threads of a warp, 1: of a block, 2: of two blocks
    const Function* f = nullptr;  // contains both lines, or the calls that lead to them
    size_t a, b;                  // the two places; a comes before b
    size_t met = string::npos;    // the barrier that the threads passed last
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
    std::vector<size_t> uses(const string& name) const { return src.variables(name, f->body.begin, f->body.end); }

    // ---- barrier.cpp
    bool unconditional(size_t at) const;  // each thread that reaches the two lines comes there
    string grid_barrier() const;
    bool by_warps() const;  // it is written for the lanes of a warp
    bool barrier_between(size_t from, size_t to) const;
    string barrier_at(const Path& path, size_t n) const;  // that can be put there; "" if not all threads come
    bool goes_round() const;  // no barrier on the way from the second around the loop to the first
    bool swaps() const;
    Edit put(const string& what, const Path& path, size_t n) const;      // after the n-th statement of the path
    Edit replace(const string& code, const Path& path, size_t n) const;  // the n-th statement, in braces if need be
    Edit put_before_it(const string& what, const Path& path, size_t n) const;
    Path before_second(size_t n) const;
    Path after_last_use(size_t n) const;
    Path last_in_turn() const;
    Advice ending() const;  // a barrier at the end of the loop
    Advice split(const Path& path, size_t n) const;
    Advice barrier() const;

    // ---- update.cpp
    string atomic(const Assignment& s,
                  bool exchange) const;  // does what an assignment does; exchange: accept x = y
    Update update(Path path) const;
    Advice an_atomic(const Statement& s) const;
    Advice beside_atomics() const;  // for the access that is not atomic
};

// ---- the rules: each returns its advice, or none if it does not apply

using Rule = Advice(const Conflict&);
Rule one_memory;                                                         // host.cpp
Rule own_variable, parts_overlap, grid_step, wrong_index, equal_writes;  // index.cpp
Rule narrow_scope_rule, handover, plain_flag, two_blocks_rule;           // fence.cpp
Rule orders;                                                             // barrier.cpp
Rule test_and_set, old_value, update_rule;                               // update.cpp

}  // namespace cudacpu::race
