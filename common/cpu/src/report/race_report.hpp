// race_report.hpp - the findings of the race detector, as the advice needs them.
#pragma once
#include <set>
#include <string>

#include "race/race.hpp"

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

}  // namespace cudacpu::race
