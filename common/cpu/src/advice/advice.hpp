// advice.hpp - the findings that race_report.cpp words, and the advice that advice.cpp gives for them.
#pragma once
#include <set>

#include "race/hazards.hpp"

namespace cudacpu::race {

struct Line {
    std::string place, file;  // "sum.cu:12", "sum.cu"
    int number;
};
const Line& line_of(uint64_t site);

struct Pair {  // all races between two lines
    Line a, b;
    Race race;  // one of them: the one between the most distant threads
    bool adds, both_write, equal;
    std::string name;  // the name of the array
};

struct Advice {
    std::string before, after;  // "put __syncthreads() after ", ", inside the loop"
    std::set<int> lines{};      // between the two lines
    int ends_loop = 0;          // the advice ends each iteration of the loop in that line
    int after_loop = 0;         // the advice goes after the loop in that line
    std::string words() const;
};
Advice advise(const Pair& pair);
/// How to mend an access of a line that is out of bounds, using this name; "" if the text does not tell. has: the
/// number of elements, if it is known to be counted as the index counts; last: the last element of a shared array
/// that is accessed there, or 0.
std::string check_index(const Line& line, const std::string& name, long element, long last, size_t has,
                        bool shared);
/// How an element of a __shared__ array with this many elements gets set before that line reads it; "" if the text
/// does not tell.
std::string set_first(const Line& line, const std::string& name, size_t has);
/// Whether the launch ended because threads waited for each other. Reset by the call.
bool follows_from_deadlock();
/// Whether the line is in the head of a loop that only waits, or writes what such a loop reads.
bool of_waiting_loop(uint64_t site);
/// Whether it decides if its thread executes another iteration of a loop.
bool ends_loop(uint64_t site);
/// Whether the first place is reached only if a condition holds that the second place excludes.
bool follows_from(const Pair& pair, const Pair& cause);
/// Whether the first one's index is a variable that the second one's lines set.
bool index_from(const Pair& pair, const Pair& cause);

}  // namespace cudacpu::race
