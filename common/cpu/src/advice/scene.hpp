// scene.hpp - class Scene: one race in the source text, and the advice for it.
#pragma once
#include "report/race_report.hpp"
#include "advice/structure.hpp"

namespace cudacpu::race {

// How two threads use the same element in one iteration: one writes it and the other reads it, or both write it.
enum class Meeting { unknown, none, of_readers, of_writers };
Meeting meeting(const Source& src, const Function& f, const std::string& written,
                const std::vector<std::string>& read, const std::vector<std::string>& conditions);

/// How to let all threads reach a barrier; "" if the text does not tell why some do not.
std::string let_all_come(const Source& src, size_t barrier);

// `if (i < n) s[i] += s[i + d];`: an element that is computed from others of its array.
struct Update {
    Path path;                            // to the assignment
    size_t level = 0;                     // of the outermost `if` in it that tests elements
    std::string base;                     // s
    std::vector<std::string> others;      // s[i + d]
    std::string target;                   // i
    std::vector<std::string> indices;     // i + d
    std::vector<std::string> guards;      // other conditions of the `if`
    std::vector<std::string> conditions;  // all conditions on the path
    Meeting meets = Meeting::unknown;
    bool reads_others() const { return !others.empty(); }
};

/// The remark if writer and reader assume different row lengths in `y * width + x`; "" if they agree.
std::string mixed_rows(const Source& src, const Function& f, size_t at, std::string index);

// One race in the text, where both lines are in one function.
class Scene {
    const Pair& pair;
    const Source& src;
    const int far;
    const Function* f = nullptr;
    size_t a, b, met = std::string::npos;  // a comes before b
    bool a_writes = false;
    Path pa, pb;
    size_t common = 0;                  // how many statements contain both
    const Statement* around = nullptr;  // the innermost loop that contains both

    // The place in this function from which the given place is reached; npos if there is none.
    size_t in_function(size_t at) const;
    Who who_comes(const Function& g, const Path& path, size_t n, int depth = 0) const;
    std::string text_of(const Statement& s) const;
    bool begins_with(const Statement& s, const char* word) const {
        return src.word(word, s.begin, s.end) == s.begin;
    }
    // Puts something after the n-th statement of a path: after which line that is.
    Advice behind(const std::string& what, const Path& path, size_t n) const;
    // A path to the statement before the second access, or to the last one of the loop, so that one barrier serves
    // all.
    Path before_second(size_t n) const;
    Path last_in_turn() const;
    Advice same_round() const;
    // Not all threads come here, so a barrier would wait for ever.
    Advice split(size_t n) const;
    // Whether each thread that reaches the two lines comes here as well.
    bool unconditional(size_t at) const;
    bool barrier_between(size_t from, size_t to) const;
    bool is_tile(const std::string& group) const;  // or a warp, but not the block or the grid
    bool parts_block(size_t sync) const;
    std::string grid_sync() const;  // the function's own call, if the two threads are of different blocks; else ""
    // The barrier that can be placed there; "" if not all threads come.
    std::string barrier_at(const Path& path, size_t n) const;
    bool goes_round() const;  // no barrier on the way from the second around the loop to the first
    bool called_again() const;
    Advice ending() const;  // a barrier at the end of the loop
    Advice barrier() const;

    // missed.cpp
    bool advise_missed(Advice& v) const;  // a barrier between the two that not all threads reach
    Advice stay(const Advice& v) const;   // the same barrier, but all threads reach it

    // fences.cpp
    // The outermost statement that contains one place and not the other.
    const Statement& outermost(size_t at, size_t not_this) const;
    // The lines with an atomic or a fence of block scope.
    std::set<int> narrow_lines() const;
    static bool is_head(const Path& path, size_t at) {
        const Statement& s = *path.back();
        return s.kind != Statement::simple && s.head <= at && at < s.head_end;
    }
    // Where it is known that an atomic has acquired a lock: at the atomic, or where its result is tested; npos if
    // nowhere.
    size_t taken_at(size_t atomic) const;
    size_t waited(size_t take, size_t at) const;
    Advice fences_of_both(const std::string& lock) const;
    std::string give_back(size_t give, bool behind_fence) const;
    std::string first_argument(size_t call) const;
    bool sets(const Statement& s) const;  // by a plain write
    // Where a function releases, by a plain write, the lock that another has acquired, if it is called with the
    // same arguments; npos if nowhere.
    size_t frees(const Function& g) const;
    // The block of the branch that is taken at `at`, if the other one would have been taken at `take`.
    size_t else_behind(size_t take, size_t at) const;
    // The line after which the fence of a lock's acquisition goes: after the statement, or inside what it guards.
    int line_behind(size_t take, size_t at) const;
    bool fenced(size_t from, size_t to) const;
    Advice fences(bool behind_take, int take, bool before_give, int give) const;
    bool advise_lock(Advice& v) const;
    bool advise_flag(Advice& v) const;
    // An acquisition of a lock, or a wait for a flag, needs a fence after it; a release, or setting the flag, needs
    // a fence before it.
    bool advise_fences(Advice& v) const;

    // atomics.cpp
    // A __shared__ variable that each thread sets and uses as if it were its own.
    bool each_has_its_own(const std::string& name, const Statement& declaration,
                          const std::set<std::string>& others) const;
    bool advise_own(Advice& v) const;
    std::string type_changed(const std::string& call) const;  // by an atomic
    Advice advise_atomic(const Path& path) const;
    // Elements swapped in a loop without a barrier; no atomic can do that.
    bool trades() const;
    // `pos = *n;`, and then `*n += 1;`: the atomic returns the old value. "" if the text differs.
    std::string old_value() const;
    // A plain read of a word that others change by atomics in that line.
    Advice read_by_atomic(int line) const;
    size_t first_atomic(size_t from, size_t to) const;
    // Blocks cannot wait for each other.
    Advice advise_blocks() const;

    // updates.cpp
    std::string text_between(size_t begin, size_t end) const;  // in one line
    bool second_fills_line() const;                            // the second's statement, up to the racing access
    std::string type_of(const std::string& array) const;       // of its elements
    Update update(Path path) const;                            // the update done there
    // The replacement for `if (x > *best) *best = x;`, because the test alone would still be a race. both: the two
    // accesses of this statement race, not one of them with the code that sets *best before.
    std::string extremum(bool& both) const;
    // `if (*first < 0) *first = i;`: the first thread sets it.
    bool advise_first(Advice& v) const;
    // All threads read first, and write after a barrier.
    Advice part(const Update& u, const std::string& check) const;
    // `x = s[i]; s[i] = s[j]; s[j] = x;` by both threads of a pair.
    bool advise_exchange(Advice& v) const;
    // An atomic does not help a thread that reads another element of the array that it writes.
    bool advise_in_place(Advice& v) const;

    // indices.cpp
    // The expression with its variables replaced by what they are computed from; no value if that is unknown, or
    // comes from memory.
    std::optional<std::string> computed(std::string expression) const;
    std::optional<std::string> part_of(const std::string& index) const;
    // All threads write the same value: should each have written its own element?
    Advice equal_values() const;
    // Tiles or warps whose threads index an array of the block by their number in the tile.
    bool advise_parts(Advice& v) const;
    bool depends_on(const std::string& expression, const char* word, int depth = 3) const;
    // A loop that should be shared among all threads of the grid.
    bool advise_stride(Advice& v) const;

public:
    bool found = false;
    Scene(const Pair& p, const Source& source);
    Advice advise() const;
    // With the casts that 64-bit atomics need.
    Advice typed(Advice v) const;
};

}  // namespace cudacpu::race
