// scene.hpp - one race in the source text, and what is advised about it.
#pragma once
#include "advice.hpp"
#include "structure.hpp"

namespace cudacpu::hazards {

// One race in the text: where its lines stand in one function.
class Scene {
    const Pair& pair;
    const Source& src;
    const int far;
    const Function* f = nullptr;
    size_t a, b, met = std::string::npos;  // a comes before b
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
    Advice barrier() const;

    // fences.cpp
    size_t first_atomic(size_t from, size_t to) const;
    // The outermost statement that holds one place and not the other.
    const Statement& outermost(size_t at, size_t not_this) const;
    // The lines with an atomic or a fence whose scope is the block.
    std::set<int> narrow_lines() const;
    static bool is_head(const std::vector<const Statement*>& path, size_t at) {
        const Statement& s = *path.back();
        return s.kind != Statement::simple && s.head <= at && at < s.head_end;
    }
    // Behind which line a fence comes after who takes a lock: behind the statement, or into what it guards.
    int line_behind(size_t take, size_t at) const;
    bool fenced(size_t from, size_t to) const;
    Advice fences(bool behind_take, int take, bool before_give, int give) const;
    bool advise_lock(Advice& v) const;
    bool advise_flag(Advice& v) const;
    // Who takes a lock, or waits for a flag, needs a fence behind that; who gives it back or sets it, one
    // before.
    bool advise_fences(Advice& v) const;
    // A __shared__ variable that each thread sets and uses as if it had it alone.
    bool each_has_its_own(const std::string& name, const Statement& declaration,
                          const std::set<std::string>& others) const;
    bool advise_own(Advice& v) const;
    // What is to be written for `if (x > *best) *best = x;`, as the question alone would still be a race. both: the
    // two race there, and not one of them with what sets *best before.
    std::string extremum(bool& both) const;
    Advice advise_atomic(const std::vector<const Statement*>& path) const;
    // A plain read of a word that others change by atomics, in that line.
    Advice read_by_atomic(int line) const;
    // Blocks cannot wait for each other.
    Advice advise_blocks() const;
    bool a_writes = false;

public:
    bool found = false;
    Scene(const Pair& p, const Source& source);
    Advice advise() const;
};

}  // namespace cudacpu::hazards
