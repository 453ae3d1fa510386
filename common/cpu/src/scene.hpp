// scene.hpp - one race in the source text, and what is advised about it.
#pragma once
#include "advice.hpp"
#include "structure.hpp"

namespace cudacpu::hazards {

// Do two threads meet at an element in one round: who writes it and who reads it, or two who write it?
enum class Meeting { unknown, none, of_readers, of_writers };
Meeting meeting(const Source& src, const Function& f, const std::string& written,
                const std::vector<std::string>& read, const std::vector<std::string>& conditions);

/// How all threads get to a barrier; "" if the text does not tell why they do not.
std::string let_all_come(const Source& src, size_t barrier);

// `if (i < n) s[i] += s[i + d];`: an element that is made from others of its array.
struct Update {
    std::vector<const Statement*> path;   // to the assignment
    size_t level = 0;                     // of the outermost `if` in it that asks for elements
    std::string base;                     // s
    std::vector<std::string> others;      // s[i + d]
    std::string target;                   // i
    std::vector<std::string> indices;     // i + d
    std::vector<std::string> guards;      // what it asks besides
    std::vector<std::string> conditions;  // all that is asked of who comes there
    Meeting meets = Meeting::unknown;
    bool reads_others() const { return !others.empty(); }
};

/// How rows are as long as who writes and who compares take them for, in `y * width + x`; "" if they are.
std::string mixed_rows(const Source& src, const Function& f, size_t at, std::string index);

// One race in the text: where its lines stand in one function.
class Scene {
    const Pair& pair;
    const Source& src;
    const int far;
    const Function* f = nullptr;
    size_t a, b, met = std::string::npos;  // a comes before b
    bool a_writes = false;
    std::vector<const Statement*> pa, pb;
    size_t common = 0;                  // how many statements hold both
    const Statement* around = nullptr;  // the innermost loop that holds both

    // The place in this function from which that one is reached; npos: it is not.
    size_t in_function(size_t at) const;
    Source::Who who_comes(const Function& g, const std::vector<const Statement*>& path, size_t n,
                          int depth = 0) const;
    std::string text_of(const Statement& s) const;
    bool begins_with(const Statement& s, const char* word) const {
        return src.word(word, s.begin, s.end) == s.begin;
    }
    // What is put behind a statement, the n-th of its path: behind which line that is.
    Advice behind(const std::string& what, const std::vector<const Statement*>& path, size_t n) const;
    // A path to the statement before the second, or to the last of the loop: so that one barrier serves all.
    std::vector<const Statement*> before_second(size_t n) const;
    std::vector<const Statement*> last_in_turn() const;
    Advice same_round() const;
    // Not all threads come here: a barrier would wait for ever.
    Advice split(size_t n) const;
    // Does who comes to the two lines come there, too?
    bool unconditional(size_t at) const;
    bool barrier_between(size_t from, size_t to) const;
    bool is_tile(const std::string& group) const;  // or a warp, and not the block or the grid
    bool parts_block(size_t sync) const;
    std::string grid_sync() const;  // as the function calls it, if the two are of different blocks; else ""
    // The barrier that can stand there; "" if not all threads come.
    std::string barrier_at(const std::vector<const Statement*>& path, size_t n) const;
    bool goes_round() const;  // from the second around the loop to the first there is no barrier
    bool called_again() const;
    Advice ending() const;  // a barrier at the end of the loop
    Advice barrier() const;

    // missed.cpp
    bool advise_missed(Advice& v) const;  // a barrier between the two that not all threads reach
    Advice stay(const Advice& v) const;   // the same barrier, but all threads come to it

    // fences.cpp
    // The outermost statement that holds one place and not the other.
    const Statement& outermost(size_t at, size_t not_this) const;
    // The lines with an atomic or a fence whose scope is the block.
    std::set<int> narrow_lines() const;
    static bool is_head(const std::vector<const Statement*>& path, size_t at) {
        const Statement& s = *path.back();
        return s.kind != Statement::simple && s.head <= at && at < s.head_end;
    }
    // Where it is known that an atomic has taken a lock: there, or where what it gave is asked about; npos:
    // nowhere.
    size_t taken_at(size_t atomic) const;
    size_t waited(size_t take, size_t at) const;
    Advice fences_of_both(const std::string& lock) const;
    std::string give_back(size_t give, bool behind_fence) const;
    std::string first_argument(size_t call) const;
    bool sets(const Statement& s) const;  // plainly
    // Where a function plainly writes the lock that another has taken, called with the same arguments; npos:
    // nowhere.
    size_t frees(const Function& g) const;
    // The block of the branch that is taken at `at` where the other one would have been at `take`.
    size_t else_behind(size_t take, size_t at) const;
    // Behind which line a fence comes after who takes a lock: behind the statement, or into what it guards.
    int line_behind(size_t take, size_t at) const;
    bool fenced(size_t from, size_t to) const;
    Advice fences(bool behind_take, int take, bool before_give, int give) const;
    bool advise_lock(Advice& v) const;
    bool advise_flag(Advice& v) const;
    // Who takes a lock, or waits for a flag, needs a fence behind that; who gives it back or sets it, one
    // before.
    bool advise_fences(Advice& v) const;

    // atomics.cpp
    // A __shared__ variable that each thread sets and uses as if it had it alone.
    bool each_has_its_own(const std::string& name, const Statement& declaration,
                          const std::set<std::string>& others) const;
    bool advise_own(Advice& v) const;
    std::string type_changed(const std::string& call) const;  // by an atomic
    Advice advise_atomic(const std::vector<const Statement*>& path) const;
    // Elements change places, in a loop without a barrier: no atomic does that.
    bool trades() const;
    // `pos = *n;`, and then `*n += 1;`: that the atomic gives the old value; "" if that is not it.
    std::string old_value() const;
    // A plain read of a word that others change by atomics, in that line.
    Advice read_by_atomic(int line) const;
    size_t first_atomic(size_t from, size_t to) const;
    // Blocks cannot wait for each other.
    Advice advise_blocks() const;

    // updates.cpp
    std::string text_between(size_t begin, size_t end) const;  // in one line
    bool second_fills_line() const;                            // the second's statement, up to where it races
    std::string type_of(const std::string& array) const;       // of its elements
    Update update(std::vector<const Statement*> path) const;   // that is done there
    // What is to be written for `if (x > *best) *best = x;`, as the question alone would still be a race. both: the
    // two race there, and not one of them with what sets *best before.
    std::string extremum(bool& both) const;
    // `if (*first < 0) *first = i;`: who comes first sets it.
    bool advise_first(Advice& v) const;
    // First all read, and behind a barrier they write.
    Advice part(const Update& u, const std::string& check) const;
    // `x = s[i]; s[i] = s[j]; s[j] = x;` by both threads of a pair.
    bool advise_exchange(Advice& v) const;
    // Who reads another element of the array that he writes is not helped by an atomic.
    bool advise_in_place(Advice& v) const;

    // indices.cpp
    // With what its variables are computed from; none: that is not known, or it comes from memory.
    std::optional<std::string> computed(std::string expression) const;
    std::optional<std::string> part_of(const std::string& index) const;
    // All write the same: should each have written an element of its own?
    Advice equal_values() const;
    // Tiles, or warps, whose threads index an array of the block by their number in the tile.
    bool advise_parts(Advice& v) const;
    bool depends_on(const std::string& expression, const char* word, int depth = 3) const;
    // A loop that should go on by all threads of the grid.
    bool advise_stride(Advice& v) const;

public:
    bool found = false;
    Scene(const Pair& p, const Source& source);
    Advice advise() const;
    // With the casts that atomics of 64 bits want.
    Advice typed(Advice v) const;
};

}  // namespace cudacpu::hazards
