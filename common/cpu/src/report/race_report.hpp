// race_report.hpp - the findings of the race detector, as the advice needs them.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "race/race.hpp"

namespace cudacpu::race {

struct Line {
    std::string place, file;  // "sum.cu:12", "sum.cu"
    int number;
};
const Line& line_of(uint64_t site);

bool is_told(const Region& r);  // a report of this memory was printed

constexpr Sentence reads_it{"reads", "读取"}, writes_it{"writes", "写入"};

struct Pair {  // all races between two lines
    Line a, b;
    Race race;  // one of them: the one between the most distant threads
    bool adds, both_write, equal;
    std::string name;  // the name of the array
};

struct Edit {
    std::string words;      // "put __syncthreads() after \1"; \1: the lines
    std::set<int> lines{};  // edits with the same words are one
};
struct Advice {
    std::string reason;
    std::vector<Edit> edits{};
    int ends_loop = 0;           // the advice ends each iteration of the loop in that line
    int after_loop = 0;          // the advice goes after the loop in that line
    bool lockstep = false;       // it orders two lanes of a warp
    int in_loop = 0;             // it begins with a barrier in each iteration of the loop in that line
    std::pair<int, int> turn{};  // it ends each iteration only to order the second line before the first
    /// Whether its barrier also orders what the other advice orders at the end of each iteration.
    bool serves(const Advice& other) const;
    bool empty() const { return reason.empty() && edits.empty(); }
    bool only_puts() const { return reason.empty() && !edits.empty(); }
    void add(const Edit& edit);
    void merge(const Advice& other);  // with the same key
    std::string key() const;          // the same for advice that differs only in the lines of its edits
    std::string words() const;
};

}  // namespace cudacpu::race
