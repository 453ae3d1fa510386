// advice.hpp - what findings.cpp words, and what advice.cpp advises about it.
#pragma once
#include <set>

#include "hazards.hpp"

namespace cudacpu::hazards {

struct Line {
    std::string place, file;  // "sum.cu:12", "sum.cu"
    int number;
};
const Line& line_of(uint64_t site);

struct Pair {  // the races between two lines
    Line a, b;
    Race race;  // one of them, between the most distant threads
    bool adds, both_write, equal;
    std::string name;  // of the array
};

struct Advice {
    std::string before, after;  // "put __syncthreads() after ", ", inside the loop"
    std::set<int> lines{};      // between the two
    int ends_loop = 0;          // it ends each round of the loop of that line
    int after_loop = 0;         // it comes behind the loop of that line
    std::string words() const;
};
Advice advise(const Pair& pair);
/// How to mend an access of a line out of bounds, by this name; "" if its text does not tell. has: elements, if
/// they are known to be counted as the index counts them; last: the last that is accessed there of an array in
/// shared memory, or 0.
std::string check_index(const Line& line, const std::string& name, long element, long last, size_t has,
                        bool shared);
/// How an element of a __shared__ array, of which it has so many, gets set before that line reads it; "" if the
/// text does not tell.
std::string set_first(const Line& line, const std::string& name, size_t has);
/// Has the launch ended as threads waited for each other? Asked once.
bool follows_from_deadlock();
/// Does the line stand in the head of a loop that does nothing but wait, or write what such a loop looks at?
bool of_waiting_loop(uint64_t site);
/// Does it decide whether its thread goes another round of a loop?
bool ends_loop(uint64_t site);
/// Does the first stand in the text where only those come for whom a condition held that the second disputes?
bool follows_from(const Pair& pair, const Pair& cause);
/// Is the first one's index a variable that the second's lines set?
bool index_from(const Pair& pair, const Pair& cause);

}  // namespace cudacpu::hazards
